/*
 * A band of morphrec on a device: samples up, keys into tiles, the method, keys back, samples down.
 *
 * Where a device takes its work in several bands, copies run beside kernels. In this order:
 *
 *	its ends, as its neighbours now are, go up; marker and mask of the next band are told to gpu_ahead_here(); the method
 *	the two ends of the result come down, since they are ends of the neighbours; the rest comes down later
 *
 * Bound: 3 samples a pixel over the bus (marker and mask to the device, marker back); 2 where the marker is made on the device.
 */
#include "gpu/morphrec/band.h"

namespace
{

size_t
word_bytes(const field *f)
{
	return f->bits == 64 ? 8 : 4;
}

field
field_of(const job *o, size_t n)
{
	const unsigned per = o->size == 8 ? 1 : 4 / (unsigned)o->size;
	const size_t tile_w = TILE_WORDS * per;
	const size_t tile_h = o->size == 8 ? keys<64>::tile_h : keys<8>::tile_h;
	field f = {};

	f.bits = 8 * (unsigned)o->size;
	f.conn = o->p->what.conn;
	f.w = o->w;
	f.h = o->d > 1 ? o->h : n;
	f.d = o->d > 1 ? n : 1;
	f.unit = o->d > 1 ? o->h : 1;
	f.tx = (unsigned)((f.w + tile_w - 1) / tile_w);
	f.ty = (unsigned)((f.h + tile_h - 1) / tile_h);
	f.pitch = (size_t)f.tx * TILE_WORDS + PAD;
	f.slice = f.ty * tile_h + 1;
	f.lo = o->p->clip.lo;
	f.hi = o->p->clip.hi;
	f.map = o->map;
	return f;
}

bool
heaps(const job *o)
{
	return o->p->what.method == MORPHREC_HEAP;
}

size_t
bytes_of(const job *o, size_t n)
{
	return n * o->unit * o->size;
}

bool
same(const part &a, const part &b)
{
	return a.first == b.first && a.n == b.n;
}

size_t
with_rims(const job *o, size_t n)
{
	return n + (o->rim ? 2 : 0);
}

/*
 * Bytes on the device for one band of n units, or for several one after another; an eighth more, since blocks of memory
 * come in pages.
 */
size_t
band_bytes(const job *o, size_t n, bool several)
{
	const field f = field_of(o, with_rims(o, n));
	const size_t bytes = 2 * field_words(f) * word_bytes(&f) +
			     bytes_of(o, several ? 4 * n : n) + bytes_of(o, o->rim) +
			     (heaps(o) ? morphrec_heaps_bytes(&f) : morphrec_tiles_bytes(&f));

	return bytes + bytes / 8;
}

/* Where samples of a band are on the device: one place serves marker, mask and result, each in its turn. */
int
place_samples(const job *o, void **at)
{
	return gpu_hold(o->g, HOLD_SAMPLES, bytes_of(o, o->band), at);
}

/* Units of the picture beside a band, which its field holds too. */
struct rims {
	size_t before, behind;
};

rims
rims_of(const job *o, const part *a)
{
	return {o->rim && a->first > 0, o->rim && a->first + a->n < o->units};
}

/* The field of band a, which is in the same place for all bands. */
int
place_field(const job *o, const part *a, field *f)
{
	const rims r = rims_of(o, a);
	const field largest = field_of(o, with_rims(o, o->band));
	const size_t bytes = field_words(largest) * word_bytes(&largest);
	int err;

	*f = field_of(o, a->n + r.before + r.behind);
	if ((err = gpu_hold(o->g, HOLD_J, bytes, &f->J)))
		return err;
	return gpu_hold(o->g, HOLD_I, bytes, &f->I);
}

int
clear_words(const job *o, const field *f, void *words)
{
	GPU_TRY(o->g, cudaMemsetAsync(words, 0, field_words(*f) * word_bytes(f), o->g->stream[0]));
	return 0;
}

/* The words of the band, without its rims, unless they are there. */
int
take_band(job *o, const part *a, const field *f, size_t before)
{
	const size_t from = bytes_of(o, a->first), bytes = bytes_of(o, a->n);
	void *at;
	int err;

	if (same(o->here, *a))
		return 0;
	o->here = {};
	if ((err = place_samples(o, &at)))
		return err;
	for (int mask = 0; mask < 2 && !err; mask++) {
		void *const words = mask ? f->I : f->J;
		if (!(err = clear_words(o, f, words)) &&
		    !(err = gpu_up(o->g, at, (mask ? o->I : o->J) + from, bytes)))
			err = morphrec_pack(o->g, f, before, a->n, words, at);
	}
	return err;
}

/* Unit k of the field becomes unit `from` of the picture, and the mask there its marker. */
int
take_rim(const job *o, const field *f, size_t k, size_t from)
{
	const size_t rows = o->d > 1 ? f->slice : 1, bytes = word_bytes(f) * f->pitch;
	const part *const s = &o->share;
	const char *const host = from < s->first	   ? o->beyond[0]
				 : from >= s->first + s->n ? o->beyond[1]
							   : o->J + bytes_of(o, from);
	void *at;
	int err;

	if ((err = gpu_hold(o->g, HOLD_RIM, bytes_of(o, 1), &at)) ||
	    (err = gpu_up(o->g, at, host, bytes_of(o, 1))) ||
	    (err = morphrec_pack(o->g, f, k, 1, f->J, at)))
		return err;
	GPU_TRY(o->g, cudaMemcpyAsync((char *)f->I + (k * rows + 1) * bytes,
				      (char *)f->J + (k * rows + 1) * bytes, rows * bytes,
				      cudaMemcpyDeviceToDevice, o->g->stream[0]));
	return 0;
}

/* Units [first, first + n) of a result, of which the first is unit `from`. */
gpu_result
units_of(const job *o, const char *result, size_t from, size_t first, size_t n)
{
	return {o->J + bytes_of(o, first), result + bytes_of(o, first - from), bytes_of(o, n)};
}

const morphrec_recipe level = {}; /* the result is J itself */

/* Of a band that is a share, only what the shares beside it look at. */
int
give_ends(job *o, const part *a, const field *f)
{
	const rims r = rims_of(o, a);
	void *at;
	int err = gpu_hold(o->g, HOLD_RIM, bytes_of(o, 1), &at);

	for (int end = 0; end < 2 && !err; end++) {
		const size_t k = end ? a->n - 1 : 0;
		if (!(end ? r.behind : r.before))
			continue;
		if (!(err = morphrec_unpack(o->g, f, r.before + k, 1, f->J, at, &level)))
			err = gpu_down(o->g, o->J + bytes_of(o, a->first + k), at, bytes_of(o, 1));
	}
	return err;
}

/* The ends at once, the rest when there is time. */
int
give_band(job *o, const part *a, const field *f, size_t before)
{
	void *at;
	int err;

	if ((err = place_samples(o, &at)) ||
	    (err = morphrec_unpack(o->g, f, before, a->n, f->J, at, &level)))
		return err;
	for (int end = 0; end < 2; end++) {
		const gpu_result r = units_of(o, static_cast<const char *>(at), a->first,
					      end ? a->first + a->n - 1 : a->first, 1);
		if ((err = gpu_down(o->g, r.host, r.device, r.bytes)))
			return err;
	}
	if (a->n < 3)
		return 0;
	const gpu_result rest =
	    units_of(o, static_cast<const char *>(at), a->first, a->first + 1, a->n - 2);
	return gpu_later(o->g, &rest, 1);
}

/* The samples of the next band go up while this one is at work. */
void
announce(const job *o, const part *next)
{
	const size_t from = bytes_of(o, next->first), bytes = bytes_of(o, next->n);
	const gpu_span both[] = {{o->J + from, bytes}, {o->I + from, bytes}};

	if (next->n)
		gpu_ahead_here(o->g, both, 2);
}

} // namespace

