/* Items in and out, their weights, and the transforms of one item. The inverse is in inverse.c. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/stream/pipeline.h"
#include "gpu/usfft/usfft.h"
#include "usfft/job.h"

/* ---- what is wrong ---- */

void
item_judge(const struct job *j, int err, const size_t *bad)
{
	if (err == -EINVAL)
		raw_die(j->in, "point %zu has a coordinate or value that is NaN or infinite", *bad);
	if (err == -ENXIO)
		raw_die(j->in, "%s: target %zu is NaN or infinite", j->a.targets, *bad);
	if (err == -EOVERFLOW && j->a.type == 3)
		raw_die(j->in, "the box of the points times that of the targets is too large");
	if (err == -EOVERFLOW)
		raw_die(j->in, "more than %d points or too many modes", USFFT_MAXPOINTS);
	if (err == -ENODATA)
		raw_die(j->in, "--coils=auto finds no maps in the middle of k-space");
	if (err == -ERANGE)
		raw_die(j->in, "the values or weights are too large");
	if (err == -EIO)
		raw_die(j->in, "-g: %s", gpu_why(j->gpu));
	if (err)
		raw_die(j->in, "%s", strerror(-err));
}

void
item_check_tolerance(const struct job *j, const struct usfft_options *o)
{
	const double floor = o->single ? USFFT_FLOOR_SINGLE : USFFT_FLOOR_DOUBLE;
	const double least = o->gauss ? fmax(USFFT_FLOOR_GAUSS, floor) : floor;

	if (o->tol < least && j->a.strict)
		raw_die(j->in, "tolerance %g is below %g, which can be reached", o->tol, least);
	if (o->tol < least)
		warn("tolerance %g cannot be reached: expect %g", o->tol, least);
}

void
item_check_memory(const struct job *j, size_t bytes, const char *what)
{
	const size_t limit = weir_limit(j->a.common.max_bytes);

	if (bytes == SIZE_MAX)
		raw_die(j->in, "%s for these modes is too large", what);
	if (bytes > limit)
		raw_die(j->in, "%zu bytes for %s, more than %zu: see --max-bytes", bytes, what,
			limit);
}

/* ---- results ---- */

void
item_write_reals(struct job *j, const void *z, size_t n, bool single)
{
	const char *type = single ? "float" : "double";

	if (!values_are_finite(z, n, single) && j->where)
		die("%s: the results are too large for type %s", j->where, type);
	if (!values_are_finite(z, n, single))
		raw_die(j->in, "the results are too large for type %s", type);
	raw_write(j->out, z, n);
}

/* Writes n complex results, or what --output asks of them. */
static void
item_write_row(struct job *j, void *row, size_t n, bool single)
{
	const int output = j->a.output;

	for (size_t i = 0; output != OUTPUT_COMPLEX && i < n; i++) {
		const double re = real_at(row, 2 * i, single), im = real_at(row, 2 * i + 1, single);
		const double v = output == OUTPUT_REAL	 ? re
				 : output == OUTPUT_IMAG ? im
							 : hypot(re, im);
		real_set(row, i, v, single);
	}
	item_write_reals(j, row, output == OUTPUT_COMPLEX ? 2 * n : n, single);
}

void
item_make_head(struct job *j, struct img *y, const struct img *from)
{
	for (size_t i = 0; i < from->nkey; i++)
		if (strcmp(from->key[i].name, "columns") && strcmp(from->key[i].name, "maxval"))
			img_add_key(y, from->key[i].name, from->key[i].value);
	opt_add_history(y, &j->a.common);
	slices_keys(&j->share, j->in, y);
}

void
item_write_head(struct job *j, struct img *y, const struct img *from)
{
	item_make_head(j, y, from);
	raw_head(j->out, y);
}

void
item_write_values(struct job *j, const struct img *x, void *z, size_t m, bool single)
{
	struct img y;

	stream_head(&y, single, !j->a.output, 1, &m);
	item_write_head(j, &y, x);
	item_write_row(j, z, m, single);
	img_free(&y);
}

/* ---- items that wait ---- */

