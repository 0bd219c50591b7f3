/*
 * What several twins need: sums of all that came before, a stable sort, inner products. Orders depend on nothing but the keys, or n.
 *
 *	scan_parts	block = 1024 numbers, thread = 4 of them: sums within a warp by shuffles, of 8 warps in shared memory
 *	add_before	thread = number: what the parts before it amount to, themselves scanned in the same way
 *	count_digits	block = CHUNK keys; shared: 256 counters
 *	move_keys	block = CHUNK keys, warp = 256 of them in order, 32 at a time; shared: a counter per warp and digit. A
 *			lane's place is its digit's counter and how many lanes before it have that digit, from 9 votes
 *	dot_parts	block = one of 1024 parts, each block's width of numbers in turn; thread = every 256th of a part: its sum, then
 *			a tree in shared memory. A last block adds the parts in the same way
 *
 * Bound: a scan takes 16 bytes a number, in and out twice; a sort of 8 bits a pass reads keys twice and indices once and
 * writes both, 20 bytes a key and pass, and 2 KB a block for its counts; an
 * inner product reads both vectors once.
 */
#include "gpu/prim.h"

namespace
{

constexpr unsigned THREADS = 256, PER = 4, PART = THREADS * PER, WARPS = THREADS / 32;
constexpr unsigned CHUNK = 2048, DIGITS = 256, BITS = 8;

size_t
blocks_of(size_t n, size_t each)
{
	return (n + each - 1) / each;
}

/* --- scan ---------------------------------------------------------------------------------------------------------- */

/* The sum over the lanes up to this one. */
__device__ unsigned
sum_of_lanes(unsigned v)
{
	for (unsigned d = 1; d < 32; d *= 2) {
		const unsigned before = __shfl_up_sync(~0u, v, d);
		v += threadIdx.x % 32 >= d ? before : 0;
	}
	return v;
}

__global__ void
scan_parts(unsigned *v, size_t n, unsigned *sums)
{
	__shared__ unsigned warps[WARPS];
	const unsigned t = threadIdx.x;
	const size_t at = (size_t)blockIdx.x * PART + t * PER;
	unsigned own[PER], sum = 0;

	for (unsigned i = 0; i < PER; i++) {
		own[i] = at + i < n ? v[at + i] : 0;
		sum += own[i];
	}
	const unsigned upto = sum_of_lanes(sum);
	if (t % 32 == 31)
		warps[t / 32] = upto;
	__syncthreads();
	unsigned before = upto - sum, all = 0;
	for (unsigned w = 0; w < WARPS; w++) {
		before += w < t / 32 ? warps[w] : 0;
		all += warps[w];
	}
	if (t == 0)
		sums[blockIdx.x] = all;
	for (unsigned i = 0; i < PER; i++) {
		if (at + i < n)
			v[at + i] = before;
		before += own[i];
	}
}

__global__ void
add_before(unsigned *v, size_t n, const unsigned *sums)
{
	const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < n)
		v[i] += sums[i / PART];
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

/* --- inner products ------------------------------------------------------------------------------------------------ */

/* sums[block] = what this block's threads found; b NULL: a is added up. */
__global__ void
dot_parts(const double *a, const double *b, size_t n, double *sums)
{
	__shared__ double own[THREADS];
	const unsigned t = threadIdx.x;
	double sum = 0;

	for (size_t i = (size_t)blockIdx.x * THREADS + t; i < n; i += (size_t)gridDim.x * THREADS)
		sum += b ? a[i] * b[i] : a[i];
	own[t] = sum;
	__syncthreads();
	for (unsigned d = THREADS / 2; d > 0; d /= 2) {
		if (t < d)
			own[t] += own[t + d];
		__syncthreads();
	}
	if (t == 0)
		sums[blockIdx.x] = own[0];
}

size_t
counts_of(size_t n)
{
	return blocks_of(n, CHUNK) * DIGITS;
}

} // namespace

size_t
prim_scan_words(size_t n)
{
	size_t words = 1;

	for (n = blocks_of(n, PART); n > 1; n = blocks_of(n, PART))
		words += n;
	return words;
}

int
prim_scan(struct gpu *g, unsigned *v, size_t n, unsigned *scratch)
{
	const size_t parts = blocks_of(n, PART);
	int err;

	if (!n)
		return 0;
	GPU_LAUNCH(g, scan_parts, (unsigned)parts, THREADS, 0, v, n, scratch);
	if (parts == 1)
		return 0;
	if ((err = prim_scan(g, scratch, parts, scratch + parts)))
		return err;
	GPU_LAUNCH(g, add_before, (unsigned)blocks_of(n, THREADS), THREADS, 0, v, n, scratch);
	return 0;
}

size_t
prim_sort_words(size_t n)
{
	return 2 * n + counts_of(n) + prim_scan_words(counts_of(n));
}

int
prim_sort(struct gpu *g, unsigned *key, unsigned *index, size_t n, unsigned limit, unsigned *work)
{
	if (!n)
		return 0;
	GPU_LAUNCH(g, number, (unsigned)blocks_of(n, THREADS), THREADS, 0, index, n);
	return prim_sort_again(g, key, index, n, limit, work);
}

int
prim_sort_again(struct gpu *g, unsigned *key, unsigned *index, size_t n, unsigned limit,
		unsigned *work)
{
	const unsigned blocks = (unsigned)blocks_of(n, CHUNK);
	unsigned *k[2] = {key, work}, *at[2] = {index, work + n};
	unsigned *counts = work + 2 * n, *rest = counts + counts_of(n), now = 0;
	int err;

	if (!n)
		return 0;
	for (unsigned s = 0; s < 32 && (limit - 1) >> s; s += BITS, now ^= 1) {
		GPU_LAUNCH(g, count_digits, blocks, THREADS, 0, k[now], n, s, counts);
		if ((err = prim_scan(g, counts, counts_of(n), rest)))
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

int
prim_dot(struct gpu *g, const double *a, const double *b, size_t n, double *sum, double *scratch)
{
	const size_t wanted = blocks_of(n, THREADS), most = PRIM_DOT_PARTS;
	const unsigned parts = (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);

	GPU_LAUNCH(g, dot_parts, parts, THREADS, 0, a, b, n, scratch);
	GPU_LAUNCH(g, dot_parts, 1, THREADS, 0, scratch, static_cast<const double *>(NULL), parts,
		   sum);
	return 0;
}
