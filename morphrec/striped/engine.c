#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "common/par.h"
#include "morphrec/striped/engine.h"
#include "morphrec/striped/unit.h"

const struct striped_kernel *
striped_kernels(void)
{
	if (weir_cpu == CPU_AVX512)
		return striped_avx512;
	return weir_cpu == CPU_AVX2 ? striped_avx2 : striped_generic;
}

/* --- a run ------------------------------------------------------------------------------------------------------ */

static int
by_debt(const void *a, const void *b)
{
	const struct unit *u = *(struct unit *const *)a, *v = *(struct unit *const *)b;
	const int x = u->owed[0] > u->owed[1] ? u->owed[0] : u->owed[1],
		  y = v->owed[0] > v->owed[1] ? v->owed[0] : v->owed[1];

	return x != y ? (x < y) - (x > y) : (u > v) - (u < v);
}

/* The units of one parity that have something to do, the one owed most first. */
static size_t
collect(const struct striped *e, size_t parity)
{
	size_t n = 0;

	for (size_t i = 0; i < e->units; i++) {
		struct unit *u = &e->unit[i];
		if (i % e->per % 2 == parity && (!u->begun || u->owed[0] || u->owed[1]))
			e->due[n++] = u;
	}
	qsort(e->due, n, sizeof *e->due, by_debt);
	return n;
}

/* Whether units are cut along z: bands of memory are, and volumes that are deeper than high. */
static bool
cut_along_z(const struct striped *e)
{
	return e->z.rim && (e->what.max_mem || e->what.done || e->z.tiles >= e->y.tiles);
}

static void
reset(struct striped *e, const struct striped_job *job)
{
	const size_t n = e->x.tiles * e->y.tiles * e->z.tiles,
		     slices = morphrec_is_volume(e->what.conn) ? 1 : e->what.d;
	const bool along_z = cut_along_z(e);

	memset(e->tile, 0, n * sizeof *e->tile);
	memset(e->rose, 0, n * e->depth * sizeof *e->rose);
	for (size_t i = 0; i < e->units; i++) {
		const size_t b = i % e->per, s = i / e->per,
			     cut = along_z ? e->z.tiles : e->y.tiles, from = cut * b / e->per,
			     to = cut * (b + 1) / e->per;
		e->unit[i] = (struct unit){.y = along_z ? 0 : from,
					   .y_end = along_z ? e->y.tiles : to,
					   .z = along_z ? from : s,
					   .z_end = along_z	 ? to
						    : slices > 1 ? s + 1
								 : e->z.tiles};
	}
	e->begun = 0;
	for (int i = 0; i < e->what.threads; i++) {
		worker_start(&e->worker[i], e, job);
		e->worker[i].job.rows = (char *)e->rows + (size_t)i * e->room;
		e->worker[i].begun = &e->begun;
	}
}

void
striped_run(struct striped *e, const struct morphrec_clip *clip, struct morphrec_figures *figures,
	    void *J, const void *I)
{
	struct striped_job job = {.J = J,
				  .I = I,
				  .x = e->x,
				  .y = e->y,
				  .z = e->z,
				  .conn = e->what.conn,
				  .map = morphrec_keys(&e->what),
				  .lo = clip->lo};

	/* Levels: the range of keys of J0 on 1..255. */
	while ((clip->hi - clip->lo) >> job.shift >= STRIPED_LEVELS - 1)
		job.shift++;
	reset(e, &job);
	for (size_t idle = 0, parity = 0; idle < 2; parity ^= 1) {
		const size_t n = collect(e, parity);
		idle = n ? 0 : idle + 1;
		figures->phases += n > 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(e->what.threads) if (n > 1)
		for (size_t i = 0; i < n; i++)
			unit_settle(&e->worker[omp_get_thread_num()], e->due[i]);
	}
	figures->tiles += e->x.tiles * e->y.tiles * e->z.tiles;
	for (int i = 0; i < e->what.threads; i++) {
		figures->visits += e->worker[i].figures.visits;
		figures->floods += e->worker[i].figures.floods;
	}
}

/* --- the plan --------------------------------------------------------------------------------------------------- */

/* n pixels in tiles of `all` with the rim, as even as they can be where even; one tile has no rim. */
static struct striped_axis
cut(size_t n, size_t all, bool even)
{
	const size_t own = all - 2, tiles = (n + own - 1) / own;

	if (n <= all)
		return (struct striped_axis){n, n, 1, 0};
	return (struct striped_axis){n, even ? (n + tiles - 1) / tiles : own, tiles, 1};
}

