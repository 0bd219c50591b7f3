/*
 * The index by which boruvka.c finds the nearest colour of another tree, when the shells (lattice.c) have ended.
 *
 * A 64-ary tree of blocks holds the EXPOSED colours: those with at least one of the six neighbours absent. No other colour
 * ends an edge with d2 > 1: one of its neighbours is nearer to the other end.
 *
 *	level 0   64^3 blocks of 4^3 colours, a word each: bit (r&3)<<4 | (g&3)<<2 | b&3
 *	level 1   16^3 words of 4^3 blocks;   level 2   4^3 words;   level 3   one word
 *
 * Every node stores the tree of its colours if they are all in one tree. The colours of the largest tree never search: the
 * other trees find their edges to it. A colour keeps the distance within which it has found nothing. It searches again only
 * when its tree has not found a shorter edge than that.
 */
#ifndef WEIR_EMST_LATTICE_BLOCKS_H
#define WEIR_EMST_LATTICE_BLOCKS_H

#include "emst/lattice/forest.h"
#include "emst/sort.h"

enum { BLOCKS = 64 * 64 * 64, LEVELS = 4, NEAR_D2 = 40, MAXNEAR = 1200 };

#define MIXED 0xffffffffu /* a node with colours of several trees */
#define EMPTY 0xfffffffeu
#define NONE  0xffffffffu

/* An edge in the order of the rule: its ends are the codes lo and lo + span. */
struct key {
	uint32_t d2, span, lo;
	uint32_t other; /* the first number of the tree of the end that was found */
};

/* An offset of the ball of squared radius NEAR_D2. */
struct near {
	int8_t x[3];
	/* A mask of neighbours, bits as in query.faces: when one of them is present, the offset need not be searched. */
	uint8_t faces;
	int32_t code; /* the offset as a difference of codes */
};

/* Trees are numbered when the plan is made (their first number); now[] maps that number to the number of the tree now. */
struct blocks {
	struct forest *f;
	const struct lattice *l;
	uint64_t *bits[LEVELS]; /* [64^3], [16^3], [4^3], [1]; owned */
	/* The same shape: the first number of the tree of all colours of a node that has some, or MIXED; owned. */
	uint32_t *tree[LEVELS];
	size_t nfilled;	  /* blocks with exposed colours */
	uint32_t *filled; /* [nfilled]: these blocks, those of one parent together; owned */
	size_t nexposed;  /* exposed colours */
	uint32_t *first;  /* [64^3]: exposed colours in the filled blocks before this one; owned */
	/* [nexposed]: for each exposed colour, in the order of filled[], the first number of its tree; owned. */
	uint32_t *label;
	size_t ntrees;	       /* trees at first */
	size_t nlive;	       /* trees now */
	uint32_t *live;	       /* [nlive]: their numbers, ascending; owned */
	uint32_t *now;	       /* [ntrees]: the tree that each first tree is part of now; owned */
	uint32_t *size;	       /* [ntrees]: exposed colours of a tree; owned */
	struct key *best;      /* [ntrees]: the first edge of a tree in this round; owned */
	uint32_t largest;      /* the tree that never searches */
	size_t nactive;	       /* colours that search: the exposed ones of all other trees */
	uint32_t *code, *home; /* [nactive]: colour, first number of its tree; owned */
	uint32_t *bound;       /* [nactive]: no colour of another tree is nearer (squared); owned */
	uint8_t *faces;	       /* [nactive]: see struct query; owned */
	int from[NEAR_D2 + 2]; /* near[from[d2]] is the first offset of squared length d2 */
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

/* Returns the edge between the colours from and to; `tree` is the tree of to. */
static inline struct key
key_make(uint32_t d2, uint32_t from, uint32_t to, uint32_t tree)
{
	return from < to ? (struct key){d2, to - from, from, tree}
			 : (struct key){d2, from - to, to, tree};
}

/* Returns the present number of a tree; MIXED and EMPTY stay. */
static inline uint32_t
blocks_now(const struct blocks *k, uint32_t tree)
{
	return tree < EMPTY ? k->now[tree] : tree;
}

/* Returns the number of the node at R,G,B, counted in nodes of its level. */
CPU_INLINE uint32_t
node_id(int level, int R, int G, int B)
{
	int s = 6 - 2 * level;

	return (uint32_t)((R << s | G) << s | B);
}

/* Returns the node of `level` that bit t of its parent, a node of level + 1, stands for. */
CPU_INLINE uint32_t
node_child(uint32_t parent, int level, int t)
{
	int s = 4 - 2 * level;
	uint32_t mask = (1u << s) - 1;

	return node_id(level, (int)(parent >> 2 * s) * 4 + (t >> 4),
		       (int)(parent >> s & mask) * 4 + (t >> 2 & 3),
		       (int)(parent & mask) * 4 + (t & 3));
}

/* Fills a zeroed k from the trees of f. 0 or -ENOMEM; call blocks_free() in either case. */
int blocks_plan(struct blocks *k, struct forest *f);
void blocks_free(struct blocks *k);

/*
 * Labels the nodes from the lowest level up: with first the exposed colours and all nodes, otherwise only those nodes that held
 * several trees.
 */
void blocks_label(struct blocks *k, bool first);

#endif
