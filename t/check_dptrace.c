/*
 * dptrace: the recursion against brute force and against the paper's, on whole-number tables; scores against their
 * definition; accuracy on pictures of known course.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "dptrace/dptrace.h"
#include "dptrace/strip.h"
#include "t/check.h"
#include "t/dptrace_scene.h"

enum { MAXSEG = 3, MAXN = 7, MAXD = 15, MAXLINK = MAXSEG * MAXN };

/* A problem small enough to try every polyline. */
struct problem {
	struct dptrace_table seg[MAXSEG];
	size_t nseg;
	bool closed;
	double phi;
	double h[MAXSEG][MAXN];
	int d[MAXSEG][MAXN], o[MAXSEG][MAXN];
	float table[MAXSEG][MAXN][MAXD * MAXD];
	const float *score[MAXSEG][MAXN];
};

static const double bounds[] = {.05, .1, .2, .35, .5, .8, 1.2, M_PI / 2, 1.7, 2.2, 3, M_PI};

static void
random_segment(struct problem *p, size_t s, struct check_rng *r, size_t n, size_t maxd, bool uneven,
	       int values)
{
	const double heading = 2 * M_PI * rng_unit(r);
	struct dptrace_table *t = &p->seg[s];

	*t = (struct dptrace_table){.n = n,
				    .dv = .5 + rng_unit(r),
				    .ex = cos(heading),
				    .ey = sin(heading),
				    .h = p->h[s],
				    .d = p->d[s],
				    .o = p->o[s],
				    .score = p->score[s]};
	const size_t d = 1 + rng_below(r, maxd);
	const double h = .3 + 3 * rng_unit(r);
	for (size_t g = 0; g < n; g++) {
		bool end = g == 0 || g + 1 == n;
		p->d[s][g] = end ? 1 : (int)(uneven ? 1 + rng_below(r, maxd) : d);
		p->o[s][g] = end ? 0 : -p->d[s][g] / 2 + (uneven ? (int)rng_below(r, 5) - 2 : 0);
		p->h[s][g] = uneven ? .3 + 3 * rng_unit(r) : h;
	}
	for (size_t g = 0; g + 1 < n; g++) {
		for (int i = 0; i < p->d[s][g] * p->d[s][g + 1]; i++)
			p->table[s][g][i] =
			    (float)rng_below(r, (size_t)values) - (float)(values / 4);
		p->score[s][g] = p->table[s][g];
	}
}

struct search {
	const struct problem *p;
	size_t s, g;  /* the gap to be chosen next */
	double first; /* the direction of the first link */
	double best;
};

static double
turn(double a, double b)
{
	return fabs(remainder(b - a, 2 * M_PI));
}

static double
heading_of(const struct dptrace_table *t, size_t g, int j, int k)
{
	return atan2(t->ey, t->ex) + atan2((t->o[g + 1] + k - t->o[g] - j) * t->dv, t->h[g]);
}

/* Every polyline that goes on from sample j of guide g of segment s. */
static void
try_all(struct search *q, size_t s, size_t g, int j, double before, double sum)
{
	const struct problem *p = q->p;

	if (s == p->nseg) {
		if ((!p->closed || turn(before, q->first) <= p->phi + 1e-12) && sum > q->best)
			q->best = sum;
		return;
	}
	const struct dptrace_table *t = &p->seg[s];
	for (int k = 0; k < t->d[g + 1]; k++) {
		double here = heading_of(t, g, j, k);
		bool start = s == 0 && g == 0, end = g + 2 == t->n;
		if (start)
			q->first = here;
		else if (turn(before, here) > p->phi + 1e-12)
			continue;
		try_all(q, end ? s + 1 : s, end ? 0 : g + 1, end ? 0 : k, here,
			sum + (double)t->score[g][j * t->d[g + 1] + k]);
	}
}

/* The sum of the polyline at, or NaN when it breaks the bound. */
static double
sum_of(const struct problem *p, const int *at)
{
	double sum = 0, before = NAN, first = NAN;

	for (size_t s = 0; s < p->nseg; at += p->seg[s++].n) {
		const struct dptrace_table *t = &p->seg[s];
		for (size_t g = 0; g + 1 < t->n; g++) {
			if (at[g] < 0 || at[g] >= t->d[g])
				return NAN;
			double here = heading_of(t, g, at[g], at[g + 1]);
			if (isnan(before))
				first = here;
			else if (turn(before, here) > p->phi + 1e-9)
				return NAN;
			before = here;
			sum += (double)t->score[g][at[g] * t->d[g + 1] + at[g + 1]];
		}
	}
	return p->closed && turn(before, first) > p->phi + 1e-9 ? NAN : sum;
}

