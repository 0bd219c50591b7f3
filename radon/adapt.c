/*
 * Adaptive subtraction: matches the multiples that were subtracted to the gather, by a short filter for each window of traces
 * and times. d is the gather, m = d - left is what was subtracted, and delta is the filter that changes nothing:
 *
 *	f minimises sum w (d - f * m)^2 + L sum w d^2 |f - delta|^2		left becomes d - f * m
 *
 * Windows overlap by half. The weights w of a window fall linearly from its centre to 0 at the centres of its neighbours, so
 * that the weights of all windows sum to 1 at each sample; the results of overlapping windows are added with these weights. The
 * sums take in the data of live traces alone (radon_span()). L sum w d^2 is at least 1e-10 of the mean of sum w m^2 over the
 * delays of the filter. Without that a nearly dead trace, whose d is nothing beside m, has equations that rounding makes
 * unsolvable.
 *
 * The gather chooses L from {3, 1, .3, .1, .03, .01} by cross-validation. The time axis is cut into blocks of .2 s. In each
 * window the filter of the even blocks is applied to the odd ones, and that of the odd blocks to the even ones. L is the one
 * with the least energy of d - f * m in these other blocks, summed over all windows. Where that energy is not at least 1 % below
 * that of d - m, left stays as it was. Multiples and primaries that are independent lose nothing to a filter that was found
 * elsewhere, whereas the energy in its own blocks always falls.
 *
 * Source: Verschuur and Berkhout, Geophysics 62(5), 1997; the damping towards delta and the choice of L are ours.
 */
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "radon/core.h"

enum { NL = 6 };
static const double damping[NL] = {3, 1, .3, .1, .03, .01};
static const double block_seconds = .2, least_gain = .01;

/* mu is at least this part of the mean of R's diagonal; see above. */
static const double least_damping = 1e-10;

/* Windows along an axis of samples or traces: `apart` samples from one centre to the next; the first is at sample 0. */
struct windows {
	size_t n, samples;
	double apart;
};

/* The sums of one window over the blocks of one parity. s_k(t) = m(t + half - k), k < taps. */
struct moments {
	double *r;     /* [taps][taps], k <= l: sum w s_k s_l */
	double *right; /* [taps]: sum w (d - m) s_k */
	double energy; /* sum w d^2 */
	double rest;   /* sum w (d - m)^2 */
};

/* The arrays of one thread. */
struct work {
	struct moments fold[2]; /* of the even and the odd blocks */
	double *weight;		/* owned, with the others. [nt]: w of a trace in a window */
	double *sum;		/* [nt]: (f - delta) * m of a trace */
	double *factor;		/* [taps][taps]: Cholesky's, lower triangle */
	double *c;		/* [taps]: f - delta */
};

struct radon_adapter {
	const struct radon_options *o;
	struct windows traces, times;
	size_t half, taps, ld, block;
	float *m;  /* [nx][ld]: `half` zeros, a trace of m, zeros */
	double *c; /* [windows][NL][taps]: f - delta */
	/* [windows][NL]: of the energy of d - f * m, in blocks that f was not found from */
	double *growth;
	double *rest;	   /* owned, with c and growth. [windows]: sum w (d - m)^2 */
	struct work *work; /* owned: one a thread */
	int threads;
};

/* --- windows ------------------------------------------------------------------------------------------------------- */

/* Lays out windows that reach at most `half` samples to each side of their centres. half 0: one window holds all samples. */
static struct windows
lay_out(size_t samples, double half)
{
	struct windows w = {1, samples, 1};

	if (half > 0 && half < (double)samples && samples > 1) {
		w.n = (size_t)ceil((double)(samples - 1) / half) + 1;
		w.apart = (double)(samples - 1) / (double)(w.n - 1);
	}
	return w;
}

static double
weight(const struct windows *w, size_t i, size_t at)
{
	return w->n == 1 ? 1 : fmax(0, 1 - fabs((double)at - (double)i * w->apart) / w->apart);
}

