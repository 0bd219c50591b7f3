/* What is done with an item: where it lies, the problem that it poses, the plans, and its pictures one after the other. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/stream/pipeline.h"
#include "common/stream/place.h"
#include "gpu/wconv/wconv.h"
#include "wconv/job.h"

/* ---- the problem ---- */

/* Reads from the header where the item lies in the whole image. An item that is not a part is the whole. */
static void
find_place(const struct raw_in *in, const struct img *x, struct wconv_problem *q)
{
	struct why why;
	struct place t;

	if (place_of(x, q->w, q->h, &t, &why))
		raw_die(in, "%s", why.text);
	q->x0 = t.x0;
	q->y0 = t.y0;
	q->W = t.W;
	q->H = t.H;
}

/*
 * One direction of the adjoint: the item has the results *x0 .. *x0 + *n - 1 of a whole of W. Makes these the pixels that give
 * them. Returns false if no picture has these results.
 */
static bool
find_source(size_t before, size_t after, size_t W, size_t *x0, size_t *n)
{
	const size_t end = *x0 + *n, have1 = end == W ? W : end + after;

	if ((*x0 && *x0 < before) || have1 > W)
		return false;
	*x0 = *x0 ? *x0 - before : 0;
	*n = have1 - *x0;
	return true;
}

/* The item of the adjoint holds results. Makes j->q the problem of the picture that gives them. */
static void
find_sources(struct job *j)
{
	struct wconv_problem *q = &j->q;
	const size_t bx = q->correlate ? q->cx : q->kw - 1 - q->cx;
	const size_t by = q->correlate ? q->cy : q->kh - 1 - q->cy;

	if (!find_source(bx, q->kw - 1 - bx, q->W, &q->x0, &q->w) ||
	    !find_source(by, q->kh - 1 - by, q->H, &q->y0, &q->h))
		raw_die(j->in, "no picture has these %zux%zu results of a kernel of %zux%zu", q->w,
			q->h, q->kw, q->kh);
}

/* Finds the volumes of item x: sets j->q.d and j->pictures. The rest of the problem was posed for its slices. */
static void
pose_volume(struct job *j, const struct img *x, const struct img_volumes *v)
{
	wconv_args_volume(j->args);
	if (!v->deep)
		raw_die(j->in, "a kernel of three axes needs a volume, of axes `x y z`");
	if (img_key(x, "tile"))
		raw_die(j->in, "a kernel of three axes needs whole slices, not parts of them");
	j->q.d = v->d;
	j->q.in = j->q.in_double ? IMG_F64 : IMG_F32;
}

/* A plan for the GPU is made for this many threads, so that each of its steps has tiles enough to fill a GPU. */
enum { GPU_TILES = 32 };

/* Makes sizes in a unit sizes in pixels, by the spacings of the item. */
static void
scale_kernel(const struct job *j, const struct img *x, struct wconv_made *made)
{
	const int first = img_row_axis(x);

	for (int a = 0; a < (int)made->axes; a++) {
		const struct img_axis *axis = x->dim > first + a ? &x->axis[first + a] : NULL;
		if (!axis || !axis->unit || strcmp(axis->unit, made->unit) ||
		    !(fabs(axis->spacing) > 0))
			raw_die(j->in, "--gaussian: its axis %d has no unit %s%s%s", first + a,
				made->unit, axis && axis->unit ? ", but " : "",
				axis && axis->unit ? axis->unit : "");
		for (int k = 0; k < 2; k++)
			if (!((made->size[k][a] /= fabs(axis->spacing)) <= 1e6))
				raw_die(j->in,
					"--gaussian: %g pixels along axis %d are more than 1e6",
					made->size[k][a], first + a);
	}
}

static void
drop_plans(struct job *j)
{
	wconv_restore_free(j->restore);
	wconv_adjoint_free(j->adjoint);
	wconv_free(j->plan);
	wconv_volume_free(j->volume);
	j->volume = NULL;
	j->restore = NULL;
	j->adjoint = NULL;
	j->plan = NULL;
}

