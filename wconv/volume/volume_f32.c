/* Volumes in single precision. */
#define REAL	   float
#define FFTW(name) fftwf_##name
#define CORE	   wconv_volume_f32
#include "wconv/volume/volume_body.h"
