/* The inner loops with registers of 32 bytes: AVX2 and FMA. */
#include <math.h>
#include <string.h>

#include "usfft/loops/batch.h"
#include "usfft/line.h"
#include "usfft/loops/line_ops.h"
#include "usfft/loops/tile.h"

#if defined(__x86_64__)
#define TARGET __attribute__((target("arch=x86-64-v3")))
#else
#define TARGET
#endif

#define REAL  float
#define LANES 8
#include "usfft/loops/tile_body.h"
#include "usfft/loops/batch_body.h"
#include "usfft/loops/line_body.h"
#undef REAL
#undef LANES

#define REAL  double
#define LANES 4
#include "usfft/loops/tile_body.h"
#include "usfft/loops/batch_body.h"

const struct tile_ops *const usfft_tile32[2] = {&ops_float8, &ops_double4};
const struct line_ops usfft_line32 = {line_spread_float8, line_interp_float8};
const struct batch_ops usfft_batch32[2] = {{columns_float8, rows_float8},
					   {columns_double4, rows_double4}};