/* Makes the Gaussian or the box for item x, in place of the last one, unless that is the same. Three sizes need a volume. */
static void
fit_kernel(struct job *j, const struct img *x, bool deep)
{
	struct wconv_made made = j->args->made;
	struct img file;
	struct why why;

	made.axes = deep || made.axes == 3 ? 3 : 2;
	if (made.unit)
		scale_kernel(j, x, &made);
	if (made.axes == j->made.axes && !memcmp(made.size, j->made.size, sizeof made.size))
		return;
	pipeline_alone();
	drop_plans(j);
	wconv_drop_kernels(&j->kernels);
	j->made = made;
	if (wconv_make_kernel(&file, &made) ||
	    wconv_take_kernels(&j->kernels, &file, &j->args->ask, &j->q, &why))
		die("no memory for a kernel of that size");
}

/* Fills in what the item says about the problem. */
static void
pose(struct job *j, const struct img *x)
{
	const struct args *args = j->args;
	const bool keep = args->type && !img_is_float(x->type);
	struct wconv_problem *q = &j->q;
	struct img_picture one;

	if (args->common.share.n && !img_picture(x, &one))
		raw_die(j->in, "it has %d axes; --part takes pictures and stacks of one axis",
			x->dim);
	const struct img_volumes p = raw_volumes(j->in, x,
						 !args->kernels ? (enum img_depth)args->depth
						 : q->kd	? IMG_VOLUME
								: IMG_SLICES);
	if (!args->kernels)
		fit_kernel(j, x, p.deep);
	q->d = 0;
	q->w = p.w;
	q->h = p.h;
	q->planes = p.c;
	q->in = x->type;
	q->out = keep || (args->type && x->type == IMG_F64) ? x->type
		 : args->ask.in_double			    ? IMG_F64
							    : IMG_F32;
	q->top = keep ? img_maxval(x) : 0;
	q->normalise = args->normalise;
	q->correlate = args->correlate != args->made.box; /* even boxes begin earlier, as SciPy's */
	q->variance = args->variance;
	q->edge = (enum wconv_edge)args->edge;
	q->nan = (enum wconv_nan)args->nan;
	q->method = (enum wconv_method)args->method;
	j->pictures = p.n;
	j->planes = p.c;
	if (args->adjoint || args->steps) { /* these work plane by plane, in one precision */
		q->planes = 1;
		q->in = q->out;
	}
	q->on_device = args->gpu != NULL;
	q->threads = args->gpu ? GPU_TILES * (int)gpu_count(args->gpu) : args->common.threads;
	find_place(j->in, x, q);
	j->at_x = (ptrdiff_t)q->x0;
	j->at_y = (ptrdiff_t)q->y0;
	wconv_find_corner(x, &(struct place){.x0 = q->x0, .y0 = q->y0}, j->corner);
	j->corner[0] -= (double)q->x0;
	j->corner[1] -= (double)q->y0;
	if (q->kd)
		pose_volume(j, x, &p);
	if (args->adjoint && !args->steps)
		find_sources(j);
}

static bool
same_shape(const struct wconv_problem *a, const struct wconv_problem *b)
{
	return a->w == b->w && a->h == b->h && a->planes == b->planes && a->in == b->in &&
	       a->out == b->out && a->top == b->top && a->x0 == b->x0 && a->y0 == b->y0 &&
	       a->W == b->W && a->H == b->H && a->d == b->d;
}

void
job_pose(struct job *j, const struct img *x)
{
	const struct wconv_problem before = j->q;
	const double corner[2] = {j->corner[0], j->corner[1]};

	j->done = 0;
	pose(j, x);
	j->planned = (j->plan || j->restore || j->volume) && same_shape(&before, &j->q) &&
		     corner[0] == j->corner[0] && corner[1] == j->corner[1];
}

/* ---- plans ---- */

