/* Items: their planes, memory in files, masks, shares, operators and the run. All functions die on failure. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/stats.h"
#include "common/stream/axes.h"
#include "common/stream/place.h"
#include "gpu/morphrec/morphrec.h"
#include "morphrec/job.h"

/* ---- planes ---- */

/* Copies array i of the item's samples, of `size` bytes each, to [d][h][w]; or, if `back`, from there into the item. */
static void
planes_move(const struct img_volumes *p, size_t i, size_t size, void *one, void *all, bool back)
{
	const size_t n = p->w * p->h * p->d;
	char *to = one, *at = (char *)all + (i / p->c * n * p->c + i % p->c) * size;

	for (size_t k = 0; k < n; k++, to += size, at += p->c * size)
		memcpy(back ? at : to, back ? to : at, size);
}

/* ---- items in temporary files ---- */

/*
 * For --max-mem: returns the memory of the whole pages in bytes [at, at + n) of both arrays to the system; the files keep their
 * content. It serves as `done` of struct morphrec_problem.
 */
static void
spool_done(void *pages, size_t at, size_t n)
{
	const struct spool_pages *p = pages;

	weir_forget((const char *)p->J + at, n);
	if (p->I)
		weir_forget((const char *)p->I + at, n);
}

enum { ITEM_PIECE = 1 << 22 }; /* bytes that are copied between a stream and a file at a time */

/* Makes room for the payload of x in a temporary file. */
static void
item_room(const struct raw_in *in, struct img *x)
{
	if (!img_bytes(x, &x->mapped) || !(x->map = x->data = scratch_map(x->mapped)))
		raw_die(in, "no temporary file for %zu bytes in %s: %s", x->mapped,
			scratch_directory(), strerror(errno));
}

static size_t
piece_at(size_t at, size_t total)
{
	return total - at < ITEM_PIECE ? total - at : ITEM_PIECE;
}

/* Reads the payload of x into a temporary file. */
static void
item_spool(struct raw_in *in, struct img *x)
{
	item_room(in, x);
	for (size_t at = 0, n; at < x->mapped; at += n) {
		n = piece_at(at, x->mapped);
		raw_read(in, (char *)x->data + at, n / img_type_size(x->type));
		weir_forget((char *)x->data + at, n);
	}
}

void
item_unspool(struct raw_out *out, const struct img *x)
{
	raw_head(out, x);
	for (size_t at = 0, n; at < x->mapped; at += n) {
		n = piece_at(at, x->mapped);
		raw_write(out, (char *)x->data + at, n / img_type_size(x->type));
		weir_forget((char *)x->data + at, n);
	}
}

/* ---- masks ---- */

/* Whether the floating type `to` holds every value of the integer type `from` exactly. */
static bool
widens(enum img_type to, enum img_type from)
{
	const size_t size = img_type_size(from);

	return !img_is_float(from) &&
	       ((to == IMG_F32 && size <= 2) || (to == IMG_F64 && size <= 4));
}

/* Dies unless the mask has the marker's shape and maxval, and its type or a type that converts to it. */
static void
match(const struct raw_in *in, const struct img *x, const struct img *mask, const char *name)
{
	struct img_volumes p, q;
	struct place t, u;
	struct why why;

	if (!img_volumes(x, IMG_SLICES, &p) || !img_volumes(mask, IMG_SLICES, &q))
		die("%s: it has more pictures than a number holds", name);
	if (p.c != q.c || p.w != q.w || p.h != q.h || p.n != q.n)
		raw_die(in,
			"the marker is %zux%zux%zux%zu (planes, width, height, count), the mask %s "
			"%zux%zux%zux%zu",
			p.c, p.w, p.h, p.n, name, q.c, q.w, q.h, q.n);
	if (place_of(mask, q.w, q.h, &u, &why))
		die("%s: %s", name, why.text);
	if (!place_of(x, p.w, p.h, &t, &why) && memcmp(&t, &u, sizeof t))
		raw_die(in,
			"the marker lies at column %zu, row %zu of a picture of %zux%zu, the mask "
			"%s at "
			"column %zu, row %zu of %zux%zu",
			t.x0, t.y0, t.W, t.H, name, u.x0, u.y0, u.W, u.H);
	if (x->type != mask->type && !widens(x->type, mask->type))
		raw_die(in, "the marker is of type %s, the mask %s of type %s",
			img_type_name(x->type), name, img_type_name(mask->type));
	if (img_maxval(x) && img_maxval(mask) && img_maxval(x) != img_maxval(mask))
		raw_die(in, "the marker has maxval %u, the mask %s %u", img_maxval(x), name,
			img_maxval(mask));
	place_compare(mask, x, .1, name, raw_name(in));
}

