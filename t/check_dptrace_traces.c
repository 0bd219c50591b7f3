/* dptrace: accuracy on pictures of known course; turned pictures; long chains. */
#include "t/check_dptrace.h"
#include "t/dptrace_scene.h"

static struct scene scene;

enum { SEEDS = 12 };

static const struct dptrace_options defaults = {
    .score = DPTRACE_RIDGE, .sigma = 2, .snap = -1, .passes = 2, .margins = true, .threads = 1};

/*
 * Traces the scene from its course's points; xy receives the polyline. Returns its vertices. *doubts counts sharp turns and a
 * stretch without a line.
 */
static size_t
trace_scene(const float *v, const double (*click)[2], size_t clicks,
	    const struct dptrace_options *o, double (**xy)[2], size_t *doubts)
{
	const struct dptrace_image im = {1, SIDE, SIDE, v, NULL, {0}};
	const struct dptrace_line l = {clicks, click};
	struct dptrace_plan p;
	struct why why;

	if (dptrace_plan(&p, &im, &l, 1, o, &why))
		return 0;
	dptrace_run(&p);
	const size_t n = p.trace[0].n;
	*xy = check_alloc(n, sizeof **xy);
	for (size_t i = 0; i < n; i++) {
		(*xy)[i][0] = p.trace[0].v[i].x;
		(*xy)[i][1] = p.trace[0].v[i].y;
	}
	*doubts = p.trace[0].sharp + (p.trace[0].bare > DPTRACE_BARE);
	dptrace_free(&p);
	return n;
}

static void
clicks_of(size_t n, double (*click)[2])
{
	for (size_t i = 0; i < n; i++)
		memcpy(click[i], scene.truth[i * (TRUTH - 1) / (n - 1)], sizeof *click);
}

/*
 * A row of the table of accuracy: what is traced, and the most allowed of mean error, px, and of lost objects. warned: main() warns of
 * each lost one. sure: it has no doubts about any.
 */
struct row {
	const char *name;
	enum scene_kind kind;
	size_t clicks;
	double spacing, noise, error;
	size_t lost;
	bool warned, sure;
};

/*
 * Over seeds 1..SEEDS: the mean error, polylines that lost the object (3 px or more on average), those with doubts, and those
 * that lost it without a doubt.
 */
struct outcome {
	double error;
	size_t lost, doubts, silent;
};

static struct outcome
outcome_of(const struct row *r)
{
	struct dptrace_options o = defaults;
	struct outcome out = {0};
	double click[16][2], (*xy)[2];
	size_t doubts = 0;

	o.score = r->kind == SCENE_EDGE ? DPTRACE_EDGE : DPTRACE_RIDGE;
	o.spacing = r->spacing;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		scene_make(&scene, r->kind, r->noise, seed);
		clicks_of(r->clicks, click);
		size_t n =
		    trace_scene(scene.v, (const double(*)[2])click, r->clicks, &o, &xy, &doubts);
		double e = scene_error(&scene, (const double(*)[2])xy, n);
		out.lost += e > 3;
		out.error += e > 3 ? 0 : e;
		out.doubts += doubts > 0;
		out.silent += e > 3 && doubts == 0;
	}
	out.error /= (double)(SEEDS - (out.lost < SEEDS ? out.lost : 0));
	return out;
}

/*
 * Bounds above noise 1, and of loops and folds, are what seeds 201 to 248 gave, a fifth more; lost: of 12, where those
 * lost 7 (line), 3 and 15 (gap), 10 (crossings) of 48.
 */
