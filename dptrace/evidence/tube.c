#include "dptrace/evidence/tube.h"
#include "dptrace/libm.h"

static double
distance(const double a[2], const double b[2])
{
	const double dx = b[0] - a[0], dy = b[1] - a[1];

	return sqrt(dx * dx + dy * dy);
}

static double
length_of(const double (*xy)[2], int n)
{
	double sum = 0;

	for (int i = 1; i < n; i++)
		sum += distance(xy[i - 1], xy[i]);
	return sum;
}

/* Puts n points along a polyline of m vertices, the same distance apart. Returns the length of the polyline. */
static double
resample(const double (*vertex)[2], int m, double (*out)[2], int n)
{
	const double length = length_of(vertex, m), step = length / (n - 1);
	double start = 0, piece = distance(vertex[0], vertex[1]);
	int k = 0;

	for (int i = 0; i < n; i++) {
		const double s = i * step;
		while (k + 2 < m && s > start + piece) {
			start += piece;
			k++;
			piece = distance(vertex[k], vertex[k + 1]);
		}
		double t = piece > 0 ? (s - start) / piece : 0;
		t = t > 1 ? 1 : t;
		for (int a = 0; a < 2; a++)
			out[i][a] = vertex[k][a] + t * (vertex[k + 1][a] - vertex[k][a]);
	}
	for (int a = 0; a < 2; a++)
		out[n - 1][a] = vertex[m - 1][a];
	return length;
}

/* Coordinate a of point i. Beyond an end the curve goes on as its point reflection in that end. */
static double
mirrored(const double (*xy)[2], int n, int i, int a)
{
	if (i < 0)
		return 2 * xy[0][a] - xy[-i < n ? -i : n - 1][a];
	if (i >= n)
		return 2 * xy[n - 1][a] - xy[2 * n - 2 - i > 0 ? 2 * n - 2 - i : 0][a];
	return xy[i][a];
}

/* Smooths n points by a Gaussian of sigma points. The reflections beyond the ends keep the ends in place. */
static void
smooth_points(const double (*in)[2], int n, double sigma, double (*out)[2])
{
	enum { MOST = 64 };
	double w[MOST + 1], sum = 0;
	int r = (int)ceil(3 * sigma);

	r = r > MOST ? MOST : r < 1 ? 1 : r;
	for (int t = 0; t <= r; t++) {
		w[t] = libm_exp_minus(t * t / (2 * sigma * sigma));
		sum += t ? 2 * w[t] : w[t];
	}
	for (int i = 0; i < n; i++)
		for (int a = 0; a < 2; a++) {
			double x = w[0] * in[i][a];
			for (int t = 1; t <= r; t++)
				x += w[t] * (mirrored(in, n, i - t, a) + mirrored(in, n, i + t, a));
			out[i][a] = x / sum;
		}
	for (int a = 0; a < 2; a++) {
		out[0][a] = in[0][a];
		out[n - 1][a] = in[n - 1][a];
	}
}

struct curve
curve_along(const double (*vertex)[2], int m, int n, double smooth, double (*xy)[2],
	    double (*spare)[2])
{
	struct curve c = {.n = n, .xy = (const double(*)[2])xy};

	c.length = resample(vertex, m, xy, n);
	smooth_points((const double(*)[2])xy, n, smooth * (n - 1) / c.length, spare);
	resample((const double(*)[2])spare, n, xy, n);
	c.length = length_of(c.xy, n);
	return c;
}

struct place
curve_place(const struct curve *c, double s)
{
	const double at = s / c->length * (c->n - 1), last = c->n - 1;
	const int i = at < 0 ? 0 : at >= last ? c->n - 2 : (int)at;
	const double t = at - i;
	/* The direction is interpolated between the middles of neighbouring pieces. */
	const double side = t < .5 ? t + .5 : t - .5;
	const int j = t < .5 ? i - 1 : i;
	double step[2], place[2];

	for (int a = 0; a < 2; a++) {
		const double(*xy)[2] = c->xy;
		const int j0 = j < 0 ? 0 : j, j1 = j + 1 > c->n - 2 ? c->n - 2 : j + 1;
		const double before = xy[j0 + 1][a] - xy[j0][a], after = xy[j1 + 1][a] - xy[j1][a];
		const bool beyond = at < 0 || at > last;
		place[a] = xy[i][a] + t * (xy[i + 1][a] - xy[i][a]);
		step[a] = beyond ? xy[i + 1][a] - xy[i][a] : before + side * (after - before);
	}
	const double size = sqrt(step[0] * step[0] + step[1] * step[1]);
	const double ex = size > 0 ? step[0] / size : 1, ey = size > 0 ? step[1] / size : 0;
	return (struct place){place[0], place[1], -ey, ex};
}

void
curve_columns(struct walk *column, const struct grid *g, const struct curve *c)
{
	for (int i = 0; i < g->nraw; i++) {
		const struct place p = curve_place(c, (.5 + (double)(i - g->ru) / g->sub) * g->hu);

		column[i] = strip_walk(g, p.x, p.y, p.nx, p.ny);
	}
}
