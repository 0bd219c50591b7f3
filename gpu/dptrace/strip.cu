/*
 * From evidence at the base rows to the scores of all links: dptrace/evidence/strip.c and strip.c, float by float.
 *
 *	fields	thread = element of a strip in its phases
 *	offsets	thread = slope and column, slopes together
 *	scores	warp = 32 samples j x 16 slopes of one gap, lane = sample; grid = 8 warps x segments x gaps. Links of one
 *		slope meet a column at one offset, so a warp's loads are neighbours and its offset is the same. 4 slopes at a
 *		time, whose offsets are one load; the few at the ends of the gap's slopes one by one. Fields 0 and 1 are
 *		pairs, for one load.
 *
 * A sum goes column by column as the CPU's, without contraction.
 *
 * Bound, a link of m columns: 6 m operations (ridge; 4 m edge) and 12 m bytes (8 m) from the first-level cache, which
 * costs more: .75 cycles of a multiprocessor a link and 8 columns; 4 bytes written.
 */
#include "gpu/dptrace/job.h"

namespace
{

constexpr unsigned THREADS = 256, WARP = 32;
constexpr int SLOPES = 16, TOGETHER = 4; /* of a warp; whose offsets are loaded at once */

enum kind { RIDGE, EDGE, SIGNED_EDGE };

__device__ const float *
weights_of(const dp_evidence &e, const dp_strip &s)
{
	return e.weights + s.weights + (s.finer ? 4 * s.g.t : 0);
}

/* Whole rows in q phases: row r of phase p. */
__device__ float
phase_row(const dp_evidence &e, const dp_strip &s, const float *base, int p, int r)
{
	return strip_cubic(base + SKIRT + p / s.fine.t + r * s.fine.m,
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
		   : strip_cubic(base + SKIRT + b, weights_of(e, s) + 4 * (step - b * g.t));
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
	const size_t i = gpu_element(), plane = (size_t)s.fine.ncol * (size_t)s.fine.q * s.lane;
	size_t rest = i;
	const int r = (int)take_index(&rest, (unsigned)s.lane),
		  p = (int)take_index(&rest, (unsigned)s.fine.q), col = (int)rest;

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

/* From row r of the first column of a gap to where the link that climbs t rows from r lies in each column, by column. */
__global__ void
fill_offsets(const dp_evidence e, const dp_chains c)
{
	const dp_strip &s = e.strip[blockIdx.y];
	const struct grid &g = s.fine;
	const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, slopes = dp_slopes(g);
	const int t = (int)(i % slopes) + 1 - g.rows, col = (int)(i / slopes);

	if (col >= g.per_gap || t >= g.rows)
		return;
	e.offset[s.offset + i] = strip_offset(&g, s.lane, t, col);
	if (col)
		return;
	const dp_segment &of = c.seg[blockIdx.y];
	e.slope[s.slope + i] = {
	    strip_slope(&e.o, &s.rule, c.guide[of.guide].h, t * of.ends.dv, g.per_gap)};
}

/* --- scores -------------------------------------------------------------------------------------------------------- */

/* One gap's links from lane's sample j on. */
struct gap_of {
	const dp_guide *v;
	int d, e, climb, j;
	/* fields 0 and 1, and the third, of the first column of the gap */
	const float2 *pair;
	const float *third;
	/* by u = t + rows - 1, for links that climb t rows: offsets, `slopes` from column to column, and factors */
	const int *offset;
	const dp_slope *slope;
	int rows, per_gap;
	unsigned slopes;
};

/* The steps to the pointers are in units of another type than the pointers', else nvcc adds them anew, in 64 bits, for each link. */
__device__ gap_of
gap_at(const dp_evidence &e, const dp_strip &s, const dp_guide *v, int gap, int j)
{
	const struct grid &g = s.fine;
	const size_t column = (size_t)g.q * s.lane, plane = (size_t)g.ncol * column,
		     first = (size_t)gap * (size_t)g.per_gap * column;
	const float *const fields = e.fields + s.fields;

	return {v,
		v->d,
		v[1].d,
		v[1].o - v->o,
		j,
		reinterpret_cast<const float2 *>(fields + 2 * first),
		reinterpret_cast<const float *>(reinterpret_cast<const float2 *>(fields) + plane +
						first / 2),
		e.offset + s.offset,
		e.slope + s.slope,
		g.rows,
		g.per_gap,
		dp_slopes(g)};
}

/* The samples from which links of slope s exist: first_of() .. last_of(). */
__device__ int
first_of(int s)
{
	return max(0, -s);
}

__device__ int
last_of(const gap_of &g, int s)
{
	return min(g.d, g.e - s) - 1;
}

template <enum kind kind>
__device__ float
evidence(const gap_of &g, const dp_slope &x, unsigned row)
{
	const float2 f = g.pair[row];

	if (kind == RIDGE)
		return x.field[0] * f.x + x.field[1] * f.y + x.field[2] * g.third[row];
	const float e = x.field[1] * f.y - x.field[0] * f.x;
	return kind == EDGE ? fabsf(e) : e;
}

/* From a sum to a score: mean evidence, or its cost. */
template <enum kind kind>
__device__ float
charge(float sum, const dp_slope &x, const struct rule &rule)
{
	const float mean = (kind == RIDGE && rule.polarity == 0 ? fabsf(sum) : sum) * x.width;
	float e = mean - rule.floor;

	e = e > 0 ? e : 0;
	e = e < rule.cap ? e : rule.cap;
	return rule.cost ? -(x.length / (e + COST_K)) : mean;
}

/* The offsets of N slopes from u on, in one column. */
template <int N>
__device__ void
load_offsets(unsigned at[N], const int *offset)
{
	if (N == TOGETHER) {
		const int4 four = *reinterpret_cast<const int4 *>(offset);
		at[0] = (unsigned)four.x;
		at[1 % N] = (unsigned)four.y;
		at[2 % N] = (unsigned)four.z;
		at[3 % N] = (unsigned)four.w;
	} else {
		at[0] = (unsigned)*offset;
	}
}

/* The scores of N slopes, all of the gap, u .. u + N - 1. A lane without a link sums those of the nearest that exists. */
template <enum kind kind, int N>
__device__ void
score_slopes(const gap_of &g, const struct rule &rule, int u, float *S)
{
	const int t = u + 1 - g.rows, s = t - g.climb;
	const int j0 = g.j - (int)(threadIdx.x % WARP);
	float sum[N];
	unsigned row[N], at[N];
	dp_slope x[N];

	if (j0 + (int)WARP <= first_of(s + N - 1) || j0 > last_of(g, s))
		return;
	for (int i = 0; i < N; i++) {
		row[i] = (unsigned)(g.v->o + max(first_of(s + i), min(g.j, last_of(g, s + i))));
		x[i] = g.slope[u + i];
		sum[i] = 0;
	}
	for (int c = 0; c < g.per_gap; c++) {
		load_offsets<N>(at, g.offset + (size_t)c * g.slopes + u);
#pragma unroll
		for (int i = 0; i < N; i++)
			/* A negative offset is stored modulo 2^32; the sum is the row, which is not negative. */
			sum[i] += evidence<kind>(g, x[i], row[i] + at[i]);
	}
	for (int i = 0; i < N; i++)
		if (first_of(s + i) <= g.j && g.j <= last_of(g, s + i))
			S[(size_t)(t + i - g.v->low) * dp_row(g.d)] =
			    charge<kind>(sum[i], x[i], rule);
}

template <enum kind kind>
__global__ void
__launch_bounds__(THREADS) score_links(const dp_evidence e, const dp_chains c)
{
	const dp_segment &s = c.seg[blockIdx.y];
	const dp_strip &strip = e.strip[blockIdx.y];

	if ((int)blockIdx.z + 1 >= s.n)
		return;
	const dp_guide *v = c.guide + s.guide + blockIdx.z;
	const int unit = (int)(blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP),
		  across = (v->d + (int)WARP - 1) / (int)WARP,
		  j = unit % across * (int)WARP + (int)(threadIdx.x % WARP);
	const int low = v->low + strip.fine.rows - 1, end = v->high + strip.fine.rows,
		  from = (low / TOGETHER * TOGETHER) + unit / across * SLOPES,
		  to = min(end, from + SLOPES);
	const gap_of g = gap_at(e, strip, v, (int)blockIdx.z, j);
	float *const S = c.S + v->link + j;

	for (int u = from; u < to; u += TOGETHER)
		if (u >= low && u + TOGETHER <= end)
			score_slopes<kind, TOGETHER>(g, strip.rule, u, S);
		else
			for (int i = max(u, low); i < min(u + TOGETHER, end); i++)
				score_slopes<kind, 1>(g, strip.rule, i, S);
}

} // namespace

int
dp_scores(struct dp_job *j, const dp_evidence *e, size_t most_fields, size_t most_offsets)
{
	const bool three = dp_fields(&e->o) == 3;
	const unsigned n = (unsigned)j->nseg;
	const size_t warps = (size_t)gpu_blocks(j->on.maxd, WARP) *
			     gpu_blocks((size_t)(j->maxclimbs + TOGETHER - 1), SLOPES);
	const dim3 grid(gpu_blocks(warps, THREADS / WARP), n, (unsigned)j->maxn - 1);

	GPU_LAUNCH(j->g, fill_fields, dim3(gpu_blocks(most_fields, THREADS), n), THREADS, 0, *e,
		   j->on, three);
	GPU_LAUNCH(j->g, fill_offsets, dim3(gpu_blocks(most_offsets, THREADS), n), THREADS, 0, *e,
		   j->on);
	if (three)
		GPU_LAUNCH(j->g, score_links<RIDGE>, grid, THREADS, 0, *e, j->on);
	else if (e->o.polarity)
		GPU_LAUNCH(j->g, score_links<SIGNED_EDGE>, grid, THREADS, 0, *e, j->on);
	else
		GPU_LAUNCH(j->g, score_links<EDGE>, grid, THREADS, 0, *e, j->on);
	return 0;
}
