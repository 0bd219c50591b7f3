/* The core in single precision for CPUs with AVX2 and FMA. */
#define REAL	     float
#define WCONV_SAMPLE 4
#define BYTES	     32
#define CORE	     wconv_f32_avx2
#define LEVEL	     "avx2"
#define TARGET	     "arch=x86-64-v3"
#include "wconv/core/core_body.h"
