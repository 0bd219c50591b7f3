/* variants: 8_generic 8_avx2 8_avx512 16_generic 16_avx2 16_avx512 32_generic 32_avx2 32_avx512 64_generic 64_avx2 64_avx512 */
/*
 * A visit of a tile (engine.h) for one width of element, T, and one level of the CPU. A row of bytes is 64 pixels, 128 on AVX2
 * and 256 on AVX-512. From top to bottom: the operations on vectors, those on rows in striped order, the visit.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/simd.h"
#include "morphrec/by_type.h"
#include "morphrec/tile/engine.h"

#define INLINE static inline __attribute__((always_inline))

/* The bits of the element, and its places in a vector of 16 bytes after v_lo, v_hi, v_up, v_down. */
#if defined(FOR_8)
#define BITS 8
#define LO   0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HI   8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define UP   15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#define DOWN 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#elif defined(FOR_16)
#define BITS 16
#define LO   0, 8, 1, 9, 2, 10, 3, 11
#define HI   4, 12, 5, 13, 6, 14, 7, 15
#define UP   7, 8, 9, 10, 11, 12, 13, 14
#define DOWN 1, 2, 3, 4, 5, 6, 7, 8
#elif defined(FOR_32)
#define SIGNED int32_t
#define FLOAT  float
#define BITS   32
#define LO     0, 4, 1, 5
#define HI     2, 6, 3, 7
#define UP     3, 4, 5, 6
#define DOWN   1, 2, 3, 4
#else
#define SIGNED int64_t
#define FLOAT  double
#define BITS   64
#define LO     0, 2
#define HI     1, 3
#define UP     1, 2
#define DOWN   1, 2
#endif

extern const struct tile_kernel SIMD_NAME(tile);

/* ---- vectors ---- */

/*
 *	V, LANE			a vector register, and its number of 16-byte lanes
 *	v_zero, v_or, v_xor
 *	v_any(v)		whether v is not all 0
 *	v_max, v_min		the larger and the smaller elements
 *	v_up(v), v_down(v)	v moved by one element, to the later or the earlier place; a 0 is shifted in
 *	v_lo(a, b), v_hi(a, b)	interleave the elements of the lower, or upper, halves of each 16-byte lane
 *	v_load_lanes(p, step)	loads lane g from the 16 bytes at p + g * step; v_store_lanes(p, step, v) stores it there
 */

#if defined(__x86_64__) && BYTES > 16
#include <immintrin.h>

TARGET_BEGIN

#define OP_(name, bits) MM(name##bits)
#define OP(name, bits)	OP_(name, bits)

#ifdef FOR_avx512
typedef __m512i V;
#define MM(name)    _mm512_##name
#define MM_SI(name) _mm512_##name##_si512
/* The vector 16 bytes earlier and later, for alignr within lanes. */
#define BEFORE(a) _mm512_maskz_shuffle_i32x4(0xfff0, a, a, 0x90)
#define AFTER(a)  _mm512_maskz_shuffle_i32x4(0x0fff, a, a, 0x39)

INLINE bool
v_any(V a)
{
	return _mm512_test_epi64_mask(a, a) != 0;
}

INLINE V
v_load_lanes(const char *p, size_t step)
{
	V v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));

	v = _mm512_mask_broadcast_i32x4(v, 0x00f0, _mm_loadu_si128((const __m128i *)(p + step)));
	v = _mm512_mask_broadcast_i32x4(v, 0x0f00,
					_mm_loadu_si128((const __m128i *)(p + 2 * step)));
	return _mm512_mask_broadcast_i32x4(v, 0xf000,
					   _mm_loadu_si128((const __m128i *)(p + 3 * step)));
}

INLINE void
v_store_lanes(char *p, size_t step, V a)
{
	_mm_storeu_si128((__m128i *)p, _mm512_castsi512_si128(a));
	_mm_storeu_si128((__m128i *)(p + step), _mm512_extracti32x4_epi32(a, 1));
	_mm_storeu_si128((__m128i *)(p + 2 * step), _mm512_extracti32x4_epi32(a, 2));
	_mm_storeu_si128((__m128i *)(p + 3 * step), _mm512_extracti32x4_epi32(a, 3));
}
#else
typedef __m256i V;
#define MM(name)    _mm256_##name
#define MM_SI(name) _mm256_##name##_si256
#define BEFORE(a)   _mm256_permute2x128_si256(a, a, 0x08)
#define AFTER(a)    _mm256_permute2x128_si256(a, a, 0x81)

