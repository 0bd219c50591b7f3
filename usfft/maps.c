/*
 * Maps of coils; inverse.h says what they are. W is I - (I + (C / t)^2)^-1, which needs no eigenvectors. E* W E of a pixel sums
 * W over the pairs of places with one difference, a lag, and then over the lags.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "usfft/inverse.h"

enum {
	REGION = 24, /* lattice points of the centre along an axis */
	MARGIN =
	    8, /* more of them that are found, since the values at the edge depend on what lies beyond */
	GRIDDING = 20, /* iterations */
	WINDOW = 6,    /* places of a window along an axis */
	BLOCK = 16,    /* rows of a product that pass over its matrix together */
	POWERS = 300   /* steps of the power method at most */
};

static size_t
product(const size_t n[3])
{
	return n[0] * n[1] * n[2];
}

/* The index in a box of sizes n of the place that is number i of a box of sizes part, and further by `from`. */
static size_t
place(size_t i, const size_t part[3], const size_t n[3])
{
	return i % part[0] + n[0] * (i / part[0] % part[1] + n[1] * (i / part[0] / part[1]));
}

/* y += f x, for n complex numbers */
WEIR_CLONES(add_times, (double *restrict y, const double f[2], const double *restrict x, size_t n),
	    (y, f, x, n))
{
	const double re = f[0], im = f[1];

	for (size_t i = 0; i < 2 * n; i += 2) {
		y[i] += re * x[i] - im * x[i + 1];
		y[i + 1] += re * x[i + 1] + im * x[i];
	}
}

/* out = b* b for `rows` rows of n complex numbers, in the order of the rows. */
static void
square(const double *b, size_t rows, size_t n, int threads, double *out)
{
	memset(out, 0, 2 * n * n * sizeof *out);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
	for (size_t from = 0; from < n; from += BLOCK)
		for (size_t r = 0; r < rows; r++)
			for (size_t i = from; i < n && i < from + BLOCK; i++) {
				const double *row = b + 2 * r * n;
				const double f[2] = {row[2 * i], -row[2 * i + 1]};
				add_times(out + 2 * i * n, f, row, n);
			}
}

/* a = a^-1, by Gauss and Jordan, for a Hermitian, positive n x n matrix, which needs no pivots. row: n complex of scratch. */
static void
invert(double *a, size_t n, int threads, double *row)
{
	for (size_t p = 0; p < n; p++) {
		const double pivot = a[2 * (p * n + p)];
		memcpy(row, a + 2 * p * n, 2 * n * sizeof *row);
		for (size_t i = 0; i < 2 * n; i++)
			row[i] /= pivot;
		row[2 * p] = 1 / pivot;
		row[2 * p + 1] = 0;
#pragma omp parallel for num_threads(threads) schedule(static)
		for (size_t i = 0; i < n; i++) {
			double *at = a + 2 * i * n;
			const double f[2] = {-at[2 * p], -at[2 * p + 1]};
			at[2 * p] = at[2 * p + 1] = 0;
			if (i == p)
				memcpy(at, row, 2 * n * sizeof *at);
			else
				add_times(at, f, row, n);
		}
	}
}

/* Returns the largest eigenvalue of a Hermitian n x n matrix, and makes s, a guess of its vector, that. to: n complex of scratch. */
static double
principal(const double *a, size_t n, double *s, double *to)
{
	double length = 0, moved = 1;

	for (int i = 0; i < POWERS && moved > 1e-16; i++) {
		memset(to, 0, 2 * n * sizeof *to);
		/* Column k is the conjugate of row k, and so is all. */
		for (size_t k = 0; k < n; k++)
			add_times(to, (double[2]){s[2 * k], -s[2 * k + 1]}, a + 2 * k * n, n);
		length = 0;
		for (size_t k = 0; k < 2 * n; k++)
			length += to[k] * to[k];
		length = sqrt(length);
		moved = 0;
		for (size_t k = 0; k < 2 * n && length > 0; k++) {
			const double now = (k % 2 ? -1 : 1) * to[k] / length;
			moved += (now - s[k]) * (now - s[k]);
			s[k] = now;
		}
	}
	return length;
}