/* Prints the first results of the tiles along x, or along y. */
static void
list_borders(const struct wconv_plan *p, bool y, size_t n)
{
	fprintf(stderr, "%s: tiles begin at %s", weir_prog, y ? "rows" : "columns");
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, " %td", wconv_border(p, y, i));
	fputc('\n', stderr);
}

/*
 * Returns the plan of the convolution, or the one by which a deconvolution computes A. NULL: none was made, or the kernel has
 * three axes.
 */
static const struct wconv_plan *
plan_of(const struct job *j)
{
	return j->restore ? wconv_restore_by(j->restore) : j->plan;
}

static void
explain(const struct job *j)
{
	const struct wconv_chosen c = wconv_chosen(plan_of(j));
	char text[512];

	wconv_explain(plan_of(j), text, sizeof text);
	fprintf(stderr, "%s: %s\n", weir_prog, text);
	if (!c.direct) {
		list_borders(plan_of(j), false, c.tiles_x);
		list_borders(plan_of(j), true, c.tiles_y);
	}
}

/* Called when a step of a deconvolution is done: moves the progress bar. */
static void
tell(void *with, size_t steps)
{
	const struct job *j = with;
	const double all = (double)(j->pictures * j->planes);

	progress_step(j->bar, ((double)j->done + (double)steps / j->args->steps) / all);
}

static void
make_plans(struct job *j)
{
	const struct wconv_restore_options o = {.least_squares = j->args->has_damp,
						.accelerate = j->args->accelerate,
						.damp = j->args->damp,
						.sky = j->args->sky,
						.steps = (size_t)j->args->steps,
						.noise = j->args->noise,
						.scatters = j->args->adjoint,
						.on_device = j->args->gpu != NULL,
						.tell = tell,
						.with = j};
	struct why why;

	drop_plans(j);
	if (wconv_place_nodes(&j->kernels, &j->args->ask, j->corner, &j->q, &why))
		die("%s: %s", j->args->kernels, why.text);
	if (j->args->steps ? wconv_restore_plan(&j->restore, &j->q, &o, &why)
	    : j->q.kd	   ? wconv_volume_plan(&j->volume, &j->q, &why)
			   : wconv_plan(&j->plan, &j->q, &why))
		raw_die(j->in, "%s", why.text);
	if (j->plan && j->args->adjoint && !j->args->gpu &&
	    wconv_adjoint_plan(&j->adjoint, j->plan, &why))
		raw_die(j->in, "%s", why.text);
}

/* Says the size of the volume and of the kernel on standard error. */
static void
explain_volume(const struct job *j)
{
	const struct wconv_problem *q = &j->q;

	fprintf(stderr, "%s: volumes of %zux%zux%zu, a kernel of %zux%zux%zu, transforms\n",
		weir_prog, q->w, q->h, q->d, q->kw, q->kh, q->kd);
}

void
job_plan(struct job *j)
{
	if (j->planned)
		return;
	make_plans(j);
	j->planned = true;
	if (j->args->common.verbose && j->q.kd)
		explain_volume(j);
	else if (j->args->common.verbose)
		explain(j);
	if (j->args->common.verbose && j->args->gpu)
		fprintf(stderr, "%s: run on %s\n", weir_prog, gpu_name(j->args->gpu));
	stats_charge(j->st, STATS_PLAN);
}

void
job_start(struct job *j)
{
	struct img file;
	struct why why;

	if (!j->args->kernels)
		return;
	raw_load_file(j->args->kernels, j->args->common.max_bytes, true, &file);
	if (wconv_take_kernels(&j->kernels, &file, &j->args->ask, &j->q, &why))
		die("%s: %s", j->args->kernels, why.text);
}

