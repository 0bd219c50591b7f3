/* Lists the edges of the grid in order. Edges of bytes are sorted by counting, those of other samples by a radix sort. */
#include <errno.h>
#include <math.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "emst/mesh/mesh.h"
#include "emst/sort.h"

enum { MOST_D2 = 3 * 255 * 255, DIRECTIONS = 4 };

static const int along[DIRECTIONS] = {1, 0, 1, -1}, down[DIRECTIONS] = {0, 1, 1, 1};

/* The edges of one row and direction start at pixels x0..x1-1. */
struct reach {
	size_t x0, x1;
};

static struct reach
row_reach(size_t w, size_t h, size_t y, int dir)
{
	struct reach r = {along[dir] < 0, w - (along[dir] > 0)};

	if (y + (size_t)down[dir] >= h)
		r.x1 = r.x0;
	return r;
}

static size_t
count_edges(size_t w, size_t h, int dir)
{
	return (w - (along[dir] != 0)) * (h - (size_t)down[dir]);
}

/* --- bytes --------------------------------------------------------------------------------------------------------- */

/* Fills d2[i] with the squared distance of pixels i of two rows. */
WEIR_CLONES(row_d2,
	    (const uint8_t *restrict a, const uint8_t *restrict b, size_t planes, size_t n,
	     uint32_t *restrict d2),
	    (a, b, planes, n, d2))
{
	if (planes == 3)
		for (size_t i = 0; i < n; i++) {
			const int r = a[3 * i] - b[3 * i], g = a[3 * i + 1] - b[3 * i + 1],
				  c = a[3 * i + 2] - b[3 * i + 2];
			d2[i] = (uint32_t)(r * r + g * g + c * c);
		}
	else
		for (size_t i = 0; i < n; i++) {
			d2[i] = 0;
			for (size_t p = 0; p < planes; p++) {
				const int d = a[planes * i + p] - b[planes * i + p];
				d2[i] += (uint32_t)(d * d);
			}
		}
}

/* Fills d2[] with the squared lengths of the edges that go from row y in one direction. Returns where they start. */
static struct reach
find_d2(const struct mesh *g, const struct vertices *v, size_t y, int dir, uint32_t *d2)
{
	const struct reach r = row_reach(g->w, g->h, y, dir);
	const size_t planes = v->planes;
	const uint8_t *a = (const uint8_t *)v->data + (y * g->w + r.x0) * planes;

	if (r.x1 > r.x0)
		row_d2(a,
		       a + ((ptrdiff_t)((size_t)down[dir] * g->w) + along[dir]) * (ptrdiff_t)planes,
		       planes, r.x1 - r.x0, d2);
	return r;
}

static void
count_d2(const struct mesh *g, const struct vertices *v, int dir, uint32_t *d2, uint32_t *count)
{
	for (size_t y = 0; y < g->h; y++) {
		const struct reach r = find_d2(g, v, y, dir, d2);
		for (size_t x = 0; x + r.x0 < r.x1; x++)
			count[d2[x]]++;
	}
}

static void
place_edges(const struct mesh *g, const struct vertices *v, int dir, uint32_t *d2, uint32_t *at)
{
	for (size_t y = 0; y < g->h; y++) {
		const struct reach r = find_d2(g, v, y, dir, d2);
		for (size_t x = 0; x + r.x0 < r.x1; x++)
			g->edge[at[d2[x]]++] =
			    (uint32_t)((y * g->w + r.x0 + x) << 2) | (uint32_t)dir;
	}
}

/* Replaces count[d2] by the place where the edges of that length begin, and lists the runs of equal edges. */
static int
make_runs(struct mesh *g, uint32_t *count)
{
	size_t runs = 0, at = 0;

	for (size_t d2 = 0; d2 <= MOST_D2; d2++)
		runs += count[d2] > 0;
	g->run = weir_alloc(runs, sizeof *g->run);
	if (!g->run)
		return -ENOMEM;
	for (size_t d2 = 0; d2 <= MOST_D2; d2++) {
		const uint32_t n = count[d2];
		count[d2] = (uint32_t)at;
		at += n;
		if (n)
			g->run[g->nrun++] = (struct mesh_run){sqrt((double)d2), at};
	}
	return 0;
}

static int
sort_bytes(struct mesh *g, const struct vertices *v, int directions)
{
	uint32_t *d2 = weir_alloc(g->w, sizeof *d2),
		 *count = weir_calloc(MOST_D2 + 1, sizeof *count);
	int err = d2 && count ? 0 : -ENOMEM;

	for (int dir = 0; !err && dir < directions; dir++)
		count_d2(g, v, dir, d2, count);
	if (!err)
		err = make_runs(g, count);
	for (int dir = 0; !err && dir < directions; dir++)
		place_edges(g, v, dir, d2, count);
	weir_free(d2);
	weir_free(count);
	return err;
}

/* --- other samples --------------------------------------------------------------------------------------------------- */

static double
pixel_d2(const struct emst_set *s, size_t i, size_t j)
{
	double d2 = 0;

	for (size_t a = 0; a < s->k; a++) {
		const double x = s->type == EMST_F32
				     ? (double)((const float *)s->x)[i * s->k + a] -
					   (double)((const float *)s->x)[j * s->k + a]
				     : ((const double *)s->x)[i * s->k + a] -
					   ((const double *)s->x)[j * s->k + a];
		d2 += x * x;
	}
	return d2;
}

static void
list_edges(const struct mesh *g, const struct emst_set *s, int directions, struct sorted *e)
{
	for (int dir = 0; dir < directions; dir++)
		for (size_t y = 0; y < g->h; y++) {
			const struct reach r = row_reach(g->w, g->h, y, dir);
			for (size_t i = y * g->w + r.x0; i < y * g->w + r.x1; i++, e++) {
				const size_t j = i + (size_t)down[dir] * g->w + (size_t)along[dir];
				*e = (struct sorted){sort_key_double(pixel_d2(s, i, j)),
						     (uint32_t)(i << 2) | (uint32_t)dir, 0};
			}
		}
}

static int
sort_samples(struct mesh *g, const struct vertices *v, int directions)
{
	struct sorted *e = weir_alloc_large(g->n, sizeof *e),
		      *tmp = weir_alloc_large(g->n, sizeof *tmp);

	g->run = weir_alloc_large(g->n, sizeof *g->run);
	const bool room = e && tmp && g->run;
	if (room) {
		list_edges(g, &v->set, directions, e);
		emst_sort(e, tmp, g->n);
	}
	for (size_t i = 0; room && i < g->n; i++) {
		g->edge[i] = e[i].a;
		if (!i || e[i].key != e[i - 1].key)
			g->run[g->nrun++].length = v->scale * sqrt(sort_double(e[i].key));
		g->run[g->nrun - 1].end = i + 1;
	}
	weir_free(e);
	weir_free(tmp);
	return room ? 0 : -ENOMEM;
}

int
mesh_make(struct mesh *g, const struct vertices *v, size_t w, size_t h, int neighbours)
{
	const int directions = neighbours / 2;

	*g = (struct mesh){.w = w, .h = h};
	for (int dir = 0; dir < directions; dir++)
		g->n += count_edges(w, h, dir);
	g->edge = weir_alloc_large(g->n, sizeof *g->edge);
	if (!g->edge)
		return -ENOMEM;
	return v->type == IMG_U8 && v->planes <= 3 ? sort_bytes(g, v, directions)
						   : sort_samples(g, v, directions);
}

void
mesh_free(struct mesh *g)
{
	weir_free(g->edge);
	weir_free(g->run);
	*g = (struct mesh){0};
}
