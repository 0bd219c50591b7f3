#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/fft.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "radon/core.h"

/* ---- FFTs ---- */

/* Four complex numbers at any address. */
typedef float four __attribute__((vector_size(32), aligned(4), may_alias));

#define SHUFFLE(a, ...) __builtin_shufflevector(a, a, __VA_ARGS__)

/* Elements k and h - k of half a spectrum, a and b, are mixed: E = a + conj b and T = turn (a - conj b). */
CPU_INLINE void
mix_pair(float *a, float *b, const float *turn, float scale, float sign)
{
	const float er = a[0] + b[0], ei = a[1] - b[1], dr = a[0] - b[0], di = a[1] + b[1];
	const float tr = turn[0] * dr - sign * turn[1] * di,
		    ti = turn[0] * di + sign * turn[1] * dr;

	a[0] = scale * (er + tr);
	a[1] = scale * (ei + ti);
	b[0] = scale * (er - tr);
	b[1] = scale * (ti - ei);
}

/* mix_pair() for elements k .. k + 3, at a, and h - k - 3 .. h - k, at b. */
CPU_INLINE void
mix_four(float *a, float *b, const float *turn, float scale, float sign)
{
	const four conj = {1, -1, 1, -1, 1, -1, 1, -1}, t = *(const four *)turn;
	const four x = *(four *)a, y = SHUFFLE(*(four *)b, 6, 7, 4, 5, 2, 3, 0, 1) * conj;
	const four d = x - y, e = x + y, swapped = SHUFFLE(d, 1, 0, 3, 2, 5, 4, 7, 6) * conj;
	const four p = SHUFFLE(t, 0, 0, 2, 2, 4, 4, 6, 6) * d -
		       SHUFFLE(t, 1, 1, 3, 3, 5, 5, 7, 7) * sign * swapped;

	*(four *)a = scale * (e + p);
	*(four *)b = SHUFFLE(scale * (e - p) * conj, 6, 7, 4, 5, 2, 3, 0, 1);
}

/*
 * Turns the spectrum of z, s[0] .. s[h-1], into that of x, s[0] .. s[h], with scale 1/2 and sign 1; and back into twice that
 * of z with scale 1 and sign -1, which conjugates the factors.
 */
WEIR_CLONES(mix, (float *s, const float *turn, size_t h, float scale, float sign),
	    (s, turn, h, scale, sign))
{
	size_t k = 1;

	for (; 2 * k + 6 < h; k += 4)
		mix_four(s + 2 * k, s + 2 * (h - k - 3), turn + 2 * k, scale, sign);
	for (; 2 * k < h; k++)
		mix_pair(s + 2 * k, s + 2 * (h - k), turn + 2 * k, scale, sign);
	if (2 * k == h) {
		s[2 * k] *= 2 * scale;
		s[2 * k + 1] *= -2 * scale;
	}
}

void
radon_fft_forward(const struct radon_fft *p, float *row, float *spectrum)
{
	const size_t h = p->n / 2;

	fftwf_execute_dft(p->forward, (fftwf_complex *)row, (fftwf_complex *)spectrum);
	float re = spectrum[0];
	float im = spectrum[1];
	mix(spectrum, p->turn, h, .5f, 1);
	spectrum[0] = re + im;
	spectrum[2 * h] = re - im;
	spectrum[1] = spectrum[2 * h + 1] = 0;
}

void
radon_fft_backward(const struct radon_fft *p, float *spectrum, float *row)
{
	const size_t h = p->n / 2;
	const float first = spectrum[0], last = spectrum[2 * h];

	mix(spectrum, p->turn, h, 1, -1);
	spectrum[0] = first + last;
	spectrum[1] = first - last;
	fftwf_execute_dft(p->backward, (fftwf_complex *)spectrum, (fftwf_complex *)row);
}

