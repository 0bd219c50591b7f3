#include <math.h>

#include "common/tools/measures.h"

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
