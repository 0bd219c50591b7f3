/*
 * From evidence at the base rows to the scores of all links: dptrace/evidence/strip.c and score.c, float by float.
 *
 *	fields	thread = element of a strip in its phases
 *	offsets	thread = slope and column
 *	scores	block = 32 samples j x 32 slopes of one gap, warp = 4 slopes, lane = sample; grid = tiles x segments x gaps.
 *		Links of one slope meet a column at one offset, so a warp's loads are neighbours and its offset is the same:
 *		32 columns of them at a time lie in shared memory (4.6 KB). Fields 0 and 1 are pairs, for one load. A tile
 *		goes through shared memory (4 KB), to be written along k = j + slope
 *
 * A sum goes column by column as the CPU's, without contraction.
 *
 * Bound, a link of m columns: 6 m operations (ridge; 4 m edge) and 12 m bytes (8 m) from the first-level cache, which
 * costs more: .75 cycles of a multiprocessor a link and 8 columns; 4 bytes written.
 */
#include "gpu/dptrace/strip.h"

namespace
{

constexpr unsigned THREADS = 256, WARP = 32, TILE = 32, SLOPES = TILE * WARP / THREADS;
constexpr unsigned COLUMNS = 32;

enum kind { RIDGE, EDGE, SIGNED_EDGE };

__device__ int
floor_div(int a, int b)
{
	return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* A cubic between base rows i step and the next. */
__device__ float
between(const float *b, const float *w)
{
	return (w[0] * b[-1] + w[3] * b[2]) + (w[1] * b[0] + w[2] * b[1]);
}

__device__ const float *
weights_of(const dp_evidence &e, const dp_strip &s)
{
	return e.weights + s.weights + (s.finer ? 4 * s.g.t : 0);
}

/* Whole rows in q phases: row r of phase p. */
__device__ float
phase_row(const dp_evidence &e, const dp_strip &s, const float *base, int p, int r)
{
	return between(base + SKIRT + p / s.fine.t + r * s.fine.m,
		       weights_of(e, s) + 4 * (p % s.fine.t));
}

/* Rows that are fine steps: those beyond the base rows are without evidence. */
__device__ float
fine_row(const dp_evidence &e, const dp_strip &s, const float *base, int r)
{
	const struct grid &g = s.fine;
	const int step = g.half * g.t - (g.rows - 1) / 2 + r, b = floor_div(step, g.t);

	return b < 1 - SKIRT || b > g.base + SKIRT - 3
		   ? 0.f
		   : between(base + SKIRT + b, weights_of(e, s) + 4 * (step - b * g.t));
}

/* Whether links of the gap over column col pass row r. */
__device__ bool
is_met(const dp_chains &c, const dp_segment &s, const struct grid &g, int col, int r)
{
	const dp_guide *v = c.guide + s.guide + col / g.per_gap;

	return r >= min(v->o, v[1].o) && r < max(v->o + v->d, v[1].o + v[1].d);
}

__global__ void
fill_fields(const dp_evidence e, const dp_chains c, bool three)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x,
		     plane = (size_t)s.fine.ncol * (size_t)s.fine.q * s.lane;
	const int r = (int)(i % s.lane), p = (int)(i / s.lane % (size_t)s.fine.q),
		  col = (int)(i / s.lane / (size_t)s.fine.q);

	if (i >= plane || r >= s.fine.rows || !is_met(c, c.seg[blockIdx.y], s.fine, col, r))
		return;
	const float *base = e.base + s.base + (size_t)col * s.base_rows;
	float *const to = e.fields + s.fields;
	const auto field = [&](unsigned f) {
		const float *const of = base + f * s.plane;
		return s.fine.m ? phase_row(e, s, of, p, r) : fine_row(e, s, of, r);
	};
	reinterpret_cast<float2 *>(to)[i] = make_float2(field(0), field(1));
	if (three)
		to[2 * plane + i] = field(2);
}

/* Factors of the links that climb t rows. */
__device__ dp_slope
slope_of(const dp_evidence &e, const dp_chains &c, const dp_segment &s, const struct rule &rule,
	 const struct grid &g, int t)
{
	const double h = c.guide[s.guide].h, v = t * s.dv, length = sqrt(h * h + v * v),
		     cu = h / length, cv = v / length;
	const bool ridge = e.o.score == DPTRACE_RIDGE;
	const double sign = ridge || rule.polarity >= 0 ? 1 : -1, width = rule.cost ? 1
									  : e.o.arc ? length
										    : h;
	dp_slope x = {{(float)cv, (float)cu, 0}, (float)(sign * width / g.per_gap), (float)length};

	if (ridge) {
		x.c[0] = (float)(cv * cv);
		x.c[1] = (float)(-2 * cu * cv);
		x.c[2] = (float)(cu * cu);
	}
	return x;
}

/* From row r of the first column of a gap to where the link that climbs t rows from r lies in each column. */
__global__ void
fill_offsets(const dp_evidence e, const dp_chains c)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const struct grid &g = s.fine;
	const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, per = (unsigned)g.per_gap;

