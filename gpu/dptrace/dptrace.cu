/*
 * dptrace's lines in batches: as many at a time as the device's memory holds, each pass over all of them at once. Several
 * devices have a share of the lines each.
 *
 *	once		the picture to the device, where it stays
 *	a batch		evidence at the base rows (base.cu), under the cost for each pass
 *	a pass		guides, around the polylines of the pass before; the strips' fields and the scores of all links
 *			(strip.cu); the recursion from segment to segment (chain.cu, recur.cu, slide.cu);
 *			samples and margins back to the host
 *
 * The host lays out guides and makes vertices of samples by the CPU's own functions, dptrace/pass.h, line by line in several
 * threads.
 *
 * Bound: the picture over the bus, 4 bytes a pixel; of a segment of n guides and d samples, whose links climb c ways, m columns
 * a gap: 6 m c d (n - 1) operations for its scores, 16 c d (n - 1) bytes for them and the recursion, 28 with margins. Source:
 * Seredin 2016.
 */
#include "gpu/dptrace/batch.h"

#include <string.h>

namespace
{

/* --- the device's part ----------------------------------------------------------------------------------------------- */

/* The planes that the device gets besides their mean. */
size_t
planes_of(const struct dptrace_plan *p)
{
	return dp_is_colour(&p->o, p->image.c) ? p->image.c : 0;
}

/* Makes the picture the one of `on`. It is sent, unless it is there already. */
int
place_picture(struct gpu *g, const struct dptrace_plan *p, bool there, dp_evidence *on)
{
	const struct dptrace_image *im = &p->image;
	const size_t n = im->w * im->h, c = planes_of(p), gains = dptrace_gains(&im->gain, im->h);
	void *device;
	int err = gpu_hold(g, HOLD_IMAGE,
			   ((1 + c) * n + gains) * sizeof(float) + (im->mask ? n : 0), &device);

	*on = {};
	on->w = im->w;
	on->h = im->h;
	on->c = im->c;
	on->o = p->o;
	on->o.runner = NULL; /* of the host */
	if (err)
		return err;
	on->gray = static_cast<float *>(device);
	on->planes = on->gray + n;
	float *const gain = const_cast<float *>(on->planes + c * n);
	unsigned char *const mask = reinterpret_cast<unsigned char *>(gain + gains);
	on->gain = im->gain;
	on->gain.v = gains ? gain : NULL;
	on->mask = im->mask ? mask : NULL;
	if (there || (err = gpu_up(g, device, p->gray, n * sizeof(float))) ||
	    (gains && (err = gpu_up(g, gain, im->gain.v, gains * sizeof(float)))) ||
	    (im->mask && (err = gpu_up(g, mask, im->mask, n))))
		return err;
	return c ? gpu_up(g, static_cast<float *>(device) + n, im->v, c * n * sizeof(float)) : 0;
}

/* Kernels, weights and places of the strips. */
int
send_strips(struct batch *b)
{
	dp_strip *strip;
	float *taps, *weights;
	struct walk *column;
	int err = gpu_place(b->g, HOLD_TABLES, [&](gpu_block *a) {
		strip = gpu_take<dp_strip>(a, b->nseg);
		taps = gpu_take<float>(a, b->ntaps);
		weights = gpu_take<float>(a, b->nweights);
		column = gpu_take<struct walk>(a, b->ncolumns);
	});

	b->on.strip = strip;
	b->on.taps = taps;
	b->on.weights = weights;
	b->on.column = column;
	if (err || (err = gpu_up(b->g, strip, b->strip, b->nseg * sizeof *strip)) ||
	    (err = gpu_up(b->g, taps, b->taps, b->ntaps * sizeof *taps)) ||
	    (err = gpu_up(b->g, column, b->column, b->ncolumns * sizeof *column)))
		return err;
	return gpu_up(b->g, weights, b->weights, b->nweights * sizeof *weights);
}

size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

int
make_base(struct batch *b)
{
	const dp_strip *last = &b->strip[b->nseg - 1];
	const size_t base = last->base + 3 * last->plane, bench = last->bench + dp_bench_size(last);
	dp_most most = {0, 0, 0};
	void *held, *scratch;
	int err;

	for (size_t i = 0; i < b->nseg; i++) {
		const dp_strip *x = &b->strip[i];
		most.raw = larger(x->wide * x->raw_rows, most.raw);
		most.along = larger((size_t)x->g.ncol * x->raw_rows, most.along);
		most.plane = larger(x->plane, most.plane);
	}
	if ((err = gpu_hold(b->g, HOLD_BASE, (base + 3 * b->nseg) * sizeof(float), &held)) ||
	    (err = gpu_hold(b->g, HOLD_STRIP, bench * sizeof(float), &scratch)))
		return err;
	b->on.base = static_cast<float *>(held);
	b->on.ref = b->on.base + base;
	b->on.g0 = b->on.ref + b->nseg;
	b->on.top = b->on.g0 + b->nseg;
	b->on.bench = static_cast<float *>(scratch);
	b->on.flanks = false;
	for (size_t i = 0; i < b->nseg; i++)
		b->on.flanks |= b->strip[i].rule.flank > 0;
	if ((err = send_strips(b)) || (err = gpu_begin(b->g)) ||
	    (err = dp_base(b->g, &b->on, (unsigned)b->nseg, &most)) || (err = gpu_end(b->g)))
		return err;
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
	int err;

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
		most_fields = larger(z.fields / 3, most_fields);
		most_offsets = larger(z.offsets, most_offsets);
	}
	err = gpu_place(b->g, HOLD_STRIP, [=](gpu_block *a) {
		b->on.slope = gpu_take<dp_slope>(a, slopes);
		b->on.fields = gpu_take<float>(a, fields);
		b->on.offset = gpu_take<int>(a, offsets);
	});
	if (err || (err = send_strips(b)) || (err = gpu_begin(b->g)) ||
	    (err = dp_scores(j, &b->on, most_fields, most_offsets)))
		return err;
	return gpu_end(b->g);
}

