#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/die.h"
#include "common/base/par.h"
#include "common/stream/place.h"
#include "gpu/wconv/wconv.h"
#include "wconv/job.h"

/* ---- tiles and parts ---- */

/* Where an item lies in the whole picture. On failure the program ends with a line that names the file and the item. */

/* Reads from the header where the item lies in the whole image. An item that is not a part is the whole. */
static void
job_find_place(const struct raw_in *in, const struct img *x, struct wconv_problem *q)
{
	struct why why;
	struct tile t;

	if (tile_of(x, q->w, q->h, &t, &why))
		raw_die(in, "%s", why.text);
	q->x0 = t.x0;
	q->y0 = t.y0;
	q->W = t.W;
	q->H = t.H;
}

/*
 * One direction of the adjoint: the item has n results, and this finds the n pixels at *x0, of a whole of *W, that give
 * them. *first: position of the first result. An item that is not placed in a whole has all results, and its size tells
 * that of the picture. Returns false if no picture has these results.
 */
static bool
find_span(bool placed, enum wconv_output output, size_t before, size_t after, ptrdiff_t *first,
	  size_t *n, size_t *x0, size_t *W)
{
	const size_t k = before + after;
	const ptrdiff_t lo = output == WCONV_VALID  ? (ptrdiff_t)before
			     : output == WCONV_FULL ? -(ptrdiff_t)after
						    : 0;

	if (!placed) {
		if (output == WCONV_FULL && *n <= k)
			return false;
		*n = output == WCONV_VALID ? *n + k : output == WCONV_FULL ? *n - k : *n;
		*first = lo;
		*W = *n;
		*x0 = 0;
		return true;
	}
	const ptrdiff_t hi = (ptrdiff_t)*W - (output == WCONV_VALID ? (ptrdiff_t)after : 0);
	const ptrdiff_t end = *first + (ptrdiff_t)*n;
	const ptrdiff_t have0 = *first == lo ? 0 : *first - (ptrdiff_t)before;
	const ptrdiff_t have1 = end == hi ? (ptrdiff_t)*W : end + (ptrdiff_t)after;
	*x0 = (size_t)have0;
	*n = (size_t)(have1 - have0);
	return have0 >= 0 && have1 <= (ptrdiff_t)*W;
}

/* The item of the adjoint holds results. Makes j->q the problem of the picture that gives them, and j->at_* their position. */
static void
job_find_source(struct job *j, const struct raw_in *in, const struct img *x)
{
	struct wconv_problem *q = &j->q;
	const size_t bx = q->correlate ? q->cx : q->kw - 1 - q->cx;
	const size_t by = q->correlate ? q->cy : q->kh - 1 - q->cy;
	const bool placed = img_key(x, "tile") != NULL;

	if (!find_span(placed, q->output, bx, q->kw - 1 - bx, &j->at_x, &q->w, &q->x0, &q->W) ||
	    !find_span(placed, q->output, by, q->kh - 1 - by, &j->at_y, &q->h, &q->y0, &q->H))
		raw_die(in, "no picture has these %zux%zu results of a kernel of %zux%zu", q->w,
			q->h, q->kw, q->kh);
	const size_t bz = q->correlate ? q->cz : q->kd - 1 - q->cz;
	size_t at = 0, whole;
	if (q->kd && !find_span(false, q->output, bz, q->kd - 1 - bz, &j->at_z, &q->d, &at, &whole))
		raw_die(in, "no volume has these %zu slices of results of a kernel of %zu", q->d,
			q->kd);
}

/* ---- volumes ---- */

void
volume_check_args(const struct args *args)
{
	const char *option = args->common.gpu		    ? "-g"
			     : args->common.part.n	    ? "--part"
			     : args->type		    ? "--type=input"
			     : args->method == WCONV_DIRECT ? "--method=direct"
			     : args->edge == WCONV_RENORMALISE && !args->steps
				 ? "--edge=renormalise without --deconvolve"
			     : args->nan == WCONV_NAN_INTERPOLATE && !args->steps
				 ? "--nan=interpolate"
				 : NULL;

	if (option)
		die_usage("%s does not go with a kernel of three axes", option);
}

