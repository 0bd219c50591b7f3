/* psfmatch: pairs of pictures of known kernels. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/check_psfmatch.h"

/* Adds a star of that flux and width. */
static void
draw(float *to, double x, double y, double flux, double sigma)
{
	for (size_t j = 0; j < H; j++)
		for (size_t i = 0; i < W; i++) {
			const double dx = (double)i - x, dy = (double)j - y, r = dx * dx + dy * dy;
			if (r < 400)
				to[j * W + i] += (float)(flux / (2 * M_PI * sigma * sigma) *
							 exp(-r / (2 * sigma * sigma)));
		}
}

void
check_psfmatch_pose(struct pair *p, struct check_rng *rng, double ratio,
		    double (*width)(double x, double y))
{
	p->ref = weir_xalloc(W * H, sizeof *p->ref);
	p->new = weir_xalloc(W * H, sizeof *p->new);
	for (size_t i = 0; i < W * H; i++) {
		p->ref[i] = 100;
		p->new[i] = (float)(50 + .1 * (double)(i % W));
	}
	for (size_t s = 0; s < STARS; s++) {
		p->x[s] = rng_unit(rng) * W;
		p->y[s] = rng_unit(rng) * H;
		p->flux[s] = pow(10, 3 + 2 * rng_unit(rng));
		draw(p->ref, p->x[s], p->y[s], p->flux[s], 1.4);
		draw(p->new, p->x[s], p->y[s], ratio * p->flux[s], width(p->x[s], p->y[s]));
	}
	for (size_t i = 0; i < W * H; i++) { /* of variance 1 */
		p->ref[i] += (float)(sqrt(12) * (rng_unit(rng) - .5));
		p->new[i] += (float)(sqrt(12) * (rng_unit(rng) - .5));
	}
}

void
check_psfmatch_drop(struct pair *p)
{
	weir_free(p->ref);
	weir_free(p->new);
}

double
check_psfmatch_wide(double x, double y)
{
	(void)x;
	(void)y;
	return 2.2;
}

/* A kernel whose variance, which adds up, is linear in place: that of the picture is. */
static double
wider_to_the_right(double x, double y)
{
	(void)y;
	return sqrt(1.4 * 1.4 + 1.5 + 1.5 * x / W);
}

struct psfmatch_options
check_psfmatch_options(enum psfmatch_basis basis)
{
	return (struct psfmatch_options){.basis = basis,
					 .size = SIZE,
					 .degree = 1,
					 .background = 1,
					 .smooth = 1,
					 .gain = 1,
					 .top = INFINITY,
					 .threads = 2};
}

static double
gauss(double dx, double dy, double sigma)
{
	return exp(-(dx * dx + dy * dy) / (2 * sigma * sigma)) / (2 * M_PI * sigma * sigma);
}

/* The kernel at (x,y) over a star of ref: the largest difference to the star of new, over that star's peak. */
static double
star_error(const struct psfmatch *m, double x, double y, double ratio,
	   double (*width)(double x, double y))
{
	const double u = (x - m->zero_x) / m->scale_x, v = (y - m->zero_y) / m->scale_y;
	const double w = width(x, y);
	double worst = 0;

	for (int q = 0; q < 17 * 17; q++) {
		const double qx = q % 17 - 8, qy = q / 17 - 8.;
		double got = 0;
		for (size_t i = 0; i < SIZE * SIZE; i++) {
			const double dx = (double)(i % SIZE) - SIZE / 2,
				     dy = (double)(i / SIZE) - SIZE / 2;
			const double k = (double)m->kernel[i] +
					 u * (double)m->kernel[SIZE * SIZE + i] +
					 v * (double)m->kernel[2 * SIZE * SIZE + i];
			got += k * gauss(qx - dx, qy - dy, 1.4);
		}
		worst = fmax(worst, fabs(got - ratio * gauss(qx, qy, w)));
	}
	return worst / (ratio * gauss(0, 0, w));
}

/*
 * The bounds of these checks do not follow from the noise. What a kernel of 11x11 samples and polynomials of degree 1 cannot
 * follow is believed to be more than the noise. The bounds were set after the first values had been seen.
 */
