/*
 * wconv --part=I/N: convolves one share of the rows of tiles of all pictures of the input, which are regular files.
 * On failure the program ends with a line that names the item.
 */
#include <stdint.h>

#include "common/base/mem.h"
#include "common/stream/share.h"
#include "wconv/job.h"
#include "wconv/flow.h"

/* The share, and where it stands in the current item. One slice is one row of tiles of one picture. */
struct share_work {
	struct job *j;
	struct slices all;
	/* [room]: the rows of tiles of a picture of each item; items: how many headers have been read in advance */
	size_t *rows, room, items;
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
	struct share_work *s = *(struct share_work *const *)with;

	job_pose(s->j, x);
	job_plan(s->j);
	s->rows = weir_xgrow(s->rows, &s->room, s->items + 1, sizeof *s->rows);
	s->rows[s->items++] = rows_of_tiles(s->j);
	return s->j->pictures * rows_of_tiles(s->j);
}

static uint64_t
fingerprint(const struct args *args)
{
	const uint64_t begin = share_begin(&args->common);
	const uint64_t hash = args->kernels ? share_hash_file(begin, args->kernels) : begin;

	return share_hash_files(hash, args->path, args->npath);
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
plan_rows(struct share_work *s, size_t t0, size_t t1)
{
	struct wconv_problem q;
	struct why why;

	want_rows(s->j, t0, t1, &q);
	if (s->plan && same_rows(&q, &s->q))
		return;
	wconv_free(s->plan);
	s->q = q;
	if (wconv_plan(&s->plan, &q, &why))
		raw_die(s->j->in, "%s", why.text);
}

/* Returns the pixels of picture k from row `row` on in the mapped file; or passes over what is before them, and returns NULL. */
static const char *
seek_row(struct share_work *s, size_t k, size_t row)
{
	const struct wconv_problem *q = &s->j->q;
	const size_t samples = (k * q->h + row) * q->w * q->planes;

	if (s->mapped)
		return s->mapped + samples * img_type_size(q->in);
	raw_skip(s->j->in, samples - s->at);
	s->at = samples;
	return NULL;
}

/* --- pieces of an item ------------------------------------------------------------------------------------------- */

/* Returns the header of pictures k .. k + n - 1 of the whole item; row0 .. row1 - 1 of their rows when n is 1. */
static struct img
head_of(struct share_work *s, const struct img *whole, size_t k, size_t n, size_t row0, size_t row1)
{
	struct share_place place = slices_place(&s->all, s->j->in, whole);
	const int rows = img_row_axis(whole) + 1;
	struct img y;

	img_copy_head(&y, whole);
	if (y.dim > rows + 1)
		share_cut(&y, &place, rows + 1, k, n);
	if (y.dim > rows && row1 - row0 < y.axis[rows].n) {
		share_cut(&y, &place, rows, row0, row1 - row0);
		job_tile(s->j, &y, (ptrdiff_t)row0);
	}
	share_set(&y, &s->j->args->common.share, s->all.hash, &place);
	return y;
}

/* Runs the plan of j over its pictures, whose samples come next, and writes the results as the item y. */
static void
run_piece(struct share_work *s, struct job *j, struct img *y, const char *mapped)
{
	struct wconv_flow flow = {.head = y, .mapped = mapped};

	job_flow(j, &flow);
	wconv_io_run(s->j->io, &flow, s->j->bar);
	s->at += mapped ? 0 : j->pictures * j->q.h * j->q.w * j->q.planes;
	img_free(y);
}

/* Convolves the tile rows t0 .. t1 - 1 of picture k. */
static void
run_rows(struct share_work *s, const struct img *whole, size_t k, size_t t0, size_t t1)
{
	struct job j = *s->j;
	ptrdiff_t x0, lo, from;
	size_t w, h;

	wconv_shape(j.plan, &w, &h, &x0, &lo);
	plan_rows(s, t0, t1);
	wconv_shape(s->plan, &w, &h, &x0, &from);
	struct img y = head_of(s, whole, k, 1, (size_t)(from - lo), (size_t)(from - lo) + h);
	j.plan = s->plan;
	j.q = s->q;
	j.pictures = 1;
	run_piece(s, &j, &y, seek_row(s, k, s->q.y0 - s->j->q.y0));
}

/* Convolves the pictures k .. k + n - 1. */
static void
run_pictures(struct share_work *s, const struct img *whole, size_t k, size_t n)
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
run_item(struct share_work *s, struct img *x, size_t first, size_t end)
{
	const size_t rows = rows_of_tiles(s->j);
	struct img whole;

	job_describe(s->j, x, &whole);
	s->mapped = raw_try_map(s->j->in, x) ? x->data : NULL;
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
		raw_skip(s->j->in, raw_left(s->j->in));
	img_free(&whole);
}

/* --- the share --------------------------------------------------------------------------------------------------- */

static size_t
count_pieces(const struct share_work *s)
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
run_share(struct share_work *s)
{
	struct job *j = s->j;
	struct progress bar;
	size_t from, to;
	struct img x;

	j->bar = &bar;
	for (; raw_next(s->j->in, &x); img_free(&x)) {
		if (slices_over(&s->all, s->j->in)) {
			img_free(&x);
			break;
		}
		job_pose(j, &x);
		if (!j->planned) {
			wconv_free(s->plan);
			s->plan = NULL;
		}
		job_plan(j);
		if (slices_of(&s->all, s->j->in, j->pictures * rows_of_tiles(j), &from, &to)) {
			stats_charge(j->st, STATS_READ);
			progress_start(&bar, j->args->common.quiet);
			run_item(s, &x, from, to);
			progress_end(&bar);
			j->st->items++;
		} else {
			raw_skip(s->j->in, raw_left(s->j->in));
		}
	}
	j->bar = NULL;
}

/* Reads all headers, and finds the share. */
static void
open_share(struct share_work *s)
{
	const struct share_work *const with = s;
	struct img result;

	slices_open(&s->all, &s->j->args->common, fingerprint(s->j->args), s->j->in, count_rows,
		    &with);
	s->all.pieces = count_pieces(s);
	/* a share without slices writes a pixel of the result, not of the input */
	job_describe(s->j, &s->all.empty, &result);
	img_free(&s->all.empty);
	s->all.empty = result;
}

void
share_run(struct job *j)
{
	struct share_work s = {.j = j};

	open_share(&s);
	stats_charge(j->st, STATS_READ);
	run_share(&s);
	slices_close(&s.all, j->out);
	wconv_free(s.plan);
	weir_free(s.rows);
}
