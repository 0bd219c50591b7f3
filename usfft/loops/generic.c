/* The inner loops with registers of 16 bytes: any CPU. */
#include <math.h>
#include <string.h>

#include "usfft/loops/batch.h"
#include "usfft/line.h"
#include "usfft/loops/line_ops.h"
#include "usfft/loops/tile.h"

#define TARGET

#define REAL  float
#define LANES 4
#include "usfft/loops/tile_body.h"
#include "usfft/loops/batch_body.h"
#include "usfft/loops/line_body.h"
#undef REAL
#undef LANES

#define REAL  double
#define LANES 2
#include "usfft/loops/tile_body.h"
#include "usfft/loops/batch_body.h"

const struct tile_ops *const usfft_tile16[2] = {&ops_float4, &ops_double2};
const struct line_ops usfft_line16 = {line_spread_float4, line_interp_float4};
const struct batch_ops usfft_batch16[2] = {{columns_float4, rows_float4},
					   {columns_double2, rows_double2}};
