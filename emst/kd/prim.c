/*
 * Few points: Prim's algorithm over all pairs. n^2/2 squared distances by vectors take less than a kd-tree and its lists
 * do: 1000 colours 2.5 -> 1.9 ms, 1500 colours 3.2 -> 2.5, 1000 points in the plane .73 -> .50 (one thread, AVX-512); at
 * 2000 it is a draw, and with two threads, of which this takes one, a loss.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "emst/kd/kd.h"
#include "emst/sort.h"

enum { BLOCK = 64 };
_Static_assert(EMST_PRIM % BLOCK == 0, "whole blocks");

/* The vertices that are not in the tree yet, by lane, and of each the first edge in the order of the rule that joins it. */
struct prim {
	size_t left;
	unsigned k;
	float *x[EMST_MAXDIM];
	uint32_t *vertex, *number;
	uint32_t *from, *from_number; /* the edge's other end, in the tree */
	uint64_t *key; /* of the edge: d2 and, for equal ones, the difference of the numbers */
	uint64_t least[EMST_PRIM / BLOCK];
	float d2[EMST_PRIM];
};

/* A vertex that has just joined. */
struct joined {
	float x[EMST_MAXDIM];
	uint32_t vertex, number;
};

static inline uint64_t
bits_of(float d2)
{
	uint32_t bits;

	memcpy(&bits, &d2, sizeof bits);
	return bits;
}

/*
 * The edges from v to all lanes, of squared lengths d2, take the place of longer ones; least: the least key of each block
 * then. Of two edges with one key that join the same vertex, one comes from below and one from above: the one from below
 * has the smaller lo.
 */
WEIR_CLONES(look,
	    (const struct joined *restrict v, size_t blocks, const float *restrict d2,
	     const uint32_t *restrict number, uint64_t *restrict key, uint32_t *restrict from,
	     uint32_t *restrict from_number, uint64_t *restrict least),
	    (v, blocks, d2, number, key, from, from_number, least))
{
	const uint32_t n = v->number, vertex = v->vertex;

	for (size_t b = 0; b < blocks; b++) {
		uint64_t l = UINT64_MAX;
		for (size_t j = b * BLOCK; j < (b + 1) * BLOCK; j++) {
			const uint32_t span = number[j] < n ? n - number[j] : number[j] - n;
			const uint64_t k = bits_of(d2[j]) << 32 | span;
			const bool first = (k < key[j]) | ((k == key[j]) & (n < number[j]));
			key[j] = first ? k : key[j];
			from[j] = first ? vertex : from[j];
			from_number[j] = first ? n : from_number[j];
			l = key[j] < l ? key[j] : l;
		}
		least[b] = l;
	}
}

/* d2 [+]= the squared differences along one axis. */
WEIR_CLONES(add_squares,
	    (const float *restrict x, float c, size_t lanes, bool first, float *restrict d2),
	    (x, c, lanes, first, d2))
{
	if (first)
		for (size_t j = 0; j < lanes; j++)
			d2[j] = (x[j] - c) * (x[j] - c);
	else
		for (size_t j = 0; j < lanes; j++)
			d2[j] += (x[j] - c) * (x[j] - c);
}

static void
look_from(struct prim *p, const struct joined *v)
{
	const size_t blocks = (p->left + BLOCK - 1) / BLOCK;

	for (unsigned a = 0; a < p->k; a++)
		add_squares(p->x[a], v->x[a], blocks * BLOCK, !a, p->d2);
	look(v, blocks, p->d2, p->number, p->key, p->from, p->from_number, p->least);
}

/* The lane of the first edge in the order of the rule. */
static size_t
first_edge(const struct prim *p)
{
	const size_t blocks = (p->left + BLOCK - 1) / BLOCK;
	uint64_t least = UINT64_MAX;
	uint32_t lo = UINT32_MAX;
	size_t best = 0;

	for (size_t b = 0; b < blocks; b++)
		least = p->least[b] < least ? p->least[b] : least;
	for (size_t b = 0; b < blocks; b++)
		for (size_t j = b * BLOCK; p->least[b] == least && j < (b + 1) * BLOCK; j++) {
			if (p->key[j] != least)
				continue;
			const uint32_t l =
			    p->number[j] < p->from_number[j] ? p->number[j] : p->from_number[j];
			if (l <= lo) {
				lo = l;
				best = j;
			}
		}
	return best;
}

/* Lane j joins; the last lane takes its place, and one that no edge ever reaches the last one's. */
static struct joined
take(struct prim *p, size_t j)
{
	const size_t last = --p->left;
	struct joined v = {.vertex = p->vertex[j], .number = p->number[j]};

	for (unsigned a = 0; a < p->k; a++) {
		v.x[a] = p->x[a][j];
		p->x[a][j] = p->x[a][last];
		p->x[a][last] = INFINITY;
	}
	p->vertex[j] = p->vertex[last];
	p->number[j] = p->number[last];
	p->from[j] = p->from[last];
	p->from_number[j] = p->from_number[last];
	p->key[j] = p->key[last];
	p->key[last] = UINT64_MAX;
	return v;
}

