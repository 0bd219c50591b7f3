/* Goes through args, read, plan, run and write for each item. */
#include "common/base/par.h"
#include "common/base/stats.h"
#include "common/stream/axes.h"
#include "common/stream/pipeline.h"
#include "morphrec/job.h"

const char *const weir_prog = "morphrec";

struct stream {
	struct raw_in *in;
	struct raw_out *out;
	const struct args *a;
	struct masks *masks;
	struct stats *st;
	struct morphrec_figures *f;
	struct slicing by;
	struct slices share;
};

/* Processes the next item; false: there is none, or none that is in the share. */
static bool
take_item(void *stream)
{
	struct stream *s = stream;
	const struct args *a = s->a;
	size_t from, to;
	struct img x;

	if (!raw_next(s->in, &x))
		return false;
	const int axis = share_axis(&s->by, &x);
	const bool over = slices_over(&s->share, s->in);
	if (!over && slices_of(&s->share, s->in, share_count(&s->by, &x), &from, &to)) {
		struct item i = {.in = s->in,
				 .a = a,
				 .mask = masks_of(s->in, &x, s->masks, a, &s->share, axis),
				 .picture = &s->masks->shape};
		slices_take(&s->share, s->in, &x, axis);
		item_load(&i, &x);
		stats_charge(s->st, STATS_READ);
		item_plan(&i);
		stats_charge(s->st, STATS_PLAN);
		pipeline_pass(PIPELINE_COMPUTE);
		item_run(&i, &x);
		item_add_figures(s->f, &i.p.figures);
		morphrec_free(&i.p);
		stats_charge(s->st, STATS_COMPUTE);
		pipeline_pass(PIPELINE_WRITE);
		if (morphrec_op_differs(a->o.op))
			bands_renew(&x);
		opt_add_history(&x, &a->common);
		slices_keys(&s->share, s->in, &x);
		(a->max_mem ? item_unspool : raw_put)(s->out, &x);
		s->st->items++;
		stats_charge(s->st, STATS_WRITE);
		pipeline_flush(s->out);
	}
	img_free(&x);
	return !over;
}

/* Processes each item of the input, or the share of them. Returns the output. Items overlap on a GPU. */
static struct raw_out *
stream(struct raw_in *in, struct masks *masks, const struct args *a, struct stats *st,
       struct morphrec_figures *f)
{
	struct stream s = {
	    .in = in, .a = a, .masks = masks, .st = st, .f = f, .by = {a->depth, false}};

	share_open(&s.share, &s.by, a, in);
	s.out = raw_create(a->common.out, raw_as_of(&a->common));
	pipeline_items(in, a->gpu, take_item, &s);
	slices_close(&s.share, s.out);
	return s.out;
}

int
main(int argc, char **argv)
{
	const struct args a = morphrec_args(argc, argv);
	struct morphrec_figures f = {0};
	struct masks masks = {0};
	struct raw_out *out = NULL;
	struct stats st;

	stats_start(&st);
	st.threads = par_threads(a.common.threads);
	if (a.mask)
		raw_load_file(a.mask, a.common.max_bytes, true, &masks.given);
	if (a.kind == ARGS_PICTURE)
		raw_load_file(a.shape, a.common.max_bytes, false, &masks.shape);
	struct raw_in *in = raw_open(a.path, a.npath, a.common.max_bytes);
	if (a.seam)
		seam_run(in, &masks, &a, &st, &f);
	else
		out = stream(in, &masks, &a, &st, &f);
	img_free(&masks.given);
	for (int i = 0; i < 2; i++)
		img_free(&masks.wide[i]);
	img_free(&masks.shape);
	stats_add(&st, "tiles", "%zu", f.tiles);
	stats_add(&st, "visits", "%zu", f.visits);
	stats_add(&st, "floods", "%zu", f.floods);
	if (a.method != MORPHREC_TILE) {
		stats_add(&st, "risen", "%zu", f.risen);
		stats_add(&st, "rises", "%zu", f.rises);
		stats_add(&st, "stale", "%zu", f.stale);
	}
	gpu_report(a.gpu, &st);
	stats_close(&st, in, out, &a.common);
	gpu_close(a.gpu);
	return 0;
}