int
radon_fft_plan(struct radon_fft *p, size_t n)
{
	const int h = (int)(n / 2);
	fftwf_complex *row = weir_alloc(n / 2, sizeof *row), *s = weir_alloc(n / 2, sizeof *s);

	p->n = n;
	p->turn = weir_alloc(n / 4 + 1, 2 * sizeof *p->turn);
	if (row && s && p->turn) {
		p->forward = fftwf_plan_dft_1d(h, row, s, FFTW_FORWARD, FFTW_ESTIMATE);
		p->backward = fftwf_plan_dft_1d(h, s, row, FFTW_BACKWARD, FFTW_ESTIMATE);
	}
	weir_free_all(row, s);
	if (!p->forward || !p->backward)
		return -ENOMEM;
	for (size_t k = 0; k <= n / 4; k++) {
		p->turn[2 * k] = (float)-sin(2 * M_PI * (double)k / (double)n);
		p->turn[2 * k + 1] = (float)-cos(2 * M_PI * (double)k / (double)n);
	}
	return 0;
}

void
radon_fft_free(struct radon_fft *p)
{
	weir_free(p->turn);
	if (p->forward)
		fftwf_destroy_plan(p->forward);
	if (p->backward)
		fftwf_destroy_plan(p->backward);
	*p = (struct radon_fft){0};
}

/* ---- guards ---- */

enum { CHAINS = 8 }; /* independent sums, so that no addition waits for another */

/* sum[0] += m d, sum[1] += m m, with m = d - left. */
WEIR_CLONES(correlate,
	    (const float *restrict d, const float *restrict left, size_t n, double sum[2]),
	    (d, left, n, sum))
{
	double md[CHAINS] = {0}, mm[CHAINS] = {0};

	for (size_t i = 0; i + CHAINS <= n; i += CHAINS)
		for (size_t c = 0; c < CHAINS; c++) {
			const double x = (double)d[i + c], m = x - (double)left[i + c];
			md[c] += m * x;
			mm[c] += m * m;
		}
	for (size_t i = n / CHAINS * CHAINS; i < n; i++) {
		const double x = (double)d[i], m = x - (double)left[i];
		md[0] += m * x;
		mm[0] += m * m;
	}
	for (size_t c = 0; c < CHAINS; c++) {
		sum[0] += md[c];
		sum[1] += mm[c];
	}
}

WEIR_CLONES_OF(double, energy_of_row, (const float *v, size_t n), (v, n))
{
	double sum[16] = {0}, all = 0;

	for (size_t i = 0; i + 16 <= n; i += 16)
		for (size_t c = 0; c < 16; c++)
			sum[c] += (double)v[i + c] * (double)v[i + c];
	for (size_t i = n / 16 * 16; i < n; i++)
		sum[0] += (double)v[i] * (double)v[i];
	for (size_t c = 0; c < 16; c++)
		all += sum[c];
	return all;
}

double
radon_energy(const float *v, size_t n)
{
	return energy_of_row(v, n);
}

/* Their bits order magnitudes, NaN above infinity. */
WEIR_CLONES_OF(float, peak_of_row, (const float *x, size_t n), (x, n))
{
	uint32_t most = 0;
	float peak;

	for (size_t i = 0; i < n; i++) {
		uint32_t v;
		memcpy(&v, &x[i], sizeof v);
		v &= 0x7fffffff;
		most = v > most ? v : most;
	}
	memcpy(&peak, &most, sizeof peak);
	return peak;
}

float
radon_peak(const float *v, size_t n)
{
	return peak_of_row(v, n);
}

double
radon_alpha(const struct radon_options *o, const float *gather, const float *left)
{
	double sum[2] = {0, 0};

	for (size_t j = 0; j < o->nx; j++)
		correlate(gather + j * o->nt, left + j * o->nt, o->nt, sum);
	return sum[1] > 0 ? sum[0] / sum[1] : 1;
}

/* Is trace j at the same place as trace k? */
static bool
same_place(const struct radon_options *o, size_t j, size_t k)
{
	const size_t nr = o->nr ? o->nr : 1;
	const double near = o->hyperbolic ? 0 : o->dt / 4,
		     q = (double)(o->nq / nr - 1) * o->dq * fabs(o->g[j] - o->g[k]),
		     r = o->nr ? (double)(nr - 1) * o->dr * fabs(o->h[j] - o->h[k]) : 0;

	return q + r <= near;
}

size_t
radon_different(const struct radon_options *o, size_t most)
{
	size_t n = 0;

	for (size_t j = 0; j < o->nx && n < most; j++) {
		bool known = o->live && !o->live[j];
		for (size_t k = 0; k < j && !known; k++)
			known = (!o->live || o->live[k]) && same_place(o, j, k);
		n += !known;
	}
	return n;
}

