/*
 * The recursion in O(d^2) per guide.
 *
 *	F_g[j -> k] = S_g[j -> k] + max { F_g-1[i -> j] : the turn from i -> j to j -> k is admissible }
 *
 * Seredin takes the maximum over i anew for each j and k. For fixed j the admissible i are an interval that slides one
 * way as k grows. So this is a sliding-window maximum, O(1) amortised. With equal sample steps the window is the same for
 * all j, so LANES samples slide at once. A queue of two stacks holds the window:
 *
 *	row   lo ......... mid | mid+1 ........ hi
 *	      suffix[lo..mid]  | back              maximum of the window = max(suffix[lo], back)
 *
 * back takes in rows as hi grows. When lo passes mid, the suffix maxima of the rows in back are made, once per row. While
 * lo stays at the first row, none are made, so phi = 180 degrees costs as much as first-order Viterbi.
 *
 * The method d3 compares all rows of each window anew, as Seredin does. A maximum is the same in any order, so the sums are
 * the same floats.
 */
#include <limits.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "dptrace/numbers.h"
#include "dptrace/search/chain.h"

/* ---- windows ---- */

/* Computes what depends on the guides alone: windows of admissible slopes, reachable links, and the memory of the gaps. */

enum { NOWHERE = INT_MAX / 4 };

void *
arena_take(struct arena *a, size_t n, size_t size)
{
	const size_t at = (a->used + WEIR_ALIGN - 1) / WEIR_ALIGN * WEIR_ALIGN;

	a->used = (at + n * size + WEIR_ALIGN - 1) / WEIR_ALIGN * WEIR_ALIGN;
	return a->base ? a->base + at : NULL;
}

void
segment_take(struct segment *s, struct arena *a, int n, int rows, int maxd, bool margins,
	     int threads)
{
	const size_t slopes = 2 * (size_t)rows - 1, links = 2 * (size_t)maxd;

	s->c.h = arena_take(a, (size_t)n, sizeof *s->c.h);
	s->c.d = arena_take(a, (size_t)n, sizeof *s->c.d);
	s->c.o = arena_take(a, (size_t)n, sizeof *s->c.o);
	s->gap = arena_take(a, (size_t)n, sizeof *s->gap);
	s->before = arena_take(a, (size_t)n, sizeof *s->before);
	s->after = arena_take(a, (size_t)n, sizeof *s->after);
	s->suffix_len = links * LANES;
	s->suffix = arena_take(a, (size_t)threads * s->suffix_len, sizeof *s->suffix);
	s->through = arena_take(a, (size_t)n * (size_t)maxd, sizeof *s->through);
	s->queue = arena_take(a, 3 * links, sizeof *s->queue);
	s->tables = arena_take(a, 4 * (size_t)n * slopes, sizeof *s->tables);
	const size_t plane = links * row_length(maxd);
	float *H[2] = {NULL, NULL};
	for (int i = 0; margins && i < 2; i++)
		H[i] = arena_take(a, plane, sizeof *H[i]);
	for (int g = 0; g + 1 < n; g++) {
		int *from = arena_take(a, 2 * links, sizeof *from);
		float *F = arena_take(a, plane, sizeof *F);
		float *S = margins ? arena_take(a, plane, sizeof *S) : NULL;
		if (a->base)
			s->gap[g] = (struct gap){.from = from,
						 .to = from ? from + links : NULL,
						 .F = F,
						 .S = S,
						 .H = H[g % 2]};
	}
}

/* The series have an error of 1e-14. They are the same to the last bit on any CPU, as dptrace/numbers.h asks. */
struct bound
bound_of(double phi)
{
	enum { HALVINGS = 3, TERMS = 9 };
	double term = phi / (1 << HALVINGS), square = term * term, s = term, c = 1, even = 1;

	for (int i = 1; i < TERMS; i++) {
		even = -even * square / ((2 * i - 1) * (2 * i));
		term = -term * square / ((2 * i) * (2 * i + 1));
		c += even;
		s += term;
	}
	for (int i = 0; i < HALVINGS; i++) {
		const double twice = 2 * s * c;
		c = (c - s) * (c + s);
		s = twice;
	}
	return (struct bound){c, s};
}

