/* The plan and the runs: the tile engine, which engine.h describes; the method heap has its own file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "morphrec/morphrec.h"
#include "morphrec/tile/engine.h"

/* Counts the rows of vectors of a tile: a row more before and after each slice, a slice more before and after the tile. */
static inline size_t
tile_rows(int rows, int slices)
{
	return (size_t)(rows + 2) * (size_t)(slices + 2);
}

#define NOBODY UINT32_MAX /* no tile */

/* ---- floods: pixel by pixel, as along corridors ---- */

enum {
	FLOOD_WAITING = 40, /* pixels in the queue, at most: a corridor needs a few */
	/* Rows ahead that are prefetched: the processor does not foresee the next rows of a corridor. */
	FLOOD_AHEAD = 8,
	/* Pixels that raise their neighbours, at most. Beyond that a visit, of some microseconds, is cheaper. */
	FLOOD_LENGTH = 512,
};

/* Returns the pixel of the array that is x, y, z of the tile. */
static inline size_t
place(const struct tile_job *o, int x, int y, int z)
{
	return ((size_t)(o->sz.at + z) * o->y.n + (size_t)(o->sy.at + y)) * o->x.n +
	       (size_t)(o->sx.at + x);
}

static inline bool
is_in(const struct tile_span *s, int p)
{
	return p >= s->begin && p < s->end;
}

/* Whether p and the places beside it are the tile's own. */
static inline bool
is_within(const struct tile_span *s, int p)
{
	return p > s->first && p + 1 < s->after;
}

#define TEMPLATE "morphrec/tile/flood_body.h"
#include "morphrec/by_type.h"

static tile_flood *const floods[] = BY_TYPE(flood);

/* ---- units ---- */

/* --- the lists: doubly linked, first in, first out, one a level ------------------------------------------------- */

static void
list_remove(struct worker *w, uint32_t t)
{
	struct record *tile = w->e->tile, *r = &tile[t];

	if (r->prev == NOBODY)
		w->head[r->listed] = r->next;
	else
		tile[r->prev].next = r->next;
	if (r->next == NOBODY)
		w->tail[r->listed] = r->prev;
	else
		tile[r->next].prev = r->prev;
	r->listed = 0;
}

/* Puts tile t into the list of its level, and takes it out of a lower list. */
static void
list_add(struct worker *w, uint32_t t)
{
	struct record *tile = w->e->tile, *r = &tile[t];
	const uint8_t l = r->level;

	if (r->listed >= l)
		return;
	if (r->listed)
		list_remove(w, t);
	r->listed = l;
	r->next = NOBODY;
	r->prev = w->tail[l];
	if (r->prev == NOBODY)
		w->head[l] = t;
	else
		tile[r->prev].next = t;
	w->tail[l] = t;
	w->top = l > w->top ? l : w->top;
}

/* Takes a tile of the highest level out of its list. NOBODY when all lists are empty. */
static uint32_t
list_take(struct worker *w)
{
	while (w->top > 0 && w->head[w->top] == NOBODY)
		w->top--;
	if (!w->top)
		return NOBODY;
	const uint32_t t = w->head[w->top];
	list_remove(w, t);
	return t;
}

/* --- tiles ------------------------------------------------------------------------------------------------------ */

/* Notes that pixel x of row y, slice z of tile t was raised from outside, all in its coordinates. x is -1 for several pixels of the row. */
static void
note(const struct engine *e, size_t t, int z, int y, int x, uint8_t level)
{
	struct record *r = &e->tile[t];

	e->rose[t * e->depth + (size_t)z] |= UINT64_C(1) << y;
	if (x >= 0 && r->n < TILE_FEW)
		r->px[r->n++] = (uint32_t)((z * TILE_ROWS + y) * e->kernel->width + x);
	else
		r->n = TILE_FEW + 1;
	r->level = level > r->level ? level : r->level;
}

/* Notes that pixel `at` of J was raised from outside. No unit may run. */
static void
note_risen(struct engine *e, size_t at)
{
	const size_t row = at / e->what.w, x = at % e->what.w, y = row % e->what.h,
		     z = row / e->what.h, tx = x / e->x.own, ty = y / e->y.own, tz = z / e->z.own;
	const struct worker *w = e->worker;
	const uint8_t level = tile_level(&w->job, key_get(e->size, e->J, at, w->job.map));

	note(e, (tz * e->y.tiles + ty) * e->x.tiles + tx, (int)(z - tz * e->z.own + e->z.rim),
	     (int)(y - ty * e->y.own + e->y.rim), (int)(x - tx * e->x.own + e->x.rim), level);
	for (struct unit *u = e->unit; u < e->unit + e->units; u++)
		if (ty >= u->y && ty < u->y_end && tz >= u->z && tz < u->z_end)
			u->raised[0] = level > u->raised[0] ? level : u->raised[0];
}

