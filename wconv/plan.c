#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "wconv/plan.h"

/* ---- transforms ---- */

/* Stores cos(a) and sin(a) as pair i of a table of floats or doubles. */
static void
put_turn(void *table, size_t sample, size_t i, double a)
{
	real_set(table, 2 * i, cos(a), sample == sizeof(float));
	real_set(table, 2 * i + 1, sin(a), sample == sizeof(float));
}

/*
 * Chooses the radices of the passes over n points. Odd radices come first: the last pass has no twiddles, and that saves
 * most with the largest radix. A remaining 2 and an 8 become 4 4.
 */
static int
factor(struct wconv_fft *f, size_t n)
{
	size_t twos = 0;

	f->n = n;
	for (size_t radix = 3; radix <= 5; radix += 2)
		for (; n % radix == 0; n /= radix)
			f->radix[f->passes++] = (unsigned char)radix;
	for (; n % 2 == 0; n /= 2)
		twos++;
	if (twos == 1)
		f->radix[f->passes++] = 2;
	const size_t in_fours = twos % 3 == 1 && twos >= 4 ? 4 : twos % 3 == 2 ? 2 : 0;
	for (size_t i = 0; i < in_fours; i += 2)
		f->radix[f->passes++] = 4;
	for (size_t i = in_fours; i + 3 <= twos; i += 3)
		f->radix[f->passes++] = 8;
	return n == 1 ? 0 : -EINVAL;
}

/* Makes the tables of a transform in a zeroed struct. n = 2^a 3^b 5^c. Returns 0 or -ENOMEM. */
static int
plan_fft(struct wconv_fft *f, size_t n, size_t sample)
{
	size_t len = n, at = 0;

	if (factor(f, n))
		return -EINVAL;
	f->twiddle = weir_alloc(2 * n + 2, sample); /* sum of len - len/radix over the passes < n */
	if (!f->twiddle)
		return -ENOMEM;
	for (size_t s = 0; s < f->passes; s++) {
		const size_t radix = f->radix[s], m = len / radix;
		for (size_t j = 0; j < m; j++)
			for (size_t q = 1; q < radix; q++)
				put_turn(f->twiddle, sample, at++,
					 -2 * M_PI * (double)(j * q) / (double)len);
		len = m;
	}
	f->ntwiddle = 2 * at;
	return 0;
}

/* Returns where coefficient k stands after decimation in frequency: its digits reversed. */
static size_t
find_place(const struct wconv_fft *f, size_t k)
{
	size_t place = 0, len = f->n;

	for (size_t s = 0; s < f->passes; s++) {
		len /= f->radix[s];
		place += k % f->radix[s] * len;
		k /= f->radix[s];
	}
	return place;
}

static int
plan_rfft(struct wconv_rfft *f, size_t n, size_t sample, size_t lanes)
{
	const size_t m = n / 2;

	f->n = n;
	f->blocks = m / lanes + 1;
	int e = plan_fft(&f->half, m, sample);
	f->place = weir_alloc(m, sizeof *f->place);
	f->turn = weir_alloc(2 * m + 2, sample);
	if (e || !f->place || !f->turn)
		return e ? e : -ENOMEM;
	for (size_t k = 0; k < m; k++)
		f->place[k] = find_place(&f->half, k);
	for (size_t k = 0; k <= m; k++)
		put_turn(f->turn, sample, k, 2 * M_PI * (double)k / (double)n);
	return 0;
}

/* ---- products ---- */

/*
 * Finds whether the kernel is the product of a column and a row, K(a,b) = row(a) column(b), as a Gaussian or a box is. Direct
 * sums then take kw + kh multiplications a pixel in place of kw kh.
 */

/* Column and row, of doubles that the plan's precision holds. */
struct factors {
	double *column, *row;
};

/* Returns sample (i,j) of the plan's only kernel, scaled, as windows see it. */
static double
sample(const struct wconv_plan *p, size_t j, size_t i)
{
	const struct wconv_problem *q = &p->q;
	const size_t r = q->correlate ? j : q->kh - 1 - j, c = q->correlate ? i : q->kw - 1 - i;

	return p->scale[0] * real_at(q->kernels, r * q->step_row + c, !q->in_double);
}

static double
narrow(const struct wconv_plan *p, double v)
{
	return p->q.in_double ? v : (double)(float)v;
}

