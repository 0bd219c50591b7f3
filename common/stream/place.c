#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/words.h"
#include "common/stream/axes.h"
#include "common/stream/place.h"
#include "common/stream/share.h"

int
place_of(const struct img *x, size_t w, size_t h, struct place *t, struct why *why)
{
	const char *text = img_key(x, "tile"), *at = text;
	size_t v[4] = {0, 0, w, h};
	bool good = true;

	for (int i = 0; at && i < 4; i++)
		good = good && word_size(&at, 0, &v[i]) && v[i] <= PLACE_MOST;
	if (text && !(good && word_none(at)))
		return why_set(why, "tile:=%.40s is not `x0 y0 W H`, numbers up to %d", text,
			       PLACE_MOST);
	*t = (struct place){v[0], v[1], v[2], v[3]};
	if (w > t->W || h > t->H || t->x0 > t->W - w || t->y0 > t->H - h)
		return why_set(why,
			       "tile:=%.40s: %zux%zu pixels reach outside the image of %zux%zu",
			       text, w, h, t->W, t->H);
	return 0;
}

bool
place_same(const struct img *x, const struct img *y)
{
	const char *mine = img_key(x, "tile"), *theirs = img_key(y, "tile");

	return share_same(x, y) && (mine && theirs ? !strcmp(mine, theirs) : mine == theirs);
}

/* --- FITS cards ------------------------------------------------------------------------------ */

static const char *
find_card(const struct img *x, const char *fmt, va_list ap)
{
	enum { PREFIX = 5, NAME = 8 };
	char key[32] = "fits.";
	const int n = vsnprintf(key + PREFIX, sizeof key - PREFIX, fmt, ap);
	const char *value = n <= NAME ? img_key(x, key) : NULL;

	return value && *value == '=' ? value + 1 + strspn(value + 1, " ") : value;
}

const char *
card_text(const struct img *x, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const char *s = find_card(x, fmt, ap);
	va_end(ap);
	return s;
}

double
card_number(const struct img *x, double absent, const char *fmt, ...)
{
	char word[81] = "", *end;
	va_list ap;

	va_start(ap, fmt);
	const char *s = find_card(x, fmt, ap);
	va_end(ap);
	if (s)
		snprintf(word, sizeof word, "%.*s", (int)strcspn(s, " /"), s);
	if ((end = strpbrk(word, "Dd"))) /* FORTRAN's exponent */
		*end = 'E';
	const double v = strtod(word, &end);
	return end > word && !*end && isfinite(v) ? v : absent;
}

/* --- maps, skies, positions ------------------------------------------------------------------ */

/*
 * The coordinates of a picture: u = m (p - p0) about v, where p are the positions along its axes. A map has p0 = 0 and u about 0. Of
 * the sky, u are degrees in the plane that touches it in v. POSITIONS: u = p.
 */
enum frame_kind { POSITIONS, MAP, CARDS };
struct frame {
	double p0[2], m[2][2], v[2];
	char system[2][5]; /* CARDS: the beginnings of CTYPE */
};

/* Element i, j of the matrix on the cards. Where there is no matrix, CROTA2 turns the axes. */
static double
element(const struct img *x, int i, int j)
{
	static const char *const form[] = {"CD%d_%d", "PC%d_%d", "PC%03d%03d"};
	const double scale = card_number(x, 1, "CDELT%d", i),
		     turn = card_number(x, 0, "CROTA2") * M_PI / 180;

	for (int k = 0; k < 3; k++)
		for (int at = 0; at < 4; at++)
			if (card_text(x, form[k], at / 2 + 1, at % 2 + 1))
				return card_number(x, k && i == j, form[k], i, j) * (k ? scale : 1);
	return i == j ? scale * cos(turn)
		      : card_number(x, 1, "CDELT%d", j) * (i < j ? -sin(turn) : sin(turn));
}

static enum frame_kind
frame_of(const struct img *x, struct frame *f)
{
	double g[6];

	*f = (struct frame){.m = {{1, 0}, {0, 1}}};
	if (word_reals(img_key(x, "geotransform"), ' ', g, 6) == 6) {
		*f = (struct frame){.m = {{g[1], g[2]}, {g[4], g[5]}}, .v = {g[0], g[3]}};
		return MAP;
	}
	if (!axis_counts_pixels(x, 0) || !axis_counts_pixels(x, 1) ||
	    isnan(card_number(x, NAN, "CRVAL1")) || isnan(card_number(x, NAN, "CRVAL2")))
		return POSITIONS;
	for (int i = 0; i < 2; i++) {
		const char *type = card_text(x, "CTYPE%d", i + 1);
		f->v[i] = card_number(x, 0, "CRVAL%d", i + 1);
		f->p0[i] = card_number(x, 0, "CRPIX%d", i + 1) - 1;
		for (int j = 0; j < 2; j++)
			f->m[i][j] = element(x, i + 1, j + 1);
		snprintf(f->system[i], sizeof *f->system, "%s", type ? type + (*type == '\'') : "");
	}
	return CARDS;
}

