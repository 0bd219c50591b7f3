/* The adjoint of wconv_run() over a whole item; core/scatter_body.h explains it. */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "wconv/plan.h"

struct wconv_adjoint {
	struct wconv_plan *p;
	struct wconv_spread s;
	size_t rows; /* of the item with its edges */
	size_t scratch_bytes;
	void *scratch; /* [threads][scratch_bytes] */
};

/* Convolves an item of ones. Returns 0 or -ENOMEM. */
static int
convolve_ones(struct wconv_plan *p, void *out)
{
	const struct wconv_step most = wconv_most(p);
	const size_t n = most.rows_in * p->q.w, size = p->core->sample;
	char *ones = weir_alloc(n, size), *to = out;

	if (!ones)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		real_set(ones, i, 1, !p->q.in_double);
	for (size_t i = 0; i < wconv_count(p); i++) {
		wconv_run(p, ones, to);
		to += wconv_steps(p, i).rows_out * (size_t)(p->x.hi - p->x.lo) * size;
	}
	weir_free(ones);
	return 0;
}

/* all = all / known for each result, 0 where that is not finite. */
static void
divide(const struct wconv_plan *p, void *all, const void *known, size_t n)
{
	const bool single = !p->q.in_double;

	for (size_t i = 0; i < n; i++) {
		real_set(all, i, real_at(all, i, single) / real_at(known, i, single), single);
		if (!isfinite(real_at(all, i, single)))
			real_set(all, i, 0, single);
	}
}

/* Divides gain, or 1 if it is not set yet (first), by the sum of the local kernel. sum: room for a row. */
static void
divide_by_sums(const struct wconv_plan *p, void *gain, bool first, double *sum)
{
	const size_t w = (size_t)(p->x.hi - p->x.lo), h = (size_t)(p->y.hi - p->y.lo);

	for (size_t y = 0; y < h; y++) {
		wconv_local_sums(p, p->sum, p->x.lo, p->y.lo + (ptrdiff_t)y, w, sum);
		for (size_t x = 0; x < w; x++) {
			const double was = first ? 1 : real_at(gain, y * w + x, !p->q.in_double);
			real_set(gain, y * w + x, was / sum[x], !p->q.in_double);
		}
	}
}

/*
 * Computes the factors of the results. An edge that renormalises multiplies each result by all / known: all is the sum of
 * the kernel over all pixels, known its sum over known pixels. An item of ones gives all with that edge, and known with
 * the edge of zeros.
 */
static int
make_gain(struct wconv_adjoint *a, struct why *why)
{
	struct wconv_plan *p = a->p, *zero = NULL;
	const size_t n = (size_t)(p->x.hi - p->x.lo) * (size_t)(p->y.hi - p->y.lo);
	const bool unknown = p->q.edge == WCONV_RENORMALISE, divides = wconv_divides(&p->q);
	struct wconv_problem q = p->q;
	int e = 0;

	if (!unknown && !divides)
		return 0;
	q.edge = WCONV_ZERO;
	a->s.gain = weir_alloc(n, p->core->sample);
	void *known = unknown ? weir_alloc(n, p->core->sample) : NULL;
	double *sum = weir_alloc((size_t)(p->x.hi - p->x.lo), sizeof *sum);
	if (!a->s.gain || !sum || (unknown && !known))
		e = -ENOMEM;
	if (!e && unknown && wconv_plan(&zero, &q, why))
		e = -1;
	if (!e && unknown && !(e = convolve_ones(p, a->s.gain)) &&
	    !(e = convolve_ones(zero, known)))
		divide(p, a->s.gain, known, n);
	if (!e && divides)
		divide_by_sums(p, a->s.gain, !unknown, sum);
	wconv_free(zero);
	weir_free_all(known, sum);
	return e;
}

/* Returns how many rows of the item with its edges are complete after band i: a multiple of LANES, except after the last. */
static size_t
complete_after(const struct wconv_adjoint *a, size_t i)
{
	const struct wconv_plan *p = a->p;

	if (i + 1 == p->bands)
		return a->rows;
	return (size_t)(p->y.tile[p->band[i + 1].tile0].a - p->y.lo) / p->core->lanes *
	       p->core->lanes;
}

/* Returns the first tile row whose window reaches rows that were not complete before band i. */
static size_t
first_tile(const struct wconv_adjoint *a, size_t i)
{
	const struct wconv_plan *p = a->p;
	const size_t row = i ? complete_after(a, i - 1) : 0;
	size_t t = 0;

	while ((size_t)(p->y.tile[t].b - p->y.lo) + p->q.kh - 1 <= row)
		t++;
	return t;
}

/* Finds the rows of the item into which rows beyond its edges are folded. */
static void
find_folded(const struct wconv_plan *p, bool *folded)
{
	const struct wconv_axis *y = &p->y;

	for (ptrdiff_t r = y->lo - y->before; r < y->hi + y->after; r++) {
		const ptrdiff_t from = wconv_edge(y->edge, r, y->n);
		if (from >= 0 && (r < 0 || r >= y->n))
			folded[from - y->have0] = true;
	}
}

