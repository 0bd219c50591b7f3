/*
 * Classes of pictures of any number of planes and any type of samples: see palette.h.
 *
 * The start is made on the principal components, those KEPT directions in which the samples vary most, rounded to 16 bits: the
 * engine of four dimensions makes K classes of them. Rounds of Lloyd's method over all planes follow. On bands of satellites
 * the start is within some percent of the end.
 *
 *	x[planes][n]	 coordinates less their mean, from -1 to 1 by a common scale, one plane after the other, so that a vector of
 *			 the processor is of several vertices
 *	centre[K][planes]
 *
 * Sums are made of pieces whose bounds do not depend on the number of threads.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "emst/palette/palette.h"

enum { KEPT = 4, BLOCK = 256, PIECES = 64, ROUNDS = 300, POWERS = 60, LOOKED = 1 << 16 };

struct wide {
	const struct vertices *v;
	size_t n, d, k, piece;	 /* vertices, planes, classes; vertices of a piece */
	float *x, *centre, *far; /* far[n]: the squared distance from a vertex to its centre */
	double *sum;		 /* [PIECES][k][d + 1]: of w x and w */
	uint32_t *label;	 /* borrowed */
};

/* --- principal components ------------------------------------------------------------------------------------------- */

/* Fills cov[d][d] with the covariances of every stride-th vertex. */
static void
find_covariance(const struct wide *w, double *cov)
{
	const size_t stride = w->n / LOOKED + 1, d = w->d;

	memset(cov, 0, d * d * sizeof *cov);
	for (size_t i = 0; i < w->n; i += stride)
		for (size_t a = 0; a < d; a++) {
			const double s = (double)w->v->weight[i] * (double)w->x[a * w->n + i];
			for (size_t b = 0; b < d; b++)
				cov[a * d + b] += s * (double)w->x[b * w->n + i];
		}
}

static double
dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Fills axis[d] with a direction of large variance that is perpendicular to the `before` directions in front of it. */
static void
find_axis(const double *cov, size_t d, double *axis, size_t before, double *next)
{
	for (size_t a = 0; a < d; a++)
		axis[a] = 1 + (double)((a + before) % 3);
	for (int power = 0; power < POWERS; power++) {
		for (size_t a = 0; a < d; a++)
			next[a] = dot(cov + a * d, axis, d);
		for (size_t j = 1; j <= before; j++) {
			const double *other = axis - j * d, along = dot(next, other, d);
			for (size_t a = 0; a < d; a++)
				next[a] -= along * other[a];
		}
		const double length = sqrt(dot(next, next, d));
		if (!(length > 0))
			break;
		for (size_t a = 0; a < d; a++)
			axis[a] = next[a] / length;
	}
}

/* Fills to[n][dims] with the components, in 16 bits, of one scale. axis[KEPT][d] */
static void
round_components(const struct wide *w, const double *axis, size_t dims, uint16_t *to, float *from)
{
	const size_t kept = w->d < KEPT ? w->d : KEPT;
	float low[KEPT], range = 0;

	for (size_t c = 0; c < kept; c++) {
		float *y = from + c * w->n, high = -INFINITY;
		low[c] = INFINITY;
		memset(y, 0, w->n * sizeof *y);
		for (size_t a = 0; a < w->d; a++)
			for (size_t i = 0; i < w->n; i++)
				y[i] += (float)axis[c * w->d + a] * w->x[a * w->n + i];
		for (size_t i = 0; i < w->n; i++) {
			low[c] = fminf(low[c], y[i]);
			high = fmaxf(high, y[i]);
		}
		range = fmaxf(range, high - low[c]);
	}
	for (size_t i = 0; i < w->n; i++)
		for (size_t c = 0; c < dims; c++)
			to[i * dims + c] =
			    c < kept && range > 0
				? (uint16_t)rintf((from[c * w->n + i] - low[c]) / range * 65535)
				: 0;
}

/* Makes the first classes. */
static int
start(const struct wide *w, int threads)
{
	const size_t d = w->d, dims = d > 3 ? 4 : 3, kept = d < KEPT ? d : KEPT;
	double *cov = weir_alloc(d + KEPT + 1, d * sizeof *cov), *axis = cov + d * d;
	uint16_t *u = weir_alloc_large(w->n, dims * sizeof *u);
	float *y = weir_alloc_large(w->n, kept * sizeof *y);
	int err = -ENOMEM;

	if (cov && u && y) {
		find_covariance(w, cov);
		for (size_t c = 0; c < kept; c++)
			find_axis(cov, d, axis + c * d, c, axis + KEPT * d);
		round_components(w, axis, dims, u, y);
		const struct palette_colours p = {
		    .n = w->n, .weight = w->v->weight, .x = u, .shift = 8, .gray = d == 1};
		err = (dims == 4 ? palette_rgba : palette_rgb)(&p, w->k, threads, w->label);
	}
	weir_free(y);
	weir_free(u);
	weir_free(cov);
	return err;
}

/* --- Lloyd's method ----------------------------------------------------------------------------------------------------- */

/* Gives n <= BLOCK vertices from x on the nearest of k centres. The planes lie all vertices apart. Of equal ones, the first. */
WEIR_CLONES(find_nearest,
	    (const float *x, size_t all, size_t n, const float *centre, size_t k, size_t d,
	     uint32_t *restrict label, float *restrict far),
	    (x, all, n, centre, k, d, label, far))
{
	float sum[BLOCK], best[BLOCK];
	uint32_t at[BLOCK];

	for (size_t i = 0; i < n; i++) {
		best[i] = INFINITY;
		at[i] = 0;
	}
	for (size_t j = 0; j < k; j++, centre += d) {
		memset(sum, 0, sizeof sum);
		for (size_t a = 0; a < d; a++)
			for (size_t i = 0; i < n; i++) {
				const float t = x[a * all + i] - centre[a];
				sum[i] += t * t;
			}
		for (size_t i = 0; i < n; i++) {
			at[i] = sum[i] < best[i] ? (uint32_t)j : at[i];
			best[i] = sum[i] < best[i] ? sum[i] : best[i];
		}
	}
	memcpy(label, at, n * sizeof *at);
	memcpy(far, best, n * sizeof *best);
}

