/* psfmatch: sums over stamps and medians, held to their definitions. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/check_psfmatch.h"

/* Function i of a stamp at pixel q, before it is divided by sigma. */
static double
function(const struct psfmatch_field *f, const struct psfmatch_kernels *k, const struct psfmatch *m,
	 const struct psfmatch_stamp *s, size_t i, size_t q)
{
	const size_t x = s->x - PSFMATCH_HALF + q % PSFMATCH_SIDE,
		     y = s->y - PSFMATCH_HALF + q / PSFMATCH_SIDE, half = k->size / 2;
	double kernel[SIZE * SIZE] = {0}, p[PSFMATCH_TERMS], sum = 0;

	if (i >= k->n) {
		psfmatch_powers(m, m->background, (double)x, (double)y, p);
		return p[i - k->n];
	}
	psfmatch_add_kernel(k, i, 1, kernel);
	for (size_t r = 0; r < k->size; r++)
		for (size_t c = 0; c < k->size; c++)
			sum += kernel[r * k->size + c] *
			       ((double)f->ref[(y + half - r) * W + x + half - c] - f->r.level);
	return sum;
}

static double
sigma(const struct psfmatch_field *f, const struct psfmatch_stamp *s, size_t q)
{
	const size_t at = (s->y - PSFMATCH_HALF + q / PSFMATCH_SIDE) * W + s->x - PSFMATCH_HALF +
			  q % PSFMATCH_SIDE;
	const double n = (double)f->new[at] - s->sky_new, r = (double)f->ref[at] - s->sky_ref;
	const double light = (n > 3 * f->n.noise ? n : 0) + (r > 3 * f->r.noise ? r : 0);

	return sqrt(f->noise * f->noise *
		    (1 + (light / f->gain > .1 * f->noise * f->noise
			      ? light / f->gain / (f->noise * f->noise)
			      : 0)));
}

/* Compares the sums of a stamp with their definition. Errors are relative to the roots of the diagonal. */
static void
compare_sums(struct check_many *m, const struct psfmatch_field *f, const struct psfmatch_kernels *k,
	     const struct psfmatch *model, struct psfmatch_stamp *s)
{
	const size_t n = k->n + psfmatch_terms(model->background), pixels = PSFMATCH_PIXELS;
	double *g = weir_xalloc(n * pixels, sizeof *g), worst = 0;
	double *data = weir_xalloc(pixels, sizeof *data);
	double *work =
	    weir_xalloc(psfmatch_stamp_room(k, psfmatch_terms(model->background)), sizeof *work);

	s->q = weir_xalloc(psfmatch_packed(n), sizeof *s->q);
	s->b = weir_xalloc(n, sizeof *s->b);
	psfmatch_sum_stamp(f, k, model, s, work);
	for (size_t q = 0; q < pixels; q++) {
		const double by = 1 / sigma(f, s, q);
		const size_t at = (s->y - PSFMATCH_HALF + q / PSFMATCH_SIDE) * W + s->x -
				  PSFMATCH_HALF + q % PSFMATCH_SIDE;
		data[q] = by * ((double)f->new[at] - f->n.level);
		for (size_t i = 0; i < n; i++)
			g[i * pixels + q] = by * function(f, k, model, s, i, q);
	}
	for (size_t i = 0; i < n; i++) {
		const double *a = g + i * pixels, size = sqrt(psfmatch_dot(a, a, pixels));
		for (size_t j = 0; j <= i; j++) {
			const double *b = g + j * pixels;
			const double e = s->q[psfmatch_packed(i) + j] - psfmatch_dot(a, b, pixels);
			worst = fmax(worst, fabs(e) / size / sqrt(psfmatch_dot(b, b, pixels)));
		}
		worst =
		    fmax(worst, fabs(s->b[i] - psfmatch_dot(a, data, pixels)) / size / sqrt(s->yy));
	}
	check_case(m, worst < 1e-8, "basis %d, gain %g: sums err by %g", (int)k->basis, f->gain,
		   worst);
	weir_free(g);
	weir_free(data);
	weir_free(work);
	weir_free(s->q);
	weir_free(s->b);
}

