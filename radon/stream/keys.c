/* The curve and the shape of the gather, as the keys of a panel tell them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "radon/stream/heads.h"

void
keys_read(struct gathers *s)
{
	const char *curve = img_key(&s->item, "radon_curve"),
		   *gather = img_key(&s->item, "radon_gather");
	char name[32];
	double x, z, t0;
	size_t nx, nt;

	if (curve && !(s->o->curve_given && s->o->reference > 0)) {
		if (sscanf(curve, "%31s %lf %lf", name, &x, &z) != 3)
			raw_die(s->in, "radon_curve:=%s is not a curve, an offset and a depth",
				curve);
		int i = 0;
		while (i < RADON_CURVES && strcmp(name, radon_curve_names[i]))
			i++;
		if (i == RADON_CURVES)
			raw_die(s->in, "radon_curve:=%s is no curve", name);
		if (!s->o->curve_given) {
			s->curve = (enum radon_curve)i;
			s->depth = z;
		}
		if (!(s->o->reference > 0))
			s->reference = x;
	}
	if (gather) {
		if (sscanf(gather, "%zu %zu %lf", &nx, &nt, &t0) != 3 || !nx || !nt ||
		    nt > 1 << 28 || !isfinite(t0))
			raw_die(s->in, "radon_gather:=%s is no traces, samples and a time", gather);
		s->shape.nx = nx;
		s->shape.nt = nt;
		s->shape.t0 = t0;
	}
	if (s->per == 2 && (sscanf(img_key(&s->item, "radon_azimuth"), "%lf", &s->azimuth) != 1 ||
			    !isfinite(s->azimuth)))
		raw_die(s->in, "radon_azimuth:=%s is no angle", img_key(&s->item, "radon_azimuth"));
}

void
keys_have_two_axes(struct gathers *s)
{
	if (s->curve != RADON_PARABOLIC && s->curve != RADON_LINEAR)
		raw_die(s->in, "%s curves have no second axis", radon_curve_names[s->curve]);
	if (s->shape.method == RADON_TIME || s->shape.method == RADON_USFFT2D)
		raw_die(s->in, "--method: two axes of curves go with auto, nufft and recurrence");
	if (s->o->gpu)
		raw_die(s->in, "-g: two axes of curves do not run on the GPU");
}

void
keys_be_hyperbolic(struct gathers *s)
{
	s->shape.hyperbolic = true;
	s->shape.method = RADON_TIME;
	if (!(s->shape.q0 >= 0))
		raw_die(s->in, "hyperbolic curves from q = %g on: q is (X/v)^2, 0 or more",
			s->shape.q0);
	if (s->o->gpu)
		raw_die(s->in, "hyperbolic curves do not run on the GPU");
	if (s->shape.fmin > 0 || s->shape.fmax > 0)
		raw_die(s->in, "--fmin and --fmax: hyperbolic curves have no band");
	if (s->shape.nt < 2)
		raw_die(s->in, "traces of one sample have no hyperbolic curves");
}
