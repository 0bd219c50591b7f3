/* The weights of the sparse inverses. They come from the amplitude of m around each sample. */
#ifndef RADON_WEIGHTS_H
#define RADON_WEIGHTS_H

#include <stddef.h>

/* to = the amplitude of row m around each of its n samples. Returns the greatest amplitude. */
float radon_amplitudes(const float *m, float *to, size_t n);

/* weight = the square root of amplitude / top, at least .01. With top = 0 all are 1. */
void radon_weights(const float *amplitude, float top, float *weight, size_t n);

#endif
