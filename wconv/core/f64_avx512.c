/* The core in double precision for CPUs with AVX-512. */
#define REAL	     double
#define WCONV_SAMPLE 8
#define BYTES	     64
#define CORE	     wconv_f64_avx512
#define LEVEL	     "avx512"
#define TARGET	     "arch=x86-64-v4"
#include "wconv/core/core_body.h"
