#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/real.h"
#include "common/picture/label.h"
#include "common/picture/mosaic.h"
#include "common/picture/table.h"
#include "common/stream/img.h"

enum { MEASURES = 40 }; /* room for the numbers of a row */

/* ---- numbers ---- */

/* Powers of ten that are exact as doubles: 10^k at [k + 4], except for those below 1, which are only compared with. */
static const double power[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1,  1e2,	1e3, 1e4,
			       1e5,  1e6,  1e7,	 1e8,  1e9, 1e10, 1e11, 1e12};

/* Returns the exponent of ten of v, which lies from 1e-4 to 1e9. */
static int
exponent(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	/* log10(2) is 1233 / 4096. The estimate is right or one too low. */
	const int e = ((int)(bits >> 52) - 1023) * 1233 >> 12;
	return e + (v >= power[e + 5]);
}

/*
 * Writes the nine digits of u, with the point behind digit number e (from 0; the first digit is not 0), and leaves out zeros
 * at the end of the fraction.
 */
static size_t
put_digits(char *to, uint32_t u, int e)
{
	char digits[9];
	int n = 9;
	size_t used = 0;

	for (int k = 8; k >= 0; k--, u /= 10)
		digits[k] = (char)('0' + u % 10);
	while (n > e + 1 && n > 1 && digits[n - 1] == '0')
		n--;
	if (e < 0) {
		memcpy(to, "0.000", 5);
		used = (size_t)(1 - e);
	}
	for (int k = 0; k < n; k++) {
		if (k == e + 1 && e >= 0)
			to[used++] = '.';
		to[used++] = digits[k];
	}
	return used;
}

static size_t
put_whole(char *to, uint64_t u)
{
	char digits[20];
	size_t n = 0, used = 0;

	do
		digits[n++] = (char)('0' + u % 10);
	while (u /= 10);
	while (n)
		to[used++] = digits[--n];
	return used;
}

size_t
number_print(char *to, double v)
{
	const double a = fabs(v);
	size_t used = 0;

	/* printf shows the sign of a NaN, which depends on the CPU. */
	if (isnan(v)) {
		memcpy(to, "nan", 3);
		return 3;
	}
	if (v < 0)
		to[used++] = '-';
	if (a < 0x1p53 && a == (double)(uint64_t)a && (a > 0 || !signbit(v)))
		return used + put_whole(to + used, (uint64_t)a);
	if (!(a >= 1e-4 && a < 999999999))
		return (size_t)snprintf(to, NUMBER_ROOM, "%.9g", v);
	int e = exponent(a);
	/* The product has one rounding error, below 1e-7. Digits that it could change are left to printf. */
	const double scaled = a * power[8 - e + 4];
	uint32_t u = (uint32_t)scaled;
	const double rest = scaled - u;

	if (fabs(rest - .5) < 1e-6)
		return (size_t)snprintf(to, NUMBER_ROOM, "%.9g", v);
	u += rest > .5;
	if (u == 1000000000) {
		u /= 10;
		e++;
	}
	return used + put_digits(to + used, u, e);
}

/* ---- measures ---- */

/* The names of the columns, separated by blanks: [0] of pictures, [1] of volumes. */
static const char *const measures_names[2] = {
    "label size xmin ymin xmax ymax x y sum peak xpeak ypeak xw yw xx yy xy min sd area major "
    "minor angle touches",
    "label size xmin ymin zmin xmax ymax zmax x y z sum peak xpeak ypeak zpeak xw yw zw xx yy xy "
    "zz xz yz min sd volume "
    "touches"};

/* Those of outlines. */
static const char *const shape_names[2] = {" perimeter feret solidity", " surface feret solidity"};

/* The position of index i along an axis. */
static double
position(struct map_cut c, double i)
{
	return c.first + i * c.step;
}