	if (i >= (2 * (unsigned)g.rows - 1) * per)
		return;
	const int t = (int)(i / per) + 1 - g.rows, col = (int)(i % per);
	const double rise = (double)(t < 0 ? -t : t) * g.q / g.per_gap;
	const double half = 2 * col + 1 > g.per_gap ? .5 - 1e-9 : .5 + 1e-9;
	int fine = (int)(rise * (col + .5) + half);
	fine = t < 0 ? -fine : fine;
	const int row = floor_div(fine, g.q);
	e.offset[s.offset + i] =
	    (int)(((size_t)col * (size_t)g.q + (size_t)(fine - row * g.q)) * s.lane) + row;
	if (col == 0)
		e.slope[s.slope + i / per] = slope_of(e, c, c.seg[blockIdx.y], s.rule, g, t);
}

/* --- scores -------------------------------------------------------------------------------------------------------- */

/* One gap's links. */
struct gap_of {
	const dp_guide *v;
	int d, e, climb;
};

/* The slope itself, or the nearest that a link of the gap has. */
__device__ int
slope_near(const gap_of &g, int slope)
{
	return max(1 - g.d, min(slope, g.e - 1));
}

/* What a lane's 4 links sum: fields 0 and 1, and the third, of the first column; where each link begins there. */
struct rows {
	const float2 *pair;
	const float *third;
	unsigned row[SLOPES];
	dp_slope slope[SLOPES];
};

template <enum kind kind>
__device__ float
evidence(const rows &r, unsigned i, unsigned at)
{
	const dp_slope &x = r.slope[i];
	/* A negative offset is stored modulo 2^32; the sum is the row, which is not negative. */
	const unsigned row = r.row[i] + at;
	const float2 f = r.pair[row];

	if (kind == RIDGE)
		return x.c[0] * f.x + x.c[1] * f.y + x.c[2] * r.third[row];
	const float e = x.c[1] * f.y - x.c[0] * f.x;
	return kind == EDGE ? fabsf(e) : e;
}

/* Where the links of the block's slopes lie in COLUMNS columns. The rows are multiples of 16 bytes. */
struct alignas(16) offsets {
	unsigned at[COLUMNS][TILE + 4];
};

/* Those of columns c .. c + n - 1. first: of slope 0 in column 0. */
__device__ void
stage(offsets &o, const int *first, const gap_of &g, int s0, int per_gap, int c, int n)
{
	const int column = (int)(threadIdx.x % COLUMNS);

	__syncthreads();
	for (int i = (int)(threadIdx.x / COLUMNS); i < (int)TILE && column < n;
	     i += (int)(THREADS / COLUMNS))
		o.at[column][i] =
		    (unsigned)first[(ptrdiff_t)slope_near(g, s0 + i) * per_gap + c + column];
	__syncthreads();
}

/* The sums of a lane's links. */
template <enum kind kind>
__device__ void
sum_columns(float sum[SLOPES], offsets &o, const rows &r, const int *first, const gap_of &g, int s0,
	    int per_gap)
{
	const unsigned slope = threadIdx.x / WARP * SLOPES;

	for (unsigned i = 0; i < SLOPES; i++)
		sum[i] = 0;
	for (int c0 = 0; c0 < per_gap; c0 += (int)COLUMNS) {
		const int n = min((int)COLUMNS, per_gap - c0);
		stage(o, first, g, s0, per_gap, c0, n);
		for (int c = 0; c < n; c++) {
			const uint4 four = *reinterpret_cast<const uint4 *>(&o.at[c][slope]);
			const unsigned at[SLOPES] = {four.x, four.y, four.z, four.w};
#pragma unroll
			for (unsigned i = 0; i < SLOPES; i++)
				sum[i] += evidence<kind>(r, i, at[i]);
		}
	}
}

/* From sums to scores: mean evidence, or its cost; links that are too steep are none. */
template <enum kind kind>
__device__ void
charge(float sum[SLOPES], const rows &r, const struct rule &rule, int t0, int steepest)
{
	for (int i = 0; i < (int)SLOPES; i++) {
		sum[i] = kind == RIDGE && rule.polarity == 0 ? fabsf(sum[i]) : sum[i];
		sum[i] *= r.slope[i].width;
		float e = sum[i] - rule.floor;
		e = e > 0 ? e : 0;
		e = e < rule.cap ? e : rule.cap;
		if (rule.cost)
			sum[i] = -(r.slope[i].length / (e + COST_K));
		if (steepest && (t0 + i < -steepest || t0 + i > steepest))
			sum[i] = NEVER;
	}
}

