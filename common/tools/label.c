#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/tools/label.h"

int
label_open(struct label *l, size_t w, size_t h, size_t depth, int connectivity)
{
	size_t rows;

	*l = (struct label){.w = w, .h = h, .depth = depth, .connectivity = connectivity};
	if (!weir_mul(h, depth, &rows) || rows == SIZE_MAX)
		return -ENOMEM;
	l->row = weir_alloc(rows + 1, sizeof *l->row);
	if (!l->row)
		return -ENOMEM;
	l->row[0] = 0;
	return 0;
}

void
label_free(struct label *l)
{
	weir_free(l->row);
	free(l->run);
	free(l->region);
	*l = (struct label){0};
}

/* --- union and find --------------------------------------------------------------------------------------------------- */

static uint32_t
find(struct label_run *run, uint32_t i)
{
	while (run[i].up != i) {
		run[i].up = run[run[i].up].up; /* path halving */
		i = run[i].up;
	}
	return i;
}

/* Joins two components. The lower index becomes the root, so that a root is the first run of its component. */
static void
join(struct label_run *run, uint32_t a, uint32_t b)
{
	a = find(run, a);
	b = find(run, b);
	if (a < b)
		run[b].up = a;
	else
		run[a].up = b;
}

/* Joins the runs of the new row with those of an earlier row. With reach 1, runs that meet at a corner are joined, too. */
static void
join_rows(struct label *l, size_t earlier, size_t reach)
{
	size_t a = l->row[earlier], b = l->row[l->rows];
	const size_t enda = l->row[earlier + 1], endb = l->nrun;

	while (a < enda && b < endb) {
		const struct label_run *p = &l->run[a], *q = &l->run[b];

		if ((size_t)p->to + reach <= q->from) {
			a++;
		} else if ((size_t)q->to + reach <= p->from) {
			b++;
		} else {
			join(l->run, (uint32_t)a, (uint32_t)b);
			if (p->to < q->to)
				a++;
			else
				b++;
		}
	}
}

/* Joins the new row, row y of plane z, with each earlier row that it touches. */
static void
join_all(struct label *l)
{
	const size_t y = l->rows % l->h, z = l->rows / l->h;
	const int c = l->connectivity;
	const size_t near = c == 4 || c == 6 ? 0 : 1, corner = c == 26 ? 1 : 0;

	if (y)
		join_rows(l, l->rows - 1, near);
	if (!z || c < 6 || c == 8)
		return;
	join_rows(l, l->rows - l->h, near);
	if (c >= 18 && y)
		join_rows(l, l->rows - l->h - 1, corner);
	if (c >= 18 && y + 1 < l->h)
		join_rows(l, l->rows - l->h + 1, corner);
}

/* --- regions ------------------------------------------------------------------------------------------------------------ */

static int
grow(void **p, size_t *room, size_t n, size_t size)
{
	void *more;

	if (n < *room)
		return 0;
	more = realloc(*p, (2 * *room + 1024) * size);
	if (!more)
		return -ENOMEM;
	*p = more;
	*room = 2 * *room + 1024;
	return 0;
}

/* Measures a single run. */
static void
measure(struct label_region *g, const struct label *l, const struct label_run *run,
	const double *values)
{
	const size_t y = l->rows % l->h, z = l->rows / l->h;
	const double n = (double)(run->to - run->from);

	*g = (struct label_region){.size = run->to - run->from,
				   .lo = {run->from, y, z},
				   .hi = {run->to - 1, y, z},
				   .first = {run->from, y, z},
				   .top = {run->from, y, z},
				   .peak = -INFINITY};
	g->shape[0] = n * (n - 1) / 2;
	for (uint32_t i = run->from; i < run->to; i++) {
		const double v = values[i], x = i - run->from;

		g->sum += v;
		g->moment[0] += v * x;
		g->xx += v * x * x;
		if (v > g->peak) {
			g->peak = v;
			g->top[0] = i;
		}
	}
}

