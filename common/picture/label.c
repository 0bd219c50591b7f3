#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/picture/bitrow.h"
#include "common/picture/label_inside.h"

/* --- memory ------------------------------------------------------------------------------------------------------------- */

/* Makes room for n more numbers in the newest block, or begins one that is twice as large, up to 4 MiB or one row. */
static int
make_block(struct label *l, size_t n)
{
	const size_t least = 4096 - 64, most = (4 << 20) / 4 - 64;
	struct label_block *b = l->block;

	if (b && b->room - b->used >= n)
		return 0;
	size_t room = b ? 2 * b->room : least;

	room = room < most ? room : most;
	room = room > n ? room : n;
	b = weir_alloc_large(room + sizeof *b / 4, 4);
	if (!b)
		return -ENOMEM;
	*b = (struct label_block){.older = l->block, .room = room};
	l->block = b;
	return 0;
}

int
label_open(struct label *l, size_t w, size_t h, size_t depth, int connectivity)
{
	size_t rows, bits;

	*l = (struct label){
	    .w = w, .h = h, .depth = depth, .connectivity = connectivity, .spare = LABEL_NONE};
	l->words = w / 64 + 1;
	l->ring = depth > 1 ? h + 2 : 4;
	if (!weir_mul(h, depth, &rows) || !weir_mul(l->ring, l->words, &bits))
		return -ENOMEM;
	l->row = weir_alloc(rows, sizeof *l->row);
	l->bits = weir_alloc(bits, sizeof *l->bits);
	l->pair = weir_alloc(w + 2, sizeof *l->pair);
	l->lower = weir_alloc(w + 2, sizeof *l->lower);
	l->painted = weir_calloc(w + LABEL_PAD, sizeof *l->painted);
	return l->row && l->bits && l->pair && l->lower && l->painted ? 0 : -ENOMEM;
}

