#include <math.h>
#include <string.h>

#include "common/base/opt.h"
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

/* Whether x and y lie in one space and their axes have the same directions there. */
static bool
alike(const struct img *x, const struct img *y)
{
	const char *mine = x->space.fields, *theirs = y->space.fields;
	bool same = x->space.dim == y->space.dim && x->space.placed == y->space.placed &&
		    (mine && theirs ? !strcmp(mine, theirs) : mine == theirs);

	for (int i = 0; same && i < x->dim; i++) {
		same = x->axis[i].directed == y->axis[i].directed;
		for (int k = 0; same && x->axis[i].directed && k < x->space.dim; k++)
			same = fabs(x->axis[i].step[k] - y->axis[i].step[k]) <=
			       1e-6 * fabs(x->axis[i].spacing);
	}
	return same;
}

bool
places_direct(const struct img *x, size_t n, struct img *y, int axis)
{
	struct img_axis *a = &y->axis[axis];
	const int dim = x->space.placed ? x->space.dim : 0;
	const double *first = x[0].space.origin, *last = x[n - 1].space.origin;
	bool even = true;
	double sum = 0;

	for (size_t i = 1; i < n; i++)
		if (!alike(&x[0], &x[i]))
			return false;
	for (int k = 0; k < dim; k++) {
		a->step[k] = n > 1 ? (last[k] - first[k]) / (double)(n - 1) : 0;
		sum += a->step[k] * a->step[k];
	}
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < dim; k++) {
			const double off = x[i].space.origin[k] - first[k] - (double)i * a->step[k];
			even = even && fabs(off) <= 1e-6 * sqrt(sum);
		}
	a->directed = even && sum > 0;
	if (a->directed)
		a->spacing = sqrt(sum);
	return even;
}

void
places_forget(struct img *x)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		img_drop_key(x, keys[i]);
}