int
course_climb(const struct course *c)
{
	int most = 0;

	for (int g = 0; g + 1 < c->n; g++) {
		const int up = c->o[g + 1] + c->d[g + 1] - 1 - c->o[g],
			  down = c->o[g] + c->d[g] - 1 - c->o[g + 1];
		most = at_least(most, at_least(up, down));
	}
	return c->steepest && c->steepest < most ? c->steepest : most;
}

/* Finds the windows at a guide. For each t the admissible t' are an interval lo..hi, and it moves up with t. */
static void
fill_windows(struct windows *w, const struct course *c, struct bound phi)
{
	const int mid = c->rows - 1, most = course_climb(c);
	int a = -most, b = -most - 1;

	for (int t = -mid; t <= mid; t++) { /* Windows beyond most stay empty. */
		w->lo[t + mid] = t < 0 ? -most : most + 1;
		w->hi[t + mid] = w->lo[t + mid] - 1;
	}
	for (int t = -most; t <= most; t++) {
		double y = t * c->dv;
		while (a <= most && a * c->dv * w->h2 < y * w->h1 &&
		       !turn_ok(phi, w->h1, a * c->dv, w->h2, y))
			a++;
		if (b < a - 1)
			b = a - 1;
		while (b < most && turn_ok(phi, w->h1, (b + 1) * c->dv, w->h2, y))
			b++;
		w->lo[t + mid] = a;
		w->hi[t + mid] = b;
	}
}

/*
 * The windows at a guide between gaps of h1 and h2. They are those of the guide before (last) where its spacings are the
 * same, else new ones at *next.
 */
static struct windows
windows_of(const struct segment *s, const struct windows *last, double h1, double h2,
	   struct bound phi, int **next)
{
	const size_t slopes = 2 * (size_t)s->c.rows - 1;
	struct windows w = {h1, h2, *next, *next + slopes};

	if (last && last->h1 == h1 && last->h2 == h2)
		return *last;
	*next += 2 * slopes;
	fill_windows(&w, &s->c, phi);
	return w;
}

static void
make_windows(struct segment *s, struct bound phi)
{
	int *next = s->tables;

	for (int g = 1; g < s->c.n - 1; g++) {
		double h1 = s->c.h[g - 1], h2 = s->c.h[g];
		s->before[g] = windows_of(s, g > 1 ? &s->before[g - 1] : NULL, h1, h2, phi, &next);
		s->after[g] =
		    h1 == h2 ? s->before[g]
			     : windows_of(s, g > 1 ? &s->after[g - 1] : NULL, h2, h1, phi, &next);
	}
}

/*
 * out[r] = the minimum of in[l..h] over the window l..h of row r, or NOWHERE when the window is empty. Windows move up
 * with r. The queue holds candidates with rising values, so the first one is the minimum.
 */
static void
slide_min(const struct gap *og, const struct gap *ig, const int *lo, const int *hi, const int *in,
	  int *queue, int *out)
{
	int head = 0, tail = 0, next = 0;

	for (int r = 0; r < og->nrow; r++) {
		int t = r + og->s0 + og->climb, l = lo[t] - ig->climb - ig->s0,
		    h = hi[t] - ig->climb - ig->s0;
		for (; next <= h && next < ig->nrow; next++) {
			while (tail > head && in[queue[tail - 1]] >= in[next])
				tail--;
			queue[tail++] = next;
		}
		while (head < tail && queue[head] < l)
			head++;
		out[r] = head < tail ? in[queue[head]] : NOWHERE;
	}
}

/*
 * Does slide_min() where in never falls (sign 1) or never rises (sign -1) over rows a..b, and is NOWHERE elsewhere. The
 * minimum is then at one end of the window.
 */
WEIR_CLONES(slide_end,
	    (const struct gap *og, const struct gap *ig, const int *restrict lo,
	     const int *restrict hi, const int *restrict in, int a, int b, int sign,
	     int *restrict out),
	    (og, ig, lo, hi, in, a, b, sign, out))
{
	for (int r = 0; r < og->nrow; r++) {
		int t = r + og->s0 + og->climb, l = lo[t] - ig->climb - ig->s0,
		    h = hi[t] - ig->climb - ig->s0;
		l = at_least(l, a);
		h = at_most(h, b);
		out[r] = l <= h ? in[sign > 0 ? l : h] : NOWHERE;
	}
}

