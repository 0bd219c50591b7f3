/*
 * Kruskal's algorithm by shells: the pairs of one squared length after the other are found by pairs.h, filtered by the labels
 * of the last shell and joined in order.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "common/par.h"
#include "emst/lattice/pairs.h"

enum { MAXOFFSETS = 256, SMALL = 1 << 16, FIRST = 3 };

struct shell {
	uint32_t d2;
	int n; /* offsets */
	struct offset o[MAXOFFSETS];
};

static void
insert_offset(struct shell *s, struct offset o)
{
	int i = s->n++;

	for (; i && s->o[i - 1].code > o.code; i--)
		s->o[i] = s->o[i - 1];
	s->o[i] = o;
}

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

static int
whole_root(int x)
{
	int r = 0;

	while ((r + 1) * (r + 1) <= x)
		r++;
	return r;
}

/*
 * Lists half of the sphere of squared radius d2: the offsets from a smaller code to a larger one, in ascending order. Offsets
 * are left out when no two colours can differ by them.
 */
static void
make_shell(struct shell *s, uint32_t d2, const struct spread *p)
{
	int radius = whole_root((int)d2);

	*s = (struct shell){.d2 = d2};
	for (int r = 0; r <= radius; r++)
		for (int g = -radius; g <= radius; g++) {
			int rest = (int)d2 - r * r - g * g, b = rest < 0 ? -1 : whole_root(rest);
			if (rest < 0 || b * b != rest || !p->differ[0][r] ||
			    !p->differ[1][abs(g)] || !p->differ[2][b])
				continue;
			for (int sb = b ? -b : 0; sb <= b; sb += b ? 2 * b : 1) {
				int code = r * 65536 + g * 256 + sb;
				if (code > 0)
					insert_offset(s, (struct offset){r, g, sb, code});
			}
		}
}

/* Joins the pairs in order. */
static void
join(struct forest *f, const struct pairs *p)
{
	for (size_t i = 0; i < p->n && f->trees > 1; i++) {
		uint32_t a = roots_find(f->up, p->e[i].u), b = roots_find(f->up, p->e[i].v);
		if (a == b)
			continue;
		roots_join(f->up, a, b);
		f->edge[f->nedge++] = p->e[i];
		f->trees--;
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

#pragma omp parallel for schedule(dynamic, 1) num_threads(f->threads)
	for (int i = 0; i < jobs; i++) {
		int c = i % chunks;
		pairs_find(f, &s->o[first + i / chunks], s->d2, 256 * c / chunks,
			   256 * (c + 1) / chunks, &p[i]);
	}
	for (int i = 0; i < jobs; i++) {
		failed |= p[i].failed;
		*seen += p[i].seen;
		join(f, &p[i]);
	}
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
static const double KD_COLOUR = 1300, BLOCKS = 15e6, TREE = 2000, ROW = 4.5, PAIR = 46, COLOUR = .7;

/*
 * Returns the cost of blocks for the trees that are left. The sparser the colours, the more blocks a colour looks at: it takes
 * .2 us in 12 dense clouds and 4 us in thin sheets.
 */
static double
blocks_cost(const struct forest *f, double active)
{
	const double by_row = (double)f->n / (double)f->l->rows;

	return BLOCKS + TREE / 2 * (double)f->trees + 4000 / by_row * active;
}

static double
kd_cost(const struct forest *f)
{
	return KD_COLOUR * (double)f->n;
}

/* seen is the number of pairs that the last shell has seen for an offset. */
static double
shell_cost(const struct forest *f, const struct shell *s, double seen)
{
	return s->n ? s->n * (ROW * (double)f->l->rows + PAIR * seen) + COLOUR * (double)f->n : 0;
}

/* Uneven colours cost the kd-tree up to 1.6 times what random ones do. */
bool
forest_is_sparse(const struct forest *f)
{
	return f->trees > 1 && 1.5 * kd_cost(f) < blocks_cost(f, take_census(f).active);
}

/*
 * Tells after the FIRST shells, which have 13 offsets, whether the kd-tree costs less than the others. Most colours are in one
 * tree when a colour has 2.7 neighbours on average (percolation of random points), or 1.35 in half of all directions. If the
 * first shells have joined a share x of the colours, this takes 13 * 1.35 / x offsets. Blocks then take 400 ns a colour. Among
 * random colours the kd-tree is taken up to 85000, where both methods take 120 ms.
 */
static bool
kd_is_cheaper(const struct forest *f)
{
	const double n = (double)f->n, share = 1 - (double)f->trees / n;

	return (kd_cost(f) - BLOCKS - 400 * n) * share < 13 * 1.35 * ROW * (double)f->l->rows;
}

/* What the shells have cost so far, and what the last one has saved. */
struct account {
	double spent, saved_by_offset, seen_by_offset;
};

/*
 * Tells whether another method takes over from the next shell s. Shells go on until they have cost an eighth of what the rest
 * would cost, and as long as an offset saves twice what it costs. Crumbs are dear: every colour of them searches in every
 * round, and far. So while an eighth of the colours are in crumbs, an offset need save only half of what it costs.
 */
static bool
is_enough(const struct forest *f, const struct shell *s, const struct account *a)
{
	const struct census c = take_census(f);
	const double cost = shell_cost(f, s, a->seen_by_offset), saved = a->saved_by_offset * s->n;

	if (f->trees == 1 || (f->next == FIRST + 1 && kd_is_cheaper(f)))
		return true;
	if (8 * c.crumbs > (double)f->n)
		return 2 * saved < cost && a->spent + cost > kd_cost(f) / 8;
	return saved < 2 * cost &&
	       8 * (a->spent + cost) > fmin(kd_cost(f), blocks_cost(f, c.active));
}

static int
join_shells(struct forest *f, struct pairs *p)
{
	struct spread spread;
	struct shell s;
	struct account a = {0};
	int err = 0;

	find_spread(&spread, f->l);
	for (f->next = 1; !err && f->next <= FOREST_MAXD2; f->next++) {
		const size_t trees = f->trees;
		size_t seen = 0;
		make_shell(&s, f->next, &spread);
		if (f->next > FIRST && is_enough(f, &s, &a))
			break;
		err = join_shell(f, &s, p, &seen);
		f->upto[f->next] = f->nedge;
		if (!s.n)
			continue;
		a.saved_by_offset = TREE * (double)(trees - f->trees) / s.n;
		a.seen_by_offset = (double)seen / s.n;
		a.spent += shell_cost(f, &s, a.seen_by_offset);
	}
	return err;
}

int
forest_shells(struct forest *f)
{
	const size_t lists = (size_t)MAXOFFSETS * (size_t)chunks_of(f);
	struct pairs *p = weir_calloc(lists, sizeof *p);

	if (!p)
		return -ENOMEM;
	int err = join_shells(f, p);
	for (size_t i = 0; i < lists; i++)
		weir_free(p[i].e);
	weir_free(p);
	return err;
}
