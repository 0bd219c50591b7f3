#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/roots.h"
#include "emst/lattice/lattice.h"

/* Zeroed at first. */
struct account {
	double spent, offsets; /* of all shells */
	/* Trees that were joined and offsets of late; those of each earlier shell count half. */
	double joined, tried;
	double saved_by_offset, seen_by_offset; /* of the last shell */
};

/* A difference of two colours, by plane and as a difference of codes. */
struct offset {
	int r, g, b, code;
};

/* Pairs, as edges in ascending order. */
struct pairs {
	struct emst_edge *e; /* owned */
	size_t n, room;
	size_t seen; /* pairs whose labels were compared */
	bool failed;
	size_t rings; /* pairs that join() has marked */
	size_t at;    /* the place of the first edge in the forest */
};

/* ---- few colours ---- */

size_t
small_colours(const uint8_t *px, size_t n, size_t c, uint32_t *of, uint32_t *code,
	      struct sorted *work)
{
	size_t distinct = 0;

	for (size_t i = 0; i < n; i++) {
		work[i] = (struct sorted){0, (uint32_t)i, 0};
		for (size_t p = 0; p < c; p++)
			work[i].key = work[i].key << 8 | *px++;
	}
	emst_sort(work, work + n, n);
	for (size_t i = 0; i < n; i++) {
		const uint32_t x = (uint32_t)work[i].key;
		if (!distinct || code[distinct - 1] != x)
			code[distinct++] = x;
		of[work[i].a] = (uint32_t)distinct - 1;
	}
	return distinct;
}

/* ---- lattice ---- */

enum { BITS = LATTICE_ROWS * LATTICE_WORDS, PARALLEL_PIXELS = 1 << 19 };

int
lattice_init(struct lattice *l)
{
	*l =
	    (struct lattice){.bits = weir_calloc_large(BITS, sizeof *l->bits),
			     .before = weir_alloc_large(LATTICE_ROWS * 4, sizeof *l->before),
			     .filled = weir_calloc(LATTICE_SIDE * LATTICE_WORDS, sizeof *l->filled),
			     .step = 1};
	if (l->bits && l->before && l->filled)
		return 0;
	lattice_free(l);
	return -ENOMEM;
}

void
lattice_free(struct lattice *l)
{
	weir_free_all(l->bits, l->before, l->filled);
	*l = (struct lattice){0};
}

static inline void
mark(uint64_t *bits, unsigned r, unsigned g, unsigned b)
{
	bits[lattice_row((int)r, (int)g) * LATTICE_WORDS + 1 + (b >> 6)] |= (uint64_t)1 << (b & 63);
}

static void
mark_pixels(uint64_t *bits, const uint8_t *px, size_t n, size_t c)
{
	if (c == 3)
		for (size_t i = 0; i < n; i++, px += 3)
			mark(bits, px[0], px[1], px[2]);
	else if (c == 2)
		for (size_t i = 0; i < n; i++, px += 2)
			mark(bits, 0, px[0], px[1]);
	else
		for (size_t i = 0; i < n; i++)
			mark(bits, 0, 0, px[i]);
}

/* Each thread marks a bitmap of its own, and the bitmaps are then joined. A shared one would move between the caches. */
int
lattice_add(struct lattice *l, const uint8_t *px, size_t n, size_t c, int threads)
{
	size_t parts = n < PARALLEL_PIXELS || threads < 2 ? 1 : threads > 4 ? 4 : (size_t)threads;
	uint64_t *own = parts > 1 ? weir_alloc_large(parts - 1, BITS * sizeof *own) : NULL;

	if (parts > 1 && !own)
		return -ENOMEM;
#pragma omp parallel num_threads((int)parts) if (parts > 1)
	{
#pragma omp for schedule(static, 1)
		for (size_t p = 0; p < parts; p++) {
			size_t from = n * p / parts, to = n * (p + 1) / parts;
			uint64_t *bits = p ? own + (p - 1) * BITS : l->bits;
			if (p)
				memset(bits, 0, BITS * sizeof *bits);
			mark_pixels(bits, px + from * c, to - from, c);
		}
#pragma omp for schedule(static)
		for (size_t i = 0; i < BITS; i++)
			for (size_t p = 1; p < parts; p++)
				l->bits[i] |= own[(p - 1) * BITS + i];
	}
	weir_free(own);
	return 0;
}

