#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "dptrace/evidence/normalise.h"

/* k bits of a float x >= 0, after its first `skip` bits. The leading bits of such floats are ordered as the floats are. */
static unsigned
bits_of(float x, int skip, int k)
{
	uint32_t u;

	memcpy(&u, &x, sizeof u);
	return u << skip >> (32 - k);
}

/*
 * The median of the sizes inside the picture and the strip, taken from every fourth column; 0 when there are none. Two
 * rounds of counting the leading bits find it to 1 part in 30000. *top receives the largest size.
 */
static float
median_size(const struct grid *g, const struct scratch *b, float *top)
{
	enum { BITS = 12, BINS = 1 << BITS, ROUNDS = 2 };
	const size_t base = base_rows(g);
	uint32_t count[BINS], bits = 0;
	size_t n = 0, before = 0;
	float median;

	*top = 0;
	for (int round = 0; round < ROUNDS; round++) {
		memset(count, 0, sizeof count);
		for (int c = 0; c < g->ncol; c += 4)
			for (size_t i = (size_t)c * base + SKIRT;
			     i < (size_t)c * base + SKIRT + (size_t)g->base; i++) {
				if (b->inside[i] == 0 ||
				    (round && bits_of(b->size[i], 0, round * BITS) != bits))
					continue;
				count[bits_of(b->size[i], round * BITS, BITS)]++;
				n += !round;
				*top = b->size[i] > *top ? b->size[i] : *top;
			}
		unsigned k = 0;
		while (k + 1 < BINS && before + count[k] <= n / 2)
			before += count[k++];
		bits = bits << BITS | k;
	}
	bits <<= 32 - ROUNDS * BITS;
	memcpy(&median, &bits, sizeof median);
	return n ? median : 0;
}

/*
 * g0: DPTRACE_SOFT medians, and at least a quarter of the largest size. That minimum keeps the peak of a clear line in a
 * quiet picture from being cut off flat.
 */
static float
soft_size(float median, float top)
{
	float g0 = DPTRACE_SOFT * median, least = top / 4;

	return g0 > least ? g0 : least;
}

/* f *= sign * inside / (size + g0). Where the divisor is 0 there is no evidence. */
WEIR_CLONES(soft_normalise,
	    (float *restrict f, const float *restrict size, const float *restrict inside,
	     float sign, float g0, size_t n),
	    (f, size, inside, sign, g0, n))
{
	for (size_t i = 0; i < n; i++) {
		float d = size[i] + g0;
		f[i] = d > 0 ? f[i] * (sign * inside[i] / d) : 0;
	}
}

/* f *= scale * inside. The scale turns the level into 1. */
WEIR_CLONES(scale_inside, (float *restrict f, const float *restrict inside, float scale, size_t n),
	    (f, inside, scale, n))
{
	for (size_t i = 0; i < n; i++)
		f[i] *= scale * inside[i];
}

void
normalise_sum(struct base *b, const struct scratch *scratch, const struct grid *g,
	      const struct dptrace_options *o, const struct rule *rule)
{
	const int fields = o->score == DPTRACE_RIDGE ? 3 : 2;
	const size_t n = (size_t)g->ncol * base_rows(g);
	float top;
	const float median = median_size(g, scratch, &top);

	b->blank = top == 0;
	b->g0 = o->score == DPTRACE_SIN ? 0 : soft_size(median, top);
	for (int i = 0; i < fields; i++)
		soft_normalise(b->f[i], scratch->size, scratch->inside,
			       fields == 3 && rule->polarity >= 0 ? -1 : 1, b->g0, n);
}

/* f -= part * size * inside. */
WEIR_CLONES(subtract_flanks,
	    (float *restrict f, const float *restrict size, const float *restrict inside,
	     float part, size_t n),
	    (f, size, inside, part, n))
{
	for (size_t i = 0; i < n; i++)
		f[i] -= part * size[i] * inside[i];
}

void
normalise_cost(struct base *b, const struct scratch *scratch, const struct grid *g,
	       const struct dptrace_options *o, const struct rule *r)
{
	const int fields = o->score == DPTRACE_RIDGE ? 3 : 2;
	const size_t n = (size_t)g->ncol * base_rows(g);
	const float sign = fields == 3 && r->polarity >= 0 ? -1 : 1;

	b->blank = r->scale == 0;
	for (int i = 0; i < fields; i++)
		scale_inside(b->f[i], scratch->inside, sign * r->scale, n);
	for (int i = 0; r->flank > 0 && i < fields; i += 2)
		subtract_flanks(b->f[i], scratch->size, scratch->inside, r->flank * r->scale, n);
}