/* Notes that a pixel of a neighbour rose: struct tile_job. */
static void
tell(void *with, int k, int z, int y, int x, uint8_t level)
{
	struct worker *w = with;
	const struct engine *e = w->e;
	const struct unit *u = w->unit;
	const size_t tx = w->tx + (size_t)(k % 3 - 1), ty = w->ty + (size_t)(k / 3 % 3 - 1),
		     tz = w->tz + (size_t)(k / 9 - 1), t = (tz * e->y.tiles + ty) * e->x.tiles + tx;

	note(e, t, z, y, x, level);
	if (ty < u->y || tz < u->z) {
		uint8_t *o = &w->unit[-1].raised[1];
		*o = level > *o ? level : *o;
	} else if (ty >= u->y_end || tz >= u->z_end) {
		uint8_t *o = &w->unit[1].raised[0];
		*o = level > *o ? level : *o;
	} else if (!w->beginning) {
		list_add(w, (uint32_t)t);
	}
}

static struct tile_span
span(const struct tile_axis *a, size_t i)
{
	const ptrdiff_t at = (ptrdiff_t)(i * a->own) - (ptrdiff_t)a->rim,
			left = (ptrdiff_t)a->n - at;
	const int own = (int)a->own, rim = (int)a->rim, begin = at < 0,
		  end = left < own + 2 * rim ? (int)left : own + 2 * rim;

	return (struct tile_span){at, begin, end, rim, end < own + rim ? end : own + rim};
}

/* Spreads what was raised in tile t from outside, by a flood or a visit. first: visits it for the first time. */
static void
serve(struct worker *w, size_t t, bool first)
{
	const struct engine *e = w->e;
	struct tile_job *job = &w->job;
	struct record *r = &e->tile[t];
	uint64_t *raised = e->rose + t * e->depth, rose[TILE_DEPTH];
	const int n = r->n;

	w->tx = t % e->x.tiles;
	w->ty = t / e->x.tiles % e->y.tiles;
	w->tz = t / e->x.tiles / e->y.tiles;
	job->sx = span(&e->x, w->tx);
	job->sy = span(&e->y, w->ty);
	job->sz = span(&e->z, w->tz);
	memcpy(rose, raised, e->depth * sizeof *rose);
	memset(raised, 0, e->depth * sizeof *rose);
	r->level = r->n = 0;
	if (!first && n <= TILE_FEW) {
		w->figures.floods++;
		memset(rose, 0, e->depth * sizeof *rose);
		if (e->flood(job, e->kernel->width, r->px, n, rose))
			return;
	}
	w->figures.visits++;
	e->kernel->visit(job, first ? NULL : rose);
}

/* Adds `more` tiles to those that were visited, and reports the share. Only the first thread reports. */
static void
report(struct worker *w, size_t more)
{
	const struct engine *e = w->e;
	size_t begun;

#pragma omp atomic capture
	begun = *w->begun += more;
	if (e->what.step && omp_get_thread_num() == 0)
		e->what.step(e->what.step_with,
			     (double)begun / (double)(e->x.tiles * e->y.tiles * e->z.tiles));
}

/* --- first visits ----------------------------------------------------------------------------------------------- */

/* Visits tile t for the first time; early: before its neighbours. */
static void
open_tile(struct worker *w, size_t t, bool early)
{
	struct record *r = &w->e->tile[t];

	r->begun = true;
	r->early = early;
	serve(w, t, true);
}

static void
begin_volume(struct worker *w)
{
	const struct engine *e = w->e;
	const struct unit *u = w->unit;

	for (size_t z = u->z; z < u->z_end; z++)
		for (size_t y = u->y; y < u->y_end; y++) {
			for (size_t x = 0; x < e->x.tiles; x++)
				open_tile(w, (z * e->y.tiles + y) * e->x.tiles + x, false);
			report(w, e->x.tiles);
		}
}

