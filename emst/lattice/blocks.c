/* Makes the index for Boruvka's algorithm: the tree of blocks, its labels, and the colours that search. */
#include <errno.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "emst/lattice/blocks.h"

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

/* Returns the bits of the exposed colours of a word. */
static inline uint64_t
exposed(const uint64_t *w)
{
	enum { G = LATTICE_WORDS, R = LATTICE_SIDE * LATTICE_WORDS };

	return w[0] & ~(w[-G] & w[G] & w[-R] & w[R] & row_shift(w, 1) & row_shift(w, -1));
}

/* Copies row (r,g) into its blocks, and marks these in their parents. Each block takes four adjacent bits. */
static void
spread_row(struct blocks *k, int r, int g)
{
	const uint64_t *w = lattice_words(k->l, r, g);
	uint64_t *block = k->bits[0] + node_id(0, r >> 2, g >> 2, 0),
		 *parent = k->bits[1] + node_id(1, r >> 4, g >> 4, 0);
	const int at = node_bit(r, g, 0), in_parent = node_bit(r >> 2, g >> 2, 0);

	for (int i = 0; i < 4; i++, w++, block += 16, parent += 4)
		for (uint64_t x = exposed(w); x;) {
			int four = __builtin_ctzll(x) >> 2;
			block[four] |= (x >> 4 * four & 15) << at;
			parent[four >> 2] |= (uint64_t)1 << (in_parent | (four & 3));
			x &= ~((uint64_t)15 << 4 * four);
		}
}

static inline uint32_t
merge_labels(uint32_t a, uint32_t b)
{
	return a == EMPTY || a == b ? b : MIXED;
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
		label = merge_labels(label, blocks_now(k, k->tree[level][child]));
	}
	return label;
}

/* Returns the code of bit t of a block. */
static inline uint32_t
block_code(uint32_t id, int t)
{
	uint32_t r = (id >> 12) * 4 + ((uint32_t)t >> 4),
		 g = (id >> 6 & 63) * 4 + ((uint32_t)t >> 2 & 3);

	return r << 16 | g << 8 | ((id & 63) * 4 + ((uint32_t)t & 3));
}

static void
label_colours(struct blocks *k, uint32_t id)
{
	uint32_t *label = k->label + k->first[id];

	for (uint64_t w = k->bits[0][id]; w; w &= w - 1)
		*label++ = k->f->up[lattice_rank(k->l, block_code(id, __builtin_ctzll(w)))];
}

/* Labels the nodes from the lowest level up: with first the colours and all nodes, otherwise only nodes that held several trees. */
void
blocks_label(struct blocks *k, bool first)
{
#pragma omp parallel num_threads(k->f->threads) if (k->nfilled > (first ? MANY / 8 : MANY))
	{
#pragma omp for schedule(dynamic, 256)
		for (size_t i = 0; i < k->nfilled; i++) {
			if (first)
				label_colours(k, k->filled[i]);
			if (first || k->tree[0][k->filled[i]] == MIXED)
				k->tree[0][k->filled[i]] = block_label(k, i);
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

static inline unsigned
present(const struct lattice *l, int r, int g, int b)
{
	return (unsigned)b < 256 ? (unsigned)(lattice_words(l, r, g)[b >> 6] >> (b & 63) & 1) : 0;
}

static uint8_t
faces_of(const struct lattice *l, uint32_t code)
{
	int r = code_r(code), g = code_g(code), b = code_b(code);

	return (uint8_t)(present(l, r - 1, g, b) | present(l, r + 1, g, b) << 1 |
			 present(l, r, g - 1, b) << 2 | present(l, r, g + 1, b) << 3 |
			 present(l, r, g, b - 1) << 4 | present(l, r, g, b + 1) << 5);
}

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
			k->faces[at] = faces_of(k->l, k->code[at]);
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

/*
 * Replaces union-find by tree numbers 0.. in place. On entry every entry is its root. A bit marks the roots meanwhile.
 */
static size_t
number_trees(uint32_t *up, size_t n, int threads)
{
	const uint32_t root = 1u << 31;
	size_t from[PARTS + 1] = {0};

#pragma omp parallel num_threads(threads) if (n > MANY_COLOURS)
	{
#pragma omp for schedule(static)
		for (size_t p = 0; p < PARTS; p++)
			for (size_t i = n * p / PARTS; i < n * (p + 1) / PARTS; i++)
				from[p + 1] += up[i] == i;
#pragma omp single
		for (size_t p = 0; p < PARTS; p++)
			from[p + 1] += from[p];
#pragma omp for schedule(static)
		for (size_t p = 0; p < PARTS; p++)
			for (size_t i = n * p / PARTS, tree = from[p]; i < n * (p + 1) / PARTS; i++)
				if (up[i] == i)
					up[i] = root | (uint32_t)tree++;
#pragma omp for schedule(static)
		for (size_t i = 0; i < n; i++)
			if (!(up[i] & root))
				up[i] = up[up[i]] & ~root;
#pragma omp for schedule(static)
		for (size_t i = 0; i < n; i++)
			up[i] &= ~root;
	}
	return from[PARTS];
}

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

static void
spread_rows(struct blocks *k)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(k->f->threads)
	for (int R = 0; R < 16; R++)
		for (int r = 16 * R; r < 16 * (R + 1); r++)
			for (int g = lattice_next_row(k->l, r, 0); g < 256;
			     g = lattice_next_row(k->l, r, g + 1))
				spread_row(k, r, g);
}

static int
fill_nodes(struct blocks *k)
{
	spread_rows(k);
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
	size_t n;

	for (size_t i = 0; i < all; i++)
		k->size[k->label[i]]++;
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

void
blocks_free(struct blocks *k)
{
	for (int level = 0; level < LEVELS; level++) {
		weir_free(k->bits[level]);
		weir_free(k->tree[level]);
	}
	weir_free(k->filled);
	weir_free(k->first);
	weir_free(k->label);
	weir_free(k->now);
	weir_free(k->live);
	weir_free(k->size);
	weir_free(k->best);
	weir_free(k->code);
	weir_free(k->home);
	weir_free(k->bound);
	weir_free(k->faces);
	weir_free(k);
}

int
blocks_plan(struct blocks *k, struct forest *f)
{
	int err;

	k->f = f;
	k->l = f->l;
	k->ntrees = number_trees(f->up, f->n, f->threads);
	list_near(k);
	if ((err = allocate_nodes(k)) || (err = fill_nodes(k)))
		return err;
	return fill_active(k);
}
