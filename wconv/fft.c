#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "wconv/plan.h"

/* Stores cos(a) and sin(a) as pair i of a table of floats or doubles. */
static void
put_turn(void *table, size_t sample, size_t i, double a)
{
	if (sample == sizeof(double)) {
		((double *)table)[2 * i] = cos(a);
		((double *)table)[2 * i + 1] = sin(a);
	} else {
		((float *)table)[2 * i] = (float)cos(a);
		((float *)table)[2 * i + 1] = (float)sin(a);
	}
}

/*
 * Chooses the radices of the passes over n points. Odd radices come first: the last pass has no twiddles, and that saves
 * most with the largest radix. A remaining 2 and an 8 become 4 4.
 */
static int
factor(struct wconv_fft *f, size_t n)
{
	size_t twos = 0;

	f->n = n;
	f->passes = 0;
	for (size_t radix = 3; radix <= 5; radix += 2)
		for (; n % radix == 0; n /= radix)
			f->radix[f->passes++] = (unsigned char)radix;
	for (; n % 2 == 0; n /= 2)
		twos++;
	if (twos == 1)
		f->radix[f->passes++] = 2;
	for (size_t left = twos % 3 == 1 && twos >= 4 ? 4
			   : twos % 3 == 2	      ? 2
						      : 0;
	     left > 0; left -= 2)
		f->radix[f->passes++] = 4;
	for (size_t left = twos % 3 == 1 && twos >= 4 ? twos - 4 : twos - twos % 3; left >= 3;
	     left -= 3)
		f->radix[f->passes++] = 8;
	return n == 1 ? 0 : -EINVAL;
}

int
wconv_fft_plan(struct wconv_fft *f, size_t n, size_t sample)
{
	size_t len = n, at = 0;

	memset(f, 0, sizeof *f);
	if (factor(f, n))
		return -EINVAL;
	f->twiddle = weir_alloc(2 * n + 2, sample); /* sum of len - len/radix over the passes < n */
	if (!f->twiddle)
		return -ENOMEM;
	for (size_t s = 0; s < f->passes; s++) {
		const size_t radix = f->radix[s], m = len / radix;
		for (size_t j = 0; j < m; j++)
			for (size_t q = 1; q < radix; q++)
				put_turn(f->twiddle, sample, at++,
					 -2 * M_PI * (double)(j * q) / (double)len);
		len = m;
	}
	f->ntwiddle = 2 * at;
	return 0;
}

/* Returns where coefficient k stands after decimation in frequency: its digits reversed. */
static size_t
find_place(const struct wconv_fft *f, size_t k)
{
	size_t place = 0, len = f->n;

	for (size_t s = 0; s < f->passes; s++) {
		len /= f->radix[s];
		place += k % f->radix[s] * len;
		k /= f->radix[s];
	}
	return place;
}

int
wconv_rfft_plan(struct wconv_rfft *f, size_t n, size_t sample, size_t lanes)
{
	const size_t m = n / 2;
	int e;

	memset(f, 0, sizeof *f);
	f->n = n;
	f->blocks = m / lanes + 1;
	e = wconv_fft_plan(&f->half, m, sample);
	f->place = weir_alloc(m, sizeof *f->place);
	f->turn = weir_alloc(2 * m + 2, sample);
	if (e || !f->place || !f->turn)
		return e ? e : -ENOMEM;
	for (size_t k = 0; k < m; k++)
		f->place[k] = find_place(&f->half, k);
	for (size_t k = 0; k <= m; k++)
		put_turn(f->turn, sample, k, 2 * M_PI * (double)k / (double)n);
	return 0;
}

void
wconv_fft_free(struct wconv_fft *f)
{
	weir_free(f->twiddle);
	memset(f, 0, sizeof *f);
}

void
wconv_rfft_free(struct wconv_rfft *f)
{
	wconv_fft_free(&f->half);
	weir_free(f->place);
	weir_free(f->turn);
	memset(f, 0, sizeof *f);
}
