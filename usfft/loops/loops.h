/* The inner loops, compiled once for each precision and each kind of register, and the choice among them. */
#ifndef WEIR_USFFT_LOOPS_H
#define WEIR_USFFT_LOOPS_H

#include "usfft/loops/batch.h"
#include "usfft/loops/layer.h"
#include "usfft/loops/line_ops.h"
#include "usfft/loops/tile.h"

struct loops {
	struct tile_ops tile;
	struct layer_ops layer;
	struct batch_ops batch;
	struct line_ops line; /* in single precision only */
};

/* registers: their bytes, 16, 32 or 64; 0: the widest that the CPU has. */
const struct loops *usfft_loops(int registers, bool single);

#endif
