#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/par.h"
#include "common/progress.h"
#include "common/raw.h"
#include "common/stats.h"
#include "gpu/morphrec/morphrec.h"
#include "morphrec/args.h"
#include "morphrec/spool.h"

const char *const weir_prog = "morphrec";

/* The shape of an item, and what it cannot be. */
static struct morphrec_problem
problem_of(const struct raw_in *in, const struct img *x, const struct args *a)
{
	struct img_picture p;

	if (!img_picture(x, &p))
		raw_die(in, "%d axes: not a picture, nor a stack of pictures", x->dim);
	if (p.c > 1)
		raw_die(in, "%zu planes: reconstruct one plane at a time", p.c);
	return (struct morphrec_problem){.type = x->type,
					 .w = p.w,
					 .h = p.h,
					 .d = p.n,
					 .conn = a->conn,
					 .erode = a->mask ? a->erode : morphrec_op_erodes(a->o.op),
					 .method = (enum morphrec_method)a->method,
					 .threads = par_threads(a->common.threads),
					 .max_mem = a->max_mem};
}

/* The operator with its figures in range for items of x's type. */
static struct morphrec_operator
operator_for(const struct raw_in *in, const struct img *x, const struct args *a)
{
	struct morphrec_operator o = a->o;
	double lo, hi;

	morphrec_range(x->type, &lo, &hi);
	o.top = img_is_float(x->type) ? 1 : img_maxval(x) ? img_maxval(x) : hi;
	if (!img_is_float(x->type) && o.h != floor(o.h))
		raw_die(in, "H is %g: the samples are integers, so H is one too", o.h);
	if (o.op == MORPHREC_HYSTERESIS && o.hi > hi)
		raw_die(in, "HI is %g, above all samples of type %s", o.hi, img_type_name(x->type));
	return o;
}

/* Dies unless the mask is of the marker's shape and maxval, and of its type or one that can become it. */
static void
match(const struct raw_in *in, const struct img *x, const struct img *mask, const char *name)
{
	struct img_picture p, q;

	if (!img_picture(x, &p) || !img_picture(mask, &q))
		die("%s: not a picture, nor a stack of pictures", name);
	if (p.c != q.c || p.w != q.w || p.h != q.h || p.n != q.n)
		raw_die(in,
			"the marker is %zux%zux%zux%zu (planes, width, height, count), the mask %s "
			"%zux%zux%zux%zu",
			p.c, p.w, p.h, p.n, name, q.c, q.w, q.h, q.n);
	if (x->type != mask->type && !morphrec_widening(x->type, mask->type))
		raw_die(in, "the marker is of type %s, the mask %s of type %s",
			img_type_name(x->type), name, img_type_name(mask->type));
	if (img_maxval(x) && img_maxval(mask) && img_maxval(x) != img_maxval(mask))
		raw_die(in, "the marker has maxval %u, the mask %s %u", img_maxval(x), name,
			img_maxval(mask));
}

/* For -v: the item, and the plan for it. */
static void
explain(const struct raw_in *in, const struct morphrec_plan *p)
{
	char text[256];

	morphrec_explain(p, text, sizeof text);
	warn("%s: %zux%zux%zu %s: %s", raw_name(in), p->what.w, p->what.h, p->what.d,
	     img_type_name(p->what.type), text);
}

static void
step_bar(void *bar, double share)
{
	progress_step(bar, share);
}

/* Clips and reconstructs J under I, and refuses what is to be refused: the CPU knows of it only then. */
static void
reconstruct(const struct raw_in *in, struct morphrec_plan *p, const struct args *a, void *J,
	    void *I)
{
	const struct morphrec_clip *c = &p->clip;
	const size_t w = p->what.w, h = p->what.h;
	int err = 0;

	progress_start(p->what.step_with, a->common.quiet);
	if (a->gpu)
		morphrec_clip(p, J, I);
	else
		err = morphrec_clip_and_run(p, J, I);
	progress_end(p->what.step_with);
	if (c->nan && a->nan == 0)
		raw_die(in, "%llu samples are NaN, the first at x %zu, y %zu, slice %zu; see --nan",
			(unsigned long long)c->nan, (size_t)c->first_nan % w,
			(size_t)c->first_nan / w % h, (size_t)c->first_nan / w / h);
	if (c->above && a->strict)
		raw_die(in,
			"%llu markers are beyond the mask, the first at x %zu, y %zu, slice %zu",
			(unsigned long long)c->above, (size_t)c->first_above % w,
			(size_t)c->first_above / w % h, (size_t)c->first_above / w / h);
	if (c->above && a->mask && a->common.verbose)
		warn("%s: %llu markers beyond the mask were clipped", raw_name(in),
		     (unsigned long long)c->above);
	if (a->gpu)
		err = gpu_morphrec_run(a->gpu, p, J, I);
	if (err == -EIO)
		raw_die(in, "-g: %s", gpu_why(a->gpu));
	if (err)
		raw_die(in, "no memory for the queue of pixels");
}