INLINE bool
v_any(V a)
{
	return !_mm256_testz_si256(a, a);
}

INLINE V
v_load_lanes(const char *p, size_t step)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p)),
				       _mm_loadu_si128((const __m128i *)(p + step)), 1);
}

INLINE void
v_store_lanes(char *p, size_t step, V a)
{
	_mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(a));
	_mm_storeu_si128((__m128i *)(p + step), _mm256_extracti128_si256(a, 1));
}
#endif

#define LANE	    (BYTES / 16)
#define v_zero()    MM_SI(setzero)()
#define v_or(a, b)  MM_SI(or)(a, b)
#define v_xor(a, b) MM_SI (xor)(a, b)
#define v_lo(a, b)  OP(unpacklo_epi, BITS)(a, b)
#define v_hi(a, b)  OP(unpackhi_epi, BITS)(a, b)
#define v_up(a)	    MM(alignr_epi8)(a, BEFORE(a), 16 - BITS / 8)
#define v_down(a)   MM(alignr_epi8)(AFTER(a), a, BITS / 8)

#if BITS < 64 || defined(FOR_avx512)
#define v_max(a, b) OP(max_epu, BITS)(a, b)
#define v_min(a, b) OP(min_epu, BITS)(a, b)
#else
/* Unsigned comparison of 64 bits: signed, with the sign bits flipped. */
INLINE V
greater(V a, V b)
{
	const V top = _mm256_set1_epi64x(INT64_MIN);

	return _mm256_cmpgt_epi64(_mm256_xor_si256(a, top), _mm256_xor_si256(b, top));
}

INLINE V
v_max(V a, V b)
{
	return _mm256_blendv_epi8(b, a, greater(a, b));
}

INLINE V
v_min(V a, V b)
{
	return _mm256_blendv_epi8(a, b, greater(a, b));
}
#endif

typedef T elements __attribute__((vector_size(sizeof(V))));

#else
/*
 * For any CPU, with the vector types of GCC and clang. Comparisons are masks, because gcc 12 takes the elements apart for a loop
 * of conditional expressions: an h-dome of 2048 x 2048 bytes then takes 130 ms instead of 12.
 */
TARGET_BEGIN

typedef uint64_t V __attribute__((vector_size(16), may_alias));
typedef T elements __attribute__((vector_size(16)));
#define LANE	    1
#define v_zero()    ((V){0, 0})
#define v_or(a, b)  ((a) | (b))
#define v_xor(a, b) ((a) ^ (b))
#define v_any(a)    (((a)[0] | (a)[1]) != 0)
#define v_lo(a, b)  ((V)__builtin_shufflevector((elements)(a), (elements)(b), LO))
#define v_hi(a, b)  ((V)__builtin_shufflevector((elements)(a), (elements)(b), HI))
#define v_up(a)	    ((V)__builtin_shufflevector((elements)v_zero(), (elements)(a), UP))
#define v_down(a)   ((V)__builtin_shufflevector((elements)(a), (elements)v_zero(), DOWN))

INLINE V
v_load_lanes(const char *p, size_t step)
{
	V v;

	(void)step;
	memcpy(&v, p, sizeof v);
	return v;
}

INLINE void
v_store_lanes(char *p, size_t step, V a)
{
	(void)step;
	memcpy(p, &a, sizeof a);
}

INLINE V
v_max(V a, V b)
{
	const V more = (V)((elements)a > (elements)b);

	return (a & more) | (b & ~more);
}

INLINE V
v_min(V a, V b)
{
	const V more = (V)((elements)a > (elements)b);

	return (b & more) | (a & ~more);
}
#endif

/*
 * The keys of the samples in a vector, as IN makes them one by one. Loops over memory would store the keys before they are
 * striped, and runs on floats would take 5 to 14 % longer.
 */
