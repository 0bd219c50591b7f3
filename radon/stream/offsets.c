#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/die.h"
#include "common/file.h"
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

void
offsets_of_item(struct gathers *s)
{
	const char *key = img_key(&s->item, "offsets");
	const struct img_axis *a = &s->item.axis[1];

	free(s->offset);
	s->offset = NULL;
	s->noffset = 0;
	if (s->file)
		return;
	if (key) {
		s->offset = numbers(key, &s->noffset);
		if (!s->offset)
			raw_die(s->in, "offsets:= is not a list of finite numbers");
		return;
	}
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

size_t
offsets_count(const struct gathers *s)
{
	const bool model = s->shape.mode == RADON_MODEL;
	const size_t given = s->file ? s->nfile : s->noffset;
	const size_t nx = !model		    ? s->item.axis[1].n
			  : s->file || !s->shape.nx ? given
						    : s->shape.nx;

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

void
offsets_range(struct gathers *s)
{
	const double *x = s->file ? s->file : s->offset;
	const size_t n = s->file ? s->nfile : s->noffset;

	s->shape.glo = s->shape.ghi = 0;
	for (size_t i = 0; i < n && s->planes > 1; i++) {
		const double g = curve_at(s, x[i]);
		s->shape.glo = fmin(s->shape.glo, g);
		s->shape.ghi = fmax(s->shape.ghi, g);
	}
}

void
offsets_take(struct gathers *s, struct gather *g)
{
	const size_t nx = s->shape.nx;
	const double *from = s->noffset == nx ? s->offset : s->offset + s->plane * nx;

	if (s->file && s->nfile == nx) {
		from = s->file;
	} else if (s->file) {
		if (s->nfile - s->at < nx * (s->plane ? 1 : s->planes))
			die("%s: %zu numbers: neither %zu, the traces of a gather, nor those of "
			    "all gathers",
			    s->o->offsets, s->nfile, nx);
		from = s->file + s->at;
		s->at += nx;
	}
	memcpy(g->offset, from, nx * sizeof *g->offset);
	for (size_t j = 0; j < nx; j++)
		g->g[j] = curve_at(s, from[j]);
}