size_t
band_units(job *o, size_t room)
{
	size_t lo = 0, hi = o->share.n;

	if (band_bytes(o, o->share.n, false) <= room)
		return o->share.n;
	while (hi - lo > 1) {
		const size_t mid = lo + (hi - lo) / 2;
		if (band_bytes(o, mid, true) <= room)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

int
band_settle(job *o, const part *a, const part *next, bool *changed)
{
	const rims r = rims_of(o, a);
	field_figures figures = {};
	field f;
	int err;

	if ((err = place_field(o, a, &f)) || (err = take_band(o, a, &f, r.before)) ||
	    (r.before && !o->blind && (err = take_rim(o, &f, 0, a->first - 1))) ||
	    (r.behind && !o->blind && (err = take_rim(o, &f, r.before + a->n, a->first + a->n))))
		return err;
	announce(o, next);
	err = heaps(o) ? morphrec_heaps(o->g, &f, &figures) : morphrec_tiles(o->g, &f, &figures);
	if (err)
		return err;
	o->here = *a;
	o->tiles += figures.tiles;
	o->visits += figures.visits;
	*changed = figures.changed > 0;
	if (o->made)
		return *changed || o->blind ? give_ends(o, a, &f) : 0;
	return *changed ? give_band(o, a, &f, r.before) : 0;
}

int
band_make(job *o)
{
	const part *const a = &o->share;
	const rims r = rims_of(o, a);
	void *at, *nan;
	unsigned any;
	field f;
	int err;

	if ((err = place_field(o, a, &f)) || (err = clear_words(o, &f, f.J)) ||
	    (err = clear_words(o, &f, f.I)) || (err = place_samples(o, &at)) ||
	    (err = gpu_hold(o->g, HOLD_NAN, sizeof any, &nan)))
		return err;
	GPU_TRY(o->g, cudaMemsetAsync(nan, 0, sizeof any, o->g->stream[0]));
	const outline whole = {(a->first - r.before) * f.unit, o->h, o->d};
	if ((err = gpu_up(o->g, at, o->I + bytes_of(o, a->first), bytes_of(o, a->n))) ||
	    (err = morphrec_make(o->g, &f, r.before, a->n, at, &o->recipe, &whole,
				 static_cast<unsigned *>(nan))))
		return err;
	if (f.map.real && (err = gpu_look(o->g, &any, nan, sizeof any)))
		return err;
	o->nan = f.map.real && any;
	o->here = *a;
	return 0;
}

/* The samples of the picture are where its result will be. */
int
band_finish(job *o)
{
	const part *const a = &o->share;
	void *at;
	field f;
	int err;

	if ((err = place_field(o, a, &f)) || (err = place_samples(o, &at)) ||
	    (err = morphrec_unpack(o->g, &f, rims_of(o, a).before, a->n, f.J, at, &o->recipe)))
		return err;
	const gpu_result all = {o->J + bytes_of(o, a->first), at, bytes_of(o, a->n)};
	return gpu_later(o->g, &all, 1);
}
