#include <errno.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "emst/lattice/lattice.h"

enum { BITS = LATTICE_ROWS * LATTICE_WORDS, PARALLEL_PIXELS = 1 << 20 };

int
lattice_init(struct lattice *l)
{
	*l =
	    (struct lattice){.bits = weir_calloc_large(BITS, sizeof *l->bits),
			     .before = weir_alloc_large(LATTICE_ROWS * 4, sizeof *l->before),
			     .filled = weir_calloc(LATTICE_SIDE * LATTICE_WORDS, sizeof *l->filled),
			     .step = 1};
	if (l->bits && l->before && l->filled)
		return 0;
	lattice_free(l);
	return -ENOMEM;
}

void
lattice_free(struct lattice *l)
{
	weir_free(l->bits);
	weir_free(l->before);
	weir_free(l->filled);
	*l = (struct lattice){0};
}

static inline void
mark(uint64_t *bits, unsigned r, unsigned g, unsigned b)
{
	bits[lattice_row((int)r, (int)g) * LATTICE_WORDS + 1 + (b >> 6)] |= (uint64_t)1 << (b & 63);
}

static void
mark_pixels(uint64_t *bits, const uint8_t *px, size_t n, size_t c)
{
	if (c == 3)
		for (size_t i = 0; i < n; i++, px += 3)
			mark(bits, px[0], px[1], px[2]);
	else if (c == 2)
		for (size_t i = 0; i < n; i++, px += 2)
			mark(bits, 0, px[0], px[1]);
	else
		for (size_t i = 0; i < n; i++)
			mark(bits, 0, 0, px[i]);
}

/* Each thread marks a bitmap of its own, and the bitmaps are then joined. A shared one would move between the caches. */
int
lattice_add(struct lattice *l, const uint8_t *px, size_t n, size_t c, int threads)
{
	size_t parts = n < PARALLEL_PIXELS || threads < 2 ? 1 : threads > 4 ? 4 : (size_t)threads;
	uint64_t *own = parts > 1 ? weir_alloc_large(parts - 1, BITS * sizeof *own) : NULL;

	if (parts > 1 && !own)
		return -ENOMEM;
#pragma omp parallel num_threads((int)parts) if (parts > 1)
	{
#pragma omp for schedule(static, 1)
		for (size_t p = 0; p < parts; p++) {
			size_t from = n * p / parts, to = n * (p + 1) / parts;
			uint64_t *bits = p ? own + (p - 1) * BITS : l->bits;
			if (p)
				memset(bits, 0, BITS * sizeof *bits);
			mark_pixels(bits, px + from * c, to - from, c);
		}
#pragma omp for schedule(static)
		for (size_t i = 0; i < BITS; i++)
			for (size_t p = 1; p < parts; p++)
				l->bits[i] |= own[(p - 1) * BITS + i];
	}
	weir_free(own);
	return 0;
}

void
lattice_add_codes(struct lattice *l, const uint32_t *code, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mark(l->bits, code[i] >> 16, code[i] >> 8 & 255, code[i] & 255);
}

WEIR_CLONES(count_rows, (struct lattice *restrict l), (l))
{
	uint32_t n = 0;

	l->rows = 0;
	for (size_t row = 0; row < LATTICE_ROWS; row++) {
		const uint64_t *w = l->bits + row * LATTICE_WORDS + 1;
		uint32_t *before = l->before + row * 4;
		const uint64_t any = (w[0] | w[1] | w[2] | w[3]) != 0;
		const size_t r = row / LATTICE_SIDE, bit = row % LATTICE_SIDE + 63;
		for (size_t i = 0; i < 4; i++) {
			before[i] = n;
			n += (uint32_t)__builtin_popcountll(w[i]);
		}
		l->filled[r * LATTICE_WORDS + bit / 64] |= any << bit % 64;
		l->rows += any;
	}
	l->n = n;
}

void
lattice_index(struct lattice *l)
{
	count_rows(l);
}

void
lattice_codes(const struct lattice *l, uint32_t *codes, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
	for (int r = 0; r < 256; r++) {
		uint32_t *code = codes + l->before[lattice_row(r, 0) * 4];
		for (int g = lattice_next_row(l, r, 0); g < 256;
		     g = lattice_next_row(l, r, g + 1)) {
			const uint64_t *w = lattice_words(l, r, g);
			uint32_t base = (uint32_t)(r << 16 | g << 8);
			for (uint32_t i = 0; i < 4; i++)
				for (uint64_t x = w[i]; x; x &= x - 1)
					*code++ = base | i << 6 | (uint32_t)__builtin_ctzll(x);
		}
	}
}

static uint32_t
gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t t = a % b;
		a = b;
		b = t;
	}
	return a;
}

/*
 * Returns the greatest common divisor of step and of the differences of the values that occur in one plane. used[] has a flag
 * for each value. *least is set to the smallest value.
 */
static uint32_t
divisor(const uint8_t used[256], uint32_t step, uint32_t *least)
{
	uint32_t v = 0;

	while (!used[v])
		v++;
	*least = v;
	for (; v < 256; v++)
		if (used[v])
			step = gcd(step, v - *least);
	return step;
}

void
lattice_used(const struct lattice *l, uint8_t used[3][256])
{
	uint64_t any[4] = {0};

	memset(used, 0, sizeof(uint8_t[3][256]));
	for (int r = 0; r < 256; r++)
		for (int g = lattice_next_row(l, r, 0); g < 256;
		     g = lattice_next_row(l, r, g + 1)) {
			const uint64_t *w = lattice_words(l, r, g);
			used[0][r] = used[1][g] = 1;
			for (int i = 0; i < 4; i++)
				any[i] |= w[i];
		}
	for (int b = 0; b < 256; b++)
		used[2][b] = any[b >> 6] >> (b & 63) & 1;
}

static uint32_t
common_step(const struct lattice *l, uint32_t least[3])
{
	uint8_t used[3][256];
	uint32_t step = 0;

	lattice_used(l, used);
	for (int a = 0; a < 3; a++)
		step = divisor(used[a], step, &least[a]);
	return step;
}

int
lattice_scale(const struct lattice *l, struct lattice *to)
{
	uint32_t least[3], step = common_step(l, least);

	*to = (struct lattice){.step = 1};
	if (step <= 1)
		return 0;
	if (lattice_init(to))
		return -ENOMEM;
	to->step = step;
	for (int r = 0; r < 256; r++)
		for (int g = lattice_next_row(l, r, 0); g < 256;
		     g = lattice_next_row(l, r, g + 1)) {
			const uint64_t *w = lattice_words(l, r, g);
			for (uint32_t i = 0; i < 4; i++)
				for (uint64_t x = w[i]; x; x &= x - 1) {
					uint32_t b = i << 6 | (uint32_t)__builtin_ctzll(x);
					mark(to->bits, ((uint32_t)r - least[0]) / step,
					     ((uint32_t)g - least[1]) / step,
					     (b - least[2]) / step);
				}
		}
	lattice_index(to);
	return 0;
}
