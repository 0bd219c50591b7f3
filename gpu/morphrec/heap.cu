/*
 * Reconstruction by a cluster of parallel heaps (He, Wu, Di and Chen): a heap per block, independent of all others.
 *
 *	scan	thread = word: lists the pixels that can still spread, the seeds
 *	spread	block = heap, thread = a pixel of its root; the heaps share the seeds out evenly
 *
 * A heap is a complete binary tree of nodes, a node NODE pixels in descending order, and no pixel of a node is below one of its
 * children's. Both operations go from the root down; a step is a bitonic merge of two nodes in shared memory (8 KB),
 * 9 exchanges a thread:
 *
 *	insert	NODE pixels meet the nodes on the path to the first free place: the higher half stays in each, the lower goes on
 *	delete	the last node X takes the root's place; its children's pixels are merged: the lower half L goes to the child
 *		whose lowest was the lower and is in order there, the higher half meets X: the higher half of both stays,
 *		the lower goes to the other child, where the same is done
 *
 * The pixels of a root spread at once, by atomic maxima, though one may raise another, or another heap have raised both: what
 * was spread too low is spread again, and an entry whose pixel has risen since is passed over, as who raised it has one
 * of its own. Where there is no place for a pixel it is dropped, and then all is scanned again; so memory bounds no
 * picture. Unlike He et al. the levels of a heap are not pipelined: a merge keeps all threads of its block busy.
 *
 * Bound: per pixel spread 32 bytes in and out of each level of the heap, twice, and a 32-byte sector of marker and of mask
 * for each row of neighbours; the scan reads marker and mask once.
 *
 * The children of node i are 2i + 1 and 2i + 2. Each pixel of a node has a thread.
 */
#include "gpu/morphrec/field.h"