static void
compare(struct check_many *brute, struct check_many *paper, struct check_many *legal,
	struct problem *p)
{
	struct search q = {.p = p, .best = -INFINITY};
	int at[MAXLINK], at2[MAXLINK];
	double best, direct = -INFINITY;
	int r = dptrace_tables(p->seg, p->nseg, p->closed, p->phi, 1, at, &best, NULL);

	try_all(&q, 0, 0, 0, 0, 0);
	const bool none = q.best == -INFINITY;
	check_case(brute, r == none, "phi %g, %zu segments: given up %d, brute force finds %g",
		   p->phi, p->nseg, r, q.best);
	if (!p->closed) {
		int r2 = dptrace_direct(p->seg, p->nseg, p->phi, at2, &direct);
		check_case(paper,
			   r2 == none && direct == q.best && (r2 || sum_of(p, at2) == direct),
			   "phi %g: %g for %g", p->phi, direct, q.best);
	}
	if (none)
		return;
	check_case(brute, best == q.best, "phi %g n %zu segments %zu: %g for %g", p->phi,
		   p->seg[0].n, p->nseg, best, q.best);
	check_case(legal, sum_of(p, at) == best, "phi %g: the polyline sums to %g, not %g", p->phi,
		   sum_of(p, at), best);
}

static void
check_tables(void)
{
	struct check_many brute = {0}, paper = {0}, legal = {0};
	struct check_rng r = {1};
	static struct problem p;

	for (int i = 0; i < 6000; i++) {
		size_t n = 2 + rng_below(&r, 5), maxd = n < 5 ? MAXD : n == 5 ? 9 : 6;
		p.nseg = i % 3 ? 1 : 2 + rng_below(&r, 2);
		p.closed = p.nseg > 1 && i % 2;
		p.phi = bounds[rng_below(&r, sizeof bounds / sizeof *bounds)];
		if (p.nseg > 1) {
			n = 2 + rng_below(&r, 2);
			maxd = 6;
		}
		for (size_t s = 0; s < p.nseg; s++)
			random_segment(&p, s, &r, n, maxd, i % 4 < 2, i % 5 ? 64 : 3);
		compare(&brute, &paper, &legal, &p);
	}
	check_end(&brute, "the optimum is that of brute force: uneven spacings and samples, phi "
			  ".05 to pi, chains, closed");
	check_end(&paper, "the paper's recursion finds the same");
	check_end(&legal, "the polyline keeps the bound and sums to the optimum");
}

/* --- problems of several blocks ---------------------------------------------------------------------------------- */

/* A segment of n guides with up to d samples, tables on the heap. */
struct large {
	struct dptrace_table t;
	double h[MAXN];
	int d[MAXN], o[MAXN];
	const float *score[MAXN];
};

static void
make_large(struct large *l, struct check_rng *r, int d, bool uneven, int values)
{
	l->t = (struct dptrace_table){.n = MAXN,
				      .dv = .8,
				      .ex = 1,
				      .ey = 0,
				      .h = l->h,
				      .d = l->d,
				      .o = l->o,
				      .score = l->score};
	for (int g = 0; g < MAXN; g++) {
		l->d[g] = g == 0 || g == MAXN - 1
			      ? 1
			      : d - (uneven ? 2 * (int)rng_below(r, (size_t)d / 4) : 0);
		l->o[g] = -(l->d[g] / 2);
		l->h[g] = uneven ? (.3 + rng_unit(r)) * d : .5 * d;
	}
	for (int g = 0; g + 1 < MAXN; g++) {
		const size_t n = (size_t)(l->d[g] * l->d[g + 1]);
		float *s = malloc(n * sizeof *s);
		for (size_t i = 0; i < n; i++)
			s[i] = (float)rng_below(r, (size_t)values);
		l->score[g] = s;
	}
}

static void
free_large(struct large *l)
{
	for (int g = 0; g + 1 < MAXN; g++)
		free((void *)l->score[g]);
}