INLINE V
keys_of(V v, struct key_map map)
{
#if BITS >= 32
	typedef SIGNED signed_elements __attribute__((vector_size(sizeof(V))));
	typedef FLOAT reals __attribute__((vector_size(sizeof(V))));
	const T top = (T)1 << (BITS - 1);
	const reals f = (reals)v + (FLOAT)0;
	const elements number = (elements)(f == f),
		       sign = (elements)((signed_elements)f >> (BITS - 1)),
		       key = ((elements)f ^ ((sign | top) ^ (T)map.flip)) & number;
	if (map.real)
		return (V)key;
#endif
	return (V)((elements)v ^ (T)map.flip);
}

/* ---- rows ---- */

enum {
	PER_LANE = 128 / BITS,
	WIDTH = TILE_VECTORS * LANE * PER_LANE,
	LEVELS = BITS == 8    ? 4
		 : BITS == 16 ? 3
		 : BITS == 32 ? 2
			      : 1 /* log2 PER_LANE */
};

/*
 * Does one perfect shuffle of each lane. The bits of an element's place (vector, element of the lane) rotate left by one.
 * To stripe takes a rotation left by log2(PER_LANE), which equals a rotation right by two; two more left undo it.
 */
INLINE void
shuffle(V v[4])
{
	const V a = v_lo(v[0], v[2]), b = v_hi(v[0], v[2]), c = v_lo(v[1], v[3]),
		d = v_hi(v[1], v[3]);

	v[0] = a;
	v[1] = b;
	v[2] = c;
	v[3] = d;
}

/* Stripes a row of WIDTH pixels: a lane of 16 bytes, in each of four vectors, holds 64 consecutive bytes of the row. */
INLINE void
stripe(V v[4])
{
	for (int l = 0; l < LEVELS; l++)
		shuffle(v);
}

INLINE void
unstripe(T *to, const V from[4])
{
	V v[4];

	for (int k = 0; k < 4; k++)
		v[k] = from[k];
	for (int l = 0; l < 2; l++)
		shuffle(v);
	for (int k = 0; k < 4; k++)
		v_store_lanes((char *)to + 16 * k, 64, v[k]);
}

/* Returns the larger of c and the pixels beside it, clipped to the mask m. */
INLINE V
take(V c, V beside, V m)
{
	return v_min(m, v_max(c, beside));
}

INLINE bool
same(V a, V b)
{
	return !v_any(v_xor(a, b));
}

/* Brings c to its fixpoint along the row under m: left to right and, from the same start, right to left. */
INLINE void
along(V c[4], const V m[4])
{
	V r1 = take(c[1], c[0], m[1]), r2 = take(c[2], r1, m[2]), r3 = take(c[3], r2, m[3]),
	  r0 = take(c[0], v_up(r3), m[0]);
	V l2 = take(c[2], c[3], m[2]), l1 = take(c[1], l2, m[1]), l0 = take(c[0], l1, m[0]),
	  l3 = take(c[3], v_down(l0), m[3]);
	V was_r = c[0], was_l = c[3];

	while (v_any(v_or(v_xor(r0, was_r), v_xor(l3, was_l)))) {
		was_r = r0;
		was_l = l3;
		r1 = take(r1, r0, m[1]);
		l2 = take(l2, l3, m[2]);
		r2 = take(r2, r1, m[2]);
		l1 = take(l1, l2, m[1]);
		r3 = take(r3, r2, m[3]);
		l0 = take(l0, l1, m[0]);
		r0 = take(r0, v_up(r3), m[0]);
		l3 = take(l3, v_down(l0), m[3]);
	}
	c[0] = v_max(r0, l0);
	c[1] = v_max(r1, l1);
	c[2] = v_max(r2, l2);
	c[3] = v_max(r3, l3);
}

/* Each pixel becomes the largest of itself and the two beside it. */
INLINE void
widen(V v[4])
{
	const V ab = v_max(v[0], v[1]), cd = v_max(v[2], v[3]), b = v_max(ab, v[2]),
		c = v_max(v[1], cd), a = v_max(ab, v_up(v[3])), d = v_max(cd, v_down(v[0]));

	v[0] = a;
	v[1] = b;
	v[2] = c;
	v[3] = d;
}