/*
 * Says how in goes from row a to row b, its first and last rows that are not NOWHERE. Returns 1 when it never falls, -1
 * when it never rises, else 0.
 */
WEIR_CLONES_OF(int, trend, (const int *in, int n, int *a, int *b), (in, n, a, b))
{
	int down = 0, up = 0;

	for (*a = 0; *a < n && in[*a] == NOWHERE;)
		++*a;
	for (*b = n - 1; *b > *a && in[*b] == NOWHERE;)
		--*b;
	for (int r = *a + 1; r <= *b; r++) {
		down += in[r] < in[r - 1];
		up += in[r] > in[r - 1];
	}
	return !down ? 1 : !up ? -1 : 0;
}

/*
 * Narrows from..to of gap og to the links that can follow (sign 1: ig is the gap before) or precede (sign -1: ig is the
 * gap after) a reachable link of ig. The samples of the common guide that a window of rows touches are kept as one
 * interval, its lower end for side 0 and its upper end, negated, for side 1.
 */
static void
narrow(struct segment *s, struct gap *og, const struct gap *ig, const struct windows *w, int sign)
{
	const int mid = s->c.rows - 1;
	const size_t links = 2 * (size_t)s->c.maxd;
	int *edge = s->queue + links, *x = s->queue + 2 * links;

	for (int side = 0; side < 2; side++) {
		for (int r = 0; r < ig->nrow; r++) {
			int shift = sign > 0 ? r + ig->s0 : 0;
			bool none = ig->from[r] >= ig->to[r];
			edge[r] = none	 ? NOWHERE
				  : side ? -(ig->to[r] + shift)
					 : ig->from[r] + shift;
		}
		int a, b, way = trend(edge, ig->nrow, &a, &b);
		if (way)
			slide_end(og, ig, w->lo + mid, w->hi + mid, edge, a, b, way, x);
		else
			slide_min(og, ig, w->lo + mid, w->hi + mid, edge, s->queue, x);
		for (int r = 0; r < og->nrow; r++) {
			int shift = sign > 0 ? 0 : r + og->s0;
			if (side)
				og->to[r] = at_most(-x[r] - shift, og->to[r]);
			else
				og->from[r] = at_least(x[r] - shift, og->from[r]);
		}
	}
}

void
segment_shape(struct segment *s, struct bound phi)
{
	const struct course *c = &s->c;
	const int most = course_climb(c);

	make_windows(s, phi);
	for (int g = 0; g + 1 < c->n; g++) {
		struct gap *gap = &s->gap[g];
		gap->climb = c->o[g + 1] - c->o[g];
		/* An inner gap has the slopes that climb at most most rows, the first and the last one a row for each sample. */
		const bool inner = g > 0 && g < c->n - 2;
		gap->s0 = at_least(1 - c->d[g], inner ? -most - gap->climb : INT_MIN);
		gap->nrow =
		    at_most(c->d[g + 1] - 1, inner ? most - gap->climb : INT_MAX) + 1 - gap->s0;
		gap->nrow = at_least(gap->nrow, 0);
		gap->ldf = row_length(c->d[g + 1]);
		gap->lds = row_length(c->d[g]);
		for (int r = 0; r < gap->nrow; r++) {
			const int slope = r + gap->s0, t = slope + gap->climb;
			gap->from[r] = at_least(-slope, 0);
			gap->to[r] = at_most(c->d[g], c->d[g + 1] - slope);
			if (t < -most || t > most)
				gap->to[r] = gap->from[r];
		}
	}
	for (int g = 1; g + 1 < c->n; g++)
		narrow(s, &s->gap[g], &s->gap[g - 1], &s->before[g], 1);
	for (int g = c->n - 3; g >= 0; g--)
		narrow(s, &s->gap[g], &s->gap[g + 1], &s->after[g + 1], -1);
}

/* ---- the recursion ---- */