static void
check_large(void)
{
	static const int widths[] = {63, 65, 129, 191};
	struct check_many same = {0}, threads = {0};
	struct check_rng r = {2};
	struct large l;

	for (int i = 0; i < 12; i++) {
		int at[MAXN], at2[MAXN];
		double best, direct;
		const double phi = bounds[1 + i % 8];
		make_large(&l, &r, widths[i % 4], i >= 4, i % 3 ? 1000 : 4);
		dptrace_tables(&l.t, 1, false, phi, 1, at, &best, NULL);
		dptrace_direct(&l.t, 1, phi, at2, &direct);
		check_case(&same, best == direct, "d %d phi %g: %g for %g", widths[i % 4], phi,
			   best, direct);
		free_large(&l);
	}
	check_end(
	    &same,
	    "blocks of samples meet: d from 63 to 191 finds what the paper's recursion finds");
	make_large(&l, &r, 801, false, 4);
	for (int t = 1; t <= 3; t++) {
		int at[2][MAXN];
		double best[2], margin[2][MAXN];
		dptrace_tables(&l.t, 1, false, .5, 1, at[0], &best[0], margin[0]);
		dptrace_tables(&l.t, 1, false, .5, t, at[1], &best[1], margin[1]);
		check_case(&threads, !memcmp(at[0], at[1], sizeof at[0]) && best[0] == best[1],
			   "%d threads", t);
		check_case(&threads, !memcmp(margin[0], margin[1], sizeof margin[0]),
			   "%d threads: margins", t);
	}
	free_large(&l);
	check_end(
	    &threads,
	    "with ties everywhere, any number of threads finds the same polyline and margins");
}

/* --- margins ------------------------------------------------------------------------------------------------------ */

/* The best sum of a polyline that avoids sample `not` of guide g of segment s, or that meets it. */
static double
best_avoiding(struct problem *p, size_t s, size_t g, int not )
{
	struct problem q = *p;
	struct search w = {.p = &q, .best = -INFINITY};

	for (size_t i = 0; i < p->nseg; i++) {
		q.seg[i].score = q.score[i];
		for (size_t k = 0; k + 1 < p->seg[i].n; k++)
			q.score[i][k] = q.table[i][k];
	}
	for (int k = 0; k < p->d[s][g + 1]; k++)
		q.table[s][g][not *p->d[s][g + 1] + k] = -1e6f;
	try_all(&w, 0, 0, 0, 0, 0);
	return w.best < -1e5 ? -INFINITY : w.best;
}

static void
check_margins(void)
{
	struct check_many m = {0};
	struct check_rng r = {3};
	static struct problem p;
	int at[MAXLINK];
	double best, margin[MAXLINK];

	for (int i = 0; i < 300; i++) {
		p.nseg = 1 + (size_t)(i % 3 == 2);
		p.phi = bounds[2 + rng_below(&r, 10)];
		for (size_t s = 0; s < p.nseg; s++)
			random_segment(&p, s, &r, p.nseg > 1 ? 3 : 5, p.nseg > 1 ? 6 : 8, i % 2,
				       64);
		if (dptrace_tables(p.seg, p.nseg, false, p.phi, 1, at, &best, margin))
			continue;
		for (size_t s = 0, k = 0; s < p.nseg; k += p.seg[s++].n)
			for (size_t g = 1; g + 1 < p.seg[s].n; g++) {
				double want = best - best_avoiding(&p, s, g, at[k + g]);
				check_case(&m, margin[k + g] == want, "phi %g guide %zu: %g for %g",
					   p.phi, g, margin[k + g], want);
			}
	}
	check_end(
	    &m, "a margin is what the best polyline through another sample loses, by brute force");
}

/* --- scores ------------------------------------------------------------------------------------------------------- */

/* A colour picture of smooth noise. */
static void
smooth_noise(float *v, size_t c, size_t w, size_t h, struct check_rng *r)
{
	for (size_t k = 0; k < c; k++)
		for (size_t i = 0; i < 8; i++) {
			double fx = .4 * rng_normal(r), fy = .4 * rng_normal(r),
			       phase = 7 * rng_unit(r);
			for (size_t y = 0; y < h; y++)
				for (size_t x = 0; x < w; x++)
					v[(k * h + y) * w + x] +=
					    (float)(50 *
						    cos(fx * (double)x + fy * (double)y + phase));
		}
}