/*
 * Items on the same points wait here until there are as many as the plan transforms at once, or until the input pauses, ends
 * or fails. Their results are then written in the order of the items.
 */

struct waiting {
	struct img head;       /* owned: of the results */
	char where[RAW_WHERE]; /* what messages call the item */
	size_t n;	       /* complex results */
	bool single;
};

struct group {
	size_t count;
	/* All arrays are owned and have usfft_together() elements, and so is what in[i] and out[i] point to. */
	struct waiting *item;
	void **in, **out;
};

void
group_flush(struct job *j)
{
	struct group *g = j->group;

	if (!g || !g->count)
		return;
	const size_t count = g->count;
	g->count = 0; /* whoever dies below flushes once more */
	stats_charge(&j->st, STATS_READ);
	usfft_many(j->plan, j->type, j->sign, count, (const void *const *)g->in, g->out);
	stats_charge(&j->st, STATS_COMPUTE);
	for (size_t i = 0; i < count; i++) {
		struct waiting *w = &g->item[i];
		raw_head(j->out, &w->head);
		j->where = w->where;
		item_write_row(j, g->out[i], w->n, w->single);
		img_free(&w->head);
		weir_free_all(g->in[i], g->out[i]);
	}
	j->where = NULL;
	stats_charge(&j->st, STATS_WRITE);
}

/* Whether items of the plan should wait. */
static bool
group_suits(const struct job *j)
{
	return j->fixed && !j->gpu && usfft_together(j->plan) > 1;
}

/*
 * Takes over the last item that was read: the header y of its results and its values v, which own their memory. There will
 * be n complex results.
 */
static void
group_add(struct job *j, const struct img *y, const struct values *v, size_t n)
{
	const size_t room = usfft_together(j->plan);
	void *out = weir_xalloc(n, 2 * (v->single ? sizeof(float) : sizeof(double)));
	struct group *g = j->group;

	if (!g) {
		g = weir_xalloc(1, sizeof *g);
		*g = (struct group){.item = weir_xalloc(room, sizeof *g->item),
				    .in = weir_xalloc(room, sizeof *g->in),
				    .out = weir_xalloc(room, sizeof *g->out)};
		j->group = g; /* whole, since whoever dies flushes it */
	}
	struct waiting *w = &g->item[g->count];
	w->head = *y;
	w->n = n;
	w->single = v->single;
	raw_where(j->in, w->where);
	g->in[g->count] = v->owned;
	g->out[g->count++] = out;
	if (g->count == room)
		group_flush(j);
}

void
group_flush_when_idle(struct job *j)
{
	if (j->group && raw_idle(j->in, 0))
		group_flush(j);
}

void
group_free(struct job *j)
{
	if (!j->group)
		return;
	weir_free_all(j->group->item, j->group->in, j->group->out, j->group);
	j->group = NULL;
}

/* ---- reading ---- */

/* Frees an item's samples, which are sorted, before the grid is touched. It keeps the header, which is used later. */
static void
drop_samples(struct img *x)
{
	struct img samples = {.data = x->data, .map = x->map, .mapped = x->mapped};

	img_free(&samples);
	x->data = x->map = NULL;
	x->mapped = 0;
}

/* Warns of points that are most likely in another unit. n: the modes. */
static void
warn_outside(struct job *j, const char *name, const struct stream_points *p, const size_t n[3])
{
	bool radians = true, index = true;
	double most[3] = {0};

	if (j->outside || j->a.pixel || j->a.type == 3 ||
	    !stream_mostly_outside(&p->pt, p->dim, most))
		return;
	for (int a = 0; a < p->dim; a++) {
		radians &= most[a] < 3.15;
		index &= most[a] <= (double)n[a] / 2 + .5;
	}
	j->outside = true;
	warn("%s: most points lie outside [-1/2,1), and are taken modulo 1%s", name,
	     j->a.unit ? "; see --unit"
	     : radians ? ": they seem to be radians; give --unit=radians"
	     : index   ? ": they seem to go from -N/2 to N/2; give --unit=index"
		       : "; see --unit");
}

