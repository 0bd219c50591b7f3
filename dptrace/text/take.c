#include <float.h>
#include <math.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "dptrace/resolve.h"
#include "dptrace/text/take.h"

/* The largest size of a sample. */
#define MOST (FLT_MAX / 4)

/* Work of fewer samples than this stays on one thread. */
enum { SHARED = 1 << 16 };

/* Pixels of a block whose means are held at once. */
enum { BLOCK = 2048 };

/* Reads row y as [w][c]. Pixels that the mask leaves out become 0. */
static void
load_row(double *row, const struct img *x, const struct img_picture *p, size_t y,
	 const unsigned char *mask)
{
	const size_t n = p->w * p->c;

	sample_load(row, (const char *)x->data + y * n * img_type_size(x->type), x->type, n);
	for (size_t i = 0; mask && i < p->w; i++)
		for (size_t c = 0; c < p->c && !mask[y * p->w + i]; c++)
			row[i * p->c + c] = 0;
}

CPU_INLINE bool
deal_planes(float *restrict v, size_t stride, const double *restrict row, size_t w, size_t c)
{
	int bad = 0;

	for (size_t k = 0; k < c; k++)
		for (size_t i = 0; i < w; i++) {
			const double s = row[i * c + k];
			const int fits = __builtin_fabs(s) <= (double)MOST;
			v[k * stride + i] = fits ? (float)s : 0;
			bad |= !fits;
		}
	return bad;
}

/* Distributes a row to its planes, which are stride floats apart. Returns whether a sample is no number or too large. */
WEIR_CLONES_OF(bool, deal_row,
	       (float *restrict v, size_t stride, const double *restrict row, size_t w, size_t c),
	       (v, stride, row, w, c))
{
	if (c == 3)
		return deal_planes(v, stride, row, w, 3);
	return deal_planes(v, stride, row, w, c);
}

/* The sentence about the first sample that deal_row() refuses. Returns -1. */
static int
name_bad(double *row, const struct img *x, const struct img_picture *p, const unsigned char *mask,
	 char err[DPTRACE_ERR])
{
	for (size_t y = 0; y < p->h; y++) {
		load_row(row, x, p, y, mask);
		for (size_t i = 0; i < p->w * p->c; i++)
			if (!(fabs(row[i]) <= (double)MOST))
				return dptrace_fail(
				    err,
				    "sample %zu,%zu is %g: NaN, infinite and huge samples have no "
				    "place here",
				    i / p->c, y, real_shown(row[i]));
	}
	return dptrace_fail(err, "samples changed while they were read");
}

int
take_planes(float *v, const struct img *x, const struct img_picture *p, const unsigned char *mask,
	    int threads, char err[DPTRACE_ERR])
{
	const size_t n = p->w * p->c;
	const int team = p->h * n < SHARED ? 1 : threads;
	double *row = weir_alloc(n, (size_t)team * sizeof *row);
	bool bad = false;

	if (!row)
		return dptrace_fail(err, "no memory for %d rows of %zu samples", team, n);
#pragma omp parallel for num_threads(team) reduction(|| : bad)
	for (size_t y = 0; y < p->h; y++) {
		double *mine = row + (size_t)omp_get_thread_num() * n;
		load_row(mine, x, p, y, mask);
		bad = deal_row(v + y * p->w, p->w * p->h, mine, p->w, p->c) || bad;
	}
	const int r = bad ? name_bad(row, x, p, mask, err) : 0;
	weir_free(row);
	return r;
}

/* Moves n <= BLOCK pixels of planes that are stride floats apart. Returns whether a result is too large. */
WEIR_CLONES_OF(bool, move_block, (float *restrict v, size_t stride, size_t n, size_t c, float k),
	       (v, stride, n, c, k))
{
	float mean[BLOCK] = {0};
	int bad = 0;

	for (size_t p = 0; p < c; p++)
		for (size_t i = 0; i < n; i++)
			mean[i] += v[p * stride + i] / (float)c;
	for (size_t p = 0; p < c; p++)
		for (size_t i = 0; i < n; i++) {
			const float now = mean[i] + k * (v[p * stride + i] - mean[i]);
			v[p * stride + i] = now;
			bad |= !(__builtin_fabsf(now) <= MOST);
		}
	return bad;
}

int
take_chroma(float *v, size_t c, size_t n, double k, int threads, char err[DPTRACE_ERR])
{
	bool bad = false;

#pragma omp parallel for num_threads(threads) reduction(|| : bad) if (n * c >= SHARED)
	for (size_t i = 0; i < n; i += BLOCK)
		bad = move_block(v + i, n, n - i < BLOCK ? n - i : BLOCK, c, (float)k) || bad;
	return bad ? dptrace_fail(err, "a sample is too large for --chroma=%g", k) : 0;
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
