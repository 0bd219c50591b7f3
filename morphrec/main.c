#include <errno.h>
#include <string.h>

#include "common/base/par.h"
#include "common/base/progress.h"
#include "common/base/stats.h"
#include "common/stream/axes.h"
#include "common/stream/pipeline.h"
#include "common/stream/raw.h"
#include "common/stream/share.h"
#include "gpu/morphrec/morphrec.h"
#include "morphrec/job.h"

const char *const weir_prog = "morphrec";

/*
 * The same on the GPU as a whole, in place unless x is a file: false where it does not do that, and x is as it was.
 */
static bool
operate_at_once(const struct raw_in *in, struct morphrec_plan *p, struct img *x,
		const struct args *a, const struct morphrec_operator *o)
{
	struct img y;

	img_copy_head(&y, x);
	if (x->map && img_alloc(&y))
		raw_die(in, "no memory for the result");
	const int err = gpu_morphrec_operate(a->gpu, p, o, a->nan != ARGS_ERROR,
					     x->map ? y.data : x->data, x->data);
	if (err == -EDOM)
		item_refuse_nan(in, p, a, x->data);
	if (err && err != -ENOTSUP)
		raw_die(in, "-g: %s", err == -ENOMEM ? "no memory" : gpu_why(a->gpu));
	if (!err && x->map) {
		img_free(x);
		*x = y;
	} else {
		img_free(&y);
	}
	return !err;
}

/* Applies operator o to x, which becomes the result. */
static void
operate(const struct raw_in *in, struct morphrec_plan *p, struct img *x, const struct args *a,
	const struct morphrec_operator *o)
{
	struct img marker;

	if (a->gpu && operate_at_once(in, p, x, a, o))
		return;
	img_copy_head(&marker, x);
	int err = img_alloc(&marker);
	if (!err)
		err = morphrec_marker(&p->what, o, marker.data, x->data);
	if (err)
		raw_die(in, err == -E2BIG ? "areas are counted in up to 4294967295 pixels at a time"
					  : "no memory for the marker");
	if (!morphrec_op_is_area(o->op))
		item_reconstruct(in, p, a, marker.data, x->data, &p->what, 0);
	else
		item_refuse_nan(in, p, a, x->data);
	morphrec_finish(&p->what, o, marker.data, x->data);
	img_free(x);
	*x = marker;
}

/* The same for x in a temporary file. The marker is in another file, and a few rows of both are in memory at a time. */
static void
operate_spooled(const struct raw_in *in, struct morphrec_plan *p, struct img *x,
		const struct args *a, const struct morphrec_operator *o, struct spool_pages *pages)
{
	const size_t rows = p->what.h * p->what.d, row = p->what.w * img_type_size(x->type),
		     step = row < ITEM_PIECE ? ITEM_PIECE / row : 1;
	struct img marker;

	img_copy_head(&marker, x);
	item_room(in, &marker);
	*pages = (struct spool_pages){marker.data, x->data};
	for (size_t i = 0; i < rows; i += step) {
		const size_t n = rows - i < step ? rows - i : step;
		morphrec_marker_rows(&p->what, o, marker.data, x->data, i, i + n);
		spool_done(pages, i * row, n * row);
	}
	item_reconstruct(in, p, a, marker.data, x->data, &p->what, 0);
	for (size_t i = 0; i < rows; i += step) {
		const size_t n = rows - i < step ? rows - i : step;
		morphrec_finish_rows(&p->what, o, marker.data, x->data, i, i + n);
		spool_done(pages, i * row, n * row);
	}
	img_free(x);
	*x = marker;
}

/* Reconstructs the arrays of x one by one, under those of the mask or by operator o. */
static void
each_part(const struct raw_in *in, struct morphrec_plan *p, struct img *x, const struct img *mask,
	  const struct args *a, const struct morphrec_operator *o, const struct parts *parts)
{
	const size_t sizes[] = {parts->w, parts->h, parts->d}, size = img_type_size(x->type);
	struct img one, under;

	img_init(&one, x->type, 3, sizes);
	img_init(&under, x->type, 3, sizes);
	if (img_alloc(&one) || (mask && img_alloc(&under)))
		raw_die(in, "no memory for a part of the item");
	for (size_t i = 0; i < parts_count(parts); i++) {
		parts_take(parts, i, size, one.data, x->data);
		if (mask) {
			parts_take(parts, i, size, under.data, mask->data);
			item_reconstruct(in, p, a, one.data, under.data, &p->what, 0);
		} else {
			operate(in, p, &one, a, o);
		}
		parts_put(parts, i, size, one.data, x->data);
	}
	img_free(&one);
	img_free(&under);
}

