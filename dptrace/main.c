#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/par.h"
#include "common/stats.h"
#include "dptrace/args.h"
#include "dptrace/points.h"
#include "dptrace/report.h"
#include "dptrace/take.h"
#include "gpu/dptrace/dptrace.h"

const char *const weir_prog = "dptrace";

#define LOW_MARGIN .3 /* px of full evidence: below it, another course is about as good */

/* --- reading ---------------------------------------------------------------------------------------------------- */

/* A whole text file; caller frees. "-" is standard input. */
static char *
read_text(const char *path, size_t *n)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
	const char *name = strcmp(path, "-") ? path : "(stdin)";
	size_t room = 1 << 16, got;
	char *text;

	if (!f)
		die("%s: %s", name, strerror(errno));
	text = weir_xalloc(room, 1);
	for (*n = 0; (got = fread(text + *n, 1, room - *n, f)) > 0;) {
		*n += got;
		if (*n == room) {
			char *more = weir_xalloc(room, 2);
			memcpy(more, text, *n);
			weir_free(text);
			text = more;
			room *= 2;
		}
	}
	if (ferror(f))
		die("%s: %s", name, strerror(errno));
	if (f != stdin)
		fclose(f);
	return text;
}

/* The polyline of -p, then those of -f. */
static struct points
read_points(const struct args *a, size_t npath)
{
	struct points p = {0};
	char err[DPTRACE_ERR];

	if (a->point.n) {
		double(*xy)[2] = weir_xalloc(a->point.n, sizeof *xy);
		for (size_t i = 0; i < a->point.n; i++)
			opt_reals("--point", a->point.v[i], ',', xy[i], 2);
		if (points_add(&p, (const double(*)[2])xy, a->point.n, a->closed))
			die("no memory for %zu points", a->point.n);
		weir_free(xy);
	}
	if (a->lines) {
		size_t n;
		if (!strcmp(a->lines, "-") && !npath && !a->scores)
			die_usage("--lines: standard input is the picture already");
		char *text = read_text(a->lines, &n);
		if (points_parse(&p, text, n, a->closed, err))
			die("%s: %s", strcmp(a->lines, "-") ? a->lines : "(stdin)", err);
		weir_free(text);
	}
	points_finish(&p);
	return p;
}

static const double *
read_world(const struct args *a, double world[6])
{
	char err[DPTRACE_ERR];
	size_t n;

	if (!a->world)
		return NULL;
	char *text = read_text(a->world, &n);
	if (world_parse(world, text, n, err))
		die("%s: %s", a->world, err);
	weir_free(text);
	return world;
}

static struct dptrace_image
read_image(struct raw_in *in, struct img *x)
{
	struct img_picture p;
	char err[DPTRACE_ERR];

	if (!img_picture(x, &p) || p.n > 1)
		raw_die(in, "%d axes: not a single picture", x->dim);
	if (img_is_complex(x))
		raw_die(in, "complex samples");
	raw_map(in, x);
	float *v = weir_xalloc(p.h * p.w, p.c * sizeof *v);
	if (take_planes(v, x, &p, err))
		raw_die(in, "%s", err);
	return (struct dptrace_image){.c = p.c, .h = p.h, .w = p.w, .v = v};
}

/* --- saying ----------------------------------------------------------------------------------------------------- */

/* What is doubtful about a polyline. */
static void
warn_about(const char *name, size_t line, const struct dptrace_trace *t, const struct args *a)
{
	if (t->blank)
		warn("%s: line %zu: no evidence in the strip of some segment: its chord is the "
		     "polyline",
		     name, line);
	if (t->released)
		warn("%s: line %zu: no polyline keeps the angle at point %zu%s: it was given up "
		     "there",
		     name, line, t->released_at, t->released > 1 ? " and others" : "");
	if (t->border)
		warn("%s: line %zu: %zu vertices touch the border of the strip: widen it (-w) or "
		     "add points",
		     name, line, t->border);
	if (t->sharp && a->angle == 0 && a->score != SCORE_SIN)
		warn("%s: line %zu: %zu vertices turn about as far as they may: if the object "
		     "doubles back there, add points",
		     name, line, t->sharp);
	if (t->margin < LOW_MARGIN && !t->blank)
		warn("%s: line %zu: another course is about as good (margin %.2g): add points",
		     name, line, t->margin);
}