/* The strip of a segment of 4 gaps, d samples, dv apart, in a picture; links of all slopes against their definition. */
static void
compare_scores(struct check_many *m, const struct dptrace_image *im, const float *gray,
	       const struct dptrace_options *o, int d, double dv, const double a[2],
	       const double b[2], struct check_rng *r)
{
	const double length = hypot(b[0] - a[0], b[1] - a[1]);
	struct segment s = {0};
	struct arena room = {0};
	struct strip strip;
	struct base base;
	struct bench bench;
	double sum = 0, peak = 0;

	for (int count = 1; count >= 0; count--) {
		strip = (struct strip){.g = strip_grid(length, 4, d, dv, o), .o = o};
		room.used = 0;
		segment_take(&s, &room, 5, d, d, false, 1);
		strip_take(&strip, &room, &strip.g);
		base_take(&base, &room, &strip.g);
		bench_take(&bench, &room, &strip.g);
		if (count)
			room.base = weir_alloc(room.used, 1);
		if (count)
			check_poison(room.base, room.used);
	}
	s.c.n = 5;
	s.c.rows = s.c.maxd = d;
	s.c.dv = dv;
	s.c.ex = (b[0] - a[0]) / length;
	s.c.ey = (b[1] - a[1]) / length;
	for (int g = 0; g < 5; g++) {
		s.c.d[g] = d;
		s.c.o[g] = 0;
		s.c.h[g] = length / 4;
	}
	segment_shape(&s, (struct bound){-1, 0});
	const struct origin at = {a[0], a[1], s.c.ex, s.c.ey};
	base_fill(&base, &bench, &strip.g, &at, im, gray, o);
	strip_fill(&strip, &base, &s.c);
	s.ctx = &strip;
	for (int i = 0; i < 40; i++) {
		const int g = (int)rng_below(r, 4), j = (int)rng_below(r, (size_t)d),
			  k = (int)rng_below(r, (size_t)d);
		const double from[2] = {g * length / 4, (j - d / 2) * dv},
			     to[2] = {(g + 1) * length / 4, (k - d / 2) * dv};
		float out[LANES];
		strip_score(&s, g, k - j, j, 0, GROUP, out);
		double want = dptrace_direct_score(im, o, a, b, from, to, (size_t)strip.g.per_gap,
						   (double)base.g0);
		sum += fabs((double)out[0] - want) / (length / 4);
		peak = fmax(peak, fabs(want) / (length / 4));
	}
	check_case(m, sum / 40 < (o->score == DPTRACE_SIN ? .04 : .01) * peak + .004,
		   "score %d polarity %d dv %g: off by %g of %g on average", o->score, o->polarity,
		   dv, sum / 40, peak);
	weir_free(room.base);
}

static void
check_scores(void)
{
	static const struct {
		enum dptrace_score score;
		int polarity;
	} kinds[] = {{DPTRACE_RIDGE, 0}, {DPTRACE_RIDGE, 1}, {DPTRACE_RIDGE, -1}, {DPTRACE_EDGE, 0},
		     {DPTRACE_EDGE, 1},	 {DPTRACE_EDGE, -1}, {DPTRACE_SIN, 0}};
	static const double steps[] = {.2, .5, 1, 1.7};
	enum { W = 90, H = 70 };
	struct check_many m = {0};
	struct check_rng r = {4};
	float *v = calloc(3 * W * H, sizeof *v), *mean = malloc(W * H * sizeof *mean);

	smooth_noise(v, 3, W, H, &r);
	for (size_t i = 0; i < W * H; i++)
		mean[i] = (v[i] + v[W * H + i] + v[2 * W * H + i]) / 3;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (int i = 0; i < 4; i++) {
			struct dptrace_options o = {.score = kinds[k].score,
						    .polarity = kinds[k].polarity,
						    .arc = i % 2,
						    .sigma = 2,
						    .soft = 4};
			struct dptrace_image im = {i == 2 ? 3 : 1, H, W, v};
			/* the last strip leaves the picture */
			const double a[2] = {20, 25 - 20 * (i == 3)}, b[2] = {70, 41};
			compare_scores(&m, &im, i == 2 ? mean : v, &o, i == 3 ? 21 : 17, steps[i],
				       a, b, &r);
		}
	check_end(&m, "link scores are those of the definition to 1 %: all scores, steps, colours, "
		      "beyond the border");
	free(v);
	free(mean);
}

/* --- traces ------------------------------------------------------------------------------------------------------- */

static struct scene scene;

enum { SEEDS = 12 };

