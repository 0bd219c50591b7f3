/* A unit of the striped engine: which tile is next, and what each is owed. */
#include <string.h>

#include "common/par.h"
#include "morphrec/striped/unit.h"

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

/* Puts tile t in the list of what it is owed, taking it out of a lower one. */
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

/* The tile owed most, taken out; NOBODY when none is. */
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

/* Notes that a pixel of a neighbour rose: struct striped_job. */
static void
owe(void *with, int k, int z, int y, int x, uint8_t level)
{
	struct worker *w = with;
	const struct striped *e = w->e;
	const struct unit *u = w->unit;
	const size_t tx = w->tx + (size_t)(k % 3 - 1), ty = w->ty + (size_t)(k / 3 % 3 - 1),
		     tz = w->tz + (size_t)(k / 9 - 1), t = (tz * e->y.tiles + ty) * e->x.tiles + tx;
	struct record *r = &e->tile[t];

	e->rose[t * e->depth + (size_t)z] |= UINT64_C(1) << y;
	if (x >= 0 && r->n < STRIPED_FEW)
		r->px[r->n++] = (uint32_t)((z * STRIPED_ROWS + y) * e->kernel->width + x);
	else
		r->n = STRIPED_FEW + 1;
	r->level = level > r->level ? level : r->level;
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

static struct striped_span
span(const struct striped_axis *a, size_t i)
{
	const ptrdiff_t at = (ptrdiff_t)(i * a->own) - (ptrdiff_t)a->rim,
			left = (ptrdiff_t)a->n - at;
	const int own = (int)a->own, rim = (int)a->rim, begin = at < 0,
		  end = left < own + 2 * rim ? (int)left : own + 2 * rim;

	return (struct striped_span){at, begin, end, rim, end < own + rim ? end : own + rim};
}

/* Gives tile t what it is owed, by a flood or a visit; or visits it for the first time. */
static void
serve(struct worker *w, size_t t, bool first)
{
	const struct striped *e = w->e;
	struct striped_job *job = &w->job;
	struct record *r = &e->tile[t];
	uint64_t *owed = e->rose + t * e->depth, rose[STRIPED_DEPTH];
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
	if (!first && n <= STRIPED_FEW) {
		w->figures.floods++;
		memset(rose, 0, e->depth * sizeof *rose);
		if (e->flood(job, e->kernel->width, r->px, n, rose))
			return;
	}
	w->figures.visits++;
	e->kernel->visit(job, first ? NULL : rose);
}

/* Counts tiles that were visited once, and reports them, from the first thread alone. */
static void
report(struct worker *w, size_t more)
{
	const struct striped *e = w->e;
	size_t begun;

#pragma omp atomic capture
	begun = *w->begun += more;
	if (e->what.step && omp_get_thread_num() == 0)
		e->what.step(e->what.step_with,
			     (double)begun / (double)(e->x.tiles * e->y.tiles * e->z.tiles));
}

/* The first visits of a unit. */
static void
begin(struct worker *w)
{
	const struct striped *e = w->e;
	const struct unit *u = w->unit;

	w->beginning = true;
	for (size_t z = u->z; z < u->z_end; z++)
		for (size_t y = u->y; y < u->y_end; y++) {
			for (size_t x = 0; x < e->x.tiles; x++)
				serve(w, (z * e->y.tiles + y) * e->x.tiles + x, true);
			report(w, e->x.tiles);
		}
	w->beginning = false;
}

/* The rows of u, and those beside it that it looked at, with what the system maps around a page that is missed. */
static void
let_go(const struct striped *e, const struct unit *u)
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
worker_start(struct worker *w, const struct striped *e, const struct striped_job *job)
{
	*w = (struct worker){.job = *job, .e = e};
	w->job.owe = owe;
	w->job.with = w;
	for (int l = 0; l < STRIPED_LEVELS; l++)
		w->head[l] = w->tail[l] = NOBODY;
}

void
unit_settle(struct worker *w, struct unit *u)
{
	const struct striped *e = w->e;

	w->unit = u;
	u->owed[0] = u->owed[1] = 0;
	if (!u->begun)
		begin(w);
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
