#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/picture/mosaic.h"
#include "common/picture/warp.h"
#include "common/stream/nodata.h"

/*
 * TILE: samples along a side of what is computed at once; LANES: weights of a kernel along an axis, 0 behind its taps; PHASES: of the
 * table of weights, between which they are interpolated with an error of 4e-7; WINDOW: samples of the picture that a tile may need.
 */
enum { TILE = 64, LANES = 8, PHASES = 1024, WINDOW = 1 << 16 };

/* In samples: places are interpolated with a lesser error; a place that is as near to a sample is that of the sample. */
static const double bound = 5e-4, near = 1e-5;

/* What a thread has for itself. */
struct work {
	/* Of a tile: places in the picture, NaN outside; the samples of it that lie in one of the result. */
	double x[TILE * TILE], y[TILE * TILE], area[TILE * TILE];
	double row[TILE], stored[TILE], window[WINDOW + LANES];
	double line[WINDOW]; /* of a plane */
};

struct warp {
	bool flux, copies; /* samples are copied as they are */
	enum img_type type;
	const struct world *world[2];
	struct map_cut cut[2][2];
	size_t c, w, h, W; /* of the picture; columns of the result */
	struct nodata missing;
	int taps, threads;
	double weight[PHASES + 2][LANES];
	struct work work[];
};

/* --- kernels --- */

static double
sinc(double t)
{
	return t == 0 ? 1 : sin(M_PI * t) / (M_PI * t);
}

static double
weigh(enum warp_kernel kernel, double t)
{
	if (kernel == WARP_LANCZOS3)
		return sinc(t) * sinc(t / 3);
	if (kernel == WARP_CUBIC)
		return t <= 1 ? 1 + t * t * (1.5 * t - 2.5) : 2 + t * (-4 + t * (2.5 - t / 2));
	return 1 - t;
}

/* Row p of the table has the weights of the samples about a place that is p / PHASES behind one. */
static void
make_table(struct warp *w, enum warp_kernel kernel)
{
	static const int taps[] = {6, 4, 2, 1};

	w->taps = taps[kernel];
	memset(w->weight, 0, sizeof w->weight);
	for (int p = 0; p <= PHASES; p++) {
		double *to = w->weight[p], sum = 0;
		for (int k = 0; k < w->taps; k++)
			sum += to[k] =
			    weigh(kernel, fabs((double)p / PHASES - k + (w->taps - 1) / 2));
		for (int k = 0; k < w->taps; k++)
			to[k] = p % PHASES ? to[k] / sum : rint(to[k]);
	}
}

/* The part of the picture that a tile needs: samples `at`, `stride` in a row, from column x and row y on. */
struct window {
	const double *at;
	ptrdiff_t stride, x, y;
};

/* The sum without the samples of weight 0, which are NaN perhaps. */
static double
sum_known(const double *v, ptrdiff_t stride, const double *wx, const double *wy, int taps)
{
	double sum = 0;

	for (int l = 0; l < taps; l++)
		for (int k = 0; k < taps; k++)
			sum += wx[k] * wy[l] == 0 ? 0 : wx[k] * wy[l] * v[l * stride + k];
	return sum;
}

/*
 * A row of sums by a kernel of `taps`, a constant. The compiler makes registers of four columns of samples; vectors of eight in the
 * code took twice the time with AVX2, where they went through memory, and those of four with SSE2.
 */
