/*
 * Vectors of LANES samples, as wide as the CPU's registers. Transforms here run on LANES rows or columns at a time, one
 * in each lane, so that no butterfly ever shuffles. REAL and BYTES come from the file that includes this: the core is
 * compiled once for each precision and level (f32_avx512.c and its like).
 */
#include <stdint.h>
#include <string.h>

#include "common/img.h"
#include "wconv/plan.h"

#define SAMPLE WCONV_SAMPLE
#include "common/vec.h"
