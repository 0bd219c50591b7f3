/*
 * Boruvka's algorithm on the trees that the shells (lattice.c) left, and the index by which it finds the nearest colour of another
 * tree.
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
#include <errno.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/roots.h"
#include "emst/lattice/lattice.h"
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
	unsigned faces; /* faces_of(code) */
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

/* Returns the bit that a colour or a node has in the word of its parent. */
static inline int
node_bit(int R, int G, int B)
{
	return (R & 3) << 4 | (G & 3) << 2 | (B & 3);
}

/*
 * Work is shared in so many parts. One thread labels fewer than MANY blocks faster than two do, and numbers fewer than
 * MANY_COLOURS faster: threads take some 50 us to wake.
 */
enum { PARTS = 64, MANY = 1 << 15, MANY_COLOURS = 1 << 18 };

/* --- the tree of blocks ------------------------------------------------------------------------------------------ */

/* Copies row (r,g) into its blocks, and marks these in their parents. Each block takes four adjacent bits. */
static void
spread_row(struct blocks *k, int r, int g)
{
	const uint64_t *w = lattice_words(k->l, r, g);
	uint64_t *block = k->bits[0] + node_id(0, r >> 2, g >> 2, 0),
		 *parent = k->bits[1] + node_id(1, r >> 4, g >> 4, 0);
	const int at = node_bit(r, g, 0), in_parent = node_bit(r >> 2, g >> 2, 0);

	for (int i = 0; i < 4; i++, w++, block += 16, parent += 4)
		for (uint64_t x = row_exposed(w); x;) {
			int four = __builtin_ctzll(x) >> 2;
			block[four] |= (x >> 4 * four & 15) << at;
			parent[four >> 2] |= (uint64_t)1 << (in_parent | (four & 3));
			x &= ~((uint64_t)15 << 4 * four);
		}
}

/* Returns the exposed colours before filled[i]; i may be nfilled. */
static size_t
colours_before(const struct blocks *k, size_t i)
{
	return i < k->nfilled ? k->first[k->filled[i]] : k->nexposed;
}

/* Returns the tree of all exposed colours of the block filled[i], or MIXED. */
static uint32_t
block_label(const struct blocks *k, size_t i)
{
	const size_t to = colours_before(k, i + 1);
	size_t j = colours_before(k, i);
	const uint32_t tree = k->now[k->label[j]];

	for (j++; j < to; j++)
		if (k->now[k->label[j]] != tree)
			return MIXED;
	return tree;
}

/* Sets the bits of a level's nodes in the words of their parents. */
static void
link_level(struct blocks *k, int level)
{
	int side = 64 >> 2 * level;
	uint32_t id = 0;

	for (int r = 0; r < side; r++)
		for (int g = 0; g < side; g++)
			for (int b = 0; b < side; b++, id++)
				if (k->bits[level][id])
					k->bits[level + 1]
					       [node_id(level + 1, r >> 2, g >> 2, b >> 2)] |=
					    (uint64_t)1 << node_bit(r, g, b);
}

/* Returns the tree of all nodes below a node of level + 1, or MIXED. */
static uint32_t
node_label(const struct blocks *k, int level, uint32_t parent)
{
	uint32_t label = EMPTY;

	for (uint64_t w = k->bits[level + 1][parent]; w && label != MIXED; w &= w - 1) {
		uint32_t child = node_child(parent, level, __builtin_ctzll(w));
		const uint32_t tree = blocks_now(k, k->tree[level][child]);
		label = label == EMPTY || label == tree ? tree : MIXED;
	}
	return label;
}

/*
 * Labels the nodes from the lowest level up: with first the exposed colours and all nodes, otherwise only those nodes that held
 * several trees.
 */