/* Reads n pixels into the second-level cache, in the order in which the processor prefetches best. */
static void
stream(const struct engine *e, size_t at, size_t n)
{
	enum { LINE = 64 };
	const volatile char *J = (const char *)e->J + at * e->size,
			    *I = (const char *)e->I + at * e->size;

	for (size_t i = 0; i < n * e->size; i += LINE) {
		(void)J[i];
		(void)I[i];
	}
}

/*
 * Brings the pixels of tiles [left, right) of tile row ty, with their rims, into the second-level cache before they are
 * visited. If J is not clipped yet, clips them. Each pixel is clipped once: of two units that touch, the one that begins first
 * also clips the other's row that touches it.
 */
static void
fetch(struct worker *w, size_t z, size_t ty, size_t left, size_t right)
{
	const struct engine *e = w->e;
	const struct unit *u = w->unit;
	const size_t place = (size_t)(u - e->unit) % e->per, own = e->y.own, h = e->what.h,
		     x = left * e->x.own + (left > 0),
		     x_end = right < e->x.tiles ? right * e->x.own + 1 : e->what.w;
	size_t y = ty * own + 1, end = (ty + 1) * own + 1;

	if (ty == u->y)
		y = !place ? 0 : u[-1].begun ? y : y - 2;
	if (ty + 1 == u->y_end && place + 1 < e->per && u[1].begun)
		end -= 2;
	for (end = end < h ? end : h; y < end; y++) {
		const size_t at = (z * h + y) * e->what.w + x;
		if (e->unclipped)
			clip_some(&e->what, e->J, e->I, at, x_end - x, &w->clip);
		else
			stream(e, at, x_end - x);
	}
}

/* Whether the marker in tile tx, ty of slice z has something to give: the middle of its middle row is not flat. */
static bool
is_rich(const struct worker *w, size_t z, size_t tx, size_t ty)
{
	const struct engine *e = w->e;
	const size_t x = tx * e->x.own, y = ty * e->y.own + e->y.own / 2,
		     n = e->what.w - x < e->x.own ? e->what.w - x : e->x.own;
	const char *J = e->J;

	if (y >= e->what.h)
		return false;
	J += ((z * e->what.h + y) * e->what.w + x + n / 4) * e->size;
	return memcmp(J, J + e->size, n / 2 * e->size) != 0;
}

/* Makes the first visits of tile columns [left, right) of slice z, in the order that engine.h describes. */
static void
begin_columns(struct worker *w, size_t z, size_t left, size_t right)
{
	const struct engine *e = w->e;
	const struct unit *u = w->unit;
	const size_t slice = z * e->y.tiles;

	for (size_t ty = u->y; ty < u->y_end + 2; ty++) {
		const size_t row = (slice + ty) * e->x.tiles;
		if (ty < u->y_end)
			fetch(w, z, ty, left, right);
		for (size_t tx = left + (ty + left) % 2; ty < u->y_end && tx < right; tx += 2)
			if (is_rich(w, z, tx, ty))
				open_tile(w, row + tx, true);
		for (size_t tx = left; ty > u->y && ty <= u->y_end && tx < right; tx++)
			if (!e->tile[row - e->x.tiles + tx].begun)
				open_tile(w, row - e->x.tiles + tx, false);
		for (size_t tx = left; ty > u->y + 1 && tx < right; tx++) {
			const struct record *r = &e->tile[row - 2 * e->x.tiles + tx];
			if (r->early && r->level)
				serve(w, row - 2 * e->x.tiles + tx, false);
		}
		if (ty < u->y_end)
			report(w, right - left);
	}
}

/* Makes the first visits of slice z: as many columns at a time as the second-level cache holds for three rows of tiles. */
static void
begin_slice(struct worker *w, size_t z)
{
	enum {
		STREAK = 4352
	}; /* bytes of a row: three rows of tiles of J and I are 1.6 megabytes */
	const size_t tiles = w->e->x.tiles, n = w->e->what.w * w->e->size / STREAK + 1,
		     pieces = n < tiles ? n : tiles;

	for (size_t i = 0; i < pieces; i++)
		begin_columns(w, z, tiles * i / pieces, tiles * (i + 1) / pieces);
}

/* --- a unit ----------------------------------------------------------------------------------------------------- */