void
lattice_add_codes(struct lattice *l, const uint32_t *code, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mark(l->bits, code[i] >> 16, code[i] >> 8 & 255, code[i] & 255);
}

WEIR_CLONES(count_rows, (struct lattice *restrict l), (l))
{
	uint32_t n = 0;

	l->rows = 0;
	for (size_t row = 0; row < LATTICE_ROWS; row++) {
		const uint64_t *w = l->bits + row * LATTICE_WORDS + 1;
		uint32_t *before = l->before + row * 4;
		const uint64_t any = (w[0] | w[1] | w[2] | w[3]) != 0;
		const size_t r = row / LATTICE_SIDE, bit = row % LATTICE_SIDE + 63;
		for (size_t i = 0; i < 4; i++) {
			before[i] = n;
			n += (uint32_t)__builtin_popcountll(w[i]);
			l->blue[i] |= w[i];
		}
		l->filled[r * LATTICE_WORDS + bit / 64] |= any << bit % 64;
		l->rows += any;
	}
	l->n = n;
}

void
lattice_index(struct lattice *l)
{
	count_rows(l);
}

void
lattice_codes(const struct lattice *l, uint32_t *codes, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
	for (int r = 0; r < 256; r++) {
		uint32_t *code = codes + l->before[lattice_row(r, 0) * 4];
		for (int g = lattice_next_row(l, r, 0); g < 256;
		     g = lattice_next_row(l, r, g + 1)) {
			const uint64_t *w = lattice_words(l, r, g);
			uint32_t base = (uint32_t)(r << 16 | g << 8);
			for (uint32_t i = 0; i < 4; i++)
				for (uint64_t x = w[i]; x; x &= x - 1)
					*code++ = base | i << 6 | (uint32_t)__builtin_ctzll(x);
		}
	}
}

static uint32_t
gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t t = a % b;
		a = b;
		b = t;
	}
	return a;
}

/* Sets used[a][v] to 1 where some colour has the value v in plane a, else to 0. */
static void
lattice_used(const struct lattice *l, uint8_t used[3][256])
{
	uint64_t green[4] = {0};

	for (int r = 0; r < 256; r++) {
		const uint64_t *filled = lattice_filled(l, r);
		used[0][r] = (filled[0] | filled[1] | filled[2] | filled[3]) != 0;
		for (int i = 0; i < 4; i++)
			green[i] |= filled[i];
	}
	for (int v = 0; v < 256; v++) {
		used[1][v] = green[v >> 6] >> (v & 63) & 1;
		used[2][v] = l->blue[v >> 6] >> (v & 63) & 1;
	}
}

/* Returns the greatest common divisor of all differences of coordinates. *least is set to the smallest ones. */
static uint32_t
common_step(const struct lattice *l, uint32_t least[3])
{
	uint8_t used[3][256];
	uint32_t step = 0;

	lattice_used(l, used);
	for (int a = 0; a < 3; a++) {
		uint32_t v = 0;
		while (!used[a][v])
			v++;
		least[a] = v;
		for (; v < 256; v++)
			if (used[a][v])
				step = gcd(step, v - least[a]);
	}
	return step;
}

int
lattice_scale(const struct lattice *l, struct lattice *to)
{
	uint32_t least[3], step = common_step(l, least);

	*to = (struct lattice){.step = 1};
	if (step <= 1)
		return 0;
	if (lattice_init(to))
		return -ENOMEM;
	to->step = step;
	for (int r = 0; r < 256; r++)
		for (int g = lattice_next_row(l, r, 0); g < 256;
		     g = lattice_next_row(l, r, g + 1)) {
			const uint64_t *w = lattice_words(l, r, g);
			for (uint32_t i = 0; i < 4; i++)
				for (uint64_t x = w[i]; x; x &= x - 1) {
					uint32_t b = i << 6 | (uint32_t)__builtin_ctzll(x);
					mark(to->bits, ((uint32_t)r - least[0]) / step,
					     ((uint32_t)g - least[1]) / step,
					     (b - least[2]) / step);
				}
		}
	lattice_index(to);
	return 0;
}

