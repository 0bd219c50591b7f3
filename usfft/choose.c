/*
 * Chooses taps and grid: more taps allow a smaller grid. A model of the time finds the cheapest pair that meets the
 * tolerance. Its times are nanoseconds on one thread of a 2.6 GHz Zen 5; only their ratios matter.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "usfft/plan.h"

enum { LARGEST_AXIS = 1 << 30 };

/*
 * Returns the smallest multiple of span >= least whose odd part is a product of at most three of the factors 3, 5 and 7.
 * plain: one 3 and one 7 at most, since FFTW's unmeasured plans for columns take 1.5 times as long for other lengths. The
 * factor 3 saves time: for 1024^2 modes, 1536^2 cells instead of 1600^2 take 88 ms instead of 96 in all; 3072^2 cells
 * instead of 3200^2 take 364 instead of 392.
 */
static size_t
good_size(size_t least, size_t span, bool plain)
{
	for (size_t n = (least + span - 1) / span * span;; n += span) {
		size_t r = n, odd = 0;
		while (r % 2 == 0)
			r /= 2;
		if (plain && r % 3 == 0)
			r /= 3;
		for (size_t p = plain ? 5 : 3; p <= 7; p += 2)
			for (; r % p == 0; r /= p)
				odd += plain && p == 7 ? 2 : 1;
		if (r == 1 && odd <= 3)
			return n;
	}
}

/*
 * The error of an axis: the window's images, and rounding, which the division by the window magnifies. With sigma 1.25 and
 * many taps it does so a hundredfold, and single precision then needs a larger grid than the images alone would.
 */
static double
axis_error(const struct usfft_options *o, int w, double sigma)
{
	const double round =
	    (o->single ? 1.2e-7 : 2.2e-16) * pow(window_gain(o->gauss, w, sigma), o->dim);

	return hypot(window_error(o->gauss, w, sigma), round);
}

/* The least oversampling that is tried. */
static const double least_of_all = 1.15;

/*
 * Returns the least oversampling at which w taps reach an error of eps. If none does, it returns the largest one. If o
 * gives an oversampling, it returns that. *error: the error at the largest oversampling, or at the given one.
 */