/* Returns memory to the system: the rows of u, the rows beside it, and what the system maps around a page that it loads. */
static void
let_go(const struct engine *e, const struct unit *u)
{
	enum { AROUND = 1 << 16 };
	const bool slab = u->z_end - u->z > 1 || e->z.rim;
	const size_t row = e->what.w * e->size, more = 1 + AROUND / row,
		     all = e->what.h * e->what.d, z = u->z * e->z.own,
		     z_end = u->z_end * e->z.own < e->what.d ? u->z_end * e->z.own : e->what.d,
		     y = slab ? 0 : u->y * e->y.own,
		     y_end =
			 slab || u->y_end * e->y.own > e->what.h ? e->what.h : u->y_end * e->y.own,
		     first = z * e->what.h + y, end = (z_end - 1) * e->what.h + y_end,
		     from = first > more ? first - more : 0,
		     to = end + more < all ? end + more : all;

	e->what.done(e->what.done_with, from * row, (to - from) * row);
}

/* Sets up a worker, whose lists are empty. */
static void
worker_start(struct worker *w, const struct engine *e, const struct tile_job *job)
{
	*w = (struct worker){.job = *job, .e = e, .clip = clip_nothing()};
	w->job.tell = tell;
	w->job.with = w;
	for (int l = 0; l < TILE_LEVELS; l++)
		w->head[l] = w->tail[l] = NOBODY;
}

/* Brings u to its fixpoint, given what its neighbours raised in it, and notes what it raises in them. */
static void
unit_run(struct worker *w, struct unit *u)
{
	const struct engine *e = w->e;

	w->unit = u;
	u->raised[0] = u->raised[1] = 0;
	w->beginning = true;
	if (!u->begun && morphrec_is_volume(e->what.conn))
		begin_volume(w);
	for (size_t z = u->z; !u->begun && !morphrec_is_volume(e->what.conn) && z < u->z_end; z++)
		begin_slice(w, z);
	w->beginning = false;
	u->begun = true;
	for (size_t z = u->z; z < u->z_end; z++)
		for (size_t t = (z * e->y.tiles + u->y) * e->x.tiles;
		     t < (z * e->y.tiles + u->y_end) * e->x.tiles; t++)
			if (e->tile[t].level)
				list_add(w, (uint32_t)t);
	for (uint32_t t; (t = list_take(w)) != NOBODY;)
		serve(w, t, false);
	if (e->what.done)
		let_go(e, u);
}

/* ---- engine ---- */

#define KERNELS_OF(level)                                                                 \
	extern const struct tile_kernel tile_8_##level, tile_16_##level, tile_32_##level, \
	    tile_64_##level
#define KERNELS(level)                                                                \
	{                                                                             \
		&tile_8_##level, &tile_16_##level, &tile_32_##level, &tile_64_##level \
	}

KERNELS_OF(generic);
KERNELS_OF(avx2);
KERNELS_OF(avx512);
const struct tile_kernel *const tile_kernels[3][4] = {KERNELS(generic), KERNELS(avx2),
						      KERNELS(avx512)};

/* --- a run ------------------------------------------------------------------------------------------------------ */

/* Whether a unit that touches u, or u itself, is running. */
static bool
is_busy(const struct engine *e, const struct unit *u)
{
	const size_t place = (size_t)(u - e->unit) % e->per;

	return u->running || (place && u[-1].running) || (place + 1 < e->per && u[1].running);
}

/* Returns the highest level to which others raised pixels of u. */
static int
level_of(const struct unit *u)
{
	return u->raised[0] > u->raised[1] ? u->raised[0] : u->raised[1];
}

/*
 * Returns the unit to run next, among those that touch no running one: one that has not begun, or else the one that was raised to the
 * highest level. Units at even places begin first, since they do not touch each other. NULL when there is none. A unit beside a
 * running one is not looked at, since it may change.
 */
static struct unit *
choose(struct engine *e)
{
	struct unit *const end = e->unit + e->units, *best = NULL;

	while (e->first < end && !is_busy(e, e->first) && e->first->begun)
		e->first++;
	for (size_t odd = 0; odd < 2; odd++)
		for (struct unit *u = e->first; u < end; u++)
			if ((size_t)(u - e->unit) % e->per % 2 == odd && !is_busy(e, u) &&
			    !u->begun)
				return u;
	for (struct unit *u = e->unit; u < end; u++)
		if (!is_busy(e, u) && level_of(u) > (best ? level_of(best) : 0))
			best = u;
	return best;
}