/* Bytes that go between a file, or the mask, and a spooled array at a time. */
enum { PIECE = 1 << 22 };

/* Room for the payload of x in a temporary file. */
static void
make_room(const struct raw_in *in, struct img *x)
{
	if (!img_bytes(x, &x->mapped) || !(x->map = x->data = spool_map(x->mapped)))
		raw_die(in, "no temporary file for %zu bytes: %s", x->mapped, strerror(errno));
}

/* The payload of x into a temporary file. */
static void
spool(struct raw_in *in, struct img *x)
{
	const size_t size = img_type_size(x->type);
	struct spool_pages pages;

	make_room(in, x);
	pages = (struct spool_pages){.J = x->data};
	for (size_t at = 0; at < x->mapped; at += PIECE) {
		const size_t n = x->mapped - at < PIECE ? x->mapped - at : PIECE;
		raw_read(in, pages.J + at, n / size);
		spool_done(&pages, at, n);
	}
}

/* raw_put, a piece at a time. */
static void
unspool(struct raw_out *out, const struct img *x)
{
	const size_t size = img_type_size(x->type);
	struct spool_pages pages = {.J = x->data};

	raw_head(out, x);
	for (size_t at = 0; at < x->mapped; at += PIECE) {
		const size_t n = x->mapped - at < PIECE ? x->mapped - at : PIECE;
		raw_write(out, pages.J + at, n / size);
		spool_done(&pages, at, n);
	}
}

/* The mask, and a copy of it in the floating type of the last marker that was not of its own; both may be zeroed. */
struct masks {
	struct img given, wide;
};

/* Makes m->wide, of that type: in memory, or with --max-mem in a temporary file. */
static void
widen(const struct raw_in *in, struct masks *m, enum img_type type, bool to_file)
{
	morphrec_widen *const one = morphrec_widening(type, m->given.type);
	const size_t from = img_type_size(m->given.type), to = img_type_size(type);
	struct img *w = &m->wide;
	size_t total;

	img_free(w);
	img_copy_head(w, &m->given);
	w->type = type;
	if (to_file)
		make_room(in, w);
	else if (img_alloc(w))
		raw_die(in, "no memory for the mask in the marker's type");
	img_count(w, &total);
	for (size_t at = 0, n; at < total; at += n) {
		n = total - at < PIECE / to ? total - at : PIECE / to;
		one((char *)w->data + at * to, (const char *)m->given.data + at * from, n);
		if (to_file)
			spool_done(&(struct spool_pages){.J = w->data}, at * to, n * to);
		if (to_file && m->given.map)
			spool_done(&(struct spool_pages){.J = m->given.data}, at * from, n * from);
	}
}

/* The mask for marker x, in x's type. */
static struct img *
mask_for(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a)
{
	match(in, x, &m->given, a->mask);
	if (x->type == m->given.type)
		return &m->given;
	if (x->type != m->wide.type)
		widen(in, m, x->type, a->max_mem != 0);
	return &m->wide;
}

/* The operator o of x, which becomes the result. */
static void
operate(const struct raw_in *in, struct morphrec_plan *p, struct img *x, const struct args *a)
{
	const struct morphrec_operator o = operator_for(in, x, a);
	struct img marker;

	img_copy_head(&marker, x);
	if (img_alloc(&marker) || morphrec_marker(&p->what, &o, marker.data, x->data))
		raw_die(in, "no memory for the marker");
	reconstruct(in, p, a, marker.data, x->data);
	morphrec_finish(&p->what, &o, marker.data, x->data);
	img_free(x);
	*x = marker;
}

