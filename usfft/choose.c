/*
 * Chooses taps and grid: more taps allow a smaller grid. A model of the time finds the cheapest pair that meets the
 * tolerance. Its times are nanoseconds on one thread of a 2.6 GHz Zen 5; only their ratios matter.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/fft.h"
#include "common/base/mem.h"
#include "usfft/plan.h"

enum { LARGEST_AXIS = 1 << 30 };

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

/* What search_sigma() found for a tolerance and a kind of transform. sigma 0: it was not asked yet. */
struct found {
	double eps, wanted, sigma[WINDOW_MAXW + 1], error[WINDOW_MAXW + 1];
	int dim;
	bool single, gauss;
};

/*
 * This is search_sigma(), with its results kept for the next plan. The search depends only on the tolerance and the kind
 * of transform, and takes longer than a small transform (64^2: .4 ms of .75). Type 3 asks for two tolerances in turn.
 */
double
usfft_least_sigma(const struct usfft_options *o, int w, double eps, double *error)
{
	static struct found known[2];
	static int next;
	struct found *f = NULL;

	for (int i = 0; i < 2 && !f; i++)
		if (known[i].eps == eps && known[i].wanted == o->sigma && known[i].dim == o->dim &&
		    known[i].single == o->single && known[i].gauss == o->gauss)
			f = &known[i];
	if (!f) {
		f = &known[next];
		next = !next;
		*f = (struct found){.eps = eps,
				    .wanted = o->sigma,
				    .dim = o->dim,
				    .single = o->single,
				    .gauss = o->gauss};
	}
	if (!(f->sigma[w] > 0))
		f->sigma[w] = search_sigma(o, w, eps, &f->error[w]);
	*error = f->error[w];
	return f->sigma[w];
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
	const double acc = tile_rows(o->dim, w) * tile_stride(o->dim, tile_span(o->dim), w, lanes);
	double cells = 1, fft = 0;

	for (int a = o->dim - 1; a >= 0; a--) {
		cells *= (double)n[a];
		fft += o->then ? 0 : log2((double)n[a]) * (n[a] % 9 ? 0.3 : 0.42);
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

struct choice {
	int w;
	size_t n[3];
	double time, error; /* time: estimated, with that of o->then */
};

/*
 * Finds the taps and the grid that take the least estimated time. All of them are tried together with the best choice for
 * o->then. The factor 3 saves time: for 1024^2 modes, 1536^2 cells instead of 1600^2 take 88 ms instead of 96 in all; 3072^2
 * cells instead of 3200^2 take 364 instead of 392.
 */
static void
choose(const struct usfft_options *o, struct choice *c)
{
	const double eps = 0.4 / sqrt(o->dim) * o->tol; /* what the windows of one axis may take */
	const int lanes = usfft_loops(o->registers, o->single)->tile.lanes;
	const size_t span = (size_t)tile_span(o->dim);
	size_t tightest[3] = {1, 1, 1};
	double points = 1, error;

	*c = (struct choice){.time = INFINITY, .error = INFINITY};
	for (int a = 0; a < o->dim; a++) {
		points *= (double)o->n[a];
		tightest[a] = least_cells(least_of_all, o->n[a]);
	}
	if (o->expect)
		points = (double)o->expect;
	for (int taps = WINDOW_MINW; taps <= WINDOW_MAXW; taps++) {
		if (c->error <= eps && estimate(o, lanes, taps, tightest, points) >= c->time)
			continue;
		const double sigma = usfft_least_sigma(o, taps, eps, &error);
		for (int columns = 0; columns < 2; columns++) {
			struct choice second, try = {.w = taps, .n = {1, 1, 1}};
			for (int a = 0; a < o->dim; a++)
				try.n[a] = fft_multiple(least_cells(sigma, o->n[a]), span, columns);
			try.time = estimate(o, lanes, taps, try.n, points);
			try.error = fmax(error, eps);
			if (o->then && (c->error > eps || try.time < c->time)) {
				struct usfft_options next = *o->then;
				memcpy(next.n, try.n, sizeof next.n);
				choose(&next, &second);
				try.time += second.time;
			}
			/* Where the tolerance is out of reach, the least error wins. */
			if (error > eps ? error < c->error : c->error > eps || try.time < c->time)
				*c = try;
		}
	}
}

int
usfft_choose(const struct usfft_options *o, int *w, size_t n[3])
{
	struct choice c;

	if (o->dim < 1 || o->dim > 3 || !(o->tol > 0))
		return -EDOM;
	for (int a = 0; a < o->dim; a++)
		if (o->n[a] < 1 || o->n[a] > LARGEST_AXIS)
			return -EDOM;
	choose(o, &c);
	*w = c.w;
	memcpy(n, c.n, sizeof c.n);
	return 0;
}