INLINE void
max_row(V c[4], const V *a)
{
	for (int i = 0; i < 4; i++)
		c[i] = v_max(c[i], a[i]);
}

/*
 * c becomes the largest of the neighbours, outside the row itself, of each pixel of the row at j. Only neighbours on one
 * side count, before or after the row in raster order: y and z are the signed distances to the row and the slice beside.
 * conn is a constant.
 */
INLINE void
dilate(V c[4], const V *j, ptrdiff_t y, ptrdiff_t z, int conn)
{
	for (int i = 0; i < 4; i++)
		c[i] = j[y + i];
	if (conn == 4 || conn == 8) {
		if (conn == 8)
			widen(c);
		return;
	}
	max_row(c, j + z);
	if (conn == 26) {
		max_row(c, j + z - y);
		max_row(c, j + z + y);
	}
	if (conn != 6)
		widen(c);
	if (conn == 18) {
		max_row(c, j + z - y);
		max_row(c, j + z + y);
	}
}

/* Raises row j under m from its neighbours. Returns whether it rose. always: the row is not at its own fixpoint yet. */
INLINE bool
raise_row(V *j, const V *m, ptrdiff_t y, ptrdiff_t z, int conn, bool always)
{
	V c[4], rose = v_zero();

	dilate(c, j, y, z, conn);
	for (int i = 0; i < 4; i++) {
		c[i] = take(c[i], j[i], m[i]);
		rose = v_or(rose, v_xor(c[i], j[i]));
	}
	if (!always && !v_any(rose))
		return false;
	along(c, m);
	rose = v_zero();
	for (int i = 0; i < 4; i++) {
		rose = v_or(rose, v_xor(c[i], j[i]));
		j[i] = c[i];
	}
	return !always || v_any(rose);
}

/* ---- the visit ---- */

/* The current tile: its rows, and flags of rows. Bit y of word z + 1 is for row y of slice z. */
struct tile {
	struct tile_job *job;
	V *j, *m; /* row y of slice z stands at ((z + 1) * pitch + y + 1) * 4 */
	ptrdiff_t pitch;
	size_t width, height; /* of the array: J[(z * height + y) * width + x] */
	uint64_t rows;	      /* rows that lie in the array */
	uint64_t whole; /* those whose WIDTH samples can all be read; some may be of the next row */
	V inside[4];	/* bits of the samples of a row that lie in it, in the order of the array */
	uint64_t ahead[TILE_DEPTH + 2], back[TILE_DEPTH + 2]; /* due in a sweep down, up */
	uint64_t loaded[TILE_DEPTH + 2], rose[TILE_DEPTH + 2];
};

INLINE ptrdiff_t
row_at(const struct tile *t, int z, int y)
{
	return ((z + 1) * t->pitch + y + 1) * TILE_VECTORS;
}

/* Returns the pixel of the array at x = 0 of row y, slice z of the tile. It may lie outside the array. */
INLINE ptrdiff_t
pixel_at(const struct tile *t, int z, int y)
{
	const struct tile_job *o = t->job;

	return ((o->sz.at + z) * (ptrdiff_t)t->height + o->sy.at + y) * (ptrdiff_t)t->width +
	       o->sx.at;
}

/* Map n samples to keys, and back. Floats and integers have loops of their own, without branches, which are vectorised. */
INLINE void
keys_in(T *restrict to, const T *restrict from, int n, struct key_map map)
{
	const struct key_map real = {map.flip, true}, integer = {map.flip, false};

	for (int i = 0; map.real && i < n; i++)
		to[i] = IN(from[i], real);
	for (int i = 0; !map.real && i < n; i++)
		to[i] = IN(from[i], integer);
}

INLINE void
keys_out(T *a, int n, struct key_map map)
{
	const struct key_map real = {map.flip, true}, integer = {map.flip, false};

	for (int i = 0; map.real && i < n; i++)
		a[i] = OUT(a[i], real);
	for (int i = 0; !map.real && i < n; i++)
		a[i] = OUT(a[i], integer);
}

/*
 * Loads a row of the array from x = 0 of the tile on, as keys. Keys outside the array are 0. whole: WIDTH samples can be read.
 * The loop that zeroes a row stands for a memset(): gcc 12 turns that into "rep stos", which takes longer than all the rest.
 */