/* Adds region b to region a. b's moments are moved to a's first sample. Of equal peaks, the first stays. */
static void
merge(struct label_region *a, const struct label_region *b)
{
	double d[3];

	for (int k = 0; k < 3; k++) {
		d[k] = (double)b->first[k] - (double)a->first[k];
		a->lo[k] = b->lo[k] < a->lo[k] ? b->lo[k] : a->lo[k];
		a->hi[k] = b->hi[k] > a->hi[k] ? b->hi[k] : a->hi[k];
		a->shape[k] += b->shape[k] + d[k] * (double)b->size;
	}
	a->xx += b->xx + 2 * d[0] * b->moment[0] + d[0] * d[0] * b->sum;
	a->yy += b->yy + 2 * d[1] * b->moment[1] + d[1] * d[1] * b->sum;
	a->xy += b->xy + d[0] * b->moment[1] + d[1] * b->moment[0] + d[0] * d[1] * b->sum;
	for (int k = 0; k < 3; k++)
		a->moment[k] += b->moment[k] + d[k] * b->sum;
	a->size += b->size;
	a->sum += b->sum;
	if (b->peak > a->peak) {
		a->peak = b->peak;
		memcpy(a->top, b->top, sizeof a->top);
	}
}

/* --- rows --------------------------------------------------------------------------------------------------------------- */

/* Returns the first i >= from where a run begins or, with run set, where it has ended; else w. Skips equal bytes by eights. */
static size_t
next_change(const uint8_t *chosen, size_t from, size_t w, bool run)
{
	const uint64_t alike = run ? 0x0101010101010101ull : 0;
	uint64_t eight;

	for (; from + 8 <= w; from += 8) {
		memcpy(&eight, chosen + from, 8);
		if (eight != alike)
			break;
	}
	while (from < w && (chosen[from] != 0) == run)
		from++;
	return from;
}

int
label_row(struct label *l, const uint8_t *chosen, const double *values)
{
	for (size_t i = next_change(chosen, 0, l->w, false); i < l->w;
	     i = next_change(chosen, i, l->w, false)) {
		void *run = l->run, *region = l->region;

		if (l->nrun == UINT32_MAX)
			return -EOVERFLOW;
		if (grow(&run, &l->room, l->nrun, sizeof *l->run))
			return -ENOMEM;
		l->run = run;
		if (values && grow(&region, &l->room_region, l->nrun, sizeof *l->region))
			return -ENOMEM;
		l->region = region;
		const size_t to = next_change(chosen, i, l->w, true);
		l->run[l->nrun] = (struct label_run){(uint32_t)i, (uint32_t)to, (uint32_t)l->nrun};
		if (values)
			measure(&l->region[l->nrun], l, &l->run[l->nrun], values);
		l->nrun++;
		i = to;
	}
	join_all(l);
	l->row[++l->rows] = l->nrun;
	return 0;
}

/* --- the end ------------------------------------------------------------------------------------------------------------- */

/* Sets sizes[root] to the number of samples of the component, for every root. */
static void
count_sizes(struct label *l, uint64_t *sizes)
{
	for (size_t i = 0; i < l->nrun; i++)
		sizes[find(l->run, (uint32_t)i)] += l->run[i].to - l->run[i].from;
}

int
label_close(struct label *l, uint64_t min_size)
{
	uint64_t *sizes = weir_calloc(l->nrun, sizeof *sizes);

	if (!sizes)
		return -ENOMEM;
	count_sizes(l, sizes);
	/* Every path ends in its root before the first label replaces a root. */
	for (size_t i = 0; i < l->nrun; i++)
		l->run[i].up = find(l->run, (uint32_t)i);
	l->n = 0;
	for (size_t i = 0; i < l->nrun; i++) {
		const uint32_t root = l->run[i].up;

		/* A root comes first of its runs. Its label then replaces its size. */
		if (root == i) {
			const bool kept = sizes[i] >= min_size;
			if (kept && l->region)
				l->region[l->n] = l->region[i];
			l->n += kept;
			sizes[i] = kept ? l->n : 0;
		} else if (sizes[root] && l->region) {
			merge(&l->region[sizes[root] - 1], &l->region[i]);
		}
		l->run[i].up = (uint32_t)sizes[root];
	}
	weir_free(sizes);
	return l->n > INT32_MAX ? -EOVERFLOW : 0;
}

void
label_write(const struct label *l, size_t row, int32_t *labels)
{
	memset(labels, 0, l->w * sizeof *labels);
	for (size_t i = l->row[row]; i < l->row[row + 1]; i++)
		for (uint32_t x = l->run[i].from; x < l->run[i].to; x++)
			labels[x] = (int32_t)l->run[i].up;
}
