/* The colours of small pictures, palettes and regions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "emst/emst.h"
#include "emst/lattice/lattice.h"
#include "emst/mesh/mesh.h"
#include "t/check.h"
#include "t/check_emst.h"

/* The colours that are found by sorting are those of the lattice. */
static void
check_few(void)
{
	enum { MOST = 3000 };
	static uint8_t px[3 * MOST];
	static uint32_t of[MOST], code[MOST], want[MOST];
	static uint64_t work[2 * MOST];
	struct check_many m = {0};
	struct check_rng r = {31};

	for (size_t set = 0; set < 60; set++) {
		const size_t planes = 1 + set % 3, n = 1 + rng_below(&r, MOST),
			     levels = 1 + rng_below(&r, 256);
		struct lattice l;
		for (size_t i = 0; i < n * planes; i++)
			px[i] = (uint8_t)(255 - rng_below(&r, levels));
		check_case(&m, !lattice_init(&l) && !lattice_add(&l, px, n, planes, 1),
			   "no memory");
		lattice_index(&l);
		lattice_codes(&l, want, 1);
		const size_t have = few_colours(px, n, planes, of, code, work);
		bool same = have == l.n && !memcmp(code, want, have * sizeof *code);
		for (size_t i = 0; same && i < n; i++) {
			uint32_t x = 0;
			for (size_t a = 0; a < planes; a++)
				x = x << 8 | px[i * planes + a];
			same = want[of[i]] == x;
		}
		check_case(&m, same, "set %zu: %zu pixels of %zu planes", set, n, planes);
		lattice_free(&l);
	}
	check_end(&m,
		  "emst: the colours of a small picture are found by sorting as on the lattice");
}

/* The tree of gray levels, which has a way of its own, is that of the definition. */
static void
check_levels(void)
{
	struct check_many m = {0};
	struct check_rng r = {32};

	for (size_t set = 0; set < 40; set++) {
		uint32_t code[256];
		struct emst_tree want, got;
		const size_t every = 1 + rng_below(&r, 9);
		size_t n = 0;
		for (uint32_t level = 0; level < 256; level++)
			if (rng_below(&r, every) == 0 || (level == 255 && !n))
				code[n++] = level;
		const struct emst_set s = {.type = EMST_CODE, .n = n, .k = 1, .code = code};
		int err = emst_direct(&s, NULL, &want) | emst_run(&s, 1, &got);
		check_case(&m,
			   !err && got.n == n &&
			       !memcmp(got.edge, want.edge, (n - 1) * sizeof *got.edge) &&
			       !memcmp(got.length, want.length, (n - 1) * sizeof *got.length),
			   "set %zu: %zu levels", set, n);
		emst_tree_free(&want);
		emst_tree_free(&got);
	}
	check_end(&m, "emst: the chain of gray levels is the definition's tree");
}

/* --- regions ---------------------------------------------------------------------------------------------------------- */

/* Whether two partitions are one. */
static bool
same_partition(const uint32_t *a, const uint32_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if ((a[i] == a[j]) != (b[i] == b[j]))
				return false;
	return true;
}

static void
check_regions(void)
{
	enum { MOST = 150 };
	struct check_many c = {0};
	struct check_rng r = {10};
	uint8_t px[3 * MOST];
	uint16_t wide[3 * MOST];
	uint32_t want[MOST], got[MOST];

	for (size_t set = 0; set < 300; set++) {
		const size_t w = 1 + rng_below(&r, 12), h = 1 + rng_below(&r, 12),
			     planes = 1 + rng_below(&r, 3), values = 1 + rng_below(&r, 60);
		const int neighbours = set % 2 ? 8 : 4;
		const double scale = 100 * rng_unit(&r) * rng_unit(&r);
		const uint64_t least = 1 + rng_below(&r, 12);
		struct vertices v;
		struct mesh g = {0};
		size_t regions = 0, at;
		for (size_t i = 0; i < w * h * planes; i++)
			wide[i] = px[i] =
			    (uint8_t)(rng_below(&r, values) + (i % w > w / 2 ? 90 : 0));
		int err = emst_direct_regions(px, w, h, planes, neighbours, scale, least, want);
		if (!err)
			err = set % 3 ? vertices_pixels(&v, px, IMG_U8, w * h, planes, &at)
				      : vertices_pixels(&v, wide, IMG_U16, w * h, planes, &at);
		if (!err)
			err = mesh_make(&g, &v, w, h, neighbours);
		if (!err)
			err = mesh_regions(&g, scale, least, got, &regions);
		check_case(
		    &c, !err && same_partition(want, got, w * h),
		    "set %zu, %zu x %zu of %zu planes, %d neighbours, scale %g, at least %ju: "
		    "error %d, %zu regions",
		    set, w, h, planes, neighbours, scale, (uintmax_t)least, err, regions);
		mesh_free(&g);
		vertices_free(&v);
	}
	check_end(&c, "emst: regions of Felzenszwalb and Huttenlocher are those of the definition");
}

void
check_emst_pictures(void)
{
	check_few();
	check_levels();
	check_regions();
}
