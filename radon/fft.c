#include <errno.h>
#include <math.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "radon/fft.h"

/* Four complex numbers at any address. */
typedef float four __attribute__((vector_size(32), aligned(4), may_alias));

#define SHUFFLE(a, ...) __builtin_shufflevector(a, a, __VA_ARGS__)

/* Elements k and h - k of half a spectrum, a and b, are mixed: E = a + conj b and T = turn (a - conj b). */
CPU_INLINE void
mix_pair(float *a, float *b, const float *turn, float scale, float sign)
{
	const float er = a[0] + b[0], ei = a[1] - b[1], dr = a[0] - b[0], di = a[1] + b[1];
	const float tr = turn[0] * dr - sign * turn[1] * di,
		    ti = turn[0] * di + sign * turn[1] * dr;

	a[0] = scale * (er + tr);
	a[1] = scale * (ei + ti);
	b[0] = scale * (er - tr);
	b[1] = scale * (ti - ei);
}

/* mix_pair() for elements k .. k + 3, at a, and h - k - 3 .. h - k, at b. */
CPU_INLINE void
mix_four(float *a, float *b, const float *turn, float scale, float sign)
{
	const four conj = {1, -1, 1, -1, 1, -1, 1, -1}, t = *(const four *)turn;
	const four x = *(four *)a, y = SHUFFLE(*(four *)b, 6, 7, 4, 5, 2, 3, 0, 1) * conj;
	const four d = x - y, e = x + y, swapped = SHUFFLE(d, 1, 0, 3, 2, 5, 4, 7, 6) * conj;
	const four p = SHUFFLE(t, 0, 0, 2, 2, 4, 4, 6, 6) * d -
		       SHUFFLE(t, 1, 1, 3, 3, 5, 5, 7, 7) * sign * swapped;

	*(four *)a = scale * (e + p);
	*(four *)b = SHUFFLE(scale * (e - p) * conj, 6, 7, 4, 5, 2, 3, 0, 1);
}

/*
 * Turns the spectrum of z, s[0] .. s[h-1], into that of x, s[0] .. s[h], with scale 1/2 and sign 1; and back into twice that
 * of z with scale 1 and sign -1, which conjugates the factors.
 */
WEIR_CLONES(mix, (float *s, const float *turn, size_t h, float scale, float sign),
	    (s, turn, h, scale, sign))
{
	size_t k = 1;

	for (; 2 * k + 6 < h; k += 4)
		mix_four(s + 2 * k, s + 2 * (h - k - 3), turn + 2 * k, scale, sign);
	for (; 2 * k < h; k++)
		mix_pair(s + 2 * k, s + 2 * (h - k), turn + 2 * k, scale, sign);
	if (2 * k == h) {
		s[2 * k] *= 2 * scale;
		s[2 * k + 1] *= -2 * scale;
	}
}

void
radon_fft_forward(const struct radon_fft *p, float *row, float *spectrum)
{
	const size_t h = p->n / 2;
	float re, im;

	fftwf_execute_dft(p->forward, (fftwf_complex *)row, (fftwf_complex *)spectrum);
	re = spectrum[0];
	im = spectrum[1];
	mix(spectrum, p->turn, h, .5f, 1);
	spectrum[0] = re + im;
	spectrum[2 * h] = re - im;
	spectrum[1] = spectrum[2 * h + 1] = 0;
}

void
radon_fft_backward(const struct radon_fft *p, float *spectrum, float *row)
{
	const size_t h = p->n / 2;
	const float first = spectrum[0], last = spectrum[2 * h];

	mix(spectrum, p->turn, h, 1, -1);
	spectrum[0] = first + last;
	spectrum[1] = first - last;
	fftwf_execute_dft(p->backward, (fftwf_complex *)spectrum, (fftwf_complex *)row);
}

int
radon_fft_plan(struct radon_fft *p, size_t n)
{
	const int h = (int)(n / 2);
	fftwf_complex *row = weir_alloc(n / 2, sizeof *row), *s = weir_alloc(n / 2, sizeof *s);

	p->n = n;
	p->turn = weir_alloc(n / 4 + 1, 2 * sizeof *p->turn);
	if (row && s && p->turn) {
		p->forward = fftwf_plan_dft_1d(h, row, s, FFTW_FORWARD, FFTW_ESTIMATE);
		p->backward = fftwf_plan_dft_1d(h, s, row, FFTW_BACKWARD, FFTW_ESTIMATE);
	}
	weir_free(row);
	weir_free(s);
	if (!p->forward || !p->backward)
		return -ENOMEM;
	for (size_t k = 0; k <= n / 4; k++) {
		p->turn[2 * k] = (float)-sin(2 * M_PI * (double)k / (double)n);
		p->turn[2 * k + 1] = (float)-cos(2 * M_PI * (double)k / (double)n);
	}
	return 0;
}

void
radon_fft_free(struct radon_fft *p)
{
	weir_free(p->turn);
	if (p->forward)
		fftwf_destroy_plan(p->forward);
	if (p->backward)
		fftwf_destroy_plan(p->backward);
	*p = (struct radon_fft){0};
}
