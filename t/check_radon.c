#include "radon/core.h"
#include "t/check_radon.h"

static struct check_rng rng = {7};

enum { METHODS = RADON_USFFT2D + 1, MODES = RADON_SPARSE + 1 };

/* --- rows ---------------------------------------------------------------------------------------------------------- */

/* The largest error of the spectrum of n samples, or of the samples that return, relative to the largest of either. */
static double
row_error(size_t n, struct check_rng *r)
{
	float *x = scene_noise(r, n), *s = check_alloc(n + 2, sizeof *s);
	float *y = check_alloc(n, sizeof *y);
	double worst = 0, top = 0;
	struct radon_fft p = {0};

	radon_fft_plan(&p, n);
	radon_fft_forward(&p, x, s);
	for (size_t k = 0; k <= n / 2; k++) {
		double re = 0, im = 0;
		for (size_t t = 0; t < n; t++) {
			const double w = 2 * M_PI * (double)(k * t % n) / (double)n;
			re += (double)x[t] * cos(w);
			im -= (double)x[t] * sin(w);
		}
		worst = fmax(worst, hypot(re - (double)s[2 * k], im - (double)s[2 * k + 1]));
		top = fmax(top, hypot(re, im));
	}
	worst /= top;
	s[1] = s[n + 1] = 3; /* no real row has them */
	radon_fft_backward(&p, s, y);
	for (size_t t = 0; t < n; t++)
		worst = fmax(worst, fabs((double)y[t] / (double)n - (double)x[t]));
	radon_fft_free(&p);
	return worst;
}

/* Lengths with every remainder of the loop over four pairs. */
static void
check_rows(struct check_many *many, struct check_rng *r, size_t set)
{
	const size_t n = set < 30 ? 2 + 2 * set : 60 + 44 * (set - 29);
	const double error = row_error(n, r);

	check_case(many, error < 5e-7, "%zu samples: %g", n, error);
}

/* --- against direct.c ---------------------------------------------------------------------------------------------- */

/* Moveouts of whole samples up to rounding, between samples, to one side, to both; an item's wider range of g. */
static void
check_axis(struct check_many *many, struct check_rng *r, size_t i)
{
	struct radon_options o = scene_small;
	size_t ntau, lead, want, want_lead;

	o.nt = 1 + rng_below(r, 200);
	o.nx = 1 + rng_below(r, 9);
	o.nq = 1 + rng_below(r, 9);
	o.dq = i % 4 ? o.dq : .004 * (double)(1 + rng_below(r, 3));
	o.q0 = i % 4 ? rng_unit(r) - .5 : .004 * (double)rng_below(r, 40) - .08;
	scene_lay_out(r, o.nx, RADON_PARABOLIC, .5);
	scene_g[0] = i % 3 ? 1 : -1;
	o.most = i % 5 ? 0 : .7;
	o.least = i % 7 ? 0 : -.6;
	o.lead = i % 6 ? 0 : rng_below(r, 90);
	o.tail = i % 8 ? 0 : rng_below(r, 90);
	radon_direct_axis(&o, &want, &want_lead);
	const bool fits = radon_fits(&o, &ntau, &lead);
	check_case(many, fits && ntau == want && lead == want_lead,
		   "case %zu: %zu samples from %zu, not %zu from %zu", i, ntau, lead, want,
		   want_lead);
	check_case(many, (double)lead * o.dt >= o.q0 * o.g[0] - 1e-9,
		   "case %zu: the lead of %zu is too short", i, lead);
}

static void
hold_sums(struct check_many *adjoint, struct check_many *model, const struct radon_options *o)
{
	const double a = scene_adjoint_error(&rng, o), b = scene_model_error(&rng, *o);
	const char *const form = "%zux%zux%zu method %d, %g to %g Hz: %g";

	check_case(adjoint, a <= 2e-6, form, o->nt, o->nx, o->nq, (int)o->method, o->fmin, o->fmax,
		   a);
	check_case(model, b <= 2e-6, form, o->nt, o->nx, o->nq, (int)o->method, o->fmin, o->fmax,
		   b);
	check_free();
}