/* The sizes of what maps are made of, and its memory, complex numbers. */
struct espirit {
	const struct usfft_centre *c;
	size_t box, taps, windows[3], lags[3]; /* box: places of a window; taps: of all coils */
	double *y;			       /* owned: [windows][taps], conjugates */
	double *a, *b;			       /* taps x taps */
	double *lag;			       /* owned: [lags][coils][coils] */
	double *main;			       /* [coils]: the main component of all coils */
	double *row; /* for each thread lags[0] + 1 matrices and two vectors of coils */
};

static void
fill_windows(const struct espirit *e, const double *lattice)
{
	const struct usfft_centre *c = e->c;

	for (size_t p = 0; p < product(e->windows); p++)
		for (size_t i = 0; i < e->taps; i++) {
			const size_t at = i / e->box * product(c->region) +
					  place(i % e->box, c->window, c->region) +
					  place(p, e->windows, c->region);
			e->y[2 * (p * e->taps + i)] = lattice[2 * at];
			e->y[2 * (p * e->taps + i) + 1] = -lattice[2 * at + 1];
		}
}

/* lag = the sums of m over pairs of places, by coil, coil and difference. */
static void
sum_lags(const struct espirit *e, const double *m)
{
	const size_t coils = e->c->coils, *window = e->c->window;

	memset(e->lag, 0, 2 * product(e->lags) * coils * coils * sizeof *e->lag);
	for (size_t i = 0; i < e->taps; i++)
		for (size_t k = 0; k < e->taps; k++) {
			const size_t by = place(i % e->box, window, e->lags) +
					  place(e->box - 1 - k % e->box, window, e->lags);
			double *to = e->lag + 2 * ((by * coils + i / e->box) * coils + k / e->box);
			to[0] += m[2 * (i * e->taps + k)];
			to[1] += m[2 * (i * e->taps + k) + 1];
		}
}

/* W from the windows, as sums over lags. */
static void
find_weights(const struct espirit *e)
{
	const size_t n = e->taps, coils = e->c->coils,
		     own = 2 * (product(e->lags) / 2) * coils * coils;
	const int threads = e->c->threads;
	double *guess = e->b, *scratch = e->b + 2 * n;

	square(e->y, product(e->windows), n, threads, e->a);
	sum_lags(e, e->a);
	for (size_t i = 0; i < 2 * n; i++)
		guess[i] = cos((double)i); /* anything */
	const double most = principal(e->a, n, guess, scratch);
	for (size_t i = 0; i < 2 * coils; i++)
		e->main[i] = guess[i];
	principal(e->lag + own, coils, e->main, scratch);
	for (size_t i = 0; i < 2 * n * n && most > 0; i++)
		e->a[i] /= USFFT_MAPS_KEEP * most;
	square(e->a, n, n, threads, e->b);
	for (size_t i = 0; i < n; i++)
		e->b[2 * (i * n + i)] += 1;
	invert(e->b, n, threads, e->a);
	for (size_t i = 0; i < 2 * n * n; i++)
		e->b[i] = (i % (2 * n + 2) == 0) - e->b[i];
	sum_lags(e, e->b);
}

/* y += exp(2 pi i turns) x */
static void
add_turned(double *y, double turns, const double *x, size_t n)
{
	const double angle = 2 * M_PI * turns;

	add_times(y, (double[2]){cos(angle), sin(angle)}, x, n);
}

/* The turns of lag l at pixel x of an axis. */
static double
turns_of(const struct usfft_centre *c, int axis, size_t x, size_t l)
{
	const double k = (double)x - (double)(c->n[axis] / 2);

	return -c->sign * k * ((double)l - (double)(c->window[axis] - 1)) / (double)c->n[axis];
}

