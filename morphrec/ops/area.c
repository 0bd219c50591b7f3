#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "morphrec/ops/area.h"

#define NOWHERE UINT32_MAX /* not placed yet */

/* The pixels that can be connected: a volume, or a slice of an image. */
struct piece {
	size_t w, h, d, n;
	int nears;
	struct near {
		int x, y, z;
		ptrdiff_t at;
	} near[26];
};

/*
 * The connected sets of the pixels that were placed so far. Each set is a tree whose root is the pixel placed last. A set
 * that is large enough is joined only to pixels of its own level, so that its root holds the level of the result.
 * area[r] of a root r: the pixels of its set, or `least` where the set touches one that is large enough.
 */
struct forest {
	uint32_t *order, *parent;
	uint32_t *area;
	uint32_t least;
};

static inline uint32_t
find_root(struct forest *t, uint32_t p)
{
	while (t->parent[p] != p)
		p = t->parent[p] = t->parent[t->parent[p]];
	return p;
}

#define TEMPLATE "morphrec/ops/area_body.h"
#include "morphrec/four_body.h"

static struct piece
piece_of(const struct morphrec_problem *a)
{
	const bool volume = morphrec_is_volume(a->conn);
	const int axes = a->conn == 4 || a->conn == 6 ? 1 : a->conn == 18 ? 2 : 3;
	struct piece s = {.w = a->w, .h = a->h, .d = volume ? a->d : 1};

	s.n = s.w * s.h * s.d;
	for (int z = -volume; z <= volume; z++)
		for (int y = -1; y <= 1; y++)
			for (int x = -1; x <= 1; x++) {
				const int apart = (x != 0) + (y != 0) + (z != 0);
				const ptrdiff_t at = (z * (ptrdiff_t)s.h + y) * (ptrdiff_t)s.w + x;
				if (apart && apart <= axes)
					s.near[s.nears++] = (struct near){x, y, z, at};
			}
	return s;
}

int
area_open(const struct morphrec_problem *a, uint64_t area, void *J, const void *f)
{
	const struct piece s = piece_of(a);
	const size_t size = img_type_size(a->type), pieces = a->w * a->h * a->d / s.n;
	struct forest t = {.least = area < UINT32_MAX ? (uint32_t)area : UINT32_MAX};
	int err = 0;

	if (s.n >= UINT32_MAX)
		return -E2BIG;
	t.order = weir_alloc(s.n, sizeof *t.order);
	t.parent = weir_alloc(s.n, sizeof *t.parent);
	t.area = weir_alloc(s.n, sizeof *t.area);
	if (!t.order || !t.parent || !t.area)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < pieces; i++) {
		void *to = (char *)J + i * s.n * size;
		const void *from = (const char *)f + i * s.n * size;
		if (size == 1)
			open_piece8(a, &t, &s, to, from);
		else if (size == 2)
			open_piece16(a, &t, &s, to, from);
		else if (size == 4)
			open_piece32(a, &t, &s, to, from);
		else
			open_piece64(a, &t, &s, to, from);
	}
	weir_free(t.order);
	weir_free(t.parent);
	weir_free(t.area);
	return err;
}
