/* The loops in double precision, with the registers of AVX-512. */
#define REAL   double
#define SAMPLE 8
#define BYTES  64
#define TARGET "arch=x86-64-v4"
#define LOOPS  usfft_f64_avx512
#include "usfft/loops/loops_body.h"
