/* dptrace's kernels on given tables and on pictures: the CPU's bytes, which check_dptrace.c holds to the definition. */
#include "gpu/dptrace/dptrace.h"
#include "t/check_dptrace.h"
#include "t/check_gpu.h"

enum { SAMPLES = 40 };

/*
 * Both, bit by bit. Guides of sizes of their own may allow no polyline at all, and then at holds nothing: where the bound was
 * given up, their sums alone are compared.
 */
static bool
same_tables(const struct check_chain *c, bool uneven, enum dptrace_method method, bool margins)
{
	int at[2][CHAIN_SEGMENTS * CHAIN_GUIDES] = {{0}};
	double best[2], margin[2][CHAIN_SEGMENTS * CHAIN_GUIDES] = {{0}};
	const int a = dptrace_tables(c->seg, c->nseg, c->phi, DPTRACE_WINDOW, 1, at[0], &best[0],
				     margins ? margin[0] : NULL),
		  b = gpu_dptrace_tables(gpu_on, c->seg, c->nseg, c->phi, method, at[1], &best[1],
					 margins ? margin[1] : NULL);
	size_t first = 0;

	if (a != b || best[0] != best[1])
		return false;
	if (a == 1 && uneven)
		return true;
	for (size_t s = 0; s < c->nseg; first += c->seg[s++].n)
		for (size_t i = first; i < first + c->seg[s].n; i++)
			if (at[0][i] != at[1][i] ||
			    (margins && memcmp(&margin[0][i], &margin[1][i], sizeof **margin)))
				return false;
	return true;
}

static void
tables_agree(struct check_many *m, struct check_rng *r, size_t i)
{
	static const double bounds[] = {.1, .35, .8, M_PI / 2, 2.2, M_PI};
	static struct check_chain c;
	const enum dptrace_method method = i % 16 == 7 ? DPTRACE_D3 : DPTRACE_WINDOW;
	const struct check_shape of = {2 + rng_below(r, CHAIN_GUIDES - 1), 1, i % 10 ? 12 : SAMPLES,
				       i % 3 == 1, i % 2 ? 5 : 0};

	c.nseg = 1 + rng_below(r, CHAIN_SEGMENTS);
	c.phi = bounds[i % 6];
	check_chain(&c, r, &of);
	check_order(i);
	check_case(m, same_tables(&c, of.uneven, method, i % 5 < 3),
		   "%zu: %zu segments, phi %g, uneven %d, %zu values, method %d", i, c.nseg, c.phi,
		   of.uneven, of.values, (int)method);
}

/*
 * Long guides: by the paper's recursion more samples than lanes, where all turns are allowed, so that the best sample before a link
 * may be in any warp; and links that climb in more than 128 ways, which have a kernel of their own.
 */
static void
long_guides_agree(struct check_many *m, struct check_rng *r, size_t i)
{
	static const double bounds[] = {M_PI, .1, .8, M_PI};
	static const int ends[2] = {3, 2};
	static struct check_chain c = {.nseg = 1};
	const bool paper = i == 0;
	const struct check_shape of = {5 + rng_below(r, 2), paper ? SAMPLES : CHAIN_SAMPLES - 2,
				       paper ? SAMPLES : CHAIN_SAMPLES, false, i == 2 ? 5 : 0};

	c.phi = bounds[i];
	check_segment(&c, 0, r, &of, ends);
	check_order(i);
	check_case(m, same_tables(&c, false, paper ? DPTRACE_D3 : DPTRACE_WINDOW, true),
		   "%zu: %zu guides", i, of.n);
}

/* Two rows of a guide lie in the shared memory of a block, which has 64 KB here, 228 at most on any GPU. */
static void
long_guides_are_said(void)
{
	static const int d[] = {1, 30000, 1}, o[] = {0, -15000, 0};
	static const double h[] = {1, 1};
	const struct dptrace_table t = {.n = 3, .dv = 1, .ex = 1, .h = h, .d = d, .o = o};
	int at[3];
	double best;
	const int err = gpu_dptrace_tables(gpu_on, &t, 1, 1, DPTRACE_WINDOW, at, &best, NULL);

	check(err == -EIO && strstr(gpu_why(gpu_on), "shared memory"),
	      "gpu: dptrace says that guides are too long for it", "%d: %s", err, gpu_why(gpu_on));
}

enum { WIDE = 61, HIGH = 47, PLANES = 3, LINES = 3, POINTS = 4 };

/* A bright arc, another in the planes after the first, and noise. */
static void
random_picture(float v[PLANES][HIGH][WIDE], struct check_rng *r)
{
	for (size_t c = 0; c < PLANES; c++)
		for (int y = 0; y < HIGH; y++)
			for (int x = 0; x < WIDE; x++) {
				const double at = hypot(x - 30, y + (c ? 12 : 20)) - 42;
				v[c][y][x] = (float)(exp(-at * at / 8) + .3 * rng_unit(r));
			}
}

