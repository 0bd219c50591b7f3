/*
 * The tree of 8-bit colours. Near ones first, by shells of equal d2 = 1, 2, 3, as on the CPU (emst/lattice/lattice.c): all
 * pairs of one offset are two rows of bits joined by &, most of them dropped by the CPU's exact prunes.
 *
 *	offer_pairs	thread = a word of 64 colours, blockIdx.y = offset; then, word after word of its warp that has pairs left,
 *			lane = a colour of each half
 *	hook, relabel	thread = colour
 *
 * In a shell d2 is the same, so an edge is 48 bits, span and lo, and a tree's first edge is one 64-bit atomic minimum; a tree whose
 * first edge is earlier is not bothered. The order of edges is strict: two trees that choose each other chose the same
 * edge, and no longer ring can close. So the tree is the only one, for any schedule.
 *
 * Bound: the bitmap (3.2 MB) and counts (1 MB) stay in the second-level cache; a round reads two labels for each pair that the
 * prunes leave, and 12 bytes a colour to relabel.
 */
#include "gpu/emst/lattice.h"

namespace
{

constexpr unsigned THREADS = 256, SHELLS = 3, MAXOFFSETS = 6;

/* Ints, since those of an argument can be taken by number from where they lie; chars would be copied to memory first. */
struct offsets {
	int n;
	struct {
		int r, g, b;
	} o[MAXOFFSETS];
};

/* The edge from colour lo to hi, for both their trees. */
__device__ void
offer(const grid &w, unsigned lo, unsigned hi)
{
	const unsigned a = w.tree[grid_rank(w, lo)], b = w.tree[grid_rank(w, hi)];
	const u64 key = (u64)(hi - lo) << 24 | lo;

	if (a == b)
		return;
	lower(&w.best[a], key);
	lower(&w.best[b], key);
}

/* The pairs of word k of the row of colours r, g with the row that is (dr, dg) away, those that the prunes leave. */
__device__ u64
pairs_of(const grid &w, unsigned row, unsigned k, int dr, int dg, int db)
{
	const int r = (int)(row >> 8), g = (int)(row & 255);

	if (r + dr > 255 || (unsigned)(g + dg) > 255)
		return 0;
	const uint64_t *u = row_words(w.bits, r, g) + k, *v = row_words(w.bits, r + dr, g + dg) + k;
	const u64 pairs = u[0] & row_shift(v, db);
	/* A run along blue is one chain: no pair is dropped but those of the same row's left neighbour. */
	if (!dr && !dg)
		return pairs;
	const u64 left = k ? (u[-1] & row_shift(v - 1, db)) >> 63 : 0;
	const u64 x = pairs & ~(pairs << 1 | left);
	return x ? row_prune(x, u, v, dr, dg, db, w.shell) : 0;
}

__global__ void
offer_pairs(const grid w, const offsets s)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, k = i % 4;
	const int dr = s.o[blockIdx.y].r, dg = s.o[blockIdx.y].g, db = s.o[blockIdx.y].b;
	const unsigned row = i / 4 < w.rows ? w.row[i / 4] : 0;
	const u64 x = i / 4 < w.rows ? pairs_of(w, row, k, dr, dg, db) : 0;

	for (unsigned left = __ballot_sync(~0u, x != 0); left; left &= left - 1) {
		const int of = __ffs((int)left) - 1;
		const u64 pairs = __shfl_sync(~0u, x, of);
		const unsigned first = __shfl_sync(~0u, row << 8 | k << 6, of);
		for (unsigned bit = lane; bit < 64; bit += 32)
			if (pairs >> bit & 1)
				offer(w, first | bit,
				      (unsigned)((int)(first | bit) + dr * 65536 + dg * 256 + db));
	}
}

/* --- trees to trees ------------------------------------------------------------------------------------------------ */

/* A tree's first edge; best[t] is not ~0. */
__device__ code_edge
edge_of(const grid &w, unsigned t)
{
	const u64 best = w.best[t];
	const unsigned high = (unsigned)(best >> 24), low = (unsigned)best & 0xffffff;

	return w.shell ? code_edge{w.shell, high, low} : code_edge{high, low, w.lo[t]};
}

