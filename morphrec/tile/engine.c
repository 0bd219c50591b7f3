#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "common/par.h"
#include "morphrec/tile/engine.h"
#include "morphrec/tile/unit.h"

const struct tile_kernel *
tile_kernels(void)
{
	if (weir_cpu == CPU_AVX512)
		return tile_avx512;
	return weir_cpu == CPU_AVX2 ? tile_avx2 : tile_generic;
}

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
	e->begun = 0;
	for (int i = 0; i < e->what.threads; i++) {
		struct worker *h = &e->worker[i];
		*h = (struct worker){.job = e->job, .clip = clip_nothing(), .begun = &e->begun};
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
}

void
engine_run(struct engine *e, const struct morphrec_clip *clip, struct morphrec_figures *figures,
	   void *J, const void *I)
{
	e->J = J;
	e->I = I;
	set_levels(&e->job, clip);
	reset(e);
	for (size_t idle = 0, parity = 0; idle < 2; parity ^= 1) {
		const size_t n = collect(e, parity);
		idle = n ? 0 : idle + 1;
		figures->phases += n > 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(e->what.threads) if (n > 1)
		for (size_t i = 0; i < n; i++)
			unit_run(e, &e->worker[omp_get_thread_num()], e->due[i]);
	}
	figures->tiles += e->what.d * e->tw * e->th;
	for (int i = 0; i < e->what.threads; i++) {
		figures->visits += e->worker[i].figures.visits;
		figures->floods += e->worker[i].figures.floods;
	}
}

/*
 * What a thousand samples of J0 tell of the levels, which need not be exact. The system may map megabytes around each, which are let go at once: 51200 x 51200 bytes with
 * --max-mem=100M else peak at 4 GB, not 119 MB.
 */
static struct morphrec_clip
sample(const struct engine *e, const char *J, const char *I)
{
	enum { SAMPLES = 1024, AROUND = 1 << 22 };
	const size_t size = e->size, total = e->what.w * e->what.h * e->what.d,
		     step = total / SAMPLES + 1;
	_Alignas(8) char j[SAMPLES * 8], i[SAMPLES * 8];
	struct morphrec_problem few = e->what;
	size_t n = 0;

	for (size_t at = 0; at < total; at += step, n++) {
		/* Not all in one column, where step is a multiple of the width. */
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
engine_clip_and_run(struct engine *e, struct morphrec_clip *clip, struct morphrec_figures *figures,
		    void *J, const void *I)
{
	if (e->volume) {
		*clip = clip_all(&e->what, J, I);
		engine_run(e, clip, figures, J, I);
		return;
	}
	const struct morphrec_clip few = sample(e, J, I);
	e->unclipped = true;
	engine_run(e, &few, figures, J, I);
	e->unclipped = false;
	*clip = e->worker[0].clip;
	for (int i = 1; i < e->what.threads; i++)
		clip_join(clip, &e->worker[i].clip);
}

/*
 * Bands of a slice: one for one thread; else four for each, of two tile rows at least; smaller ones so that they and the
 * records of all tiles fit max_mem.
 */
static size_t
count_bands(const struct morphrec_problem *what, size_t tw, size_t th, size_t size)
{
	const size_t records = tw * th * what->d * sizeof(struct record);
	size_t n = 1;

	if (morphrec_is_volume(what->conn))
		return 1;
	if (what->threads > 1)
		n = (4 * (size_t)what->threads + what->d - 1) / what->d;
	if (what->max_mem) {
		const size_t row = 2 * TILE_OWN * what->w * size * (size_t)what->threads,
			     left = what->max_mem > records ? what->max_mem - records : 0,
			     fit = left / row > 2 ? left / row : 2;
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
		 e->kernel == &tile_avx512[log] ? "AVX-512"
		 : e->kernel == &tile_avx2[log] ? "AVX2"
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
	e->bands = count_bands(what, e->tw, e->th, e->size);
	e->units = what->d * e->bands;
	e->job = (struct tile_job){.w = what->w,
				   .h = what->h,
				   .diagonal = what->conn != 4 && what->conn != 6,
				   .map = morphrec_keys(what)};
	if (weir_mul(e->tw, e->th, &n) && n < NOBODY && weir_mul(n, what->d, &n)) {
		e->tile = weir_alloc(n, sizeof *e->tile);
		e->unit = weir_alloc(e->units, sizeof *e->unit);
		e->due = weir_alloc(e->units, sizeof(struct unit *));
		e->worker = weir_alloc((size_t)what->threads, sizeof *e->worker);
	}
	if (!e->tile || !e->unit || !e->due || !e->worker) {
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
	weir_free(e->worker);
	weir_free(e);
}
