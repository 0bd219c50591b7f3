/* Items: their planes, memory in files, masks, shares, operators and the run. All functions die on failure. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/progress.h"
#include "common/stream/axes.h"
#include "common/stream/place.h"
#include "gpu/morphrec/morphrec.h"
#include "morphrec/job.h"

/* ---- planes ---- */

/* Fills *p with how x is split; false when x has too many axes. Axis 0 holds planes when its kind is not a domain. */
static bool
parts_of(const struct img *x, struct parts *p)
{
	const int first = img_row_axis(x);
	size_t n[4] = {1, 1, 1, 1};

	if (x->dim < 1 || x->dim - first > 4)
		return false;
	for (int i = first; i < x->dim; i++)
		n[i - first] = x->axis[i].n;
	*p = (struct parts){first ? x->axis[0].n : 1, n[0], n[1], n[2], n[3]};
	return true;
}

/* Copies array i of the item's samples, of `size` bytes each, to [d][h][w]; or, if `back`, from there into the item. */
static void
parts_move(const struct parts *p, size_t i, size_t size, void *part, void *all, bool back)
{
	const size_t n = p->w * p->h * p->d;
	char *one = part, *at = (char *)all + (i / p->c * n * p->c + i % p->c) * size;

	for (size_t k = 0; k < n; k++, one += size, at += p->c * size)
		memcpy(back ? at : one, back ? one : at, size);
}

/* ---- the spool ---- */

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

/* Reads the payload of x into a temporary file. */
static void
item_spool(struct raw_in *in, struct img *x)
{
	const size_t size = img_type_size(x->type);
	struct spool_pages pages;

	item_room(in, x);
	pages = (struct spool_pages){.J = x->data};
	for (size_t at = 0; at < x->mapped; at += ITEM_PIECE) {
		const size_t n = x->mapped - at < ITEM_PIECE ? x->mapped - at : ITEM_PIECE;
		raw_read(in, pages.J + at, n / size);
		spool_done(&pages, at, n);
	}
}

void
item_unspool(struct raw_out *out, const struct img *x)
{
	const size_t size = img_type_size(x->type);
	struct spool_pages pages = {.J = x->data};

	raw_head(out, x);
	for (size_t at = 0; at < x->mapped; at += ITEM_PIECE) {
		const size_t n = x->mapped - at < ITEM_PIECE ? x->mapped - at : ITEM_PIECE;
		raw_write(out, pages.J + at, n / size);
		spool_done(&pages, at, n);
	}
}

/* ---- masks ---- */

