/* The loops in single precision, with registers of 16 bytes, which any CPU has. */
#define REAL   float
#define SAMPLE 4
#define BYTES  16
#define LOOPS  usfft_f32_generic
#include "usfft/loops/loops_body.h"