double
table_steps(const struct table *t, double to[3][3])
{
	const int row = img_row_axis(t->x);
	const double x = map_cut_of(t->x, row).step, y = map_cut_of(t->x, row + 1).step,
		     z = t->dims > 2 ? map_cut_of(t->x, row + 2).step : 1;
	const double *g = t->world.g;
	const bool map = t->world.kind == WORLD_MAP;
	const double steps[3][3] = {{map ? g[1] * x : x, map ? g[2] * y : 0, 0},
				    {map ? g[4] * x : 0, map ? g[5] * y : y, 0},
				    {0, 0, z}};

	memcpy(to, steps, sizeof steps);
	return fabs((to[0][0] * to[1][1] - to[0][1] * to[1][0]) * z);
}

/* Sets c to the variances and covariances of moments. */
static void
spread(const struct moments *g, double to[3][3], double c[3][3])
{
	static const int of[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
	const double m[3] = {g->m[0] / g->s, g->m[1] / g->s, g->m[2] / g->s};
	double v[3][3];

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			v[i][j] = g->q[of[i][j]] / g->s - m[i] * m[j];
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			c[i][j] = 0;
			for (int k = 0; k < 3; k++)
				for (int n = 0; n < 3; n++)
					c[i][j] += to[i][k] * to[j][n] * v[k][n];
		}
}

/* A perimeter is known where steps along x and y are as long, and at a right angle. */
static double
scale_of(double to[3][3])
{
	const double a = hypot(to[0][0], to[1][0]), b = hypot(to[0][1], to[1][1]),
		     dot = to[0][0] * to[0][1] + to[1][0] * to[1][1];

	return fabs(a - b) <= 1e-6 * a && fabs(dot) <= 1e-6 * a * b ? a : NAN;
}

/* Writes the row of component i. Places are positions at the axes of the picture. Returns how many numbers it has. */
static size_t
measures_fill(double v[MEASURES], const struct table *t, size_t i)
{
	const struct region *g = label_region(t->l, i);
	const size_t dims = t->dims;
	const double n = (double)g->size;
	double c[3][3], to[3][3];
	const double cell = table_steps(t, to);
	struct map_cut a[3];
	size_t k = 0;

	spread(&g->light, to, c);
	for (int d = 0; d < 3; d++)
		a[d] = map_cut_of(t->x, img_row_axis(t->x) + d);
	v[k++] = t->named ? t->l->name[i] : (double)i + 1;
	v[k++] = n;
	for (size_t d = 0; d < dims; d++)
		v[k++] = position(a[d], (double)(a[d].step < 0 ? g->hi : g->lo)[d]);
	for (size_t d = 0; d < dims; d++)
		v[k++] = position(a[d], (double)(a[d].step < 0 ? g->lo : g->hi)[d]);
	for (size_t d = 0; d < dims; d++)
		v[k++] = position(a[d], (double)g->first[d] + g->shape.m[d] / n);
	v[k++] = g->light.s;
	v[k++] = g->peak;
	for (size_t d = 0; d < dims; d++)
		v[k++] = position(a[d], (double)g->top[d]);
	for (size_t d = 0; d < dims; d++)
		v[k++] = position(a[d], (double)g->first[d] + g->light.m[d] / g->light.s);
	v[k++] = c[0][0];
	v[k++] = c[1][1];
	v[k++] = c[0][1];
	for (int d = 2; dims > 2 && d < 5; d++)
		v[k++] = c[d % 3][2];
	v[k++] = g->least;
	v[k++] = sqrt(g->squares < 0 ? 0 : g->squares / n);
	v[k++] = cell * n;
	if (dims ==
	    2) { /* the ellipse of the same variances; the angle from x towards y to its longer axis */
		spread(&g->shape, to, c);
		const double half = (c[0][0] - c[1][1]) / 2, mean = (c[0][0] + c[1][1]) / 2,
			     apart = hypot(half, c[0][1]);

		v[k++] = 4 * sqrt(mean + apart);
		v[k++] = 4 * sqrt(mean > apart ? mean - apart : 0);
		v[k++] = atan2(c[0][1], half) * 90 / M_PI;
	}
	v[k++] = region_touches(g, t->l);
	if (t->shape) {
		v[k++] = dims > 2 ? t->shape[i].surface : t->shape[i].perimeter * scale_of(to);
		v[k++] = t->shape[i].feret;
		v[k++] = n / t->shape[i].filled;
	}
	return k;
}