static void
blocks_label(struct blocks *k, bool first)
{
#pragma omp parallel num_threads(k->f->threads) if (k->nfilled > (first ? MANY / 8 : MANY))
	{
#pragma omp for schedule(dynamic, 256)
		for (size_t i = 0; i < k->nfilled; i++) {
			const uint32_t id = k->filled[i];
			uint32_t *label = k->label + k->first[id];
			for (uint64_t w = first ? k->bits[0][id] : 0; w; w &= w - 1) {
				const uint32_t code = block_code(id, __builtin_ctzll(w));
				*label++ = k->f->up[lattice_rank(k->l, code)];
			}
			if (first || k->tree[0][id] == MIXED)
				k->tree[0][id] = block_label(k, i);
		}
		for (int level = 0; level < 3; level++) {
			const uint32_t n = BLOCKS >> 6 * (level + 1);
#pragma omp for schedule(static)
			for (uint32_t id = 0; id < n; id++)
				if (first || k->tree[level + 1][id] == MIXED)
					k->tree[level + 1][id] = node_label(k, level, id);
		}
	}
}

/* --- what searches ----------------------------------------------------------------------------------------------- */

/* Returns the first of the filled blocks of a part of them. */
static size_t
part_from(const struct blocks *k, size_t part)
{
	return k->nfilled * part / PARTS;
}

/* Counts the colours of a part of the filled blocks that are outside the largest tree. */
static size_t
count_active(const struct blocks *k, size_t part)
{
	const size_t to = colours_before(k, part_from(k, part + 1));
	size_t n = 0;

	for (size_t i = colours_before(k, part_from(k, part)); i < to; i++)
		n += k->label[i] != k->largest;
	return n;
}

static void
list_part(struct blocks *k, size_t part, size_t at)
{
	for (size_t i = part_from(k, part); i < part_from(k, part + 1); i++) {
		const uint32_t id = k->filled[i], *label = k->label + k->first[id];
		if (k->tree[0][id] == k->largest)
			continue;
		for (uint64_t w = k->bits[0][id]; w; w &= w - 1, label++) {
			if (*label == k->largest)
				continue;
			k->code[at] = block_code(id, __builtin_ctzll(w));
			k->home[at] = *label;
			k->bound[at] = k->f->next;
			k->faces[at] = (uint8_t)faces_of(k->l->bits, k->code[at]);
			at++;
		}
	}
}

static void
list_active(struct blocks *k)
{
	size_t from[PARTS + 1] = {0};

#pragma omp parallel num_threads(k->f->threads) if (k->nexposed > MANY_COLOURS)
	{
#pragma omp for schedule(static)
		for (size_t part = 0; part < PARTS; part++)
			from[part + 1] = count_active(k, part);
#pragma omp single
		for (int part = 0; part < PARTS; part++)
			from[part + 1] += from[part];
#pragma omp for schedule(dynamic, 1)
		for (size_t part = 0; part < PARTS; part++)
			list_part(k, part, from[part]);
	}
	k->nactive = from[PARTS];
}

/* Lists the offsets of the ball by distance. A query skips an offset when it has a neighbour in that direction. */
static void
list_near(struct blocks *k)
{
	int n = 0, d2;

	for (d2 = 0; d2 <= NEAR_D2; d2++) {
		k->from[d2] = n;
		for (int r = -6; r <= 6; r++)
			for (int g = -6; g <= 6; g++)
				for (int b = -6; b <= 6; b++) {
					if (r * r + g * g + b * b != d2)
						continue;
					int faces = (r < 0) | (r > 0) << 1 | (g < 0) << 2 |
						    (g > 0) << 3 | (b < 0) << 4 | (b > 0) << 5;
					k->near[n++] =
					    (struct near){{(int8_t)r, (int8_t)g, (int8_t)b},
							  (uint8_t)faces,
							  r * 65536 + g * 256 + b};
				}
	}
	k->from[d2] = n;
}

/* --- plan -------------------------------------------------------------------------------------------------------- */

