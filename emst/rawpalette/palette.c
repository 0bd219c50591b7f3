/* Turns colours into coordinates for the engines of palette.h. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "emst/rawpalette/palette.h"
#include "emst/sort.h"

enum { LEVELS_MOST = 4096 }; /* with more, the engine of palette.h is faster and nearly as good */

/* ---- levels ---- */

/*
 * Gray levels in K classes with the least SSE. Classes are intervals of levels. least[k][b], the SSE of the first b levels in k
 * classes, is the minimum over a of least[k-1][a] + sse(a, b), and the best a does not fall as b grows. So the middle b of a
 * range is solved first and bounds the others (W. D. Fisher 1958; X. Wu 1991).
 */

struct levels {
	double (*sum)[3]; /* [n + 1]: the sums of w, w x and w x^2 of the levels before; owned */
	double *least[2]; /* [n + 1]: in k - 1 classes and in k; owned */
	uint16_t *from;	  /* [k][n + 1]: where the last class begins; owned */
};

/* Returns the SSE of the levels a..b-1, whose class gets the mean as a whole number. */
static double
sse_of(const struct levels *l, size_t a, size_t b)
{
	const double w = l->sum[b][0] - l->sum[a][0], s = l->sum[b][1] - l->sum[a][1],
		     q = l->sum[b][2] - l->sum[a][2], m = floor(s / w + .5);

	return fmax(q - m * (2 * s - m * w), 0);
}

/* Finds the best starts of the last class for the first b0..b1-1 levels; they lie in a0..a1. */
static void
solve(struct levels *l, uint16_t *from, size_t b0, size_t b1, size_t a0, size_t a1)
{
	const size_t b = (b0 + b1) / 2;
	double least = INFINITY;

	if (b0 == b1)
		return;
	for (size_t a = a0; a <= a1 && a < b; a++) {
		const double sse = l->least[0][a] + sse_of(l, a, b);
		if (sse < least) {
			least = sse;
			from[b] = (uint16_t)a;
		}
	}
	l->least[1][b] = least;
	solve(l, from, b0, b, a0, from[b]);
	solve(l, from, b + 1, b1, from[b], a1);
}

/*
 * Sets label[] of n different levels to their classes, 0 .. k-1. Level i in ascending order is e[i].key, and its place in
 * weight[] and label[] is e[i].a. k <= n <= LEVELS_MOST. 0 or -ENOMEM.
 */
static int
levels_make(const struct sorted *e, const uint64_t *weight, size_t n, size_t k, uint32_t *label)
{
	struct levels l = {
	    weir_alloc(n + 1, sizeof *l.sum),
	    {weir_alloc(n + 1, sizeof **l.least), weir_alloc(n + 1, sizeof **l.least)},
	    weir_alloc(k * (n + 1), sizeof *l.from)};
	const bool room = l.sum && l.least[0] && l.least[1] && l.from;

	for (int i = 0; room && i < 3; i++)
		l.sum[0][i] = 0;
	for (size_t i = 0; room && i < n; i++) {
		const double w = (double)weight[e[i].a], x = (double)(e[i].key - e[0].key);
		l.sum[i + 1][0] = l.sum[i][0] + w;
		l.sum[i + 1][1] = l.sum[i][1] + w * x;
		l.sum[i + 1][2] = l.sum[i][2] + w * x * x;
	}
	for (size_t b = 1; room && b <= n; b++) {
		l.least[0][b] = sse_of(&l, 0, b);
		l.from[b] = 0;
	}
	for (size_t j = 1; room && j < k; j++) {
		solve(&l, l.from + j * (n + 1), j + 1, n + 1, j, n - 1);
		double *const last = l.least[0];
		l.least[0] = l.least[1];
		l.least[1] = last;
	}
	for (size_t j = k, b = n; room && j-- > 0;)
		for (const size_t a = l.from[j * (n + 1) + b]; b > a; b--)
			label[e[b - 1].a] = (uint32_t)j;
	weir_free_all(l.sum, l.least[0], l.least[1], l.from);
	return room ? 0 : -ENOMEM;
}

/* ---- dither ---- */

enum { MOST = 256, LANES = 16, DIMS = 6, LEAST_GAIN = 26, MORE_GAIN = 30, ROWS = 5 };

