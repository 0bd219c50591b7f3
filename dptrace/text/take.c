#include <float.h>
#include <math.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "common/real.h"
#include "common/sample.h"
#include "dptrace/resolve.h"
#include "dptrace/text/take.h"

/* Distributes row y, [w][c] as it was read, to the planes. */
static int
deal_row(float *v, const double *row, const struct img_picture *p, size_t y,
	 const unsigned char *mask, char err[DPTRACE_ERR])
{
	for (size_t i = 0; i < p->w * p->c; i++) {
		const size_t c = i % p->c, at = i / p->c;
		if (mask && !mask[y * p->w + at]) {
			v[(c * p->h + y) * p->w + at] = 0;
			continue;
		}
		if (!(fabs(row[i]) <= (double)FLT_MAX / 4))
			return dptrace_fail(
			    err,
			    "sample %zu,%zu is %g: NaN, infinite and huge samples have no place "
			    "here",
			    at, y, real_shown(row[i]));
		v[(c * p->h + y) * p->w + at] = (float)row[i];
	}
	return 0;
}

int
take_planes(float *v, const struct img *x, const struct img_picture *p, const unsigned char *mask,
	    char err[DPTRACE_ERR])
{
	const size_t n = p->w * p->c;
	double *row = weir_alloc(n, sizeof *row);
	int r = row ? 0 : dptrace_fail(err, "no memory for a row of %zu samples", n);

	for (size_t y = 0; !r && y < p->h; y++) {
		sample_load(row, (const char *)x->data + y * n * img_type_size(x->type), x->type,
			    n);
		r = deal_row(v, row, p, y, mask, err);
	}
	weir_free(row);
	return r;
}

int
take_chroma(float *v, size_t c, size_t n, double k, char err[DPTRACE_ERR])
{
	for (size_t i = 0; i < n; i++) {
		double mean = 0;
		for (size_t p = 0; p < c; p++)
			mean += (double)v[p * n + i] / (double)c;
		for (size_t p = 0; p < c; p++) {
			const double old = (double)v[p * n + i], now = mean + k * (old - mean);
			if (fabs(now) > (double)FLT_MAX / 4)
				return dptrace_fail(
				    err, "a sample of %g is too large for --chroma=%g", old, k);
			v[p * n + i] = (float)now;
		}
	}
	return 0;
}

/* Whether one of n scores is NaN or beyond 1e20. */
WEIR_CLONES_OF(bool, any_huge, (const float *v, size_t n), (v, n))
{
	int bad = 0;

	for (size_t i = 0; i < n; i++)
		bad |= !(__builtin_fabsf(v[i]) <= 1e20f);
	return bad;
}

/* Makes floats of the samples of x. */
static int
make_floats(struct img *x, size_t n, char err[DPTRACE_ERR])
{
	struct img y;

	img_copy_head(&y, x);
	y.type = IMG_F32;
	if (img_alloc(&y)) {
		img_free(&y);
		return dptrace_fail(err, "no memory for %zu scores", n);
	}
	for (size_t i = 0; i < n; i++) {
		double s;
		sample_load(&s, (const char *)x->data + i * img_type_size(x->type), x->type, 1);
		((float *)y.data)[i] = (float)s;
	}
	img_free(x);
	*x = y;
	return 0;
}

int
take_scores(struct img *x, char err[DPTRACE_ERR])
{
	size_t n;

	if (!img_count(x, &n))
		return dptrace_fail(err, "more scores than can be counted");
	if (x->type != IMG_F32 && make_floats(x, n, err))
		return -1;
	const float *v = x->data;
	if (!any_huge(v, n))
		return 0;
	for (size_t i = 0;; i++)
		if (!(fabsf(v[i]) <= 1e20f))
			return dptrace_fail(err, "score %zu is %g: beyond 1e20 there is no sum", i,
					    (double)v[i]);
}
