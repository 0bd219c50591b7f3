/* The core in double precision for any CPU. */
#define REAL	     double
#define WCONV_SAMPLE 8
#define BYTES	     16
#define CORE	     wconv_f64_generic
#define LEVEL	     "generic"
#include "wconv/core/core_body.h"
