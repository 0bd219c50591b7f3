/*
 * Chains of segments: what dptrace/chain.c does to one line, done to all lines of a batch, their k-th segments at a time.
 *
 *	windows		thread = table; the CPU's walk, step by step, since rounding decides where it stops
 *	meet		block = point where two segments meet, thread = link after it, a loop over the links before it
 *	follow		warp = line, from its end; 32 links before at a time, the best by (sum, straightness, lowest)
 *
 * Angles are judged in double precision by the CPU's operations in their order, without contraction (-fmad=false), so every
 * turn is judged alike. The host decides what the sums that come back mean: whether a bound is given up, and which
 * first links of a closed line are tried next.
 *
 * Bound: the recursion between; of their own d^2 comparisons a point, n d a line, and two small copies over the bus a
 * segment of the longest line.
 */
#include "gpu/dptrace_job.h"

#include <string.h>

namespace
{

constexpr unsigned THREADS = 256, WARP = 32;

/* A line whose first link is one of k0..k1; k1 < 0: any. */
struct start {
	unsigned line;
	int k0, k1;
};

/* What passes bring to the host: what rebase() took off, and the largest sum at the end. */
struct sums {
	float taken, most;
};

struct step {
	double x, y;
};

/* --- turns --------------------------------------------------------------------------------------------------------- */

__device__ bool
turn_is_ok(struct bound b, double x1, double y1, double x2, double y2)
{
	const double cross = x1 * y2 - y1 * x2, dot = x1 * x2 + y1 * y2;
	const double size = sqrt((x1 * x1 + y1 * y1) * (x2 * x2 + y2 * y2));

	return fabs(cross) * b.cos - dot * b.sin <= 1e-12 * size;
}

__global__ void
fill_windows(const dp_chains c, size_t n)
{
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	const dp_table w = c.table[i];
	const int mid = w.rows - 1;
	int a = -mid, b = -mid - 1, *lo = c.window + w.at + mid, *hi = lo + (2 * w.rows - 1);

	for (int t = -mid; t <= mid; t++) {
		const double y = t * w.dv;
		while (a <= mid && a * w.dv * w.h2 < y * w.h1 &&
		       !turn_is_ok(w.phi, w.h1, a * w.dv, w.h2, y))
			a++;
		if (b < a - 1)
			b = a - 1;
		while (b < mid && turn_is_ok(w.phi, w.h1, (b + 1) * w.dv, w.h2, y))
			b++;
		lo[t] = a;
		hi[t] = b;
	}
}

/* The step of a link that climbs rows over h, in the picture. */
__device__ step
step_of(const dp_segment &s, double h, int rows)
{
	const double v = rows * s.dv;

	return {h * s.ex - v * s.ey, h * s.ey + v * s.ex};
}

__device__ step
first_step(const dp_chains &c, const dp_segment &s, int k)
{
	const dp_guide *v = c.guide + s.guide;

	return step_of(s, v->h, v[1].o - v->o + k);
}

__device__ step
last_step(const dp_chains &c, const dp_segment &s, int j)
{
	const dp_guide *v = c.guide + s.guide + s.n - 2;

	return step_of(s, v->h, v[1].o - v->o - j);
}

__device__ int
first_links(const dp_chains &c, const dp_segment &s)
{
	return c.guide[s.guide + 1].d;
}

__device__ int
last_links(const dp_chains &c, const dp_segment &s)
{
	return c.guide[s.guide + (size_t)s.n - 2].d;
}

__device__ bool
may_follow(struct bound phi, step a, step b)
{
	return turn_is_ok(phi, a.x, a.y, b.x, b.y);
}

/* --- where segments meet ------------------------------------------------------------------------------------------- */

/* The largest of all threads' v, for all of them. */
__device__ float
block_largest(float v)
{
	__shared__ float part[THREADS / WARP];

	for (int step = WARP / 2; step; step /= 2) {
		const float other = __shfl_xor_sync(~0u, v, step);
		v = other > v ? other : v;
	}
	__syncthreads();
	if (threadIdx.x % WARP == 0)
		part[threadIdx.x / WARP] = v;
	__syncthreads();
	for (unsigned i = 0; i < THREADS / WARP; i++)
		v = part[i] > v ? part[i] : v;
	return v;
}

/* x -= its largest, so that sums over long chains keep their digits; that. A thread keeps to its own x. */
__device__ float
rebase(float *x, int n)
{
	float most = NEVER;

	for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
		most = x[i] > most ? x[i] : most;
	most = block_largest(most);
	if (most > NEVER / 2)
		for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
			x[i] = x[i] > NEVER / 2 ? x[i] - most : NEVER;
	return most;
}

/* entry of first segments. block = line. */
__global__ void
begin(const dp_chains c, const start *from)
{
	const start f = from[blockIdx.x];
	const size_t id = c.line[f.line].seg;
	const int n = first_links(c, c.seg[id]);

	for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
		c.entry[id * c.maxd + (size_t)i] =
		    f.k1 < 0 || (f.k0 <= i && i <= f.k1) ? 0.f : NEVER;
}

/* entry from the exit of the segment before. block = segment. */
__global__ void
__launch_bounds__(THREADS) meet(const dp_chains c, const unsigned *ids, sums *out)
{
	const size_t id = ids[blockIdx.x];
	const dp_segment s = c.seg[id];
	const int n = first_links(c, s);
	float *entry = c.entry + id * c.maxd;

	if (s.k > 0) {
		const dp_segment p = c.seg[id - 1];
		const float *in = c.exit + (id - 1) * c.maxd;
		const int np = last_links(c, p);
		const bool free = c.released[id];
		for (int i = (int)threadIdx.x; i < n; i += (int)THREADS) {
			const step next = first_step(c, s, i);
			float best = NEVER;
			for (int j = 0; j < np; j++)
				if (in[j] > best && (free || may_follow(c.line[s.line].phi,
									last_step(c, p, j), next)))
					best = in[j];
			entry[i] = best;
		}
	}
	const float taken = rebase(entry, n);
	if (threadIdx.x == 0)
		out[blockIdx.x].taken = taken;
}

/* exit from F. block = segment. */
__global__ void
__launch_bounds__(THREADS) pass_out(const dp_chains c, const unsigned *ids, sums *out)
{
	const size_t id = ids[blockIdx.x];
	const dp_segment s = c.seg[id];
	const float *F = c.F + c.guide[s.guide + (size_t)s.n - 2].link;
	const int n = last_links(c, s);
	float most = NEVER;

	for (int j = (int)threadIdx.x; j < n; j += (int)THREADS) {
		c.exit[id * c.maxd + (size_t)j] = F[j];
		most = F[j] > most ? F[j] : most;
	}
	most = block_largest(most);
	if (threadIdx.x == 0)
		out[blockIdx.x].most = most;
}

/* leave of last segments: NEVER where no first link k0..k1 may close the line. block = line. */
__global__ void
__launch_bounds__(THREADS) close_up(const dp_chains c, const start *from, sums *out)
{
	const start f = from[blockIdx.x];
	const dp_line l = c.line[f.line];
	const size_t id = l.seg + (size_t)l.n - 1;
	const dp_segment s = c.seg[id], first = c.seg[l.seg];
	const int n = last_links(c, s);
	float most = NEVER;

	for (int j = (int)threadIdx.x; j < n; j += (int)THREADS) {
		const step last = last_step(c, s, j);
		bool ok = f.k1 < 0;
		for (int k = f.k0; k <= f.k1 && !ok; k++)
			ok = may_follow(l.phi, last, first_step(c, first, k));
		const float leave = ok ? 0.f : NEVER, sum = c.exit[id * c.maxd + (size_t)j] + leave;
		c.leave[id * c.maxd + (size_t)j] = leave;
		most = sum > most ? sum : most;
	}
	most = block_largest(most);
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
	const dp_segment p = c.seg[id - 1];
	const float *H = c.H + c.guide[s.guide].link;
	float *leave = c.leave + (id - 1) * c.maxd;
	const int n = first_links(c, s), np = last_links(c, p);
	const bool free = c.released[id];

	for (int j = (int)threadIdx.x; j < np; j += (int)THREADS) {
		const step last = last_step(c, p, j);
		float best = NEVER;
		for (int i = 0; i < n; i++)
			if (H[i] > best &&
			    (free || may_follow(c.line[s.line].phi, last, first_step(c, s, i))))
				best = H[i];
		leave[j] = best;
	}
	rebase(leave, np);
}

/* --- the way back -------------------------------------------------------------------------------------------------- */

/* A link before: the larger sum, then the straighter turn, then the lower sample. */
struct choice {
	float sum;
	double straight;
	int sample;
};

__device__ bool
is_better(const choice &a, const choice &b)
{
	if (a.sum != b.sum)
		return a.sum > b.sum;
	if (a.straight != b.straight)
		return a.straight > b.straight;
	return a.sample < b.sample;
}

/* The best of a warp's choices. */
__device__ choice
warp_best(choice a)
{
	for (int step = WARP / 2; step; step /= 2) {
		const choice b = {__shfl_xor_sync(~0u, a.sum, step),
				  __shfl_xor_sync(~0u, a.straight, step),
				  __shfl_xor_sync(~0u, a.sample, step)};
		if (is_better(b, a))
			a = b;
	}
	return a;
}

/* The best last link of a segment before the step next, or, at the end, before the way straight on. */
__device__ int
best_last(const dp_chains &c, size_t id, bool end, step next)
{
	const dp_segment s = c.seg[id];
	const struct bound phi = c.line[s.line].phi;
	const float *sum = c.exit + id * c.maxd, *leave = c.leave + id * c.maxd;
	const bool free = end || c.released[id + 1];
	choice best = {2 * NEVER, -INFINITY, 0};

	if (end)
		next = {s.ex, s.ey};
	for (int j = (int)threadIdx.x; j < last_links(c, s); j += (int)WARP) {
		const step a = last_step(c, s, j);
		const float f = end ? sum[j] + leave[j] : sum[j];
		if (f < best.sum || (!free && !may_follow(phi, a, next)))
			continue;
		const double cosine = (a.x * next.x + a.y * next.y) / sqrt(a.x * a.x + a.y * a.y);
		const choice to = {f, cosine, j};
		if (is_better(to, best))
			best = to;
	}
	return warp_best(best).sample;
}

/* The start of the best link to sample j of guide g, when the link after it has slope t. */
__device__ int
best_before(const dp_chains &c, const dp_segment &s, int g, int j, int t)
{
	const dp_guide *v = c.guide + s.guide + g, *u = v - 1;
	const int *lo = c.window + v->before + s.rows - 1, *hi = lo + (2 * s.rows - 1);
	const int climb = v->o - u->o;
	const float *F = c.F + u->link + (size_t)j * (size_t)u->d;
	const double y2 = t * s.dv;
	choice best = {2 * NEVER, -INFINITY, 0};

	for (int i = max(0, j - (hi[t] - climb)) + (int)threadIdx.x;
	     i <= min(u->d - 1, j - (lo[t] - climb)); i += (int)WARP) {
		if (F[i] < best.sum)
			continue;
		const double y1 = (j - i + climb) * s.dv;
		const choice to = {F[i], (u->h * v->h + y1 * y2) / sqrt(u->h * u->h + y1 * y1), i};
		if (is_better(to, best))
			best = to;
	}
	return warp_best(best).sample;
}

/* at of a segment from its last link on. */
__device__ void
follow_segment(const dp_chains &c, const dp_segment &s, int j)
{
	const dp_guide *v = c.guide + s.guide;
	int k = 0;

	for (int g = s.n - 2; g >= 0; g--) {
		const int i = g > 0 ? best_before(c, s, g, j, k - j + v[g + 1].o - v[g].o) : 0;
		if (threadIdx.x == 0) {
			c.at[s.guide + (size_t)g + 1] = k;
			c.link[s.guide + (size_t)g] =
			    c.S[v[g].link + (size_t)j * (size_t)v[g + 1].d + (size_t)k];
		}
		k = j;
		j = i;
	}
	if (threadIdx.x == 0)
		c.at[s.guide] = k;
	__syncwarp();
}

/* at and link of whole lines; whether the closing turn of each is admissible. warp = line. */
__global__ void
follow(const dp_chains c, const start *from, int *closes)
{
	const dp_line l = c.line[from[blockIdx.x].line];
	step next = {0, 0}, last = next;

	for (int k = l.n - 1; k >= 0; k--) {
		const size_t id = l.seg + (size_t)k;
		const dp_segment s = c.seg[id];
		const int j = best_last(c, id, k == l.n - 1, next);
		follow_segment(c, s, j);
		if (k == l.n - 1)
			last = last_step(c, s, j);
		next = first_step(c, s, c.at[s.guide + 1]);
	}
	if (threadIdx.x == 0)
		closes[blockIdx.x] = may_follow(l.phi, last, next);
}

/* --- the host's part ----------------------------------------------------------------------------------------------- */

/* A passage of a line: what is asked, what came of it. */
struct passage {
	unsigned line;
	int k0, k1;
	bool through; /* some polyline goes through */
	bool closes;  /* the optimum, by its own first and last link */
	double best;
};

/* Room on both sides for what goes to and fro; n: the most of each. */
struct lists {
	unsigned *ids, *of; /* segments at work, and the passages they belong to */
	start *from;
	sums *out;
	int *closes;
	unsigned *on_ids;
	start *on_from;
	sums *on_out;
	int *on_closes;
};

int
take_lists(struct dp_job *j, struct lists *l, void **host)
{
	struct arena a = {NULL, 0};
	void *device;

	for (int round = 0; round < 2; round++) {
		a.used = 0;
		l->ids = dp_take<unsigned>(&a, j->nline);
		l->of = dp_take<unsigned>(&a, j->nline);
		l->from = dp_take<start>(&a, j->nline);
		l->out = dp_take<sums>(&a, j->nline);
		l->closes = dp_take<int>(&a, j->nline);
		if (!round && !(*host = a.base = static_cast<char *>(weir_alloc(a.used, 1))))
			return -ENOMEM;
	}
	const int err = gpu_hold(j->g, HOLD_LIST, a.used, &device);
	a = {static_cast<char *>(device), 0};
	l->on_ids = dp_take<unsigned>(&a, j->nline);
	l->on_from = dp_take<start>(&a, j->nline);
	l->on_out = dp_take<sums>(&a, j->nline);
	l->on_closes = dp_take<int>(&a, j->nline);
	return err;
}

/* The segments of l->ids[0..n), from their entries to their exits. */
int
pass(struct dp_job *j, const struct lists *l, unsigned n)
{
	int err = gpu_up(j->g, l->on_ids, l->ids, n * sizeof *l->ids);

	if (err || (err = gpu_begin(j->g)))
		return err;
	GPU_LAUNCH(j->g, meet, n, THREADS, 0, j->on, l->on_ids, l->on_out);
	if ((err = dp_forward(j, l->on_ids, n)))
		return err;
	GPU_LAUNCH(j->g, pass_out, n, THREADS, 0, j->on, l->on_ids, l->on_out);
	if ((err = gpu_end(j->g)))
		return err;
	return gpu_down(j->g, l->out, l->on_out, n * sizeof *l->out);
}

/*
 * Of the n segments just passed, those that no polyline goes through: they are tried again without a bound at their start,
 * if that is allowed, and their number is returned; the others' passages are done with or have failed.
 */
unsigned
look_over(struct dp_job *j, const struct lists *l, struct passage *p, unsigned n, bool release)
{
	unsigned again = 0;

	for (unsigned i = 0; i < n; i++) {
		const unsigned id = l->ids[i];
		struct passage *q = &p[l->of[i]];
		if (l->out[i].most > NEVER / 2) {
			q->best += (double)l->out[i].taken;
		} else if (!release || j->seg[id].k == 0 || j->released[id]) {
			q->through = false;
		} else {
			j->released[id] = 1;
			l->ids[again] = id;
			l->of[again++] = l->of[i];
		}
	}
	return again;
}

int
send_released(struct dp_job *j)
{
	return gpu_up(j->g, j->on.released, j->released, j->nseg * sizeof *j->released);
}

int
send_starts(struct dp_job *j, const struct lists *l, const struct passage *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		l->from[i] = {p[i].line, p[i].k0, p[i].k1};
	return gpu_up(j->g, l->on_from, l->from, n * sizeof *l->from);
}

/* chain.c's go(), for n passages. */
int
go(struct dp_job *j, const struct lists *l, struct passage *p, unsigned n, bool release)
{
	int most = 0, err = send_starts(j, l, p, n);

	if (err)
		return err;
	GPU_LAUNCH(j->g, begin, n, THREADS, 0, j->on, l->on_from);
	for (unsigned i = 0; i < n; i++) {
		p[i].through = true;
		p[i].best = 0;
		most = j->line[p[i].line].n > most ? j->line[p[i].line].n : most;
	}
	for (int k = 0; k < most; k++) {
		unsigned count = 0;
		for (unsigned i = 0; i < n; i++)
			if (p[i].through && k < j->line[p[i].line].n) {
				l->ids[count] = (unsigned)(j->line[p[i].line].seg + (size_t)k);
				l->of[count++] = i;
			}
		while (count) {
			if ((err = pass(j, l, count)))
				return err;
			count = look_over(j, l, p, count, release);
			if (count && (err = send_released(j)))
				return err;
		}
	}
	return 0;
}

/* The sums that passages that went through reach at the end, and their polylines. */
int
finish(struct dp_job *j, const struct lists *l, struct passage *p, unsigned n)
{
	int err = send_starts(j, l, p, n);

	if (err || (err = gpu_begin(j->g)))
		return err;
	GPU_LAUNCH(j->g, close_up, n, THREADS, 0, j->on, l->on_from, l->on_out);
	GPU_LAUNCH(j->g, follow, n, WARP, 0, j->on, l->on_from, l->on_closes);
	if ((err = gpu_end(j->g)) ||
	    (err = gpu_down(j->g, l->out, l->on_out, n * sizeof *l->out)) ||
	    (err = gpu_down(j->g, l->closes, l->on_closes, n * sizeof *l->closes)))
		return err;
	for (unsigned i = 0; i < n; i++) {
		p[i].best =
		    l->out[i].most > NEVER / 2 ? p[i].best + (double)l->out[i].most : (double)NEVER;
		p[i].closes = l->closes[i];
	}
	return 0;
}

/* Keeps those of p[0..n) that went through, in order; how many. */
unsigned
keep_through(struct passage *p, unsigned n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++)
		if (p[i].through)
			p[kept++] = p[i];
	return kept;
}