/* Reconstructs x, whose samples are loaded. x becomes the result. */
static void
run(const struct raw_in *in, struct morphrec_plan *p, struct img *x, const struct img *mask,
    const struct args *a, const struct img *picture, const struct parts *parts,
    struct spool_pages *pages)
{
	struct shape shape;
	const struct morphrec_operator o = item_operator(in, x, a, picture, &shape);

	if (parts_count(parts) > 1)
		each_part(in, p, x, mask, a, &o, parts);
	else if (mask)
		item_reconstruct(in, p, a, x->data, mask->data, &p->what, 0);
	else if (a->max_mem)
		operate_spooled(in, p, x, a, &o, pages);
	else
		operate(in, p, x, a, &o);
	shape_free(&shape);
}

/* Processes one item x, whose header was read, under its mask or none. x becomes the result. */
static void
item(struct raw_in *in, struct img *x, const struct img *mask, const struct img *picture,
     const struct args *a, struct stats *st, struct morphrec_figures *f)
{
	struct parts parts;
	struct morphrec_problem what = item_problem(in, x, a, &parts);
	struct spool_pages pages;
	struct progress bar;
	struct morphrec_plan p;

	/*
	 * The marker is loaded because a private mapping would be copied page by page as J rises: 51200 x 51200 took 10.6 s
	 * mapped and 3.2 s loaded.
	 */
	(a->max_mem ? item_spool : mask || parts_count(&parts) > 1 ? raw_load : raw_map)(in, x);
	if (a->max_mem) {
		pages = (struct spool_pages){x->data, mask && mask->map ? mask->data : NULL};
		what.done = spool_done;
		what.done_with = &pages;
	}
	what.step = item_step;
	what.step_with = &bar;
	stats_charge(st, STATS_READ);
	const char *why = morphrec_plan(&p, &what);
	if (why)
		raw_die(in, "%s", why);
	if (a->common.verbose)
		item_explain(in, &p);
	stats_charge(st, STATS_PLAN);
	relay_pass(RELAY_COMPUTE);
	if (gpu_enter(a->gpu))
		raw_die(in, "-g: %s", gpu_why(a->gpu));
	run(in, &p, x, mask, a, picture, &parts, &pages);
	item_add_figures(f, &p.figures);
	morphrec_free(&p);
	stats_charge(st, STATS_COMPUTE);
}

/* --- the stream -------------------------------------------------------------------------------------------------- */

/* What slices_open() is to count as one slice: an item, or a picture or volume of it. */
struct slicing {
	int conn;
	bool items;
};

/* Returns the axis of x along which its pictures, or its volumes, are processed one by one; -1: there is none. */
static int
slice_axis(const struct slicing *by, const struct img *x)
{
	const int spatial = x->dim - img_row_axis(x);

	return !by->items && spatial > (morphrec_is_volume(by->conn) ? 3 : 2) ? x->dim - 1 : -1;
}

static size_t
count_slices(const void *slicing, const struct img *x)
{
	const int axis = slice_axis(slicing, x);

	return axis < 0 ? 1 : x->axis[axis].n;
}

/* Opens the share. With a mask, several items are shared out whole, since each is under the whole mask. */
static void
open_share(struct slices *s, struct slicing *by, const struct args *a, struct raw_in *in)
{
	uint64_t hash = part_begin(&a->common);

	if (a->common.part.n) {
		hash = a->mask ? part_hash_file(hash, a->mask) : hash;
		hash = a->kind == ARGS_PICTURE ? part_hash_file(hash, a->shape) : hash;
		hash = part_hash_files(hash, a->path, a->npath);
	}
	slices_open(s, &a->common, hash, in, count_slices, by);
	if (!a->mask || s->items < 2)
		return;
	by->items = true;
	slices_free(s);
	slices_open(s, &a->common, hash, in, count_slices, by);
}

