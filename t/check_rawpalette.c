/* rawpalette: its engines and dithering against their definitions, and what a palette keeps. */
#include "common/base/cpu.h"
#include "common/base/par.h"
#include "emst/rawpalette/palette.h"
#include "t/check.h"

#define DIMS 3
#include "emst/rawpalette/cells_body.h"

/* --- three dimensions ------------------------------------------------------------------------------------------------- */

enum { PIXELS = 3000 };

static int
ascending(const void *pa, const void *pb)
{
	const uint32_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* Distinct colours of a few clouds, ascending, with weights. */
static size_t
random_histogram(struct check_rng *r, uint32_t *code, uint64_t *weight)
{
	size_t n = 0;

	for (size_t i = 0; i < PIXELS; i++) {
		const double cloud = 40 * (double)rng_below(r, 6);
		code[i] = 0;
		for (int a = 0; a < 3; a++)
			code[i] = code[i] << 8 |
				  (uint32_t)fmin(fmax(20 + cloud + 9 * rng_normal(r), 0), 255);
		weight[i] = 1 + (uint64_t)rng_below(r, 50) * rng_below(r, 50);
	}
	weight[0] = 1u << 30; /* a sky of one colour */
	qsort(code, PIXELS, sizeof *code, ascending);
	for (size_t i = 0; i < PIXELS; i++)
		if (!n || code[i] != code[n - 1])
			code[n++] = code[i];
	return n;
}

static double
distance2(const struct centre *c, uint32_t code)
{
	double d2 = 0;

	for (int a = 0; a < 3; a++) {
		const double d = (double)c->x[a] - (code >> 8 * (2 - a) & 255);
		d2 += d * d;
	}
	return d2;
}

/* Every colour against every centre. */
static bool
all_nearest(const struct lloyd *l, const struct cells *cells, const uint32_t *code,
	    const uint64_t *weight, double sse)
{
	double sum = 0;

	for (size_t p = 0; p < cells->n; p++) {
		const uint32_t i = cells->from[p];
		double least = INFINITY;
		const double got = distance2(&l->c.at[l->label[p]], code[i]);
		for (size_t j = 0; j < l->k; j++)
			least = fmin(least, distance2(&l->c.at[j], code[i]));
		if (got > least + .1)
			return false;
		sum += (double)weight[i] * got;
	}
	return fabs(sum - sse) <= 1e-9 * cells->squares;
}

static void
check_rounds(struct check_many *m, struct check_rng *r, size_t set)
{
	static uint64_t weight[PIXELS];
	static uint32_t code[PIXELS];
	struct cells cells;
	const size_t n = random_histogram(r, code, weight);
	int err = cells_make(&cells, &(struct palette_colours){n, weight, code});
	struct lloyd *l =
	    lloyd_new(&cells, 1 + (int)(set % 3), 1 + rng_below(r, set % 2 ? 20 : PALETTE_MOST));

	for (size_t j = 0; j < l->k; j++)
		for (int a = 0; a < 3; a++)
			l->c.at[j].x[a] = (float)(255 * rng_unit(r));
	const double sse = lloyd_assign(l);
	check_case(m, !err && all_nearest(l, &cells, code, weight, sse), "set %zu, %zu centres",
		   set, l->k);
	const double less = lloyd_run(l, 30, 0);
	check_case(m, less <= sse, "set %zu: %g grows to %g", set, sse, less);
	lloyd_free(l);
	cells_free(&cells);
}

/* The pixels of the colours that are in the node of side 2^s of a colour. */
static uint64_t
node_pixels(const uint32_t *code, const uint64_t *weight, size_t n, uint32_t of, int s)
{
	const uint32_t same = (0xffu << s & 0xff) * 0x010101;
	uint64_t pixels = 0;

	for (size_t i = 0; i < n; i++)
		pixels += (code[i] & same) == (of & same) ? weight[i] : 0;
	return pixels;
}

/* Whether two colours stay in one node: some node that holds both has too few pixels to be split. */
static bool
stay_together(const uint32_t *code, const uint64_t *weight, size_t n, const double *most,
	      uint32_t a, uint32_t b)
{
	for (int s = TOP; s >= 0; s--) {
		if (((a ^ b) & (0xffu << s & 0xff) * 0x010101) != 0)
			return false;
		if ((double)node_pixels(code, weight, n, a, s) < most[s])
			return true;
	}
	return a == b;
}

/* Whether colour p of the thin ones has the sums of the places from..to-1. */
static bool
sums_equal(const struct cells *thin, size_t p, const struct cells *c, const uint32_t *code,
	   const uint64_t *weight, uint32_t from, uint32_t to)
{
	int64_t sum[4] = {0};
	double square[6] = {0};

	for (uint32_t i = from; i < to; i++) {
		const int64_t w = (int64_t)weight[c->from[i]];
		const uint32_t x = code[c->from[i]];
		const int64_t v[3] = {x >> 16, x >> 8 & 255, x & 255};
		for (int a = 0, ab = 0; a < 3; a++) {
			sum[a] += w * v[a];
			for (int b = a; b < 3; b++)
				square[ab++] += (double)(w * v[a] * v[b]);
		}
		sum[3] += w;
	}
	return !memcmp(sum, thin->sum[p].v, sizeof sum) &&
	       !memcmp(square, thin->square[p].v, sizeof square);
}

static void
check_thin(struct check_many *m, struct check_rng *r, size_t set)
{
	static uint64_t weight[PIXELS];
	static uint32_t code[PIXELS], start[PIXELS + 1];
	double most[TOP + 1];
	struct cells cells, thin = {0};
	const size_t n = random_histogram(r, code, weight) % 400 + 1;
	int err = cells_make(&cells, &(struct palette_colours){n, weight, code});

	for (int s = 0; s <= TOP; s++)
		most[s] = set % 4 ? 1e5 * rng_unit(r) * rng_unit(r) : (double)(set % 8);
	const size_t left = err ? 0 : cells_cut(&cells, most, start);
	if (!err)
		err = cells_thin(&thin, &cells, start, left);
	bool good = !err && start[0] == 0 && start[left] == n && thin.n == left;
	for (size_t p = 0; good && p < left; p++)
		good = start[p] < start[p + 1] &&
		       sums_equal(&thin, p, &cells, code, weight, start[p], start[p + 1]);
	for (size_t p = 0, run = 0; good && p + 1 < n; p++) {
		run += p == start[run + 1];
		const uint32_t a = code[cells.from[p]], b = code[cells.from[p + 1]];
		good = stay_together(code, weight, n, most, a, b) == (p + 1 < start[run + 1]);
	}
	check_case(m, good, "set %zu, %zu colours, %zu left: error %d", set, n, left, err);
	cells_free(&thin);
	cells_free(&cells);
}

/* --- classes of pictures ---------------------------------------------------------------------------------------------- */

enum { SIDE = 20, DIMENSIONS = 9 };

/* Pixels: with alpha opaque is 255, else 0. */
struct picture {
	const void *px;
	enum img_type type;
	size_t n, planes;
	double opaque;
};

/* Makes the vertices and their classes, with one thread. */
static int
reduce(struct vertices *v, const struct picture *p, size_t k, uint32_t *label)
{
	size_t at;
	int err = vertices_make(v, p->px, p->type, p->n, p->planes, VERTICES_COLOURS, 1, &at);

	v->opaque = p->opaque;
	err = err ? err : vertices_weigh(v, 1);
	return err ? err : palette_make(v, k, 1, label);
}

/*
 * Fills x[] with the coordinates of vertex i whose squared differences count: with alpha those of the colour on black and those
 * on white, by half. Returns their number.
 */
static size_t
place(const struct vertices *v, size_t i, double x[DIMENSIONS])
{
	double colour[DIMENSIONS];

	vertices_get(v, i, x);
	if (v->opaque == 0)
		return v->planes;
	memcpy(colour, x, sizeof colour);
	for (int c = 0; c < 3; c++) {
		const double black = colour[c] * colour[3] / 255;
		x[c] = sqrt(.5) * black;
		x[3 + c] = sqrt(.5) * (black + 255 - colour[3]);
	}
	return 6;
}

/* What the SSE of a class is made of: the sums of the weights w, of w x and of w x^2. */
struct moments {
	double w, s, q;
};

static void
add(struct moments *m, double w, double x)
{
	m->w += w;
	m->s += w * x;
	m->q += w * x * x;
}

/* Returns the SSE about the mean; `whole`: about the mean as a whole number. */
static double
sse_of_moments(const struct moments *m, bool whole)
{
	const double mean = whole ? floor(m->s / m->w + .5) : m->s / m->w;

	return m->w > 0 ? m->q - 2 * mean * m->s + mean * mean * m->w : 0;
}

/* [class][coordinate], by sum_classes() */
static struct moments sums[PALETTE_MOST][DIMENSIONS];

static void
sum_classes(const struct vertices *v, const uint32_t *label)
{
	double x[DIMENSIONS];

	memset(sums, 0, sizeof sums);
	for (size_t i = 0; i < v->set.n; i++)
		for (size_t a = place(v, i, x); a-- > 0;)
			add(&sums[label[i]][a], (double)v->weight[i], x[a]);
}

static double
sse_of_classes(const struct vertices *v, const uint32_t *label, bool whole)
{
	double sse = 0;

	sum_classes(v, label);
	for (size_t j = 0; j < PALETTE_MOST; j++)
		for (size_t a = 0; a < DIMENSIONS; a++)
			sse += sse_of_moments(&sums[j][a], whole);
	return sse;
}

/* Colours of clouds. */
static size_t
fill_clouds(struct check_rng *r, size_t set, struct picture *p)
{
	static uint8_t px[PIXELS][3];

	(void)set;
	for (size_t i = 0; i < PIXELS; i++)
		for (size_t a = 0, cloud = 40 * rng_below(r, 6); a < 3; a++)
			px[i][a] =
			    (uint8_t)fmin(fmax(20 + (double)cloud + 9 * rng_normal(r), 0), 255);
	*p = (struct picture){px, IMG_U8, PIXELS, 3, 0};
	return 1 + rng_below(r, 256);
}

/* Pixels that are opaque, clear and translucent, in shares that depend on the set. */
static size_t
fill_alpha(struct check_rng *r, size_t set, struct picture *p)
{
	static uint8_t px[400][4];

	*p = (struct picture){px, IMG_U8, 2 + rng_below(r, 399), 4, 255};
	for (size_t i = 0; i < p->n; i++) {
		const size_t kind = rng_below(r, 3 + set % 5);
		for (int a = 0; a < 4; a++)
			px[i][a] = (uint8_t)rng_below(r, 1 + 255 / (1 + set % 7));
		px[i][3] = kind == 0 ? 255 : kind == 1 ? 0 : px[i][3];
	}
	return 2 + rng_below(r, set % 2 ? 255 : 14);
}

static size_t
fill_planes(struct check_rng *r, size_t set, struct picture *p)
{
	static float x[2000 * DIMENSIONS];

	*p = (struct picture){x, IMG_F32, 2000, 1 + set % DIMENSIONS, 0};
	for (size_t i = 0; i < p->n; i++) {
		const double cloud = (double)(rng_below(r, 7) * rng_below(r, 50));
		for (size_t a = 0; a < p->planes; a++)
			x[i * p->planes + a] =
			    (float)(cloud * (double)(a % 3) + (double)rng_below(r, 40) - 300);
	}
	return 2 + rng_below(r, 60);
}

/* Whether classes keep opaque pixels and clear ones apart, and all clear ones together. */
static bool
kept_apart(const struct vertices *v, const uint32_t *label, size_t k)
{
	bool opaque[PALETTE_MOST] = {false};
	size_t clear = k;
	double x[4];

	for (size_t i = 0; i < v->set.n; i++) {
		vertices_get(v, i, x);
		opaque[label[i]] |= x[3] == 255;
		if (x[3] == 0 && clear < k && label[i] != clear)
			return false;
		clear = x[3] == 0 ? label[i] : clear;
	}
	return clear == k || !opaque[clear];
}

/* Whether no vertex is nearer, by more than a thousandth, to the mean of a class that is not its own. */
static bool
is_settled(const struct vertices *v, const uint32_t *label, size_t k)
{
	double x[DIMENSIONS];
	bool good = true;

	sum_classes(v, label);
	for (size_t i = 0; i < v->set.n; i++) {
		double far[PALETTE_MOST] = {0};
		const size_t d = place(v, i, x);
		for (size_t j = 0; j < k; j++)
			for (size_t a = 0; a < d; a++)
				far[j] += pow(x[a] - sums[j][a].s / sums[j][a].w, 2);
		for (size_t j = 0; j < k; j++)
			good &= sums[j][0].w == 0 || far[label[i]] <= 1.001 * far[j] + 1;
	}
	return good;
}

/* Classes hold what they should, and are the same for any threads, and no more than was asked for. */
static void
check_classes(void)
{
	static const struct {
		size_t sets;
		size_t (*fill)(struct check_rng *r, size_t set, struct picture *p);
		bool (*good)(const struct vertices *v, const uint32_t *label, size_t k);
		const char *name;
	} kinds[] = {
	    {24, fill_clouds, NULL,
	     "rawpalette: a palette is the same for any threads, and no larger than was asked"},
	    {120, fill_alpha, kept_apart,
	     "rawpalette: a palette keeps opaque pixels apart from clear ones, for any threads"},
	    {24, fill_planes, is_settled,
	     "rawpalette: classes of any planes have the nearest means, for any threads"}};
	static uint32_t label[PIXELS], again[PIXELS];
	struct check_rng r = {9};

	for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
		struct check_many m = {0};
		for (size_t set = 0; set < kinds[kind].sets; set++) {
			struct picture p;
			struct vertices v;
			const size_t k = kinds[kind].fill(&r, set, &p);
			uint32_t most = 0;
			check_poison(label, sizeof label);
			int err = reduce(&v, &p, k, label);
			err = err ? err : palette_make(&v, k, 2 + (int)(set % 3), again);
			for (size_t i = 0; i < v.set.n; i++)
				most = label[i] > most ? label[i] : most;
			check_case(&m,
				   !err && most < k &&
				       !memcmp(label, again, v.set.n * sizeof *label) &&
				       (!kinds[kind].good || kinds[kind].good(&v, label, k)),
				   "set %zu, %zu planes, %zu colours in %zu: error %d, label %u",
				   set, p.planes, v.set.n, k, err, most);
			vertices_free(&v);
		}
		check_end(&m, kinds[kind].name);
	}
}

