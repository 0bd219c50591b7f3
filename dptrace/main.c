/* Goes through args, read, plan, run and write for each picture. With --scores there is no picture. */
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/stream/pipeline.h"
#include "dptrace/args.h"
#include "gpu/dptrace/dptrace.h"

const char *const weir_prog = "dptrace";

/* The state that all pictures share. */
struct session {
	const struct args *a;
	struct raw_in *in;	    /* the pictures */
	const struct points *lines; /* of the share, as they were given */
	struct report report;
	const double *world;	 /* of --world */
	struct img mask;	 /* of --mask */
	struct raw_out *overlay; /* NULL: none */
	struct stats st;
};

/* Writes the polylines of a picture, of which `place` is the place in the whole, and draws them on `drawn`. */
static void
write_picture(struct session *s, const struct trace *t, const struct place *place,
	      struct img *drawn)
{
	if (s->a->common.verbose)
		report_explain(raw_name(s->in), t->first, &t->p);
	if (s->st.items == 0)
		report_begin(&s->report);
	if (s->overlay) {
		for (size_t i = 0; i < t->p.nline; i++)
			overlay_draw(drawn, &t->p.trace[i]);
		raw_put(s->overlay, drawn);
		img_free(drawn);
	}
	for (size_t i = 0; i < t->p.nline; i++) {
		report_shift(&t->p.trace[i], (double)place->x0, (double)place->y0);
		report_line(&s->report, raw_name(s->in), &t->p.trace[i], s->st.items, t->first + i);
	}
}

/* Traces and writes one picture. x is its header. */
static void
trace_picture(struct session *s, struct img *x)
{
	const struct args *a = s->a;
	struct dptrace_image image = read_image(s->in, a, &s->mask, x);
	const struct place place = read_tile(s->in, x);
	double own[6];
	const double *world = read_map(s->in, a, s->world, x, &place, s->lines->epsg, own);
	struct trace t = {.in = s->in, .first = s->report.first};
	struct points lines = points_place(s->lines, a->points == POINTS_WORLD ? world : NULL,
					   (double)place.x0, (double)place.y0);
	struct img drawn;

	if (s->overlay && overlay_make(&drawn, &image, img_maxval(x)))
		raw_die(s->in, "no memory for the overlay");
	read_colours(s->in, a, &image);
	stats_charge(&s->st, STATS_READ);
	trace_plan(&t, a, &image, &lines);
	if (!a->gpu)
		trace_settle(&t);
	stats_charge(&s->st, STATS_PLAN);
	pipeline_pass(PIPELINE_COMPUTE);
	if (a->gpu) /* which one item has at a time */
		trace_settle(&t);
	trace_run(&t);
	stats_charge(&s->st, STATS_COMPUTE);
	pipeline_pass(PIPELINE_WRITE);
	s->report.world = world;
	s->report.crs = s->world ? NULL : img_key(x, "crs");
	write_picture(s, &t, &place, &drawn);
	trace_free(&t);
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
	if (raw_item(s->in) > 1 && s->a->common.share.n)
		raw_die(s->in, "--part shares out the polylines of one picture; this is another");
	trace_picture(s, &x);
	img_free(&x);
	s->st.items++;
	pipeline_flush(s->report.out);
	if (s->overlay)
		pipeline_flush(s->overlay);
	return true;
}

static void
trace_pictures(struct session *s, char **path, size_t npath)
{
	s->in = raw_open(path, npath, s->a->common.max_bytes);
	s->mask = read_mask(s->a);
	if (s->a->overlay)
		s->overlay = raw_create(s->a->overlay, RAW_FOLLOW);
	pipeline_items(s->in, s->a->gpu, trace_next, s);
	s->st.bytes_in = raw_bytes_in(s->in);
	raw_close(s->in);
	img_free(&s->mask);
	if (s->overlay)
		raw_finish(s->overlay);
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
	const struct points share = points_share(&lines, &a.common.share, &s.report.first);
	s.lines = &share;
	s.world = read_world(&a, world);
	report_open(&s.report, &a, s.world);
	if (a.scores)
		trace_scores(&a, s.lines, &s.report, &s.st);
	else
		trace_pictures(&s, path, npath);
	report_end(&s.report, &s.st);
	points_free(&lines);
	gpu_report(a.gpu, &s.st);
	stats_close(&s.st, NULL, s.report.out, &a.common);
	gpu_close(a.gpu);
	return 0;
}
