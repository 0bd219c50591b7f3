#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "usfft/window.h"

/*
 * The modified Bessel function I0, by its power series, whose terms are all positive. x is long double, and so is z in
 * phi_at(): x is up to 45, and the relative error of I0 is up to x times that of x.
 */
static long double
bessel_i0(long double x)
{
	const long double q = x * x / 4;
	long double sum = 1, term = 1;

	for (int k = 1; term > 1e-18L * sum; k++) {
		term *= q / (k * k);
		sum += term;
	}
	return sum;
}

/* Returns phi at z, which is 0 outside [-1,1]. */
static double
phi_at(const struct window *win, long double z)
{
	if (fabsl(z) > 1)
		return 0;
	if (win->gauss)
		return (double)expl(-win->beta * z * z);
	return (double)(bessel_i0(win->beta * sqrtl(1 - z * z)) / win->peak);
}

/* window_hat() without its constant factor, hat_factor(). */
static double
shape_hat(const struct window *win, double f)
{
	const double b = win->beta, p = M_PI * win->w * f;

	return win->gauss ? exp(-p * p / (4 * b)) : window_sinhc(b * b - p * p);
}

static double
hat_factor(const struct window *win)
{
	if (win->gauss)
		return win->w / 2.0 * sqrt(M_PI / win->beta);
	return win->w / win->peak;
}

double
window_hat(const struct window *win, double f)
{
	return hat_factor(win) * shape_hat(win, f);
}

enum { NODES = WINDOW_TERMS };

/* node[k] = cos(pi k / (2 NODES)), the cosines that a Chebyshev series of NODES terms needs. */
static void
make_nodes(double node[4 * NODES])
{
	for (int k = 0; k < 4 * NODES; k++)
		node[k] = cos(M_PI * k / (2 * NODES));
}

/* Computes the coefficients of the Chebyshev series of f from value[q] = f(cos(pi (q + .5) / NODES)). */
static void
chebyshev(const double *value, const double node[4 * NODES], double *series)
{
	for (int a = 0; a < NODES; a++) {
		double sum = 0;
		for (int q = 0; q < NODES; q++)
			sum += value[q] * node[a * (2 * q + 1) % (4 * NODES)];
		series[a] = sum * (a ? 2.0 : 1.0) / NODES;
	}
}

/* Converts a Chebyshev series of n terms to powers of x. */
static void
to_powers(const double *series, int n, double *power)
{
	double t0[NODES] = {1}, t1[NODES] = {0, 1};

	memset(power, 0, sizeof *power * (size_t)n);
	for (int a = 0; a < n; a++) {
		double t2[NODES] = {0};
		for (int d = 0; d <= a; d++)
			power[d] += series[a] * t0[d];
		for (int d = 0; d < NODES; d++)
			t2[d] = (d ? 2 * t1[d - 1] : 0) - t0[d];
		memcpy(t0, t1, sizeof t0);
		memcpy(t1, t2, sizeof t1);
	}
}

/* Fits tap t, which is at the distance -W/2 + t + (1 - x) / 2 from the point; x = 1 at the end of the point's cell. */
static void
fit_tap(const struct window *win, int t, const double node[4 * NODES], double *series)
{
	double value[NODES];

	for (int q = 0; q < NODES; q++) {
		const double x = node[2 * q + 1];
		value[q] = phi_at(win, (2.0L * t + 1 - x - win->w) / win->w);
	}
	chebyshev(value, node, series);
}

/* How many terms the series of all taps need for an error of eps in the sum of the window. */
static int
terms(double series[][NODES], int w, double eps)
{
	for (int n = WINDOW_MAXCOEF; n > 2; n--) {
		double rest = 0;
		for (int t = 0; t < w; t++)
			rest = fmax(rest, fabs(series[t][n - 1]));
		if (rest > eps)
			return n;
	}
	return 2;
}

/* The beta of least error. It is a little below pi W (1 - 1 / (2 sigma)) for few taps, and equal to it for many. */
static double
shape(bool gauss, int w, double sigma)
{
	return M_PI * w * (1 - 1 / (2 * sigma)) * (gauss ? 0.5 : fmin(0.97 + 0.0025 * w, 1));
}