/* Colours side by side, one row a coordinate. Rows end in infinity, up to whole vectors. */
struct table {
	size_t n;
	float x[DIMS][MOST];
	uint8_t index[MOST]; /* among all colours; ascending */
};

/* Which colours a pixel may get: see palette.h. */
enum { ANY, OPAQUE, CLEAR, TABLES };

/* A row of pixels. */
struct row {
	uint8_t *index; /* [w]: their colours; NULL: the row is not in the picture; borrowed */
	int32_t *kind, *gain; /* [w]: their tables; [w]: 64 times the part passed on */
	int32_t *t,
	    *off; /* [w][dims]: the pixels; [w + 4][dims]: their colours less these, between zeros */
};

struct work {
	size_t dims;
	int32_t top;
	struct table table[TABLES];
	float spread;	      /* s of palette.h */
	int32_t *room;	      /* for all rows and sums; owned */
	struct row row[ROWS]; /* the present one, and those above it */
	int32_t *error[2];    /* [w + 2][dims]: received by this row and by the next one */
	int32_t *near;	      /* [w + 4][dims]: sums over the differences of a column */
};

/* --- coordinates -------------------------------------------------------------------------------------------------- */

/* Fills `to` with the coordinates of a colour. Returns its table. */
static int
place(const struct dither *d, const double *x, int32_t *to)
{
	const int32_t unit = d->type == IMG_U8 ? 16 : 1;
	const size_t n = d->planes - d->alpha;

	if (!d->alpha) {
		for (size_t a = 0; a < n; a++)
			to[a] = unit * (int32_t)x[a];
		return ANY;
	}
	for (size_t a = 0; a < n; a++) {
		to[a] = (int32_t)(unit * x[a] * (x[n] / d->top) + .5);
		to[n + a] = to[a] + unit * (int32_t)(d->top - x[n]);
	}
	return x[n] == 0 ? CLEAR : x[n] < d->top ? ANY : OPAQUE;
}

static void
load_row(struct work *w, const struct dither *d, size_t y)
{
	const uint8_t *u8 = (const uint8_t *)d->px + y * d->w * d->planes;
	const uint16_t *u16 = (const uint16_t *)d->px + y * d->w * d->planes;

	if (d->type == IMG_U8 && !d->alpha && d->top == 255) {
		for (size_t i = 0; i < d->w * d->planes; i++)
			w->row[0].t[i] = 16 * u8[i];
		return;
	}
	for (size_t i = 0; i < d->w; i++) {
		double x[4];
		for (size_t a = 0; a < d->planes; a++) {
			const size_t at = i * d->planes + a;
			x[a] = fmin(d->type == IMG_U8 ? u8[at] : u16[at], d->top);
		}
		w->row[0].kind[i] = place(d, x, w->row[0].t + i * w->dims);
	}
}

