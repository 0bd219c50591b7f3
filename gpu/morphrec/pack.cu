/*
 * Samples become keys in tiles (gpu/morphrec/field.h) and back: thread = word.
 *
 * Bound: per pixel a sample and a key, in and out of device memory.
 */
#include "gpu/morphrec/field.h"

namespace
{

/* Unsigned numbers of that many bits. */
template <unsigned bits> struct raw_type;
template <> struct raw_type<8> {
	typedef uint8_t type;
};
template <> struct raw_type<16> {
	typedef uint16_t type;
};
template <> struct raw_type<32> {
	typedef uint32_t type;
};
template <> struct raw_type<64> {
	typedef u64 type;
};

/* morphrec/keys.h, in and out. */
template <unsigned bits>
__device__ u64
to_key(u64 v, bool real, u64 flip)
{
	const u64 top = (u64)1 << (bits - 1), inf = bits == 32 ? 0x7f800000u : 0x7ff0000000000000u;

	if (!real)
		return v ^ flip;
	if ((v & ~top) > inf)
		return 0;
	v = v == top ? 0 : v;
	return ((v & top) ? ~v & (top | (top - 1)) : v | top) ^ flip;
}

template <unsigned bits>
__device__ u64
from_key(u64 k, bool real, u64 flip)
{
	const u64 top = (u64)1 << (bits - 1);

	k ^= flip;
	if (!real)
		return k;
	return k & top ? k ^ top : ~k & (top | (top - 1));
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

/* Words first .. first + n - 1, counted so; sample: the first of theirs, which is where the samples begin. */
struct span {
	size_t first, n, sample;
};

template <unsigned bits>
__global__ void
pack(const field f, const span part, void *words, const void *samples, bool real, u64 flip)
{
	typedef typename keys<bits>::word word;
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	const typename raw_type<bits>::type *v =
	    static_cast<const typename raw_type<bits>::type *>(samples);
	word w = 0;

	if (i >= part.n)
		return;
	const spot s = spot_of<bits>(f, part.first + i);
	const size_t from = s.sample - part.sample;
	if (is_whole<bits>(f, s, from)) {
		const word all = static_cast<const word *>(samples)[from / keys<bits>::per];
		for (unsigned b = 0; b < keys<bits>::per; b++)
			w |= (word)to_key<bits>(keys<bits>::key(all, b), real, flip)
			     << b * bits % 64;
	} else {
		for (unsigned b = 0; b < keys<bits>::per && s.x + b < f.w; b++)
			w |= (word)to_key<bits>(v[from + b], real, flip) << b * bits % 64;
	}
	static_cast<word *>(words)[s.at] = w;
}

template <unsigned bits>
__global__ void
unpack(const field f, const span part, const void *words, void *samples, bool real, u64 flip)
{
	typedef typename raw_type<bits>::type type;
	typedef typename keys<bits>::word word;
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= part.n)
		return;
	const spot s = spot_of<bits>(f, part.first + i);
	const word w = static_cast<const word *>(words)[s.at];
	const size_t to = s.sample - part.sample;
	word all = 0;
	for (unsigned b = 0; b < keys<bits>::per && s.x + b < f.w; b++) {
		const u64 v = from_key<bits>(keys<bits>::key(w, b), real, flip);
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

template <unsigned bits>
int
to_words(struct gpu *g, const field *f, const span &s, void *words, const void *samples)
{
	int err = gpu_begin(g);

	if (err)
		return err;
	GPU_LAUNCH(g, pack<bits>, (unsigned)((s.n + 255) / 256), 256, 0, *f, s, words, samples,
		   f->real, f->flip);
	return gpu_end(g);
}

template <unsigned bits>
int
to_samples(struct gpu *g, const field *f, const span &s, const void *words, void *samples)
{
	int err = gpu_begin(g);

	if (err)
		return err;
	GPU_LAUNCH(g, unpack<bits>, (unsigned)((s.n + 255) / 256), 256, 0, *f, s, words, samples,
		   f->real, f->flip);
	return gpu_end(g);
}

} // namespace

int
morphrec_pack(struct gpu *g, const field *f, size_t first, size_t n, void *words,
	      const void *samples)
{
	const span s = span_of(f, first, n);

	return f->bits == 8    ? to_words<8>(g, f, s, words, samples)
	       : f->bits == 16 ? to_words<16>(g, f, s, words, samples)
	       : f->bits == 32 ? to_words<32>(g, f, s, words, samples)
			       : to_words<64>(g, f, s, words, samples);
}

int
morphrec_unpack(struct gpu *g, const field *f, size_t first, size_t n, const void *words,
		void *samples)
{
	const span s = span_of(f, first, n);

	return f->bits == 8    ? to_samples<8>(g, f, s, words, samples)
	       : f->bits == 16 ? to_samples<16>(g, f, s, words, samples)
	       : f->bits == 32 ? to_samples<32>(g, f, s, words, samples)
			       : to_samples<64>(g, f, s, words, samples);
}
