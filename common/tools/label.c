#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/tools/label.h"

static const uint32_t NONE = UINT32_MAX;

int
label_open(struct label *l, size_t w, size_t h, size_t depth, int connectivity)
{
	size_t rows;

	*l = (struct label){
	    .w = w, .h = h, .depth = depth, .connectivity = connectivity, .spare = NONE};
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
	free(l->up);
	free(l->slot);
	free(l->region);
	free(l->first);
	*l = (struct label){0};
}

/* Makes room for n elements in the array whose address is at p. */
static int
grow(void *p, size_t *room, size_t n, size_t size)
{
	const size_t more = n + n / 2 + 1024;
	void *array;

	if (n <= *room)
		return 0;
	memcpy(&array, p, sizeof array);
	array = realloc(array, more * size);
	if (!array)
		return -ENOMEM;
	memcpy(p, &array, sizeof array);
	*room = more;
	return 0;
}

/* --- regions ------------------------------------------------------------------------------------------------------------ */

/* Returns the number of a region that no root has. There is room for it. */
static uint32_t
take_region(struct label *l)
{
	const uint32_t s = l->spare;

	if (s == NONE)
		return (uint32_t)l->nregion++;
	l->spare = (uint32_t)l->region[s].size;
	return s;
}

/* Adds the region of root b to that of root a. */
static void
unite(struct label *l, uint32_t a, uint32_t b)
{
	const uint32_t s = l->slot[b];

	region_merge(&l->region[l->slot[a]], &l->region[s]);
	l->region[s].size = l->spare;
	l->spare = s;
}

/* --- union and find --------------------------------------------------------------------------------------------------- */

static uint32_t
find(uint32_t *up, uint32_t i)
{
	while (up[i] != i) {
		up[i] = up[up[i]]; /* path halving */
		i = up[i];
	}
	return i;
}

/* Joins the components of runs a and b < first. The lower root stays, so that a root is the first run of its component. */
static void
join(struct label *l, uint32_t a, uint32_t b)
{
	a = find(l->up, a);
	b = find(l->up, b);
	if (a == b)
		return;
	const uint32_t low = a < b ? a : b, high = a < b ? b : a;

	l->up[high] = low;
	/* The runs of the new row have no region yet. */
	if (l->region && high < l->row[l->rows])
		unite(l, low, high);
}

/* Joins the runs of the new row with those of an earlier row. With reach 1, runs that meet at a corner are joined, too. */
static void
join_rows(struct label *l, size_t earlier, uint32_t reach)
{
	const struct label_run *run = l->run;
	size_t a = l->row[earlier], b = l->row[l->rows];
	const size_t enda = l->row[earlier + 1], endb = l->nrun;

	while (a < enda && b < endb) {
		const struct label_run p = run[a], q = run[b];
		const bool next = p.to < q.to;

		if (p.from < (uint64_t)q.to + reach && q.from < (uint64_t)p.to + reach)
			join(l, (uint32_t)a, (uint32_t)b);
		a += next;
		b += !next;
	}
}

