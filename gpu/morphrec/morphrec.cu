/*
 * The host's side of morphrec on GPUs: each device gets a share of the rows (of the slices of a volume, of the pictures of a
 * stack), and takes it in as few bands as its memory asks for: gpu/morphrec/band.h.
 *
 * A device takes its bands down and up until none of them is owed anything, with the rows beside its share as they were when
 * that began; then the shares look at each other's rows. All end when no row beside a share has changed. The fixpoint is
 * unique, so it does not matter who was first.
 */
#include <stdio.h>
#include <string.h>

#include "gpu/morphrec/band.h"

extern "C" {
#include "common/base/mem.h"
}

namespace
{

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

/* All bands of a share in one direction; *any: there was something to do. */
int
sweep(job *o, bool up, bool *any)
{
	const size_t n = bands_of(o);
	int err = 0;

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
		*any = true;
	}
	return err;
}

/* A share between its neighbours as they were. */
int
settle_share(struct gpu *, size_t i, void *jobs)
{
	job *const o = static_cast<job *>(jobs) + i;
	int err = 0;

	for (bool again = o->share.n > 0, up = false; again && !err; up = !up) {
		again = false;
		err = sweep(o, up, &again);
	}
	gpu_ahead_here(o->g, NULL, 0);
	return err ? err : gpu_settle_here(o->g, NULL, 0);
}

int
measure_share(struct gpu *g, size_t i, void *jobs)
{
	job *const o = static_cast<job *>(jobs) + i;
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

size_t
unit_bytes(const job *o)
{
	return o->unit * o->size;
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
	int err = gpu_each(g, measure_share, o);
	for (size_t i = 0; i < n && !err; i++) {
		if (!o[i].share.n)
			continue;
		o[i].owed = static_cast<char *>(weir_alloc(bands_of(&o[i]) + 2, 1));
		for (int end = 0; end < 2; end++)
			o[i].beyond[end] = static_cast<char *>(weir_alloc(o->unit, o->size));
		if (!o[i].owed || !o[i].beyond[0] || !o[i].beyond[1])
			err = -ENOMEM;
		else
			memset(o[i].owed, 1, bands_of(&o[i]) + 2);
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
		weir_free(o[i].owed);
		weir_free(o[i].beyond[0]);
		weir_free(o[i].beyond[1]);
		o[i].owed = o[i].beyond[0] = o[i].beyond[1] = NULL;
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
		const char *const now = o->J + (end ? after : o->share.first - 1) * unit_bytes(o);
		if (first || memcmp(o->beyond[end], now, unit_bytes(o))) {
			o->owed[end ? bands_of(o) : 1] = 1;
			owed = true;
		}
		memcpy(o->beyond[end], now, unit_bytes(o));
	}
	return owed;
}

/* Until no unit beside a share has changed. */
int
settle_shares(struct gpu *g, job *o, size_t n)
{
	bool first = true, again = true;
	int err = 0;

	while (again && !err) {
		again = false;
		for (size_t i = 0; i < n; i++)
			again |= look_beside(&o[i], first);
		first = false;
		if (again)
			err = gpu_each(g, settle_share, o);
	}
	return err;
}

/* The picture, stack or volume of o. -EFBIG: a device holds no band of it. */
int
in_shares(struct gpu *g, job *o, bool rim)
{
	const size_t n = gpu_count(g);
	int err = share_out(g, o, n, rim);

	if (!err)
		err = settle_shares(g, o, n);
	dismiss(o, n);
	return err;
}

int
make_share(struct gpu *, size_t i, void *jobs)
{
	job *const o = static_cast<job *>(jobs) + i;

	return o->share.n ? band_make(o) : 0;
}

int
finish_share(struct gpu *, size_t i, void *jobs)
{
	job *const o = static_cast<job *>(jobs) + i;
	const int err = o->share.n ? band_finish(o) : 0;

	return err ? err : gpu_settle_here(o->g, NULL, 0);
}

/*
 * The same where the devices make the marker. A share knows the units beside it only when all shares have been settled once
 * without them. -ENOTSUP: a share is more than one band; -EDOM: there is a NaN and no walls. J is then as it was.
 */
int
make_in_shares(struct gpu *g, job *o, bool rim, bool walls)
{
	const size_t n = gpu_count(g);
	int err = share_out(g, o, n, rim);

	for (size_t i = 0; i < n && !err; i++)
		err = o[i].share.n > o[i].band ? -ENOTSUP : 0;
	if (!err)
		err = gpu_each(g, make_share, o);
	for (size_t i = 0; i < n && !err; i++) {
		err = o[i].nan && !walls ? -EDOM : 0;
		o[i].blind = true;
	}
	if (!err)
		err = gpu_each(g, settle_share, o);
	for (size_t i = 0; i < n; i++)
		o[i].blind = false;
	if (!err)
		err = settle_shares(g, o, n);
	if (!err)
		err = gpu_each(g, finish_share, o);
	dismiss(o, n);
	return err == -EFBIG ? -ENOTSUP : err;
}

int
reconstruct(struct gpu *g, job *o)
{
	const bool volume = o->d > 1 && morphrec_is_volume(o->p->what.conn), one = o->d == 1;
	const size_t slices = o->d, bytes = o->w * o->h * o->size;
	job whole = *o;
	int err = in_shares(g, o, volume || one);

	if (err != -EFBIG || volume || one)
		return err;
	whole.d = 1; /* a stack of pictures, each too large by itself */
	err = 0;
	for (size_t z = 0; z < slices && !err; z++) {
		*o = whole;
		err = in_shares(g, o, true);
		whole.J += bytes;
		whole.I += bytes;
	}
	return err;
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
guess_range(struct morphrec_plan *p, const void *f)
{
	const size_t n = p->what.w * p->what.h * p->what.d, step = n / 4096 + 1;
	const key_map map = morphrec_keys(&p->what);

	p->clip = clip_nothing();
	for (size_t i = 0; i < n; i += step) {
		const uint64_t k = key_get(img_type_size(p->what.type), f, i, map);
		p->clip.lo = k < p->clip.lo ? k : p->clip.lo;
		p->clip.hi = k > p->clip.hi ? k : p->clip.hi;
	}
}

} // namespace

int
gpu_morphrec_run(struct gpu *g, struct morphrec_plan *p, void *J, const void *I)
{
	if (p->what.method != MORPHREC_TILE && p->what.method != MORPHREC_HEAP)
		return -ENOTSUP;
	job *const o = jobs_of(g, p, J, I);
	if (!o)
		return -ENOMEM;
	const int err = reconstruct(g, o);
	weir_free(o);
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
	guess_range(p, f);
	o->recipe = recipe;
	o->made = true;
	const bool volume = o->d > 1 && morphrec_is_volume(p->what.conn);
	const int err = make_in_shares(g, o, volume || o->d == 1, walls);
	weir_free(o);
	return err;
}
