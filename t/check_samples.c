/* What is done to samples on the way to a picture, against the obvious: conversions, ranks, levels, slices, numbers. */
#include "common/base/opt.h"
#include "common/base/sample.h"
#include "common/picture/tone.h"
#include "common/stream/axes.h"
#include "t/check.h"

enum { TYPES = IMG_F64 - IMG_I8 + 1 };

/* One sample, the slow way. */
static double
sample(const struct img *x, size_t i)
{
#define SAMPLE(NAME, TYPE)   \
	if (x->type == NAME) \
	return (double)((TYPE *)x->data)[i]
	SAMPLE(IMG_I8, int8_t);
	SAMPLE(IMG_U8, uint8_t);
	SAMPLE(IMG_I16, int16_t);
	SAMPLE(IMG_U16, uint16_t);
	SAMPLE(IMG_I32, int32_t);
	SAMPLE(IMG_U32, uint32_t);
	SAMPLE(IMG_I64, int64_t);
	SAMPLE(IMG_U64, uint64_t);
	SAMPLE(IMG_F32, float);
	SAMPLE(IMG_F64, double);
#undef SAMPLE
	return NAN;
}

/* Random bits: in floats, numbers of all magnitudes, NaN and infinities. */
static void
random_samples(struct check_rng *r, enum img_type type, int dim, const size_t *sizes, struct img *x)
{
	size_t bytes;

	img_init(x, type, dim, sizes);
	img_bytes(x, &bytes);
	if (img_alloc(x))
		abort();
	for (size_t i = 0; i < bytes; i++)
		((unsigned char *)x->data)[i] = (unsigned char)rng_u64(r);
	if (type == IMG_F32 && bytes >= 8)
		((float *)x->data)[1] = NAN;
	if (type == IMG_F64 && bytes >= 16)
		((double *)x->data)[1] = INFINITY;
}

static void
samples_become_doubles(struct check_many *many, struct check_rng *r, size_t set)
{
	double v[101];
	const enum img_type type = (enum img_type)(IMG_I8 + set);
	struct img x;

	random_samples(r, type, 1, (size_t[]){101}, &x);
	check_poison(v, sizeof v);
	sample_load(v, x.data, type, 101);
	for (size_t i = 0; i < 101; i++)
		check_case(many, v[i] == sample(&x, i) || (isnan(v[i]) && isnan(sample(&x, i))),
			   "%s: %g", img_type_name(type), v[i]);
	img_free(&x);
}

static void
samples_are_counted(void)
{
	const double v[] = {1, NAN, -3, INFINITY, 4, -INFINITY, 0, 5, 6, 7, 8};
	struct sample_stats s;

	sample_stats_start(&s);
	sample_stats_add(&s, v, 11);
	sample_stats_add(&s, v + 4, 1);
	check(s.lo == -3 && s.hi == 8 && s.sum == 32 && s.finite == 9 && s.nan == 1 && s.inf == 2,
	      "samples: the finite ones are measured, the others counted",
	      "%g..%g sum %g, %ju %ju %ju", s.lo, s.hi, s.sum, (uintmax_t)s.finite,
	      (uintmax_t)s.nan, (uintmax_t)s.inf);
}

/* Samples as they are stored give what the same samples give as doubles. */
static void
samples_are_measured(struct check_many *many, struct check_rng *r, size_t set)
{
	const enum img_type type = (enum img_type)(IMG_I8 + set);
	const size_t n = 1 + rng_below(r, 9000);
	double lo = INFINITY, hi = -INFINITY, sum = 0;
	struct sample_stats s;
	struct img x;

	random_samples(r, type, 1, &n, &x);
	for (size_t i = 0; img_is_float(type) && i < n; i++)
		if (type == IMG_F32)
			((float *)x.data)[i] = (float)rng_below(r, 1000);
		else
			((double *)x.data)[i] = (double)rng_below(r, 1000);
	for (size_t i = 0; i < n; i++) {
		lo = fmin(lo, sample(&x, i));
		hi = fmax(hi, sample(&x, i));
		sum += sample(&x, i);
	}
	sample_stats_start(&s);
	sample_measure(&s, x.data, type, n / 3);
	sample_measure(&s, (char *)x.data + n / 3 * img_type_size(type), type, n - n / 3);
	check_case(many,
		   s.lo == lo && s.hi == hi && s.finite == n &&
		       fabs(s.sum - sum) <= 1e-9 * fmax(fabs(lo), fabs(hi)) * (double)n,
		   "%s: %g..%g, %g, want %g..%g, %g", img_type_name(type), s.lo, s.hi, s.sum, lo,
		   hi, sum);
	img_free(&x);
}

/* The sample of that percentile by sorting; 0 when none is finite. */
static double
percentile(const struct img *x, double percent)
{
	size_t all, n = 0;

	img_count(x, &all);
	double *v = check_alloc(all, sizeof *v);
	for (size_t i = 0; i < all; i++)
		if (isfinite(sample(x, i)))
			v[n++] = sample(x, i);
	qsort(v, n, sizeof *v, check_ascending);
	return n ? v[(size_t)(percent / 100 * (double)(n - 1) + .5)] : 0;
}

static void
percentiles_are_samples(struct check_many *many, struct check_rng *r, size_t set)
{
	static const size_t lengths[] = {1, 2, 3, 10, 1000, 5001};
	static const double percents[] = {0, .1, 1, 50, 75, 99.9, 100};
	const enum img_type type = (enum img_type)(IMG_I8 + set / 42);
	const size_t l = set / 7 % 6, p = set % 7;
	const struct tone_end end[2] = {{true, percents[p]}, {true, percents[6 - p]}};
	struct tone t = {.threads = 3};
	struct img x;

	random_samples(r, type, 1, &lengths[l], &x);
	tone_find_range(&t, end, &x);
	check_case(many,
		   t.lo == percentile(&x, percents[p]) && t.hi == percentile(&x, percents[6 - p]),
		   "%s, %zu samples, p%g: %g", img_type_name(type), lengths[l], percents[p], t.lo);
	img_free(&x);
}