static void
make_tables(struct work *w, const struct dither *d)
{
	for (int i = 0; i < TABLES; i++)
		for (size_t a = 0; a < DIMS; a++)
			for (size_t j = 0; j < MOST; j++)
				w->table[i].x[a][j] = INFINITY;
	for (size_t j = 0; j < d->k; j++) {
		double colour[4];
		int32_t x[DIMS];
		for (size_t a = 0; a < d->planes; a++)
			colour[a] = floor(d->colour[j * d->planes + a] + .5);
		const int kind = place(d, colour, x);
		for (int i = ANY; i <= kind; i += kind ? kind : 1) {
			struct table *t = &w->table[i];
			for (size_t a = 0; a < w->dims; a++)
				t->x[a][t->n] = (float)x[a];
			t->index[t->n++] = (uint8_t)j;
		}
	}
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Squares of distances. None is negative, so their bits, read as whole numbers, have the same order; vectors compare these. */
union squares {
	float d2[MOST];
	int32_t order[MOST];
};

/* Returns the place of the first of the nearest colours. */
CPU_INLINE uint32_t
nearest(const struct table *t, const float *x, size_t dims)
{
	const uint32_t n = (uint32_t)(t->n + LANES - 1) / LANES * LANES;
	union squares s;
	int32_t least = INT32_MAX;
	uint32_t at = MOST;

	for (uint32_t j = 0; j < n; j++) {
		float d2 = 0;
		for (size_t a = 0; a < dims; a++)
			d2 += (x[a] - t->x[a][j]) * (x[a] - t->x[a][j]);
		s.d2[j] = d2;
	}
	for (uint32_t j = 0; j < n; j++)
		least = s.order[j] < least ? s.order[j] : least;
	for (uint32_t j = 0; j < n; j++) {
		const uint32_t own = s.order[j] == least ? j : MOST;
		at = own < at ? own : at;
	}
	return at;
}

/* Returns how much of the error of pixel x is passed on, in 64ths. */
CPU_INLINE int32_t
find_gain(const int32_t *x, const int32_t *left, const int32_t *above, size_t dims, float spread)
{
	float d2 = 0;

	for (size_t a = 0; a < dims; a++)
		d2 += (float)(x[a] - left[a]) * (float)(x[a] - left[a]);
	for (size_t a = 0; a < dims; a++)
		d2 += (float)(x[a] - above[a]) * (float)(x[a] - above[a]);
	return LEAST_GAIN + (int32_t)(MORE_GAIN * spread / (spread + d2 / 2) + .5f);
}

/* Gives pixel i the colour nearest to x of those that it may get. Fills off[] with the difference from the pixel. */
CPU_INLINE void
choose(const struct work *w, const struct row *r, size_t i, const float *x, size_t dims,
       int32_t *off)
{
	const struct table *t = &w->table[w->table[r->kind[i]].n ? r->kind[i] : ANY];
	const uint32_t j = nearest(t, x, dims);

	r->index[i] = t->index[j];
	for (size_t a = 0; a < dims; a++)
		off[a] = (int32_t)t->x[a][j] - r->t[i * dims + a];
}

/* Gives the n pixels of the present row their first colours. */
CPU_INLINE void
settle_row(struct work *w, size_t n, size_t dims)
{
	const struct row *r = &w->row[0];
	int32_t *own = w->error[0] + dims, *next = w->error[1] + dims, *off = r->off + 2 * dims;

	for (size_t i = 0; i < n; i++, own += dims, next += dims, off += dims) {
		const int32_t *t = r->t + i * dims;
		int32_t x[DIMS];
		float f[DIMS];
		r->gain[i] =
		    find_gain(t, i ? t - dims : t, w->row[1].t + i * dims, dims, w->spread);
		for (size_t a = 0; a < dims; a++) {
			x[a] = t[a] + ((own[a] + 512) >> 10);
			x[a] = x[a] < 0 ? 0 : x[a] > w->top ? w->top : x[a];
			f[a] = (float)x[a];
		}
		choose(w, r, i, f, dims, off);
		for (size_t a = 0; r->kind[i] != CLEAR && a < dims; a++) {
			const int32_t e = r->gain[i] * (x[a] - t[a] - off[a]);
			own[dims + a] += 7 * e;
			next[a - dims] += 3 * e;
			next[a] += 5 * e;
			next[dims + a] += e;
		}
	}
}

/* Chooses the colours of the row in the middle again, given those of all pixels around. */
CPU_INLINE void
improve_row(struct work *w, size_t n, size_t dims)
{
	const struct row *r = w->row;
	int32_t *near = w->near, *off = r[2].off + 2 * dims;

	for (size_t i = 0; i < (n + 4) * dims; i++)
		near[i] = 13 * r[2].off[i] + 10 * (r[1].off[i] + r[3].off[i]) +
			  5 * (r[0].off[i] + r[4].off[i]);
	for (size_t i = 0; i < n; i++, near += dims, off += dims) {
		const float part = (float)r[2].gain[i] * (.3f / 10816);
		float f[DIMS];
		for (size_t a = 0; a < dims; a++) {
			const int32_t *c = near + a, sum = 13 * (c[2 * dims] - 13 * off[a]) +
							   10 * (c[dims] + c[3 * dims]) +
							   5 * (c[0] + c[4 * dims]);
			f[a] = (float)r[2].t[i * dims + a] - (float)sum * part;
			near[2 * dims + a] -= 13 * off[a];
		}
		choose(w, &r[2], i, f, dims, off);
		for (size_t a = 0; a < dims; a++)
			near[2 * dims + a] += 13 * off[a];
	}
}

/* Settles the present row of n pixels, and improves the one two rows above, if they are in the picture. */
CPU_INLINE void
run_rows(struct work *w, size_t n, size_t dims)
{
	if (w->row[0].index)
		settle_row(w, n, dims);
	if (w->row[2].index)
		improve_row(w, n, dims);
}

WEIR_CLONES(run, (struct work * w, size_t n), (w, n))
{
	if (w->dims == 1)
		run_rows(w, n, 1);
	else if (w->dims == 3)
		run_rows(w, n, 3);
	else if (w->dims == 6)
		run_rows(w, n, 6);
	else
		run_rows(w, n, w->dims);
}

static struct work *
make_work(const struct dither *d)
{
	const size_t dims = d->alpha ? 2 * (d->planes - 1) : d->planes, row = (d->w + 4) * dims;
	struct work *w = weir_calloc(1, sizeof *w);
	int32_t *room = weir_calloc(d->w + 4, (ROWS * (2 * dims + 2) + 3 * dims) * sizeof *room);

	if (!w || !room) {
		weir_free_all(w, room);
		return NULL;
	}
	w->dims = dims;
	w->top = (int32_t)d->top * (d->type == IMG_U8 ? 16 : 1);
	w->spread = (float)w->top * (float)w->top / ((d->alpha ? 32 : 64) * (float)d->k);
	w->room = room;
	w->error[0] = room;
	w->error[1] = room + row;
	w->near = room + 2 * row;
	room += 3 * row;
	for (int i = 0; i < ROWS; i++, room += 2 * row + 2 * d->w)
		w->row[i] = (struct row){.t = room,
					 .off = room + row,
					 .kind = room + 2 * row,
					 .gain = room + 2 * row + d->w};
	make_tables(w, d);
	return w;
}

static int
dither_picture(const struct dither *d, uint8_t *index)
{
	struct work *w = make_work(d);

	if (!w)
		return -ENOMEM;
	for (size_t y = 0; y < d->h + 2; y++) {
		const struct row last = w->row[ROWS - 1];
		int32_t *const done = w->error[0];
		memmove(w->row + 1, w->row, (ROWS - 1) * sizeof last);
		w->row[0] = last;
		w->row[0].index = y < d->h ? index + y * d->w : NULL;
		memset(last.off, 0, (d->w + 4) * w->dims * sizeof *last.off);
		w->error[0] = w->error[1];
		w->error[1] = done;
		memset(done, 0, (d->w + 2) * w->dims * sizeof *done);
		if (y < d->h)
			load_row(w, d, y);
		if (!y)
			memcpy(w->row[1].t, w->row[0].t, d->w * w->dims * sizeof *last.t);
		run(w, d->w);
	}
	weir_free_all(w->room, w);
	return 0;
}

int
dither_run(const struct dither *d, size_t pictures, int threads, uint8_t *index)
{
	const size_t size = d->w * d->h, bytes = size * d->planes * img_type_size(d->type);
	bool failed = false;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) \
    reduction(||                                                   \
	      : failed) if (pictures > 1)
	for (size_t i = 0; i < pictures; i++) {
		struct dither own = *d;
		own.px = (const char *)d->px + i * bytes;
		failed = dither_picture(&own, index + i * size) || failed;
	}
	return failed ? -ENOMEM : 0;
}