/* What came back, to line i's work. */
void
take_results(struct batch *b, size_t i)
{
	const struct dp_job *j = b->job;
	struct work *w = &b->work[i];
	const dp_line *l = &j->line[i];

	w->chain.best = j->best[i];
	w->blank = false;
	for (int k = 0; k < l->n; k++) {
		const size_t id = l->seg + (size_t)k, to = (size_t)k * (size_t)w->chain.maxn;
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
	int err;

	j.g = b->g;
	j.method = b->p->o.method;
	j.margins = b->p->o.margins && pass == 0;
	for (size_t i = 0; i < b->n; i++)
		b->work[i].chain.margins = j.margins;
	batch_fill(b, pass);
	if ((pass == 0 || b->cost) && (err = make_base(b)))
		return err;
	err = dp_lay_out(&j, b->n, b->segments, b->line, course_of_line, b);
	b->job = &j;
	if (!err && !(err = make_scores(b, &j)) && !(err = dp_solve(&j)))
		batch_each(b, take_results);
	b->job = NULL;
	dp_free(&j);
	return err;
}

void
put_trace(struct batch *b, size_t i)
{
	pass_put(&b->work[i], &b->p->trace[b->first + i]);
}

int
run_batch(struct batch *b)
{
	int err = batch_choose(b);

	if (err)
		return err;
	void *const held = gpu_place_on_host([=](gpu_block *a) { batch_take(b, a); });
	if (!held)
		return -ENOMEM;
	for (size_t pass = 0; pass < b->p->o.passes && !err; pass++)
		err = run_pass(b, pass);
	if (!err)
		batch_each(b, put_trace);
	weir_free(held);
	return err;
}

struct share {
	struct dptrace_plan *p;
	size_t devices;
	bool there; /* the picture, on each device */
};

/* A device's share of the lines, batch after batch. */
int
run_share(struct gpu *g, size_t i, void *with)
{
	const share *const s = static_cast<share *>(with);
	struct batch b = {};
	int err;

	b.g = g;
	b.p = s->p;
	b.first = s->p->nline * i / s->devices;
	b.end = s->p->nline * (i + 1) / s->devices;
	if (b.first == b.end)
		return 0;
	for (err = place_picture(g, b.p, s->there, &b.on); b.first < b.end && !err; b.first += b.n)
		err = run_batch(&b);
	return err;
}

} // namespace

void
gpu_dptrace_ahead(struct gpu *g, const struct dptrace_plan *p)
{
	const struct dptrace_image *im = &p->image;
	const size_t n = im->w * im->h, c = planes_of(p);
	struct gpu_span s[4] = {{p->gray, n * sizeof *p->gray}};
	size_t spans = 1;

	if (im->mask)
		s[spans++] = {im->mask, n};
	if (im->gain.v)
		s[spans++] = {im->gain.v, dptrace_gains(&im->gain, im->h) * sizeof(float)};
	if (c)
		s[spans++] = {im->v, c * n * sizeof *im->v};
	if (p->nline)
		gpu_ahead(g, s, spans);
}

int
gpu_dptrace_run(struct gpu *g, struct dptrace_plan *p, bool *there)
{
	share s = {p, gpu_count(g), there && *there};
	const int err = gpu_each(g, run_share, &s);

	if (there) /* a device without lines gets no picture */
		*there = !err && (s.there || p->nline >= s.devices);
	return err;
}
