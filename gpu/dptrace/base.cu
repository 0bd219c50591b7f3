/*
 * From the picture to derivatives at the base rows of all segments of a batch, and from these to evidence: dptrace/evidence/base.c,
 * float by float.
 *
 *	samples, derivatives	thread = element of a strip, grid = elements x segments; columns lie along v, so that
 *				neighbouring threads read and write neighbours. A thread makes all fields of its element along u,
 *				from the same samples.
 *
 * Sums are taken tap by tap in the CPU's order, without contraction (-fmad=false), places in double precision. The device's
 * square root and division are rounded correctly, so every float is the CPU's.
 *
 * Bound, an element: 4 pixels through the second-level cache, 4 bytes written and 4 (2 rv + 1) read from caches a field,
 * 4 (2 ru + 1) for all fields; as many multiplications as taps and 1.5 times the additions; through memory some 40 bytes.
 *
 *	sizes, evidence	thread = element of a strip, grid = elements x segments
 *	measure		block = segment: the median by two histograms of leading bits in shared memory (16 KB)
 *
 * Bound, an element: the fields read twice and written once, its size written and read, 4 bytes each: some 40 bytes.
 */
#include "gpu/dptrace/job.h"

namespace
{

/* Returns the walk across column col of evidence, from `rows` base rows after the first sample on. */
__device__ __forceinline__ walk
walk_from(const dp_evidence &e, const dp_strip &s, int col, int rows)
{
	const walk k = e.column[s.columns + (size_t)(s.g.ru + col * s.g.sub)];

	return {k.x + rows * k.dx, k.y + rows * k.dy, k.dx, k.dy};
}

__device__ __forceinline__ float *
along_of(const dp_evidence &e, const dp_strip &s, unsigned field)
{
	return e.bench + s.bench + (s.wide + field * (size_t)s.g.ncol) * s.raw_rows;
}

__device__ __forceinline__ float *
size_of(const dp_evidence &e, const dp_strip &s)
{
	return along_of(e, s, 3);
}

constexpr unsigned THREADS = 256;

/* A thread for each element i of a strip's base rows calls f(e, s, i, a...). grid = elements x segments x fields. */
template <auto f, class... A>
__global__ void
each_element(const dp_evidence e, A... a)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const size_t i = gpu_element();

	if (i < s.plane)
		f(e, s, i, a...);
}

/* Bilinear, less ref, at the point (x, y) of a picture that begins at p; neither is negative. */
__device__ float
sample_within(const float *p, int w, float x, float y, float ref)
{
	const int xi = (int)x, yi = (int)y, at = yi * w + xi;
	const float a = x - (float)xi, b = y - (float)yi;
	const float top = p[at] + a * (p[at + 1] - p[at]),
		    low = p[at + w] + a * (p[at + w + 1] - p[at + w]);

	return (top + b * (low - top)) - ref;
}

/* Sample i of a walk of n, less ref: in floats from the corner of the walk's own box where that lies inside the picture. */
__device__ float
sample(const float *p, size_t w, size_t h, const walk &k, int n, int i, float ref)
{
	double x0, y0;

	if (walk_stays(&k, n, w, h, &x0, &y0))
		return sample_within(p + (size_t)y0 * w + (size_t)x0, (int)w,
				     (float)(k.x - x0) + (float)i * (float)k.dx,
				     (float)(k.y - y0) + (float)i * (float)k.dy, ref);
	return sample_clamped(p, w, h, k.x + i * k.dx, k.y + i * k.dy, ref);
}

/* What samples are taken less of: the picture's in the middle of the segment. thread = segment. */
__device__ void
find_ref(unsigned id, const dp_evidence &e, const float *plane)
{
	const dp_strip &s = e.strip[id];
	const walk mid = walk_from(e, s, s.g.ncol / 2, SKIRT + s.g.rv + s.g.half);
	e.ref[id] = sample(plane, e.w, e.h, {mid.x, mid.y, 0, 0}, 1, 0, 0);
}

