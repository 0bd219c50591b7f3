/*
 * dptrace's lines in batches: as many at a time as the device's memory holds, each pass over all of them at once. Several
 * devices have a share of the lines each.
 *
 *	once		the picture to the device, where it stays
 *	a batch		evidence at the base rows (dptrace_base.cu)
 *	a pass		guides, around the polylines of the pass before; the strips' fields and the scores of all links
 *			(dptrace_strip.cu); the recursion from segment to segment (dptrace_chain.cu, dptrace_recur.cu); samples
 *			and margins back to the host
 *
 * The host lays out guides and makes vertices of samples by the CPU's own functions, dptrace/pass.h.
 *
 * Bound: the picture over the bus, 4 bytes a pixel; of a segment of n guides and d samples, m columns a gap: 6 m d^2 (n - 1)
 * operations for its scores, 16 d^2 (n - 1) bytes for them and the recursion, 28 with margins. Source: Seredin 2016.
 */
#include "gpu/dptrace_strip.h"

#include <string.h>

namespace
{

constexpr size_t MOST_SEGMENTS = 65535; /* of a launch */

/* Lines [first, first + n) of the plan, of those before `end`. */
struct batch {
	struct gpu *g;
	struct dptrace_plan *p;
	enum gpu_dptrace_method method;
	size_t first, n, end, nseg;
	struct work *work; /* [line]: what passes hand on */
	size_t *segments;  /* [line] */
	bool *closed;	   /* [line] */
	dp_line *line;	   /* [line] */
	dp_strip *strip;   /* [segment] */
	float *taps, *weights;
	float *top; /* [segment] */
	size_t ntaps, nweights;
	struct course course; /* scratch */
	dp_evidence on;
};

const struct segment_shape *
shapes_of(const struct dptrace_plan *p, size_t line, size_t *n)
{
	*n = p->first[line + 1] - p->first[line];
	return p->shape + p->first[line];
}

int
most_guides(const struct segment_shape *s, size_t n)
{
	int most = 2;

	for (size_t i = 0; i < n; i++)
		most = s[i].n > most ? s[i].n : most;
	return most;
}

/* --- how many lines the device holds --------------------------------------------------------------------------------- */

/* A segment's strip as far as the base rows go. */
dp_strip
strip_of(const struct segment_shape *s, const struct dptrace_options *o)
{
	dp_strip x = {};

	x.at = {s->ax, s->ay, s->ex, s->ey};
	x.g = pass_grid(s, o);
	x.base_rows = base_rows(&x.g);
	x.plane = (size_t)x.g.ncol * x.base_rows;
	x.raw_rows = x.base_rows + lanes_up(2 * x.g.rv);
	x.used = (size_t)(x.g.base + 2 * (SKIRT + x.g.rv));
	x.wide = (size_t)x.g.nraw;
	return x;
}

/* Elements of a pass's fields, offsets and slopes. */
struct pass_size {
	size_t fields, offsets, slopes;
};

pass_size
pass_size_of(const dp_strip *x)
{
	const size_t slopes = 2 * (size_t)x->fine.rows - 1;

	return {3 * (size_t)x->fine.ncol * (size_t)x->fine.q * x->lane,
		slopes * (size_t)x->fine.per_gap, slopes};
}

void
aim_pass(dp_strip *x, size_t pass, int rows)
{
	x->pass = pass;
	x->fine = pass ? strip_finer(x->g, rows) : x->g;
	x->lane = (size_t)(rows + 31) / 32 * 32;
}

/* Bytes of a segment in one pass. */
size_t
pass_bytes(const struct segment_shape *s, dp_strip x, size_t pass, bool margins)
{
	const size_t d = (size_t)pass_samples(s, pass), n = (size_t)s->n,
		     links = n > 2 ? 2 * d + (n - 3) * d * d : 1;
	aim_pass(&x, pass, pass_rows(s, &x.g, pass));
	const pass_size z = pass_size_of(&x);

	return sizeof(float) * (z.fields + z.offsets + 4 * z.slopes + 4 * z.slopes +
				links * (margins ? 3 : 2) + (margins ? n * d : 0) + 3 * d) +
	       n * 256;
}

size_t
line_bytes(const struct dptrace_plan *p, size_t line)
{
	size_t n, held = 0, bench = 0, most = 0;
	const struct segment_shape *s = shapes_of(p, line, &n);

	for (size_t i = 0; i < n; i++) {
		const dp_strip x = strip_of(&s[i], &p->o);
		held += sizeof(float) * 3 * x.plane;
		bench += sizeof(float) * dp_bench_size(&x);
	}
	for (size_t pass = 0; pass < p->o.passes; pass++) {
		size_t bytes = 0;
		for (size_t i = 0; i < n; i++)
			bytes += pass_bytes(&s[i], strip_of(&s[i], &p->o), pass,
					    p->o.margins && pass == 0);
		most = bytes > most ? bytes : most;
	}
	return held + (bench > most ? bench : most);
}

/* The lines from b->first on that are held at once: one at least. */
int
choose_lines(struct batch *b)
{
	size_t room, used = 0;
	const int err = gpu_room(b->g, &room);

	if (err)
		return err;
	b->n = b->nseg = 0;
	while (b->first + b->n < b->end) {
		const size_t n = b->p->first[b->first + b->n + 1] - b->p->first[b->first + b->n];
		used += line_bytes(b->p, b->first + b->n);
		if (b->n && (used > room - room / 8 || b->nseg + n > MOST_SEGMENTS))
			break;
		b->n++;
		b->nseg += n;
	}
	return 0;
}

/* --- the host's part of a batch -------------------------------------------------------------------------------------- */

/* What passes over line i hand on, in the memory of a. */
void
take_work(const struct batch *b, struct work *w, struct arena *a, size_t i)
{
	size_t n;
	const struct segment_shape *s = shapes_of(b->p, b->first + i, &n);
	const size_t guides = (size_t)most_guides(s, n), all = n * guides;

	double *v = dp_take<double>(a, all);
	float *link = dp_take<float>(a, all), *margin = dp_take<float>(a, all),
	      *first = dp_take<float>(a, all);
	int *at = dp_take<int>(a, all);
	bool *border = dp_take<bool>(a, all), *released = dp_take<bool>(a, n);
	if (!a->base)
		return;
	*w = {};
	w->plan = b->p;
	w->shape = s;
	w->vstride = guides;
	w->v = v;
	w->margin = first;
	w->border = border;
	w->chain.n = (int)n;
	w->chain.maxn = (int)guides;
	w->chain.at = at;
	w->chain.link = link;
	w->chain.margin = margin;
	w->chain.released = released;
	w->chain.slot[0].c = b->course;
}

void
take_host(struct batch *b, struct arena *a)
{
	int guides = 2;

	b->ntaps = b->nweights = 0;
	for (size_t i = b->p->first[b->first]; i < b->p->first[b->first + b->n]; i++) {
		const struct grid g = pass_grid(&b->p->shape[i], &b->p->o);
		b->ntaps += (size_t)dp_fields(&b->p->o) * (size_t)(g.ru + g.rv + 2);
		b->nweights += 4 * (size_t)(g.t + g.fine);
		guides = b->p->shape[i].n > guides ? b->p->shape[i].n : guides;
	}
	b->work = dp_take<struct work>(a, b->n);
	b->segments = dp_take<size_t>(a, b->n);
	b->closed = dp_take<bool>(a, b->n);
	b->line = dp_take<dp_line>(a, b->n);
	b->strip = dp_take<dp_strip>(a, b->nseg);
	b->taps = dp_take<float>(a, b->ntaps);
	b->weights = dp_take<float>(a, b->nweights);
	b->top = dp_take<float>(a, b->nseg);
	b->course.h = dp_take<double>(a, (size_t)guides);
	b->course.d = dp_take<int>(a, (size_t)guides);
	b->course.o = dp_take<int>(a, (size_t)guides);
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
		strip_kernel(&k, i, o->sigma / g->P, g->rv, g->P);
		memcpy(to, k.w, (size_t)(g->rv + 1) * sizeof *to);
		to += g->rv + 1;
		strip_kernel(&k, order - i, o->sigma / hr, g->ru, hr);
		memcpy(to, k.w, (size_t)(g->ru + 1) * sizeof *to);
		to += g->ru + 1;
	}
}

