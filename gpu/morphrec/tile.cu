/*
 * Reconstruction by tiles: a persistent grid, blocks that take tiles from 16 rings by priority.
 *
 *	block	a tile of 32 words x 128 rows (128 x 128 pixels of 8 bits); it visits tile after tile
 *	warp	all columns, down or up: lane = word, so that a step is some instructions on packed keys and, with diagonals,
 *		two shuffles; the other warps wait, and the other blocks of the SM go on
 *	thread	two rows of short keys, or a longer one, and a direction: horizontal sweeps, along rows padded to 35 words, so that
 *		32 rows lie in 32 banks
 *	shared	marker and mask of the tile with a rim of one pixel: 36 KB
 *
 * A visit takes in what the rim raises, then sweeps down and up at once, then right and left at once, until nothing changes.
 * Sweeps go through the whole tile; two that meet do so between two turns. A batch of 8 rows where nothing has risen
 * since is passed over, so a tile that has been visited before costs what its rim raises.
 * Instructions of the integer units have half the rate of others. So a key of 8 bits lies in the high byte of 16 with anything
 * below, which spares taking words apart, and the ends of rows need no instruction of their own.
 * The rim holds what the neighbours had when the visit began.
 * Afterwards the block computes what each neighbour is OWED: the largest min(own border, its mask) above its marker. A
 * neighbour owed nothing is left alone, another one is queued in the ring of the level it is owed, and blocks take from
 * the highest ring that holds a tile: He et al.'s queue by priority, a tile at a time.
 *
 * A tile is idle, queued, running, or running and owed more: then it is queued again when its visit ends. So no two blocks hold
 * a tile at a time, each raises its own keys only, and whatever the schedule is the fixpoint is the same. A block that
 * reads old keys of a neighbour owes too much, never too little: the neighbour, when done, compares with what it sees
 * after it has written. The grid ends when no tile is queued or running.
 *
 * Bound: marker and mask are read once and the marker written once, 3 bytes a pixel of 8 bits, times the visits a tile gets
 * (the CPU's engine, on the same tiles of 62 x 62: 2.0-2.5 for h-domes, 3-4 for holes); the rim adds half of that for
 * the 32-byte sectors it touches.
 *
 * The queue is 16 rings of tiles, and a tile is in one of them at most. Atomics order no other access to memory, so there are fences:
 *
 *	owe, finish	before the first atomic: whoever takes the tile sees what this block has written. A barrier comes first, since a
 *			fence holds for what its own thread knows of
 *	push		between the state and the slot: the next block sees what those wrote whose state was found
 *	pop		after the state is RUNNING. If owe() found QUEUED before, nobody else tells of it: then the two fences are in one
 *			order, and this block sees what that one wrote
 */
#include "gpu/morphrec/field.h"

#include "gpu/morphrec/sweep.h"