/* The frequency at which n curves, d apart, alias on traces at g. */
static double
alias(size_t n, double d, const double *g, size_t nx)
{
	double lo = INFINITY, hi = -INFINITY;

	for (size_t j = 0; j < nx; j++) {
		lo = fmin(lo, g[j]);
		hi = fmax(hi, g[j]);
	}
	return n > 1 && hi > lo ? 1 / (d * (hi - lo)) : INFINITY;
}

double
radon_alias(const struct radon_options *o, double *apart)
{
	const size_t n = o->nr ? o->nq / o->nr : o->nq;
	const double q = o->hyperbolic ? INFINITY : alias(n, o->dq, o->g, o->nx),
		     r = o->nr ? alias(o->nr, o->dr, o->h, o->nx) : INFINITY;

	*apart = q < r ? o->dq : o->dr;
	return fmin(q, r);
}

/*
 * Adds the energy of at most 16 traces, evenly spread, at each of p->n / 2 + 1 frequencies to sum. Returns 0 or -ENOMEM. So
 * few suffice for a warning, and every gather of a stream is examined.
 */
static int
power(const struct radon_options *o, const struct radon_fft *p, const float *gather, double *sum)
{
	const size_t step = (o->nx + 15) / 16;
	float *row = weir_calloc(p->n, sizeof *row), *s = weir_alloc(p->n + 2, sizeof *s);
	const int err = row && s ? 0 : -ENOMEM;

	for (size_t j = 0; !err && j < o->nx; j += step) {
		memcpy(row, gather + j * o->nt, o->nt * sizeof *row);
		radon_fft_forward(p, row, s);
		for (size_t k = 0; k <= p->n / 2; k++)
			sum[k] += (double)s[2 * k] * (double)s[2 * k] +
				  (double)s[2 * k + 1] * (double)s[2 * k + 1];
	}
	weir_free_all(row, s);
	return err;
}

double
radon_top_frequency(const struct radon_options *o, const float *gather)
{
	const size_t n = fft_size(o->nt), nw = n / 2 + 1;
	double *sum = weir_calloc(nw, sizeof *sum), top = INFINITY, all = 0, below = 0;
	struct radon_fft fft = {0};
	size_t k = 0;

	if (sum && !radon_fft_plan(&fft, n) && !power(o, &fft, gather, sum)) {
		for (size_t i = 0; i < nw; i++)
			all += sum[i];
		while (k < nw - 1 && below + sum[k] < .99 * all)
			below += sum[k++];
		top = (double)k / ((double)n * o->dt);
	}
	radon_fft_free(&fft);
	weir_free(sum);
	return top;
}

struct radon_span
radon_span(const float *x, size_t n)
{
	struct radon_span s = {0, n};

	while (s.first < n && x[s.first] == 0)
		s.first++;
	while (s.end > s.first && x[s.end - 1] == 0)
		s.end--;
	return s.first < n ? s : (struct radon_span){n, n};
}

void
radon_keep_muted(const struct radon_options *o, const float *gather, float *left)
{
	for (size_t j = 0; j < o->nx; j++) {
		const float *x = gather + j * o->nt;
		const struct radon_span s = radon_span(x, o->nt);
		float *to = left + j * o->nt;
		memcpy(to, x, s.first * sizeof *x);
		memcpy(to + s.end, x + s.end, (o->nt - s.end) * sizeof *x);
	}
}

/* ---- core ---- */

/* In a sum of at most this many terms the recurrence is faster than the window and the FFT of a transform. */
enum { SHORT_SUM = 12 };

extern const struct radon_loops radon_loops_generic, radon_loops_avx2, radon_loops_avx512;

const struct radon_loops *
radon_loops(void)
{
	return weir_cpu == CPU_AVX512 ? &radon_loops_avx512
	       : weir_cpu == CPU_AVX2 ? &radon_loops_avx2
				      : &radon_loops_generic;
}

bool
radon_iterates(const struct radon_options *o)
{
	return o->mode == RADON_SPARSE || (o->mode == RADON_LSQ && (o->hyperbolic || o->nr > 0));
}

