/* The samples of gathers and panels: their memory, and how they are read. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "radon/stream/heads.h"

/* Samples that are read at a time. They stay in the cache while they are looked at. */
enum { BLOCK = 1 << 16 };

void
rows_room(float **x, size_t *has, size_t rows, size_t n)
{
	size_t want;

	if (!weir_mul(rows, n, &want))
		die("a gather of %zu x %zu samples is too large", rows, n);
	if (*has >= want && *x)
		return;
	weir_free(*x);
	*x = weir_xalloc_large(want, sizeof **x);
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

/* Reads the next row of an item that has no floats. */
static void
read_row(struct gathers *s, float *x)
{
	raw_read(s->in, s->raw, s->n);
	sample_load(s->wide, s->raw, s->item.type, s->n);
	for (size_t i = 0; i < s->n; i++)
		x[i] = (float)s->wide[i];
}

/* Looks at a row. NaN and infinity become 0 or are fatal. Returns whether any sample is not 0. */
static bool
check_row(struct gathers *s, size_t row, float *x)
{
	float peak = largest_or_bad(x, s->n);
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
normalise(const struct gathers *s, struct gather *g, float *x, size_t n)
{
	const int e = s->peak > 0 ? ilogbf(s->peak) : 0;

	g->exponent = abs(e) > 32 ? e : 0;
	if (g->exponent)
		rows_multiply(x, n, ldexp(1, -g->exponent));
}

/*
 * Returns the plane in the mapped file, where nothing need be converted or read in between; else NULL. Smaller planes are read:
 * a page that is mapped for one use costs more than its copy to memory that is used again.
 */
static float *
map_plane(struct gathers *s, struct gather *g, size_t n)
{
	enum { WORTH_MAPPING = 1 << 20 };
	const size_t count = s->rows * n;

	img_free(&g->map);
	if (s->item.type != IMG_F32 || s->n != n || count * sizeof(float) < WORTH_MAPPING ||
	    !raw_try_view(s->in, count, &g->map))
		return NULL;
	return g->map.data;
}

/* Makes room for a plane whose rows have n samples here. What the file does not have of them is 0. */
static float *
room_for_plane(const struct gathers *s, struct gather *g, size_t n)
{
	rows_room(&g->rows, &g->room_in, s->rows, n);
	if (s->n < n)
		memset(g->rows, 0, s->rows * n * sizeof *g->rows);
	return g->rows;
}

void
rows_read(struct gathers *s, struct gather *g)
{
	const bool inverse = s->shape.mode == RADON_LSQ || s->shape.mode == RADON_SPARSE;
	const size_t n = s->shape.mode == RADON_MODEL ? g->ntau : s->n;

	/* where rows follow each other here as in the file, several are read at once */
	const bool dense = s->item.type == IMG_F32 && s->n == n;
	const size_t block = dense && n < BLOCK ? BLOCK / n : 1;
	float *const mapped = map_plane(s, g, n);
	float *const x = mapped ? mapped : room_for_plane(s, g, n);

	s->peak = 0;
	g->in = x;
	for (size_t j = 0; j < g->o.nx; j++)
		g->live[j] = true;
	for (size_t r = 0; r < s->rows; r++) {
		float *const row = x + r * n + s->skip;
		const size_t left = s->rows - r;

		if (!mapped && s->item.type != IMG_F32)
			read_row(s, row);
		else if (!mapped && r % block == 0)
			raw_read(s->in, row, (left < block ? left : block) * s->n);
		const bool any = check_row(s, r, row);
		if (inverse)
			g->live[r] = any;
	}
	if (mapped)
		raw_skip(s->in, s->rows * n);
	normalise(s, g, x, s->rows * n);
}