static void
check_kernels(void)
{
	struct check_many m = {0};
	struct check_rng rng = {41};

	for (int i = 0; i < 4; i++) {
		const bool varies = i % 2;
		const struct psfmatch_options o =
		    check_psfmatch_options(i / 2 ? PSFMATCH_DELTA : PSFMATCH_GAUSS);
		struct psfmatch got;
		struct pair p;
		struct why why;
		check_psfmatch_pose(&p, &rng, 1.3,
				    varies ? wider_to_the_right : check_psfmatch_wide);
		const bool fits = !psfmatch_fit(&got, p.ref, p.new, W, H, &o, &why);
		check_case(&m, fits, "%s", fits ? "" : why.text);
		for (int c = 0; fits && c < 5; c++) {
			const double x = c % 2 ? W - 60 : 60, y = c / 2 ? H - 60 : 60;
			const double e =
			    star_error(&got, c == 4 ? W / 2. : x, c == 4 ? H / 2. : y, 1.3,
				       varies ? wider_to_the_right : check_psfmatch_wide);
			check_case(&m, e < .02,
				   "basis %d, varies %d, place %d: a star differs by %g", i / 2,
				   varies, c, e);
		}
		check_case(&m, fits && fabs(got.ratio - 1.3) < .002, "ratio %g", got.ratio);
		double power[PSFMATCH_TERMS];
		psfmatch_powers(&got, got.background, 100, 200, power);
		const double b = psfmatch_dot(got.b, power, psfmatch_terms(got.background));
		check_case(&m, fits && fabs(b - (60 - 130)) < .5,
			   "basis %d, varies %d: background %g", i / 2, varies, b);
		psfmatch_free(&got);
		check_psfmatch_drop(&p);
	}
	check_end(&m,
		  "psfmatch: finds the kernel, the ratio of fluxes and the background of a pair");
}

/* --- what real frames have --------------------------------------------------------------------------------------------- */

static void
tilt(struct pair *p)
{
	for (size_t i = 0; i < W * H; i++)
		p->ref[i] += 3 * (float)(i % W);
}

static void
fill_up(struct pair *p)
{
	for (size_t i = 0; i < W * H; i++)
		if (i % W < 230)
			p->ref[i] = p->new[i] = 0;
}

static void
round_off(struct pair *p)
{
	for (size_t i = 0; i < W * H; i++) {
		p->ref[i] = roundf(p->ref[i] / 5);
		p->new[i] = roundf(p->new[i] / 5);
	}
}

static void
saturate(struct pair *p)
{
	for (size_t i = 0; i < W * H; i++)
		p->ref[i] = fminf(p->ref[i], 1500);
}

static void
heat(struct pair *p)
{
	for (size_t i = 0; i < W * H; i += 4999)
		p->ref[i] = 50000;
}

static void
dim(struct pair *p)
{
	for (size_t i = 0; i < W * H; i++) {
		p->ref[i] *= 1e-20F;
		p->new[i] *= 1e-20F;
	}
}

/* Stars that have changed. */
static void
vary(struct pair *p)
{
	for (size_t s = 0; s < STARS; s += 15)
		draw(p->new, p->x[s], p->y[s], 3 * p->flux[s], 2.2);
}

/* The bound is more than three times the errors that were seen; noise in ref makes most ratios a little too small. */
static void
check_frames(void)
{
	static void (*const change[])(struct pair *) = {tilt, fill_up, round_off, saturate,
							heat, dim,     vary};
	struct check_many m = {0};
	struct check_rng rng = {44};

	for (size_t i = 0; i < 2 * sizeof change / sizeof *change; i++) {
		struct psfmatch_options o =
		    check_psfmatch_options(i % 2 ? PSFMATCH_DELTA : PSFMATCH_GAUSS);
		struct psfmatch got;
		struct pair p;
		struct why why;
		o.gain = INFINITY;
		check_psfmatch_pose(&p, &rng, 1.3, check_psfmatch_wide);
		change[i / 2](&p);
		const bool fits = !psfmatch_fit(&got, p.ref, p.new, W, H, &o, &why);
		check_case(&m, fits, "change %zu: %s", i / 2, fits ? "" : why.text);
		check_case(&m, fits && fabs(got.ratio - 1.3) < .01, "change %zu: ratio %g", i / 2,
			   got.ratio);
		check_case(&m, change[i / 2] != vary || (got.rejected >= 3 && got.used >= 20),
			   "%zu left out of %zu", got.rejected, got.used);
		psfmatch_free(&got);
		check_psfmatch_drop(&p);
	}
	check_end(&m,
		  "psfmatch: slopes, filled borders, whole numbers, saturated stars, hot pixels, "
		  "small units and stars that change leave the ratio of fluxes as it is");
}