static int
allocate_nodes(struct blocks *k)
{
	for (int level = 0, n = BLOCKS; level < LEVELS; level++, n /= 64) {
		k->bits[level] = weir_calloc_large((size_t)n, sizeof **k->bits);
		k->tree[level] = weir_alloc_large((size_t)n, sizeof **k->tree);
		if (!k->bits[level] || !k->tree[level])
			return -ENOMEM;
	}
	k->filled = weir_alloc_large(k->f->n < BLOCKS ? k->f->n : BLOCKS, sizeof *k->filled);
	k->first = weir_alloc_large(BLOCKS, sizeof *k->first);
	k->now = weir_alloc_large(k->ntrees, sizeof *k->now);
	k->live = weir_alloc_large(k->ntrees, sizeof *k->live);
	k->size = weir_calloc_large(k->ntrees, sizeof *k->size);
	k->best = weir_alloc_large(k->ntrees, sizeof *k->best);
	return k->filled && k->first && k->now && k->live && k->size && k->best ? 0 : -ENOMEM;
}

/* Lists the filled blocks, and counts the colours before each. The words are those of the blocks' parents. */
WEIR_CLONES_OF(size_t, list_filled, (struct blocks *restrict k), (k))
{
	size_t n = 0;
	uint32_t colours = 0;

	for (uint32_t parent = 0; parent < BLOCKS / 64; parent++)
		for (uint64_t w = k->bits[1][parent]; w; w &= w - 1) {
			const uint32_t id = node_child(parent, 0, __builtin_ctzll(w));
			k->filled[n++] = id;
			k->first[id] = colours;
			colours += (uint32_t)__builtin_popcountll(k->bits[0][id]);
		}
	k->nexposed = colours;
	return n;
}

static int
fill_nodes(struct blocks *k)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(k->f->threads)
	for (int R = 0; R < 16; R++)
		for (int r = 16 * R; r < 16 * (R + 1); r++)
			for (int g = lattice_next_row(k->l, r, 0); g < 256;
			     g = lattice_next_row(k->l, r, g + 1))
				spread_row(k, r, g);
	k->nfilled = list_filled(k);
	k->label = weir_alloc_large(k->nexposed, sizeof *k->label);
	if (!k->label)
		return -ENOMEM;
	for (uint32_t i = 0; i < k->ntrees; i++)
		k->now[i] = k->live[i] = i;
	k->nlive = k->ntrees;
	for (int level = 1; level < 3; level++)
		link_level(k, level);
	blocks_label(k, true);
	return 0;
}

static int
fill_active(struct blocks *k)
{
	const size_t all = k->nexposed;
	uint32_t most = 0;
	size_t n = 0;

	/* The tree of most colours, if a vote finds it, is counted apart: threads would wait for each other in its place. */
	for (size_t i = 0, votes = 0; i < all; i += all / 1024 + 1) {
		most = votes ? most : k->label[i];
		votes += k->label[i] == most ? 1 : (size_t)-1;
	}
#pragma omp parallel for schedule(static) reduction(+ : n) \
    num_threads(k->f->threads) if (all > MANY_COLOURS)
	for (size_t i = 0; i < all; i++)
		if (k->label[i] == most)
			n++;
		else
			__atomic_fetch_add(&k->size[k->label[i]], 1, __ATOMIC_RELAXED);
	k->size[most] = (uint32_t)n;
	for (uint32_t c = 1; c < k->ntrees; c++)
		if (k->size[c] > k->size[k->largest])
			k->largest = c;
	n = all - k->size[k->largest];
	k->code = weir_alloc_large(n, sizeof *k->code);
	k->home = weir_alloc_large(n, sizeof *k->home);
	k->bound = weir_alloc_large(n, sizeof *k->bound);
	k->faces = weir_alloc_large(n, sizeof *k->faces);
	if (!k->code || !k->home || !k->bound || !k->faces)
		return -ENOMEM;
	list_active(k);
	return 0;
}

