/* A unit of the tile engine: which tile is next, and what each is owed. */
#include <string.h>

#include "common/par.h"
#include "morphrec/tile/unit.h"

/* --- the lists: doubly linked, first in, first out, one a level ------------------------------------------------- */

static void
list_remove(struct worker *h, uint32_t t)
{
	struct record *r = &h->tile[t];

	if (r->prev == NOBODY)
		h->head[r->listed] = r->next;
	else
		h->tile[r->prev].next = r->next;
	if (r->next == NOBODY)
		h->tail[r->listed] = r->prev;
	else
		h->tile[r->next].prev = r->prev;
	r->listed = 0;
}

/* Puts tile t in the list of what it is owed, taking it out of a lower one. */
static void
list_add(struct worker *h, uint32_t t)
{
	struct record *r = &h->tile[t];
	const uint8_t l = r->debt.level;

	if (r->listed >= l)
		return;
	if (r->listed)
		list_remove(h, t);
	r->listed = l;
	r->next = NOBODY;
	r->prev = h->tail[l];
	if (r->prev == NOBODY)
		h->head[l] = t;
	else
		h->tile[r->prev].next = t;
	h->tail[l] = t;
	h->top = l > h->top ? l : h->top;
}

/* The tile owed most, taken out; NOBODY when none is. */
static uint32_t
list_take(struct worker *h)
{
	while (h->top > 0 && h->head[h->top] == NOBODY)
		h->top--;
	if (!h->top)
		return NOBODY;
	const uint32_t t = h->head[h->top];
	list_remove(h, t);
	return t;
}

/* --- debts ------------------------------------------------------------------------------------------------------ */

static void
debt_add(struct tile_debt *d, const struct tile_debt *more)
{
	d->level = more->level > d->level ? more->level : d->level;
	if (more->n == TILE_FULL || d->n == TILE_FULL || d->n + more->n > TILE_FEW) {
		d->n = TILE_FULL;
		return;
	}
	memcpy(d->px + d->n, more->px, more->n * sizeof *d->px);
	d->n = (uint8_t)(d->n + more->n);
}

/* What the visit of tile tx, ty left owing goes to the neighbours; list: they go on the lists. */
static void
pass_on(const struct engine *e, struct worker *h, size_t tx, size_t ty, bool list)
{
	for (int k = 0; k < 9; k++) {
		const struct tile_debt *d = &h->job.owed[k];
		const size_t x = tx + (size_t)(k % 3 - 1), y = ty + (size_t)(k / 3 - 1);
		if (!d->level || x >= e->tw || y >= e->th)
			continue;
		const size_t t = y * e->tw + x;
		debt_add(&h->tile[t].debt, d);
		if (y < h->unit->first) {
			uint8_t *o = &h->unit[-1].owed[1];
			*o = d->level > *o ? d->level : *o;
		} else if (y >= h->unit->end) {
			uint8_t *o = &h->unit[1].owed[0];
			*o = d->level > *o ? d->level : *o;
		} else if (list) {
			list_add(h, (uint32_t)t);
		}
	}
}

/* Gives tile tx, ty what it is owed, by a flood or a visit. */
static void
serve(const struct engine *e, struct worker *h, size_t tx, size_t ty, bool list)
{
	struct record *r = &h->tile[ty * e->tw + tx];
	const struct tile_debt d = r->debt;
	bool rose = false, done = false;

	r->debt.level = r->debt.n = 0;
	if (d.n && d.n != TILE_FULL) {
		done = e->flood(&h->job, tx, ty, d.px, d.n);
		rose = h->job.changed;
		h->figures.floods++;
	}
	if (!done) {
		e->kernel->visit(&h->job, tx, ty);
		rose |= h->job.changed;
		h->figures.visits++;
	}
	if (rose)
		r->rose[0] = r->rose[1] = 1;
	pass_on(e, h, tx, ty, list);
}

/* --- a unit ----------------------------------------------------------------------------------------------------- */

