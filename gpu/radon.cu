/*
 * Gathers to panels and back: rows to spectra by cuFFT, the band's frequencies (radon_line.cu, radon_lsq.cu), spectra to rows.
 *
 *	rows	thread = sample; to the padded time axis and from it, scaled, muted, subtracted
 *
 * All gathers of a call go through each step together. Bytes a gather: its samples and the panel's once over the bus; 4 nfft (nx + nq) in rows
 * written and read by cuFFT twice at least, 8 nw (nx + nq) in spectra, and what radon_line.cu says.
 */
#include "gpu/radon_work.h"

#include <stdio.h>
#include <string.h>

#include "gpu/fft.h"

extern "C" {
#include "common/mem.h"
#include "gpu/radon.h"
}

namespace
{

constexpr unsigned THREADS = 256, BLOCKS = 1u << 16;

unsigned
blocks_of(size_t n)
{
	const size_t blocks = (n + THREADS - 1) / THREADS;

	return (unsigned)(blocks < BLOCKS ? blocks : BLOCKS);
}

/* Rows of `have` samples to sample `at` of rows of nfft. */
__global__ void
pad_rows(float *time, const float *x, size_t rows, size_t have, size_t at, size_t nfft)
{
	const size_t step = (size_t)gridDim.x * THREADS;

	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < rows * nfft; i += step) {
		const size_t t = i % nfft - at;
		time[i] = i % nfft >= at && t < have ? x[i / nfft * have + t] : 0;
	}
}

/* The weight of the mute, and the FFT's scale; rows are curves. */
__global__ void
mute_rows(const radon_job w, float *time, size_t rows)
{
	const size_t step = (size_t)gridDim.x * THREADS;

	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < rows * w.nfft; i += step) {
		const size_t q = i / w.nfft % w.nq;
		time[i] *=
		    (w.weight ? w.weight[q * w.nfft + i % w.nfft] : w.q_weight[q]) / (float)w.nfft;
	}
}

/* Samples lead.. of rows of nfft, or what is left of x where they are taken off; a dead trace stays. */
__global__ void
take_rows(const radon_job w, const float *time, const float *x, float *out, size_t rows)
{
	const size_t step = (size_t)gridDim.x * THREADS;

	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < rows * w.nt; i += step) {
		const size_t row = i / w.nt;
		const float v = time[row * w.nfft + w.lead + i % w.nt] / (float)w.nfft;
		out[i] = !x ? v : w.live[row % w.nx] ? x[i] - v : x[i];
	}
}

/* m by the weight of its curve. */
__global__ void
weigh_modes(const radon_job w)
{
	const size_t n = (size_t)w.nw * w.n * w.nq, step = (size_t)gridDim.x * THREADS;

	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n; i += step) {
		w.m[i].re *= w.q_weight[i % w.nq];
		w.m[i].im *= w.q_weight[i % w.nq];
	}
}

/* The first and, of even nfft, the last frequency of a real row are real: cuFFT's c2r expects it. */
__global__ void
make_real(const radon_job w, pair<float> *s, size_t rows)
{
	const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;

	if (i < rows)
		s[i].im = 0;
	if (i < rows && w.nfft % 2 == 0)
		s[(w.nfft / 2) * rows + i].im = 0;
}

/* --- memory -------------------------------------------------------------------------------------------------------- */

/* Arrays one after the other; base NULL only counts. */
struct block {
	char *base;
	size_t used;
};

template <class E>
const E *
take(block *b, const E *from, size_t n)
{
	const size_t at = (b->used + 15) / 16 * 16;

	b->used = at + n * sizeof(E);
	if (b->base && from)
		memcpy(b->base + at, from, n * sizeof(E));
	return b->base ? reinterpret_cast<const E *>(b->base + at) : NULL;
}

/* The window's polynomials once, of those that line.c lays out twice. */
void
single_taps(const struct usfft_line *line, float coef[LINE_COEFS * LINE_TAPS])
{
	for (int d = 0; d < LINE_COEFS; d++)
		memcpy(coef + d * LINE_TAPS, line->coef + 2 * d * LINE_TAPS,
		       LINE_TAPS * sizeof *coef);
}

/* Tables: with values where b is on the host, else where they lie. */
void
lay_tables(block *b, const struct radon_plan *p, bool values, radon_job *w)
{
	float coef[LINE_COEFS * LINE_TAPS] = {};
	const pair<float> *shift = reinterpret_cast<const pair<float> *>(p->line.shift);
	const unsigned char *live = reinterpret_cast<const unsigned char *>(p->live);

	if (p->nufft)
		single_taps(&p->line, coef);
	w->a = take(b, values ? p->a : NULL, p->o.nx);
	w->c = take(b, values ? p->c : NULL, p->o.nx);
	w->coef = take(b, values ? coef : NULL, LINE_COEFS * LINE_TAPS);
	w->shift = take(b, values && p->nufft ? shift : NULL, p->o.nq);
	w->q_weight = take(b, values ? p->q_weight : NULL, p->o.nq);
	w->live = take(b, values ? live : NULL, p->o.nx);
}

