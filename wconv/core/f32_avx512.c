/* The core in single precision for CPUs with AVX-512. */
#define REAL	     float
#define WCONV_SAMPLE 4
#define BYTES	     64
#define CORE	     wconv_f32_avx512
#define LEVEL	     "avx512"
#define TARGET	     "arch=x86-64-v4"
#include "wconv/core/core_body.h"
