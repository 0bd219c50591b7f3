/* The definition. The tests compare everything else in this directory with it, and it calls nothing of what it checks. */
#include <math.h>
#include <stdint.h>

#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "wconv/volume/volume.h"
#include "wconv/wconv.h"

/* The sums over one window. */
struct sums {
	double value;  /* sum K I over the known pixels */
	double known;  /* sum K over the known pixels */
	double all;    /* sum K over all pixels */
	double weight; /* sum |K| over all pixels */
	bool unknown;  /* the window has a pixel to be filled in */
	bool poisoned; /* the window has a pixel that makes the result NaN */
};

/* Returns which of n pixels stands at position x of the row as its edges continue it; -1: none. Goes step by step. */
static ptrdiff_t
inside(enum wconv_edge edge, ptrdiff_t x, ptrdiff_t n)
{
	while (x < 0 || x >= n)
		switch (edge) {
		case WCONV_NEAREST:
			x = x < 0 ? 0 : n - 1;
			break;
		case WCONV_WRAP:
			x += x < 0 ? n : -n;
			break;
		case WCONV_REFLECT:
			x = x < 0 ? -1 - x : 2 * n - 1 - x;
			break;
		case WCONV_MIRROR:
			x = n == 1 ? 0 : x < 0 ? -x : 2 * n - 2 - x;
			break;
		default:
			return -1;
		}
	return x;
}

/* Returns the weight of node i of n at position x: 1 at the node, 0 at the next ones, linear in between. */
static double
node_weight(const double *node, size_t n, size_t i, double x)
{
	if (x < node[i])
		return i == 0 ? 1 : fmax(0, (x - node[i - 1]) / (node[i] - node[i - 1]));
	return i == n - 1 ? 1 : fmax(0, (node[i + 1] - x) / (node[i + 1] - node[i]));
}

/* Returns the weight of kernel k at the result (x,y). */
static double
weight_at(const struct wconv_problem *q, size_t k, ptrdiff_t x, ptrdiff_t y)
{
	size_t i = k, j = 0;

	if (q->degree < 0)
		return node_weight(q->node_x, q->gx, k % q->gx, (double)x) *
		       node_weight(q->node_y, q->gy, k / q->gx, (double)y);
	for (size_t row = (size_t)q->degree + 1; i >= row; row--, j++)
		i -= row;
	return pow(((double)x - q->zero_x) / q->scale_x, (double)i) *
	       pow(((double)y - q->zero_y) / q->scale_y, (double)j);
}

enum state { KNOWN, UNKNOWN, POISON };

/* Returns the row of the image on which row b of the kernel of result y falls; -1: on none. */
static ptrdiff_t
find_row(const struct wconv_problem *q, ptrdiff_t y, size_t b)
{
	y += (q->correlate ? 1 : -1) * ((ptrdiff_t)b - (ptrdiff_t)q->cy);
	return inside(q->edge, y, (ptrdiff_t)q->H);
}

/* Returns the pixel of the item in that row on which sample a of it falls; SIZE_MAX: on none. */
static size_t
find_pixel(const struct wconv_problem *q, ptrdiff_t x, ptrdiff_t iy, size_t a)
{
	x += (q->correlate ? 1 : -1) * ((ptrdiff_t)a - (ptrdiff_t)q->cx);
	const ptrdiff_t ix = inside(q->edge, x, (ptrdiff_t)q->W);
	if (ix < 0 || iy < 0)
		return SIZE_MAX;
	return (size_t)(iy - (ptrdiff_t)q->y0) * q->w + (size_t)(ix - (ptrdiff_t)q->x0);
}

/* Returns pixel `at` of the item; 0 if it is not known. */
static double
pixel(const struct wconv_problem *q, const void *in, size_t at, size_t plane, enum state *state)
{
	const size_t i = at * q->planes + plane;
	double v = 0;

	if (at != SIZE_MAX)
		sample_load(&v, (const char *)in + i * img_type_size(q->in), q->in, 1);
	*state = at == SIZE_MAX && q->edge == WCONV_RENORMALISE ? UNKNOWN : KNOWN;
	if (isfinite(v))
		return v;
	if (q->nan != WCONV_NAN_ZERO)
		*state = q->nan == WCONV_NAN_PROPAGATE ? POISON : UNKNOWN;
	return 0;
}

