/* wconv: threads, long transforms, filling in, what is refused. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/check_wconv.h"

static void
check_threads(void)
{
	struct check_many m = {0};
	struct check_rng rng = {10};

	for (size_t i = 0; i < 4; i++) {
		struct conv_job j;
		void *one;
		conv_pose(&j, 700, 500, i % 3 ? 33 : 5, i % 3 ? 29 : 5, i >= 2 ? 1 : 5,
			  i >= 2 ? 1 : 4);
		conv_fill(&j, &rng);
		if (i == 2)
			conv_multiply(&j);
		j.q.method = i == 1 ? WCONV_FFT : WCONV_DIRECT;
		j.q.threads = 1;
		check_case(&m, conv_run(&j, NULL, NULL), "no plan");
		one = j.got;
		for (int t = 2; t <= 5; t++) {
			j.got = NULL;
			j.q.threads = t;
			check_case(&m,
				   conv_run(&j, NULL, NULL) &&
				       !memcmp(one, j.got, j.nout * sizeof(float)),
				   "%d threads differ", t);
			weir_free(j.got);
		}
		j.got = one;
		conv_drop(&j);
	}
	check_end(&m, "wconv: the same bytes for any number of threads");
}

/* The job once more in double precision, its results as the definition. false: no plan. */
static bool
define_by_transforms(struct conv_job *j)
{
	const size_t nk = j->q.kw * j->q.kh * j->q.gx * j->q.gy;
	double *kernels = weir_xalloc(nk, sizeof *kernels);
	struct conv_job twice = *j;

	for (size_t k = 0; k < nk; k++)
		kernels[k] = (double)((float *)j->kernels)[k];
	twice.q.kernels = kernels;
	twice.q.in_double = true;
	twice.q.out = IMG_F64;
	twice.got = NULL;
	const bool ran = conv_run(&twice, NULL, NULL);
	weir_free(j->want);
	j->want = twice.got;
	weir_free(kernels);
	return ran;
}

/* The bound of wconv.h for the transforms that are chosen, on points or where the image is lit all over. */
static double
bound_of(const struct conv_job *j, bool points)
{
	struct wconv_chosen c;
	struct why why;
	struct wconv_plan *p;

	if (wconv_plan(&p, &j->q, &why))
		return 0;
	c = wconv_chosen(p);
	wconv_free(p);
	const double length = log2((double)c.px * (double)c.py);
	return points ? 3e-8 * length : fmax(3e-7, 1.8e-8 * length);
}

/* 0: the noise that is there; 1: a ramp; 2: points. */
static void
draw(struct conv_job *j, int kind)
{
	float *image = j->image;

	for (size_t i = 0; kind > 0 && i < j->q.w * j->q.h; i++)
		image[i] = kind == 1 ? (float)(i % j->q.w + i / j->q.w) : i % 1009 ? 0 : 1;
}

static void
check_long_transforms(void)
{
	static const size_t sizes[] = {31, 64, 200, 300, 601, 901};
	struct check_many m = {0};
	struct check_rng rng = {14};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int kind = 0; kind < 3; kind++) {
			struct conv_job j;
			conv_pose(&j, 700, 500, sizes[i], sizes[i], 1 + i % 2, 1 + i % 2);
			conv_fill(&j, &rng);
			draw(&j, kind);
			j.q.method = WCONV_FFT;
			const double bound = bound_of(&j, kind == 2);
			const bool ran = conv_run(&j, NULL, NULL) && define_by_transforms(&j);
			const double e = ran ? conv_error(&j) : INFINITY;
			check_case(&m, e <= bound,
				   "kernels of %zu, image %d: error %.3g, bound %.3g", sizes[i],
				   kind, e, bound);
			conv_drop(&j);
		}
	check_end(&m, "wconv: long transforms are within 1.8e-8 log2(Px Py) of double precision, "
		      "points within 3e-8");
}