/*
 * A lane's links of slopes s0 .. from sample j. Those that do not exist are the nearest that do; nobody asks for their sums. The
 * steps to the pointers are in units of another type than the pointers', else nvcc adds them anew, in 64 bits, for each link.
 */
__device__ void
aim(rows &r, const dp_evidence &e, const dp_strip &s, const gap_of &g, int gap, int j, int s0)
{
	const size_t column = (size_t)s.fine.q * s.lane, plane = (size_t)s.fine.ncol * column,
		     first = (size_t)gap * (size_t)s.fine.per_gap * column;
	const float *const fields = e.fields + s.fields;

	r.pair = reinterpret_cast<const float2 *>(fields + 2 * first);
	r.third = reinterpret_cast<const float *>(reinterpret_cast<const float2 *>(fields) + plane +
						  first / 2);
	for (int i = 0; i < (int)SLOPES; i++) {
		const int slope = slope_near(g, s0 + i);
		const int sample = max(max(0, -slope), min(j, min(g.d, g.e - slope) - 1));
		r.row[i] = (unsigned)(g.v->o + sample);
		r.slope[i] = e.slope[s.slope + (size_t)(slope + g.climb + s.fine.rows - 1)];
	}
}

template <enum kind kind>
__global__ void
__launch_bounds__(THREADS) score_links(const dp_evidence e, const dp_chains c)
{
	__shared__ float tile[TILE][TILE + 1];
	__shared__ offsets o;
	const dp_segment s = c.seg[blockIdx.y];
	const dp_strip &strip = e.strip[blockIdx.y];
	const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;

	if ((int)blockIdx.z + 1 >= s.n)
		return;
	const dp_guide *v = c.guide + s.guide + blockIdx.z;
	const gap_of g = {v, v->d, v[1].d, v[1].o - v->o};
	const int across = (g.d + (int)TILE - 1) / (int)TILE,
		  j0 = (int)blockIdx.x % across * (int)TILE,
		  s0 = 1 - g.d + (int)blockIdx.x / across * (int)TILE;
	if (s0 >= g.e)
		return;
	const int per_gap = strip.fine.per_gap, *const first =
						    e.offset + strip.offset +
						    (ptrdiff_t)(g.climb + strip.fine.rows - 1) *
							per_gap;
	rows r;
	float sum[SLOPES];
	aim(r, e, strip, g, (int)blockIdx.z, j0 + (int)lane, s0 + (int)(warp * SLOPES));
	sum_columns<kind>(sum, o, r, first, g, s0, per_gap);
	charge<kind>(sum, r, strip.rule, s0 + (int)(warp * SLOPES) + g.climb, s.steepest);
	for (unsigned i = 0; i < SLOPES; i++)
		tile[lane][warp * SLOPES + i] = sum[i];
	__syncthreads();
	for (unsigned row = warp; row < TILE; row += THREADS / WARP) {
		const int j = j0 + (int)row, k = j + s0 + (int)lane;
		if (j < g.d && k >= 0 && k < g.e)
			c.S[v->link + (size_t)j * (size_t)g.e + (size_t)k] = tile[row][lane];
	}
}

unsigned
blocks(size_t n, size_t each)
{
	return (unsigned)((n + each - 1) / each);
}

} // namespace

int
dp_scores(struct dp_job *j, const dp_evidence *e, size_t most_fields, size_t most_offsets)
{
	const bool three = dp_fields(&e->o) == 3;
	const unsigned n = (unsigned)j->nseg;
	const dim3 grid(blocks(j->on.maxd, TILE) * blocks(2 * j->on.maxd - 1, TILE), n,
			(unsigned)j->maxn - 1);

	GPU_LAUNCH(j->g, fill_fields, dim3(blocks(most_fields, THREADS), n), THREADS, 0, *e, j->on,
		   three);
	GPU_LAUNCH(j->g, fill_offsets, dim3(blocks(most_offsets, THREADS), n), THREADS, 0, *e,
		   j->on);
	if (three)
		GPU_LAUNCH(j->g, score_links<RIDGE>, grid, THREADS, 0, *e, j->on);
	else if (e->o.polarity)
		GPU_LAUNCH(j->g, score_links<SIGNED_EDGE>, grid, THREADS, 0, *e, j->on);
	else
		GPU_LAUNCH(j->g, score_links<EDGE>, grid, THREADS, 0, *e, j->on);
	return 0;
}