/* --- closed lines -------------------------------------------------------------------------------------------------- */

/* chain.c's close_best() of one line, an attempt at a time. */
struct closing {
	unsigned line;
	enum { WHOLE, CHOSEN, LEFT, RIGHT, DONE } at;
	struct branch *branch; /* those that are known, and the one tried now */
	int n, i;
	struct branch chosen;
};

/* The largest bound is tried again, or halved; without any there is no polyline. */
void
choose_branch(struct closing *c)
{
	c->i = 0;
	for (int m = 1; m < c->n; m++)
		if (c->branch[m].bound > c->branch[c->i].bound)
			c->i = m;
	c->chosen = c->branch[c->i];
	c->at = closing::CHOSEN;
	if (c->chosen.bound <= (double)NEVER / 2) {
		c->chosen = {0, -1, 0};
		c->at = closing::DONE;
	} else if (c->chosen.k0 == c->chosen.k1) {
		c->at = closing::DONE;
	}
}

/* The first links to try now. */
struct branch *
branch_to_try(struct closing *c)
{
	return c->at == closing::CHOSEN ? &c->chosen
	       : c->at == closing::LEFT ? &c->branch[c->i]
					: &c->branch[c->n - 1];
}

/* After an attempt. */
void
go_on(struct closing *c, bool agrees)
{
	const struct branch b = c->chosen;

	switch (c->at) {
	case closing::WHOLE:
		c->chosen = c->branch[0];
		if (agrees)
			c->at = closing::DONE;
		else
			choose_branch(c);
		break;
	case closing::CHOSEN:
		if (agrees) {
			c->at = closing::DONE;
			break;
		}
		c->branch[c->i] = {b.k0, (b.k0 + b.k1) / 2, 0};
		c->branch[c->n++] = {(b.k0 + b.k1) / 2 + 1, b.k1, 0};
		c->at = closing::LEFT;
		break;
	case closing::LEFT:
		c->at = closing::RIGHT;
		break;
	default:
		choose_branch(c);
	}
}