/* Fills a zeroed k from the trees of f. 0 or -ENOMEM; the caller frees its arrays in either case. */
static int
blocks_plan(struct blocks *k, struct forest *f)
{
	int err;

	k->f = f;
	k->l = f->l;
	k->ntrees = forest_number(f);
	list_near(k);
	if ((err = allocate_nodes(k)) || (err = fill_nodes(k)))
		return err;
	return fill_active(k);
}

/* --- nearest colours ------------------------------------------------------------------------------------------ */

/*
 * Finds the nearest foreign colour, that is, the nearest one of another tree. Colours of small trees look at the offsets of a
 * ball, nearest first. Other colours scan the 27 blocks around them, then the tree of blocks from its root down. A node is
 * skipped when it is further than the best edge so far, when all its colours are in the query's own tree, or when it lies
 * wholly on a side where the query has a neighbour: that neighbour is nearer to all colours of the node.
 */

enum { SMALL_TREE = 100 };

struct child {
	uint32_t d2;
	int bit;
};

CPU_INLINE int
axis_gap(int x, int lo, int size)
{
	return x < lo ? lo - x : x >= lo + size ? x - lo - size + 1 : 0;
}

CPU_INLINE uint32_t
box_d2(const struct query *q, int r, int g, int b, int size)
{
	int x = axis_gap(q->x[0], r, size), y = axis_gap(q->x[1], g, size),
	    z = axis_gap(q->x[2], b, size);

	return (uint32_t)(x * x + y * y + z * z);
}

/* Returns true when the box lies wholly on a side where the query has a neighbour. */
CPU_INLINE bool
is_hidden(const struct query *q, int r, int g, int b, int size)
{
	const int lo[3] = {r, g, b};
	unsigned side = 0;

	for (int a = 0; a < 3; a++)
		side |= (unsigned)(lo[a] + size - 1 < q->x[a]) << 2 * a |
			(unsigned)(lo[a] > q->x[a]) << (2 * a + 1);
	return side & q->faces;
}

CPU_INLINE void
scan_block(const struct blocks *k, const struct query *q, uint32_t id, struct key *best)
{
	uint64_t word = k->bits[0][id];
	int r0 = (int)(id >> 12) * 4, g0 = (int)(id >> 6 & 63) * 4, b0 = (int)(id & 63) * 4;

	for (uint64_t w = word; w; w &= w - 1) {
		int t = __builtin_ctzll(w), r = r0 + (t >> 4), g = g0 + (t >> 2 & 3),
		    b = b0 + (t & 3);
		int x = q->x[0] - r, y = q->x[1] - g, z = q->x[2] - b;
		uint32_t d2 = (uint32_t)(x * x + y * y + z * z);
		if (d2 > best->d2)
			continue;
		uint64_t below = ((uint64_t)1 << t) - 1;
		uint32_t i = k->first[id] + (uint32_t)__builtin_popcountll(word & below);
		if (k->now[k->label[i]] == q->tree)
			continue;
		struct key key =
		    key_make(d2, q->code, (uint32_t)(r << 16 | g << 8 | b), k->label[i]);
		if (key_before(&key, best))
			*best = key;
	}
}

/* Lists the children of a node of level + 1 that may hold a nearer colour, by distance. The children are nodes of `level`. */
CPU_INLINE int
sort_children(const struct blocks *k, const struct query *q, uint32_t parent, int level,
	      const struct key *best, struct child c[64])
{
	int s = 4 - 2 * level, size = 4 << 2 * level, n = 0;
	int R = (int)(parent >> 2 * s) * 4, G = (int)(parent >> s & ((1u << s) - 1)) * 4,
	    B = (int)(parent & ((1u << s) - 1)) * 4;

	for (uint64_t w = k->bits[level + 1][parent]; w; w &= w - 1) {
		int t = __builtin_ctzll(w), r = R + (t >> 4), g = G + (t >> 2 & 3), b = B + (t & 3);
		if (blocks_now(k, k->tree[level][node_id(level, r, g, b)]) == q->tree)
			continue;
		if (is_hidden(q, r * size, g * size, b * size, size))
			continue;
		uint32_t d2 = box_d2(q, r * size, g * size, b * size, size);
		if (d2 > best->d2)
			continue;
		int i = n++;
		for (; i && c[i - 1].d2 > d2; i--)
			c[i] = c[i - 1];
		c[i] = (struct child){d2, t};
	}
	return n;
}

