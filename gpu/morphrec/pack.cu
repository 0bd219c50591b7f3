/*
 * Samples become keys in tiles (gpu/morphrec/field.h) and back: thread = word. The markers and results of operators are made on
 * the way, with the bytes of morphrec/ops/ops_body.h.
 *
 * Bound: per pixel a sample and a key, in and out of device memory.
 */
#include <math.h>

#include "gpu/morphrec/field.h"

namespace
{

/* Unsigned numbers of that many bits. */
template <unsigned bits>
using sample_bits =
    std::conditional_t<bits == 8, uint8_t,
		       std::conditional_t<bits == 16, uint16_t, typename keys<bits>::word>>;

/* morphrec/keys.h, in and out. */
template <unsigned bits>
__device__ u64
to_key(u64 v, struct key_map map)
{
	return bits == 8    ? key8_in((uint8_t)v, map)
	       : bits == 16 ? key16_in((uint16_t)v, map)
	       : bits == 32 ? key32_in((uint32_t)v, map)
			    : key64_in(v, map);
}

template <unsigned bits>
__device__ u64
from_key(u64 k, struct key_map map)
{
	return bits == 8    ? key8_out((uint8_t)k, map)
	       : bits == 16 ? key16_out((uint16_t)k, map)
	       : bits == 32 ? key32_out((uint32_t)k, map)
			    : key64_out(k, map);
}

/* Word i of the picture, counted over all rows; where it stands, and its first sample. */
struct spot {
	size_t at, sample;
	unsigned x; /* its first key in the row */
};

template <unsigned bits>
__device__ spot
spot_of(const field &f, size_t i)
{
	size_t z = i;
	const unsigned c = take_index(&z, f.tx * TILE_WORDS), y = take_index(&z, (unsigned)f.h);
	const unsigned x = c * keys<bits>::per;

	return {(z * f.slice + y + 1) * f.pitch + PAD + c, (z * f.h + y) * f.w + x, x};
}

/* Whether all keys of a word have samples, which are one word too. */
template <unsigned bits>
__device__ bool
is_whole(const field &f, const spot &s, size_t sample)
{
	return sample % keys<bits>::per == 0 && s.x + keys<bits>::per <= f.w;
}

/* The samples of a word, the first of which is number `from`. */
template <unsigned bits>
__device__ typename keys<bits>::word
samples_of(const field &f, const spot &s, const void *samples, size_t from)
{
	typedef typename keys<bits>::word word;
	const auto *v = static_cast<const sample_bits<bits> *>(samples);
	word all = 0;

	if (is_whole<bits>(f, s, from))
		return static_cast<const word *>(samples)[from / keys<bits>::per];
	for (unsigned b = 0; b < keys<bits>::per && s.x + b < f.w; b++)
		all |= (word)v[from + b] << b * bits % 64;
	return all;
}

/* Words first .. first + n - 1, counted so; sample: the first of theirs, which is where the samples begin. */
struct span {
	size_t first, n, sample;
};

template <unsigned bits>
__device__ void
pack(size_t i, const field &f, const span &part, void *words, const void *samples)
{
	typedef typename keys<bits>::word word;
	word w = 0;
	const spot s = spot_of<bits>(f, part.first + i);
	const word all = samples_of<bits>(f, s, samples, s.sample - part.sample);
	for (unsigned b = 0; b < keys<bits>::per && s.x + b < f.w; b++)
		w |= (word)to_key<bits>(keys<bits>::key(all, b), f.map) << b * bits % 64;
	static_cast<word *>(words)[s.at] = w;
}

/* --- what operators make ------------------------------------------------------------------------------------------- */

/* The value of a sample of a floating type; of others nothing asks for it. */
template <unsigned bits>
__device__ std::conditional_t<bits == 32, float, double>
value_of(u64 v)
{
	if constexpr (bits == 32)
		return __uint_as_float((unsigned)v);
	else
		return __longlong_as_double((long long)v);
}

__device__ u64
bits_of(float v)
{
	return __float_as_uint(v);
}

__device__ u64
bits_of(double v)
{
	return (u64)__double_as_longlong(v);
}

/* lower() of ops_body.h. */
template <unsigned bits>
__device__ u64
lowered(const field &f, const morphrec_recipe &r, u64 k)
{
	if (k <= r.floor || k - r.floor <= r.h)
		return k < r.floor ? k : r.floor;
	const u64 down = k - r.h;
	return down - (to_key<bits>(from_key<bits>(down, f.map), f.map) == k);
}

/* Whether sample x of a row is on the frame of the picture or volume. */
__device__ bool
on_frame(const field &f, const outline &whole, size_t row, size_t x)
{
	const size_t at = whole.row + row, y = at % whole.h, z = at / whole.h;

	return x == 0 || x + 1 == f.w || y == 0 || y + 1 == whole.h ||
	       (morphrec_is_volume(f.conn) && (z == 0 || z + 1 == whole.d));
}

/* The key of the marker for a sample v, which is number x of its row; *mask: that of the mask. Keys of 0 are walls. */
template <unsigned bits>
__device__ u64
marked(const field &f, const morphrec_recipe &r, const outline &whole, const spot &s, unsigned b,
       u64 v, u64 *mask)
{
	const u64 k = *mask;

	if (f.map.real && !k)
		return 0;
	switch (r.marker) {
	case MORPHREC_LOWERED:
		return lowered<bits>(f, r, k);
	case MORPHREC_SHIFTED: {
		const auto value = value_of<bits>(v);
		const u64 j = to_key<bits>(bits_of(value - (decltype(value))r.shift), f.map);
		return j < k ? j : k;
	}
	case MORPHREC_THRESHOLD:
		*mask = to_key<bits>(k >= r.lo ? r.yes : r.no, f.map);
		return to_key<bits>(k >= r.hi ? r.yes : r.no, f.map);
	default: {
		const u64 fill = to_key<bits>(r.fill, f.map);
		return fill >= k || on_frame(f, whole, (s.sample - s.x) / f.w, s.x + b) ? k : fill;
	}
	}
}

template <unsigned bits>
__device__ void
make(size_t i, const field &f, const span &part, const void *samples, const morphrec_recipe &r,
     const outline &whole, unsigned *nan)
{
	typedef typename keys<bits>::word word;
	word J = 0, I = 0;
	bool wall = false;
	const spot s = spot_of<bits>(f, part.first + i);
	const word all = samples_of<bits>(f, s, samples, s.sample - part.sample);
	for (unsigned b = 0; b < keys<bits>::per && s.x + b < f.w; b++) {
		const u64 v = keys<bits>::key(all, b);
		u64 mask = to_key<bits>(v, f.map);
		wall |= f.map.real && !mask;
		J |= (word)marked<bits>(f, r, whole, s, b, v, &mask) << b * bits % 64;
		I |= (word)mask << b * bits % 64;
	}
	static_cast<word *>(f.J)[s.at] = J;
	static_cast<word *>(f.I)[s.at] = I;
	if (wall)
		atomicOr(nan, 1u);
}

/* f - J: subtract() of ops_body.h and difference() of ops.c. A NaN becomes quiet and else keeps its bits. */
template <unsigned bits>
__device__ u64
difference(const field &f, const morphrec_recipe &r, u64 v, u64 key)
{
	if (!f.map.real) {
		const u64 d = (to_key<bits>(v, f.map) - key) & (~(u64)0 >> (64 - bits));
		return d < r.most ? d : r.most;
	}
	const auto x = value_of<bits>(v), y = value_of<bits>(from_key<bits>(key, f.map));
	if (x != x)
		return v | (u64)1 << (bits == 32 ? 22 : 51);
	return x == y ? 0 : y == -INFINITY ? v : bits_of(x - y);
}

/* The result for a sample v of the picture, of which the reconstruction has that key. */
template <unsigned bits>
__device__ u64
result_of(const field &f, const morphrec_recipe &r, u64 v, u64 key)
{
	if (r.result == MORPHREC_DIFFERENCE)
		return difference<bits>(f, r, v, key);
	if (r.result == MORPHREC_LEVEL)
		return from_key<bits>(key, f.map);
	const u64 k = to_key<bits>(v, f.map);
	return f.map.real && !k ? v : key < k ? r.yes : r.no;
}

template <unsigned bits>
__device__ void
unpack(size_t i, const field &f, const span &part, const void *words, void *samples,
       const morphrec_recipe &r)
{
	typedef sample_bits<bits> type;
	typedef typename keys<bits>::word word;

	const spot s = spot_of<bits>(f, part.first + i);
	const word w = static_cast<const word *>(words)[s.at];
	const size_t to = s.sample - part.sample;
	const bool level = r.result == MORPHREC_LEVEL;
	const word old = level ? 0 : samples_of<bits>(f, s, samples, to);
	word all = 0;
	for (unsigned b = 0; b < keys<bits>::per && s.x + b < f.w; b++) {
		const u64 v = result_of<bits>(f, r, keys<bits>::key(old, b), keys<bits>::key(w, b));
		all |= (word)v << b * bits % 64;
		if (!is_whole<bits>(f, s, to))
			static_cast<type *>(samples)[to + b] = (type)v;
	}
	if (is_whole<bits>(f, s, to))
		static_cast<word *>(samples)[to / keys<bits>::per] = all;
}

span
span_of(const field *f, size_t first, size_t n)
{
	const size_t words = (size_t)f->tx * TILE_WORDS * f->unit;

	return {first * words, n * words, first * f->unit * f->w};
}

/* Runs f<bits>(i, ..) for the words of s. */
#define EACH_WORD(g, f, s, kernel, ...)                                       \
	by_bits(f, [&](auto bits) {                                           \
		GPU_DO(gpu_begin(g));                                         \
		GPU_EACH(g, kernel<decltype(bits)::value>, s.n, __VA_ARGS__); \
		return gpu_end(g);                                            \
	})

} // namespace

int
morphrec_pack(struct gpu *g, const field *f, size_t first, size_t n, void *words,
	      const void *samples)
{
	const span s = span_of(f, first, n);

	return EACH_WORD(g, f, s, pack, *f, s, words, samples);
}

int
morphrec_unpack(struct gpu *g, const field *f, size_t first, size_t n, const void *words,
		void *samples, const morphrec_recipe *r)
{
	const span s = span_of(f, first, n);

	return EACH_WORD(g, f, s, unpack, *f, s, words, samples, *r);
}

int
morphrec_make(struct gpu *g, const field *f, size_t first, size_t n, const void *samples,
	      const morphrec_recipe *r, const outline *whole, unsigned *nan)
{
	const span s = span_of(f, first, n);

	return EACH_WORD(g, f, s, make, *f, s, samples, *r, *whole, nan);
}