void
fill_batch(struct batch *b)
{
	const struct dptrace_plan *p = b->p;
	size_t base = 0, bench = 0, taps = 0, weights = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct dptrace_line *l = &p->line[b->first + i];
		const struct segment_shape *s = shapes_of(p, b->first + i, &b->segments[i]);
		b->closed[i] = l->closed;
		b->line[i] = {0, 0, 0, bound_of(s->phi)};
	}
	for (size_t i = 0; i < b->nseg; i++) {
		dp_strip *x = &b->strip[i];
		*x = strip_of(&p->shape[p->first[b->first] + i], &p->o);
		x->base = base;
		x->bench = bench;
		x->taps = taps;
		x->weights = weights;
		fill_taps(&x->g, &p->o, b->taps + taps);
		for (int k = 0; k < x->g.t + x->g.fine; k++)
			strip_weights(k < x->g.t ? (double)k / x->g.t
						 : (double)(k - x->g.t) / x->g.fine,
				      b->weights + weights + 4 * (size_t)k);
		base += 3 * x->plane;
		bench += dp_bench_size(x);
		taps += (size_t)dp_fields(&p->o) * (size_t)(x->g.ru + x->g.rv + 2);
		weights += 4 * (size_t)(x->g.t + x->g.fine);
	}
}

