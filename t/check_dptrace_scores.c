/* dptrace: link scores against their definition. */
#include "t/check_dptrace.h"
#include "t/dptrace_strip.h"

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
	       const double b[2], bool capped, struct check_rng *r)
{
	const double length = hypot(b[0] - a[0], b[1] - a[1]);
	struct strip_scene p;
	double sum = 0, peak = 0;

	strip_scene_make(&p, o, 4, d, dv, a, b);
	const bool cost = o->objective == DPTRACE_COST;
	const double level = cost ? dptrace_direct_level(im, o, a) : 1,
		     floor = cost ? level / 5 : 0;
	p.strip.rule = (struct rule){
	    .cost = cost,
	    .polarity = o->polarity,
	    .scale =
		(float)((o->score == DPTRACE_RIDGE ? o->sigma : 1) * o->sigma / (level - floor)),
	    .cap = capped ? 1 : 1e9f,
	    .floor = (float)(floor / (level - floor)),
	    .flank =
		cost && !capped && o->score == DPTRACE_RIDGE ? (float)(COST_FLANK / o->sigma) : 0};
	strip_scene_fill(&p, im, gray);
	for (int i = 0; i < 40; i++) {
		const int g = (int)rng_below(r, 4), j = (int)rng_below(r, (size_t)d),
			  k = (int)rng_below(r, (size_t)d);
		const double from[2] = {g * length / 4, (j - d / 2) * dv},
			     to[2] = {(g + 1) * length / 4, (k - d / 2) * dv};
		float out[LANES];
		strip_score(&p.s, g, k - j, j, 0, GROUP, out);
		double want = dptrace_direct_score(im, o, a, b, from, to, (size_t)p.strip.g.per_gap,
						   cost ? level : (double)p.base.g0, floor, capped);
		sum += fabs((double)out[0] - want) / (length / 4);
		peak = fmax(peak, fabs(want) / (length / 4));
	}
	weir_free(p.memory);
	/* 1/k^2 makes a cost eleven times as sensitive as its evidence where there is little */
	const double part = o->score == DPTRACE_SIN ? .04 : cost ? .03 : .01;
	check_case(m, sum / 40 < part * peak + .004,
		   "score %d objective %d polarity %d dv %g: off by %g of %g on average", o->score,
		   o->objective, o->polarity, dv, sum / 40, peak);
}

/* What points lie on, by fast sums over pixels and by definition. */
static void
compare_levels(const struct dptrace_image *im, const float *gray, struct check_rng *r)
{
	struct check_many m = {0};

	for (int i = 0; i < 12; i++) {
		const struct dptrace_options o = {.score = i % 3 ? DPTRACE_RIDGE : DPTRACE_EDGE,
						  .polarity = i % 3 == 2 ? -1 : i % 3,
						  .sigma = i % 2 ? 2 : 1.5};
		const double p[2] = {(double)im->w * rng_unit(r) - .5,
				     (double)im->h * rng_unit(r) - .5};
		const struct level l = level_at(im, gray, &o, o.sigma, fmax(3, 1.5 * o.sigma), p);
		const double want = dptrace_direct_level(im, &o, p),
			     got = o.polarity < 0 ? l.dark : l.bright;
		check_case(&m, fabs(got - want) <= .02 * want, "score %d polarity %d: %g for %g",
			   o.score, o.polarity, got, want);
	}
	check_end(&m, "the level of a point is that of the definition to 2 %");
}

/*
 * The gains of a picture that varies over some cells. It is larger than a tile, and its last cells are not whole. Sides brighter
 * on one side only take the mean of the planes.
 */
static void
compare_gains(void)
{
	enum { W = 262, H = 19 };
	static float v[3 * W * H], mean[W * H], want[W * H];
	static double size[(W + 4) * (H + 4)], n[W * H];
	static const double all[2][2] = {{0, 0}, {W - 1, H - 1}}, some[2][2] = {{3, 9}, {24, 2}};
	const struct dptrace_line across = {2, all}, corner = {2, some};
	static const double sigmas[] = {1.5, 2, 4.5};
	struct check_many m = {0};

	for (size_t i = 0; i < 3 * W * H; i++) {
		const double x = (double)(i % W), y = (double)(i / W % H), c = (double)(i / W / H);
		v[i] = (float)(1000 + 40 * cos(.11 * x + c) + 9 * sin(.2 * y - .07 * x * (1 + c)) +
			       20 * tanh((x - 120 + 2 * y) / 5));
	}
	for (size_t i = 0; i < W * H; i++)
		mean[i] = (v[i] + v[W * H + i] + v[2 * W * H + i]) / 3;
	for (int i = 0; i < 6; i++) {
		const struct dptrace_options o = {.score = DPTRACE_EDGE,
						  .sigma = sigmas[i % 3],
						  .polarity = i == 4,
						  .passes = 2,
						  .threads = 1 + i % 2};
		const struct dptrace_image im = {i < 3 ? 1 : 3, H, W, v, NULL, {0}};
		struct dptrace_gain got, near;
		double worst = 0;
		size_t differ = 0;
		if (gain_make(&got, &im, i < 3 ? v : mean, &o, &across, 1) ||
		    gain_make(&near, &im, i < 3 ? v : mean, &o, &corner, 1))
			abort();
		dptrace_direct_gains(&im, &o, got.cell, size, n, want);
		/* The line in the corner has gains in its tile of 128 cells alone. */
		for (size_t k = 0; k < dptrace_gains(&got, H); k++)
			differ += near.v[k] != (k % got.w < 128 ? got.v[k] : 0);
		for (size_t k = 0; k < dptrace_gains(&got, H); k++)
			worst = fmax(worst, fabs((double)(got.v[k] / want[k] - 1)));
		check_case(
		    &m, got.cell == (size_t)floor(o.sigma) && worst < .03 && differ == 0,
		    "sigma %g, %zu planes, polarity %d: off by %g; %zu differ around a short line",
		    o.sigma, im.c, o.polarity, worst, differ);
		weir_free_all((void *)got.v, (void *)near.v);
	}
	check_end(&m, "the gains of edges are those of the definition to 3 %");
}

