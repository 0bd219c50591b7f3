#include <math.h>
#include <stddef.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "dptrace/args.h"
#include "gpu/dptrace/dptrace.h"

static const struct opt table[] = {
    {'p', "point", OPT_LIST, AT(point), "X,Y", "a point of a polyline; given again: the next one"},
    {'f', "lines", OPT_STR, AT(lines), "FILE", "polylines, one a line: x y x y ..."},
    {0, "score", OPT_WORD, AT(score), "NAME", "ridge, edge, each also with + or -, or sin (ridge)",
     .words = "ridge|ridge+|ridge-|edge|edge+|edge-|sin", .seen = AT(has_score)},
    {'s', "sigma", OPT_REAL, AT(sigma), "PX", "scale of the derivatives (2; cost: by the points)",
     .lo = .5, .hi = 32, .seen = AT(has_sigma)},
    {0, "to", OPT_WORD, AT(to), "FORMAT", "text, wkt, ewkt, geojson, geojsonl, csv (text)",
     .words = "text|wkt|geojson|csv|geojsonl|ewkt", .group = OPT_DATA},
    {0, "points", OPT_WORD, AT(points), "HOW", "given points are pixels or world (pixels)",
     .words = "pixels|world", .group = OPT_DATA},
    {0, "overlay", OPT_STR, AT(overlay), "FILE", "write the pictures with the polylines drawn",
     .writes = true},
    {0, "world", OPT_STR, AT(world), "FILE", "a world file: write places instead of pixels"},
    {0, "objective", OPT_WORD, AT(objective), "HOW", "auto, cost or sum (auto)",
     .words = "auto|cost|sum", .seen = AT(has_objective)},
    {0, "snap", OPT_REAL, AT(snap), "PX", "how far a given point may move (cost: 2, or sigma)",
     .lo = 0, .hi = 1e6},
    {0, "mask", OPT_STR, AT(mask), "FILE", "there is no line where this picture is 0"},
    {0, "like", OPT_STR, AT(like), "R,G,...",
     "trace what is like that colour, or that of the points", .absent = ""},
    {'w', "half-width", OPT_ABOVE, AT(halfwidth), "PX", "half the width of the strip", .lo = 0},
    {0, "spacing", OPT_REAL, AT(spacing), "PX", "instead: the distance between guides", .lo = 1,
     .hi = 1e6},
    {'n', "guides", OPT_SIZE, AT(n), "N", "guides from point to point", .lo = 2,
     .hi = DPTRACE_MAXN},
    {'a', "angle", OPT_ABOVE, AT(angle), "DEG", "the largest turn at a guide", .lo = 0, .hi = 180},
    {0, "chroma", OPT_REAL, AT(chroma), "K", "edge: how much colours count (3 planes: 4; else 1)",
     .lo = 0, .hi = 1000},
    {'d', "samples", OPT_SIZE, AT(d), "N", "samples of a guide", .lo = 2, .hi = DPTRACE_MAXD},
    {0, "length", OPT_WORD, AT(length), "HOW", "sum: evidence counts by column or by arc (column)",
     .words = "column|arc", .seen = AT(has_length)},
    {0, "scores", OPT_STR, AT(scores), "FILE", "the recursion alone, on given link scores"},
    {0, "method", OPT_WORD, AT(method), "HOW", "the search: window, or d3, the paper's (window)",
     .words = "window|d3"},
    {0}};

static const struct opt_program program = {
    .what = "The best polyline along a linear object between given points.",
    .example = "dptrace -p 10,25 -p 50,45 --to=geojson map.pgm >line.json",
    .table = table,
    .common = OPT_THREADS | OPT_GPU | OPT_PART,
    .gpu_state = gpu_state};