/* Finds the largest sample in absolute value, and returns it. */
static double
find_peak(const struct wconv_plan *p, size_t *j0, size_t *i0)
{
	double most = 0;

	*j0 = *i0 = 0;
	for (size_t j = 0; j < p->q.kh; j++)
		for (size_t i = 0; i < p->q.kw; i++)
			if (fabs(sample(p, j, i)) > most) {
				most = fabs(sample(p, j, i));
				*j0 = j;
				*i0 = i;
			}
	return sample(p, *j0, *i0);
}

/* Returns a divisor of all samples of row j, by Euclid. It is exact, since fmod() is. */
static double
common_divisor(const struct wconv_plan *p, size_t j)
{
	double a = 0;

	for (size_t i = 0; i < p->q.kw; i++)
		for (double b = fabs(sample(p, j, i)); b > 0;) {
			const double rest = fmod(a, b);
			a = b;
			b = rest;
		}
	return a;
}

/*
 * Makes factors of the row and the column of the peak. The row has small integers if its samples are multiples of one number.
 * The sums of such kernels, of boxes and binomials, then stay exact where those of all samples are.
 */
static void
take_cross(const struct wconv_plan *p, size_t j0, size_t i0, struct factors *f)
{
	const double divisor = common_divisor(p, j0);

	for (size_t i = 0; i < p->q.kw; i++)
		f->row[i] = narrow(p, sample(p, j0, i) / divisor);
	for (size_t j = 0; j < p->q.kh; j++)
		f->column[j] = narrow(p, sample(p, j, i0) / f->row[i0]);
}

/* Makes to[0..n-1] the factor that gives the least squares with the other one, by[0..m-1]. */
static void
fit(const struct wconv_plan *p, bool column, double *to, size_t n, const double *by, size_t m)
{
	double norm = 0;

	for (size_t i = 0; i < m; i++)
		norm += by[i] * by[i];
	for (size_t k = 0; k < n; k++) {
		double v = 0;
		for (size_t i = 0; i < m; i++)
			v += by[i] * (column ? sample(p, k, i) : sample(p, i, k));
		to[k] = narrow(p, v / norm);
	}
}

/* Returns the sum of |K - row column|, or INFINITY as soon as it is more than `most`. */
static double
misfit(const struct wconv_plan *p, const struct factors *f, double most)
{
	double sum = 0;

	for (size_t j = 0; j < p->q.kh; j++) {
		for (size_t i = 0; i < p->q.kw; i++)
			sum += fabs(sample(p, j, i) - f->row[i] * f->column[j]);
		if (!(sum <= most))
			return INFINITY;
	}
	return sum;
}

/*
 * Finds factors that are the kernel, or as near to it as its samples' own rounding is. Then the sum of |K - row column| is at most
 * 1.2e-7 |sum K| in float, and results differ by that times max|I| at most. Gaussians had up to 5.1e-8, and 9.4e-8 where they had
 * been computed in float. In double, exp() of a sum of squares is off by more than the rounding: 4e-16.
 */
static bool
find_factors(const struct wconv_plan *p, struct factors *f)
{
	const double rounding = p->q.in_double ? 4 * DBL_EPSILON : (double)FLT_EPSILON;
	const double most = rounding * fabs(p->sum[0]);
	size_t j0, i0;
	const double peak = find_peak(p, &j0, &i0);

	if (peak == 0)
		return false;
	take_cross(p, j0, i0, f);
	if (misfit(p, f, 0) == 0)
		return true;
	/* the cross has the rounding of its own samples alone */
	for (size_t i = 0; i < p->q.kw; i++)
		f->row[i] = sample(p, j0, i) / peak;
	fit(p, true, f->column, p->q.kh, f->row, p->q.kw);
	if (misfit(p, f, 8 * most) > 8 * most)
		return false;
	fit(p, false, f->row, p->q.kw, f->column, p->q.kh);
	fit(p, true, f->column, p->q.kh, f->row, p->q.kw);
	return misfit(p, f, most) <= most;
}

/* Scales the row by a power of 2 to a sum of absolute values of 1 to 2: sums over columns cannot overflow before results do. */
static void
balance(const struct wconv_plan *p, struct factors *f)
{
	double sum = 0;
	int e;

	for (size_t i = 0; i < p->q.kw; i++)
		sum += fabs(f->row[i]);
	frexp(sum, &e);
	for (size_t i = 0; i < p->q.kw; i++)
		f->row[i] = ldexp(f->row[i], 1 - e);
	for (size_t j = 0; j < p->q.kh; j++)
		f->column[j] = ldexp(f->column[j], e - 1);
}