/* All methods, curves and bands; the last band is empty. */
void
check_radon_transforms(void)
{
	static const enum radon_method methods[] = {RADON_AUTO, RADON_NUFFT, RADON_RECURRENCE,
						    RADON_USFFT2D};
	static const struct {
		size_t nt, nx, nq;
	} sizes[] = {{90, 24, 30}, {1, 1, 1}, {33, 1, 7},   {40, 30, 1},
		     {64, 13, 70}, {1, 5, 5}, {20, 3, 600}, {50, 40, 13}};
	static const double band[][2] = {{12, 61.5}, {20, 0}, {0, 30}, {61, 60}};
	struct check_many adjoint = {0}, model = {0};

	check_whose(scene_on->name);
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (size_t m = 0; m < (scene_on->slow ? 3 : 4); m++)
			for (size_t curve = 0; curve < 3; curve++) {
				struct radon_options o = scene_small;
				if (scene_on->slow && curve != s % 3)
					continue;
				o.nt = sizes[s].nt;
				o.nx = sizes[s].nx;
				o.nq = sizes[s].nq;
				o.method = methods[m];
				scene_lay_out(&rng, o.nx, (enum radon_curve)curve, curve ? .8 : 0);
				hold_sums(&adjoint, &model, &o);
			}
	for (size_t i = 0; i < sizeof band / sizeof *band; i++) {
		struct radon_options o = scene_small;
		scene_lay_out(&rng, o.nx, RADON_PARABOLIC, .5);
		o.fmin = band[i][0];
		o.fmax = band[i][1];
		hold_sums(&adjoint, &model, &o);
	}
	check_end(&adjoint, "adjoint is within 2e-6 of the sum, all methods, curves and bands");
	check_end(&model, "modelling is within 2e-6 of the sum, all methods, curves and bands");
	check_whose("");
}

/* --- the transform as an operator ---------------------------------------------------------------------------------- */

static void
check_dot(struct check_many *many, struct check_rng *r, size_t set)
{
	const int method = (int)set / 2, jitter = (int)set % 2;
	struct radon_options o = scene_small;

	o.method = (enum radon_method)method;
	scene_lay_out(r, o.nx, RADON_PARABOLIC, jitter);
	double e = scene_dot_test(r, o);
	check_case(many, e <= 1e-6, "method %d: %g", method, e);
}

static void
check_threads(struct check_many *many, struct check_rng *r, size_t set)
{
	const int method = (int)set / MODES, mode = (int)set % MODES;
	struct radon_options o = scene_small;
	const bool inverse = mode != RADON_ADJOINT;

	o.method = (enum radon_method)method;
	o.mode = (enum radon_mode)mode;
	if (inverse && (method == RADON_TIME || method == RADON_USFFT2D))
		return;
	scene_lay_out(r, o.nx, RADON_PARABOLIC, .5);
	o.mute = (struct radon_mute){.n = 2, .t = {.1, .3}, .q = {.02, .05}, .taper = .02};
	o.subtract = inverse;
	float *d = scene_noise(r, o.nx * o.nt), *one, *three;
	o.threads = 1;
	one = scene_run(&o, d, NULL);
	o.threads = 3;
	three = scene_run(&o, d, NULL);
	check_case(many, one && three && !memcmp(one, three, scene_out_size(&o) * sizeof *one),
		   "method %d mode %d", method, mode);
}

/* A cut between two points; a triangle and a square: inside, outside, at a quarter of the taper. */
static void
check_mutes(void)
{
	static const double corner[][2] = {{0, 0}, {2, 0}, {0, 2}, {5, 5}, {6, 5}, {6, 6}, {5, 6}};
	static const size_t polygon[] = {3, 7};
	const struct radon_mute mute[] = {
	    {.n = 2, .t = {1, 3}, .q = {.1, .3}, .taper = .1},
	    {.taper = .4, .corner = corner, .polygon = polygon, .npolygon = 2}};
	static const struct {
		size_t mute;
		double tau, q, weight;
	} at[] = {{0, 0, .1, 0},    {0, 0, .2, 1},     {0, 2, .25, .5}, {0, 9, .3, 0},
		  {0, 9, .4, 1},    {1, 1, .5, 1},     {1, 1, .2, .5},	{1, 1, .8, .5},
		  {1, 1, 1.1, 0},   {1, 1, -.1, 0},    {1, 3, .5, 0},	{1, -1, 1, 0},
		  {1, 5.5, 5.5, 1}, {1, 5.5, 5.2, .5}, {1, 5.5, 4, 0}};
	struct check_many many = {0};

	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		const double w = radon_mute_weight(&mute[at[i].mute], at[i].tau, at[i].q);
		check_case(&many, fabs(w - at[i].weight) < 1e-12, "mute %zu at %g %g: %g",
			   at[i].mute, at[i].tau, at[i].q, w);
	}
	check_end(&many,
		  "radon: a cut runs straight between its points; polygons keep their inside");
}

