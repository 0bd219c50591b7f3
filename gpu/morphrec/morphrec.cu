/*
 * The host's side of morphrec on GPUs: each device gets a share of the rows (of the slices of a volume, of the pictures of a
 * stack), and takes it in as few bands as its memory asks for.
 *
 * A device takes its bands down and up until none of them is owed anything, with the rows beside its share as they were when
 * that began; then the shares look at each other's rows. All end when no row beside a share has changed. The fixpoint is
 * unique, so it does not matter who was first.
 *
 * A band: samples up, keys into tiles, the method, keys back, samples down.
 *
 * Where a device takes its work in several bands, copies run beside kernels. In this order:
 *
 *	its ends, as its neighbours now are, go up; marker and mask of the next band are told to gpu_ahead_here(); the method
 *	the two ends of the result come down, since they are ends of the neighbours; the rest comes down later
 *
 * Bound: 3 samples a pixel over the bus (marker and mask to the device, marker back); 2 where the marker is made on the device.
 */
#include "gpu/morphrec/field.h"

#include <stdio.h>
#include <string.h>

extern "C" {
#include "gpu/morphrec/morphrec.h"
}

namespace
{

/* Units first .. first + n - 1. */
struct part {
	size_t first, n;
};

struct job {
	struct gpu *g;
	struct morphrec_plan *p;
	struct key_map map;
	size_t size; /* bytes of a sample */
	char *J;
	const char *I;
	size_t w, h, d;	    /* sizes of the picture or volume at J and I */
	size_t units, unit; /* rows or slices, and samples of one */
	bool rim;	    /* bands touch each other; false for the slices of a stack */

	/*
	 * made: marker and mask are made of the picture at I by this recipe, and the result of both comes to J. Each share is then
	 * one band. blind: units beside the share are not known yet. nan: the picture has a NaN.
	 */
	morphrec_recipe recipe;
	bool made, blind, nan;

	part share; /* the units of this device */
	/* The units of J before and behind the share, as they were at the start. */
	char *beyond[2];
	size_t band;	      /* units of a band */
	char *owed;	      /* owed[b + 1]: band b may have something to do */
	void *held;	      /* the memory of both, owned */
	part here;	      /* the band whose words on the device are up to date; n = 0: none */
	size_t tiles, visits; /* for the figures */
};

/* --- one band --------------------------------------------------------------------------------------------------------- */

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

size_t
bytes_of(const job *o, size_t n)
{
	return n * o->unit * o->size;
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
			     morphrec_tiles_bytes(&f);

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

	*f = field_of(o, a->n + r.before + r.behind);
	GPU_DO(gpu_hold(o->g, HOLD_J, bytes, &f->J));
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

	if (o->here.first == a->first && o->here.n == a->n)
		return 0;
	o->here = {};
	GPU_DO(place_samples(o, &at));
	for (int mask = 0; mask < 2; mask++) {
		void *const words = mask ? f->I : f->J;
		GPU_DO(clear_words(o, f, words));
		GPU_DO(gpu_up(o->g, at, (mask ? o->I : o->J) + from, bytes));
		GPU_DO(morphrec_pack(o->g, f, before, a->n, words, at));
	}
	return 0;
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

	GPU_DO(gpu_hold(o->g, HOLD_RIM, bytes_of(o, 1), &at));
	GPU_DO(gpu_up(o->g, at, host, bytes_of(o, 1)));
	GPU_DO(morphrec_pack(o->g, f, k, 1, f->J, at));
	GPU_TRY(o->g, cudaMemcpyAsync((char *)f->I + (k * rows + 1) * bytes,
				      (char *)f->J + (k * rows + 1) * bytes, rows * bytes,
				      cudaMemcpyDeviceToDevice, o->g->stream[0]));
	return 0;
}

const morphrec_recipe level = {}; /* the result is J itself */

/* Of a band that is a share, only what the shares beside it look at. */
int
give_ends(job *o, const part *a, const field *f)
{
	const rims r = rims_of(o, a);
	void *at;

	GPU_DO(gpu_hold(o->g, HOLD_RIM, bytes_of(o, 1), &at));
	for (int end = 0; end < 2; end++) {
		const size_t k = end ? a->n - 1 : 0;
		if (!(end ? r.behind : r.before))
			continue;
		GPU_DO(morphrec_unpack(o->g, f, r.before + k, 1, f->J, at, &level));
		GPU_DO(gpu_down(o->g, o->J + bytes_of(o, a->first + k), at, bytes_of(o, 1)));
	}
	return 0;
}

/* The ends at once, the rest when there is time. */
int
give_band(job *o, const part *a, const field *f, size_t before)
{
	void *at;

	GPU_DO(place_samples(o, &at));
	GPU_DO(morphrec_unpack(o->g, f, before, a->n, f->J, at, &level));
	char *const host = o->J + bytes_of(o, a->first);
	const char *const from = static_cast<const char *>(at);
	const size_t one = bytes_of(o, 1), last = bytes_of(o, a->n - 1);
	GPU_DO(gpu_down(o->g, host, from, one));
	GPU_DO(gpu_down(o->g, host + last, from + last, one));
	if (a->n < 3)
		return 0;
	const gpu_result rest = {host + one, from + one, last - one};
	return gpu_later(o->g, &rest, 1);
}

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
	const size_t from = bytes_of(o, next->first), bytes = bytes_of(o, next->n);
	const gpu_span ahead[] = {{o->J + from, bytes}, {o->I + from, bytes}};
	field_figures figures = {};
	field f;