/* Allocates what the tiles leave, the item with its edges, and the scratch of the threads. */
static int
make_room(struct wconv_adjoint *a)
{
	const struct wconv_plan *p = a->p;
	struct wconv_spread *s = &a->s;
	const size_t lanes = p->core->lanes, size = p->core->sample, kh = p->q.kh, kw = p->q.kw;
	const size_t wide = (size_t)(p->x.hi - p->x.lo) + kw - 1;

	a->rows = (size_t)(p->y.hi - p->y.lo) + kh - 1;
	s->pitch = round_up(wide, lanes);
	s->tile_rows = p->y.longest + kh - 1;
	s->tile_pitch = round_up(p->x.longest + kw - 1, lanes);
	s->tile_samples = s->tile_rows * (p->direct ? s->tile_pitch : p->rows.blocks * 2 * lanes);
	for (size_t i = 0; i < p->bands; i++) {
		const size_t n = p->band[i].tile1 - first_tile(a, i);
		s->ring = n > s->ring ? n : s->ring;
	}
	s->tiles = weir_alloc_large(s->ring * p->x.ntile, s->tile_samples * size);
	s->picture = weir_alloc_large(a->rows, s->pitch * size);
	s->folded = weir_calloc(p->q.h, sizeof *s->folded);
	a->scratch_bytes = p->core->spread_scratch(p);
	if (a->scratch_bytes < s->pitch * size) /* fold() holds a row of the picture in it */
		a->scratch_bytes = round_up(s->pitch * size, 64);
	a->scratch = weir_calloc((size_t)p->q.threads, a->scratch_bytes);
	if (!s->tiles || !s->picture || !s->folded || !a->scratch)
		return -ENOMEM;
	find_folded(p, s->folded);
	return 0;
}

int
wconv_adjoint_plan(struct wconv_adjoint **to, struct wconv_plan *p, struct why *why)
{
	struct wconv_adjoint *a = weir_calloc(1, sizeof *a);
	int e = a ? 0 : -ENOMEM;

	*to = NULL;
	if (!e) {
		a->p = p;
		e = make_gain(a, why);
	}
	e = e ? e : make_room(a);
	if (e) {
		wconv_adjoint_free(a);
		return e == -ENOMEM ? why_set(why, "no memory") : -1;
	}
	*to = a;
	return 0;
}

static void *
adjoint_scratch(const struct wconv_adjoint *a)
{
	return (char *)a->scratch + (size_t)omp_get_thread_num() * a->scratch_bytes;
}

/* Does band i: transforms the kernels that no slot holds, scatters its tiles, collects the rows that are now complete. */
static void
spread_band(const struct wconv_adjoint *a, size_t i, size_t nfy)
{
	const struct wconv_plan *p = a->p;
	const struct wconv_band *b = &p->band[i];
	const size_t n = p->x.ntile * (b->tile1 - b->tile0), nfx = p->x.nfun,
		     lanes = p->core->lanes;
	const size_t first = i ? complete_after(a, i - 1) : 0, end = complete_after(a, i);

#pragma omp for schedule(guided)
	for (size_t k = 0; k < nfy * nfx; k++)
		p->core->kernel(p, k % nfx, p->claimed[k / nfx], adjoint_scratch(a));
#pragma omp for schedule(dynamic)
	for (size_t t = 0; t < n; t++)
		p->core->spread(p, &a->s, t % p->x.ntile, b->tile0 + t / p->x.ntile,
				adjoint_scratch(a));
#pragma omp for schedule(static)
	for (size_t r = first; r < end; r += lanes)
		p->core->collect(p, &a->s, r, end - r < lanes ? end - r : lanes,
				 adjoint_scratch(a));
}

void
wconv_adjoint_run(struct wconv_adjoint *a, const void *in, void *out)
{
	struct wconv_plan *p = a->p;

	a->s.in = in;
	a->s.out = out;
	for (size_t i = 0; i < p->bands; i++) {
		const size_t nfy = wconv_claim_slots(p, &p->band[i]);
		a->s.tile0 = first_tile(a, i);
		a->s.tile1 = p->band[i].tile1;
#pragma omp parallel num_threads(p->q.threads)
		spread_band(a, i, nfy);
	}
#pragma omp parallel for num_threads(p->q.threads) schedule(static)
	for (size_t r = 0; r < p->q.h; r++)
		if (a->s.folded[r])
			p->core->fold(p, &a->s, r, adjoint_scratch(a));
}

void
wconv_adjoint_then(struct wconv_adjoint *a, struct wconv_after after)
{
	a->s.after = after;
}

void
wconv_adjoint_free(struct wconv_adjoint *a)
{
	if (!a)
		return;
	weir_free_all(a->s.gain, a->s.tiles, a->s.picture, a->s.folded, a->scratch, a);
}