static int
store(struct wconv_plan *p, const struct factors *f)
{
	const size_t kh = p->q.kh, kw = p->q.kw;
	const bool single = !p->q.in_double;

	p->factors = weir_alloc(2 * (kh + kw), p->core->sample);
	if (!p->factors)
		return -ENOMEM;
	for (size_t j = 0; j < kh; j++) {
		real_set(p->factors, j, f->column[j], single);
		real_set(p->factors, kh + kw + j, f->column[kh - 1 - j], single);
	}
	for (size_t i = 0; i < kw; i++) {
		real_set(p->factors, kh + i, f->row[i], single);
		real_set(p->factors, kh + kw + kh + i, f->row[kw - 1 - i], single);
	}
	return 0;
}

/* Finds p->factors when there is one kernel and it is a product. Returns 0 or -ENOMEM. */
static int
find_product(struct wconv_plan *p)
{
	struct factors f = {0};
	int e = -ENOMEM;

	if (p->x.nfun != 1 || p->y.nfun != 1 || p->q.kw == 1 || p->q.kh == 1 || p->q.on_device)
		return 0;
	f.column = weir_alloc(p->q.kh, sizeof *f.column);
	f.row = weir_alloc(p->q.kw, sizeof *f.row);
	if (f.column && f.row)
		e = 0;
	if (!e && find_factors(p, &f)) {
		balance(p, &f);
		e = store(p, &f);
	}
	weir_free_all(f.column, f.row);
	return e;
}

/* ---- kernels ---- */

static size_t
kernel_offset(const struct wconv_problem *q, size_t k)
{
	return k % q->gx * q->step_x + k / q->gx * q->step_y;
}

/* Whether kernels k and l are the same, bit for bit. */
static bool
same_kernels(const struct wconv_problem *q, size_t k, size_t l)
{
	const size_t size = q->in_double ? sizeof(double) : sizeof(float);
	const char *a = (const char *)q->kernels + kernel_offset(q, k) * size;
	const char *b = (const char *)q->kernels + kernel_offset(q, l) * size;

	for (size_t j = 0; j < q->kh; j++)
		if (memcmp(a + j * q->step_row * size, b + j * q->step_row * size, q->kw * size))
			return false;
	return true;
}

static const double CANCELS = 1e6; /* weight / sum: six of seven digits are lost */

enum { PARTS = 16 }; /* partial sums, each of every 16th sample: the compiler vectorises them */

static inline void
add_sample(double v, double *sum, double *weight)
{
	*sum += v;
	*weight += fabs(v);
}

/* Adds the samples of a row, and their absolute values. */
WEIR_CLONES(add_floats,
	    (const float *restrict x, size_t n, double *restrict sum, double *restrict weight),
	    (x, n, sum, weight))
{
	size_t i = 0;

	for (; i + PARTS <= n; i += PARTS)
#pragma omp simd /* without it gcc vectorises half of the loop, and takes 2.4 times as long */
		for (size_t k = 0; k < PARTS; k++)
			add_sample((double)x[i + k], sum + k, weight + k);
	for (size_t k = 0; i + k < n; k++)
		add_sample((double)x[i + k], sum + k, weight + k);
}

static void
add_doubles(const double *x, size_t n, double *sum, double *weight)
{
	for (size_t i = 0; i < n; i++)
		add_sample(x[i], sum + i % PARTS, weight + i % PARTS);
}

/* Finds the sums of kernel k and of its absolute values, unscaled, and which neighbours have the same samples. */
static void
gather_stats(struct wconv_plan *p, size_t k)
{
	const struct wconv_problem *q = &p->q;
	const size_t size = q->in_double ? sizeof(double) : sizeof(float);
	const char *row = (const char *)q->kernels + kernel_offset(q, k) * size;
	double sum[PARTS] = {0}, weight[PARTS] = {0};

	for (size_t j = 0; j < q->kh; j++, row += q->step_row * size)
		if (q->in_double)
			add_doubles((const double *)row, q->kw, sum, weight);
		else
			add_floats((const float *)row, q->kw, sum, weight);
	p->sum[k] = p->weight[k] = 0;
	for (size_t i = 0; i < PARTS; i++) {
		p->sum[k] += sum[i];
		p->weight[k] += weight[i];
	}
	p->like_right[k] = k % q->gx + 1 < q->gx && same_kernels(q, k, k + 1);
	p->like_below[k] = k / q->gx + 1 < q->gy && same_kernels(q, k, k + q->gx);
}

/* Whether unknown pixels are filled in: each result is then divided by a sum over the known part of its kernel. */
static bool
fills_in(const struct wconv_problem *q)
{
	return q->nan == WCONV_NAN_INTERPOLATE || q->edge == WCONV_RENORMALISE;
}

