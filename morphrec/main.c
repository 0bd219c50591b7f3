#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/par.h"
#include "common/progress.h"
#include "common/raw.h"
#include "common/stats.h"
#include "common/tile.h"
#include "gpu/morphrec/morphrec.h"
#include "morphrec/args.h"
#include "morphrec/items/item_io.h"
#include "morphrec/items/item_op.h"
#include "morphrec/items/parts.h"
#include "morphrec/items/spool.h"

const char *const weir_prog = "morphrec";

/* Dies when x is a part of a picture whose rest the operator must see, and warns when the rest would change the result. */
static void
check_tile(const struct raw_in *in, const struct img *x, const struct parts *p,
	   const struct args *a)
{
	char words[TILE_ERR];
	struct tile t;
	const char *why = tile_of(x, p->w, p->h, &t, words);

	if (why)
		raw_die(in, "%s", why);
	if (t.W == p->w && t.H == p->h)
		return;
	if (a->o.op == MORPHREC_FILL_HOLES || a->o.op == MORPHREC_CLEAR_BORDER)
		raw_die(in,
			"a part of a picture (tile:=%s): its sides are cuts, not the frame; see "
			"rawjoin",
			img_key(x, "tile"));
	warn("%s: a part of a picture (tile:=%s): nothing comes from beyond its sides; see rawjoin",
	     raw_name(in), img_key(x, "tile"));
}

/* Makes the problem of each array in *p of an item. Dies when the item cannot be reconstructed. */
static struct morphrec_problem
problem_of(const struct raw_in *in, const struct img *x, const struct args *a, struct parts *p)
{
	if (!parts_of(x, p))
		raw_die(in, "%d axes: not a picture, a stack, a volume or several volumes", x->dim);
	if (img_is_complex(x))
		raw_die(in, "complex samples have no order");
	if (a->max_mem && (p->c > 1 || (p->n > 1 && morphrec_is_volume(a->conn))))
		raw_die(
		    in,
		    "--max-mem: takes grey pictures and one volume an item, not %zu planes of %zu",
		    p->c, p->n);
	if (morphrec_is_volume(a->conn) && p->d == 1)
		warn("%s: connectivity %d is for volumes, and this item is a single picture",
		     raw_name(in), a->conn);
	if (!morphrec_is_volume(a->conn)) {
		p->d *= p->n;
		p->n = 1;
	}
	check_tile(in, x, p, a);
	return (struct morphrec_problem){.type = x->type,
					 .w = p->w,
					 .h = p->h,
					 .d = p->d,
					 .conn = a->conn,
					 .erode = a->mask ? a->erode : morphrec_op_erodes(a->o.op),
					 .method = (enum morphrec_method)a->method,
					 .threads = par_threads(a->common.threads),
					 .max_mem = a->max_mem};
}

/* Dies unless the mask has the marker's shape and maxval, and its type or a type that converts to it. */
static void
match(const struct raw_in *in, const struct img *x, const struct img *mask, const char *name)
{
	struct parts p, q;
	struct tile t, u;
	char words[TILE_ERR];

	if (!parts_of(x, &p) || !parts_of(mask, &q))
		die("%s: not a picture, a stack, a volume or several volumes", name);
	if (p.c != q.c || p.w != q.w || p.h != q.h || p.d * p.n != q.d * q.n)
		raw_die(in,
			"the marker is %zux%zux%zux%zu (planes, width, height, count), the mask %s "
			"%zux%zux%zux%zu",
			p.c, p.w, p.h, p.d * p.n, name, q.c, q.w, q.h, q.d * q.n);
	const char *why = tile_of(mask, q.w, q.h, &u, words);
	if (why)
		die("%s: %s", name, why);
	if (!tile_of(x, p.w, p.h, &t, words) && memcmp(&t, &u, sizeof t))
		raw_die(in,
			"the marker lies at column %zu, row %zu of a picture of %zux%zu, the mask "
			"%s at "
			"column %zu, row %zu of %zux%zu",
			t.x0, t.y0, t.W, t.H, name, u.x0, u.y0, u.W, u.H);
	if (x->type != mask->type && !morphrec_widening(x->type, mask->type))
		raw_die(in, "the marker is of type %s, the mask %s of type %s",
			img_type_name(x->type), name, img_type_name(mask->type));
	if (img_maxval(x) && img_maxval(mask) && img_maxval(x) != img_maxval(mask))
		raw_die(in, "the marker has maxval %u, the mask %s %u", img_maxval(x), name,
			img_maxval(mask));
}