/* Finds the volumes of item x: sets j->q.d and j->pictures. The rest of the problem was posed for its slices. */
static void
volume_pose(struct job *j, const struct raw_in *in, const struct img *x)
{
	const int deep = img_row_axis(x) + 2;
	const char *other = x->dim > deep ? img_no_depth(&x->axis[deep]) : NULL;

	if (x->dim <= deep)
		raw_die(in, "a kernel of three axes needs a volume, of axes `x y z`");
	if (other)
		raw_die(in,
			"axis %d is `%s' and not z: rawaxes --order brings z there, or --slice "
			"takes one volume",
			deep, other);
	if (img_key(x, "tile"))
		raw_die(in, "a kernel of three axes needs whole slices, not parts of them");
	j->q.d = x->axis[deep].n;
	j->q.in = j->q.out;
	j->pictures = j->pictures / j->q.d;
	j->at_z = 0;
}

/* Finds the size of the result, and the position of its first sample. */
static void
find_result(const struct job *j, size_t n[3], ptrdiff_t first[3])
{
	const struct wconv_problem *q = &j->q;
	const size_t size[3] = {q->w, q->h, q->d}, k[3] = {q->kw, q->kh, q->kd},
		     centre[3] = {q->cx, q->cy, q->cz};

	for (int a = 0; a < 3; a++) {
		const size_t before = q->correlate ? centre[a] : k[a] - 1 - centre[a];
		n[a] = size[a];
		first[a] = 0;
		if (j->args->steps || j->args->adjoint || q->output == WCONV_SAME)
			continue;
		if (q->output == WCONV_VALID && size[a] < k[a])
			raw_die(j->in,
				"no pixel's window lies inside %zux%zux%zu pixels: the "
				"kernel is %zux%zux%zu",
				q->w, q->h, q->d, q->kw, q->kh, q->kd);
		n[a] = q->output == WCONV_VALID ? size[a] + 1 - k[a] : size[a] + k[a] - 1;
		first[a] = q->output == WCONV_VALID ? (ptrdiff_t)before
						    : (ptrdiff_t)before + 1 - (ptrdiff_t)k[a];
	}
}

/* Tells the size of the result: rows of all its slices. */
static void
volume_size(const struct job *j, size_t *w, size_t *rows)
{
	ptrdiff_t first[3];
	size_t n[3];

	find_result(j, n, first);
	*w = n[0];
	*rows = n[1] * n[2];
}

/* Makes y the header of x's result. */
static void
volume_describe(const struct job *j, const struct img *x, struct img *y)
{
	const ptrdiff_t at[3] = {j->at_x, j->at_y, j->at_z};
	ptrdiff_t first[3];
	size_t n[3];

	find_result(j, n, first);
	img_copy_head(y, x);
	y->type = j->q.out;
	for (int a = 0; a < 3; a++)
		img_cut_axis(y, img_row_axis(y) + a, n[a], first[a] - at[a]);
	opt_add_history(y, &j->args->common);
}

/* Says the size of the volume and of the kernel on standard error. */
static void
volume_explain(const struct job *j)
{
	const struct wconv_problem *q = &j->q;

	fprintf(stderr, "%s: volumes of %zux%zux%zu, a kernel of %zux%zux%zu, transforms\n",
		weir_prog, q->w, q->h, q->d, q->kw, q->kh, q->kd);
}

/* ---- ranges ---- */

/* Refuses samples that a float cannot hold, or that transforms would turn into infinities. */

enum { PARTS = 16, CHUNK = 1 << 14 };

/* Returns the largest absolute value of the finite samples of x[n], n <= CHUNK. */
WEIR_CLONES_OF(float, largest_finite_float, (const float *x, size_t n), (x, n))
{
	float part[PARTS] = {0}, most = 0;
	size_t i = 0;

	for (; i + PARTS <= n; i += PARTS)
#pragma omp simd
		for (size_t k = 0; k < PARTS; k++) {
			const float v = fabsf(x[i + k]);
			part[k] = v > part[k] && v <= FLT_MAX ? v : part[k];
		}
	for (size_t k = 0; i < n; i++, k++)
		part[k] = fmaxf(part[k], isfinite(x[i]) ? fabsf(x[i]) : 0);
	for (size_t k = 0; k < PARTS; k++)
		most = fmaxf(most, part[k]);
	return most;
}

static double
largest_finite_double(const double *x, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, isfinite(x[i]) ? fabs(x[i]) : 0);
	return most;
}

static double
largest_finite(const void *samples, enum img_type type, size_t n, int threads)
{
	double most = 0;

#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : most)
	for (size_t i = 0; i < n; i += CHUNK) {
		const size_t k = n - i < CHUNK ? n - i : CHUNK;
		const double v = type == IMG_F64
				     ? largest_finite_double((const double *)samples + i, k)
				     : (double)largest_finite_float((const float *)samples + i, k);
		most = v > most ? v : most;
	}
	return most;
}

