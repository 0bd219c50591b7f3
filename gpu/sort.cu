/*
 * A stable radix sort by 8 bits a pass, and the scan it needs. Orders depend on nothing but the keys.
 *
 *	count	block = CHUNK keys, 256 threads; shared: 256 counters
 *	scan	block = 1024 counts, thread = 4; totals of blocks by the same, then added
 *	move	block = CHUNK keys, warp = 256 of them in order, 32 at a time; shared: a counter per warp and digit. A lane's
 *		place is its digit's counter and how many lanes before it have that digit, from 8 votes
 *
 * Bytes: a pass reads keys twice and indices once and writes both: 20 n, and 2 KB a block for its counts.
 */
#include "gpu/device.h"

#include "gpu/sort.h"

namespace
{

constexpr unsigned THREADS = 256, WARPS = THREADS / 32, CHUNK = 2048, DIGITS = 256, BITS = 8;
constexpr unsigned EACH = 4, SCANNED = EACH * THREADS;

/* --- scan ---------------------------------------------------------------------------------------------------------- */

/* What stood before this thread's v in the block; *total: of all. */
__device__ unsigned
scan_block(unsigned v, unsigned *total)
{
	__shared__ unsigned warp_sum[WARPS];
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	unsigned upto = v, before = 0;

	for (unsigned d = 1; d < 32; d *= 2) {
		const unsigned u = __shfl_up_sync(~0u, upto, d);
		upto += lane >= d ? u : 0;
	}
	if (lane == 31)
		warp_sum[warp] = upto;
	__syncthreads();
	*total = 0;
	for (unsigned i = 0; i < WARPS; i++) {
		before += i < warp ? warp_sum[i] : 0;
		*total += warp_sum[i];
	}
	__syncthreads();
	return before + upto - v;
}

__global__ void
scan_blocks(unsigned *v, size_t n, unsigned *totals)
{
	const size_t at = (size_t)blockIdx.x * SCANNED + EACH * threadIdx.x;
	unsigned mine[EACH], sum = 0, total;

	for (unsigned i = 0; i < EACH; i++) {
		mine[i] = sum;
		sum += at + i < n ? v[at + i] : 0;
	}
	const unsigned before = scan_block(sum, &total);
	for (unsigned i = 0; i < EACH; i++)
		if (at + i < n)
			v[at + i] = before + mine[i];
	if (threadIdx.x == 0)
		totals[blockIdx.x] = total;
}

__global__ void
add_totals(unsigned *v, size_t n, const unsigned *totals)
{
	const size_t at = (size_t)blockIdx.x * SCANNED + threadIdx.x;

	for (unsigned i = 0; i < EACH; i++)
		if (at + i * THREADS < n)
			v[at + i * THREADS] += totals[blockIdx.x];
}

/* --- sort ---------------------------------------------------------------------------------------------------------- */

__global__ void
number(unsigned *index, size_t n)
{
	const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < n)
		index[i] = (unsigned)i;
}

/* counts[digit][block] */
__global__ void
count_digits(const unsigned *key, size_t n, unsigned shift, unsigned *counts)
{
	__shared__ unsigned c[DIGITS];
	const size_t from = (size_t)blockIdx.x * CHUNK;

	c[threadIdx.x] = 0;
	__syncthreads();
	for (size_t i = from + threadIdx.x; i < from + CHUNK && i < n; i += THREADS)
		atomicAdd(&c[key[i] >> shift & (DIGITS - 1)], 1u);
	__syncthreads();
	counts[(size_t)threadIdx.x * gridDim.x + blockIdx.x] = c[threadIdx.x];
}

/* The lanes that have the same digit; those beyond the end have 256. */
__device__ unsigned
same_digit(unsigned digit)
{
	unsigned same = ~0u;

	for (unsigned b = 0; b <= BITS; b++) {
		const unsigned ones = __ballot_sync(~0u, digit >> b & 1);
		same &= digit >> b & 1 ? ones : ~ones;
	}
	return same;
}

/* Where each warp's keys of each digit go. */
__device__ void
place_warps(unsigned next[WARPS][DIGITS], unsigned digit, unsigned at)
{
	for (unsigned w = 0; w < WARPS; w++) {
		const unsigned c = next[w][digit];
		next[w][digit] = at;
		at += c;
	}
}

