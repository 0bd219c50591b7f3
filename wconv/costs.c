#include "wconv/costs.h"

const size_t wconv_sizes[WCONV_SIZES] = {
    8,	  12,	16,   20,   24,	  32,	40,   48,   60,	  64,	72,    80,    96,
    100,  120,	128,  144,  160,  180,	192,  200,  240,  256,	288,   300,   320,
    360,  384,	400,  480,  512,  576,	600,  640,  720,  768,	800,   960,   1024,
    1280, 1536, 1920, 2048, 2560, 3072, 4096, 5120, 6144, 8192, 10240, 12288, 16384};

/*
 * Measured on an AMD EPYC (Zen 5), AVX-512, single precision. Only ratios matter, and they differ little between machines.
 * Costs measured on an Intel Xeon chose plans that took .95 to 1.17 times as long on six of seven problems, and 2.8 times
 * on the seventh. On an AMD EPYC (Zen 4), transforms took 1.25 times as long as predicted from direct sums with AVX-512, and
 * 1.06 times with AVX2. For that, tap is less than the measured 4.06e-10, and kernels of up to 49 samples are summed directly:
 * transforms of these took up to 1.4 times as long.
 * What small kernels and products cost was measured on an AMD EPYC (Zen 3) with AVX2, on 4096x4096 floats and one thread. Sums by
 * column and row took as long as transforms at 43x43; the table says 36x36, since transforms are faster on the others.
 */
const struct wconv_costs wconv_costs = {
    .turn = 2.94e-09,
    .product = 5.28e-09,
    .tap = 3.15e-10,
    .small_tap = 2.2e-10,
    .product_tap = 2.2e-10,
    .product_line = 6,
    .line = 5.6e-07,
    .transform = {2.3e-08,  3.81e-08, 4.36e-08, 5.46e-08, 6.16e-08, 7.91e-08, 9.99e-08, 1.34e-07,
		  1.78e-07, 1.49e-07, 2.11e-07, 2.26e-07, 2.8e-07,  3.09e-07, 3.64e-07, 3.57e-07,
		  4.8e-07,  4.74e-07, 6.3e-07,	5.47e-07, 6.2e-07,  8.16e-07, 7.23e-07, 9.81e-07,
		  1.08e-06, 9.71e-07, 1.31e-06, 1.36e-06, 1.52e-06, 2.05e-06, 1.79e-06, 2.46e-06,
		  2.63e-06, 2.75e-06, 3.52e-06, 3.33e-06, 3.59e-06, 4.31e-06, 4.49e-06, 5.79e-06,
		  6.69e-06, 1.01e-05, 9.16e-06, 1.18e-05, 1.63e-05, 1.89e-05, 2.69e-05, 3.38e-05,
		  4.81e-05, 6.72e-05, 8.78e-05, 0.000126}};
