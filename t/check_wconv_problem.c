#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/real.h"
#include "t/check_wconv.h"

void
conv_pose(struct conv_job *j, size_t w, size_t h, size_t kw, size_t kh, size_t gx, size_t gy)
{
	memset(j, 0, sizeof *j);
	j->q = (struct wconv_problem){.w = w,
				      .h = h,
				      .planes = 1,
				      .in = IMG_F32,
				      .out = IMG_F32,
				      .W = w,
				      .H = h,
				      .kw = kw,
				      .kh = kh,
				      .gx = gx,
				      .gy = gy,
				      .step_row = kw,
				      .step_x = kw * kh,
				      .step_y = kw * kh * gx,
				      .degree = -1,
				      .scale_x = 1,
				      .scale_y = 1,
				      .cx = kw / 2,
				      .cy = kh / 2,
				      .threads = 2};
	for (size_t i = 0; i < gx; i++)
		j->node[0][i] = ((double)i + .5) * (double)w / (double)gx - .5;
	for (size_t i = 0; i < gy; i++)
		j->node[1][i] = ((double)i + .5) * (double)h / (double)gy - .5;
	j->q.node_x = j->node[0];
	j->q.node_y = j->node[1];
}

void
conv_fill(struct conv_job *j, struct check_rng *rng)
{
	struct wconv_problem *q = &j->q;
	const size_t nk = q->gx * q->gy * q->kw * q->kh, ni = q->w * q->h * q->planes;

	j->kernels = weir_xalloc(nk, q->in_double ? 8 : 4);
	j->image = weir_xalloc(ni, img_type_size(q->in));
	q->kernels = j->kernels;
	for (size_t i = 0; i < nk; i++)
		if (q->in_double)
			((double *)j->kernels)[i] = rng_unit(rng);
		else
			((float *)j->kernels)[i] = (float)rng_unit(rng);
	for (size_t i = 0; i < ni; i++)
		switch (q->in) {
		case IMG_U8:
			((unsigned char *)j->image)[i] = (unsigned char)rng_below(rng, 256);
			break;
		case IMG_U16:
			((unsigned short *)j->image)[i] = (unsigned short)rng_below(rng, 65536);
			break;
		case IMG_F64:
			((double *)j->image)[i] = rng_unit(rng);
			break;
		default:
			((float *)j->image)[i] = (float)rng_unit(rng);
		}
}

void
conv_multiply(struct conv_job *j)
{
	const size_t kw = j->q.kw, kh = j->q.kh;
	double *row = weir_xalloc(kw + kh, sizeof *row), *column = row + kw;

	for (size_t k = 0; k < j->q.gx * j->q.gy; k++) {
		void *at = (char *)j->kernels + k * kw * kh * (j->q.in_double ? 8 : 4);
		for (size_t i = 0; i < kw; i++)
			row[i] = 1 + real_at(at, i, !j->q.in_double);
		for (size_t i = 0; i < kh; i++)
			column[i] = 1 + real_at(at, i * kw, !j->q.in_double);
		for (size_t i = 0; i < kw * kh; i++)
			real_set(at, i, row[i % kw] * column[i / kw], !j->q.in_double);
	}
	weir_free(row);
}

bool
conv_run(struct conv_job *j, conv_step *step, void *by)
{
	const size_t in_row = j->q.w * j->q.planes * img_type_size(j->q.in);
	struct why why;
	struct wconv_plan *p;
	size_t w, h, in = 0, out = 0;
	ptrdiff_t x0, y0;
	int failed = 0;

	if (wconv_plan(&p, &j->q, &why))
		return false;
	wconv_shape(p, &w, &h, &x0, &y0);
	const size_t out_row = w * j->q.planes * img_type_size(j->q.out);
	j->nout = w * h * j->q.planes;
	weir_free(j->got);
	j->got = weir_xalloc(j->nout, img_type_size(j->q.out));
	check_poison(j->got, h * out_row);
	for (size_t i = 0; i < wconv_count(p); i++) {
		const struct wconv_step s = wconv_steps(p, i);
		const void *from = (char *)j->image + in * in_row;
		void *to = (char *)j->got + out * out_row;
		if (step)
			failed |= step(by, p, from, to);
		else
			wconv_run(p, from, to);
		in += s.rows_in;
		out += s.rows_out;
	}
	wconv_free(p);
	return !failed && in == j->q.h && out == h;
}

void
conv_define(struct conv_job *j)
{
	weir_free(j->want);
	j->want = weir_xalloc(j->nout, sizeof *j->want);
	wconv_direct(&j->q, j->image, j->want);
}

void
conv_drop(struct conv_job *j)
{
	weir_free(j->kernels);
	weir_free(j->image);
	weir_free(j->want);
	weir_free(j->got);
}

double
conv_got(const struct conv_job *j, size_t i)
{
	switch (j->q.out) {
	case IMG_F64:
		return ((const double *)j->got)[i];
	case IMG_U8:
		return ((const unsigned char *)j->got)[i];
	case IMG_U16:
		return ((const unsigned short *)j->got)[i];
	default:
		return ((const float *)j->got)[i];
	}
}

double
conv_error(const struct conv_job *j)
{
	const bool integers = !img_is_float(j->q.out);
	double worst = 0, peak = 0;

	for (size_t i = 0; i < j->nout; i++) {
		const double a = conv_got(j, i);
		const double b = integers ? fmin(fmax(j->want[i], 0), j->q.top) : j->want[i];
		if (isnan(a) != isnan(b))
			return INFINITY;
		if (isnan(a))
			continue;
		worst = fmax(worst, fabs(a - b));
		peak = fmax(peak, fabs(b));
	}
	return peak > 0 && !integers ? worst / peak : worst;
}