/* Primaries around q = 0 and multiples around .11 leave a gap from .04 to .08, so far as no neighbour of theirs counts. */
static void
check_gap(void)
{
	const struct radon_options o = {.nq = 31, .q0 = -.1, .dq = .01};
	const double energy[31] = {[9] = 1, [10] = 2, [11] = 1, [20] = .5, [21] = .5, [22] = .5};
	struct radon_mute m = {.taper = .1};

	radon_gap(&o, energy, &m);
	check(fabs(m.q[0] - .04) < 1e-9 && fabs(m.taper - .04) < 1e-9,
	      "radon: the mute rises through the gap", "%g %g", m.q[0], m.taper);
}

/* Rings of many corners that cross themselves and each other, at the tau of corners, at q of sides, and at equal q. */
static void
check_lines(struct check_many *many, struct check_rng *r, size_t scene)
{
	enum { CORNERS = 60, NQ = 40 };
	double corner[CORNERS][2], q[NQ];
	static const size_t polygon[] = {3, 7, 30, CORNERS};
	const struct radon_mute m = {
	    .taper = .3, .corner = (const double(*)[2])corner, .polygon = polygon, .npolygon = 4};
	struct radon_crossing c[NQ + 1];
	float weight[NQ];

	for (size_t i = 0; i < CORNERS; i++)
		for (int k = 0; k < 2; k++)
			corner[i][k] = (double)rng_below(r, 40) / 10;
	for (size_t k = 0; k < NQ; k++)
		q[k] = (double)(k / 2 * 2) / 10;
	for (int t = -2; t < 90; t++) {
		radon_mute_line(&m, t / 20., q, NQ, c, weight);
		for (size_t k = 0; k < NQ; k++) {
			const double w = radon_mute_weight(&m, t / 20., q[k]);
			check_case(many, (double)weight[k] == w, "scene %zu, tau %g, q %g", scene,
				   t / 20., q[k]);
		}
	}
}

/* --- figures that tell whether the options suit a gather ------------------------------------------------------------ */

/* alpha is that of its definition; where as much energy is added as there is, it is 0. Zeros before a trace stay. */
static void
check_guards(void)
{
	struct radon_options o = scene_small;
	float d[3 * 20], left[3 * 20];

	o.nx = 3;
	o.nt = 20;
	for (size_t i = 0; i < 60; i++) {
		d[i] = i % 20 < 4 || i % 20 > 17 ? 0 : (float)i;
		left[i] = d[i] / 2;
	}
	check(fabs(radon_alpha(&o, d, left) - 2) < 1e-12,
	      "radon: half a gather subtracted has alpha 2", "%g", radon_alpha(&o, d, left));
	for (size_t i = 0; i < 60; i++)
		left[i] = 3 * d[i];
	check(fabs(radon_alpha(&o, d, left) + .5) < 1e-12, "radon: energy added has alpha below .5",
	      "%g", radon_alpha(&o, d, left));
	for (size_t i = 0; i < 60; i++)
		left[i] = 7;
	radon_keep_muted(&o, d, left);
	check(left[3] == 0 && left[4] == 7 && left[17] == 7 && left[18] == 0 && left[23] == 0 &&
		  left[24] == 7,
	      "radon: the zeros that a trace begins and ends with stay", "%g %g", (double)left[3],
	      (double)left[4]);
}

