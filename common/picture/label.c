#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/roots.h"
#include "common/picture/label.h"

/* A band is two neighbouring rows. Its runs are those of their union. A single row is a band, too: both are that row. */
struct bitrow_rows {
	const uint64_t *top, *low;
};

/* How many runs a band has, how many of these have no sample in the upper row, and how many runs its rows have. */
struct bitrow_band {
	size_t runs, lower, row_runs;
};

/* The label of a run that has none yet. */
#define LABEL_NONE UINT32_MAX

/* Runs stay where they are, so that no row is copied when more come. */
struct label_block {
	struct label_block *older; /* owned */
	size_t used, room;	   /* of data */
	uint32_t data[];
};

/* Writes v from labels[from] on, at least up to labels[to - 1], and at most LABEL_STEP samples more. */
enum { LABEL_STEP = 16 };
static inline void
label_fill(int32_t *restrict labels, size_t from, size_t to, int32_t v)
{
	do {
		for (int k = 0; k < LABEL_STEP; k++)
			labels[from + (size_t)k] = v;
		from += LABEL_STEP;
	} while (from < to);
}

/* ---- measures ---- */

/* Of equal peaks, the first one in the order of rows counts. */
static void
raise_peak(struct region *g, double v, const size_t at[3])
{
	const size_t *was = g->top;
	const bool before = at[2] != was[2]   ? at[2] < was[2]
			    : at[1] != was[1] ? at[1] < was[1]
					      : at[0] < was[0];

	if (v > g->peak || (v == g->peak && before)) {
		g->peak = v;
		memcpy(g->top, at, sizeof g->top);
	}
}

/* Adds a run along x whose first sample lies at d: its sums of v, v x and v x^2 from there. */
static void
moments_add(struct moments *g, const double d[3], double s0, double s1, double s2)
{
	g->s += s0;
	g->m[0] += s1;
	for (int k = 0; k < 3; k++)
		g->m[k] += d[k] * s0;
	g->q[0] += s2 + 2 * d[0] * s1 + d[0] * d[0] * s0;
	g->q[1] += d[1] * d[1] * s0;
	g->q[2] += d[2] * d[2] * s0;
	g->q[3] += d[1] * (s1 + d[0] * s0);
	g->q[4] += d[2] * (s1 + d[0] * s0);
	g->q[5] += d[1] * d[2] * s0;
}

