/* The core in single precision for any CPU. */
#define REAL	     float
#define WCONV_SAMPLE 4
#define BYTES	     16
#define CORE	     wconv_f32
#define LEVEL	     "baseline"
#include "wconv/core/core.h"