__global__ void
sample_strips(const dp_evidence e, const float *plane)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const size_t i = gpu_element();
	size_t col = i;

	if (i >= s.wide * s.raw_rows)
		return;
	const int r = (int)take_index(&col, (unsigned)s.raw_rows), used = (int)s.used;
	const walk k = e.column[s.columns + col];
	e.bench[s.bench + i] =
	    r < used ? sample(plane, e.w, e.h, k, used, r, e.ref[blockIdx.y]) : 0;
}

/* --- derivatives --------------------------------------------------------------------------------------------------- */

__device__ float
convolve(const float *in, ptrdiff_t step, const float *w, int r, float sign)
{
	float a = w[0] * in[0];

	for (int t = 1; t <= r; t++)
		a += w[t] * (in[t * step] + sign * in[-t * step]);
	return a;
}

__device__ const float *
taps_of(const dp_evidence &e, const dp_strip &s, unsigned field)
{
	return e.taps + s.taps + field * (size_t)(s.g.rv + s.g.ru + 2);
}

/*
 * Fields 0 .. order, field f of order - f along. The kernels are those of the highest order; where order is one lower, the
 * kernel of a field is that of the next one.
 */
template <unsigned order>
__global__ void
derive_along(const dp_evidence e, unsigned highest)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const ptrdiff_t step = (ptrdiff_t)s.raw_rows;
	const size_t i = gpu_element();
	size_t col = i;
	const float *w[order + 1];
	float a[order + 1];

	if (i >= (size_t)s.g.ncol * s.raw_rows)
		return;
	const unsigned r = take_index(&col, (unsigned)s.raw_rows);
	const float *in =
	    e.bench + s.bench + (col * (size_t)s.g.sub + (size_t)s.g.ru) * s.raw_rows + r;
#pragma unroll
	for (unsigned f = 0; f <= order; f++) {
		w[f] = taps_of(e, s, f + highest - order) + s.g.rv + 1;
		a[f] = w[f][0] * in[0];
	}
	for (int t = 1; t <= s.g.ru; t++) {
		const float on = in[t * step], back = in[-t * step];
		const float even = on + back, odd = on - back;
#pragma unroll
		for (unsigned f = 0; f <= order; f++)
			a[f] += w[f][t] * (order - f == 1 ? odd : even);
	}
#pragma unroll
	for (unsigned f = 0; f <= order; f++)
		along_of(e, s, f)[i] = a[f];
}

/* Field blockIdx.z, of that order across. */
__device__ void
derive_across(const dp_evidence &e, const dp_strip &s, size_t i)
{
	size_t col = i;
	const unsigned r = take_index(&col, (unsigned)s.base_rows);
	const float *in = along_of(e, s, blockIdx.z) + col * s.raw_rows + r + (size_t)s.g.rv;
	e.base[s.base + blockIdx.z * s.plane + i] =
	    convolve(in, 1, taps_of(e, s, blockIdx.z), s.g.rv, blockIdx.z == 1 ? -1.f : 1.f);
}

/* The tensor of all planes so far: uu in field 2, uv in size, vv in along 2. */
__device__ void
add_tensor(const dp_evidence &e, const dp_strip &s, size_t i, bool first)
{
	const float gu = e.base[s.base + i], gv = e.base[s.base + s.plane + i];
	float *uu = e.base + s.base + 2 * s.plane + i, *uv = size_of(e, s) + i,
	      *vv = along_of(e, s, 2) + i;
	*uu = (first ? 0.f : *uu) + gu * gu;
	*uv = (first ? 0.f : *uv) + gu * gv;
	*vv = (first ? 0.f : *vv) + gv * gv;
}

__device__ void
main_direction(const dp_evidence &e, const dp_strip &s, size_t i)
{
	float *const g = e.base + s.base + i;

	find_direction(g[2 * s.plane], size_of(e, s)[i], along_of(e, s, 2)[i], g, g + s.plane);
}

/* --- evidence --------------------------------------------------------------------------------------------------------- */

constexpr unsigned BITS = 12, BINS = 1 << BITS, EACH = BINS / THREADS;

