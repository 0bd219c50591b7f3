/* The loops for one precision and one kind of register; see common/base/vec.h and common/base/target.h. LOOPS names their table. */
#include <math.h>
#include <string.h>

#include "common/base/target.h"
#include "usfft/loops/loops.h"

extern const struct loops LOOPS;

TARGET_BEGIN

#include "common/base/vec.h"

#include "usfft/loops/pairs_body.h"

#include "usfft/loops/tile_body.h"

#include "usfft/loops/layer_body.h"

#include "common/base/butterfly_body.h"

#include "usfft/loops/batch_body.h"

#if SAMPLE == 4
#include "usfft/loops/line_body.h"
#endif

const struct loops LOOPS = {
    .tile = {LANES,
	     {TABLE(spread, 1), TABLE(spread, 2), TABLE(spread, 3)},
	     {TABLE(interp, 1), TABLE(interp, 2), TABLE(interp, 3)},
	     add},
    .layer = {layer_spread, layer_interp},
    .batch = {columns, rows},
#if SAMPLE == 4
    .line = {line_spread, line_interp},
#endif
};

TARGET_END