/* The samples that can have a weight in window i. */
static struct radon_span
reach(const struct windows *w, size_t i)
{
	const double first = ((double)i - 1) * w->apart, end = ((double)i + 1) * w->apart;

	if (w->n == 1)
		return (struct radon_span){0, w->samples};
	return (struct radon_span){
	    first > 0 ? (size_t)first : 0,
	    end + 1 < (double)w->samples ? (size_t)end + 1 : w->samples,
	};
}

static struct radon_span
intersect(struct radon_span a, struct radon_span b)
{
	return (struct radon_span){a.first > b.first ? a.first : b.first,
				   a.end < b.end ? a.end : b.end};
}

/* --- the equations of a window ------------------------------------------------------------------------------------- */

enum { CHAINS = 8 }; /* independent sums, so that no addition waits for another */

/* The sum of w x y over n samples. */
WEIR_CLONES_OF(double, dot, (const double *restrict w, const float *x, const float *y, size_t n),
	       (w, x, y, n))
{
	double sum[CHAINS] = {0}, all = 0;
	size_t i = 0;

	for (; i + CHAINS <= n; i += CHAINS)
		for (size_t c = 0; c < CHAINS; c++)
			sum[c] += w[i + c] * (double)x[i + c] * (double)y[i + c];
	for (; i < n; i++)
		sum[0] += w[i] * (double)x[i] * (double)y[i];
	for (size_t c = 0; c < CHAINS; c++)
		all += sum[c];
	return all;
}

/* Adds samples t .. t + n - 1 of trace j to the moments of their fold. */
static void
add_block(const struct radon_adapter *a, struct moments *f, const double *w, size_t j, size_t t,
	  size_t n, const float *d, const float *left)
{
	const float *s = a->m + j * a->ld + t + 2 * a->half;

	for (size_t k = 0; k < a->taps; k++) {
		for (size_t l = k; l < a->taps; l++)
			f->r[k * a->taps + l] += dot(w, s - k, s - l, n);
		f->right[k] += dot(w, left + t, s - k, n);
	}
	f->energy += dot(w, d + t, d + t, n);
	f->rest += dot(w, left + t, left + t, n);
}

/* Fills the moments of the window at traces x and times y. */
static void
add_up(const struct radon_adapter *a, struct work *l, size_t x, size_t y, const float *gather,
       const float *left)
{
	const struct radon_options *o = a->o;
	const struct radon_span traces = reach(&a->traces, x), times = reach(&a->times, y);

	for (int p = 0; p < 2; p++) {
		struct moments *f = &l->fold[p];
		memset(f->r, 0, a->taps * a->taps * sizeof *f->r);
		memset(f->right, 0, a->taps * sizeof *f->right);
		f->energy = f->rest = 0;
	}
	for (size_t j = traces.first; j < traces.end; j++) {
		const double by = weight(&a->traces, x, j);
		const float *d = gather + j * o->nt;
		if (by <= 0 || (o->live && !o->live[j]))
			continue;
		const struct radon_span s = intersect(times, radon_span(d, o->nt));
		for (size_t t = s.first; t < s.end; t++)
			l->weight[t] = by * weight(&a->times, y, t);
		for (size_t t = s.first, next; t < s.end; t = next) {
			next = (t / a->block + 1) * a->block;
			next = next < s.end ? next : s.end;
			add_block(a, &l->fold[t / a->block % 2], l->weight + t, j, t, next - t, d,
				  left + j * o->nt);
		}
	}
}