static const struct dptrace_options defaults = {
    .score = DPTRACE_RIDGE, .sigma = 2, .soft = 4, .passes = 2, .margins = true, .threads = 1};

/* Traces the scene from its course's points; xy receives the polyline. Returns its vertices. */
static size_t
trace_scene(const float *v, size_t w, size_t h, const double (*click)[2], size_t clicks,
	    const struct dptrace_options *o, double (**xy)[2])
{
	const struct dptrace_image im = {1, h, w, v};
	const struct dptrace_line l = {clicks, click, false};
	struct dptrace_plan p;
	char err[DPTRACE_ERR];

	if (dptrace_plan(&p, &im, &l, 1, o, err))
		return 0;
	dptrace_run(&p);
	const size_t n = p.trace[0].n;
	*xy = malloc(n * sizeof **xy);
	for (size_t i = 0; i < n; i++) {
		(*xy)[i][0] = p.trace[0].v[i].x;
		(*xy)[i][1] = p.trace[0].v[i].y;
	}
	dptrace_free(&p);
	return n;
}

static void
clicks_of(size_t n, double (*click)[2])
{
	for (size_t i = 0; i < n; i++)
		memcpy(click[i], scene.truth[i * (TRUTH - 1) / (n - 1)], sizeof *click);
}

/* The mean error over seeds 1..SEEDS, and how many polylines lost the object (3 px or more on average). */
static double
mean_error(enum scene_kind kind, double noise, size_t clicks, size_t *lost)
{
	struct dptrace_options o = defaults;
	double sum = 0, click[8][2], (*xy)[2];

	*lost = 0;
	o.score = kind == SCENE_EDGE ? DPTRACE_EDGE : DPTRACE_RIDGE;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		scene_make(&scene, kind, noise, seed);
		clicks_of(clicks, click);
		size_t n =
		    trace_scene(scene.v, SIDE, SIDE, (const double(*)[2])click, clicks, &o, &xy);
		double e = scene_error(&scene, (const double(*)[2])xy, n);
		if (e > 3)
			++*lost;
		else
			sum += e;
		free(xy);
	}
	return sum / (double)(SEEDS - (*lost < SEEDS ? *lost : 0));
}