/* ---- wide ---- */

/*
 * Classes of pictures of any number of planes and any type of samples: see palette.h.
 *
 * The start is made on the principal components, those KEPT directions in which the samples vary most, rounded to 16 bits: the
 * engine of four dimensions makes K classes of them. Rounds of Lloyd's method over all planes follow. On bands of satellites
 * the start is within some percent of the end.
 *
 *	x[planes][n]	 coordinates less their mean, from -1 to 1 by a common scale, one plane after the other, so that a vector of
 *			 the processor is of several vertices
 *	centre[K][planes]
 *
 * Sums are made of pieces whose bounds do not depend on the number of threads.
 */

enum { KEPT = 4, BLOCK = 256, PIECES = 64, ROUNDS = 300, POWERS = 60, LOOKED = 1 << 16 };

struct wide {
	const struct vertices *v;
	size_t n, d, k, piece;	 /* vertices, planes, classes; vertices of a piece */
	float *x, *centre, *far; /* far[n]: the squared distance from a vertex to its centre */
	double *sum;		 /* [PIECES][k][d + 1]: of w x and w */
	uint32_t *label;	 /* borrowed */
};

/* --- principal components ------------------------------------------------------------------------------------------- */

/* Adds to cov[d][d] the covariances of every stride-th vertex. */
static void
find_covariance(const struct wide *w, double *cov)
{
	const size_t stride = w->n / LOOKED + 1, d = w->d;

	for (size_t i = 0; i < w->n; i += stride)
		for (size_t a = 0; a < d; a++) {
			const double s = (double)w->v->weight[i] * (double)w->x[a * w->n + i];
			for (size_t b = 0; b < d; b++)
				cov[a * d + b] += s * (double)w->x[b * w->n + i];
		}
}

