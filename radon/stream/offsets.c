#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/stream/file.h"
#include "radon/stream/heads.h"

/*
 * Reads all numbers of a text, which blanks separate. Returns NULL and a count of 0 when the text has anything else, or
 * nothing. Caller frees.
 */
static double *
numbers(const char *text, size_t *n)
{
	double *v = NULL;
	size_t room = 0;
	char *end;

	for (*n = 0;; text = end) {
		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			return v;
		if (*n == room) {
			room = room ? 2 * room : 64;
			v = realloc(v, room * sizeof *v);
			if (!v)
				die("no memory for %zu offsets", room);
		}
		v[*n] = strtod(text, &end);
		if (end == text || !isfinite(v[*n]) || (*end && !isspace((unsigned char)*end))) {
			free(v);
			*n = 0;
			return NULL;
		}
		++*n;
	}
}

void
offsets_read(struct gathers *s, const char *path)
{
	FILE *f = file_open(path);
	char *text = NULL;
	size_t size = 0;
	ssize_t got;

	got = getdelim(&text, &size, 0, f);
	if (ferror(f))
		die("%s: %s", path, strerror(errno));
	fclose(f);
	s->file = got > 0 ? numbers(text, &s->nfile) : NULL;
	free(text);
	if (!s->file)
		die("%s: not a list of finite numbers", path);
}

/* Reads a key of offsets. Returns NULL and a count of 0 when there is none. */
static double *
numbers_of_key(const struct gathers *s, const char *name, size_t *n)
{
	const char *text = img_key(&s->item, name);
	double *v = NULL;

	*n = 0;
	if (text && !(v = numbers(text, n)))
		raw_die(s->in, "%s:= is not a list of finite numbers", name);
	return v;
}

/* Finds the pairs (x, y) of the item's offsets from its keys. Returns false when it has none. */
static bool
pairs_of_item(struct gathers *s)
{
	size_t n, ny;
	double *x = numbers_of_key(s, "offset-x", &n), *y = numbers_of_key(s, "offset-y", &ny);

	if (n != ny)
		raw_die(s->in, "%zu numbers in offset-x:=, and %zu in offset-y:=", n, ny);
	if (!n)
		return false;
	x = realloc(x, 2 * n * sizeof *x);
	if (!x)
		raw_die(s->in, "no memory for %zu offsets", n);
	for (size_t j = n; j-- > 0;) {
		x[2 * j + 1] = y[j];
		x[2 * j] = x[j];
	}
	free(y);
	s->offset = x;
	s->noffset = 2 * n;
	return true;
}

/* Makes pairs the distances from 0. */
static void
be_distances(struct gathers *s)
{
	s->noffset /= 2;
	for (size_t j = 0; j < s->noffset; j++)
		s->offset[j] = hypot(s->offset[2 * j], s->offset[2 * j + 1]);
}

static void
offsets_of_axis(struct gathers *s)
{
	const struct img_axis *a = &s->item.axis[1];

	if (s->shape.mode == RADON_MODEL || !isfinite(a->min) ||
	    (a->n > 1 && !isfinite(a->spacing)))
		raw_die(s->in, "no offsets: give --offsets, an offsets:= key or a trace axis with "
			       "min and spacing");
	s->noffset = a->n;
	s->offset = malloc(a->n * sizeof *s->offset);
	for (size_t j = 0; s->offset && j < a->n; j++)
		s->offset[j] = a->min + (a->n > 1 ? (double)j * a->spacing : 0);
	if (!s->offset)
		raw_die(s->in, "no memory for %zu offsets", a->n);
}

void
offsets_of_item(struct gathers *s)
{
	free(s->offset);
	s->offset = NULL;
	s->noffset = 0;
	if (s->file)
		return;
	if (s->per == 2 && !pairs_of_item(s))
		raw_die(s->in, "no offsets in a plane: give --offsets, or the keys offset-x:= and "
			       "offset-y:=");
	if (s->per == 2 || (s->offset = numbers_of_key(s, "offsets", &s->noffset)))
		return;
	if (pairs_of_item(s))
		be_distances(s);
	else
		offsets_of_axis(s);
}

size_t
offsets_count(const struct gathers *s)
{
	const bool model = s->shape.mode == RADON_MODEL;
	const size_t given = (s->file ? s->nfile : s->noffset) / s->per;
	const size_t nx = !model		    ? s->item.axis[1].n
			  : s->file || !s->shape.nx ? given
						    : s->shape.nx;

	if (s->file && s->nfile % s->per)
		die("%s: %zu numbers are not pairs of x and y", s->o->offsets, s->nfile);
	if (!s->file && given != nx && given != nx * s->planes)
		raw_die(s->in, "%zu offsets for %zu traces", given, nx);
	return nx;
}

/* Finds g of an offset; dies when the offset has no curve. */
static double
curve_at(const struct gathers *s, double x)
{
	double g;

	if (!radon_curve(s->curve, x, s->reference, s->depth, &g))
		raw_die(s->in, "the offset %g has no curve at reference offset %g, depth %g", x,
			s->reference, s->depth);
	return g;
}

/* Finds g and h of the offset v, one number or two. */
static void
curves_at(const struct gathers *s, const double *v, double *g, double *h)
{
	const double angle = s->azimuth * M_PI / 180, along = cos(angle), across = sin(angle);

	if (s->per == 1) {
		*g = curve_at(s, v[0]);
		*h = 0;
		return;
	}
	*g = curve_at(s, v[0] * along + v[1] * across);
	*h = curve_at(s, v[1] * along - v[0] * across);
}

void
offsets_range(struct gathers *s)
{
	const double *v = s->file ? s->file : s->offset;
	const size_t n = (s->file ? s->nfile : s->noffset) / s->per;
	double g, h;

	s->shape.least = s->shape.most = 0;
	for (size_t i = 0; i < n && s->planes > 1; i++) {
		curves_at(s, v + i * s->per, &g, &h);
		radon_widen(&s->shape, g, h, &s->shape.least, &s->shape.most);
	}
}

void
offsets_take(struct gathers *s, struct gather *g)
{
	const size_t nx = s->shape.nx, n = nx * s->per;
	const double *from = s->noffset == n ? s->offset : s->offset + s->plane * n;

	if (s->file && s->nfile == n) {
		from = s->file;
	} else if (s->file) {
		if (s->nfile - s->at < n * (s->plane ? 1 : s->planes))
			die("%s: %zu numbers: neither %zu, the %s of a gather, nor those of all "
			    "gathers",
			    s->o->offsets, s->nfile, n, s->per == 2 ? "pairs" : "traces");
		from = s->file + s->at;
		s->at += n;
	}
	for (size_t j = 0; j < nx; j++)
		curves_at(s, from + j * s->per, &g->g[j], &g->h[j]);
}