/* The formula of tone.h for one sample. */
static unsigned
level(const struct tone *t, double v)
{
	const double x = t->log ? log10(v) : v, lo = t->log ? log10(t->lo) : t->lo,
		     hi = t->log ? log10(t->hi) : t->hi, u = (x - lo) / (hi - lo);

	if (!(u > 0))
		return 0;
	return (unsigned)floor(t->maxval * pow(u < 1 ? u : 1, 1 / t->gamma) + .5);
}

static void
levels_follow_the_formula(struct check_many *many, struct check_rng *r, size_t k)
{
	const size_t n = 5000;
	uint16_t *wide = check_alloc(n, sizeof *wide);
	uint8_t *narrow = check_alloc(n, sizeof *narrow);
	struct tone t = {.log = k % 3 == 0, .gamma = k % 2 ? 1 : 2.2, .threads = 1 + (int)(k % 4)};
	struct img x;

	t.maxval = 1 + (unsigned)rng_below(r, k % 5 ? 255 : 65535);
	t.lo = .1 + rng_unit(r);
	t.hi = .1 + rng_unit(r);
	img_init(&x, IMG_F64, 1, &n);
	if (img_alloc(&x))
		abort();
	for (size_t i = 0; i < n; i++)
		((double *)x.data)[i] = i % 50 ? 2 * rng_unit(r) - .2 : NAN;
	tone_levels(&t, &x, 0, n, t.maxval < 256 ? (void *)narrow : wide);
	for (size_t i = 0; i < n; i++)
		check_case(many, level(&t, sample(&x, i)) == (t.maxval < 256 ? narrow[i] : wide[i]),
			   "%.17g of %g..%g under %u", sample(&x, i), t.lo, t.hi, t.maxval);
	img_free(&x);
}

/* Where the sample at index[] of an item of those sizes lies. */
static size_t
place(const size_t *sizes, const size_t *index, size_t dim)
{
	size_t at = 0;

	for (size_t i = dim; i-- > 0;)
		at = at * sizes[i] + index[i];
	return at;
}

static void
slices_are_where_they_should_be(struct check_many *many, struct check_rng *r, size_t set)
{
	static const size_t sizes[4] = {3, 4, 2, 5};
	struct why why;
	const size_t a = set / 4, b = set % 4;
	struct slice cut[2] = {{a, sizes[a] - 1}, {b, 1}};
	size_t left[4], dim = 0, i[4];
	struct img x, y;

	if (a == b)
		return;
	random_samples(r, IMG_U16, 4, sizes, &x);
	img_copy_head(&y, &x);
	if (img_alloc(&y))
		abort();
	memcpy(y.data, x.data, 240);
	check_case(many, !slice_apply(&y, cut, 2, &why) && y.dim == 2, "refused");
	for (size_t k = 0; k < 4; k++)
		if (k != a && k != b)
			left[dim++] = k;
	i[a] = cut[0].index;
	i[b] = cut[1].index;
	for (i[left[1]] = 0; i[left[1]] < sizes[left[1]]; i[left[1]]++)
		for (i[left[0]] = 0; i[left[0]] < sizes[left[0]]; i[left[0]]++)
			check_case(many,
				   sample(&y, i[left[1]] * sizes[left[0]] + i[left[0]]) ==
				       sample(&x, place(sizes, i, 4)),
				   "axes %zu and %zu", a, b);
	img_free(&x);
	img_free(&y);
}

static void
numbers_are_read_whole(void)
{
	static const struct {
		const char *text;
		bool is_number, is_size;
		double number;
		size_t size;
	} cases[] = {
	    {"12", true, true, 12, 12},	       {"-1.5e3", true, false, -1500, 0},
	    {"12x", false, false, 0, 0},       {"", false, false, 0, 0},
	    {" 1", false, false, 0, 0},	       {"1 ", false, false, 0, 0},
	    {"3k", false, true, 0, 3072},      {"2G", false, true, 0, (size_t)2 << 30},
	    {"99999999T", false, false, 0, 0}, {"1kk", false, false, 0, 0},
	    {"-1", true, false, -1, 0},	       {"18446744073709551616", true, false, 0x1p64, 0}};
	struct check_many many = {0};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double v = 0;
		size_t n = 0;
		check_case(&many,
			   opt_number(cases[i].text, &v) == cases[i].is_number &&
			       (!cases[i].is_number || v == cases[i].number),
			   "'%s' as a number: %g", cases[i].text, v);
		check_case(&many,
			   opt_size(cases[i].text, &n) == cases[i].is_size &&
			       (!cases[i].is_size || n == cases[i].size),
			   "'%s' as a size: %zu", cases[i].text, n);
	}
	check_end(&many, "samples: numbers and sizes in arguments are read whole");
}

void
check_samples(void)
{
	check_each("samples: every type becomes doubles", TYPES, 3, samples_become_doubles);
	samples_are_counted();
	check_each("samples: every type is measured as it is stored", TYPES, 9,
		   samples_are_measured);
	check_each("samples: percentiles are what sorting gives, for every type", TYPES * 6 * 7, 4,
		   percentiles_are_samples);
	check_each("samples: levels follow the formula, logarithm and gamma too", 60, 5,
		   levels_follow_the_formula);
	check_each("samples: a slice holds what was at its place", 4 * 4, 6,
		   slices_are_where_they_should_be);
	numbers_are_read_whole();
}
