/* A visit of tile.cu: words of keys, several keys abreast; a tile in shared memory; the sweeps over it. */
#ifndef WEIR_GPU_MORPHREC_SWEEP_H
#define WEIR_GPU_MORPHREC_SWEEP_H

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
	 * Sets of batches: bit b + 1 is batch b, bits 0 and BATCHES + 1 are the rim. rose: keys have risen there since
	 * columns were swept. by_columns: the two turns of the last sweep of columns, down and up, have raised them.
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
