/* A unit of the tile engine: chooses the next tile, and keeps what each is owed. */
#include <string.h>

#include "common/base/par.h"
#include "morphrec/tile/unit.h"

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

/* Puts tile t into the list of the level that it is owed, and takes it out of a lower list. */
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

/* Takes the tile that is owed the highest level out of its list. NOBODY when none is owed anything. */
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

/* Notes that tile t is owed pixel x of row y, slice z, all in its coordinates. x is -1 for several pixels of the row. */
static void
charge(const struct engine *e, size_t t, int z, int y, int x, uint8_t level)
{
	struct record *r = &e->tile[t];

	e->rose[t * e->depth + (size_t)z] |= UINT64_C(1) << y;
	if (x >= 0 && r->n < TILE_FEW)
		r->px[r->n++] = (uint32_t)((z * TILE_ROWS + y) * e->kernel->width + x);
	else
		r->n = TILE_FEW + 1;
	r->level = level > r->level ? level : r->level;
}

void
engine_owe(struct engine *e, size_t at)
{
	const size_t row = at / e->what.w, x = at % e->what.w, y = row % e->what.h,
		     z = row / e->what.h, tx = x / e->x.own, ty = y / e->y.own, tz = z / e->z.own;
	const struct worker *w = e->worker;
	const uint8_t level = tile_level(&w->job, key_get(e->size, e->J, at, w->job.map));

	charge(e, (tz * e->y.tiles + ty) * e->x.tiles + tx, (int)(z - tz * e->z.own + e->z.rim),
	       (int)(y - ty * e->y.own + e->y.rim), (int)(x - tx * e->x.own + e->x.rim), level);
	for (struct unit *u = e->unit; u < e->unit + e->units; u++)
		if (ty >= u->y && ty < u->y_end && tz >= u->z && tz < u->z_end)
			u->owed[0] = level > u->owed[0] ? level : u->owed[0];
}

/* Notes that a pixel of a neighbour rose: struct tile_job. */
static void
owe(void *with, int k, int z, int y, int x, uint8_t level)
{
	struct worker *w = with;
	const struct engine *e = w->e;
	const struct unit *u = w->unit;
	const size_t tx = w->tx + (size_t)(k % 3 - 1), ty = w->ty + (size_t)(k / 3 % 3 - 1),
		     tz = w->tz + (size_t)(k / 9 - 1), t = (tz * e->y.tiles + ty) * e->x.tiles + tx;

	charge(e, t, z, y, x, level);
	if (ty < u->y || tz < u->z) {
		uint8_t *o = &w->unit[-1].owed[1];
		*o = level > *o ? level : *o;
	} else if (ty >= u->y_end || tz >= u->z_end) {
		uint8_t *o = &w->unit[1].owed[0];
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

/* Serves tile t what it is owed, by a flood or a visit. first: visits it for the first time. */
static void
serve(struct worker *w, size_t t, bool first)
{
	const struct engine *e = w->e;
	struct tile_job *job = &w->job;
	struct record *r = &e->tile[t];
	uint64_t *owed = e->rose + t * e->depth, rose[TILE_DEPTH];
	const int n = r->n;

	w->tx = t % e->x.tiles;
	w->ty = t / e->x.tiles % e->y.tiles;
	w->tz = t / e->x.tiles / e->y.tiles;
	job->sx = span(&e->x, w->tx);
	job->sy = span(&e->y, w->ty);
	job->sz = span(&e->z, w->tz);
	memcpy(rose, owed, e->depth * sizeof *rose);
	memset(owed, 0, e->depth * sizeof *rose);
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

/* Makes the first visits of tile columns [left, right) of slice z, in the order that tile.h describes. */
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

void
worker_start(struct worker *w, const struct engine *e, const struct tile_job *job)
{
	*w = (struct worker){.job = *job, .e = e, .clip = clip_nothing()};
	w->job.owe = owe;
	w->job.with = w;
	for (int l = 0; l < TILE_LEVELS; l++)
		w->head[l] = w->tail[l] = NOBODY;
}

void
unit_run(struct worker *w, struct unit *u)
{
	const struct engine *e = w->e;

	w->unit = u;
	u->owed[0] = u->owed[1] = 0;
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
