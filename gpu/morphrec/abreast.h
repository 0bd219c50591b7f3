/* Words of keys as sweeps take them: several keys go abreast. For tile.cu. */
#ifndef WEIR_GPU_MORPHREC_ABREAST_H
#define WEIR_GPU_MORPHREC_ABREAST_H

#include "gpu/morphrec/field.h"

namespace
{

constexpr unsigned FULL = ~0u;

/* --- along columns: a warp holds a row ----------------------------------------------------------------------------- */

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
	__device__ held
	larger(held b) const
	{
		return {k::larger(w, b.w)};
	}
	/* The largest of each key and its two neighbours in the row, where l and r stand left and right. */
	__device__ held
	between(held l, held r) const
	{
		return {k::larger(w, k::larger(k::from_left(l.w, w), k::from_right(w, r.w)))};
	}
	/*
	 * The next row, which was j under i, after this one. At the ends of a row a lane is its own neighbour: that gives a key of
	 * 16 bits its other neighbour once more, and longer ones themselves.
	 */
	__device__ held
	next(word j, word i, bool diagonals) const
	{
		const held c = diagonals ? between({__shfl_up_sync(FULL, w, 1)},
						   {__shfl_down_sync(FULL, w, 1)})
					 : *this;

		return {k::smaller(i, k::larger(j, c.w))};
	}
};

/*
 * Four keys in two words of 16 bits each: sm_90 has instructions for pairs of 16 bits, but none for bytes. They are the high
 * bytes, as in abreast<8>.
 */
template <> struct held<8> {
	typedef keys<16> k;
	typedef unsigned word;
	unsigned even, odd;

	static __device__ held
	open(word w)
	{
		return {w << 8, w};
	}
	__device__ word
	close() const
	{
		return __byte_perm(even, odd, 0x7351);
	}
	__device__ held
	larger(held b) const
	{
		return {k::larger(even, b.even), k::larger(odd, b.odd)};
	}
	__device__ held
	between(held l, held r) const
	{
		const unsigned both = k::larger(even, odd);

		return {k::larger(both, k::from_left(l.odd, odd)),
			k::larger(both, k::from_right(even, r.even))};
	}
	__device__ held
	next(word j, word i, bool diagonals) const
	{
		const held own = open(j), most = open(i);
		unsigned e = even, o = odd, l = 0, r = 0;

		if (diagonals) {
			const unsigned lane = threadIdx.x % 32;
			/* At the ends of a row the other neighbour once more. */
			l = __byte_perm(__shfl_up_sync(FULL, odd, 1), odd, lane ? 0x5432 : 0x5454);
			r = __byte_perm(even, __shfl_down_sync(FULL, even, 1),
					lane < 31 ? 0x5432 : 0x3232);
			e = o = k::larger(even, odd);
		}
		return {k::smaller(most.even, __vimax3_u16x2(e, l, own.even)),
			k::smaller(most.odd, __vimax3_u16x2(o, r, own.odd))};
	}
};

/* --- along rows: a thread holds a key of each of its rows ------------------------------------------------------------ */

/*
 * The keys of the rows that a thread sweeps along, words w[rows], as c[per]: those at the same place, of two rows where keys
 * are short, in one word.
 */
template <unsigned bits> struct abreast {
	typedef typename keys<bits>::word word;
	typedef keys<bits> k;
	static constexpr unsigned rows = 1;

	static __device__ void
	take(word *c, const word *w)
	{
		c[0] = w[0];
	}
	static __device__ void
	put(word *w, const word *c)
	{
		w[0] = c[0];
	}
};

template <> struct abreast<16> {
	typedef unsigned word;
	typedef keys<16> k;
	static constexpr unsigned rows = 2;

	static __device__ void
	take(word *c, const word *w)
	{
		c[0] = __byte_perm(w[0], w[1], 0x5410);
		c[1] = __byte_perm(w[0], w[1], 0x7632);
	}
	static __device__ void
	put(word *w, const word *c)
	{
		w[0] = __byte_perm(c[0], c[1], 0x5410);
		w[1] = __byte_perm(c[0], c[1], 0x7632);
	}
};

/* A key of 8 bits is the high byte of 16. Whatever is below decides between equal keys alone, so it may be anything. */
template <> struct abreast<8> {
	typedef unsigned word;
	typedef keys<16> k;
	static constexpr unsigned rows = 2;

	static __device__ void
	take(word *c, const word *w)
	{
		c[1] = __byte_perm(w[0], w[1], 0x5410);
		c[3] = __byte_perm(w[0], w[1], 0x7632);
		c[0] = c[1] << 8;
		c[2] = c[3] << 8;
	}
	static __device__ void
	put(word *w, const word *c)
	{
		const word a = __byte_perm(c[0], c[1], 0x7351), b = __byte_perm(c[2], c[3], 0x7351);

		w[0] = __byte_perm(a, b, 0x5410);
		w[1] = __byte_perm(a, b, 0x7632);
	}
};

} // namespace

#endif
