#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/picture/mosaic.h"
#include "common/picture/warp.h"
#include "common/stream/nodata.h"

/*
 * TILE: samples along a side of what is computed at once; TAPS: samples along a side of a kernel, with lanes of weight 0; PHASES: of
 * the table of weights, between which they are interpolated: the error is 4e-7. WINDOW: samples of the picture that a tile may need.
 */
enum { TILE = 64, TAPS = 8, PHASES = 1024, WINDOW = 1 << 16, BLOCK = 512 };

/* Places are interpolated with a lesser error, and one that is as near to a sample is that of the sample. Both are in samples. */
static const double bound = 5e-4, near = 1e-5;

typedef double lanes __attribute__((vector_size(TAPS * sizeof(double)), aligned(sizeof(double))));

/* What a thread has for itself. */
struct work {
	struct world from, to;
	/* The positions of a tile, NaN outside of the picture; samples of the picture that lie in one of the result. */
	double x[TILE * TILE], y[TILE * TILE], area[TILE * TILE];
	double row[TILE];
	char stored[TILE * sizeof(double)];
	double window[WINDOW + TAPS];
};

struct warp {
	bool flux, copies; /* samples are copied as they are */
	enum img_type type;
	size_t c, w, h, W, H; /* of the picture and of the result */
	struct map_cut from[2], to[2];
	struct nodata missing;
	int taps, threads;
	double weight[PHASES + 2][TAPS];
	struct work *work;
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
	t = fabs(t);
	if (kernel == WARP_LANCZOS3)
		return t < 3 ? sinc(t) * sinc(t / 3) : 0;
	if (kernel == WARP_CUBIC)
		return t <= 1  ? 1 + t * t * (1.5 * t - 2.5)
		       : t < 2 ? 2 + t * (-4 + t * (2.5 - t / 2))
			       : 0;
	return t < 1 ? 1 - t : 0;
}

/* Fills the table: row p has the weights of the samples about a place that is p / PHASES behind one. */
static void
make_table(struct warp *w, enum warp_kernel kernel)
{
	static const int taps[] = {6, 4, 2, 1};

	w->taps = taps[kernel];
	memset(w->weight, 0, sizeof w->weight);
	for (int p = 0; p <= PHASES + 1; p++) {
		const double f = (double)p / PHASES;
		double *to = w->weight[p], sum = 0;

		for (int k = 0; k < w->taps; k++)
			sum += to[k] = weigh(kernel, f - k + (w->taps - 1) / 2);
		for (int k = 0; k < w->taps; k++)
			to[k] = p % PHASES ? to[k] / sum : rint(to[k]);
	}
}

/* The part of the picture that a tile needs: `stride` columns of samples at `at`, from column x and row y on. */
struct window {
	const double *at;
	size_t stride;
	ptrdiff_t x, y;
};

/* The sum without the samples of weight 0, which are NaN perhaps. */
static double
sum_known(const double *v, size_t stride, const double *wx, const double *wy, int taps)
{
	double sum = 0;

	for (int l = 0; l < taps; l++)
		for (int k = 0; k < taps; k++)
			if (wx[k] * wy[l] != 0)
				sum += wx[k] * wy[l] * v[(size_t)l * stride + (size_t)k];
	return sum;
}

WEIR_CLONES(sum_row,
	    (double *restrict to, const double *x, const double *y, size_t n,
	     const double (*table)[TAPS], int taps, struct window from),
	    (to, x, y, n, table, taps, from))
{
	const ptrdiff_t before = (taps - 1) / 2;

	for (size_t i = 0; i < n; i++) {
		double at[2] = {x[i], y[i]}, w[2][TAPS];

		if (isnan(at[0])) {
			to[i] = NAN;
			continue;
		}
		const ptrdiff_t ix = (ptrdiff_t)at[0], iy = (ptrdiff_t)at[1];
		const double *v = from.at + (iy - before - from.y) * (ptrdiff_t)from.stride + ix -
				  before - from.x;
		at[0] -= (double)ix;
		at[1] -= (double)iy;
		for (int k = 0; k < 2; k++) {
			const double f = at[k] * PHASES;
			const size_t p = (size_t)f;
			const lanes a = *(const lanes *)table[p], b = *(const lanes *)table[p + 1];

			*(lanes *)w[k] = a + (f - (double)p) * (b - a);
		}
		lanes sum = w[1][0] * *(const lanes *)v;
		for (int l = 1; l < taps; l++)
			sum += w[1][l] * *(const lanes *)(v + (size_t)l * from.stride);
		sum *= *(const lanes *)w[0];
		to[i] = ((sum[0] + sum[4]) + (sum[1] + sum[5])) +
			((sum[2] + sum[6]) + (sum[3] + sum[7]));
		if (isnan(to[i]))
			to[i] = sum_known(v, from.stride, w[0], w[1], taps);
	}
}