/* c = (R + mu)^-1 right, by Cholesky's factorisation. R is that of fold f, or the sum of two. c is 0 in a window of zeros. */
static void
solve(const struct radon_adapter *a, struct work *l, const struct moments *f,
      const struct moments *g, double ratio, double *c)
{
	const size_t n = a->taps;
	double diagonal = 0;

	for (size_t k = 0; k < n; k++)
		diagonal += f->r[k * n + k] + (g ? g->r[k * n + k] : 0);
	const double mu =
	    fmax(ratio * (f->energy + (g ? g->energy : 0)), least_damping * diagonal / (double)n);
	memset(c, 0, n * sizeof *c);
	if (!(mu > 0))
		return;
	for (size_t i = 0; i < n; i++) {
		double v = f->right[i] + (g ? g->right[i] : 0);
		for (size_t k = 0; k <= i; k++) {
			const size_t at = k * n + i;
			double sum = f->r[at] + (g ? g->r[at] : 0) + (i == k ? mu : 0);
			for (size_t h = 0; h < k; h++)
				sum -= l->factor[i * n + h] * l->factor[k * n + h];
			l->factor[i * n + k] = i == k ? sqrt(sum) : sum / l->factor[k * n + k];
		}
		for (size_t h = 0; h < i; h++)
			v -= l->factor[i * n + h] * c[h];
		c[i] = v / l->factor[i * n + i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t h = i + 1; h < n; h++)
			c[i] -= l->factor[h * n + i] * c[h];
		c[i] /= l->factor[i * n + i];
	}
}

/* By how much the filter delta + c increases the energy of d - f * m in a fold. */
static double
grow(const struct radon_adapter *a, const struct moments *f, const double *c)
{
	double sum = 0;

	for (size_t k = 0; k < a->taps; k++) {
		sum += c[k] * (c[k] * f->r[k * a->taps + k] - 2 * f->right[k]);
		for (size_t l = k + 1; l < a->taps; l++)
			sum += 2 * c[k] * c[l] * f->r[k * a->taps + l];
	}
	return sum;
}

/* Finds the filter of a window for each L, and its growth. */
static void
find_filters(struct radon_adapter *a, struct work *l, size_t window)
{
	a->rest[window] = l->fold[0].rest + l->fold[1].rest;
	for (size_t i = 0; i < NL; i++) {
		double *c = a->c + (window * NL + i) * a->taps;
		double *growth = &a->growth[window * NL + i];
		*growth = 0;
		for (int p = 0; p < 2; p++) {
			solve(a, l, &l->fold[p], NULL, damping[i], l->c);
			*growth += grow(a, &l->fold[!p], l->c);
		}
		solve(a, l, &l->fold[0], &l->fold[1], damping[i], c);
	}
}

/* --- the gather ---------------------------------------------------------------------------------------------------- */

/* Returns the index of the best L, or NL where none gains enough. */
static size_t
choose(const struct radon_adapter *a)
{
	const size_t windows = a->traces.n * a->times.n;
	double sum[NL] = {0}, rest = 0;
	size_t best = NL;

	for (size_t w = 0; w < windows; w++) {
		rest += a->rest[w];
		for (size_t i = 0; i < NL; i++)
			sum[i] += a->growth[w * NL + i];
	}
	for (size_t i = 0; i < NL; i++)
		if (sum[i] < 0 && sum[i] <= -least_gain * rest &&
		    (best == NL || sum[i] < sum[best]))
			best = i;
	return best;
}

/* to += c w x for n samples. */
WEIR_CLONES(add_tap,
	    (double *restrict to, const double *restrict w, const float *restrict x, size_t n,
	     double c),
	    (to, w, x, n, c))
{
	for (size_t i = 0; i < n; i++)
		to[i] += c * w[i] * (double)x[i];
}

/* Subtracts (f - delta) * m from trace j. */
static void
filter_trace(const struct radon_adapter *a, struct work *l, size_t best, size_t j, const float *d,
	     float *left)
{
	const size_t nt = a->o->nt;
	const struct radon_span data = radon_span(d, nt);
	const float *m = a->m + j * a->ld + 2 * a->half;

	memset(l->sum, 0, nt * sizeof *l->sum);
	for (size_t x = 0; x < a->traces.n; x++) {
		const double by = weight(&a->traces, x, j);
		for (size_t y = 0; y < a->times.n && by > 0; y++) {
			const double *c = a->c + ((x * a->times.n + y) * NL + best) * a->taps;
			const struct radon_span s = intersect(reach(&a->times, y), data);
			for (size_t t = s.first; t < s.end; t++)
				l->weight[t] = by * weight(&a->times, y, t);
			for (size_t k = 0; k < a->taps && s.first < s.end; k++)
				add_tap(l->sum + s.first, l->weight + s.first, m + s.first - k,
					s.end - s.first, c[k]);
		}
	}
	for (size_t t = data.first; t < data.end; t++)
		left[t] = (float)((double)left[t] - l->sum[t]);
}

