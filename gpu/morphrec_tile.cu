/*
 * Reconstruction by tiles: a persistent grid, blocks that take tiles from 16 rings by priority.
 *
 *	block	a tile of 32 words x 128 rows (128 x 128 pixels of 8 bits), a thread per row; it visits tile after tile
 *	warp	32 rows: vertical sweeps, lane = word, so that each step is two instructions on packed keys and, with
 *		diagonals, two shuffles
 *	thread	a row: horizontal sweeps, along rows padded to 35 words, so that 32 rows lie in 32 banks
 *	shared	marker and mask of the tile with a rim of one pixel: 36 KB
 *
 * A visit sweeps down, up, right and left until nothing changes. The rim holds what the neighbours had when the visit began.
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
 */
#include "gpu/morphrec_field.h"

namespace
{

constexpr unsigned RINGS = 16, NONE = ~0u, PITCH = TILE_WORDS + 3, FULL = ~0u;
enum { IDLE, QUEUED, RUNNING, OWED };

/* Neighbours of a tile: y, x. The first four share a side. */
constexpr unsigned SIDES = 4, NEIGHBOURS = 8;

struct rings {
	unsigned head[RINGS], tail[RINGS];
	unsigned pending; /* tiles that are not idle */
	unsigned visits, changed;
};

struct queue {
	rings *r;
	unsigned *slot;	 /* [RINGS][cap]: tile + 1, or 0 */
	unsigned *state; /* [tiles] */
	unsigned *level; /* [tiles]: the highest ring it is owed for */
	unsigned cap;	 /* a power of 2, >= tiles */
};

template <unsigned bits> struct tile {
	typedef typename keys<bits>::word word;
	static constexpr unsigned H = keys<bits>::tile_h;

	word J[H + 2][PITCH], I[H + 2][PITCH]; /* the rim: rows 0 and H+1, words 0 and 33 */
	unsigned owed[NEIGHBOURS + 1];	       /* ring + 1, or 0; [NEIGHBOURS]: the tile itself */
	unsigned id, ring;
};

/* --- rings ------------------------------------------------------------------------------------------------------- */

/* A slot may still hold the tile that a slower block has won but not yet taken out. */
__device__ void
push(const queue &q, unsigned id, unsigned ring)
{
	const unsigned at = atomicAdd(&q.r->tail[ring], 1u) & (q.cap - 1);

	while (atomicCAS(&q.slot[(size_t)ring * q.cap + at], 0u, id + 1) != 0)
		__nanosleep(20);
}

__device__ unsigned
pop_ring(const queue &q, unsigned ring)
{
	for (;;) {
		const unsigned head = __ldcg(&q.r->head[ring]), tail = __ldcg(&q.r->tail[ring]);
		unsigned id;
		if ((int)(tail - head) <= 0)
			return NONE;
		if (atomicCAS(&q.r->head[ring], head, head + 1) != head)
			continue;
		unsigned *slot = &q.slot[(size_t)ring * q.cap + (head & (q.cap - 1))];
		while (!(id = atomicExch(slot, 0u)))
			__nanosleep(20);
		return id - 1;
	}
}

/* The next tile, running from now on, or NONE: all are idle. */
__device__ unsigned
pop(const queue &q, unsigned *ring)
{
	for (;;) {
		for (unsigned k = RINGS; k--;) {
			const unsigned id = pop_ring(q, k);
			if (id == NONE)
				continue;
			*ring = k;
			atomicExch(&q.state[id], (unsigned)RUNNING);
			__threadfence();
			return id;
		}
		if (__ldcg(&q.r->pending) == 0)
			return NONE;
		__nanosleep(200);
	}
}

/* Tile id has something to do in that ring. Only tiles that run call this, so pending is not 0. */
__device__ void
owe(const queue &q, unsigned id, unsigned ring)
{
	atomicMax(&q.level[id], ring);
	for (;;) {
		const unsigned was = atomicCAS(&q.state[id], (unsigned)IDLE, (unsigned)QUEUED);
		if (was == IDLE) {
			atomicAdd(&q.r->pending, 1u);
			push(q, id, atomicExch(&q.level[id], 0u));
		}
		if (was != RUNNING ||
		    atomicCAS(&q.state[id], (unsigned)RUNNING, (unsigned)OWED) == RUNNING)
			return;
	}
}

/* The visit of a tile is over. */
__device__ void
finish(const queue &q, unsigned id)
{
	if (atomicCAS(&q.state[id], (unsigned)RUNNING, (unsigned)IDLE) == RUNNING) {
		atomicSub(&q.r->pending, 1u);
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

/* --- where a tile is --------------------------------------------------------------------------------------------- */

struct place {
	unsigned x, y;
	size_t z;
};

__device__ place
place_of(const field &f, unsigned id)
{
	return {id % f.tx, id / f.tx % f.ty, id / f.tx / f.ty};
}

__device__ unsigned
id_of(const field &f, const place &p)
{
	return (unsigned)((p.z * f.ty + p.y) * f.tx + p.x);
}

/* The word of lane 0 in row r of the tile, counted from its upper rim. */
template <unsigned bits>
__device__ size_t
word_at(const field &f, const place &p, unsigned r)
{
	return (p.z * f.slice + p.y * keys<bits>::tile_h + r) * f.pitch + PAD + p.x * TILE_WORDS;
}

template <unsigned bits>
__device__ void
load(tile<bits> &s, const field &f, const place &p)
{
	typedef typename keys<bits>::word word;
	const unsigned t = threadIdx.x, lane = t % 32, warps = blockDim.x / 32;
	const word *J = static_cast<const word *>(f.J), *I = static_cast<const word *>(f.I);

#pragma unroll 4
	for (unsigned r = t / 32; r < tile<bits>::H + 2; r += warps) {
		const size_t at = word_at<bits>(f, p, r) + lane;
		s.J[r][lane + 1] = __ldcg(J + at);
		s.I[r][lane + 1] = __ldg(I + at);
	}
	for (unsigned r = t; r < tile<bits>::H + 2; r += blockDim.x) {
		const size_t at = word_at<bits>(f, p, r);
		s.J[r][0] = __ldcg(J + at - 1);
		s.I[r][0] = __ldg(I + at - 1);
		s.J[r][TILE_WORDS + 1] = __ldcg(J + at + TILE_WORDS);
		s.I[r][TILE_WORDS + 1] = __ldg(I + at + TILE_WORDS);
	}
	if (t <= NEIGHBOURS)
		s.owed[t] = 0;
}

template <unsigned bits>
__device__ void
store(const tile<bits> &s, const field &f, const place &p)
{
	typedef typename keys<bits>::word word;
	const unsigned t = threadIdx.x, lane = t % 32, warps = blockDim.x / 32;

	for (unsigned r = t / 32 + 1; r <= tile<bits>::H; r += warps)
		__stcg(static_cast<word *>(f.J) + word_at<bits>(f, p, r) + lane, s.J[r][lane + 1]);
}

/* --- sweeps -------------------------------------------------------------------------------------------------------- */

/* Each key and its two neighbours in the row; left and right: the words beyond lanes 0 and 31. */
template <unsigned bits>
__device__ typename keys<bits>::word
widen(typename keys<bits>::word c, typename keys<bits>::word left, typename keys<bits>::word right)
{
	typedef keys<bits> k;
	const unsigned lane = threadIdx.x % 32;
	typename k::word l = __shfl_up_sync(FULL, c, 1), r = __shfl_down_sync(FULL, c, 1);

	l = lane == 0 ? left : l;
	r = lane == 31 ? right : r;
	return k::larger(c, k::larger(k::from_left(l, c), k::from_right(c, r)));
}

/* The rows first, first + step, .. of a warp, each raised by the row before it; c: the row before the first. */
template <unsigned bits>
__device__ bool
sweep_rows(tile<bits> &s, typename keys<bits>::word c, unsigned first, int step, bool diagonals)
{
	typedef keys<bits> k;
	const unsigned at = threadIdx.x % 32 + 1;
	bool changed = false;

#pragma unroll 8
	for (unsigned n = 0, r = first; n < 32; n++, r += (unsigned)step) {
		const unsigned before = r - (unsigned)step;
		const typename k::word old = s.J[r][at];
		if (diagonals)
			c = widen<bits>(c, s.J[before][0], s.J[before][TILE_WORDS + 1]);
		c = k::smaller(s.I[r][at], k::larger(old, c));
		if (c != old) {
			s.J[r][at] = c;
			changed = true;
		}
	}
	return changed;
}

/* All columns, down and up, the 32 rows of each warp by themselves. */
template <unsigned bits>
__device__ bool
sweep_columns(tile<bits> &s, bool diagonals)
{
	const unsigned top = threadIdx.x / 32 * 32 + 1, at = threadIdx.x % 32 + 1;
	const typename keys<bits>::word above = s.J[top - 1][at], below = s.J[top + 32][at];

	__syncthreads();
	const bool down = sweep_rows<bits>(s, above, top, 1, diagonals);
	return sweep_rows<bits>(s, below, top + 31, -1, diagonals) || down;
}

/* The row of this thread, to the right and back. */
template <unsigned bits>
__device__ bool
sweep_row(tile<bits> &s)
{
	typedef keys<bits> k;
	const unsigned r = threadIdx.x + 1;
	bool changed = false;

	for (int back = 0; back < 2; back++) {
		typename k::word c =
		    back ? k::key(s.J[r][TILE_WORDS + 1], 0) : k::key(s.J[r][0], k::per - 1);
		for (unsigned n = 0; n < TILE_WORDS; n++) {
			const unsigned at = back ? TILE_WORDS - n : n + 1;
			const typename k::word j = s.J[r][at], i = s.I[r][at];
			typename k::word fresh = 0;
#pragma unroll
			for (unsigned e = 0; e < k::per; e++) {
				const unsigned b = back ? k::per - 1 - e : e;
				c = min(k::key(i, b), max(k::key(j, b), c));
				fresh |= c << b * bits % 64;
			}
			if (fresh != j) {
				s.J[r][at] = fresh;
				changed = true;
			}
		}
	}
	return changed;
}

/* --- neighbours in other slices of a volume ------------------------------------------------------------------------ */

/* The largest keys around word `at` in the slice that it lies in, as connectivity sees them from the next slice. */
template <unsigned bits>
__device__ typename keys<bits>::word
around(const field &f, size_t at)
{
	typedef keys<bits> k;
	typedef typename k::word word;
	const word *p = static_cast<const word *>(f.J) + at;
	word mid = __ldcg(p), left, right;

	if (f.conn == 6)
		return mid;
	const word column = k::larger(__ldcg(p - f.pitch), __ldcg(p + f.pitch));
	left = __ldcg(p - 1);
	right = __ldcg(p + 1);
	if (f.conn == 18)
		return k::larger(k::larger(mid, column),
				 k::larger(k::from_left(left, mid), k::from_right(mid, right)));
	mid = k::larger(mid, column);
	left = k::larger(left, k::larger(__ldcg(p - 1 - f.pitch), __ldcg(p - 1 + f.pitch)));
	right = k::larger(right, k::larger(__ldcg(p + 1 - f.pitch), __ldcg(p + 1 + f.pitch)));
	return k::larger(mid, k::larger(k::from_left(left, mid), k::from_right(mid, right)));
}

/* What row r of the tile gets from the slices before and behind. */
template <unsigned bits>
__device__ typename keys<bits>::word
from_slices(const field &f, const place &p, unsigned r)
{
	const size_t at = word_at<bits>(f, p, r) + threadIdx.x % 32, slice = f.slice * f.pitch;
	typename keys<bits>::word m = 0;

	if (p.z > 0)
		m = around<bits>(f, at - slice);
	if (p.z + 1 < f.d)
		m = keys<bits>::larger(m, around<bits>(f, at + slice));
	return m;
}

template <unsigned bits>
__device__ bool
raise_from_slices(tile<bits> &s, const field &f, const place &p)
{
	typedef keys<bits> k;
	const unsigned at = threadIdx.x % 32 + 1;
	bool changed = false;

	for (unsigned r = threadIdx.x / 32 + 1; r <= tile<bits>::H; r += blockDim.x / 32) {
		const typename k::word old = s.J[r][at];
		const typename k::word c =
		    k::smaller(s.I[r][at], k::larger(old, from_slices<bits>(f, p, r)));
		s.J[r][at] = c;
		changed |= c != old;
	}
	return changed;
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

/* --- what neighbours are owed -------------------------------------------------------------------------------------- */

/* want above have: the neighbour is owed that much. */
template <unsigned bits>
__device__ void
note(tile<bits> &s, const field &f, unsigned neighbour, u64 want, u64 have)
{
	if (want > have)
		atomicMax(&s.owed[neighbour], 1 + ring_of(f, want));
}

/* The same for words; i: their mask. */
template <unsigned bits>
__device__ void
note_word(tile<bits> &s, const field &f, unsigned neighbour, typename keys<bits>::word source,
	  unsigned r, unsigned at)
{
	typedef keys<bits> k;
	const typename k::word have = s.J[r][at], want = k::smaller(s.I[r][at], source);

	if (k::larger(want, have) == have)
		return;
	for (unsigned b = 0; b < k::per; b++)
		note<bits>(s, f, neighbour, k::key(want, b), k::key(have, b));
}

/* The row beyond row r, which is row `to`. */
template <unsigned bits>
__device__ void
note_row(tile<bits> &s, const field &f, unsigned neighbour, unsigned r, unsigned to, bool diagonals)
{
	const unsigned at = threadIdx.x % 32 + 1;
	typename keys<bits>::word c = s.J[r][at];

	if (diagonals)
		c = widen<bits>(c, s.J[r][0], s.J[r][TILE_WORDS + 1]);
	note_word<bits>(s, f, neighbour, c, to, at);
}

/* Key b of word `to` of row r, beyond key e of word `at`. */
template <unsigned bits>
__device__ void
note_side(tile<bits> &s, const field &f, unsigned neighbour, unsigned at, unsigned e, unsigned to,
	  unsigned b, bool diagonals)
{
	typedef keys<bits> k;
	const unsigned r = threadIdx.x + 1;
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
	note_side<bits>(s, f, 2, 1, 0, 0, last, diagonals);
	note_side<bits>(s, f, 3, TILE_WORDS, last, TILE_WORDS + 1, 0, diagonals);
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
	constexpr signed char dy[] = {-1, 1, 0, 0, -1, -1, 1, 1},
			      dx[] = {0, 0, -1, 1, -1, 1, -1, 1};
	const unsigned t = threadIdx.x;

	if (t >= NEIGHBOURS || !s.owed[t])
		return;
	const place to = {p.x + (unsigned)(int)dx[t], p.y + (unsigned)(int)dy[t], p.z};
	if (to.x < f.tx && to.y < f.ty)
		owe(q, id_of(f, to), s.owed[t] - 1);
}

/* --- the kernels --------------------------------------------------------------------------------------------------- */

/* Queues every tile in which one step raises a key: block = tile. */
template <unsigned bits>
__global__ void
seed(const field f, const queue q)
{
	typedef keys<bits> k;
	__shared__ tile<bits> s;
	const unsigned at = threadIdx.x % 32 + 1;
	const place p = place_of(f, blockIdx.x);
	const bool diagonals = f.conn != 4 && f.conn != 6;

	load<bits>(s, f, p);
	__syncthreads();
	for (unsigned r = threadIdx.x / 32 + 1; r <= tile<bits>::H; r += blockDim.x / 32) {
		typename k::word c = s.J[r][at], left = s.J[r][0], right = s.J[r][TILE_WORDS + 1];
		const typename k::word column = k::larger(s.J[r - 1][at], s.J[r + 1][at]);
		if (diagonals) {
			c = k::larger(c, column);
			left = k::larger(left, k::larger(s.J[r - 1][0], s.J[r + 1][0]));
			right = k::larger(right, k::larger(s.J[r - 1][TILE_WORDS + 1],
							   s.J[r + 1][TILE_WORDS + 1]));
		}
		c = k::larger(widen<bits>(c, left, right), column);
		if (field_volume(f))
			c = k::larger(c, from_slices<bits>(f, p, r));
		note_word<bits>(s, f, NEIGHBOURS, c, r, at);
	}
	__syncthreads();
	if (threadIdx.x == 0 && s.owed[NEIGHBOURS]) {
		q.state[blockIdx.x] = QUEUED;
		atomicAdd(&q.r->pending, 1u);
		push(q, blockIdx.x, s.owed[NEIGHBOURS] - 1);
	}
}

/* Raises the tile to its fixpoint; whether that changed it. */
template <unsigned bits>
__device__ bool
settle(tile<bits> &s, const field &f, const place &p)
{
	const bool diagonals = f.conn != 4 && f.conn != 6;
	bool any = field_volume(f) && raise_from_slices<bits>(s, f, p), changed;

	__syncthreads();
	do {
		changed = sweep_columns<bits>(s, diagonals);
		__syncwarp(); /* a warp's rows are its own from here on */
		changed |= sweep_row<bits>(s);
		any |= changed;
	} while (__syncthreads_or(changed));
	return __syncthreads_or(any) != 0;
}

/* Visits tiles until all are idle. */
template <unsigned bits>
__global__ void
__launch_bounds__(tile<bits>::H) visit(const field f, const queue q)
{
	__shared__ tile<bits> s;
	const unsigned t = threadIdx.x;

	for (;;) {
		if (t == 0)
			s.id = pop(q, &s.ring);
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
			__threadfence();
			__syncthreads();
			owe_neighbours<bits>(s, f, q, p);
			if (field_volume(f))
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
								 tile<bits>::H, 0));
	const size_t blocks = (size_t)per_sm * (size_t)g->prop.multiProcessorCount;
	GPU_LAUNCH(g, seed<bits>, (unsigned)tiles, tile<bits>::H, 0, *f, q);
	GPU_LAUNCH(g, visit<bits>, (unsigned)(blocks < tiles ? blocks : tiles), tile<bits>::H, 0,
		   *f, q);
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
	int err = gpu_hold(g, HOLD_QUEUE, bytes, &at);

	if (err)
		return err;
	GPU_TRY(g, cudaMemsetAsync(at, 0, bytes, g->stream[0]));
	q.r = static_cast<rings *>(at);
	q.cap = capacity(tiles);
	q.slot = reinterpret_cast<unsigned *>(q.r + 1);
	q.state = q.slot + (size_t)RINGS * q.cap;
	q.level = q.state + tiles;
	if ((err = gpu_begin(g)))
		return err;
	err = f->bits == 8    ? run<8>(g, f, q)
	      : f->bits == 16 ? run<16>(g, f, q)
	      : f->bits == 32 ? run<32>(g, f, q)
			      : run<64>(g, f, q);
	if (err || (err = gpu_end(g)))
		return err;
	GPU_TRY(g, cudaMemcpy(&r, q.r, sizeof r, cudaMemcpyDeviceToHost));
	*figures = {tiles, r.visits, r.changed};
	return 0;
}