/* Divides points by the unit of --unit. p owns them then. */
static void
points_to_cycles(const struct job *j, struct stream_points *p, const size_t n[3])
{
	const struct usfft_points from = p->pt;
	const size_t dim = (size_t)p->dim;
	double *x = p->owned = weir_xalloc(from.m, dim * sizeof *x);

	p->pt = (struct usfft_points){.m = from.m, .stride = dim};
	for (size_t a = 0; a < dim; a++) {
		const double unit = j->a.unit == UNIT_INDEX ? (double)n[a] : 2 * M_PI;
		p->pt.x[a] = x + a;
		for (size_t i = 0; i < from.m; i++)
			x[i * dim + a] = real_at(from.x[a], i * from.stride, from.single) / unit;
	}
}

/* Looks whether the points lie in the box, after --unit. n: the modes. */
static void
settle_points(struct job *j, const char *name, struct stream_points *p, const size_t n[3])
{
	const bool sky = j->a.pixel != NULL;
	const double scale[3] = {sky ? j->pixel[0] : 1, sky ? j->pixel[1] : 1, 1};

	if (j->a.unit && p != &j->to)
		points_to_cycles(j, p, n);
	if (!j->a.strict && !j->piece)
		warn_outside(j, name, p, n);
	if (!j->a.strict || j->a.type == 3)
		return;
	const size_t out = stream_find_outside(&p->pt, sky ? 2 : p->dim, scale);
	if (out < p->pt.m)
		die("%s: point %zu lies outside [-1/2,1/2)%s", name, out,
		    sky ? " cycles from pixel to pixel" : "");
}

/* The same for fixed points, when n modes are the input. */
static void
settle_fixed(struct job *j, const size_t n[3])
{
	if (!memcmp(n, j->planned.n, sizeof j->planned.n))
		return;
	weir_free(j->at.owned);
	j->at = j->given;
	settle_points(j, j->a.points ? j->a.points : raw_name(j->in), &j->at, n);
}

void
item_take_points(struct job *j, const char *name, const struct img *x, bool values,
		 struct stream_points *p)
{
	struct why why;

	if (stream_points(x, values, j->a.pixel != NULL, p, &why))
		die("%s: %s", name, why.text);
	if (j->type == 2 && !j->a.inverse && !j->a.pixel)
		j->given = *p;
	else
		settle_points(j, name, p, j->o.n);
}

void
item_load_points(struct job *j, const char *path, struct img *x, struct stream_points *p)
{
	if (!path)
		return;
	raw_load_file(path, j->a.common.max_bytes, true, x);
	item_take_points(j, path, x, false, p);
}

/* Copies the values of fixed points from an item of complex or real samples. */
static struct values
take_values(const struct job *j, const struct img *x, size_t m, size_t sets)
{
	const size_t first = img_is_complex(x) ? 1 : 0;
	struct values v = {.single = stream_single(x->type), .cstride = 2};
	struct stream_points columns;
	struct why why;
	size_t count = 1;

	if (stream_values(x, &columns, &why))
		raw_die(j->in, "%s", why.text);
	for (int a = columns.c ? 1 : (int)first; a < x->dim; a++)
		count *= x->axis[a].n;
	if (count != m * sets && sets > 1)
		raw_die(j->in, "%zu values for %zu coils and %zu points", count, sets, m);
	if (count != m * sets)
		raw_die(j->in, "%zu values for %zu points", count, m);
	if (columns.c)
		v.owned = values_copy(&(struct values){.single = v.single,
						       .real = columns.real,
						       .c = columns.c,
						       .cstride = columns.cstride},
				      count, NULL, v.single);
	else
		v.owned = stream_complex(x, count, v.single);
	v.c = v.owned;
	if (!v.c)
		raw_die(j->in, "no memory for %zu values", count);
	size_t bad = values_find_bad(&v, count);
	if (bad < count) {
		bad %= m;
		item_judge(j, -EINVAL, &bad);
	}
	return v;
}