/* Finds the coordinates of the first or the last sample of x. */
static void
find_coordinates(const struct img *x, const struct frame *f, bool last, double u[2])
{
	double p[2];

	for (int i = 0; i < 2; i++) {
		const struct img_axis *a = &x->axis[img_row_axis(x) + i];
		p[i] = (isnan(a->min) ? 0 : a->min) - f->p0[i];
		if (last)
			p[i] += (double)(a->n - 1) * (isnan(a->spacing) ? 1 : a->spacing);
	}
	for (int i = 0; i < 2; i++)
		u[i] = f->m[i][0] * p[0] + f->m[i][1] * p[1];
}

/* Which of the two coordinates is a longitude on a sphere; -1: none. */
static int
longitude(const struct frame *f)
{
	for (int i = 0; i < 2; i++)
		if (!strcmp(f->system[i], "RA--") || strstr(f->system[i], "LON"))
			return i;
	return -1;
}

/* Changes u, about the place v, to coordinates about the place w: of the sky in the plane that touches it there. */
static void
move(double u[2], const double v[2], const double w[2], int lon)
{
	if (lon < 0 || (v[0] == w[0] && v[1] == w[1])) {
		for (int i = 0; i < 2; i++)
			u[i] += v[i] - w[i];
		return;
	}
	const double r = M_PI / 180, x = u[lon] * r, y = u[!lon] * r, d0 = v[!lon] * r,
		     d1 = w[!lon] * r, c = cos(d0) - y * sin(d0),
		     a = (v[lon] - w[lon]) * r + atan2(x, c),
		     d = atan2(sin(d0) + y * cos(d0), hypot(x, c)),
		     depth = sin(d1) * sin(d) + cos(d1) * cos(d) * cos(a);

	u[lon] = depth > 0 ? cos(d) * sin(a) / depth / r : INFINITY;
	u[!lon] = (cos(d1) * sin(d) - sin(d1) * cos(d) * cos(a)) / depth / r;
}

void
place_compare(const struct img *x, const struct img *y, double most, const char *where,
	      const char *than)
{
	const int row = img_row_axis(y);
	struct frame f, g;
	const enum frame_kind kind = frame_of(x, &f);
	if (kind != frame_of(y, &g) || row != img_row_axis(x) || x->dim < row + 2 ||
	    y->dim < row + 2)
		return;
	const char *crs = img_key(x, "crs"), *other = img_key(y, "crs");
	bool same =
	    (!crs || !other || !strcmp(crs, other)) && !memcmp(f.system, g.system, sizeof f.system);
	for (int k = 0; k < 4; k++) {
		const int i = k % 2;
		const struct img_axis *a = &x->axis[row + i], *b = &y->axis[row + i];
		double u[2], w[2];
		find_coordinates(x, &f, k / 2, u);
		find_coordinates(y, &g, k / 2, w);
		move(u, f.v, g.v, longitude(&g));
		const double pixel =
		    hypot(g.m[i][0], g.m[i][1]) * (isnan(b->spacing) ? 1 : fabs(b->spacing));

		if (kind != POSITIONS || (isfinite(a->min) && isfinite(b->min)))
			same &= fabs(u[i] - w[i]) <= most * pixel;
	}
	if (!same)
		warn("%s: it is a map of another place than %s", where, than);
}

void
place_set(struct img *x, const struct place *t)
{
	img_set_key(x, "tile", "%zu %zu %zu %zu", t->x0, t->y0, t->W, t->H);
}

unsigned
crs_number(const char *name)
{
	const char *epsg = name ? strcasestr(name, "EPSG:") : NULL;
	size_t n;

	/* CRS84 of OGC is 4326 with the longitude first, as GeoJSON has it. */
	if (!epsg)
		return name && strstr(name, "CRS84") ? 4326 : 0;
	return word_whole(strrchr(epsg, ':') + 1, 999999999, &n) ? (unsigned)n : 0;
}