double
radon_damping(const struct radon_core *p)
{
	return p->o.nu * (double)p->o.nq;
}

/*
 * Sets the band, the lengths of rows and the blocks. The stride of the rows is kept off multiples of 4096 bytes, so that the
 * elements of a column lie in different cache sets.
 */
static void
set_shape(struct radon_core *p)
{
	const double per_hz = (double)p->nfft * p->o.dt;

	p->nw = p->nfft / 2 + 1;
	p->ld = (p->nw + USFFT_LINE - 1) / USFFT_LINE * USFFT_LINE;
	if (p->ld % 512 == 0)
		p->ld += USFFT_LINE;
	double top = p->o.fmax > 0 ? floor(p->o.fmax * per_hz * (1 + 1e-12)) : (double)p->nw;
	p->kmin = (size_t)fmin(ceil(p->o.fmin * per_hz * (1 - 1e-12)), (double)p->nw);
	p->kmax = top < (double)p->nw ? (size_t)top : p->nw - 1;
	p->first = p->kmin / USFFT_LINE;
	p->last = p->kmin > p->kmax ? p->first : p->kmax / USFFT_LINE + 1;
}

static void
set_points(struct radon_core *p)
{
	const double per = 1 / ((double)p->nfft * p->o.dt);

	for (size_t j = 0; j < p->o.nx; j++) {
		p->a[j] = p->o.q0 * p->g[j] * per;
		p->c[j] = p->nq > 1 ? p->o.dq * p->g[j] * per : 0;
		if (p->h) {
			p->b[j] = p->o.r0 * p->h[j] * per;
			p->e[j] = p->o.nr > 1 ? p->o.dr * p->h[j] * per : 0;
		}
		p->live[j] = !p->o.live || p->o.live[j];
		p->nlive += p->live[j];
	}
	p->q_mute = p->o.mute.n <= 1 && !p->o.mute.npolygon;
	for (size_t i = 0; i < p->o.nq; i++)
		p->q_weight[i] =
		    p->q_mute ? (float)radon_mute_weight(&p->o.mute, 0, radon_mute_q(&p->o, i)) : 1;
}

/* Fills the weights of polygons, time by time and row by row of curves, whose q ascend. Returns 0 or -ENOMEM. */
static int
weigh_polygons(struct radon_core *p, int threads)
{
	const size_t n = p->nq, room = (size_t)threads;
	double *q = weir_alloc(p->o.nq, sizeof *q);
	float *line = weir_alloc(n, room * sizeof *line);
	struct radon_crossing *c = weir_alloc(n + 1, room * sizeof *c);
	const bool ok = q && line && c;

	for (size_t i = 0; ok && i < p->o.nq; i++)
		q[i] = radon_mute_q(&p->o, i);
#pragma omp parallel for schedule(static) num_threads(threads) if (ok)
	for (size_t t = 0; t < (ok ? p->ntau : 0); t++) {
		const size_t me = (size_t)omp_get_thread_num();
		const double tau = p->o.t0 + ((double)t - (double)p->lead) * p->o.dt;
		for (size_t i = 0; i < p->o.nq; i++) {
			if (i % n == 0)
				radon_mute_line(&p->o.mute, tau, q + i, n, c + me * (n + 1),
						line + me * n);
			p->weight[i * p->ntau + t] = line[me * n + i % n];
		}
	}
	weir_free_all(q, line, c);
	return ok ? 0 : -ENOMEM;
}

/* Fills the weights of a mute that depends on time. Returns 0 or -ENOMEM. */
static int
weigh(struct radon_core *p)
{
	const int threads = p->o.threads > 0 ? p->o.threads : 1;

	if (p->q_mute)
		return 0;
	p->weight = weir_alloc(p->o.nq, p->ntau * sizeof *p->weight);
	if (!p->weight)
		return -ENOMEM;
	/* The q of a row do not ascend where they are distances. */
	if (p->o.mute.npolygon && !p->o.mute.radial)
		return weigh_polygons(p, threads);
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t i = 0; i < p->o.nq; i++)
		for (size_t t = 0; t < p->ntau; t++)
			p->weight[i * p->ntau + t] = (float)radon_mute_weight(
			    &p->o.mute, p->o.t0 + ((double)t - (double)p->lead) * p->o.dt,
			    radon_mute_q(&p->o, i));
	return 0;
}

