/*
 * The definition: the recursion as Seredin states it. For every link it finds the best polyline that ends with this link,
 * and takes the maximum anew over all links before it. The guides of all segments stand in one row. Where a segment ends,
 * the next one begins on the same sample. Below them stands the cheapest way over a grid of cells.
 */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "dptrace/dptrace.h"

/* ---- lines ---- */

/* The direction of the link from sample j to sample k of gap g, an angle in the picture. */
static double
direction(const struct dptrace_table *t, size_t g, int j, int k)
{
	double v = (t->o[g + 1] + k - t->o[g] - j) * t->dv;

	return atan2(t->ey, t->ex) + atan2(v, t->h[g]);
}

static bool
admissible(double before, double after, double phi)
{
	return fabs(remainder(after - before, 2 * M_PI)) <= phi + 1e-12;
}

/* The links of one gap between guides. */
struct link {
	const struct dptrace_table *t;
	size_t g;
	double *best; /* [d][e]: the best sum of a polyline that ends with the link j -> k */
	int *from;    /* [d][e]: the sample before j; -1: none */
};

/* Fills gap l from the gap before, p (NULL: l is the first gap). */
static void
extend(const struct link *p, const struct link *l, double phi)
{
	const int d = l->t->d[l->g], e = l->t->d[l->g + 1];

	for (int j = 0; j < d; j++)
		for (int k = 0; k < e; k++) {
			size_t at = (size_t)(j * e + k);
			l->best[at] = p ? -INFINITY : 0;
			l->from[at] = -1;
			for (int i = 0; p && i < p->t->d[p->g]; i++) {
				double before = p->best[i * p->t->d[p->g + 1] + j];
				if (before > l->best[at] &&
				    admissible(direction(p->t, p->g, i, j),
					       direction(l->t, l->g, j, k), phi)) {
					l->best[at] = before;
					l->from[at] = i;
				}
			}
			l->best[at] += (double)l->t->score[l->g][at];
		}
}

/*
 * Traces the best polyline back through n gaps. at receives the sample at the start of each link, and at the end of each
 * segment. Returns 1 when there is no polyline.
 */
static int
follow(const struct link *l, size_t n, int *at, double *best)
{
	const struct dptrace_table *last = l[n - 1].t;
	const int e = last->d[last->n - 1];
	int k = 0, j = 0, *end = at;

	*best = -INFINITY;
	for (int i = 0; i < last->d[last->n - 2] * e; i++)
		if (l[n - 1].best[i] > *best) {
			*best = l[n - 1].best[i];
			j = i / e;
			k = i % e;
		}
	if (isinf(*best))
		return 1;
	for (size_t m = 0; m < n; m++)
		end += l[m].g == 0 ? 2 : 1;
	for (size_t m = n; m-- > 0;) {
		if (l[m].g + 2 == l[m].t->n)
			*--end = k;
		*--end = j;
		const int i = l[m].from[j * l[m].t->d[l[m].g + 1] + k];
		k = j;
		j = i;
	}
	return 0;
}

int
dptrace_direct(const struct dptrace_table *seg, size_t nseg, double phi, int *at, double *best)
{
	size_t gaps = 0, n = 0;
	struct link *l;
	int r = -ENOMEM;

	for (size_t s = 0; s < nseg; s++)
		gaps += seg[s].n - 1;
	if (!(l = weir_calloc(gaps, sizeof *l)))
		return r;
	for (size_t s = 0; s < nseg; s++)
		for (size_t g = 0; g + 1 < seg[s].n; g++, n++) {
			size_t links = (size_t)(seg[s].d[g] * seg[s].d[g + 1]);
			l[n] = (struct link){&seg[s], g, weir_alloc(links, sizeof(double)),
					     weir_alloc(links, sizeof(int))};
			if (!l[n].best || !l[n].from)
				goto out;
			extend(n ? &l[n - 1] : NULL, &l[n], phi);
		}
	r = follow(l, gaps, at, best);
out:
	for (n = 0; n < gaps; n++) {
		weir_free_all(l[n].best, l[n].from);
	}
	weir_free(l);
	return r;
}