static struct window
start_window(bool gauss, int w, double sigma)
{
	struct window win = {.gauss = gauss, .w = w, .beta = shape(gauss, w, sigma)};

	win.peak = gauss ? 1 : (double)bessel_i0(win.beta);
	return win;
}

/*
 * Errors are computed at PROBES modes, each with a weight: the share of all modes that it stands for. The probes are denser
 * near the last mode, where errors rise steeply.
 */
enum { PROBES = 10 };

static double
probe(int i, double sigma, double *part)
{
	const double u = 1 - (i + 0.5) / PROBES;

	*part = 2 * u / PROBES;
	return 0.5 / sigma * (1 - u * u);
}

/*
 * The l2 norm of the tail that the Gaussian loses by being cut at W / 2, relative to its transform at 0. By Parseval's
 * theorem this is the error that the cut causes in all images together. A factor of 1.5 covers the shape of the tail.
 */
static double
lost_tail(const struct window *win)
{
	const double norm = win->w * exp(-2 * win->beta) / (4 * win->beta);

	return win->gauss ? 1.5 * sqrt(norm) / hat_factor(win) : 0;
}

/* The error of a mode at f comes from its images at f + m. */
double
window_error(bool gauss, int w, double sigma)
{
	const struct window win = start_window(gauss, w, sigma);
	const double tail = lost_tail(&win);
	double sum = 0;

	for (int i = 0; i < PROBES; i++) {
		double part, images = tail * tail;
		const double f = probe(i, sigma, &part), h = shape_hat(&win, f);
		for (int m = 1; m <= 6; m++) {
			const double a = shape_hat(&win, m + f), b = shape_hat(&win, m - f);
			images += a * a + b * b;
		}
		sum += part * images / (h * h);
	}
	return sqrt(sum);
}

/* Noise on the grid is white. In a mode it is magnified by the norm of the window over its transform at that mode. */
static double
noise_gain(const struct window *win, double sigma)
{
	const int steps = 2 * win->w;
	double norm = 0, sum = 0;

	for (int i = 0; i < steps; i++) {
		const double v = phi_at(win, (2 * i + 1.0) / steps - 1);
		norm += v * v * win->w / steps;
	}
	for (int i = 0; i < PROBES; i++) {
		double part;
		const double h = shape_hat(win, probe(i, sigma, &part));
		sum += part / (h * h);
	}
	return sqrt(norm * sum) / hat_factor(win);
}

double
window_gain(bool gauss, int w, double sigma)
{
	const struct window win = start_window(gauss, w, sigma);

	return noise_gain(&win, sigma);
}

static void
fit(struct window *win, bool gauss, int w, double sigma, double tol)
{
	double series[WINDOW_MAXW][NODES], power[WINDOW_MAXCOEF], node[4 * NODES];

	*win = start_window(gauss, w, sigma);
	make_nodes(node);
	for (int t = 0; t < (w + 1) / 2; t++) {
		fit_tap(win, t, node, series[t]);
		/* The window is even: tap w-1-t at -x is tap t at x. */
		for (int a = 0; a < NODES; a++)
			series[w - 1 - t][a] = a % 2 ? -series[t][a] : series[t][a];
	}
	/* Below 1e-16, terms are only rounding errors of the larger ones. */
	win->ncoef = terms(series, w, fmax(tol / (12 * noise_gain(win, sigma)), 1e-16));
	for (int t = 0; t < w; t++) {
		to_powers(series[t], win->ncoef, power);
		for (int d = 0; d < win->ncoef; d++)
			win->coef[d][t] = power[d];
	}
}

/*
 * The last windows are kept, since a stream of small items makes the same plan again and again. A window takes 20 us, and a
 * plan of 1000 points in 1-D took 51 us with it.
 */
