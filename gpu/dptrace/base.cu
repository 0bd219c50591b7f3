/*
 * From the picture to derivatives at the base rows of all segments of a batch: dptrace/evidence/base.c, float by float.
 * evidence.cu makes evidence of them.
 *
 *	samples, derivatives	thread = element of a strip, grid = elements x segments; columns lie along v, so that
 *				neighbouring threads read and write neighbours. A thread makes all fields of its element along u,
 *				from the same samples.
 *
 * Sums are taken tap by tap in the CPU's order, without contraction (-fmad=false), places in double precision. The device's
 * square root is rounded correctly, so every float is the CPU's.
 *
 * Bound, an element: 4 pixels through the second-level cache, 4 bytes written and 4 (2 rv + 1) read from caches a field,
 * 4 (2 ru + 1) for all fields; as many multiplications as taps and 1.5 times the additions; through memory some 40 bytes.
 */
#include "gpu/dptrace/bench.h"

#include <limits.h>

namespace
{

constexpr unsigned THREADS = 256;

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

/* The same anywhere: outside the picture that of its border. */
__device__ float
sample_clamped(const float *p, size_t w, size_t h, double x, double y, float ref)
{
	const double xmax = (double)(w - 1), ymax = (double)(h - 1);
	const size_t right = w > 1, down = h > 1 ? w : 0;

	x = x < 0 ? 0 : x > xmax ? xmax : x;
	y = y < 0 ? 0 : y > ymax ? ymax : y;
	const size_t xi = (size_t)x - (x == xmax && w > 1), yi = (size_t)y - (y == ymax && h > 1);
	const float a = (float)(x - (double)xi), b = (float)(y - (double)yi);
	const float *at = p + yi * w + xi;
	const float top = at[0] + a * (at[right] - at[0]);
	const float low = at[down] + a * (at[down + right] - at[down]);

	return (top + b * (low - top)) - ref;
}

/* Sample i of a walk of n, less ref: in floats from the corner of the walk's own box where that lies inside the picture. */
__device__ float
sample(const float *p, size_t w, size_t h, const walk &k, int n, int i, float ref)
{
	const double x1 = k.x + (n - 1) * k.dx, y1 = k.y + (n - 1) * k.dy;
	const double x0 = floor(k.x < x1 ? k.x : x1) - 1, y0 = floor(k.y < y1 ? k.y : y1) - 1;
	const bool within = x0 >= 0 && y0 >= 0 && k.x < (double)w - 2 && x1 < (double)w - 2 &&
			    k.y < (double)h - 2 && y1 < (double)h - 2;

	if (within && (y1 - y0 + k.y - y0) * (double)w < INT_MAX / 2)
		return sample_within(p + (size_t)y0 * w + (size_t)x0, (int)w,
				     (float)(k.x - x0) + (float)i * (float)k.dx,
				     (float)(k.y - y0) + (float)i * (float)k.dy, ref);
	return sample_clamped(p, w, h, k.x + i * k.dx, k.y + i * k.dy, ref);
}

/* What samples are taken less of: the picture's in the middle of the segment. thread = segment. */
__global__ void
find_ref(const dp_evidence e, const float *plane, unsigned n)
{
	const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;

	if (id >= n)
		return;
	const dp_strip &s = e.strip[id];
	const walk mid = walk_from(e, s, s.g.ncol / 2, SKIRT + s.g.rv + s.g.half);
	e.ref[id] = sample(plane, e.w, e.h, {mid.x, mid.y, 0, 0}, 1, 0, 0);
}

__global__ void
sample_strips(const dp_evidence e, const float *plane)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const size_t i = element();
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
	const size_t i = element();
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
__global__ void
derive_across(const dp_evidence e)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const size_t i = element();
	size_t col = i;