/* Where row b of kernel k begins. */
static size_t
kernel_row(const struct wconv_problem *q, size_t k, size_t b)
{
	return k % q->gx * q->step_x + k / q->gx * q->step_y + b * q->step_row;
}

static double
kernel_sum(const struct wconv_problem *q, size_t k)
{
	double s = 0;

	for (size_t b = 0; b < q->kh; b++)
		for (size_t a = 0, row = kernel_row(q, k, b); a < q->kw; a++)
			s += real_at(q->kernels, row + a, !q->in_double);
	return s;
}

/* Makes local[kw * kh] the kernel of result (x,y). */
static void
find_local(const struct wconv_problem *q, ptrdiff_t x, ptrdiff_t y, double *local)
{
	for (size_t i = 0; i < q->kw * q->kh; i++)
		local[i] = 0;
	for (size_t k = 0; k < q->gx * q->gy; k++) {
		const double w = weight_at(q, k, x, y);
		const double v = w != 0 && q->normalise && q->degree < 0 ? w / kernel_sum(q, k) : w;
		for (size_t b = 0; w != 0 && b < q->kh; b++)
			for (size_t a = 0, row = kernel_row(q, k, b); a < q->kw; a++)
				local[b * q->kw + a] +=
				    v * real_at(q->kernels, row + a, !q->in_double);
	}
}

/* local: the kernel of result (x,y) */
static double
result_at(const struct wconv_problem *q, const void *in, ptrdiff_t x, ptrdiff_t y, size_t plane,
	  const double *local)
{
	struct sums s = {0};

	for (size_t b = 0; b < q->kh; b++) {
		const ptrdiff_t iy = find_row(q, y, b);
		for (size_t a = 0; a < q->kw; a++) {
			enum state state;
			const double v = *local++,
				     p = pixel(q, in, find_pixel(q, x, iy, a), plane, &state);
			s.value += q->variance ? v * v * p : v * p;
			s.known += state == UNKNOWN ? 0 : v;
			s.all += v;
			s.weight += fabs(v);
			s.unknown |= state == UNKNOWN;
			s.poisoned |= state == POISON;
		}
	}
	if (s.poisoned || (s.unknown && !(fabs(s.known) > WCONV_KNOWN * s.weight)))
		return NAN;
	const double filled = s.unknown ? s.all / s.known : 1;
	const double factor = q->normalise && q->degree >= 0 ? filled / s.all : filled;
	return s.value * factor * (q->variance ? factor : 1);
}

/* Finds the results [lo,hi) along one direction of n pixels, of which the item has `have` pixels from `at` on. */
static void
span(const struct wconv_problem *q, size_t n, size_t at, size_t have, size_t k, size_t c,
     ptrdiff_t *lo, ptrdiff_t *hi)
{
	const ptrdiff_t before = (ptrdiff_t)(q->correlate ? c : k - 1 - c);
	const ptrdiff_t after = (ptrdiff_t)k - 1 - before, end = (ptrdiff_t)(at + have);
	const ptrdiff_t out = q->output == WCONV_FULL ? 1 : q->output == WCONV_VALID ? -1 : 0;

	*lo = at == 0 ? -out * (out > 0 ? after : before) : (ptrdiff_t)at + before;
	*hi = end == (ptrdiff_t)n ? end + out * (out > 0 ? before : after) : end - after;
}

void
wconv_direct(const struct wconv_problem *q, const void *in, double *out)
{
	ptrdiff_t x0, x1, y0, y1;
	double *local = weir_alloc(q->kw, q->kh * sizeof *local);

	span(q, q->W, q->x0, q->w, q->kw, q->cx, &x0, &x1);
	span(q, q->H, q->y0, q->h, q->kh, q->cy, &y0, &y1);
	for (ptrdiff_t y = y0; local && y < y1; y++)
		for (ptrdiff_t x = x0; x < x1; x++) {
			find_local(q, x, y, local);
			for (size_t plane = 0; plane < q->planes; plane++)
				*out++ = result_at(q, in, x, y, plane, local);
		}
	weir_free(local);
}

/* --- the adjoint ------------------------------------------------------------------------------------------------- */

