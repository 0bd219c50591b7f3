/* radon: adaptive subtraction. */
#include "radon/core.h"
#include "t/check_radon.h"

/* 8 traces of 250 samples, which are live. */
static struct radon_options
options(const struct radon_adapt_options *kind)
{
	struct radon_options o = scene_small;

	o.nx = 8;
	o.nt = 250;
	o.subtract = true;
	o.live = scene_live;
	o.adapt = *kind;
	for (size_t j = 0; j < o.nx; j++)
		scene_live[j] = true;
	return o;
}

/* Runs adaptive subtraction in a copy of left. */
static float *
adapt(const struct radon_options *o, int threads, const float *d, const float *left, double *ratio)
{
	const size_t n = o->nx * o->nt;
	struct radon_adapter *a = radon_adapter(o, threads);
	float *out = check_alloc(n, sizeof *out);

	memcpy(out, left, n * sizeof *out);
	*ratio = radon_adapt(a, d, out);
	radon_adapter_free(a);
	return out;
}

/*
 * d is noise plus multiples that are `gain` times as strong as those subtracted, and `late` samples later; left is d minus what
 * is subtracted. Trace 2 is dead, and trace 5 begins and ends with zeros.
 */
static void
draw(struct check_rng *r, const struct radon_options *o, double gain, size_t late, double noise,
     float *d, float *left)
{
	const size_t n = o->nx * o->nt;

	for (size_t i = 0; i < n; i++)
		left[i] = (float)rng_normal(r);
	for (size_t i = 0; i < n; i++) {
		const float m = i % o->nt >= late ? left[i - late] : 0;
		d[i] = (float)gain * m + (float)(noise * rng_normal(r));
	}
	for (size_t i = 0; i < n; i++) {
		const size_t j = i / o->nt, t = i % o->nt;
		const bool muted = j == 2 || (j == 5 && (t < 30 || t > o->nt - 20));
		d[i] = muted ? 0 : d[i];
		left[i] = muted ? 0 : d[i] - left[i];
	}
}

static void
check_definition(struct check_many *many, struct check_rng *r, size_t i)
{
	static const struct radon_adapt_options kind[] = {{0, 1, .016},	  {.5, 1, .016},
							  {.3, 5, .024},  {0, 0, .004},
							  {1.9, 7, .008}, {9, 99, .016}};
	const struct radon_options o = options(&kind[i % 6]);
	const size_t n = o.nx * o.nt;
	float *d = check_alloc(n, sizeof *d), *left = check_alloc(n, sizeof *left);
	double *want = check_alloc(n, sizeof *want), want_ratio = 0, ratio, one;

	scene_live[2] = false;
	draw(r, &o, i < 12 ? .7 : 1, i / 6 % 2, i < 12 ? .5 : 3, d, left);
	float *out = adapt(&o, 2, d, left, &ratio), *again = adapt(&o, 1, d, left, &one);
	radon_direct_adapt(&o, d, left, want, &want_ratio);
	const double e = check_apart(out, true, want, n, 0);
	check_case(many, ratio == want_ratio && e < 1e-6, "case %zu: L %g, not %g: %.2g", i, ratio,
		   want_ratio, e);
	check_case(many, one == ratio && !memcmp(out, again, n * sizeof *out),
		   "case %zu: other bytes by two threads", i);
	check_case(many,
		   !memcmp(out + 2 * o.nt, left + 2 * o.nt, o.nt * sizeof *out) &&
		       out[5 * o.nt + 29] == 0,
		   "case %zu: data in a dead trace or a muted zone", i);
}

/*
 * Trace 3 is nearly dead: it holds 1e-9 of the amplitude of the others, and slow multiples of usual strength are subtracted
 * from it. The other traces are adapted as without it, and what is left of it is as weak as it was.
 */
static void
check_nearly_dead(struct check_rng *r)
{
	const struct radon_options o =
	    options(&(struct radon_adapt_options){0, 1, 30 * scene_small.dt});
	double ratio, without;
	float most = 0;

	const size_t n = o.nx * o.nt;
	float *d = check_alloc(n, sizeof *d), *left = check_alloc(n, sizeof *left);
	for (size_t i = 0; i < n; i++) {
		const float m = sinf((float)(i % o.nt) / 20 + (float)(i / o.nt));
		d[i] = (1.5F * m + .1F * (float)rng_normal(r)) * (i / o.nt == 3 ? 1e-9F : 1);
		left[i] = d[i] - m;
	}
	float *out = adapt(&o, 1, d, left, &ratio);
	scene_live[3] = false;
	float *others = adapt(&o, 1, d, left, &without);
	const bool same = !memcmp(out, others, 3 * o.nt * sizeof *out) &&
			  !memcmp(out + 4 * o.nt, others + 4 * o.nt, 4 * o.nt * sizeof *out);
	for (size_t i = 3 * o.nt; i < 4 * o.nt; i++)
		most = fmaxf(most, fabsf(out[i]));
	check(ratio == without && isfinite(ratio) && same && most < .01F,
	      "radon: a nearly dead trace does not keep the others from being adapted",
	      "L %g, without it %g; %g is left", ratio, without, (double)most);
}

/* A model without multiples of its own and one that is right are left alone. */
static void
check_nothing_to_do(struct check_rng *r)
{
	const struct radon_options o = options(&(struct radon_adapt_options){0, 1, .016});
	double ratio, none;

	const size_t n = o.nx * o.nt;
	float *d = check_alloc(n, sizeof *d), *left = check_alloc(n, sizeof *left);
	draw(r, &o, 1, 0, 1, d, left);
	float *out = adapt(&o, 1, d, left, &ratio), *same = adapt(&o, 1, d, d, &none);
	check(isinf(ratio) && !memcmp(out, left, n * sizeof *out) && isinf(none) &&
		  !memcmp(same, d, n * sizeof *d),
	      "radon: multiples that fit, and none at all, are not adapted", "L %g, %g", ratio,
	      none);
}

void
check_radon_adapt(void)
{
	struct check_rng r = {23};

	check_each_from("radon: adaptive subtraction is its definition's, in any windows", 24, &r,
			check_definition);
	check_nearly_dead(&r);
	check_nothing_to_do(&r);
}