/* An attempt for every line that is not done. */
int
try_branches(struct dp_job *j, const struct lists *l, struct closing *c, unsigned n,
	     struct passage *p)
{
	unsigned count = 0, at = 0;
	int err;

	for (unsigned i = 0; i < n; i++)
		if (c[i].at != closing::DONE)
			p[count++] = {c[i].line,
				      branch_to_try(&c[i])->k0,
				      branch_to_try(&c[i])->k1,
				      false,
				      false,
				      0};
	if ((err = go(j, l, p, count, false)))
		return err;
	count = keep_through(p, count);
	if (count && (err = finish(j, l, p, count)))
		return err;
	for (unsigned i = 0; i < n; i++) {
		if (c[i].at == closing::DONE)
			continue;
		const bool through = at < count && p[at].line == c[i].line;
		const double bound = through ? p[at].best : (double)NEVER;
		branch_to_try(&c[i])->bound = bound;
		go_on(&c[i], bound > (double)NEVER / 2 && p[at].closes);
		at += through;
	}
	return 0;
}

bool
all_done(const struct closing *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (c[i].at != closing::DONE)
			return false;
	return true;
}

/* The first links of all closed lines into p[line]; lines that cannot be closed are released at their start. */
int
close_lines(struct dp_job *j, const struct lists *l, struct passage *p, struct passage *scratch,
	    struct closing *c, struct branch *room)
{
	unsigned n = 0, count = 0;
	int err;