/* Returns what of the mask belongs to the slices of x that are in the share. NULL: there is no mask. */
static const struct img *
mask_of(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a,
	const struct slices *s, int axis)
{
	size_t from, to;

	if (!a->mask)
		return NULL;
	if (axis < 0 || !a->common.part.n)
		return masks_for(in, x, m, a);
	slices_of(s, in, x->axis[axis].n, &from, &to);
	return masks_layers(in, x, m, a, x->axis[axis].n, from, to - from);
}

struct stream {
	struct raw_in *in;
	struct raw_out *out;
	const struct args *a;
	struct masks *masks;
	struct stats *st;
	struct morphrec_figures *f;
	struct slicing by;
	struct slices share;
};

/* Processes the next item; false: there is none, or none that is in the share. */
static bool
take_item(void *stream)
{
	struct stream *s = stream;
	const struct args *a = s->a;
	size_t from, to;
	struct img x;

	if (!raw_next(s->in, &x))
		return false;
	const int axis = slice_axis(&s->by, &x);
	const bool over = slices_over(&s->share, s->in);
	if (!over && slices_of(&s->share, s->in, count_slices(&s->by, &x), &from, &to)) {
		const struct img *mask = mask_of(s->in, &x, s->masks, a, &s->share, axis);
		slices_take(&s->share, s->in, &x, axis);
		item(s->in, &x, mask, &s->masks->shape, a, s->st, s->f);
		relay_pass(RELAY_WRITE);
		if (morphrec_op_differs(a->o.op))
			bands_renew(&x);
		opt_add_history(&x, &a->common);
		slices_keys(&s->share, s->in, &x);
		(a->max_mem ? item_unspool : raw_put)(s->out, &x);
		s->st->items++;
		stats_charge(s->st, STATS_WRITE);
		relay_flush(s->out);
	}
	img_free(&x);
	return !over;
}

/* Processes each item of the input, or the share of them. Returns the output. Items overlap on a GPU. */
static struct raw_out *
stream(struct raw_in *in, struct masks *masks, const struct args *a, struct stats *st,
       struct morphrec_figures *f)
{
	struct stream s = {
	    .in = in, .a = a, .masks = masks, .st = st, .f = f, .by = {a->conn, false}};

	open_share(&s.share, &s.by, a, in);
	s.out = raw_create(a->common.out, opt_as(&a->common));
	relay_run(in, a->gpu, take_item, &s);
	slices_close(&s.share, s.out);
	return s.out;
}

int
main(int argc, char **argv)
{
	const struct args a = morphrec_args(argc, argv);
	struct morphrec_figures f = {0};
	struct masks masks = {0};
	struct raw_out *out = NULL;
	struct stats st;

	stats_start(&st);
	st.threads = par_threads(a.common.threads);
	if (a.mask)
		raw_load_file(a.mask, a.common.max_bytes, true, &masks.given);
	if (a.kind == ARGS_PICTURE)
		raw_load_file(a.shape, a.common.max_bytes, false, &masks.shape);
	struct raw_in *in = raw_open(a.path, a.npath, a.common.max_bytes);
	if (a.seam)
		seam_run(in, &masks, &a, &st, &f);
	else
		out = stream(in, &masks, &a, &st, &f);
	img_free(&masks.given);
	for (int i = 0; i < 2; i++)
		img_free(&masks.wide[i]);
	img_free(&masks.shape);
	stats_add(&st, "tiles", "%zu", f.tiles);
	stats_add(&st, "visits", "%zu", f.visits);
	stats_add(&st, "floods", "%zu", f.floods);
	if (a.method != MORPHREC_TILE) {
		stats_add(&st, "risen", "%zu", f.risen);
		stats_add(&st, "rises", "%zu", f.rises);
		stats_add(&st, "stale", "%zu", f.stale);
	}
	gpu_report(a.gpu, &st);
	stats_close(&st, in, out, &a.common);
	gpu_close(a.gpu);
	return 0;
}