/* ---- costs ---- */

/*
 * Tells how long shells go on, from what they have cost and found: until blocks (boruvka.c) find the remaining edges in less
 * time, or until the kd-tree finds all edges in less.
 */

/* The first shells are joined in any case: they have 13 offsets, and show how dense the colours are. */
enum { FIRST = 3 };

/* What a sample of the colours shows: how many are outside the largest tree, and how many are in crumbs, very small trees. */
struct census {
	double active, crumbs;
};

static struct census
take_census(const struct forest *f)
{
	enum { SAMPLE = 128, CRUMB = 2 };
	uint32_t root[SAMPLE];
	size_t most = 0, crumbs = 0;

	for (size_t i = 0; i < SAMPLE; i++)
		root[i] = f->up[f->n * i / SAMPLE];
	for (size_t i = 0; i < SAMPLE; i++) {
		size_t same = 0;
		for (size_t j = 0; j < SAMPLE; j++)
			same += root[j] == root[i];
		most = same > most ? same : most;
		crumbs += same <= CRUMB;
	}
	const double each = (double)f->n / SAMPLE;
	return (struct census){(double)(SAMPLE - most) * each, (double)crumbs * each};
}

/*
 * These costs in ns were measured on one thread of an AMD EPYC with AVX-512: a colour in the kd-tree; all blocks, and a tree
 * that the shells leave; for an offset of a shell a row that is not empty, and a pair that is seen; for a shell a colour.
 */
static const double KD_COLOUR = 1300, BLOCKS = 4e6, TREE = 2000, ROW = 4.5, PAIR = 46, COLOUR = .7;

static double
kd_cost(const struct forest *f)
{
	return KD_COLOUR * (double)f->n;
}

static double
shell_cost(const struct forest *f, int offsets, const struct account *a)
{
	const double offset = ROW * (double)f->l->rows + PAIR * a->seen_by_offset;

	return offsets ? offsets * offset + COLOUR * (double)f->n : 0;
}

/* Returns how many offsets a tree tries until one joins it to another. */
static double
offsets_by_join(const struct forest *f, const struct account *a)
{
	return a->tried * (double)f->trees / (a->joined + 1);
}

/*
 * Returns the cost of blocks for so many colours. The sparser the colours, the more blocks a colour looks at: it takes .2 us in
 * 12 dense clouds and 4 us in thin sheets.
 */
static double
search_cost(const struct forest *f, double colours)
{
	return 4000 * (double)f->l->rows / (double)f->n * fmax(colours, 0);
}

/* Returns the cost of blocks for the trees that are left. */
static double
blocks_cost(const struct forest *f, const struct census *c)
{
	return BLOCKS + TREE / 2 * (double)f->trees + search_cost(f, c->active);
}

/*
 * Returns the cost of further shells and then blocks. Most colours are in one tree when a colour has 2.7 neighbours on average
 * (percolation of random points), or 1.35 in half of all directions. So if one offset in x joins a tree, this takes 1.35 x
 * offsets. Blocks then take 400 ns a colour, and more where several trees are large, since these stay.
 */
static double
further_cost(const struct forest *f, int offsets, const struct census *c, const struct account *a)
{
	const double more = 1.35 * offsets_by_join(f, a) - a->offsets,
		     shells = offsets && more > 0 ? more * shell_cost(f, offsets, a) / offsets : 0;

	return shells + BLOCKS + 400 * (double)f->n + search_cost(f, c->active - c->crumbs);
}

/*
 * Tells whether blocks take over from the next shell. Shells go on until they have cost a fifth of what the rest would
 * cost, and as long as an offset saves twice what it costs. Crumbs are dear: every colour of them searches in every round, and
 * far. So while an eighth of the colours are in crumbs, an offset need save only half of what it costs.
 */
