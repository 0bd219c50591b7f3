/*
 * The device's memory for gathers: how many at a time, and what of the plan the kernels need, made by the host.
 */
#include "gpu/radon/work.h"

#include <string.h>

namespace
{

constexpr size_t MOST_OF_AXIS = 65535; /* gathers: the second axis of a launch's blocks */

/* n elements, with values where there are some. */
template <class E>
const E *
put(gpu_block *b, const E *from, size_t n)
{
	E *const to = gpu_take<E>(b, n);

	if (to && from)
		memcpy(to, from, n * sizeof(E));
	return to;
}

/* Tables: with values while b is on the host, else where they lie. */
void
lay_tables(gpu_block *b, const struct radon_core *p, bool values, radon_job *w)
{
	float coef[LINE_COEFS * LINE_TAPS] = {};
	const pair<float> *shift = reinterpret_cast<const pair<float> *>(p->line.shift);
	const unsigned char *live = reinterpret_cast<const unsigned char *>(p->live);

	for (int d = 0; p->nufft && d < LINE_COEFS; d++) /* line.c has all of them twice */
		memcpy(coef + d * LINE_TAPS, p->line.coef + 2 * d * LINE_TAPS,
		       LINE_TAPS * sizeof *coef);
	w->a = put(b, values ? p->a : NULL, p->o.nx);
	w->c = put(b, values ? p->c : NULL, p->o.nx);
	w->coef = put(b, values ? coef : NULL, LINE_COEFS * LINE_TAPS);
	w->shift = put(b, values && p->nufft ? shift : NULL, p->o.nq);
	w->q_weight = put(b, values ? p->q_weight : NULL, p->o.nq);
	w->live = put(b, values ? live : NULL, p->o.nx);
}

/* Elements of the device's arrays: floats in in_out and time, else pairs of them. */
struct sizes {
	size_t in_out, time, d, m, cells, kept;
};

sizes
sizes_of(const struct radon_core *p, const radon_flow &f)
{
	const size_t n = f.w.n, most = p->o.nx > p->o.nq ? p->o.nx : p->o.nq;
	sizes z;

	z.in_out = n * (f.in.rows * f.in.len + f.out.rows * f.out.len);
	z.time = n * most * p->nfft;
	z.d = n * p->o.nx * p->nw;
	z.m = n * p->o.nq * p->nw;
	z.cells = n * f.w.bins * f.w.grid;
	z.kept = p->o.report && p->o.mode == RADON_LSQ ? z.d : 0;
	return z;
}

} // namespace

/* What n gathers are to the kernels. */
radon_flow
radon_pose(const struct radon_core *p, size_t n)
{
	const bool model = p->o.mode == RADON_MODEL, gather = model || p->o.subtract;
	const radon_shape gathers = {p->o.nx, p->o.nt}, panels = {p->o.nq, p->ntau};
	radon_flow f = {};
	radon_job *w = &f.w;

	f.in = model ? panels : gathers;
	f.out = gather ? gathers : panels;
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
	return f;
}

/* How many of n gathers are held at once: halved until they fit, with as much again as the rows for cuFFT. */
int
radon_choose(struct gpu *g, const struct radon_core *p, size_t *n)
{
	const size_t tables = p->o.nx * 17 + p->o.nq * (12 + (p->q_mute ? 0 : 4 * p->nfft));
	size_t room;
	const int err = gpu_room(g, &room);

	*n = *n < MOST_OF_AXIS ? *n : MOST_OF_AXIS;
	for (; !err && *n > 1; *n = (*n + 1) / 2) {
		const radon_flow f = radon_pose(p, *n);
		const sizes z = sizes_of(p, f);
		const size_t solve = p->o.mode == RADON_LSQ ? radon_solve_bytes(f.w) : 0;
		const size_t floats = z.in_out + 2 * (z.time + z.d + z.m + z.cells + z.kept);
		if (tables + floats * sizeof(float) + solve <= room - room / 8)
			break;
	}
	return err;
}

int
radon_hold(struct gpu *g, const struct radon_core *p, radon_flow *f)
{
	const sizes z = sizes_of(p, *f);
	radon_job *w = &f->w;
	bool filled = false;

	GPU_DO(gpu_place_filled(
	    g, HOLD_TABLES, [&](gpu_block *b) { lay_tables(b, p, !filled, w); },
	    [&] { filled = true; }));
	if (!p->q_mute) /* a mute that depends on time too, sample by sample */
		GPU_DO(gpu_send(g, HOLD_WEIGHT, p->weight, p->o.nq * p->nfft, &w->weight));
	GPU_DO(gpu_array(g, HOLD_IN, z.in_out, &f->x));
	GPU_DO(gpu_array(g, HOLD_TIME, z.time, &f->time));
	GPU_DO(gpu_array(g, HOLD_D, z.d, &w->d));
	GPU_DO(gpu_array(g, HOLD_M, z.m, &w->m));
	if (z.cells)
		GPU_DO(gpu_array(g, HOLD_CELLS, z.cells, &w->cells));
	if (z.kept)
		GPU_DO(gpu_array(g, HOLD_MODEL, z.kept, &w->modelled));
	f->result = f->x + (size_t)w->n * f->in.rows * f->in.len;
	return p->o.mode == RADON_LSQ && w->bins ? radon_hold_solve(g, *w) : 0;
}