int
send_tables(struct gpu *g, const struct radon_plan *p, radon_job *w)
{
	block b = {}, on = {};
	void *at;
	int err;

	lay_tables(&b, p, false, w);
	b.base = static_cast<char *>(weir_calloc(b.used, 1));
	b.used = 0;
	if (!b.base)
		return -ENOMEM;
	lay_tables(&b, p, true, w);
	if (!(err = gpu_hold(g, HOLD_TABLES, b.used, &at)) &&
	    !(err = gpu_up(g, at, b.base, b.used))) {
		on.base = static_cast<char *>(at);
		lay_tables(&on, p, false, w);
	}
	weir_free(b.base);
	return err;
}

/* A mute that depends on time too, sample by sample. */
int
send_weight(struct gpu *g, const struct radon_plan *p, radon_job *w)
{
	const size_t n = p->o.nq * p->nfft;
	float *host;
	void *at;
	int err;

	if (p->q_mute)
		return 0;
	if (!(host = static_cast<float *>(weir_alloc(n, sizeof *host))))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		host[i] = radon_time_weight(p, i / p->nfft, i % p->nfft);
	if (!(err = gpu_hold(g, HOLD_WEIGHT, n * sizeof *host, &at)))
		err = gpu_up(g, at, host, n * sizeof *host);
	w->weight = static_cast<const float *>(at);
	weir_free(host);
	return err;
}

/* Samples of a row of what comes in and goes out, and rows a gather. */
struct shape {
	size_t rows, len;
};

struct flow {
	radon_job w;
	shape in, out;
	float *x, *time, *result;
};

int
prepare(struct gpu *g, const struct radon_plan *p, size_t n, flow *f)
{
	const bool model = p->o.mode == RADON_MODEL, gather = model || p->o.subtract;
	const shape gathers = {p->o.nx, p->o.nt}, panels = {p->o.nq, p->ntau};
	const size_t most = p->o.nx > p->o.nq ? p->o.nx : p->o.nq;
	radon_job *w = &f->w;
	void *x, *time, *d, *m, *cells = NULL;
	int err;

	f->in = model ? panels : gathers;
	f->out = gather ? gathers : panels;
	w->n = (unsigned)n;
	w->nx = (unsigned)p->o.nx;
	w->nq = (unsigned)p->o.nq;
	w->nt = (unsigned)p->o.nt;
	w->nfft = (unsigned)p->nfft;
	w->nw = (unsigned)p->nw;
	w->lead = (unsigned)p->lead;
	w->kmin = (unsigned)p->kmin;
	w->bins = p->first == p->last ? 0 : (unsigned)(p->kmax + 1 - p->kmin);
	w->grid = p->nufft ? (unsigned)p->line.grid : 0;
	const size_t in = n * f->in.rows * f->in.len, out = n * f->out.rows * f->out.len;
	const size_t sample = sizeof(pair<float>);
	if ((err = send_tables(g, p, w)) || (err = send_weight(g, p, w)) ||
	    (err = gpu_hold(g, HOLD_IN, (in + out) * sizeof(float), &x)) ||
	    (err = gpu_hold(g, HOLD_TIME, n * most * p->nfft * sizeof(float), &time)) ||
	    (err = gpu_hold(g, HOLD_D, n * p->o.nx * p->nw * sample, &d)) ||
	    (err = gpu_hold(g, HOLD_M, n * p->o.nq * p->nw * sample, &m)) ||
	    (w->grid && w->bins &&
	     (err = gpu_hold(g, HOLD_CELLS, n * w->bins * w->grid * sample, &cells))))
		return err;
	w->d = static_cast<pair<float> *>(d);
	w->m = static_cast<pair<float> *>(m);
	w->cells = static_cast<pair<float> *>(cells);
	f->x = static_cast<float *>(x);
	f->result = f->x + in;
	f->time = static_cast<float *>(time);
	return 0;
}

/* --- steps --------------------------------------------------------------------------------------------------------- */

/* Rows of nfft samples to spectra, transposed, and back. */
int
to_spectra(struct gpu *g, const flow &f, size_t rows, pair<float> *s)
{
	const struct gpu_fft fft =
	    gpu_fft_lines(GPU_FFT_R2C, false, f.w.nfft, rows, 1, f.w.nfft, rows, 1);

	return gpu_fft(g, &fft, -1, f.time, s);
}

