/* A tile in shared memory and the sweeps over it, for tile.cu. */
#ifndef WEIR_GPU_MORPHREC_TILE_H
#define WEIR_GPU_MORPHREC_TILE_H

#include "gpu/morphrec/field.h"

namespace
{

constexpr unsigned PITCH = TILE_WORDS + 3, FULL = ~0u;

/* Neighbours of a tile along y and x. The first four share a side with it. */
constexpr unsigned SIDES = 4, NEIGHBOURS = 8;

template <unsigned bits> struct tile {
	typedef typename keys<bits>::word word;
	static constexpr unsigned H = keys<bits>::tile_h;

	word J[H + 2][PITCH], I[H + 2][PITCH]; /* the rim: rows 0 and H+1, words 0 and 33 */
	unsigned owed[NEIGHBOURS + 1];	       /* ring + 1, or 0; [NEIGHBOURS]: the tile itself */
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

#pragma unroll 4
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

/* --- sweeps -------------------------------------------------------------------------------------------------------- */

/* Returns the largest of each key and its two neighbours in the row. left and right are the words beyond lanes 0 and 31. */
template <unsigned bits>
__device__ typename keys<bits>::word
widen(typename keys<bits>::word c, typename keys<bits>::word left, typename keys<bits>::word right)
{
	typedef keys<bits> k;
	const unsigned lane = threadIdx.x % 32;
	typename k::word l = __shfl_up_sync(FULL, c, 1), r = __shfl_down_sync(FULL, c, 1);

	l = lane == 0 ? left : l;
	r = lane == 31 ? right : r;
	return k::larger(c, k::larger(k::from_left(l, c), k::from_right(c, r)));
}

/* Raises rows first, first + step, .. of a warp, each from the row before it. c is the row before the first. */
template <unsigned bits>
__device__ bool
sweep_rows(tile<bits> &s, typename keys<bits>::word c, unsigned first, int step, bool diagonals)
{
	typedef keys<bits> k;
	const unsigned at = threadIdx.x % 32 + 1;
	bool changed = false;

#pragma unroll 8
	for (unsigned n = 0, r = first; n < 32; n++, r += (unsigned)step) {
		const unsigned before = r - (unsigned)step;
		const typename k::word old = s.J[r][at];
		if (diagonals)
			c = widen<bits>(c, s.J[before][0], s.J[before][TILE_WORDS + 1]);
		c = k::smaller(s.I[r][at], k::larger(old, c));
		if (c != old) {
			s.J[r][at] = c;
			changed = true;
		}
	}
	return changed;
}

/* Sweeps all columns down and up. Each warp sweeps its own 32 rows. */
template <unsigned bits>
__device__ bool
sweep_columns(tile<bits> &s, bool diagonals)
{
	const unsigned top = threadIdx.x / 32 * 32 + 1, at = threadIdx.x % 32 + 1;
	const typename keys<bits>::word above = s.J[top - 1][at], below = s.J[top + 32][at];

	__syncthreads();
	const bool down = sweep_rows<bits>(s, above, top, 1, diagonals);
	return sweep_rows<bits>(s, below, top + 31, -1, diagonals) || down;
}

/* Sweeps the row of this thread to the right and back. */
template <unsigned bits>
__device__ bool
sweep_row(tile<bits> &s)
{
	typedef keys<bits> k;
	const unsigned r = threadIdx.x + 1;
	bool changed = false;

	for (int back = 0; back < 2; back++) {
		typename k::word c =
		    back ? k::key(s.J[r][TILE_WORDS + 1], 0) : k::key(s.J[r][0], k::per - 1);
		for (unsigned n = 0; n < TILE_WORDS; n++) {
			const unsigned at = back ? TILE_WORDS - n : n + 1;
			const typename k::word j = s.J[r][at], i = s.I[r][at];
			typename k::word fresh = 0;
#pragma unroll
			for (unsigned e = 0; e < k::per; e++) {
				const unsigned b = back ? k::per - 1 - e : e;
				c = min(k::key(i, b), max(k::key(j, b), c));
				fresh |= c << b * bits % 64;
			}
			if (fresh != j) {
				s.J[r][at] = fresh;
				changed = true;
			}
		}
	}
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