/* Writes the item and its plan to standard error, for -v. */
static void
explain(const struct raw_in *in, const struct morphrec_plan *p)
{
	char text[256];

	morphrec_explain(p, text, sizeof text);
	warn("%s: %zux%zux%zu %s: %s", raw_name(in), p->what.w, p->what.h, p->what.d,
	     img_type_name(p->what.type), text);
}

static void
step_bar(void *bar, double share)
{
	progress_step(bar, share);
}

/* Dies when p->clip met NaN, except with --nan=barrier. */
static void
refuse(const struct raw_in *in, const struct morphrec_plan *p, const struct args *a)
{
	const struct morphrec_clip *c = &p->clip;
	const size_t w = p->what.w, h = p->what.h;

	if (c->nan && a->nan == 0)
		raw_die(in, "%llu samples are NaN, the first at x %zu, y %zu, slice %zu; see --nan",
			(unsigned long long)c->nan, (size_t)c->first_nan % w,
			(size_t)c->first_nan / w % h, (size_t)c->first_nan / w / h);
}

/* The same for samples f that are not clipped otherwise. f serves as marker and mask, so it does not change. */
static void
refuse_nan(const struct raw_in *in, struct morphrec_plan *p, const struct args *a, void *f)
{
	if (!img_is_float(p->what.type) || a->nan)
		return;
	morphrec_clip(p, f, f);
	refuse(in, p, a);
}

/* Clips and reconstructs J under I. Dies on NaN and on markers beyond the mask, which the CPU counts during the run. */
static void
reconstruct(const struct raw_in *in, struct morphrec_plan *p, const struct args *a, void *J,
	    void *I)
{
	const struct morphrec_clip *c = &p->clip;
	const size_t w = p->what.w, h = p->what.h;
	int err = 0;

	progress_start(p->what.step_with, a->common.quiet);
	if (a->gpu)
		morphrec_clip(p, J, I);
	else
		err = morphrec_clip_and_run(p, J, I);
	progress_end(p->what.step_with);
	refuse(in, p, a);
	if (c->above && a->strict)
		raw_die(in,
			"%llu markers are beyond the mask, the first at x %zu, y %zu, slice %zu",
			(unsigned long long)c->above, (size_t)c->first_above % w,
			(size_t)c->first_above / w % h, (size_t)c->first_above / w / h);
	if (c->above && a->mask && a->common.verbose)
		warn("%s: %llu markers beyond the mask were clipped", raw_name(in),
		     (unsigned long long)c->above);
	if (a->gpu)
		err = gpu_morphrec_run(a->gpu, p, J, I);
	if (err == -EIO)
		raw_die(in, "-g: %s", gpu_why(a->gpu));
	if (err)
		raw_die(in, "no memory for the queue of pixels");
}

/* The mask, and a copy of it in the floating type of the last marker whose type differed. Both may be zeroed. */
struct masks {
	struct img given, wide;
	struct img shape; /* the image of --shape=FILE */
};

/* Makes m->wide, of that type, in memory or in a temporary file. */
static void
widen(const struct raw_in *in, struct masks *m, enum img_type type, bool to_file)
{
	morphrec_widen *const one = morphrec_widening(type, m->given.type);
	const size_t from = img_type_size(m->given.type), to = img_type_size(type);
	struct img *w = &m->wide;
	size_t total;

	img_free(w);
	img_copy_head(w, &m->given);
	w->type = type;
	if (to_file)
		item_room(in, w);
	else if (img_alloc(w))
		raw_die(in, "no memory for the mask in the marker's type");
	img_count(w, &total);
	for (size_t at = 0, n; at < total; at += n) {
		n = total - at < ITEM_PIECE / to ? total - at : ITEM_PIECE / to;
		one((char *)w->data + at * to, (const char *)m->given.data + at * from, n);
		if (to_file)
			spool_done(&(struct spool_pages){.J = w->data}, at * to, n * to);
		if (to_file && m->given.map)
			spool_done(&(struct spool_pages){.J = m->given.data}, at * from, n * from);
	}
}