static void
check_same_picture(void)
{
	struct check_many m = {0};
	struct check_rng rng = {45};
	struct pair p;

	check_psfmatch_pose(&p, &rng, 1, check_psfmatch_wide);
	for (int i = 0; i < 2; i++) {
		struct psfmatch_options o =
		    check_psfmatch_options(i ? PSFMATCH_DELTA : PSFMATCH_GAUSS);
		struct psfmatch got;
		struct why why;
		o.smooth = 100;
		const bool fits = !psfmatch_fit(&got, p.ref, p.ref, W, H, &o, &why);
		check_case(&m, fits && fabs(got.ratio - 1) < .002, "basis %d: ratio %g", i,
			   got.ratio);
		psfmatch_free(&got);
	}
	check_psfmatch_drop(&p);
	check_end(&m, "psfmatch: a picture matches itself");
}

static void
check_other_field(void)
{
	struct check_many m = {0};
	struct check_rng rng = {46};
	const struct psfmatch_options o = check_psfmatch_options(PSFMATCH_GAUSS);
	struct psfmatch got;
	struct pair p, q;
	struct why why;

	check_psfmatch_pose(&p, &rng, 1.3, check_psfmatch_wide);
	check_psfmatch_pose(&q, &rng, 1.3, check_psfmatch_wide);
	check_case(&m, psfmatch_fit(&got, p.ref, q.new, W, H, &o, &why), "other stars: ratio %g",
		   got.ratio);
	check_psfmatch_drop(&p);
	check_psfmatch_drop(&q);
	check_end(&m, "psfmatch: pictures of different fields are refused");
}

static void
check_refusals(void)
{
	struct psfmatch_options o = check_psfmatch_options(PSFMATCH_GAUSS);
	struct check_many m = {0};
	struct check_rng rng = {43};
	struct psfmatch got, again;
	struct pair p;
	struct why why;

	check_psfmatch_pose(&p, &rng, 1, check_psfmatch_wide);
	check_case(&m, !psfmatch_fit(&got, p.ref, p.new, W, H, &o, &why), "%s", why.text);
	o.threads = 7;
	check_case(&m, !psfmatch_fit(&again, p.ref, p.new, W, H, &o, &why), "%s", why.text);
	check_case(&m, !memcmp(got.kernel, again.kernel, 3 * SIZE * SIZE * sizeof(float)),
		   "7 threads: other bytes");
	psfmatch_free(&got);
	psfmatch_free(&again);
	o.top = 90;
	check_case(&m, psfmatch_fit(&got, p.ref, p.new, W, H, &o, &why) && !got.kernel,
		   "no star below the top");
	o.top = INFINITY;
	for (size_t i = 0; i < W * H; i++)
		p.ref[i] = NAN;
	check_case(&m, psfmatch_fit(&got, p.ref, p.new, W, H, &o, &why) && !got.kernel,
		   "nothing is known");
	check_psfmatch_drop(&p);
	check_end(&m,
		  "psfmatch: the same bytes for any number of threads; too few stars are refused");
}

static void
add_noise(float *to, struct check_rng *rng, double sigma)
{
	for (size_t i = 0; i < W * H; i++)
		to[i] += (float)(sqrt(12) * sigma * (rng_unit(rng) - .5));
}

/* Fits the pair and returns the ratio of fluxes; NAN if it is refused. *sky: that of struct psfmatch. */
static double
ratio_of(const struct pair *p, enum psfmatch_basis basis, double top, double *sky)
{
	struct psfmatch_options o = check_psfmatch_options(basis);
	struct why why;
	struct psfmatch m;

	o.gain = INFINITY;
	o.top = top;
	if (psfmatch_fit(&m, p->ref, p->new, W, H, &o, &why))
		return NAN;
	const double ratio = m.ratio;
	*sky = m.sky;
	psfmatch_free(&m);
	return ratio;
}