/* Lowers the sum of cell i to that of a way over one of its neighbours. Returns whether it fell. */
static bool
lower_sum(const uint8_t *cost, int w, int h, int i, uint32_t *sum)
{
	const int x = i % w, y = i / w;
	bool fell = false;

	for (int ny = y - 1; ny <= y + 1; ny++)
		for (int nx = x - 1; nx <= x + 1; nx++) {
			const int j = ny * w + nx, length = nx == x || ny == y ? 5 : 7;
			if (nx < 0 || ny < 0 || nx >= w || ny >= h || j == i ||
			    sum[j] == UINT32_MAX)
				continue;
			const uint32_t over = sum[j] + (uint32_t)(length * (cost[i] + cost[j]));
			if (over < sum[i]) {
				sum[i] = over;
				fell = true;
			}
		}
	return fell;
}

int
dptrace_direct_way(const uint8_t *cost, int w, int h, int from, int to, uint32_t *sum)
{
	const int n = w * h;
	uint32_t *all = weir_alloc((size_t)n, sizeof *all);
	bool fell = true;

	if (!all)
		return -ENOMEM;
	for (int i = 0; i < n; i++)
		all[i] = i == from ? 0 : UINT32_MAX;
	while (fell) {
		fell = false;
		for (int i = 0; i < n; i++)
			fell |= lower_sum(cost, w, h, i, all);
	}
	*sum = all[to];
	weir_free(all);
	return 0;
}

/* ---- scores ---- */

/*
 * The definition of a link's score. At the middle of every column it takes the derivatives of the picture under a Gaussian
 * that ends at 3 sigma, at steps of half a pixel. Between its samples the picture is bilinear. The derivatives give the
 * evidence of the column; the columns give the score.
 */

#define STEP .5
enum { MOST_TAPS = 385 }; /* of the largest scale, 32 */

static double
sample(const struct dptrace_image *im, size_t c, double x, double y)
{
	const double xm = (double)(im->w - 1), ym = (double)(im->h - 1);
	x = fmin(fmax(x, 0), xm);
	y = fmin(fmax(y, 0), ym);
	const size_t i = (size_t)fmin(floor(x), fmax(xm - 1, 0)),
		     j = (size_t)fmin(floor(y), fmax(ym - 1, 0));
	const size_t i1 = im->w > 1 ? i + 1 : i, j1 = im->h > 1 ? j + 1 : j;
	const float *p = im->v + c * im->w * im->h;
	const double a = x - (double)i, b = y - (double)j;

	return (1 - b) * ((1 - a) * (double)p[j * im->w + i] + a * (double)p[j * im->w + i1]) +
	       b * ((1 - a) * (double)p[j1 * im->w + i] + a * (double)p[j1 * im->w + i1]);
}

/*
 * The taps -r .. r of the Gaussian's derivative of that order, r = ceil(3 sigma / STEP). They are exact for polynomials of degree
 * <= 2.
 */
static void
fill_taps(int order, double sigma, int r, double *tap)
{
	double sum = 0, second = 0, norm = 0;

	for (int i = -r; i <= r; i++) {
		double w = exp(-i * i * STEP * STEP / (2 * sigma * sigma));
		sum += w;
		second += w * i * i;
	}
	for (int i = -r; i <= r; i++) {
		double w = exp(-i * i * STEP * STEP / (2 * sigma * sigma));
		norm += order == 0   ? w
			: order == 1 ? i * i * w
				     : (i * i - second / sum) * w * i * i / 2;
	}
	for (int t = -r; t <= r; t++) {
		double w =
		    exp(-t * t * STEP * STEP / (2 * sigma * sigma)) / norm / pow(STEP, order);
		tap[t + r] = order == 0 ? w : order == 1 ? t * w : (t * t - second / sum) * w;
	}
}

/* The derivatives d^order / du^(order-i) dv^i, i = 0..order, of plane c at (x, y). */
static void
derive(const struct dptrace_image *im, size_t c, double sigma, const double e[2], double x,
       double y, int order, double *out)
{
	const int r = (int)ceil(3 * sigma / STEP);
	double tap[3][MOST_TAPS];

	for (int i = 0; i <= order; i++) {
		out[i] = 0;
		fill_taps(i, sigma, r, tap[i]);
	}
	for (int s = -r; s <= r; s++)
		for (int t = -r; t <= r; t++) {
			const double v = sample(im, c, x + STEP * (s * e[0] - t * e[1]),
						y + STEP * (s * e[1] + t * e[0]));
			for (int i = 0; i <= order; i++)
				out[i] += tap[order - i][s + r] * tap[i][t + r] * v;
		}
}