/* Allocates the numbers of the traces, and copies g, h and live. */
static bool
take_traces(struct radon_core *p, const struct radon_options *o)
{
	const size_t n = o->nx;

	p->g = weir_alloc(n, 6 * sizeof *p->g);
	p->live = weir_alloc(n, sizeof *p->live);
	if (!p->g || !p->live)
		return false;
	p->a = p->g + n;
	p->c = p->a + n;
	memcpy(p->g, o->g, n * sizeof *p->g);
	if (!o->nr)
		return true;
	p->h = p->c + n;
	p->b = p->h + n;
	p->e = p->b + n;
	memcpy(p->h, o->h, n * sizeof *p->h);
	return true;
}

int
radon_core_plan(struct radon_core *p, const struct radon_options *o)
{
	int err;

	p->o = *o;
	p->loops = radon_loops();
	if (!radon_fits(o, &p->ntau, &p->lead))
		return -EOVERFLOW;
	p->nfft = p->ntau;
	p->nq = o->nr ? o->nq / o->nr : o->nq;
	p->q_weight = weir_alloc(o->nq, sizeof *p->q_weight);
	if (!p->q_weight || !take_traces(p, o))
		return -ENOMEM;
	set_shape(p);
	set_points(p);
	p->o.g = p->g;
	p->o.h = p->h;
	p->o.live = p->live;
	p->nufft = o->method == RADON_NUFFT ||
		   (o->method == RADON_AUTO && o->nx > SHORT_SUM && p->nq > SHORT_SUM);
	p->exact_rhs = o->method == RADON_AUTO;
	if ((err = weigh(p)) || o->method == RADON_TIME)
		return err;
	if ((err = radon_fft_plan(&p->fft, p->nfft)) ||
	    (p->nufft && (err = usfft_line_plan(&p->line, o->nx, p->nq))))
		return err;
	if (p->nufft)
		usfft_line_points(&p->line, p->a, p->c);
	return 0;
}

void
radon_core_free(struct radon_core *p)
{
	weir_free_all(p->g, p->live, p->q_weight, p->weight);
	radon_fft_free(&p->fft);
	usfft_line_free(&p->line);
}

/* --- the work of a gather ------------------------------------------------------------------------------------------ */

static bool
take_worker(const struct radon_core *p, struct radon_worker *l)
{
	const size_t row = PAIRS * sizeof(double), nx = p->o.nx, nq = p->o.nq;
	const bool sums = !p->nufft || (p->o.mode == RADON_LSQ && !p->h);

	l->row = weir_alloc(p->nfft + 2, sizeof *l->row);
	l->m = weir_calloc(nq + nx, PAIRS * sizeof *l->m);
	if (!l->row || !l->m || (p->nufft && usfft_line_work(&l->line, &p->line)))
		return false;
	l->d = l->m + nq * PAIRS;
	if (p->h) {
		if (!(l->turn = weir_alloc(3 * nx, row)))
			return false;
		l->by = l->turn + nx * PAIRS;
		l->turned = (float *)(l->by + nx * PAIRS);
	}
	if (!sums || p->o.method == RADON_USFFT2D)
		return true;
	if (!(l->z = weir_alloc(2 * nx + p->nq, row)))
		return false;
	l->e = l->z + nx * PAIRS;
	l->sum = l->e + nx * PAIRS;
	return true;
}

bool
radon_room_take(struct radon_room *r, const struct radon_core *p, int threads)
{
	const size_t rows = p->o.nq > p->o.nx ? p->o.nq : p->o.nx;

	r->threads = threads;
	if (p->o.method == RADON_TIME)
		return true;
	r->worker = weir_calloc((size_t)threads, sizeof *r->worker);
	r->d = weir_calloc_large(rows, p->ld * 2 * sizeof *r->d);
	r->m = r->d;
	r->part = weir_alloc(p->last + 1, sizeof *r->part);
	bool ok = r->worker && r->d && r->part;
	for (int i = 0; ok && i < threads; i++)
		ok = take_worker(p, &r->worker[i]);
	return ok;
}