/* Returns the mask for marker x, in x's type. */
static struct img *
mask_for(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a)
{
	match(in, x, &m->given, a->mask);
	if (x->type == m->given.type)
		return &m->given;
	if (x->type != m->wide.type)
		widen(in, m, x->type, a->max_mem != 0);
	return &m->wide;
}

/* Applies operator o to x, which becomes the result. */
static void
operate(const struct raw_in *in, struct morphrec_plan *p, struct img *x, const struct args *a,
	const struct morphrec_operator *o)
{
	struct img marker;

	img_copy_head(&marker, x);
	int err = img_alloc(&marker);
	if (!err)
		err = morphrec_marker(&p->what, o, marker.data, x->data);
	if (err)
		raw_die(in, err == -E2BIG ? "areas are counted in up to 4294967295 pixels at a time"
					  : "no memory for the marker");
	if (!morphrec_op_is_area(o->op))
		reconstruct(in, p, a, marker.data, x->data);
	else
		refuse_nan(in, p, a, x->data);
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
	reconstruct(in, p, a, marker.data, x->data);
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
			reconstruct(in, p, a, one.data, under.data);
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
		reconstruct(in, p, a, x->data, mask->data);
	else if (a->max_mem)
		operate_spooled(in, p, x, a, &o, pages);
	else
		operate(in, p, x, a, &o);
	shape_free(&shape);
}

/* Processes one item x, whose header was read. x becomes the result. */
static void
item(struct raw_in *in, struct img *x, struct masks *m, const struct args *a, struct stats *st,
     struct morphrec_figures *f)
{
	struct parts parts;
	struct morphrec_problem what = problem_of(in, x, a, &parts);
	struct spool_pages pages;
	struct progress bar;
	struct morphrec_plan p;
	const struct img *mask = a->mask ? mask_for(in, x, m, a) : NULL;

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
	what.step = step_bar;
	what.step_with = &bar;
	stats_charge(st, STATS_READ);
	const char *why = morphrec_plan(&p, &what);
	if (why)
		raw_die(in, "%s", why);
	if (a->common.verbose)
		explain(in, &p);
	stats_charge(st, STATS_PLAN);
	run(in, &p, x, mask, a, &m->shape, &parts, &pages);
	f->tiles += p.figures.tiles;
	f->visits += p.figures.visits;
	f->floods += p.figures.floods;
	f->risen += p.figures.risen;
	f->rises += p.figures.rises;
	f->stale += p.figures.stale;
	morphrec_free(&p);
	stats_charge(st, STATS_COMPUTE);
}

int
main(int argc, char **argv)
{
	const struct args a = morphrec_args(argc, argv);
	struct morphrec_figures f = {0};
	struct masks masks = {0};
	struct img x;
	struct stats st;

	stats_start(&st);
	st.threads = par_threads(a.common.threads);
	if (a.mask)
		raw_load_file(a.mask, a.common.max_bytes, true, &masks.given);
	if (a.kind == ARGS_PICTURE)
		raw_load_file(a.shape, a.common.max_bytes, false, &masks.shape);
	struct raw_in *in = raw_open(a.path, a.npath, a.common.max_bytes);
	struct raw_out *out = raw_create(a.common.out, (enum raw_as)a.common.as);
	while (raw_next(in, &x)) {
		item(in, &x, &masks, &a, &st, &f);
		opt_add_history(&x, &a.common);
		(a.max_mem ? item_unspool : raw_put)(out, &x);
		img_free(&x);
		st.items++;
		stats_charge(&st, STATS_WRITE);
	}
	img_free(&masks.given);
	img_free(&masks.wide);
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
