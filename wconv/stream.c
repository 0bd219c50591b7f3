/* The items of a run, except with --part. On failure the program ends with a line that names the item. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/stream/pipeline.h"
#include "common/stream/share.h"
#include "gpu/wconv/wconv.h"
#include "wconv/job.h"
#include "wconv/overlap_io.h"

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
	/* the item has data below 0, and that was said */
	bool warned;
};

/* Names sample x of row y of all rows. */
static _Noreturn void
refuse(const struct job *j, size_t x, size_t y)
{
	const size_t h = j->q.h;

	if (j->q.kd)
		raw_die(j->in, "the sample at %zu,%zu,%zu is not finite: --nan=zero takes it as 0",
			x, y % h, y / h % j->q.d);
	raw_die(j->in, "the pixel at %zu,%zu is not finite: --nan=zero takes it as 0", x, y % h);
}

/* Copies plane c of a picture to w->from. --nan=zero makes samples 0 that are not finite; else the adjoint refuses them. */
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
			if (!isfinite(v) && !args->steps && args->nan != WCONV_NAN_ZERO)
				refuse(w->j, x, y);
			real_set(w->from, y * n + x,
				 !isfinite(v) && args->nan == WCONV_NAN_ZERO ? 0 : v, single);
		}
	}
}

/*
 * Stores the result of plane c in the picture. A deconvolution with --nan=propagate has NaN where the data, `from`, were
 * unknown.
 */
static void
give_plane(const struct whole *w, const void *from, char *picture, size_t c)
{
	const struct args *args = w->j->args;
	const size_t planes = w->j->planes, n = w->out_row / planes * w->out_rows;
	const bool keep = args->steps && args->nan == WCONV_NAN_PROPAGATE,
		   single = w->size == sizeof(float);

	if (planes == 1 && !keep) {
		memcpy(picture, w->to, n * w->size);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const bool unknown = keep && !isfinite(real_at(from, i, single));
		real_set(picture, i * planes + c, unknown ? NAN : real_at(w->to, i, single),
			 single);
	}
}

/* The known data: how many, how many below 0, the sum of data less the sky, and the sum of the data's squares. */
struct light {
	size_t n, below;
	double sum, squares;
};

