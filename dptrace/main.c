/* Goes through args, read, plan, run and write for each picture. With --scores there is no picture. */
#include <errno.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/stream/pipeline.h"
#include "dptrace/args.h"
#include "dptrace/text/report.h"
#include "gpu/dptrace/dptrace.h"

const char *const weir_prog = "dptrace";

/* The state that all pictures share. */
struct session {
	const struct args *a;
	struct raw_in *in;	    /* the pictures */
	const struct points *lines; /* of the share, as they were given */
	size_t first;		    /* the number of their first one in the whole */
	struct report report;
	const double *world;	 /* of --world */
	struct img mask;	 /* of --mask */
	struct raw_out *overlay; /* NULL: none */
	struct doubts doubts;
	struct stats st;
};

/* What the GPU has of a picture while it is computed: the ctx of its runner. */
struct held {
	struct gpu *gpu;
	bool picture; /* on the device, from the run before */
};

/* The function run() of struct dptrace_runner, on the GPU. */
static int
run_on_gpu(void *ctx, struct dptrace_plan *p)
{
	struct held *h = ctx;
	const int err = gpu_enter(h->gpu);

	return err || !p->nline ? err : gpu_dptrace_run(h->gpu, p, &h->picture);
}

/* Ends with what either half of the planning said. */
static void
die_of_plan(const struct session *s, const struct dptrace_plan *p, size_t nline, const char *err)
{
	if (!*err)
		raw_die(s->in, "-g: %s", gpu_why(s->a->gpu));
	if (p->bad < nline)
		raw_die(s->in, "line %zu: %s", s->first + p->bad, err);
	raw_die(s->in, "%s", err);
}

static void
plan(struct dptrace_plan *p, const struct session *s, const struct dptrace_image *image,
     const struct points *lines, const struct dptrace_runner *runner)
{
	struct dptrace_options o = dptrace_args_options(s->a);
	char err[DPTRACE_ERR];

	o.runner = runner;
	if (dptrace_plan_lines(p, image, lines->line, lines->nline, &o, err))
		die_of_plan(s, p, lines->nline, err);
}

/* The other half of the plan. It may take the GPU, which one item has at a time. */
static void
settle(struct dptrace_plan *p, const struct session *s)
{
	const size_t nline = p->nline;
	char err[DPTRACE_ERR];

	if (dptrace_plan_settle(p, err))
		die_of_plan(s, p, nline, err);
}

static void
run(const struct session *s, struct dptrace_plan *p)
{
	const struct dptrace_runner *const by = p->o.runner;
	int err = 0;

	if (by)
		err = by->run(by->ctx, p);
	else
		dptrace_run(p);
	if (err)
		raw_die(s->in, "-g: %s", err == -ENOMEM ? "no memory" : gpu_why(s->a->gpu));
}

static void
write_line(struct session *s, const char *name, size_t line, const struct dptrace_trace *t)
{
	report_line(&s->report, t, s->lines->line[line].closed, s->st.items, s->first + line);
	doubts_of(&s->doubts, name, s->a, s->first + line, t);
}

/* Makes y the picture to draw on, where an overlay is asked for. */
static void
begin_overlay(const struct session *s, const struct dptrace_image *image, unsigned maxval,
	      struct img *y)
{
	if (s->overlay && overlay_make(y, image, maxval))
		raw_die(s->in, "no memory for the overlay");
}

static void
write_overlay(struct session *s, const struct dptrace_plan *p, struct img *y)
{
	if (!s->overlay)
		return;
	for (size_t i = 0; i < p->nline; i++)
		overlay_draw(y, &p->trace[i]);
	raw_put(s->overlay, y);
	img_free(y);
}

/*
 * The lines in pixels of a picture. Their points were given as places of world (NULL: pixels already). In a part of a picture,
 * which begins at (x0, y0), they count from its corner. The polylines are written in pixels of the whole. The caller frees
 * with points_free().
 */
static struct points
place_points(const struct session *s, const double *world, double x0, double y0)
{
	struct points p;

	if (points_copy(&p, s->lines))
		raw_die(s->in, "no memory for %zu points", s->lines->nxy);
	for (size_t i = 0; i < p.nxy; i++) {
		if (world)
			points_unmap(world, p.xy[i]);
		p.xy[i][0] -= x0;
		p.xy[i][1] -= y0;
	}
	return p;
}

static void
shift_trace(const struct dptrace_trace *t, double dx, double dy)
{
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].x += dx;
		t->v[i].y += dy;
	}
}

/* Writes the polylines of a picture, of which t is the place in the whole, and draws them on `drawn`. */
static void
write_picture(struct session *s, struct dptrace_plan *p, const struct tile *t, struct img *drawn)
{
	if (s->a->common.verbose)
		doubts_explain(raw_name(s->in), s->first, p);
	if (s->st.items == 0)
		report_begin(&s->report, p->image.w, p->image.h);
	write_overlay(s, p, drawn);
	for (size_t i = 0; i < p->nline; i++) {
		shift_trace(&p->trace[i], (double)t->x0, (double)t->y0);
		write_line(s, raw_name(s->in), i, &p->trace[i]);
	}
}