/* Fills axis[d] with a direction of large variance that is perpendicular to the `before` directions in front of it. */
static void
find_axis(const double *cov, size_t d, double *axis, size_t before, double *next)
{
	for (size_t a = 0; a < d; a++)
		axis[a] = 1 + (double)((a + before) % 3);
	for (int power = 0; power < POWERS; power++) {
		for (size_t a = 0; a < d; a++)
			next[a] = real_dot(cov + a * d, axis, d);
		for (size_t j = 1; j <= before; j++) {
			const double *other = axis - j * d, along = real_dot(next, other, d);
			for (size_t a = 0; a < d; a++)
				next[a] -= along * other[a];
		}
		const double length = sqrt(real_dot(next, next, d));
		if (!(length > 0))
			break;
		for (size_t a = 0; a < d; a++)
			axis[a] = next[a] / length;
	}
}

/* Fills to[n][dims] with the components, in 16 bits, of one scale. axis[KEPT][d] */
static void
round_components(const struct wide *w, const double *axis, size_t dims, uint16_t *to, float *from)
{
	const size_t kept = w->d < KEPT ? w->d : KEPT;
	float range = FLT_MIN;

	memset(from, 0, kept * w->n * sizeof *from);
	for (size_t c = 0; c < kept; c++)
		for (size_t a = 0; a < w->d; a++)
			for (size_t i = 0; i < w->n; i++)
				from[c * w->n + i] +=
				    (float)axis[c * w->d + a] * w->x[a * w->n + i];
	for (size_t i = 0; i < kept * w->n; i++)
		range = fmaxf(range, fabsf(from[i]));
	for (size_t i = 0; i < w->n; i++)
		for (size_t c = 0; c < dims; c++)
			to[i * dims + c] =
			    c < kept ? (uint16_t)rintf((from[c * w->n + i] / range + 1) * 32767)
				     : 0;
}

/* Makes the first classes. */
static int
start(const struct wide *w, int threads)
{
	const size_t d = w->d, dims = d > 3 ? 4 : 3, kept = d < KEPT ? d : KEPT;
	double *cov = weir_calloc(d + KEPT + 1, d * sizeof *cov), *axis = cov + d * d;
	uint16_t *u = weir_alloc_large(w->n, dims * sizeof *u);
	float *y = weir_alloc_large(w->n, kept * sizeof *y);
	int err = -ENOMEM;

	if (cov && u && y) {
		find_covariance(w, cov);
		for (size_t c = 0; c < kept; c++)
			find_axis(cov, d, axis + c * d, c, axis + KEPT * d);
		round_components(w, axis, dims, u, y);
		const struct palette_colours p = {
		    .n = w->n, .weight = w->v->weight, .x = u, .shift = 8, .gray = d == 1};
		err = (dims == 4 ? palette_rgba : palette_rgb)(&p, w->k, threads, w->label);
	}
	weir_free_all(y, u, cov);
	return err;
}

/* --- Lloyd's method ----------------------------------------------------------------------------------------------------- */

/* Gives n <= BLOCK vertices from x on the nearest of k centres. The planes lie all vertices apart. Of equal ones, the first. */
WEIR_CLONES(find_nearest,
	    (const float *x, size_t all, size_t n, const float *centre, size_t k, size_t d,
	     uint32_t *restrict label, float *restrict far),
	    (x, all, n, centre, k, d, label, far))
{
	float sum[BLOCK], best[BLOCK];
	uint32_t at[BLOCK];

	for (size_t i = 0; i < n; i++) {
		best[i] = INFINITY;
		at[i] = 0;
	}
	for (size_t j = 0; j < k; j++, centre += d) {
		memset(sum, 0, sizeof sum);
		for (size_t a = 0; a < d; a++)
			for (size_t i = 0; i < n; i++) {
				const float t = x[a * all + i] - centre[a];
				sum[i] += t * t;
			}
		for (size_t i = 0; i < n; i++) {
			at[i] = sum[i] < best[i] ? (uint32_t)j : at[i];
			best[i] = sum[i] < best[i] ? sum[i] : best[i];
		}
	}
	memcpy(label, at, n * sizeof *at);
	memcpy(far, best, n * sizeof *best);
}

