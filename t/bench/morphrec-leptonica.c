/* pkg-config: lept */
/*
 * Reconstruction of bytes against leptonica's pixSeedfillGray, both in place on arrays in memory, one thread, and two of
 * ours: the marker is copied anew before each run, untimed. The copy shows what memory allows: a reconstruction reads
 * two pictures and writes one.
 */
#include <allheaders.h>

#include "common/base/die.h"
#include "t/bench/bench.h"
#include "t/bench/morphrec.h"

const char *const weir_prog = "bench morphrec";

struct lept {
	struct bench_case *c;
	PIX *marker, *mask;
};

/* flip 255: the complement, since pixSeedfillGrayInv means something else than a reconstruction by erosion. */
static PIX *
pix_of(const uint8_t *a, size_t w, size_t h, uint8_t flip)
{
	PIX *p = pixCreate((int)w, (int)h, 8);
	const size_t line = 4 * (size_t)pixGetWpl(p);
	char *data = (char *)pixGetData(p);

	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++)
			data[y * line + x] = (char)(a[y * w + x] ^ flip);
	pixEndianByteSwap(p);
	return p;
}

static void
lept_before(void *job)
{
	struct lept *l = job;

	pixDestroy(&l->marker);
	l->marker = pix_of(l->c->marker, l->c->what.w, l->c->what.h, l->c->what.erode ? 255 : 0);
}

static void
lept_run(void *job)
{
	struct lept *l = job;

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
		for (size_t x = 0; x < l->c->what.w; x++)
			equal &=
			    (uint8_t)((char *)pixGetData(p))[y * 4 * (size_t)pixGetWpl(p) + x] ==
			    (uint8_t)(l->c->J[y * l->c->what.w + x] ^ (l->c->what.erode ? 255 : 0));
	pixDestroy(&p);
	return equal;
}

static void
copy_run(void *job)
{
	struct bench_case *c = job;

	memcpy(c->J, c->marker, c->n);
}

int
main(void)
{
	for (size_t i = 0; i < bench_ncases; i++) {
		struct bench_case c;
		bench_make(&c, i);
		struct lept l = {&c, NULL,
				 pix_of(c.mask, c.what.w, c.what.h, c.what.erode ? 255 : 0)};
		struct bench_case two = c;
		two.what.threads = 2;
		morphrec_plan(&two.plan, &two.what);
		struct bench_entry e[] = {
		    {"morphrec", bench_run, &c, bench_before, 0},
		    {"leptonica", lept_run, &l, lept_before, 0},
		    {"a copy of the picture", copy_run, &c, bench_before, 0},
		    {"morphrec, 2 threads", bench_run, &two, bench_before, 0}};
		bench_compare(c.name, e, sizeof e / sizeof *e, 3);
		morphrec_free(&two.plan);
		if (!same(&l))
			printf("  the results differ\n");
		pixDestroy(&l.marker);
		pixDestroy(&l.mask);
		bench_free(&c);
	}
	return 0;
}
