/*
 * Gathers to panels and back: rows to spectra by cuFFT, the band's frequencies (line.cu, lsq.cu), spectra
 * to rows.
 *
 *	rows	thread = sample; to the padded time axis and from it, scaled, muted, subtracted
 *
 * Each device has a share of a call's gathers; those that it holds at a time go through each step together. Bytes a
 * gather: its samples and the panel's once over the bus; 4 nfft (nx + nq) in rows written and read by cuFFT twice at
 * least, 8 nw (nx + nq) in spectra, and what line.cu says.
 */
#include "gpu/radon/work.h"

#include <string.h>

#include "gpu/fft.h"

extern "C" {
#include "gpu/radon/radon.h"
}

namespace
{

/* Rows of `have` samples to sample `at` of rows of nfft. */
__device__ void
pad_rows(size_t i, float *time, const float *x, unsigned have, unsigned at, unsigned nfft)
{
	size_t row = i;
	const unsigned place = take_index(&row, nfft), t = place - at;
	time[i] = place >= at && t < have ? x[row * have + t] : 0;
}

/* The weight of the mute, and the FFT's scale; rows are curves. */
__device__ void
mute_rows(size_t i, const radon_job &w, float *time)
{
	size_t rest = i;
	const unsigned t = take_index(&rest, w.nfft), q = take_index(&rest, w.nq);
	time[i] *= (w.weight ? w.weight[(size_t)q * w.nfft + t] : w.q_weight[q]) / (float)w.nfft;
}

/* Takes nt samples of each row of nfft, from `lead` on. x, where it is not NULL: x less these samples; its dead traces stay. */
__device__ void
take_rows(size_t i, const radon_job &w, const float *time, const float *x, float *out)
{
	size_t row = i;
	const unsigned t = take_index(&row, w.nt);
	const float v = time[row * w.nfft + w.lead + t] / (float)w.nfft;
	out[i] = !x ? v : w.live[take_index(&row, w.nx)] ? x[i] - v : x[i];
}

/* Multiplies m by the weights of its curves. */
__device__ void
weigh_modes(size_t i, const radon_job &w)
{
	size_t rest = i;
	const float weight = w.q_weight[take_index(&rest, w.nq)];
	w.m[i].re *= weight;
	w.m[i].im *= weight;
}

/* The first and, of even nfft, the last frequency of a real row are real: cuFFT's c2r expects it. */
__device__ void
make_real(size_t i, unsigned nfft, pair<float> *s, size_t rows)
{
	s[i].im = 0;
	if (nfft % 2 == 0)
		s[(nfft / 2) * rows + i].im = 0;
}

/* --- steps --------------------------------------------------------------------------------------------------------- */

/* Rows of nfft samples to spectra, transposed, and back. */
int
to_spectra(struct gpu *g, const radon_flow &f, size_t rows, pair<float> *s)
{
	const struct gpu_fft fft =
	    gpu_fft_lines(GPU_FFT_R2C, false, f.w.nfft, rows, 1, f.w.nfft, rows, 1);

	return gpu_fft(g, &fft, -1, f.time, s);
}

int
to_rows(struct gpu *g, const radon_flow &f, size_t rows, pair<float> *s)
{
	const struct gpu_fft fft =
	    gpu_fft_lines(GPU_FFT_C2R, false, f.w.nfft, rows, rows, 1, 1, f.w.nfft);

	GPU_EACH(g, make_real, rows, f.w.nfft, s, rows);
	return gpu_fft(g, &fft, 1, s, f.time);
}

int
clear(struct gpu *g, const radon_flow &f, size_t rows, pair<float> *s)
{
	GPU_TRY(g, cudaMemsetAsync(s, 0, rows * f.w.nw * sizeof *s, g->stream[0]));
	return 0;
}

/* The panel in m, muted, as rows. */
int
panel_rows(struct gpu *g, const radon_flow &f)
{
	const size_t rows = (size_t)f.w.n * f.w.nq;

	GPU_DO(to_rows(g, f, rows, f.w.m));
	GPU_EACH(g, mute_rows, rows * f.w.nfft, f.w, f.time);
	return 0;
}

/* The mute on the panel in m, for modelling. */
int
mute_modes(struct gpu *g, const radon_flow &f)
{
	const size_t rows = (size_t)f.w.n * f.w.nq;

	if (!f.w.weight) {
		GPU_EACH(g, weigh_modes, rows * f.w.nw, f.w);
		return 0;
	}
	GPU_DO(panel_rows(g, f));
	return to_spectra(g, f, rows, f.w.m);
}

/* The model of m as gathers; from: NULL, or what it is taken off. */
int
model_gathers(struct gpu *g, const radon_flow &f, const float *from)
{
	const size_t rows = (size_t)f.w.n * f.w.nx;

	GPU_DO(clear(g, f, rows, f.w.d));
	if (f.w.bins)
		GPU_DO(radon_model(g, f.w));
	GPU_DO(to_rows(g, f, rows, f.w.d));
	GPU_EACH(g, take_rows, rows * f.w.nt, f.w, f.time, from, f.result);
	return 0;
}

/* f.x to f.result. A panel by least squares has figures in its report. */
int
transform(struct gpu *g, const struct radon_core *p, radon_flow *f, struct radon_report *report)
{
	const bool model = p->o.mode == RADON_MODEL;
	const size_t rows = f->w.n * f->in.rows;
	const unsigned at = model ? 0 : (unsigned)p->lead;

	GPU_EACH(g, pad_rows, rows * f->w.nfft, f->time, f->x, (unsigned)f->in.len, at, f->w.nfft);
	GPU_DO(to_spectra(g, *f, rows, model ? f->w.m : f->w.d));
	if (model)
		return model_gathers(g, *f, NULL);
	GPU_DO(clear(g, *f, (size_t)f->w.n * f->w.nq, f->w.m));
	if (f->w.bins && p->o.mode == RADON_LSQ && p->nlive) {
		GPU_DO(radon_solve(g, f->w, radon_damping(p), p->exact_rhs, report));
		if (report && f->w.nq > 1)
			GPU_DO(radon_edges_found(g, p, f->w, report));
	} else if (f->w.bins && p->o.mode != RADON_LSQ) {
		GPU_DO(radon_adjoint(g, f->w));
	}
	if (p->o.subtract) {
		GPU_DO(mute_modes(g, *f));
		return model_gathers(g, *f, f->x);
	}
	f->result = f->time; /* the panel's rows */
	return panel_rows(g, *f);
}

/* The results of f to the host: at once where they are mended there, otherwise beside the next run. */
int
bring_results(struct gpu *g, const struct radon_core *p, const radon_flow &f,
	      const float *const *in, float *const *out)
{
	const size_t n = f.w.n, made = f.out.rows * f.out.len;
	gpu_result *const r = static_cast<gpu_result *>(weir_alloc(n, sizeof *r));
	const gpu_at_end done{[=] { weir_free(r); }};

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		r[i] = {out[i], f.result + i * made, made * sizeof(float)};
		if (!p->o.subtract)
			continue;
		GPU_DO(gpu_down(g, out[i], r[i].device, r[i].bytes));
		radon_keep_muted(&p->o, in[i], out[i]);
	}
	return p->o.subtract ? 0 : gpu_later(g, r, n);
}