/* The computation of one gap from its neighbour: forward from the gap before, backward from the gap after. */
struct sweep {
	const float *in; /* rows r0 .. of the neighbour, by the sample on the common guide */
	size_t ldin;
	int r0, nin, climb_in;
	const int *lo, *hi; /* by slope t of the gap computed, entry t + mid */
	int mid;
	const struct segment *s;
	int g, sign; /* 1 forward, -1 backward */
	/* samples of the common guide, of the guide before it in this direction, and of the guide after it */
	int d, din, dout;
	bool cubic; /* every window by itself, in O(d^3) */
};

static inline __attribute__((always_inline)) void
max_into(float *restrict b, const float *restrict f, int n)
{
	for (int x = 0; x < n; x++)
		b[x] = f[x] > b[x] ? f[x] : b[x];
}

static inline __attribute__((always_inline)) void
max_of(float *restrict o, const float *restrict f, const float *restrict g, int n)
{
	for (int x = 0; x < n; x++)
		o[x] = f[x] > g[x] ? f[x] : g[x];
}

/* suffix[r - first] = the maximum of rows r..top, for r = from..top. */
static inline __attribute__((always_inline)) void
turn_over(float *restrict suffix, const float *restrict row, size_t ld, int first, int from,
	  int top, int n)
{
	float *o = suffix + (size_t)(top - first) * LANES;

	memcpy(o, row + (size_t)(top - first) * ld, (size_t)n * sizeof *o);
	for (int r = top - 1; r >= from; r--) {
		o -= LANES;
		max_of(o, row + (size_t)(r - first) * ld, o + LANES, n);
	}
}

/* o[0..n) = the maximum of that many rows. */
static inline __attribute__((always_inline)) void
max_of_rows(float *restrict o, const float *restrict row, size_t ld, int rows, int n)
{
	for (int x = 0; x < n; x += GROUP) {
		float best[GROUP];
		for (int k = 0; k < GROUP; k++)
			best[k] = NEVER;
		for (int r = 0; r < rows; r++)
			max_into(best, row + (size_t)r * ld + x, GROUP);
		memcpy(o + x, best, sizeof best);
	}
}

/*
 * The scores of row s; element 0 belongs to lane x0. Forward they are computed here, and kept if the gap has S. Backward
 * they are those kept.
 */
static inline const float *
scores_of(const struct sweep *w, const struct gap *gap, int s, int x0, int a, int b, float *room)
{
	float *kept = gap->S ? row_of(gap, gap->S, gap->lds, s) : NULL;

	if (w->sign < 0)
		return kept + x0 - s;
	if (kept)
		room = kept + x0;
	w->s->score(w->s, w->g, s, x0, (a - x0) / GROUP * GROUP,
		    (b - x0 + GROUP - 1) / GROUP * GROUP, room);
	return room;
}

/* Computes all rows of the gap for lanes x0..x1-1 of the common guide. n is x1 - x0 rounded up to whole groups. */
WEIR_CLONES(sweep_block, (const struct sweep *w, int x0, int x1, int n, float *restrict suffix),
	    (w, x0, x1, n, suffix))
{
	const struct gap *gap = &w->s->gap[w->g];
	int first, last, s, send, top, base;
	float back[LANES], room[LANES];
	const float *row;

	/* first..last: rows of the neighbour that have links at these lanes. s..send-1: rows of the gap that do. */
	if (w->sign > 0) {
		first = x0 - (w->din - 1), last = x1 - 1;
		s = -(x1 - 1), send = w->dout - x0;
	} else {
		first = -(x1 - 1), last = w->din - 1 - x0;
		s = x0 - (w->dout - 1), send = x1;
	}
	first = at_least(first, w->r0);
	last = at_most(last, w->r0 + w->nin - 1);
	s = at_least(s, gap->s0);
	send = at_most(send, gap->s0 + gap->nrow);
	row = w->in + (size_t)(first - w->r0) * w->ldin + x0;
	top = first - 1, base = first;
	for (int x = 0; x < LANES; x++)
		back[x] = NEVER;
	for (; s < send; s++) {
		const int t = s + gap->climb + w->mid, shift = w->sign > 0 ? 0 : s;
		/* The samples of the common guide at which row s has links. */
		const int a = at_least(x0, gap->from[s - gap->s0] + shift),
			  b = at_most(x1, gap->to[s - gap->s0] + shift);
		int l = at_least(w->lo[t] - w->climb_in, first),
		    h = at_most(w->hi[t] - w->climb_in, last);
		float *o = w->sign > 0 ? row_of(gap, gap->F, gap->ldf, s) + x0 + s
				       : row_of(gap, gap->H, gap->lds, s) + x0 - s;

		if (a >= b || l > h) {
			for (int x = a - x0; x < b - x0; x++)
				o[x] = NEVER;
			continue;
		}
		if (w->cubic)
			max_of_rows(back, row + (size_t)(l - first) * w->ldin, w->ldin, h - l + 1,
				    n);
		while (!w->cubic && top < h)
			max_into(back, row + (size_t)(++top - first) * w->ldin, n);
		if (!w->cubic && l > base) {
			turn_over(suffix, row, w->ldin, first, l, top, n);
			base = top + 1;
			for (int x = 0; x < LANES; x++)
				back[x] = NEVER;
		}

		const float *front = l < base ? suffix + (size_t)(l - first) * LANES : back;
		const float *score = scores_of(w, gap, s, x0, a, b, room);
		for (int x = a - x0; x < b - x0; x++)
			o[x] = (front[x] > back[x] ? front[x] : back[x]) + score[x];
	}
}