/* The mean of ten pairs of faint stars. Without the correction it was .6 % too small with both bases. */
static void
check_noise_in_ref(void)
{
	struct check_many m = {0};
	struct check_rng rng = {51};
	double sum[2] = {0}, sky = NAN;

	for (int i = 0; i < 10; i++) {
		struct pair p;
		check_psfmatch_pose(&p, &rng, 1.3, check_psfmatch_wide);
		add_noise(p.ref, &rng, 12);
		sum[0] += ratio_of(&p, PSFMATCH_GAUSS, 1000, &sky) / 10;
		sum[1] += ratio_of(&p, PSFMATCH_DELTA, 1000, &sky) / 10;
		check_psfmatch_drop(&p);
	}
	for (int i = 0; i < 2; i++)
		check_case(&m, fabs(sum[i] / 1.3 - 1) < .004, "basis %d: ratio %g", i, sum[i]);
	check_end(&m, "psfmatch: noise in the reference leaves the ratio of fluxes as it is");
}

/* A sky that curves by 30 times the noise. Without a constant for each stamp these ratios were off by up to 7 %. */
static void
check_curved_sky(void)
{
	struct check_many m = {0};
	struct check_rng rng = {52};
	double sky = NAN;

	for (int i = 0; i < 4; i++) {
		struct pair p;
		check_psfmatch_pose(&p, &rng, 1.3, check_psfmatch_wide);
		ratio_of(&p, (enum psfmatch_basis)(i % 2), INFINITY, &sky);
		check_case(&m, sky < .1, "a straight sky is off by %g", sky);
		for (size_t k = 0; k < W * H; k++) {
			const double u = 2. * (double)(k % W) / W - 1,
				     v = 2. * (double)(k / W) / H - 1;
			p.new[k] += (float)(i / 2 ? 30 * u * u : 30 * u * v * v);
		}
		const double ratio = ratio_of(&p, (enum psfmatch_basis)(i % 2), INFINITY, &sky);
		check_case(&m, fabs(ratio / 1.3 - 1) < .01, "case %d: ratio %g", i, ratio);
		check_case(&m, sky > .5, "case %d: the sky is off by %g", i, sky);
		check_psfmatch_drop(&p);
	}
	check_end(
	    &m,
	    "psfmatch: a sky that the background does not follow is noticed and spoils no kernel");
}

static double
a_little_wider(double x, double y)
{
	(void)x;
	(void)y;
	return 1.8;
}

/* Pairs in both orders. Stars of 1.4 pixels, and of 1.8. */
static void
check_order(void)
{
	struct check_many m = {0};
	struct check_rng rng = {53};

	for (int i = 0; i < 2; i++) {
		struct psfmatch_options o = check_psfmatch_options((enum psfmatch_basis)i);
		struct why why;
		struct psfmatch got;
		struct pair p;
		o.gain = INFINITY;
		check_psfmatch_pose(&p, &rng, 1.2, a_little_wider);
		check_case(&m, !psfmatch_fit(&got, p.ref, p.new, W, H, &o, &why), "%s", why.text);
		check_case(&m, got.sharp < .7 * PSFMATCH_SHARP, "basis %d: %g", i, got.sharp);
		psfmatch_free(&got);
		check_case(&m, !psfmatch_fit(&got, p.new, p.ref, W, H, &o, &why), "%s", why.text);
		check_case(&m, got.sharp > 1.2 * PSFMATCH_SHARP, "swapped, basis %d: %g, ratio %g",
			   i, got.sharp, got.ratio);
		psfmatch_free(&got);
		check_psfmatch_drop(&p);
	}
	check_end(&m, "psfmatch: a kernel that sharpens is told from one that blurs");
}

void check_psfmatch(void);

void
check_psfmatch(void)
{
	check_kernels();
	check_frames();
	check_same_picture();
	check_other_field();
	check_refusals();
	check_psfmatch_sums();
	check_order();
	check_noise_in_ref();
	check_curved_sky();
}