namespace
{

constexpr unsigned RINGS = 16, NONE = ~0u;
/* Beside the number of a tile in a ring: no block has visited it yet. */
constexpr unsigned UNSWEPT = 1u << 31;
enum { IDLE, QUEUED, RUNNING, OWED };

/* Blocks that work on different rings do not share a cache line. */
struct alignas(128) counters {
	unsigned head, tail;
};

/*
 * What a block that looks for a tile reads at once. A tile in a ring is there for one claim; count: those not claimed yet, less
 * the claims that have found none and have not been taken back yet.
 */
struct alignas(128) board {
	int count[RINGS];
	unsigned pending; /* tiles that are not idle */
};

struct rings {
	board seen;
	counters ring[RINGS];
	unsigned visits, changed;
};

struct queue {
	rings *r;
	unsigned *slot;	 /* [RINGS][cap]: tile + 1, or 0 */
	unsigned *state; /* [tiles] */
	unsigned *level; /* [tiles]: the highest ring for which it is owed something */
	unsigned cap;	 /* a power of 2, >= tiles */
};

/* Puts a tile into a ring. The slot may still hold a tile that a slower block has won but not taken out yet; then it waits. */
__device__ void
push(const queue &q, unsigned id, unsigned ring)
{
	const unsigned at = atomicAdd(&q.r->ring[ring].tail, 1u) & (q.cap - 1);

	__threadfence();
	while (atomicCAS(&q.slot[(size_t)ring * q.cap + at], 0u, id + 1) != 0)
		__nanosleep(20);
	atomicAdd(&q.r->seen.count[ring], 1);
}

/*
 * Returns the first tile of a ring, or NONE when other blocks have claimed all. No block waits for another that has not
 * been served: a loop of atomicCAS would serve one block per round trip to memory.
 */
__device__ unsigned
pop_ring(const queue &q, unsigned at)
{
	unsigned id;

	if (atomicSub(&q.r->seen.count[at], 1) <= 0) {
		atomicAdd(&q.r->seen.count[at], 1);
		return NONE;
	}
	const unsigned head = atomicAdd(&q.r->ring[at].head, 1u);
	unsigned *slot = &q.slot[(size_t)at * q.cap + (head & (q.cap - 1))];
	while (!(id = atomicExch(slot, 0u)))
		__nanosleep(20);
	return id - 1;
}

/* A tile and the ring that it was in; NONE: all tiles are idle. */
struct popped {
	unsigned id, ring;
	bool unswept;
};

/*
 * Takes the next tile, which is running from now on. By a whole warp: a lane looks at a ring, so that the highest ring with a
 * tile is known after one access to memory.
 */
__device__ popped
pop(const queue &q)
{
	const unsigned lane = threadIdx.x % 32;
	const int *const look =
	    lane < RINGS ? &q.r->seen.count[lane] : reinterpret_cast<int *>(&q.r->seen.pending);

	for (;;) {
		const bool holds = __ldcg(look) > 0;
		const unsigned seen = __ballot_sync(~0u, holds), found = seen & ((1u << RINGS) - 1);
		const unsigned highest = found ? 31 - (unsigned)__clz((int)found) : 0;
		unsigned id = NONE;
		if (lane == 0 && found)
			id = pop_ring(q, highest);
		id = __shfl_sync(~0u, id, 0);
		if (id != NONE) {
			const bool unswept = id & UNSWEPT;
			id &= ~UNSWEPT;
			if (lane == 0)
				atomicExch(&q.state[id], (unsigned)RUNNING);
			__threadfence();
			return {id, highest, unswept};
		}
		if (!seen)
			return {NONE, 0, false};
		__nanosleep(200);
	}
}

/* Notes that tile `id` has something to do in that ring. Only running tiles call this, so pending is not 0. */
__device__ void
owe(const queue &q, unsigned id, unsigned ring)
{
	__threadfence();
	atomicMax(&q.level[id], ring);
	for (;;) {
		const unsigned was = atomicCAS(&q.state[id], (unsigned)IDLE, (unsigned)QUEUED);
		if (was == IDLE) {
			atomicAdd(&q.r->seen.pending, 1u);
			push(q, id, atomicExch(&q.level[id], 0u));
		}
		if (was != RUNNING ||
		    atomicCAS(&q.state[id], (unsigned)RUNNING, (unsigned)OWED) == RUNNING)
			return;
	}
}

/* Ends the visit of a tile. */
__device__ void
finish(const queue &q, unsigned id)
{
	__threadfence();
	if (atomicCAS(&q.state[id], (unsigned)RUNNING, (unsigned)IDLE) == RUNNING) {
		atomicSub(&q.r->seen.pending, 1u);
		return;
	}
	atomicExch(&q.state[id], (unsigned)QUEUED);
	push(q, id, atomicExch(&q.level[id], 0u));
}

__device__ unsigned
ring_of(const field &f, u64 key)
{
	const u64 step = (f.hi - f.lo) / RINGS + 1;

	return key <= f.lo ? 0 : (unsigned)min((key - f.lo) / step, (u64)RINGS - 1);
}

/* --- what neighbours are owed -------------------------------------------------------------------------------------- */

/* The largest key that word `at` of row r would become from source; 0: none would rise. */
template <unsigned bits>
__device__ u64
wanted(const tile<bits> &s, typename keys<bits>::word source, unsigned r, unsigned at)
{
	typedef keys<bits> k;
	const typename k::word have = s.J[r][at], want = k::smaller(s.I[r][at], source);
	u64 most = 0;

	if (k::larger(want, have) != have)
		for (unsigned b = 0; b < k::per; b++)
			if (k::key(want, b) > k::key(have, b))
				most = max(most, (u64)k::key(want, b));
	return most;
}

/* The neighbour is owed a visit for the key `want`, unless that is 0. Lanes that say so together take turns. */
template <unsigned bits>
__device__ void
owe(tile<bits> &s, const field &f, unsigned neighbour, u64 want)
{
	if (want)
		atomicMax(&s.owed[neighbour], 1 + ring_of(f, want));
}

/* The same, if want is above have. */
template <unsigned bits>
__device__ void
note(tile<bits> &s, const field &f, unsigned neighbour, u64 want, u64 have)
{
	owe(s, f, neighbour, want > have ? want : 0);
}

/* The row beyond row r, which is row `to`. */
template <unsigned bits>
__device__ void
note_row(tile<bits> &s, const field &f, unsigned neighbour, unsigned r, unsigned to, bool diagonals)
{
	const unsigned at = threadIdx.x % 32 + 1;
	typedef held<bits> h;
	h c = h::open(s.J[r][at]);

	if (diagonals)
		c = c.between(h::open(s.J[r][at - 1]), h::open(s.J[r][at + 1]));
	owe(s, f, neighbour, wanted(s, c.close(), to, at));
}

/* Key b of word `to` of row r, beyond key e of word `at`. */
template <unsigned bits>
__device__ void
note_side(tile<bits> &s, const field &f, unsigned neighbour, unsigned r, unsigned at, unsigned e,
	  unsigned to, unsigned b, bool diagonals)
{
	typedef keys<bits> k;
	typename k::word c = k::key(s.J[r][at], e);

	if (diagonals)
		c = max(c, max(k::key(s.J[r - 1][at], e), k::key(s.J[r + 1][at], e)));
	note<bits>(s, f, neighbour, min(c, k::key(s.I[r][to], b)), k::key(s.J[r][to], b));
}

/* s.owed: above, below, left, right, then the corners. */
template <unsigned bits>
__device__ void
note_owed(tile<bits> &s, const field &f, bool diagonals)
{
	constexpr unsigned H = tile<bits>::H, last = keys<bits>::per - 1;
	const unsigned t = threadIdx.x;

	if (t < 32)
		note_row<bits>(s, f, 0, 1, 0, diagonals);
	else if (t < 64)
		note_row<bits>(s, f, 1, H, H + 1, diagonals);
	for (unsigned n = t; n < 2 * H; n += blockDim.x)
		if (n < H)
			note_side<bits>(s, f, 2, n + 1, 1, 0, 0, last, diagonals);
		else
			note_side<bits>(s, f, 3, n - H + 1, TILE_WORDS, last, TILE_WORDS + 1, 0,
					diagonals);
	if (diagonals && t < 4) {
		const unsigned r = t & 2 ? H : 1, to = t & 2 ? H + 1 : 0;
		const unsigned at = t & 1 ? TILE_WORDS : 1, e = t & 1 ? last : 0;
		const unsigned beyond = t & 1 ? TILE_WORDS + 1 : 0, b = t & 1 ? 0 : last;
		const u64 c = keys<bits>::key(s.J[r][at], e),
			  i = keys<bits>::key(s.I[to][beyond], b);
		note<bits>(s, f, SIDES + t, min(c, i), keys<bits>::key(s.J[to][beyond], b));
	}
}

template <unsigned bits>
__device__ void
owe_neighbours(const tile<bits> &s, const field &f, const queue &q, const place &p)
{
	const unsigned t = threadIdx.x;

	if (t >= NEIGHBOURS || !s.owed[t])
		return;
	/* The order of s.owed. Tables of these would lie in memory. */
	const int dx = t < 2 ? 0 : t & 1 ? 1 : -1;
	const int dy = t < 2 ? (t ? 1 : -1) : t < SIDES ? 0 : t & 2 ? 1 : -1;
	const place to = {p.x + (unsigned)dx, p.y + (unsigned)dy, p.z};
	if (to.x < f.tx && to.y < f.ty)
		owe(q, id_of(f, to), s.owed[t] - 1);
}

/* After a change: the tiles of the slices before and behind that touch this one, all of them, in the ring it ran in. */
template <unsigned bits>
__device__ void
owe_slices(const tile<bits> &s, const field &f, const queue &q, const place &p)
{
	const unsigned t = threadIdx.x % 9, dz = threadIdx.x / 9;
	const int dy = (int)(t / 3) - 1, dx = (int)(t % 3) - 1;
	const place to = {p.x + (unsigned)dx, p.y + (unsigned)dy, p.z + 2 * dz - 1};

	if (dz > 1 || (f.conn == 6 && (dx || dy)) || (f.conn == 18 && dx && dy))
		return;
	if (to.x < f.tx && to.y < f.ty && to.z < f.d)
		owe(q, id_of(f, to), s.ring);
}

/* --- the kernels --------------------------------------------------------------------------------------------------- */

template <unsigned bits>
__device__ held<bits>
above_and_below(const tile<bits> &s, unsigned r, unsigned at)
{
	return held<bits>::open(s.J[r - 1][at]).larger(held<bits>::open(s.J[r + 1][at]));
}

/* Queues every tile in which one step raises a key: block = tile. */
template <unsigned bits>
__global__ void
seed(const field f, const queue q)
{
	typedef keys<bits> k;
	typedef held<bits> h;
	__shared__ tile<bits> s;
	const unsigned at = threadIdx.x % 32 + 1;
	const place p = place_of(f, blockIdx.x);
	const bool diagonals = f.conn != 4 && f.conn != 6;
	u64 most = 0;

	load<bits>(s, f, p);
	__syncthreads();
	for (unsigned r = threadIdx.x / 32 + 1; r <= tile<bits>::H; r += blockDim.x / 32) {
		const h column = above_and_below<bits>(s, r, at);
		h all = h::open(s.J[r][at]), l = h::open(s.J[r][at - 1]),
		  right = h::open(s.J[r][at + 1]);
		if (diagonals) {
			all = all.larger(column);
			l = l.larger(above_and_below<bits>(s, r, at - 1));
			right = right.larger(above_and_below<bits>(s, r, at + 1));
		}
		typename k::word c = all.between(l, right).larger(column).close();
		if (morphrec_is_volume(f.conn))
			c = k::larger(c, from_slices<bits>(f, p, r));
		most = max(most, wanted(s, c, r, at));
	}
	owe(s, f, NEIGHBOURS, most);
	__syncthreads();
	if (threadIdx.x == 0 && s.owed[NEIGHBOURS]) {
		q.state[blockIdx.x] = QUEUED;
		atomicAdd(&q.r->seen.pending, 1u);
		push(q, blockIdx.x | UNSWEPT, s.owed[NEIGHBOURS] - 1);
	}
}

/* Raises the tile to its fixpoint; whether that changed it. */
template <unsigned bits>
__device__ bool
settle(tile<bits> &s, const field &f, const place &p)
{
	const bool diagonals = f.conn != 4 && f.conn != 6;
	bool any = false;
	unsigned rows, columns, again;

	if (morphrec_is_volume(f.conn)) {
		any = raise_from_slices<bits>(s, f, p);
		__syncthreads();
	}
	any |= enter_sides<bits>(s, diagonals);
	__syncthreads();
	rows = s.rose;
	do {
		columns = sweep_columns<bits>(s, diagonals);
		sweep_all_rows<bits>(s, rows | columns);
		__syncthreads();
		again = s.rose | (diagonals ? s.by_columns[1][0] | s.by_columns[1][1] : 0);
		any |= (columns | s.rose) != 0;
		rows = 0;
	} while (again);
	return __syncthreads_or(any) != 0;
}

/* Visits tiles until all are idle. */
template <unsigned bits>
__global__ void
__launch_bounds__(tile<bits>::THREADS, tile<bits>::BLOCKS) visit(const field f, const queue q)
{
	__shared__ tile<bits> s;
	const unsigned t = threadIdx.x;

	for (;;) {
		if (t < 32) {
			const popped next = pop(q);
			if (t == 0) {
				s.id = next.id;
				s.ring = next.ring;
				/* What a visit has left as it is has not risen, but the rim may have. */
				s.rose = next.unswept ? ~0u : 1u | 2u << tile<bits>::BATCHES;
				s.by_columns[1][0] = s.by_columns[1][1] = 0;
			}
		}
		__syncthreads();
		if (s.id == NONE)
			return;
		const place p = place_of(f, s.id);
		load<bits>(s, f, p);
		__syncthreads();
		const bool changed = settle<bits>(s, f, p);
		if (changed) {
			store<bits>(s, f, p);
			note_owed<bits>(s, f, f.conn != 4 && f.conn != 6);
			__syncthreads();
			owe_neighbours<bits>(s, f, q, p);
			if (morphrec_is_volume(f.conn))
				owe_slices<bits>(s, f, q, p);
			__syncthreads();
		}
		if (t == 0) {
			atomicAdd(&q.r->visits, 1u);
			atomicAdd(&q.r->changed, (unsigned)changed);
			finish(q, s.id);
		}
	}
}

size_t
tiles_of(const field *f)
{
	return (size_t)f->tx * f->ty * f->d;
}

unsigned
capacity(size_t tiles)
{
	unsigned cap = 1;

	while (cap < tiles)
		cap *= 2;
	return cap;
}

template <unsigned bits>
int
run(struct gpu *g, const field *f, const queue &q)
{
	const size_t tiles = tiles_of(f);
	int per_sm;

	GPU_TRY(g, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, visit<bits>,
								 tile<bits>::THREADS, 0));
	const size_t blocks = (size_t)per_sm * (size_t)g->prop.multiProcessorCount;
	GPU_LAUNCH(g, seed<bits>, (unsigned)tiles, tile<bits>::THREADS, 0, *f, q);
	GPU_LAUNCH(g, visit<bits>, (unsigned)(blocks < tiles ? blocks : tiles), tile<bits>::THREADS,
		   0, *f, q);
	return 0;
}

} // namespace

size_t
morphrec_tiles_bytes(const field *f)
{
	const size_t tiles = tiles_of(f);

	return sizeof(rings) + ((size_t)RINGS * capacity(tiles) + 2 * tiles) * sizeof(unsigned);
}

int
morphrec_tiles(struct gpu *g, const field *f, field_figures *figures)
{
	const size_t tiles = tiles_of(f), bytes = morphrec_tiles_bytes(f);
	queue q;
	rings r;
	void *at;

	GPU_DO(gpu_hold(g, HOLD_QUEUE, bytes, &at));
	GPU_TRY(g, cudaMemsetAsync(at, 0, bytes, g->stream[0]));
	q.r = static_cast<rings *>(at);
	q.cap = capacity(tiles);
	q.slot = reinterpret_cast<unsigned *>(q.r + 1);
	q.state = q.slot + (size_t)RINGS * q.cap;
	q.level = q.state + tiles;
	GPU_DO(gpu_begin(g));
	GPU_DO(by_bits(f, [&](auto bits) { return run<decltype(bits)::value>(g, f, q); }));
	GPU_DO(gpu_end(g));
	GPU_DO(gpu_look(g, &r, q.r, sizeof r));
	*figures = {tiles, r.visits, r.changed};
	return 0;
}