INLINE void
load_keys(const struct tile *t, V to[4], const T *from, bool whole)
{
	const struct tile_job *o = t->job;
	const struct key_map real = {o->map.flip, true}, integer = {o->map.flip, false};
	const int begin = o->sx.begin, n = o->sx.end - begin;
	_Alignas(64) T row[WIDTH];

	if (__builtin_expect(!whole, 0)) {
		for (int k = 0; k < 4; k++)
			((V *)row)[k] = v_zero();
		memcpy(row + begin, from + begin, (size_t)n * sizeof *row);
		from = row;
	}
	for (int k = 0; k < 4; k++)
		to[k] = v_load_lanes((const char *)from + 16 * k, 64);
	if (o->map.real)
		for (int k = 0; k < 4; k++)
			to[k] = keys_of(to[k], real);
	else if (o->map.flip)
		for (int k = 0; k < 4; k++)
			to[k] = keys_of(to[k], integer);
	if (n < WIDTH)
		for (int k = 0; k < 4; k++)
			to[k] &= t->inside[k];
	stripe(to);
}

/*
 * Loads a row. Rows lie far apart, so the row four further on is prefetched, which saves 9 to 18 % of a run. It seldom begins
 * with a cache line, so that it has one line more than its bytes fill.
 */
static void
load_row(struct tile *t, int z, int y)
{
	enum { AHEAD = 4, LINE = 64 };
	const ptrdiff_t at = pixel_at(t, z, y), r = row_at(t, z, y),
			ahead = at + AHEAD * (ptrdiff_t)t->width;
	const T *J = (const T *)t->job->J + at, *I = (const T *)t->job->I + at;
	const bool whole = (t->whole >> y) & 1;

	t->loaded[z + 1] |= UINT64_C(1) << y;
	for (size_t i = 0; i <= WIDTH * sizeof(T); i += LINE) {
		__builtin_prefetch(
		    (const char *)((uintptr_t)t->job->J + (uintptr_t)ahead * sizeof(T) + i));
		__builtin_prefetch(
		    (const char *)((uintptr_t)t->job->I + (uintptr_t)ahead * sizeof(T) + i));
	}
	load_keys(t, t->j + r, J, whole);
	load_keys(t, t->m + r, I, whole);
}

INLINE uint64_t
beside(uint64_t bit, int conn)
{
	return conn == 6 ? bit : bit | bit << 1 | bit >> 1;
}

/* Notes that row y of slice z rose: rows after it and before it are due. */
INLINE void
mark(struct tile *t, int z, uint64_t bit, int conn)
{
	t->rose[z + 1] |= bit;
	t->ahead[z + 1] |= bit << 1;
	t->back[z + 1] |= bit >> 1;
	if (conn == 4 || conn == 8)
		return;
	t->ahead[z + 2] |= beside(bit, conn);
	t->back[z] |= beside(bit, conn);
}

/* Loads the rows that row y of slice z takes from on side s: -1 before it, 1 after it. */
INLINE void
need(struct tile *t, int z, int y, int s, int conn)
{
	const uint64_t bit = UINT64_C(1) << y, own = bit | (s < 0 ? bit >> 1 : bit << 1);

	for (uint64_t b = own & ~t->loaded[z + 1]; __builtin_expect(b != 0, 0); b &= b - 1)
		load_row(t, z, __builtin_ctzll(b));
	if (conn == 4 || conn == 8)
		return;
	for (uint64_t b = beside(bit, conn) & ~t->loaded[z + 1 + s]; __builtin_expect(b != 0, 0);
	     b &= b - 1)
		load_row(t, z + s, __builtin_ctzll(b));
}

/*
 * Sweeps the due rows down and up until none is due. always: rows are not at their own fixpoints yet, and all are due in the
 * first sweep down.
 */
