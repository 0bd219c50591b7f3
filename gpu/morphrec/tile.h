/* A tile in shared memory, for tile.cu. */
#ifndef WEIR_GPU_MORPHREC_TILE_H
#define WEIR_GPU_MORPHREC_TILE_H

#include "gpu/morphrec/abreast.h"

namespace
{

constexpr unsigned PITCH = TILE_WORDS + 3;

/* Rows that are swept or passed over together. */
constexpr unsigned BATCH = 8;

/* Neighbours of a tile along y and x. The first four share a side with it. */
constexpr unsigned SIDES = 4, NEIGHBOURS = 8;

template <unsigned bits> struct tile {
	typedef typename keys<bits>::word word;
	static constexpr unsigned H = keys<bits>::tile_h, BATCHES = H / BATCH;
	/* A thread for each row and direction, or for two rows. */
	static constexpr unsigned THREADS = 2 * H / abreast<bits>::rows;
	/* Blocks an SM, which gives 36 KB to each. */
	static constexpr unsigned BLOCKS = THREADS > 128 ? 4 : 6;

	word J[H + 2][PITCH], I[H + 2][PITCH]; /* the rim: rows 0 and H+1, words 0 and 33 */
	unsigned owed[NEIGHBOURS + 1];	       /* ring + 1, or 0; [NEIGHBOURS]: the tile itself */
	/*
	 * Sets of batches: bit b + 1 is batch b, bits 0 and BATCHES + 1 are the rim. rose: those where keys have risen
	 * since columns were swept; by_columns: those that the two turns of the last sweep of columns have raised, down
	 * and up.
	 */
	unsigned rose, by_columns[2][2];
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
	const size_t top = word_at<bits>(f, p, 0), step = warps * f.pitch;
	const word *J = static_cast<const word *>(f.J) + top,
		   *I = static_cast<const word *>(f.I) + top;
	const word *j = J + t / 32 * f.pitch + lane, *i = I + t / 32 * f.pitch + lane;

	for (unsigned r = t; r < tile<bits>::H + 2; r += blockDim.x) {
		const size_t at = r * f.pitch;
		s.J[r][0] = __ldcg(J + at - 1);
		s.I[r][0] = __ldg(I + at - 1);
		s.J[r][TILE_WORDS + 1] = __ldcg(J + at + TILE_WORDS);
		s.I[r][TILE_WORDS + 1] = __ldg(I + at + TILE_WORDS);
	}
#pragma unroll 8
	for (unsigned r = t / 32; r < tile<bits>::H + 2; r += warps) {
		s.J[r][lane + 1] = __ldcg(j);
		s.I[r][lane + 1] = __ldg(i);
		j += step;
		i += step;
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
		if (__any_sync(FULL, c != old) && at == 1)
			atomicOr(&s.rose, 2u << (r - 1) / BATCH);
		changed |= c != old;
	}
	return changed;
}

} // namespace

#endif