static bool
is_enough(const struct forest *f, int offsets, const struct census *c, const struct account *a)
{
	const double cost = shell_cost(f, offsets, a), saved = a->saved_by_offset * offsets;

	if (8 * c->crumbs > (double)f->n)
		return 2 * saved < cost && a->spent + cost > kd_cost(f) / 8;
	return saved < 2 * cost && 5 * (a->spent + cost) > fmin(kd_cost(f), blocks_cost(f, c));
}

/* Tells whether another method takes over from the next shell, f->next. f->sparse tells whether that is the kd-tree. */
static bool
costs_hand_over(const struct account *a, struct forest *f, int offsets)
{
	if (f->next <= FIRST)
		return false;
	const struct census c = take_census(f);
	const bool enough = f->trees == 1 || is_enough(f, offsets, &c, a);

	/*
	 * Uneven colours cost the kd-tree up to 1.6 times what random ones do. Crumbs that few offsets join are far from all other
	 * colours, and cost the blocks more.
	 */
	const double far = 10 * offsets_by_join(f, a) * c.crumbs;
	f->sparse = f->trees > 1 && 1.5 * kd_cost(f) < blocks_cost(f, &c) + far &&
		    (enough || kd_cost(f) < further_cost(f, offsets, &c, a));
	return enough || f->sparse;
}

/* Enters a shell that has joined so many trees and seen so many pairs. */
static void
costs_enter(struct account *a, const struct forest *f, int offsets, size_t joined, size_t seen)
{
	if (!offsets)
		return;
	a->joined = a->joined / 2 + (double)joined;
	a->tried = a->tried / 2 + offsets;
	a->offsets += offsets;
	a->saved_by_offset = TREE * (double)joined / offsets;
	a->seen_by_offset = (double)seen / offsets;
	a->spent += shell_cost(f, offsets, a);
}

/* ---- pairs ---- */

/*
 * All pairs (u, v) with v = u + o of one offset o are found a row at a time: the bits of row (r,g), AND the bits of row
 * (r,g) + o shifted by o's blue part. row_prune() drops most of these pairs without looking at a tree, since a shorter or
 * earlier path is known to exist.
 */

/* Doubles the room; returns false when memory has run out. */
static bool
grow(struct pairs *p)
{
	size_t room = p->room ? 2 * p->room : 1024;
	struct emst_edge *e = weir_alloc(room, sizeof *e);

	if (!e) {
		p->failed = true;
		return false;
	}
	if (p->n)
		memcpy(e, p->e, p->n * sizeof *e);
	weir_free(p->e);
	p->e = e;
	p->room = room;
	return true;
}

/* Finds the pairs (u, u + o) of one row whose labels differ. */
CPU_INLINE void
scan_row(const struct forest *f, const struct offset *o, uint32_t d2, int r, int g,
	 struct pairs *out)
{
	const struct lattice *l = f->l;
	size_t row = lattice_row(r, g);
	const uint64_t *u = lattice_words(l, r, g), *v = lattice_words(l, r + o->r, g + o->g);
	uint64_t before = 0;

	for (uint32_t w = 0; w < 4; w++, u++, v++) {
		const uint64_t pairs = u[0] ? u[0] & row_shift(v, o->b) : 0;
		uint64_t x = pairs & ~(pairs << 1 | before);
		before = pairs >> 63;
		if (x)
			x = row_prune(x, u, v, o->r, o->g, o->b, d2);
		if (!x)
			continue;
		uint32_t code = (uint32_t)(r << 16 | g << 8) | w << 6;
		out->seen += (size_t)__builtin_popcountll(x);
		for (; x; x &= x - 1) {
			int bit = __builtin_ctzll(x);
			uint64_t below = ((uint64_t)1 << bit) - 1;
			uint32_t iu =
			    l->before[row * 4 + w] + (uint32_t)__builtin_popcountll(u[0] & below);
			uint32_t cv = code + (uint32_t)bit + (uint32_t)o->code;
			uint32_t iv = lattice_rank(l, cv);
			if (f->up[iu] != f->up[iv] && (out->n < out->room || grow(out)))
				out->e[out->n++] = (struct emst_edge){iu, iv};
		}
	}
}