INLINE void
fixpoint(struct tile *t, int conn, bool always)
{
	const int begin = t->job->sz.begin, end = t->job->sz.end;
	const ptrdiff_t y_step = TILE_VECTORS, z_step = t->pitch * TILE_VECTORS;

	for (bool any = true; any; always = false) {
		any = false;
		for (int z = begin; z < end; z++)
			while (t->ahead[z + 1] &= t->rows) {
				const int y = __builtin_ctzll(t->ahead[z + 1]);
				const ptrdiff_t r = row_at(t, z, y);
				t->ahead[z + 1] &= t->ahead[z + 1] - 1;
				need(t, z, y, -1, conn);
				if (raise_row(t->j + r, t->m + r, -y_step, -z_step, conn, always))
					mark(t, z, UINT64_C(1) << y, conn);
			}
		for (int z = end - 1; z >= begin; z--)
			while (t->back[z + 1] &= t->rows) {
				const int y = 63 - __builtin_clzll(t->back[z + 1]);
				const ptrdiff_t r = row_at(t, z, y);
				t->back[z + 1] &= ~(UINT64_C(1) << y);
				need(t, z, y, 1, conn);
				if (raise_row(t->j + r, t->m + r, y_step, z_step, conn, false)) {
					mark(t, z, UINT64_C(1) << y, conn);
					any = true;
				}
			}
	}
}

static void
solve(struct tile *t, bool always)
{
	switch (t->job->conn) {
	case 4:
		fixpoint(t, 4, always);
		break;
	case 8:
		fixpoint(t, 8, always);
		break;
	case 6:
		fixpoint(t, 6, always);
		break;
	case 18:
		fixpoint(t, 18, always);
		break;
	default:
		fixpoint(t, 26, always);
	}
}

/* Zeroes the rows beyond the array that others take from. They still hold rows of another tile. */
static void
clear_beyond(struct tile *t)
{
	const struct tile_span *y = &t->job->sy, *z = &t->job->sz;
	const size_t row = TILE_VECTORS * sizeof(V);

	for (int i = z->begin; i < z->end; i++) {
		memset(t->j + row_at(t, i, y->begin - 1), 0, row);
		memset(t->j + row_at(t, i, y->end), 0, row);
	}
	if (t->job->z.rim) {
		memset(t->j + row_at(t, z->begin - 1, -1), 0, row * (size_t)t->pitch);
		memset(t->j + row_at(t, z->end, -1), 0, row * (size_t)t->pitch);
	}
}

/*
 * Fills in inside and whole. Where a row of the array begins or ends within the tile, a load may take samples of the row
 * before or after it in the same slice. It takes none of another slice, where another thread may write.
 */
INLINE void
find_inside(struct tile *t)
{
	const struct tile_job *o = t->job;
	const ptrdiff_t w = (ptrdiff_t)t->width, h = (ptrdiff_t)t->height;
	_Alignas(64) T row[WIDTH];

	for (int i = 0; i < WIDTH; i++)
		row[i] = i >= o->sx.begin && i < o->sx.end ? (T)-1 : 0;
	for (int k = 0; k < 4; k++)
		t->inside[k] = v_load_lanes((const char *)row + 16 * k, 64);
	t->whole = t->rows;
	if (o->sx.at < 0 && o->sy.at + o->sy.begin == 0)
		t->whole &= ~(UINT64_C(1) << o->sy.begin);
	if (o->sx.at + WIDTH > w && o->sy.at + o->sy.end == h)
		t->whole &= ~(UINT64_C(1) << (o->sy.end - 1));
	if (w < WIDTH)
		t->whole = 0;
}

/* Loads all rows and makes all due. Returns whether any key of J is above 0. */
static bool
load_all(struct tile *t)
{
	V any = v_zero();

	for (int z = t->job->sz.begin; z < t->job->sz.end; z++) {
		for (int y = t->job->sy.begin; y < t->job->sy.end; y++) {
			const V *j = t->j + row_at(t, z, y);
			load_row(t, z, y);
			any = v_or(any, v_or(v_or(j[0], j[1]), v_or(j[2], j[3])));
		}
		t->ahead[z + 1] = t->back[z + 1] = t->rows;
	}
	return v_any(any);
}

