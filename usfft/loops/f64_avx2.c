/* The loops in double precision, with the registers of AVX2. */
#define REAL   double
#define SAMPLE 8
#define BYTES  32
#define TARGET "arch=x86-64-v3"
#define LOOPS  usfft_f64_avx2
#include "usfft/loops/loops_body.h"