/* -v: every vertex. */
static void
explain(const char *name, size_t line, const struct dptrace_trace *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct dptrace_vertex *v = &t->v[i];
		warn("%s: line %zu: vertex %zu at %.3f,%.3f: link score %.4f, margin %.4g%s%s",
		     name, line, i, v->x, v->y, v->score, v->margin, v->point ? ", given" : "",
		     v->border ? ", border" : "");
	}
}

static void
explain_shapes(const char *name, const struct dptrace_plan *p)
{
	for (size_t i = 0; i < p->nline; i++)
		for (size_t k = 0; k < p->first[i + 1] - p->first[i]; k++) {
			const struct dptrace_resolved r = dptrace_resolved(p, i, k);
			warn("%s: line %zu: segment %zu of %.4g px: -n %zu -d %zu -w %.4g -a %.4g",
			     name, i, k, r.length, r.n, r.d, r.halfwidth, r.phi * 180 / M_PI);
		}
}

/* --- running ---------------------------------------------------------------------------------------------------- */

struct figures {
	size_t lines, vertices, border, sharp, released, low;
};

static void
give(struct report *r, const char *name, const struct args *a, const struct points *p, size_t item,
     size_t line, const struct dptrace_trace *t, struct figures *f)
{
	report_line(r, t, p->line[line].closed, item, line);
	warn_about(name, line, t, a);
	if (a->common.verbose)
		explain(name, line, t);
	f->lines++;
	f->vertices += t->n;
	f->border += t->border > 0;
	f->sharp += t->sharp > 0;
	f->released += t->released > 0;
	f->low += t->margin < LOW_MARGIN;
}

static void
run(struct raw_in *in, struct dptrace_plan *p, const struct args *a)
{
	int err = 0;

	if (a->gpu)
		err = gpu_dptrace_run(a->gpu, p, (enum gpu_dptrace_method)a->method);
	else
		dptrace_run(p);
	if (err)
		raw_die(in, "-g: %s", err == -ENOMEM ? "no memory" : gpu_why(a->gpu));
}

/* One picture, its header read. */
static void
item(struct raw_in *in, struct img *x, const struct args *a, const struct points *lines,
     struct report *r, struct raw_out *over, struct stats *st, struct figures *f)
{
	const struct dptrace_image image = read_image(in, x);
	const struct dptrace_options o = dptrace_args_options(a);
	struct dptrace_plan p;
	struct img y;
	char err[DPTRACE_ERR];

	stats_lap(st, STATS_READ);
	if (dptrace_plan(&p, &image, lines->line, lines->nline, &o, err)) {
		if (p.bad < lines->nline)
			raw_die(in, "line %zu: %s", p.bad, err);
		raw_die(in, "%s", err);
	}
	stats_lap(st, STATS_PLAN);
	run(in, &p, a);
	stats_lap(st, STATS_COMPUTE);
	if (a->common.verbose)
		explain_shapes(raw_name(in), &p);
	if (st->items == 0)
		report_begin(r, image.w, image.h);
	if (over && overlay_make(&y, &image, img_maxval(x)))
		raw_die(in, "no memory for the overlay");
	for (size_t i = 0; i < lines->nline; i++) {
		give(r, raw_name(in), a, lines, st->items, i, &p.trace[i], f);
		if (over)
			overlay_draw(&y, &p.trace[i]);
	}
	if (over) {
		raw_put(over, &y);
		img_free(&y);
	}
	dptrace_free(&p);
	weir_free((void *)image.v);
	stats_lap(st, STATS_WRITE);
}

/* All pictures. */
static void
trace(const struct args *a, char **path, size_t npath, const struct points *lines, struct report *r,
      struct stats *st, struct figures *f)
{
	struct raw_in *in = raw_open(path, npath, a->common.max_bytes);
	struct raw_out *over = a->overlay ? raw_create(a->overlay, RAW_FOLLOW) : NULL;
	struct img x;

	while (raw_next(in, &x)) {
		item(in, &x, a, lines, r, over, st, f);
		img_free(&x);
		st->items++;
	}
	st->bytes_in = raw_bytes_in(in);
	raw_close(in);
	if (over)
		raw_finish(over);
}

