#include <math.h>

#include "emst/lattice/costs.h"

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

/* Returns what blocks cost besides for crumbs that few offsets join: these are far from all other colours. */
static double
far_cost(const struct forest *f, const struct census *c, const struct account *a)
{
	return 10 * offsets_by_join(f, a) * c->crumbs;
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

bool
costs_hand_over(const struct account *a, struct forest *f, int offsets)
{
	if (f->next <= FIRST)
		return false;
	const struct census c = take_census(f);
	const bool enough = f->trees == 1 || is_enough(f, offsets, &c, a);

	/* Uneven colours cost the kd-tree up to 1.6 times what random ones do. */
	f->sparse = f->trees > 1 && 1.5 * kd_cost(f) < blocks_cost(f, &c) + far_cost(f, &c, a) &&
		    (enough || kd_cost(f) < further_cost(f, offsets, &c, a));
	return enough || f->sparse;
}

void
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