/* Adds up the vertices of piece p by their labels, after it has found these where `assign`. Returns their SSE. */
static double
run_piece(const struct wide *w, size_t p, bool assign)
{
	const size_t from = p * w->piece, end = from + w->piece < w->n ? from + w->piece : w->n;
	double *sum = w->sum + p * w->k * (w->d + 1), sse = 0;

	memset(sum, 0, w->k * (w->d + 1) * sizeof *sum);
	for (size_t i = from; assign && i < end; i += BLOCK)
		find_nearest(w->x + i, w->n, end - i < BLOCK ? end - i : BLOCK, w->centre, w->k,
			     w->d, w->label + i, w->far + i);
	for (size_t i = from; i < end; i++) {
		const double weight = (double)w->v->weight[i];
		double *s = sum + w->label[i] * (w->d + 1);
		for (size_t a = 0; a < w->d; a++)
			s[a] += weight * (double)w->x[a * w->n + i];
		s[w->d] += weight;
		sse += assign ? weight * (double)w->far[i] : 0;
	}
	return sse;
}

/* An empty class gets the vertex that adds most to the SSE. */
static void
fill_empty(const struct wide *w, float *centre)
{
	double most = -1;
	size_t best = 0;

	for (size_t i = 0; i < w->n; i++) {
		const double loss = (double)w->v->weight[i] * (double)w->far[i];
		best = loss > most ? i : best;
		most = loss > most ? loss : most;
	}
	for (size_t a = 0; a < w->d; a++)
		centre[a] = w->x[a * w->n + best];
	w->far[best] = 0;
}

static void
move_centres(const struct wide *w)
{
	const size_t pieces = (w->n + w->piece - 1) / w->piece, row = w->d + 1;

	for (size_t j = 0; j < w->k; j++) {
		double *s = w->sum + j * row;
		for (size_t p = 1; p < pieces; p++)
			for (size_t a = 0; a < row; a++)
				s[a] += w->sum[p * w->k * row + j * row + a];
		if (s[w->d] == 0)
			fill_empty(w, w->centre + j * w->d);
		for (size_t a = 0; a < w->d && s[w->d] > 0; a++)
			w->centre[j * w->d + a] = (float)(s[a] / s[w->d]);
	}
}

/* One round. Returns the SSE to the centres as they were. */
static double
run_round(const struct wide *w, int threads, bool assign)
{
	const size_t pieces = (w->n + w->piece - 1) / w->piece;
	double part[PIECES], sse = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (w->n > 4096)
	for (size_t p = 0; p < pieces; p++)
		part[p] = run_piece(w, p, assign);
	for (size_t p = 0; p < pieces; p++)
		sse += part[p];
	move_centres(w);
	return sse;
}

/* --- all together ------------------------------------------------------------------------------------------------------- */

/* Fills x. */
static void
load(const struct wide *w, double *row)
{
	double *mean = row + w->d, all = 0, most = 0;

	memset(mean, 0, w->d * sizeof *mean);
	for (size_t i = 0; i < w->n; i++) {
		vertices_get(w->v, i, row);
		for (size_t a = 0; a < w->d; a++)
			mean[a] += (double)w->v->weight[i] * row[a];
		all += (double)w->v->weight[i];
	}
	for (size_t i = 0; i < w->n; i++) {
		vertices_get(w->v, i, row);
		for (size_t a = 0; a < w->d; a++)
			most = fmax(most, fabs(row[a] - mean[a] / all));
	}
	for (size_t i = 0; i < w->n; i++) {
		vertices_get(w->v, i, row);
		for (size_t a = 0; a < w->d; a++)
			w->x[a * w->n + i] = (float)((row[a] - mean[a] / all) / most);
	}
}

