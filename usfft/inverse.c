/*
 * Modes from values at points: damped weighted least squares by conjugate gradients on the normal equations,
 *
 *	(sum_c S_c* A* W A S_c + lambda) F = sum_c S_c* A* W b_c,	(A F)_j = sum_k F_k exp(s 2 pi i k.x_j)
 *
 * S_c is the map of coil c, a factor for each mode. Without coils there is one map, of ones. A* W A is Toeplitz,
 * T_{k-k'} = sum_j w_j exp(-s 2 pi i (k-k').x_j). One transform of the weights computes it. Each product costs two FFTs of
 * twice the size for each coil, and does not touch the points. Everything is in double precision.
 */
#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "usfft/cg.h"
#include "usfft/inverse.h"
#include "usfft/toeplitz.h"

/* The matrix of the normal equations. */
struct normal {
	struct toeplitz t;
	size_t n, coils; /* n: modes; coils: 0 without maps */
	const double *maps;
	double lambda;
	double *seen, *back; /* owned: n complex modes each, of one coil */
};

/* modes = type 1 of w_j c_j. c NULL: of w_j; w NULL: all weights are one. */
static int
weighted(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
	 const double *c, int sign, double *modes, size_t *bad)
{
	double *v = weir_alloc(pt->m, 2 * sizeof *v);
	struct usfft_plan *p = NULL;
	int err = v ? usfft_plan(&p, o) : -ENOMEM;

	for (size_t j = 0; !err && j < pt->m; j++) {
		const double f = w ? w[j] : 1;
		v[2 * j] = c ? f * c[2 * j] : f;
		v[2 * j + 1] = c ? f * c[2 * j + 1] : 0;
	}
	if (!err)
		err = usfft_points(p, pt, v, 2, bad);
	if (!err)
		usfft_type1(p, sign, NULL, modes);
	usfft_free(p);
	weir_free(v);
	return err;
}

/* Returns the options of the transform that computes T. T has an element for each difference of two modes. */
static struct usfft_options
differences(const struct usfft_options *o)
{
	struct usfft_options d = *o;

	for (int a = 0; a < o->dim; a++)
		d.n[a] = 2 * o->n[a] - 1;
	d.single = false;
	d.fft_order = true;
	return d;
}

size_t
usfft_inverse_bytes(const struct usfft_options *o, double *reach)
{
	const struct usfft_options d = differences(o);

	return usfft_bytes(&d, reach);
}

/* Makes T from the weights. */
static int
make_toeplitz(struct toeplitz *t, const struct usfft_options *o, const struct usfft_points *pt,
	      const double *w, int sign, size_t *bad)
{
	const struct usfft_options twice = differences(o);
	size_t n = 1;
	int err;

	for (int a = 0; a < o->dim; a++)
		if (!weir_mul(n, twice.n[a], &n))
			return -EOVERFLOW;
	double *column = weir_alloc(n, 2 * sizeof *column);
	err = column ? weighted(&twice, pt, w, NULL, -sign, column, bad) : -ENOMEM;
	if (!err)
		err = usfft_toeplitz_make(t, o, column);
	weir_free(column);
	return err;
}

static void
free_normal(struct normal *a)
{
	usfft_toeplitz_free(&a->t);
	weir_free(a->seen);
	weir_free(a->back);
}

static int
make_normal(struct normal *a, const struct usfft_options *o, const struct usfft_points *pt,
	    const double *w, const struct usfft_inverse *v, size_t *bad)
{
	double sum = 0;

	for (size_t j = 0; j < pt->m; j++)
		sum += w ? w[j] : 1;
	a->lambda = v->damp * sum;
	a->coils = v->coils;
	a->maps = v->maps;
	a->n = 1;
	for (int i = 0; i < o->dim; i++)
		a->n *= o->n[i];
	a->seen = weir_alloc(a->coils ? a->n : 1, 2 * sizeof *a->seen);
	a->back = weir_alloc(a->coils ? a->n : 1, 2 * sizeof *a->back);
	if (!a->seen || !a->back)
		return -ENOMEM;
	return make_toeplitz(&a->t, o, pt, w, v->sign, bad);
}

/* to = map x, for n complex modes. */
static void
see(const double *map, const double *x, size_t n, double *to)
{
	for (size_t i = 0; i < 2 * n; i += 2) {
		to[i] = map[i] * x[i] - map[i + 1] * x[i + 1];
		to[i + 1] = map[i] * x[i + 1] + map[i + 1] * x[i];
	}
}

/* to += conj(map) x */
static void
add_back(const double *map, const double *x, size_t n, double *to)
{
	for (size_t i = 0; i < 2 * n; i += 2) {
		to[i] += map[i] * x[i] + map[i + 1] * x[i + 1];
		to[i + 1] += map[i] * x[i + 1] - map[i + 1] * x[i];
	}
}

/* A cg_matrix. */
static int
apply(void *who, const double *in, double *out)
{
	struct normal *a = who;

	if (!a->coils)
		usfft_toeplitz_apply(&a->t, in, out);
	else
		memset(out, 0, 2 * a->n * sizeof *out);
	for (size_t c = 0; c < a->coils; c++) {
		const double *map = a->maps + 2 * c * a->n;
		see(map, in, a->n, a->seen);
		usfft_toeplitz_apply(&a->t, a->seen, a->back);
		add_back(map, a->back, a->n, out);
	}
	for (size_t i = 0; a->lambda > 0 && i < 2 * a->n; i++)
		out[i] += a->lambda * in[i];
	return 0;
}

/* r = sum_c S_c* A* W b_c */
static int
right_side(const struct normal *a, const struct usfft_options *o, const struct usfft_points *pt,
	   const double *w, const double *b, int sign, double *r, size_t *bad)
{
	int err = 0;

	if (!a->coils)
		return weighted(o, pt, w, b, -sign, r, bad);
	memset(r, 0, 2 * a->n * sizeof *r);
	for (size_t c = 0; c < a->coils && !err; c++) {
		err = weighted(o, pt, w, b + 2 * c * pt->m, -sign, a->back, bad);
		if (!err)
			add_back(a->maps + 2 * c * a->n, a->back, a->n, r);
	}
	return err;
}

int
usfft_inverse(const struct usfft_options *given, const struct usfft_points *pt, const double *w,
	      const double *b, const struct usfft_inverse *v, double *modes,
	      struct usfft_outcome *got, size_t *bad)
{
	struct usfft_options o = *given;
	struct normal a = {0};
	double *r = NULL;
	int err;

	o.single = false;
	err = make_normal(&a, &o, pt, w, v, bad);
	if (!err) {
		r = weir_alloc(a.n, 2 * sizeof *r);
		err = r ? right_side(&a, &o, pt, w, b, v->sign, r, bad) : -ENOMEM;
	}
	if (!err) {
		if (v->start)
			memcpy(modes, v->start, 2 * a.n * sizeof *modes);
		else
			memset(modes, 0, 2 * a.n * sizeof *modes);
		err = usfft_cg(apply, &a, 2 * a.n, v, modes, r, got);
	}
	free_normal(&a);
	weir_free(r);
	return err;
}