/*
 * Units that touch each other: one for one thread; else four for each, of two tiles at least; smaller ones so that they and
 * the records of all tiles fit max_mem.
 */
static size_t
count_units(const struct striped *e)
{
	const struct morphrec_problem *a = &e->what;
	const size_t slices = morphrec_is_volume(a->conn) ? 1 : a->d, threads = (size_t)a->threads,
		     records = e->x.tiles * e->y.tiles * e->z.tiles *
			       (sizeof *e->tile + e->depth * sizeof *e->rose);
	const bool along_z = cut_along_z(e);
	const size_t tiles = along_z ? e->z.tiles : e->y.tiles,
		     row = 2 * a->w * e->size * threads * (along_z ? a->h * e->z.own : e->y.own);
	size_t n = 1;

	if (threads > 1)
		n = (4 * threads + slices - 1) / slices;
	if (a->max_mem) {
		const size_t left = a->max_mem > records ? a->max_mem - records : 0,
			     fit = left / row > 2 ? left / row : 2;
		n = tiles / fit + 1 > n ? tiles / fit + 1 : n;
	}
	n = n < tiles / 2 ? n : tiles / 2;
	return n ? n : 1;
}

void
striped_explain(const struct striped *e, char *text, size_t size)
{
	const size_t n = e->x.tiles * e->y.tiles * e->z.tiles,
		     log = (size_t)__builtin_ctzll(e->size);

	snprintf(
	    text, size,
	    "%zu tiles of %zux%zux%zu in %zu units, %.1f MB of records, %d threads, %s kernels", n,
	    e->x.own, e->y.own, e->z.own, e->units,
	    1e-6 * (double)(n * (sizeof *e->tile + e->depth * sizeof *e->rose)), e->what.threads,
	    e->kernel == &striped_avx512[log] ? "AVX-512"
	    : e->kernel == &striped_avx2[log] ? "AVX2"
					      : "plain");
}

/* Shapes of tiles and units. */
static void
lay_out(struct striped *e)
{
	const struct morphrec_problem *a = &e->what;
	const bool volume = morphrec_is_volume(a->conn);
	const size_t depth = 18;

	e->size = img_type_size(a->type);
	e->x = cut(a->w, (size_t)e->kernel->width, false);
	e->y = cut(a->h, volume ? depth : STRIPED_ROWS, true);
	e->z = volume ? cut(a->d, depth, true) : (struct striped_axis){a->d, 1, a->d, 0};
	e->depth = e->z.own + 2 * e->z.rim;
	e->flood = striped_floods[__builtin_ctzll(e->size)];
	e->per = count_units(e);
	e->units = e->per * (volume ? 1 : a->d);
	e->room = 2 * striped_rows((int)(e->y.own + 2 * e->y.rim), (int)e->depth) *
		  (size_t)e->kernel->width * e->size;
}

struct striped *
striped_new_on(const struct morphrec_problem *what, const struct striped_kernel *kernels)
{
	struct striped *e = weir_calloc(1, sizeof *e);
	const size_t threads = (size_t)what->threads;
	size_t n, words;

	if (!e)
		return NULL;
	e->what = *what;
	e->kernel = &kernels[__builtin_ctzll(img_type_size(what->type))];
	lay_out(e);
	if (weir_mul(e->x.tiles, e->y.tiles, &n) && weir_mul(n, e->z.tiles, &n) && n < NOBODY &&
	    weir_mul(n, e->depth, &words)) {
		e->tile = weir_alloc(n, sizeof *e->tile);
		e->rose = weir_alloc(words, sizeof *e->rose);
		e->unit = weir_alloc(e->units, sizeof *e->unit);
		e->due = weir_alloc(e->units, sizeof(struct unit *));
		e->worker = weir_alloc(threads, sizeof *e->worker);
		e->rows = weir_calloc(threads, e->room);
	}
	if (!e->tile || !e->rose || !e->unit || !e->due || !e->worker || !e->rows) {
		striped_free(e);
		return NULL;
	}
	return e;
}

struct striped *
striped_new(const struct morphrec_problem *what)
{
	return striped_new_on(what, striped_kernels());
}

void
striped_free(struct striped *e)
{
	if (!e)
		return;
	weir_free(e->tile);
	weir_free(e->rose);
	weir_free(e->unit);
	weir_free(e->due);
	weir_free(e->worker);
	weir_free(e->rows);
	weir_free(e);
}
