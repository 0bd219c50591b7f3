/*
 * Deconvolution on the device: wconv/restore/restore.h states the methods, and wconv/restore/steps_simd.c has the same steps on
 * the CPU. The data go up once, and the estimate comes down once. In between, all pictures stay on the device.
 *
 *	find_known, cut		thread = sample
 *	measure			block = 2048 samples: their sum and extremes
 *				then one block joins these, in an order that depends on their number alone
 *	Richardson and Lucy
 *	divide			block = 2048 samples: y / (A x + sky), and a sum of squares
 *	add_scalar		one block adds the sums, in an order that depends on their number alone
 *	multiply		thread = sample: the next x
 *	conjugate gradients
 *	mask, combine		block = 2048 samples, and a sum of squares
 *	add_scalar		the same, and makes the factors of the next combine()
 *
 * A and A' are those of whole.cu. Of Richardson and Lucy's steps the sum is made and read back only where it decides whether they
 * end. The scalars of conjugate gradients stay on the device; a step reads them back once, to see whether it is the last.
 *
 * Bound: each sample once over the bus each way; besides A and A', 7 samples read or written a pixel and step by Richardson and
 * Lucy, 15 by conjugate gradients.
 */
#include "gpu/reduce.h"

#include "gpu/wconv/job.h"

extern "C" {
#include "wconv/restore/restore.h"
}

