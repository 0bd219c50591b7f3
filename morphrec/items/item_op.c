#include <errno.h>
#include <math.h>
#include <string.h>

#include "morphrec/items/item_op.h"

enum {
	RADIUS_MOST = 1000
}; /* pixels, of a shape that is not a square: a run for each of its rows */

/* Computes the radii along x, y and z in pixels. A radius with a unit is divided by the spacings of the item's axes. */
static void
radii(const struct raw_in *in, const struct img *x, const struct args *a, double r[3])
{
	const int first = img_row_axis(x), axes = morphrec_is_volume(a->conn) ? 3 : 2;

	for (int i = 0; i < 3; i++)
		r[i] = i < axes ? a->radius : 0;
	for (int i = 0; *a->unit && i < axes; i++) {
		const struct img_axis *axis = &x->axis[first + i];
		r[i] = 0;
		if (first + i >= x->dim)
			continue;
		if (!axis->unit || strcmp(axis->unit, a->unit))
			raw_die(in, "the radius is in %s, axis %d of the item in %s", a->unit,
				first + i, axis->unit ? axis->unit : "no unit");
		if (!(fabs(axis->spacing) > 0))
			raw_die(in, "axis %d has no spacing: give the radius in pixels", first + i);
		r[i] = fmin(a->radius / fabs(axis->spacing) * (1 + 1e-12), 1e9);
	}
}

/*
 * Makes the shape of an opening, closing or top-hat of x. picture is the image of --shape=FILE. A square of a whole number
 * of pixels gets no runs.
 */
static struct shape
shape_for(const struct raw_in *in, const struct img *x, const struct args *a,
	  const struct img *picture)
{
	struct shape s = {0};
	double r[3];
	int err = 0;

	if (!a->open && !a->close && !a->tophat)
		return s;
	radii(in, x, a, r);
	for (int i = 0; i < 3; i++)
		if (r[i] > RADIUS_MOST && (a->kind != ARGS_SQUARE || *a->unit))
			raw_die(in, "a radius of %g pixels is above %d", r[i], RADIUS_MOST);
	switch (a->kind) {
	case ARGS_SQUARE:
		err = *a->unit ? shape_box(&s, r) : 0;
		break;
	case ARGS_DISK:
		err = shape_disk(&s, r);
		break;
	case ARGS_BALL:
		err = shape_ball(&s, r);
		break;
	case ARGS_OCTAGON:
		err = shape_octagon(&s, a->o.r);
		break;
	case ARGS_LINE:
		err = shape_line(&s, a->o.r, a->degrees);
		break;
	case ARGS_PICTURE:
		err = shape_picture(&s, picture);
	}
	if (err)
		raw_die(in, err == -ENOMEM ? "no memory for the shape" : "the shape has no pixel");
	return s;
}

struct morphrec_operator
item_operator(const struct raw_in *in, const struct img *x, const struct args *a,
	      const struct img *picture, struct shape *shape)
{
	struct morphrec_operator o = a->o;
	double lo, hi;

	morphrec_range(x->type, &lo, &hi);
	o.top = img_is_float(x->type) ? 1 : img_maxval(x) ? img_maxval(x) : hi;
	if (!img_is_float(x->type) && o.h != floor(o.h))
		raw_die(in, "H is %g: the samples are integers, so H is one too", o.h);
	if (o.op == MORPHREC_HYSTERESIS && o.hi > hi)
		raw_die(in, "HI is %g, above all samples of type %s", o.hi, img_type_name(x->type));
	o.open = a->nan == ARGS_FRAME && img_is_float(x->type);
	*shape = shape_for(in, x, a, picture);
	o.shape = shape->n ? shape : NULL;
	o.r = o.shape && a->kind != ARGS_PICTURE ? 1 : o.r; /* the others hold their radius */
	return o;
}