/*
 * Tells whether a row has pairs at all. Where colours are sparse, few rows have: 300000 random colours take 1 / 1.4 of the
 * time with this test.
 */
CPU_INLINE bool
rows_meet(const uint64_t *u, const uint64_t *v, int b)
{
	typedef uint64_t four __attribute__((vector_size(32), aligned(8), may_alias));
	const four x = *(const four *)u, y = *(const four *)v;
	four z;

	if (b >= 0)
		z = x & (y >> b | *(const four *)(v + 1) << 1 << (63 - b));
	else
		z = x & (y << -b | *(const four *)(v - 1) >> 1 >> (63 + b));
	return z[0] | z[1] | z[2] | z[3];
}

/*
 * Fills out with those pairs (u, u + o) that may be edges of the tree, u in the rows with red from..to-1. d2 is the squared
 * length of o. Pairs within one tree are left out, and pairs for which the rows themselves show a shorter or earlier path.
 * out is zeroed before the first call; its memory serves again, and the caller frees out->e.
 */
WEIR_CLONES(scan_rows,
	    (const struct forest *f, const struct offset *o, uint32_t d2, int from, int to,
	     struct pairs *out),
	    (f, o, d2, from, to, out))
{
	const bool dense = f->l->n > 10 * f->l->rows;

	out->n = out->seen = out->rings = 0;
	for (int r = from; r < to && r + o->r < 256; r++) {
		const uint64_t *filled = lattice_filled(f->l, r),
			       *other = lattice_filled(f->l, r + o->r);
		for (int i = 0; i < 4; i++)
			for (uint64_t x = filled[i] & row_shift(other + i, o->g); x; x &= x - 1) {
				const int g = i << 6 | __builtin_ctzll(x);
				const uint64_t *u = lattice_words(f->l, r, g),
					       *v = lattice_words(f->l, r + o->r, g + o->g);
				if (dense || rows_meet(u, v, o->b))
					scan_row(f, o, d2, r, g, out);
			}
	}
}

/* ---- shells ---- */

/*
 * Kruskal's algorithm by shells: the pairs of one squared length after the other are found by lattice.h, filtered by the labels
 * of the last shell and joined in order.
 */

enum { MAXOFFSETS = 256, SMALL = 1 << 16 };

struct shell {
	uint32_t d2;
	int n; /* offsets */
	struct offset o[MAXOFFSETS];
};

/* differ[a][d] tells whether some two colours differ by d in coordinate a. */
struct spread {
	bool differ[3][256];
};

static void
find_spread(struct spread *s, const struct lattice *l)
{
	uint8_t used[3][256];

	lattice_used(l, used);
	*s = (struct spread){{{false}}};
	for (int a = 0; a < 3; a++)
		for (int i = 0; i < 256; i++)
			for (int j = i; used[a][i] && j < 256; j++)
				s->differ[a][j - i] |= used[a][j];
}

/*
 * Lists half of the sphere of squared radius d2: the offsets from a smaller code to a larger one, in ascending order. Offsets
 * are left out when no two colours can differ by them.
 */
static void
make_shell(struct shell *s, uint32_t d2, const struct spread *p)
{
	int radius = (int)sqrt(d2);

	*s = (struct shell){.d2 = d2};
	for (int r = 0; r <= radius; r++)
		for (int g = -radius; g <= radius; g++) {
			int rest = (int)d2 - r * r - g * g, b = rest < 0 ? -1 : (int)sqrt(rest);
			if (rest < 0 || b * b != rest || !p->differ[0][r] ||
			    !p->differ[1][abs(g)] || !p->differ[2][b])
				continue;
			for (int sb = b ? -b : 0; sb <= b; sb += b ? 2 * b : 1) {
				int code = r * 65536 + g * 256 + sb;
				if (code > 0)
					s->o[s->n++] = (struct offset){r, g, sb, code};
			}
		}
}

