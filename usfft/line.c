#include <errno.h>
#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/fft.h"
#include "common/base/mem.h"
#include "usfft/line.h"
#include "usfft/loops/loops.h"
#include "usfft/window.h"

/* A row of the grid: cells -LEAD .. grid-1-LEAD, then LINE_TAPS of overhang that are folded onto the first ones. */
enum { LEAD = LINE_TAPS / 2 - 1 };

/* Computes the factors that undo, at mode i - n/2, the window and the shift of the grid by LEAD cells. */
static void
lay_out_shift(const struct window *win, size_t n, size_t grid, float *shift)
{
	for (size_t i = 0; i < n; i++) {
		double mode = (double)i - (double)(n / 2);
		double undo = 1 / window_hat(win, fabs(mode) / (double)grid);
		double phase = -2 * M_PI * fmod(mode * LEAD, (double)grid) / (double)grid;
		shift[2 * i] = (float)(undo * cos(phase));
		shift[2 * i + 1] = (float)(undo * sin(phase));
	}
}

static int
plan_fft(struct usfft_line *p)
{
	const int n = (int)p->grid, ld = (int)p->ld;
	fftwf_complex *g = weir_alloc(p->ld, USFFT_LINE * sizeof *g);

	if (!g)
		return -ENOMEM;
	p->fft = fftwf_plan_many_dft(1, &n, USFFT_LINE, g, NULL, 1, ld, g, NULL, 1, ld,
				     FFTW_BACKWARD, FFTW_ESTIMATE);
	weir_free(g);
	return p->fft ? 0 : -ENOMEM;
}

int
usfft_line_plan(struct usfft_line *p, size_t m, size_t n)
{
	struct window win;

	*p = (struct usfft_line){.m = m, .n = n, .ops = &usfft_loops(0, true)->line};
	if (m == 0 || n == 0 || n > 1 << 28 || !weir_mul(m, 16 * USFFT_LINE, NULL))
		return -EOVERFLOW;
	p->grid = fft_size(n + n * 5 / 8 + LINE_TAPS);
	p->ld = (p->grid + LINE_TAPS + 7) / 8 * 8 + 8;
	window_make(&win, false, LINE_TAPS, fmin((double)p->grid / (double)n, 2), 4e-7);
	p->a = weir_calloc(p->m, sizeof *p->a);
	p->c = weir_calloc(p->m, sizeof *p->c);
	p->coef = weir_alloc(2 * LINE_TAPS * LINE_COEFS, sizeof *p->coef);
	p->shift = weir_alloc(p->n, 2 * sizeof *p->shift);
	int err = p->a && p->c && p->coef && p->shift ? plan_fft(p) : -ENOMEM;
	if (err) {
		usfft_line_free(p);
		return err;
	}
	/* The polynomials of the taps stand twice, for the two points that the loops take at a time, highest power first. */
	for (int i = 0; i < 2 * LINE_TAPS * LINE_COEFS; i++)
		p->coef[i] = (float)win.coef[LINE_COEFS - 1 - i / (2 * LINE_TAPS)][i % LINE_TAPS];
	lay_out_shift(&win, n, p->grid, p->shift);
	return 0;
}

void
usfft_line_points(struct usfft_line *p, const double *a, const double *c)
{
	for (size_t j = 0; j < p->m; j++) {
		p->a[j] = a ? a[j] : 0;
		p->c[j] = c[j];
	}
}

int
usfft_line_work(struct usfft_line_work *w, const struct usfft_line *p)
{
	size_t lanes = p->m * USFFT_LINE;

	w->grid = weir_alloc(p->ld * USFFT_LINE, 2 * sizeof *w->grid);
	w->place = weir_alloc(lanes, sizeof *w->place);
	w->cell = weir_alloc(lanes, sizeof *w->cell);
	w->phase = weir_alloc(lanes, 2 * sizeof *w->phase);
	if (w->grid && w->place && w->cell && w->phase)
		return 0;
	usfft_line_work_free(w);
	return -ENOMEM;
}

