#include <errno.h>
#include <math.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/picture/distance.h"

enum { COLUMNS = 64, LINES = 8, SMALL = 1 << 15 };

/* What one line of samples passes through: its squares of distances, and the parabolas of its lower envelope. Owned. */
struct line {
	double *f;    /* n; squares before this axis */
	size_t *at;   /* n: the lowest places of the parabolas */
	double *from; /* n: where each becomes the lowest */
};

static double
square(double v)
{
	return v * v;
}

/* --- along y ------------------------------------------------------------------------------------------------------------- */

/* Counts the chosen samples in a row that end here, from row to row. */
WEIR_CLONES(count_down,
	    (double *restrict g, const double *restrict before, const uint8_t *restrict chosen,
	     size_t n),
	    (g, before, chosen, n))
{
	for (size_t i = 0; i < n; i++)
		g[i] = chosen[i] ? before[i] + 1 : 0;
}

WEIR_CLONES(count_up, (double *restrict g, const double *restrict after, size_t n), (g, after, n))
{
	for (size_t i = 0; i < n; i++)
		g[i] = after[i] + 1 < g[i] ? after[i] + 1 : g[i];
}

/* Sets g to the distances along y, in steps, of some columns of a slice. They stay in the cache for both ways. */
static void
count_columns(const struct distance_shape *s, size_t columns, const uint8_t *chosen, double *g)
{
	double first[COLUMNS];

	for (size_t i = 0; i < columns; i++)
		first[i] = INFINITY;
	count_down(g, first, chosen, columns);
	for (size_t y = 1; y < s->h; y++)
		count_down(g + y * s->w, g + (y - 1) * s->w, chosen + y * s->w, columns);
	for (size_t y = s->h - 1; y-- > 0;)
		count_up(g + y * s->w, g + (y + 1) * s->w, columns);
}

/* --- along x or z -------------------------------------------------------------------------------------------------------- */

/* Where the parabola of q becomes lower than that of p, p < q. */
static double
crossing(const double *f, size_t p, size_t q, double step2)
{
	const double a = (double)p, b = (double)q;

	return (f[q] - f[p] + step2 * (b - a) * (b + a)) / (2 * step2 * (b - a));
}

/* Computes D of the samples [from, to) of a line, from the parabolas of the samples [low, high) around them. */
static void
envelope(const struct line *l, size_t low, size_t high, size_t from, size_t to, double step2,
	 double *D)
{
	size_t n = 0, k = 0;

	for (size_t q = low; q < high; q++) {
		double x = -INFINITY;
		if (l->f[q] == INFINITY)
			continue;
		while (n && (x = crossing(l->f, l->at[n - 1], q, step2)) <= l->from[n - 1])
			n--;
		l->from[n] = n ? x : -INFINITY;
		l->at[n++] = q;
	}
	for (size_t x = from; x < to; x++) {
		while (k + 1 < n && l->from[k + 1] <= (double)x)
			k++;
		D[x] = n ? l->f[l->at[k]] + step2 * square((double)x - (double)l->at[k]) : INFINITY;
	}
}

/* Adds the squares along one line. Nothing beyond a sample that is not chosen, whose square is 0, is nearer than it. */
static void
add_line(const struct line *l, size_t n, double step2, double *D)
{
	for (size_t x = 0, to; x < n; x = to) {
		to = x + 1;
		if (l->f[x] == 0) {
			D[x] = 0;
			continue;
		}
		while (to < n && l->f[to] != 0)
			to++;
		envelope(l, x ? x - 1 : 0, to < n ? to + 1 : n, x, to, step2, D);
	}
}

/* --- stages -------------------------------------------------------------------------------------------------------------- */

static void
along_y(const struct distance_shape *s, int threads, const uint8_t *chosen, double *D)
{
	const size_t across = (s->w + COLUMNS - 1) / COLUMNS;

#pragma omp parallel for num_threads(threads)
	for (size_t i = 0; i < across * s->depth; i++) {
		const size_t x = i % across * COLUMNS, at = i / across * s->h * s->w + x;
		count_columns(s, s->w - x < COLUMNS ? s->w - x : COLUMNS, chosen + at, D + at);
	}
}

static void
along_x(const struct distance_shape *s, int threads, const struct line *line, double *D)
{
	const double y = s->step[1] / s->step[0];

#pragma omp parallel for num_threads(threads)
	for (size_t i = 0; i < s->h * s->depth; i++) {
		const struct line *l = &line[omp_get_thread_num()];
		double *row = D + i * s->w;
		for (size_t x = 0; x < s->w; x++)
			l->f[x] = square(y * row[x]);
		add_line(l, s->w, 1, row);
	}
}

/* Lines are taken from several columns at once, because these share cache lines. */
static void
along_z(const struct distance_shape *s, int threads, const struct line *line, double *D)
{
	const double step2 = square(s->step[2] / s->step[0]);
	const size_t plane = s->w * s->h, groups = (plane + LINES - 1) / LINES;

#pragma omp parallel for num_threads(threads)
	for (size_t i = 0; i < groups; i++) {
		const struct line *l = &line[omp_get_thread_num()];
		const size_t at = i * LINES, n = plane - at < LINES ? plane - at : LINES;
		for (size_t z = 0; z < s->depth; z++)
			for (size_t k = 0; k < n; k++)
				l->f[k * s->depth + z] = D[z * plane + at + k];
		for (size_t k = 0; k < n; k++) {
			struct line one = *l;
			one.f += k * s->depth;
			add_line(&one, s->depth, step2, l->f + (LINES + k) * s->depth);
		}
		for (size_t z = 0; z < s->depth; z++)
			for (size_t k = 0; k < n; k++)
				D[z * plane + at + k] = l->f[(LINES + k) * s->depth + z];
	}
}

WEIR_CLONES(root, (double *D, size_t n, double step), (D, n, step))
{
	for (size_t i = 0; i < n; i++)
		D[i] = step * sqrt(D[i]);
}

int
distance(const struct distance_shape *s, int threads, const uint8_t *restrict chosen,
	 double *restrict D)
{
	const size_t rows = s->h * s->depth, longest = s->w > s->depth ? s->w : s->depth;
	const size_t room = s->depth > 1 ? 2 * LINES * longest : longest;
	struct line *line;
	int r = 0;

	threads = rows * s->w < SMALL ? 1 : threads;
	line = weir_alloc((size_t)threads, sizeof *line);
	if (!line)
		return -ENOMEM;
	for (int i = 0; i < threads; i++) {
		line[i] = (struct line){weir_alloc(room, sizeof(double)),
					weir_alloc(longest, sizeof(size_t)),
					weir_alloc(longest, sizeof(double))};
		r = line[i].f && line[i].at && line[i].from ? r : -ENOMEM;
	}
	if (!r) {
		along_y(s, threads, chosen, D);
		along_x(s, threads, line, D);
		if (s->depth > 1)
			along_z(s, threads, line, D);
#pragma omp parallel for num_threads(threads)
		for (size_t i = 0; i < rows; i++)
			root(D + i * s->w, s->w, s->step[0]);
	}
	for (int i = 0; i < threads; i++) {
		weir_free_all(line[i].f, line[i].at, line[i].from);
	}
	weir_free(line);
	return r;
}