/* Lines of 2 to 4 points, no two of them near, some of them by the border. */
static void
random_lines(struct dptrace_line l[LINES], double xy[LINES][POINTS][2], struct check_rng *r)
{
	static const double corner[POINTS][2] = {{3, 4}, {52, 2}, {57, 41}, {5, 38}};

	for (size_t i = 0; i < LINES; i++) {
		const size_t n = 2 + rng_below(r, 3), first = rng_below(r, POINTS);
		for (size_t k = 0; k < POINTS; k++)
			for (size_t a = 0; a < 2; a++)
				xy[i][k][a] = corner[(first + k) % POINTS][a] + 3 * rng_unit(r);
		l[i] = (struct dptrace_line){n, (const double(*)[2])xy[i]};
	}
}

static bool
same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool
same_trace(const struct dptrace_trace *a, const struct dptrace_trace *b)
{
	if (a->n != b->n || !same(a->score, b->score) || !same(a->margin, b->margin) ||
	    a->bare != b->bare || a->turned != b->turned || a->low != b->low ||
	    a->doubt != b->doubt || a->doubt_at != b->doubt_at || a->border != b->border ||
	    a->sharp != b->sharp || a->released != b->released ||
	    (a->released && a->released_at != b->released_at) || a->blank != b->blank ||
	    a->unsupported != b->unsupported || a->unsupported_at != b->unsupported_at)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct dptrace_vertex *v = &a->v[i], *w = &b->v[i];
		if (v->x != w->x || v->y != w->y || !same(v->score, w->score) ||
		    !same(v->margin, w->margin) || v->point != w->point || v->border != w->border)
			return false;
	}
	return true;
}

static int
run_held(void *picture, struct dptrace_plan *p)
{
	return gpu_dptrace_run(gpu_on, p, picture);
}

/* The GPU also settles what the plan tries. */
static bool
same_traces(const struct dptrace_image *im, const struct dptrace_line *l, size_t n,
	    const struct dptrace_options *o)
{
	bool picture = false; /* whether the device holds it */
	const struct dptrace_runner gpu = {run_held, &picture};
	struct dptrace_options there = *o;
	struct dptrace_plan a, b;
	struct why why;
	bool ok = true;

	there.runner = &gpu;
	if (dptrace_plan(&a, im, l, n, o, &why) || dptrace_plan(&b, im, l, n, &there, &why))
		return false;
	dptrace_run(&a);
	ok = !run_held(&picture, &b);
	for (size_t i = 0; i < n && ok; i++)
		ok = same_trace(&a.trace[i], &b.trace[i]);
	dptrace_free(&a);
	dptrace_free(&b);
	return ok;
}

/* What a row leaves out is left to the program; without a score it is DPTRACE_RIDGE. */
static const struct {
	struct dptrace_options o;
	size_t planes; /* 0: 1 */
	size_t memory; /* of the device, 0: plenty */
} asked[] = {
    {{.margins = true}},
    {{.polarity = 1, .n = 5, .d = 33, .halfwidth = 9}, 3},
    {{.polarity = -1, .d = 41, .halfwidth = 5, .passes = 3, .margins = true}},
    {{.score = DPTRACE_EDGE, .margins = true, .spacing = 9}, 3},
    {{.score = DPTRACE_EDGE, .polarity = 1, .arc = true, .phi = .3}, 3},
    {{.score = DPTRACE_EDGE, .polarity = -1, .halfwidth = 20, .d = 9}},
    {{.score = DPTRACE_SIN, .arc = true, .n = 4, .d = 15, .method = DPTRACE_D3, .margins = true}},
    {{.sigma = 1.1, .n = 2, .passes = 1, .margins = true}},
    {{.phi = 3, .sigma = 4, .d = 3, .halfwidth = 40, .n = 7}},
    {{.n = 5, .d = 25, .margins = true}, 1, 5000000},
    {{.objective = DPTRACE_COST, .snap = -1, .margins = true}},
    {{.objective = DPTRACE_COST, .polarity = -1, .passes = 3, .d = 24, .snap = 3, .margins = true},
     3,
     4000000},
    {{.snap = 4, .d = 31, .halfwidth = 20, .passes = 3, .margins = true}},
    {{.score = DPTRACE_EDGE, .objective = DPTRACE_COST, .sigma = 1.5}, 3},
    /* d is more than a warp */
    {{.score = DPTRACE_EDGE,
      .objective = DPTRACE_COST,
      .polarity = -1,
      .passes = 1,
      .n = 4,
      .d = 35,
      .method = DPTRACE_D3,
      .margins = true}},
    /* guides get some 290 samples: more than threads; links climb in fewer than 128 ways */
    {{.objective = DPTRACE_COST,
      .passes = 1,
      .n = 30,
      .d = 500,
      .halfwidth = 40,
      .margins = true}}};

