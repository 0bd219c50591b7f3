/* The core in double precision for CPUs with AVX2 and FMA. */
#define REAL	     double
#define WCONV_SAMPLE 8
#define BYTES	     32
#define CORE	     wconv_f64_avx2
#define LEVEL	     "avx2"
#define TARGET	     "arch=x86-64-v3"
#include "wconv/core/core_body.h"