/* Finds the maps of row r of pixels. */
static void
map_row(const struct espirit *e, size_t r, double *line, double *maps)
{
	const struct usfft_centre *c = e->c;
	const size_t coils = c->coils, each = coils * coils, *n = c->n;
	double *g = line + 2 * e->lags[0] * each, *s = g + 2 * each, *to = s + 2 * coils;

	memset(line, 0, 2 * e->lags[0] * each * sizeof *line);
	for (size_t l = 0; l < e->lags[1] * e->lags[2]; l++)
		add_turned(line,
			   turns_of(c, 1, r % n[1], l % e->lags[1]) +
			       turns_of(c, 2, r / n[1], l / e->lags[1]),
			   e->lag + 2 * l * e->lags[0] * each, e->lags[0] * each);
	memcpy(s, e->main, 2 * coils * sizeof *s);
	for (size_t x = 0; x < n[0]; x++) {
		double turn[2] = {0};
		memset(g, 0, 2 * each * sizeof *g);
		for (size_t l = 0; l < e->lags[0]; l++)
			add_turned(g, turns_of(c, 0, x, l), line + 2 * l * each, each);
		const double value = principal(g, coils, s, to) / (double)e->box;
		for (size_t k = 0; k < coils; k++) { /* turn = s* main */
			turn[0] += s[2 * k] * e->main[2 * k] + s[2 * k + 1] * e->main[2 * k + 1];
			turn[1] += s[2 * k] * e->main[2 * k + 1] - s[2 * k + 1] * e->main[2 * k];
		}
		const double length = hypot(turn[0], turn[1]);
		turn[0] = value < USFFT_MAPS_CROP || !(length > 0) ? 0 : turn[0] / length;
		turn[1] = value < USFFT_MAPS_CROP || !(length > 0) ? 0 : turn[1] / length;
		for (size_t k = 0; k < coils; k++) {
			double *map = maps + 2 * (k * product(n) + r * n[0] + x);
			map[0] = map[1] = 0;
			add_times(map, turn, s + 2 * k, 1);
		}
	}
}

int
usfft_espirit(const struct usfft_centre *c, const double *lattice, double *maps)
{
	struct espirit e = {.c = c, .box = product(c->window)};
	const size_t coils = c->coils, threads = (size_t)c->threads;
	int err = 0;

	e.taps = e.box * coils;
	for (int a = 0; a < 3; a++) {
		e.windows[a] = c->region[a] - c->window[a] + 1;
		e.lags[a] = 2 * c->window[a] - 1;
	}
	const size_t row = ((e.lags[0] + 1) * coils + 2) * coils, n = product(e.windows);
	e.y = weir_alloc(e.taps, (n + 2 * e.taps + 2) * 2 * sizeof *e.y);
	e.lag = weir_alloc(coils, (product(e.lags) * coils + 1) * 2 * sizeof *e.lag +
				      threads * row / coils * 2 * sizeof *e.row);
	if (!e.y || !e.lag)
		err = -ENOMEM;
	if (!err) {
		e.a = e.y + 2 * n * e.taps;
		e.b = e.a + 2 * e.taps * e.taps;
		e.main = e.lag + 2 * product(e.lags) * coils * coils;
		e.row = e.main + 2 * coils;
		fill_windows(&e, lattice);
		find_weights(&e);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic)
		for (size_t r = 0; r < c->n[1] * c->n[2]; r++)
			map_row(&e, r, e.row + 2 * row * (size_t)omp_get_thread_num(), maps);
		err = -ENODATA;
		for (size_t i = 0; err && i < 2 * product(c->n) * coils; i++)
			err = maps[i] != 0 ? 0 : err;
	}
	weir_free_all(e.y, e.lag);
	return err;
}

/* ---- the centre of k-space ---- */

/*
 * x = the points in the unit of a lattice of n, which is 1 from end to end; v = their weights w (NULL: ones) there, and 0
 * beyond. Returns the sum of these.
 */
static double
find_middle(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
	    const size_t n[3], double *x, double *v)
{
	double sum = 0;

	for (size_t j = 0; j < pt->m; j++) {
		v[j] = w ? w[j] : 1;
		for (int a = 0; a < o->dim; a++, x++) {
			const double at = real_at(pt->x[a], j * pt->stride, pt->single);
			*x = (at - rint(at)) * (double)o->n[a] / (double)n[a];
			v[j] = fabs(*x) <= .5 ? v[j] : 0;
		}
		sum += v[j];
	}
	return sum;
}

