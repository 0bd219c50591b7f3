#include "dptrace/evidence/rows.h"
#include "common/base/cpu.h"

WEIR_CLONES(convolve,
	    (float *restrict out, const float *restrict in, ptrdiff_t step, size_t n,
	     const struct kernel *k),
	    (out, in, step, n, k))
{
	for (size_t i = 0; i < n; i++)
		out[i] = k->w[0] * in[i];
	for (int t = 1; t <= k->r; t++) {
		const float w = k->w[t], *up = in + t * step, *down = in - t * step;
		if (k->odd)
			for (size_t i = 0; i < n; i++)
				out[i] += w * (up[i] - down[i]);
		else
			for (size_t i = 0; i < n; i++)
				out[i] += w * (up[i] + down[i]);
	}
}

void
rows_convolve(float *out, const float *in, ptrdiff_t step, size_t n, const struct kernel *k)
{
	convolve(out, in, step, n, k);
}

WEIR_CLONES(add_tensor,
	    (float *restrict uu, float *restrict uv, float *restrict vv, const float *restrict gu,
	     const float *restrict gv, size_t n),
	    (uu, uv, vv, gu, gv, n))
{
	for (size_t i = 0; i < n; i++) {
		uu[i] += gu[i] * gu[i];
		uv[i] += gu[i] * gv[i];
		vv[i] += gv[i] * gv[i];
	}
}

void
rows_add_tensor(float *uu, float *uv, float *vv, const float *gu, const float *gv, size_t n)
{
	add_tensor(uu, uv, vv, gu, gv, n);
}