/* Copies the m values into memory that v owns, contiguous, times weights (NULL: ones). */
static void
make_own(const struct job *j, struct values *v, size_t m, const double *weights)
{
	void *own = values_copy(v, m, weights, v->single);

	if (!own)
		item_judge(j, -ENOMEM, NULL);
	weir_free(v->owned);
	v->c = v->owned = own;
	v->cstride = 2;
	v->real = false;
}

struct item_input
item_input(struct job *j, const struct img *x, size_t m, size_t sets)
{
	struct item_input q = {.at = j->at};

	if (j->fixed) {
		q.v = take_values(j, x, m, sets);
		q.at.owned = NULL;
		return q;
	}
	item_take_points(j, raw_name(j->in), x, true, &q.at);
	if (!q.at.c)
		raw_die(j->in, "points without values: no columns re and im, nor value; "
			       "texttoraw --columns=x,y,re names them");
	q.v = (struct values){
	    .single = q.at.single, .real = q.at.real, .c = q.at.c, .cstride = q.at.cstride};
	if (q.v.real)
		make_own(j, &q.v, q.at.pt.m, NULL);
	return q;
}

void
item_input_free(struct item_input *q)
{
	weir_free_all(q->v.owned, q->at.owned);
}

/* Whether points can be sorted as they arrive: they are used once, for sorting, and never needed all at once. */
static bool
may_arrive(const struct job *j)
{
	const struct args *a = &j->a;

	return j->type == 1 && !a->pixel && !a->inverse && !j->fixed && !j->pipe &&
	       !j->weights_file && !a->strict && !a->unit && !j->gpu;
}

/*
 * Smaller items are read. To map an item costs page faults and an munmap: 1000 items of 64 KiB took .19 s mapped and .07 s
 * read, and 15 items of 4 MiB .13 and .11 s; on Zen 5, 8 items of 4 MiB .040 and .037, 4 of 16 MiB .066 and .103, and one of
 * 256 MiB .207 and .206. A large item that is mapped takes no memory that the program must give back.
 */
enum { MAPPED_FROM = 1 << 22 };

void
item_read(struct job *j, struct img *x)
{
	const bool arrives = may_arrive(j) && !stream_lacks_im(x), whole = x->dim != 2 || !arrives;

	j->piece = 0;
	const bool large = raw_left(j->in) * img_type_size(x->type) >= MAPPED_FROM;
	if (large && (whole || j->o.threads > 1) && raw_try_map(j->in, x))
		return;
	if (whole) {
		raw_load(j->in, x);
		return;
	}
	size_t bytes = x->axis[0].n * img_type_size(x->type);
	j->piece = bytes < ITEM_PIECE ? ITEM_PIECE / bytes : 1;
	x->data = weir_xalloc(j->piece, bytes);
}

/* Tells the GPU that the item's transform will read these bytes; there may be no GPU, or no bytes. */
static void
tell_gpu(const struct job *j, const void *host, size_t bytes)
{
	if (j->gpu && bytes)
		gpu_ahead(j->gpu, &(struct gpu_span){host, bytes}, 1);
}

void
item_compute(const struct job *j)
{
	pipeline_pass(PIPELINE_COMPUTE);
	item_judge(j, gpu_enter(j->gpu), NULL);
}

/* ---- plans ---- */

/* Sorts points into the plan. x: the item that holds them, whose samples are freed as soon as possible; NULL: none are. */
static void
sort_points(struct job *j, const struct usfft_points *pt, const void *c, size_t cstride,
	    struct img *x)
{
	size_t bad = 0;

	if (j->gpu) {
		item_judge(j, gpu_usfft_points(j->gpu, j->plan, pt, c, cstride, &bad), &bad);
		return;
	}
	item_judge(j, usfft_expect(j->plan, pt->m, c != NULL), NULL);
	item_judge(j, usfft_add(j->plan, pt, c, cstride, &bad), &bad);
	if (x)
		drop_samples(x);
	usfft_sort(j->plan);
}

