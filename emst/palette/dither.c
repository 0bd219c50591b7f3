#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "emst/palette/dither.h"

enum { MOST = 256, LANES = 16, DIMS = 6 };

/* Colours side by side, one row a coordinate. Rows end in infinity, up to whole vectors. */
struct table {
	size_t n;
	float x[DIMS][MOST];
	uint8_t index[MOST]; /* among all colours; ascending */
};

/* Which colours a pixel may get: see dither.h. */
enum { ANY, OPAQUE, CLEAR, TABLES };

struct work {
	size_t dims;
	int32_t top;
	struct table table[TABLES];
	int32_t *t;	   /* [w][dims]: a row of pixels; owned */
	uint8_t *kind;	   /* [w]: the table of each; owned */
	int32_t *error[2]; /* [w + 2][dims]: received by this row and by the next one; owned */
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
			w->t[i] = 16 * u8[i];
		return;
	}
	for (size_t i = 0; i < d->w; i++) {
		double x[4];
		for (size_t a = 0; a < d->planes; a++) {
			const size_t at = i * d->planes + a;
			x[a] = fmin(d->type == IMG_U8 ? u8[at] : u16[at], d->top);
		}
		w->kind[i] = (uint8_t)place(d, x, w->t + i * w->dims);
	}
}

static void
add_colour(struct table *t, const int32_t *x, size_t dims, size_t j)
{
	for (size_t a = 0; a < dims; a++)
		t->x[a][t->n] = (float)x[a];
	t->index[t->n++] = (uint8_t)j;
}

static void
make_tables(struct work *w, const struct dither *d)
{
	for (int i = 0; i < TABLES; i++)
		for (size_t a = 0; a < DIMS; a++)
			for (size_t j = 0; j < MOST; j++)
				w->table[i].x[a][j] = INFINITY;
	for (size_t j = 0; j < d->k; j++) {
		int32_t x[DIMS];
		const int kind = place(d, d->colour + j * d->planes, x);
		add_colour(&w->table[ANY], x, w->dims, j);
		if (kind != ANY)
			add_colour(&w->table[kind], x, w->dims, j);
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

CPU_INLINE void
settle_row(struct work *w, uint8_t *index, size_t n, size_t dims)
{
	int32_t *own = w->error[0] + dims, *next = w->error[1] + dims;

	for (size_t i = 0; i < n; i++, own += dims, next += dims) {
		const int kind = w->kind[i];
		const struct table *t = &w->table[w->table[kind].n ? kind : ANY];
		int32_t x[DIMS];
		float f[DIMS];
		for (size_t a = 0; a < dims; a++) {
			x[a] = w->t[i * dims + a] + ((own[a] + 64) >> 7);
			x[a] = x[a] < 0 ? 0 : x[a] > w->top ? w->top : x[a];
			f[a] = (float)x[a];
		}
		const uint32_t j = nearest(t, f, dims);
		index[i] = t->index[j];
		for (size_t a = 0; kind != CLEAR && a < dims; a++) {
			const int32_t e = x[a] - (int32_t)t->x[a][j];
			own[dims + a] += 49 * e;
			next[a - dims] += 21 * e;
			next[a] += 35 * e;
			next[dims + a] += 7 * e;
		}
	}
}

/* Settles the n pixels of a row. */
WEIR_CLONES(run_row, (struct work * w, uint8_t *index, size_t n), (w, index, n))
{
	if (w->dims == 1)
		settle_row(w, index, n, 1);
	else if (w->dims == 3)
		settle_row(w, index, n, 3);
	else if (w->dims == 6)
		settle_row(w, index, n, 6);
	else
		settle_row(w, index, n, w->dims);
}

static void
free_work(struct work *w)
{
	weir_free(w->t);
	weir_free(w->kind);
	weir_free(w->error[0]);
	weir_free(w->error[1]);
	weir_free(w);
}

static struct work *
make_work(const struct dither *d)
{
	struct work *w = weir_calloc(1, sizeof *w);

	if (!w)
		return NULL;
	w->dims = d->alpha ? 2 * (d->planes - 1) : d->planes;
	w->top = (int32_t)d->top * (d->type == IMG_U8 ? 16 : 1);
	w->t = weir_alloc(d->w, w->dims * sizeof *w->t);
	w->kind = weir_calloc(d->w, 1);
	for (int i = 0; i < 2; i++)
		w->error[i] = weir_calloc(d->w + 2, w->dims * sizeof *w->error[i]);
	if (!w->t || !w->kind || !w->error[0] || !w->error[1]) {
		free_work(w);
		return NULL;
	}
	make_tables(w, d);
	return w;
}

int
dither_run(const struct dither *d, uint8_t *index)
{
	struct work *w = make_work(d);

	if (!w)
		return -ENOMEM;
	for (size_t y = 0; y < d->h; y++) {
		load_row(w, d, y);
		run_row(w, index + y * d->w, d->w);
		int32_t *const done = w->error[0];
		w->error[0] = w->error[1];
		w->error[1] = done;
		memset(done, 0, (d->w + 2) * w->dims * sizeof *done);
	}
	free_work(w);
	return 0;
}