/* The derivatives of that order of the mean of the planes. */
static void
derive_mean(const struct dptrace_image *im, double sigma, const double e[2], double x, double y,
	    int order, double *out)
{
	double one[3];

	for (int i = 0; i <= order; i++)
		out[i] = 0;
	for (size_t c = 0; c < im->c; c++) {
		derive(im, c, sigma, e, x, y, order, one);
		for (int i = 0; i <= order; i++)
			out[i] += one[i] / (double)im->c;
	}
}

/*
 * Di Zenzo's gradient: the main eigenvector of the sum of the planes' tensors. Its length is the square root of its
 * eigenvalue.
 */
static void
derive_colours(const struct dptrace_image *im, double sigma, const double e[2], double x, double y,
	       double *out)
{
	double uu = 0, uv = 0, vv = 0, g[2];

	for (size_t c = 0; c < im->c; c++) {
		derive(im, c, sigma, e, x, y, 1, g);
		uu += g[0] * g[0];
		uv += g[0] * g[1];
		vv += g[1] * g[1];
	}
	const double angle = .5 * atan2(2 * uv, uu - vv), root = hypot((uu - vv) / 2, uv);
	out[0] = sqrt((uu + vv) / 2 + root) * cos(angle);
	out[1] = sqrt((uu + vv) / 2 + root) * sin(angle);
}

/*
 * The divisor of a derivative of that size. Under the cost it is the level, in units of the derivative. Under the sum it
 * is the size plus g0, or the size alone for the score sin.
 */
static double
divisor(const struct dptrace_options *o, double size, double g0)
{
	if (o->objective == DPTRACE_COST)
		return g0 / (o->score == DPTRACE_RIDGE ? o->sigma * o->sigma : o->sigma);
	return size + (o->score == DPTRACE_SIN ? 0 : g0);
}

/* Says whether the mask leaves out the pixel at the place (x, y) of the picture. */
static bool
is_masked(const struct dptrace_image *im, double x, double y)
{
	const size_t i = (size_t)fmin(floor(x + .5), (double)im->w - 1),
		     j = (size_t)fmin(floor(y + .5), (double)im->h - 1);

	return im->mask && !im->mask[j * im->w + i];
}

/* What the evidence at (x, y) is multiplied by under the cost. */
static double
gain(const struct dptrace_image *im, const struct dptrace_options *o, double x, double y)
{
	const size_t i = (size_t)fmin(floor(x + .5), (double)im->w - 1),
		     j = (size_t)fmin(floor(y + .5), (double)im->h - 1);

	if (!im->gain.v || o->objective == DPTRACE_SUM)
		return 1;
	return (double)im->gain.v[j / im->gain.cell * im->gain.w + i / im->gain.cell];
}

/* The evidence at (x, y) for a link of direction (cu, cv), less so many sizes of the gradient for a ridge. */
static double
evidence(const struct dptrace_image *im, const struct dptrace_options *o, const double e[2],
	 double x, double y, double cu, double cv, double g0, double flank)
{
	double d[3], g[2] = {0, 0}, size;

	if (x < -.5 || y < -.5 || x > (double)im->w - .5 || y > (double)im->h - .5)
		return 0;
	if (is_masked(im, x, y))
		return 0;
	if (o->score == DPTRACE_RIDGE) {
		derive_mean(im, o->sigma, e, x, y, 2, d);
		size = fabs(d[0] + d[2]) / 2 + hypot((d[0] - d[2]) / 2, d[1]);
		double across = cv * cv * d[0] - 2 * cu * cv * d[1] + cu * cu * d[2];
		if (flank > 0)
			derive_mean(im, o->sigma, e, x, y, 1, g);
		return ((o->polarity < 0 ? across : -across) - flank * hypot(g[0], g[1])) /
		       divisor(o, size, g0);
	}
	if (o->score == DPTRACE_EDGE && im->c > 1 && !o->polarity)
		derive_colours(im, o->sigma, e, x, y, d);
	else
		derive_mean(im, o->sigma, e, x, y, 1, d);
	size = hypot(d[0], d[1]);
	double across = gain(im, o, x, y) * (cu * d[1] - cv * d[0]) / divisor(o, size, g0);
	return o->polarity > 0 ? across : o->polarity < 0 ? -across : fabs(across);
}