	GPU_DO(place_field(o, a, &f));
	GPU_DO(take_band(o, a, &f, r.before));
	if (r.before && !o->blind)
		GPU_DO(take_rim(o, &f, 0, a->first - 1));
	if (r.behind && !o->blind)
		GPU_DO(take_rim(o, &f, r.before + a->n, a->first + a->n));
	if (next->n) /* its samples go up while this one is at work */
		gpu_ahead_here(o->g, ahead, 2);
	GPU_DO(morphrec_tiles(o->g, &f, &figures));
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

	GPU_DO(place_field(o, a, &f));
	GPU_DO(clear_words(o, &f, f.J));
	GPU_DO(clear_words(o, &f, f.I));
	GPU_DO(place_samples(o, &at));
	GPU_DO(gpu_hold(o->g, HOLD_NAN, sizeof any, &nan));
	GPU_TRY(o->g, cudaMemsetAsync(nan, 0, sizeof any, o->g->stream[0]));
	const outline whole = {(a->first - r.before) * f.unit, o->h, o->d};
	GPU_DO(gpu_up(o->g, at, o->I + bytes_of(o, a->first), bytes_of(o, a->n)));
	GPU_DO(morphrec_make(o->g, &f, r.before, a->n, at, &o->recipe, &whole,
			     static_cast<unsigned *>(nan)));
	if (f.map.real)
		GPU_DO(gpu_look(o->g, &any, nan, sizeof any));
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

	GPU_DO(place_field(o, a, &f));
	GPU_DO(place_samples(o, &at));
	GPU_DO(morphrec_unpack(o->g, &f, rims_of(o, a).before, a->n, f.J, at, &o->recipe));
	const gpu_result all = {o->J + bytes_of(o, a->first), at, bytes_of(o, a->n)};
	GPU_DO(gpu_later(o->g, &all, 1));
	return gpu_settle_here(o->g, NULL, 0);
}

/* --- one device ---------------------------------------------------------------------------------------------------- */

size_t
bands_of(const job *o)
{
	return (o->share.n + o->band - 1) / o->band;
}

part
band_at(const job *o, size_t b)
{
	const size_t at = b * o->band, rest = o->share.n - at;

	return {o->share.first + at, rest < o->band ? rest : o->band};
}

/* The next band that is owed something as far as is known, in that direction. */
part
band_after(const job *o, size_t b, bool up)
{
	const size_t n = bands_of(o);

	for (size_t k = 1; k < n; k++) {
		const size_t next = up ? b - k : b + k;
		if (next >= n)
			break;
		if (o->owed[next + 1])
			return band_at(o, next);
	}
	return {0, 0};
}

/* A share between its neighbours as they were: all its bands in one direction, then in the other, until none is owed anything. */
int
settle_share(job *o)
{
	const size_t n = bands_of(o);
	int err = 0;

	for (bool up = false; !err && memchr(o->owed + 1, 1, n); up = !up)
		for (size_t k = 0; k < n && !err; k++) {
			const size_t b = up ? n - 1 - k : k;
			const part a = band_at(o, b), next = band_after(o, b, up);
			bool changed = false;
			if (!o->owed[b + 1])
				continue;
			o->owed[b + 1] = 0;
			err = band_settle(o, &a, &next, &changed);
			if (changed && o->rim)
				o->owed[b] = o->owed[b + 2] = 1;
		}
	gpu_ahead_here(o->g, NULL, 0);
	return err ? err : gpu_settle_here(o->g, NULL, 0);
}