CPU_INLINE void
sum_taps(double *restrict to, const double *x, const double *y, size_t n,
	 const double (*table)[LANES], const int taps, struct window from)
{
	const ptrdiff_t before = (taps - 1) / 2;
	const int lanes = (taps + 3) / 4 * 4;

	for (size_t i = 0; i < n; i++) {
		const double at[2] = {x[i], y[i]};
		double w[2][LANES];
		double sum[4] = {0};
		to[i] = NAN;
		if (isnan(at[0]))
			continue;
		for (int k = 0; k < 2; k++) {
			const double f = (at[k] - trunc(at[k])) * PHASES;
			const double *const a = table[(size_t)f], *const b = table[(size_t)f + 1];
			for (int q = 0; q < lanes; q++)
				w[k][q] = a[q] + (f - trunc(f)) * (b[q] - a[q]);
		}
		const double *v = from.at + ((ptrdiff_t)at[1] - before - from.y) * from.stride +
				  (ptrdiff_t)at[0] - before - from.x;
		for (int q = 0; q < lanes; q += 4) {
			double part[4];
			for (int k = 0; k < 4; k++)
				part[k] = w[1][0] * v[q + k];
			for (int l = 1; l < taps; l++)
				for (int k = 0; k < 4; k++)
					part[k] += w[1][l] * v[l * from.stride + q + k];
			for (int k = 0; k < 4; k++)
				sum[k] += w[0][q + k] * part[k];
		}
		to[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
		if (isnan(to[i]))
			to[i] = sum_known(v, from.stride, w[0], w[1], taps);
	}
}

WEIR_CLONES(sum_row,
	    (double *restrict to, const double *x, const double *y, size_t n,
	     const double (*table)[LANES], int taps, struct window from),
	    (to, x, y, n, table, taps, from))
{
	if (taps == 6)
		sum_taps(to, x, y, n, table, 6, from);
	else if (taps == 4)
		sum_taps(to, x, y, n, table, 4, from);
	else if (taps == 2)
		sum_taps(to, x, y, n, table, 2, from);
	else
		sum_taps(to, x, y, n, table, 1, from);
}

/* --- places --- */

/* Columns and rows of the result, and places in the picture at u, v of -1, 0 and 1, where -1 and 1 are the edges of the tile. */
struct tile {
	size_t i, j, nx, ny;
	double at[2][3][3]; /* x or y, v, u */
};

/* Finds the place at u, v. Returns whether there is one. */
static bool
find_place(const struct warp *w, const struct tile *t, double u, double v, double at[2])
{
	double s[2] = {(double)t->i - .5 + (double)t->nx * (1 + u) / 2,
		       (double)t->j - .5 + (double)t->ny * (1 + v) / 2};

	for (int i = 0; i < 2; i++)
		s[i] = w->cut[1][i].first + w->cut[1][i].step * s[i];
	world_place(w->world[1], s, 2, at);
	world_find(w->world[0], at, s);
	for (int i = 0; i < 2; i++)
		at[i] = (s[i] - w->cut[0][i].first) / w->cut[0][i].step;
	return isfinite(at[0]) && isfinite(at[1]);
}

/* At v, the place is c0 + u (c1 + u c2): finds c of x or y from the parabolas through three places each. */
static void
find_row(double at[3][3], double v, double c[3])
{
	double f[3];

	for (int a = 0; a < 3; a++)
		f[a] = at[1][a] +
		       v * ((at[2][a] - at[0][a]) / 2 + v * ((at[2][a] + at[0][a]) / 2 - at[1][a]));
	c[0] = f[1];
	c[1] = (f[2] - f[0]) / 2;
	c[2] = (f[2] + f[0]) / 2 - f[1];
}

static double
find_at(double at[3][3], double u, double v)
{
	double c[3];

	find_row(at, v, c);
	return c[0] + u * (c[1] + u * c[2]);
}

/* EXACT: four other places agree, or there is one sample. NOWHERE: there is no place. WCSLIB serves one thread at a time. */
enum way { EXACT, ROUGH, NOWHERE };
static enum way
find_way(const struct warp *w, struct tile *t)
{
	const bool single = t->nx * t->ny == 1;
	const double edge = single && !w->flux ? 0 : 1; /* 0: the centre is enough */
	double at[2];
	bool any = false, good = true;

	for (int n = 0; n < 9; n++) {
		any |= find_place(w, t, edge * (n % 3 - 1), edge * (n / 3 - 1), at);
		t->at[0][n / 3][n % 3] = at[0];
		t->at[1][n / 3][n % 3] = at[1];
	}
	for (int n = 0; n < 4 && !single; n++) {
		const double u = n % 2 - .5, v = n / 2 - .5;
		any |= find_place(w, t, u, v, at);
		for (int i = 0; i < 2; i++)
			good &= fabs(find_at(t->at[i], u, v) - at[i]) <= bound;
	}
	return good ? EXACT : any ? ROUGH : NOWHERE;
}

/*
 * Finds n places by c of x and y. A place within reach of a sample becomes that of the sample. They are NaN outside of the picture,
 * whose last sample is at `last`.
 */
WEIR_CLONES(place_row,
	    (double *restrict x, double *restrict y, int n, const double (*c)[3],
	     const double *last, double reach),
	    (x, y, n, c, last, reach))
{
	for (int i = 0; i < n; i++) {
		const double u = (2 * i + 1 - n) / (double)n,
			     p = c[0][0] + u * (c[0][1] + u * c[0][2]),
			     q = c[1][0] + u * (c[1][1] + u * c[1][2]), r = floor(p + .5),
			     s = floor(q + .5), a = fabs(p - r) <= reach ? r : p,
			     b = fabs(q - s) <= reach ? s : q;
		const bool in = (a >= 0) & (a <= last[0]) & (b >= 0) & (b <= last[1]);
		x[i] = in ? a : NAN;
		y[i] = in ? b : NAN;
	}
}

/* Finds the places of a tile, areas for flux, and the box of the places: their least and greatest column and row of the picture. */
static void
place_tile(const struct warp *w, struct work *k, struct tile *t, ptrdiff_t box[4])
{
	const double last[2] = {(double)w->w - 1, (double)w->h - 1}, nx = (double)t->nx,
		     ny = (double)t->ny;
	double c[2][3];

	for (size_t j = 0; j < t->ny; j++) {
		const double v = (double)(2 * j + 1) / ny - 1;
		double *x = k->x + j * t->nx, *y = k->y + j * t->nx;
		for (int i = 0; i < 2; i++)
			find_row(t->at[i], v, c[i]);
		place_row(x, y, (int)t->nx, (const double(*)[3])c, last, w->taps > 1 ? near : .5);
		for (size_t i = 0; i < t->nx; i++) {
			if (isnan(x[i]))
				continue;
			const ptrdiff_t p = (ptrdiff_t)x[i], q = (ptrdiff_t)y[i];
			box[0] = p < box[0] ? p : box[0];
			box[1] = q < box[1] ? q : box[1];
			box[2] = p > box[2] ? p : box[2];
			box[3] = q > box[3] ? q : box[3];
		}
		for (size_t i = 0; w->flux && i < t->nx; i++) {
			const double u = (double)(2 * i + 1) / nx - 1;
			double d[2];
			for (int m = 0; m < 2; m++)
				d[m] = find_at(t->at[m], u, v + 1 / ny) -
				       find_at(t->at[m], u, v - 1 / ny);
			k->area[j * t->nx + i] = fabs((c[0][1] + 2 * u * c[0][2]) * d[1] -
						      (c[1][1] + 2 * u * c[1][2]) * d[0]) *
						 2 / nx;
		}
	}
}

/* --- tiles --- */

/* Loads what a tile needs of a plane: the box, and what the kernel needs about it. NaN: outside of the picture. */
static struct window
load_window(const struct warp *w, struct work *k, const char *picture, size_t plane,
	    const ptrdiff_t box[4])
{
	const ptrdiff_t before = (w->taps - 1) / 2, after = w->taps / 2, width = (ptrdiff_t)w->w,
			left = box[0] - before, right = box[2] + after + 1,
			from = left < 0 ? 0 : left, to = right < width ? right : width;
	const struct window at = {k->window, right - left, left, box[1] - before};
	const size_t size = img_type_size(w->missing.type);
	double *row = k->window;

	for (ptrdiff_t y = at.y; y <= box[3] + after; y++, row += at.stride) {
		const char *v = picture + ((size_t)(y * width + from) * w->c + plane) * size;
		for (ptrdiff_t x = 0; x < at.stride; x++)
			row[x] = NAN;
		if (y < 0 || y >= (ptrdiff_t)w->h)
			continue;
		if (w->c > 1) {
			sample_copy(k->line, 1, v, (ptrdiff_t)w->c, (size_t)(to - from), size);
			v = (const char *)k->line;
		}
		nodata_load(&w->missing, row + (from - left), v, (size_t)(to - from));
	}
	return at;
}

/* Copies the nearest samples, all planes of each. */
static void
copy_row(const struct warp *w, const char *picture, const double *x, const double *y, size_t n,
	 char *to)
{
	const size_t size = img_type_size(w->type), pixel = w->c * size;

	for (size_t i = 0; i < n; i++, to += pixel)
		if (isnan(x[i]))
			for (size_t c = 0; c < w->c; c++)
				memcpy(to + c * size, w->missing.sample, size);
		else
			memcpy(to, picture + ((size_t)y[i] * w->w + (size_t)x[i]) * pixel, pixel);
}

/* Computes a tile whose places are known. to: its first sample in the rows. Returns false where floats cannot hold a result. */
static bool
fill_tile(const struct warp *w, struct work *k, const char *picture, const struct tile *t,
	  const ptrdiff_t box[4], char *to)
{
	const size_t size = img_type_size(w->type), across = w->W * w->c * size;
	struct window from = {0};
	bool fits = true;

	for (size_t j = 0; w->copies && j < t->ny; j++)
		copy_row(w, picture, k->x + j * t->nx, k->y + j * t->nx, t->nx, to + j * across);
	for (size_t c = 0; !w->copies && c < w->c; c++) {
		if (box[2] >= 0)
			from = load_window(w, k, picture, c, box);
		for (size_t j = 0; j < t->ny; j++) {
			const size_t at = j * t->nx;
			sum_row(k->row, k->x + at, k->y + at, t->nx, w->weight, w->taps, from);
			for (size_t i = 0; w->flux && i < t->nx; i++)
				k->row[i] *= k->area[at + i];
			fits &= sample_store(k->stored, k->row, w->type, t->nx) == t->nx;
			sample_copy(to + j * across + c * size, w->c, k->stored, 1, t->nx, size);
		}
	}
	return fits;
}

/* Does so, or does it with the quarters of a tile that is too rough or needs too much of the picture. */
static bool
cut_tile(const struct warp *w, struct work *k, const char *picture, struct tile t, char *to)
{
	const size_t pixel = w->c * img_type_size(w->type), nx = (t.nx + 1) / 2,
		     ny = (t.ny + 1) / 2;
	ptrdiff_t box[4] = {PTRDIFF_MAX, PTRDIFF_MAX, -1, -1};
	bool fits = true;
	enum way way;

#pragma omp critical
	way = find_way(w, &t);
	if (way == EXACT || (way == NOWHERE && t.nx <= 8 && t.ny <= 8)) {
		place_tile(w, k, &t, box);
		if (w->copies || box[2] < 0 ||
		    (box[2] - box[0] + LANES) * (box[3] - box[1] + LANES) <= WINDOW)
			return fill_tile(w, k, picture, &t, box, to);
	}
	for (size_t j = 0; j < t.ny; j += ny)
		for (size_t i = 0; i < t.nx; i += nx) {
			const struct tile quarter = {t.i + i, t.j + j, i ? t.nx - i : nx,
						     j ? t.ny - j : ny};
			fits &= cut_tile(w, k, picture, quarter, to + (j * w->W + i) * pixel);
		}
	return fits;
}

bool
warp_rows(struct warp *w, const void *picture, size_t j, size_t n, void *rows)
{
	const size_t pixel = w->c * img_type_size(w->type), across = (w->W - 1) / TILE + 1,
		     tiles = across * ((n - 1) / TILE + 1);
	bool fits = true;

#pragma omp parallel for schedule(dynamic) num_threads(w->threads) if (tiles > 1) reduction(&& : fits)
	for (size_t tile = 0; tile < tiles; tile++) {
		const size_t x = tile % across * TILE, y = tile / across * TILE;
		const struct tile t = {x, j + y, w->W - x < TILE ? w->W - x : TILE,
				       n - y < TILE ? n - y : TILE};
		fits = cut_tile(w, &w->work[omp_get_thread_num()], picture, t,
				(char *)rows + (y * w->W + x) * pixel) &&
		       fits;
	}
	return fits;
}

struct warp *
warp_plan(enum warp_kernel kernel, bool flux, enum img_type type, const struct world *from,
	  const struct world *to, int threads)
{
	const struct img_axis *grid = &to->x->axis[img_row_axis(to->x)];
	struct warp *w = weir_xalloc(1, sizeof *w + (size_t)threads * sizeof(struct work));
	struct img_picture p;

	img_pictures(from->x, &p);
	*w = (struct warp){flux, kernel == WARP_NEAREST && !flux, type, {from, to}};
	w->missing = nodata_of(from->x, false);
	w->threads = threads;
	w->c = p.c;
	w->w = p.w;
	w->h = p.h;
	w->W = grid->n;
	for (int i = 0; i < 4; i++) {
		const struct img *x = w->world[i / 2]->x;
		w->cut[i / 2][i % 2] = map_cut_of(x, img_row_axis(x) + i % 2);
	}
	make_table(w, kernel);
	for (int i = 0; i < threads; i++)
		memset(w->work[i].window, 0, sizeof w->work[i].window);
	return w;
}