static bool
same_place(const struct emst_set *s, size_t u, size_t v)
{
	const float *x = s->x;

	return !memcmp(x + u * s->k, x + v * s->k, s->k * sizeof *x);
}

/* Edges as they come. -EEXIST: two points are equal. */
static int
grow(struct prim *p, const struct emst_set *s, struct sorted *edge)
{
	struct joined v = take(p, 0);

	for (size_t i = 0; p->left; i++) {
		look_from(p, &v);
		const size_t j = first_edge(p);
		const uint32_t u = p->from[j];
		edge[i] = (struct sorted){p->key[j], u, p->vertex[j]};
		v = take(p, j);
		if (!(edge[i].key >> 32) && same_place(s, u, v.vertex))
			return -EEXIST;
	}
	return 0;
}

/* --- before and after -------------------------------------------------------------------------------------------- */

static void
free_prim(struct prim *p)
{
	for (unsigned a = 0; a < EMST_MAXDIM; a++)
		weir_free(p->x[a]);
	weir_free(p->vertex);
	weir_free(p->number);
	weir_free(p->from);
	weir_free(p->from_number);
	weir_free(p->key);
}

static int
start(struct prim *p, const struct emst_set *s)
{
	const size_t lanes = (s->n + BLOCK - 1) / BLOCK * BLOCK;
	bool whole = true;

	p->left = s->n;
	p->k = s->k;
	for (unsigned a = 0; a < s->k; a++)
		whole &= (p->x[a] = weir_alloc(lanes, sizeof *p->x[a])) != NULL;
	p->vertex = weir_calloc(lanes, sizeof *p->vertex);
	p->number = weir_calloc(lanes, sizeof *p->number);
	p->from = weir_calloc(lanes, sizeof *p->from);
	p->from_number = weir_calloc(lanes, sizeof *p->from_number);
	p->key = weir_alloc(lanes, sizeof *p->key);
	if (!whole || !p->vertex || !p->number || !p->from || !p->from_number || !p->key)
		return -ENOMEM;
	for (size_t i = 0; i < lanes; i++) {
		for (unsigned a = 0; a < s->k; a++)
			p->x[a][i] = i < s->n ? ((const float *)s->x)[i * s->k + a] : INFINITY;
		p->key[i] = UINT64_MAX;
		if (i < s->n) {
			p->vertex[i] = (uint32_t)i;
			p->number[i] = s->id ? s->id[i] : (uint32_t)i;
		}
	}
	return 0;
}

/* By (key, lo): sorted by lo first, which the sort by key keeps. Vertices are in the order of their numbers. */
static int
write_tree(const struct emst_set *s, const struct sorted *edge, struct emst_tree *t)
{
	const size_t n = s->n - 1;
	struct sorted *e = weir_alloc(s->n, sizeof *e), *tmp = weir_alloc(s->n, sizeof *tmp);

	t->edge = weir_alloc(s->n, sizeof *t->edge);
	t->length = weir_alloc(s->n, sizeof *t->length);
	const bool room = e && tmp && t->edge && t->length;
	if (room) {
		for (size_t i = 0; i < n; i++)
			e[i] = edge[i].a < edge[i].b
				   ? (struct sorted){edge[i].a, edge[i].b, (uint32_t)i}
				   : (struct sorted){edge[i].b, edge[i].a, (uint32_t)i};
		emst_sort(e, tmp, n);
		for (size_t i = 0; i < n; i++)
			e[i] = (struct sorted){edge[e[i].b].key, (uint32_t)e[i].key, e[i].a};
		emst_sort(e, tmp, n);
		for (size_t i = 0; i < n; i++) {
			t->edge[i] = (struct emst_edge){e[i].a, e[i].b};
			t->length[i] = sqrt((double)sort_float(e[i].key >> 32));
		}
	}
	weir_free(e);
	weir_free(tmp);
	return room ? 0 : -ENOMEM;
}

int
emst_prim(const struct kd_input *in, struct emst_tree *t)
{
	const struct emst_set *s = in->s;
	struct prim p = {0};
	struct sorted *edge = weir_alloc(s->n, sizeof *edge);
	int err = edge ? start(&p, s) : -ENOMEM;

	*t = (struct emst_tree){.n = s->n};
	if (!err)
		err = grow(&p, s, edge);
	if (!err)
		err = write_tree(s, edge, t);
	free_prim(&p);
	weir_free(edge);
	if (err)
		emst_tree_free(t);
	return err;
}
