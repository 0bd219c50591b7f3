/*
 * The host's side of morphrec on the GPU: samples become keys in tiles (morphrec_field.h) and back, thread = word; and what
 * the device's memory does not hold goes there in bands of rows, or of slices of a volume.
 *
 * A band is taken with one row beyond each end, whose mask is made equal to its marker: it takes part and stays as it is. Bands
 * run to their own fixpoints until none has changed since its neighbours last did.
 *
 * Bound: 4 samples a pixel over the bus (marker and mask to the device, marker back, and the words' own copies there).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/morphrec_field.h"

extern "C" {
#include "gpu/morphrec.h"
}

namespace
{

/* The samples of the part that is on the device: rows (images) or slices (volumes) first .. first + n - 1. */
struct part {
	size_t first, n;
};

/* --- samples and keys ---------------------------------------------------------------------------------------------- */

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
	const size_t row = (size_t)f.tx * TILE_WORDS, c = i % row, y = i / row % f.h,
		     z = i / row / f.h;
	const unsigned x = (unsigned)c * keys<bits>::per;

	return {(z * f.slice + y + 1) * f.pitch + PAD + c, (z * f.h + y) * f.w + x, x};
}

template <unsigned bits>
__global__ void
pack(const field f, void *words, const void *samples, bool real, u64 flip)
{
	typedef typename keys<bits>::word word;
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	const typename raw_type<bits>::type *v =
	    static_cast<const typename raw_type<bits>::type *>(samples);
	word w = 0;

	if (i >= (size_t)f.tx * TILE_WORDS * f.h * f.d)
		return;
	const spot s = spot_of<bits>(f, i);
	for (unsigned b = 0; b < keys<bits>::per && s.x + b < f.w; b++)
		w |= (word)to_key<bits>(v[s.sample + b], real, flip) << b * bits % 64;
	static_cast<word *>(words)[s.at] = w;
}

template <unsigned bits>
__global__ void
unpack(const field f, const void *words, void *samples, bool real, u64 flip)
{
	typedef typename raw_type<bits>::type type;
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= (size_t)f.tx * TILE_WORDS * f.h * f.d)
		return;
	const spot s = spot_of<bits>(f, i);
	const typename keys<bits>::word w =
	    static_cast<const typename keys<bits>::word *>(words)[s.at];
	for (unsigned b = 0; b < keys<bits>::per && s.x + b < f.w; b++)
		static_cast<type *>(samples)[s.sample + b] =
		    (type)from_key<bits>(keys<bits>::key(w, b), real, flip);
}

/* --- one part ------------------------------------------------------------------------------------------------------ */

struct job {
	struct gpu *g;
	struct morphrec_plan *p;
	struct key_map map;
	size_t size; /* bytes of a sample */
	char *J;
	const char *I;
	size_t w, h, d;	    /* of the picture or volume that J and I now are */
	size_t units, unit; /* rows or slices, and samples of one */
	bool rim;	    /* a band touches the ones beside it; not so the slices of a stack */
};

size_t
word_bytes(const field *f)
{
	return f->bits == 64 ? 8 : 4;
}

void
field_shape(const job *o, size_t n, field *f)
{
	const unsigned per = o->size == 8 ? 1 : 4 / (unsigned)o->size;
	const size_t tile_w = TILE_WORDS * per;
	const size_t tile_h = o->size == 8 ? keys<64>::tile_h : keys<8>::tile_h;

	*f = {};
	f->bits = 8 * (unsigned)o->size;
	f->conn = o->p->what.conn;
	f->w = o->w;
	f->h = o->d > 1 ? o->h : n;
	f->d = o->d > 1 ? n : 1;
	f->tx = (unsigned)((f->w + tile_w - 1) / tile_w);
	f->ty = (unsigned)((f->h + tile_h - 1) / tile_h);
	f->pitch = (size_t)f->tx * TILE_WORDS + PAD;
	f->slice = f->ty * tile_h + 1;
	f->lo = o->p->clip.lo;
	f->hi = o->p->clip.hi;
}

