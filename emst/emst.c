/*
 * Chooses between the engines, and holds what they share. Memory that grows with the vertices is on large pages, since it is
 * touched only once or twice: all 16777216 colours 314 -> 218 ms, 970361 random ones 235 -> 222 (medians of 7, one thread).
 */
#include <errno.h>
#include <math.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "emst/emst.h"
#include "emst/lattice/lattice.h"
#include "emst/sort.h"

enum { MANY = 1 << 17, FEWEST = 2000, SPARSE = 1 };

static int
check(const struct emst_set *s)
{
	return s->n < 1 || s->n >= EMST_MAXPOINTS || s->k < 1 || s->k > EMST_MOSTDIM ? -ERANGE : 0;
}

/* --- the lattice ------------------------------------------------------------------------------------------------- */

/* Edges that a shell found have the length of the shell; the others' are in d2[]. */
static int
fill_lengths(struct emst_tree *t, const struct forest *f, const uint32_t *d2, double step2)
{
	enum { PARTS = 64 };
	const size_t n = t->n - 1, rest = f->next > 1 ? f->upto[f->next - 1] : 0;

	t->length = weir_alloc_large(n, sizeof *t->length);
	if (!t->length)
		return -ENOMEM;
#pragma omp parallel for schedule(static) num_threads(f->threads) if (n > MANY)
	for (size_t p = 0; p < PARTS; p++) {
		const size_t to = n * (p + 1) / PARTS;
		size_t i = n * p / PARTS;
		for (uint32_t d = 1; d < f->next && i < to; d++)
			for (double x = sqrt(step2 * d); i < to && i < f->upto[d]; i++)
				t->length[i] = x;
		for (; i < to; i++)
			t->length[i] = sqrt(step2 * d2[i - rest]);
	}
	return 0;
}

static int
grow(struct forest *f, struct emst_tree *t, double step2, bool or_sparse)
{
	uint32_t *d2 = NULL;
	int err;

	f->n = f->trees = t->n;
	f->up = weir_alloc_large(f->n, sizeof *f->up);
	f->edge = t->edge = weir_alloc_large(f->n, sizeof *f->edge);
	if (!f->up || !f->edge)
		err = -ENOMEM;
	else
		err = forest_shells(f);
	if (!err && or_sparse && f->sparse)
		err = SPARSE;
	if (!err && f->trees > 1)
		err = forest_boruvka(f, &d2);
	weir_free(f->up);
	if (!err)
		err = fill_lengths(t, f, d2, step2);
	weir_free(d2);
	return err;
}

/* With or_sparse, returns SPARSE when the lattice would be slow. */
static int
run_lattice(const struct emst_set *s, int threads, struct emst_tree *t, bool or_sparse)
{
	struct lattice scaled;
	int err = check(s);

	*t = (struct emst_tree){0};
	if (!err)
		err = lattice_scale(s->lattice, &scaled);
	if (err)
		return err;
	struct forest f = {.l = scaled.n ? &scaled : s->lattice, .threads = threads};
	t->n = s->n;
	err = grow(&f, t, (double)scaled.step * scaled.step, or_sparse);
	lattice_free(&scaled);
	if (err)
		emst_tree_free(t);
	return err;
}

int
emst_run_lattice(const struct emst_set *s, int threads, struct emst_tree *t)
{
	return run_lattice(s, threads, t, false);
}

/* --- points ------------------------------------------------------------------------------------------------------ */

#define WAYS(variant) emst_kd_##variant, emst_prim_##variant, emst_brute_##variant

kd_engine WAYS(f32_generic), WAYS(f32_avx2), WAYS(f32_avx512);
kd_engine WAYS(f64_generic), WAYS(f64_avx2), WAYS(f64_avx512);
kd_engine *const emst_kd[2][CPU_AVX512 + 1][KD_WAYS] = {
    {{WAYS(f32_generic)}, {WAYS(f32_avx2)}, {WAYS(f32_avx512)}},
    {{WAYS(f64_generic)}, {WAYS(f64_avx2)}, {WAYS(f64_avx512)}}};