/*
 * Changes the places of the row to those on the map with the transform of the page (common/picture/mosaic.h). The box becomes the
 * one around the areas of the samples, parallel to the axes of the map.
 */
static void
measures_map(double v[MEASURES], const struct table *t)
{
	const double *g = t->world.g;
	double *lo = v + 2, *hi = lo + t->dims, edge[2][2], place[2];

	for (int i = 0; i < 2; i++) {
		const double size = fabs(map_cut_of(t->x, img_row_axis(t->x) + i).step);
		edge[0][i] = lo[i] + .5 - size / 2;
		edge[1][i] = hi[i] + .5 + size / 2;
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
	/* The mean place, that of the peak, behind sum and peak, and that by weight. */
	double *const centre[3] = {hi + t->dims, hi + 2 * t->dims + 2, hi + 3 * t->dims + 2};

	for (int k = 0; k < 3; k++)
		map_place(g, centre[k][0] + .5, centre[k][1] + .5, centre[k]);
}

/* ---- tables ---- */

/* Puts the columns, separated by blanks, into names. */
enum { NAMES = 400 };
static void
name_columns(const struct table *t, char names[NAMES])
{
	const bool volume = t->dims > 2;

	snprintf(names, NAMES, "%s%s%s", measures_names[volume],
		 t->shape ? shape_names[volume] : "", t->world.names);
}

/* Writes the row of component i. Returns how many numbers it has. */
static size_t
fill_row(double v[MEASURES], const struct table *t, size_t i)
{
	const size_t n = measures_fill(v, t, i);

	if (t->world.kind == WORLD_MAP)
		measures_map(v, t);
	if (t->world.kind != WORLD_SKY)
		return n;
	world_place(&t->world, v + 2 + 2 * t->dims, (int)t->dims, v + n);
	return n + 2;
}

void
table_put_csv(const struct table *t, struct raw_out *out)
{
	char line[(MEASURES + 1) * (NUMBER_ROOM + 1)];
	double v[MEASURES];

	if (!t->item) {
		name_columns(t, line);
		for (const char *s = line; *s; s++)
			raw_text(out, *s == ' ' ? "," : s, 1);
		raw_printf(out, ",item\n");
	}
	for (size_t i = 0; i < t->l->n; i++) {
		const size_t n = fill_row(v, t, i);
		size_t used = 0;
		for (size_t k = 0; k < n; k++) {
			/* Whole numbers have all digits. */
			const bool sky = t->world.kind == WORLD_SKY && k + 2 >= n,
				   map = t->world.kind == WORLD_MAP;

			if ((sky || map) && v[k] != rint(v[k]))
				used += (size_t)snprintf(line + used, NUMBER_ROOM, "%.*g",
							 sky ? 15 : 12, real_shown(v[k]));
			else
				used += number_print(line + used, real_shown(v[k]));
			line[used++] = ',';
		}
		used += put_whole(line + used, t->item);
		line[used++] = '\n';
		raw_text(out, line, used);
	}
}

void
table_put(const struct table *t, const struct raw_in *in, const struct opt_common *common,
	  struct raw_out *out)
{
	double v[MEASURES] = {0};
	char names[NAMES];
	struct img y;

	if (!t->l->n)
		raw_die(in, "it has no component, and a table cannot be empty; see --to=csv");
	const size_t sizes[2] = {fill_row(v, t, 0), t->l->n};

	img_init(&y, IMG_F64, 2, sizes);
	strcpy(y.axis[0].kind, "list");
	name_columns(t, names);
	img_set_key(&y, "columns", "%s", names);
	opt_add_history(&y, common);
	raw_head(out, &y);
	for (size_t i = 0; i < t->l->n; i++)
		raw_write(out, v, fill_row(v, t, i));
	img_free(&y);
}