bool
heaps(const job *o)
{
	return o->p->what.method == MORPHREC_HEAP;
}

/* Bytes on the device for n rows or slices; an eighth more, since blocks of memory come in pages. */
size_t
part_bytes(const job *o, size_t n)
{
	field f;

	field_shape(o, n, &f);
	const size_t bytes = 2 * field_words(f) * word_bytes(&f) + n * o->unit * o->size +
			     (heaps(o) ? morphrec_heaps_bytes(&f) : morphrec_tiles_bytes(&f));
	return bytes + bytes / 8;
}

template <unsigned bits>
int
bring(const job *o, const field *f, void *words, void *raw, const char *host, size_t first,
      size_t n)
{
	const size_t count = (size_t)f->tx * TILE_WORDS * f->h * f->d, bytes = o->unit * o->size;
	int err = gpu_up(o->g, raw, host + first * bytes, n * bytes);

	if (err)
		return err;
	GPU_TRY(o->g, cudaMemsetAsync(words, 0, field_words(*f) * word_bytes(f), o->g->stream[0]));
	if ((err = gpu_begin(o->g)))
		return err;
	GPU_LAUNCH(o->g, pack<bits>, (unsigned)((count + 255) / 256), 256, 0, *f, words, raw,
		   o->map.real, o->map.flip);
	return gpu_end(o->g);
}

/* The mask of row or slice k of the part becomes its marker. */
int
freeze(const job *o, const field *f, size_t k)
{
	const size_t rows = o->d > 1 ? f->slice : 1, bytes = word_bytes(f) * f->pitch;

	GPU_TRY(o->g, cudaMemcpyAsync((char *)f->I + (k * rows + 1) * bytes,
				      (char *)f->J + (k * rows + 1) * bytes, rows * bytes,
				      cudaMemcpyDeviceToDevice, o->g->stream[0]));
	return 0;
}

template <unsigned bits>
int
take_back(const job *o, const field *f, void *raw, size_t skip, const part *a)
{
	const size_t count = (size_t)f->tx * TILE_WORDS * f->h * f->d, bytes = o->unit * o->size;
	int err = gpu_begin(o->g);

	if (err)
		return err;
	GPU_LAUNCH(o->g, unpack<bits>, (unsigned)((count + 255) / 256), 256, 0, *f, f->J, raw,
		   o->map.real, o->map.flip);
	if ((err = gpu_end(o->g)))
		return err;
	return gpu_down(o->g, o->J + a->first * bytes, (char *)raw + skip * bytes, a->n * bytes);
}

/* Part a to its fixpoint between its neighbours as they are. */
template <unsigned bits>
int
settle_part(const job *o, const part *a, field_figures *figures)
{
	const size_t before = o->rim && a->first > 0, behind = o->rim && a->first + a->n < o->units;
	const size_t n = a->n + before + behind;
	void *raw;
	field f;
	int err;

	field_shape(o, n, &f);
	const size_t bytes = field_words(f) * word_bytes(&f);
	if ((err = gpu_hold(o->g, HOLD_J, bytes, &f.J)) ||
	    (err = gpu_hold(o->g, HOLD_I, bytes, &f.I)) ||
	    (err = gpu_hold(o->g, HOLD_RAW, n * o->unit * o->size, &raw)) ||
	    (err = bring<bits>(o, &f, f.J, raw, o->J, a->first - before, n)) ||
	    (err = bring<bits>(o, &f, f.I, raw, o->I, a->first - before, n)) ||
	    (before && (err = freeze(o, &f, 0))) || (behind && (err = freeze(o, &f, n - 1))) ||
	    (err =
		 heaps(o) ? morphrec_heaps(o->g, &f, figures) : morphrec_tiles(o->g, &f, figures)))
		return err;
	o->p->figures.tiles += figures->tiles;
	o->p->figures.visits += figures->visits;
	return figures->changed ? take_back<bits>(o, &f, raw, before, a) : 0;
}

