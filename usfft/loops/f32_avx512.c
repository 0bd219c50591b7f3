/* The loops in single precision, with the registers of AVX-512. */
#define REAL   float
#define SAMPLE 4
#define BYTES  64
#define TARGET "arch=x86-64-v4"
#define LOOPS  usfft_f32_avx512
#include "usfft/loops/loops_body.h"