/* The table of accuracy: kind, points, noise, the largest mean error in px and number of lost objects allowed. */
static void
check_accuracy(void)
{
	static const struct {
		enum scene_kind kind;
		size_t clicks;
		double noise, error;
		size_t lost;
		const char *name;
	} rows[] = {
	    {SCENE_LINE, 2, .5, .33, 0, "a line under noise .5 is met to .33 px"},
	    {SCENE_LINE, 2, 1, .40, 0, "a line under noise 1 is met to .40 px"},
	    {SCENE_EDGE, 2, .5, .33, 0, "an edge under noise .5 is met to .33 px"},
	    {SCENE_EDGE, 2, 1, .45, 0, "an edge under noise 1 is met to .45 px"},
	    {SCENE_GAP, 2, 1, 1.0, 0, "a line with a gap of 40 px under noise 1 is met to 1 px"},
	    {SCENE_CROSSINGS, 2, 1, .45, 0,
	     "a line among crossings under noise 1 is met to .45 px"},
	    {SCENE_LOOP, 5, .5, 1.2, 0, "an S that doubles back is met to 1.2 px from 5 points"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t lost;
		double e = mean_error(rows[i].kind, rows[i].noise, rows[i].clicks, &lost);
		check(e <= rows[i].error && lost <= rows[i].lost, rows[i].name, "%.3f px, %zu lost",
		      e, lost);
		if (getenv("CHECK_FIGURES"))
			printf("# %s: %.3f px, %zu lost\n", rows[i].name, e, lost);
	}
	size_t lost;
	mean_error(SCENE_LOOP, .5, 2, &lost);
	check(lost == SEEDS, "an S that doubles back is lost from 2 points: chains are for that",
	      "%zu lost", lost);
}

/* Picture and points turned by quarter turns (how & 3) and flipped (how & 4). */
static void
turn_picture(int how, const float *v, float *out)
{
	for (size_t y = 0; y < SIDE; y++)
		for (size_t x = 0; x < SIDE; x++) {
			size_t i = x, j = y;
			for (int q = 0; q < (how & 3); q++) {
				size_t k = i;
				i = SIDE - 1 - j;
				j = k;
			}
			out[j * SIDE + (how & 4 ? SIDE - 1 - i : i)] = v[y * SIDE + x];
		}
}

static void
turn_point(int how, const double p[2], double out[2])
{
	double x = p[0], y = p[1];

	for (int q = 0; q < (how & 3); q++) {
		double k = x;
		x = SIDE - 1 - y;
		y = k;
	}
	out[0] = how & 4 ? SIDE - 1 - x : x;
	out[1] = y;
}

static void
check_turned(void)
{
	static float turned[SIDE * SIDE];
	struct check_many m = {0};
	struct dptrace_options o = defaults;

	for (int kind = 0; kind < 2; kind++) {
		double click[3][2], click2[3][2], (*xy)[2] = NULL, (*xy2)[2] = NULL, p[2];
		o.score = kind == SCENE_EDGE ? DPTRACE_EDGE : DPTRACE_RIDGE;
		scene_make(&scene, (enum scene_kind)kind, .8, 77);
		clicks_of(3, click);
		size_t n = trace_scene(scene.v, SIDE, SIDE, (const double(*)[2])click, 3, &o, &xy);
		for (int how = 1; how < 8; how++) {
			turn_picture(how, scene.v, turned);
			for (int i = 0; i < 3; i++)
				turn_point(how, click[i], click2[i]);
			size_t n2 = trace_scene(turned, SIDE, SIDE, (const double(*)[2])click2, 3,
						&o, &xy2);
			double worst = n == n2 ? 0 : INFINITY;
			for (size_t i = 0; i < n && i < n2; i++) {
				turn_point(how, xy[i], p);
				worst = fmax(worst, hypot(p[0] - xy2[i][0], p[1] - xy2[i][1]));
			}
			check_case(&m, worst <= 1e-3, "kind %d turned %d: off by %g px", kind, how,
				   worst);
			free(xy2);
		}
		free(xy);
	}
	check_end(&m,
		  "a picture turned or flipped with its points gives the same polyline to 1e-3 px");
}

/* A ring of 24 points around the middle: more segments than are held at once. */
static size_t
trace_ring(size_t max_bytes, int threads, bool closed, double *out, size_t room)
{
	enum { POINTS = 24 };
	double click[POINTS][2];
	struct dptrace_line l = {POINTS, (const double(*)[2])click, closed};
	struct dptrace_image im = {1, SIDE, SIDE, scene.v};
	struct dptrace_options o = defaults;
	struct dptrace_plan p;
	char err[DPTRACE_ERR];
	size_t n = 0;

	for (int i = 0; i < POINTS; i++) {
		click[i][0] = SIDE / 2 + 180 * cos(2 * M_PI * i / POINTS);
		click[i][1] = SIDE / 2 + 180 * sin(2 * M_PI * i / POINTS);
	}
	o.max_bytes = max_bytes;
	o.threads = threads;
	if (dptrace_plan(&p, &im, &l, 1, &o, err))
		return 0;
	dptrace_run(&p);
	for (size_t i = 0; i < p.trace[0].n && n + 4 <= room; i++) {
		out[n++] = p.trace[0].v[i].x;
		out[n++] = p.trace[0].v[i].y;
		out[n++] = p.trace[0].v[i].score;
		out[n++] = p.trace[0].v[i].margin;
	}
	dptrace_free(&p);
	return n;
}

static void
check_chains(void)
{
	static double all[2000], few[2000];
	struct check_many m = {0};

	scene_make(&scene, SCENE_LINE, 1, 5);
	for (int closed = 0; closed < 2; closed++) {
		size_t n = trace_ring(0, 1, closed, all, 2000), least = 0, k = 0;
		/* the smallest limit that is accepted holds one segment at a time */
		for (least = 1 << 20; (k = trace_ring(least, 1, closed, few, 2000)) == 0;
		     least += least / 8)
			;
		check_case(&m, n > 0 && n == k && !memcmp(all, few, n * sizeof *all),
			   "%zu bytes, closed %d", least, closed);
		k = trace_ring(0, 3, closed, few, 2000);
		check_case(&m, n == k && !memcmp(all, few, n * sizeof *all), "3 threads, closed %d",
			   closed);
	}
	check_end(&m, "a long chain is the same in little memory, where its segments are computed "
		      "again, and on 3 threads");
}

void
check_dptrace(void)
{
	check_tables();
	check_large();
	check_margins();
	check_scores();
	check_accuracy();
	check_turned();
	check_chains();
}