void
job_report(const struct job *j)
{
	struct stats *st = j->st;

	if (j->restore) {
		stats_add(st, "iterations", "%zu", j->restored.steps);
		stats_add(st, "rms", "%.6g", j->restored.rms);
	}
	if (!plan_of(j) || j->args->gpu)
		return;
	const struct wconv_chosen c = wconv_chosen(plan_of(j));
	stats_add(st, "method", "\"%s\"", c.direct ? "direct" : "fft");
	stats_add(st, "transform", "[%zu, %zu]", c.px, c.py);
	stats_add(st, "tiles", "[%zu, %zu]", c.tiles_x, c.tiles_y);
	stats_add(st, "steps", "%zu", wconv_count(plan_of(j)));
	stats_add(st, "level", "\"%s\"", c.level);
}

void
job_end(struct job *j)
{
	drop_plans(j);
	wconv_drop_kernels(&j->kernels);
}

/* ---- ranges ---- */

/* Define largest_float() and largest_double(), which return the largest absolute value of the finite samples of x[n]. */
#define LARGEST(F, MOST)                                                          \
	static double largest_##F(const F *x, size_t n)                           \
	{                                                                         \
		enum { PARTS = 16 };                                              \
		F part[PARTS] = {0}, most = 0;                                    \
		for (size_t i = 0; i < n; i += PARTS) {                           \
			const size_t m = n - i < PARTS ? n - i : PARTS;           \
			_Pragma("omp simd") for (size_t k = 0; k < m; k++)        \
			{                                                         \
				const F v = x[i + k] < 0 ? -x[i + k] : x[i + k];  \
				part[k] = v <= MOST && v > part[k] ? v : part[k]; \
			}                                                         \
		}                                                                 \
		for (size_t k = 0; k < PARTS; k++)                                \
			most = part[k] > most ? part[k] : most;                   \
		return (double)most;                                              \
	}

LARGEST(float, FLT_MAX)
LARGEST(double, DBL_MAX)

static double
largest_finite(const struct job *j, const void *samples, enum img_type type, size_t n)
{
	enum { CHUNK = 1 << 14 };
	const int threads = n > CHUNK ? j->args->common.threads : 1;
	double most = 0;

#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : most)
	for (size_t i = 0; i < n; i += CHUNK) {
		const size_t k = n - i < CHUNK ? n - i : CHUNK;
		const void *at = (const char *)samples + i * img_type_size(type);
		double whole[CHUNK];
		if (!img_is_float(type))
			sample_load(whole, at, type, k);
		most = fmax(most, type == IMG_F32   ? largest_float(at, k)
				  : type == IMG_F64 ? largest_double(at, k)
						    : largest_double(whole, k));
	}
	return most;
}

/*
 * Ends the program if a finite sample is so large that transforms would overflow, or a float could not hold it. The item must
 * have been planned.
 */
static void
check_range(const struct job *j, const void *samples, enum img_type type, size_t n)
{
	const double limit = wconv_largest(plan_of(j));
	double most = 0;

	if (img_is_float(type) && limit < (type == IMG_F64 ? DBL_MAX : (double)FLT_MAX))
		most = largest_finite(j, samples, type, n);
	if (most > limit)
		raw_die(j->in,
			"a sample of absolute value %.6g is too large, and sums would overflow: "
			"set it to NaN if it stands for none%s, or divide the picture",
			most, j->q.in_double ? "" : ", take --double");
}

/* Refuses integers that --type=input cannot give back, and warns of those that it could with --double. */
static void
check_digits(struct job *j, const void *samples, enum img_type type, size_t n)
{
	const double most = largest_finite(j, samples, type, n);

	if (most >= 0x1p53) /* where doubles lie 2 apart */
		raw_die(j->in,
			"an integer of absolute value %.0f or so has more digits than a double: "
			"--type=input takes integers below 2^53",
			most);
	if (most > 0x1p24 && !j->q.in_double && !j->said_narrow)
		warn("%s: integers of up to %.0f have more digits than a float, in which sums are "
		     "computed: --double keeps them",
		     raw_name(j->in), most);
	j->said_narrow |= most > 0x1p24;
}

/* ---- bands of rows ---- */

