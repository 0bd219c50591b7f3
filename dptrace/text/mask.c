#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "common/base/sample.h"
#include "dptrace/resolve.h"
#include "dptrace/text/mask.h"

static double
sample_of(const struct img *x, size_t i)
{
	double v;

	sample_load(&v, (const char *)x->data + i * img_type_size(x->type), x->type, 1);
	return v;
}

int
mask_take(unsigned char *mask, const struct img *x, size_t w, size_t h, char err[DPTRACE_ERR])
{
	struct img_picture p;

	if (!img_picture(x, &p) || img_is_complex(x) || p.n > 1 || p.c > 1 || p.w != w || p.h != h)
		return dptrace_fail(err, "a mask of one plane of %zu x %zu is needed", w, h);
	for (size_t i = 0; i < w * h; i++) {
		const double v = sample_of(x, i);
		mask[i] = v != 0 && !isnan(v);
	}
	return 0;
}

bool
mask_nodata(unsigned char *mask, const struct img *x, const struct img_picture *p, double nodata)
{
	bool any = false;

	for (size_t i = 0; i < p->w * p->h * p->c; i++) {
		const double v = sample_of(x, i);
		if (isnan(v) || v == nodata) {
			mask[i / p->c] = 0;
			any = true;
		}
	}
	return any;
}

/* Squares of distances between places of a picture of that width; far when b is no place. */
static double
square_between(size_t a, size_t b, size_t w)
{
	const double dx = (double)(a % w) - (double)(b % w), dy = (double)(a / w) - (double)(b / w);

	return b == SIZE_MAX ? INFINITY : dx * dx + dy * dy;
}

/* Pixel i takes the source of its neighbour k when that is nearer. */
static void
take_nearer(size_t *near, size_t i, size_t k, size_t w)
{
	if (square_between(i, near[k], w) < square_between(i, near[i], w))
		near[i] = near[k];
}

/* Hands sources on from the row before (y - step) to row y, and along row y in both directions. */
static void
pass_row(size_t *near, size_t y, ptrdiff_t step, bool first, size_t w)
{
	const size_t row = y * w, before = (size_t)((ptrdiff_t)y - step) * w;

	for (size_t x = 0; x < w && !first; x++)
		for (size_t k = x ? x - 1 : 0; k <= x + 1 && k < w; k++)
			take_nearer(near, row + x, before + k, w);
	for (size_t x = 1; x < w; x++)
		take_nearer(near, row + x, row + x - 1, w);
	for (size_t x = w - 1; x-- > 0;)
		take_nearer(near, row + x, row + x + 1, w);
}

int
mask_fill(float *v, size_t c, size_t h, size_t w, const unsigned char *mask)
{
	const size_t n = w * h;
	size_t *near = weir_alloc(n, sizeof *near);

	if (!near)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		near[i] = mask[i] ? i : SIZE_MAX;
	for (size_t y = 0; y < h; y++)
		pass_row(near, y, 1, y == 0, w);
	for (size_t y = h; y-- > 0;)
		pass_row(near, y, -1, y + 1 == h, w);
	const bool none = near[0] == SIZE_MAX;
	for (size_t k = 0; k < c && !none; k++)
		for (size_t i = 0; i < n; i++)
			v[k * n + i] = v[k * n + near[i]];
	weir_free(near);
	return none;
}
