/*
 * Chains of segments: what dptrace/search/chain.c does to one line, done to all lines of a batch, their k-th
 * segments at a time.
 *
 *	windows		warp = table; the CPU's walk, since rounding decides where it stops, 16 steps of both its ends at a time
 *	meet		block = point where two segments meet, thread = link after it, a loop over the links before it
 *	follow		warp = line, from its end back: 32 links before at a time, the best of them by is_better()
 *
 * Bound: the recursion between; of their own d^2 comparisons a point, n d a line, and two small copies over the bus a
 * segment of the longest line.
 * The way back: latency, d^2 comparisons at each of a line's points by one warp; all lines at once.
 *
 * The host's part: what the sums that come back mean, and whether a bound is given up.
 */
#include "gpu/dptrace/job.h"

#include <string.h>

#include "gpu/reduce.h"

namespace
{

/* Numbers that the host reads: what rebase() subtracted, and the largest sum at the end. */
struct dp_sums {
	float taken, most;
};

constexpr unsigned THREADS = 256;

/* The window a..b of links that climb t rows, from that of t - 1: dptrace/search/recur.c. Half the lanes try steps of each end. */
__device__ void
move_window(const dp_table &w, int t, int *a, int *b)
{
	constexpr int HALF = (int)WARP / 2;
	const int lane = (int)threadIdx.x % HALF;
	const bool end = (int)threadIdx.x >= HALF;
	const double y = t * w.dv;
	bool again;

	do {
		const int last = max(*b, *a - 1), to = end ? last + 1 + lane : *a + lane;
		const double x = to * w.dv;
		const bool ok = turn_ok(w.phi, w.h1, x, w.h2, y);
		const unsigned steps =
		    __ballot_sync(~0u, to <= w.most && (end ? ok : x * w.h2 < y * w.h1 && !ok));
		const int up = __ffs((int)~(steps & ((1u << HALF) - 1))) - 1,
			  more = __ffs((int)~(steps >> HALF)) - 1;
		*a += up;
		again = up == HALF || *a - 1 > last;
		if (!again) {
			*b = last + more;
			again = more == HALF;
		}
	} while (again);
}

__global__ void
fill_windows(const dp_chains c)
{
	const dp_table w = c.table[blockIdx.x];
	int a = -w.most, b = -w.most - 1, *lo = c.window + w.at + w.rows - 1,
	    *hi = lo + (2 * w.rows - 1);

	for (int t = -w.most; t <= w.most; t++) {
		move_window(w, t, &a, &b);
		if (threadIdx.x == 0) {
			lo[t] = a;
			hi[t] = b;
		}
	}
}

/* --- where segments meet ------------------------------------------------------------------------------------------- */

/* Subtracts the largest x from all and returns it: sums over long chains then keep their digits. A thread keeps to its own x. */
__device__ float
rebase(float *x, int n)
{
	float most = NEVER;

	for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
		most = x[i] > most ? x[i] : most;
	most = block_largest<THREADS>(most);
	if (most > NEVER / 2)
		for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
			x[i] = x[i] > NEVER / 2 ? x[i] - most : NEVER;
	return most;
}

/* entry of first segments. block = line. */
__global__ void
begin(const dp_chains c)
{
	const size_t id = c.line[blockIdx.x].seg;
	const int n = first_links(&c.seg[id].ends);

	for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
		c.entry[id * c.maxlinks + (size_t)i] = 0;
}

/* The largest sum of the last links of segment id, s, to sample m that may be followed by the step next. */
__device__ float
best_into(const dp_chains &c, size_t id, const dp_segment &s, int m, step next, bool free)
{
	const float *in = c.exit + id * c.maxlinks + m;
	const int e = s.ends.last[1];
	float best = NEVER;

	for (int i = 0; i < s.ends.last[0]; i++)
		if (in[i * e] > best &&
		    (free || may_follow(c.line[s.line].phi, last_step(&s.ends, i, m), next)))
			best = in[i * e];
	return best;
}

/* entry from the exit of the segment before. block = segment. */
__global__ void
__launch_bounds__(THREADS) meet(const dp_chains c, const unsigned *ids, dp_sums *out)
{
	const size_t id = ids[blockIdx.x];
	const dp_segment s = c.seg[id];
	const int n = first_links(&s.ends);
	float *entry = c.entry + id * c.maxlinks;

	for (int link = (int)threadIdx.x; s.k > 0 && link < n; link += (int)THREADS) {
		const int i = link / s.ends.first[1], k = link % s.ends.first[1];
		entry[link] = is_steep(&s.ends, s.ends.first0, i, k)
				  ? NEVER
				  : best_into(c, id - 1, c.seg[id - 1], i,
					      first_step(&s.ends, i, k), c.released[id]);
	}
	const float taken = rebase(entry, n);
	if (threadIdx.x == 0)
		out[blockIdx.x].taken = taken;
}

/* exit from F. block = segment. */
__global__ void
__launch_bounds__(THREADS) pass_out(const dp_chains c, const unsigned *ids, dp_sums *out)
{
	const size_t id = ids[blockIdx.x];
	const dp_segment s = c.seg[id];
	const dp_guide *v = c.guide + s.guide + (size_t)s.n - 2;
	float most = NEVER;

	for (int j = (int)threadIdx.x; j < last_links(&s.ends); j += (int)THREADS) {
		const int i = j / s.ends.last[1], k = j % s.ends.last[1];
		const float sum = dp_is_kept(v, i, k) ? c.F[dp_back(v, i, k)] : NEVER;
		c.exit[id * c.maxlinks + (size_t)j] = sum;
		most = sum > most ? sum : most;
	}
	most = block_largest<THREADS>(most);
	if (threadIdx.x == 0)
		out[blockIdx.x].most = most;
}

/* leave of last segments, 0, and the largest sum. block = line. */
__global__ void
__launch_bounds__(THREADS) end(const dp_chains c, dp_sums *out)
{
	const dp_line l = c.line[blockIdx.x];
	const size_t id = l.seg + (size_t)l.n - 1;
	const int n = last_links(&c.seg[id].ends);
	float most = NEVER;

	for (int j = (int)threadIdx.x; j < n; j += (int)THREADS) {
		const float sum = c.exit[id * c.maxlinks + (size_t)j];
		c.leave[id * c.maxlinks + (size_t)j] = 0;
		most = sum > most ? sum : most;
	}
	most = block_largest<THREADS>(most);
	if (threadIdx.x == 0)
		out[blockIdx.x].most = most;
}

/* leave of the segment before, from the first links of this one, whose H is made. block = segment. */
__global__ void
__launch_bounds__(THREADS) meet_back(const dp_chains c, const unsigned *ids)
{
	const size_t id = ids[blockIdx.x];
	const dp_segment s = c.seg[id];

	if (s.k == 0)
		return;
	const dp_segment before = c.seg[id - 1];
	const dp_guide *v = c.guide + s.guide;
	float *leave = c.leave + (id - 1) * c.maxlinks;
	const int n = last_links(&before.ends);
	const bool free = c.released[id];

	for (int j = (int)threadIdx.x; j < n; j += (int)THREADS) {
		const int i = j / before.ends.last[1], m = j % before.ends.last[1];
		const step last = last_step(&before.ends, i, m);
		const bool steep = is_steep(&before.ends, before.ends.last0, i, m);
		float best = NEVER;
		for (int k = 0; k < s.ends.first[1] && !steep; k++) {
			const float h = dp_is_kept(v, m, k) ? c.H[dp_link(v, m, k)] : NEVER;
			if (h > best && (free || may_follow(c.line[s.line].phi, last,
							    first_step(&s.ends, m, k))))
				best = h;
		}
		leave[j] = best;
	}
	rebase(leave, n);
}

/* --- the way back ----------------------------------------------------------------------------------------------------- */

/* The best of a warp's choices. */
__device__ choice
warp_best(choice a)
{
	for (int step = WARP / 2; step; step /= 2) {
		const choice b = {
		    __shfl_xor_sync(~0u, a.sum, step), __shfl_xor_sync(~0u, a.straight, step),
		    __shfl_xor_sync(~0u, a.aside, step), __shfl_xor_sync(~0u, a.link, step)};
		if (is_better(&b, &a))
			a = b;
	}
	return a;
}

/* The best last link of a segment before the step next from sample start, or, at the end, before the way straight on. */
__device__ int
best_last(const dp_chains &c, size_t id, bool end, step next, int start)
{
	const dp_segment s = c.seg[id];
	const dp_guide *v = c.guide + s.guide + s.n - 2;
	const struct bound phi = c.line[s.line].phi;
	const float *sum = c.exit + id * c.maxlinks;
	const bool free = end || c.released[id + 1];
	choice best = {2 * NEVER, -INFINITY, 0, 0};

	if (end)
		next = {s.ends.fx, s.ends.fy};
	for (int j = (int)threadIdx.x; j < last_links(&s.ends); j += (int)WARP) {
		const int i = j / s.ends.last[1], m = j % s.ends.last[1];
		if (sum[j] < best.sum || (!end && m != start) || !dp_is_kept(v, i, m) ||
		    (!free && !may_follow(phi, last_step(&s.ends, i, m), next)))
			continue;
		const choice to = last_choice(&s.ends, i, m, sum[j], next);
		if (is_better(&to, &best))
			best = to;
	}
	return warp_best(best).link;
}

/* The start of the best link to sample j of guide g, when the link after it has slope t. */
__device__ int
best_before(const dp_chains &c, const dp_segment &s, int g, int j, int t)
{
	const dp_guide *v = c.guide + s.guide + g, *u = v - 1;
	const int *lo = c.window + v->before + s.rows - 1, *hi = lo + (2 * s.rows - 1);
	const int climb = v->o - u->o;
	const double dv = s.ends.dv;
	choice best = {2 * NEVER, -INFINITY, 0, 0};

	for (int i = max(0, j - (hi[t] - climb)) + (int)threadIdx.x;
	     i <= min(u->d - 1, j - (lo[t] - climb)); i += (int)WARP) {
		const float sum = c.F[dp_back(u, i, j)];
		if (sum < best.sum)
			continue;
		const choice to = {sum, straightness(u->h, (j - i + climb) * dv, v->h, t * dv), 0,
				   i};
		if (is_better(&to, &best))
			best = to;
	}
	return warp_best(best).link;
}

/* at of a segment from its last link j -> k on. A link without a place is not looked up. */
__device__ void
follow_segment(const dp_chains &c, const dp_segment &s, int j, int k)
{
	const dp_guide *v = c.guide + s.guide;

	for (int g = s.n - 2; g >= 0; g--) {
		const bool kept = dp_is_kept(v + g, j, k);
		const int i =
		    g > 0 && kept ? best_before(c, s, g, j, k - j + v[g + 1].o - v[g].o) : 0;
		if (threadIdx.x == 0) {
			c.at[s.guide + (size_t)g + 1] = k;
			c.link[s.guide + (size_t)g] = kept ? c.S[dp_link(v + g, j, k)] : NEVER;
		}
		k = j;
		j = i;
	}
	if (threadIdx.x == 0)
		c.at[s.guide] = k;
	__syncwarp();
}

/* at and link of whole lines. warp = line. */
__global__ void
follow(const dp_chains c)
{
	const dp_line l = c.line[blockIdx.x];
	step next = {0, 0};
	int start = 0;

	for (int k = l.n - 1; k >= 0; k--) {
		const size_t id = l.seg + (size_t)k;
		const dp_segment s = c.seg[id];
		const int e = s.ends.last[1], link = best_last(c, id, k == l.n - 1, next, start);
		follow_segment(c, s, link / e, link % e);
		start = c.at[s.guide];
		next = first_step(&s.ends, start, c.at[s.guide + 1]);
	}
}

/* --- from segment to segment ------------------------------------------------------------------------------------------ */

/* What goes to the device and comes back, by line, on the host and there. */
struct lists {
	unsigned *ids, *of; /* segments at work, and their lines */
	dp_sums *out;
	unsigned *on_ids;
	dp_sums *on_out;
};

/* The segments of l->ids[0..n), from their entries to their exits. */
int
pass(struct dp_job *j, const struct lists *l, unsigned n)
{
	GPU_DO(gpu_up(j->g, l->on_ids, l->ids, n * sizeof *l->ids));
	GPU_DO(gpu_begin(j->g));
	GPU_LAUNCH(j->g, meet, n, THREADS, 0, j->on, l->on_ids, l->on_out);
	GPU_DO(dp_forward(j, l->on_ids, n));
	GPU_LAUNCH(j->g, pass_out, n, THREADS, 0, j->on, l->on_ids, l->on_out);
	GPU_DO(gpu_end(j->g));
	return gpu_down(j->g, l->out, l->on_out, n * sizeof *l->out);
}

/*
 * Of the n segments just passed, those that no polyline goes through: they are tried again without a bound at their start,
 * and their number is returned. The others are done with, or their lines have failed.
 */
unsigned
look_over(struct dp_job *j, const struct lists *l, unsigned n)
{
	unsigned again = 0;

	for (unsigned i = 0; i < n; i++) {
		const unsigned id = l->ids[i], line = l->of[i];
		if (l->out[i].most > NEVER / 2) {
			j->best[line] += (double)l->out[i].taken;
		} else if (j->seg[id].k == 0 || j->released[id]) {
			j->solved[line] = false;
		} else {
			j->released[id] = 1;
			l->ids[again] = id;
			l->of[again++] = line;
		}
	}
	return again;
}

/* The k-th segments of all lines that have so many and have not failed, or their k-th from the end, into the list; how many. */
unsigned
list_segments(struct dp_job *j, const struct lists *l, int k, bool back)
{
	unsigned count = 0;

	for (unsigned i = 0; i < j->nline; i++) {
		const dp_line *of = &j->line[i];
		if (!j->solved[i] || k >= of->n)
			continue;
		l->ids[count] = (unsigned)(of->seg + (size_t)(back ? of->n - 1 - k : k));
		l->of[count++] = i;
	}
	return count;
}

int
send_released(struct dp_job *j)
{
	return gpu_up(j->g, j->on.released, j->released, j->nseg * sizeof *j->released);
}

/* The sums that lines reach at the end, and their polylines. Of a line that has failed they say nothing. */
int
finish(struct dp_job *j, const struct lists *l)
{
	const unsigned n = (unsigned)j->nline;

	GPU_DO(gpu_begin(j->g));
	GPU_LAUNCH(j->g, end, n, THREADS, 0, j->on, l->on_out);
	GPU_LAUNCH(j->g, follow, n, WARP, 0, j->on);
	GPU_DO(gpu_end(j->g));
	GPU_DO(gpu_down(j->g, l->out, l->on_out, n * sizeof *l->out));
	for (unsigned i = 0; i < n; i++)
		j->best[i] += j->solved[i] ? (double)l->out[i].most : 0;
	return 0;
}

/* H and margins of all lines that are solved, their segments from the last on. */
int
find_margins(struct dp_job *j, const struct lists *l)
{
	unsigned count;

	for (int k = 0; (count = list_segments(j, l, k, true)) > 0; k++) {
		GPU_DO(gpu_up(j->g, l->on_ids, l->ids, count * sizeof *l->ids));
		GPU_DO(gpu_begin(j->g));
		GPU_DO(dp_backward(j, l->on_ids, count));
		GPU_LAUNCH(j->g, meet_back, count, THREADS, 0, j->on, l->on_ids);
		GPU_DO(gpu_end(j->g));
	}
	return 0;
}

} // namespace

