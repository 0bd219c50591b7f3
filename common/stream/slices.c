#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/stream/slices.h"
#include "common/stream/source.h"

/* Appends an item of n slices to the list. */
static void
note(struct slices *s, size_t n)
{
	if ((s->items & (s->items + 1)) == 0) { /* grows to the next power of two */
		size_t *more = weir_xalloc(2 * s->items + 2, sizeof *more);

		memset(more, 0, sizeof *more);
		if (s->items)
			memcpy(more, s->before, (s->items + 1) * sizeof *more);
		weir_free(s->before);
		s->before = more;
	}
	s->before[s->items + 1] = s->before[s->items] + n;
	s->items++;
}

void
slices_open(struct slices *s, const struct opt_common *o, uint64_t hash, struct raw_in *in,
	    size_t (*count)(const void *with, const struct img *x), const void *with)
{
	struct img x;
	size_t from, to;

	*s = (struct slices){.o = o, .hash = hash};
	if (!o->part.n)
		return;
	while (raw_next(in, &x)) {
		const size_t n = count(with, &x);

		if (part_is(&x))
			raw_die(in,
				"--part: this is a share itself; rawjoin makes the whole of it");
		if (n) {
			note(s, n);
			img_free(&s->empty);
			s->empty = x;
		} else {
			s->skipped++;
			img_free(&x);
		}
		raw_skip(in, raw_left(in));
	}
	if (!s->items)
		raw_die(in, "nothing to share out");
	part_range(&o->part, s->before[s->items], &s->first, &s->end);
	raw_rewind(in);
	for (size_t k = 0; k < s->items; k++) {
		from = s->before[k] > s->first ? s->before[k] : s->first;
		to = s->before[k + 1] < s->end ? s->before[k + 1] : s->end;
		s->pieces += from < to;
	}
}

/* Returns the number of the current item of in, from 0, without those that were skipped. */
static size_t
item_of(const struct slices *s, const struct raw_in *in)
{
	const size_t k = raw_item(in) - 1 - s->skipped;

	if (k >= s->items)
		raw_die(in, "the file has changed since its headers were read");
	return k;
}

bool
slices_over(const struct slices *s, const struct raw_in *in)
{
	return s->o->part.n && raw_item(in) > s->skipped && s->before[item_of(s, in)] >= s->end;
}

bool
slices_of(const struct slices *s, const struct raw_in *in, size_t n, size_t *from, size_t *to)
{
	*from = 0;
	*to = n;
	if (!s->o->part.n)
		return true;
	const size_t k = item_of(s, in), lo = s->before[k], hi = s->before[k + 1];
	if (hi - lo != n)
		raw_die(in, "the file has changed since its headers were read");
	*from = s->first > lo ? s->first - lo : 0;
	*to = (s->end < hi ? s->end : hi) - lo;
	return s->first < hi && s->end > lo && s->first < s->end;
}

static struct part_place
place_of(struct slices *s, const struct raw_in *in, const struct img *y)
{
	return (struct part_place){.item = item_of(s, in),
				   .items = s->items,
				   .piece = s->piece++,
				   .pieces = s->pieces,
				   .pnm = s->o->as != RAW_AS_RAW && y->format == IMG_PNM,
				   .tile = img_key(y, "tile") != NULL};
}

/* Cuts the share out of axis `axis` of y, unless that is negative. Returns the first of the slices that are left. */
static size_t
cut(const struct slices *s, const struct raw_in *in, struct img *y, int axis,
    struct part_place *place)
{
	const size_t k = item_of(s, in);
	size_t from, to;

	slices_of(s, in, s->before[k + 1] - s->before[k], &from, &to);
	if (axis >= 0)
		part_cut(y, place, axis, from, to - from);
	return from;
}

void
slices_set(struct slices *s, const struct raw_in *in, struct img *y, int axis)
{
	if (!s->o->part.n)
		return;
	struct part_place place = place_of(s, in, y);
	cut(s, in, y, axis, &place);
	part_set(y, &s->o->part, s->hash, &place);
}

bool
slices_take(struct slices *s, struct raw_in *in, struct img *x, int axis)
{
	size_t from, to, all, count;

	if (!s->o->part.n)
		return true;
	if (!slices_of(s, in, axis < 0 ? 1 : x->axis[axis].n, &from, &to))
		return false;
	struct part_place *const place = &s->place[raw_item(in) % RELAY_STAGES];
	*place = place_of(s, in, x);
	img_count(x, &all);
	if (axis >= 0)
		raw_skip(in, all / x->axis[axis].n * from);
	cut(s, in, x, axis, place);
	img_count(x, &count);
	source_narrow(in, count);
	return true;
}

void
slices_keys(struct slices *s, const struct raw_in *in, struct img *y)
{
	if (s->o->part.n)
		part_set(y, &s->o->part, s->hash, &s->place[raw_item(in) % RELAY_STAGES]);
}

static void
put_empty(struct slices *s, struct raw_out *out)
{
	const double zero = 0;
	size_t n;

	part_set_empty(&s->empty, &s->o->part, s->hash, s->items);
	raw_head(out, &s->empty);
	img_count(&s->empty, &n);
	while (n--)
		raw_write(out, &zero, 1);
}

void
slices_free(struct slices *s)
{
	weir_free(s->before);
	img_free(&s->empty);
}

void
slices_close(struct slices *s, struct raw_out *out)
{
	if (s->o->part.n && s->first == s->end)
		put_empty(s, out);
	if (s->piece < s->pieces)
		die("the input has changed since its headers were read");
	slices_free(s);
}
