/* A tile in shared memory and the sweeps over it, for tile.cu. */
#ifndef WEIR_GPU_MORPHREC_TILE_H
#define WEIR_GPU_MORPHREC_TILE_H

#include "gpu/morphrec/field.h"

namespace
{

constexpr unsigned PITCH = TILE_WORDS + 3, FULL = ~0u, STRIP = 16;

/* Neighbours of a tile along y and x. The first four share a side with it. */
constexpr unsigned SIDES = 4, NEIGHBOURS = 8;

template <unsigned bits> struct tile {
	typedef typename keys<bits>::word word;
	static constexpr unsigned H = keys<bits>::tile_h, THREADS = 2 * H;

	word J[H + 2][PITCH], I[H + 2][PITCH]; /* the rim: rows 0 and H+1, words 0 and 33 */
	unsigned owed[NEIGHBOURS + 1];	       /* ring + 1, or 0; [NEIGHBOURS]: the tile itself */
	bool by_columns[H / STRIP]; /* strips that the last sweep of columns has raised */
	bool by_rows[2][H / STRIP]; /* the same of rows, to the right and back */
	unsigned id, ring;
};

/* --- where a tile is --------------------------------------------------------------------------------------------- */

struct place {
	unsigned x, y;
	size_t z;
};

__device__ place
place_of(const field &f, unsigned id)
{
	return {id % f.tx, id / f.tx % f.ty, id / f.tx / f.ty};
}

__device__ unsigned
id_of(const field &f, const place &p)
{
	return (unsigned)((p.z * f.ty + p.y) * f.tx + p.x);
}

/* Returns the word of lane 0 in row r of the tile. Row 0 is the upper rim. */
template <unsigned bits>
__device__ size_t
word_at(const field &f, const place &p, unsigned r)
{
	return (p.z * f.slice + p.y * keys<bits>::tile_h + r) * f.pitch + PAD + p.x * TILE_WORDS;
}

template <unsigned bits>
__device__ void
load(tile<bits> &s, const field &f, const place &p)
{
	typedef typename keys<bits>::word word;
	const unsigned t = threadIdx.x, lane = t % 32, warps = blockDim.x / 32;
	const word *J = static_cast<const word *>(f.J), *I = static_cast<const word *>(f.I);

#pragma unroll 8
	for (unsigned r = t / 32; r < tile<bits>::H + 2; r += warps) {
		const size_t at = word_at<bits>(f, p, r) + lane;
		s.J[r][lane + 1] = __ldcg(J + at);
		s.I[r][lane + 1] = __ldg(I + at);
	}
	for (unsigned r = t; r < tile<bits>::H + 2; r += blockDim.x) {
		const size_t at = word_at<bits>(f, p, r);
		s.J[r][0] = __ldcg(J + at - 1);
		s.I[r][0] = __ldg(I + at - 1);
		s.J[r][TILE_WORDS + 1] = __ldcg(J + at + TILE_WORDS);
		s.I[r][TILE_WORDS + 1] = __ldg(I + at + TILE_WORDS);
	}
	if (t <= NEIGHBOURS)
		s.owed[t] = 0;
}

template <unsigned bits>
__device__ void
store(const tile<bits> &s, const field &f, const place &p)
{
	typedef typename keys<bits>::word word;
	const unsigned t = threadIdx.x, lane = t % 32, warps = blockDim.x / 32;

	for (unsigned r = t / 32 + 1; r <= tile<bits>::H; r += warps)
		__stcg(static_cast<word *>(f.J) + word_at<bits>(f, p, r) + lane, s.J[r][lane + 1]);
}

/* --- keys in registers ------------------------------------------------------------------------------------------- */

/* A word while rows are swept. */
template <unsigned bits> struct held {
	typedef keys<bits> k;
	typedef typename k::word word;
	word w;

	static __device__ held
	open(word w)
	{
		return {w};
	}
	__device__ word
	close() const
	{
		return w;
	}
	/* The largest of each key and its two neighbours in the row. edge: the word beyond lane 0 or 31, in these lanes. */
	__device__ held
	widen(word edge) const
	{
		const unsigned lane = threadIdx.x % 32;
		const word l = __shfl_up_sync(FULL, w, 1), r = __shfl_down_sync(FULL, w, 1);

		return {k::larger(w, k::larger(k::from_left(lane == 0 ? edge : l, w),
					       k::from_right(w, lane == 31 ? edge : r)))};
	}
	/* min(most, max(*this, least)) */
	__device__ held
	within(held least, held most) const
	{
		return {k::smaller(most.w, k::larger(w, least.w))};
	}
};

/* Four keys in two words of 16 bits each: sm_90 has instructions for pairs of 16 bits, but none for bytes. */
template <> struct held<8> {
	typedef keys<16> k;
	typedef unsigned word;
	unsigned even, odd;

	static __device__ held
	open(word w)
	{
		return {w & 0x00ff00ff, w >> 8 & 0x00ff00ff};
	}
	__device__ word
	close() const
	{
		return even | odd << 8;
	}
	__device__ held
	widen(word edge) const
	{
		const unsigned lane = threadIdx.x % 32, both = k::larger(even, odd);
		const held e = open(edge);
		const unsigned l = __shfl_up_sync(FULL, odd, 1),
			       r = __shfl_down_sync(FULL, even, 1);

		return {k::larger(both, k::from_left(lane == 0 ? e.odd : l, odd)),
			k::larger(both, k::from_right(even, lane == 31 ? e.even : r))};
	}
	__device__ held
	within(held least, held most) const
	{
		return {k::smaller(most.even, k::larger(even, least.even)),
			k::smaller(most.odd, k::larger(odd, least.odd))};
	}
};

/* --- sweeps -------------------------------------------------------------------------------------------------------- */

/* Raises the STRIP rows first, first + step, .. of a warp, each from the row before it. c is the row before the first. */
template <unsigned bits, int step>
__device__ bool
sweep_rows(tile<bits> &s, held<bits> c, unsigned first, bool diagonals)
{
	typedef typename keys<bits>::word word;
	constexpr unsigned EACH = 8;
	const unsigned lane = threadIdx.x % 32, at = lane + 1,
		       edge = lane == 0 ? 0 : TILE_WORDS + 1;
	bool changed = false;

	for (unsigned n = 0; n < STRIP; n += EACH) {
		const unsigned from = first + (unsigned)step * n;
		word j[EACH], i[EACH], beyond[EACH];
#pragma unroll
		for (unsigned e = 0; e < EACH; e++) {
			const unsigned r = from + (unsigned)step * e;
			j[e] = s.J[r][at];
			i[e] = s.I[r][at];
			beyond[e] = s.J[r - (unsigned)step][edge];
		}
#pragma unroll
		for (unsigned e = 0; e < EACH; e++) {
			if (diagonals)
				c = c.widen(beyond[e]);
			c = c.within(held<bits>::open(j[e]), held<bits>::open(i[e]));
			const word fresh = c.close();
			if (fresh != j[e]) {
				s.J[from + (unsigned)step * e][at] = fresh;
				changed = true;
			}
		}
	}
	return changed;
}

/* Whether a sweep has raised a key in the strip or beside it. */
template <unsigned bits>
__device__ bool
has_risen(const tile<bits> &s, unsigned strip)
{
	const unsigned last = min(strip + 1, tile<bits>::H / STRIP - 1);
	bool any = false;

	for (unsigned i = strip ? strip - 1 : 0; i <= last; i++)
		any |= s.by_columns[i] || s.by_rows[0][i] || s.by_rows[1][i];
	return any;
}

/* Sweeps all columns down and up. Each warp sweeps its own strip, at first or when something there has risen. */
template <unsigned bits>
__device__ bool
sweep_columns(tile<bits> &s, bool first, bool diagonals)
{
	const unsigned strip = threadIdx.x / 32, top = strip * STRIP + 1, at = threadIdx.x % 32 + 1;
	const bool wanted = first || has_risen<bits>(s, strip);
	const held<bits> above = held<bits>::open(s.J[top - 1][at]),
			 below = held<bits>::open(s.J[top + STRIP][at]);
	bool any = false;

	__syncthreads();
	if (wanted) {
		const bool down = sweep_rows<bits, 1>(s, above, top, diagonals),
			   up = sweep_rows<bits, -1>(s, below, top + STRIP - 1, diagonals);
		any = __any_sync(FULL, down || up);
	}
	if (at == 1)
		s.by_columns[strip] = any;
	return any;
}

/* Sweeps half the words of row r, to the right or back. c is the key before them, then the last of them. */
template <unsigned bits, bool back>
__device__ bool
sweep_words(tile<bits> &s, unsigned r, unsigned first, typename keys<bits>::word *c)
{
	typedef keys<bits> k;
	typedef typename k::word word;
	constexpr unsigned EACH = 4;
	bool changed = false;

	for (unsigned n = 0; n < TILE_WORDS / 2; n += EACH) {
		const unsigned from = back ? first - n : first + n;
		word j[EACH], i[EACH];
#pragma unroll
		for (unsigned e = 0; e < EACH; e++) {
			j[e] = s.J[r][back ? from - e : from + e];
			i[e] = s.I[r][back ? from - e : from + e];
		}
#pragma unroll
		for (unsigned e = 0; e < EACH; e++) {
			word fresh = 0;
#pragma unroll
			for (unsigned a = 0; a < k::per; a++) {
				const unsigned b = back ? k::per - 1 - a : a;
				*c = min(k::key(i[e], b), max(k::key(j[e], b), *c));
				fresh |= *c << b * bits % 64;
			}
			if (fresh != j[e]) {
				s.J[r][back ? from - e : from + e] = fresh;
				changed = true;
			}
		}
	}
	return changed;
}

/*
 * Sweeps the rows, at first or where columns have raised a key: half the threads to the right, half back, in two turns, so that
 * they never meet at a word.
 */
template <unsigned bits>
__device__ bool
sweep_all_rows(tile<bits> &s, bool first)
{
	typedef keys<bits> k;
	constexpr unsigned HALF = TILE_WORDS / 2;
	const bool back = threadIdx.x >= tile<bits>::H;
	const unsigned r = threadIdx.x % tile<bits>::H + 1, strip = (r - 1) / STRIP;
	const bool wanted = __any_sync(FULL, first || s.by_columns[strip]);
	bool changed = false;
	typename k::word c =
	    back ? k::key(s.J[r][TILE_WORDS + 1], 0) : k::key(s.J[r][0], k::per - 1);

	for (unsigned turn = 0; turn < 2; turn++) {
		if (wanted && back)
			changed |= sweep_words<bits, true>(s, r, TILE_WORDS - turn * HALF, &c);
		else if (wanted)
			changed |= sweep_words<bits, false>(s, r, turn * HALF + 1, &c);
		if (turn == 0)
			__syncthreads();
	}
	const unsigned rose = __ballot_sync(FULL, changed);
	if (r % STRIP == 1)
		s.by_rows[back][strip] = rose >> threadIdx.x % 32 & ((1u << STRIP) - 1);
	return changed;
}

/* --- neighbours in other slices of a volume ------------------------------------------------------------------------ */

/* Returns the largest keys around word `at` in its slice, among those that are neighbours of a key in the slice beside. */
template <unsigned bits>
__device__ typename keys<bits>::word
around(const field &f, size_t at)
{
	typedef keys<bits> k;
	typedef typename k::word word;
	const word *p = static_cast<const word *>(f.J) + at;
	word mid = __ldcg(p), left, right;

	if (f.conn == 6)
		return mid;
	const word column = k::larger(__ldcg(p - f.pitch), __ldcg(p + f.pitch));
	left = __ldcg(p - 1);
	right = __ldcg(p + 1);
	if (f.conn == 18)
		return k::larger(k::larger(mid, column),
				 k::larger(k::from_left(left, mid), k::from_right(mid, right)));
	mid = k::larger(mid, column);
	left = k::larger(left, k::larger(__ldcg(p - 1 - f.pitch), __ldcg(p - 1 + f.pitch)));
	right = k::larger(right, k::larger(__ldcg(p + 1 - f.pitch), __ldcg(p + 1 + f.pitch)));
	return k::larger(mid, k::larger(k::from_left(left, mid), k::from_right(mid, right)));
}

/* Returns the largest keys that row r of the tile gets from the slices before and behind. */
template <unsigned bits>
__device__ typename keys<bits>::word
from_slices(const field &f, const place &p, unsigned r)
{
	const size_t at = word_at<bits>(f, p, r) + threadIdx.x % 32, slice = f.slice * f.pitch;
	typename keys<bits>::word m = 0;

	if (p.z > 0)
		m = around<bits>(f, at - slice);
	if (p.z + 1 < f.d)
		m = keys<bits>::larger(m, around<bits>(f, at + slice));
	return m;
}

template <unsigned bits>
__device__ bool
raise_from_slices(tile<bits> &s, const field &f, const place &p)
{
	typedef keys<bits> k;
	const unsigned at = threadIdx.x % 32 + 1;
	bool changed = false;

	for (unsigned r = threadIdx.x / 32 + 1; r <= tile<bits>::H; r += blockDim.x / 32) {
		const typename k::word old = s.J[r][at];
		const typename k::word c =
		    k::smaller(s.I[r][at], k::larger(old, from_slices<bits>(f, p, r)));
		s.J[r][at] = c;
		changed |= c != old;
	}
	return changed;
}

} // namespace

#endif