void
job_describe(const struct job *j, const struct img *x, struct img *y)
{
	const struct wconv_problem *q = &j->q;
	size_t w = q->w, h = q->h;
	ptrdiff_t x0 = (ptrdiff_t)q->x0, y0 = (ptrdiff_t)q->y0;

	if (j->plan && !j->args->adjoint)
		wconv_shape(j->plan, &w, &h, &x0, &y0);
	img_copy_head(y, x);
	y->type = q->out;
	const int first = img_row_axis(y);
	img_crop_axis(y, first, w, x0 - j->at_x);
	if (y->dim > first + 1)
		img_crop_axis(y, first + 1, h, y0 - j->at_y);
	if (img_key(y, "tile"))
		img_set_key(y, "tile", "%td %td %zu %zu", x0, y0, q->W, q->H);
	opt_add_history(y, &j->args->common);
}

/* Tells the samples of step i of the item; each picture takes all steps of the plan. */
static struct wconv_samples
samples(const void *with, size_t i)
{
	const struct job *j = with;
	const struct wconv_step s = wconv_steps(j->plan, i % wconv_count(j->plan));

	return (struct wconv_samples){s.rows_in * j->row, s.rows_out * j->out_row};
}

static void
run_step(void *with, const void *in, void *out)
{
	struct job *j = with;

	const size_t n = wconv_next(j->plan).rows_in * j->row;
	/* a double that floats cannot hold is not found when rows are fed */
	const bool narrows = j->q.in == IMG_F64 && !j->q.in_double;
	const bool first = j->args->gpu || narrows;

	if (first)
		check_range(j, in, j->q.in, n);
	if (j->q.out == j->q.in && !img_is_float(j->q.in) && img_type_size(j->q.in) > 2)
		check_digits(j, in, j->q.in, n);
	if (!j->args->gpu)
		wconv_run(j->plan, in, out);
	else if (gpu_wconv_run(j->args->gpu, j->plan, in, out))
		raw_die(j->in, "-g: %s", gpu_why(j->args->gpu));
	if (!first && wconv_in_doubt(j->plan))
		check_range(j, in, j->q.in, n);
}

static void
send_ahead(void *with, const void *in, size_t bytes)
{
	const struct job *j = with;

	gpu_ahead(j->args->gpu, &(struct gpu_span){in, bytes}, 1);
}

static void
await_results(void *with, const void *out, size_t bytes)
{
	const struct job *j = with;

	if (gpu_settle(j->args->gpu, out, bytes))
		raw_die(j->in, "-g: %s", gpu_why(j->args->gpu));
}

void
job_flow(struct job *j, struct wconv_flow *f)
{
	const struct wconv_step most = wconv_most(j->plan);
	size_t w, h;
	ptrdiff_t x0, y0;

	wconv_shape(j->plan, &w, &h, &x0, &y0);
	j->row = j->q.w * j->q.planes;
	j->out_row = w * j->q.planes;
	f->in_size = img_type_size(j->q.in);
	f->out_size = img_type_size(j->q.out);
	f->steps = j->pictures * wconv_count(j->plan);
	f->samples = samples;
	f->most = (struct wconv_samples){most.rows_in * j->row, most.rows_out * j->out_row};
	f->run = run_step;
	f->loads = !j->args->gpu && j->q.threads > 1;
	f->ahead = j->args->gpu ? send_ahead : NULL;
	f->arrive = j->args->gpu ? await_results : NULL;
	f->with = j;
}

void
job_tile(const struct job *j, struct img *y, ptrdiff_t row)
{
	ptrdiff_t x0, y0;
	size_t w, h;

	wconv_shape(j->plan, &w, &h, &x0, &y0);
	img_change_key(y, "tile", "%td %td %zu %zu", x0, y0 + row, j->q.W, j->q.H);
}

/* ---- whole items ---- */

/*
 * The adjoint and the deconvolution of an item, and all work on volumes. They hold one picture, or volume, in memory.
 * On failure the program ends with a line that names the item.
 */

