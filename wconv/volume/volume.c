#include <math.h>
#include <stdint.h>

#include "common/base/fft.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "wconv/plan.h"
#include "wconv/volume/volume.h"

/* Fills in one axis of n samples and a kernel of k samples with its centre at c. Returns 0, or -1 with a sentence in why. */
static int
pose_axis(struct volume_axis *a, const struct wconv_problem *q, size_t n, size_t k, size_t c,
	  struct why *why)
{
	const ptrdiff_t before = (ptrdiff_t)(q->correlate ? c : k - 1 - c),
			after = (ptrdiff_t)k - 1 - before;

	*a = (struct volume_axis){.n = n, .k = k, .results = n};
	if (q->output == WCONV_VALID && k > n)
		return why_set(why, "no window lies inside the volume: the kernel is larger");
	if (q->output == WCONV_VALID)
		a->results = n - k + 1;
	if (q->output == WCONV_FULL)
		a->results = n + k - 1;
	const ptrdiff_t first = q->output == WCONV_VALID  ? before
				: q->output == WCONV_FULL ? -after
							  : 0;
	a->places = a->results + k - 1;
	a->len = fft_size(a->places);
	a->from = weir_alloc(a->places, sizeof *a->from);
	if (!a->from || a->len > INT32_MAX)
		return why_set(why, "no memory");
	for (size_t i = 0; i < a->places; i++) {
		const ptrdiff_t at =
		    wconv_edge(q->edge, first - before + (ptrdiff_t)i, (ptrdiff_t)n);
		a->from[i] = at < 0 ? SIZE_MAX : (size_t)at;
	}
	return 0;
}

static int
make_room(struct wconv_volume *v, struct why *why)
{
	const size_t size = v->core->sample, nz = v->axis[2].len;

	v->row = v->axis[0].len + 2;
	v->slice = (v->row * v->axis[1].len + SLICE_UNIT - 1) / SLICE_UNIT * SLICE_UNIT;
	if (v->slice > SIZE_MAX / size)
		return why_set(why, "no memory");
	v->work = weir_alloc_large(v->slice * size, nz);
	v->kernel = weir_alloc_large(v->slice * size, nz);
	v->columns = weir_alloc_large((size_t)v->threads * nz, 2 * BATCH * size);
	if (!v->work || !v->kernel || !v->columns || v->core->plan(v))
		return why_set(why, "no memory");
	return 0;
}

/* Places the kernel at the start of the work array, turned for a correlation. Finds the factor that normalises it. */
static int
put_kernel(struct wconv_volume *v, const struct wconv_problem *q, double *scale, struct why *why)
{
	const size_t n = q->kw * q->kh * q->kd;
	const bool single = v->core->sample == sizeof(float);
	double sum = 0, weight = 0;

	for (size_t i = 0; i < v->slice * q->kd; i++)
		real_set(v->work, i, 0, single);
	for (size_t i = 0; i < n; i++) {
		const double k = real_at(q->kernels, q->correlate ? n - 1 - i : i, single);
		if (!isfinite(k))
			return why_set(why, "the kernel has a sample that is not finite");
		real_set(v->work,
			 i / (q->kw * q->kh) * v->slice + i / q->kw % q->kh * v->row + i % q->kw,
			 q->variance ? k * k : k, single);
		sum += k;
		weight += fabs(k);
	}
	if (q->normalise && !(fabs(sum) > 1e-6 * weight))
		return why_set(why, "the kernel cannot be normalised: its sum is %.3g", sum);
	*scale = q->normalise ? 1 / sum : 1;
	*scale *= q->variance ? *scale : 1;
	return 0;
}

int
wconv_volume_plan(struct wconv_volume **to, const struct wconv_problem *q, struct why *why)
{
	struct wconv_volume *v = weir_calloc(1, sizeof *v);
	double scale = 1;

	*to = NULL;
	if (!v)
		return why_set(why, "no memory");
	v->core = q->in_double ? &wconv_volume_f64 : &wconv_volume_f32;
	v->threads = q->threads;
	if (pose_axis(&v->axis[0], q, q->w, q->kw, q->cx, why) ||
	    pose_axis(&v->axis[1], q, q->h, q->kh, q->cy, why) ||
	    pose_axis(&v->axis[2], q, q->d, q->kd, q->cz, why) || make_room(v, why) ||
	    put_kernel(v, q, &scale, why)) {
		wconv_volume_free(v);
		return -1;
	}
	v->core->take_kernel(v, scale);
	*to = v;
	return 0;
}

void
wconv_volume_run(struct wconv_volume *v, bool transpose, const void *in, void *out)
{
	v->core->run(v, transpose, in, out);
}

void
wconv_volume_free(struct wconv_volume *v)
{
	if (!v)
		return;
	v->core->unplan(v);
	weir_free_all(v->axis[0].from, v->axis[1].from, v->axis[2].from, v->work, v->kernel,
		      v->columns, v);
}