/*
 * Joins the pairs of a list in order, and sets u to UINT32_MAX in those that close a ring. GROUPS threads do so at once with
 * `group`, each with the lists of a group of planes (red). They pass over pairs of two shared trees, and mark the others DONE. A
 * tree is shared when it has colours in two groups, or in the first REACH planes of one, where pairs of the group before end.
 * All pairs of any other tree are in the lists of one group, so the first one that closes no ring is an edge. One thread
 * then joins the pairs that were passed over. Where a later edge closes a ring with such a pair, the pair is dropped rightly:
 * a ring loses its last pair, and an edge is never that.
 */
enum { GROUPS = 8, REACH = 2, PLANES = 256 / GROUPS, MANY_PAIRS = 1 << 13 };
#define DONE (1u << 31)

static void
join(struct forest *f, struct pairs *p, bool group)
{
	uint32_t *up = f->up;

	for (struct emst_edge *e = p->e; e < p->e + p->n; e++) {
		if (e->u & DONE)
			continue;
		const uint32_t a = roots_find(up, up[e->u]), b = roots_find(up, up[e->v]);
		const bool x = f->shared && f->shared[a], y = f->shared && f->shared[b];
		if (a == b) {
			e->u = UINT32_MAX;
			p->rings++;
		} else if (x != y) {
			up[x ? b : a] = x ? a : b;
		} else if (!group || !x) {
			roots_join(up, a, b);
		}
		if (group && !(x && y))
			e->u |= DONE;
	}
}

/*
 * Makes every label its root. Threads read what others write, but all values that they can see lead to the same root. So the
 * accesses only have to be atomic.
 */
static void
flatten(struct forest *f)
{
	uint32_t *up = f->up;

#pragma omp parallel for schedule(static) num_threads(f->threads) if (f->n > SMALL)
	for (size_t i = 0; i < f->n; i++) {
		uint32_t x = __atomic_load_n(&up[i], __ATOMIC_RELAXED), y;
		while ((y = __atomic_load_n(&up[x], __ATOMIC_RELAXED)) != x)
			x = y;
		__atomic_store_n(&up[i], x, __ATOMIC_RELAXED);
	}
}

/* Returns the slabs of rows of an offset that threads search at once. */
static int
chunks_of(const struct forest *f)
{
	return f->threads == 1 ? 1 : f->threads < 8 ? 8 * f->threads : 64;
}

/*
 * Finds the pairs of the offsets first..last of a shell in parallel, by slabs of rows, and joins them in order. Adds the pairs
 * whose labels were compared to *seen.
 */
static int
join_offsets(struct forest *f, const struct shell *s, int first, int last, struct pairs *p,
	     size_t *seen)
{
	const int chunks = chunks_of(f), jobs = (last - first) * chunks;
	bool failed = false;
	size_t n = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(f->threads) reduction(+ : n)
	for (int i = 0; i < jobs; i++) {
		const int c = i % chunks;
		/* The neighbours of p[i] belong to other threads, and share its cache line. So it is written once. */
		struct pairs own = p[i];
		scan_rows(f, &s->o[first + i / chunks], s->d2, 256 * c / chunks,
			  256 * (c + 1) / chunks, &own);
		p[i] = own;
		n += own.n;
	}
	if (f->shared && n > MANY_PAIRS && s->d2 < (REACH + 1) * (REACH + 1))
#pragma omp parallel for schedule(dynamic, 1) num_threads(f->threads)
		for (int g = 0; g < GROUPS; g++)
			for (int i = 0; i < jobs; i++)
				if (i % chunks * GROUPS / chunks == g)
					join(f, &p[i], true);
	for (int i = 0; i < jobs; i++) {
		failed |= p[i].failed;
		*seen += p[i].seen;
		join(f, &p[i], false);
		p[i].at = f->nedge;
		f->nedge += p[i].n - p[i].rings;
	}
	f->trees = f->n - f->nedge;
#pragma omp parallel for schedule(dynamic, 8) num_threads(f->threads) if (n > MANY_PAIRS)
	for (int i = 0; i < jobs; i++)
		for (size_t k = 0, to = p[i].at; k < p[i].n; k++)
			if (p[i].e[k].u != UINT32_MAX)
				f->edge[to++] =
				    (struct emst_edge){p[i].e[k].u & ~DONE, p[i].e[k].v};
	flatten(f);
	return failed ? -ENOMEM : 0;
}

