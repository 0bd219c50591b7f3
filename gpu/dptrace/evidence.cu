/*
 * From derivatives at the base rows to evidence: dptrace/evidence/base.c, float by float.
 *
 *	sizes, evidence	thread = element of a strip, grid = elements x segments
 *	measure		block = segment: the median by two histograms of leading bits in shared memory (16 KB)
 *
 * The device's square root and division are rounded correctly, so every float is the CPU's.
 *
 * Bound, an element: the fields read twice and written once, its size written and read, 4 bytes each: some 40 bytes.
 */
#include "gpu/dptrace/bench.h"

namespace
{

constexpr unsigned THREADS = 256, BITS = 12, BINS = 1 << BITS, EACH = BINS / THREADS;

/* 1 where element i of a column lies inside the picture and its mask, else 0. */
__device__ float
inside(const dp_evidence &e, const walk &k, int i)
{
	const double xmax = (double)e.w - .5, ymax = (double)e.h - .5;
	const double x = k.x + i * k.dx, y = k.y + i * k.dy;

	const bool in = (x >= -.5) & (x <= xmax) & (y >= -.5) & (y <= ymax);
	if (!in || !e.mask)
		return (float)in;
	const size_t px = (size_t)(x + .5), py = (size_t)(y + .5);
	return e.mask[(py < e.h ? py : e.h - 1) * e.w + (px < e.w ? px : e.w - 1)] ? 1.f : 0.f;
}

/* The gain where that element lies, which is inside. */
__device__ float
gain(const dp_evidence &e, const walk &k, int i)
{
	const size_t x = (size_t)(k.x + i * k.dx + .5), y = (size_t)(k.y + i * k.dy + .5);

	return e.gain.v[(y < e.h ? y : e.h - 1) / e.gain.cell * e.gain.w +
			(x < e.w ? x : e.w - 1) / e.gain.cell];
}

/* The size of the gradient stays where it counts against a ridge. */
__global__ void
find_sizes(const dp_evidence e, bool hessian)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const size_t i = element();

	if (i >= s.plane || (hessian && s.rule.flank > 0))
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
__global__ void
make_evidence(const dp_evidence e)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const size_t i = element();

	if (i >= s.plane)
		return;
	const float sign = e.o.score == DPTRACE_RIDGE && s.rule.polarity >= 0 ? -1.f : 1.f;
	size_t col = i;
	const int r = (int)take_index(&col, (unsigned)s.base_rows);
	const walk k = walk_from(e, s, (int)col, s.g.rv);
	float in = inside(e, k, r);
	if (s.rule.cost && e.gain.v && in > 0)
		in *= gain(e, k, r);
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

} // namespace

int
dp_sizes(struct gpu *g, const dp_evidence &e, unsigned n, unsigned blocks, bool hessian)
{
	GPU_LAUNCH(g, find_sizes, dim3(blocks, n), THREADS, 0, e, hessian);
	return 0;
}

int
dp_normalise(struct gpu *g, const dp_evidence &e, unsigned n, unsigned blocks)
{
	GPU_LAUNCH(g, measure, n, THREADS, 0, e);
	GPU_LAUNCH(g, make_evidence, dim3(blocks, n, (unsigned)dp_fields(&e.o)), THREADS, 0, e);
	return 0;
}
