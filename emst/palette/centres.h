/* A class of colours is represented by its mean and its weight. */
#ifndef EMST_CENTRES_H
#define EMST_CENTRES_H

#include <stddef.h>

#include "emst/palette/cells.h"

struct centre {
	float x[3], w; /* mean and pixels */
};

static inline struct centre
centre_of(const struct sum4 *s)
{
	struct centre c = {.w = (float)s->v[3]};

	for (int a = 0; a < 3; a++)
		c.x[a] = (float)((double)s->v[a] / (double)s->v[3]);
	return c;
}

static inline struct centre
centre_join(struct centre a, struct centre b)
{
	for (int i = 0; i < 3; i++)
		a.x[i] = (a.x[i] * a.w + b.x[i] * b.w) / (a.w + b.w);
	a.w += b.w;
	return a;
}

/* Returns what joining two classes adds to the SSE (Ward 1963). */
static inline float
centre_cost(const struct centre *a, const struct centre *b)
{
	float d2 = 0;

	for (int i = 0; i < 3; i++)
		d2 += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
	return d2 * (a->w * b->w) / (a->w + b->w);
}

/*
 * Makes classes by the octree (seeds.c). Its nodes are split while they hold `most` pixels or more, down to 2x2x2. Where that
 * leaves fewer than `least` classes, `most` is halved and nodes of 2x2x2 are split too. The caller frees *seed [*n]. 0 or
 * -ENOMEM.
 */
int seeds_make(const struct cells *c, double most, size_t least, struct centre **seed, size_t *n);

/*
 * Ward's method (ward.c) joins n classes two by two, always the two whose joining costs least. ward_make() finds the order of
 * joining; 0 or -ENOMEM. ward_cut() fills out [k] with the classes when k <= n of them are left.
 */
struct ward;
int ward_make(struct ward **w, const struct centre *c, size_t n);
void ward_free(struct ward *w);
void ward_cut(const struct ward *w, size_t k, struct centre *out);

#endif