/* Reads and sorts the points of an item by pieces. A piece becomes records while the next one fills the pipe. */
static void
sort_arriving(struct job *j, const struct img *x)
{
	struct img piece = *x;
	struct stream_points at;
	struct why why;
	size_t left = x->axis[1].n, bad = 0;

	item_judge(j, usfft_expect(j->plan, left, true), NULL);
	for (; left; left -= piece.axis[1].n) {
		piece.axis[1].n = left < j->piece ? left : j->piece;
		raw_read(j->in, piece.data, piece.axis[1].n * piece.axis[0].n);
		stats_charge(&j->st, STATS_READ);
		stream_points(&piece, true, false, &at, &why);
		if (left == x->axis[1].n)
			warn_outside(j, raw_name(j->in), &at, j->o.n);
		item_judge(j, usfft_add(j->plan, &at.pt, at.c, at.cstride, &bad), &bad);
		stats_charge(&j->st, STATS_COMPUTE);
	}
	usfft_sort(j->plan);
}

/* Sorts an item's points into the plan, unless they are fixed. It frees the item's samples. */
static void
item_sort(struct job *j, struct img *x, const struct item_input *q)
{
	if (j->piece)
		sort_arriving(j, x);
	else if (!j->fixed)
		sort_points(j, &q->at.pt, q->v.c, q->v.cstride, x);
	drop_samples(x);
}

/* Makes a plan for o, and sorts fixed points into it. It keeps the last plan if that fits. */
static void
item_plan(struct job *j, const struct usfft_options *o)
{
	if (j->plan && j->planned.dim == o->dim && j->planned.single == o->single &&
	    !memcmp(j->planned.n, o->n, sizeof o->n))
		return;
	group_flush(j);
	group_free(j);
	j->planned = *o;
	j->planned.many = j->fixed && !j->gpu;
	item_check_tolerance(j, o);
	item_check_memory(j, usfft_bytes(&j->planned), "the grid");
	usfft_free(j->plan);
	item_judge(j, usfft_plan(&j->plan, &j->planned), NULL);
	if (j->fixed)
		sort_points(j, &j->at.pt, NULL, 0, NULL);
	if (j->a.common.verbose)
		warn("%d taps, grid %zu x %zu x %zu, tolerance %g", usfft_taps(j->plan),
		     usfft_cells(j->plan, 0), usfft_cells(j->plan, 1), usfft_cells(j->plan, 2),
		     o->tol);
}

/* ---- weights ---- */

enum { PIPE_ROUNDS = 30 };

static void
read_weights(struct job *j)
{
	struct img x;
	double most = 0;

	raw_load_file(j->weights_file, j->a.common.max_bytes, true, &x);
	if (img_is_complex(&x) || !img_count(&x, &j->nweights))
		die("%s: weights are real numbers", j->weights_file);
	j->weights = weir_xalloc(j->nweights, sizeof *j->weights);
	sample_load(j->weights, x.data, x.type, j->nweights);
	for (size_t i = 0; i < j->nweights; i++) {
		if (!isfinite(j->weights[i]) || j->weights[i] < 0)
			die("%s: weight %zu is %g", j->weights_file, i, real_shown(j->weights[i]));
		most = fmax(most, j->weights[i]);
	}
	if (j->a.inverse && most == 0)
		die("%s: all weights are 0, so no values are left for --inverse", j->weights_file);
	img_free(&x);
}

void
item_load_weights(struct job *j)
{
	if (j->weights_file)
		read_weights(j);
	if (j->a.weights_to)
		j->weights_out = raw_create(j->a.weights_to, RAW_AS_RAW);
}

static void
write_weights(struct job *j, size_t m)
{
	struct img y;

	img_init(&y, IMG_F64, 1, &m);
	opt_add_history(&y, &j->a.common);
	raw_head(j->weights_out, &y);
	raw_write(j->weights_out, j->weights, m);
	img_free(&y);
}

/* Computes the weights of --weights=pipe. */
static void
pipe_weights(struct job *j, const struct usfft_points *pt, const struct usfft_options *o)
{
	const struct usfft_options grid = usfft_pipe_options(o);
	size_t bad = 0;

	item_check_memory(j, usfft_bytes(&grid), "the grid");
	weir_free(j->weights);
	j->weights = weir_xalloc(pt->m, sizeof *j->weights);
	item_judge(j,
		   j->gpu ? gpu_usfft_pipe(j->gpu, o, pt, PIPE_ROUNDS, j->weights, &bad)
			  : usfft_pipe(o, pt, PIPE_ROUNDS, j->weights, &bad),
		   &bad);
}

