/*
 * Vectors of LANES samples, as wide as the CPU's registers. A transform runs on LANES rows or columns at a time, one in
 * each lane, so that no butterfly shuffles lanes. The file that includes this defines REAL and BYTES: the core is
 * compiled once for each precision and level (f32_avx512.c, f64_generic.c etc.).
 */
#include <stdint.h>
#include <string.h>

#include "common/stream/img.h"
#include "wconv/plan.h"

#define SAMPLE WCONV_SAMPLE
#include "common/base/vec.h"
