/*
 * What several twins need: sums of all that came before, a stable sort, inner products. Orders depend on the keys, or n, alone.
 *
 *	scan_parts	block = 1024 numbers, thread = 4 of them: sums within a warp by shuffles, of 8 warps in shared memory
 *	add_before	thread = number: what the parts before it amount to, themselves scanned in the same way
 *	count_digits	block = CHUNK keys; shared: 256 counters
 *	move_keys	block = CHUNK keys, warp = 256 of them in order, 32 at a time; shared: a counter per warp and digit, keys
 *			and indices in the block's order. A lane's place is its digit's counter and how many lanes before it
 *			have that digit, from 9 votes. In the block's order, neighbours are written by neighbours
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
constexpr unsigned CHUNK = 2048, EACH = CHUNK / THREADS, DIGITS = 256, BITS = 8;

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

/* The sum over the block's threads up to this one. All of them call it; sums: of each warp. */
__device__ unsigned
sum_of_block(unsigned v, unsigned sums[WARPS])
{
	const unsigned t = threadIdx.x;
	unsigned upto = sum_of_lanes(v);

	if (t % 32 == 31)
		sums[t / 32] = upto;
	__syncthreads();
	for (unsigned w = 0; w < t / 32; w++)
		upto += sums[w];
	return upto;
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
	const unsigned upto = sum_of_block(sum, warps);
	unsigned before = upto - sum;
	if (t == THREADS - 1)
		sums[blockIdx.x] = upto;
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

/*
 * Each of a warp's keys gets the number of keys of its digit that the warp has before it, and next[digit] counts all of them.
 * The lanes' keys of one i follow each other; those from `end` on are beyond the end of the keys.
 */
__device__ void
rank_keys(const unsigned key[EACH], unsigned rank[EACH], unsigned end, unsigned shift,
	  unsigned next[DIGITS])
{
	const unsigned lane = threadIdx.x % 32;

#pragma unroll
	for (unsigned i = 0; i < EACH; i++) {
		const bool here = i * 32 + lane < end;
		const unsigned digit = here ? key[i] >> shift & (DIGITS - 1) : DIGITS;
		const unsigned same = same_digit(digit), before = same & ((1u << lane) - 1);
		rank[i] = here ? next[digit] + (unsigned)__popc(before) : 0;
		__syncwarp();
		if (here && !before)
			next[digit] += (unsigned)__popc(same);
		__syncwarp();
	}
}

/* next[warp][digit] becomes the place of a warp's first key of the digit, from the block's first key on. Returns the block's. */
__device__ unsigned
place_warps(unsigned next[WARPS][DIGITS], unsigned digit, unsigned sums[WARPS])
{
	unsigned all = 0;

	for (unsigned w = 0; w < WARPS; w++)
		all += next[w][digit];
	const unsigned first = sum_of_block(all, sums) - all;
	for (unsigned w = 0, at = first; w < WARPS; w++) {
		const unsigned c = next[w][digit];
		next[w][digit] = at;
		at += c;
	}
	return first;
}

__global__ void
move_keys(const unsigned *key, const unsigned *index, size_t n, unsigned shift,
	  const unsigned *counts, unsigned *key_to, unsigned *index_to)
{
	__shared__ unsigned next[WARPS][DIGITS], sums[WARPS];
	__shared__ unsigned own_key[CHUNK], own_index[CHUNK], away[DIGITS];
	const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, share = CHUNK / WARPS;
	const size_t first = (size_t)blockIdx.x * CHUNK, from = first + warp * share;
	const unsigned here = n - first < CHUNK ? (unsigned)(n - first) : CHUNK;
	const unsigned end = here > warp * share ? here - warp * share : 0;
	unsigned k[EACH], rank[EACH];

	for (unsigned w = 0; w < WARPS; w++)
		next[w][t] = 0;
#pragma unroll
	for (unsigned i = 0; i < EACH; i++)
		k[i] = i * 32 + lane < end ? key[from + i * 32 + lane] : 0;
	__syncthreads();
	rank_keys(k, rank, end, shift, next[warp]);
	__syncthreads();
	away[t] = counts[t * (size_t)gridDim.x + blockIdx.x] - place_warps(next, t, sums);
	__syncthreads();
#pragma unroll
	for (unsigned i = 0; i < EACH; i++)
		if (i * 32 + lane < end) {
			const unsigned to = next[warp][k[i] >> shift & (DIGITS - 1)] + rank[i];
			own_key[to] = k[i];
			own_index[to] = index[from + i * 32 + lane];
		}
	__syncthreads();
	for (unsigned i = t; i < here; i += THREADS) {
		const unsigned v = own_key[i], to = i + away[v >> shift & (DIGITS - 1)];
		key_to[to] = v;
		index_to[to] = own_index[i];
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