__global__ void
move_keys(const unsigned *key, const unsigned *index, size_t n, unsigned shift,
	  const unsigned *counts, unsigned *key_to, unsigned *index_to)
{
	__shared__ unsigned next[WARPS][DIGITS];
	const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, share = CHUNK / WARPS;
	const size_t block = blockIdx.x, from = block * CHUNK + warp * share;
	const unsigned first = counts[t * (size_t)gridDim.x + block];

	for (unsigned w = 0; w < WARPS; w++)
		next[w][t] = 0;
	__syncthreads();
	for (unsigned i = lane; i < share && from + i < n; i += 32)
		atomicAdd(&next[warp][key[from + i] >> shift & (DIGITS - 1)], 1u);
	__syncthreads();
	place_warps(next, t, first);
	__syncthreads();
	for (unsigned i = lane; i < share; i += 32) {
		const bool here = from + i < n;
		const unsigned k = here ? key[from + i] : 0;
		const unsigned digit = here ? k >> shift & (DIGITS - 1) : DIGITS;
		const unsigned same = same_digit(digit), before = same & ((1u << lane) - 1);
		unsigned to = 0;
		if (here)
			to = next[warp][digit] + (unsigned)__popc(before);
		__syncwarp();
		if (here && !before)
			next[warp][digit] += (unsigned)__popc(same);
		__syncwarp();
		if (here) {
			key_to[to] = k;
			index_to[to] = index[from + i];
		}
	}
}

size_t
blocks_of(size_t n, size_t each)
{
	return (n + each - 1) / each;
}

size_t
counts_of(size_t n)
{
	return blocks_of(n, CHUNK) * DIGITS;
}

} // namespace

size_t
gpu_scan_room(size_t n)
{
	const size_t blocks = blocks_of(n, SCANNED);

	return blocks > 1 ? blocks + gpu_scan_room(blocks) : 1;
}

size_t
gpu_sort_room(size_t n)
{
	return 2 * n + counts_of(n) + gpu_scan_room(counts_of(n));
}

int
gpu_scan(struct gpu *g, unsigned *v, size_t n, unsigned *work)
{
	const unsigned blocks = (unsigned)blocks_of(n, SCANNED);
	int err;

	if (!n)
		return 0;
	GPU_LAUNCH(g, scan_blocks, blocks, THREADS, 0, v, n, work);
	if (blocks == 1)
		return 0;
	if ((err = gpu_scan(g, work, blocks, work + blocks)))
		return err;
	GPU_LAUNCH(g, add_totals, blocks, THREADS, 0, v, n, work);
	return 0;
}

int
gpu_sort(struct gpu *g, unsigned *key, unsigned *index, size_t n, unsigned limit, unsigned *work)
{
	const unsigned blocks = (unsigned)blocks_of(n, CHUNK);
	unsigned *k[2] = {key, work}, *at[2] = {index, work + n};
	unsigned *counts = work + 2 * n, *rest = counts + counts_of(n), now = 0;
	int err;

	if (!n)
		return 0;
	GPU_LAUNCH(g, number, (unsigned)blocks_of(n, THREADS), THREADS, 0, index, n);
	for (unsigned s = 0; s < 32 && (limit - 1) >> s; s += BITS, now ^= 1) {
		GPU_LAUNCH(g, count_digits, blocks, THREADS, 0, k[now], n, s, counts);
		if ((err = gpu_scan(g, counts, counts_of(n), rest)))
			return err;
		GPU_LAUNCH(g, move_keys, blocks, THREADS, 0, k[now], at[now], n, s, counts,
			   k[now ^ 1], at[now ^ 1]);
	}
	if (now) {
		GPU_TRY(g, cudaMemcpyAsync(key, k[1], n * sizeof *key, cudaMemcpyDeviceToDevice,
					   g->stream[0]));
		GPU_TRY(g, cudaMemcpyAsync(index, at[1], n * sizeof *index,
					   cudaMemcpyDeviceToDevice, g->stream[0]));
	}
	return 0;
}
