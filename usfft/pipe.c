/* Pipe and Menon's weights, by the spreading and interpolation of a plan, without its FFTs. */
#include <errno.h>

#include "common/mem.h"
#include "usfft/inverse.h"
#include "usfft/plan.h"

/* w <- w / (K w), where K spreads and interpolates. At the fixed point K w = 1, where points are dense and where sparse. */
static void
equalise(struct usfft_plan *p, double *w, double *v, size_t m)
{
	for (size_t j = 0; j < m; j++) {
		v[2 * j] = w[j];
		v[2 * j + 1] = 0;
	}
	double start = clock_now();
	spread_points(p, 1, v);
	interp_points(p, 1, v);
	clock_charge(&start, &p->took->spread);
	for (size_t j = 0; j < m; j++)
		w[j] = v[2 * j] > 0 ? w[j] / v[2 * j] : w[j];
}

int
usfft_pipe(const struct usfft_options *given, const struct usfft_points *pt, int rounds, double *w,
	   size_t *bad)
{
	struct usfft_options o = *given;
	struct usfft_plan *p = NULL;
	double *v = weir_alloc(pt->m, 2 * sizeof *v), area = 1;
	int err;

	o.single = false;
	err = v ? usfft_plan(&p, &o) : -ENOMEM;
	if (!err)
		err = usfft_points(p, pt, NULL, 0, bad);
	for (size_t j = 0; !err && j < pt->m; j++)
		w[j] = 1;
	for (int i = 0; !err && i < rounds; i++)
		equalise(p, w, v, pt->m);
	for (int a = 0; !err && a < o.dim; a++) {
		const double h = window_hat(&p->win[a], 0);
		area *= h * h / (double)p->grid.n[a];
	}
	for (size_t j = 0; !err && j < pt->m; j++)
		w[j] *= area;
	usfft_free(p);
	weir_free(v);
	return err;
}
