/* Where the points, the tables and the grid of a plan lie on the device. */
#include "gpu/block.h"
#include "gpu/usfft/work.h"

#include <stdio.h>
#include <string.h>

namespace
{

template <class T>
void
lay_points(gpu_block *b, work<T> *k, int dim)
{
	k->index = gpu_take<unsigned>(b, k->m);
	k->start = gpu_take<unsigned>(b, k->ntiles + 1);
	k->heavy = gpu_take<unsigned>(b, k->ntiles + 1);
	for (int a = 0; a < dim; a++) {
		k->cell[a] = gpu_take<unsigned>(b, k->m);
		k->rest[a] = gpu_take<T>(b, k->m);
	}
	k->value = gpu_take<cplx<T>>(b, k->m);
}

template <class T>
void
lay_tables(gpu_block *b, work<T> *k, int dim)
{
	k->coef = gpu_take<T>(b, (size_t)dim * k->ncoef * WINDOW_MAXW);
	for (int a = 0; a < dim; a++)
		k->undo[a] = gpu_take<T>(b, k->modes[a] / 2 + 1);
}

} // namespace

int
usfft_too_large(struct gpu *g, const size_t n[3])
{
	size_t cells = 1;

	for (int a = 0; a < 3; a++)
		cells = cells > 0x7fffffff ? cells : cells * n[a];
	if (cells <= 0x7fffffff)
		return 0;
	snprintf(g->why, sizeof g->why, "a grid of %zu x %zu x %zu cells is too large", n[0], n[1],
		 n[2]);
	return -EIO;
}

template <class T>
int
usfft_work(struct gpu *g, const struct usfft_plan *p, work<T> *k)
{
	const int dim = p->o.dim;
	int err = usfft_too_large(g, p->grid.n);

	if (err)
		return err;
	k->m = (unsigned)p->points.m;
	k->ntiles = (unsigned)p->ntiles;
	k->heavies = (unsigned)p->nheavy;
	for (int a = 0; a < 3; a++) {
		k->n[a] = (unsigned)p->grid.n[a];
		k->modes[a] = (unsigned)p->o.n[a];
		k->tiles[a] = (unsigned)p->tiles[a];
	}
	k->win = p->win;
	k->w = (unsigned)p->win[0].w;
	k->lead = (unsigned)tile_lead(p->win[0].w);
	k->ncoef = (unsigned)p->taps.ncoef;
	k->span_log = (unsigned)tile_span_log(dim);
	k->fft_order = p->o.fft_order;
	err = gpu_place(g, HOLD_POINTS, [&](gpu_block *b) { lay_points(b, k, dim); });
	return err ? err : gpu_place(g, HOLD_TABLES, [&](gpu_block *b) { lay_tables(b, k, dim); });
}

template <class T>
int
usfft_tables(struct gpu *g, const struct usfft_plan *p, const work<T> &on)
{
	work<T> k = on;

	const auto lay = [&](gpu_block *b) { lay_tables(b, &k, p->o.dim); };
	return gpu_place_filled(g, HOLD_TABLES, lay, [&] {
		for (int a = 0; a < p->o.dim; a++) {
			T *c = const_cast<T *>(k.coef) + (size_t)a * k.ncoef * WINDOW_MAXW;
			for (unsigned d = 0; d < k.ncoef; d++)
				for (unsigned t = 0; t < k.w; t++)
					c[d * WINDOW_MAXW + t] =
					    (T)p->win[a].coef[k.ncoef - 1 - d][t];
			memcpy(const_cast<T *>(k.undo[a]), p->grid.undo[a],
			       (k.modes[a] / 2 + 1) * sizeof(T));
		}
	});
}

template int usfft_work(struct gpu *, const struct usfft_plan *, work<float> *);
template int usfft_work(struct gpu *, const struct usfft_plan *, work<double> *);
template int usfft_tables(struct gpu *, const struct usfft_plan *, const work<float> &);
template int usfft_tables(struct gpu *, const struct usfft_plan *, const work<double> &);