/* 1 where element i of a column lies inside the picture and its mask, else 0. */
__device__ float
inside(const dp_evidence &e, const walk &k, int i)
{
	const double xmax = (double)e.w - .5, ymax = (double)e.h - .5;
	const double x = k.x + i * k.dx, y = k.y + i * k.dy;

	const bool in = (x >= -.5) & (x <= xmax) & (y >= -.5) & (y <= ymax);
	if (!in || !e.mask)
		return (float)in;
	return e.mask[pixel_at(y, e.h) * e.w + pixel_at(x, e.w)] ? 1.f : 0.f;
}

/* The size of the gradient stays where it counts against a ridge. */
__device__ void
find_sizes(const dp_evidence &e, const dp_strip &s, size_t i, bool hessian)
{
	if (hessian && s.rule.flank > 0)
		return;
	const float *f = e.base + s.base + i;
	const float a = f[0], b = f[s.plane];
	float size;
	if (hessian) {
		const float c = f[2 * s.plane], mean = .5f * (a + c), half = .5f * (a - c);
		size = fabsf(mean) + sqrtf(half * half + b * b);
	} else {
		size = sqrtf(a * a + b * b);
	}
	size_of(e, s)[i] = size;
}

/* What the threads of a block count together. */
struct tally {
	unsigned count[BINS], part[THREADS], n, top, bits;
	size_t before;
};

/* One round of counting, of every fourth column, the 12 leading bits, or those after bits that are given. */
__device__ void
count_sizes(tally &t, const dp_evidence &e, const dp_strip &s, int round)
{
	const float *size = size_of(e, s);
	const size_t n = (size_t)((s.g.ncol + 3) / 4) * (size_t)s.g.base;
	unsigned inner = 0, top = 0;

	for (size_t i = threadIdx.x; i < n; i += THREADS) {
		size_t four = i;
		const int r = SKIRT + (int)take_index(&four, (unsigned)s.g.base),
			  col = 4 * (int)four;
		const unsigned u = __float_as_uint(size[(size_t)col * s.base_rows + (size_t)r]);
		if (inside(e, walk_from(e, s, col, s.g.rv), r) == 0 ||
		    (round && u >> (32 - BITS) != t.bits))
			continue;
		atomicAdd(&t.count[u << round * BITS >> (32 - BITS)], 1u);
		inner++;
		top = u > top ? u : top;
	}
	if (round)
		return;
	atomicAdd(&t.n, inner);
	atomicMax(&t.top, top);
}

/* The bin in which half of all have been met. One thread; the others have summed 16 bins each. */
__device__ void
find_bin(tally &t)
{
	unsigned k = 0;

	while (k + EACH < BINS && t.before + t.part[k / EACH] <= t.n / 2) {
		t.before += t.part[k / EACH];
		k += EACH;
	}
	while (k + 1 < BINS && t.before + t.count[k] <= t.n / 2)
		t.before += t.count[k++];
	t.bits = t.bits << BITS | k;
}

/* g0 = DPTRACE_SOFT * the median of the sizes inside the picture, and a quarter of the largest at least. block = segment. */
__global__ void
__launch_bounds__(THREADS) measure(const dp_evidence e)
{
	__shared__ tally t;
	const dp_strip &s = e.strip[blockIdx.x];

	if (threadIdx.x == 0) {
		t.n = t.top = t.bits = 0;
		t.before = 0;
	}
	for (int round = 0; round < 2; round++) {
		for (unsigned i = threadIdx.x; i < BINS; i += THREADS)
			t.count[i] = 0;
		__syncthreads();
		count_sizes(t, e, s, round);
		__syncthreads();
		unsigned sum = 0;
		for (unsigned i = 0; i < EACH; i++)
			sum += t.count[threadIdx.x * EACH + i];
		t.part[threadIdx.x] = sum;
		__syncthreads();
		if (threadIdx.x == 0)
			find_bin(t);
		__syncthreads();
	}
	if (threadIdx.x)
		return;
	const float top = __uint_as_float(t.top),
		    median = t.n ? __uint_as_float(t.bits << (32 - 2 * BITS)) : 0.f;
	const float g0 = DPTRACE_SOFT * median, least = top / 4;
	e.top[blockIdx.x] = top;
	e.g0[blockIdx.x] = e.o.score == DPTRACE_SIN ? 0.f : g0 > least ? g0 : least;
}

