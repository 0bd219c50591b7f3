/* The inner loops with registers of 64 bytes: AVX-512. */
#include <math.h>
#include <string.h>

#include "usfft/loops/batch.h"
#include "usfft/line.h"
#include "usfft/loops/line_ops.h"
#include "usfft/loops/tile.h"

#if defined(__x86_64__)
#define TARGET __attribute__((target("arch=x86-64-v4")))
#else
#define TARGET
#endif

#define REAL  float
#define LANES 16
#include "usfft/loops/tile_body.h"
#include "usfft/loops/batch_body.h"
#include "usfft/loops/line_body.h"
#undef REAL
#undef LANES

#define REAL  double
#define LANES 8
#include "usfft/loops/tile_body.h"
#include "usfft/loops/batch_body.h"

const struct tile_ops *const usfft_tile64[2] = {&ops_float16, &ops_double8};
const struct line_ops usfft_line64 = {line_spread_float16, line_interp_float16};
const struct batch_ops usfft_batch64[2] = {{columns_float16, rows_float16},
					   {columns_double8, rows_double8}};
