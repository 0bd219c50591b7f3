#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "radon/stream/polygons.h"

struct corners {
	double (*v)[2];
	size_t *end; /* one past the last corner of each polygon */
	size_t n, count;
};

static void *
grow(void *p, size_t n, size_t size)
{
	if (n & (n - 1))
		return p;
	p = realloc(p, 2 * (n ? n : 1) * size);
	if (!p)
		die("no memory for %zu corners of polygons", n);
	return p;
}

/* Ends the polygon that is being read, if there is one. */
static void
end_polygon(struct corners *c, const char *path, size_t line)
{
	const size_t first = c->count ? c->end[c->count - 1] : 0;

	if (c->n == first)
		return;
	if (c->n - first < 3)
		die("%s: line %zu: a polygon has at least 3 corners", path, line);
	c->end = grow(c->end, c->count, sizeof *c->end);
	c->end[c->count++] = c->n;
}

static void
add_corner(struct corners *c, const char *path, size_t line, const char *text)
{
	double tau, q;
	int used = 0;

	if (sscanf(text, "%lf %lf %n", &tau, &q, &used) != 2 || text[used] || !isfinite(tau) ||
	    !isfinite(q))
		die("%s: line %zu: '%s' is not a corner `tau q'", path, line, text);
	c->v = grow(c->v, c->n, sizeof *c->v);
	c->v[c->n][0] = tau;
	c->v[c->n++][1] = q;
}

void
polygons_read(struct radon_mute *m, const char *path)
{
	FILE *f = fopen(path, "r");
	struct corners c = {0};
	char *text = NULL;
	size_t size = 0, line = 0;

	if (!f)
		die("%s: %s", path, strerror(errno));
	while (getline(&text, &size, f) > 0) {
		char *s = text;
		line++;
		text[strcspn(text, "#\n")] = 0;
		while (isspace((unsigned char)*s))
			s++;
		if (*s)
			add_corner(&c, path, line, s);
		else
			end_polygon(&c, path, line);
	}
	if (ferror(f))
		die("%s: %s", path, strerror(errno));
	end_polygon(&c, path, line);
	fclose(f);
	free(text);
	if (!c.count)
		die("%s: no polygon", path);
	m->corner = (const double(*)[2])c.v;
	m->polygon = c.end;
	m->npolygon = c.count;
}

void
polygons_free(struct radon_mute *m)
{
	free((void *)m->corner);
	free((void *)m->polygon);
	m->corner = NULL;
	m->polygon = NULL;
	m->npolygon = 0;
}
