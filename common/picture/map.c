#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/real.h"
#include "common/picture/map.h"

struct map_cut
map_cut_of(const struct img *x, int axis)
{
	const struct img_axis *a = &x->axis[axis];

	if (axis >= x->dim)
		return (struct map_cut){0, 1};
	return (struct map_cut){isnan(a->min) ? 0 : a->min, isnan(a->spacing) ? 1 : a->spacing};
}

double
map_corner(struct map_cut c)
{
	return c.first + .5 - c.step / 2;
}

void
map_follow(const struct img *x, double g[6])
{
	const int row = img_row_axis(x);
	const struct map_cut a = map_cut_of(x, row), b = map_cut_of(x, row + 1);

	g[0] += g[1] * map_corner(a) + g[2] * map_corner(b);
	g[3] += g[4] * map_corner(a) + g[5] * map_corner(b);
	/* + 0: a flip makes no -0. */
	for (int i = 1; i < 6; i += 3) {
		g[i] = g[i] * a.step + 0;
		g[i + 1] = g[i + 1] * b.step + 0;
	}
}

bool
map_of_page(const struct img *x, double g[6])
{
	const char *text = img_key(x, "geotransform");

	if (!text ||
	    sscanf(text, "%lf %lf %lf %lf %lf %lf", g, g + 1, g + 2, g + 3, g + 4, g + 5) != 6)
		return false;
	for (int i = 0; i < 6; i++)
		if (!isfinite(g[i]))
			return false;
	return g[1] * g[5] != g[2] * g[4];
}

bool
map_of(const struct img *x, double g[6])
{
	if (!map_of_page(x, g))
		return false;
	map_follow(x, g);
	return true;
}

void
map_place(const double g[6], double i, double j, double place[2])
{
	place[0] = g[0] + g[1] * i + g[2] * j;
	place[1] = g[3] + g[4] * i + g[5] * j;
}

/* Finds i, j of a place. */
static void
find_sample(const double g[6], const double place[2], double sample[2])
{
	const double x = place[0] - g[0], y = place[1] - g[3], d = g[1] * g[5] - g[2] * g[4];

	sample[0] = (x * g[5] - y * g[2]) / d;
	sample[1] = (y * g[1] - x * g[4]) / d;
}

/* Rounds a number of samples for a message to three digits behind the point. */
static double
shown(double v)
{
	return real_shown(rint(v * 1000) / 1000);
}

const char *
map_align(const double g[6], const double f[6], size_t w, size_t h, int64_t at[2],
	  char words[MAP_ERR])
{
	const double most = .01, size[2] = {(double)w, (double)h};
	double first[2], place[2], s[2];

	find_sample(g, (const double[]){f[0], f[3]}, first);
	if (!(fabs(first[0]) < 0x1p40 && fabs(first[1]) < 0x1p40))
		return strcpy(words, "it is too far from the parts before");
	for (int k = 1; k < 4; k++) {
		const double i = k & 1 ? size[0] : 0, j = k & 2 ? size[1] : 0;

		map_place(f, i, j, place);
		find_sample(g, place, s);
		if (fabs(s[0] - first[0] - i) <= most && fabs(s[1] - first[1] - j) <= most)
			continue;
		snprintf(words, MAP_ERR,
			 "a step of a column and of a row is %.10g,%.10g and %.10g,%.10g on the "
			 "map, but %.10g,%.10g and %.10g,%.10g in the parts before",
			 f[1], f[4], f[2], f[5], g[1], g[4], g[2], g[5]);
		return words;
	}
	for (int k = 0; k < 2; k++)
		at[k] = llrint(first[k]);
	if (fabs(first[0] - (double)at[0]) <= most && fabs(first[1] - (double)at[1]) <= most)
		return NULL;
	snprintf(words, MAP_ERR,
		 "it lies %.10g columns and %.10g rows from the first part, and not a whole number",
		 shown(first[0]), shown(first[1]));
	return words;
}

static bool
same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

const char *
map_other_system(const struct img *a, const struct img *b)
{
	static const char *const name[] = {"crs", "geotiff.keys", "geotiff.doubles",
					   "geotiff.ascii"};
	const bool known = img_key(a, "crs") && img_key(b, "crs");

	for (size_t i = 0; i < (known ? 1 : sizeof name / sizeof *name); i++)
		if (!same_text(img_key(a, name[i]), img_key(b, name[i])))
			return name[i];
	return NULL;
}
