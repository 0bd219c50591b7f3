/* The watershed of markers against its definition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/picture/peaks.h"
#include "t/check.h"

void check_watershed(void);

enum { MOST = 200 };

struct scene {
	struct order_shape s;
	size_t n;
	uint8_t chosen[MOST];
	double v[MOST];
	uint32_t marker[MOST];
};

static void
make_scene(struct check_rng *r, struct scene *a)
{
	static const int kinds[] = {4, 8, 6, 18, 26};
	const double share = rng_unit(r), seeds = rng_unit(r) * .3;
	const double levels = rng_below(r, 2) ? 4 : 1e6;

	a->s.connectivity = kinds[rng_below(r, 5)];
	a->s.depth = a->s.connectivity == 4 || a->s.connectivity == 8 ? 1 : 1 + rng_below(r, 4);
	a->s.w = 1 + rng_below(r, 12);
	a->s.h = 1 + rng_below(r, MOST / a->s.depth / a->s.w);
	a->n = a->s.w * a->s.h * a->s.depth;
	for (size_t i = 0; i < a->n; i++) {
		a->chosen[i] = rng_unit(r) < share;
		a->v[i] = rint((rng_unit(r) - .5) * levels);
		a->marker[i] = rng_unit(r) < seeds ? 1 + (uint32_t)rng_below(r, 5) * 500000000 : 0;
	}
}

/* The number of axes along which two neighbours differ; 0 when they do not touch. */
static int
axes_between(const struct order_shape *s, size_t a, size_t b)
{
	const size_t w = s->w, wh = s->w * s->h;
	const long dx = labs((long)(a % w) - (long)(b % w)),
		   dy = labs((long)(a % wh / w) - (long)(b % wh / w)),
		   dz = labs((long)(a / wh) - (long)(b / wh));
	const int axes = (int)(dx + dy + dz), c = s->connectivity;

	if (dx > 1 || dy > 1 || dz > 1)
		return 0;
	return axes <= (c == 4 || c == 6 ? 1 : c == 8 || c == 18 ? 2 : 3) ? axes : 0;
}

/* The definition in watershed.h. marker[i] becomes the marker of sample i. */
static void
spread(const struct scene *a, uint32_t *marker)
{
	size_t turn[MOST], turns = 0; /* when the sample began to wait */
	bool taken[MOST] = {false};

	for (size_t i = 0; i < a->n; i++) {
		marker[i] = a->chosen[i] ? a->marker[i] : 0;
		turn[i] = turns++;
	}
	for (;;) {
		size_t i = a->n;

		for (size_t k = 0; k < a->n; k++)
			if (marker[k] && !taken[k] &&
			    (i == a->n || a->v[k] > a->v[i] ||
			     (a->v[k] == a->v[i] && turn[k] < turn[i])))
				i = k;
		if (i == a->n)
			return;
		taken[i] = true;
		for (int axes = 1; axes <= 3; axes++)
			for (size_t k = 0; k < a->n; k++)
				if (a->chosen[k] && !marker[k] &&
				    axes_between(&a->s, i, k) == axes) {
					marker[k] = marker[i];
					turn[k] = turns++;
				}
	}
}

static size_t
count(const uint32_t *x, size_t n, uint32_t value)
{
	size_t times = 0;

	for (size_t i = 0; i < n; i++)
		times += x[i] == value;
	return times;
}

/* What is wrong with parts and their names, where want[] has the markers of the definition; NULL when nothing is. */
static const char *
wrong_parts(const struct scene *a, const uint32_t *want, uint64_t least, const uint32_t *part,
	    const uint32_t *name)
{
	uint32_t parts = 0;

	for (size_t i = 0; i < a->n; i++) {
		const uint32_t k = part[i];

		if (k > parts + 1)
			return "parts are not numbered in the order of first samples";
		parts += k == parts + 1;
		if ((k ? name[k - 1] : 0) != (count(want, a->n, want[i]) < least ? 0 : want[i]))
			return "a sample has another marker";
	}
	for (uint32_t k = 0; k < parts; k++)
		if (count(name, parts, name[k]) != 1)
			return "two parts have one marker";
	return NULL;
}

void
check_watershed(void)
{
	struct check_rng r = {11};
	struct check_many m = {0};
	struct scene a;
	uint32_t want[MOST], part[MOST], *name;

	for (int round = 0; round < 500; round++) {
		const uint64_t least = 1 + rng_below(&r, 2) * rng_below(&r, 6);

		make_scene(&r, &a);
		spread(&a, want);
		memcpy(part, a.marker, sizeof part);
		if (watershed(&a.s, a.v, a.chosen, least, part, &name))
			abort();
		const char *why = wrong_parts(&a, want, least, part, name);

		check_case(&m, !why, "%zux%zux%zu, %d: %s", a.s.w, a.s.h, a.s.depth,
			   a.s.connectivity, why ? why : "");
		weir_free(name);
	}
	check_end(&m, "watershed: every sample gets the marker of the definition");
}
