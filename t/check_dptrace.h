/* The checks of dptrace, by file; and random chains of given tables, for the CPU and the GPU. */
#ifndef T_CHECK_DPTRACE_H
#define T_CHECK_DPTRACE_H

#include "dptrace/dptrace.h"
#include "dptrace/resolve.h"
#include "t/check.h"

void check_dptrace_scores(void);
void check_dptrace_traces(void);
void check_dptrace_ways(void);

enum { CHAIN_SEGMENTS = 3, CHAIN_GUIDES = 7, CHAIN_SAMPLES = 67 };

/* A chain of nseg tables, whose scores are check_free()'s. */
struct check_chain {
	struct dptrace_table seg[CHAIN_SEGMENTS];
	size_t nseg;
	double phi;
	double h[CHAIN_SEGMENTS][CHAIN_GUIDES];
	int d[CHAIN_SEGMENTS][CHAIN_GUIDES], o[CHAIN_SEGMENTS][CHAIN_GUIDES];
	const float *score[CHAIN_SEGMENTS][CHAIN_GUIDES];
	float *table[CHAIN_SEGMENTS][CHAIN_GUIDES]; /* the same, to be changed */
};

/*
 * What tables are made of: guides, of one size or each of its own; scores of so many whole values, so that many polylines are
 * equally good, or any (0). Guides are .3 to 3.3 times `apart` apart; 0 stands for 1.
 */
struct check_shape {
	size_t n, least, most; /* guides; samples of one */
	bool uneven;
	size_t values;
	double apart;
};

/* Makes segment s, whose first and last guide have those numbers of samples. */
static inline void
check_segment(struct check_chain *c, size_t s, struct check_rng *r, const struct check_shape *of,
	      const int ends[2])
{
	const double heading = 2 * M_PI * rng_unit(r), dv = .5 + rng_unit(r),
		     unit = of->apart > 0 ? of->apart : 1, h = unit * (.3 + 3 * rng_unit(r));
	const size_t sizes = of->most - of->least + 1, d = of->least + rng_below(r, sizes);

	c->seg[s] = (struct dptrace_table){.n = of->n,
					   .dv = dv,
					   .ex = cos(heading),
					   .ey = sin(heading),
					   .h = c->h[s],
					   .d = c->d[s],
					   .o = c->o[s],
					   .score = c->score[s]};
	for (size_t g = 0; g < of->n; g++) {
		const int end = g == 0 ? ends[0] : g + 1 == of->n ? ends[1] : 0;
		c->d[s][g] = end ? end : (int)(of->uneven ? of->least + rng_below(r, sizes) : d);
		c->o[s][g] = end ? -(end / 2)
				 : -c->d[s][g] / 2 + (of->uneven ? (int)rng_below(r, 5) - 2 : 0);
		c->h[s][g] = of->uneven ? unit * (.3 + 3 * rng_unit(r)) : h;
	}
	for (size_t g = 0; g + 1 < of->n; g++) {
		const size_t n = (size_t)(c->d[s][g] * c->d[s][g + 1]);
		c->table[s][g] = check_alloc(n, sizeof(float));
		for (size_t i = 0; i < n; i++)
			c->table[s][g][i] =
			    of->values ? (float)rng_below(r, of->values) - (float)(of->values / 4)
				       : (float)(rng_unit(r) - .3);
		c->score[s][g] = c->table[s][g];
	}
}

/* Makes all segments. Half of the points where segments meet, and of the ends, have up to 4 samples. */
static inline void
check_chain(struct check_chain *c, struct check_rng *r, const struct check_shape *of)
{
	int ends[2] = {rng_below(r, 2) ? 1 : 1 + (int)rng_below(r, 4)};

	for (size_t s = 0; s < c->nseg; s++) {
		ends[1] = rng_below(r, 2) ? 1 : 1 + (int)rng_below(r, 4);
		check_segment(c, s, r, of, ends);
		ends[0] = ends[1];
	}
}

#endif
