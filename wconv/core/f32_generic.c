/* The core in single precision for any CPU. */
#define REAL	     float
#define WCONV_SAMPLE 4
#define BYTES	     16
#define CORE	     wconv_f32_generic
#define LEVEL	     "generic"
#include "wconv/core/core_body.h"