/* --- few colours -------------------------------------------------------------------------------------------------------- */

enum { FEW = 10, TIMES = 9 };

/* Two classes of few far colours, of the second half of the sets with alpha. */
static void
check_exchange(struct check_many *m, struct check_rng *r, size_t set)
{
	uint8_t px[FEW * TIMES * 4];
	uint32_t label[FEW] = {0};
	const bool alpha = set >= 300;
	const size_t n = 3 + rng_below(r, FEW - 2), planes = alpha ? 4 : 3;
	struct picture p = {px, IMG_U8, 0, planes, alpha ? 255 : 0};
	struct vertices v;

	for (size_t i = 0; i < n; i++) {
		uint8_t x[4];
		for (int a = 0; a < 4; a++)
			x[a] = (uint8_t)(1 + rng_below(r, 254));
		x[0] = (uint8_t)(25 * i + x[0] % 25);
		for (size_t times = rng_below(r, set % 2 ? 1 : TIMES) + 1; times; times--)
			memcpy(px + planes * p.n++, x, planes);
	}
	bool good = !reduce(&v, &p, 2, label);
	const double sse = sse_of_classes(&v, label, false);
	for (size_t i = 0; good && i < v.set.n; i++) {
		label[i] ^= 1;
		good = sse <= 1.01 * sse_of_classes(&v, label, false) + 1;
		label[i] ^= 1;
	}
	check_case(m, good, "set %zu, %zu colours: SSE %g", set, n, sse);
	vertices_free(&v);
}

