/*
 * Kruskal's algorithm by shells: the pairs of one squared length after the other are found by pairs.h, filtered by the labels
 * of the last shell and joined in order.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "emst/lattice/costs.h"
#include "emst/lattice/pairs.h"

enum { MAXOFFSETS = 256, SMALL = 1 << 16 };

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
		if (costs_hand_over(&a, f, s.n))
			break;
		err = join_shell(f, &s, p, &seen);
		f->upto[f->next] = f->nedge;
		costs_enter(&a, f, s.n, trees - f->trees, seen);
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