struct whole {
	struct job *j;
	enum img_type type; /* of the item's samples */
	/* samples in a row of the item, of all planes; rows of a picture; the same for the result */
	size_t row, rows, out_row, out_rows;
	/* one row of the item */
	double *line;
	/* one plane of the item, one plane of the result; bytes of a sample of both */
	void *from, *to;
	size_t size;
};

/* Names sample x of row y of all rows. */
static _Noreturn void
refuse(const struct job *j, size_t x, size_t y)
{
	const size_t h = j->q.h;

	if (j->q.kd)
		raw_die(j->in, "the sample at %zu,%zu,%zu is not finite: see --nan", x, y % h,
			y / h % j->q.d);
	raw_die(j->in, "the pixel at %zu,%zu is not finite: --nan=zero takes it as 0", x, y % h);
}

/*
 * Copies plane c of a picture to w->from. Samples that are not finite become 0 by --nan=zero, and --nan=propagate refuses them, except
 * to deconvolve.
 */
static void
take_plane(struct whole *w, const char *picture, size_t c)
{
	const struct args *args = w->j->args;
	const size_t planes = w->j->planes, n = w->row / planes;
	const bool single = w->size == sizeof(float);

	for (size_t y = 0; y < w->rows; y++) {
		sample_load(w->line, picture + y * w->row * img_type_size(w->type), w->type,
			    w->row);
		for (size_t x = 0; x < n; x++) {
			const double v = w->line[x * planes + c];
			if (!isfinite(v) && !args->steps && args->nan == WCONV_NAN_PROPAGATE)
				refuse(w->j, x, y);
			real_set(w->from, y * n + x,
				 !isfinite(v) && args->nan == WCONV_NAN_ZERO ? 0 : v, single);
		}
	}
}

/*
 * Stores the result of plane c in the picture. A deconvolution with --nan=propagate has NaN where the data, `from`, were
 * unknown. Integers are rounded and clipped as those of pictures are.
 */
static void
give_plane(const struct whole *w, const void *from, char *picture, size_t c)
{
	const struct args *args = w->j->args;
	const struct wconv_problem *q = &w->j->q;
	const size_t planes = w->j->planes, n = w->out_row / planes * w->out_rows,
		     size = img_type_size(q->out);
	const bool keep = args->steps && args->nan == WCONV_NAN_PROPAGATE,
		   single = w->size == sizeof(float), whole = !img_is_float(q->out),
		   has_sign = (q->out - IMG_I8) % 2 == 0 && !(q->top > 0);
	const double end = ldexp(1, (int)(8 * size) - has_sign), lo = has_sign ? -end : 0,
		     hi = q->top > 0 ? q->top : fmin(end - 1, nextafter(end, 0));

	if (planes == 1 && !keep && q->out == q->in) {
		memcpy(picture, w->to, n * w->size);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const bool unknown = keep && !isfinite(real_at(from, i, single));
		double v = unknown ? NAN : real_at(w->to, i, single);
		if (whole)
			v = v > lo ? fmin(rint(v), hi) : lo;
		sample_store(picture + (i * planes + c) * size, &v, q->out, 1);
	}
}

/* The known data: how many, how many below 0, how far in sum, the sum of data less the sky, and the sum of the data's squares. */
struct light {
	size_t n, below;
	double depth, sum, squares;
};

static struct light
measure_light(const struct whole *w, const void *data)
{
	const size_t n = w->row / w->j->planes * w->rows;
	/* with --noise, what lies below the sky may be negative light */
	const double zero = w->j->args->has_noise ? w->j->args->sky : 0;
	struct light l = {0};

	for (size_t i = 0; i < n; i++) {
		const double v = real_at(data, i, w->size == sizeof(float));
		if (!isfinite(v))
			continue;
		l.n++;
		l.below += v < zero;
		l.depth += v < zero ? zero - v : 0;
		l.sum += v - w->j->args->sky;
		l.squares += v * v;
	}
	return l;
}

