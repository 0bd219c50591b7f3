#include "common/base/sample.h"
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

static const struct {
	size_t w, h, kw, kh, gx, gy;
} shapes[CONV_SHAPES] = {
    {1, 1, 1, 1, 1, 1},	    {5, 3, 7, 9, 1, 1},	    {64, 1, 5, 3, 3, 1},    {1, 64, 3, 5, 1, 3},
    {97, 53, 13, 8, 4, 3},  {61, 67, 31, 17, 2, 5}, {128, 96, 4, 4, 8, 8},  {40, 40, 33, 9, 16, 16},
    {270, 31, 2, 30, 1, 4}, {70, 37, 3, 3, 1, 1},   {1101, 41, 5, 5, 1, 1}, {90, 34, 7, 7, 1, 1},
    {300, 20, 65, 3, 2, 2}, {2, 5, 7, 7, 1, 1},	    {6, 8, 9, 9, 2, 2},	    {40, 40, 9, 9, 16, 16}};

void
conv_pose_shape(struct conv_job *j, size_t s)
{
	conv_pose(j, shapes[s].w, shapes[s].h, shapes[s].kw, shapes[s].kh, shapes[s].gx,
		  shapes[s].gy);
}

void
conv_fill(struct conv_job *j, struct check_rng *rng)
{
	struct wconv_problem *q = &j->q;
	const size_t nk = q->gx * q->gy * q->kw * q->kh, ni = q->w * q->h * q->planes;
	const size_t size = img_type_size(q->in);

	j->kernels = check_alloc(nk, q->in_double ? 8 : 4);
	j->image = check_alloc(ni, size);
	q->kernels = j->kernels;
	for (size_t i = 0; i < nk; i++)
		real_set(j->kernels, i, rng_unit(rng), !q->in_double);
	for (size_t i = 0; i < ni; i++) {
		const double v = img_is_float(q->in)
				     ? rng_unit(rng)
				     : (double)rng_below(rng, q->in == IMG_U8 ? 256 : 65536);
		sample_store((char *)j->image + i * size, &v, q->in, 1);
	}
}

void
conv_multiply(struct conv_job *j)
{
	const size_t kw = j->q.kw, kh = j->q.kh;
	double *row = check_alloc(kw + kh, sizeof *row), *column = row + kw;

	for (size_t k = 0; k < j->q.gx * j->q.gy; k++) {
		void *at = (char *)j->kernels + k * kw * kh * (j->q.in_double ? 8 : 4);
		for (size_t i = 0; i < kw; i++)
			row[i] = 1 + real_at(at, i, !j->q.in_double);
		for (size_t i = 0; i < kh; i++)
			column[i] = 1 + real_at(at, i * kw, !j->q.in_double);
		for (size_t i = 0; i < kw * kh; i++)
			real_set(at, i, row[i % kw] * column[i / kw], !j->q.in_double);
	}
}

bool
conv_run(struct conv_job *j, conv_step *step)
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
	j->product = p->product;
	const size_t out_row = w * j->q.planes * img_type_size(j->q.out);
	j->nout = w * h * j->q.planes;
	j->got = check_alloc(j->nout, img_type_size(j->q.out));
	check_poison(j->got, h * out_row);
	for (size_t i = 0; i < wconv_count(p); i++) {
		const struct wconv_step s = wconv_steps(p, i);
		const void *from = (char *)j->image + in * in_row;
		void *to = (char *)j->got + out * out_row;
		if (step)
			failed |= step(p, from, to);
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
	j->want = check_alloc(j->nout, sizeof *j->want);
	wconv_direct(&j->q, j->image, j->want);
}

double
conv_got(const struct conv_job *j, size_t i)
{
	double v;

	sample_load(&v, (const char *)j->got + i * img_type_size(j->q.out), j->q.out, 1);
	return v;
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

double
conv_relative(const void *got, const double *want, size_t n, bool single)
{
	double worst = 0, peak = 0;

	for (size_t i = 0; i < n; i++) {
		const double e = fabs(real_at(got, i, single) - want[i]);
		if (isnan(e))
			return e;
		worst = fmax(worst, e);
		peak = fmax(peak, fabs(want[i]));
	}
	return peak > 0 ? worst / peak : worst;
}

void
conv_hold(struct check_many *m, struct conv_job *j)
{
	const enum wconv_method asked = j->q.method;
	const bool product = j->product;

	for (int i = 0; i < 6; i++) {
		const enum wconv_method method = i / 3 ? WCONV_FFT : WCONV_DIRECT;
		if (asked != WCONV_AUTO && method != asked)
			continue;
		j->q.method = method;
		j->q.registers = 16 << i % 3;
		const bool ran = conv_run(j, NULL);
		if (ran && !j->want)
			conv_define(j);
		const double e = ran ? conv_error(j) : INFINITY;
		check_case(m, e <= j->bound && j->product >= product,
			   "%zux%zu, edge %d, kernels %zux%zu in %zux%zu, %s, %d bytes: error %.3g",
			   j->q.w, j->q.h, (int)j->q.edge, j->q.kw, j->q.kh, j->q.gx, j->q.gy,
			   i / 3	? "transforms"
			   : j->product ? "column and row"
					: "direct",
			   j->q.registers, e);
	}
}