static int
palette_wide(const struct vertices *v, size_t k, int threads, uint32_t *label)
{
	struct wide w = {.v = v, .n = v->set.n, .d = v->planes, .k = k, .label = label};
	int err = -ENOMEM;

	if (w.n <= k) {
		for (uint32_t i = 0; i < w.n; i++)
			label[i] = i;
		return 0;
	}
	w.piece = (w.n / PIECES / BLOCK + 1) * BLOCK;
	double *row = weir_alloc(w.d, 2 * sizeof *row);
	w.x = weir_alloc_large(w.n, w.d * sizeof *w.x);
	w.far = weir_alloc_large(w.n, sizeof *w.far);
	w.centre = weir_alloc(k, w.d * sizeof *w.centre);
	w.sum = weir_alloc_large(PIECES * k, (w.d + 1) * sizeof *w.sum);
	if (row && w.x && w.far && w.centre && w.sum) {
		load(&w, row);
		err = start(&w, threads);
	}
	if (!err) {
		double before = INFINITY;
		memset(w.far, 0, w.n * sizeof *w.far);
		run_round(&w, threads, false);
		for (int round = 0; round < ROUNDS; round++) {
			const double sse = run_round(&w, threads, true);
			if (!(sse < before * (1 - 1e-6)))
				break;
			before = sse;
		}
	}
	weir_free_all(w.sum, w.centre, w.far, w.x, row);
	return err;
}

/* ---- palette ---- */

/* Colours in the making. */
struct gamut {
	struct palette_colours p;
	uint64_t *weight; /* [vertices]; owned */
	uint16_t *x;	  /* [vertices][3 or 4]; owned */
	bool *opaque;	  /* [vertices]; owned */
};

static size_t
dimensions(const struct vertices *v)
{
	return v->planes == 4 || v->opaque > 0 ? 4 : 3;
}

/* Frees the coordinates, which are as large as the picture. */
static void
drop_coordinates(void *gamut)
{
	struct gamut *g = gamut;

	weir_free_all(g->x, g->opaque);
	g->x = NULL;
	g->opaque = NULL;
}

/* Lists the samples, less the least of them. */
static void
list_samples(struct gamut *g, const struct vertices *v)
{
	const size_t dims = dimensions(v);
	double x[4], low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < v->set.n; i++) {
		vertices_get(v, i, x);
		for (size_t a = 0; a < v->planes; a++) {
			low = fmin(low, x[a]);
			high = fmax(high, x[a]);
		}
	}
	while ((int)(high - low) >> g->p.shift > 255)
		g->p.shift++;
	for (size_t i = 0; i < v->set.n; i++) {
		vertices_get(v, i, x);
		for (size_t a = 0; a < dims; a++)
			g->x[i * dims + a] = a < v->planes ? (uint16_t)(x[a] - low) : 0;
	}
	g->p.n = v->set.n;
	g->p.gray = v->planes == 1;
}

/*
 * Fills to[4] with the coordinates of a colour with alpha. A level of 8 bits is 256 units. The first three lie around 32768;
 * the last is at most 56534.
 */
static void
place_seen(const struct vertices *v, const double *x, uint16_t to[4])
{
	const size_t planes = v->planes - 1;
	const double a = fmin(x[planes] / v->opaque, 1) * 65280;

	for (size_t c = 0; c < 3; c++)
		to[c] =
		    c < planes ? (uint16_t)(32768 + rint(a * (fmin(x[c] / v->opaque, 1) - .5))) : 0;
	to[3] = (uint16_t)rint(a * sqrt((double)planes) / 2);
}

/* Lists the colours as they are seen. All clear ones are one colour. */
static void
list_seen(struct gamut *g, const struct vertices *v)
{
	struct palette_colours *p = &g->p;

	p->shift = 8;
	for (size_t i = 0; i < v->set.n; i++) {
		double x[4];
		size_t at = p->n;
		vertices_get(v, i, x);
		const double alpha = x[v->planes - 1];
		if (alpha == 0 && p->has_clear) {
			g->weight[p->clear] += v->weight[i];
			continue;
		}
		if (alpha == 0) {
			p->has_clear = true;
			p->clear = at;
		}
		place_seen(v, x, g->x + 4 * at);
		g->weight[at] = v->weight[i];
		g->opaque[at] = alpha >= v->opaque;
		if (g->opaque[at])
			p->opaque = g->opaque;
		p->n++;
	}
	p->weight = g->weight;
}

/* Moves the labels of the colours, which stand in front, to their vertices. */
static void
spread_labels(const struct palette_colours *p, const struct vertices *v, uint32_t *label)
{
	size_t at = p->n;
	double x[4];

	if (!p->has_clear)
		return;
	/* The first clear vertex has the number of its colour, and so have all before it. */
	for (size_t i = v->set.n; --i > p->clear;) {
		vertices_get(v, i, x);
		label[i] = x[v->planes - 1] == 0 ? label[p->clear] : label[--at];
	}
}

