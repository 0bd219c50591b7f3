/* What the host works out for a batch of lines: how many the device holds, and what lies where. */
#include "gpu/dptrace/batch.h"

#include <string.h>

namespace
{

constexpr size_t MOST_SEGMENTS = 65535; /* of a launch */

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

} // namespace

pass_size
batch_pass_size(const dp_strip *x)
{
	const size_t slopes = 2 * (size_t)x->fine.rows - 1;

	return {3 * (size_t)x->fine.ncol * (size_t)x->fine.q * x->lane,
		slopes * (size_t)x->fine.per_gap, slopes};
}

void
batch_aim(dp_strip *x, size_t pass, int rows)
{
	x->pass = pass;
	x->fine = pass ? strip_finer(x->g, rows) : x->g;
	x->lane = (size_t)(rows + 31) / 32 * 32;
}

namespace
{

/* Bytes of a segment in one pass. */
size_t
pass_bytes(const struct segment_shape *s, dp_strip x, size_t pass, bool margins)
{
	const size_t d = (size_t)pass_samples(s, pass), n = (size_t)s->n,
		     links = n > 2 ? 2 * d + (n - 3) * d * d : 1;
	batch_aim(&x, pass, pass_rows(s, &x.g, pass));
	const pass_size z = batch_pass_size(&x);

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

} // namespace

int
batch_choose(struct batch *b)
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

namespace
{

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

} // namespace

void
batch_take(struct batch *b, struct arena *a)
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

namespace
{

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

} // namespace

void
batch_fill(struct batch *b)
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
