/* Goes through args, read, plan, run and write for each picture. With --scores there is no picture. */
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/stream/pipeline.h"
#include "dptrace/args.h"
#include "dptrace/resolve.h"
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

/* A picture, its place in the whole, its map, its polylines, and the copy to draw them on. */
struct picture {
	struct dptrace_image image;
	struct place place;
	const double *world;
	const char *crs;
	struct points lines;
	struct img *drawn;
};

/* Writes the polylines of a picture, and draws them. */
static void
write_lines(struct session *s, const struct trace *t, const struct picture *pic)
{
	s->report.world = pic->world;
	s->report.crs = pic->crs;
	if (s->a->common.verbose)
		report_explain(raw_name(s->in), t->first, &t->p);
	if (s->st.items == 0)
		report_begin(&s->report);
	for (size_t i = 0; i < t->p.nline; i++) {
		if (s->overlay)
			overlay_draw(pic->drawn, &t->p.trace[i]);
		report_shift(&t->p.trace[i], (double)pic->place.x0, (double)pic->place.y0);
		report_line(&s->report, raw_name(s->in), &t->p.trace[i], s->st.items, t->first + i);
	}
}

/*
 * Traces the lines by their colours, too, on the CPU. That polyline is taken with --like, or where it lies on no flank, is not
 * doubtful, and its colours stand out more. The doubts decide the same under --quiet.
 */
static void
try_likes(struct session *s, struct trace *t, const struct picture *pic)
{
	struct args like = *s->a;

	like.score = SCORE_BRIGHT;
	like.gpu = NULL;
	like.common.quiet = false;
	for (size_t i = 0; i < t->p.nline; i++) {
		struct trace q = {.in = s->in, .first = t->first + i};
		struct points one = pic->lines;
		size_t corner[2] = {0, 0};
		one.line += i;
		one.nline = 1;
		one.xy += one.line->xy - (const double(*)[2])one.xy;
		one.nxy = one.line->n;
		const struct dptrace_image part =
		    like_make(s->in, s->a, &pic->image, one.line, corner);
		if (!part.v)
			continue;
		one = points_place(&one, NULL, (double)corner[0], (double)corner[1]);
		trace_plan(&q, &like, &part, &one);
		trace_settle(&q);
		trace_run(&q);
		report_shift(q.p.trace, (double)corner[0], (double)corner[1]);
		q.p.trace->like = true;
		const bool good =
		    !q.p.trace->lopsided && q.p.trace->doubt <= DPTRACE_DOUBT &&
		    like_contrast(&pic->image, &q.p, 0) > like_contrast(&pic->image, &t->p, i);
		if (good || s->a->like)
			trace_take(t, i, &q.p, 0);
		trace_free(&q);
		points_free(&one);
		weir_free_all((void *)part.v, (void *)part.mask);
	}
}

/* Plans, traces and writes the polylines of a picture. */
static void
trace_lines(struct session *s, const struct picture *pic)
{
	struct trace t = {.in = s->in, .first = s->report.first};

	trace_plan(&t, s->a, &pic->image, &pic->lines);
	if (!s->a->gpu)
		trace_settle(&t);
	stats_charge(&s->st, STATS_PLAN);
	pipeline_pass(PIPELINE_COMPUTE);
	if (s->a->gpu) /* which one item has at a time */
		trace_settle(&t);
	trace_run(&t);
	if (s->a->like ? !*s->a->like
		       : pic->image.c > 1 && !s->a->has_score && s->a->objective != DPTRACE_SUM)
		try_likes(s, &t, pic);
	stats_charge(&s->st, STATS_COMPUTE);
	pipeline_pass(PIPELINE_WRITE);
	write_lines(s, &t, pic);
	trace_free(&t);
	stats_charge(&s->st, STATS_WRITE);
}

/* Traces and writes one picture. x is its header. */
static void
trace_picture(struct session *s, struct img *x)
{
	const struct args *a = s->a;
	struct img drawn = {0};
	struct picture pic = {.image = read_image(s->in, a, &s->mask, x),
			      .place = read_tile(s->in, x),
			      .crs = s->world ? NULL : img_key(x, "crs"),
			      .drawn = &drawn};
	double own[6];

	pic.world = read_map(s->in, a, s->world, x, &pic.place, s->lines->epsg, own);
	pic.lines = points_place(s->lines, a->points == POINTS_WORLD ? pic.world : NULL,
				 (double)pic.place.x0, (double)pic.place.y0);
	if (s->overlay && overlay_make(&drawn, &pic.image, img_maxval(x)))
		raw_die(s->in, "no memory for the overlay");
	read_colours(s->in, a, &pic.image);
	if (a->like && *a->like) {
		const struct dptrace_image all = pic.image;
		pic.image = like_make(s->in, a, &all, NULL, (size_t[2]){0, 0});
		weir_free_all((void *)all.v, (void *)all.mask);
	}
	stats_charge(&s->st, STATS_READ);
	trace_lines(s, &pic);
	if (s->overlay)
		raw_put(s->overlay, &drawn);
	img_free(&drawn);
	points_free(&pic.lines);
	weir_free_all((void *)pic.image.v, (void *)pic.image.mask);
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