static int
make_seen(struct gamut *g, const struct vertices *v, size_t k, int threads, uint32_t *label)
{
	const size_t n = v->set.n;
	int err = -ENOMEM;

	g->weight = weir_alloc_large(n, sizeof *g->weight);
	g->opaque = weir_alloc_large(n, sizeof *g->opaque);
	if (g->weight && g->opaque) {
		list_seen(g, v);
		err = palette_rgba(&g->p, k, threads, label);
		if (!err)
			spread_labels(&g->p, v, label);
	}
	weir_free(g->weight);
	return err;
}

/* Makes the palette of a gray picture of few levels. */
static int
make_gray(const struct vertices *v, size_t k, uint32_t *label)
{
	const size_t n = v->set.n;
	struct sorted *e = weir_alloc(2 * n, sizeof *e);
	int err = -ENOMEM;

	if (e) {
		for (size_t i = 0; i < n; i++) {
			double x;
			vertices_get(v, i, &x);
			e[i] = (struct sorted){(uint64_t)x, (uint32_t)i, 0};
		}
		emst_sort(e, e + n, n);
		err = levels_make(e, v->weight, n, k < n ? k : n, label);
	}
	weir_free(e);
	return err;
}

bool
palette_takes(enum img_type type, size_t planes)
{
	return planes <= 4 && (type == IMG_U8 || type == IMG_U16);
}

int
palette_make(const struct vertices *v, size_t k, int threads, uint32_t *label)
{
	struct gamut g = {.p = {.weight = v->weight, .placed = drop_coordinates, .placed_of = &g}};
	int err;

	if (!palette_takes(v->type, v->planes))
		return palette_wide(v, k, threads, label);
	if (v->planes == 1 && v->set.n <= LEVELS_MOST)
		return make_gray(v, k, label);
	if (v->code && v->opaque == 0) {
		g.p.code = v->code;
		g.p.n = v->set.n;
		return palette_rgb(&g.p, k, threads, label);
	}
	g.p.x = g.x = weir_alloc_large(v->set.n, dimensions(v) * sizeof *g.x);
	if (!g.x)
		return -ENOMEM;
	if (v->opaque > 0) {
		err = make_seen(&g, v, k, threads, label);
	} else {
		list_samples(&g, v);
		err = (v->planes == 4 ? palette_rgba : palette_rgb)(&g.p, k, threads, label);
	}
	drop_coordinates(&g);
	return err;
}

/* --- the colours of classes --------------------------------------------------------------------------------------- */

double *
palette_means(const struct classes *c, const struct vertices *v)
{
	const size_t last = v->planes - 1, n = c->n + 1;
	bool opaque[PALETTE_MOST + 1] = {false}, clear[PALETTE_MOST + 1] = {false};

	if (v->opaque == 0 || !palette_takes(v->type, v->planes))
		return classes_means(c, v);
	double *mean = weir_calloc(n, v->planes * sizeof *mean), x[4];
	/* First a row holds sums of alpha, where opaque is 1, and of premultiplied samples. */
	for (size_t i = 0; mean && i < v->set.n; i++) {
		double *row = mean + c->label[i] * v->planes;
		vertices_get(v, i, x);
		const double alpha = fmin(x[last] / v->opaque, 1),
			     part = alpha * (double)v->weight[i];
		for (size_t a = 0; a < last; a++)
			row[a] += part * fmin(x[a] / v->opaque, 1);
		row[last] += part;
		opaque[c->label[i]] |= alpha == 1;
		clear[c->label[i]] |= alpha == 0;
	}
	for (size_t label = 0; mean && label < n; label++) {
		double *row = mean + label * v->planes, w = (double)c->weight[label],
		       alpha = row[last];
		const bool seen = label && alpha > 0 && (!clear[label] || opaque[label] || n == 2);
		for (size_t a = 0; a < last; a++)
			row[a] = !seen		 ? 0
				 : opaque[label] ? v->opaque * ((row[a] - alpha / 2) / w + .5)
						 : v->opaque * row[a] / alpha;
		row[last] = !seen ? 0 : v->opaque * (opaque[label] ? 1 : alpha / w);
	}
	return mean;
}