/* Makes a mask with a hole. */
static void
make_mask(unsigned char mask[HIGH * WIDE])
{
	for (int i = 0; i < HIGH * WIDE; i++)
		mask[i] = hypot(i % WIDE - 30, i / WIDE - 12) > 6;
}

static struct dptrace_options
options_of(size_t row)
{
	struct dptrace_options o = asked[row].o;

	o.sigma = o.sigma > 0 ? o.sigma : 2;
	o.passes = o.passes ? o.passes : 2;
	o.threads = 1;
	return o;
}

/* Row i of asked, on a random picture. */
static void
row_agrees(struct check_many *m, struct check_rng *r, size_t i)
{
	static float v[PLANES][HIGH][WIDE];
	static unsigned char mask[HIGH * WIDE];
	const struct dptrace_options o = options_of(i);
	const struct dptrace_image im = {
	    asked[i].planes + !asked[i].planes, HIGH, WIDE, &v[0][0][0],
	    i % 3 == 1 ? mask : NULL,		{0}};
	double xy[LINES][POINTS][2];
	struct dptrace_line l[LINES];

	make_mask(mask);
	random_picture(v, r);
	random_lines(l, xy, r);
	check_order(m->cases);
	check_memory(asked[i].memory);
	check_case(m, same_traces(&im, l, LINES, &o), "row %zu of asked: %s", i, gpu_why(gpu_on));
	check_memory(0);
}

static void
pictures_agree(struct check_many *m, struct check_rng *r, size_t i)
{
	if (i % 2 == 0 || !check_large)
		row_agrees(m, r, i);
}

/* The host's part of many lines is shared among threads. */
static void
threads_agree(void)
{
	enum { MANY = 15 };
	static float v[PLANES][HIGH][WIDE];
	static double xy[MANY][LINES][POINTS][2];
	static struct dptrace_line l[MANY][LINES];
	struct dptrace_options o = options_of(0);
	struct check_rng r = {45};

	o.n = 4;
	o.d = 9;
	o.threads = 4;
	random_picture(v, &r);
	for (size_t i = 0; i < MANY; i++)
		random_lines(l[i], xy[i], &r);
	const struct dptrace_image im = {1, HIGH, WIDE, &v[0][0][0], NULL, {0}};
	check(same_traces(&im, l[0], MANY * LINES, &o),
	      "gpu: dptrace by several threads of the host gives the bytes of the CPU", "%s",
	      gpu_why(gpu_on));
}

/* One of the rows has memory for a line at a time. */
static void
shares_agree(struct gpu *one, struct check_many *m)
{
	static const size_t rows[] = {1, 5, 9};
	struct check_rng r = {43};

	(void)one;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		row_agrees(m, &r, rows[i]);
}

/* Segments are an axis of a launch's blocks. */
static void
many_segments_are_said(void)
{
	enum { MANY = 65537 };
	static float v[HIGH][WIDE];
	double(*xy)[2] = check_alloc(MANY, sizeof *xy);
	struct dptrace_line l = {.xy = (const double(*)[2])xy, .n = MANY};
	const struct dptrace_image im = {1, HIGH, WIDE, &v[0][0], NULL, {0}};
	struct dptrace_options o = options_of(1); /* a polarity, so that none is found */
	struct dptrace_plan p;
	struct why why;

	o.n = 2;
	o.d = 3;
	for (size_t i = 0; i < MANY; i++) {
		xy[i][0] = 10 + 10 * (double)(i % 2);
		xy[i][1] = 10 + 4 * (double)(i / 2 % 2);
	}
	const int planned = dptrace_plan(&p, &im, &l, 1, &o, &why);
	const int got = planned ? 0 : gpu_dptrace_run(gpu_on, &p, NULL);
	check(got == -EIO && strstr(gpu_why(gpu_on), "a line of 65536 segments: 65535 is the most"),
	      "gpu: dptrace says that a line has too many segments", "%d: %s", got,
	      planned ? why.text : gpu_why(gpu_on));
	if (!planned)
		dptrace_free(&p);
}

void
check_gpu_dptrace(void)
{
	check_each("gpu: dptrace, on given tables path, sum and margins are the CPU's", 150, 41,
		   tables_agree);
	check_each("gpu: dptrace, long guides give the CPU's sums, by the paper's recursion, too",
		   4, 42, long_guides_agree);
	if (!check_large)
		long_guides_are_said();
	check_each(
	    "gpu: dptrace, vertices, scores, margins and warnings on pictures are the CPU's, "
	    "bit by bit",
	    sizeof asked / sizeof *asked, 42, pictures_agree);
	threads_agree();
	if (!check_large)
		many_segments_are_said();
	gpu_release(gpu_on); /* others get the little memory that some rows leave a device */
	check_on_devices("gpu: dptrace gives the bytes of the CPU", shares_agree);
}