/* Makes n samples of the type `as` of samples of the type `from_type`; it holds all their values. */
static void
widen_some(char *to, enum img_type as, const char *from, enum img_type from_type, size_t n)
{
	enum { BLOCK = 1024 };
	double v[BLOCK];

	for (size_t at = 0, some; at < n; at += some) {
		some = n - at < BLOCK ? n - at : BLOCK;
		sample_load(v, from + at * img_type_size(from_type), from_type, some);
		sample_store(to + at * img_type_size(as), v, as, some);
	}
}

/* Makes w the mask in that type, in memory or in a temporary file. */
static void
widen(const struct raw_in *in, const struct masks *m, struct img *w, enum img_type type,
      bool to_file)
{
	const size_t from = img_type_size(m->given.type), to = img_type_size(type);
	size_t total;

	img_copy_head(w, &m->given);
	w->type = type;
	if (to_file)
		item_room(in, w);
	else if (img_alloc(w))
		raw_die(in, "no memory for the mask in the marker's type");
	img_count(w, &total);
	for (size_t at = 0, n; at < total; at += n) {
		n = piece_at(at * to, total * to) / to;
		widen_some((char *)w->data + at * to, type, (const char *)m->given.data + at * from,
			   m->given.type, n);
		if (to_file)
			weir_forget((char *)w->data + at * to, n * to);
		if (to_file && m->given.map)
			weir_forget((const char *)m->given.data + at * from, n * from);
	}
}

/* Returns the mask in x's type. */
static struct img *
in_type(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a)
{
	if (x->type == m->given.type)
		return &m->given;
	struct img *const w = &m->wide[x->type == IMG_F64];
	if (!w->data)
		widen(in, m, w, x->type, a->max_mem != 0);
	return w;
}

struct img *
masks_layers(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a,
	     size_t layers, size_t at, size_t n)
{
	struct img *g = &m->given;
	size_t bytes;

	match(in, x, g, a->mask);
	img_bytes(g, &bytes);
	const size_t layer = bytes / layers;
	if (g->map)
		g->data = (char *)g->data + at * layer;
	else
		memmove(g->data, (char *)g->data + at * layer, n * layer);
	while (g->dim > 1)
		img_drop_axis(g, g->dim - 1);
	g->axis[0].n = n * layer / img_type_size(g->type);
	return in_type(in, x, m, a);
}

/* ---- shares ---- */

int
share_axis(const struct slicing *by, const struct img *x)
{
	const int spatial = x->dim - img_row_axis(x);

	return !by->items && spatial > 2 + img_is_deep(x, (enum img_depth)by->depth) ? x->dim - 1
										     : -1;
}

size_t
share_count(const void *slicing, const struct img *x)
{
	const int axis = share_axis(slicing, x);

	return axis < 0 ? 1 : x->axis[axis].n;
}

uint64_t
share_hash(const struct args *a)
{
	uint64_t hash = share_begin(&a->common);

	if (!a->common.share.n)
		return hash;
	hash = a->mask ? share_hash_file(hash, a->mask) : hash;
	hash = a->kind == ARGS_PICTURE ? share_hash_file(hash, a->shape) : hash;
	return share_hash_files(hash, a->path, a->npath);
}

void
share_open(struct slices *s, struct slicing *by, const struct args *a, struct raw_in *in)
{
	const uint64_t hash = share_hash(a);

	slices_open(s, &a->common, hash, in, share_count, by);
	if (!a->mask || s->items < 2)
		return;
	by->items = true;
	slices_free(s);
	slices_open(s, &a->common, hash, in, share_count, by);
}

const struct img *
masks_of(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a,
	 const struct slices *s, int axis)
{
	size_t from, to;

	if (!a->mask)
		return NULL;
	if (axis < 0 || !a->common.share.n) {
		match(in, x, &m->given, a->mask);
		return in_type(in, x, m, a);
	}
	slices_of(s, in, x->axis[axis].n, &from, &to);
	return masks_layers(in, x, m, a, x->axis[axis].n, from, to - from);
}

/* ---- operations ---- */