/* Adds up the vertices of piece p by their labels, after it has found these where `assign`. Returns their SSE. */
static double
run_piece(const struct wide *w, size_t p, bool assign)
{
	const size_t from = p * w->piece, end = from + w->piece < w->n ? from + w->piece : w->n;
	double *sum = w->sum + p * w->k * (w->d + 1), sse = 0;

	memset(sum, 0, w->k * (w->d + 1) * sizeof *sum);
	for (size_t i = from; assign && i < end; i += BLOCK)
		find_nearest(w->x + i, w->n, end - i < BLOCK ? end - i : BLOCK, w->centre, w->k,
			     w->d, w->label + i, w->far + i);
	for (size_t i = from; i < end; i++) {
		const double weight = (double)w->v->weight[i];
		double *s = sum + w->label[i] * (w->d + 1);
		for (size_t a = 0; a < w->d; a++)
			s[a] += weight * (double)w->x[a * w->n + i];
		s[w->d] += weight;
		sse += assign ? weight * (double)w->far[i] : 0;
	}
	return sse;
}

/* An empty class gets the vertex that adds most to the SSE. */
static void
fill_empty(const struct wide *w, float *centre)
{
	double most = -1;
	size_t best = 0;

	for (size_t i = 0; i < w->n; i++) {
		const double loss = (double)w->v->weight[i] * (double)w->far[i];
		best = loss > most ? i : best;
		most = loss > most ? loss : most;
	}
	for (size_t a = 0; a < w->d; a++)
		centre[a] = w->x[a * w->n + best];
	w->far[best] = 0;
}

static void
move_centres(const struct wide *w)
{
	const size_t pieces = (w->n + w->piece - 1) / w->piece, row = w->d + 1;

	for (size_t j = 0; j < w->k; j++) {
		double *s = w->sum + j * row;
		for (size_t p = 1; p < pieces; p++)
			for (size_t a = 0; a < row; a++)
				s[a] += w->sum[p * w->k * row + j * row + a];
		if (s[w->d] == 0)
			fill_empty(w, w->centre + j * w->d);
		for (size_t a = 0; a < w->d && s[w->d] > 0; a++)
			w->centre[j * w->d + a] = (float)(s[a] / s[w->d]);
	}
}

/* One round. Returns the SSE to the centres as they were. */
static double
run_round(const struct wide *w, int threads, bool assign)
{
	const size_t pieces = (w->n + w->piece - 1) / w->piece;
	double part[PIECES], sse = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (w->n > 4096)
	for (size_t p = 0; p < pieces; p++)
		part[p] = run_piece(w, p, assign);
	for (size_t p = 0; p < pieces; p++)
		sse += part[p];
	move_centres(w);
	return sse;
}

/* --- all together ------------------------------------------------------------------------------------------------------- */

/* Fills x. */
static void
load(const struct wide *w, double *row)
{
	double *mean = row + w->d, all = 0, most = 0;

	memset(mean, 0, w->d * sizeof *mean);
	for (size_t i = 0; i < w->n; i++) {
		vertices_get(w->v, i, row);
		for (size_t a = 0; a < w->d; a++)
			mean[a] += (double)w->v->weight[i] * row[a];
		all += (double)w->v->weight[i];
	}
	for (size_t i = 0; i < w->n; i++) {
		vertices_get(w->v, i, row);
		for (size_t a = 0; a < w->d; a++)
			most = fmax(most, fabs(row[a] - mean[a] / all));
	}
	for (size_t i = 0; i < w->n; i++) {
		vertices_get(w->v, i, row);
		for (size_t a = 0; a < w->d; a++)
			w->x[a * w->n + i] = (float)((row[a] - mean[a] / all) / most);
	}
}

static int
run(struct wide *w, int threads)
{
	int err = start(w, threads);
	double before = INFINITY;

	if (err)
		return err;
	memset(w->far, 0, w->n * sizeof *w->far);
	run_round(w, threads, false);
	for (int round = 0; round < ROUNDS; round++) {
		const double sse = run_round(w, threads, true);
		if (!(sse < before * (1 - 1e-6)))
			break;
		before = sse;
	}
	return 0;
}

int
palette_wide(const struct vertices *v, size_t k, int threads, uint32_t *label)
{
	struct wide w = {.v = v, .n = v->set.n, .d = v->planes, .k = k, .label = label};
	int err = -ENOMEM;

	if (w.n <= k) {
		for (uint32_t i = 0; i < w.n; i++)
			label[i] = i;
		return 0;
	}
	w.piece = (w.n / PIECES / BLOCK + 1) * BLOCK;
	double *row = weir_alloc(w.d, 2 * sizeof *row);
	w.x = weir_alloc_large(w.n, w.d * sizeof *w.x);
	w.far = weir_alloc_large(w.n, sizeof *w.far);
	w.centre = weir_alloc(k, w.d * sizeof *w.centre);
	w.sum = weir_alloc_large(PIECES * k, (w.d + 1) * sizeof *w.sum);
	if (row && w.x && w.far && w.centre && w.sum) {
		load(&w, row);
		err = run(&w, threads);
	}
	weir_free(w.sum);
	weir_free(w.centre);
	weir_free(w.far);
	weir_free(w.x);
	weir_free(row);
	return err;
}
