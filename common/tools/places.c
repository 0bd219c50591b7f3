#include <math.h>

#include "common/opt.h"
#include "common/tools/places.h"

static const char *const keys[] = {"slice.position", "slice.spacing", "slice.label", "slice.unit"};

void
places_note(struct img *y, const struct img_axis *a, size_t k)
{
	if (!isnan(a->min))
		img_set_key(y, keys[0], "%.17g",
			    a->min + (double)k * (isnan(a->spacing) ? 1 : a->spacing));
	if (!isnan(a->spacing))
		img_set_key(y, keys[1], "%.17g", a->spacing);
	if (a->label)
		img_set_key(y, keys[2], "%s", a->label);
	if (a->unit)
		img_set_key(y, keys[3], "%s", a->unit);
}

static double
number_of(const struct img *x, const char *key)
{
	const char *text = img_key(x, key);
	double v;

	return text && opt_number(text, &v) && isfinite(v) ? v : NAN;
}

void
places_recall(const struct img *x, size_t n, struct img_axis *a)
{
	const double first = number_of(&x[0], keys[0]);
	const double step = n > 1 ? (number_of(&x[n - 1], keys[0]) - first) / (double)(n - 1)
				  : number_of(&x[0], keys[1]);
	bool even = !isnan(first) && !isnan(step) && step != 0, alike = true;

	for (size_t i = 0; i < n; i++) {
		const double at = number_of(&x[i], keys[0]);

		even = even && fabs(at - first - (double)i * step) <= 1e-6 * fabs(step);
		alike = alike && number_of(&x[i], keys[1]) == number_of(&x[0], keys[1]);
	}
	if (even) {
		/* An axis without a spacing counts its positions by 1. */
		a->min = first;
		a->spacing = step == 1 ? number_of(&x[0], keys[1]) : step;
	} else if (isnan(first) && alike) {
		a->spacing = number_of(&x[0], keys[1]);
	}
	img_set_label(a, img_key(&x[0], keys[2]));
	img_set_unit(a, img_key(&x[0], keys[3]));
}

void
places_forget(struct img *x)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		img_drop_key(x, keys[i]);
}
