/* Colours and points for the checks of emst, and a tree held to another. */
#ifndef WEIR_EMST_SCENE_H
#define WEIR_EMST_SCENE_H

#include "emst/emst.h"
#include "emst/lattice/lattice.h"
#include "t/check.h"

/* Vertices with their memory, which is check_free()'s but for the lattice. */
struct sample {
	struct emst_set s;
	struct lattice l;
	float *f;
	double *d;
	uint32_t *code;
};

static inline void
sample_free(struct sample *m)
{
	lattice_free(&m->l);
}

/* Makes the set of the distinct colours of code[n]. */
static inline void
sample_codes(struct sample *m, const uint32_t *code, size_t n)
{
	*m = (struct sample){0};
	lattice_init(&m->l);
	lattice_add_codes(&m->l, code, n);
	lattice_index(&m->l);
	m->code = check_alloc(m->l.n, sizeof *m->code);
	lattice_codes(&m->l, m->code, 1);
	m->s = (struct emst_set){
	    .type = EMST_CODE, .n = m->l.n, .k = 3, .lattice = &m->l, .code = m->code};
}

/* The first edge in which two trees differ, or -1. */
static inline long
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

/* Holds a tree to the one that is wanted, and frees it. err is what the run returned. */
static inline void
same_tree(struct check_many *c, const struct emst_tree *want, struct emst_tree *got, int err,
	  const char *what, size_t set)
{
	long at = err ? 0 : difference(want, got);

	check_case(c, at < 0, "set %zu, %s: %s, edge %ld of %zu", set, what, strerror(-err), at,
		   want->n - 1);
	emst_tree_free(got);
}

/* Sets of check_each(): few colours and points, whose trees emst_on compares, at first by every way of the CPU. */
extern void (*emst_on)(struct check_many *c, const struct sample *m, size_t set);
void emst_colours(struct check_many *c, struct check_rng *r, size_t set);
void emst_points(struct check_many *c, struct check_rng *r, size_t set);

/* Colours in a box of the given side, at multiples of step; half of the time only on a plane, a line or a shell, or gray. */
static inline void
random_colours(struct sample *m, struct check_rng *r, size_t n, unsigned side, unsigned step)
{
	uint32_t *code = check_alloc(n, sizeof *code);
	size_t kind = rng_below(r, 10);
	unsigned most = 255 / step < side ? 255 / step : side;
	unsigned shift = (unsigned)rng_below(r, 256 - most * step);

	for (size_t i = 0; i < n; i++) {
		unsigned x[3];
		for (int a = 0; a < 3; a++)
			x[a] = shift + step * (unsigned)rng_below(r, most + 1);
		if (kind == 0)
			x[0] = shift;
		if (kind == 1)
			x[0] = x[1] = shift;
		if (kind == 2)
			x[2] = x[1] = x[0];
		if (kind == 3 && rng_below(r, 20) == 0)
			x[0] = 255 * (unsigned)rng_below(r, 2);
		code[i] = kind == 4 ? x[2] : x[0] << 16 | x[1] << 8 | x[2];
	}
	sample_codes(m, code, n);
	m->s.k = kind == 4 ? 1 : 3;
}

/* Points of k coordinates, no two equal, on a grid of the given number of places per axis (0: anywhere). */
static inline void
random_points(struct sample *m, struct check_rng *r, size_t n, unsigned k, size_t places, bool wide)
{
	size_t have = 0;

	*m = (struct sample){.f = check_alloc(n * k, sizeof *m->f),
			     .d = check_alloc(n * k, sizeof *m->d)};
	for (size_t tries = 0; have < n && tries < 4 * n; tries++) {
		float *x = m->f + have * k;
		size_t same = 0;
		for (size_t a = 0; a < k; a++)
			x[a] = places ? (float)rng_below(r, places) : (float)rng_normal(r);
		while (same < have && memcmp(m->f + same * k, x, k * sizeof *x))
			same++;
		have += same == have;
	}
	for (size_t i = 0; i < have * k; i++)
		m->d[i] = (double)m->f[i];
	m->s = (struct emst_set){.type = wide ? EMST_F64 : EMST_F32, .n = have, .k = k};
	m->s.x = wide ? (const void *)m->d : m->f;
}

/* Colours all over, in a cloud or in four clouds; two sets of eight are sheets. */
enum { CLOUDS = 8 };
static inline void
cloud_colours(struct sample *m, struct check_rng *r, size_t set, size_t n)
{
	uint32_t *code = check_alloc(n, sizeof *code);

	for (size_t i = 0; i < n; i++) {
		double v[3];
		for (int a = 0; a < 3; a++)
			v[a] = set < 3	 ? 256 * rng_unit(r)
			       : set < 6 ? 128 + 8 * (double)set * rng_normal(r)
					 : 20 + 60 * (double)rng_below(r, 4) + 4 * rng_normal(r);
		if (set % 3 == 1)
			v[0] = .5 * v[1] + .3 * v[2] + 20 * (double)rng_below(r, 3);
		code[i] = 0;
		for (int a = 0; a < 3; a++)
			code[i] = code[i] << 8 | (uint32_t)fmin(fmax(v[a], 0), 255);
	}
	sample_codes(m, code, n);
}

#endif
