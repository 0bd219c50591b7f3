/* Volumes in double precision. */
#define REAL	   double
#define FFTW(name) fftw_##name
#define CORE	   wconv_volume_f64
#include "wconv/volume/volume_body.h"