/* Computes the radii along x, y and z in pixels. A radius with a unit is divided by the spacings of the item's axes. */
static void
radii(const struct raw_in *in, const struct img *x, const struct args *a, bool deep, double r[3])
{
	const int first = img_row_axis(x), axes = deep ? 3 : 2;

	for (int i = 0; i < 3; i++)
		r[i] = i < axes ? a->radius : 0;
	for (int i = 0; *a->unit && i < axes; i++) {
		const struct img_axis *axis = &x->axis[first + i];
		r[i] = 0;
		if (first + i >= x->dim)
			continue;
		if (!axis->unit || strcmp(axis->unit, a->unit))
			raw_die(in, "the radius is in %s, axis %d of the item in %s", a->unit,
				first + i, axis->unit ? axis->unit : "no unit");
		if (!(fabs(axis->spacing) > 0))
			raw_die(in, "axis %d has no spacing: give the radius in pixels", first + i);
		r[i] = fmin(a->radius / fabs(axis->spacing) * (1 + 1e-12), 1e9);
	}
}

/* Makes the shape of an opening, closing or top-hat of x. A square of a whole number of pixels gets no runs. */
static struct shape
shape_for(const struct item *i, const struct img *x)
{
	enum {
		MOST = 1000
	}; /* pixels, of a shape that is not a square: a run for each of its rows */
	const struct args *a = i->a;
	struct shape s = {0};
	double r[3];
	int err = 0;

	if (!a->reach)
		return s;
	radii(i->in, x, a, morphrec_is_volume(i->what.conn), r);
	for (int k = 0; k < 3; k++)
		if (r[k] > MOST && (a->kind != ARGS_SQUARE || *a->unit))
			raw_die(i->in, "a radius of %g pixels is above %d", r[k], MOST);
	if (a->kind == ARGS_BALL && !morphrec_is_volume(i->what.conn))
		raw_die(i->in, "--shape=ball: goes with volumes; a disk is for pictures");
	r[2] = a->kind == ARGS_DISK ? 0 : r[2];
	if (a->kind == ARGS_PICTURE)
		err = shape_picture(&s, i->picture);
	else if (a->kind == ARGS_LINE)
		err = shape_line(&s, a->o.r, a->degrees);
	else if (a->kind != ARGS_SQUARE || *a->unit)
		err = shape_solid(&s, r, a->kind != ARGS_SQUARE);
	if (err == -ENOMEM)
		raw_die(i->in, "no memory for the shape");
	if (err)
		die("%s: %s", a->shape,
		    err == -EDOM ? "the shape has no pixel that is not 0"
				 : "a shape is a picture or a volume of one plane; ppmtopgm or "
				   "rawaxes --slice makes one");
	return s;
}

struct morphrec_operator
item_operator(const struct item *i, const struct img *x, struct shape *shape)
{
	struct morphrec_operator o = i->a->o;
	double lo, hi;

	morphrec_range(x->type, &lo, &hi);
	o.top = img_is_float(x->type) ? 1 : img_maxval(x) ? img_maxval(x) : hi;
	if (!img_is_float(x->type) && o.h != floor(o.h))
		raw_die(i->in, "H is %g: the samples are integers, so H is one too", o.h);
	if (o.op == MORPHREC_HYSTERESIS && o.hi > hi)
		raw_die(i->in, "HI is %g, above all samples of type %s", o.hi,
			img_type_name(x->type));
	o.open = i->a->nan == ARGS_FRAME && img_is_float(x->type);
	*shape = shape_for(i, x);
	o.shape = shape->n ? shape : NULL;
	o.r = o.shape && i->a->kind != ARGS_PICTURE ? 1 : o.r; /* the others hold their radius */
	return o;
}

/* ---- running ---- */

/* To start a thread and to share out tiles takes .1 to .3 ms. Below so many bytes, a second thread does not save as much. */
enum { ALONE = 1 << 20 };

