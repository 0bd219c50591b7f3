/* The definition. Everything else in this directory is held to it. */
#include <math.h>
#include <stdint.h>

#include "common/mem.h"
#include "wconv/axis.h"
#include "wconv/wconv.h"

/* What a sum over one window gathers. */
struct sums {
	double value;  /* sum K I over the known pixels */
	double known;  /* sum K over them */
	double all;    /* sum K */
	double weight; /* sum |K| */
	bool unknown;  /* a pixel to be filled in lies in the window */
	bool poisoned; /* a pixel lies in it that makes the result NaN */
};

static double
sample(const void *data, enum img_type type, size_t i)
{
	switch (type) {
	case IMG_I8:
		return ((const signed char *)data)[i];
	case IMG_U8:
		return ((const unsigned char *)data)[i];
	case IMG_I16:
		return ((const short *)data)[i];
	case IMG_U16:
		return ((const unsigned short *)data)[i];
	case IMG_I32:
		return ((const int *)data)[i];
	case IMG_U32:
		return ((const unsigned *)data)[i];
	case IMG_I64:
		return (double)((const long *)data)[i];
	case IMG_U64:
		return (double)((const unsigned long *)data)[i];
	case IMG_F32:
		return ((const float *)data)[i];
	default:
		return ((const double *)data)[i];
	}
}

enum state { KNOWN, UNKNOWN, POISON };

/* Pixel (x,y) of the endless image; 0 unless it is known. */
static double
pixel(const struct wconv_problem *q, const void *in, ptrdiff_t x, ptrdiff_t y, size_t plane,
      enum state *state)
{
	const ptrdiff_t ix = wconv_edge(q->edge, x, (ptrdiff_t)q->W);
	const ptrdiff_t iy = wconv_edge(q->edge, y, (ptrdiff_t)q->H);

	*state = KNOWN;
	if (ix < 0 || iy < 0) {
		if (q->edge == WCONV_RENORMALISE)
			*state = UNKNOWN;
		return q->edge == WCONV_CONSTANT ? q->constant : 0;
	}
	const size_t i = (size_t)(iy - (ptrdiff_t)q->y0) * q->w + (size_t)(ix - (ptrdiff_t)q->x0);
	const double v = sample(in, q->in, i * q->planes + plane);
	if (isfinite(v))
		return v;
	if (q->nan != WCONV_NAN_ZERO)
		*state = q->nan == WCONV_NAN_PROPAGATE ? POISON : UNKNOWN;
	return 0;
}

static double
kernel_sample(const struct wconv_problem *q, size_t k, size_t a, size_t b)
{
	const size_t at = k % q->gx * q->step_x + k / q->gx * q->step_y + b * q->step_row + a;

	return sample(q->kernels, q->in_double ? IMG_F64 : IMG_F32, at);
}

static double
kernel_sum(const struct wconv_problem *q, size_t k)
{
	double s = 0;

	for (size_t b = 0; b < q->kh; b++)
		for (size_t a = 0; a < q->kw; a++)
			s += kernel_sample(q, k, a, b);
	return s;
}

/* Adds w times kernel k at result (x,y). */
static void
add_kernel(const struct wconv_problem *q, const void *in, ptrdiff_t x, ptrdiff_t y, size_t plane,
	   size_t k, double w, struct sums *s)
{
	const double scale = q->normalise ? w / kernel_sum(q, k) : w;

	for (size_t b = 0; b < q->kh; b++)
		for (size_t a = 0; a < q->kw; a++) {
			const ptrdiff_t dx = (ptrdiff_t)a - (ptrdiff_t)q->cx,
					dy = (ptrdiff_t)b - (ptrdiff_t)q->cy;
			const double v = scale * kernel_sample(q, k, a, b);
			enum state state;
			const double i = q->correlate ? pixel(q, in, x + dx, y + dy, plane, &state)
						      : pixel(q, in, x - dx, y - dy, plane, &state);
			s->value += v * i;
			s->known += state == UNKNOWN ? 0 : v;
			s->all += v;
			s->weight += fabs(v);
			s->unknown |= state == UNKNOWN;
			s->poisoned |= state == POISON;
		}
}

static double
result(const struct sums *s)
{
	if (s->poisoned)
		return NAN;
	if (!s->unknown)
		return s->value;
	return fabs(s->known) > WCONV_KNOWN * s->weight ? s->value * s->all / s->known : NAN;
}

/* The kernel of the exponents (i,j), or SIZE_MAX. */
static size_t
coefficient(const struct wconv_problem *q, size_t i, size_t j)
{
	size_t k = i, d = (size_t)q->degree;

	if (i + j > d)
		return SIZE_MAX;
	for (size_t row = 0; row < j; row++)
		k += d + 1 - row;
	return k;
}

static double
result_at(const struct wconv_problem *q, const struct wconv_axis *ax, const struct wconv_axis *ay,
	  const void *in, ptrdiff_t x, ptrdiff_t y, size_t plane)
{
	struct sums s = {0};

	for (size_t j = 0; j < ay->nfun; j++)
		for (size_t i = 0; i < ax->nfun; i++) {
			const double w = wconv_weight(ax, i, x) * wconv_weight(ay, j, y);
			const size_t k = q->degree >= 0 ? coefficient(q, i, j) : j * q->gx + i;
			if (k != SIZE_MAX && w != 0)
				add_kernel(q, in, x, y, plane, k, w, &s);
		}
	return result(&s);
}

void
wconv_direct(const struct wconv_problem *q, const void *in, double *out)
{
	const size_t most = q->gx > q->gy ? q->gx : q->gy;
	bool *alike = weir_calloc(most, sizeof *alike);
	struct wconv_axis x = {0}, y = {0};

	if (alike && !wconv_axis(&x, q, false, alike) && !wconv_axis(&y, q, true, alike))
		for (ptrdiff_t v = y.lo; v < y.hi; v++)
			for (ptrdiff_t u = x.lo; u < x.hi; u++)
				for (size_t plane = 0; plane < q->planes; plane++)
					*out++ = result_at(q, &x, &y, in, u, v, plane);
	weir_free(alike);
	wconv_axis_free(&x);
	wconv_axis_free(&y);
}
