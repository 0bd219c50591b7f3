/* pkg-config: lept */
/*
 * Reconstruction of bytes against leptonica's pixSeedfillGray, both in place on arrays in memory, one thread:
 * the marker is copied anew before each run, untimed.
 */
#include <allheaders.h>

#include "common/die.h"
#include "t/bench/bench.h"
#include "t/bench/morphrec.h"

const char *const weir_prog = "bench morphrec";

struct lept {
	struct bench_case *c;
	PIX *marker, *mask;
};

static PIX *
pix_of(const uint8_t *a, size_t w, size_t h)
{
	PIX *p = pixCreate((int)w, (int)h, 8);
	const size_t line = 4 * (size_t)pixGetWpl(p);
	char *data = (char *)pixGetData(p);

	for (size_t y = 0; y < h; y++)
		memcpy(data + y * line, a + y * w, w);
	pixEndianByteSwap(p);
	return p;
}

static void
lept_before(void *job)
{
	struct lept *l = job;

	pixDestroy(&l->marker);
	l->marker = pix_of(l->c->marker, l->c->what.w, l->c->what.h);
}

static void
lept_run(void *job)
{
	struct lept *l = job;

	if (l->c->what.erode)
		pixSeedfillGrayInv(l->marker, l->mask, l->c->what.conn);
	else
		pixSeedfillGray(l->marker, l->mask, l->c->what.conn);
}

/* Whether leptonica's result is ours. */
static bool
same(const struct lept *l)
{
	PIX *p = pixCopy(NULL, l->marker);
	bool equal = true;

	pixEndianByteSwap(p);
	for (size_t y = 0; y < l->c->what.h; y++)
		equal &= !memcmp((char *)pixGetData(p) + y * 4 * (size_t)pixGetWpl(p),
				 l->c->J + y * l->c->what.w, l->c->what.w);
	pixDestroy(&p);
	return equal;
}

int
main(void)
{
	for (size_t i = 0; i < bench_ncases; i++) {
		struct bench_case c;
		bench_make(&c, i);
		struct lept l = {&c, NULL, pix_of(c.mask, c.what.w, c.what.h)};
		struct bench_entry e[] = {{"morphrec", bench_run, &c, bench_before, 0},
					  {"leptonica", lept_run, &l, lept_before, 0}};
		bench_compare(c.name, e, 2, 3);
		if (!same(&l))
			printf("  the results differ\n");
		pixDestroy(&l.marker);
		pixDestroy(&l.mask);
		bench_free(&c);
	}
	return 0;
}