void
job_check_range(const struct job *j, const void *samples, enum img_type type, size_t n)
{
	const double limit = wconv_largest(job_plan_of(j));
	double most = j->q.edge == WCONV_CONSTANT ? fabs(j->q.constant) : 0;

	if (img_is_float(type) && limit < (type == IMG_F64 ? DBL_MAX : (double)FLT_MAX))
		most = fmax(most, largest_finite(samples, type, n,
						 n > CHUNK ? j->args->common.threads : 1));
	if (most > limit)
		raw_die(j->in,
			"a sample of absolute value %.6g is too large, and sums would overflow: "
			"set it to NaN if it stands for none%s, or divide the picture",
			most, j->q.in_double ? "" : ", take --double");
}

/* ---- job ---- */

void
job_start(struct job *j)
{
	struct img file;
	struct why why;

	raw_load_file(j->args->kernels, j->args->common.max_bytes, true, &file);
	if (wconv_take_kernels(&j->kernels, &file, &j->args->ask, &j->q, &why))
		die("%s: %s", j->args->kernels, why.text);
	if (j->q.kd && j->q.cz >= j->q.kd)
		die_usage("--centre: '%s' is outside the kernel of %zux%zux%zu", j->args->centre,
			  j->q.kw, j->q.kh, j->q.kd);
	if (j->q.cx >= j->q.kw || j->q.cy >= j->q.kh)
		die_usage("--centre: '%s' is outside the kernel of %zux%zu", j->args->centre,
			  j->q.kw, j->q.kh);
}

/* A plan for the GPU is made for this many threads, so that each of its steps has tiles enough to fill a GPU. */
enum { GPU_TILES = 32 };

/* Fills in what the item says about the problem. */
static void
pose(struct job *j, const struct raw_in *in, const struct img *x)
{
	const struct args *args = j->args;
	const bool keep = args->type && !img_is_float(x->type);
	struct wconv_problem *q = &j->q;
	struct img_picture p;

	if (args->common.part.n && !img_picture(x, &p))
		raw_die(in, "it has %d axes; --part takes pictures and stacks of one axis", x->dim);
	if (!img_pictures(x, &p))
		raw_die(in, "it has more pictures than a number holds");
	q->w = p.w;
	q->h = p.h;
	q->planes = p.c;
	q->in = x->type;
	q->out = keep || (args->type && x->type == IMG_F64) ? x->type
		 : args->in_double			    ? IMG_F64
							    : IMG_F32;
	q->top = keep ? img_maxval(x) : 0;
	q->normalise = args->normalise;
	q->correlate = args->correlate;
	q->edge = (enum wconv_edge)args->edge;
	q->constant = args->constant;
	q->nan = (enum wconv_nan)args->nan;
	q->output = (enum wconv_output)args->output;
	q->method = (enum wconv_method)args->method;
	j->pictures = p.n;
	j->planes = p.c;
	if (args->adjoint || args->steps) { /* these work plane by plane, in one precision */
		q->planes = 1;
		q->in = q->out;
	}
	q->on_device = args->gpu != NULL;
	q->threads = args->gpu ? GPU_TILES * (int)gpu_count(args->gpu) : args->common.threads;
	job_find_place(in, x, q);
	j->at_x = (ptrdiff_t)q->x0;
	j->at_y = (ptrdiff_t)q->y0;
	wconv_find_corner(x, &(struct tile){.x0 = q->x0, .y0 = q->y0}, j->corner);
	j->corner[0] -= (double)q->x0;
	j->corner[1] -= (double)q->y0;
	if (q->kd)
		volume_pose(j, in, x);
	if (args->adjoint && !args->steps)
		job_find_source(j, in, x);
}

static bool
same_shape(const struct wconv_problem *a, const struct wconv_problem *b)
{
	return a->w == b->w && a->h == b->h && a->planes == b->planes && a->in == b->in &&
	       a->out == b->out && a->top == b->top && a->x0 == b->x0 && a->y0 == b->y0 &&
	       a->W == b->W && a->H == b->H && a->d == b->d;
}

