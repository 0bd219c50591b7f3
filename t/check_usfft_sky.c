/* Images of the sky with the w-term: both directions against the plain sums, their dot product, and the inverse. */
#include "t/check_usfft.h"
#include "usfft/sky/sky.h"

/* Visibilities of baselines up to 0.45 / pixel wavelengths; w is within `deep' / 2. */
struct sky {
	struct usfft_sky_options o;
	struct usfft_points pt;
	size_t pixels;
	double *uvw, *vis, *image, *copy; /* check_free()'s; copy: of vis */
};

static void
make_sky(struct sky *s, size_t nx, size_t ny, double wide, double deep, double tol, size_t m,
	 struct check_rng *r)
{
	*s = (struct sky){.o = {.o = {.dim = 2, .n = {nx, ny, 1}, .tol = tol, .threads = 2},
				.pixel = {-wide / (double)nx, wide / (double)ny}},
			  .pt = {.m = m, .stride = 3},
			  .pixels = nx * ny};
	s->uvw = check_alloc(3 * m, sizeof *s->uvw);
	s->image = check_alloc(s->pixels, sizeof *s->image);
	for (size_t j = 0; j < m; j++)
		for (int a = 0; a < 3; a++)
			s->uvw[3 * j + (size_t)a] =
			    (rng_unit(r) - 0.5) * (a == 2 ? deep : 0.9 / fabs(s->o.pixel[a]));
	for (int a = 0; a < 3; a++)
		s->pt.x[a] = s->uvw + a;
	s->vis = problem_values(m, false, &s->copy, r);
	for (size_t i = 0; i < s->pixels; i++)
		s->image[i] = rng_normal(r);
}

static struct usfft_sky *
plan_sky(const struct sky *s)
{
	struct usfft_sky *p;
	size_t bad;

	if (usfft_sky_plan(&p, &s->o, &s->pt, &bad))
		die("no plan of planes");
	return p;
}

/* The relative l2 error of type 1, at every third pixel or so. */
static double
error_of_image(const struct sky *s, int sign)
{
	struct usfft_sky *p = plan_sky(s);
	double *got = check_alloc(s->pixels, sizeof *got),
	       *want = check_alloc(s->pixels, sizeof *want);
	size_t n = 0;

	check_poison(got, s->pixels * sizeof *got);
	if (usfft_sky_type1(p, sign, s->vis, got))
		die("no image");
	for (size_t i = 0; i < s->pixels; i += 3, n++) {
		want[n] = usfft_direct_pixel(&s->o, &s->pt, s->vis, sign, i);
		got[n] = got[i];
	}
	usfft_sky_free(p);
	return check_apart(got, false, want, n, 0);
}

static double
error_of_visibilities(const struct sky *s, int sign)
{
	struct usfft_sky *p = plan_sky(s);
	double *got = check_alloc(s->pt.m, 2 * sizeof *got);
	double *want = check_alloc(s->pt.m, 2 * sizeof *want);

	check_poison(got, s->pt.m * 2 * sizeof *got);
	if (usfft_sky_type2(p, sign, s->image, got))
		die("no visibilities");
	for (size_t j = 0; j < s->pt.m; j++)
		usfft_direct_visibility(&s->o, &s->pt, s->image, sign, j, want + 2 * j);
	usfft_sky_free(p);
	return check_apart(got, false, want, 2 * s->pt.m, 0);
}

/* From a few minutes of arc to beyond the horizon, and from flat arrays to deep ones. */
static const struct {
	double wide, deep;
	size_t nx, ny;
} shape[] = {
    {0.01, 1e5, 18, 15}, {0.5, 300, 15, 18}, {1.3, 60, 24, 10}, {2.03, 20, 20, 20}, {0.2, 0, 8, 9}};

static void
check_errors(struct check_many *many, struct check_rng *r, size_t i)
{
	const int sign = i % 2 ? 1 : -1;

	for (double tol = 1e-2; tol > 1e-13; tol /= 10) {
		struct sky s;
		make_sky(&s, shape[i].nx, shape[i].ny, shape[i].wide, shape[i].deep, tol, 150, r);
		const double a = error_of_image(&s, sign), b = error_of_visibilities(&s, sign);
		memset(s.image, 0, s.pixels * sizeof *s.image);
		s.image[s.o.o.n[1] / 2 * s.o.o.n[0] + s.o.o.n[0] / 2] = 1;
		const double c = error_of_visibilities(&s, sign);
		check_case(many, a <= tol && b <= tol && c <= tol,
			   "case %zu tol %g: image %.2e, visibilities %.2e, of a source in the "
			   "centre %.2e",
			   i, tol, a, b, c);
	}
}

static void
check_dot(struct check_many *many, struct check_rng *r, size_t set)
{
	struct sky s;
	double left = 0, norm = 0;

	make_sky(&s, shape[set].nx, shape[set].ny, shape[set].wide, shape[set].deep, 1e-5, 200, r);
	struct usfft_sky *p = plan_sky(&s);
	double *vis = check_alloc(s.pt.m, 2 * sizeof *vis);
	double *image = check_alloc(s.pixels, sizeof *image);
	if (usfft_sky_type2(p, 1, s.image, vis) || usfft_sky_type1(p, -1, s.vis, image))
		die("no transform");
	for (size_t j = 0; j < 2 * s.pt.m; j++) {
		left += vis[j] * s.vis[j];
		norm += fabs(vis[j] * s.vis[j]);
	}
	const double right = real_dot(image, s.image, s.pixels);
	check_case(many, fabs(left - right) <= 1e-13 * norm, "case %zu: %.17g and %.17g", set, left,
		   right);
	usfft_sky_free(p);
}

/* A sky that many visibilities have seen comes back, with weights and without. */
static void
check_sky_inverse(struct check_many *many, struct check_rng *r, size_t i)
{
	struct sky s;
	struct usfft_outcome got;

	make_sky(&s, 10, 8, 0.5, 300, 1e-12, 1200, r);
	struct usfft_sky *p = plan_sky(&s);
	double *image = check_alloc(s.pixels, sizeof *image);
	double *w = check_alloc(s.pt.m, sizeof *w);
	for (size_t j = 0; j < s.pt.m; j++)
		w[j] = 0.5 + rng_unit(r);
	const struct usfft_inverse v = {.sign = -1, .iter = 100, .rtol = 1e-11};
	if (usfft_sky_type2(p, -1, s.image, s.vis) ||
	    usfft_sky_inverse(p, i ? w : NULL, s.vis, &v, image, &got))
		die("no inverse");
	const double e = check_apart(image, false, s.image, s.pixels, 0);
	check_case(many, got.residual <= 1e-11 && e <= 1e-9, "case %zu: residual %.1e, error %.1e",
		   i, got.residual, e);
	usfft_sky_free(p);
}

void
check_usfft_sky(void)
{
	struct check_rng r = {31};

	check_each_from("the w-term stays below its tolerance, also for one source in the centre",
			sizeof shape / sizeof *shape, &r, check_errors);
	check_each_from("the two directions with the w-term are adjoint",
			sizeof shape / sizeof *shape, &r, check_dot);
	check_each_from("a sky that enough visibilities have seen comes back", 2, &r,
			check_sky_inverse);
}
