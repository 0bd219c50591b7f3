/* Goes through args, read, plan, run and write for each picture. With --scores there is no picture. */
#include <errno.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/par.h"
#include "dptrace/doubts.h"
#include "dptrace/read.h"
#include "dptrace/text/report.h"
#include "gpu/dptrace/dptrace.h"

const char *const weir_prog = "dptrace";

/* The state that all pictures share. */
struct session {
	const struct args *a;
	const struct points *lines; /* of the share */
	size_t first;		    /* the number of their first one in the whole */
	double (*given)[2];	    /* their points, as they were given */
	struct report report;
	const double *world;	 /* of --world */
	struct img mask;	 /* of --mask */
	struct raw_out *overlay; /* NULL: none */
	struct doubts doubts;
	struct stats st;
};

static void
plan(struct dptrace_plan *p, const struct raw_in *in, const struct dptrace_image *image,
     const struct session *s)
{
	const struct dptrace_options o = dptrace_args_options(s->a);
	char err[DPTRACE_ERR];

	if (!dptrace_plan(p, image, s->lines->line, s->lines->nline, &o, err))
		return;
	if (p->bad < s->lines->nline)
		raw_die(in, "line %zu: %s", s->first + p->bad, err);
	raw_die(in, "%s", err);
}

static void
run(const struct raw_in *in, struct dptrace_plan *p, const struct args *a)
{
	int err = 0;

	if (a->gpu && p->nline)
		err = gpu_dptrace_run(a->gpu, p);
	else if (!a->gpu)
		dptrace_run(p);
	if (err)
		raw_die(in, "-g: %s", err == -ENOMEM ? "no memory" : gpu_why(a->gpu));
}

static void
write_line(struct session *s, const char *name, size_t line, const struct dptrace_trace *t)
{
	report_line(&s->report, t, s->lines->line[line].closed, s->st.items, s->first + line);
	doubts_of(&s->doubts, name, s->a, s->first + line, t);
}

static void
write_overlay(struct session *s, const struct raw_in *in, const struct dptrace_plan *p,
	      unsigned maxval)
{
	struct img y;

	if (!s->overlay)
		return;
	if (overlay_make(&y, &p->image, maxval))
		raw_die(in, "no memory for the overlay");
	for (size_t i = 0; i < p->nline; i++)
		overlay_draw(&y, &p->trace[i]);
	raw_put(s->overlay, &y);
	img_free(&y);
}

/*
 * Makes pixels of the points as they were given: places of world (NULL: pixels already). In a part of a picture, which
 * begins at (x0, y0), they count from its corner. The polylines are written in pixels of the whole.
 */
static void
place_points(const struct session *s, const double *world, double x0, double y0)
{
	for (size_t i = 0; i < s->lines->nxy; i++) {
		double xy[2] = {s->given[i][0], s->given[i][1]};
		if (world)
			points_unmap(world, xy);
		s->lines->xy[i][0] = xy[0] - x0;
		s->lines->xy[i][1] = xy[1] - y0;
	}
}

static void
shift_trace(const struct dptrace_trace *t, double dx, double dy)
{
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].x += dx;
		t->v[i].y += dy;
	}
}

/* Traces and writes one picture. x is its header. */
static void
trace_picture(struct session *s, struct raw_in *in, struct img *x)
{
	const struct dptrace_image image = read_image(in, s->a, &s->mask, x);
	const struct tile t = read_tile(in, x);
	const bool map = report_is_map((enum report_format)s->a->to);
	const double x0 = (double)t.x0, y0 = (double)t.y0;
	const double *world = s->world;
	double own[6];
	struct dptrace_plan p;

	if (!world && (map || s->a->points == POINTS_WORLD))
		world = read_geotransform(in, x, &t, own);
	if (!world && s->a->points == POINTS_WORLD)
		raw_die(in, "no geotransform: --points=world needs one, or --world");
	s->report.world = map || s->world ? world : NULL;
	s->report.crs = s->world ? NULL : img_key(x, "crs");
	place_points(s, s->a->points == POINTS_WORLD ? world : NULL, x0, y0);
	stats_charge(&s->st, STATS_READ);
	plan(&p, in, &image, s);
	stats_charge(&s->st, STATS_PLAN);
	run(in, &p, s->a);
	stats_charge(&s->st, STATS_COMPUTE);
	if (s->a->common.verbose)
		doubts_explain(raw_name(in), s->first, &p);
	if (s->st.items == 0)
		report_begin(&s->report, image.w, image.h);
	write_overlay(s, in, &p, img_maxval(x));
	for (size_t i = 0; i < p.nline; i++) {
		shift_trace(&p.trace[i], x0, y0);
		write_line(s, raw_name(in), i, &p.trace[i]);
	}
	dptrace_free(&p);
	weir_free((void *)image.v);
	weir_free((void *)image.mask);
	stats_charge(&s->st, STATS_WRITE);
}

static void
trace_pictures(struct session *s, char **path, size_t npath)
{
	struct raw_in *in = raw_open(path, npath, s->a->common.max_bytes);
	struct img x;

	s->mask = read_mask(s->a);
	if (s->a->overlay)
		s->overlay = raw_create(s->a->overlay, RAW_FOLLOW);
	while (raw_next(in, &x)) {
		if (s->st.items && s->a->common.part.n)
			raw_die(in,
				"--part shares out the polylines of one picture; this is another");
		trace_picture(s, in, &x);
		img_free(&x);
		s->st.items++;
	}
	s->st.bytes_in = raw_bytes_in(in);
	raw_close(in);
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

	return gpu_dptrace_tables(a->gpu, seg, nseg, closed, phi, (enum dptrace_method)a->method,
				  at, best, margin);
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

	stats_start(&s.st);
	s.st.threads = par_threads(a.common.threads);
	struct points lines = read_points(&a, npath);
	const struct points share = share_of(&lines, &a.common.part, &s.first);
	s.lines = &share;
	s.report.written = s.first;
	s.report.follows = a.common.part.i > 0;
	s.report.format = (enum report_format)a.to;
	s.report.world = s.world = read_world(&a, world);
	s.given = weir_xalloc(lines.nxy, sizeof *s.given);
	memcpy(s.given, lines.xy, lines.nxy * sizeof *s.given);
	s.report.out = raw_create_text(a.common.out);
	if (a.scores)
		trace_scores(&s);
	else
		trace_pictures(&s, path, npath);
	report_end(&s.report);
	points_free(&lines);
	weir_free(s.given);
	doubts_stats(&s.doubts, &s.st);
	gpu_report(a.gpu, &s.st);
	stats_close(&s.st, NULL, s.report.out, &a.common);
	gpu_close(a.gpu);
	return 0;
}
