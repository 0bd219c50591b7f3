/*
 * Types 1 and 2: spread (spread.cu), grid to modes (modes.cu); type 2 the same backwards, its points here.
 *
 *	interp	P lanes = point, in tile order, P = 8 up to 8 taps, else 16; lane = column: it works out one tap of each axis, reads its
 *		column of each row of the window, side by side, with the row's tap by a shuffle, and the lanes' sums are added
 *
 * Bytes: W^dim cells a point from the caches, the grid once from memory if the points are dense. Operations: 2 P W^(dim-1) fused
 * multiplications and additions and 2 dim P ncoef a point.
 */
#include "gpu/usfft/work.h"

extern "C" {
#include "gpu/usfft/usfft.h"
}

namespace
{

constexpr unsigned THREADS = 256;

/* Cell `first + t` of an axis, around its end. */
__device__ unsigned
wrap(unsigned first, unsigned t, unsigned n)
{
	unsigned at = first + t;

	while (at >= n)
		at -= n;
	return at;
}

template <class T, int DIM>
__global__ void
interp(const work<T> k, unsigned p, cplx<T> *out)
{
	const unsigned lane = threadIdx.x % p;
	const size_t group = ((size_t)blockIdx.x * THREADS + threadIdx.x) / p;
	const unsigned i = (unsigned)min(group, (size_t)k.m - 1);
	unsigned first[3] = {0, 0, 0};
	T tap[3] = {1, 1, 1};
	cplx<T> sum = {0, 0};

	for (int a = 0; a < DIM; a++) {
		const unsigned cell = k.cell[a][i];
		first[a] = cell < k.lead ? cell + k.n[a] - k.lead : cell - k.lead;
		tap[a] = lane < k.w ? window_tap(k, a, lane, k.rest[a][i]) : 0;
	}
	/* A lane without a column reads that of the last one, and its tap is 0. */
	const cplx<T> *const column = k.grid + wrap(first[0], min(lane, k.w - 1), k.n[0]);
	unsigned z = first[2];
	for (unsigned c = 0; c < (DIM > 2 ? k.w : 1); c++) {
		const T wz = DIM > 2 ? __shfl_sync(~0u, tap[2], (int)c, (int)p) : 1;
		unsigned y = first[1];
#pragma unroll 4
		for (unsigned b = 0; b < (DIM > 1 ? k.w : 1); b++) {
			const T wy = DIM > 1 ? __shfl_sync(~0u, tap[1], (int)b, (int)p) * wz : wz;
			const cplx<T> v = column[(z * k.n[1] + y) * k.n[0]];
			sum.re += v.re * wy;
			sum.im += v.im * wy;
			y = y + 1 < k.n[1] ? y + 1 : 0;
		}
		z = z + 1 < k.n[2] ? z + 1 : 0;
	}
	sum.re *= tap[0];
	sum.im *= tap[0];
	for (unsigned d = p / 2; d > 0; d /= 2) {
		sum.re += __shfl_xor_sync(~0u, sum.re, (int)d);
		sum.im += __shfl_xor_sync(~0u, sum.im, (int)d);
	}
	if (lane == 0 && group < k.m)
		out[k.index[i]] = sum;
}

/* --- the transforms ------------------------------------------------------------------------------------------------ */

/* Room for the modes, where the coordinates were. */
template <class T>
int
hold_modes(struct gpu *g, const work<T> &k, cplx<T> **at)
{
	void *room;
	const int err = gpu_hold(g, HOLD_RAW, count_modes(k) * sizeof(cplx<T>), &room);

	*at = static_cast<cplx<T> *>(err ? NULL : room);
	return err;
}

/* Sends the values of type 1 that were not sent with the points. */
template <class T>
int
send_values(struct gpu *g, const work<T> &k, const void *c, void **at)
{
	const size_t bytes = k.m * sizeof(cplx<T>);
	int err = 0;

	*at = NULL;
	if (c && bytes && !(err = gpu_hold(g, HOLD_VALUES, bytes, at)))
		err = gpu_up(g, *at, c, bytes);
	return err;
}

template <class T>
int
to_modes(struct gpu *g, const struct usfft_plan *p, int sign, const void *c, void *modes)
{
	const int dim = p->o.dim;
	work<T> k = {};
	cplx<T> *room;
	void *at;
	int err;

	if ((err = usfft_grid(g, p, &k)) || (err = hold_modes(g, k, &room)) ||
	    (err = send_values(g, k, c, &at)) || (err = gpu_begin(g)) ||
	    (at && (err = usfft_carry(g, k, static_cast<const T *>(at), 2))) ||
	    (err = usfft_spread(g, k, dim)) || (err = usfft_get_modes(g, k, dim, sign, room)) ||
	    (err = gpu_end(g)))
		return err;
	const gpu_result made = {modes, room, count_modes(k) * sizeof *room};
	return gpu_later(g, &made, 1);
}

template <class T>
int
to_points(struct gpu *g, const struct usfft_plan *p, int sign, const void *modes, void *c)
{
	const int dim = p->o.dim;
	work<T> k = {};
	cplx<T> *room;
	void *out;
	int err;

	if ((err = usfft_grid(g, p, &k)) || (err = hold_modes(g, k, &room)) ||
	    (err = gpu_hold(g, HOLD_VALUES, (k.m + 1) * sizeof(cplx<T>), &out)) ||
	    (err = gpu_up(g, room, modes, count_modes(k) * sizeof *room)) || (err = gpu_begin(g)) ||
	    (err = usfft_put_modes(g, k, dim, sign, room)) ||
	    (err = usfft_interp(g, k, dim, static_cast<cplx<T> *>(out))) || (err = gpu_end(g)))
		return err;
	const gpu_result made = {c, out, k.m * sizeof(cplx<T>)};
	return k.m ? gpu_later(g, &made, 1) : 0;
}

} // namespace

template <class T>
int
usfft_interp(struct gpu *g, const work<T> &k, int dim, cplx<T> *out)
{
	const unsigned p = k.w <= 8 ? 8 : 16;
	const unsigned blocks = (unsigned)(((size_t)k.m * p + THREADS - 1) / THREADS);

	if (!k.m)
		return 0;
	if (dim == 1)
		GPU_LAUNCH(g, (interp<T, 1>), blocks, THREADS, 0, k, p, out);
	else if (dim == 2)
		GPU_LAUNCH(g, (interp<T, 2>), blocks, THREADS, 0, k, p, out);
	else
		GPU_LAUNCH(g, (interp<T, 3>), blocks, THREADS, 0, k, p, out);
	return 0;
}

template int usfft_interp(struct gpu *, const work<float> &, int, cplx<float> *);
template int usfft_interp(struct gpu *, const work<double> &, int, cplx<double> *);

int
gpu_usfft_type1(struct gpu *g, const struct usfft_plan *p, int sign, const void *c, void *modes)
{
	return p->o.single ? to_modes<float>(g, p, sign, c, modes)
			   : to_modes<double>(g, p, sign, c, modes);
}

int
gpu_usfft_type2(struct gpu *g, const struct usfft_plan *p, int sign, const void *modes, void *c)
{
	return p->o.single ? to_points<float>(g, p, sign, modes, c)
			   : to_points<double>(g, p, sign, modes, c);
}