CPU_INLINE void
visit1(const struct blocks *k, const struct query *q, uint32_t id, struct key *best)
{
	struct child c[64];
	int n = sort_children(k, q, id, 0, best, c);

	for (int i = 0; i < n && c[i].d2 <= best->d2; i++)
		scan_block(k, q, node_child(id, 0, c[i].bit), best);
}

CPU_INLINE void
visit2(const struct blocks *k, const struct query *q, uint32_t id, struct key *best)
{
	struct child c[64];
	int n = sort_children(k, q, id, 1, best, c);

	for (int i = 0; i < n && c[i].d2 <= best->d2; i++)
		visit1(k, q, node_child(id, 1, c[i].bit), best);
}

/* Scans the query's block and the 26 around it. Colours outside them are at least the returned squared distance away. */
CPU_INLINE uint32_t
scan_around(const struct blocks *k, const struct query *q, struct key *best)
{
	int at[3], lo[3], hi[3], inside = 4;

	for (int a = 0; a < 3; a++) {
		int part = q->x[a] & 3, edge = part < 3 - part ? part : 3 - part;
		at[a] = q->x[a] >> 2;
		lo[a] = at[a] > 0 ? at[a] - 1 : 0;
		hi[a] = at[a] < 63 ? at[a] + 1 : 63;
		inside = edge < inside ? edge : inside;
	}
	for (int r = lo[0]; r <= hi[0]; r++)
		for (int g = lo[1]; g <= hi[1]; g++)
			for (int b = lo[2]; b <= hi[2]; b++) {
				uint32_t id = node_id(0, r, g, b);
				if (!k->bits[0][id] || blocks_now(k, k->tree[0][id]) == q->tree ||
				    is_hidden(q, 4 * r, 4 * g, 4 * b, 4) ||
				    box_d2(q, 4 * r, 4 * g, 4 * b, 4) > best->d2)
					continue;
				scan_block(k, q, id, best);
			}
	return (uint32_t)((inside + 5) * (inside + 5));
}

CPU_INLINE void
find_nearest(const struct blocks *k, const struct query *q, struct key *best)
{
	struct child c[64];

	if (best->d2 < scan_around(k, q, best))
		return;
	const int n = sort_children(k, q, 0, 2, best, c);
	for (int i = 0; i < n && c[i].d2 <= best->d2; i++)
		visit2(k, q, node_child(0, 2, c[i].bit), best);
}

/*
 * Looks at the offsets of the ball from squared length d2 on; shorter ones are known to find nothing. Returns the d2 below
 * which nothing is found, at most NEAR_D2 + 1: then the ball holds no foreign colour.
 */
CPU_INLINE uint32_t
scan_ball(const struct blocks *k, const struct query *q, uint32_t d2, struct key *best)
{
	for (; d2 <= NEAR_D2 && d2 <= best->d2; d2++) {
		bool found = false;
		for (int i = k->from[d2]; i < k->from[d2 + 1]; i++) {
			const struct near *o = &k->near[i];
			int r = q->x[0] + o->x[0], g = q->x[1] + o->x[1], b = q->x[2] + o->x[2];
			if (o->faces & q->faces ||
			    ((unsigned)r | (unsigned)g | (unsigned)b) > 255 ||
			    !is_present(k->l->bits, r, g, b))
				continue;
			uint32_t code = q->code + (uint32_t)o->code;
			uint32_t to = k->f->up[lattice_rank(k->l, code)];
			if (k->now[to] == q->tree)
				continue;
			struct key key = key_make(d2, q->code, code, to);
			if (key_before(&key, best))
				*best = key;
			found = true;
		}
		if (found)
			return d2;
	}
	return d2;
}