const double *
item_weigh(struct job *j, const struct usfft_points *pt, size_t m, const struct usfft_options *o)
{
	const bool known = j->weights && j->fixed && j->weighed;

	if ((!j->pipe && !j->weights_file) || known)
		return j->weights;
	if (j->weights_file && j->nweights != m)
		raw_die(j->in, "%s: %zu weights for %zu points", j->weights_file, j->nweights, m);
	if (j->pipe)
		pipe_weights(j, pt, o);
	if (j->weights_out)
		write_weights(j, m);
	j->weighed = true;
	return j->weights;
}

/* ---- transforms ---- */

/* Takes the item from computing to writing. results: where the GPU's come to. */
static void
item_results(const struct job *j, const void *results)
{
	pipeline_pass(PIPELINE_WRITE);
	item_judge(j, j->gpu ? gpu_settle(j->gpu, results, 1) : 0, NULL);
}

void
item_write_modes(struct job *j, const struct img *x, const struct usfft_options *o, char *modes)
{
	const size_t rows = usfft_modes(o) / o->n[0];
	const size_t row_bytes = o->n[0] * 2 * (o->single ? sizeof(float) : sizeof(double));
	const size_t most = row_bytes < ITEM_PIECE ? ITEM_PIECE / row_bytes : 1;
	char *block = modes ? NULL : weir_xalloc(most, row_bytes);
	struct img y;

	stream_modes_head(&y, o, !j->a.output);
	item_write_head(j, &y, x);
	for (size_t r = 0; r < rows; r += most) {
		const size_t count = rows - r < most ? rows - r : most;
		const double t = clock_now();
		char *at = modes ? modes + r * row_bytes : block;
		for (size_t i = 0; !modes && i < count; i++)
			usfft_get_row(j->plan, j->sign, r + i, at + i * row_bytes);
		j->took.modes += clock_now() - t;
		item_write_row(j, at, count * o->n[0], o->single);
	}
	img_free(&y);
	weir_free(block);
}

/*
 * Tells the GPU what type 1 sends there: the values of fixed points, or the item from the first to the last column that is used.
 * Weighted values are made during the run.
 */
static void
tell_type1(const struct job *j, const struct item_input *q)
{
	const size_t m = q->at.pt.m, real = q->v.single ? sizeof(float) : sizeof(double);
	const char *first = q->v.c, *end = first + 2 * real;

	if (j->pipe || j->weights_file || !m || (q->v.owned && !j->fixed))
		return;
	for (int a = 0; a < q->at.dim && !j->fixed; a++) {
		const char *x = q->at.pt.x[a];
		first = x < first ? x : first;
		end = x + real > end ? x + real : end;
	}
	tell_gpu(j, first, (m - 1) * q->v.cstride * real + (size_t)(end - first));
}

void
item_points_to_modes(struct job *j, struct img *x)
{
	struct item_input q = item_input(j, x, j->at.pt.m, 1);
	const struct usfft_points *pt = &q.at.pt;
	struct usfft_options o = j->o;
	char *modes = NULL; /* of the GPU; the CPU's come from the grid */

	if (q.at.dim != o.dim)
		raw_die(j->in, "points of %d axes, but -n of %d", q.at.dim, o.dim);
	o.single = q.v.single;
	o.expect = pt->m;
	tell_type1(j, &q);
	item_compute(j);
	const double *w = item_weigh(j, pt, pt->m, &o);
	if (w)
		make_own(j, &q.v, pt->m, w);
	item_plan(j, &o);
	stats_charge(&j->st, STATS_PLAN);
	if (group_suits(j)) {
		struct img y;
		stream_modes_head(&y, &o, !j->a.output);
		item_make_head(j, &y, x);
		group_add(j, &y, &q.v, usfft_modes(&o));
		return;
	}
	item_sort(j, x, &q);
	const void *c = j->fixed ? q.v.c : NULL;
	if (j->gpu) {
		modes =
		    weir_xalloc(usfft_modes(&o), 2 * (o.single ? sizeof(float) : sizeof(double)));
		item_judge(j, gpu_usfft_type1(j->gpu, j->plan, j->sign, c, modes), NULL);
	} else {
		usfft_gather(j->plan, j->sign, c);
	}
	stats_charge(&j->st, STATS_COMPUTE);
	item_results(j, modes);
	item_write_modes(j, x, &o, modes);
	item_input_free(&q);
	weir_free(modes);
}