/* Thousands of products to a sum: added up plainly they are past the bound from 31x31 on. */
static void
check_long_sums(void)
{
	static const size_t sizes[] = {5, 7, 21, 31, 101};
	struct check_many m = {0};
	struct check_rng rng = {15};

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int kind = 0; kind < 2; kind++) {
			struct conv_job j;
			conv_pose(&j, 300, 120, sizes[i], sizes[i], 1, 1);
			conv_fill(&j, &rng);
			draw(&j, kind);
			for (size_t k = 0; k < j.q.w * j.q.h; k++)
				((float *)j.image)[k] += 100;
			j.q.method = WCONV_DIRECT;
			const bool ran = conv_run(&j, NULL, NULL) && define_by_transforms(&j);
			const double e = ran ? conv_error(&j) : INFINITY;
			check_case(&m, e <= 3e-7, "kernels of %zu, image %d: error %.3g", sizes[i],
				   kind, e);
			conv_drop(&j);
		}
	check_end(&m,
		  "wconv: sums over kernels of up to 101x101 are within 3e-7 of double precision");
}

/* The known part of the kernels' weight at each result, in place of want: ones convolved as the image is, 0 where unknown. */
static void
define_known(const struct conv_job *j, struct conv_job *ones)
{
	*ones = *j;
	ones->got = ones->want = NULL;
	ones->q.node_x = ones->node[0];
	ones->q.node_y = ones->node[1];
	ones->image = weir_xalloc(j->q.w * j->q.h, sizeof(float));
	for (size_t i = 0; i < j->q.w * j->q.h; i++)
		((float *)ones->image)[i] = isfinite(((float *)j->image)[i]) ? 1 : 0;
	ones->q.nan = WCONV_NAN_ZERO;
	if (j->q.edge == WCONV_RENORMALISE)
		ones->q.edge = WCONV_ZERO;
	conv_define(ones);
}

/* Where F is filled in, its error is at most 2 b (W / known) W max|I|; kernels of 1 here, so that W = kw kh. */
static void
check_filling(void)
{
	struct check_many m = {0};
	struct check_rng rng = {15};

	for (int e = 0; e < 6; e++) {
		struct conv_job j, ones;
		conv_pose(&j, 83, 60, 9, 11, 3, 2);
		conv_fill(&j, &rng);
		for (size_t i = 0; i < 99 * 6; i++)
			((float *)j.kernels)[i] = 1;
		for (size_t i = 0; i < 83 * 60; i++)
			((float *)j.image)[i] =
			    i % 83 / 20 == 1 || !rng_below(&rng, 60) ? NAN : (float)rng_unit(&rng);
		j.q.edge = (enum wconv_edge)e;
		j.q.nan = WCONV_NAN_INTERPOLATE;
		j.q.method = WCONV_FFT;
		check_case(&m, conv_run(&j, NULL, NULL), "%d: no plan", e);
		conv_define(&j);
		ones.nout = j.nout;
		define_known(&j, &ones);
		for (size_t i = 0; i < j.nout; i++) {
			const double got = conv_got(&j, i), want = j.want[i];
			const double bound = 2 * 3e-7 * 99 / ones.want[i] * 99;
			check_case(&m, isnan(got) ? isnan(want) : fabs(got - want) <= bound,
				   "edge %d, result %zu: %.9g, not %.9g; bound %.2g", e, i, got,
				   want, bound);
		}
		weir_free(ones.image);
		weir_free(ones.want);
		conv_drop(&j);
	}
	check_end(
	    &m, "wconv: filling in multiplies the error by twice the inverse of the known weight");
}

