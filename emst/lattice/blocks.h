/*
 * The colours that the shells left, arranged for a search of the nearest colour of another tree (nearest.h).
 *
 * A 64-ary tree holds the EXPOSED colours, those with a free neighbour: no other can end an edge with d2 > 1, since one of
 * its neighbours is nearer to whatever it would reach.
 *
 *	level 0   64^3 blocks of 4^3 colours, a word each: bit (r&3)<<4 | (g&3)<<2 | b&3
 *	level 1   16^3 words of 4^3 blocks;   level 2   4^3 words;   level 3   one word
 *
 * Every node knows whether all its colours are in one tree. The largest tree never searches: all others find their edges
 * to it. A colour keeps the distance within which it has found nothing, so that it searches again only when its tree has
 * no shorter edge than that.
 */
#ifndef EMST_BLOCKS_H
#define EMST_BLOCKS_H

#include "emst/lattice/forest.h"
#include "emst/lock.h"

enum {
	BLOCKS = 64 * 64 * 64,
	SLABS = 64,
	SLAB = BLOCKS / SLABS,
	LEVELS = 4,
	NEAR_D2 = 40,
	MAXNEAR = 1200
};

#define MIXED 0xffffffffu /* a node with colours of several trees */
#define EMPTY 0xfffffffeu
#define NONE  0xffffffffu

/* An edge in the order of the rule: its ends are the codes lo and lo + span. */
struct key {
	uint32_t d2, span, lo;
	uint32_t other; /* the tree, as numbered at first, of the end that was found */
};

/* An offset of the ball of squared radius NEAR_D2. */
struct near {
	int8_t x[3];
	uint8_t faces; /* the neighbours (as in query.faces) whose presence rules it out */
	int32_t code;  /* to be added to a code */
};

struct blocks {
	struct forest *f;
	const struct lattice *l;
	uint64_t *bits[LEVELS]; /* [64^3], [16^3], [4^3], [1]; owned */
	uint32_t *tree
	    [LEVELS]; /* the same shape: the tree of all its colours as numbered at first, MIXED or EMPTY; owned */
	uint32_t *first;  /* [64^3 + 1]: exposed colours before the block; owned */
	uint32_t *label;  /* exposed colours by block: their tree, as numbered at first; owned */
	size_t ntrees;	  /* trees at first */
	size_t nlive;	  /* trees now */
	uint32_t *live;	  /* [nlive]: their numbers, ascending; owned */
	uint32_t *now;	  /* [ntrees]: the tree that it is part of now; owned */
	uint32_t *size;	  /* [ntrees]: exposed colours of a tree; owned */
	struct key *best; /* [ntrees]: the first edge of a tree in this round; owned */
	uint32_t largest; /* the tree that never searches */
	size_t nactive;	  /* colours that search: all the others' */
	uint32_t *code, *home; /* [nactive]: colour, tree at first; owned */
	uint32_t *bound;       /* [nactive]: no foreign colour is nearer (squared); owned */
	uint8_t *faces;	       /* [nactive]: see struct query; owned */
	int from[NEAR_D2 + 2]; /* near[from[d2]] is the first of distance d2 */
	struct near near[MAXNEAR];
	unsigned char locks[LOCKS];
};

/* A colour that searches. */
struct query {
	int x[3];
	uint32_t code, tree;
	unsigned faces; /* bit 2a: its neighbour at x[a] - 1 is present; bit 2a + 1: at x[a] + 1 */
};

static inline bool
key_before(const struct key *a, const struct key *b)
{
	if (a->d2 != b->d2)
		return a->d2 < b->d2;
	return a->span != b->span ? a->span < b->span : a->lo < b->lo;
}

/* From a colour to one of a tree. */
static inline struct key
key_make(uint32_t d2, uint32_t from, uint32_t to, uint32_t tree)
{
	return from < to ? (struct key){d2, to - from, from, tree}
			 : (struct key){d2, from - to, to, tree};
}

/* A tree's present number. */
static inline uint32_t
blocks_now(const struct blocks *k, uint32_t tree)
{
	return tree < EMPTY ? k->now[tree] : tree;
}

/* Number of the node at R,G,B, counted in nodes of its level. */
ALWAYS_INLINE uint32_t
node_id(int level, int R, int G, int B)
{
	int s = 6 - 2 * level;

	return (uint32_t)((R << s | G) << s | B);
}

/* Which bit of its parent's word a colour or a node is. */
static inline int
node_bit(int R, int G, int B)
{
	return (R & 3) << 4 | (G & 3) << 2 | (B & 3);
}

/* The node of a level that is bit t of the parent, a node of level + 1. */
ALWAYS_INLINE uint32_t
node_child(uint32_t parent, int level, int t)
{
	int s = 4 - 2 * level;
	uint32_t mask = (1u << s) - 1;

	return node_id(level, (int)(parent >> 2 * s) * 4 + (t >> 4),
		       (int)(parent >> s & mask) * 4 + (t >> 2 & 3),
		       (int)(parent & mask) * 4 + (t & 3));
}

/* Fills a zeroed k for what is left of f. 0 or -ENOMEM; blocks_free() in either case. */
int blocks_plan(struct blocks *k, struct forest *f);
void blocks_free(struct blocks *k);

/* Labels the nodes from below upwards. first: all nodes; otherwise only those that held several trees. */
void blocks_label(struct blocks *k, bool first);

#endif
