/* Makes the classes that Ward's method begins with. */
#include <errno.h>
#include <string.h>

#include "common/mem.h"
#include "emst/palette/centres.h"

enum { TOP = 5, PARTS = 64 }; /* level 5: the cells; a cell has 64 parts of 2x2x2 */

struct octree {
	uint64_t *pixels[TOP + 1]; /* [8^level]; owned */
	uint32_t *seed[TOP + 1];   /* [8^level]: the number of the node's seed + 1, or 0; owned */
};

/* Returns the node of a level that contains a cell. */
static inline size_t
node_of(unsigned id, int level)
{
	const int s = TOP - level;

	return (size_t)(id >> 10 >> s) << 2 * level | (size_t)((id >> 5 & 31) >> s) << level |
	       (id & 31) >> s;
}

static int
make_octree(struct octree *o, const struct cells *c)
{
	*o = (struct octree){{NULL}, {NULL}};
	for (int level = 1; level <= TOP; level++) {
		o->pixels[level] = weir_calloc((size_t)1 << 3 * level, sizeof *o->pixels[level]);
		o->seed[level] = weir_calloc((size_t)1 << 3 * level, sizeof *o->seed[level]);
		if (!o->pixels[level] || !o->seed[level])
			return -ENOMEM;
		for (size_t q = 0; q < c->ncell; q++)
			o->pixels[level][node_of(c->cell[q].id, level)] +=
			    (uint64_t)c->cell[q].sum.v[3];
	}
	return 0;
}

static void
free_octree(struct octree *o)
{
	for (int level = 1; level <= TOP; level++) {
		weir_free(o->pixels[level]);
		weir_free(o->seed[level]);
	}
}

/* Splits a cell into parts of 4x4x4. A part that holds `most` pixels or more is split into parts of 2x2x2. */
static size_t
split_cell(const struct cells *c, const struct cell *q, uint64_t most, struct sum4 *sum, size_t n)
{
	struct sum4 part[PARTS];
	size_t next = n;

	memset(part, 0, sizeof part);
	for (uint32_t p = q->start; p < q[1].start; p++) {
		const unsigned r = (unsigned)c->x[0][p] & 7, g = (unsigned)c->x[1][p] & 7,
			       b = (unsigned)c->x[2][p] & 7;
		sum4_add(&part[(r >> 2) << 5 | (g >> 2) << 4 | (b >> 2) << 3 | (r >> 1 & 1) << 2 |
			       (g >> 1 & 1) << 1 | (b >> 1 & 1)],
			 &c->sum[p]);
	}
	for (int eight = 0; eight < PARTS; eight += 8) {
		struct sum4 whole = {{0}};
		for (int i = eight; i < eight + 8; i++)
			sum4_add(&whole, &part[i]);
		if ((uint64_t)whole.v[3] < most) {
			sum[next] = whole;
			next += whole.v[3] > 0;
			continue;
		}
		for (int i = eight; i < eight + 8; i++) {
			sum[next] = part[i];
			next += part[i].v[3] > 0;
		}
	}
	return next - n;
}

static size_t
list_seeds(struct octree *o, const struct cells *c, uint64_t most, struct sum4 *sum)
{
	size_t n = 0;

	for (const struct cell *q = c->cell; q < c->cell + c->ncell; q++) {
		int level = 1;
		while (level <= TOP && o->pixels[level][node_of(q->id, level)] >= most)
			level++;
		if (level > TOP) {
			n += split_cell(c, q, most, sum, n);
			continue;
		}
		uint32_t *seed = &o->seed[level][node_of(q->id, level)];
		if (!*seed) {
			sum[n++] = (struct sum4){{0}};
			*seed = (uint32_t)n;
		}
		sum4_add(&sum[*seed - 1], &q->sum);
	}
	return n;
}

int
seeds_make(const struct cells *c, uint64_t most, struct centre **seed, size_t *n)
{
	/* A cell makes at most 64 seeds, and at most one per colour. One place more is needed for a write ahead. */
	const size_t room = (c->n < PARTS * c->ncell ? c->n : PARTS * c->ncell) + 1;
	struct sum4 *sum = weir_alloc_large(room, sizeof *sum);
	struct octree o;
	int err = make_octree(&o, c);

	*seed = NULL;
	if (!err && sum) {
		*n = list_seeds(&o, c, most < 1 ? 1 : most, sum);
		*seed = weir_alloc_large(*n, sizeof **seed);
		for (size_t i = 0; *seed && i < *n; i++)
			(*seed)[i] = centre_of(&sum[i]);
	}
	free_octree(&o);
	weir_free(sum);
	return *seed ? 0 : -ENOMEM;
}