/* struct dptrace_solver's tables() on the GPU. */
static int
solve(void *ctx, const struct dptrace_table *seg, size_t nseg, bool closed, double phi, int *at,
      double *best, double *margin)
{
	const struct args *a = ctx;

	return gpu_dptrace_tables(a->gpu, seg, nseg, closed, phi,
				  (enum gpu_dptrace_method)a->method, at, best, margin);
}

/* --scores: item [segments][n-1][d][d]. */
static void
recur(const struct args *a, const struct points *lines, struct report *r, struct stats *st,
      struct figures *f)
{
	const struct dptrace_options o = dptrace_args_options(a);
	const struct dptrace_solver gpu = {solve, (void *)a};
	const struct dptrace_line *l = &lines->line[0];
	const size_t segments = l->closed ? l->n : l->n - 1;
	struct dptrace_trace t;
	struct img x;
	char err[DPTRACE_ERR];

	raw_load_file(a->scores, a->common.max_bytes, false, &x);
	const size_t d = x.axis[0].n, n = x.dim > 2 ? x.axis[2].n + 1 : 2,
		     given = x.dim > 3 ? x.axis[3].n : 1;
	if (x.dim < 2 || x.dim > 4 || x.axis[1].n != d || d % 2 == 0 || d > DPTRACE_MAXD ||
	    n > DPTRACE_MAXN)
		die("%s: link scores have sizes d d n-1 [segments], d odd and below %d, n below %d",
		    a->scores, DPTRACE_MAXD + 1, DPTRACE_MAXN + 1);
	if (lines->nline != 1 || l->n < 2 || (l->closed && l->n < 3) || segments != given)
		die("%s: scores of %zu segments are for one polyline of %zu points", a->scores,
		    given, given + !l->closed);
	for (size_t i = 0; i < segments; i++)
		if (!memcmp(l->xy[i], l->xy[(i + 1) % l->n], sizeof *l->xy))
			die("two neighbouring points are the same, %g,%g", l->xy[i][0],
			    l->xy[i][1]);
	const size_t count = d * d * (n - 1) * given;
	float *S = weir_xalloc(count, sizeof *S);
	if (take_scores(S, &x, count, err))
		die("%s: %s", a->scores, err);
	stats_lap(st, STATS_READ);
	if (dptrace_given(S, n, d, l, &o, a->gpu ? &gpu : NULL, &t, err))
		die("%s: %s%s", a->scores, *err ? err : "-g: ", *err ? "" : gpu_why(a->gpu));
	stats_lap(st, STATS_COMPUTE);
	report_begin(r, 0, 0);
	give(r, a->scores, a, lines, 0, 0, &t, f);
	weir_free(t.v);
	weir_free(S);
	img_free(&x);
	st->items++;
}

int
main(int argc, char **argv)
{
	char **path;
	size_t npath;
	double world[6];
	const struct args a = dptrace_args(argc, argv, &path, &npath);
	struct figures f = {0};
	struct stats st;

	warn_quiet(a.common.quiet);
	stats_start(&st);
	st.threads = par_threads(a.common.threads);
	struct points lines = read_points(&a, npath);
	struct report r = {.format = (enum report_format)a.to, .world = read_world(&a, world)};
	r.out = raw_create_text(a.common.out);
	if (a.scores)
		recur(&a, &lines, &r, &st, &f);
	else
		trace(&a, path, npath, &lines, &r, &st, &f);
	report_end(&r);
	st.bytes_out = raw_bytes_out(r.out);
	raw_finish(r.out);
	stats_lap(&st, STATS_WRITE);
	points_free(&lines);
	stats_add(&st, "lines", "%zu", f.lines);
	stats_add(&st, "vertices", "%zu", f.vertices);
	stats_add(&st, "border", "%zu", f.border);
	stats_add(&st, "sharp", "%zu", f.sharp);
	stats_add(&st, "released", "%zu", f.released);
	stats_add(&st, "low_margin", "%zu", f.low);
	gpu_report(a.gpu, &st);
	stats_print(&st, &a.common);
	gpu_close(a.gpu);
	return 0;
}