static void
check_sums(void)
{
	/* without light's noise, with it, and with so much that the sums that run would be inexact */
	static const double gain[] = {INFINITY, 1, 1e-4};
	struct check_many m = {0};
	struct check_rng rng = {47};
	struct pair p;

	check_psfmatch_pose(&p, &rng, 1.3, check_psfmatch_wide);
	const struct psfmatch model = {
	    .background = 2, .zero_x = 150, .zero_y = 160, .scale_x = 180, .scale_y = 170};
	for (int i = 0; i < 6; i++) {
		struct psfmatch_options o =
		    check_psfmatch_options(i % 2 ? PSFMATCH_DELTA : PSFMATCH_GAUSS);
		struct psfmatch_field f = {
		    .ref = p.ref, .new = p.new, .w = W, .h = H, .gain = gain[i / 2]};
		struct psfmatch_kernels k;
		struct psfmatch_stamp *s;
		size_t n;
		const bool made = !psfmatch_measure_sky(&f, INFINITY) &&
				  !psfmatch_make_kernels(&k, o.basis, o.size, 1) &&
				  !psfmatch_find_stamps(&f, SIZE / 2, &s, &n);
		check_case(&m, made && n > 20, "no stamps");
		for (size_t j = 0; made && j < n; j += 19)
			compare_sums(&m, &f, &k, &model, s + j);
		psfmatch_free_kernels(&k);
		weir_free(s);
	}
	check_psfmatch_drop(&p);
	check_end(&m, "psfmatch: sums over stamps equal their definition");
}

static void
check_medians(void)
{
	struct check_many m = {0};
	struct check_rng rng = {48};

	for (size_t n = 1; n < 200; n++) {
		double v[200];
		size_t below = 0, above = 0;
		for (size_t i = 0; i < n; i++)
			v[i] = n % 3 ? rng_unit(&rng) : floor(4 * rng_unit(&rng));
		const double got = psfmatch_median(v, n);
		for (size_t i = 0; i < n; i++) {
			below += v[i] < got;
			above += v[i] > got;
		}
		check_case(&m, below <= n / 2 && above < n - n / 2, "%zu values: %g", n, got);
	}
	check_end(&m, "psfmatch: as many values are below the median as above");
}

/* Fits the pair without its first stamps: left out at once, or used in a first round. Returns whether the solutions agree. */
static bool
agree_without(struct pair *p, size_t out, double *worst)
{
	struct psfmatch_field f = {.ref = p->ref, .new = p->new, .w = W, .h = H, .gain = INFINITY};
	struct psfmatch_options o = check_psfmatch_options(PSFMATCH_DELTA);
	struct psfmatch model = {.degree = 1,
				 .background = 1,
				 .zero_x = W / 2.,
				 .zero_y = H / 2.,
				 .scale_x = W / 2.,
				 .scale_y = H / 2.};
	struct psfmatch_normal n[2] = {{.m = &model, .threads = 2}, {.m = &model, .threads = 2}};
	bool made = !psfmatch_measure_sky(&f, INFINITY);

	o.size = 5;
	for (int i = 0; i < 2 && made; i++) {
		made = !psfmatch_make_kernels(&n[i].k, o.basis, o.size, 1) &&
		       !psfmatch_find_stamps(&f, 2, &n[i].s, &n[i].stamps) &&
		       !psfmatch_make_normal(&n[i]);
		double *work = weir_xalloc(psfmatch_stamp_room(&n[i].k, 3), sizeof *work);
		for (size_t s = 0; s < n[i].stamps && made; s++)
			psfmatch_sum_stamp(&f, &n[i].k, &model, n[i].s + s, work);
		weir_free(work);
		if (made && i)
			psfmatch_write_normal(n + i, 0);
		for (size_t s = 0; s < out; s++)
			n[i].s[s].used = false;
		if (made)
			psfmatch_write_normal(n + i, 0);
	}
	*worst = 0;
	for (size_t i = 0; made && i < n[0].unknowns; i++)
		for (size_t j = 0; j <= i; j++) {
			const size_t u = n[0].unknowns;
			*worst = fmax(*worst, fabs(n[0].g[i * u + j] - n[1].g[i * u + j]) /
						  sqrt(n[0].g[i * u + i] * n[0].g[j * u + j]));
		}
	psfmatch_free_normal(n);
	psfmatch_free_normal(n + 1);
	return made;
}

static void
check_rejection(void)
{
	struct check_many m = {0};
	struct check_rng rng = {49};
	struct pair p;
	double worst;

	check_psfmatch_pose(&p, &rng, 1.3, check_psfmatch_wide);
	for (size_t out = 1; out < 40; out += 19) {
		const bool made = agree_without(&p, out, &worst);
		check_case(&m, made && worst < 1e-9, "%zu left out: %g", out, worst);
	}
	/* a star so bright that what is left of a difference is rounding */
	for (int j = 0; j < 5 * 5; j++) {
		const int y = j / 5 - 2, x = j % 5 - 2;
		p.ref[(30 + y) * W + 30 + x] = 1e10F / (float)(1 + x * x + y * y);
		p.new[(30 + y) * W + 30 + x] = 1e5F / (float)(1 + x * x + y * y);
	}
	const bool made = agree_without(&p, 1, &worst);
	check_case(&m, made && worst < 1e-9, "a bright one left out: %g", worst);
	check_psfmatch_drop(&p);
	check_end(&m, "psfmatch: the equations of the stamps that stay do not show those that go");
}

void
check_psfmatch_sums(void)
{
	check_sums();
	check_medians();
	check_rejection();
}