/* Prints the first results of the tiles along x, or along y. */
static void
list_borders(const struct wconv_plan *p, bool y, size_t n)
{
	fprintf(stderr, "%s: tiles begin at %s", weir_prog, y ? "rows" : "columns");
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, " %td", wconv_border(p, y, i));
	fputc('\n', stderr);
}

const struct wconv_plan *
job_plan_of(const struct job *j)
{
	return j->restore ? wconv_restore_by(j->restore) : j->plan;
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

static void
explain(const struct job *j)
{
	const struct wconv_chosen c = wconv_chosen(job_plan_of(j));
	char text[512];

	wconv_explain(job_plan_of(j), text, sizeof text);
	fprintf(stderr, "%s: %s\n", weir_prog, text);
	if (!c.direct) {
		list_borders(job_plan_of(j), false, c.tiles_x);
		list_borders(job_plan_of(j), true, c.tiles_y);
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

void
job_pose(struct job *j, const struct raw_in *in, const struct img *x)
{
	const struct wconv_problem before = j->q;
	const double corner[2] = {j->corner[0], j->corner[1]};

	j->in = in;
	j->done = 0;
	pose(j, in, x);
	j->planned = (j->plan || j->restore || j->volume) && same_shape(&before, &j->q) &&
		     corner[0] == j->corner[0] && corner[1] == j->corner[1];
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

void
job_plan(struct job *j)
{
	if (j->planned)
		return;
	make_plans(j);
	j->planned = true;
	if (j->args->common.verbose && j->q.kd)
		volume_explain(j);
	else if (j->args->common.verbose)
		explain(j);
	if (j->args->common.verbose && j->args->gpu)
		fprintf(stderr, "%s: run on %s\n", weir_prog, gpu_name(j->args->gpu));
	stats_charge(j->st, STATS_PLAN);
}

void
job_size(const struct job *j, size_t *w, size_t *rows)
{
	*w = j->q.w;
	*rows = j->q.h;
	if (j->q.kd)
		volume_size(j, w, rows);
}

void
job_describe(const struct job *j, const struct img *x, struct img *y)
{
	const struct wconv_problem *q = &j->q;
	size_t w = q->w, h = q->h;
	ptrdiff_t x0 = (ptrdiff_t)q->x0, y0 = (ptrdiff_t)q->y0;

	if (j->q.kd) {
		volume_describe(j, x, y);
		return;
	}
	if (!j->args->adjoint && !j->args->steps)
		wconv_shape(j->plan, &w, &h, &x0, &y0);
	img_copy_head(y, x);
	y->type = q->out;
	const int first = img_row_axis(y);
	if (y->dim == first + 1 && h > 1)
		img_insert_axis(y, first + 1, 1, "domain");
	img_cut_axis(y, first, w, x0 - j->at_x);
	if (y->dim > first + 1)
		img_cut_axis(y, first + 1, h, y0 - j->at_y);
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
	const struct job *j = with;

	const size_t n = wconv_next(j->plan).rows_in * j->row;
	/* a double that floats cannot hold, and the constant, are not found when rows are fed */
	const bool narrows = j->q.in == IMG_F64 && !j->q.in_double;
	const bool first = j->args->gpu || narrows || j->q.edge == WCONV_CONSTANT;

	if (first)
		job_check_range(j, in, j->q.in, n);
	if (!j->args->gpu)
		wconv_run(j->plan, in, out);
	else if (gpu_wconv_run(j->args->gpu, j->plan, in, out))
		raw_die(j->in, "-g: %s", gpu_why(j->args->gpu));
	if (!first && wconv_in_doubt(j->plan))
		job_check_range(j, in, j->q.in, n);
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

void
job_report(const struct job *j)
{
	struct stats *st = j->st;

	if (j->restore) {
		stats_add(st, "iterations", "%zu", j->restored.steps);
		stats_add(st, "rms", "%.6g", j->restored.rms);
	}
	if (!job_plan_of(j) || j->args->gpu)
		return;
	const struct wconv_chosen c = wconv_chosen(job_plan_of(j));
	stats_add(st, "method", "\"%s\"", c.direct ? "direct" : "fft");
	stats_add(st, "transform", "[%zu, %zu]", c.px, c.py);
	stats_add(st, "tiles", "[%zu, %zu]", c.tiles_x, c.tiles_y);
	stats_add(st, "steps", "%zu", wconv_count(job_plan_of(j)));
	stats_add(st, "level", "\"%s\"", c.level);
}

void
job_end(struct job *j)
{
	drop_plans(j);
	wconv_drop_kernels(&j->kernels);
}
