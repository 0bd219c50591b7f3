/* Pipe and Menon's weights, by the spreading and interpolation of a plan, without its FFTs. */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "usfft/inverse.h"
#include "usfft/plan.h"

/*
 * The kernel K is the window, convolved with itself on the grid. K takes points that it covers together for one, so it must
 * not be wider than the distance of modes: the window of a tolerance of 1e-6 made haze and rings of a spiral's centre and
 * end. On a lattice with that distance K w is uneven by what this returns. Less than 1 % makes the kernel needlessly wide.
 */
static double
unevenness(const struct usfft_options *o, int w, const size_t n[3])
{
	struct window win;
	int a = 0;

	for (int i = 1; i < o->dim; i++)
		if (o->n[i] > o->n[a])
			a = i;
	const double f = (double)o->n[a] / (double)n[a];
	window_make(&win, false, w, 1 / f, o->tol);
	const double hat = window_hat(&win, f), alias = window_hat(&win, 1 - f);
	return 2 * fabs(hat) * (fabs(hat) + fabs(alias)) / pow(window_hat(&win, 0), 2);
}

struct usfft_options
usfft_pipe_options(const struct usfft_options *given)
{
	struct usfft_options o = *given;
	size_t n[3];
	double reach;
	int w;

	o.single = o.gauss = false;
	o.sigma = 1.75;
	for (o.tol = .1; o.tol > USFFT_FLOOR_DOUBLE; o.tol /= 10)
		if (usfft_choose(&o, &w, n, &reach) || unevenness(&o, w, n) <= .01)
			break;
	return o;
}

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
	const struct usfft_options o = usfft_pipe_options(given);
	struct usfft_plan *p = NULL;
	double *v = weir_alloc(pt->m, 2 * sizeof *v), area = 1;
	int err;

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
