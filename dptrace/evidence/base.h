/* Filters of one row of samples, of the gains of edges and of the cells of ways. */
#ifndef WEIR_DPTRACE_EVIDENCE_BASE_H
#define WEIR_DPTRACE_EVIDENCE_BASE_H

#include <stddef.h>

#include "dptrace/evidence/strip.h"

/* out[i] = sum_t w[t] (in[i + t step] +- in[i - t step]), i < n */
void rows_convolve(float *out, const float *in, ptrdiff_t step, size_t n, const struct kernel *k);

/* Adds n gradients to sums of their products: uu += gu gu, uv += gu gv, vv += gv gv. No arrays overlap. */
void rows_add_tensor(float *uu, float *uv, float *vv, const float *gu, const float *gv, size_t n);

#endif
