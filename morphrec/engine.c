#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/par.h"
#include "morphrec/engine.h"

#define NOBODY UINT32_MAX

/* A tile: what it is owed, and its place in the list of its level. */
struct record {
	uint32_t next, prev;
	struct tile_debt debt;
	uint8_t listed;	 /* the level of its list, 0: in none */
	uint8_t rose[2]; /* volumes: since the slice before, the slice after last took from here */
};

/* A band of tile rows [first, end) of a slice, or a slice: what one thread brings to its fixpoint. */
struct unit {
	size_t slice, first, end;
	bool begun;
	uint8_t owed[2]; /* by the unit before, after: the highest level, 0: nothing */
};

/* What a thread has in hand. */
struct hand {
	struct tile_job job;
	struct record *tile; /* of the slice */
	struct unit *unit;
	int top; /* no list above it holds a tile */
	uint32_t head[TILE_LEVELS], tail[TILE_LEVELS];
	struct morphrec_figures figures;
};

struct engine {
	size_t size;   /* bytes of an element */
	size_t tw, th; /* tiles across and down a slice */
	size_t bands;  /* units of a slice */
	size_t units;
	bool volume;
	enum tile_pour pour;
	const struct tile_kernel *kernel;
	tile_flood *flood;
	void (*visit)(struct tile_job *, size_t, size_t);
	struct record *tile; /* [d][th][tw] */
	struct unit *unit;   /* [d][bands] */
	struct unit **due;   /* work space: those that run next */
	struct hand *hand;   /* [threads] */
	struct tile_job job; /* what all hands begin with */
	struct morphrec_problem what;
	void *J;
	const void *I;
};

const struct tile_kernel *
tile_kernels(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd"))
		return tile_v4;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
		return tile_v3;
#endif
	return tile_base;
}

/* --- the lists: doubly linked, first in, first out, one a level ------------------------------------------------- */

static void
list_remove(struct hand *h, uint32_t t)
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
list_add(struct hand *h, uint32_t t)
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
list_take(struct hand *h)
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
pass_on(const struct engine *e, struct hand *h, size_t tx, size_t ty, bool list)
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
serve(const struct engine *e, struct hand *h, size_t tx, size_t ty, bool list)
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
		e->visit(&h->job, tx, ty);
		rose |= h->job.changed;
		h->figures.visits++;
	}
	if (rose)
		r->rose[0] = r->rose[1] = 1;
	pass_on(e, h, tx, ty, list);
}

/* --- a unit ----------------------------------------------------------------------------------------------------- */

/*
 * Reads tiles [t, t + n) of a row of them line by line, as the processor fetches ahead best, into the second-level cache,
 * where visits then find their rows of 64 pixels: an h-dome of 4096 x 4096 bytes 53 -> 36 ms, floats of 2048 x 2048 39 -> 32
 * (prefetches of the rows of the next tile gained nothing there).
 */
static void
stream(const struct engine *e, const struct hand *h, size_t t, size_t n)
{
	enum { LINE = 64 };
	const size_t w = e->what.w * e->size, side = TILE_OWN * e->size, x = t % e->tw * side,
		     end = x + n * side < w ? x + n * side : w, top = t / e->tw * TILE_OWN,
		     bottom = top + TILE < e->what.h ? top + TILE : e->what.h;

	for (size_t y = top; y < bottom; y++) {
		const volatile char *J = (const char *)h->job.J + y * w,
				    *I = (const char *)h->job.I + y * w;
		for (size_t i = x; i < end; i += LINE) {
			(void)J[i];
			(void)I[i];
		}
	}
}

/* The first time: every tile once, then those owed anything in the reverse order. */
static void
begin(const struct engine *e, struct hand *h)
{
	enum { STREAK = 4096 }; /* bytes of a row: 64 rows of J and I are half a megabyte */
	const size_t n = STREAK / TILE_OWN / e->size, first = h->unit->first, end = h->unit->end;

	for (size_t ty = first; ty < end; ty++)
		for (size_t tx = 0; tx < e->tw; tx++) {
			const size_t t = ty * e->tw + tx;
			if (tx % n == 0)
				stream(e, h, t, n);
			h->tile[t].debt.n = TILE_FULL;
			serve(e, h, tx, ty, false);
		}
	for (size_t ty = end; ty-- > first;)
		for (size_t tx = e->tw; tx-- > 0;) {
			const size_t t = ty * e->tw + tx;
			if (tx + 1 == e->tw || tx % n == n - 1)
				stream(e, h, t - tx % n, n);
			if (h->tile[t].debt.level)
				serve(e, h, tx, ty, false);
		}
}

/* Volumes: what rose in the slice beside, at side 0 (before) or 1, pours into this one. */
static void
take_from_slice(const struct engine *e, struct hand *h, size_t side)
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
tell_slices(const struct engine *e, struct hand *h)
{
	for (size_t t = 0; t < e->tw * e->th; t++) {
		if (h->unit->slice && h->tile[t].rose[0])
			h->unit[-1].owed[1] = 1;
		if (h->unit->slice + 1 < e->what.d && h->tile[t].rose[1])
			h->unit[1].owed[0] = 1;
	}
}

static void
run_unit(const struct engine *e, struct hand *h, struct unit *u)
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
	if (e->what.done) {
		const size_t row = e->what.w * e->size, first = u->first * TILE_OWN,
			     end = u->end * TILE_OWN < e->what.h ? u->end * TILE_OWN : e->what.h;
		e->what.done(e->what.done_with, before + first * row, (end - first) * row);
	}
}

