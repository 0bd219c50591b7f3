#include "wconv/costs.h"

/*
 * AMD EPYC (Zen 5), AVX-512, single precision. Only ratios matter, and those differ little between machines and levels;
 * `wconv --tune` measures them anew.
 */
static const struct wconv_costs builtin = {
    .n = 5,
    .size = {16, 32, 64, 128, 256},
    .transform = {1e-8, 3e-8, 1.5e-7, 3.5e-7, 7.5e-7},
    .turn = 3e-9,
    .product = 2e-9,
    .tap = 2e-10,
};

const struct wconv_costs *
wconv_costs_builtin(void)
{
	return &builtin;
}
