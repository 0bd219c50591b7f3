#include <stdio.h>
#include <string.h>

#include "common/base/opt.h"
#include "common/stream/slice.h"

int
slice_parse(const char *text, struct slice *s)
{
	const char *colon = strchr(text, ':');
	char axis[8] = "";

	if (!colon || (size_t)(colon - text) >= sizeof axis)
		return -1;
	memcpy(axis, text, (size_t)(colon - text));
	return opt_size(axis, &s->axis) && opt_size(colon + 1, &s->index) ? 0 : -1;
}

bool
slice_removes(const struct slice *s, size_t n, size_t axis)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].axis == axis)
			return true;
	return false;
}

/*
 * Sees the payload as [outer][n][inner] and keeps row `index` of each n. This works in place: it only writes over what it has
 * already read.
 */
static void
cut(struct img *x, const struct slice *s)
{
	size_t inner = img_type_size(x->type), outer = 1, n = x->axis[s->axis].n;
	char *data = x->data;

	for (size_t i = 0; i < (size_t)x->dim; i++) {
		if (i < s->axis)
			inner *= x->axis[i].n;
		if (i > s->axis)
			outer *= x->axis[i].n;
	}
	for (size_t o = 0; o < outer; o++)
		memmove(data + o * inner, data + (o * n + s->index) * inner, inner);
	img_drop_axis(x, (int)s->axis);
}

static const char *
cannot(const struct img *x, const struct slice *s, size_t n)
{
	static char why[64];

	for (size_t i = 0; i < n; i++) {
		if (s[i].axis >= (size_t)x->dim) {
			snprintf(why, sizeof why, "the item has no axis %zu", s[i].axis);
			return why;
		}
		if (s[i].index >= x->axis[s[i].axis].n) {
			snprintf(why, sizeof why, "axis %zu has %zu samples", s[i].axis,
				 x->axis[s[i].axis].n);
			return why;
		}
		if (slice_removes(s, i, s[i].axis))
			return "the same axis is cut twice";
	}
	return NULL;
}

const char *
slice_apply(struct img *x, const struct slice *s, size_t n)
{
	const char *why = cannot(x, s, n);

	/* From the slowest axis down: a cut does not change the numbers of faster axes. */
	for (size_t axis = (size_t)x->dim; !why && axis-- > 0;)
		for (size_t i = 0; i < n; i++)
			if (s[i].axis == axis)
				cut(x, &s[i]);
	return why;
}