/* Whether units of a volume are slabs along z: with limited memory, and when it has no fewer tiles along z than along y. */
static bool
cut_along_z(const struct engine *e)
{
	return e->z.rim && (e->what.max_mem || e->what.done || e->z.tiles >= e->y.tiles);
}

static void
reset(struct engine *e, const struct tile_job *job)
{
	const size_t n = e->x.tiles * e->y.tiles * e->z.tiles;
	const bool along_z = cut_along_z(e);

	memset(e->tile, 0, n * sizeof *e->tile);
	memset(e->rose, 0, n * e->depth * sizeof *e->rose);
	for (size_t i = 0; i < e->units; i++) {
		const size_t b = i % e->per, z = i / e->per * e->slices,
			     tiles = along_z ? e->z.tiles : e->y.tiles, from = tiles * b / e->per,
			     to = tiles * (b + 1) / e->per, left = e->z.tiles - z;
		e->unit[i] = (struct unit){
		    .y = along_z ? 0 : from,
		    .y_end = along_z ? e->y.tiles : to,
		    .z = along_z ? from : z,
		    .z_end = along_z ? to : z + (left < e->slices ? left : e->slices)};
	}
	e->begun = 0;
	for (int i = 0; i < e->what.threads; i++) {
		worker_start(&e->worker[i], e, job);
		e->worker[i].job.rows = (char *)e->rows + (size_t)i * e->room;
		e->worker[i].begun = &e->begun;
	}
}

/* Makes the engine ready for a run on J and I: every unit and tile is due for the first time. */
static void
prepare(struct engine *e, const struct morphrec_clip *clip, void *J, const void *I)
{
	struct tile_job job = {.J = J,
			       .I = I,
			       .x = e->x,
			       .y = e->y,
			       .z = e->z,
			       .conn = e->what.conn,
			       .map = morphrec_keys(&e->what),
			       .lo = clip->lo};

	/* The range of keys of J0 is mapped to levels 1..255. */
	while ((clip->hi - clip->lo) >> job.shift >= TILE_LEVELS - 1)
		job.shift++;
	job.nears = neighbours_list(job.conn, job.x.n, job.y.n, job.near);
	e->J = J;
	e->I = I;
	reset(e, &job);
}

/*
 * Takes unit after unit, until none has anything to do and none is running. A worker that finds none waits until another
 * worker's unit has ended.
 */
static void
work(struct engine *e, struct worker *w)
{
	pthread_mutex_lock(&e->lock);
	for (;;) {
		struct unit *u = choose(e);
		if (!u && !e->running)
			break;
		if (!u) {
			pthread_cond_wait(&e->ended, &e->lock);
			continue;
		}
		u->running = true;
		e->running++;
		pthread_mutex_unlock(&e->lock);
		unit_run(w, u);
		pthread_mutex_lock(&e->lock);
		u->running = false;
		e->running--;
		pthread_cond_broadcast(&e->ended);
	}
	pthread_mutex_unlock(&e->lock);
}

/* Runs the units that have something to do, until none has. */
static void
run_units(struct engine *e, struct morphrec_figures *figures)
{
	e->first = e->unit;
	if (e->units < 2 || e->what.threads < 2) {
		work(e, e->worker);
	} else {
#pragma omp parallel num_threads(e->what.threads)
		work(e, &e->worker[omp_get_thread_num()]);
	}
	figures->tiles += e->x.tiles * e->y.tiles * e->z.tiles;
	for (int i = 0; i < e->what.threads; i++) {
		figures->visits += e->worker[i].figures.visits;
		figures->floods += e->worker[i].figures.floods;
	}
}

/*
 * Estimates the range of keys of J0, since levels need not be exact, from 1024 samples, or one of 64 in small arrays. The
 * system may map megabytes around each sample, so these pages are returned at once: otherwise 51200 x 51200 bytes with
 * --max-mem=100M peak at 4 GB instead of 119 MB.
 */