/* --- places --- */

/* Rows and columns of the result, and how its places lie in the picture: x = sum of c[0][b][a] u^a v^b, and so y, for u, v in -1..1. */
struct tile {
	size_t i, j, nx, ny;
	double c[2][3][3];
};

/* The place in the picture of u, v of the tile. */
static void
find_place(const struct warp *w, const struct work *k, const struct tile *t, double u, double v,
	   double at[2])
{
	const double s[2] = {(double)t->i - .5 + (double)t->nx * (1 + u) / 2,
			     (double)t->j - .5 + (double)t->ny * (1 + v) / 2};
	double p[2], place[2];

	for (int i = 0; i < 2; i++)
		p[i] = w->to[i].first + w->to[i].step * s[i];
	world_place(&k->to, p, 2, place);
	world_find(&k->from, place, p);
	for (int i = 0; i < 2; i++)
		at[i] = (p[i] - w->from[i].first) / w->from[i].step;
}

/* Makes the coefficients of powers from the values at -1, 0 and 1. */
static void
take_powers(double *f, size_t step)
{
	const double even = (f[0] + f[2 * step]) / 2 - f[step], odd = (f[2 * step] - f[0]) / 2;

	f[0] = f[step];
	f[step] = odd;
	f[2 * step] = even;
}

static double
polynomial(const double c[3], double u)
{
	return c[0] + u * (c[1] + u * c[2]);
}

/* Finds the way of the tile by 9 places. EXACT: four others agree, or there is one sample. NOWHERE: no place is known. */
enum way { EXACT, ROUGH, NOWHERE };
static enum way
find_way(const struct warp *w, const struct work *k, struct tile *t)
{
	double at[2], u[3];
	size_t known = 0;
	bool good = true;

	for (int b = 0; b < 3; b++)
		for (int a = 0; a < 3; a++) {
			find_place(w, k, t, a - 1, b - 1, at);
			t->c[0][b][a] = at[0];
			t->c[1][b][a] = at[1];
			known += isfinite(at[0]) && isfinite(at[1]);
		}
	if (t->nx * t->ny == 1 && known < 9 && !w->flux) /* the centre is enough */
		for (int i = 0; i < 2; i++)
			for (int n = 0; n < 9; n++)
				t->c[i][n / 3][n % 3] = t->c[i][1][1];
	for (int i = 0; i < 2; i++)
		for (int n = 0; n < 6; n++)
			take_powers(n < 3 ? t->c[i][n] : &t->c[i][0][n - 3], n < 3 ? 1 : 3);
	if (t->nx * t->ny == 1)
		return EXACT;
	for (int n = 0; n < 4; n++) {
		const double v = n / 2 - .5;

		find_place(w, k, t, n % 2 - .5, v, at);
		known += isfinite(at[0]) && isfinite(at[1]);
		for (int i = 0; i < 2; i++) {
			for (int b = 0; b < 3; b++)
				u[b] = polynomial(t->c[i][b], n % 2 - .5);
			good &= fabs(polynomial(u, v) - at[i]) <= bound;
		}
	}
	return good ? EXACT : known ? ROUGH : NOWHERE;
}

/*
 * Finds the positions of n samples in a row. c: the powers of u of x, y, dx/dj and dy/dj. most: the greatest positions in the
 * picture.
 */
WEIR_CLONES(place_row,
	    (double *restrict x, double *restrict y, double *restrict area, size_t n,
	     const double (*c)[3], const double *most, bool nearest),
	    (x, y, area, n, c, most, nearest))
{
	const double step = 2 / (double)n;

	for (size_t i = 0; i < n; i++) {
		const double u = ((double)i + .5) * step - 1;
		double p = c[0][0] + u * (c[0][1] + u * c[0][2]),
		       q = c[1][0] + u * (c[1][1] + u * c[1][2]);
		const double r = nearest ? floor(p + .5) : rint(p),
			     s = nearest ? floor(q + .5) : rint(q);

		p = nearest || fabs(p - r) <= near ? r : p;
		q = nearest || fabs(q - s) <= near ? s : q;
		const bool in = p >= 0 && p <= most[0] && q >= 0 && q <= most[1];
		x[i] = in ? p : NAN;
		y[i] = in ? q : NAN;
		area[i] =
		    step *
		    fabs((c[0][1] + 2 * u * c[0][2]) * (c[3][0] + u * (c[3][1] + u * c[3][2])) -
			 (c[1][1] + 2 * u * c[1][2]) * (c[2][0] + u * (c[2][1] + u * c[2][2])));
	}
}