/* Returns the bits whose next lower bit is set too: edges of length 1 along blue. */
static inline uint64_t
linked(const uint64_t *w)
{
	return w[0] & row_shift(w, -1);
}

static size_t
count_links(const struct lattice *l, int r)
{
	size_t n = 0;

	for (int g = lattice_next_row(l, r, 0); g < 256; g = lattice_next_row(l, r, g + 1)) {
		const uint64_t *w = lattice_words(l, r, g);
		for (int i = 0; i < 4; i++)
			n += (size_t)__builtin_popcountll(linked(w + i));
	}
	return n;
}

/* Joins runs of neighbours along blue, which needs no search. */
static void
link_runs(struct forest *f, int r, struct emst_edge *e)
{
	const struct lattice *l = f->l;

	for (int g = lattice_next_row(l, r, 0); g < 256; g = lattice_next_row(l, r, g + 1)) {
		const uint64_t *w = lattice_words(l, r, g);
		uint32_t i = l->before[lattice_row(r, g) * 4], start = i;
		for (int k = 0; k < 4; k++, w++) {
			uint64_t link = linked(w);
			for (uint64_t x = w[0]; x; x &= x - 1, i++) {
				if (link & x & -x)
					*e++ = (struct emst_edge){i - 1, i};
				else
					start = i;
				f->up[i] = start;
				if (f->shared)
					f->shared[i] = r >= PLANES && r % PLANES < REACH;
			}
		}
	}
}

static void
join_runs(struct forest *f)
{
	size_t from[257] = {0};

#pragma omp parallel num_threads(f->threads)
	{
#pragma omp for schedule(static)
		for (int r = 0; r < 256; r++)
			from[r + 1] = count_links(f->l, r);
#pragma omp single
		for (int r = 0; r < 256; r++)
			from[r + 1] += from[r];
#pragma omp for schedule(dynamic, 4)
		for (int r = 0; r < 256; r++)
			link_runs(f, r, f->edge + from[r]);
	}
	f->nedge = from[256];
	f->trees = f->n - f->nedge;
}

/* Joins a shell. At length 1 the runs along blue come first, then one offset at a time, filtered by the labels so far. */
static int
join_shell(struct forest *f, const struct shell *s, struct pairs *p, size_t *seen)
{
	int err = 0, first = 0;

	if (s->d2 > 1)
		return s->n ? join_offsets(f, s, 0, s->n, p, seen) : 0;
	join_runs(f);
	if (s->n && s->o[0].code == 1)
		first = 1;
	for (int i = first; !err && i < s->n; i++)
		err = join_offsets(f, s, i, i + 1, p, seen);
	return err;
}

int
forest_shells(struct forest *f)
{
	const size_t lists = (size_t)MAXOFFSETS * (size_t)chunks_of(f);
	struct pairs *p = weir_calloc(lists, sizeof *p);
	struct spread spread;
	struct shell s;
	struct account a = {0};

	f->shared = f->threads > 1 ? weir_alloc_large(f->n, sizeof *f->shared) : NULL;
	int err = p && (f->shared || f->threads == 1) ? 0 : -ENOMEM;
	find_spread(&spread, f->l);
	for (f->next = 1; !err && f->next <= FOREST_MAXD2; f->next++) {
		const size_t trees = f->trees;
		size_t seen = 0;
		make_shell(&s, f->next, &spread);
		if (costs_hand_over(&a, f, s.n))
			break;
		err = join_shell(f, &s, p, &seen);
		f->upto[f->next] = f->nedge;
		costs_enter(&a, f, s.n, trees - f->trees, seen);
	}
	for (size_t i = 0; p && i < lists; i++)
		weir_free(p[i].e);
	weir_free_all(p, f->shared);
	return err;
}

/* A bit marks the roots meanwhile. */
size_t
forest_number(struct forest *f)
{
	enum { PARTS = 64, MANY = 1 << 18 };
	const size_t n = f->n;
	uint32_t *up = f->up;
	const uint32_t root = 1u << 31;
	size_t from[PARTS + 1] = {0};

#pragma omp parallel num_threads(f->threads) if (n > MANY)
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