namespace
{

constexpr unsigned WC_PER_BLOCK = 8 * WC_THREADS; /* samples that a block sums up */

/*
 * Sums of squares: rr of the misfit, ss of the gradient, pp of the direction. Conjugate gradients make factors of them:
 * combine() computes factor[0] to + factor[1] from.
 */
enum wc_factors { WC_ADVANCE, WC_RETREAT, WC_SHRINK, WC_TURN, WC_COPY, WC_FACTORS };
struct wc_scalars {
	double rr, ss, pp, damp, factor[WC_FACTORS][2];
};

/* What a deconvolution has on the device. */
template <class T> struct wc_pictures {
	struct gpu *g;
	struct wconv_restore *d;
	wc_whole<T> a;
	/* the data, and two arrays of their size; the estimate, and two arrays of its size */
	T *y, *f, *r, *x, *p, *s;
	double *part; /* [parts][3]: what each block finds */
	wc_scalars *total;
	size_t n, m; /* samples of the data, of the estimate */
};

/* to = A from; with transpose, to = A' from. */
template <class T>
int
wc_apply(wc_pictures<T> *v, bool transpose, const T *from, T *to)
{
	return transpose == v->d->o.scatters ? wc_convolve<T>(v->g, &v->a, from, to)
					     : wc_scatter_back<T>(v->g, &v->a, from, to);
}

/* What a run returns when the data cannot be deconvolved: why says it. */
enum { WC_REFUSED = -1 };

/* The sum, the largest of the samples and 0, and minus the smallest of them and 0. */
struct wc_extent {
	double sum, most, least;
};

/* Says that so many steps are done. */
void
wc_tell(const struct wconv_restore *d, size_t steps)
{
	if (d->o.tell)
		d->o.tell(d->o.with, steps);
}

/* Adds up f(i, a...) of the block's samples, and stores the sum in part[block]. */
template <auto f, class... A>
__global__ void
sum_samples(size_t n, double *part, A... a)
{
	const size_t first = (size_t)blockIdx.x * WC_PER_BLOCK, end = min(first + WC_PER_BLOCK, n);
	double sum = 0;

	for (size_t i = first + threadIdx.x; i < end; i += WC_THREADS)
		sum += f(i, a...);
	sum = block_sum<WC_THREADS>(sum);
	if (threadIdx.x == 0)
		part[blockIdx.x] = sum;
}

/* r = 1 where y is known, else 0; f = y there, else 0. */
template <class T>
__device__ void
find_known(size_t i, const T *y, T *r, T *f)
{
	const bool known = y[i] - y[i] == 0;
	r[i] = known;
	f[i] = known ? y[i] : 0;
}

template <class T>
__device__ wc_extent
extent_of(T v)
{
	const double d = (double)v;

	return {d, d > 0 ? d : 0, d < 0 ? -d : 0};
}

__device__ wc_extent
extent_of(const wc_extent &e)
{
	return e;
}

/* Joins the extents of `each` of n samples, or of extents, to one of the block. to may be v, if there is one block. */
template <class V>
__global__ void
measure(const V *v, size_t n, size_t each, wc_extent *to)
{
	const size_t first = blockIdx.x * each, end = min(first + each, n);
	wc_extent e = {0, 0, 0};

	for (size_t i = first + threadIdx.x; i < end; i += WC_THREADS) {
		const wc_extent d = extent_of(v[i]);
		e = {e.sum + d.sum, max(d.most, e.most), max(d.least, e.least)};
	}
	e = {block_sum<WC_THREADS>(e.sum), block_largest<WC_THREADS>(e.most),
	     block_largest<WC_THREADS>(e.least)};
	if (threadIdx.x == 0)
		to[blockIdx.x] = e;
}

/* Copies the part of the estimate, of ew samples a row, that begins at `from`. With s: less `floor`, and NaN where s is not above `dark`. */
template <class T>
__device__ void
cut(size_t i, const T *x, const T *s, T dark, T floor, size_t from, size_t ew, unsigned w, T *to)
{
	size_t row = i;
	const unsigned column = take_index(&row, w);
	const size_t at = from + row * ew + column;

	to[i] = !s ? x[at] : s[at] > dark ? x[at] - floor : (T)NAN;
}

/* --- the host's part ----------------------------------------------------------------------------------------------- */

template <class T>
int
open_pictures(wc_pictures<T> *v)
{
	struct gpu *const g = v->g;
	const unsigned parts = gpu_blocks(v->m > v->n ? v->m : v->n, WC_PER_BLOCK);

	GPU_DO(gpu_place(g, WC_PICTURES, [&](gpu_block *b) {
		gpu_take_all(b, v->n, &v->y, &v->f, &v->r);
		gpu_take_all(b, v->m, &v->x, &v->p, &v->s);
	}));
	GPU_DO(gpu_place(g, WC_TOTALS, [&](gpu_block *b) {
		v->part = reinterpret_cast<double *>(gpu_take<wc_extent>(b, parts));
		v->total = gpu_take<wc_scalars>(b, 1);
	}));
	return wc_whole_open<T>(g, wconv_restore_by(v->d), &v->a);
}

template <class T>
int
wc_measure(wc_pictures<T> *v, const T *samples, size_t n, wc_extent *all)
{
	struct gpu *const g = v->g;
	wc_extent *const part = reinterpret_cast<wc_extent *>(v->part);
	const size_t parts = gpu_blocks(n, WC_PER_BLOCK), each = WC_PER_BLOCK;

	GPU_LAUNCH(g, measure<T>, parts, WC_THREADS, 0, samples, n, each, part);
	GPU_LAUNCH(g, measure<wc_extent>, 1, WC_THREADS, 0, part, parts, parts, part);
	return gpu_down(g, all, part, sizeof *all);
}

/* Launches f(i, a...) for n samples, and leaves their sums in v->part. */
template <auto f, class T, class... A>
int
sum_all(wc_pictures<T> *v, size_t n, A... a)
{
	GPU_LAUNCH(v->g, (sum_samples<f, A...>), gpu_blocks(n, WC_PER_BLOCK), WC_THREADS, 0, n,
		   v->part, a...);
	return 0;
}

enum total { NOTHING, MISFIT, PROJECTION, GRADIENT, DIRECTION }; /* NOTHING: the sum is of no use */

/* Sets the total `which` of s, and the factors that follow from it. */
__global__ void
add_scalar(const double *part, unsigned n, enum total which, wc_scalars *s)
{
	const double before = s->ss;
	double sum = 0;

	for (unsigned i = threadIdx.x; i < n; i += WC_THREADS)
		sum += part[i];
	sum = block_sum<WC_THREADS>(sum);
	__syncthreads(); /* all threads have read s */
	if (threadIdx.x)
		return;
	switch (which) {
	case MISFIT:
		s->rr = sum;
		break;
	case PROJECTION:
		s->factor[WC_ADVANCE][1] = s->ss / (sum + s->damp * s->pp);
		s->factor[WC_RETREAT][1] = -s->factor[WC_ADVANCE][1];
		break;
	case GRADIENT:
		s->ss = sum;
		s->factor[WC_TURN][0] = before > 0 ? sum / before : 0;
		break;
	default:
		s->pp = sum;
	}
}

/* The sum of the parts of n samples becomes the total `which`. */
template <class T>
int
add_total(wc_pictures<T> *v, size_t n, enum total which)
{
	GPU_LAUNCH(v->g, add_scalar, 1, WC_THREADS, 0, v->part, gpu_blocks(n, WC_PER_BLOCK), which,
		   v->total);
	return 0;
}

/* --- Richardson and Lucy ------------------------------------------------------------------------------------------- */

template <class T>
__device__ void
fill(size_t i, T *x, T v)
{
	x[i] = v;
}

/*
 * With v = f + sky: r = max(y, 0) / max(v, least), or 0 where y is unknown. Returns the square of y - v at a known sample.
 */
template <class T>
__device__ double
divide(size_t i, const T *y, const T *f, T sky, T least, T *r)
{
	const T v = f[i] + sky, d = y[i] - v;
	const bool known = y[i] - y[i] == 0;

	r[i] = y[i] > 0 && known ? y[i] / (v > least ? v : least) : 0;
	return known ? (double)d * (double)d : 0;
}

/* x *= t / s, or x = 0 where that is negative or s is not above `dark`. */
template <class T>
__device__ void
multiply(size_t i, T *x, const T *t, const T *s, T dark)
{
	const T v = x[i] * t[i] / s[i];
	x[i] = s[i] > dark && v > 0 ? v : 0;
}

/* y += f */
template <class T>
__device__ void
lift(size_t i, T *y, const T *f)
{
	y[i] += f[i];
}

template <class T>
int
start_lucy(wc_pictures<T> *v, const struct wconv_known *k, struct why *why)
{
	struct gpu *const g = v->g;
	double level;
	wc_extent s;

	GPU_DO(gpu_begin(g));
	GPU_DO(wc_apply<T>(v, true, v->r, v->s));
	GPU_DO(wc_measure<T>(v, v->s, v->m, &s));
	if (wconv_restore_start(v->d, k, s.most, s.sum, &level, why))
		return WC_REFUSED;
	if (v->d->floor > 0) {
		GPU_EACH(g, fill<T>, v->m, v->x, (T)v->d->floor);
		GPU_DO(wc_apply<T>(v, false, v->x, v->f));
		GPU_EACH(g, lift<T>, v->n, v->y, v->f);
	}
	GPU_EACH(g, fill<T>, v->m, v->x, (T)level);
	return gpu_end(g);
}

template <class T>
int
wc_lucy(wc_pictures<T> *v, const struct wconv_known *k, struct wconv_restored *done,
	struct why *why)
{
	struct gpu *const g = v->g;
	const struct wconv_restore *d = v->d;
	bool ends = false;