	for (unsigned i = 0; i < j->nline; i++)
		if (j->closed[i])
			scratch[count++] = {i, 0, -1, false, false, 0};
	if (!count || (err = go(j, l, scratch, count, true)))
		return count ? err : 0;
	count = keep_through(scratch, count);
	for (; n < count; n++) {
		const unsigned line = scratch[n].line;
		const int d = j->guide[j->seg[j->line[line].seg].guide + 1].d;
		c[n] = {line, closing::WHOLE, room + 2 * (size_t)n * j->on.maxd, 1, 0, {0, 0, 0}};
		c[n].branch[0] = {0, d - 1, 0};
	}
	while (!all_done(c, n))
		if ((err = try_branches(j, l, c, n, scratch)))
			return err;
	for (unsigned i = 0; i < n; i++) {
		p[c[i].line].k0 = c[i].chosen.k0;
		p[c[i].line].k1 = c[i].chosen.k1;
		j->released[j->line[c[i].line].seg] = c[i].chosen.k1 < 0;
	}
	return send_released(j);
}

/* --- all of it ----------------------------------------------------------------------------------------------------- */

/* H and margins of all lines that are solved, their segments from the last on. */
int
find_margins(struct dp_job *j, const struct lists *l, const struct passage *p, unsigned n)
{
	int most = 0, err;

	for (unsigned i = 0; i < n; i++)
		most = j->line[p[i].line].n > most ? j->line[p[i].line].n : most;
	for (int back = 1; back <= most; back++) {
		unsigned count = 0;
		for (unsigned i = 0; i < n; i++) {
			const dp_line *of = &j->line[p[i].line];
			if (back <= of->n)
				l->ids[count++] = (unsigned)(of->seg + (size_t)(of->n - back));
		}
		if ((err = gpu_up(j->g, l->on_ids, l->ids, count * sizeof *l->ids)) ||
		    (err = gpu_begin(j->g)) || (err = dp_backward(j, l->on_ids, count)))
			return err;
		GPU_LAUNCH(j->g, meet_back, count, THREADS, 0, j->on, l->on_ids);
		if ((err = gpu_end(j->g)))
			return err;
	}
	return 0;
}

