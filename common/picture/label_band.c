#include <string.h>

#include "common/base/cpu.h"
#include "common/picture/label_inside.h"

static const uint64_t *
bits_of(const struct label *l, size_t row)
{
	return l->bits + row % l->ring * l->words;
}

/* --- labels ------------------------------------------------------------------------------------------------------------- */

/* Gives the labels of the band or row above to those runs of the new band that touch its runs. */
static void
join_bands(struct label *l, size_t top, struct bitrow_rows band, uint32_t *to)
{
	const struct label_runs *before = &l->row[top - 1];
	const struct bitrow_rows above = {bits_of(l, before->n == LABEL_LOW ? top - 2 : top - 1),
					  bits_of(l, top - 1)};
	const size_t n = bitrow_meet_bands(above, band, l->words, l->pair);
	const uint32_t *from = before->label;

	for (size_t k = 0; k < n; k++) {
		const uint32_t root = label_find(l->up, from[l->pair[k].i]), old = to[l->pair[k].j];

		to[l->pair[k].j] = old < root ? old : root;
		if (old != LABEL_NONE && old != root) {
			const uint32_t other = label_find(l->up, old);

			l->up[root > other ? root : other] = root < other ? root : other;
		}
	}
}

/*
 * Gives the n runs of a band that have none new labels. A run without samples in the upper row comes after those with them,
 * because labels are in the order of first samples.
 */
static void
begin_labels(struct label *l, uint32_t *label, size_t n, const uint32_t *lower, size_t nlower)
{
	for (size_t k = 0; k < nlower; k++)
		label[lower[k]] = 0;
	/* A branch on noise would be taken at random. */
	for (size_t i = 0; i < n; i++) {
		const bool new = label[i] == LABEL_NONE;

		l->up[l->nlabel] = (uint32_t)l->nlabel;
		label[i] = new ? (uint32_t)l->nlabel : label[i];
		l->nlabel += new;
	}
	for (size_t k = 0; k < nlower; k++) {
		l->up[l->nlabel] = (uint32_t)l->nlabel;
		label[lower[k]] = (uint32_t)l->nlabel++;
	}
}

int
label_band_row(struct label *l)
{
	const size_t most = l->w / 2 + 1, y = l->rows++, top = y - 1, size = 2 * l->words;

	l->waits = !l->waits;
	if (l->waits)
		return 0;
	const int r = label_make_room(l, 2 * size + most, most);

	if (r)
		return r;
	const struct bitrow_rows rows = {bits_of(l, top), bits_of(l, y)};
	const struct bitrow_band b = bitrow_lower(rows, l->words, l->lower);
	uint32_t *bits = l->block->data + l->block->used, *label = bits + 2 * size;

	memcpy(bits, rows.top, size * sizeof *bits);
	memcpy(bits + size, rows.low, size * sizeof *bits);
	memset(label, 0xff, b.runs * sizeof *label);
	l->block->used += 2 * size + b.runs;
	if (top)
		join_bands(l, top, rows, label);
	begin_labels(l, label, b.runs, l->lower, b.lower);
	l->row[top] = (struct label_runs){bits, label, LABEL_TOP};
	l->row[y] = (struct label_runs){bits, label, LABEL_LOW};
	l->dense = b.row_runs > 2 * l->words;
	return 0;
}

const uint32_t *
label_band_last(struct label *l)
{
	const size_t low = l->rows - 1;
	const struct bitrow_rows rows = {bits_of(l, low - 1), bits_of(l, low)};

	bitrow_pick(rows, l->words, l->row[low].label, l->lower);
	return l->lower;
}

/* --- the end ------------------------------------------------------------------------------------------------------------ */

/*
 * Writes the up of each run of a row's band to all samples of the run, and anything to others, unless that was done last.
 * Returns the bits of the row.
 */
static const uint64_t *
paint_band(struct label *l, size_t row)
{
	const uint32_t *label = l->row[row].label;
	const size_t words = l->words;
	const uint64_t *of_row = l->row[row].n == LABEL_LOW ? l->bits + words : l->bits;
	uint64_t last = 0;
	size_t from = 0;
	int32_t v = 0;

	if (l->painted_band == label)
		return of_row;
	l->painted_band = label;
	memcpy(l->bits, l->row[row].edge, 2 * words * sizeof *l->bits);
	for (size_t k = 0; k < words; k++) {
		const uint64_t any = l->bits[k] | l->bits[words + k];
		uint64_t first = any & ~(any << 1 | last);

		for (; first; first &= first - 1) {
			const size_t at = 64 * k + (size_t)__builtin_ctzll(first);

			label_fill(l->painted, from, at, v);
			v = (int32_t)l->up[*label++];
			from = at;
		}
		last = any >> 63;
	}
	label_fill(l->painted, from, l->w, v);
	return of_row;
}

void
label_band_sizes(struct label *l, size_t row, uint64_t *sizes)
{
	uint32_t *edge = l->lower;
	const size_t n = bitrow_edges(paint_band(l, row), l->words, edge);

	for (size_t i = 0; i < n; i += 2)
		sizes[(uint32_t)l->painted[edge[i]]] += edge[i + 1] - edge[i];
}

WEIR_CLONES(select_labels,
	    (int32_t *restrict labels, const int32_t *restrict painted,
	     const uint64_t *restrict bits, size_t w),
	    (labels, painted, bits, w))
{
	for (size_t i = 0; i < w; i += 32) {
		const uint32_t half = (uint32_t)(bits[i / 64] >> i % 64);

		for (uint32_t k = 0; k < 32; k++)
			labels[i + k] = half >> k & 1 ? painted[i + k] : 0;
	}
}

void
label_band_write(struct label *l, size_t row, int32_t *labels)
{
	select_labels(labels, l->painted, paint_band(l, row), l->w);
}