static struct light
measure_light(const struct whole *w, const void *data)
{
	const size_t n = w->row / w->j->planes * w->rows;
	struct light l = {0};

	for (size_t i = 0; i < n; i++) {
		const double v = real_at(data, i, w->size == sizeof(float));
		if (!isfinite(v))
			continue;
		l.n++;
		l.below += v < 0;
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

/* Checks a result of Richardson and Lucy's method, whose model is that data and kernels are never below 0. */
static void
check_lucy(struct whole *w, const void *from, const void *to)
{
	const struct light l = measure_light(w, from);

	if (diverged(w, &l, w->j->restored.rms, to))
		raw_die(w->j->in, "Richardson and Lucy's steps diverge, since kernels have samples "
				  "below 0: use least squares, --damp");
	if (l.below > l.n / 100 && !w->warned)
		warn("%s: %.0f %% of the pixels are below 0 and count as 0: if a sky was "
		     "subtracted, add it again and give it as --sky",
		     raw_name(w->j->in), 100 * (double)l.below / (double)l.n);
	w->warned |= l.below > l.n / 100;
}

static void
deconvolve(struct whole *w, const void *from, void *to)
{
	struct job *j = w->j;
	struct gpu *g = j->args->gpu;
	struct why why;
	const int e = g ? gpu_wconv_restore(g, j->restore, from, to, &j->restored, &why)
			: wconv_restore_run(j->restore, from, to, &j->restored, &why);

	if (e == -1)
		raw_die(j->in, "%s", why.text);
	if (e)
		raw_die(j->in, "-g: %s", gpu_why(g));
	if (!j->args->has_damp)
		check_lucy(w, from, to);
	if (j->args->common.verbose)
		fprintf(stderr, "%s: %zu steps, misfit %.6g\n", weir_prog, j->restored.steps,
			j->restored.rms);
}

/* Whether all n samples, float or double, are finite: v - v is then 0, else NaN. */
static bool
all_finite(const void *samples, size_t n, bool single)
{
	const float *f = samples;
	const double *d = samples;
	int bad = 0;

#pragma omp simd reduction(| : bad)
	for (size_t i = 0; i < (single ? n : 0); i++)
		bad |= f[i] - f[i] != 0;
#pragma omp simd reduction(| : bad)
	for (size_t i = 0; i < (single ? 0 : n); i++)
		bad |= d[i] - d[i] != 0;
	return !bad;
}

static void
run_volume(struct whole *w, const void *from, void *to)
{
	wconv_volume_run(w->j->volume, w->j->args->adjoint, from, to);
	if (!all_finite(to, w->out_row / w->j->planes * w->out_rows, w->size == sizeof(float)))
		raw_die(w->j->in, "sums overflow: divide the data, or the kernel, by a constant");
}

/* Applies the adjoint, the deconvolution or the convolution of a volume to one plane. */
static void
run_plane(struct whole *w, const void *from, void *to)
{
	struct job *j = w->j;

	if (j->restore)
		deconvolve(w, from, to);
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

	return w->j->planes == 1 && w->type == w->j->q.out && args->nan != WCONV_NAN_ZERO &&
	       (args->steps || all_finite(picture, w->row * w->rows, w->size == sizeof(float)));
}

/* A step: one picture. The first one makes the plans, so that a header alone costs neither memory nor time. */
static void
run_picture(void *with, const void *in, void *out)
{
	struct whole *w = with;

	stats_charge(w->j->st, STATS_READ);
	job_plan(w->j);
	if (gpu_enter(w->j->args->gpu))
		raw_die(w->j->in, "-g: %s", gpu_why(w->j->args->gpu));
	if (job_plan_of(w->j))
		job_check_range(w->j, in, w->type, w->row * w->rows);
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
samples(const void *with, size_t i)
{
	const struct whole *w = with;

	(void)i;
	return (struct wconv_samples){w->row * w->rows, w->out_row * w->out_rows};
}

/* Makes f the work on item x, a picture at a time. f->head and f->mapped are kept. The caller ends it with whole_end(). */
static struct whole *
whole_start(struct job *j, const struct img *x, struct wconv_flow *f)
{
	const struct wconv_problem *q = &j->q;
	struct whole *w = weir_xalloc(1, sizeof *w);
	struct img_picture p;
	size_t width, rows;

	img_pictures(x, &p);
	job_size(j, &width, &rows);
	*w = (struct whole){.j = j,
			    .type = x->type,
			    .row = p.w * p.c,
			    .rows = p.h * p.n / j->pictures,
			    .out_row = width * p.c,
			    .out_rows = rows,
			    .size = img_type_size(q->out)};
	w->line = weir_xalloc(w->row, sizeof *w->line);
	w->from = weir_xalloc_large(p.w * w->rows, w->size);
	w->to = weir_xalloc_large(width * rows, w->size);
	f->in_size = img_type_size(x->type);
	f->out_size = w->size;
	f->steps = j->pictures;
	f->samples = samples;
	f->most = samples(w, 0);
	f->run = run_picture;
	f->with = w;
	return w;
}

/* w may be NULL. */
static void
whole_end(struct whole *w)
{
	if (!w)
		return;
	weir_free(w->line);
	weir_free(w->from);
	weir_free(w->to);
	weir_free(w);
}

/* ---- shares ---- */

/*
 * wconv --part=I/N: convolves one share of the rows of tiles of all pictures of the input, which are regular files.
 * On failure the program ends with a line that names the item.
 */

/* The share, and where it stands in the current item. One slice is one row of tiles of one picture. */
struct share {
	struct job *j;
	struct raw_in *in;
	struct wconv_io *io;
	struct slices all;
	/* [items]: the rows of tiles of a picture of each item; items: how many headers have been read in advance */
	size_t *rows, items;
	const char *mapped; /* the current item's payload; NULL: it is read */
	size_t at;	    /* samples of the payload that have been passed, where it is read */
	struct wconv_plan *plan; /* of the rows that `q` wants; NULL: none yet */
	struct wconv_problem q;
};

/* --- the whole --------------------------------------------------------------------------------------------------- */

static size_t
rows_of_tiles(const struct job *j)
{
	return wconv_chosen(j->plan).tiles_y;
}

/* Notes the rows of tiles of an item's pictures, and returns how many rows all of them have. */
static size_t
count_rows(const void *with, const struct img *x)
{
	struct share *s = *(struct share *const *)with;

	job_pose(s->j, s->in, x);
	job_plan(s->j);
	if ((s->items & (s->items + 1)) == 0) { /* grows to the next power of two less one */
		size_t *more = weir_xalloc(2 * s->items + 1, sizeof *more);

		if (s->items)
			memcpy(more, s->rows, s->items * sizeof *more);
		weir_free(s->rows);
		s->rows = more;
	}
	s->rows[s->items++] = rows_of_tiles(s->j);
	return s->j->pictures * rows_of_tiles(s->j);
}

static uint64_t
fingerprint(const struct args *args)
{
	const uint64_t hash = part_hash_file(part_begin(&args->common), args->kernels);

	return part_hash_files(hash, args->path, args->npath);
}

/* --- rows of one picture ----------------------------------------------------------------------------------------- */

/* Makes q the problem of the results of tile rows t0 .. t1 - 1: it has the rows of pixels that they need. */
static void
want_rows(const struct job *j, size_t t0, size_t t1, struct wconv_problem *q)
{
	const struct wconv_rows need = wconv_need(j->plan, t0, t1);

	*q = j->q;
	q->want0 = need.want0;
	q->want1 = need.want1;
	q->y0 = j->q.y0 + need.first;
	q->h = need.rows;
}

static bool
same_rows(const struct wconv_problem *a, const struct wconv_problem *b)
{
	return a->want0 == b->want0 && a->want1 == b->want1 && a->y0 == b->y0 && a->h == b->h;
}

/* Plans for the tile rows t0 .. t1 - 1 of the current item. Keeps the last plan where it fits. */
static void
plan_rows(struct share *s, size_t t0, size_t t1)
{
	struct wconv_problem q;
	struct why why;

	want_rows(s->j, t0, t1, &q);
	if (s->plan && same_rows(&q, &s->q))
		return;
	wconv_free(s->plan);
	s->q = q;
	if (wconv_plan(&s->plan, &q, &why))
		raw_die(s->in, "%s", why.text);
}

/* Returns the pixels of picture k from row `row` on in the mapped file; or passes over what is before them, and returns NULL. */
static const char *
seek_row(struct share *s, size_t k, size_t row)
{
	const struct wconv_problem *q = &s->j->q;
	const size_t samples = (k * q->h + row) * q->w * q->planes;

	if (s->mapped)
		return s->mapped + samples * img_type_size(q->in);
	raw_skip(s->in, samples - s->at);
	s->at = samples;
	return NULL;
}

/* --- pieces of an item ------------------------------------------------------------------------------------------- */

static struct part_place
place_of(const struct share *s, const struct img *whole)
{
	return (struct part_place){.item = raw_item(s->in) - 1,
				   .items = s->all.items,
				   .piece = s->all.piece,
				   .pieces = s->all.pieces,
				   .pnm = s->j->args->common.as != RAW_AS_RAW &&
					  whole->format == IMG_PNM,
				   .tile = img_key(whole, "tile") != NULL};
}

/* Returns the header of pictures k .. k + n - 1 of the whole item; row0 .. row1 - 1 of their rows when n is 1. */
static struct img
head_of(struct share *s, const struct img *whole, size_t k, size_t n, size_t row0, size_t row1)
{
	struct part_place place = place_of(s, whole);
	const int rows = img_row_axis(whole) + 1;
	struct img y;

	img_copy_head(&y, whole);
	if (y.dim > rows + 1)
		part_cut(&y, &place, rows + 1, k, n);
	if (y.dim > rows && row1 - row0 < y.axis[rows].n) {
		part_cut(&y, &place, rows, row0, row1 - row0);
		job_tile(s->j, &y, (ptrdiff_t)row0);
	}
	part_set(&y, &s->j->args->common.part, s->all.hash, &place);
	s->all.piece++;
	return y;
}

/* Runs the plan of j over its pictures, whose samples come next, and writes the results as the item y. */
static void
run_piece(struct share *s, struct job *j, struct img *y, const char *mapped)
{
	struct wconv_flow flow = {.head = y, .mapped = mapped};

	job_flow(j, &flow);
	wconv_io_run(s->io, &flow, s->j->bar);
	s->at += mapped ? 0 : j->pictures * j->q.h * j->q.w * j->q.planes;
	img_free(y);
}

/* Convolves the tile rows t0 .. t1 - 1 of picture k. */
static void
run_rows(struct share *s, const struct img *whole, size_t k, size_t t0, size_t t1)
{
	struct job j = *s->j;
	ptrdiff_t x0, lo, from;
	size_t w, h;
	struct img y;

	wconv_shape(j.plan, &w, &h, &x0, &lo);
	plan_rows(s, t0, t1);
	wconv_shape(s->plan, &w, &h, &x0, &from);
	y = head_of(s, whole, k, 1, (size_t)(from - lo), (size_t)(from - lo) + h);
	j.plan = s->plan;
	j.q = s->q;
	j.pictures = 1;
	run_piece(s, &j, &y, seek_row(s, k, s->q.y0 - s->j->q.y0));
}

/* Convolves the pictures k .. k + n - 1. */
static void
run_pictures(struct share *s, const struct img *whole, size_t k, size_t n)
{
	struct job j = *s->j;
	struct img y = head_of(s, whole, k, n, 0, SIZE_MAX);

	j.pictures = n;
	run_piece(s, &j, &y, seek_row(s, k, 0));
}

/* Returns how many of the slices first .. end - 1 the next piece has: whole pictures, or the rest or the beginning of one. */
static size_t
next_piece(size_t first, size_t end, size_t rows)
{
	const size_t t = first % rows, left = end - first;

	if (!t && left >= rows)
		return left / rows * rows;
	return rows - t < left ? rows - t : left;
}

/* Does the slices first .. end - 1 of the current item. */
static void
run_item(struct share *s, struct img *x, size_t first, size_t end)
{
	const size_t rows = rows_of_tiles(s->j);
	struct img whole;

	job_describe(s->j, x, &whole);
	s->mapped = raw_try_map(s->in, x) ? x->data : NULL;
	s->at = 0;
	for (size_t n; first < end; first += n) {
		const size_t k = first / rows, t = first % rows;

		n = next_piece(first, end, rows);
		s->j->done = 0;
		if (n % rows)
			run_rows(s, &whole, k, t, t + n);
		else
			run_pictures(s, &whole, k, n / rows);
	}
	if (!s->mapped)
		raw_skip(s->in, raw_left(s->in));
	img_free(&whole);
}

/* --- the share --------------------------------------------------------------------------------------------------- */

static size_t
count_pieces(const struct share *s)
{
	const struct slices *all = &s->all;
	size_t n = 0;

	for (size_t k = 0; k < all->items; k++) {
		const size_t lo = all->before[k], hi = all->before[k + 1];
		const size_t end = all->end < hi ? all->end : hi;

		for (size_t at = all->first > lo ? all->first : lo; at < end; n++)
			at += next_piece(at - lo, end - lo, s->rows[k]);
	}
	return n;
}

/* Does all slices of the share. */
static void
run_share(struct share *s)
{
	struct job *j = s->j;
	struct progress bar;
	size_t from, to;
	struct img x;

	j->bar = &bar;
	for (; raw_next(s->in, &x); img_free(&x)) {
		if (slices_over(&s->all, s->in)) {
			img_free(&x);
			return;
		}
		job_pose(j, s->in, &x);
		job_plan(j);
		if (slices_of(&s->all, s->in, j->pictures * rows_of_tiles(j), &from, &to)) {
			stats_charge(j->st, STATS_READ);
			progress_start(&bar, j->args->common.quiet);
			run_item(s, &x, from, to);
			progress_end(&bar);
			j->st->items++;
		} else {
			raw_skip(s->in, raw_left(s->in));
		}
	}
}

/* Reads all headers, and finds the share. */
static void
open_share(struct share *s)
{
	const struct share *const with = s;
	struct img result;

	slices_open(&s->all, &s->j->args->common, fingerprint(s->j->args), s->in, count_rows,
		    &with);
	s->all.pieces = count_pieces(s);
	/* a share without slices writes a pixel of the result, not of the input */
	job_describe(s->j, &s->all.empty, &result);
	img_free(&s->all.empty);
	s->all.empty = result;
}

void
share_run(struct job *j, struct raw_in *in, struct raw_out *out)
{
	struct share s = {.j = j, .in = in};

	open_share(&s);
	s.io = wconv_io_start(in, out, j->st);
	stats_charge(j->st, STATS_READ);
	run_share(&s);
	wconv_io_end(s.io);
	slices_close(&s.all, out);
	wconv_free(s.plan);
	weir_free(s.rows);
}

/* ---- streams ---- */

struct stream {
	struct job *j;
	struct raw_in *in;
	struct raw_out *out;
	struct wconv_io *io;
};

/* Pictures in files are mapped if the item is at least this long: mapping a small one takes longer than reading it. */
enum { WORTH_MAPPING = 1 << 18 };

static const char *
map_item(struct raw_in *in, struct img *x)
{
	size_t bytes;

	return img_bytes(x, &bytes) && bytes >= WORTH_MAPPING && raw_try_map(in, x) ? x->data
										    : NULL;
}

/* Processes x step by step: the next step is read and the last one is written while one is computed. */
static void
stream_item(struct stream *s, struct img *x)
{
	struct job *j = s->j;
	struct wconv_flow flow = {.mapped = map_item(s->in, x)};
	struct whole *whole = NULL;
	struct progress bar;
	struct img y;

	progress_start(&bar, j->args->common.quiet);
	j->bar = &bar;
	job_pose(j, s->in, x);
	if (j->args->adjoint || j->args->steps || j->q.kd) {
		whole = whole_start(j, x, &flow);
	} else {
		job_plan(j);
		job_flow(j, &flow);
	}
	job_describe(j, x, &y);
	flow.head = &y;
	wconv_io_run(s->io, &flow, j->bar);
	whole_end(whole);
	img_free(&y);
	progress_end(&bar);
}

/* --- on a GPU ---------------------------------------------------------------------------------------------------- */

/* Convolves x in its only step, which f describes, while the next item is read and the last one is written. */
static void
run_one_step(struct stream *s, const struct job *j, struct img *x, const struct wconv_flow *f)
{
	const size_t bytes = f->most.out * f->out_size;
	void *results = weir_xalloc_large(f->most.out, f->out_size);
	struct img y;

	job_describe(j, x, &y);
	if (!map_item(s->in, x))
		raw_load(s->in, x);
	f->ahead(f->with, x->data, f->most.in * f->in_size);
	stats_charge(j->st, STATS_READ);
	relay_pass(RELAY_COMPUTE);
	f->run(f->with, x->data, results);
	stats_charge(j->st, STATS_COMPUTE);
	relay_pass(RELAY_WRITE);
	f->arrive(f->with, results, bytes);
	raw_head(s->out, &y);
	raw_write(s->out, results, f->most.out);
	stats_charge(j->st, STATS_WRITE);
	relay_flush(s->out);
	weir_free(results);
	img_free(&y);
}

/* Items of one step overlap. An item of several steps, whose own steps overlap, and one that needs another plan are alone. */
static void
relay_item(struct stream *s, struct img *x)
{
	struct wconv_flow flow = {0};
	struct job j = *s->j;

	job_pose(&j, s->in, x);
	if (!j.planned) {
		relay_alone();
		job_plan(&j);
		*s->j = j;
	}
	job_flow(&j, &flow);
	if (flow.steps == 1) {
		run_one_step(s, &j, x, &flow);
	} else {
		relay_alone();
		stream_item(s, x);
	}
}

/* --- the stream -------------------------------------------------------------------------------------------------- */

/* An adjoint and a deconvolution keep a whole picture on the device, so their items do not overlap. */
static bool
overlaps(const struct args *a)
{
	return a->gpu && !a->adjoint && !a->steps;
}

static bool
take_item(void *stream)
{
	struct stream *s = stream;
	const struct args *a = s->j->args;
	struct img x;

	if (!raw_next(s->in, &x))
		return false;
	if (a->common.verbose)
		raw_say(s->in, &x);
	stats_charge(s->j->st, STATS_READ);
	(overlaps(a) ? relay_item : stream_item)(s, &x);
	s->j->st->items++;
	img_free(&x);
	return true;
}

void
stream_run(struct job *j, struct raw_in *in, struct raw_out *out)
{
	struct stream s = {.j = j, .in = in, .out = out, .io = wconv_io_start(in, out, j->st)};

	relay_run(in, overlaps(j->args), take_item, &s);
	wconv_io_end(s.io);
}
