#include <float.h>
#include <math.h>

#include "common/mem.h"
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
			    at, y, row[i]);
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
take_scores(float *v, const struct img *x, size_t n, char err[DPTRACE_ERR])
{
	for (size_t i = 0; i < n; i++) {
		double s;
		sample_load(&s, (const char *)x->data + i * img_type_size(x->type), x->type, 1);
		if (!(fabs(s) <= 1e20))
			return dptrace_fail(err, "score %zu is %g: beyond 1e20 there is no sum", i,
					    s);
		v[i] = (float)s;
	}
	return 0;
}