/* Adds b, whose first sample lies at d. */
static void
moments_merge(struct moments *a, const struct moments *b, const double d[3])
{
	static const int of[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

	for (int k = 0; k < 6; k++) {
		const int i = of[k][0], j = of[k][1];
		a->q[k] += b->q[k] + d[i] * b->m[j] + d[j] * b->m[i] + d[i] * d[j] * b->s;
	}
	for (int k = 0; k < 3; k++)
		a->m[k] += b->m[k] + d[k] * b->s;
	a->s += b->s;
}

/* Adds samples of this number, sum and sum of squares about their mean, before they are counted in size and light. */
static void
add_squares(struct region *g, double n, double sum, double squares)
{
	const double size = (double)g->size, apart = size > 0 ? sum / n - g->light.s / size : 0;

	g->squares += squares + apart * apart * size * n / (size + n);
}

/* Adds a run of n samples along x, the first of which lies at x y z. values are those of the run. */
static void
region_add(struct region *g, const size_t at[3], size_t n, const double *values)
{
	const double len = (double)n;
	double d[3], s0 = 0, s1 = 0, s2 = 0, t1 = 0, t2 = 0, peak = -INFINITY;
	size_t top = 0;

	for (size_t i = 0; i < n; i++) {
		const double v = values[i], x = (double)i, t = v - values[0];
		s0 += v;
		s1 += v * x;
		s2 += v * x * x;
		t1 += t;
		t2 += t * t;
		g->least = v < g->least ? v : g->least;
		if (v > peak) {
			peak = v;
			top = i;
		}
	}
	for (int k = 0; k < 3; k++) {
		d[k] = (double)at[k] - (double)g->first[k];
		g->lo[k] = at[k] < g->lo[k] ? at[k] : g->lo[k];
		g->hi[k] = at[k] > g->hi[k] ? at[k] : g->hi[k];
	}
	g->hi[0] = at[0] + n - 1 > g->hi[0] ? at[0] + n - 1 : g->hi[0];
	add_squares(g, len, s0, t2 - t1 * t1 / len);
	moments_add(&g->shape, d, len, len * (len - 1) / 2, len * (len - 1) * (2 * len - 1) / 6);
	moments_add(&g->light, d, s0, s1, s2);
	g->size += n;
	raise_peak(g, peak, (size_t[3]){at[0] + top, at[1], at[2]});
}

/* Adds the samples of region b to region a. */
static void
region_merge(struct region *a, const struct region *b)
{
	double d[3];

	for (int k = 0; k < 3; k++) {
		d[k] = (double)b->first[k] - (double)a->first[k];
		a->lo[k] = b->lo[k] < a->lo[k] ? b->lo[k] : a->lo[k];
		a->hi[k] = b->hi[k] > a->hi[k] ? b->hi[k] : a->hi[k];
	}
	add_squares(a, (double)b->size, b->light.s, b->squares);
	moments_merge(&a->shape, &b->shape, d);
	moments_merge(&a->light, &b->light, d);
	a->size += b->size;
	a->least = b->least < a->least ? b->least : a->least;
	raise_peak(a, b->peak, b->top);
}

bool
region_touches(const struct region *g, const struct label *l)
{
	const size_t n[3] = {l->w, l->h, l->depth};
	bool touches = false;

	for (int k = 0; k < 3; k++)
		touches |= n[k] > 1 && (!g->lo[k] || g->hi[k] == n[k] - 1);
	return touches;
}

/* ---- rows of bits ---- */

/*
 * Sample i of a row is bit i % 64 of word i / 64. A row of w samples has w / 64 + 1 words; the bits behind the last sample
 * are 0. A run is a longest sequence of ones. Runs are numbered from 0, from left to right.
 */

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

/* Sets the bits of w samples, each 0 or 1. */
static void
bitrow_pack(const uint8_t *chosen, size_t w, uint64_t *bits)
{
	uint8_t rest[64] = {0};

	for (size_t i = 0; i < w / 64; i++)
		bits[i] = gather_bits(chosen + 64 * i);
	memcpy(rest, chosen + w / 64 * 64, w % 64);
	bits[w / 64] = gather_bits(rest);
}

/* Writes where runs begin and where they have ended, in ascending order. Returns how many places these are, an even number. */
static size_t
bitrow_edges(const uint64_t *bits, size_t words, uint32_t *edge)
{
	uint64_t last = 0;
	size_t n = 0;

	for (size_t i = 0; i < words; i++) {
		uint64_t change = bits[i] ^ (bits[i] << 1 | last);
		for (last = bits[i] >> 63; change; change &= change - 1)
			edge[n++] = (uint32_t)(64 * i) + (uint32_t)__builtin_ctzll(change);
	}
	return n;
}

/*
 * Writes a pair for each bit of `meet`: the last runs that begin at it or before it in a word, numbered from i and j. Returns
 * how many.
 */
static inline size_t
put_pairs(uint64_t meet, uint64_t firsta, uint64_t firstb, uint32_t i, uint32_t j,
	  struct bitrow_pair *pair)
{
	size_t n = 0;

	for (; meet; meet &= meet - 1) {
		const uint64_t upto = meet ^ (meet - 1);
		pair[n].i = i + (uint32_t)__builtin_popcountll(firsta & upto) - 1;
		pair[n++].j = j + (uint32_t)__builtin_popcountll(firstb & upto) - 1;
	}
	return n;
}

/*
 * Finds the runs of rows a and b that have a column in common or, with corner, columns beside each other. The later of two
 * such runs begins where the other is. Returns the number of pairs, at most that of the runs of both rows.
 */
WEIR_CLONES_OF(size_t, bitrow_meet,
	       (const uint64_t *a, const uint64_t *b, size_t words, bool corner,
		struct bitrow_pair *pair),
	       (a, b, words, corner, pair))
{
	const uint64_t wide = corner ? UINT64_MAX : 0;
	uint64_t lasta = 0, lastb = 0;
	uint32_t i = 0, j = 0; /* runs that begin in the words before */
	size_t n = 0;

	for (size_t k = 0; k < words; k++) {
		const uint64_t nexta = a[k] << 1 | lasta, nextb = b[k] << 1 | lastb;
		const uint64_t firsta = a[k] & ~nexta, firstb = b[k] & ~nextb;
		const uint64_t meet =
		    (firsta & (b[k] | (nextb & wide))) | (firstb & (a[k] | (nexta & wide)));
		n += put_pairs(meet, firsta, firstb, i, j, pair + n);
		i += (uint32_t)__builtin_popcountll(firsta);
		j += (uint32_t)__builtin_popcountll(firstb);
		lasta = a[k] >> 63;
		lastb = b[k] >> 63;
	}
	return n;
}

/* The first bit of `of` at or behind each bit of `begin` and before the next one. Carries pass through zeros of `of`. */
static inline uint64_t
find_first(uint64_t of, uint64_t begin, bool *carry)
{
	uint64_t sum;
	bool over = __builtin_add_overflow(~of, begin & ~of, &sum);

	over |= __builtin_add_overflow(sum, (uint64_t)*carry, &sum);
	*carry = over;
	return (sum | begin) & of;
}

/*
 * Finds the runs of band a that touch runs of the band b below it, by sides or corners. Returns the number of pairs, at most
 * that of the runs of both bands. A pair is found once, and pairs come in ascending order.
 */
WEIR_CLONES_OF(size_t, bitrow_meet_bands,
	       (struct bitrow_rows a, struct bitrow_rows b, size_t words, struct bitrow_pair *pair),
	       (a, b, words, pair))
{
	uint64_t lasta = 0, lastb = 0, lastlow = 0, lasttop = 0;
	uint32_t i = 0, j = 0; /* runs that begin in the words before */
	bool carry = false;
	size_t n = 0;

	for (size_t k = 0; k < words; k++) {
		const uint64_t low = a.low[k], top = b.top[k], anya = a.top[k] | low,
			       anyb = top | b.low[k];
		const uint64_t firsta = anya & ~(anya << 1 | lasta),
			       firstb = anyb & ~(anyb << 1 | lastb);
		const uint64_t touch =
		    (low & (top | top << 1 | lasttop)) | ((low << 1 | lastlow) & top);
		/* In smooth pictures, no run begins in most words. */
		if (firsta | firstb || carry) {
			const uint64_t meet = find_first(touch, firsta | firstb, &carry);
			n += put_pairs(meet, firsta, firstb, i, j, pair + n);
			i += (uint32_t)__builtin_popcountll(firsta);
			j += (uint32_t)__builtin_popcountll(firstb);
		}
		lasta = anya >> 63;
		lastb = anyb >> 63;
		lastlow = low >> 63;
		lasttop = top >> 63;
	}
	return n;
}

/* Counts the runs of a band, and writes the numbers of those that have no sample in its upper row, in ascending order. */
WEIR_CLONES_OF(struct bitrow_band, bitrow_lower,
	       (struct bitrow_rows band, size_t words, uint32_t *lower), (band, words, lower))
{
	struct bitrow_band b = {0};
	uint64_t last = 0, lasttop = 0, lastlow = 0;
	bool carry = false;

	for (size_t k = 0; k < words; k++) {
		const uint64_t top = band.top[k], low = band.low[k], any = top | low,
			       next = any << 1 | last, end = next & ~any,
			       edges = (top ^ (top << 1 | lasttop)) | (low ^ (low << 1 | lastlow));
		/* In smooth pictures, no run begins or ends in most words. */
		if (edges) {
			uint64_t found = find_first(~any | top, any & ~next, &carry) & end;
			for (; found; found &= found - 1)
				lower[b.lower++] =
				    (uint32_t)b.runs +
				    (uint32_t)__builtin_popcountll(end & (found ^ (found - 1))) - 1;
			b.runs += (size_t)__builtin_popcountll(end);
			b.row_runs += (size_t)__builtin_popcountll(top & ~(top << 1 | lasttop)) +
				      (size_t)__builtin_popcountll(low & ~(low << 1 | lastlow));
			last = any >> 63;
			lasttop = top >> 63;
			lastlow = low >> 63;
		}
	}
	return b;
}

/* Writes the label of the band's run for each run of its lower row. */
static void
bitrow_pick(struct bitrow_rows band, size_t words, const uint32_t *label, uint32_t *of_low)
{
	uint64_t last = 0, lastany = 0;

	for (size_t k = 0; k < words; k++) {
		const uint64_t low = band.low[k], any = band.top[k] | low,
			       firstany = any & ~(any << 1 | lastany);
		uint64_t first = low & ~(low << 1 | last);
		for (; first; first &= first - 1) {
			const uint64_t upto = first ^ (first - 1);
			*of_low++ = label[__builtin_popcountll(firstany & upto) - 1];
		}
		label += __builtin_popcountll(firstany);
		last = low >> 63;
		lastany = any >> 63;
	}
}

/* ---- labels ---- */

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
	weir_free_all(l->row, l->bits, l->pair, l->lower, l->painted);
	weir_free_all(l->up, l->slot, l->region, l->name, l->found);
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

/*
 * Makes room for n more numbers in the newest block, and for `more` labels and, where measured, their regions. Returns 0, -ENOMEM or
 * -EOVERFLOW.
 */
static int
make_room(struct label *l, size_t n, size_t more, bool measured)
{
	const size_t labels = l->nlabel + more;

	if (labels >= LABEL_NONE)
		return -EOVERFLOW;
	if (make_block(l, n) || grow(&l->up, &l->room_up, labels, sizeof *l->up))
		return -ENOMEM;
	if (measured && (grow(&l->slot, &l->room_slot, labels, sizeof *l->slot) ||
			 grow(&l->region, &l->room_region, l->nregion + more, sizeof *l->region)))
		return -ENOMEM;
	return 0;
}

/* --- union and find --------------------------------------------------------------------------------------------------- */

/* Joins the components of root a and label b. The lower root stays, so that a root is the label of a first run. */
static void
join(struct label *l, uint32_t a, uint32_t b)
{
	b = roots_find(l->up, b);
	if (l->region && a != b) {
		const uint32_t s = l->slot[a < b ? b : a]; /* no root has it from now on */
		region_merge(&l->region[l->slot[a < b ? a : b]], &l->region[s]);
		l->region[s].size = l->spare;
		l->spare = s;
	}
	roots_join(l->up, a, b);
}

/* Of n pairs of runs that touch, the later run gets the lesser of its label and the root of the earlier one's; they are joined. */
static void
join_pairs(struct label *l, size_t n, const uint32_t *from, uint32_t *to)
{
	for (size_t k = 0; k < n; k++) {
		const uint32_t root = roots_find(l->up, from[l->pair[k].i]), old = to[l->pair[k].j];
		to[l->pair[k].j] = old < root ? old : root;
		if (old != LABEL_NONE && old != root)
			join(l, root, old);
	}
}

/*
 * Gives the n runs of a row or band that have none new labels. A run of a band without samples in the upper row comes after those
 * with them, because labels are in the order of first samples.
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

/* --- bands -------------------------------------------------------------------------------------------------------------- */

/*
 * Where rows of a picture have many runs, two are labelled at once, as a band. With 8 neighbours, the runs of a band are those
 * of the union of its rows, because samples in neighbouring columns of a band touch. There are fewer of them than of the runs
 * of both rows, and of pairs that touch. A band keeps the bits of its rows and a label for each of its runs.
 *
 * label_band_row() takes a row whose bits are in l->bits: the upper one of a band, or the lower one if an upper one waits. It
 * returns 0, -ENOMEM or -EOVERFLOW.
 */
#define LABEL_TOP SIZE_MAX	 /* what stands for the number of runs of a band's upper row */
#define LABEL_LOW (SIZE_MAX - 1) /* of its lower row */

static const uint64_t *
bits_of(const struct label *l, size_t row)
{
	return l->bits + row % l->ring * l->words;
}

static int
label_band_row(struct label *l)
{
	const size_t most = l->w / 2 + 1, y = l->rows++, top = y - 1, size = 2 * l->words;

	l->waits = !l->waits;
	if (l->waits)
		return 0;
	const int r = make_room(l, 2 * size + most, most, false);

	if (r)
		return r;
	const struct bitrow_rows rows = {bits_of(l, top), bits_of(l, y)};
	const struct bitrow_band b = bitrow_lower(rows, l->words, l->lower);
	uint32_t *bits = l->block->data + l->block->used, *label = bits + 2 * size;

	memcpy(bits, rows.top, size * sizeof *bits);
	memcpy(bits + size, rows.low, size * sizeof *bits);
	memset(label, 0xff, b.runs * sizeof *label);
	l->block->used += 2 * size + b.runs;
	if (top) { /* runs that touch those of the band or row above get their labels */
		const struct label_runs *before = &l->row[top - 1];
		const struct bitrow_rows above = {
		    bits_of(l, before->n == LABEL_LOW ? top - 2 : top - 1), bits_of(l, top - 1)};

		join_pairs(l, bitrow_meet_bands(above, rows, l->words, l->pair), before->label,
			   label);
	}
	begin_labels(l, label, b.runs, l->lower, b.lower);
	l->row[top] = (struct label_runs){bits, label, LABEL_TOP};
	l->row[y] = (struct label_runs){bits, label, LABEL_LOW};
	l->dense = b.row_runs > 2 * l->words;
	return 0;
}

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

/* Gives the labels of an earlier row to the runs of the new row that touch its runs. */
static void
join_rows(struct label *l, size_t earlier, bool corner)
{
	const uint64_t *a = bits_of(l, earlier), *b = bits_of(l, l->rows);
	const uint32_t *from = l->row[earlier].label;

	if (l->row[earlier].n == LABEL_LOW) { /* the last row, which ends a band */
		bitrow_pick((struct bitrow_rows){bits_of(l, earlier - 1), a}, l->words, from,
			    l->lower);
		from = l->lower;
	}
	join_pairs(l, bitrow_meet(a, b, l->words, corner, l->pair), from, l->row[l->rows].label);
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
			       root = roots_find(l->up, row->label[i]);
		const size_t at[3] = {from, y, z};
		if (root == old) {
			const uint32_t s =
			    l->spare == LABEL_NONE ? (uint32_t)l->nregion++ : l->spare;
			struct region *g = &l->region[s];
			l->spare = s == l->spare ? (uint32_t)g->size : LABEL_NONE;
			l->slot[old++] = s;
			*g = (struct region){.peak = -INFINITY, .least = INFINITY};
			for (int k = 0; k < 3; k++)
				g->lo[k] = g->hi[k] = g->first[k] = g->top[k] = at[k];
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
	const int r = make_room(l, 3 * most, most, values);

	if (r)
		return r;
	const size_t edges = bitrow_edges(bits, l->words, l->block->data + l->block->used);
	const struct label_runs *row = take_row(l, edges / 2);

	memset(row->label, 0xff, row->n * sizeof *row->label);
	join_all(l);
	begin_labels(l, row->label, row->n, NULL, 0);
	if (values)
		measure_row(l, row, old, values);
	l->dense = row->n > l->words && l->depth == 1 && l->connectivity == 8 && !values;
	l->rows++;
	return 0;
}

/* Where the table of names has the label of this number, plus 1, or 0 where it can be put. */
static uint32_t *
find_name(const struct label *l, uint32_t number)
{
	size_t at = number * (size_t)0x9e3779b97f4a7c15 >> 20 & (l->room_found - 1);

	while (l->found[at] && l->name[l->found[at] - 1] != number)
		at = (at + 1) & (l->room_found - 1);
	return &l->found[at];
}

/* Makes room for the names of `more` new labels. The table of names is a power of two, and half of it is empty. */
static int
make_names(struct label *l, size_t more)
{
	const size_t need = l->nlabel + more;

	if (grow(&l->name, &l->room_name, need, sizeof *l->name))
		return -ENOMEM;
	if (l->room_found >= 2 * need)
		return 0;
	free(l->found);
	for (l->room_found = 1024; l->room_found < 4 * need;)
		l->room_found *= 2;
	l->found = calloc(l->room_found, sizeof *l->found);
	for (uint32_t k = 0; l->found && k < l->nlabel; k++)
		*find_name(l, l->name[k]) = k + 1;
	return l->found ? 0 : -ENOMEM;
}

int
label_parts(struct label *l, const uint32_t *part, const double *values)
{
	const size_t old = l->nlabel;
	size_t n = 0, runs = 0;

	for (size_t i = 0; i < l->w; i++)
		runs += part[i] && (!i || part[i] != part[i - 1]);
	const int r = make_room(l, 3 * runs, runs, values);

	if (r || make_names(l, runs))
		return r ? r : -ENOMEM;
	struct label_runs *row = take_row(l, runs);

	for (size_t i = 0, to; i < l->w; i = to) {
		for (to = i + 1; to < l->w && part[to] == part[i];)
			to++;
		if (!part[i])
			continue;
		uint32_t *found = find_name(l, part[i]);

		if (!*found) {
			l->name[l->nlabel] = part[i];
			l->up[l->nlabel] = (uint32_t)l->nlabel;
			*found = (uint32_t)++l->nlabel;
		}
		row->edge[2 * n] = (uint32_t)i;
		row->edge[2 * n + 1] = (uint32_t)to;
		row->label[n++] = *found - 1;
	}
	if (values)
		measure_row(l, row, old, values);
	l->rows++;
	return 0;
}

/* --- the end ------------------------------------------------------------------------------------------------------------- */

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
		for (size_t y = 0; y < l->rows; y++) {
			const struct label_runs *row = &l->row[y];
			const bool band = row->n >= LABEL_LOW;
			const size_t edges =
			    band ? bitrow_edges(paint_band(l, y), l->words, l->lower) : 0;
			const uint32_t *edge = l->lower;
			for (size_t i = 0; i < edges; i += 2)
				sizes[(uint32_t)l->painted[edge[i]]] += edge[i + 1] - edge[i];
			edge = row->edge;
			for (size_t i = 0; !band && i < row->n; i++)
				sizes[l->up[row->label[i]]] += edge[2 * i + 1] - edge[2 * i];
		}
		l->painted_band = NULL;
	}
	/* A root comes before its labels. Its number takes the place of its label. */
	for (size_t i = 0; i < l->nlabel; i++) {
		if (l->up[i] != i)
			l->up[i] = l->up[l->up[i]];
		else if ((sizes && sizes[i] < min_size) ||
			 (l->inside && region_touches(&l->region[l->slot[i]], l)))
			l->up[i] = 0;
		else {
			if (l->region)
				l->slot[n] = l->slot[i];
			if (l->name)
				l->name[n] = l->name[i];
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
		select_labels(labels, l->painted, paint_band(l, row), l->w);
		return;
	}
	for (size_t i = 0; i < r->n; i++) {
		label_fill(labels, at, r->edge[2 * i], 0);
		label_fill(labels, r->edge[2 * i], r->edge[2 * i + 1], (int32_t)l->up[r->label[i]]);
		at = r->edge[2 * i + 1];
	}
	label_fill(labels, at, l->w, 0);
}

int32_t *
label_map(struct label *l, bool volume)
{
	const size_t pad = volume;
	size_t plane, n;
	int32_t *row = weir_alloc(l->w + LABEL_PAD, sizeof *row), *map = NULL;

	if (weir_mul(l->w + 2, l->h + 2, &plane) && weir_mul(plane, l->depth + 2 * pad, &n))
		map = weir_calloc(n, sizeof *map);
	for (size_t y = 0; row && map && y < l->rows; y++) {
		label_write(l, y, row);
		memcpy(map + (y / l->h + pad) * plane + (y % l->h + 1) * (l->w + 2) + 1, row,
		       l->w * sizeof *row);
	}
	if (!row) {
		weir_free(map);
		map = NULL;
	}
	weir_free(row);
	return map;
}