int
measure_share(struct gpu *g, job *o)
{
	size_t room;
	const int err = gpu_room(g, &room);

	o->g = g;
	if (err || !o->share.n)
		return err;
	o->band = band_units(o, room);
	if (o->band)
		return 0;
	snprintf(g->why, sizeof g->why,
		 "%zu bytes of device memory hold no band of %s of the picture", room,
		 o->d > 1 ? "slices" : "rows");
	return -EFBIG;
}

/* --- all devices --------------------------------------------------------------------------------------------------- */

/* Calls run(job) of each device that has a share. */
int
each_share(struct gpu *g, job *o, int (*run)(job *))
{
	return gpu_each(g, [=](struct gpu *, size_t i) { return o[i].share.n ? run(o + i) : 0; });
}

/* o[0] becomes a job for each device. */
int
share_out(struct gpu *g, job *o, size_t n, bool rim)
{
	o->rim = rim;
	o->units = o->d > 1 ? o->d : o->h;
	o->unit = o->d > 1 ? o->w * o->h : o->w;
	for (size_t i = n; i--;) {
		o[i] = o[0];
		o[i].share.first = o->units * i / n;
		o[i].share.n = o->units * (i + 1) / n - o[i].share.first;
	}
	int err =
	    gpu_each(g, [=](struct gpu *device, size_t i) { return measure_share(device, o + i); });
	for (size_t i = 0; i < n && !err; i++) {
		if (!o[i].share.n)
			continue;
		o[i].held = gpu_place_on_host([=](gpu_block *b) {
			o[i].owed = gpu_take<char>(b, bands_of(&o[i]) + 2);
			gpu_take_all(b, bytes_of(o, 1), &o[i].beyond[0], &o[i].beyond[1]);
		});
		if (o[i].held)
			memset(o[i].owed, 1, bands_of(&o[i]) + 2);
		else
			err = -ENOMEM;
	}
	return err;
}

void
dismiss(job *o, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		o->p->figures.tiles += o[i].tiles;
		o->p->figures.visits += o[i].visits;
		o[i].tiles = o[i].visits = 0;
		weir_free(o[i].held);
		o[i].held = NULL;
	}
}

/* Looks at the units beside share o; those that have changed since, or all at first, are owed to its first or last band. */
bool
look_beside(job *o, bool first)
{
	const size_t after = o->share.first + o->share.n;
	bool owed = first && !o->made;

	if (!o->share.n || !o->rim)
		return owed;
	for (int end = 0; end < 2; end++) {
		if (end ? after == o->units : o->share.first == 0)
			continue;
		const char *const now = o->J + (end ? after : o->share.first - 1) * bytes_of(o, 1);
		if (first || memcmp(o->beyond[end], now, bytes_of(o, 1))) {
			o->owed[end ? bands_of(o) : 1] = 1;
			owed = true;
		}
		memcpy(o->beyond[end], now, bytes_of(o, 1));
	}
	return owed;
}

/* Until no unit beside a share has changed. */
int
settle_shares(struct gpu *g, job *o, size_t n)
{
	for (bool first = true, again = true; again; first = false) {
		again = false;
		for (size_t i = 0; i < n; i++)
			again |= look_beside(&o[i], first);
		if (again)
			GPU_DO(each_share(g, o, settle_share));
	}
	return 0;
}

/* The picture, stack or volume of o. -EFBIG: a device holds no band of it. */
int
in_shares(struct gpu *g, job *o, bool rim)
{
	const size_t n = gpu_count(g);
	const gpu_at_end done{[=] { dismiss(o, n); }};

	GPU_DO(share_out(g, o, n, rim));
	return settle_shares(g, o, n);
}

/*
 * The same where the devices make the marker. A share knows the units beside it only when all shares have been settled once
 * without them. -ENOTSUP: a share is more than one band; -EDOM: there is a NaN and no walls. J is then as it was.
 */
