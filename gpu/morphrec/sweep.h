/* The sweeps over a tile, for tile.cu. */
#ifndef WEIR_GPU_MORPHREC_SWEEP_H
#define WEIR_GPU_MORPHREC_SWEEP_H

#include "gpu/morphrec/tile.h"

namespace
{

/* The set of batches in which a row has risen, of 32 rows from `first` on, counted from 0; rose: a bit for each row. */
__device__ unsigned
batches_of(unsigned rose, unsigned first)
{
	unsigned set = 0;

	for (unsigned b = 0; b < 32 / BATCH; b++)
		if (rose >> b * BATCH & ((1u << BATCH) - 1))
			set |= 2u << (first / BATCH + b);
	return set;
}

/* Raises the keys beside the rim's words, from these. Afterwards no sweep needs the words of the rim. Whether any rose. */
template <unsigned bits>
__device__ bool
enter_sides(tile<bits> &s, bool diagonals)
{
	typedef keys<bits> k;
	typedef typename k::word word;
	constexpr unsigned H = tile<bits>::H, last = k::per - 1;
	bool any = false;

	for (unsigned n = threadIdx.x; n < 2 * H; n += blockDim.x) {
		const bool right = n >= H;
		const unsigned r = n % H + 1, at = right ? TILE_WORDS : 1, b = right ? last : 0;
		const unsigned rim = right ? TILE_WORDS + 1 : 0, e = right ? 0 : last;
		const word w = s.J[r][at], have = k::key(w, b);
		word c = k::key(s.J[r][rim], e);
		if (diagonals)
			c = max(c, max(k::key(s.J[r - 1][rim], e), k::key(s.J[r + 1][rim], e)));
		c = min(c, k::key(s.I[r][at], b));
		if (c > have)
			s.J[r][at] = w ^ (have ^ c) << b * bits % 64;
		const unsigned rose = __ballot_sync(FULL, c > have);
		if (rose && n % 32 == 0)
			atomicOr(&s.rose, batches_of(rose, r - 1));
		any |= c > have;
	}
	return any;
}

/* Raises a batch of rows: first, first + step, .., each from the row before it, *c before the first. Whether any rose. */
template <unsigned bits, int step>
__device__ bool
sweep_batch(tile<bits> &s, held<bits> *c, unsigned first, bool diagonals)
{
	typedef typename keys<bits>::word word;
	const unsigned at = threadIdx.x % 32 + 1;
	word j[BATCH], i[BATCH], rose = 0;

#pragma unroll
	for (unsigned n = 0; n < BATCH; n++) {
		j[n] = s.J[first + (unsigned)step * n][at];
		i[n] = s.I[first + (unsigned)step * n][at];
	}
#pragma unroll
	for (unsigned n = 0; n < BATCH; n++) {
		*c = c->next(j[n], i[n], diagonals);
		const word fresh = c->close();
		rose |= fresh ^ j[n];
		s.J[first + (unsigned)step * n][at] = fresh;
	}
	return __any_sync(FULL, rose != 0);
}

/*
 * Sweeps half of all batches in their order, leaving out those with nothing new in them nor in the one before. owed: the batches
 * with something new; c: the row before the first, after turn 0 the last row. Returns the batches that have risen.
 */
template <unsigned bits, int step>
__device__ unsigned
sweep_half(tile<bits> &s, held<bits> *c, unsigned owed, unsigned turn, bool diagonals)
{
	constexpr unsigned HALF = tile<bits>::BATCHES / 2;
	const unsigned at = threadIdx.x % 32 + 1;
	unsigned raised = 0;
	bool known = true;

	for (unsigned n = turn * HALF; n < (turn + 1) * HALF; n++) {
		const unsigned b = step > 0 ? n : 2 * HALF - 1 - n;
		const unsigned both = 2u << b | (step > 0 ? 1u : 4u)
						    << b; /* it and the one before */
		const unsigned first = step > 0 ? b * BATCH + 1 : (b + 1) * BATCH;
		const bool skip = !((owed | raised) & both);
		if (!known && !skip)
			*c = held<bits>::open(s.J[first - (unsigned)step][at]);
		known = !skip;
		if (skip)
			continue;
		if (diagonals ? sweep_batch<bits, step>(s, c, first, true)
			      : sweep_batch<bits, step>(s, c, first, false))
			raised |= 2u << b;
	}
	if (turn == 0 && !known)
		*c = held<bits>::open(s.J[HALF * BATCH + (step < 0)][at]);
	return raised;
}

/* The same, of the columns' warp that goes up or down. */
template <unsigned bits>
__device__ unsigned
sweep_turn(tile<bits> &s, held<bits> *c, unsigned owed, unsigned turn, bool up, bool diagonals)
{
	const unsigned raised = up ? sweep_half<bits, -1>(s, c, owed, turn, diagonals)
				   : sweep_half<bits, 1>(s, c, owed, turn, diagonals);

	if (threadIdx.x % 32 == 0)
		s.by_columns[turn][up] = raised;
	return raised;
}

/*
 * Sweeps all columns down and up: a warp each, half the rows in a turn, so that they never meet. Returns the batches that
 * have risen; all threads get them.
 */
template <unsigned bits>
__device__ unsigned
sweep_columns(tile<bits> &s, bool diagonals)
{
	/* Not the same two in every block: an SM has four schedulers, and each has its own warps. */
	const unsigned warp = (threadIdx.x / 32 + s.id) % (tile<bits>::THREADS / 32);
	const bool up = warp & 1, sweeps = warp < 2;
	held<bits> c = held<bits>::open(s.J[up ? tile<bits>::H + 1 : 0][threadIdx.x % 32 + 1]);
	/* Straight up and straight down again raises nothing. */
	unsigned owed = s.rose | (diagonals ? s.by_columns[1][!up] : 0);

	if (sweeps)
		owed |= sweep_turn(s, &c, owed, 0, up, diagonals);
	__syncthreads();
	if (threadIdx.x == 0)
		s.rose = 0;
	if (sweeps)
		sweep_turn(s, &c, owed | (diagonals ? s.by_columns[0][!up] : 0), 1, up, diagonals);
	__syncthreads();
	return s.by_columns[0][0] | s.by_columns[0][1] | s.by_columns[1][0] | s.by_columns[1][1];
}

/* Sweeps half the words of rows r and r + 32, to the right or back. c: the key before them, then the last of them. */
template <unsigned bits, bool back>
__device__ void
sweep_words(tile<bits> &s, unsigned r, unsigned first, typename keys<bits>::word *c,
	    typename keys<bits>::word *rose)
{
	typedef abreast<bits> rows;
	typedef typename keys<bits>::word word;
	constexpr unsigned EACH = 4, per = keys<bits>::per;

	for (unsigned n = 0; n < TILE_WORDS / 2; n += EACH) {
		const unsigned from = back ? first - n : first + n;
		word j[EACH][rows::rows], i[EACH][rows::rows];
#pragma unroll
		for (unsigned e = 0; e < EACH; e++)
#pragma unroll
			for (unsigned m = 0; m < rows::rows; m++) {
				j[e][m] = s.J[r + 32 * m][back ? from - e : from + e];
				i[e][m] = s.I[r + 32 * m][back ? from - e : from + e];
			}
#pragma unroll
		for (unsigned e = 0; e < EACH; e++) {
			word key[per], most[per], fresh[rows::rows];
			rows::take(key, j[e]);
			rows::take(most, i[e]);
#pragma unroll
			for (unsigned a = 0; a < per; a++) {
				const unsigned b = back ? per - 1 - a : a;
				*c = rows::k::smaller(most[b], rows::k::larger(key[b], *c));
				key[b] = *c;
			}
			rows::put(fresh, key);
#pragma unroll
			for (unsigned m = 0; m < rows::rows; m++) {
				s.J[r + 32 * m][back ? from - e : from + e] = fresh[m];
				rose[m] |= fresh[m] ^ j[e][m];
			}
		}
	}
}

/*
 * Sweeps the rows, those in `owed` and some beside them: half the threads to the right, half back, in two turns, so that they
 * never meet at a word. Adds to s.rose.
 */
template <unsigned bits>
__device__ void
sweep_all_rows(tile<bits> &s, unsigned owed)
{
	typedef typename keys<bits>::word word;
	constexpr unsigned HALF = TILE_WORDS / 2, rows = abreast<bits>::rows;
	const bool back = threadIdx.x >= tile<bits>::THREADS / 2;
	const unsigned i = threadIdx.x % (tile<bits>::THREADS / 2), lane = i % 32;
	const unsigned first = (i - lane) * rows; /* of the rows of this warp, counted from 0 */
	const unsigned own = ((1u << rows * 32 / BATCH) - 1) << (first / BATCH + 1);
	const unsigned r = first + lane + 1;
	word c = 0, rose[rows] = {};

	if (owed & own) {
		if (back)
			sweep_words<bits, true>(s, r, TILE_WORDS, &c, rose);
		else
			sweep_words<bits, false>(s, r, 1, &c, rose);
	}
	__syncthreads();
	if (!(owed & own))
		return;
	if (back)
		sweep_words<bits, true>(s, r, HALF, &c, rose);
	else
		sweep_words<bits, false>(s, r, HALF + 1, &c, rose);
	unsigned set = 0;
#pragma unroll
	for (unsigned m = 0; m < rows; m++)
		set |= batches_of(__ballot_sync(FULL, rose[m] != 0), first + 32 * m);
	if (set && lane == 0)
		atomicOr(&s.rose, set);
}

} // namespace

#endif