/* Whether x explains the data worse than no light could, or has lost all light. Kernels with samples below 0 lead to both. */
static bool
diverged(const struct whole *w, const struct light *l, double rms, const void *x)
{
	const size_t n = w->out_row / w->j->planes * w->out_rows;
	bool lit = l->sum <= 0;

	for (size_t i = 0; !lit && i < n; i++)
		lit = real_at(x, i, w->size == sizeof(float)) != 0;
	return !lit || !(rms <= 2 * (sqrt(l->squares / (double)l->n) + fabs(w->j->args->sky)));
}

/* Returns how far below 0 the result may lie: ten times the noise, where one datum in a hundred is below 0; else 0. */
static double
find_floor(const struct args *args, const struct light *l)
{
	if (l->below <= l->n / 100)
		return 0;
	/* of normal noise, sqrt(2 / pi) is how far the samples below 0 lie there in the mean */
	return 10 * (args->has_noise ? args->noise : l->depth / (double)l->below * sqrt(M_PI / 2));
}

static void
deconvolve(struct whole *w, const void *from, void *to)
{
	struct job *j = w->j;
	struct gpu *g = j->args->gpu;
	const struct light l = measure_light(w, from);
	struct why why;

	j->restore->o.floor = find_floor(j->args, &l);
	const int e = g ? gpu_wconv_restore(g, j->restore, from, to, &j->restored, &why)
			: wconv_restore_run(j->restore, from, to, &j->restored, &why);

	if (e == -1)
		raw_die(j->in, "%s", why.text);
	if (e)
		raw_die(j->in, "-g: %s", gpu_why(g));
	if (!j->args->has_damp && diverged(w, &l, j->restored.rms, to))
		raw_die(j->in, "Richardson and Lucy's steps diverge, since kernels have samples "
			       "below 0: use least squares, --damp");
	if (j->args->common.verbose)
		fprintf(stderr, "%s: %zu steps, misfit %.6g\n", weir_prog, j->restored.steps,
			j->restored.rms);
}

/* Whether all n samples, float or double, are finite: v - v is then 0, else NaN. */
static bool
all_finite(const void *samples, size_t n, bool single)
{
	int bad = 0;

#pragma omp simd reduction(| : bad)
	for (size_t i = 0; i < n; i++) {
		const double v = real_at(samples, i, single);
		bad |= v - v != 0;
	}
	return !bad;
}

static void
run_volume(struct whole *w, const void *from, void *to)
{
	wconv_volume_run(w->j->volume, w->j->args->adjoint, from, to);
	if (!all_finite(to, w->out_row / w->j->planes * w->out_rows, w->size == sizeof(float)))
		raw_die(w->j->in, "sums overflow: divide the data, or the kernel, by a constant");
}

/* Convolves w->from by --nan=interpolate: (K * I m) (sum K) / (K * m), where m is 0 at samples that are not finite, else 1. */
static void
fill_volume(struct whole *w, void *to)
{
	const struct wconv_problem *q = &w->j->q;
	const bool single = w->size == sizeof(float);
	const size_t n = w->row / w->j->planes * w->rows;
	void *lost = weir_xalloc_large(n, w->size); /* 1 - m */
	double sum = 0, weight = 0;

	for (size_t i = 0; i < q->kw * q->kh * q->kd; i++) {
		sum += real_at(q->kernels, i, single);
		weight += fabs(real_at(q->kernels, i, single));
	}
	const double least = WCONV_KNOWN * weight / fabs(sum), all = q->normalise ? 1 : sum;

	if (!(least < 1))
		raw_die(w->j->in, "samples cannot be filled in: the kernel's sum is %.3g", sum);
	for (size_t i = 0; i < n; i++) {
		const double v = real_at(w->from, i, single);
		real_set(lost, i, !isfinite(v), single);
		real_set(w->from, i, isfinite(v) ? v : 0, single);
	}
	run_volume(w, w->from, to);
	run_volume(w, lost, w->from);
	for (size_t i = 0; i < n; i++) {
		const double known = 1 - real_at(w->from, i, single) / all;
		real_set(to, i, fabs(known) > least ? real_at(to, i, single) / known : NAN, single);
	}
	weir_free(lost);
}