void
window_make(struct window *win, bool gauss, int w, double sigma, double tol)
{
	enum { KEPT = 4 };
	static struct {
		struct window win;
		double sigma, tol;
	} known[KEPT];
	static size_t oldest;

	for (size_t i = 0; i < KEPT; i++)
		if (known[i].win.w == w && known[i].win.gauss == gauss && known[i].sigma == sigma &&
		    known[i].tol == tol) {
			*win = known[i].win;
			return;
		}
	fit(win, gauss, w, sigma, tol);
	known[oldest].win = *win;
	known[oldest].sigma = sigma;
	known[oldest].tol = tol;
	oldest = (oldest + 1) % KEPT;
}

/* Evaluates the Chebyshev series at BLOCK numbers x in -1..1 at a time, by Clenshaw's recurrence. */
enum { BLOCK = 64 };

WEIR_CLONES(sum_series, (const double *series, int n, const double *x, double *sum),
	    (series, n, x, sum))
{
	double b0[BLOCK] = {0}, b1[BLOCK] = {0};

	for (int a = n - 1; a > 0; a--)
		for (int i = 0; i < BLOCK; i++) {
			const double b = 2 * x[i] * b0[i] - b1[i] + series[a];
			b1[i] = b0[i];
			b0[i] = b;
		}
	for (int i = 0; i < BLOCK; i++)
		sum[i] = x[i] * b0[i] - b1[i] + series[0];
}

/*
 * 1 / hat is analytic well beyond the modes: its nearest pole, in f^2, is at more than twice that of the last mode. So 32
 * Chebyshev terms in f^2 are as exact as rounding allows. They take 3 ns a mode, where sinh takes 25.
 */
void
window_series(const struct window *win, double last, struct window_series *s)
{
	const double scale = hat_factor(win);
	double value[NODES], node[4 * NODES];

	make_nodes(node);
	for (int q = 0; q < NODES; q++)
		value[q] = 1 / (scale * shape_hat(win, last * sqrt((1 + node[2 * q + 1]) / 2)));
	chebyshev(value, node, s->term);
	s->last = last;
}

void
window_series_at(const struct window_series *s, const double *f, size_t n, double *factor)
{
	double x[BLOCK], sum[BLOCK];

	for (size_t k = 0; k < n; k += BLOCK) {
		const size_t count = n - k < BLOCK ? n - k : BLOCK;
		for (size_t i = 0; i < BLOCK; i++) {
			const double u = i < count ? f[k + i] / s->last : 0;
			x[i] = 2 * u * u - 1;
		}
		sum_series(s->term, NODES, x, sum);
		memcpy(factor + k, sum, count * sizeof *sum);
	}
}

void
window_undo(const struct window *win, size_t cells, double *factor, size_t n)
{
	const double scale = hat_factor(win);
	struct window_series s;

	if (n <= 4 * NODES || win->gauss) {
		for (size_t k = 0; k < n; k++)
			factor[k] = 1 / (scale * shape_hat(win, (double)k / (double)cells));
		return;
	}
	window_series(win, (double)(n - 1) / (double)cells, &s);
	for (size_t k = 0; k < n; k++)
		factor[k] = (double)k / (double)cells;
	window_series_at(&s, factor, n, factor);
}

static void *
make_table(const struct window *win, int ncoef, int lanes, int offsets, bool single)
{
	const size_t len = (size_t)((win->w + offsets - 1 + lanes - 1) / lanes * lanes);
	const size_t real = single ? sizeof(float) : sizeof(double);
	char *table = weir_calloc((size_t)(offsets * ncoef) * len, real);

	for (int o = 0; table && o < offsets; o++)
		for (int d = 0; d < ncoef; d++)
			for (int t = 0; t < win->w; t++)
				real_set(table, (size_t)(o * ncoef + d) * len + (size_t)(o + t),
					 win->coef[ncoef - 1 - d][t], single);
	return table;
}

int
window_tables(const struct window *win, int dim, int ncoef, int lanes, int offsets, bool single,
	      void *table[3])
{
	for (int a = 0; a < dim; a++)
		if (!table[a] &&
		    !(table[a] = make_table(&win[a], ncoef, lanes, a ? 1 : offsets, single)))
			return -ENOMEM;
	return 0;
}
