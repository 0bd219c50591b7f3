/* A segment of equal gaps and the strip along it, for the checks and the bench of link scores. */
#ifndef T_DPTRACE_STRIP_H
#define T_DPTRACE_STRIP_H

#include "dptrace/evidence/strip.h"

struct strip_scene {
	struct segment s; /* its scores come from strip */
	struct strip strip;
	struct base base;
	struct scratch scratch;
	void *memory; /* weir_free()'s */
};

/* Lays out so many gaps of guides of d samples, dv apart, from a to b. The strip is still to be filled. */
static inline void
strip_scene_make(struct strip_scene *p, const struct dptrace_options *o, int gaps, int d, double dv,
		 const double a[2], const double b[2])
{
	const double length = hypot(b[0] - a[0], b[1] - a[1]);
	const struct grid g = strip_grid(length, gaps, d, dv, o->score, o->sigma);
	struct arena room = {0};

	*p = (struct strip_scene){.strip = {.g = g, .o = o}};
	for (int pass = 0; pass < 2; pass++) {
		room.base = p->memory = pass ? weir_xalloc(room.used, 1) : NULL;
		if (pass)
			memset(room.base, 0xff, room.used);
		room.used = 0;
		segment_take(&p->s, &room, gaps + 1, d, d, false, 1);
		strip_take(&p->strip, &room, &g);
		base_take(&p->base, &room, &g);
		scratch_take(&p->scratch, &room, &g);
	}
	struct course *c = &p->s.c;
	c->n = gaps + 1;
	c->rows = c->maxd = d;
	c->dv = dv;
	c->ex = (b[0] - a[0]) / length;
	c->ey = (b[1] - a[1]) / length;
	for (int i = 0; i <= gaps; i++) {
		c->d[i] = d;
		c->o[i] = 0;
		c->h[i] = length / gaps;
	}
	segment_shape(&p->s, (struct bound){-1, 0});
	p->s.ctx = &p->strip;
	strip_columns(p->scratch.column, &g, &(struct origin){a[0], a[1], c->ex, c->ey});
}

static inline void
strip_scene_fill(struct strip_scene *p, const struct dptrace_image *im, const float *gray)
{
	base_fill(&p->base, &p->scratch, &p->strip.g, im, gray, p->strip.o, &p->strip.rule);
	strip_fill(&p->strip, &p->base, &p->s.c);
}

#endif