/* --- the device's part ----------------------------------------------------------------------------------------------- */

int
send_picture(struct gpu *g, const struct dptrace_plan *p, dp_evidence *on)
{
	const struct dptrace_image *im = &p->image;
	const size_t n = im->w * im->h, c = dp_is_colour(&p->o, im->c) ? im->c : 0;
	void *device;
	int err = gpu_hold(g, HOLD_IMAGE, (1 + c) * n * sizeof(float), &device);

	*on = {};
	on->w = im->w;
	on->h = im->h;
	on->c = im->c;
	on->o = p->o;
	if (err || (err = gpu_up(g, device, p->gray, n * sizeof(float))))
		return err;
	on->gray = static_cast<float *>(device);
	on->planes = on->gray + n;
	return c ? gpu_up(g, static_cast<float *>(device) + n, im->v, c * n * sizeof(float)) : 0;
}

/* Kernels, weights and places of the strips. */
int
send_strips(struct batch *b)
{
	struct arena a = {NULL, 0};
	void *device = NULL;
	dp_strip *strip = NULL;
	float *taps = NULL, *weights = NULL;
	int err = 0;

	for (int round = 0; round < 2 && !err; round++) {
		a.used = 0;
		strip = dp_take<dp_strip>(&a, b->nseg);
		taps = dp_take<float>(&a, b->ntaps);
		weights = dp_take<float>(&a, b->nweights);
		if (!round)
			err = gpu_hold(b->g, HOLD_TABLES, a.used, &device);
		a.base = static_cast<char *>(device);
	}
	b->on.strip = strip;
	b->on.taps = taps;
	b->on.weights = weights;
	if (err || (err = gpu_up(b->g, strip, b->strip, b->nseg * sizeof *strip)) ||
	    (err = gpu_up(b->g, taps, b->taps, b->ntaps * sizeof *taps)))
		return err;
	return gpu_up(b->g, weights, b->weights, b->nweights * sizeof *weights);
}

int
make_base(struct batch *b)
{
	const dp_strip *last = &b->strip[b->nseg - 1];
	const size_t base = last->base + 3 * last->plane, bench = last->bench + dp_bench_size(last);
	size_t most = 0;
	void *held, *scratch;
	int err;

	for (size_t i = 0; i < b->nseg; i++) {
		const size_t n = b->strip[i].wide * b->strip[i].raw_rows;
		most = n > most ? n : most;
	}
	if ((err = gpu_hold(b->g, HOLD_BASE, (base + 3 * b->nseg) * sizeof(float), &held)) ||
	    (err = gpu_hold(b->g, HOLD_STRIP, bench * sizeof(float), &scratch)))
		return err;
	b->on.base = static_cast<float *>(held);
	b->on.ref = b->on.base + base;
	b->on.g0 = b->on.ref + b->nseg;
	b->on.top = b->on.g0 + b->nseg;
	b->on.bench = static_cast<float *>(scratch);
	if ((err = send_strips(b)) || (err = gpu_begin(b->g)) ||
	    (err = dp_base(b->g, &b->on, (unsigned)b->nseg, most)) || (err = gpu_end(b->g)))
		return err;
	return gpu_down(b->g, b->top, b->on.top, b->nseg * sizeof *b->top);
}

