/* Computes what depends on the guides alone: windows of admissible slopes, reachable links, and the memory of the gaps. */
#include <limits.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "dptrace/libm.h"
#include "dptrace/search/segment.h"

enum { NOWHERE = INT_MAX / 4 };

void *
arena_take(struct arena *a, size_t n, size_t size)
{
	size_t at = a->used;

	a->used += (n * size + WEIR_ALIGN - 1) / WEIR_ALIGN * WEIR_ALIGN;
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

struct bound
bound_of(double phi)
{
	struct bound b;

	libm_sincos(phi, &b.sin, &b.cos);
	return b;
}

int
course_climb(const struct course *c)
{
	int most = 0;

	for (int g = 0; g + 1 < c->n; g++) {
		const int up = c->o[g + 1] + c->d[g + 1] - 1 - c->o[g],
			  down = c->o[g] + c->d[g] - 1 - c->o[g + 1];
		most = up > most ? up : most;
		most = down > most ? down : most;
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

		l = l < a ? a : l;
		h = h > b ? b : h;
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
			if (!side && x[r] - shift > og->from[r])
				og->from[r] = x[r] - shift;
			if (side && -x[r] - shift < og->to[r])
				og->to[r] = -x[r] - shift;
		}
	}
}

/*
 * Chooses the rows of gap g. An inner gap has the slopes that climb at most most rows. The first and the last gap have one
 * row for each sample.
 */
static void
lay_rows(struct gap *gap, const struct course *c, int g, int most)
{
	int first = -(c->d[g] - 1), last = c->d[g + 1] - 1;

	if (g > 0 && g < c->n - 2) {
		first = first < -most - gap->climb ? -most - gap->climb : first;
		last = last > most - gap->climb ? most - gap->climb : last;
	}
	gap->s0 = first;
	gap->nrow = last < first ? 0 : last - first + 1;
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
		lay_rows(gap, c, g, most);
		gap->ldf = row_length(c->d[g + 1]);
		gap->lds = row_length(c->d[g]);
		for (int r = 0; r < gap->nrow; r++) {
			const int slope = r + gap->s0, t = slope + gap->climb;
			gap->from[r] = slope < 0 ? -slope : 0;
			gap->to[r] = c->d[g] < c->d[g + 1] - slope ? c->d[g] : c->d[g + 1] - slope;
			if (t < -most || t > most)
				gap->to[r] = gap->from[r];
		}
	}
	for (int g = 1; g + 1 < c->n; g++)
		narrow(s, &s->gap[g], &s->gap[g - 1], &s->before[g], 1);
	for (int g = c->n - 3; g >= 0; g--)
		narrow(s, &s->gap[g], &s->gap[g + 1], &s->after[g + 1], -1);
}