	GPU_DO(start_lucy<T>(v, k, why));
	while (!ends) {
		double squares = INFINITY;
		GPU_DO(gpu_begin(g));
		GPU_DO(wc_apply<T>(v, false, v->x, v->f));
		GPU_DO(sum_all<divide<T>>(v, v->n, v->y, v->f, (T)d->o.sky, (T)d->least, v->r));
		if (d->o.noise > 0 || done->steps == d->o.steps) { /* where it decides something */
			GPU_DO(add_total(v, v->n, MISFIT));
			GPU_DO(gpu_down(g, &squares, &v->total->rr, sizeof squares));
		}
		ends = wconv_restore_ends(d, done, squares, k->n);
		if (!ends) {
			GPU_DO(wc_apply<T>(v, true, v->r, v->p));
			GPU_EACH(g, multiply<T>, v->m, v->x, v->p, v->s, (T)d->dark);
			wc_tell(d, ++done->steps);
		}
		GPU_DO(gpu_end(g));
	}
	return 0;
}

/* --- conjugate gradients -------------------------------------------------------------------------------------------- */

template <class T>
__device__ double
square(T v)
{
	return (double)v * (double)v;
}

/* r = y - sky, or 0 where y is unknown. These three return the square of what they store. */
template <class T>
__device__ double
start_misfit(size_t i, const T *y, T sky, T *r)
{
	return square(r[i] = y[i] - y[i] == 0 ? y[i] - sky : 0);
}

/* Zeroes f where y is unknown. */
template <class T>
__device__ double
mask(size_t i, const T *y, T *f)
{
	return square(f[i] = y[i] - y[i] == 0 ? f[i] : 0);
}

/* to = factor[0] to + factor[1] from */
template <class T>
__device__ double
combine(size_t i, T *to, const T *from, const double *factor)
{
	const double a = __ldg(factor), b = __ldg(factor + 1);

	return square(to[i] = (T)(a * (double)to[i] + b * (double)from[i]));
}

/* to = factor[0] to + factor[1] from. The sum of squares of the result becomes the total `which`. */
template <class T>
int
combine_all(wc_pictures<T> *v, T *to, const T *from, size_t n, enum wc_factors factor,
	    enum total which)
{
	const double *const factors = v->total->factor[factor];