/* Traces and writes one picture. x is its header. */
static void
trace_picture(struct session *s, struct img *x)
{
	struct dptrace_image image = read_image(s->in, s->a, &s->mask, x);
	const struct tile t = read_tile(s->in, x);
	const bool placed = s->a->points == POINTS_WORLD;
	const bool map =
	    report_is_map((enum report_format)s->a->to) || (placed && s->a->to != REPORT_SVG);
	const double *world = s->world;
	double own[6];
	struct held held = {.gpu = s->a->gpu};
	const struct dptrace_runner gpu = {run_on_gpu, &held};
	struct dptrace_plan p;
	struct img drawn;

	if (!world && (map || placed))
		world = read_geotransform(s->in, x, &t, own);
	if (!world && placed)
		raw_die(s->in, "no geotransform: --points=world needs one, or --world");
	struct points lines = place_points(s, placed ? world : NULL, (double)t.x0, (double)t.y0);
	begin_overlay(s, &image, img_maxval(x), &drawn);
	read_colours(s->in, s->a, &image);
	stats_charge(&s->st, STATS_READ);
	plan(&p, s, &image, &lines, s->a->gpu ? &gpu : NULL);
	if (s->a->gpu)
		gpu_dptrace_ahead(s->a->gpu, &p);
	else
		settle(&p, s);
	stats_charge(&s->st, STATS_PLAN);
	relay_pass(RELAY_COMPUTE);
	if (s->a->gpu)
		settle(&p, s);
	run(s, &p);
	stats_charge(&s->st, STATS_COMPUTE);
	relay_pass(RELAY_WRITE);
	s->report.world = map || s->world ? world : NULL;
	s->report.crs = s->world ? NULL : img_key(x, "crs");
	write_picture(s, &p, &t, &drawn);
	dptrace_free(&p);
	points_free(&lines);
	weir_free((void *)image.v);
	weir_free((void *)image.mask);
	stats_charge(&s->st, STATS_WRITE);
}

static bool
trace_next(void *session)
{
	struct session *s = session;
	struct img x;

	if (!raw_next(s->in, &x))
		return false;
	if (raw_item(s->in) > 1 && s->a->common.part.n)
		raw_die(s->in, "--part shares out the polylines of one picture; this is another");
	trace_picture(s, &x);
	img_free(&x);
	s->st.items++;
	relay_flush(s->report.out);
	if (s->overlay)
		relay_flush(s->overlay);
	return true;
}

static void
trace_pictures(struct session *s, char **path, size_t npath)
{
	s->in = raw_open(path, npath, s->a->common.max_bytes);
	s->mask = read_mask(s->a);
	if (s->a->overlay)
		s->overlay = raw_create(s->a->overlay, RAW_FOLLOW);
	relay_run(s->in, s->a->gpu, trace_next, s);
	s->st.bytes_in = raw_bytes_in(s->in);
	raw_close(s->in);
	img_free(&s->mask);
	if (s->overlay)
		raw_finish(s->overlay);
}

/* The function tables() of struct dptrace_solver, on the GPU. */
static int
solve_on_gpu(void *ctx, const struct dptrace_table *seg, size_t nseg, bool closed, double phi,
	     int *at, double *best, double *margin)
{
	const struct args *a = ctx;
	const int err = gpu_enter(a->gpu);

	return err ? err
		   : gpu_dptrace_tables(a->gpu, seg, nseg, closed, phi,
					(enum dptrace_method)a->method, at, best, margin);
}

/* Runs the recursion alone, on the link scores of --scores. */
static void
trace_scores(struct session *s)
{
	const struct args *a = s->a;
	const struct dptrace_options o = dptrace_args_options(a);
	const struct dptrace_solver gpu = {solve_on_gpu, (void *)a};
	struct scores given = read_scores(a, s->lines);
	struct dptrace_trace t;
	char err[DPTRACE_ERR];

	stats_charge(&s->st, STATS_READ);
	if (dptrace_given(given.v, given.n, given.d, &s->lines->line[0], &o, a->gpu ? &gpu : NULL,
			  &t, err))
		die("%s: %s%s", a->scores, *err ? err : "-g: ", *err ? "" : gpu_why(a->gpu));
	stats_charge(&s->st, STATS_COMPUTE);
	report_begin(&s->report, 0, 0);
	write_line(s, a->scores, 0, &t);
	weir_free(t.v);
	img_free(&given.x);
	s->st.items++;
}

/* The polylines of this share of all. *first receives the number of its first one. The points stay where they are. */
static struct points
share_of(const struct points *all, const struct part *part, size_t *first)
{
	struct points share = *all;
	size_t end;

	part_range(part, all->nline, first, &end);
	share.line += *first;
	share.nline = end - *first;
	return share;
}

int
main(int argc, char **argv)
{
	char **path;
	size_t npath;
	double world[6];
	const struct args a = dptrace_args(argc, argv, &path, &npath);
	struct session s = {.a = &a};

	weir_keep_heap(0);
	stats_start(&s.st);
	s.st.threads = par_threads(a.common.threads);
	struct points lines = read_points(&a, npath);
	const struct points share = share_of(&lines, &a.common.part, &s.first);
	s.lines = &share;
	s.report.written = s.first;
	s.report.follows = a.common.part.i > 0;
	s.report.format = (enum report_format)a.to;
	s.report.world = s.world = read_world(&a, world);
	s.report.out = raw_create(a.common.out, RAW_AS_TEXT);
	if (a.scores)
		trace_scores(&s);
	else
		trace_pictures(&s, path, npath);
	report_end(&s.report);
	points_free(&lines);
	doubts_stats(&s.doubts, &s.st);
	gpu_report(a.gpu, &s.st);
	stats_close(&s.st, NULL, s.report.out, &a.common);
	gpu_close(a.gpu);
	return 0;
}