/* Runs an engine on colours as points. Their squared distances are whole numbers below 2^24, which floats hold exactly. */
static int
run_colours(const struct kd_input *in, kd_engine *run, struct emst_tree *t)
{
	const struct emst_set *s = in->s;
	const uint32_t *code = s->code;
	const unsigned k = s->k;
	float *x = weir_alloc_large(k * s->n, sizeof *x);
	int err = -ENOMEM;

	if (x) {
		for (size_t i = 0; i < s->n; i++)
			for (unsigned a = 0; a < k; a++)
				x[k * i + a] = (float)(code[i] >> 8 * (k - 1 - a) & 255);
		struct emst_set points = {.type = EMST_F32,
					  .n = s->n,
					  .k = k,
					  .x = x,
					  .id = code,
					  .step = s->step,
					  .step_of = s->step_of};
		struct kd_input job = *in;
		job.s = &points;
		err = run(&job, t);
	}
	weir_free(x);
	return err;
}

static int
run_points(const struct kd_input *in, int way, struct emst_tree *t)
{
	int err = check(in->s);
	kd_engine *const run = emst_kd[in->s->type == EMST_F64][weir_cpu][way];

	*t = (struct emst_tree){0};
	if (err)
		return err;
	return in->s->type == EMST_CODE ? run_colours(in, run, t) : run(in, t);
}

int
emst_run_kd(const struct emst_set *s, int threads, struct emst_tree *t)
{
	const struct kd_input in = {.s = s, .threads = threads};

	return s->k > EMST_MAXDIM ? -ERANGE : run_points(&in, KD_TREE, t);
}

int
emst_run_brute(const struct emst_set *s, int threads, struct emst_tree *t)
{
	return run_points(&(struct kd_input){.s = s, .threads = threads}, KD_BRUTE, t);
}

int
emst_run_density(const struct emst_set *s, const uint64_t *weight, uint64_t min_weight, int threads,
		 double *core, struct emst_tree *t)
{
	const struct kd_input in = {
	    .s = s, .threads = threads, .weight = weight, .min_weight = min_weight, .core = core};
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += weight[i];
	*t = (struct emst_tree){0};
	if (sum < min_weight)
		return -EDOM;
	return run_points(&in, s->k > EMST_MAXDIM ? KD_PRIM : KD_TREE, t);
}

/* Gray levels are a chain: an edge that skips a level is longer than all those below it. */
static int
run_levels(const struct emst_set *s, struct emst_tree *t)
{
	enum { LEVELS = 256 };
	struct sorted e[LEVELS], tmp[LEVELS];
	const size_t n = s->n - 1;

	*t = (struct emst_tree){s->n, weir_alloc(n, sizeof *t->edge),
				weir_alloc(n, sizeof *t->length)};
	if (!t->edge || !t->length) {
		emst_tree_free(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		e[i] = (struct sorted){s->code[i + 1] - s->code[i], i, i + 1};
	emst_sort(e, tmp, n);
	for (size_t i = 0; i < n; i++) {
		t->edge[i] = (struct emst_edge){e[i].a, e[i].b};
		t->length[i] = (double)e[i].key;
	}
	return 0;
}

int
emst_run(const struct emst_set *s, int threads, struct emst_tree *t)
{
	int err = SPARSE;

	if (s->type == EMST_CODE && s->k == 1 && s->n >= 1)
		return run_levels(s, t);
	if (s->n <= EMST_PRIM || s->k > EMST_MAXDIM)
		return run_points(&(struct kd_input){.s = s, .threads = threads}, KD_PRIM, t);
	if (s->type == EMST_CODE && s->lattice && s->n > FEWEST)
		err = run_lattice(s, threads, t, true);
	return err == SPARSE ? emst_run_kd(s, threads, t) : err;
}