/*
 * Whether a kernel of that sum and weight cannot fill in: the sum is a millionth of the weight or less, or has another sign than that
 * of the first kernel, so that it is 0 in between.
 */
static bool
cannot_fill(double sum, double weight, double first)
{
	return !(weight < CANCELS * fabs(sum)) || (sum > 0) != (first > 0);
}

static int
refuse_to_fill(const struct wconv_problem *q, ptrdiff_t i, ptrdiff_t j, double sum, struct why *why)
{
	return why_set(why,
		       "the kernel %s %td,%td has the sum %.3g; unknown pixels are filled in by "
		       "kernels whose sums are all above 0, or all below: take another %s",
		       q->degree < 0 ? "at node" : "of pixel", i, j, sum,
		       q->nan == WCONV_NAN_INTERPOLATE ? "--nan than interpolate"
						       : "--edge than renormalise");
}

/*
 * Fills in scale, sum, weight, like_right and like_below, and refuses kernels that are not finite or cannot be normalised. Returns 0,
 * or -1 with a sentence in why.
 */
static int
measure_kernels(struct wconv_plan *p, struct why *why)
{
	const struct wconv_problem *q = &p->q;
	const size_t n = q->gx * q->gy;

	p->scale = weir_alloc(n, sizeof *p->scale);
	p->sum = weir_alloc(n, sizeof *p->sum);
	p->weight = weir_alloc(n, sizeof *p->weight);
	p->like_right = weir_calloc(n, sizeof *p->like_right);
	p->like_below = weir_calloc(n, sizeof *p->like_below);
	if (!p->scale || !p->sum || !p->weight || !p->like_right || !p->like_below)
		return why_set(why, "no memory");
#pragma omp parallel for num_threads(q->threads)
	for (size_t k = 0; k < n; k++)
		gather_stats(p, k);
	for (size_t k = 0; k < n; k++) {
		const size_t i = k % q->gx, j = k / q->gx;
		const double weight = p->weight[k];
		if (!isfinite(weight))
			return why_set(why, "kernel %zu,%zu has a sample that is not finite", i, j);
		const bool scaled = q->normalise && q->degree < 0;
		p->scale[k] = scaled ? 1 / p->sum[k] : 1;
		p->weight[k] = weight * fabs(p->scale[k]);
		if (scaled && !(p->weight[k] < CANCELS))
			return why_set(why, "kernel %zu,%zu cannot be normalised: its sum is %g", i,
				       j, p->sum[k]);
		p->sum[k] *= p->scale[k];
		if (!p->plain && fills_in(q) && q->degree < 0 &&
		    cannot_fill(p->sum[k], p->weight[k], p->sum[0]))
			return refuse_to_fill(q, (ptrdiff_t)i, (ptrdiff_t)j, p->sum[k], why);
	}
	return 0;
}

/* Returns the largest |u| of all results, for the axis of x or of y. */
static double
farthest(const struct wconv_axis *a)
{
	return fmax(fabs((double)a->lo - a->zero), fabs((double)(a->hi - 1) - a->zero)) /
	       fabs(a->scale);
}

/* Whether bounds tell that no local kernel's sum vanishes: its constant term is larger than all the others can be. */
static bool
sums_are_safe(const struct wconv_plan *p)
{
	const double u = farthest(&p->x), v = farthest(&p->y);
	double least = 0, weight = 0;

	for (size_t fy = 0; fy < p->y.nfun; fy++)
		for (size_t fx = 0; fx + fy < p->x.nfun; fx++) {
			const size_t k = wconv_kernel(p, fx, fy);
			const double most = pow(u, (double)fx) * pow(v, (double)fy);
			least += fabs(p->sum[k]) * (fx + fy ? -most : 1);
			weight += p->weight[k] * most;
		}
	return weight < CANCELS * least;
}

/*
 * Refuses a normalised basis if the sum of a result's local kernel is a millionth of its weight or less, and one that fills in
 * as cannot_fill() says. Returns 0, or -1 with a sentence in why.
 */