/* Dies when x is a part of a picture whose rest the operator must see, and warns when the rest would change the result. */
static void
check_tile(const struct raw_in *in, const struct img *x, const struct img_volumes *p,
	   const struct args *a)
{
	struct why why;
	struct place t;

	if (place_of(x, p->w, p->h, &t, &why))
		raw_die(in, "%s", why.text);
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

/* Serves as `step` of struct morphrec_problem. */
static void
report(void *bar, double share)
{
	progress_step(bar, share);
}

void
item_problem(struct item *i, const struct img *x)
{
	const struct raw_in *in = i->in;
	const struct args *a = i->a;
	struct img_volumes *p = &i->planes;

	*p = raw_volumes(in, x, (enum img_depth)a->depth);
	if (img_is_complex(x))
		raw_die(in, "complex samples have no order");
	if (a->max_mem && (p->c > 1 || (p->n > 1 && p->deep)))
		raw_die(
		    in,
		    "--max-mem: takes grey pictures and one volume an item, not %zu planes of %zu",
		    p->c, p->n);
	if (a->conn && morphrec_is_volume(a->conn) && p->d == 1)
		warn("%s: connectivity %d is for volumes, and this item is a single picture; "
		     "rawstack makes volumes of pictures",
		     raw_name(in), a->conn);
	if (!p->deep) {
		p->d = p->n;
		p->n = 1;
	}
	check_tile(in, x, p, a);
	if (x->type == IMG_I64 || x->type == IMG_U64)
		raw_die(in, "64-bit integers are not reconstructed: the types are 8, 16 and 32-bit "
			    "integers, float and double");
	i->what =
	    (struct morphrec_problem){.type = x->type,
				      .w = p->w,
				      .h = p->h,
				      .d = p->d,
				      .conn = a->conn	? a->conn
					      : p->deep ? 26
							: 8,
				      .erode = a->mask ? a->erode : morphrec_op_erodes(a->o.op),
				      .method = (enum morphrec_method)a->method,
				      .node = a->node,
				      .heaps = a->heaps,
				      .threads = par_threads(a->common.threads),
				      .alone = ALONE,
				      .max_mem = a->max_mem,
				      .step = report,
				      .step_with = &i->bar};
}

/* Dies when the plan met NaN, except with --nan=barrier. The array begins at sample `at` of an array of the shape of whole. */
static void
refuse(const struct item *i, const struct morphrec_problem *whole, size_t at)
{
	const struct morphrec_clip *c = &i->p.clip;

	at += c->first_nan;
	if (c->nan && i->a->nan == ARGS_ERROR)
		raw_die(i->in,
			"%llu samples are NaN, the first at x %zu, y %zu, slice %zu; see --nan",
			(unsigned long long)c->nan, at % whole->w, at / whole->w % whole->h,
			at / whole->w / whole->h);
}

/* Dies on NaN among samples f, which are not clipped otherwise. f serves as marker and mask, so it does not change. */
static void
refuse_nan(struct item *i, void *f)
{
	if (!img_is_float(i->what.type) || i->a->nan)
		return;
	morphrec_clip(&i->p, f, f);
	refuse(i, &i->what, 0);
}

void
item_reconstruct(struct item *i, void *J, void *I, const struct morphrec_problem *whole, size_t at)
{
	struct gpu *g = i->gpu;
	int err = 0;

	progress_start(&i->bar, i->a->common.quiet);
	if (g)
		morphrec_clip(&i->p, J, I);
	else
		err = morphrec_clip_and_run(&i->p, J, I);
	progress_end(&i->bar);
	refuse(i, whole, at / img_type_size(whole->type));
	i->beyond += i->p.clip.above;
	i->known += i->what.w * i->what.h * i->what.d - i->p.clip.nan;
	if (g)
		err = gpu_morphrec_run(g, &i->p, J, I);
	if (err == -EIO)
		raw_die(i->in, "-g: %s", gpu_why(g));
	if (err)
		raw_die(i->in, "no memory for the queue of pixels");
}

void
item_say_clipped(const struct item *i)
{
	if (!i->a->mask)
		return;
	if (i->beyond && i->a->common.verbose)
		warn("%s: %llu markers beyond the mask were clipped", raw_name(i->in),
		     (unsigned long long)i->beyond);
	if (i->beyond > i->known / 4 * 3) /* a blurred picture is above half of its noise */
		warn("%s: %.0f %% of the marker is %s the mask and was clipped, so most of the "
		     "result is the mask; if wconv made it, its --normalise keeps the level",
		     raw_name(i->in), 100 * (double)i->beyond / (double)i->known,
		     i->a->erode ? "below" : "above");
}

void
item_add_figures(struct morphrec_figures *sum, const struct morphrec_figures *f)
{
	sum->tiles += f->tiles;
	sum->visits += f->visits;
	sum->floods += f->floods;
	sum->risen += f->risen;
	sum->rises += f->rises;
	sum->stale += f->stale;
}

/* ---- an item ---- */

void
item_load(struct item *i, struct img *x)
{
	const struct img *mask = i->mask;

	item_problem(i, x);
	if (i->a->max_mem) {
		item_spool(i->in, x);
		i->pages = (struct spool_pages){x->data, mask && mask->map ? mask->data : NULL};
		i->what.done = spool_done;
		i->what.done_with = &i->pages;
		return;
	}
	/*
	 * The marker is loaded because a private mapping would be copied page by page as J rises: 51200 x 51200 took 10.6 s
	 * mapped and 3.2 s loaded.
	 */
	(mask || planes_count(&i->planes) > 1 ? raw_load : raw_map)(i->in, x);
}

void
item_plan(struct item *i)
{
	const struct morphrec_problem *what = &i->what;
	char text[256];

	if (morphrec_plan(&i->p, what))
		raw_die(i->in, "no memory for the reconstruction");
	if (!i->a->common.verbose)
		return;
	morphrec_explain(&i->p, text, sizeof text);
	warn("%s: %zux%zux%zu %s: %s", raw_name(i->in), what->w, what->h, what->d,
	     img_type_name(what->type), text);
}

/* The same as operate() on the GPU as a whole, in place unless x is a file. False: it does not do that, and x is as it was. */
static bool
operate_at_once(struct item *i, struct img *x, const struct morphrec_operator *o)
{
	struct gpu *g = i->gpu;
	struct img y;

	img_copy_head(&y, x);
	if (x->map && img_alloc(&y))
		raw_die(i->in, "no memory for the result");
	const int err = gpu_morphrec_operate(g, &i->p, o, i->a->nan != ARGS_ERROR,
					     x->map ? y.data : x->data, x->data);
	if (err == -EDOM)
		refuse_nan(i, x->data);
	if (err && err != -ENOTSUP)
		raw_die(i->in, "-g: %s", err == -ENOMEM ? "no memory" : gpu_why(g));
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
operate(struct item *i, struct img *x, const struct morphrec_operator *o)
{
	struct img marker;

	if (i->gpu && operate_at_once(i, x, o))
		return;
	img_copy_head(&marker, x);
	int err = img_alloc(&marker);
	if (!err)
		err = morphrec_marker(&i->what, o, marker.data, x->data);
	if (err)
		raw_die(i->in, err == -E2BIG
				   ? "areas are counted in up to 4294967295 pixels at a time"
				   : "no memory for the marker");
	if (!morphrec_op_is_plain(o->op))
		item_reconstruct(i, marker.data, x->data, &i->what, 0);
	else
		refuse_nan(i, x->data);
	morphrec_finish(&i->what, o, marker.data, x->data);
	img_free(x);
	*x = marker;
}

/* Makes marker or result of x in its temporary file; a few rows of both files are in memory at a time. */
static void
by_rows(struct item *i, const struct morphrec_operator *o, morphrec_rows *make)
{
	const size_t rows = i->what.h * i->what.d, row = i->what.w * img_type_size(i->what.type),
		     step = row < ITEM_PIECE ? ITEM_PIECE / row : 1;

	for (size_t at = 0, n; at < rows; at += n) {
		n = rows - at < step ? rows - at : step;
		make(&i->what, o, i->pages.J, i->pages.I, at, at + n);
		spool_done(&i->pages, at * row, n * row);
	}
}

/* The same as operate() for x in a temporary file. The marker is in another file. */
static void
operate_spooled(struct item *i, struct img *x, const struct morphrec_operator *o)
{
	struct img marker;

	img_copy_head(&marker, x);
	item_room(i->in, &marker);
	i->pages = (struct spool_pages){marker.data, x->data};
	by_rows(i, o, morphrec_marker_rows);
	item_reconstruct(i, marker.data, x->data, &i->what, 0);
	by_rows(i, o, morphrec_finish_rows);
	img_free(x);
	*x = marker;
}

/* Reconstructs the arrays of x one by one, under those of the mask or by operator o. */
static void
each_array(struct item *i, struct img *x, const struct morphrec_operator *o)
{
	const struct img_volumes *p = &i->planes;
	const size_t sizes[] = {p->w, p->h, p->d}, size = img_type_size(x->type);
	struct img one, under;

	img_init(&one, x->type, 3, sizes);
	img_init(&under, x->type, 3, sizes);
	if (img_alloc(&one) || (i->mask && img_alloc(&under)))
		raw_die(i->in, "no memory for a part of the item");
	for (size_t k = 0; k < planes_count(p); k++) {
		planes_move(p, k, size, one.data, x->data, false);
		if (i->mask) {
			planes_move(p, k, size, under.data, i->mask->data, false);
			item_reconstruct(i, one.data, under.data, &i->what, 0);
		} else {
			operate(i, &one, o);
		}
		planes_move(p, k, size, one.data, x->data, true);
	}
	img_free(&one);
	img_free(&under);
}

void
item_run(struct item *i, struct img *x)
{
	struct shape shape;
	const struct morphrec_operator o = item_operator(i, x, &shape);

	i->gpu = gpu_now(i->a->gpu);
	if (gpu_enter(i->gpu))
		raw_die(i->in, "-g: %s", gpu_why(i->gpu));
	if (planes_count(&i->planes) > 1)
		each_array(i, x, &o);
	else if (i->mask)
		item_reconstruct(i, x->data, i->mask->data, &i->what, 0);
	else
		(i->a->max_mem ? operate_spooled : operate)(i, x, &o);
	item_say_clipped(i);
	shape_free(&shape);
}