/* Reads bytes [x, end) of rows [y, bottom) line by line, as the processor fetches ahead best, into the second-level cache. */
static void
stream(const struct engine *e, const struct worker *h, size_t x, size_t end, size_t y,
       size_t bottom)
{
	enum { LINE = 64 };
	const size_t w = e->what.w * e->size;

	for (; y < bottom && y < e->what.h; y++) {
		const volatile char *J = (const char *)h->job.J + y * w,
				    *I = (const char *)h->job.I + y * w;
		for (size_t i = x; i < end; i += LINE) {
			(void)J[i];
			(void)I[i];
		}
	}
}

/*
 * Tiles [left, right) of row ty come into the second-level cache, where visits then find their rows of 64 pixels: an h-dome
 * of 4096 x 4096 bytes 53 -> 36 ms, floats of 2048 x 2048 39 -> 32 (prefetches of the rows of the next tile gained nothing
 * there). Where J is yet to be clipped that does it; of the row below them the ring needs one more.
 */
static void
fetch(const struct engine *e, struct worker *h, size_t ty, size_t left, size_t right)
{
	const size_t w = e->what.w, x = left * TILE_OWN,
		     end = right * TILE_OWN < w ? right * TILE_OWN : w, top = ty * TILE_OWN,
		     bottom = top + TILE_OWN < e->what.h ? top + TILE_OWN : e->what.h;

	if (!e->unclipped) {
		stream(e, h, x * e->size, end * e->size, top, bottom + 1);
		return;
	}
	for (size_t y = top; y < bottom; y++)
		clip_some(&e->what, e->J, e->I, (h->unit->slice * e->what.h + y) * w + x, end - x,
			  &h->clip);
	stream(e, h, x * e->size, end * e->size, bottom, bottom + 1);
}

/* Whether the marker in tile tx, ty has something to give: the middle of its middle row is not flat. */
static bool
is_rich(const struct engine *e, const struct worker *h, size_t tx, size_t ty)
{
	const size_t x = tx * TILE_OWN, y = ty * TILE_OWN + TILE_OWN / 2,
		     n = e->what.w - x < TILE_OWN ? e->what.w - x : TILE_OWN;
	const char *J = (const char *)h->job.J;

	if (y >= e->what.h)
		return false;
	J += (y * e->what.w + x + n / 4) * e->size;
	return memcmp(J, J + e->size, n / 2 * e->size) != 0;
}

/* Visits tile tx, ty for the first time; early: before its neighbours. */
static void
open_tile(const struct engine *e, struct worker *h, size_t tx, size_t ty, bool early)
{
	struct record *r = &h->tile[ty * e->tw + tx];

	r->debt.n = TILE_FULL;
	r->begun = true;
	r->early = early;
	serve(e, h, tx, ty, false);
}

/* That more tiles were visited once, to whom it may concern: by the first thread alone. */
static void
tell(const struct engine *e, struct worker *h, size_t more)
{
	size_t begun;

#pragma omp atomic capture
	begun = *h->begun += more;
	if (e->what.step && omp_get_thread_num() == 0)
		e->what.step(e->what.step_with,
			     (double)begun / (double)(e->what.d * e->tw * e->th));
}

/* The first visits of columns [left, right) of tiles, in the order of tile.h. */
static void
begin_columns(const struct engine *e, struct worker *h, size_t left, size_t right)
{
	const size_t first = h->unit->first, end = h->unit->end;

	for (size_t ty = first; ty < end + 2; ty++) {
		if (ty < end)
			fetch(e, h, ty, left, right);
		for (size_t tx = left + (ty + left) % 2; ty < end && tx < right; tx += 2)
			if (is_rich(e, h, tx, ty))
				open_tile(e, h, tx, ty, true);
		for (size_t tx = left; ty > first && ty <= end && tx < right; tx++)
			if (!h->tile[(ty - 1) * e->tw + tx].begun)
				open_tile(e, h, tx, ty - 1, false);
		for (size_t tx = left; ty > first + 1 && tx < right; tx++) {
			const struct record *r = &h->tile[(ty - 2) * e->tw + tx];
			if (r->early && r->debt.level)
				serve(e, h, tx, ty - 2, false);
		}
		if (ty < end)
			tell(e, h, right - left);
	}
}