static struct morphrec_clip
sample(const struct engine *e, const char *J, const char *I)
{
	enum { SAMPLES = 1024, LEAST = 64, AROUND = 1 << 22 };
	const size_t size = e->size, total = e->what.w * e->what.h * e->what.d,
		     step = total / SAMPLES + 1 > LEAST ? total / SAMPLES + 1 : LEAST;
	_Alignas(8) char j[SAMPLES * 8], i[SAMPLES * 8];
	struct morphrec_problem few = e->what;
	size_t n = 0;

	for (size_t at = 0; at < total; at += step, n++) {
		/* This shift keeps the samples out of a single column when step is a multiple of the width. */
		const size_t x = (at + n * 7919 % step) % total,
			     from = x * size > AROUND ? x * size - AROUND : 0,
			     end = x * size + AROUND < total * size ? x * size + AROUND
								    : total * size;
		memcpy(j + n * size, J + x * size, size);
		memcpy(i + n * size, I + x * size, size);
		if (e->what.done)
			e->what.done(e->what.done_with, from, end - from);
	}
	few.w = n;
	few.h = few.d = 1;
	few.done = NULL;
	return clip_all(&few, j, i);
}

void
morphrec_clip(struct morphrec_plan *p, void *J, const void *I)
{
	p->clip = clip_all(&p->what, J, I);
}

int
morphrec_run(struct morphrec_plan *p, void *J, const void *I)
{
	if (p->heaps)
		return heaps_run(p->heaps, &p->what, &p->figures, J, I);
	prepare(p->engine, &p->clip, J, I);
	run_units(p->engine, &p->figures);
	return 0;
}

int
morphrec_clip_and_run(struct morphrec_plan *p, void *J, const void *I)
{
	struct engine *e = p->engine;

	if (!e || morphrec_is_volume(e->what.conn)) {
		morphrec_clip(p, J, I);
		return morphrec_run(p, J, I);
	}
	p->clip = sample(e, J, I);
	e->unclipped = true;
	morphrec_run(p, J, I);
	e->unclipped = false;
	p->clip = e->worker[0].clip;
	for (int i = 1; i < e->what.threads; i++)
		clip_join(&p->clip, &e->worker[i].clip);
	return 0;
}

void
morphrec_resume(struct morphrec_plan *p, void *J, const void *I, const size_t *risen, size_t n)
{
	struct engine *e = p->engine;

	prepare(e, &p->clip, J, I);
	for (size_t i = 0; i < e->units; i++)
		e->unit[i].begun = true;
	for (size_t i = 0; i < n; i++)
		note_risen(e, risen[i]);
	run_units(e, &p->figures);
}

/* --- the plan --------------------------------------------------------------------------------------------------- */

/* Cuts n pixels into tiles of `all` pixels with the rim. even: tiles are of nearly the same size. A single tile has no rim. */
static struct tile_axis
cut(size_t n, size_t all, bool even)
{
	const size_t own = all - 2, tiles = (n + own - 1) / own;

	if (n <= all)
		return (struct tile_axis){n, n, 1, 0};
	return (struct tile_axis){n, even ? (n + tiles - 1) / tiles : own, tiles, 1};
}

/*
 * Returns the number of units in a row that touch. With one thread it is one unit. Several threads have three units each
 * over all slices, of at least two tiles; more of them would raise pixels more often. With max_mem, units are small enough
 * that those which run and the records of all tiles fit.
 */
static size_t
count_units(const struct engine *e)
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
		n = (3 * threads + slices - 1) / slices;
	if (a->max_mem) {
		const size_t left = a->max_mem > records ? a->max_mem - records : 0,
			     fit = left / row > 2 ? left / row : 2;
		n = tiles / fit + 1 > n ? tiles / fit + 1 : n;
	}
	n = n < tiles / 2 ? n : tiles / 2;
	return n ? n : 1;
}

/* Returns how many slices of an image a unit holds: as many as fit 64 KiB, since a thread needs a microsecond to take a unit. */
static size_t
count_slices(const struct engine *e)
{
	enum { SMALL = 1 << 16 };
	const size_t slice = e->what.w * e->what.h * e->size;

	return e->per == 1 && slice < SMALL ? SMALL / slice : 1;
}

/*
 * Cuts the longer of the axes y and z of a volume into more tiles, where neither has four for each thread. Then two units a
 * thread of two tiles each can alternate. Three units would leave one of two threads idle half of the time, and two units
 * touch, so that one thread would do all.
 */
static void
cut_finer(struct engine *e)
{
	enum { LEAST = 8 };
	struct tile_axis *a = e->what.h > e->what.d ? &e->y : &e->z;
	const size_t want = 4 * (size_t)e->what.threads, own = (a->n + want - 1) / want;

	if (e->what.threads > 1 && e->y.tiles < want && e->z.tiles < want && LEAST < a->own)
		*a = cut(a->n, (own > LEAST ? own : LEAST) + 2, true);
}