CPU_INLINE void
offer(struct blocks *k, uint32_t tree, const struct key *key)
{
	if (key->lo == NONE)
		return;
	lock_take(k->locks, tree);
	if (key_before(key, &k->best[tree])) {
		k->best[tree].span = key->span;
		k->best[tree].lo = key->lo;
		k->best[tree].other = key->other;
		__atomic_store_n(&k->best[tree].d2, key->d2, __ATOMIC_RELAXED);
	}
	lock_give(k->locks, tree);
}

CPU_INLINE uint32_t
limit_of(const struct blocks *k, uint32_t tree)
{
	return __atomic_load_n(&k->best[tree].d2, __ATOMIC_RELAXED);
}

/* Threads in different passes may search for one colour at once. Either bound is right, so the accesses only have to be atomic. */
CPU_INLINE uint32_t
bound_of(const struct blocks *k, size_t i)
{
	return __atomic_load_n(&k->bound[i], __ATOMIC_RELAXED);
}

CPU_INLINE void
set_bound(struct blocks *k, size_t i, uint32_t bound)
{
	__atomic_store_n(&k->bound[i], bound, __ATOMIC_RELAXED);
}

CPU_INLINE void
search(struct blocks *k, size_t i)
{
	uint32_t code = k->code[i], tree = k->now[k->home[i]], bound = bound_of(k, i);
	struct query q = {{code_r(code), code_g(code), code_b(code)}, code, tree, k->faces[i]};
	struct key key = {limit_of(k, tree), NONE, NONE, NONE};

	if (bound > key.d2)
		return;
	if (k->size[tree] < SMALL_TREE)
		bound = scan_ball(k, &q, bound, &key);
	if (bound > NEAR_D2 || k->size[tree] >= SMALL_TREE) {
		find_nearest(k, &q, &key);
		bound = key.d2;
	}
	set_bound(k, i, bound);
	offer(k, tree, &key);
}

/* --- a block at a time ------------------------------------------------------------------------------------------- */

enum { MAXLIST = 512, CROWD = 4 };

/* A list of blocks with colours of other trees. */
struct list {
	int n;
	bool full; /* there are more */
	int32_t x[3][MAXLIST];
	uint32_t id[MAXLIST];
};

/* Lists the foreign blocks below a node of level + 1 whose squared distance from the block at x is at most limit. */
static void
list_blocks(const struct blocks *k, const int x[3], uint32_t tree, int level, uint32_t parent,
	    uint32_t limit, struct list *list)
{
	int s = 6 - 2 * level, size = 4 << 2 * level;

	for (uint64_t w = k->bits[level + 1][parent]; w && !list->full; w &= w - 1) {
		uint32_t id = node_child(parent, level, __builtin_ctzll(w)), d2 = 0;
		int lo[3];
		if (blocks_now(k, k->tree[level][id]) == tree)
			continue;
		for (int a = 0; a < 3; a++) {
			lo[a] = (int)(id >> (2 - a) * s & ((1u << s) - 1)) * size;
			const int below = lo[a] - x[a] - 3, above = x[a] - lo[a] - size + 1,
				  gap = below > 0   ? below
					: above > 0 ? above
						    : 0;
			d2 += (uint32_t)(gap * gap);
		}
		if (d2 > limit)
			continue;
		if (level) {
			list_blocks(k, x, tree, level - 1, id, limit, list);
			continue;
		}
		list->full = list->n == MAXLIST;
		if (list->full)
			return;
		for (int a = 0; a < 3; a++)
			list->x[a][list->n] = lo[a];
		list->id[list->n++] = id;
	}
}

