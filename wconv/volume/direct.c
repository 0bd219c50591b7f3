#include "common/base/real.h"
#include "wconv/volume/volume.h"

/* Returns the sample at position i of n as the edges continue them, step by step; -1: none. */
static ptrdiff_t
inside(enum wconv_edge edge, ptrdiff_t i, ptrdiff_t n)
{
	while (i < 0 || i >= n)
		switch (edge) {
		case WCONV_NEAREST:
			i = i < 0 ? 0 : n - 1;
			break;
		case WCONV_WRAP:
			i += i < 0 ? n : -n;
			break;
		case WCONV_REFLECT:
			i = i < 0 ? -1 - i : 2 * n - 1 - i;
			break;
		case WCONV_MIRROR:
			i = n == 1 ? 0 : i < 0 ? -i : 2 * n - 2 - i;
			break;
		default:
			return -1;
		}
	return i;
}

static double
voxel(const struct wconv_problem *q, const double *in, const ptrdiff_t at[3])
{
	const ptrdiff_t n[3] = {(ptrdiff_t)q->w, (ptrdiff_t)q->h, (ptrdiff_t)q->d};
	ptrdiff_t i[3];

	for (int a = 0; a < 3; a++) {
		i[a] = inside(q->edge, at[a], n[a]);
		if (i[a] < 0)
			return q->edge == WCONV_CONSTANT ? q->constant : 0;
	}
	return in[(i[2] * n[1] + i[1]) * n[0] + i[0]];
}

static double
result_at(const struct wconv_problem *q, const double *in, const ptrdiff_t at[3])
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

/* Finds the results [lo,hi) along an axis of n samples. */
static void
span(const struct wconv_problem *q, size_t n, size_t k, size_t c, ptrdiff_t *lo, ptrdiff_t *hi)
{
	const ptrdiff_t before = (ptrdiff_t)(q->correlate ? c : k - 1 - c),
			after = (ptrdiff_t)k - 1 - before;
	const ptrdiff_t out = q->output == WCONV_FULL ? 1 : q->output == WCONV_VALID ? -1 : 0;

	*lo = -out * (out > 0 ? after : before);
	*hi = (ptrdiff_t)n + out * (out > 0 ? before : after);
}

void
wconv_volume_direct(const struct wconv_problem *q, const double *in, double *out)
{
	ptrdiff_t lo[3], hi[3];

	span(q, q->w, q->kw, q->cx, &lo[0], &hi[0]);
	span(q, q->h, q->kh, q->cy, &lo[1], &hi[1]);
	span(q, q->d, q->kd, q->cz, &lo[2], &hi[2]);
	for (ptrdiff_t z = lo[2]; z < hi[2]; z++)
		for (ptrdiff_t y = lo[1]; y < hi[1]; y++)
			for (ptrdiff_t x = lo[0]; x < hi[0]; x++)
				*out++ = result_at(q, in, (ptrdiff_t[]){x, y, z});
}