/* Gathers from `at` to end - 1, as many at a time as the device holds. */
int
run_share(struct gpu *g, const struct radon_core *p, size_t at, size_t end, const float *const *in,
	  float *const *out, struct radon_report *report)
{
	size_t most = end - at;

	GPU_DO(radon_choose(g, p, &most));
	for (; at < end; at += most) {
		radon_flow f = radon_pose(p, end - at < most ? end - at : most);
		const size_t each = f.in.rows * f.in.len;
		GPU_DO(radon_hold(g, p, &f));
		for (size_t i = 0; i < f.w.n; i++)
			GPU_DO(gpu_up(g, f.x + i * each, in[at + i], each * sizeof(float)));
		GPU_DO(gpu_begin(g));
		GPU_DO(transform(g, p, &f, report ? report + at : NULL));
		GPU_DO(gpu_end(g));
		GPU_DO(bring_results(g, p, f, in + at, out + at));
	}
	return 0;
}

} // namespace

int
gpu_radon_run(struct gpu *g, const struct radon_plan *p, size_t n, const float *const *in,
	      float *const *out, struct radon_report *report)
{
	const size_t all = gpu_count(g);

	for (size_t i = 0; i < n && report; i++) {
		memset(&report[i], 0, sizeof report[i]);
		report[i].misfit = report[i].edge[0] = report[i].edge[1] = NAN;
	}
	return gpu_each(g, [=](struct gpu *device, size_t i) {
		return run_share(device, &p->core, n * i / all, n * (i + 1) / all, in, out, report);
	});
}