double
radon_adapt(struct radon_adapter *a, const float *gather, float *left)
{
	const struct radon_options *o = a->o;

	for (size_t j = 0; j < o->nx; j++)
		for (size_t t = 0; t < o->nt; t++)
			a->m[j * a->ld + a->half + t] = gather[j * o->nt + t] - left[j * o->nt + t];
#pragma omp parallel for schedule(dynamic, 1) num_threads(a->threads)
	for (size_t w = 0; w < a->traces.n * a->times.n; w++) {
		struct work *l = &a->work[omp_get_thread_num()];
		add_up(a, l, w / a->times.n, w % a->times.n, gather, left);
		find_filters(a, l, w);
	}
	const size_t best = choose(a);
	if (best == NL)
		return INFINITY;
#pragma omp parallel for schedule(static) num_threads(a->threads)
	for (size_t j = 0; j < o->nx; j++)
		if (!o->live || o->live[j])
			filter_trace(a, &a->work[omp_get_thread_num()], best, j, gather + j * o->nt,
				     left + j * o->nt);
	return damping[best];
}

/* --- memory -------------------------------------------------------------------------------------------------------- */

static bool
take_work(const struct radon_adapter *a, struct work *l)
{
	const size_t nt = a->o->nt, taps = a->taps, all = taps * taps;

	l->weight = weir_alloc(2 * nt + 3 * (all + taps), sizeof *l->weight);
	if (!l->weight)
		return false;
	l->sum = l->weight + nt;
	l->factor = l->sum + nt;
	l->c = l->factor + all;
	l->fold[0].right = l->c + taps;
	l->fold[0].r = l->fold[0].right + taps;
	l->fold[1].right = l->fold[0].r + all;
	l->fold[1].r = l->fold[1].right + taps;
	return true;
}

struct radon_adapter *
radon_adapter(const struct radon_options *o, int threads)
{
	struct radon_adapter *a = weir_calloc(1, sizeof *a);
	size_t windows;

	if (!a)
		return NULL;
	*a = (struct radon_adapter){.o = o, .threads = threads};
	a->traces = lay_out(o->nx, o->adapt.traces ? (double)(o->adapt.traces + 1) / 2 : 0);
	a->times = lay_out(o->nt, o->adapt.window / 2 / o->dt);
	a->half = (size_t)rint(o->adapt.filter / 2 / o->dt);
	a->taps = 2 * a->half + 1;
	a->ld = o->nt + 2 * a->half;
	a->block = (size_t)fmax(1, rint(block_seconds / o->dt));
	a->m = weir_calloc(o->nx, a->ld * sizeof *a->m);
	a->work = weir_calloc((size_t)threads, sizeof *a->work);
	bool ok = a->m && a->work && weir_mul(a->traces.n, a->times.n, &windows);
	if (ok) {
		a->rest = weir_alloc(windows, (1 + NL + NL * a->taps) * sizeof *a->rest);
		a->growth = a->rest ? a->rest + windows : NULL;
		a->c = a->rest ? a->growth + NL * windows : NULL;
		ok = a->rest;
	}
	for (int i = 0; ok && i < threads; i++)
		ok = take_work(a, &a->work[i]);
	if (ok)
		return a;
	radon_adapter_free(a);
	return NULL;
}

void
radon_adapter_free(struct radon_adapter *a)
{
	if (!a)
		return;
	for (int i = 0; a->work && i < a->threads; i++)
		weir_free(a->work[i].weight);
	weir_free_all(a->work, a->m, a->rest, a);
}