/* Returns the least SSE of n levels in at most k classes, trying all ways to cut. */
static double
least_sse(const uint16_t *x, const size_t *weight, size_t n, size_t k)
{
	double least = INFINITY;

	for (uint32_t cuts = 0; cuts < 1u << (n - 1); cuts++) {
		struct moments m = {0};
		double sse = 0;
		for (size_t i = 0; i < n; i++) {
			add(&m, (double)weight[i], x[i]);
			if (i + 1 == n || (cuts >> i & 1)) {
				sse += sse_of_moments(&m, true);
				m = (struct moments){0};
			}
		}
		if ((size_t)__builtin_popcount(cuts) < k)
			least = fmin(least, sse);
	}
	return least;
}

static void
check_gray_levels(struct check_many *m, struct check_rng *r, size_t set)
{
	const size_t n = 1 + rng_below(r, FEW), k = 1 + rng_below(r, n);
	uint16_t x[FEW], px[FEW * TIMES];
	size_t weight[FEW];
	uint32_t label[FEW];
	struct picture p = {px, IMG_U16, 0, 1, 0};
	struct vertices v;

	for (size_t i = 0; i < n; i++) {
		x[i] = (uint16_t)((i ? x[i - 1] : 0u) + 1 + rng_below(r, 9));
		weight[i] = 1 + rng_below(r, 5);
	}
	for (size_t i = set; i < set + n; i++) /* not in ascending order */
		for (size_t times = 0; times < weight[i % n]; times++)
			px[p.n++] = x[i % n];
	const int err = reduce(&v, &p, k, label);
	const double sse = sse_of_classes(&v, label, true);
	check_case(m, !err && sse < least_sse(x, weight, n, k) + 1e-9,
		   "set %zu, %zu levels in %zu: error %d, SSE %g", set, n, k, err, sse);
	vertices_free(&v);
}

