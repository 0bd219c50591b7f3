#include <math.h>
#include <string.h>

#include "common/base/sample.h"
#include "common/stream/alpha.h"
#include "common/stream/pnm.h"

enum alpha
alpha_of(const struct img *x)
{
	const char *type = img_key(x, "tupltype"), *extra = img_key(x, "tiff.extrasamples");
	const size_t planes = img_row_axis(x) ? x->axis[0].n : 1, n = extra ? strlen(extra) : 0;
	const bool gray = planes == 2 && type && !strcmp(type, PNM_GRAY_ALPHA),
		   rgb = planes == 4 && !strcmp(x->axis[0].kind, "RGBA-color");

	if ((!gray && !rgb) || (n && extra[n - 1] == '0'))
		return ALPHA_NONE;
	return n && extra[n - 1] == '1' ? ALPHA_PREMULTIPLIED : ALPHA_STRAIGHT;
}

double
alpha_opaque(const struct img *x)
{
	const int bits = 8 * (int)img_type_size(x->type);
	const bool is_signed =
	    x->type == IMG_I8 || x->type == IMG_I16 || x->type == IMG_I32 || x->type == IMG_I64;

	if (img_maxval(x))
		return img_maxval(x);
	return img_is_float(x->type) ? 1 : ldexp(1, bits - is_signed) - 1;
}

void
alpha_divide(struct img *x, void *data, size_t pixels)
{
	const size_t planes = x->axis[0].n, size = planes * img_type_size(x->type);
	const double top = alpha_opaque(x);
	const bool whole = !img_is_float(x->type);
	double v[4];

	for (size_t i = 0; i < pixels; i++) {
		char *pixel = (char *)data + i * size;

		sample_load(v, pixel, x->type, planes);
		const double by = v[planes - 1] > 0 ? top / v[planes - 1] : 0;
		for (size_t k = 0; k + 1 < planes; k++)
			v[k] = whole ? fmin(floor(v[k] * by + .5), top) : v[k] * by;
		sample_store(pixel, v, x->type, planes);
	}
	img_change_key(x, "tiff.extrasamples", "2");
}