static int
check_sums(const struct wconv_plan *p, struct why *why)
{
	enum { SOME = 1024 };
	double sum[SOME], weight[SOME], first;

	if (sums_are_safe(p))
		return 0;
	wconv_local_sums(p, p->sum, p->x.lo, p->y.lo, 1, &first);
	for (ptrdiff_t y = p->y.lo; y < p->y.hi; y++)
		for (ptrdiff_t x = p->x.lo; x < p->x.hi; x += SOME) {
			const size_t n = p->x.hi - x < SOME ? (size_t)(p->x.hi - x) : SOME;
			wconv_local_sums(p, p->sum, x, y, n, sum);
			wconv_local_sums(p, p->weight, x, y, n, weight);
			for (size_t i = 0; i < n; i++)
				if (fills_in(&p->q) && cannot_fill(sum[i], weight[i], first))
					return refuse_to_fill(&p->q, x + (ptrdiff_t)i, y, sum[i],
							      why);
				else if (!(weight[i] < CANCELS * fabs(sum[i])))
					return why_set(why,
						       "the kernel at %td,%td cannot be "
						       "normalised: its sum is %g",
						       x + (ptrdiff_t)i, y, sum[i]);
		}
	return 0;
}

/* Returns a bound of the weight of all local kernels, and of each plane of a basis. */
static double
largest_weight(const struct wconv_plan *p)
{
	const bool basis = p->q.degree >= 0;
	const double u = basis ? fmax(farthest(&p->x), 1) : 1,
		     v = basis ? fmax(farthest(&p->y), 1) : 1;
	double most = 0, sum = 0;

	for (size_t fy = 0; fy < p->y.nfun; fy++)
		for (size_t fx = 0; fx < p->x.nfun; fx++) {
			const size_t k = wconv_kernel(p, fx, fy);
			const double weight = k == SIZE_MAX ? 0 : p->weight[k];
			most = fmax(most, weight);
			sum += weight * pow(u, (double)fx) * pow(v, (double)fy);
		}
	return basis ? sum : most;
}

/* Returns what p->growth is; method, lengths of transforms and kernels' weights must be known. */
static double
find_growth(const struct wconv_plan *p)
{
	/* Before they are scaled, results of transforms are 4 Px Py times too large; sums within them, up to 4 times that. */
	return p->direct
		   ? 1
		   : 16 * (double)p->rows.n * (double)p->columns.n * fmax(largest_weight(p), 1);
}

/* ---- plan ---- */

extern const struct wconv_core wconv_f32_generic, wconv_f32_avx2, wconv_f32_avx512;
extern const struct wconv_core wconv_f64_generic, wconv_f64_avx2, wconv_f64_avx512;

/* [level][in double] */
static const struct wconv_core *const cores[3][2] = {
    [CPU_GENERIC] = {&wconv_f32_generic, &wconv_f64_generic},
    [CPU_AVX2] = {&wconv_f32_avx2, &wconv_f64_avx2},
    [CPU_AVX512] = {&wconv_f32_avx512, &wconv_f64_avx512}};

/* Fills in alike[i]: the kernels of grid column i (row, if y) have the same samples as those of the next one. */
static void
compare_lines(const struct wconv_plan *p, bool y, bool *alike)
{
	const size_t n = y ? p->q.gy : p->q.gx, m = y ? p->q.gx : p->q.gy;

	for (size_t i = 0; i < n; i++) {
		alike[i] = true;
		for (size_t j = 0; j < m; j++)
			alike[i] &=
			    y ? p->like_below[i * p->q.gx + j] : p->like_right[j * p->q.gx + i];
	}
}

static int
check_nodes(const double *node, size_t n, const char *what, struct why *why)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(node[i]) || (i > 0 && !(node[i] > node[i - 1])))
			return why_set(why,
				       "the %s of the grid are not increasing: %g at number %zu",
				       what, node[i], i);
	return 0;
}

static int
check_problem(const struct wconv_problem *q, struct why *why)
{
	if (!q->w || !q->h || !q->planes || !q->kw || !q->kh || !q->gx || !q->gy)
		return why_set(why, "an empty image or kernel");
	if (q->cx >= q->kw || q->cy >= q->kh)
		return why_set(why, "the centre %zu,%zu is outside the kernel of %zux%zu", q->cx,
			       q->cy, q->kw, q->kh);
	if (q->x0 > q->W || q->w > q->W - q->x0 || q->y0 > q->H || q->h > q->H - q->y0)
		return why_set(why, "the tile %zux%zu at %zu,%zu is outside the image of %zux%zu",
			       q->w, q->h, q->x0, q->y0, q->W, q->H);
	if (q->degree > WCONV_DEGREE)
		return why_set(why, "a polynomial's degree is at most %d, not %d", WCONV_DEGREE,
			       q->degree);
	if (q->degree >= 0)
		return q->gx * q->gy == (size_t)(q->degree + 1) * (size_t)(q->degree + 2) / 2
			   ? 0
			   : why_set(why, "a polynomial of degree %d has %d kernels, not %zu",
				     q->degree, (q->degree + 1) * (q->degree + 2) / 2,
				     q->gx * q->gy);
	if (check_nodes(q->node_x, q->gx, "columns", why))
		return -1;
	return check_nodes(q->node_y, q->gy, "rows", why);
}