/* Samples that are 59000 more, or 200 times as large, have the same classes. */
static void
check_deep(struct check_many *m, struct check_rng *r, size_t set)
{
	enum { N = 900 };
	static uint8_t px[N * 4];
	static uint16_t deep[N * 4];
	static uint32_t label[N];
	const size_t planes = 3 + set / 2 % 2, k = 2 + rng_below(r, 60);
	const unsigned scale = set % 2 ? 200 : 1, more = set % 2 ? 0 : 59000;
	const struct picture p[] = {{px, IMG_U8, N, planes, 0}, {deep, IMG_U16, N, planes, 0}};
	double sse[2];
	int err = 0;

	for (size_t i = 0; i < N * planes; i++) {
		px[i] = (uint8_t)(i ? rng_below(r, 256) : 0);
		deep[i] = (uint16_t)(px[i] * scale + more);
	}
	for (int i = 0; i < 2; i++) {
		struct vertices v;
		err |= reduce(&v, &p[i], k, label);
		sse[i] = sse_of_classes(&v, label, true);
		vertices_free(&v);
	}
	check_case(m, !err && sse[1] <= (scale > 1 ? 1.03 : 1) * sse[0] * scale * scale,
		   "set %zu: error %d, SSE %g, not %g", set, err, sse[1], sse[0]);
}