static void
empty_row(float *row, size_t ld)
{
	for (size_t x = 0; x < ld; x++)
		row[x] = NEVER;
}

/*
 * Writes NEVER to the impossible links in n rows of F or H: those outside from..to-1. from and to are shifted by shift,
 * which grows by step from row to row.
 */
WEIR_CLONES(mask_rows,
	    (float *restrict rows, size_t ld, const int *restrict from, const int *restrict to,
	     int n, int shift, int step),
	    (rows, ld, from, to, n, shift, step))
{
	for (int r = 0; r < n; r++, rows += ld, shift += step) {
		const int a = from[r] + shift, b = to[r] + shift;
		const bool none = a >= b;
		for (int x = 0; x < (int)ld; x++)
			rows[x] = (none | (x < a) | (x >= b)) ? NEVER : rows[x];
	}
}

/* The computation of gap g forward (sign 1), or backward (-1). */
static struct sweep
sweep_of(const struct segment *s, int g, int sign)
{
	const int *d = s->c.d + (sign > 0 ? g : g + 1);
	const struct gap *in = &s->gap[g - sign];
	const struct windows *w = sign > 0 ? &s->before[g] : &s->after[g + 1];

	return (struct sweep){.in = sign > 0 ? in->F : in->H,
			      .ldin = sign > 0 ? in->ldf : in->lds,
			      .r0 = in->s0,
			      .nin = in->nrow,
			      .climb_in = in->climb,
			      .lo = w->lo,
			      .hi = w->hi,
			      .mid = s->c.rows - 1,
			      .s = s,
			      .g = g,
			      .sign = sign,
			      .d = *d,
			      .din = d[-sign],
			      .dout = d[sign]};
}

static void
run_sweep(const struct sweep *w, int threads)
{
	const struct gap *gap = &w->s->gap[w->g];
	const int blocks = (w->d + LANES - 1) / LANES;

#pragma omp parallel num_threads(threads) if (threads > 1 && w->d * gap->nrow >= WORTH_SHARING)
	{
		float *suffix = w->s->suffix + (size_t)omp_get_thread_num() * w->s->suffix_len;
/* All rows are masked before any block is swept, because masking rewrites whole rows, their possible links included. */
#pragma omp for schedule(static)
		for (int r = 0; r < gap->nrow; r += LANES) {
			const size_t ld = w->sign > 0 ? gap->ldf : gap->lds;
			mask_rows((w->sign > 0 ? gap->F : gap->H) + (size_t)r * ld, ld,
				  gap->from + r, gap->to + r, at_most(LANES, gap->nrow - r),
				  w->sign > 0 ? r + gap->s0 : 0, w->sign > 0);
		}
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < blocks; i++) {
			int x0 = i * LANES, x1 = at_most(w->d, x0 + LANES);
			sweep_block(w, x0, x1, (int)lanes_up(x1 - x0), suffix);
		}
	}
}