static double
search_sigma(const struct usfft_options *o, int w, double eps, double *error)
{
	double lo = least_of_all, hi = o->gauss ? USFFT_SIGMA_GAUSS : USFFT_SIGMA;

	if (o->sigma > 0) {
		*error = axis_error(o, w, fmin(o->sigma, hi));
		return o->sigma;
	}
	*error = axis_error(o, w, hi);
	for (int i = 0; i < 9 && *error <= eps; i++) {
		const double mid = (lo + hi) / 2;
		if (axis_error(o, w, mid) > eps)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

/*
 * This is search_sigma(), with its results kept for the next plan. The search depends only on the tolerance and the kind
 * of transform, and takes longer than a small transform (64^2: .4 ms of .75).
 */
double
usfft_least_sigma(const struct usfft_options *o, int w, double eps, double *error)
{
	static struct {
		double eps, wanted, sigma[WINDOW_MAXW + 1], error[WINDOW_MAXW + 1];
		int dim;
		bool single, gauss;
	} known;

	if (known.eps != eps || known.wanted != o->sigma || known.dim != o->dim ||
	    known.single != o->single || known.gauss != o->gauss) {
		memset(&known, 0, sizeof known);
		known.eps = eps;
		known.wanted = o->sigma;
		known.dim = o->dim;
		known.single = o->single;
		known.gauss = o->gauss;
	}
	if (!(known.sigma[w] > 0))
		known.sigma[w] = search_sigma(o, w, eps, &known.error[w]);
	*error = known.error[w];
	return known.sigma[w];
}

/* A mode stands for half a mode on each side of it, so the modes at both ends add one mode. It matters where n is small. */
static size_t
least_cells(double sigma, size_t modes)
{
	return (size_t)ceil(sigma * (double)(modes + 1));
}

/*
 * The estimated time. These costs were measured: a register of taps takes .5 ns (2-D) or .3 (3-D); a cell of an accumulator
 * takes .9 ns to clear and to add; a cell of the grid takes 5.5 ns for the first touch of its page, and .3 ns per halving
 * and axis in FFTW's FFTs. Batches take half of that. The optimum is flat: for 1024^2, 8 taps on 1600^2 cells and 10 on
 * 1344^2 are within 4 % of 9 on 1536^2.
 */
static double
estimate(const struct usfft_options *o, int lanes, int w, const size_t n[3], double points)
{
	const bool unaligned = o->dim == 1 && o->type == 2;
	const double taps = unaligned ? (w + lanes / 2 - 1) / (lanes / 2)
				      : pow(w, o->dim - 1) * tile_vecs(w, lanes);
	const double acc = tile_rows(o->dim, w) * tile_stride(tile_span(o->dim), w, lanes);
	double cells = 1, fft = 0;

	for (int a = o->dim - 1; a >= 0; a--) {
		cells *= (double)n[a];
		fft += log2((double)n[a]) * (n[a] % 9 ? 0.3 : 0.42);
		fft *= (double)o->n[a] / (double)n[a];
	}
	const double flush = 0.9 * acc / pow(tile_span(o->dim), o->dim);
	return points * taps * (o->dim == 3 ? 0.3 : 0.5) +
	       cells * (flush + 5.5 + fft * (double)n[0] / (double)o->n[0]) * (o->single ? 0.5 : 1);
}

/*
 * Spreading writes each register back, which takes Zen 4 as long for 32 bytes as for half of 64, and narrow registers hold
 * fewer taps that are 0. In double precision, type 1 as a whole takes .93 to .95 times as long with 32 bytes for 64^2 and
 * 1024^2 modes, and .8 to .9 times for 128^3. In single precision it takes .92 to 1.04 times as long, so that it stays as it is.
 * usfft_choose() counts with the widest registers for both types, since type 2 is the exact adjoint of type 1 only where
 * both have the same window and grid.
 */
const struct loops *
usfft_loops_for(const struct usfft_options *o)
{
	const bool halve =
	    weir_cpu == CPU_AVX512 && weir_halves_stores && !o->single && o->type != 2;

	return usfft_loops(o->registers ? o->registers : halve ? 32 : 0, o->single);
}

int
usfft_choose(const struct usfft_options *o, int *w, size_t n[3], double *reach)
{
	const double part = 0.4 / sqrt(o->dim), eps = part * o->tol;
	const int lanes = usfft_loops(o->registers, o->single)->tile.lanes;
	const size_t span = (size_t)tile_span(o->dim);
	size_t tightest[3] = {1, 1, 1};
	double best = INFINITY, best_error = INFINITY, points = 1;

	if (o->dim < 1 || o->dim > 3 || !(o->tol > 0))
		return -EDOM;
	for (int a = 0; a < o->dim; a++) {
		if (o->n[a] < 1 || o->n[a] > LARGEST_AXIS)
			return -EDOM;
		points *= (double)o->n[a];
	}
	if (o->expect)
		points = (double)o->expect;
	for (int a = 0; a < o->dim; a++)
		tightest[a] = least_cells(least_of_all, o->n[a]);
	for (int taps = WINDOW_MINW; taps <= WINDOW_MAXW; taps++) {
		double error, t;
		if (best_error <= eps && estimate(o, lanes, taps, tightest, points) >= best)
			continue;
		const double sigma = usfft_least_sigma(o, taps, eps, &error);
		for (int plain = 0; plain < 2; plain++) {
			size_t size[3] = {1, 1, 1};
			for (int a = 0; a < o->dim; a++)
				size[a] = good_size(least_cells(sigma, o->n[a]), span, plain);
			t = estimate(o, lanes, taps, size, points);
			/* Where the tolerance is out of reach, the least error wins. */
			if (error > eps ? error >= best_error : best_error <= eps && t >= best)
				continue;
			best = t;
			best_error = fmax(error, eps);
			*w = taps;
			memcpy(n, size, sizeof size);
		}
	}
	*reach = best_error / part;
	return 0;
}