/* Computes, for line j at rows k..k+7, the phase k (a + c n/2), and k c modulo 1 as a cell and the offset inside it. */
WEIR_CLONES(place_lines, (const struct usfft_line *p, const struct usfft_line_work *w, size_t k),
	    (p, w, k))
{
	const double cells = (double)p->grid, half = (double)(p->n / 2);

	for (size_t j = 0; j < p->m; j++) {
		const double phase = p->a[j] + half * p->c[j], step = p->c[j];
		float *place = w->place + j * USFFT_LINE;
		float *re = w->phase + j * 2 * USFFT_LINE, *im = re + USFFT_LINE;
		int *cell = w->cell + j * USFFT_LINE;
		for (int l = 0; l < USFFT_LINE; l++) {
			const double row = (double)k + l, t = row * phase, u = row * step;
			const double x = (u - floor(u)) * cells;
			const int i = (int)x;
			cell[l] = i < (int)p->grid ? i : (int)p->grid - 1;
			place[l] = (float)(2 * (x - cell[l]) - 1);
			line_turn((float)(t - rint(t)), &re[l], &im[l]);
		}
	}
}

WEIR_CLONES(write_modes,
	    (const struct usfft_line *p, const struct usfft_line_work *w, float sign, float *f,
	     size_t ldf),
	    (p, w, sign, f, ldf))
{
	for (size_t i = 0; i < p->n; i++, f += 2 * ldf) {
		const size_t h = p->n / 2, at = i < h ? p->grid + i - h : i - h;
		const float a = p->shift[2 * i], b = p->shift[2 * i + 1];
		for (size_t l = 0; l < USFFT_LINE; l++) {
			const float *g = w->grid + 2 * (l * p->ld + at);
			f[2 * l] = a * g[0] - b * g[1];
			f[2 * l + 1] = sign * (a * g[1] + b * g[0]);
		}
	}
}

WEIR_CLONES(read_modes,
	    (const struct usfft_line *p, const struct usfft_line_work *w, float sign,
	     const float *f, size_t ldf),
	    (p, w, sign, f, ldf))
{
	const size_t h = p->n / 2;

	for (size_t l = 0; l < USFFT_LINE; l++)
		memset(w->grid + 2 * (l * p->ld + p->n - h), 0,
		       2 * sizeof *w->grid * (p->grid - p->n));
	for (size_t i = 0; i < p->n; i++, f += 2 * ldf) {
		const size_t at = i < h ? p->grid + i - h : i - h;
		const float a = p->shift[2 * i], b = p->shift[2 * i + 1];
		for (size_t l = 0; l < USFFT_LINE; l++) {
			float *g = w->grid + 2 * (l * p->ld + at);
			const float re = f[2 * l], im = sign * f[2 * l + 1];
			g[0] = a * re - b * im;
			g[1] = a * im + b * re;
		}
	}
}

static void
fold_overhang(const struct usfft_line *p, const struct usfft_line_work *w)
{
	for (size_t l = 0; l < USFFT_LINE; l++) {
		float *g = w->grid + 2 * l * p->ld;
		for (size_t i = 0; i < 2 * LINE_TAPS; i++)
			g[i] += g[2 * p->grid + i];
	}
}

static void
copy_overhang(const struct usfft_line *p, const struct usfft_line_work *w)
{
	for (size_t l = 0; l < USFFT_LINE; l++) {
		float *g = w->grid + 2 * l * p->ld;
		memcpy(g + 2 * p->grid, g, 2 * LINE_TAPS * sizeof *g);
	}
}

void
usfft_line_type1(const struct usfft_line *p, struct usfft_line_work *w, int sign, size_t k,
		 const float *d, size_t ldd, float *f, size_t ldf)
{
	fftwf_complex *g = (fftwf_complex *)w->grid;

	place_lines(p, w, k);
	memset(w->grid, 0, 2 * sizeof *w->grid * p->ld * USFFT_LINE);
	p->ops->spread(p, w, sign, d, ldd);
	fold_overhang(p, w);
	fftwf_execute_dft(p->fft, g, g);
	write_modes(p, w, (float)sign, f, ldf);
}

void
usfft_line_type2(const struct usfft_line *p, struct usfft_line_work *w, int sign, size_t k,
		 const float *f, size_t ldf, float *d, size_t ldd)
{
	fftwf_complex *g = (fftwf_complex *)w->grid;

	place_lines(p, w, k);
	read_modes(p, w, (float)sign, f, ldf);
	fftwf_execute_dft(p->fft, g, g);
	copy_overhang(p, w);
	p->ops->interp(p, w, sign, d, ldd);
}

void
usfft_line_free(struct usfft_line *p)
{
	weir_free_all(p->a, p->c, p->coef, p->shift);
	if (p->fft)
		fftwf_destroy_plan(p->fft);
	*p = (struct usfft_line){0};
}

void
usfft_line_work_free(struct usfft_line_work *w)
{
	weir_free_all(w->grid, w->place, w->cell, w->phase);
	*w = (struct usfft_line_work){0};
}