CPU_INLINE void
search_list(struct blocks *k, size_t i, const struct list *list)
{
	uint32_t code = k->code[i], tree = k->now[k->home[i]], d2[MAXLIST];
	struct query q = {{code_r(code), code_g(code), code_b(code)}, code, tree, k->faces[i]};
	struct key key = {limit_of(k, tree), NONE, NONE, NONE};

	if (bound_of(k, i) > key.d2)
		return;
	for (int j = 0; j < list->n; j++)
		d2[j] = box_d2(&q, list->x[0][j], list->x[1][j], list->x[2][j], 4);
	for (int j = 0; j < list->n; j++)
		if (d2[j] <= key.d2)
			scan_block(k, &q, list->id[j], &key);
	set_bound(k, i, list->n ? key.d2 : key.d2 + 1);
	offer(k, tree, &key);
}

static inline uint32_t
block_of(uint32_t code)
{
	return node_id(0, code_r(code) >> 2, code_g(code) >> 2, code_b(code) >> 2);
}

/*
 * Searches for the active colours from..to-1 of one block together. A crowd is several colours of one tree that already has
 * an edge. It shares a list of the blocks that may hold a nearer colour. Returns false when the colours must search one by
 * one. The list costs 6 % on photographs and gains where trees are large and close: 12 clouds 301 -> 220 ms, sheets
 * 724 -> 385 (one thread).
 */
CPU_INLINE bool
search_crowd(struct blocks *k, size_t from, size_t to)
{
	uint32_t code = k->code[from], tree = k->now[k->home[from]], limit = limit_of(k, tree);
	const int x[3] = {code_r(code) & ~3, code_g(code) & ~3, code_b(code) & ~3};
	size_t searching = 0;
	struct list list;

	if (limit == NONE || to - from < CROWD || blocks_now(k, k->tree[0][block_of(code)]) != tree)
		return false;
	for (size_t i = from; i < to; i++)
		searching += bound_of(k, i) <= limit;
	if (searching < CROWD)
		return !searching;
	list.n = 0;
	list.full = false;
	list_blocks(k, x, tree, 2, 0, limit, &list);
	for (size_t i = from; i < to && !list.full; i++)
		search_list(k, i, &list);
	return !list.full;
}

/* With step > 1 some colours search one by one; with step 1 all search, block by block. */
WEIR_CLONES(search_some, (struct blocks *restrict k, size_t from, size_t to, size_t step),
	    (k, from, to, step))
{
	const uint32_t largest = k->now[k->largest];

	for (size_t i = from; step > 1 && i < to; i += step)
		if (k->now[k->home[i]] != largest)
			search(k, i);
	for (size_t i = from, end; step == 1 && i < to; i = end) {
		const uint32_t id = block_of(k->code[i]);
		for (end = i + 1; end < to && block_of(k->code[end]) == id; end++)
			;
		if (blocks_now(k, k->tree[0][id]) == largest || search_crowd(k, i, end))
			continue;
		for (; i < end; i++)
			if (k->now[k->home[i]] != largest)
				search(k, i);
	}
}

/* --- rounds -------------------------------------------------------------------------------------------------- */

/*
 * A few colours search first. Then every large tree has a short edge, and most of the other colours need not search. A thread
 * begins with the next pass while others still work on the last one.
 */
static void
search_all(struct blocks *k)
{
	enum { PASSES = 3, CHUNK = 256 };
	static const size_t step[PASSES] = {1024, 32, 1};
	size_t upto[PASSES + 1] = {0};

	for (size_t i = 0; i < k->nlive; i++)
		k->best[k->live[i]] = (struct key){NONE, NONE, NONE, NONE};
	for (int pass = 0; pass < PASSES; pass++)
		upto[pass + 1] = upto[pass] + k->nactive / (CHUNK * step[pass]) + 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(k->f->threads)
	for (size_t j = 0; j < upto[PASSES]; j++) {
		const int pass = (j >= upto[1]) + (j >= upto[2]);
		const size_t chunk = CHUNK * step[pass], from = (j - upto[pass]) * chunk;
		search_some(k, from, from + chunk < k->nactive ? from + chunk : k->nactive,
			    step[pass]);
	}
}