/* --- all units -------------------------------------------------------------------------------------------------- */

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
collect(const struct engine *e, size_t parity)
{
	size_t n = 0;

	for (size_t i = 0; i < e->units; i++) {
		struct unit *u = &e->unit[i];
		const size_t place = e->volume ? i : i % e->bands;
		if (place % 2 == parity && (!u->begun || u->owed[0] || u->owed[1]))
			e->due[n++] = u;
	}
	qsort(e->due, n, sizeof *e->due, by_debt);
	return n;
}

static void
reset(struct engine *e)
{
	const size_t n = e->what.d * e->tw * e->th;

	memset(e->tile, 0, n * sizeof *e->tile);
	for (size_t i = 0; i < n && e->volume; i++)
		e->tile[i].rose[0] = e->tile[i].rose[1] = 1;
	for (size_t i = 0; i < e->units; i++) {
		const size_t b = i % e->bands;
		e->unit[i] = (struct unit){.slice = i / e->bands,
					   .first = e->th * b / e->bands,
					   .end = e->th * (b + 1) / e->bands,
					   .owed = {e->volume && i, e->volume && i + 1 < e->units}};
	}
	for (int i = 0; i < e->what.threads; i++) {
		struct hand *h = &e->hand[i];
		*h = (struct hand){.job = e->job};
		for (int l = 0; l < TILE_LEVELS; l++)
			h->head[l] = h->tail[l] = NOBODY;
	}
}

/* Levels: the range of keys of J0 on 1..255. */
static void
set_levels(struct tile_job *job, const struct morphrec_clip *c)
{
	job->lo = c->lo;
	for (job->shift = 0; (c->hi - c->lo) >> job->shift >= TILE_LEVELS - 1;)
		job->shift++;
	job->off = c->off;
	job->on = c->on;
}

void
engine_run(struct engine *e, struct morphrec_plan *p, void *J, const void *I)
{
	const bool two = p->clip.two;

	e->J = J;
	e->I = I;
	e->visit = two ? e->kernel->visit_two : e->kernel->visit;
	set_levels(&e->job, &p->clip);
	reset(e);
	for (size_t idle = 0, parity = 0; idle < 2; parity ^= 1) {
		const size_t n = collect(e, parity);
		idle = n ? 0 : idle + 1;
		p->figures.phases += n > 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(e->what.threads) if (n > 1)
		for (size_t i = 0; i < n; i++)
			run_unit(e, &e->hand[omp_get_thread_num()], e->due[i]);
	}
	p->figures.tiles += e->what.d * e->tw * e->th;
	for (int i = 0; i < e->what.threads; i++) {
		p->figures.visits += e->hand[i].figures.visits;
		p->figures.floods += e->hand[i].figures.floods;
	}
}

/* Bands of a slice: one for one thread; else four for each, of two tile rows at least; smaller ones to fit max_mem. */
static size_t
count_bands(const struct morphrec_problem *what, size_t th, size_t size)
{
	size_t n = 1;

	if (morphrec_is_volume(what->conn))
		return 1;
	if (what->threads > 1)
		n = (4 * (size_t)what->threads + what->d - 1) / what->d;
	if (what->max_mem) {
		const size_t row = 2 * TILE_OWN * what->w * size * (size_t)what->threads,
			     fit = what->max_mem / row > 2 ? what->max_mem / row : 2;
		n = th / fit + 1 > n ? th / fit + 1 : n;
	}
	n = n < th / 2 ? n : th / 2;
	return n ? n : 1;
}

void
engine_explain(const struct engine *e, char *text, size_t size)
{
	const size_t n = e->tw * e->th * e->what.d, log = (size_t)__builtin_ctzll(e->size);

	snprintf(text, size, "%zu tiles in %zu %s, %.1f MB of records, %d threads, %s kernels", n,
		 e->units, e->volume ? "slices" : "bands", 1e-6 * (double)(n * sizeof *e->tile),
		 e->what.threads,
		 e->kernel == &tile_v4[log]   ? "AVX-512"
		 : e->kernel == &tile_v3[log] ? "AVX2"
					      : "plain");
}

void
engine_use(struct engine *e, const struct tile_kernel *rows)
{
	e->kernel = &rows[__builtin_ctzll(e->size)];
}

struct engine *
engine_new(const struct morphrec_problem *what)
{
	struct engine *e = weir_calloc(1, sizeof *e);
	size_t n;

	if (!e)
		return NULL;
	e->what = *what;
	e->size = img_type_size(what->type);
	e->tw = (what->w + TILE_OWN - 1) / TILE_OWN;
	e->th = (what->h + TILE_OWN - 1) / TILE_OWN;
	e->volume = morphrec_is_volume(what->conn);
	e->pour = what->conn == 6 ? POUR_6 : what->conn == 18 ? POUR_18 : POUR_26;
	engine_use(e, tile_kernels());
	e->flood = tile_floods[__builtin_ctzll(e->size)];
	e->bands = count_bands(what, e->th, e->size);
	e->units = what->d * e->bands;
	e->job = (struct tile_job){.w = what->w,
				   .h = what->h,
				   .diagonal = what->conn != 4 && what->conn != 6,
				   .map = morphrec_keys(what)};
	if (weir_mul(e->tw, e->th, &n) && n < NOBODY && weir_mul(n, what->d, &n)) {
		e->tile = weir_alloc(n, sizeof *e->tile);
		e->unit = weir_alloc(e->units, sizeof *e->unit);
		e->due = weir_alloc(e->units, sizeof(struct unit *));
		e->hand = weir_alloc((size_t)what->threads, sizeof *e->hand);
	}
	if (!e->tile || !e->unit || !e->due || !e->hand) {
		engine_free(e);
		return NULL;
	}
	return e;
}

void
engine_free(struct engine *e)
{
	if (!e)
		return;
	weir_free(e->tile);
	weir_free(e->unit);
	weir_free(e->due);
	weir_free(e->hand);
	weir_free(e);
}