/* Computes F of gap 0. The link from sample j to sample k of guide 1 has entry j * d[1] + k. */
static void
enter(struct segment *s, const float *entry)
{
	const struct gap *gap = &s->gap[0];
	const int d = s->c.d[1];
	float room[LANES];

	for (int r = 0; r < gap->nrow; r++) {
		const int slope = r + gap->s0;
		float *f = gap->F + (size_t)r * gap->ldf;
		float *score = gap->S ? gap->S + (size_t)r * gap->lds : room;
		empty_row(f, gap->ldf);
		for (int j = gap->from[r]; j < gap->to[r]; j++) {
			const int first = j / GROUP * GROUP;
			if (j == gap->from[r] || j == first)
				s->score(s, 0, slope, first, 0, GROUP,
					 score + (gap->S ? first : 0));
			f[j + slope] =
			    score[gap->S ? j : j - first] + entry[(size_t)(j * d + j + slope)];
		}
	}
}

void
recur_forward(struct segment *s, const float *entry, enum dptrace_method method, int threads)
{
	enter(s, entry);
	for (int g = 1; g < s->c.n - 1; g++) {
		struct sweep w = sweep_of(s, g, 1);
		w.cubic = method == DPTRACE_D3;
		run_sweep(&w, threads);
	}
}

WEIR_CLONES(through_row,
	    (float *restrict best, const float *restrict f, const float *restrict h,
	     const float *restrict s, int a, int b),
	    (best, f, h, s, a, b))
{
	for (int j = a; j < b; j++) {
		float sum = f[j] + (h[j] - s[j]);
		best[j] = sum > best[j] ? sum : best[j];
	}
}

/* Computes through of guide g, where gap g starts. H of gap g must be there. */
static void
find_through(struct segment *s, int g)
{
	const struct gap *gap = &s->gap[g];
	float *best = s->through + (size_t)g * (size_t)s->c.maxd;

	for (int j = 0; j < s->c.d[g]; j++)
		best[j] = 2 * NEVER;
	for (int r = 0; r < gap->nrow; r++) {
		size_t kept = (size_t)r * gap->lds;
		through_row(best, gap->F + (size_t)r * gap->ldf + r + gap->s0, gap->H + kept,
			    gap->S + kept, gap->from[r], gap->to[r]);
	}
}

void
recur_backward(struct segment *s, const float *leave, int threads)
{
	const struct gap *gap = &s->gap[s->c.n - 2];

	for (int r = 0; r < gap->nrow; r++) { /* H of the last gap */
		float *h = gap->H + (size_t)r * gap->lds;

		empty_row(h, gap->lds);
		for (int j = gap->from[r]; j < gap->to[r]; j++)
			h[j] = gap->S[(size_t)r * gap->lds + (size_t)j] +
			       leave[j * s->c.d[s->c.n - 1] + j + r + gap->s0];
	}
	find_through(s, s->c.n - 2);
	for (int g = s->c.n - 3; g >= 0; g--) {
		const struct sweep w = sweep_of(s, g, -1);
		run_sweep(&w, threads);
		find_through(s, g);
	}
}

/* The start sample of the best link to sample j of guide g, when the link after it climbs t rows. */
static int
best_before(const struct segment *s, int g, int j, int t)
{
	const struct gap *in = &s->gap[g - 1];
	const int *lo = s->before[g].lo + s->c.rows - 1, *hi = s->before[g].hi + s->c.rows - 1;
	const double *h = s->c.h + g, dv = s->c.dv;
	struct choice best = {2 * NEVER, -INFINITY, 0, 0};

	for (int i = at_least(0, j - (hi[t] - in->climb));
	     i <= at_most(s->c.d[g - 1] - 1, j - (lo[t] - in->climb)); i++) {
		float f = row_of(in, in->F, in->ldf, j - i)[j];
		if (f < best.sum)
			continue;
		const struct choice by = {
		    f, straightness(h[-1], (j - i + in->climb) * dv, h[0], t * dv), 0, i};
		if (is_better(&by, &best))
			best = by;
	}
	return best.link;
}

void
recur_trace(const struct segment *s, int *at)
{
	for (int g = s->c.n - 2; g >= 1; g--)
		at[g - 1] = best_before(s, g, at[g], at[g + 1] - at[g] + s->gap[g].climb);
}
