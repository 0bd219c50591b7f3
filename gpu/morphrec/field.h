/*
 * The picture on the device. A word holds 4, 2 or 1 keys (morphrec/keys.h). Words stand in tiles of 32 x TILE_H words. Outside
 * the picture keys are 0: nothing raises them, and they raise nothing.
 *
 *	row 0		0 0 0 .. 0
 *	row 1		0 .. 0 | tile | tile | .. |	PAD words of 0, then the words of a row, up to
 *	..					the pad of the next row
 *	row TILE_H ty	0 .. 0 | tile | tile | .. |
 *	row + 1		0 0 0 .. 0			then the next slice
 */
#ifndef WEIR_GPU_MORPHREC_FIELD_H
#define WEIR_GPU_MORPHREC_FIELD_H

#include <type_traits>

#include "gpu/device.h"

extern "C" {
#include "morphrec/keys.h"
#include "morphrec/ops/ops.h"
}

enum { TILE_WORDS = 32, PAD = 32 };

typedef unsigned long long u64;

/* Words that hold keys of `bits` bits. Key i stands at bit i * bits. */
template <unsigned bits> struct keys {
	typedef std::conditional_t<bits == 64, u64, unsigned> word;
	static constexpr unsigned per = bits == 64 ? 1 : 32 / bits, tile_h = bits == 64 ? 64 : 128;

	static __device__ word
	larger(word a, word b)
	{
		if constexpr (bits == 8)
			return __vmaxu4(a, b);
		else if constexpr (bits == 16)
			return __vmaxu2(a, b);
		else
			return max(a, b);
	}
	static __device__ word
	smaller(word a, word b)
	{
		if constexpr (bits == 8)
			return __vminu4(a, b);
		else if constexpr (bits == 16)
			return __vminu2(a, b);
		else
			return min(a, b);
	}
	/* Each key is replaced by the one to its left, or to its right, in the row. */
	static __device__ word
	from_left(word left, word here)
	{
		if constexpr (bits < 32)
			return __funnelshift_l(left, here, bits);
		else
			return left;
	}
	static __device__ word
	from_right(word here, word right)
	{
		if constexpr (bits < 32)
			return __funnelshift_r(here, right, bits);
		else
			return right;
	}
	static __device__ word
	key(word w, unsigned i)
	{
		return bits < 32 ? w >> i * bits & ((1u << bits % 32) - 1) : w;
	}
};

struct field {
	void *J, *I;	 /* words, as above */
	unsigned bits;	 /* of a key: 8, 16, 32, 64 */
	int conn;	 /* 4, 8: slices are separate; 6, 18, 26: one volume */
	size_t w, h, d;	 /* keys */
	size_t unit;	 /* rows of a unit: 1, or h where units are slices */
	unsigned tx, ty; /* tiles of a slice */
	size_t pitch;	 /* words of a row */
	size_t slice;	 /* rows of a slice, the empty one included */
	u64 lo, hi;	 /* smallest and largest key of J */
	struct key_map map;
};

/* The figures of a run. */
struct field_figures {
	size_t tiles, visits, changed; /* changed: visits that raised a key */
};

/* run(bits) with the width of the field's keys, as a type of that value. */
template <class F>
int
by_bits(const field *f, F run)
{
	switch (f->bits) {
	case 8:
		return run(std::integral_constant<unsigned, 8>());
	case 16:
		return run(std::integral_constant<unsigned, 16>());
	case 32:
		return run(std::integral_constant<unsigned, 32>());
	default:
		return run(std::integral_constant<unsigned, 64>());
	}
}

static inline size_t
field_words(const field &f)
{
	return (f.d * f.slice + 1) * f.pitch + PAD;
}

/*
 * Pack the samples of units first .. first + n - 1 of the field into words, and unpack them. Units are rows, or slices of a
 * volume. samples points to the samples of unit `first`. morphrec_unpack() makes the result of J and of what stood at samples.
 */
int morphrec_pack(struct gpu *g, const field *f, size_t first, size_t n, void *words,
		  const void *samples);
int morphrec_unpack(struct gpu *g, const field *f, size_t first, size_t n, const void *words,
		    void *samples, const morphrec_recipe *r);

/* Where the first row of a field lies in the whole, which has d slices of h rows. Before its first row: (size_t)-1. */
struct outline {
	size_t row, h, d;
};

/* Makes marker and mask of samples, as morphrec_pack() counts them. *nan, on the device, becomes 1 if one of them is NaN. */
int morphrec_make(struct gpu *g, const field *f, size_t first, size_t n, const void *samples,
		  const morphrec_recipe *r, const outline *whole, unsigned *nan);

/* Brings J to the fixpoint. */
int morphrec_tiles(struct gpu *g, const field *f, field_figures *figures);

/* Returns the bytes that this needs besides the field. */
size_t morphrec_tiles_bytes(const field *f);

/* The blocks of gpu_hold() that morphrec uses. */
enum { HOLD_J, HOLD_I, HOLD_QUEUE, HOLD_SAMPLES, HOLD_RIM, HOLD_NAN };

#endif
