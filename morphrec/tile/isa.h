/* The names of the operations that row_body.h needs, by the width of an element: v_max(8) is max8. */
#ifndef WEIR_MORPHREC_TILE_ISA_H
#define WEIR_MORPHREC_TILE_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "morphrec/tile/engine.h"

#define CAT_(a, b)   a##b
#define CAT(a, b)    CAT_(a, b)
#define v_max(bits)  CAT(max, bits)
#define v_min(bits)  CAT(min, bits)
#define v_lo(bits)   CAT(lo, bits)
#define v_hi(bits)   CAT(hi, bits)
#define v_up(bits)   CAT(up, bits)
#define v_down(bits) CAT(down, bits)

#endif