void
label_free(struct label *l)
{
	while (l->block) {
		struct label_block *older = l->block->older;

		weir_free(l->block);
		l->block = older;
	}
	weir_free(l->row);
	weir_free(l->bits);
	weir_free(l->pair);
	weir_free(l->lower);
	weir_free(l->painted);
	free(l->up);
	free(l->slot);
	free(l->region);
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

	if (s == LABEL_NONE)
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

/* Joins the components of two labels. The lower root stays, so that a root is the label of a first run. */
static void
join(struct label *l, uint32_t a, uint32_t b)
{
	b = label_find(l->up, b);
	if (a == b)
		return;
	const uint32_t low = a < b ? a : b, high = a < b ? b : a;

	l->up[high] = low;
	if (l->region)
		unite(l, low, high);
}

/* Gives the labels of an earlier row to the runs of the new row that touch its runs. */
static void
join_rows(struct label *l, size_t earlier, bool corner)
{
	const uint64_t *a = l->bits + earlier % l->ring * l->words,
		       *b = l->bits + l->rows % l->ring * l->words;
	const uint32_t *from =
	    l->row[earlier].n == LABEL_LOW ? label_band_last(l) : l->row[earlier].label;
	uint32_t *to = l->row[l->rows].label;
	const size_t n = bitrow_meet(a, b, l->words, corner, l->pair);

	for (size_t k = 0; k < n; k++) {
		const uint32_t root = label_find(l->up, from[l->pair[k].i]), old = to[l->pair[k].j];

		to[l->pair[k].j] = old < root ? old : root;
		if (old != LABEL_NONE && old != root)
			join(l, root, old);
	}
}

/* Joins the new row, row y of plane z, with each earlier row that it touches. */
static void
join_all(struct label *l)
{
	const size_t y = l->rows % l->h, z = l->rows / l->h;
	const int c = l->connectivity;
	const bool near = c != 4 && c != 6, corner = c == 26;

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

int
label_make_room(struct label *l, size_t n, size_t more)
{
	const size_t labels = l->nlabel + more;

	if (labels >= LABEL_NONE)
		return -EOVERFLOW;
	if (make_block(l, n) || grow(&l->up, &l->room_up, labels, sizeof *l->up))
		return -ENOMEM;
	return 0;
}

/* Makes room for a row of up to n runs, and for `more` labels. */
static int
make_room(struct label *l, size_t n, size_t more, bool measured)
{
	const int r = label_make_room(l, 3 * n, more);

	if (r)
		return r;
	if (measured && (grow(&l->slot, &l->room_slot, l->nlabel + more, sizeof *l->slot) ||
			 grow(&l->region, &l->room_region, l->nregion + more, sizeof *l->region)))
		return -ENOMEM;
	return 0;
}

/* Takes a row of n runs, whose edges have been written to the newest block. */
static struct label_runs *
take_row(struct label *l, size_t n)
{
	struct label_runs *row = &l->row[l->rows];

	row->edge = l->block->data + l->block->used;
	row->label = row->edge + 2 * n;
	row->n = n;
	l->block->used += 3 * n;
	return row;
}

/* Adds the values of the new row's runs to their components. Labels from `old` on are new. */
static void
measure_row(struct label *l, const struct label_runs *row, size_t old, const double *values)
{
	const size_t y = l->rows % l->h, z = l->rows / l->h;

	for (size_t i = 0; i < row->n; i++) {
		const uint32_t from = row->edge[2 * i], to = row->edge[2 * i + 1],
			       root = label_find(l->up, row->label[i]);
		const size_t at[3] = {from, y, z};

		if (root == old) {
			l->slot[old] = take_region(l);
			region_begin(&l->region[l->slot[old++]], at);
		}
		region_add(&l->region[l->slot[root]], at, to - from, values + from);
	}
}

int
label_row(struct label *l, const uint8_t *chosen, const double *values)
{
	const size_t most = l->w / 2 + 1, old = l->nlabel;
	uint64_t *bits = l->bits + l->rows % l->ring * l->words;

	bitrow_pack(chosen, l->w, bits);
	if (l->waits || (l->dense && l->rows + 1 < l->h))
		return label_band_row(l);
	const int r = make_room(l, most, most, values);

	if (r)
		return r;
	const size_t edges = bitrow_edges(bits, l->words, l->block->data + l->block->used);
	const struct label_runs *row = take_row(l, edges / 2);

	memset(row->label, 0xff, row->n * sizeof *row->label);
	join_all(l);
	/* A branch on noise would be taken at random. */
	for (size_t i = 0; i < row->n; i++) {
		const bool new = row->label[i] == LABEL_NONE;

		l->up[l->nlabel] = (uint32_t)l->nlabel;
		row->label[i] = new ? (uint32_t)l->nlabel : row->label[i];
		l->nlabel += new;
	}
	if (values)
		measure_row(l, row, old, values);
	l->dense = row->n > l->words && l->depth == 1 && l->connectivity == 8 && !values;
	l->rows++;
	return 0;
}

int
label_parts(struct label *l, const uint32_t *part, const double *values)
{
	const size_t old = l->nlabel;
	const int r = make_room(l, l->w, l->w, values);
	size_t n = 0;

	if (r)
		return r;
	uint32_t *edge = l->block->data + l->block->used;

	for (size_t i = 0, to; i < l->w; i = to) {
		for (to = i + 1; to < l->w && part[to] == part[i];)
			to++;
		if (!part[i])
			continue;
		edge[2 * n] = (uint32_t)i;
		edge[2 * n++ + 1] = (uint32_t)to;
		if (part[i] > l->nlabel) {
			l->up[l->nlabel] = part[i] - 1;
			l->nlabel++;
		}
	}
	const struct label_runs *row = take_row(l, n);

	for (size_t i = 0; i < n; i++)
		row->label[i] = part[row->edge[2 * i]] - 1;
	if (values)
		measure_row(l, row, old, values);
	l->rows++;
	return 0;
}

/* --- the end ------------------------------------------------------------------------------------------------------------- */

/* Adds the number of samples of each label to its root. Every label's up is its root. */
static void
count_sizes(struct label *l, uint64_t *sizes)
{
	for (size_t y = 0; y < l->rows; y++) {
		const struct label_runs *row = &l->row[y];

		if (row->n >= LABEL_LOW) {
			label_band_sizes(l, y, sizes);
			continue;
		}
		for (size_t i = 0; i < row->n; i++)
			sizes[l->up[row->label[i]]] += row->edge[2 * i + 1] - row->edge[2 * i];
	}
	l->painted_band = NULL;
}

int
label_close(struct label *l, uint64_t min_size)
{
	uint64_t *sizes = NULL;
	uint32_t n = 0;

	/* A path leads to lower labels, so what it leads to is finished. */
	for (size_t i = 0; i < l->nlabel; i++)
		l->up[i] = l->up[l->up[i]];
	if (min_size > 1) {
		sizes = weir_calloc(l->nlabel, sizeof *sizes);
		if (!sizes)
			return -ENOMEM;
		count_sizes(l, sizes);
	}
	/* A root comes before its labels. Its number takes the place of its label. */
	for (size_t i = 0; i < l->nlabel; i++) {
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

void
label_write(struct label *l, size_t row, int32_t *labels)
{
	const struct label_runs *r = &l->row[row];
	size_t at = 0;

	if (r->n >= LABEL_LOW) {
		label_band_write(l, row, labels);
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		label_fill(labels, at, r->edge[2 * i], 0);
		label_fill(labels, r->edge[2 * i], r->edge[2 * i + 1], (int32_t)l->up[r->label[i]]);
		at = r->edge[2 * i + 1];
	}
	label_fill(labels, at, l->w, 0);
}
