/* The samples of gathers and panels: their memory, and how they are read. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "common/die.h"
#include "common/mem.h"
#include "common/real.h"
#include "common/sample.h"
#include "radon/stream/heads.h"

void
rows_room(float **x, size_t *has, size_t rows, size_t n)
{
	size_t want;

	if (!weir_mul(rows, n, &want))
		die("a gather of %zu x %zu samples is too large", rows, n);
	if (*has >= want && *x)
		return;
	weir_free(*x);
	*x = weir_xalloc(want, sizeof **x);
	*has = want;
}

/* Returns the largest magnitude of n samples: infinity or NaN, if any is. Their bits order them, NaN above infinity. */
WEIR_CLONES_OF(float, largest_or_bad, (const float *x, size_t n), (x, n))
{
	uint32_t most = 0;
	float peak;

	for (size_t i = 0; i < n; i++) {
		uint32_t v;
		memcpy(&v, &x[i], sizeof v);
		v &= 0x7fffffff;
		most = v > most ? v : most;
	}
	memcpy(&peak, &most, sizeof peak);
	return peak;
}

/* Reads the next row of the item as floats. NaN and infinity become 0 or are fatal. Returns whether any sample is not 0. */
static bool
read_row(struct gathers *s, size_t row, float *x)
{
	float peak;

	if (s->item.type == IMG_F32) {
		raw_read(s->in, x, s->n);
	} else {
		raw_read(s->in, s->raw, s->n);
		sample_load(s->wide, s->raw, s->item.type, s->n);
		for (size_t i = 0; i < s->n; i++)
			x[i] = (float)s->wide[i];
	}
	peak = largest_or_bad(x, s->n);
	const bool bad = !isfinite(peak);
	for (size_t i = 0; bad && i < s->n; i++)
		if (!isfinite(x[i]) && !s->o->nan_is_zero)
			raw_die(s->in,
				"gather %zu: %s %zu: sample %zu is %g; --nan=zero takes it for 0",
				s->plane + 1, s->shape.mode == RADON_MODEL ? "curve" : "trace",
				row + 1, i + 1,
				real_shown(s->item.type == IMG_F32 ? (double)x[i] : s->wide[i]));
		else if (!isfinite(x[i]))
			x[i] = 0;
	if (bad)
		peak = largest_or_bad(x, s->n);
	s->peak = fmaxf(s->peak, peak);
	return peak > 0;
}

bool
rows_multiply(float *x, size_t n, double by)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (float)((double)x[i] * by);
	return isfinite(largest_or_bad(x, n));
}

/*
 * Multiplies n samples by a power of 2 when they are so large or small that their squares would leave the range of floats.
 * Amplitudes of 1e-20 occur in real files.
 */
static void
normalise(const struct gathers *s, struct gather *g, size_t n)
{
	const int e = s->peak > 0 ? ilogbf(s->peak) : 0;

	g->exponent = abs(e) > 32 ? e : 0;
	if (g->exponent)
		rows_multiply(g->in, n, ldexp(1, -g->exponent));
}

void
rows_read(struct gathers *s, struct gather *g)
{
	const bool inverse = s->shape.mode == RADON_LSQ || s->shape.mode == RADON_SPARSE;
	const size_t n = s->shape.mode == RADON_MODEL ? g->ntau : s->n;

	s->peak = 0;
	for (size_t j = 0; j < g->o.nx; j++)
		g->live[j] = true;
	rows_room(&g->in, &g->room_in, s->rows, n);
	if (s->n < n)
		memset(g->in, 0, s->rows * n * sizeof *g->in);
	for (size_t r = 0; r < s->rows; r++) {
		const bool any = read_row(s, r, g->in + r * n + s->skip);
		if (inverse)
			g->live[r] = any;
	}
	normalise(s, g, s->rows * n);
}