/* Refuses options that the search over given link scores does not look at. */
static void
check_scores(const struct args *a, size_t npath, char *const *path)
{
	if (!a->scores)
		return;
	if (npath)
		die_usage("--scores: goes without a picture, not with %s", *path);
	if (a->points == POINTS_WORLD)
		die_usage("--scores: goes without --points=world");
	if (a->mask)
		die_usage("--scores: goes without --mask");
	if (a->overlay || a->n || a->d || a->spacing > 0)
		die_usage("--scores: goes without --overlay, --guides, --samples and --spacing");
	if (a->has_score || a->has_objective || a->has_length || a->has_sigma)
		die_usage("--scores: goes without --score, --objective, --length and --sigma");
	if (a->snap >= 0 || a->chroma >= 0)
		die_usage("--scores: goes without --snap and --chroma");
}

static void
check_like(struct args *a)
{
	if (!a->like)
		return;
	if (a->has_score && a->score != SCORE_BRIGHT)
		die_usage("--like: what is like the colour is bright, so it goes with "
			  "--score=ridge+ alone");
	if (a->scores)
		die_usage("--like: goes without --scores");
	if (a->common.gpu)
		die_usage("--like: goes without -g; it runs on the CPU alone");
	a->score = SCORE_BRIGHT;
}

/* Refuses options of the objective that is not used. */
static void
check_objective(const struct args *a)
{
	const bool cost = a->objective == DPTRACE_COST;

	if (a->score == SCORE_SIN && cost)
		die_usage("--objective=cost: goes without --score=sin, whose objective is the sum");
	if (cost && a->has_length)
		die_usage("--length: goes with the sum, not with --objective=cost");
	if (a->chroma >= 0 && !args_edge(a))
		die_usage(
		    "--chroma: goes with --score=edge; other scores take the mean of the planes");
}

static void
check_share(const struct args *a, size_t npath)
{
	if (!a->common.share.n)
		return;
	if (a->scores)
		die_usage("--part shares out the polylines; --scores has one");
	if (npath > 1)
		die_usage("--part shares out the polylines of one picture, not of %zu", npath);
	if (a->overlay)
		die_usage("--part: goes without --overlay, which needs all polylines");
	if (a->to == REPORT_GEOJSON)
		die_usage("--part: a FeatureCollection is one value; give --to=geojsonl");
}

struct args
dptrace_args(int argc, char **argv, char ***path, size_t *npath)
{
	struct args a = {.snap = -1, .chroma = -1};

	opt_parse(&program, argc, argv, &a, path, npath);
	if (!a.point.n && !a.lines)
		die_usage("no points: give two or more (-p) or a file of them (-f)");
	if (a.n && a.spacing > 0)
		die_usage("--spacing: goes without --guides");
	check_scores(&a, *npath, *path);
	check_objective(&a);
	check_like(&a);
	check_share(&a, *npath);
	a.gpu = gpu_use(&a.common, GPU_LIST | GPU_AUTO);
	return a;
}

struct dptrace_options
dptrace_args_options(const struct args *a)
{
	static const struct {
		enum dptrace_score score;
		int polarity;
	} words[] = {{DPTRACE_RIDGE, 0}, {DPTRACE_RIDGE, 1}, {DPTRACE_RIDGE, -1}, {DPTRACE_EDGE, 0},
		     {DPTRACE_EDGE, 1},	 {DPTRACE_EDGE, -1}, {DPTRACE_SIN, 0}};

	return (struct dptrace_options){.score = words[a->score].score,
					.polarity = words[a->score].polarity,
					.objective = (enum dptrace_objective)a->objective,
					.arc = a->length == 1,
					.sigma = a->sigma,
					.n = a->n,
					.spacing = a->spacing,
					.d = a->d,
					.halfwidth = a->halfwidth,
					.phi = a->angle * M_PI / 180,
					.snap = a->snap,
					.passes = 2,
					.method = (enum dptrace_method)a->method,
					.margins = !a->common.quiet || a->common.verbose ||
						   a->to == REPORT_CSV || a->to == REPORT_GEOJSON ||
						   a->to == REPORT_GEOJSONL,
					.max_bytes = weir_limit(a->common.max_bytes),
					.threads = par_threads(a->common.threads)};
}