/* Finds the positions of a tile. Returns the least and the greatest column and row of the picture in box; false: there are none. */
static bool
place_tile(const struct warp *w, struct work *k, const struct tile *t, ptrdiff_t box[4])
{
	const double most[2] = {(double)w->w - 1, (double)w->h - 1};
	double lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};

	for (size_t j = 0; j < t->ny; j++) {
		const double step = 2 / (double)t->ny, v = ((double)j + .5) * step - 1;
		double c[4][3], *x = k->x + j * t->nx, *y = k->y + j * t->nx;

		for (int i = 0; i < 2; i++)
			for (int a = 0; a < 3; a++) {
				const double p = t->c[i][1][a], q = t->c[i][2][a];

				c[i][a] = t->c[i][0][a] + v * (p + v * q);
				c[2 + i][a] = step * (p + 2 * v * q);
			}
		place_row(x, y, k->area + j * t->nx, t->nx, (const double(*)[3])c, most,
			  w->taps == 1);
		for (size_t i = 0; i < t->nx; i++) {
			lo[0] = x[i] < lo[0] ? x[i] : lo[0];
			hi[0] = x[i] > hi[0] ? x[i] : hi[0];
			lo[1] = y[i] < lo[1] ? y[i] : lo[1];
			hi[1] = y[i] > hi[1] ? y[i] : hi[1];
		}
	}
	if (!(lo[0] <= hi[0]))
		return false;
	for (int i = 0; i < 2; i++) {
		box[i] = (ptrdiff_t)lo[i];
		box[2 + i] = (ptrdiff_t)hi[i];
	}
	return true;
}

/* --- tiles --- */

/* Loads n samples of a plane of the picture from pixel `at` on, and NaN for those that are missing. */
static void
load(const struct warp *w, const char *picture, size_t plane, size_t at, size_t n, double *to)
{
	const size_t size = img_type_size(w->missing.type);
	_Alignas(double) char raw[BLOCK * sizeof(double)];
	uint8_t is[BLOCK];

	for (size_t i = 0, some; i < n; i += some) {
		const char *from = picture + ((at + i) * w->c + plane) * size;

		some = n - i < BLOCK ? n - i : BLOCK;
		if (w->c > 1) {
			sample_copy(raw, 1, from, (ptrdiff_t)w->c, some, size);
			from = raw;
		}
		sample_load(to + i, from, w->missing.type, some);
		if (!w->missing.named)
			continue;
		nodata_mark(&w->missing, is, from, some);
		for (size_t m = 0; m < some; m++)
			to[i + m] = is[m] ? NAN : to[i + m];
	}
}

/* Loads what a tile needs of a plane: the box with the reach of the kernel. What is outside of the picture is NaN. */
static struct window
load_window(const struct warp *w, struct work *k, const char *picture, size_t plane,
	    const ptrdiff_t box[4])
{
	const ptrdiff_t before = (w->taps - 1) / 2, after = w->taps / 2, x0 = box[0] - before,
			x1 = box[2] + after + 1, right = (ptrdiff_t)w->w, from = x0 < 0 ? 0 : x0,
			to = x1 < right ? x1 : right;
	const struct window at = {k->window, (size_t)(x1 - x0), x0, box[1] - before};
	double *v = k->window;

	for (ptrdiff_t y = at.y; y <= box[3] + after; y++, v += at.stride) {
		const bool in = y >= 0 && y < (ptrdiff_t)w->h;

		for (ptrdiff_t x = x0; x < x1; x++)
			if (!in || x < from || x >= to)
				v[x - x0] = NAN;
		if (in)
			load(w, picture, plane, (size_t)y * w->w + (size_t)from,
			     (size_t)(to - from), v + (from - x0));
	}
	return at;
}