/* --- dithering ---------------------------------------------------------------------------------------------------------- */

/* Fills n samples with few values or any, so that clear, opaque and equal ones occur. */
static void
fill_samples(struct check_rng *r, void *to, enum img_type type, size_t n, size_t top)
{
	const bool few = rng_below(r, 2);

	for (size_t i = 0; i < n; i++) {
		const size_t x = few ? top * rng_below(r, 3) / 2 : rng_below(r, top + 1);
		if (type == IMG_U8)
			((uint8_t *)to)[i] = (uint8_t)x;
		else
			((uint16_t *)to)[i] = (uint16_t)x;
	}
}

static void
check_dither(struct check_many *m, struct check_rng *r, size_t set)
{
	static uint16_t px[SIDE * SIDE * 4];
	static double colour[256 * 4];
	uint8_t got[SIDE * SIDE], want[SIDE * SIDE];
	struct dither d = {.w = 1 + rng_below(r, SIDE),
			   .h = 1 + rng_below(r, SIDE),
			   .planes = 1 + rng_below(r, 4),
			   .type = rng_below(r, 2) ? IMG_U8 : IMG_U16,
			   .px = px,
			   .k = 1 + rng_below(r, set % 2 ? 256 : 20),
			   .colour = colour};

	d.alpha = d.planes % 2 == 0 && rng_below(r, 2);
	d.top = d.type == IMG_U16 ? 65535 : rng_below(r, 3) ? 255 : 31;
	fill_samples(r, px, d.type, d.w * d.h * d.planes, (size_t)d.top);
	for (size_t i = 0; i < d.k * d.planes; i++)
		colour[i] = rng_below(r, 4)   ? (double)rng_below(r, (size_t)d.top + 1)
			    : rng_below(r, 2) ? 0
					      : d.top;
	const int err = dither_run(&d, 1, 1, got) | palette_direct_dither(&d, want);
	check_case(m, !err && !memcmp(got, want, d.w * d.h),
		   "set %zu: %zu x %zu, %zu planes, %zu colours: error %d", set, d.w, d.h, d.planes,
		   d.k, err);
}

void
check_rawpalette(void)
{
	check_each("rawpalette: every colour goes to its nearest centre, whatever the boxes drop, "
		   "and rounds lose nothing",
		   40, 8, check_rounds);
	check_each("rawpalette: light nodes of the octree become one colour, which keeps all sums",
		   20, 11, check_thin);
	check_classes();
	check_each("rawpalette: moving one of few colours to another class lowers no error by 1 %%",
		   600, 12, check_exchange);
	check_each("rawpalette: gray levels are cut where that loses least of all ways", 300, 23,
		   check_gray_levels);
	check_each("rawpalette: a palette of 16 bits is as good as that of the same picture in 8",
		   24, 25, check_deep);
	check_each("rawpalette: error diffusion gives every pixel the colour of the definition",
		   600, 77, check_dither);
}
