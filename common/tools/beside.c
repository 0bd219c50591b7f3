#include "common/tools/beside.h"

#include "common/base/die.h"
#include "common/stream/axiskeys.h"
#include "common/stream/tile.h"

void
beside_open(struct beside *b, const char *option, const char *path, size_t max_bytes)
{
	*b = (struct beside){.option = option, .path = {(char *)(uintptr_t)path}};
	if (path)
		b->in = raw_open(b->path, 1, max_bytes);
}

void
beside_next(struct beside *b, const struct raw_in *in, const struct img *x)
{
	const struct img *y = &b->x;

	if (!b->in)
		return;
	if (!raw_next(b->in, &b->x))
		raw_die(in, "%s has no more items", b->option);
	for (int i = 0; i < x->dim || i < y->dim; i++)
		if (x->dim != y->dim || x->axis[i].n != y->axis[i].n)
			raw_die(in, "%s: the shapes differ", b->option);
	if (!tile_same(x, y))
		raw_die(in, "%s: it is another part of a picture", b->option);
	if (!axiskeys_same_place(y, x))
		warn("%s: it is a map of another place than %s", raw_name(b->in), raw_name(in));
}

void
beside_close(struct beside *b, const struct raw_in *in)
{
	if (b->in && raw_next(b->in, &b->x))
		die("%s: it has more items than %s", raw_name(b->in), raw_name(in));
	raw_close(b->in);
}