/* The first visits of a unit: as many columns at a time as the second-level cache holds for three rows of tiles. */
static void
begin(const struct engine *e, struct worker *h)
{
	enum {
		STREAK = 4352
	}; /* bytes of a row: three rows of tiles of J and I are 1.6 megabytes */
	const size_t n = e->tw * TILE_OWN * e->size / STREAK + 1;

	for (size_t i = 0; i < n; i++)
		begin_columns(e, h, e->tw * i / n, e->tw * (i + 1) / n);
}

/* Volumes: what rose in the slice beside, at side 0 (before) or 1, pours into this one. */
static void
take_from_slice(const struct engine *e, struct worker *h, size_t side)
{
	const size_t slice = h->unit->slice + 2 * side - 1, n = e->tw * e->th;
	struct record *beside = e->tile + slice * n;
	const char *from = (const char *)e->J + slice * e->what.w * e->what.h * e->size;

	for (size_t ty = 0; ty < e->th; ty++)
		for (size_t tx = 0; tx < e->tw; tx++) {
			bool near = false;
			for (size_t y = ty ? ty - 1 : 0; y <= ty + 1 && y < e->th; y++)
				for (size_t x = tx ? tx - 1 : 0; x <= tx + 1 && x < e->tw; x++)
					near |= beside[y * e->tw + x].rose[1 - side];
			if (!near)
				continue;
			struct record *r = &h->tile[ty * e->tw + tx];
			const uint8_t l = e->kernel->pour(&h->job, from, e->pour, tx, ty);
			if (!l)
				continue;
			debt_add(&r->debt, &(struct tile_debt){.level = l, .n = TILE_FULL});
			r->rose[0] = r->rose[1] = 1;
		}
	for (size_t t = 0; t < n; t++)
		beside[t].rose[1 - side] = 0;
}

/* Tells the slices on both sides whether anything rose here. */
static void
tell_slices(const struct engine *e, struct worker *h)
{
	for (size_t t = 0; t < e->tw * e->th; t++) {
		if (h->unit->slice && h->tile[t].rose[0])
			h->unit[-1].owed[1] = 1;
		if (h->unit->slice + 1 < e->what.d && h->tile[t].rose[1])
			h->unit[1].owed[0] = 1;
	}
}

/*
 * The rows of u, and those beside it that it looked at: the row of the ring, and what the system maps around a page that is
 * missed. 51200 x 51200 bytes with --max-mem=100M: 149 -> 119 MB at the peak.
 */
static void
let_go(const struct engine *e, const struct unit *u)
{
	enum { AROUND = 1 << 16 };
	const size_t row = e->what.w * e->size, more = 1 + AROUND / row,
		     first = u->slice * e->what.h + u->first * TILE_OWN,
		     end = u->slice * e->what.h +
			   (u->end * TILE_OWN < e->what.h ? u->end * TILE_OWN : e->what.h),
		     from = first > more ? first - more : 0, all = e->what.h * e->what.d,
		     to = end + more < all ? end + more : all;

	e->what.done(e->what.done_with, from * row, (to - from) * row);
}

void
unit_run(const struct engine *e, struct worker *h, struct unit *u)
{
	const size_t before = u->slice * e->what.w * e->what.h * e->size;

	h->unit = u;
	h->tile = e->tile + u->slice * e->tw * e->th;
	h->job.J = (char *)e->J + before;
	h->job.I = (const char *)e->I + before;
	for (size_t side = 0; side < 2; side++)
		if (e->volume && u->owed[side])
			take_from_slice(e, h, side);
	u->owed[0] = u->owed[1] = 0;
	if (!u->begun)
		begin(e, h);
	u->begun = true;
	for (size_t t = u->first * e->tw; t < u->end * e->tw; t++)
		if (h->tile[t].debt.level)
			list_add(h, (uint32_t)t);
	for (uint32_t t; (t = list_take(h)) != NOBODY;)
		serve(e, h, t % e->tw, t / e->tw, true);
	if (e->volume)
		tell_slices(e, h);
	if (e->what.done)
		let_go(e, u);
}