static const struct row rows[] = {
    {"a line under noise .5 is met to .33 px", SCENE_LINE, 2, 0, .5, .33, 0},
    {"a line under noise 1 is met to .40 px", SCENE_LINE, 2, 0, 1, .40, 0},
    {"a line under noise 1.5 is met to .70 px", SCENE_LINE, 2, 0, 1.5, .70, 0},
    {"a line under noise 2 is met to 1.25 px, but for 4 of 12", SCENE_LINE, 2, 0, 2, 1.25, 4},
    {"an edge under noise .5 is met to .33 px", SCENE_EDGE, 2, 0, .5, .33, 0},
    {"an edge under noise 1 is met to .45 px", SCENE_EDGE, 2, 0, 1, .45, 0},
    {"an edge under noise 1.5 is met to .77 px", SCENE_EDGE, 2, 0, 1.5, .77, 0},
    {"an edge under noise 2 is met to 1.35 px, but for 1 of 12", SCENE_EDGE, 2, 0, 2, 1.35, 1},
    {"a line with a gap of 40 px under noise 1 is met to 1 px", SCENE_GAP, 2, 0, 1, 1.0, 0},
    {"a gap under noise 1.5 is met to 1.2 px, but for 2 of 12", SCENE_GAP, 2, 0, 1.5, 1.2, 2},
    {"a gap under noise 2 is met to 1.8 px, but for 6 of 12", SCENE_GAP, 2, 0, 2, 1.8, 6},
    {"a line among crossings under noise 1 is met to .45 px, without doubts", SCENE_CROSSINGS, 2, 0,
     1, .45, 0, .sure = true},
    {"crossings under noise 1.5 are met to .75 px, but for 1 of 12", SCENE_CROSSINGS, 2, 0, 1.5,
     .75, 1},
    {"crossings under noise 2 are met to 1.5 px, but for 5 of 12", SCENE_CROSSINGS, 2, 0, 2, 1.5,
     5},
    {"an S that doubles back is met to 1.2 px from 5 points", SCENE_LOOP, 5, 0, .5, 1.2, 0},
    {"the same under noise 1 is met to 1.4 px", SCENE_LOOP, 5, 0, 1, 1.4, 0},
    {"a fold is met to .43 px from 9 points, guides 10 px apart", SCENE_FOLD, 9, 10, .5, .43, 0},
    {"the same under noise 1 is met to .66 px", SCENE_FOLD, 9, 10, 1, .66, 0},
    /* No polyline with a vertex on every guide can follow these. */
    {"an S that doubles back is lost from 2 points in half of all pictures, with a warning",
     SCENE_LOOP, 2, 0, .5, INFINITY, SEEDS / 2, .warned = true},
    {"the same under noise 1 in all", SCENE_LOOP, 2, 0, 1, INFINITY, SEEDS, .warned = true},
    {"a fold is lost from 5 points in half of all pictures, with a warning", SCENE_FOLD, 5, 0, .5,
     INFINITY, SEEDS / 2, .warned = true},
};

static void
check_accuracy(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct outcome o = outcome_of(&rows[i]);
		check(o.error <= rows[i].error && o.lost <= rows[i].lost &&
			  !(rows[i].warned && o.silent) && !(rows[i].sure && o.doubts),
		      rows[i].name, "%.3f px, %zu lost, %zu without a warning, %zu doubted",
		      o.error, o.lost, o.silent, o.doubts);
	}
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
	size_t doubts;

	for (int kind = 0; kind < 2; kind++) {
		double click[3][2], click2[3][2], (*xy)[2] = NULL, (*xy2)[2] = NULL, p[2];
		o.score = kind == SCENE_EDGE ? DPTRACE_EDGE : DPTRACE_RIDGE;
		scene_make(&scene, (enum scene_kind)kind, .8, 77);
		clicks_of(3, click);
		size_t n = trace_scene(scene.v, (const double(*)[2])click, 3, &o, &xy, &doubts);
		for (int how = 1; how < 8; how++) {
			turn_picture(how, scene.v, turned);
			for (int i = 0; i < 3; i++)
				turn_point(how, click[i], click2[i]);
			size_t n2 =
			    trace_scene(turned, (const double(*)[2])click2, 3, &o, &xy2, &doubts);
			double worst = n == n2 ? 0 : INFINITY;
			for (size_t i = 0; i < n && i < n2; i++) {
				turn_point(how, xy[i], p);
				worst = fmax(worst, hypot(p[0] - xy2[i][0], p[1] - xy2[i][1]));
			}
			check_case(&m, worst <= 1e-3, "kind %d turned %d: off by %g px", kind, how,
				   worst);
		}
	}
	check_end(&m,
		  "a picture turned or flipped with its points gives the same polyline to 1e-3 px");
}

/* A ring of 24 points around the middle: more segments than are held at once. */
static size_t
trace_ring(size_t max_bytes, int threads, double *out, size_t room)
{
	enum { POINTS = 24 };
	double click[POINTS][2];
	struct dptrace_line l = {POINTS, (const double(*)[2])click};
	struct dptrace_image im = {1, SIDE, SIDE, scene.v, NULL, {0}};
	struct dptrace_options o = defaults;
	struct dptrace_plan p;
	struct why why;
	size_t n = 0;

	for (int i = 0; i < POINTS; i++) {
		click[i][0] = SIDE / 2 + 180 * cos(2 * M_PI * i / POINTS);
		click[i][1] = SIDE / 2 + 180 * sin(2 * M_PI * i / POINTS);
	}
	o.max_bytes = max_bytes;
	o.threads = threads;
	if (dptrace_plan(&p, &im, &l, 1, &o, &why))
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
	size_t n = trace_ring(0, 1, all, 2000), least = 1 << 20, k = 0;
	/* the smallest limit that is accepted holds one segment at a time */
	for (; (k = trace_ring(least, 1, few, 2000)) == 0; least += least / 8)
		;
	check_case(&m, n > 0 && n == k && !memcmp(all, few, n * sizeof *all), "%zu bytes", least);
	k = trace_ring(0, 3, few, 2000);
	check_case(&m, n == k && !memcmp(all, few, n * sizeof *all), "3 threads");
	check_end(&m, "a long chain is the same in little memory, where its segments are computed "
		      "again, and on 3 threads");
}

void
check_dptrace_traces(void)
{
	check_accuracy();
	check_turned();
	check_chains();
}