/* Applies the adjoint, the deconvolution or the convolution of a volume to one plane. */
static void
run_plane(struct whole *w, const void *from, void *to)
{
	struct job *j = w->j;

	if (j->restore)
		deconvolve(w, from, to);
	else if (j->volume && j->args->nan == WCONV_NAN_INTERPOLATE &&
		 !all_finite(from, w->row / j->planes * w->rows, w->size == sizeof(float)))
		fill_volume(w, to);
	else if (j->volume)
		run_volume(w, from, to);
	else if (j->adjoint)
		wconv_adjoint_run(j->adjoint, from, to);
	else if (gpu_wconv_adjoint(j->args->gpu, j->plan, from, to))
		raw_die(j->in, "-g: %s", gpu_why(j->args->gpu));
	j->done++;
}

/* Whether the samples of a picture can be processed where they are. */
static bool
serves_as_plane(const struct whole *w, const void *picture)
{
	const struct args *args = w->j->args;

	return w->j->planes == 1 && w->type == w->j->q.in && args->nan != WCONV_NAN_ZERO &&
	       (args->steps || all_finite(picture, w->row * w->rows, w->size == sizeof(float)));
}

/* A step: one picture. The first one makes the plans, so that a header alone costs neither memory nor time. */
static void
run_picture(void *with, const void *in, void *out)
{
	struct whole *w = with;

	job_plan(w->j);
	if (gpu_enter(w->j->args->gpu))
		raw_die(w->j->in, "-g: %s", gpu_why(w->j->args->gpu));
	if (plan_of(w->j))
		check_range(w->j, in, w->type, w->row * w->rows);
	if (w->j->q.out == w->type && !img_is_float(w->type) && img_type_size(w->type) > 2)
		check_digits(w->j, in, w->type, w->row * w->rows);
	if (serves_as_plane(w, in)) {
		run_plane(w, in, w->to);
		give_plane(w, in, out, 0);
		return;
	}
	for (size_t c = 0; c < w->j->planes; c++) {
		take_plane(w, in, c);
		run_plane(w, w->from, w->to);
		give_plane(w, w->from, out, c);
	}
}

static struct wconv_samples
samples_of_picture(const void *with, size_t i)
{
	const struct whole *w = with;

	(void)i;
	return (struct wconv_samples){w->row * w->rows, w->out_row * w->out_rows};
}

bool
job_is_whole(const struct job *j)
{
	return j->args->adjoint || j->args->steps || j->q.kd;
}

void
job_flow_whole(struct job *j, const struct img *x, struct wconv_flow *f)
{
	const struct wconv_problem *q = &j->q;
	struct whole *w = weir_xalloc(1, sizeof *w);
	struct img_picture p;

	img_pictures(x, &p);
	*w = (struct whole){.j = j,
			    .type = x->type,
			    .row = p.w * p.c,
			    .rows = p.h * p.n / j->pictures,
			    .out_row = q->w * p.c,
			    .out_rows = q->h * (q->kd ? q->d : 1),
			    .size = img_type_size(q->in)};
	w->line = weir_xalloc(w->row, sizeof *w->line);
	w->from = weir_xalloc_large(p.w * w->rows, w->size);
	w->to = weir_xalloc_large(q->w * w->out_rows, w->size);
	f->in_size = img_type_size(x->type);
	f->out_size = img_type_size(q->out);
	f->steps = j->pictures;
	f->samples = samples_of_picture;
	f->most = samples_of_picture(w, 0);
	f->run = run_picture;
	f->with = w;
}

void
job_drop_whole(struct wconv_flow *f)
{
	struct whole *w = f->with;

	weir_free_all(w->line, w->from, w->to, w);
}