/* Each tree hooks to the one its edge leads to; of two that chose the same edge the lower stays, and the other takes the edge. */
__device__ void
hook(unsigned t, const grid &w)
{
	if (w.tree[t] != t)
		return;
	w.parent[t] = t;
	if (w.best[t] == ~(u64)0)
		return;
	const code_edge e = edge_of(w, t);
	const unsigned a = w.tree[grid_rank(w, e.lo)], b = w.tree[grid_rank(w, e.lo + e.span)];
	const unsigned other = a == t ? b : a;
	bool mutual = w.best[other] == w.best[t];
	if (mutual && !w.shell)
		mutual = w.lo[other] == w.lo[t];
	if (mutual && t < other)
		return;
	w.parent[t] = other;
	w.edges[atomicAdd(w.count, 1u)] = e;
}

/* Half of the sphere: from a smaller code to a larger one. */
offsets
offsets_of(unsigned d2)
{
	offsets s = {};

	for (int r = 0; r <= 1; r++)
		for (int g = -1; g <= 1; g++)
			for (int b = -1; b <= 1; b++)
				if (r * r + g * g + b * b == (int)d2 &&
				    r * 65536 + g * 256 + b > 0) {
					s.o[s.n].r = r;
					s.o[s.n].g = g;
					s.o[s.n++].b = b;
				}
	return s;
}

/* Rounds of one shell until none of its edges joins two trees. */
int
join_shell(struct gpu *g, grid w, unsigned d2, unsigned *edges)
{
	const offsets s = offsets_of(d2);
	unsigned before;

	w.shell = d2;
	do {
		before = *edges;
		GPU_DO(gpu_begin(g));
		GPU_DO(emst_forget(g, w));
		GPU_LAUNCH(g, offer_pairs, dim3(gpu_blocks(4 * w.rows, THREADS), (unsigned)s.n),
			   THREADS, 0, w, s);
		GPU_DO(emst_hook(g, w, edges));
	} while (*edges > before && *edges + 1 < w.n);
	return 0;
}

/* --- the host ------------------------------------------------------------------------------------------------------ */

constexpr size_t BITS = (size_t)LATTICE_ROWS * LATTICE_WORDS, COUNTS = (size_t)LATTICE_ROWS * 4;

/* The rows that hold a colour. */
unsigned
list_rows(const struct lattice *l, unsigned *row)
{
	unsigned n = 0;

	for (int r = 0; r < 256; r++)
		for (int g = 0; g < 256; g++) {
			const uint64_t *w = lattice_words(l, r, g);
			if (w[0] | w[1] | w[2] | w[3])
				row[n++] = (unsigned)(r << 8 | g);
		}
	return n;
}

/* Room on the device, and the lattice there. */
int
place(struct gpu *g, const struct lattice *l, const unsigned *row, grid *w)
{
	uint64_t *bits;
	unsigned *before, *rows;

	w->n = (unsigned)l->n;
	GPU_DO(gpu_place(g, HOLD_LATTICE, [&](gpu_block *at) {
		w->bits = bits = gpu_take<uint64_t>(at, BITS);
		w->before = before = gpu_take<unsigned>(at, COUNTS);
		w->row = rows = gpu_take<unsigned>(at, w->rows);
	}));
	GPU_DO(gpu_place(g, HOLD_TREES, [&](gpu_block *at) {
		gpu_take_all(at, l->n, &w->best, &w->tree, &w->parent, &w->lo);
	}));
	GPU_DO(gpu_place(g, HOLD_CODE_EDGES, [&](gpu_block *at) {
		w->count = gpu_take<unsigned>(at, 1);
		w->edges = gpu_take<code_edge>(at, l->n);
	}));
	GPU_DO(gpu_up(g, bits, l->bits, BITS * 8));
	GPU_DO(gpu_up(g, before, l->before, COUNTS * 4));
	GPU_DO(gpu_up(g, rows, row, w->rows * 4));
	GPU_TRY(g, cudaMemsetAsync(w->count, 0, sizeof *w->count, g->stream[0]));
	GPU_EACH(g, single<grid>, w->n, *w);
	return 0;
}