/* One thread updates fewer than MANY_TREES faster than several do. */
enum { MANY_TREES = 1 << 16 };

/* Keeps those of the live trees that are still roots, and updates now[]. */
static void
number_live(struct blocks *k, uint32_t *parent)
{
	size_t n = 0;

	for (size_t i = 0; i < k->nlive; i++) {
		uint32_t c = k->live[i];
		if (parent[c] == c)
			k->live[n++] = c;
		else
			parent[c] = parent[parent[c]];
	}
	k->nlive = n;
#pragma omp parallel for schedule(static) num_threads(k->f->threads) if (k->ntrees > MANY_TREES)
	for (size_t c = 0; c < k->ntrees; c++)
		k->now[c] = parent[k->now[c]];
}

/* Every tree takes its edge. parent is a union-find over the first numbers of trees. Returns the number of edges so far. */
static size_t
join_trees(struct blocks *k, uint32_t *parent, struct key *out, size_t n)
{
	for (size_t i = 0; i < k->nlive; i++) {
		const struct key *e = &k->best[k->live[i]];
		if (e->d2 == NONE)
			continue;
		uint32_t a = roots_find(parent, k->live[i]),
			 b = roots_find(parent, k->now[e->other]);
		if (a == b)
			continue;
		uint32_t low = a < b ? a : b, high = a < b ? b : a;
		parent[high] = low;
		k->size[low] += k->size[high];
		out[n++] = *e;
	}
	number_live(k, parent);
	return n;
}

/* Appends the edges in order: sorts by span and lo, then by d2; the sort keeps the order of equal keys. */
static int
finish(struct forest *f, const struct key *edge, size_t n, uint32_t **d2)
{
	struct sorted *e = weir_alloc_large(2 * n, sizeof *e);

	*d2 = weir_alloc_large(n, sizeof **d2);
	if (!e || !*d2) {
		weir_free(e);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		e[i] = (struct sorted){(uint64_t)edge[i].span << 24 | edge[i].lo, edge[i].d2, 0};
	emst_sort(e, e + n, n);
	for (size_t i = 0; i < n; i++) {
		const uint64_t key = e[i].key;
		e[i] = (struct sorted){e[i].a, key & 0xffffff, (uint32_t)(key >> 24)};
	}
	emst_sort(e, e + n, n);
	for (size_t i = 0; i < n; i++) {
		(*d2)[i] = (uint32_t)e[i].key;
		f->edge[f->nedge++] = (struct emst_edge){lattice_rank(f->l, e[i].a),
							 lattice_rank(f->l, e[i].a + e[i].b)};
	}
	weir_free(e);
	return 0;
}

int
forest_boruvka(struct forest *f, uint32_t **d2)
{
	struct blocks *k = weir_calloc(1, sizeof *k);
	struct key *edge = weir_alloc_large(f->trees, sizeof *edge);
	uint32_t *parent = weir_alloc_large(f->trees, sizeof *parent);
	size_t n = 0;
	int err = k && edge && parent ? 0 : -ENOMEM;

	if (!err && !(err = blocks_plan(k, f)))
		roots_single(parent, k->ntrees);
	while (!err && n < f->trees - 1) {
		search_all(k);
		n = join_trees(k, parent, edge, n);
		blocks_label(k, false);
	}
	for (int level = 0; k && level < LEVELS; level++)
		weir_free_all(k->bits[level], k->tree[level]);
	if (k)
		weir_free_all(k->filled, k->first, k->label, k->now, k->live, k->size, k->best,
			      k->code, k->home, k->bound, k->faces, k);
	if (!err)
		err = finish(f, edge, n, d2);
	weir_free_all(parent, edge);
	return err;
}