/* Copies the modes of an item, and dies if one is not finite. */
static struct values
take_modes(const struct job *j, const struct img *x, size_t modes, bool single)
{
	void *f = stream_complex(x, modes, single);
	const struct values v = {.single = single, .c = f, .cstride = 2, .owned = f};

	if (!f)
		raw_die(j->in, "no memory for %zu modes", modes);
	const size_t bad = values_find_bad(&v, modes);
	if (bad < modes)
		raw_die(j->in, "mode %zu is NaN or infinite", bad);
	return v;
}

void
item_modes_to_points(struct job *j, struct img *x)
{
	const size_t m = j->at.pt.m;
	struct usfft_options o = j->o;
	struct why why;

	o.dim = j->at.dim;
	o.single = stream_single(x->type);
	o.expect = m;
	o.type = 2;
	if (stream_modes(x, o.dim, o.n, &why))
		raw_die(j->in, "%s", why.text);
	const size_t modes = usfft_modes(&o);
	struct values f = take_modes(j, x, modes, o.single);
	tell_gpu(j, f.c, 2 * modes * (o.single ? sizeof(float) : sizeof(double)));
	item_compute(j);
	settle_fixed(j, o.n);
	item_plan(j, &o);
	stats_charge(&j->st, STATS_PLAN);
	if (group_suits(j)) {
		struct img y;
		stream_head(&y, o.single, !j->a.output, 1, &m);
		item_make_head(j, &y, x);
		group_add(j, &y, &f, m);
		return;
	}
	void *z = weir_xalloc(m, 2 * sizeof(double));
	if (j->gpu)
		item_judge(j, gpu_usfft_type2(j->gpu, j->plan, j->sign, f.c, z), NULL);
	else
		usfft_type2(j->plan, j->sign, f.c, z);
	stats_charge(&j->st, STATS_COMPUTE);
	item_results(j, z);
	item_write_values(j, x, z, m, o.single);
	weir_free_all(f.owned, z);
}

void
item_points_to_points(struct job *j, struct img *x)
{
	const bool back = j->a.adjoint;
	struct item_input q = item_input(j, x, back ? j->to.pt.m : j->at.pt.m, 1);
	const struct usfft_points *from = back ? &j->to.pt : &q.at.pt;
	const struct usfft_points *to = back ? &j->at.pt : &j->to.pt;
	struct usfft_options o = j->o;
	size_t bad = values_find_bad(&q.v, from->m);

	if (q.at.dim != j->to.dim)
		raw_die(j->in, "points of %d axes, but targets of %d", q.at.dim, j->to.dim);
	if (bad < from->m)
		item_judge(j, -EINVAL, &bad);
	o.dim = q.at.dim;
	o.single = q.v.single;
	item_check_tolerance(j, &o);
	item_check_memory(j, usfft_type3_bytes(&o, from, to), "the grid");
	void *z = weir_xalloc(to->m, 2 * sizeof(double));
	if (q.v.cstride != 2)
		make_own(j, &q.v, from->m, NULL);
	item_compute(j);
	item_judge(j,
		   j->gpu ? gpu_usfft_type3(j->gpu, &o, from, q.v.c, to, j->sign, z, &bad)
			  : usfft_type3(&o, from, q.v.c, to, j->sign, z, &bad),
		   &bad);
	stats_charge(&j->st, STATS_COMPUTE);
	pipeline_pass(PIPELINE_WRITE);
	item_write_values(j, x, z, to->m, o.single);
	item_input_free(&q);
	weir_free(z);
}