/* Copies the samples of a row, all planes of each at once. */
static void
copy_row(const struct warp *w, const char *picture, const double *x, const double *y, size_t n,
	 char *to)
{
	const size_t size = img_type_size(w->type);

	for (size_t i = 0; i < n; i++, to += w->c * size)
		if (isnan(x[i]))
			for (size_t c = 0; c < w->c; c++)
				memcpy(to + c * size, w->missing.sample, size);
		else
			memcpy(to, picture + ((size_t)y[i] * w->w + (size_t)x[i]) * w->c * size,
			       w->c * size);
}

/* Computes a tile, or the quarters of one that is too rough or needs too much of the picture. to: its first sample in the rows. */
static bool
fill_tile(const struct warp *w, struct work *k, const char *picture, struct tile t, char *to)
{
	const size_t size = img_type_size(w->type), pixel = w->c * size;
	const enum way way = find_way(w, k, &t);
	const bool small = t.nx <= 8 && t.ny <= 8;
	ptrdiff_t box[4] = {0, 0, -1, -1};
	bool any = false, fits = true, split = way == ROUGH || (way == NOWHERE && !small);

	if (!split) {
		any = place_tile(w, k, &t, box);
		split = !w->copies &&
			(box[2] - box[0] + w->taps) * (box[3] - box[1] + w->taps) > WINDOW;
	}
	if (split) {
		const size_t nx = (t.nx + 1) / 2, ny = (t.ny + 1) / 2;

		for (size_t j = 0; j < t.ny; j += ny)
			for (size_t i = 0; i < t.nx; i += nx)
				fits &= fill_tile(w, k, picture,
						  (struct tile){.i = t.i + i,
								.j = t.j + j,
								.nx = i ? t.nx - nx : nx,
								.ny = j ? t.ny - ny : ny},
						  to + (j * w->W + i) * pixel);
		return fits;
	}
	for (size_t j = 0; w->copies && j < t.ny; j++)
		copy_row(w, picture, k->x + j * t.nx, k->y + j * t.nx, t.nx, to + j * w->W * pixel);
	for (size_t c = 0; !w->copies && c < w->c; c++) {
		const struct window from =
		    any ? load_window(w, k, picture, c, box) : (struct window){0};

		for (size_t j = 0; j < t.ny; j++) {
			const size_t at = j * t.nx;

			sum_row(k->row, k->x + at, k->y + at, t.nx, w->weight, w->taps, from);
			for (size_t i = 0; w->flux && i < t.nx; i++)
				k->row[i] *= k->area[at + i];
			fits &= sample_store(k->stored, k->row, w->type, t.nx) == t.nx;
			sample_copy(to + (j * w->W * w->c + c) * size, w->c, k->stored, 1, t.nx,
				    size);
		}
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
		const struct tile t = {.i = x,
				       .j = j + y,
				       .nx = w->W - x < TILE ? w->W - x : TILE,
				       .ny = n - y < TILE ? n - y : TILE};

		fits = fill_tile(w, &w->work[omp_get_thread_num()], picture, t,
				 (char *)rows + (y * w->W + x) * pixel) &&
		       fits;
	}
	return fits;
}

/* --- plan --- */

struct warp *
warp_plan(enum warp_kernel kernel, bool flux, enum img_type type, const struct world *from,
	  const struct world *to, int threads)
{
	const struct img *x = from->x, *y = to->x;
	const int row = img_row_axis(x), grid = img_row_axis(y);
	struct warp *w = weir_xalloc(1, sizeof *w);
	struct img_picture p;

	img_pictures(x, &p);
	*w = (struct warp){.flux = flux,
			   .copies = kernel == WARP_NEAREST && !flux,
			   .type = type,
			   .c = p.c,
			   .w = p.w,
			   .h = p.h,
			   .W = y->axis[grid].n,
			   .H = y->axis[grid + 1].n,
			   .missing = nodata_of(x, false),
			   .threads = threads};
	for (int i = 0; i < 2; i++) {
		w->from[i] = map_cut_of(x, row + i);
		w->to[i] = map_cut_of(y, grid + i);
	}
	make_table(w, kernel);
	w->work = weir_xalloc((size_t)threads, sizeof *w->work);
	for (int i = 0; i < threads; i++) {
		memset(w->work[i].window, 0, sizeof w->work[i].window);
		world_copy(&w->work[i].from, from);
		world_copy(&w->work[i].to, to);
	}
	return w;
}

void
warp_free(struct warp *w)
{
	for (int i = 0; w && i < w->threads; i++) {
		world_close(&w->work[i].from);
		world_close(&w->work[i].to);
	}
	weir_free(w ? w->work : NULL);
	weir_free(w);
}