int
make_in_shares(struct gpu *g, job *o, bool rim, bool walls)
{
	const size_t n = gpu_count(g);
	const gpu_at_end done{[=] { dismiss(o, n); }};
	const int err = share_out(g, o, n, rim);

	if (err)
		return err == -EFBIG ? -ENOTSUP : err;
	for (size_t i = 0; i < n; i++)
		if (o[i].share.n > o[i].band)
			return -ENOTSUP;
	GPU_DO(each_share(g, o, band_make));
	for (size_t i = 0; i < n; i++) {
		if (o[i].nan && !walls)
			return -EDOM;
		o[i].blind = true;
	}
	GPU_DO(each_share(g, o, settle_share));
	for (size_t i = 0; i < n; i++)
		o[i].blind = false;
	GPU_DO(settle_shares(g, o, n));
	return each_share(g, o, band_finish);
}

/* Jobs for all devices, of which the first holds the whole. NULL: no memory. */
job *
jobs_of(struct gpu *g, struct morphrec_plan *p, void *J, const void *I)
{
	const struct morphrec_problem *what = &p->what;
	job *const o = static_cast<job *>(weir_calloc(gpu_count(g), sizeof *o));

	if (!o)
		return NULL;
	o->p = p;
	o->map = morphrec_keys(what);
	o->size = img_type_size(what->type);
	o->J = static_cast<char *>(J);
	o->I = static_cast<const char *>(I);
	o->w = what->w;
	o->h = what->h;
	o->d = what->d;
	return o;
}

/* Whether a picture or volume of f is all at the floor, where no marker is lower. */
bool
any_floor(const struct morphrec_problem *what, const struct morphrec_operator *o, const void *f)
{
	struct morphrec_problem one = *what;
	const size_t pieces = morphrec_is_volume(what->conn) ? 1 : what->d;
	const size_t bytes = what->w * what->h * what->d / pieces * img_type_size(what->type);
	size_t i = 0;

	one.d /= pieces;
	while (i < pieces && !morphrec_all_floor(&one, o, static_cast<const char *>(f) + i * bytes))
		i++;
	return i < pieces;
}

/* The range of keys, of a few thousand samples: it only says which tiles come first. */
void
guess_range(struct morphrec_plan *p, const job *o)
{
	const size_t n = o->w * o->h * o->d, step = n / 4096 + 1;

	p->clip = clip_nothing();
	for (size_t i = 0; i < n; i += step) {
		const uint64_t k = key_get(o->size, o->I, i, o->map);
		p->clip.lo = k < p->clip.lo ? k : p->clip.lo;
		p->clip.hi = k > p->clip.hi ? k : p->clip.hi;
	}
}

} // namespace

int
gpu_morphrec_run(struct gpu *g, struct morphrec_plan *p, void *J, const void *I)
{
	job *const o = jobs_of(g, p, J, I);
	const gpu_at_end done{[=] { weir_free(o); }};

	if (!o)
		return -ENOMEM;
	job whole = *o;
	const size_t slices = o->d, bytes = o->w * o->h * o->size;
	const bool rim = slices == 1 || morphrec_is_volume(p->what.conn);
	int err = in_shares(g, o, rim);
	if (err == -EFBIG && !rim) {
		whole.d = 1; /* a stack of pictures, each too large by itself */
		err = 0;
		for (size_t z = 0; z < slices && !err; z++) {
			*o = whole;
			err = in_shares(g, o, true);
			whole.J += bytes;
			whole.I += bytes;
		}
	}
	return err == -EFBIG ? -EIO : err;
}

int
gpu_morphrec_operate(struct gpu *g, struct morphrec_plan *p, const struct morphrec_operator *op,
		     bool walls, void *J, const void *f)
{
	const struct morphrec_recipe recipe = morphrec_recipe_of(&p->what, op);

	if (recipe.marker == MORPHREC_GIVEN || op->open || op->cut[0] || op->cut[1] ||
	    (recipe.result == MORPHREC_BELOW && any_floor(&p->what, op, f)))
		return -ENOTSUP;
	job *const o = jobs_of(g, p, J, f);
	if (!o)
		return -ENOMEM;
	guess_range(p, o);
	o->recipe = recipe;
	o->made = true;
	const int err = make_in_shares(g, o, o->d == 1 || morphrec_is_volume(p->what.conn), walls);
	weir_free(o);
	return err;
}