static int
make_axes(struct wconv_plan *p, struct why *why)
{
	bool *alike = weir_alloc(p->q.gx > p->q.gy ? p->q.gx : p->q.gy, sizeof *alike);
	int e = -ENOMEM;

	if (alike) {
		compare_lines(p, false, alike);
		e = wconv_axis(&p->x, &p->q, false, alike);
		compare_lines(p, true, alike);
		e = e ? e : wconv_axis(&p->y, &p->q, true, alike);
	}
	weir_free(alike);
	if (e == -EDOM)
		return why_set(
		    why, "no pixel's window lies inside %zux%zu pixels: the kernel is %zux%zu",
		    p->q.w, p->q.h, p->q.kw, p->q.kh);
	if (e == -ERANGE)
		return why_set(why, "a tile of %zux%zu is smaller than the kernel of %zux%zu",
			       p->q.w, p->q.h, p->q.kw, p->q.kh);
	if (e == -EINVAL)
		return why_set(why, "a tile cannot wrap: that needs all of %zux%zu pixels", p->q.W,
			       p->q.H);
	return e ? why_set(why, "no memory") : 0;
}

/* Finds the rows of the item that the windows of tiles t0..t1-1 reach: *low to *high - 1. */
static void
reach(const struct wconv_plan *p, size_t t0, size_t t1, size_t *low, size_t *high)
{
	const struct wconv_axis *y = &p->y;
	const ptrdiff_t lanes = (ptrdiff_t)p->core->lanes, origin = y->lo - y->before;
	ptrdiff_t end = y->tile[t1 - 1].b + y->after;

	if (!p->direct) /* rows are transformed by the LANES */
		end = origin + (end - origin + lanes - 1) / lanes * lanes;
	if (end > y->hi + y->after)
		end = y->hi + y->after;
	*low = SIZE_MAX;
	*high = 0;
	for (ptrdiff_t r = y->tile[t0].a - y->before; r < end; r++) {
		const ptrdiff_t from = wconv_edge(y->edge, r, y->n) - y->have0;
		if (wconv_edge(y->edge, r, y->n) < 0)
			continue;
		*low = (size_t)from < *low ? (size_t)from : *low;
		*high = (size_t)from + 1 > *high ? (size_t)from + 1 : *high;
	}
}

struct wconv_rows
wconv_need(const struct wconv_plan *p, size_t t0, size_t t1)
{
	size_t low, high;

	reach(p, t0, t1, &low, &high);
	/* A part has at least as many rows as the kernel. */
	if (high - low < p->q.kh)
		high = low + p->q.kh < p->q.h ? low + p->q.kh : p->q.h;
	if (high - low < p->q.kh)
		low = high > p->q.kh ? high - p->q.kh : 0;
	return (struct wconv_rows){p->y.tile[t0].a, p->y.tile[t1 - 1].b, low, high - low};
}

/* Finds the functions of y that the tiles of the band need. */
static void
span_functions(const struct wconv_plan *p, struct wconv_band *b)
{
	b->fun0 = SIZE_MAX;
	b->fun1 = 0;
	for (size_t t = b->tile0; t < b->tile1; t++) {
		const struct wconv_tile *tile = &p->y.tile[t];
		b->fun0 = tile->f0 < b->fun0 ? tile->f0 : b->fun0;
		b->fun1 = tile->f0 + tile->nf > b->fun1 ? tile->f0 + tile->nf : b->fun1;
	}
}

/*
 * Returns the tile rows of a band: the fewest that the threads can share evenly. The spectra of a whole band are held at
 * once, and fresh memory costs time: at M = 1024 on two threads, 2 rows take 6 to 10 % less time than 4. Direct sums hold none:
 * with bands twice as high, two threads took 2 to 6 % less time for kernels of 3x3 to 7x7.
 */
static size_t
band_height(const struct wconv_plan *p)
{
	const size_t across = p->x.ntile * p->q.planes, threads = (size_t)p->q.threads;
	size_t m = (6 * threads + across - 1) / across;

	while (m * across < 12 * threads && m * across % threads)
		m++;
	return p->direct && threads > 1 ? 2 * m : m;
}

