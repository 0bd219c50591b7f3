#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "dptrace/text/report.h"

static void
range_of(const struct dptrace_image *im, unsigned maxval, float *lo, float *hi)
{
	*lo = 0;
	*hi = (float)maxval;
	if (maxval)
		return;
	*lo = *hi = im->v[0];
	for (size_t i = 0; i < im->c * im->h * im->w; i++) {
		*lo = im->v[i] < *lo ? im->v[i] : *lo;
		*hi = im->v[i] > *hi ? im->v[i] : *hi;
	}
}

int
overlay_make(struct img *y, const struct dptrace_image *im, unsigned maxval)
{
	const size_t sizes[] = {3, im->w, im->h}, n = im->w * im->h;
	float lo, hi;
	uint8_t *out;
	int r;

	img_init(y, IMG_U8, 3, sizes);
	y->format = IMG_PNM;
	strcpy(y->axis[0].kind, "RGB-color");
	if ((r = img_alloc(y)))
		return r;
	out = y->data;
	range_of(im, maxval, &lo, &hi);
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < 3; c++) {
			float v = im->v[(im->c >= 3 ? c : 0) * n + i],
			      t = hi > lo ? (v - lo) / (hi - lo) : 0;
			out[3 * i + c] = (uint8_t)(255 * (t < 0 ? 0 : t > 1 ? 1 : t) + .5f);
		}
	return 0;
}

static void
dot(struct img *y, double x, double z, int radius, const uint8_t colour[3])
{
	const long w = (long)y->axis[1].n, h = (long)y->axis[2].n, cx = lround(x), cy = lround(z);
	uint8_t *out = y->data;

	for (long i = cy - radius; i <= cy + radius; i++)
		for (long j = cx - radius; j <= cx + radius; j++)
			if (i >= 0 && i < h && j >= 0 && j < w)
				memcpy(out + 3 * (i * w + j), colour, 3);
}

void
overlay_draw(struct img *y, const struct dptrace_trace *t)
{
	static const uint8_t red[3] = {255, 0, 0}, yellow[3] = {255, 255, 0};

	for (size_t i = 0; i + 1 < t->n; i++) {
		const struct dptrace_vertex *a = &t->v[i], *b = &t->v[i + 1];
		const double dx = b->x - a->x, dy = b->y - a->y;
		const double steps = ceil(2 * fmax(fabs(dx), fabs(dy))) + 1;
		for (double k = 0; k <= steps; k++)
			dot(y, a->x + dx * k / steps, a->y + dy * k / steps, 0, red);
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].point)
			dot(y, t->v[i].x, t->v[i].y, 1, yellow);
}
