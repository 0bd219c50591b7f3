/* Turns colours into coordinates for the engines of palette.h. */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "emst/palette/levels.h"
#include "emst/palette/palette.h"

/* Colours in the making. */
struct gamut {
	struct palette_colours p;
	uint64_t *weight; /* [vertices]; owned */
	uint16_t *x;	  /* [vertices][3 or 4]; owned */
	bool *opaque;	  /* [vertices]; owned */
};

static size_t
dimensions(const struct vertices *v)
{
	return v->planes == 4 || v->opaque > 0 ? 4 : 3;
}

/* Frees the coordinates, which are as large as the picture. */
static void
drop_coordinates(void *gamut)
{
	struct gamut *g = gamut;

	weir_free(g->x);
	weir_free(g->opaque);
	g->x = NULL;
	g->opaque = NULL;
}

/* Finds the least and the largest sample. */
static void
find_range(const struct vertices *v, double *low, double *high)
{
	double x[4];

	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < v->set.n; i++) {
		vertices_get(v, i, x);
		for (size_t a = 0; a < v->planes; a++) {
			*low = fmin(*low, x[a]);
			*high = fmax(*high, x[a]);
		}
	}
}

/* Lists the samples, less the least of them. */
static void
list_samples(struct gamut *g, const struct vertices *v)
{
	const size_t dims = dimensions(v);
	double x[4], low, high;

	find_range(v, &low, &high);
	while ((int)(high - low) >> g->p.shift > 255)
		g->p.shift++;
	for (size_t i = 0; i < v->set.n; i++) {
		vertices_get(v, i, x);
		for (size_t a = 0; a < dims; a++)
			g->x[i * dims + a] = a < v->planes ? (uint16_t)(x[a] - low) : 0;
	}
	g->p.n = v->set.n;
	g->p.gray = v->planes == 1;
}

/*
 * Fills to[4] with the coordinates of a colour with alpha. A level of 8 bits is 256 units. The first three lie around 32768;
 * the last is at most 56534.
 */
static void
place_seen(const struct vertices *v, const double *x, uint16_t to[4])
{
	const size_t planes = v->planes - 1;
	const double a = fmin(x[planes] / v->opaque, 1) * 65280;

	for (size_t c = 0; c < 3; c++)
		to[c] =
		    c < planes ? (uint16_t)(32768 + rint(a * (fmin(x[c] / v->opaque, 1) - .5))) : 0;
	to[3] = (uint16_t)rint(a * sqrt((double)planes) / 2);
}

/* Lists the colours as they are seen. All clear ones are one colour. */
static void
list_seen(struct gamut *g, const struct vertices *v)
{
	struct palette_colours *p = &g->p;

	p->shift = 8;
	for (size_t i = 0; i < v->set.n; i++) {
		double x[4];
		size_t at = p->n;
		vertices_get(v, i, x);
		const double alpha = x[v->planes - 1];
		if (alpha == 0 && p->has_clear) {
			g->weight[p->clear] += v->weight[i];
			continue;
		}
		if (alpha == 0) {
			p->has_clear = true;
			p->clear = at;
		}
		place_seen(v, x, g->x + 4 * at);
		g->weight[at] = v->weight[i];
		g->opaque[at] = alpha >= v->opaque;
		if (g->opaque[at])
			p->opaque = g->opaque;
		p->n++;
	}
	p->weight = g->weight;
}

/* Moves the labels of the colours, which stand in front, to their vertices. */
static void
spread_labels(const struct palette_colours *p, const struct vertices *v, uint32_t *label)
{
	size_t at = p->n;
	double x[4];

	if (!p->has_clear)
		return;
	/* The first clear vertex has the number of its colour, and so have all before it. */
	for (size_t i = v->set.n; --i > p->clear;) {
		vertices_get(v, i, x);
		label[i] = x[v->planes - 1] == 0 ? label[p->clear] : label[--at];
	}
}

static int
make_seen(struct gamut *g, const struct vertices *v, size_t k, int threads, uint32_t *label)
{
	const size_t n = v->set.n;
	int err = -ENOMEM;

	g->weight = weir_alloc_large(n, sizeof *g->weight);
	g->opaque = weir_alloc_large(n, sizeof *g->opaque);
	if (g->weight && g->opaque) {
		list_seen(g, v);
		err = palette_rgba(&g->p, k, threads, label);
		if (!err)
			spread_labels(&g->p, v, label);
	}
	weir_free(g->weight);
	return err;
}

/* Makes the palette of a gray picture of few levels. */
static int
make_gray(const struct vertices *v, size_t k, uint32_t *label)
{
	const size_t n = v->set.n;
	struct sorted *e = weir_alloc(2 * n, sizeof *e);
	int err = -ENOMEM;

	if (e) {
		for (size_t i = 0; i < n; i++) {
			double x;
			vertices_get(v, i, &x);
			e[i] = (struct sorted){(uint64_t)x, (uint32_t)i, 0};
		}
		emst_sort(e, e + n, n);
		err = levels_make(e, v->weight, n, k < n ? k : n, label);
	}
	weir_free(e);
	return err;
}

bool
palette_takes(const struct vertices *v)
{
	return v->planes <= 4 && (v->type == IMG_U8 || v->type == IMG_U16);
}

int
palette_make(const struct vertices *v, size_t k, int threads, uint32_t *label)
{
	struct gamut g = {.p = {.weight = v->weight, .placed = drop_coordinates, .placed_of = &g}};
	int err;

	if (v->planes == 1 && v->set.n <= LEVELS_MOST)
		return make_gray(v, k, label);
	if (v->code && v->opaque == 0) {
		g.p.code = v->code;
		g.p.n = v->set.n;
		return palette_rgb(&g.p, k, threads, label);
	}
	g.p.x = g.x = weir_alloc_large(v->set.n, dimensions(v) * sizeof *g.x);
	if (!g.x)
		return -ENOMEM;
	if (v->opaque > 0) {
		err = make_seen(&g, v, k, threads, label);
	} else {
		list_samples(&g, v);
		err = (v->planes == 4 ? palette_rgba : palette_rgb)(&g.p, k, threads, label);
	}
	drop_coordinates(&g);
	return err;
}