/* --- the order of edges ----------------------------------------------------------------------------------------------- */

constexpr unsigned CODES = 1u << 24, FAR = 3 * 255 * 255 + 1; /* codes and d2 are below these */

struct colour_edges {
	enum { LO, SPAN, D2, KEYS };
	unsigned limit[KEYS];
	grid w;
	double step2;

	__device__ unsigned
	key(unsigned i, unsigned k) const
	{
		const code_edge e = w.edges[i];
		return k == LO ? e.lo : k == SPAN ? e.span : e.d2;
	}

	__device__ emst_edge
	ends(unsigned i) const
	{
		const code_edge e = w.edges[i];
		return {grid_rank(w, e.lo), grid_rank(w, e.lo + e.span)};
	}

	__device__ double
	length(unsigned i) const
	{
		return sqrt(step2 * w.edges[i].d2);
	}
};

/* The trees' labels are not needed any more at the end, nor the nodes. */
int
by_lattice(struct gpu *g, const struct emst_set *s, struct emst_tree *t)
{
	struct lattice scaled;
	unsigned *const row = static_cast<unsigned *>(weir_alloc(65536, sizeof *row));
	unsigned edges = 0;
	grid w = {};
	const gpu_at_end done{[=] { weir_free(row); }};

	GPU_DO(row ? lattice_scale(s->lattice, &scaled) : -ENOMEM);
	const gpu_at_end freed{[&] { lattice_free(&scaled); }};
	const struct lattice *const l = scaled.n ? &scaled : s->lattice;
	w.rows = list_rows(l, row);
	GPU_DO(place(g, l, row, &w));
	for (unsigned d2 = 1; d2 <= SHELLS && edges + 1 < w.n; d2++)
		GPU_DO(join_shell(g, w, d2, &edges));
	GPU_DO(edges + 1 < w.n ? emst_blocks(g, w, edges) : 0);
	const colour_edges e = {{CODES, CODES, FAR}, w, (double)scaled.step * scaled.step};
	return order_edges(g, e, w.n, HOLD_TREES, HOLD_NODES, t);
}

} // namespace

int
emst_forget(struct gpu *g, const grid &w)
{
	GPU_TRY(g, cudaMemsetAsync(w.best, 0xff, w.n * sizeof *w.best, g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(w.lo, 0xff, w.n * sizeof *w.lo, g->stream[0]));
	return 0;
}

int
emst_hook(struct gpu *g, const grid &w, unsigned *edges)
{
	GPU_EACH(g, hook, w.n, w);
	GPU_EACH(g, relabel<grid>, w.n, w);
	GPU_DO(gpu_end(g));
	return gpu_look(g, edges, w.count, sizeof *edges);
}

/* A lattice with a step above 1 is made anew by the run. */
void
gpu_emst_ahead(struct gpu *g, const struct emst_set *s, bool brute)
{
	const struct lattice *const l = s->lattice;
	struct lattice scaled;

	if (s->type != EMST_CODE || brute)
		return;
	const gpu_span both[] = {{l->bits, BITS * 8}, {l->before, COUNTS * 4}};
	if (!lattice_scale(l, &scaled) && !scaled.n)
		gpu_ahead(g, both, 2);
	lattice_free(&scaled);
}

int
gpu_emst_run(struct gpu *g, const struct emst_set *s, bool brute, struct emst_tree *t)
{
	*t = {};
	if (s->n < 1 || s->n >= EMST_MAXPOINTS || s->k < 1 || s->k > EMST_MAXDIM)
		return -ERANGE;
	int err =
	    s->type == EMST_CODE && !brute ? by_lattice(g, s, t) : emst_by_points(g, s, brute, t);
	if (err)
		emst_tree_free(t);
	return err;
}