double
dptrace_direct_score(const struct dptrace_image *im, const struct dptrace_options *o,
		     const double a[2], const double b[2], const double from[2], const double to[2],
		     size_t columns, double g0, double floor, bool capped)
{
	const double length = hypot(b[0] - a[0], b[1] - a[1]),
		     e[2] = {(b[0] - a[0]) / length, (b[1] - a[1]) / length};
	const double du = to[0] - from[0], dv = to[1] - from[1], link = hypot(du, dv);
	const double flank = o->objective == DPTRACE_COST && !capped ? .5 / o->sigma : 0;
	double sum = 0;

	for (size_t c = 0; c < columns; c++) {
		const double t = ((double)c + .5) / (double)columns, u = from[0] + t * du,
			     v = from[1] + t * dv;
		sum += evidence(im, o, e, a[0] + u * e[0] - v * e[1], a[1] + u * e[1] + v * e[0],
				du / link, dv / link, g0, flank);
	}
	if (o->objective == DPTRACE_COST) {
		const double mean = fmax((sum / (double)columns * g0 - floor) / (g0 - floor), 0);
		return -link / ((capped ? fmin(mean, 1) : mean) + .3);
	}
	sum *= (o->arc ? link : du) / (double)columns;
	return o->score == DPTRACE_RIDGE && !o->polarity ? fabs(sum) : sum;
}

/* The response at a place: the largest that any link through it could have. */
static double
response(const struct dptrace_image *im, const struct dptrace_options *o, double x, double y)
{
	const double e[2] = {1, 0};
	double d[3];

	if (o->score == DPTRACE_RIDGE) {
		derive_mean(im, o->sigma, e, x, y, 2, d);
		const double mean = (d[0] + d[2]) / 2, root = hypot((d[0] - d[2]) / 2, d[1]);
		return o->sigma * o->sigma * (root + (o->polarity < 0 ? mean : -mean));
	}
	if (im->c > 1 && !o->polarity)
		derive_colours(im, o->sigma, e, x, y, d);
	else
		derive_mean(im, o->sigma, e, x, y, 1, d);
	return o->sigma * hypot(d[0], d[1]);
}

double
dptrace_direct_level(const struct dptrace_image *im, const struct dptrace_options *o,
		     const double p[2])
{
	const double reach = ceil(fmax(3, 1.5 * o->sigma));
	double most = 0;

	for (double y = round(p[1]) - reach; y <= round(p[1]) + reach; y++)
		for (double x = round(p[0]) - reach; x <= round(p[0]) + reach; x++)
			if (x >= 0 && y >= 0 && x < (double)im->w && y < (double)im->h &&
			    !is_masked(im, x, y))
				most = fmax(most, gain(im, o, x, y) * response(im, o, x, y));
	return most;
}

void
dptrace_direct_gains(const struct dptrace_image *im, const struct dptrace_options *o, size_t cell,
		     double *size, double *n, float *out)
{
	const size_t w = (im->w + cell - 1) / cell, h = (im->h + cell - 1) / cell, wide = w + 4;
	const double c = (double)cell, mid = (c - 1) / 2;

	for (size_t i = 0; i < wide * (h + 4); i++)
		size[i] = response(im, o, ((double)(i % wide) - 2) * c + mid,
				   ((double)(i / wide) - 2) * c + mid);
	for (size_t i = 0; i < w * h; i++) {
		n[i] = 0;
		for (size_t k = 0; k < 25; k++)
			n[i] += size[(i / w + k / 5) * wide + i % w + k % 5];
	}
	for (size_t i = 0; i < w * h; i++) {
		double sum = 0, cells = 0;
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++)
				if (fabs((double)x - (double)(i % w)) <= 128 &&
				    fabs((double)y - (double)(i / w)) <= 128) {
					sum += n[y * w + x];
					cells++;
				}
		out[i] = (float)(1 / (n[i] * cells / sum + .3));
	}
}