/* Joins the new row, row y of plane z, with each earlier row that it touches. */
static void
join_all(struct label *l)
{
	const size_t y = l->rows % l->h, z = l->rows / l->h;
	const int c = l->connectivity;
	const uint32_t near = c == 4 || c == 6 ? 0 : 1, corner = c == 26 ? 1 : 0;

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

/* --- rows --------------------------------------------------------------------------------------------------------------- */

/* Makes room for the runs of a row. */
static int
make_room(struct label *l, bool measured)
{
	const size_t n = l->nrun + l->w / 2 + 1;

	if (grow(&l->run, &l->room_run, n, sizeof *l->run) ||
	    grow(&l->up, &l->room_up, n, sizeof *l->up))
		return -ENOMEM;
	if (!measured)
		return 0;
	if (grow(&l->slot, &l->room_slot, n, sizeof *l->slot) ||
	    grow(&l->region, &l->room_region, l->nregion + l->w / 2 + 1, sizeof *l->region))
		return -ENOMEM;
	return 0;
}

/* Bit k of the result says whether v[k], which is 0 or 1, is 1. */
static uint64_t
gather_bits(const uint8_t *v)
{
	uint64_t bits = 0, eight;

	for (int k = 0; k < 64; k += 8) {
		memcpy(&eight, v + k, 8);
		bits |= (eight * 0x0102040810204080) >> 56 << k;
	}
	return bits;
}

/* Writes the columns at which chosen[i] changes; before the row and after it there is 0. Returns their number, an even one. */
static size_t
find_edges(const uint8_t *chosen, size_t w, uint32_t *edge)
{
	uint64_t last = 0;
	uint8_t rest[64];
	size_t n = 0;

	for (size_t i = 0; i < w; i += 64) {
		if (w - i < 64) {
			memset(rest, 0, sizeof rest);
			memcpy(rest, chosen + i, w - i);
		}
		const uint64_t bits = gather_bits(w - i < 64 ? rest : chosen + i);
		uint64_t change = bits ^ (bits << 1 | last);

		for (last = bits >> 63; change; change &= change - 1)
			edge[n++] = (uint32_t)i + (uint32_t)__builtin_ctzll(change);
	}
	if (last)
		edge[n++] = (uint32_t)w;
	return n;
}

/* Adds the values of the new row's runs to their components. */
static void
measure_row(struct label *l, const double *values)
{
	const size_t y = l->rows % l->h, z = l->rows / l->h;

	for (size_t i = l->row[l->rows]; i < l->nrun; i++) {
		const struct label_run *run = &l->run[i];
		const uint32_t root = find(l->up, (uint32_t)i);
		const size_t at[3] = {run->from, y, z};

		if (root == i) {
			l->slot[i] = take_region(l);
			region_begin(&l->region[l->slot[i]], at);
		}
		region_add(&l->region[l->slot[root]], at, run->to - run->from, values + run->from);
	}
}

int
label_row(struct label *l, const uint8_t *chosen, const double *values)
{
	if (l->nrun + l->w / 2 + 1 >= NONE)
		return -EOVERFLOW;
	if (make_room(l, values))
		return -ENOMEM;
	const size_t n = find_edges(chosen, l->w, &l->run[l->nrun].from) / 2;

	for (size_t i = 0; i < n; i++)
		l->up[l->nrun + i] = (uint32_t)(l->nrun + i);
	l->nrun += n;
	join_all(l);
	if (values)
		measure_row(l, values);
	l->row[++l->rows] = l->nrun;
	return 0;
}

int
label_parts(struct label *l, const uint32_t *part, const double *values)
{
	if (l->nrun + l->w >= NONE)
		return -EOVERFLOW;
	for (size_t i = 0, to; i < l->w; i = to) {
		for (to = i + 1; to < l->w && part[to] == part[i];)
			to++;
		if (!part[i])
			continue;
		if (make_room(l, values) ||
		    grow(&l->first, &l->room_first, part[i] + (size_t)1, sizeof *l->first))
			return -ENOMEM;
		if (part[i] > l->nfirst) {
			l->nfirst = part[i];
			l->first[part[i]] = (uint32_t)l->nrun;
		}
		l->run[l->nrun] = (struct label_run){(uint32_t)i, (uint32_t)to};
		l->up[l->nrun++] = l->first[part[i]];
	}
	if (values)
		measure_row(l, values);
	l->row[++l->rows] = l->nrun;
	return 0;
}

/* --- the end ------------------------------------------------------------------------------------------------------------- */

/* Sets sizes[root] to the number of samples of the component, for every root. Paths are those of the roots alone. */
static void
count_sizes(const struct label *l, uint64_t *sizes)
{
	for (size_t i = 0; i < l->nrun; i++)
		sizes[l->up[i]] += l->run[i].to - l->run[i].from;
}

int
label_close(struct label *l, uint64_t min_size)
{
	uint64_t *sizes = NULL;
	uint32_t n = 0;

	/* A path leads to lower indices, so what it leads to is finished. */
	for (size_t i = 0; i < l->nrun; i++)
		l->up[i] = l->up[l->up[i]];
	if (min_size > 1) {
		sizes = weir_calloc(l->nrun, sizeof *sizes);
		if (!sizes)
			return -ENOMEM;
		count_sizes(l, sizes);
	}
	/* A root comes first of its runs. Its label takes the place of its index. */
	for (size_t i = 0; i < l->nrun; i++) {
		if (l->up[i] != i)
			l->up[i] = l->up[l->up[i]];
		else if (sizes && sizes[i] < min_size)
			l->up[i] = 0;
		else {
			if (l->region)
				l->slot[n] = l->slot[i];
			l->up[i] = ++n;
		}
	}
	weir_free(sizes);
	l->n = n;
	return n > INT32_MAX ? -EOVERFLOW : 0;
}

const struct region *
label_region(const struct label *l, size_t i)
{
	return &l->region[l->slot[i]];
}

/* Writes v from labels[from] on, at least up to labels[to - 1], and at most LABEL_PAD samples more. */
static inline void
fill(int32_t *restrict labels, size_t from, size_t to, int32_t v)
{
	do {
		for (int k = 0; k < LABEL_PAD; k++)
			labels[from + (size_t)k] = v;
		from += LABEL_PAD;
	} while (from < to);
}

void
label_write(const struct label *l, size_t row, int32_t *labels)
{
	size_t at = 0;

	for (size_t i = l->row[row]; i < l->row[row + 1]; i++) {
		fill(labels, at, l->run[i].from, 0);
		fill(labels, l->run[i].from, l->run[i].to, (int32_t)l->up[i]);
		at = l->run[i].to;
	}
	fill(labels, at, l->w, 0);
}