int
dp_solve(struct dp_job *j)
{
	struct lists l;
	void *const host = gpu_place_on_host(
	    [&](gpu_block *b) { gpu_take_all(b, j->nline, &l.ids, &l.of, &l.out); });
	const gpu_at_end done{[=] { weir_free(host); }};

	if (!host)
		return -ENOMEM;
	GPU_DO(gpu_place(j->g, HOLD_LIST,
			 [&](gpu_block *b) { gpu_take_all(b, j->nline, &l.on_ids, &l.on_out); }));
	GPU_DO(gpu_begin(j->g));
	if (j->ntable)
		GPU_LAUNCH(j->g, fill_windows, (unsigned)j->ntable, WARP, 0, j->on);
	GPU_DO(gpu_end(j->g));
	for (unsigned i = 0; i < j->nline; i++) {
		j->best[i] = 0;
		j->solved[i] = true;
	}
	memset(j->released, 0, j->nseg * sizeof *j->released);
	GPU_DO(send_released(j));
	/* passage_run() of dptrace/search/chain.c, for all lines */
	unsigned count;
	GPU_LAUNCH(j->g, begin, (unsigned)j->nline, THREADS, 0, j->on);
	for (int k = 0; (count = list_segments(j, &l, k, false)) > 0; k++)
		while (count) {
			GPU_DO(pass(j, &l, count));
			count = look_over(j, &l, count);
			if (count)
				GPU_DO(send_released(j));
		}
	GPU_DO(finish(j, &l));
	if (j->margins)
		GPU_DO(find_margins(j, &l));
	GPU_DO(gpu_down(j->g, j->at, j->on.at, j->nguide * sizeof *j->at));
	GPU_DO(gpu_down(j->g, j->link, j->on.link, j->nguide * sizeof *j->link));
	return j->margins ? gpu_down(j->g, j->margin, j->on.margin, j->nguide * sizeof *j->margin)
			  : 0;
}
