/* The steps of a deconvolution in double precision. */
#define REAL  double
#define STEPS wconv_restore_f64
#include "wconv/restore/steps_body.h"