/* A plan taken twice, as for the items of a stream, and the bad problems that must be refused. */
static void
check_again(void)
{
	struct check_rng rng = {11};
	struct wconv_plan *p;
	struct why why;
	struct conv_job j;
	float *first, *second;

	conv_pose(&j, 200, 150, 21, 21, 3, 3);
	conv_fill(&j, &rng);
	first = weir_alloc(200 * 150, sizeof *first);
	second = weir_alloc(200 * 150, sizeof *second);
	check_poison(first, 200 * 150 * sizeof *first);
	check_poison(second, 200 * 150 * sizeof *second);
	bool ok = !wconv_plan(&p, &j.q, &why);
	for (int item = 0; ok && item < 2; item++)
		for (size_t i = 0, in = 0, out = 0; i < wconv_count(p); i++) {
			wconv_run(p, (float *)j.image + in * 200,
				  (item ? second : first) + out * 200);
			in += wconv_steps(p, i).rows_in;
			out += wconv_steps(p, i).rows_out;
		}
	check(ok && !memcmp(first, second, 200 * 150 * sizeof *first),
	      "wconv: a plan gives the same for the next item of the same shape", "it differs");
	wconv_free(p);
	weir_free(first);
	weir_free(second);
	conv_drop(&j);
}

static void
check_refusals(void)
{
	struct check_many m = {0};
	struct check_rng rng = {12};
	struct wconv_plan *p;
	struct why why;
	struct conv_job j;

	conv_pose(&j, 10, 10, 3, 3, 2, 2);
	conv_fill(&j, &rng);
	j.node[0][1] = j.node[0][0];
	check_case(&m, wconv_plan(&p, &j.q, &why) && !p, "equal nodes");
	j.node[0][1] = NAN;
	check_case(&m, wconv_plan(&p, &j.q, &why) && !p, "a node that is NaN");
	j.node[0][1] = 7;
	((float *)j.kernels)[5] = INFINITY;
	check_case(&m, wconv_plan(&p, &j.q, &why) && !p, "an infinite sample");
	memset(j.kernels, 0, 36 * sizeof(float));
	check_case(&m, !wconv_plan(&p, &j.q, &why) && p, "kernels of 0: %s", why.text);
	wconv_free(p);
	j.q.normalise = true;
	check_case(&m, wconv_plan(&p, &j.q, &why) && !p, "normalising a sum of 0");
	j.q.normalise = false;
	j.q.cx = 3;
	check_case(&m, wconv_plan(&p, &j.q, &why) && !p, "a centre outside");
	j.q.cx = 1;
	j.q.output = WCONV_VALID;
	j.q.w = j.q.W = 2;
	check_case(&m, wconv_plan(&p, &j.q, &why) && !p, "no valid pixel");
	check_end(&m, "wconv: bad nodes, kernels, centres and sizes are refused");
	conv_drop(&j);
}

/* ThreadSanitizer takes memory of its own for each allocation: 522 MB here, where the program alone takes 32. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OWN_MEMORY 600000000
#endif
#endif
#ifndef OWN_MEMORY
#define OWN_MEMORY 0
#endif

/* A header may claim more pixels than arrive. With edges of all kinds, a plan for 4e8 pixels in a row takes 2 to 10 GB at once. */
static void
check_claims(void)
{
	struct check_many m = {0};
	struct check_rng rng = {13};
	struct conv_job j;

	conv_pose(&j, 10, 1, 3, 1, 2, 1);
	conv_fill(&j, &rng);
	j.q.w = j.q.W = 400000000;
	for (int edge = WCONV_ZERO; edge <= WCONV_RENORMALISE; edge++) {
		const size_t before = weir_peak_bytes();
		struct why why = {0};
		struct wconv_plan *p;
		j.q.edge = (enum wconv_edge)edge;
		check_case(&m, !wconv_plan(&p, &j.q, &why), "edge %d: %s", edge, why.text);
		wconv_free(p);
		check_case(&m, weir_peak_bytes() - before < OWN_MEMORY + 200000000,
			   "edge %d: %zu bytes", edge, weir_peak_bytes() - before);
	}
	check_end(&m, "wconv: a plan writes to no memory of pixels that have not arrived");
	conv_drop(&j);
}

void
check_wconv_more(void)
{
	check_threads();
	check_long_transforms();
	check_long_sums();
	check_filling();
	check_again();
	check_refusals();
	check_claims();
}