/* The same of x in a temporary file: the marker is in another, and a few rows of both at a time in memory. */
static void
operate_spooled(const struct raw_in *in, struct morphrec_plan *p, struct img *x,
		const struct args *a, struct spool_pages *pages)
{
	const struct morphrec_operator o = operator_for(in, x, a);
	const size_t rows = p->what.h * p->what.d, row = p->what.w * img_type_size(x->type),
		     step = row < PIECE ? PIECE / row : 1;
	struct img marker;

	img_copy_head(&marker, x);
	make_room(in, &marker);
	*pages = (struct spool_pages){marker.data, x->data};
	for (size_t i = 0; i < rows; i += step) {
		const size_t n = rows - i < step ? rows - i : step;
		morphrec_marker_rows(&p->what, &o, marker.data, x->data, i, i + n);
		spool_done(pages, i * row, n * row);
	}
	reconstruct(in, p, a, marker.data, x->data);
	for (size_t i = 0; i < rows; i += step) {
		const size_t n = rows - i < step ? rows - i : step;
		morphrec_finish_rows(&p->what, &o, marker.data, x->data, i, i + n);
		spool_done(pages, i * row, n * row);
	}
	img_free(x);
	*x = marker;
}

/* One item x, its header read: x becomes the result. */
static void
item(struct raw_in *in, struct img *x, struct masks *m, const struct args *a, struct stats *st,
     struct morphrec_figures *f)
{
	struct morphrec_problem what = problem_of(in, x, a);
	struct spool_pages pages;
	struct progress bar;
	struct morphrec_plan p;
	const struct img *mask = a->mask ? mask_for(in, x, m, a) : NULL;

	/* A private mapping would be copied page by page as J rises: 51200 x 51200 took 10.6 s so, 3.2 s loaded. */
	(a->max_mem ? spool : mask ? raw_load : raw_map)(in, x);
	if (a->max_mem) {
		pages = (struct spool_pages){x->data, mask && mask->map ? mask->data : NULL};
		what.done = spool_done;
		what.done_with = &pages;
	}
	what.step = step_bar;
	what.step_with = &bar;
	stats_lap(st, STATS_READ);
	const char *why = morphrec_plan(&p, &what);
	if (why)
		raw_die(in, "%s", why);
	if (a->common.verbose)
		explain(in, &p);
	stats_lap(st, STATS_PLAN);
	if (mask)
		reconstruct(in, &p, a, x->data, mask->data);
	else if (a->max_mem)
		operate_spooled(in, &p, x, a, &pages);
	else
		operate(in, &p, x, a);
	f->tiles += p.figures.tiles;
	f->visits += p.figures.visits;
	f->floods += p.figures.floods;
	morphrec_free(&p);
	stats_lap(st, STATS_COMPUTE);
}

int
main(int argc, char **argv)
{
	const struct args a = morphrec_args(argc, argv);
	struct morphrec_figures f = {0};
	struct masks masks = {0};
	struct img x;
	struct stats st;

	warn_quiet(a.common.quiet);
	stats_start(&st);
	st.threads = par_threads(a.common.threads);
	if (a.mask)
		raw_load_file(a.mask, a.common.max_bytes, true, &masks.given);
	struct raw_in *in = raw_open(a.path, a.npath, a.common.max_bytes);
	struct raw_out *out = raw_create(a.common.out, (enum raw_as)a.common.as);
	while (raw_next(in, &x)) {
		item(in, &x, &masks, &a, &st, &f);
		opt_add_history(&x, &a.common);
		(a.max_mem ? unspool : raw_put)(out, &x);
		img_free(&x);
		st.items++;
		stats_lap(&st, STATS_WRITE);
	}
	st.bytes_in = raw_bytes_in(in);
	st.bytes_out = raw_bytes_out(out);
	raw_close(in);
	raw_finish(out);
	img_free(&masks.given);
	img_free(&masks.wide);
	stats_add(&st, "tiles", "%zu", f.tiles);
	stats_add(&st, "visits", "%zu", f.visits);
	stats_add(&st, "floods", "%zu", f.floods);
	gpu_report(a.gpu, &st);
	stats_print(&st, &a.common);
	gpu_close(a.gpu);
	return 0;
}