/* p and q: [lines]. */
int
solve(struct dp_job *j, const struct lists *l, struct passage *p, struct passage *q,
      struct closing *c, struct branch *room)
{
	unsigned n = (unsigned)j->nline;
	int err = gpu_begin(j->g);

	if (err)
		return err;
	if (j->ntable)
		GPU_LAUNCH(j->g, fill_windows, (unsigned)((j->ntable + WARP - 1) / WARP), WARP, 0,
			   j->on, j->ntable);
	if ((err = gpu_end(j->g)))
		return err;
	for (unsigned i = 0; i < n; i++) {
		p[i] = {i, 0, -1, false, false, 0};
		j->solved[i] = false;
	}
	memset(j->released, 0, j->nseg * sizeof *j->released);
	if ((err = send_released(j)) || (err = close_lines(j, l, p, q, c, room)) ||
	    (err = go(j, l, p, n, true)))
		return err;
	for (unsigned i = 0; i < n; i++)
		j->best[i] = p[i].best;
	n = keep_through(p, n);
	if (n && ((err = finish(j, l, p, n)) || (j->margins && (err = find_margins(j, l, p, n)))))
		return err;
	for (unsigned i = 0; i < n; i++) {
		j->solved[p[i].line] = true;
		j->best[p[i].line] = p[i].best;
	}
	if ((err = gpu_down(j->g, j->at, j->on.at, j->nguide * sizeof *j->at)) ||
	    (err = gpu_down(j->g, j->link, j->on.link, j->nguide * sizeof *j->link)))
		return err;
	return j->margins ? gpu_down(j->g, j->margin, j->on.margin, j->nguide * sizeof *j->margin)
			  : 0;
}

} // namespace

int
dp_solve(struct dp_job *j)
{
	const size_t n = j->nline;
	size_t closed = 0;
	struct arena a = {NULL, 0};
	struct lists l;
	void *host = NULL;
	int err = -ENOMEM;

	for (size_t i = 0; i < n; i++)
		closed += j->closed[i];
	for (int round = 0; round < 2; round++) {
		a.used = 0;
		struct passage *p = dp_take<struct passage>(&a, n),
			       *q = dp_take<struct passage>(&a, n);
		struct closing *c = dp_take<struct closing>(&a, closed);
		struct branch *room = dp_take<struct branch>(&a, 2 * closed * j->on.maxd);
		if (a.base)
			err = (err = take_lists(j, &l, &host)) ? err : solve(j, &l, p, q, c, room);
		else if (!(a.base = static_cast<char *>(weir_alloc(a.used, 1))))
			break;
	}
	weir_free(host);
	weir_free(a.base);
	return err;
}