/* Dies unless the mask has the marker's shape and maxval, and its type or a type that converts to it. */
static void
match(const struct raw_in *in, const struct img *x, const struct img *mask, const char *name)
{
	struct parts p, q;
	struct tile t, u;
	struct why why;

	if (!parts_of(x, &p) || !parts_of(mask, &q))
		die("%s: not a picture, a stack, a volume or several volumes", name);
	if (p.c != q.c || p.w != q.w || p.h != q.h || p.d * p.n != q.d * q.n)
		raw_die(in,
			"the marker is %zux%zux%zux%zu (planes, width, height, count), the mask %s "
			"%zux%zux%zux%zu",
			p.c, p.w, p.h, p.d * p.n, name, q.c, q.w, q.h, q.d * q.n);
	if (tile_of(mask, q.w, q.h, &u, &why))
		die("%s: %s", name, why.text);
	if (!tile_of(x, p.w, p.h, &t, &why) && memcmp(&t, &u, sizeof t))
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

/* Makes w the mask in that type, in memory or in a temporary file. */
static void
widen(const struct raw_in *in, const struct masks *m, struct img *w, enum img_type type,
      bool to_file)
{
	morphrec_widen *const one = morphrec_widening(type, m->given.type);
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
		n = total - at < ITEM_PIECE / to ? total - at : ITEM_PIECE / to;
		one((char *)w->data + at * to, (const char *)m->given.data + at * from, n);
		if (to_file)
			spool_done(&(struct spool_pages){.J = w->data}, at * to, n * to);
		if (to_file && m->given.map)
			spool_done(&(struct spool_pages){.J = m->given.data}, at * from, n * from);
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

/* Returns the mask for marker x, in x's type. m owns it. */
static struct img *
masks_for(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a)
{
	match(in, x, &m->given, a->mask);
	return in_type(in, x, m, a);
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

	return !by->items && spatial > (morphrec_is_volume(by->conn) ? 3 : 2) ? x->dim - 1 : -1;
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
	uint64_t hash = part_begin(&a->common);

	if (!a->common.part.n)
		return hash;
	hash = a->mask ? part_hash_file(hash, a->mask) : hash;
	hash = a->kind == ARGS_PICTURE ? part_hash_file(hash, a->shape) : hash;
	return part_hash_files(hash, a->path, a->npath);
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
	if (axis < 0 || !a->common.part.n)
		return masks_for(in, x, m, a);
	slices_of(s, in, x->axis[axis].n, &from, &to);
	return masks_layers(in, x, m, a, x->axis[axis].n, from, to - from);
}

/* ---- operations ---- */

enum {
	RADIUS_MOST = 1000
}; /* pixels, of a shape that is not a square: a run for each of its rows */

/* Computes the radii along x, y and z in pixels. A radius with a unit is divided by the spacings of the item's axes. */
static void
radii(const struct raw_in *in, const struct img *x, const struct args *a, double r[3])
{
	const int first = img_row_axis(x), axes = morphrec_is_volume(a->conn) ? 3 : 2;

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

/*
 * Makes the shape of an opening, closing or top-hat of x. picture is the image of --shape=FILE. A square of a whole number
 * of pixels gets no runs.
 */
static struct shape
shape_for(const struct raw_in *in, const struct img *x, const struct args *a,
	  const struct img *picture)
{
	struct shape s = {0};
	double r[3];
	int err = 0;

	if (!a->open && !a->close && !a->tophat)
		return s;
	radii(in, x, a, r);
	for (int i = 0; i < 3; i++)
		if (r[i] > RADIUS_MOST && (a->kind != ARGS_SQUARE || *a->unit))
			raw_die(in, "a radius of %g pixels is above %d", r[i], RADIUS_MOST);
	switch (a->kind) {
	case ARGS_SQUARE:
		err = *a->unit ? shape_box(&s, r) : 0;
		break;
	case ARGS_DISK:
		err = shape_disk(&s, r);
		break;
	case ARGS_BALL:
		err = shape_ball(&s, r);
		break;
	case ARGS_OCTAGON:
		err = shape_octagon(&s, a->o.r);
		break;
	case ARGS_LINE:
		err = shape_line(&s, a->o.r, a->degrees);
		break;
	case ARGS_PICTURE:
		err = shape_picture(&s, picture);
	}
	if (err)
		raw_die(in, err == -ENOMEM ? "no memory for the shape" : "the shape has no pixel");
	return s;
}

struct morphrec_operator
item_operator(const struct raw_in *in, const struct img *x, const struct args *a,
	      const struct img *picture, struct shape *shape)
{
	struct morphrec_operator o = a->o;
	double lo, hi;

	morphrec_range(x->type, &lo, &hi);
	o.top = img_is_float(x->type) ? 1 : img_maxval(x) ? img_maxval(x) : hi;
	if (!img_is_float(x->type) && o.h != floor(o.h))
		raw_die(in, "H is %g: the samples are integers, so H is one too", o.h);
	if (o.op == MORPHREC_HYSTERESIS && o.hi > hi)
		raw_die(in, "HI is %g, above all samples of type %s", o.hi, img_type_name(x->type));
	o.open = a->nan == ARGS_FRAME && img_is_float(x->type);
	*shape = shape_for(in, x, a, picture);
	o.shape = shape->n ? shape : NULL;
	o.r = o.shape && a->kind != ARGS_PICTURE ? 1 : o.r; /* the others hold their radius */
	return o;
}

/* ---- running ---- */

/* To start a thread and to share out tiles takes .1 to .3 ms. Below so many bytes, a second thread does not save as much. */
enum { ALONE = 1 << 20 };

/* Refuses several volumes whose slices are channels or frames. One such volume may be meant, as an object moves in time. */
static void
check_slices(const struct raw_in *in, const struct img *x, const struct parts *p)
{
	const int deep = img_row_axis(x) + 2;
	const char *other = p->n > 1 ? img_no_depth(&x->axis[deep]) : NULL;

	if (other)
		raw_die(in, "axis %d is `%s' and not z: rawaxes --order brings z there", deep,
			other);
}

/* Dies when x is a part of a picture whose rest the operator must see, and warns when the rest would change the result. */
static void
check_tile(const struct raw_in *in, const struct img *x, const struct parts *p,
	   const struct args *a)
{
	struct why why;
	struct tile t;

	if (tile_of(x, p->w, p->h, &t, &why))
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

struct morphrec_problem
item_problem(const struct raw_in *in, const struct img *x, const struct args *a, struct parts *p)
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
		warn("%s: connectivity %d is for volumes, and this item is a single picture; "
		     "rawstack makes volumes of pictures",
		     raw_name(in), a->conn);
	if (morphrec_is_volume(a->conn)) {
		check_slices(in, x, p);
	} else {
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
					 .node = a->node,
					 .heaps = a->heaps,
					 .threads = par_threads(a->common.threads),
					 .alone = ALONE,
					 .max_mem = a->max_mem};
}

void
item_step(void *bar, double share)
{
	progress_step(bar, share);
}

/* Dies when p->clip met NaN, except with --nan=barrier. The array begins at sample `at` of an array of the shape of whole. */
static void
refuse(const struct raw_in *in, const struct morphrec_plan *p, const struct args *a,
       const struct morphrec_problem *whole, size_t at)
{
	const struct morphrec_clip *c = &p->clip;
	const size_t i = at + c->first_nan;

	if (c->nan && a->nan == ARGS_ERROR)
		raw_die(in, "%llu samples are NaN, the first at x %zu, y %zu, slice %zu; see --nan",
			(unsigned long long)c->nan, i % whole->w, i / whole->w % whole->h,
			i / whole->w / whole->h);
}

/* Dies on NaN among samples f, which are not clipped otherwise. f serves as marker and mask, so it does not change. */
static void
item_refuse_nan(const struct raw_in *in, struct morphrec_plan *p, const struct args *a, void *f)
{
	if (!img_is_float(p->what.type) || a->nan)
		return;
	morphrec_clip(p, f, f);
	refuse(in, p, a, &p->what, 0);
}

void
item_reconstruct(const struct raw_in *in, struct morphrec_plan *p, const struct args *a, void *J,
		 void *I, const struct morphrec_problem *whole, size_t at)
{
	const struct morphrec_clip *c = &p->clip;
	int err = 0;

	progress_start(p->what.step_with, a->common.quiet);
	if (a->gpu)
		morphrec_clip(p, J, I);
	else
		err = morphrec_clip_and_run(p, J, I);
	progress_end(p->what.step_with);
	refuse(in, p, a, whole, at / img_type_size(whole->type));
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

	i->what = item_problem(i->in, x, i->a, &i->parts);
	/*
	 * The marker is loaded because a private mapping would be copied page by page as J rises: 51200 x 51200 took 10.6 s
	 * mapped and 3.2 s loaded.
	 */
	(i->a->max_mem			      ? item_spool
	 : mask || parts_count(&i->parts) > 1 ? raw_load
					      : raw_map)(i->in, x);
	if (i->a->max_mem) {
		i->pages = (struct spool_pages){x->data, mask && mask->map ? mask->data : NULL};
		i->what.done = spool_done;
		i->what.done_with = &i->pages;
	}
	i->what.step = item_step;
	i->what.step_with = &i->bar;
}

void
item_plan(const struct raw_in *in, const struct args *a, struct morphrec_plan *p,
	  const struct morphrec_problem *what)
{
	const char *why = morphrec_plan(p, what);
	char text[256];

	if (why)
		raw_die(in, "%s", why);
	if (!a->common.verbose)
		return;
	morphrec_explain(p, text, sizeof text);
	warn("%s: %zux%zux%zu %s: %s", raw_name(in), what->w, what->h, what->d,
	     img_type_name(what->type), text);
}

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
		parts_move(parts, i, size, one.data, x->data, false);
		if (mask) {
			parts_move(parts, i, size, under.data, mask->data, false);
			item_reconstruct(in, p, a, one.data, under.data, &p->what, 0);
		} else {
			operate(in, p, &one, a, o);
		}
		parts_move(parts, i, size, one.data, x->data, true);
	}
	img_free(&one);
	img_free(&under);
}

void
item_run(struct item *i, struct img *x)
{
	const struct raw_in *in = i->in;
	const struct args *a = i->a;
	struct morphrec_plan *p = &i->p;
	struct shape shape;
	const struct morphrec_operator o = item_operator(in, x, a, i->picture, &shape);

	if (gpu_enter(a->gpu))
		raw_die(in, "-g: %s", gpu_why(a->gpu));
	if (parts_count(&i->parts) > 1)
		each_part(in, p, x, i->mask, a, &o, &i->parts);
	else if (i->mask)
		item_reconstruct(in, p, a, x->data, i->mask->data, &p->what, 0);
	else if (a->max_mem)
		operate_spooled(in, p, x, a, &o, &i->pages);
	else
		operate(in, p, x, a, &o);
	shape_free(&shape);
}