/* A wave of 30 Hz has its energy there, and curves alias where dq (g_max - g_min) f = 1. */
static void
check_frequencies(void)
{
	struct radon_options o = scene_small;
	float d[3 * 100];
	double apart;

	o.nx = 3;
	o.nt = 100;
	o.dq = .05;
	scene_g[0] = -.25;
	scene_g[1] = 0;
	scene_g[2] = .75;
	for (size_t i = 0; i < 300; i++)
		d[i] = (float)sin(2 * M_PI * 30 * o.dt * (double)(i % 100));
	check(fabs(radon_alias(&o, &apart) - 20) < 1e-9 && apart == o.dq,
	      "radon: curves alias a period apart across the traces", "%g",
	      radon_alias(&o, &apart));
	check(fabs(radon_top_frequency(&o, d) - 30) < 1e-9,
	      "radon: a wave's energy lies below its frequency", "%g", radon_top_frequency(&o, d));
}

/* Events beyond one end of the curves heap up at that end; those between the ends do not. */
static void
check_edges(struct check_many *many, struct check_rng *random, size_t set)
{
	static const double first[3] = {-.1, -.4, -.4}, q[3] = {-.13, .13, -.13};
	const int mode = RADON_LSQ + (int)set / 3, side = (int)set % 3;
	struct radon_options o = scene_small;
	struct radon_report r;

	o.mode = (enum radon_mode)mode;
	o.nu = mode == RADON_LSQ ? .05 : .003;
	o.nt = 180;
	o.q0 = first[side];
	o.dq = .5 / (double)(o.nq - 1);
	scene_lay_out(random, o.nx, RADON_PARABOLIC, .5);
	float *d = check_alloc(o.nx * o.nt, sizeof *d);
	for (size_t i = 0; i < o.nx * o.nt; i++)
		d[i] = scene_wavelet(&o, i, .36, q[side]);
	scene_run(&o, d, &r);
	for (int e = 0; e < 2; e++)
		check_case(many, side == e ? r.edge[e] > 3 : r.edge[e] < 1.5,
			   "mode %d, side %d: %g %g", mode, side, r.edge[0], r.edge[1]);
}

static void
check_refused(struct check_many *many, struct check_rng *r, size_t i)
{
	struct radon_options o = scene_small;
	struct radon_plan *p;

	scene_lay_out(r, o.nx, RADON_PARABOLIC, 0);
	o.dq = i == 0 ? 0 : o.dq;
	o.q0 = i == 1 ? 1e12 : o.q0;
	scene_g[3] = i == 2 ? NAN : scene_g[3];
	o.mode = i == 3 ? RADON_LSQ : o.mode;
	o.method = i == 3 ? RADON_TIME : o.method;
	if (i > 3 && i < 7) { /* of hyperbolas: negative q, other methods, one sample */
		o.hyperbolic = true;
		o.q0 = i == 4 ? -.01 : .001;
		o.method = i == 5 ? RADON_NUFFT : RADON_TIME;
		o.nt = i == 6 ? 1 : o.nt;
	} else if (i > 6) { /* of two axes */
		o.h = scene_g;
		o.nr = i == 7 ? 7 : 3;
		o.dr = i == 8 ? 0 : .01;
		o.method = i == 9 ? RADON_TIME : i == 10 ? RADON_USFFT2D : RADON_AUTO;
		scene_g[2] = i == 11 ? NAN : scene_g[2];
	}
	const int err = radon_plan(&p, &o), want = i == 1 ? -EOVERFLOW : -EDOM;
	check_case(many, err == want && !p, "case %zu: %d, not %d", i, err, want);
}

void
check_radon(void)
{
	check_each_from("radon: rows have the spectra of their sums, and return", 40, &rng,
			check_rows);
	check_each_from("radon: the time axis holds every tau from which a curve meets the gather",
			400, &rng, check_axis);
	check_radon_transforms();
	check_each_from("radon: modelling is the adjoint's adjoint to 1e-6, all methods",
			2 * METHODS, &rng, check_dot);
	check_radon_lsq();
	check_guards();
	check_frequencies();
	check_each_from("radon: energy at the outer curves tells of events beyond them", 2 * 3,
			&rng, check_edges);
	check_radon_noise();
	check_radon_plane();
	check_radon_adapt();
	check_each_from("radon: the same bytes on one thread and on three", METHODS * MODES, &rng,
			check_threads);
	check_mutes();
	check_gap();
	check_each("radon: polygons weigh many q as they weigh one", 20, 9, check_lines);
	check_each_from("radon: what cannot be planned is refused", 12, &rng, check_refused);
}