/*
 * Computes the shapes of tiles and units. Tiles of a volume have at most 34 rows with the rim: with 18 there are twice as many
 * rims to load, and runs take 1.07 to 1.23 times as long; with 62 two threads have too few tiles to share out.
 */
static void
lay_out(struct engine *e)
{
	const struct morphrec_problem *a = &e->what;
	const bool volume = morphrec_is_volume(a->conn);

	e->size = img_type_size(a->type);
	e->x = cut(a->w, (size_t)e->kernel->width, false);
	e->y = cut(a->h, volume ? 34 : TILE_ROWS, true);
	e->z = volume ? cut(a->d, TILE_DEPTH, true) : (struct tile_axis){a->d, 1, a->d, 0};
	if (volume)
		cut_finer(e);
	e->depth = e->z.own + 2 * e->z.rim;
	e->flood = floods[__builtin_ctzll(e->size)];
	e->per = count_units(e);
	e->slices = volume ? e->z.tiles : count_slices(e);
	e->units = e->per * ((e->z.tiles + e->slices - 1) / e->slices);
	e->room = 2 * tile_rows((int)(e->y.own + 2 * e->y.rim), (int)e->depth) *
		  (size_t)e->kernel->width * e->size;
}

static void
engine_free(struct engine *e)
{
	if (!e)
		return;
	pthread_mutex_destroy(&e->lock);
	pthread_cond_destroy(&e->ended);
	weir_free_all(e->tile, e->rose, e->unit, e->worker, e->rows, e);
}

static struct engine *
engine_new(const struct morphrec_problem *what)
{
	struct engine *e = weir_calloc(1, sizeof *e);
	const size_t threads = (size_t)morphrec_threads(what, 1);
	const struct tile_kernel *const *kernels =
	    what->kernels ? what->kernels : tile_kernels[weir_cpu];
	size_t n, words;

	if (!e)
		return NULL;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->ended, NULL);
	e->what = *what;
	e->what.threads = (int)threads;
	e->kernel = kernels[__builtin_ctzll(img_type_size(what->type))];
	lay_out(e);
	if (weir_mul(e->x.tiles, e->y.tiles, &n) && weir_mul(n, e->z.tiles, &n) && n < NOBODY &&
	    weir_mul(n, e->depth, &words)) {
		e->tile = weir_alloc(n, sizeof *e->tile);
		e->rose = weir_alloc(words, sizeof *e->rose);
		e->unit = weir_alloc(e->units, sizeof *e->unit);
		e->worker = weir_alloc(threads, sizeof *e->worker);
		e->rows = weir_calloc(threads, e->room);
	}
	if (!e->tile || !e->rose || !e->unit || !e->worker || !e->rows) {
		engine_free(e);
		return NULL;
	}
	return e;
}

int
morphrec_plan(struct morphrec_plan *p, const struct morphrec_problem *what)
{
	*p = (struct morphrec_plan){.what = *what};
	if (what->method == MORPHREC_TILE)
		p->engine = engine_new(what);
	else
		p->heaps = heaps_new(what);
	return p->engine || p->heaps ? 0 : -ENOMEM;
}

void
morphrec_explain(const struct morphrec_plan *p, char *text, size_t size)
{
	const struct engine *e = p->engine;

	if (!e) {
		snprintf(text, size, "16 bytes a pixel for keys, and heaps");
		return;
	}
	const size_t n = e->x.tiles * e->y.tiles * e->z.tiles,
		     log = (size_t)__builtin_ctzll(e->size);

	snprintf(
	    text, size,
	    "%zu tiles of %zux%zux%zu in %zu units, %.1f MB of records, %d threads, %s kernels", n,
	    e->x.own, e->y.own, e->z.own, e->units,
	    1e-6 * (double)(n * (sizeof *e->tile + e->depth * sizeof *e->rose)), e->what.threads,
	    e->kernel == tile_kernels[CPU_AVX512][log] ? "AVX-512"
	    : e->kernel == tile_kernels[CPU_AVX2][log] ? "AVX2"
						       : "plain");
}

void
morphrec_free(struct morphrec_plan *p)
{
	engine_free(p->engine);
	heaps_free(p->heaps);
	memset(p, 0, sizeof *p);
}