int
to_rows(struct gpu *g, const flow &f, size_t rows, pair<float> *s)
{
	const struct gpu_fft fft =
	    gpu_fft_lines(GPU_FFT_C2R, false, f.w.nfft, rows, rows, 1, 1, f.w.nfft);

	GPU_LAUNCH(g, make_real, (unsigned)((rows + THREADS - 1) / THREADS), THREADS, 0, f.w, s,
		   rows);
	return gpu_fft(g, &fft, 1, s, f.time);
}

int
clear(struct gpu *g, const flow &f, size_t rows, pair<float> *s)
{
	GPU_TRY(g, cudaMemsetAsync(s, 0, rows * f.w.nw * sizeof *s, g->stream[0]));
	return 0;
}

/* The panel in m, muted, as rows. */
int
panel_rows(struct gpu *g, const flow &f)
{
	const size_t rows = (size_t)f.w.n * f.w.nq;
	int err = to_rows(g, f, rows, f.w.m);

	if (!err)
		GPU_LAUNCH(g, mute_rows, blocks_of(rows * f.w.nfft), THREADS, 0, f.w, f.time, rows);
	return err;
}

/* The mute on the panel in m, for modelling. */
int
mute_modes(struct gpu *g, const flow &f)
{
	const size_t rows = (size_t)f.w.n * f.w.nq;
	int err;

	if (!f.w.weight) {
		GPU_LAUNCH(g, weigh_modes, blocks_of(rows * f.w.nw), THREADS, 0, f.w);
		return 0;
	}
	return (err = panel_rows(g, f)) ? err : to_spectra(g, f, rows, f.w.m);
}

/* The model of m as gathers; from: NULL, or what it is taken off. */
int
model_gathers(struct gpu *g, const flow &f, const float *from)
{
	const size_t rows = (size_t)f.w.n * f.w.nx;
	int err;

	if ((err = clear(g, f, rows, f.w.d)) || (f.w.bins && (err = radon_model(g, f.w))) ||
	    (err = to_rows(g, f, rows, f.w.d)))
		return err;
	GPU_LAUNCH(g, take_rows, blocks_of(rows * f.w.nt), THREADS, 0, f.w, f.time, from, f.result,
		   rows);
	return 0;
}

int
pad(struct gpu *g, const flow &f, size_t at)
{
	const size_t rows = f.w.n * f.in.rows;

	GPU_LAUNCH(g, pad_rows, blocks_of(rows * f.w.nfft), THREADS, 0, f.time, f.x, rows, f.in.len,
		   at, (size_t)f.w.nfft);
	return 0;
}

/* The panel's result is what rows hold. */
int
keep_panel(struct gpu *g, flow *f)
{
	const int err = panel_rows(g, *f);

	f->result = f->time;
	return err;
}

int
transform(struct gpu *g, const struct radon_plan *p, flow *f, struct radon_report *report)
{
	const bool model = p->o.mode == RADON_MODEL;
	const size_t rows = f->w.n * f->in.rows;
	int err;

	if ((err = pad(g, *f, model ? 0 : p->lead)) ||
	    (err = to_spectra(g, *f, rows, model ? f->w.m : f->w.d)))
		return err;
	if (model)
		return model_gathers(g, *f, NULL);
	if ((err = clear(g, *f, (size_t)f->w.n * f->w.nq, f->w.m)))
		return err;
	if (f->w.bins && p->o.mode == RADON_LSQ && p->nlive)
		err = radon_solve(g, f->w, p->o.eps * (double)p->nlive, p->exact_rhs, report);
	else if (f->w.bins && p->o.mode != RADON_LSQ)
		err = radon_adjoint(g, f->w);
	if (err || !p->o.subtract)
		return err ? err : keep_panel(g, f);
	return (err = mute_modes(g, *f)) ? err : model_gathers(g, *f, f->x);
}

} // namespace

int
gpu_radon_run(struct gpu *g, const struct radon_plan *p, size_t n, const float *const *in,
	      float *const *out, struct radon_report *report)
{
	flow f = {};
	int err = n ? prepare(g, p, n, &f) : 0;
	const size_t each = f.in.rows * f.in.len, made = f.out.rows * f.out.len;

	for (size_t i = 0; i < n && report; i++) {
		memset(&report[i], 0, sizeof report[i]);
		report[i].misfit = NAN;
	}
	for (size_t i = 0; i < n && !err; i++)
		err = gpu_up(g, f.x + i * each, in[i], each * sizeof(float));
	if (!n || err || (err = gpu_begin(g)) || (err = transform(g, p, &f, report)) ||
	    (err = gpu_end(g)))
		return err;
	for (size_t i = 0; i < n && !err; i++)
		err = gpu_down(g, out[i], f.result + i * made, made * sizeof(float));
	return err;
}
