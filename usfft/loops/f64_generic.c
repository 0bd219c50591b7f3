/* The loops in double precision, with registers of 16 bytes, which any CPU has. */
#define REAL   double
#define SAMPLE 8
#define BYTES  16
#define LOOPS  usfft_f64_generic
#include "usfft/loops/loops_body.h"