/* Memory is laid out for a curve about as long as its chord. Ends that move may make any length of a chord. */
static void
compare_lengths(void)
{
	const struct dptrace_options o = {.score = DPTRACE_RIDGE, .sigma = 3};
	struct check_many m = {0};

	for (double chord = 5; chord < 300; chord *= 1.3) {
		const struct grid most =
		    strip_curved(.999 * chord, chord, 20, 3, 31, .2, o.score, o.sigma);
		for (double length = .01 * chord; length < 2 * chord; length *= 1.1) {
			const struct grid g =
			    strip_curved(length, chord, 20, 3, 31, .2, o.score, o.sigma);
			check_case(
			    &m, g.nraw <= most.nraw && g.ncol == most.ncol && g.base == most.base,
			    "length %g, chord %g: %d columns of samples, not up to %d", length,
			    chord, g.nraw, most.nraw);
		}
	}
	check_end(&m, "no curve needs more columns than there is memory for");
}

/* A strip along a straight curve has the columns of a straight strip, and places on it lie where they should. */
static void
compare_columns(void)
{
	static const double vertex[3][2] = {{10, 20}, {40, 60}, {70, 100}};
	const struct dptrace_options o = {.score = DPTRACE_RIDGE, .sigma = 2};
	const struct origin at = {10, 20, .6, .8};
	const struct grid g = strip_curved(100, 100, 20, 3, 31, .2, o.score, o.sigma);
	struct walk want[400], got[400];
	double xy[128][2], spare[128][2], worst = 0;
	const struct curve c = curve_along(vertex, 3, 128, 2, xy, spare);

	strip_columns(want, &g, &at);
	curve_columns(got, &g, &c);
	for (int i = 0; i < g.nraw; i++)
		worst = fmax(worst, fmax(hypot(want[i].x - got[i].x, want[i].y - got[i].y),
					 hypot(want[i].dx - got[i].dx, want[i].dy - got[i].dy)));
	check(fabs(c.length - 100) < 1e-9 && worst < 1e-9,
	      "a strip along a straight curve is the straight strip", "length %g, off by %g",
	      c.length, worst);
}

void
check_dptrace_scores(void)
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
	static unsigned char mask[W * H];
	static float gain[(W + 2) / 3 * ((H + 2) / 3)];
	static float v[3 * W * H], mean[W * H];

	smooth_noise(v, 3, W, H, &r);
	for (size_t i = 0; i < sizeof gain / sizeof *gain; i++)
		gain[i] = (float)(1.2 + cos(.5 * (double)(i % ((W + 2) / 3)) + .01 * (double)i));
	for (size_t i = 0; i < W * H; i++)
		mean[i] = (v[i] + v[W * H + i] + v[2 * W * H + i]) / 3;
	for (size_t i = 0; i < W * H; i++)
		mask[i] = (i % W - 40) * (i % W - 40) + (i / W - 40) * (i / W - 40) > 200;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (int i = 0; i < 8; i++) {
			struct dptrace_options o = {.score = kinds[k].score,
						    .objective = i < 4 ? DPTRACE_SUM : DPTRACE_COST,
						    .polarity = kinds[k].polarity,
						    .arc = i % 2,
						    .sigma = 2};
			if (i >= 4 &&
			    (o.score == DPTRACE_SIN || (o.score == DPTRACE_RIDGE && !o.polarity)))
				continue; /* the cost has neither */
			struct dptrace_image im = {i % 4 == 2 ? 3 : 1,	     H,	 W, v,
						   i % 4 == 1 ? mask : NULL, {0}};
			if (o.score == DPTRACE_EDGE)
				im.gain = (struct dptrace_gain){gain, (W + 2) / 3, 3};
			/* the last strip leaves the picture */
			const double a[2] = {20, 25 - 20 * (i % 4 == 3)}, b[2] = {70, 41};
			compare_scores(&m, &im, i % 4 == 2 ? mean : v, &o, i % 4 == 3 ? 21 : 17,
				       steps[i % 4], a, b, i % 2, &r);
		}
	check_end(&m, "link scores are those of the definition to 1 %, costs to 3: all scores, "
		      "steps, colours, "
		      "beyond the border, masks, both objectives");
	compare_levels(&(struct dptrace_image){1, H, W, v, mask, {0}}, v, &r);
	compare_levels(&(struct dptrace_image){3, H, W, v, NULL, {gain, (W + 2) / 3, 3}}, mean, &r);
	compare_gains();
	compare_columns();
	compare_lengths();
}