int
settle(const job *o, const part *a, bool *changed)
{
	field_figures figures = {};
	const int err = o->size == 1   ? settle_part<8>(o, a, &figures)
			: o->size == 2 ? settle_part<16>(o, a, &figures)
			: o->size == 4 ? settle_part<32>(o, a, &figures)
				       : settle_part<64>(o, a, &figures);

	*changed = figures.changed > 0;
	return err;
}

/* --- bands --------------------------------------------------------------------------------------------------------- */

/* How many rows or slices fit at a time, their two neighbours beside them; all of them where they do. 0: none. */
size_t
band_units(const job *o, size_t room)
{
	size_t lo = 0, hi = o->units;

	if (part_bytes(o, o->units) <= room)
		return o->units;
	while (hi - lo > 1) {
		const size_t mid = lo + (hi - lo) / 2;
		if (part_bytes(o, mid + (o->rim ? 2 : 0)) <= room)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* Bands down and up, those owed something only, until none is. */
int
settle_bands(const job *o, size_t units)
{
	const size_t n = (o->units + units - 1) / units;
	char *owed = static_cast<char *>(malloc(n + 2)); /* that of band b at b + 1 */
	int err = owed ? 0 : -ENOMEM;

	if (owed)
		memset(owed, 1, n + 2);
	for (bool again = true, up = false; again && !err; up = !up) {
		again = false;
		for (size_t k = 0; k < n && !err; k++) {
			const size_t b = up ? n - 1 - k : k, first = b * units;
			const part a = {first, o->units - first < units ? o->units - first : units};
			bool changed;
			if (!owed[b + 1])
				continue;
			owed[b + 1] = 0;
			err = settle(o, &a, &changed);
			if (changed && o->rim)
				owed[b] = owed[b + 2] = 1;
			again = true;
		}
	}
	free(owed);
	return err;
}

/* The picture, stack or volume of o, in as few bands as the device's memory asks for; *units: of a band, 0: none fits. */
int
in_bands(job *o, bool rim, size_t *units)
{
	size_t room;
	int err;

	o->rim = rim;
	o->units = o->d > 1 ? o->d : o->h;
	o->unit = o->d > 1 ? o->w * o->h : o->w;
	if ((err = gpu_room(o->g, &room)))
		return err;
	*units = band_units(o, room);
	if (*units)
		return settle_bands(o, *units);
	snprintf(o->g->why, sizeof o->g->why,
		 "%zu bytes of device memory hold no band of %s of the picture", room,
		 o->d > 1 ? "slices" : "rows");
	return 0;
}

int
reconstruct(job *o)
{
	const int conn = o->p->what.conn;
	const bool volume = o->d > 1 && conn != 4 && conn != 8;
	size_t units, slices = o->d;
	int err = in_bands(o, volume || o->d == 1, &units);

	if (err || units)
		return err;
	if (volume || o->d == 1)
		return -EIO;
	o->d = 1; /* a stack of pictures, each too large by itself */
	for (size_t z = 0; z < slices && !err; z++) {
		if (!(err = in_bands(o, true, &units)) && !units)
			err = -EIO;
		o->J += o->w * o->h * o->size;
		o->I += o->w * o->h * o->size;
	}
	return err;
}

} // namespace

int
gpu_morphrec_run(struct gpu *g, struct morphrec_plan *p, void *J, const void *I)
{
	const struct morphrec_problem *what = &p->what;
	job o = {};

	if (what->method != MORPHREC_TILE && what->method != MORPHREC_HEAP)
		return -ENOTSUP;
	o.g = g;
	o.p = p;
	o.map = morphrec_keys(what);
	o.size = img_type_size(what->type);
	o.J = static_cast<char *>(J);
	o.I = static_cast<const char *>(I);
	o.w = what->w;
	o.h = what->h;
	o.d = what->d;
	return reconstruct(&o);
}