/*
 * Field blockIdx.z *= sign * inside / (size + g0); where all of that is 0 there is no evidence. Under the cost it is in units
 * of the clicks' level.
 */
__device__ void
make_evidence(const dp_evidence &e, const dp_strip &s, size_t i)
{
	const float sign = e.o.score == DPTRACE_RIDGE && s.rule.polarity >= 0 ? -1.f : 1.f;
	size_t col = i;
	const int r = (int)take_index(&col, (unsigned)s.base_rows);
	const walk k = walk_from(e, s, (int)col, s.g.rv);
	float in = inside(e, k, r);
	if (s.rule.cost && e.gain.v && in > 0)
		in *=
		    gain_at(&e.gain, pixel_at(k.x + r * k.dx, e.w), pixel_at(k.y + r * k.dy, e.h));
	float *f = e.base + s.base + blockIdx.z * s.plane + i;
	if (s.rule.cost) {
		*f *= sign * s.rule.scale * in;
		if (s.rule.flank > 0 && blockIdx.z != 1)
			*f -= s.rule.flank * s.rule.scale * size_of(e, s)[i] * in;
		return;
	}
	const float d = size_of(e, s)[i] + e.g0[blockIdx.y];
	*f = d > 0 ? *f * (sign * in / d) : 0.f;
}

/* --- launches ------------------------------------------------------------------------------------------------------ */

/* The derivatives of one plane, of n segments. */
int
differentiate(struct gpu *g, const dp_evidence &e, const float *plane, unsigned order, unsigned n,
	      const dp_most &most)
{
	const unsigned highest = (unsigned)dp_fields(&e.o) - 1;
	const dim3 along(gpu_blocks(most.along, THREADS), n);

	GPU_EACH(g, find_ref, n, e, plane);
	GPU_LAUNCH(g, sample_strips, dim3(gpu_blocks(most.raw, THREADS), n), THREADS, 0, e, plane);
	if (order == 1)
		GPU_LAUNCH(g, derive_along<1>, along, THREADS, 0, e, highest);
	else
		GPU_LAUNCH(g, derive_along<2>, along, THREADS, 0, e, highest);
	GPU_LAUNCH(g, each_element<derive_across>,
		   dim3(gpu_blocks(most.plane, THREADS), n, order + 1), THREADS, 0, e);
	return 0;
}

} // namespace

int
dp_base(struct gpu *g, const dp_evidence *e, unsigned n, const dp_most *most)
{
	const bool colour = dp_is_colour(&e->o, e->c);
	const unsigned fields = (unsigned)dp_fields(&e->o), all = gpu_blocks(most->plane, THREADS);

	if (e->flanks) {
		GPU_DO(differentiate(g, *e, e->gray, 1, n, *most));
		GPU_LAUNCH(g, (each_element<find_sizes, bool>), dim3(all, n), THREADS, 0, *e,
			   false);
	}
	if (!colour)
		GPU_DO(differentiate(g, *e, e->gray, fields - 1, n, *most));
	for (size_t c = 0; colour && c < e->c; c++) {
		GPU_DO(differentiate(g, *e, e->planes + c * e->w * e->h, 1, n, *most));
		GPU_LAUNCH(g, (each_element<add_tensor, bool>), dim3(all, n), THREADS, 0, *e,
			   c == 0);
	}
	if (colour)
		GPU_LAUNCH(g, each_element<main_direction>, dim3(all, n), THREADS, 0, *e);
	GPU_LAUNCH(g, (each_element<find_sizes, bool>), dim3(all, n), THREADS, 0, *e, fields == 3);
	GPU_LAUNCH(g, measure, n, THREADS, 0, *e);
	GPU_LAUNCH(g, each_element<make_evidence>, dim3(all, n, fields), THREADS, 0, *e);
	return 0;
}