	GPU_DO((sum_all<combine<T>>(v, n, to, from, factors)));
	return which == NOTHING ? 0 : add_total(v, n, which);
}

/* x = p = 0, r = y - sky, s = A' r, p = s. */
template <class T>
int
start_squares(wc_pictures<T> *v)
{
	struct gpu *const g = v->g;
	const struct wconv_restore *d = v->d;
	wc_scalars z = {};

	z.damp = d->o.damp * d->o.damp;
	z.factor[WC_ADVANCE][0] = z.factor[WC_RETREAT][0] = z.factor[WC_SHRINK][0] = 1;
	z.factor[WC_SHRINK][1] = -z.damp;
	z.factor[WC_TURN][1] = z.factor[WC_COPY][1] = 1;
	GPU_DO(gpu_up(g, v->total, &z, sizeof z));
	GPU_DO(gpu_begin(g));
	GPU_TRY(g, cudaMemsetAsync(v->x, 0, v->m * sizeof(T), g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(v->p, 0, v->m * sizeof(T), g->stream[0]));
	GPU_DO(sum_all<start_misfit<T>>(v, v->n, v->y, (T)d->o.sky, v->r));
	GPU_DO(add_total(v, v->n, MISFIT));
	GPU_DO(wc_apply<T>(v, true, v->r, v->s));
	GPU_DO(combine_all<T>(v, v->p, v->s, v->m, WC_COPY, GRADIENT));
	GPU_DO(add_total(v, v->m, DIRECTION));
	return gpu_end(g);
}

template <class T>
int
step_squares(wc_pictures<T> *v)
{
	struct gpu *const g = v->g;

	GPU_DO(gpu_begin(g));
	GPU_DO(wc_apply<T>(v, false, v->p, v->f));
	GPU_DO(sum_all<mask<T>>(v, v->n, v->y, v->f));
	GPU_DO(add_total(v, v->n, PROJECTION));
	GPU_DO(combine_all<T>(v, v->x, v->p, v->m, WC_ADVANCE, NOTHING));
	GPU_DO(combine_all<T>(v, v->r, v->f, v->n, WC_RETREAT, MISFIT));
	GPU_DO(wc_apply<T>(v, true, v->r, v->s));
	GPU_DO(combine_all<T>(v, v->s, v->x, v->m, WC_SHRINK, GRADIENT));
	GPU_DO(combine_all<T>(v, v->p, v->s, v->m, WC_TURN, DIRECTION));
	return gpu_end(g);
}

template <class T>
int
wc_least_squares(wc_pictures<T> *v, const struct wconv_known *k, struct wconv_restored *done,
		 struct why *why)
{
	wc_scalars z;
	double first = 0;

	if (!k->n) {
		wconv_restore_unknown(why);
		return WC_REFUSED;
	}
	GPU_DO(start_squares<T>(v));
	for (;; wc_tell(v->d, ++done->steps)) {
		GPU_DO(gpu_down(v->g, &z, v->total, sizeof z));
		if (wconv_restore_check(z.rr, z.ss, why))
			return WC_REFUSED;
		first = done->steps ? first : z.ss;
		if (wconv_restore_ends(v->d, done, z.rr, k->n) ||
		    !(z.ss > wconv_restore_tiny(v->d) * first))
			return 0;
		GPU_DO(step_squares<T>(v));
	}
}

/* --- all of it ----------------------------------------------------------------------------------------------------- */

template <class T>
int
restore(struct gpu *g, struct wconv_restore *d, const void *y, void *x, struct wconv_restored *done,
	struct why *why)
{
	const bool squares = d->o.least_squares;
	wc_pictures<T> v = {};
	wc_extent count, known;

	v.g = g;
	v.d = d;
	v.n = d->w * d->h;
	v.m = d->ew * d->eh;
	done->steps = 0;
	GPU_DO(open_pictures<T>(&v));
	GPU_DO(gpu_up(g, v.y, y, v.n * sizeof(T)));
	GPU_EACH(g, find_known<T>, v.n, v.y, v.r, v.f);
	GPU_DO(wc_measure<T>(&v, v.r, v.n, &count));
	GPU_DO(wc_measure<T>(&v, v.f, v.n, &known));
	const struct wconv_known k = {(size_t)count.sum, known.sum, max(known.most, known.least)};
	GPU_DO(squares ? wc_least_squares<T>(&v, &k, done, why) : wc_lucy<T>(&v, &k, done, why));
	/* the part of the estimate that lies where the data do */
	GPU_EACH(g, cut<T>, v.n, v.x, squares ? NULL : v.s, (T)d->dark, (T)d->floor,
		 d->oy * d->ew + d->ox, d->ew, (unsigned)d->w, v.f);
	return gpu_down(g, x, v.f, v.n * sizeof(T));
}

} // namespace

int
gpu_wconv_restore(struct gpu *g, struct wconv_restore *d, const void *y, void *x,
		  struct wconv_restored *done, struct why *why)
{
	return d->in_double ? restore<double>(g, d, y, x, done, why)
			    : restore<float>(g, d, y, x, done, why);
}
