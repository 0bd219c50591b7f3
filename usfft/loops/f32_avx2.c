/* The loops in single precision, with the registers of AVX2. */
#define REAL   float
#define SAMPLE 4
#define BYTES  32
#define TARGET "arch=x86-64-v3"
#define LOOPS  usfft_f32_avx2
#include "usfft/loops/loops_body.h"