void
radon_room_free(struct radon_room *r)
{
	for (int i = 0; r->worker && i < r->threads; i++) {
		struct radon_worker *l = &r->worker[i];
		weir_free_all(l->row, l->m, l->z, l->turn);
		usfft_line_work_free(&l->line);
	}
	weir_free_all(r->worker, r->d, r->part);
}

/* ---- spectra ---- */

void
radon_forward(const struct radon_core *p, struct radon_room *w, const float *x, size_t rows,
	      size_t n, size_t at, float *spectra)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t r = 0; r < rows; r++) {
		float *row = w->worker[omp_get_thread_num()].row;
		memset(row, 0, at * sizeof *row);
		memcpy(row + at, x + r * n, n * sizeof *row);
		memset(row + at + n, 0, (p->nfft - at - n) * sizeof *row);
		radon_fft_forward(&p->fft, row, spectra + r * p->ld * 2);
	}
}

void
radon_backward(const struct radon_core *p, float *spectrum, float *row)
{
	const size_t above = p->kmax + 1;

	if (p->first == p->last) {
		memset(row, 0, p->nfft * sizeof *row);
		return;
	}
	memset(spectrum, 0, p->kmin * 2 * sizeof *spectrum);
	memset(spectrum + 2 * above, 0, (p->nw - above) * 2 * sizeof *spectrum);
	radon_fft_backward(&p->fft, spectrum, row);
}

WEIR_CLONES(scale, (float *restrict to, const float *restrict from, size_t n, float by),
	    (to, from, n, by))
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] * by;
}

WEIR_CLONES(subtract,
	    (float *restrict to, const float *restrict x, const float *restrict from, size_t n,
	     float by),
	    (to, x, from, n, by))
{
	for (size_t i = 0; i < n; i++)
		to[i] = x[i] - from[i] * by;
}

WEIR_CLONES(mute_row, (float *restrict row, const float *restrict weight, size_t n, float by),
	    (row, weight, n, by))
{
	for (size_t t = 0; t < n; t++)
		row[t] *= by * weight[t];
}

void
radon_mute_rows(const struct radon_core *p, float *panel, int threads)
{
	if (!p->o.mute.n && !p->o.mute.npolygon)
		return;
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = panel + i * p->ntau;
		for (size_t t = 0; t < p->ntau && p->q_mute; t++)
			row[t] *= p->q_weight[i];
		if (!p->q_mute)
			mute_row(row, p->weight + i * p->ntau, p->ntau, 1);
	}
}

void
radon_panel_out(const struct radon_core *p, struct radon_room *w, float *panel)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = w->worker[omp_get_thread_num()].row;
		radon_backward(p, w->m + i * p->ld * 2, row);
		if (!p->q_mute)
			mute_row(row, p->weight + i * p->ntau, p->nfft, 1);
		scale(panel + i * p->ntau, row, p->ntau, 1 / (float)p->nfft);
	}
}

void
radon_mute_panel(const struct radon_core *p, struct radon_room *w)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = w->worker[omp_get_thread_num()].row, *m = w->m + i * p->ld * 2;
		radon_backward(p, m, row);
		mute_row(row, p->weight + i * p->ntau, p->nfft, 1 / (float)p->nfft);
		radon_fft_forward(&p->fft, row, m);
	}
}

void
radon_gather_out(const struct radon_core *p, struct radon_room *w, const float *x, float *gather)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t j = 0; j < p->o.nx; j++) {
		float *row = w->worker[omp_get_thread_num()].row, *to = gather + j * p->o.nt;
		if (x && !p->live[j]) {
			memcpy(to, x + j * p->o.nt, p->o.nt * sizeof *to);
			continue;
		}
		radon_backward(p, w->d + j * p->ld * 2, row);
		if (x)
			subtract(to, x + j * p->o.nt, row + p->lead, p->o.nt, 1 / (float)p->nfft);
		else
			scale(to, row + p->lead, p->o.nt, 1 / (float)p->nfft);
	}
}

void
radon_edges(const struct radon_core *p, const double sum[3], double edge[2])
{
	const double mean = sum[2] / (double)p->o.nq;

	for (int side = 0; side < 2; side++)
		edge[side] = p->o.nq < 8 ? NAN : mean > 0 ? sum[side] / 2 / mean : 0;
}
