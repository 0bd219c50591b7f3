#include <math.h>

#include "common/picture/map.h"
#include "common/picture/measures.h"

const char *const measures_names[2] = {
    "label size xmin ymin xmax ymax x y sum peak xpeak ypeak xw yw xx yy xy",
    "label size xmin ymin zmin xmax ymax zmax x y z sum peak xpeak ypeak zpeak xw yw zw xx yy xy"};

static double
step(const struct img_axis *a)
{
	return isnan(a->spacing) ? 1 : a->spacing;
}

/* The position of index i along an axis. */
static double
position(const struct img_axis *a, double i)
{
	return (isnan(a->min) ? 0 : a->min) + i * step(a);
}

size_t
measures_fill(double v[MEASURES], const struct img *x, const struct region *g, size_t label,
	      size_t dims)
{
	const struct img_axis *a = x->axis + img_row_axis(x);
	const double n = (double)g->size, mx = g->moment[0] / g->sum, my = g->moment[1] / g->sum;
	size_t k = 0;

	v[k++] = (double)label;
	v[k++] = n;
	for (size_t i = 0; i < dims; i++)
		v[k++] = position(&a[i], (double)(step(&a[i]) < 0 ? g->hi : g->lo)[i]);
	for (size_t i = 0; i < dims; i++)
		v[k++] = position(&a[i], (double)(step(&a[i]) < 0 ? g->lo : g->hi)[i]);
	for (size_t i = 0; i < dims; i++)
		v[k++] = position(&a[i], (double)g->first[i] + g->shape[i] / n);
	v[k++] = g->sum;
	v[k++] = g->peak;
	for (size_t i = 0; i < dims; i++)
		v[k++] = position(&a[i], (double)g->top[i]);
	for (size_t i = 0; i < dims; i++)
		v[k++] = position(&a[i], (double)g->first[i] + g->moment[i] / g->sum);
	v[k++] = step(&a[0]) * step(&a[0]) * (g->xx / g->sum - mx * mx);
	v[k++] = dims > 1 ? step(&a[1]) * step(&a[1]) * (g->yy / g->sum - my * my) : 0;
	v[k++] = dims > 1 ? step(&a[0]) * step(&a[1]) * (g->xy / g->sum - mx * my) : 0;
	return k;
}

/* A position along both axes, the centre of a sample, becomes its place. */
static void
map_centre(const double g[6], double p[2])
{
	const double x = p[0] + .5, y = p[1] + .5;

	map_place(g, x, y, p);
}

/* Makes the box of places of the box whose corner samples are centred at lo and hi and have this size. */
static void
map_box(const double g[6], double lo[2], double hi[2], const double size[2])
{
	double edge[2][2], place[2];

	for (int i = 0; i < 2; i++) {
		edge[0][i] = lo[i] + .5 - size[i] / 2;
		edge[1][i] = hi[i] + .5 + size[i] / 2;
		lo[i] = INFINITY;
		hi[i] = -INFINITY;
	}
	for (int k = 0; k < 4; k++) {
		map_place(g, edge[k & 1][0], edge[k >> 1][1], place);
		for (int i = 0; i < 2; i++) {
			lo[i] = place[i] < lo[i] ? place[i] : lo[i];
			hi[i] = place[i] > hi[i] ? place[i] : hi[i];
		}
	}
}

void
measures_map(double v[MEASURES], const struct img *x, const double g[6], size_t dims)
{
	const int row = img_row_axis(x);
	const double size[2] = {fabs(map_cut_of(x, row).step), fabs(map_cut_of(x, row + 1).step)};
	double *c = v + 4 + 5 * dims;
	const double xx = c[0], yy = c[1], xy = c[2];

	map_box(g, v + 2, v + 2 + dims, size);
	map_centre(g, v + 2 + 2 * dims);
	map_centre(g, v + 4 + 3 * dims);
	map_centre(g, v + 4 + 4 * dims);
	c[0] = g[1] * g[1] * xx + 2 * g[1] * g[2] * xy + g[2] * g[2] * yy;
	c[1] = g[4] * g[4] * xx + 2 * g[4] * g[5] * xy + g[5] * g[5] * yy;
	c[2] = g[1] * g[4] * xx + (g[1] * g[5] + g[2] * g[4]) * xy + g[2] * g[5] * yy;
}