/* The values of modes f of o at the points of c->region: type 2 on a lattice. x: room for its points. */
static int
to_lattice(const struct usfft_centre *c, const struct usfft_options *o, const double *f, double *x,
	   double *values)
{
	struct usfft_points pt = {.m = product(c->region), .stride = 3, .x = {x, x + 1, x + 2}};
	struct usfft_plan *p = NULL;
	size_t bad;

	for (size_t i = 0; i < pt.m; i++)
		for (size_t a = 0, at = i; a < 3; at /= c->region[a++])
			x[3 * i + a] = ((double)(at % c->region[a]) - (double)(c->region[a] / 2)) /
				       (double)o->n[a];
	int err = usfft_plan(&p, o);
	if (!err)
		err = usfft_points(p, &pt, NULL, 0, &bad);
	if (!err)
		usfft_type2(p, c->sign, f, values);
	usfft_free(p);
	return err;
}

/* Returns the lattice and its windows for the modes of o, and makes o the options of the modes that it is found with. */
static struct usfft_centre
choose_lattice(struct usfft_options *o, int sign, size_t coils)
{
	struct usfft_centre c = {.sign = sign, .threads = o->threads, .coils = coils};

	o->single = false;
	for (int a = 0; a < 3; a++) {
		c.n[a] = a < o->dim ? o->n[a] : 1;
		c.region[a] = c.n[a] < REGION ? c.n[a] : REGION;
		c.window[a] = c.region[a] < 2 * WINDOW ? (c.region[a] + 1) / 2 : WINDOW;
		o->n[a] = c.n[a] < REGION + MARGIN ? c.n[a] : REGION + MARGIN;
	}
	return c;
}

size_t
usfft_maps_bytes(const struct usfft_options *given, size_t coils)
{
	struct usfft_options o = *given;
	const struct usfft_centre c = choose_lattice(&o, 1, coils);
	const double taps = (double)product(c.window) * (double)coils;
	double windows = 1;

	for (int a = 0; a < 3; a++)
		windows *= (double)(c.region[a] - c.window[a] + 1);
	const double bytes = taps * (windows + 2 * taps + 2) * 2 * sizeof(double);
	return bytes < 0x1p63 ? (size_t)bytes : SIZE_MAX;
}

int
usfft_maps(const struct usfft_options *given, const struct usfft_points *pt, const double *w,
	   const double *b, int sign, size_t coils, double *maps, size_t *bad)
{
	const struct usfft_inverse v = {.sign = sign, .iter = GRIDDING, .rtol = 1e-6};
	struct usfft_options o = *given;
	const struct usfft_centre c = choose_lattice(&o, sign, coils);
	struct usfft_outcome got;

	const size_t points = product(c.region), modes = product(o.n);
	struct usfft_points at = {.m = pt->m, .stride = (size_t)o.dim};
	double *x = weir_alloc(pt->m, (at.stride + 1) * sizeof *x),
	       *f = weir_alloc(modes, 2 * sizeof *f),
	       *lattice = weir_alloc(points, (2 * coils + 3) * sizeof *lattice);
	int err = x && f && lattice ? 0 : -ENOMEM;

	if (!err && !(find_middle(given, pt, w, o.n, x, x + pt->m * at.stride) > 0))
		err = -ENODATA;
	for (int a = 0; a < o.dim; a++)
		at.x[a] = x + a;
	for (size_t k = 0; k < coils && !err; k++) {
		err = usfft_inverse(&o, &at, x + pt->m * at.stride, b + 2 * k * pt->m, &v, f, &got,
				    bad);
		if (!err)
			err = to_lattice(&c, &o, f, lattice + 2 * coils * points,
					 lattice + 2 * k * points);
	}
	if (!err)
		err = usfft_espirit(&c, lattice, maps);
	weir_free_all(x, f, lattice);
	return err;
}