/* Returns the factor of a result: 1 / (sum of its kernel), or (sum of its kernel) / (its sum over known pixels). */
static double
gain_at(const struct wconv_problem *q, ptrdiff_t x, ptrdiff_t y, const double *local)
{
	double all = 0, known = 0, weight = 0, gain = 1;

	for (size_t i = 0; i < q->kw * q->kh; i++) {
		all += local[i];
		weight += fabs(local[i]);
		if (find_pixel(q, x, find_row(q, y, i / q->kw), i % q->kw) != SIZE_MAX)
			known += local[i];
	}
	if (q->edge == WCONV_RENORMALISE)
		gain = fabs(known) > WCONV_KNOWN * weight ? all / known : 0;
	return q->normalise && q->degree >= 0 ? gain / all : gain;
}

/* Adds v times the kernel of result (x,y) to the pixels that it gathers from: to each, v times its sample. */
static void
scatter(const struct wconv_problem *q, ptrdiff_t x, ptrdiff_t y, size_t plane, const double *local,
	double v, double *out)
{
	for (size_t b = 0; b < q->kh; b++) {
		const ptrdiff_t iy = find_row(q, y, b);
		for (size_t a = 0; a < q->kw; a++) {
			const size_t at = find_pixel(q, x, iy, a);
			if (at != SIZE_MAX)
				out[at * q->planes + plane] += v * local[b * q->kw + a];
		}
	}
}

void
wconv_direct_adjoint(const struct wconv_problem *q, const double *in, double *out)
{
	ptrdiff_t x0, x1, y0, y1;
	double *local = weir_alloc(q->kw, q->kh * sizeof *local);

	span(q, q->W, q->x0, q->w, q->kw, q->cx, &x0, &x1);
	span(q, q->H, q->y0, q->h, q->kh, q->cy, &y0, &y1);
	for (size_t i = 0; i < q->w * q->h * q->planes; i++)
		out[i] = 0;
	for (ptrdiff_t y = y0; local && y < y1; y++)
		for (ptrdiff_t x = x0; x < x1; x++) {
			find_local(q, x, y, local);
			const double gain = gain_at(q, x, y, local);
			for (size_t plane = 0; plane < q->planes; plane++)
				scatter(q, x, y, plane, local, gain * *in++, out);
		}
	weir_free(local);
}

/* ---- volumes ---- */

static double
voxel(const struct wconv_problem *q, const double *in, const ptrdiff_t at[3])
{
	const ptrdiff_t n[3] = {(ptrdiff_t)q->w, (ptrdiff_t)q->h, (ptrdiff_t)q->d};
	ptrdiff_t i[3];

	for (int a = 0; a < 3; a++) {
		i[a] = inside(q->edge, at[a], n[a]);
		if (i[a] < 0)
			return 0;
	}
	return in[(i[2] * n[1] + i[1]) * n[0] + i[0]];
}

static double
volume_at(const struct wconv_problem *q, const double *in, const ptrdiff_t at[3])
{
	const ptrdiff_t sign = q->correlate ? 1 : -1;
	double value = 0, sum = 0;

	for (size_t i = 0; i < q->kw * q->kh * q->kd; i++) {
		const double k = real_at(q->kernels, i, !q->in_double);
		const ptrdiff_t a = (ptrdiff_t)(i % q->kw) - (ptrdiff_t)q->cx,
				b = (ptrdiff_t)(i / q->kw % q->kh) - (ptrdiff_t)q->cy,
				c = (ptrdiff_t)(i / q->kw / q->kh) - (ptrdiff_t)q->cz;
		value +=
		    k * voxel(q, in,
			      (ptrdiff_t[]){at[0] + sign * a, at[1] + sign * b, at[2] + sign * c});
		sum += k;
	}
	return q->normalise ? value / sum : value;
}

void
wconv_volume_direct(const struct wconv_problem *q, const double *in, double *out)
{
	ptrdiff_t lo[3], hi[3];

	span(q, q->w, 0, q->w, q->kw, q->cx, &lo[0], &hi[0]);
	span(q, q->h, 0, q->h, q->kh, q->cy, &lo[1], &hi[1]);
	span(q, q->d, 0, q->d, q->kd, q->cz, &lo[2], &hi[2]);
	for (ptrdiff_t z = lo[2]; z < hi[2]; z++)
		for (ptrdiff_t y = lo[1]; y < hi[1]; y++)
			for (ptrdiff_t x = lo[0]; x < hi[0]; x++)
				*out++ = volume_at(q, in, (ptrdiff_t[]){x, y, z});
}