/* --- a pass ---------------------------------------------------------------------------------------------------------- */

const struct course *
course_of_line(void *ctx, size_t line, int k)
{
	struct batch *b = static_cast<struct batch *>(ctx);

	pass_course(&b->work[line], k, &b->course);
	return &b->course;
}

/* The strips of the guides of j, and the scores of all links. */
int
make_scores(struct batch *b, struct dp_job *j, size_t pass)
{
	size_t fields = 0, offsets = 0, slopes = 0, most_fields = 0, most_offsets = 0;
	struct arena a = {NULL, 0};
	void *device = NULL;
	int err = 0;

	for (size_t i = 0; i < b->nseg; i++) {
		dp_strip *x = &b->strip[i];
		aim_pass(x, pass, j->seg[i].rows);
		const pass_size z = pass_size_of(x);
		x->fields = fields;
		x->offset = offsets;
		x->slope = slopes;
		fields += z.fields;
		offsets += z.offsets;
		slopes += z.slopes;
		most_fields = z.fields / 3 > most_fields ? z.fields / 3 : most_fields;
		most_offsets = z.offsets > most_offsets ? z.offsets : most_offsets;
	}
	for (int round = 0; round < 2 && !err; round++) {
		a.used = 0;
		b->on.slope = dp_take<dp_slope>(&a, slopes);
		b->on.fields = dp_take<float>(&a, fields);
		b->on.offset = dp_take<int>(&a, offsets);
		if (!round)
			err = gpu_hold(b->g, HOLD_STRIP, a.used, &device);
		a.base = static_cast<char *>(device);
	}
	if (err || (err = send_strips(b)) || (err = gpu_begin(b->g)) ||
	    (err = dp_scores(j, &b->on, most_fields, most_offsets)))
		return err;
	return gpu_end(b->g);
}

/* What came back, to line i's work. */
void
take_results(struct batch *b, const struct dp_job *j, size_t i)
{
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
		w->blank |= b->top[id] == 0;
	}
	pass_keep(w);
}

int
run_pass(struct batch *b, size_t pass)
{
	struct dp_job j = {};
	int err;

	j.g = b->g;
	j.method = b->method;
	j.margins = b->p->o.margins && pass == 0;
	for (size_t i = 0; i < b->n; i++) {
		b->work[i].pass = pass;
		b->work[i].chain.margins = j.margins;
		b->line[i].apart = (int)ceil(3 / pass_step(b->work[i].shape, &b->p->o, pass));
	}
	err = dp_lay_out(&j, b->n, b->segments, b->line, b->closed, course_of_line, b);
	if (!err && !(err = make_scores(b, &j, pass)) && !(err = dp_solve(&j)))
		for (size_t i = 0; i < b->n; i++)
			take_results(b, &j, i);
	dp_free(&j);
	return err;
}

int
run_batch(struct batch *b)
{
	struct arena a = {NULL, 0};
	int err = choose_lines(b);

	if (err)
		return err;
	take_host(b, &a);
	if (!(a.base = static_cast<char *>(weir_alloc(a.used, 1))))
		return -ENOMEM;
	a.used = 0;
	take_host(b, &a);
	fill_batch(b);
	err = make_base(b);
	for (size_t pass = 0; pass < b->p->o.passes && !err; pass++)
		err = run_pass(b, pass);
	for (size_t i = 0; i < b->n && !err; i++)
		pass_put(&b->work[i], &b->p->trace[b->first + i]);
	weir_free(a.base);
	return err;
}

struct share {
	struct dptrace_plan *p;
	enum gpu_dptrace_method method;
	size_t devices;
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
	b.method = s->method;
	b.first = s->p->nline * i / s->devices;
	b.end = s->p->nline * (i + 1) / s->devices;
	if (b.first == b.end)
		return 0;
	for (err = send_picture(g, b.p, &b.on); b.first < b.end && !err; b.first += b.n)
		err = run_batch(&b);
	return err;
}

} // namespace

int
gpu_dptrace_run(struct gpu *g, struct dptrace_plan *p, enum gpu_dptrace_method method)
{
	share s = {p, method, gpu_count(g)};

	return gpu_each(g, run_share, &s);
}
