/*
 * dptrace's lines in batches: as many at a time as the device's memory holds, each pass over all of them at once. Several
 * devices have a share of the lines each.
 *
 *	once		the picture to the device, where it stays
 *	a batch		evidence at the base rows (base.cu), under the cost for each pass
 *	a pass		guides, around the polylines of the pass before; the strips' fields and the scores of all links
 *			(strip.cu); the recursion from segment to segment (chain.cu, recur.cu);
 *			samples and margins back to the host
 *
 * The host lays out guides and makes vertices of samples by the CPU's own functions, dptrace/pass.h, line by line in several
 * threads.
 *
 * Bound: the picture over the bus, 4 bytes a pixel; of a segment of n guides and d samples, whose links climb c ways, m columns
 * a gap: 6 m c d (n - 1) operations for its scores, 16 c d (n - 1) bytes for them and the recursion, 28 with margins. Source:
 * Seredin 2016.
 */
#include "gpu/dptrace/job.h"

extern "C" {
#include "dptrace/numbers.h"
}

#include <stdio.h>
#include <string.h>

namespace
{

/* A batch: lines [first, first + n) of the plan. `end` is the end of all lines to do. */
struct batch {
	struct gpu *g;
	struct dptrace_plan *p;
	size_t first, n, end, nseg;
	struct work *work; /* [line]: what one pass hands to the next */
	size_t *segments;  /* [line] */
	dp_line *line;	   /* [line] */
	dp_strip *strip;   /* [segment] */
	float *taps, *weights;
	struct walk *column;
	float *top;			  /* [segment] */
	size_t ntaps, nweights, ncolumns; /* the largest numbers of any pass */
	bool cost;	       /* some line uses the cost: its evidence is made anew in each pass */
	struct course *course; /* [segment] of this pass */
	dp_evidence on;
};

/* Elements of a pass's fields, offsets and slopes. */
struct pass_size {
	size_t fields, offsets, slopes;
};

/* The first segment of line i. */
static inline size_t
batch_segment(const struct batch *b, size_t i)
{
	return b->p->first[b->first + i] - b->p->first[b->first];
}

constexpr size_t MOST_SEGMENTS = 65535; /* of a launch */

const struct segment_shape *
shapes_of(const struct dptrace_plan *p, size_t line, size_t *n)
{
	*n = p->first[line + 1] - p->first[line];
	return p->shape + p->first[line];
}

/* --- how many lines the device holds --------------------------------------------------------------------------------- */

/* A segment's strip as far as the base rows go. */
dp_strip
strip_of(const struct segment_shape *s, const struct dptrace_options *o, size_t pass,
	 const struct grid &g)
{
	dp_strip x = {};

	x.rule = pass_rule(s, o, pass);
	x.finer = pass && !s->cost;
	x.g = g;
	x.base_rows = base_rows(&x.g);
	x.plane = (size_t)x.g.ncol * x.base_rows;
	x.raw_rows = x.base_rows + lanes_up(2 * x.g.rv);
	x.used = (size_t)(x.g.base + 2 * (SKIRT + x.g.rv));
	x.wide = (size_t)x.g.nraw;
	return x;
}

pass_size
batch_pass_size(const dp_strip *x)
{
	const size_t slopes = 2 * (size_t)x->fine.rows - 1;

	return {3 * (size_t)x->fine.ncol * (size_t)x->fine.q * x->lane,
		(size_t)dp_slopes(x->fine) * (size_t)x->fine.per_gap, slopes};
}

void
batch_aim(dp_strip *x, int rows)
{
	x->fine = x->finer ? strip_finer(x->g, rows) : x->g;
	x->lane = (size_t)(rows + 31) / 32 * 32;
}

/* Bytes of a segment in one pass. */
size_t
pass_bytes(const struct segment_shape *s, const struct dptrace_options *o, dp_strip x, size_t pass,
	   bool margins)
{
	const size_t d = (size_t)pass_samples(s, pass), n = (size_t)pass_guides(s, pass),
		     ends = (size_t)pass_links(s, o, pass),
		     steep = pass == 0 && s->steepest ? 2 * (size_t)s->steepest + 1 : 2 * d,
		     links = (n - 1) * (steep < 2 * d ? steep : 2 * d) * dp_row((int)d);
	batch_aim(&x, pass_rows(s, &x.g, pass));
	const pass_size z = batch_pass_size(&x);

	return sizeof(float) *
		   (z.fields + z.offsets + 4 * z.slopes + 4 * z.slopes + links * (margins ? 3 : 2) +
		    7 * n * d + (margins ? n * d : 0) + 3 * ends) +
	       n * 256;
}

size_t
line_bytes(const struct dptrace_plan *p, size_t line)
{
	size_t n, most = 0;
	const struct segment_shape *s = shapes_of(p, line, &n);

	for (size_t pass = 0; pass < p->o.passes; pass++) {
		size_t held = 0, bench = 0, bytes = 0;
		for (size_t i = 0; i < n; i++) {
			const dp_strip x =
			    strip_of(&s[i], &p->o, pass, pass_most(&s[i], &p->o, pass));
			held += sizeof(float) * 3 * x.plane + sizeof(struct walk) * x.wide;
			bench += sizeof(float) * dp_bench_size(&x);
			bytes += pass_bytes(&s[i], &p->o, x, pass, p->o.margins && pass == 0);
		}
		const size_t all = held + (bench > bytes ? bench : bytes);
		most = all > most ? all : most;
	}
	return most;
}

int
batch_choose(struct batch *b)
{
	size_t room, used = 0;

	GPU_DO(gpu_room(b->g, &room));
	b->n = b->nseg = 0;
	while (b->first + b->n < b->end) {
		const size_t n = b->p->first[b->first + b->n + 1] - b->p->first[b->first + b->n];
		used += line_bytes(b->p, b->first + b->n);
		if (b->n && (used > room - room / 8 || b->nseg + n > MOST_SEGMENTS))
			break;
		b->n++;
		b->nseg += n;
	}
	if (b->nseg <= MOST_SEGMENTS)
		return 0;
	snprintf(b->g->why, sizeof b->g->why, "a line of %zu segments: %zu is the most", b->nseg,
		 MOST_SEGMENTS);
	return -EIO;
}

/* --- the host's part of a batch -------------------------------------------------------------------------------------- */

/* Guides of a course, in the memory of a. */
struct course
take_course(gpu_block *a, size_t guides)
{
	struct course c = {};

	gpu_take_all(a, guides, &c.h, &c.d, &c.o);
	return c;
}

/* What passes over line i hand on, in the memory of a, and the courses of its segments. */
void
take_work(const struct batch *b, struct work *w, gpu_block *a, size_t i)
{
	struct work x = {};
	struct arena room = {a->base, a->used};

	x.plan = b->p;
	x.shape = shapes_of(b->p, b->first + i, &x.n);
	pass_take(&x, &room, x.shape, x.n);
	a->used = room.used;
	const size_t n = x.n;
	size_t all = 0, most = 0;
	for (size_t k = 0; k < n; k++) {
		all += pass_vertices(&x.shape[k]);
		most = larger_size(pass_vertices(&x.shape[k]), most);
	}
	x.chain.n = (int)n;
	x.chain.node = x.node;
	gpu_take_all(a, all, &x.chain.at, &x.chain.link, &x.chain.margin);
	x.chain.released = gpu_take<bool>(a, n);
	x.chain.slot[0].c = take_course(a, most);
	for (size_t k = 0; k < n; k++) {
		const struct course c = take_course(a, pass_vertices(&x.shape[k]));
		if (a->base)
			b->course[batch_segment(b, i) + k] = c;
	}
	if (a->base)
		*w = x;
}

/* Kernels, weights and places of the strips. They lie in the same places on the host and on the device. */
template <class C>
void
take_strips(const struct batch *b, gpu_block *a, C *to)
{
	to->strip = gpu_take<dp_strip>(a, b->nseg);
	to->taps = gpu_take<float>(a, b->ntaps);
	to->weights = gpu_take<float>(a, b->nweights);
	to->column = gpu_take<struct walk>(a, b->ncolumns);
}

void
batch_take(struct batch *b, gpu_block *a)
{
	b->ntaps = b->nweights = b->ncolumns = 0;
	b->cost = false;
	for (size_t i = b->p->first[b->first]; i < b->p->first[b->first + b->n]; i++) {
		const struct segment_shape *s = &b->p->shape[i];
		size_t taps = 0, weights = 0, columns = 0; /* of any pass */
		for (size_t pass = 0; pass < b->p->o.passes; pass++) {
			const struct grid g = pass_most(s, &b->p->o, pass);
			taps = larger_size((size_t)(g.ru + g.rv + 2), taps);
			weights = larger_size(4 * (size_t)(g.t + g.fine), weights);
			columns = larger_size((size_t)g.nraw, columns);
		}
		b->ntaps += (size_t)dp_fields(&b->p->o) * taps;
		b->nweights += weights;
		b->ncolumns += columns;
		b->cost |= s->cost;
	}
	take_strips(b, a, b); /* the first in this memory */
	gpu_take_all(a, b->n, &b->work, &b->segments, &b->line);
	gpu_take_all(a, b->nseg, &b->top, &b->course);
	for (size_t i = 0; i < b->n; i++)
		take_work(b, &b->work[i], a, i);
}

/* Kernels of all derivatives of a strip: base.c's differentiate(). */
void
fill_taps(const struct grid *g, const struct dptrace_options *o, float *to)
{
	const int order = dp_fields(o) - 1;
	const double hr = g->hu / g->sub;

	for (int i = 0; i <= order; i++) {
		struct kernel k;
		strip_kernel(&k, i, g->sigma / g->P, g->rv, g->P);
		memcpy(to, k.w, (size_t)(g->rv + 1) * sizeof *to);
		to += g->rv + 1;
		strip_kernel(&k, order - i, g->sigma / hr, g->ru, hr);
		memcpy(to, k.w, (size_t)(g->ru + 1) * sizeof *to);
		to += g->ru + 1;
	}
}

/* Lines for a thread at least, and threads at most. */
constexpr size_t LINES_LEAST = 16, THREADS_MOST = 8;

/* Calls each(work of line i, i) for all lines, by several threads. */
template <class F>
void
batch_each(struct batch *b, F each)
{
	const size_t asked = (size_t)b->p->o.threads, worth = b->n / LINES_LEAST + 1,
		     most = asked < THREADS_MOST ? asked : THREADS_MOST;
	auto run = [&](size_t i) { each(&b->work[i], i); };
	const auto call = [](void *with, size_t i) { (*static_cast<decltype(run) *>(with))(i); };

	pass_each(b->n, (int)(most < worth ? most : worth), call, &run);
}

/* What each segment of line i has of its own. */
void
fill_line(const struct batch *b, const struct work *w, size_t i)
{
	for (size_t k = 0; k < w->n; k++) {
		const size_t at = batch_segment(b, i) + k;
		const dp_strip *x = &b->strip[at];
		fill_taps(&x->g, &b->p->o, b->taps + x->taps);
		for (int t = 0; t < x->g.t + x->g.fine;
		     t++) /* those of t steps, then the fine ones */
			strip_weights(t < x->g.t ? (double)t / x->g.t
						 : (double)(t - x->g.t) / x->g.fine,
				      b->weights + x->weights + 4 * (size_t)t);
		pass_columns(w, (int)k, &x->g, b->column + x->columns);
		pass_course(w, (int)k, &b->course[at]);
	}
}

void
batch_fill(struct batch *b, size_t pass)
{
	const struct dptrace_plan *p = b->p;
	size_t base = 0, bench = 0, taps = 0, weights = 0, columns = 0, at = 0;

	for (size_t i = 0; i < b->n; i++)
		b->work[i].pass = pass;
	batch_each(b, [](struct work *w, size_t) { pass_curves(w); });
	for (size_t i = 0; i < b->n; i++) {
		const struct segment_shape *s = shapes_of(p, b->first + i, &b->segments[i]);
		b->line[i] = {0, 0, pass_apart(s, &p->o, pass), bound_of(pass_phi(s, pass))};
		for (size_t k = 0; k < b->segments[i]; k++) {
			dp_strip *x = &b->strip[at++];
			*x = strip_of(
			    &s[k], &p->o, pass,
			    pass_grid(&s[k], &p->o, pass, pass_length(&b->work[i], (int)k)));
			x->base = base;
			x->bench = bench;
			x->taps = taps;
			x->weights = weights;
			x->columns = columns;
			base += 3 * x->plane;
			bench += dp_bench_size(x);
			taps += (size_t)dp_fields(&p->o) * (size_t)(x->g.ru + x->g.rv + 2);
			weights += 4 * (size_t)(x->g.t + x->g.fine);
			columns += x->wide;
		}
	}
	batch_each(b, [=](const struct work *w, size_t i) { fill_line(b, w, i); });
}

/* --- the device's part ----------------------------------------------------------------------------------------------- */

/* The planes that the device gets besides their mean. */
size_t
planes_of(const struct dptrace_plan *p)
{
	return dp_is_colour(&p->o, p->image.c) ? p->image.c : 0;
}

/* What the device gets of the picture, in order: the mean, the planes, the gains, the mask. Returns how many there are. */
size_t
spans_of(const struct dptrace_plan *p, gpu_span s[4])
{
	const struct dptrace_image *im = &p->image;
	const size_t n = im->w * im->h, c = planes_of(p);
	size_t spans = 0;

	s[spans++] = {p->gray, n * sizeof *p->gray};
	if (c)
		s[spans++] = {im->v, c * n * sizeof *im->v};
	if (im->gain.v)
		s[spans++] = {im->gain.v, dptrace_gains(&im->gain, im->h) * sizeof(float)};
	if (im->mask)
		s[spans++] = {im->mask, n};
	return spans;
}

/* Makes the picture the one of `on`. It is sent, unless it is there already. */
int
place_picture(struct gpu *g, const struct dptrace_plan *p, bool there, dp_evidence *on)
{
	const struct dptrace_image *im = &p->image;
	const size_t n = im->w * im->h, gains = dptrace_gains(&im->gain, im->h);
	gpu_span s[4];
	const size_t spans = spans_of(p, s);
	size_t bytes = 0;
	void *device;

	for (size_t i = 0; i < spans; i++)
		bytes += s[i].bytes;
	GPU_DO(gpu_hold(g, HOLD_IMAGE, bytes, &device));
	*on = {};
	on->w = im->w;
	on->h = im->h;
	on->c = im->c;
	on->o = p->o;
	on->o.runner = NULL; /* of the host */
	on->gray = static_cast<float *>(device);
	on->planes = on->gray + n;
	const float *const gain = on->planes + planes_of(p) * n;
	on->gain = im->gain;
	on->gain.v = gains ? gain : NULL;
	on->mask = im->mask ? reinterpret_cast<const unsigned char *>(gain + gains) : NULL;
	char *to = static_cast<char *>(device);
	for (size_t i = 0; i < spans && !there; to += s[i++].bytes)
		GPU_DO(gpu_up(g, to, s[i].host, s[i].bytes));
	return 0;
}

int
send_strips(struct batch *b)
{
	const auto lay = [=](gpu_block *a) { take_strips(b, a, &b->on); };
	const size_t bytes = gpu_lay(NULL, lay);

	GPU_DO(gpu_place(b->g, HOLD_TABLES, lay));
	return gpu_up(b->g, b->g->held[HOLD_TABLES], b->strip, bytes);
}

int
make_base(struct batch *b)
{
	const dp_strip *last = &b->strip[b->nseg - 1];
	const size_t base = last->base + 3 * last->plane, bench = last->bench + dp_bench_size(last);
	dp_most most = {0, 0, 0};

	for (size_t i = 0; i < b->nseg; i++) {
		const dp_strip *x = &b->strip[i];
		most.raw = larger_size(x->wide * x->raw_rows, most.raw);
		most.along = larger_size((size_t)x->g.ncol * x->raw_rows, most.along);
		most.plane = larger_size(x->plane, most.plane);
	}
	GPU_DO(gpu_array(b->g, HOLD_BASE, base + 3 * b->nseg, &b->on.base));
	GPU_DO(gpu_array(b->g, HOLD_STRIP, bench, &b->on.bench));
	b->on.ref = b->on.base + base;
	b->on.g0 = b->on.ref + b->nseg;
	b->on.top = b->on.g0 + b->nseg;
	b->on.flanks = false;
	for (size_t i = 0; i < b->nseg; i++)
		b->on.flanks |= b->strip[i].rule.flank > 0;
	GPU_DO(send_strips(b));
	GPU_DO(gpu_begin(b->g));
	GPU_DO(dp_base(b->g, &b->on, (unsigned)b->nseg, &most));
	GPU_DO(gpu_end(b->g));
	return gpu_down(b->g, b->top, b->on.top, b->nseg * sizeof *b->top);
}

/* --- a pass ---------------------------------------------------------------------------------------------------------- */

const struct course *
course_of_line(void *ctx, size_t line, int k)
{
	const struct batch *b = static_cast<struct batch *>(ctx);

	return &b->course[batch_segment(b, line) + (size_t)k];
}

/* The strips of the guides of j, and the scores of all links. */
int
make_scores(struct batch *b, struct dp_job *j)
{
	size_t fields = 0, offsets = 0, slopes = 0, most_fields = 0, most_offsets = 0;

	for (size_t i = 0; i < b->nseg; i++) {
		dp_strip *x = &b->strip[i];
		batch_aim(x, j->seg[i].rows);
		const pass_size z = batch_pass_size(x);
		x->fields = fields;
		x->offset = offsets;
		x->slope = slopes;
		fields += z.fields;
		offsets += z.offsets;
		slopes += z.slopes;
		most_fields = larger_size(z.fields / 3, most_fields);
		most_offsets = larger_size(z.offsets, most_offsets);
	}
	GPU_DO(gpu_place(b->g, HOLD_STRIP, [=](gpu_block *a) {
		b->on.slope = gpu_take<dp_slope>(a, slopes);
		b->on.fields = gpu_take<float>(a, fields);
		b->on.offset = gpu_take<int>(a, offsets);
	}));
	GPU_DO(send_strips(b));
	GPU_DO(gpu_begin(b->g));
	GPU_DO(dp_scores(j, &b->on, most_fields, most_offsets));
	return gpu_end(b->g);
}

/* What came back, to line i's work. */
void
take_results(const struct batch *b, const struct dp_job *j, struct work *w, size_t i)
{
	const dp_line *l = &j->line[i];

	w->chain.best = j->best[i];
	w->blank = false;
	for (int k = 0; k < l->n; k++) {
		const size_t id = l->seg + (size_t)k, to = w->node[k];
		const dp_segment *s = &j->seg[id];
		memcpy(w->chain.at + to, j->at + s->guide, (size_t)s->n * sizeof *j->at);
		memcpy(w->chain.link + to, j->link + s->guide, (size_t)s->n * sizeof *j->link);
		memcpy(w->chain.margin + to, j->margin + s->guide,
		       (size_t)s->n * sizeof *j->margin);
		w->chain.released[k] = j->released[id];
		w->blank |= b->strip[id].rule.cost ? b->strip[id].rule.scale == 0 : b->top[id] == 0;
	}
	pass_keep(w);
}

int
run_pass(struct batch *b, size_t pass)
{
	struct dp_job j = {};
	const gpu_at_end done{[&] { weir_free(j.held); }};

	j.g = b->g;
	j.method = b->p->o.method;
	j.margins = b->p->o.margins && pass == 0;
	for (size_t i = 0; i < b->n; i++)
		b->work[i].chain.margins = j.margins;
	batch_fill(b, pass);
	if (pass == 0 || b->cost)
		GPU_DO(make_base(b));
	GPU_DO(dp_lay_out(&j, b->n, b->segments, b->line, course_of_line, b));
	GPU_DO(make_scores(b, &j));
	GPU_DO(dp_solve(&j));
	batch_each(b, [&](struct work *w, size_t i) { take_results(b, &j, w, i); });
	return 0;
}

/* Lines from `first` to end - 1, batch after batch. there: the picture is on the device. */
int
run_share(struct gpu *g, struct dptrace_plan *p, size_t first, size_t end, bool there)
{
	struct batch b = {};

	b.g = g;
	b.p = p;
	b.first = first;
	b.end = end;
	if (first == end)
		return 0;
	GPU_DO(place_picture(g, p, there, &b.on));
	for (; b.first < end; b.first += b.n) {
		GPU_DO(batch_choose(&b));
		void *const held = gpu_place_on_host([&](gpu_block *a) { batch_take(&b, a); });
		const gpu_at_end done{[=] { weir_free(held); }};
		if (!held)
			return -ENOMEM;
		for (size_t pass = 0; pass < p->o.passes; pass++)
			GPU_DO(run_pass(&b, pass));
		struct dptrace_trace *const to = p->trace + b.first;
		batch_each(&b, [=](struct work *w, size_t i) { pass_put(w, to + i); });
	}
	return 0;
}

} // namespace

void
gpu_dptrace_ahead(struct gpu *g, const struct dptrace_plan *p)
{
	struct gpu_span s[4];

	if (p->nline)
		gpu_ahead(g, s, spans_of(p, s));
}

int
gpu_dptrace_run(struct gpu *g, struct dptrace_plan *p, bool *there)
{
	const size_t all = gpu_count(g);
	const bool was = there && *there;
	const int err = gpu_each(g, [=](struct gpu *device, size_t i) {
		return run_share(device, p, p->nline * i / all, p->nline * (i + 1) / all, was);
	});

	if (there) /* a device without lines gets no picture */
		*there = !err && (was || p->nline >= all);
	return err;
}