/* Makes the bands of tile rows, and finds what each reads and transforms. */
static int
make_bands(struct wconv_plan *p)
{
	const struct wconv_axis *y = &p->y;
	const size_t lanes = p->core->lanes, m = band_height(p);
	size_t low, high, row = 0, fed = 0;

	p->band = weir_calloc(y->ntile, sizeof *p->band);
	if (!p->band)
		return -ENOMEM;
	for (size_t t = 0; t < y->ntile; t += m) {
		struct wconv_band *b = &p->band[p->bands++];
		const size_t t1 = t + m < y->ntile ? t + m : y->ntile;
		const size_t end = (size_t)(y->tile[t1 - 1].b - y->lo + y->before + y->after);
		*b = (struct wconv_band){.tile0 = t, .tile1 = t1, .row0 = row, .fed0 = fed};
		reach(p, t, t1, &low, &high);
		b->row1 = row = round_up(end, lanes);
		b->fed1 = fed = t1 == y->ntile ? p->q.h : high > fed ? high : fed;
		span_functions(p, b);
	}
	return 0;
}

static void
raise_to(size_t *most, size_t n)
{
	*most = n > *most ? n : *most;
}

/* Finds how much the rings must hold: the most for any band of what it needs, and of rows that later bands will need. */
static void
measure_rings(struct wconv_plan *p)
{
	const struct wconv_axis *y = &p->y;
	size_t low = SIZE_MAX;

	for (size_t i = p->bands; i-- > 0;) {
		struct wconv_band *b = &p->band[i];
		const ptrdiff_t first = y->tile[b->tile0].a;
		const size_t start = (size_t)(first - y->lo) / p->core->lanes * p->core->lanes;
		size_t from, to;
		reach(p, b->tile0, b->tile1, &from, &to);
		b->keep = low < b->fed1 ? low : b->fed1 - 1;
		low = from < low ? from : low;
		raise_to(&p->depth, b->fed1 - b->fed0); /* rows that are fed at once */
		if (low < b->fed1)
			raise_to(&p->depth, b->fed1 - low);
		raise_to(&p->spectra_depth, b->row1 - start);
		raise_to(&p->slots, b->fun1 - b->fun0);
	}
}

/*
 * Allocates a * b * c samples, uninitialised, on large pages, which takes 3 to 5 % less time at M = 4096.
 * Returns NULL if the product overflows.
 */
static void *
allocate(size_t a, size_t b, size_t c, size_t size)
{
	size_t n;

	if (!weir_mul(a, b, &n) || !weir_mul(n, c, &n))
		return NULL;
	return weir_alloc_large(n, size);
}

/* Whether the transforms of all kernels, or their samples, take less than WCONV_KEEP bytes. */
static bool
keeps(const struct wconv_plan *p)
{
	const size_t lanes = p->core->lanes;
	const double one = p->direct
			       ? (double)(p->q.kw * p->q.kh)
			       : (double)((p->rows.n / 2 / lanes + 1) * p->columns.n * 2 * lanes);

	return one * (double)(p->x.nfun * p->y.nfun * p->core->sample) < (double)WCONV_KEEP;
}

static int
make_rings(struct wconv_plan *p)
{
	const struct wconv_problem *q = &p->q;
	const size_t span = (size_t)(p->x.hi - p->x.lo + p->x.before + p->x.after),
		     size = p->core->sample;

	measure_rings(p);
	if (q->repeat && keeps(p))
		p->slots = p->y.nfun;
	p->pitch = round_up(span + 5 * p->core->lanes,
			    p->core->lanes); /* vectors read beyond a row's end */
	p->row = allocate(p->depth, q->planes, p->pitch, size);
	p->mask =
	    weir_alloc(p->depth, q->planes * p->pitch); /* touched only where pixels are masked */
	p->flags = weir_calloc(p->depth, q->planes);
	p->doubt = weir_calloc(p->depth * q->planes + 1, sizeof *p->doubt);
	p->outside = weir_map(p->pitch, size);
	p->outside_mask = weir_map(p->pitch, 1);
	p->slot_holds = weir_calloc(p->slots, sizeof *p->slot_holds);
	p->claimed = weir_calloc(p->slots, sizeof *p->claimed);
	if (!p->row || !p->mask || !p->flags || !p->doubt || !p->outside || !p->outside_mask ||
	    !p->slot_holds || !p->claimed)
		return -ENOMEM;
	p->odd = p->doubt + p->depth * q->planes;
	for (size_t r = 0; p->direct && r < p->depth * q->planes; r++) /* vectors read there */
		memset((char *)p->row + (r * p->pitch + span) * size, 0, (p->pitch - span) * size);
	return 0;
}