/* Rows rose[z] were raised from outside: they spread along themselves, and the rows around them become due. */
static void
resume_rows(struct tile *t, const uint64_t *rose)
{
	for (int z = t->job->sz.begin; z < t->job->sz.end; z++)
		for (uint64_t b = rose[z]; b; b &= b - 1) {
			const int y = __builtin_ctzll(b);
			V *j = t->j + row_at(t, z, y), c[4];
			bool more = false;
			load_row(t, z, y);
			memcpy(c, j, sizeof c);
			along(c, t->m + row_at(t, z, y));
			for (int i = 0; i < 4; i++)
				more |= !same(c[i], j[i]);
			memcpy(j, c, sizeof c);
			mark(t, z, b & -b, t->job->conn);
			if (!more)
				t->rose[z + 1] &= ~(b & -b);
		}
}

/* Tells others what rose in row y of slice z of the rim of neighbour k. keys is the row now, `was` the row before. */
static void
tell_row(const struct tile_job *o, const T *keys, const T *was, int k, int z, int y)
{
	const int first = o->sx.first, after = o->sx.after;
	T top = 0;
	int n = 0; /* a T would wrap to 0 where 256 bytes rose */

	for (int x = first; x < after; x++) {
		const T v = keys[x] > was[x] ? keys[x] : 0;
		top = v > top ? v : top;
		n += v > 0;
	}
	if (!top)
		return;
	if (n > TILE_FEW) {
		o->tell(o->with, k, z, y, -1, tile_level(o, top));
		return;
	}
	for (int x = first; x < after; x++)
		if (keys[x] > was[x])
			o->tell(o->with, k, z, y, x, tile_level(o, keys[x]));
}

/* Writes row y of slice z, which rose, back to the array, and tells others about their pixels. */
static void
save_row(struct tile *t, int z, int y)
{
	const struct tile_job *o = t->job;
	const int begin = o->sx.begin, end = o->sx.end, n = end - begin, dy = tile_side(&o->sy, y),
		  dz = tile_side(&o->sz, z), k = 9 * (dz + 1) + 3 * (dy + 1) + 1,
		  ny = y - dy * (int)o->y.own, nz = z - dz * (int)o->z.own;
	T *to = (T *)o->J + pixel_at(t, z, y);
	_Alignas(64) T keys[WIDTH], was[WIDTH];

	unstripe(keys, t->j + row_at(t, z, y));
	if (dy | dz) {
		keys_in(was + begin, to + begin, n, o->map);
		tell_row(o, keys, was, k, nz, ny);
	}
	if (begin < o->sx.first) {
		keys_in(was, to, 1, o->map);
		if (keys[0] > was[0])
			o->tell(o->with, k - 1, nz, ny, (int)o->x.own, tile_level(o, keys[0]));
	}
	if (end > o->sx.after) {
		keys_in(was, to + end - 1, 1, o->map);
		if (keys[end - 1] > was[0])
			o->tell(o->with, k + 1, nz, ny, 1, tile_level(o, keys[end - 1]));
	}
	if (o->map.real || o->map.flip)
		keys_out(keys, WIDTH, o->map);
	if (n == WIDTH)
		memcpy(to, keys, sizeof keys);
	else
		memcpy(to + begin, keys + begin, (size_t)n * sizeof *to);
}

static void
visit(struct tile_job *job, const uint64_t *rose)
{
	const int begin = job->sy.begin, end = job->sy.end;
	struct tile t = {.job = job,
			 .pitch = (ptrdiff_t)(job->y.own + 2 * job->y.rim) + 2,
			 .width = job->x.n,
			 .height = job->y.n};

	t.rows = UINT64_MAX >> (64 - (end - begin)) << begin;
	t.j = job->rows;
	t.m = t.j + TILE_VECTORS * t.pitch * ((ptrdiff_t)(job->z.own + 2 * job->z.rim) + 2);
	for (int z = 0; z < TILE_DEPTH + 2; z++)
		t.loaded[z] = z > job->sz.begin && z <= job->sz.end ? ~t.rows : UINT64_MAX;
	find_inside(&t);
	clear_beyond(&t);
	if (!rose && !load_all(&t))
		return;
	if (rose)
		resume_rows(&t, rose);
	solve(&t, !rose);
	for (int z = job->sz.begin; z < job->sz.end; z++)
		for (uint64_t b = t.rose[z + 1]; b; b &= b - 1) {
			save_row(&t, z, __builtin_ctzll(b));
		}
}

TARGET_END

const struct tile_kernel SIMD_NAME(tile) = {WIDTH, visit};
