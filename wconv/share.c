#include <stdint.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "wconv/overlap_io.h"
#include "wconv/share.h"

/* The input, as its headers describe it. One unit of work is one row of tiles of one picture. */
struct survey {
	size_t items, units;
	struct {
		size_t before; /* the units of the items before this one */
		size_t rows;   /* of tiles in one of its pictures */
	} * of;		       /* [items + 1]; owned */
};

/* The share, and where it stands in the current item. */
struct share {
	struct job *j;
	struct raw_in *in;
	struct raw_out *out;
	struct wconv_io *io;
	uint64_t hash;
	struct survey all;
	size_t piece, pieces;
	size_t item;	    /* the current item, from 0 */
	const char *mapped; /* its payload; NULL: it is read */
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

static void
note_item(struct survey *s, size_t pictures, size_t rows)
{
	if ((s->items & (s->items + 1)) == 0) { /* grows to the next power of two */
		void *more = weir_xalloc(2 * s->items + 2, sizeof *s->of);

		if (s->items)
			memcpy(more, s->of, (s->items + 1) * sizeof *s->of);
		weir_free(s->of);
		s->of = more;
	}
	s->of[s->items].before = s->units;
	s->of[s->items].rows = rows;
	s->units += pictures * rows;
	s->of[++s->items].before = s->units;
}

/* Reads all headers, and counts the units of each item. */
static struct survey
look_over(struct job *j, struct raw_in *in)
{
	struct survey s = {0};
	struct img x;

	while (raw_next(in, &x)) {
		if (part_is(&x))
			raw_die(in,
				"--part: this is a share itself; rawjoin makes the whole of it");
		job_pose(j, in, &x);
		job_plan(j);
		note_item(&s, j->pictures, rows_of_tiles(j));
		img_free(&x);
		raw_skip(in, raw_left(in));
	}
	raw_rewind(in);
	return s;
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
	char text[WCONV_ERR];

	want_rows(s->j, t0, t1, &q);
	if (s->plan && same_rows(&q, &s->q))
		return;
	wconv_free(s->plan);
	s->q = q;
	if (wconv_plan(&s->plan, &q, text))
		raw_die(s->in, "%s", text);
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
	return (struct part_place){.item = s->item,
				   .items = s->all.items,
				   .piece = s->piece,
				   .pieces = s->pieces,
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
	part_set(&y, &s->j->args->common.part, s->hash, &place);
	s->piece++;
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

/* Returns how many of the units first .. end - 1 the next piece has: whole pictures, or the rest or the beginning of one. */
static size_t
next_piece(size_t first, size_t end, size_t rows)
{
	const size_t t = first % rows, left = end - first;

	if (!t && left >= rows)
		return left / rows * rows;
	return rows - t < left ? rows - t : left;
}

/* Does the units first .. end - 1 of the current item. */
static void
run_item(struct share *s, struct img *x, size_t first, size_t end)
{
	const size_t rows = s->all.of[s->item].rows;
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

/* Finds which of the units first .. end - 1 of all are of item k: *from .. *to - 1 of it. Returns whether there are any. */
static bool
units_of(const struct survey *all, size_t k, size_t first, size_t end, size_t *from, size_t *to)
{
	const size_t lo = all->of[k].before, hi = all->of[k + 1].before;

	*from = first > lo ? first - lo : 0;
	*to = (end < hi ? end : hi) - lo;
	return first < hi && end > lo;
}

static size_t
count_pieces(const struct survey *all, size_t first, size_t end)
{
	size_t n = 0, from, to;

	for (size_t k = 0; k < all->items; k++)
		if (units_of(all, k, first, end, &from, &to))
			for (; from < to; n++)
				from += next_piece(from, to, all->of[k].rows);
	return n;
}

/* Does the units first .. end - 1 of all. */
static void
run_units(struct share *s, size_t first, size_t end)
{
	struct progress bar;
	size_t from, to;
	struct img x;

	s->j->bar = &bar;
	s->pieces = count_pieces(&s->all, first, end);
	for (; s->all.of[s->item].before < end && raw_next(s->in, &x); s->item++) {
		if (units_of(&s->all, s->item, first, end, &from, &to)) {
			stats_charge(s->j->st, STATS_READ);
			job_pose(s->j, s->in, &x);
			job_plan(s->j);
			if (rows_of_tiles(s->j) != s->all.of[s->item].rows)
				raw_die(s->in, "the file has changed since its headers were read");
			progress_start(&bar, s->j->args->common.quiet);
			run_item(s, &x, from, to);
			progress_end(&bar);
			s->j->st->items++;
		} else {
			raw_skip(s->in, raw_left(s->in));
		}
		img_free(&x);
	}
	if (s->piece < s->pieces)
		raw_die(s->in, "the file has changed since its headers were read");
}

static void
put_empty(struct share *s)
{
	struct img x, y;
	double zero[2] = {0};

	raw_next(s->in, &x);
	job_pose(s->j, s->in, &x);
	job_plan(s->j);
	job_describe(s->j, &x, &y);
	part_set_empty(&y, &s->j->args->common.part, s->hash, s->all.items);
	raw_head(s->out, &y);
	for (size_t i = 0; i < s->j->planes; i++)
		raw_write(s->out, zero, 1);
	img_free(&x);
	img_free(&y);
}

void
share_run(struct job *j, struct raw_in *in, struct raw_out *out)
{
	struct share s = {.j = j, .in = in, .out = out};
	size_t first, end;

	s.hash = fingerprint(j->args);
	s.all = look_over(j, in);
	s.io = wconv_io_start(in, out, j->st);
	stats_charge(j->st, STATS_READ);
	part_range(&j->args->common.part, s.all.units, &first, &end);
	if (first < end)
		run_units(&s, first, end);
	else
		put_empty(&s);
	wconv_io_end(s.io);
	wconv_free(s.plan);
	weir_free(s.all.of);
}
