/* Sets of colours for the checks of emst; checks of sets that are too large for Kruskal over all pairs; equal points. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/check_emst.h"

void
emst_sample_free(struct emst_sample *m)
{
	lattice_free(&m->l);
	weir_free(m->f);
	weir_free(m->d);
	weir_free(m->code);
}

void
emst_sample_codes(struct emst_sample *m, const uint32_t *code, size_t n)
{
	*m = (struct emst_sample){0};
	lattice_init(&m->l);
	lattice_add_codes(&m->l, code, n);
	lattice_index(&m->l);
	m->code = weir_alloc(m->l.n, sizeof *m->code);
	lattice_codes(&m->l, m->code, 1);
	m->s = (struct emst_set){
	    .type = EMST_CODE, .n = m->l.n, .k = 3, .lattice = &m->l, .code = m->code};
}

/* The first edge in which two trees differ, or -1. */
static long
difference(const struct emst_tree *a, const struct emst_tree *b)
{
	if (a->n != b->n || !a->edge || !b->edge)
		return 0;
	for (size_t i = 0; i + 1 < a->n; i++)
		if (a->edge[i].u != b->edge[i].u || a->edge[i].v != b->edge[i].v ||
		    a->length[i] != b->length[i])
			return (long)i;
	return -1;
}

void
emst_same_tree(struct check_many *c, const struct emst_tree *want, struct emst_tree *got, int err,
	       const char *what, size_t set)
{
	long at = err ? 0 : difference(want, got);

	check_case(c, at < 0, "set %zu, %s: %s, edge %ld of %zu", set, what, strerror(-err), at,
		   want->n - 1);
	emst_tree_free(got);
}

/* Sets too large for brute force: the two fast ways, which share no code, against each other. */
static void
check_large(void)
{
	struct check_many c = {0};
	struct check_rng r = {4};
	static uint32_t code[60000];

	for (size_t set = 0; set < 8; set++) {
		struct emst_sample m;
		struct emst_tree want, got;
		size_t n = sizeof code / sizeof *code;
		for (size_t i = 0; i < n; i++) {
			double v[3];
			for (int a = 0; a < 3; a++)
				v[a] = set < 3	 ? 256 * rng_unit(&r)
				       : set < 6 ? 128 + 8 * (double)set * rng_normal(&r)
						 : 20 + 60 * (double)rng_below(&r, 4) +
						       4 * rng_normal(&r);
			if (set % 3 == 1)
				v[0] = .5 * v[1] + .3 * v[2] + 20 * (double)rng_below(&r, 3);
			code[i] = 0;
			for (int a = 0; a < 3; a++)
				code[i] = code[i] << 8 | (uint32_t)fmin(fmax(v[a], 0), 255);
		}
		emst_sample_codes(&m, code, set % 3 ? n : n / 10);
		emst_run_kd(&m.s, 1, &want);
		int err = emst_run_lattice(&m.s, 1, &got);
		emst_same_tree(&c, &want, &got, err, "lattice", set);
		err = emst_run_lattice(&m.s, 2, &got);
		emst_same_tree(&c, &want, &got, err, "lattice, two threads", set);
		err = emst_run_kd(&m.s, 2, &got);
		emst_same_tree(&c, &want, &got, err, "kd, two threads", set);
		err = emst_run(&m.s, 2, &got);
		emst_same_tree(&c, &want, &got, err, "the choice", set);
		emst_tree_free(&want);
		emst_sample_free(&m);
	}
	check_end(&c, "emst: clouds, sheets, sparse colours: lattice and kd-tree agree");
}

/* Walks on a grid meet again and again. They are thin, so a tree often has many points far from all others. */
static size_t
walks(struct check_rng *r, double *x, size_t n, bool distinct)
{
	static uint8_t seen[1024][1024];
	size_t have = 0, at[2] = {512, 512}, axis = 0;
	bool up = false;

	memset(seen, 0, sizeof seen);
	for (size_t i = 0; have < n; i++) {
		if (i % 500 == 0)
			at[0] = rng_below(r, 1024);
		if (i % 20 == 0) {
			axis = rng_below(r, 2);
			up = rng_below(r, 2);
		}
		at[axis] = (at[axis] + (up ? 1 : 1023)) % 1024;
		if (distinct && seen[at[0]][at[1]]++)
			continue;
		x[2 * have] = (double)at[0];
		x[2 * have++ + 1] = (double)at[1];
	}
	return have;
}

static void
check_walks(void)
{
	enum { N = 2500 };
	static double x[2 * N], core[N], want_core[N];
	static float f[2 * N];
	static uint64_t weight[N];
	struct check_many c = {0};
	struct check_rng r = {12};

	for (size_t set = 0; set < 6; set++) {
		struct emst_tree want, got;
		struct emst_set s = {.type = set % 2 ? EMST_F32 : EMST_F64, .k = 2};
		s.x = set % 2 ? (const void *)f : x;
		s.n = walks(&r, x, N, true);
		for (size_t i = 0; i < 2 * N; i++)
			f[i] = (float)x[i];
		for (size_t i = 0; i < N; i++)
			weight[i] = 1;
		emst_direct_core(&s, weight, 6, want_core);
		int err = emst_direct(&s, set < 4 ? NULL : want_core, &want);
		for (int threads = 1; threads <= 2 && !err; threads++) {
			err = set < 4 ? emst_run_kd(&s, threads, &got)
				      : emst_run_density(&s, weight, 6, threads, core, &got);
			emst_same_tree(&c, &want, &got, err, "walks", set);
		}
		check_case(&c, !err, "set %zu: %s", set, strerror(-err));
		emst_tree_free(&want);
	}
	check_end(&c, "emst: points along walks have the tree of the definition");
}

/* One pair of equal points among many is found, wherever it is; and so are many pairs. */
static void
check_equal(void)
{
	enum { N = 2500 };
	static double x[2 * N];
	struct check_many c = {0};
	struct check_rng r = {13};

	for (size_t set = 0; set < 40; set++) {
		struct emst_set s = {.type = EMST_F64, .k = 2, .x = x};
		struct emst_tree t;
		s.n = walks(&r, x, N, set);
		const size_t i = rng_below(&r, N), j = (i + 1 + rng_below(&r, N - 1)) % N;
		memcpy(x + 2 * i, x + 2 * j, 2 * sizeof *x);
		int err = emst_run(&s, 1 + (int)(set % 2), &t);
		check_case(&c, err == -EEXIST && !t.edge, "set %zu: %d", set, err);
		emst_tree_free(&t);
	}
	check_end(&c, "emst: one pair of equal points among 2500 is found");
}

void
check_emst_many(void)
{
	check_large();
	check_walks();
	check_equal();
}