	if (i >= s.plane)
		return;
	const unsigned r = take_index(&col, (unsigned)s.base_rows);
	const float *in = along_of(e, s, blockIdx.z) + col * s.raw_rows + r + (size_t)s.g.rv;
	e.base[s.base + blockIdx.z * s.plane + i] =
	    convolve(in, 1, taps_of(e, s, blockIdx.z), s.g.rv, blockIdx.z == 1 ? -1.f : 1.f);
}

/* The tensor of all planes so far: uu in field 2, uv in size, vv in along 2. */
__global__ void
add_tensor(const dp_evidence e, bool first)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const size_t i = element();

	if (i >= s.plane)
		return;
	const float gu = e.base[s.base + i], gv = e.base[s.base + s.plane + i];
	float *uu = e.base + s.base + 2 * s.plane + i, *uv = size_of(e, s) + i,
	      *vv = along_of(e, s, 2) + i;
	*uu = (first ? 0.f : *uu) + gu * gu;
	*uv = (first ? 0.f : *uv) + gu * gv;
	*vv = (first ? 0.f : *vv) + gv * gv;
}

/* Di Zenzo: the direction in which colours change fastest, as long as the change is large. */
__global__ void
main_direction(const dp_evidence e)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const size_t i = element();

	if (i >= s.plane)
		return;
	const float uu = e.base[s.base + 2 * s.plane + i], uv = size_of(e, s)[i],
		    vv = along_of(e, s, 2)[i];
	const float half = .5f * (uu - vv), root = sqrtf(half * half + uv * uv);
	const float x = half > 0 ? half + root : uv, y = half > 0 ? uv : root - half;
	const float square = x * x + y * y;
	const float scale = square > 0 ? sqrtf((.5f * (uu + vv) + root) / square) : 0;
	e.base[s.base + i] = x * scale;
	e.base[s.base + s.plane + i] = y * scale;
}

/* --- launches ------------------------------------------------------------------------------------------------------ */

unsigned
blocks(size_t n)
{
	return (unsigned)((n + THREADS - 1) / THREADS);
}

/* The derivatives of one plane, of n segments. */
int
differentiate(struct gpu *g, const dp_evidence &e, const float *plane, unsigned order, unsigned n,
	      const dp_most &most)
{
	const unsigned highest = (unsigned)dp_fields(&e.o) - 1;
	const dim3 along(blocks(most.along), n);

	GPU_LAUNCH(g, find_ref, (n + 31) / 32, 32, 0, e, plane, n);
	GPU_LAUNCH(g, sample_strips, dim3(blocks(most.raw), n), THREADS, 0, e, plane);
	if (order == 1)
		GPU_LAUNCH(g, derive_along<1>, along, THREADS, 0, e, highest);
	else
		GPU_LAUNCH(g, derive_along<2>, along, THREADS, 0, e, highest);
	GPU_LAUNCH(g, derive_across, dim3(blocks(most.plane), n, order + 1), THREADS, 0, e);
	return 0;
}

} // namespace

int
dp_base(struct gpu *g, const dp_evidence *e, unsigned n, const dp_most *most)
{
	const bool colour = dp_is_colour(&e->o, e->c);
	const unsigned fields = (unsigned)dp_fields(&e->o), all = blocks(most->plane);
	int err;

	if (e->flanks) {
		if ((err = differentiate(g, *e, e->gray, 1, n, *most)) ||
		    (err = dp_sizes(g, *e, n, all, false)))
			return err;
	}
	if (!colour && (err = differentiate(g, *e, e->gray, fields - 1, n, *most)))
		return err;
	for (size_t c = 0; colour && c < e->c; c++) {
		if ((err = differentiate(g, *e, e->planes + c * e->w * e->h, 1, n, *most)))
			return err;
		GPU_LAUNCH(g, add_tensor, dim3(all, n), THREADS, 0, *e, c == 0);
	}
	if (colour)
		GPU_LAUNCH(g, main_direction, dim3(all, n), THREADS, 0, *e);
	err = dp_sizes(g, *e, n, all, fields == 3);
	return err ? err : dp_normalise(g, *e, n, all);
}
