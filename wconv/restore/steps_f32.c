/* The steps of a deconvolution in single precision. */
#define REAL  float
#define STEPS wconv_restore_f32
#include "wconv/restore/steps_body.h"