static int
make_transforms(struct wconv_plan *p)
{
	const size_t size = p->core->sample, lanes = p->core->lanes;
	int e;

	if (p->direct)
		p->kernel_samples = p->q.kw * p->q.kh;
	else if ((e = plan_rfft(&p->rows, p->rows.n, size, lanes)) ||
		 (e = plan_fft(&p->columns, p->columns.n, size)))
		return e;
	else
		p->kernel_samples = p->rows.blocks * p->columns.n * 2 * lanes;
	p->kernel = allocate(p->slots, p->x.nfun, p->kernel_samples, size);
	if (p->direct)
		return p->kernel ? 0 : -ENOMEM;
	p->spectra =
	    allocate(p->q.planes * p->x.ntile, p->rows.blocks * 2 * lanes, p->spectra_depth, size);
	p->mean = allocate(p->q.planes, p->x.ntile, p->spectra_depth, size);
	p->row_sums = allocate(p->slots, p->x.nfun, p->q.kh, sizeof *p->row_sums);
	return p->kernel && p->spectra && p->mean && p->row_sums ? 0 : -ENOMEM;
}

static int
make_scratch(struct wconv_plan *p)
{
	const enum img_type own = p->q.in_double ? IMG_F64 : IMG_F32;

	p->result_pitch = (size_t)(p->x.hi - p->x.lo);
	p->converts = p->q.planes > 1 || p->q.out != own;
	/* vectors read beyond the windows of a row, but not beyond the next row */
	p->in_place = p->direct && !p->converts && !p->plain && p->q.in == own &&
		      p->x.nfun * p->y.nfun == 1 && p->q.degree < 0 &&
		      p->q.edge != WCONV_RENORMALISE && p->q.w >= 512 + 2 * p->q.kw;
	p->scratch_bytes = p->core->scratch(p, NULL);
	if (p->plain && p->plain->scratch_bytes > p->scratch_bytes)
		p->scratch_bytes = p->plain->scratch_bytes;
	p->scratch = weir_calloc((size_t)p->q.threads, p->scratch_bytes);
	return p->scratch ? 0 : -ENOMEM;
}

int
wconv_plan(struct wconv_plan **to, const struct wconv_problem *q, struct why *why)
{
	struct wconv_problem plain = *q;
	struct wconv_plan *p;
	int e = 0;

	*to = NULL;
	if (check_problem(q, why))
		return -1;
	p = weir_calloc(1, sizeof *p);
	if (!p)
		return why_set(why, "no memory");
	p->q = *q;
	p->level = weir_cpu;
	while (q->registers && 16 << p->level > q->registers)
		p->level--;
	p->core = cores[p->level][q->in_double];
	plain.variance = false;
	if ((q->variance && wconv_plan(&p->plain, &plain, why)) ||
	    (q->variance && wconv_square(p) && why_set(why, "no memory")) ||
	    measure_kernels(p, why) || (!p->plain && make_axes(p, why)) ||
	    (!p->plain && q->degree >= 0 && (wconv_divides(q) || fills_in(q)) &&
	     check_sums(p, why))) {
		wconv_free(p);
		return -1;
	}
	e = find_product(p);
	if (p->plain)
		p->product = p->factors && p->plain->product;
	else
		e = e ? e : wconv_choose(p);
	p->growth = find_growth(p);
	if (!e && (p->direct ? p->cost_direct : p->cost_fft) < 3e-4)
		p->q.threads = 1; /* small work */
	e = e ? e : make_bands(p);
	e = e ? e : make_rings(p);
	e = e ? e : make_transforms(p);
	e = e ? e : make_scratch(p);
	if (e) {
		wconv_free(p);
		return why_set(why, "no memory");
	}
	*to = p;
	return 0;
}

void
wconv_free(struct wconv_plan *p)
{
	if (!p)
		return;
	wconv_free(p->plain);
	weir_free_all(p->factors, p->scale, p->sum, p->weight, p->like_right, p->like_below, p->row,
		      p->mask, p->flags, p->doubt, p->spectra, p->mean, p->row_sums, p->kernel,
		      p->slot_holds, p->claimed, p->band, p->scratch, p->squares, p->x.left,
		      p->x.right, p->x.node, p->x.tile, p->y.left, p->y.right, p->y.node, p->y.tile,
		      p->rows.half.twiddle, p->rows.place, p->rows.turn, p->columns.twiddle);
	weir_unmap(p->outside, p->pitch, p->core ? p->core->sample : 1);
	weir_unmap(p->outside_mask, p->pitch, 1);
	weir_free(p);
}
