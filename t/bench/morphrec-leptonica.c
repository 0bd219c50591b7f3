/* pkg-config: lept */
/*
 * Reconstruction of bytes against leptonica's pixSeedfillGray, both in place on arrays in memory, one thread, and two of
 * ours: the marker is copied anew before each run, untimed. The copy shows what memory allows: a reconstruction reads
 * two pictures and writes one.
 */
#include <allheaders.h>

#include "morphrec/morphrec.h"
#include "t/bench/bench.h"
#include "t/pictures.h"

const char *const weir_prog = "bench morphrec";

/* The problems: bytes, 4096 x 4096. */
enum { BENCH_SIDE = 4096 };

struct bench_case {
	const char *name;
	struct morphrec_problem what;
	struct morphrec_plan plan;
	uint8_t *marker, *mask, *J;
	size_t n;
};

/* What a mask is filled with, the operator that makes the marker (or NONE: seeds), the connectivity. */
static const struct {
	const char *name;
	void (*mask)(struct canvas *);
	double arg;
	enum morphrec_op op;
	double h;
	int seeds; /* their number; -1: one in the corner; -2: rising ones; -3: the first row and column */
	int conn;
	size_t side;
} bench_cases[] = {
    {"h-dome of smooth noise, 4 neighbours", fill_smooth, 4, MORPHREC_HMAX, 20, 0, 4, BENCH_SIDE},
    {"h-dome of smooth noise, 8 neighbours", fill_smooth, 4, MORPHREC_HMAX, 20, 0, 8, BENCH_SIDE},
    {"opening by reconstruction, 4 neighbours", fill_smooth, 4, MORPHREC_OPEN, 5, 0, 4, BENCH_SIDE},
    {"1000 seeds, 4 neighbours", fill_smooth, 4, MORPHREC_NONE, 0, 1000, 4, BENCH_SIDE},
    {"holes filled, 4 neighbours", fill_smooth, 4, MORPHREC_FILL_HOLES, 0, 0, 4, BENCH_SIDE},
    {"holes filled, 8 neighbours", fill_smooth, 4, MORPHREC_FILL_HOLES, 0, 0, 8, BENCH_SIDE},
    {"white noise, 1000 seeds, 4 neighbours", fill_noise, 0, MORPHREC_NONE, 0, 1000, 4, BENCH_SIDE},
    {"serpentine, 4 neighbours", fill_serpentine, 0, MORPHREC_NONE, 0, -1, 4, BENCH_SIDE},
    {"spiral, 4 neighbours", fill_spiral, 0, MORPHREC_NONE, 0, -1, 4, BENCH_SIDE},
    {"staircases, 4 neighbours", fill_stairs, 0, MORPHREC_NONE, 0, -3, 4, BENCH_SIDE},
    {"rising seeds on a serpentine, 4 neighbours", fill_serpentine, 0, MORPHREC_NONE, 0, -2, 4,
     BENCH_SIDE / 2},
};
static const size_t bench_ncases = sizeof bench_cases / sizeof *bench_cases;

static void
bench_mark(struct bench_case *c, int seeds)
{
	struct check_rng r = {5};
	const size_t w = c->what.w;

	memset(c->marker, 0, c->n);
	for (int i = 0; i < seeds; i++)
		c->marker[rng_below(&r, c->n)] = 255;
	if (seeds == -1)
		c->marker[0] = 255;
	for (size_t i = 0; seeds == -2 && i < c->n / 2; i += c->n / 2 / 250)
		c->marker[i / w * 2 * w + i % w] = (uint8_t)(i / (c->n / 2 / 250) + 1);
	for (size_t i = 0; seeds == -3 && i < w; i++)
		c->marker[i] = c->marker[i * w] = 255;
	for (size_t i = 0; i < c->n; i++)
		c->marker[i] = c->marker[i] < c->mask[i] ? c->marker[i] : c->mask[i];
}

static void
bench_make(struct bench_case *c, size_t i)
{
	const size_t side = bench_cases[i].side;
	const enum morphrec_op op = bench_cases[i].op;
	struct canvas v = {.v = weir_xalloc(side * side, sizeof *v.v),
			   .w = side,
			   .h = side,
			   .arg = &bench_cases[i].arg,
			   .rng = {1}};

	*c = (struct bench_case){.name = bench_cases[i].name, .n = side * side};
	c->what = (struct morphrec_problem){.type = IMG_U8,
					    .w = side,
					    .h = side,
					    .d = 1,
					    .conn = bench_cases[i].conn,
					    .erode = morphrec_op_erodes(op),
					    .threads = 1};
	c->marker = weir_xalloc(c->n, 1);
	c->mask = weir_xalloc(c->n, 1);
	c->J = weir_xalloc(c->n, 1);
	memset(v.v, 0, c->n * sizeof *v.v);
	bench_cases[i].mask(&v);
	for (size_t p = 0; p < c->n; p++)
		c->mask[p] = (uint8_t)(v.v[p] * 255);
	weir_free(v.v);
	if (bench_cases[i].seeds)
		bench_mark(c, bench_cases[i].seeds);
	else
		morphrec_marker(
		    &c->what,
		    &(struct morphrec_operator){
			.op = op, .h = bench_cases[i].h, .r = (size_t)bench_cases[i].h, .top = 255},
		    c->marker, c->mask);
	morphrec_plan(&c->plan, &c->what);
}

static void
bench_before(void *job)
{
	struct bench_case *c = job;

	memcpy(c->J, c->marker, c->n);
}

static void
bench_run(void *job)
{
	struct bench_case *c = job;

	morphrec_clip_and_run(&c->plan, c->J, c->mask);
}

static void
bench_free(struct bench_case *c)
{
	morphrec_free(&c->plan);
	weir_free_all(c->marker, c->mask, c->J);
}

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
		    {"a copy of the picture", bench_before, &c, bench_before, 0},
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