namespace
{

constexpr unsigned NODE = 256;

/* at: the place of the key in the field, counted in keys. Both are moved at once. */
struct alignas(16) pixel {
	u64 key, at;
};

/* --- sorted nodes -------------------------------------------------------------------------------------------------- */

/* Puts the higher of two pixels first, or last. */
__device__ void
order_pair(pixel *first, pixel *last, bool down)
{
	const pixel a = *first, b = *last;

	if ((a.key < b.key) == down) {
		*first = b;
		*last = a;
	}
}

/* Sorts s[0..n), which is bitonic, into descending order. n <= 2 NODE. */
__device__ void
order_bitonic(pixel *s, unsigned n)
{
	for (unsigned half = n / 2; half; half /= 2) {
		__syncthreads();
		const unsigned t = threadIdx.x, i = 2 * t - (t & (half - 1));
		if (t < n / 2)
			order_pair(s + i, s + i + half, true);
	}
	__syncthreads();
}

/* Sorts s[0..NODE) into descending order: sorted runs, every other one reversed, are merged in pairs. */
__device__ void
sort_node(pixel *s)
{
	for (unsigned run = 2; run <= NODE; run *= 2)
		for (unsigned half = run / 2; half; half /= 2) {
			__syncthreads();
			const unsigned t = threadIdx.x, i = 2 * t - (t & (half - 1));
			const bool down = !(i & run) || run == NODE;
			if (t < NODE / 2)
				order_pair(s + i, s + i + half, down);
		}
	__syncthreads();
}

/* Merges s[0..NODE) and s[NODE..2 NODE), each descending: the first then holds the higher half, the second the lower. */
__device__ void
merge_nodes(pixel *s)
{
	const unsigned t = threadIdx.x;

	__syncthreads();
	const pixel p = s[2 * NODE - 1 - t];
	__syncthreads();
	s[NODE + t] = p;
	order_bitonic(s, 2 * NODE);
}

/* --- the heap; s: room for two nodes, s[t] is this thread's ---------------------------------------------------------- */

struct heap {
	pixel (*node)[NODE];
	unsigned n, cap;
};

/* Inserts the NODE descending pixels in s[0..NODE). Returns false when the heap is full. */
__device__ bool
insert(heap &h, pixel *s)
{
	const unsigned t = threadIdx.x, place = h.n + 1;

	if (h.n == h.cap)
		return false;
	for (int level = 31 - __clz((int)place); level > 0; level--) {
		pixel *node = h.node[(place >> level) - 1];
		s[NODE + t] = node[t];
		merge_nodes(s);
		node[t] = s[t];
		s[t] = s[NODE + t]; /* the lower half goes on */
	}
	__syncthreads();
	h.node[h.n][t] = s[t];
	h.n++;
	__syncthreads();
	return true;
}

/*
 * Shares out the pixels in s[0..NODE) and those of both children of node i, which must exist. Returns the child to go on
 * with; s[0..NODE) then holds the pixels for it.
 */
__device__ unsigned
share_out(heap &h, pixel *s, unsigned i)
{
	const unsigned t = threadIdx.x, a = 2 * i + 1, b = a + 1;
	const bool a_lower = h.node[a][NODE - 1].key <= h.node[b][NODE - 1].key;
	const unsigned low = a_lower ? a : b, high = a_lower ? b : a;
	const pixel x = s[t];

	__syncthreads();
	s[t] = h.node[a][t];
	s[NODE + t] = h.node[b][t];
	merge_nodes(s);
	h.node[low][t] = s[NODE + t];
	s[NODE + t] = s[t];
	__syncthreads();
	s[t] = x;
	merge_nodes(s);
	h.node[i][t] = s[t];
	s[t] = s[NODE + t];
	__syncthreads();
	return high;
}

/* Removes the highest NODE pixels. Each thread gets one of them. */
__device__ pixel
delete_root(heap &h, pixel *s)
{
	const unsigned t = threadIdx.x;
	const pixel root = h.node[0][t];
	unsigned i = 0;

	h.n--;
	if (!h.n)
		return root;
	s[t] = h.node[h.n][t];
	__syncthreads();
	while (2 * i + 2 < h.n)
		i = share_out(h, s, i);
	if (2 * i + 1 < h.n) {
		s[NODE + t] = h.node[2 * i + 1][t];
		merge_nodes(s);
		h.node[2 * i + 1][t] = s[NODE + t];
	}
	h.node[i][t] = s[t];
	__syncthreads();
	return root;
}

struct totals {
	u64 seeds; /* found, listed or not */
	u64 spread, raised;
	unsigned dropped;
};

struct cluster {
	totals *t;
	pixel *seed;  /* [seeds] */
	pixel *node;  /* [heaps][nodes][NODE] */
	pixel *fresh; /* [heaps][NODE * (NEIGHBOURS + 1)]: raised, not yet inserted */
	size_t seeds, nodes;
	unsigned heaps;
	size_t step[NEIGHBOURS]; /* from a key to its neighbours */
	unsigned neighbours;
	size_t keys; /* of the field */
};

/* --- keys in words ------------------------------------------------------------------------------------------------- */

template <unsigned bits>
__device__ u64
mask_at(const field &f, size_t at)
{
	typedef keys<bits> k;

	return k::key(static_cast<const typename k::word *>(f.I)[at / k::per], at % k::per);
}

template <unsigned bits>
__device__ u64
marker_at(const field &f, size_t at)
{
	typedef keys<bits> k;

	return k::key(__ldcg(static_cast<const typename k::word *>(f.J) + at / k::per),
		      at % k::per);
}

/* The marker becomes v where it is lower; whether it was. */
template <unsigned bits>
__device__ bool
raise(const field &f, size_t at, u64 v)
{
	typedef keys<bits> k;
	typedef typename k::word word;
	word *const p = static_cast<word *>(f.J) + at / k::per;
	const unsigned b = at % k::per, shift = b * bits % 64;
	word old = __ldcg(p);

	for (;;) {
		const word key = k::key(old, b), fresh = old ^ ((key ^ (word)v) << shift);
		if (key >= v)
			return false;
		const word was = atomicCAS(p, old, fresh);
		if (was == old)
			return true;
		old = was;
	}
}

/* --- the kernels --------------------------------------------------------------------------------------------------- */

/* Whether the key at `at` is above a neighbour's that its mask lets rise. */
template <unsigned bits>
__device__ bool
spreads(const field &f, const cluster &c, size_t at, u64 key)
{
	for (unsigned n = 0; key && n < c.neighbours; n++) {
		const size_t q = at + c.step[n];
		if (q < c.keys && min(key, mask_at<bits>(f, q)) > marker_at<bits>(f, q))
			return true;
	}
	return false;
}

/* Lists the pixels that spread. The seeds of a warp take their places by one addition. */
template <unsigned bits>
__global__ void
scan(const field f, const cluster c)
{
	typedef keys<bits> k;
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x,
		     row = (size_t)f.tx * TILE_WORDS;
	const size_t rows = f.slice - 1, y = i / row;
	const size_t word = (y / rows * f.slice + y % rows + 1) * f.pitch + PAD + i % row;
	const bool inside = y < rows * f.d;
	const unsigned lane = threadIdx.x % 32;

	for (unsigned b = 0; b < k::per; b++) {
		const size_t at = word * k::per + b;
		const u64 key = inside ? marker_at<bits>(f, at) : 0;
		const bool is_seed = spreads<bits>(f, c, at, key);
		const unsigned all = __ballot_sync(~0u, is_seed);
		u64 place = 0;
		if (lane == 0 && all)
			place = atomicAdd(&c.t->seeds, (u64)__popc(all));
		place = __shfl_sync(~0u, place, 0) + (u64)__popc(all & ((1u << lane) - 1));
		if (is_seed && place < c.seeds)
			c.seed[place] = {key, at};
	}
}

/* A pixel of the root raises its neighbours; those it raised go to fresh. */
template <unsigned bits>
__device__ void
spread_pixel(const field &f, const cluster &c, const pixel &p, pixel *fresh, unsigned *nfresh)
{
	if (!p.key || marker_at<bits>(f, p.at) > p.key)
		return;
	for (unsigned n = 0; n < c.neighbours; n++) {
		const size_t q = p.at + c.step[n];
		if (q >= c.keys)
			continue;
		const u64 v = min(p.key, mask_at<bits>(f, q));
		if (v > marker_at<bits>(f, q) && raise<bits>(f, q, v))
			fresh[atomicAdd(nfresh, 1u)] = {v, q};
	}
}

/* The last pixels of fresh, up to NODE of them, as a node in s[0..NODE); empty places have key 0. */
__device__ void
gather(pixel *s, const pixel *fresh, unsigned *nfresh)
{
	const unsigned t = threadIdx.x, n = *nfresh, take = min(n, NODE);
	const pixel none = {0, 0};

	s[t] = t < take ? fresh[n - take + t] : none;
	__syncthreads();
	if (t == 0)
		*nfresh = n - take;
	sort_node(s);
}

template <unsigned bits>
__global__ void
__launch_bounds__(NODE) spread(const field f, const cluster c)
{
	__shared__ pixel s[2 * NODE];
	__shared__ unsigned nfresh;
	const unsigned t = threadIdx.x, b = blockIdx.x;
	const size_t seeds = min((size_t)c.t->seeds, c.seeds);
	pixel *fresh = c.fresh + (size_t)b * NODE * (NEIGHBOURS + 1);
	heap h = {reinterpret_cast<pixel(*)[NODE]>(c.node + (size_t)b * c.nodes * NODE), 0,
		  (unsigned)c.nodes};
	size_t next = seeds * b / c.heaps, end = seeds * (b + 1) / c.heaps;
	u64 steps = 0, raised = 0;

	if (t == 0)
		nfresh = 0;
	for (;;) {
		const bool seeding = next < end;
		__syncthreads(); /* all have seen nfresh */
		if (seeding) {
			fresh[t] = next + t < end ? c.seed[next + t] : pixel{0, 0};
			next += NODE;
			if (t == 0)
				nfresh = NODE;
			__syncthreads();
		}
		while (nfresh >= NODE || (nfresh && !h.n)) {
			gather(s, fresh, &nfresh);
			if (!insert(h, s) && t == 0)
				c.t->dropped = 1;
		}
		if (seeding)
			continue;
		if (!h.n)
			break;
		const pixel p = delete_root(h, s);
		const unsigned before = nfresh;
		__syncthreads();
		spread_pixel<bits>(f, c, p, fresh, &nfresh);
		__syncthreads();
		steps++;
		raised += nfresh - before;
	}
	if (t == 0) {
		atomicAdd(&c.t->spread, steps);
		atomicAdd(&c.t->raised, raised);
	}
}

/* --- the host ------------------------------------------------------------------------------------------------------ */

/* The sizes: about a place for every second key. */
void
cluster_shape(const field *f, unsigned most, cluster *c)
{
	const unsigned per = f->bits == 64 ? 1 : 32 / f->bits;
	neighbour near[NEIGHBOURS];

	*c = {};
	c->keys = field_words(*f) * per;
	const size_t want = c->keys / 4 / NODE + 1;
	c->heaps = (unsigned)(want < most ? want : most);
	c->nodes = want / c->heaps + 8;
	c->seeds = c->keys / 4 + NODE;
	c->neighbours = (unsigned)neighbours_list(f->conn, f->pitch * per, f->slice, near);
	for (unsigned i = 0; i < c->neighbours; i++)
		c->step[i] = (size_t)near[i].at;
}

size_t
cluster_bytes(const cluster *c)
{
	return sizeof(totals) +
	       (c->seeds + c->heaps * (c->nodes + NEIGHBOURS + 1) * NODE) * sizeof(pixel);
}

constexpr unsigned HEAPS = 1024; /* as many as morphrec_heaps_bytes() reckons with */

template <unsigned bits>
int
pass(struct gpu *g, const field *f, const cluster &c)
{
	const size_t words = (size_t)f->tx * TILE_WORDS * (f->slice - 1) * f->d;

	GPU_LAUNCH(g, scan<bits>, (unsigned)((words + 255) / 256), 256, 0, *f, c);
	GPU_LAUNCH(g, spread<bits>, c.heaps, NODE, 0, *f, c);
	return 0;
}

/* Scans and spreads until a pass has dropped nothing. */
template <unsigned bits>
int
run(struct gpu *g, const field *f, const cluster &c, field_figures *figures)
{
	totals t;
	int err;

	do {
		GPU_TRY(g, cudaMemsetAsync(c.t, 0, sizeof t, g->stream[0]));
		if ((err = gpu_begin(g)) || (err = pass<bits>(g, f, c)) || (err = gpu_end(g)) ||
		    (err = gpu_look(g, &t, c.t, sizeof t)))
			return err;
		figures->tiles += t.seeds;
		figures->visits += t.spread;
		figures->changed += t.raised;
	} while (t.dropped || t.seeds > c.seeds);
	return 0;
}

} // namespace

size_t
morphrec_heaps_bytes(const field *f)
{
	cluster c;

	cluster_shape(f, HEAPS, &c);
	return cluster_bytes(&c);
}

int
morphrec_heaps(struct gpu *g, const field *f, field_figures *figures)
{
	const unsigned most = 4 * (unsigned)g->prop.multiProcessorCount;
	cluster c;
	void *at;
	int err;

	cluster_shape(f, most < HEAPS ? most : HEAPS, &c);
	if ((err = gpu_hold(g, HOLD_QUEUE, cluster_bytes(&c), &at)))
		return err;
	c.t = static_cast<totals *>(at);
	c.seed = reinterpret_cast<pixel *>(c.t + 1);
	c.node = c.seed + c.seeds;
	c.fresh = c.node + c.heaps * c.nodes * NODE;
	*figures = {};
	return BY_BITS(f, run, g, f, c, figures);
}
