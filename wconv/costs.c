#include <math.h>
#include <stdio.h>
#include <string.h>

#include "wconv/costs.h"

const size_t wconv_sizes[WCONV_SIZES] = {
    8,	  12,	16,   20,   24,	  32,	40,   48,   60,	  64,	72,    80,    96,
    100,  120,	128,  144,  160,  180,	192,  200,  240,  256,	288,   300,   320,
    360,  384,	400,  480,  512,  576,	600,  640,  720,  768,	800,   960,   1024,
    1280, 1536, 1920, 2048, 2560, 3072, 4096, 5120, 6144, 8192, 10240, 12288, 16384};

/* AMD EPYC (Zen 5), AVX-512, single precision. Only ratios matter, and those differ little between machines. */
static const struct wconv_costs builtin = {
    .turn = 2.97e-09,
    .product = 5.83e-09,
    .tap = 3.88e-10,
    .transform = {2.64e-08, 3.77e-08, 4.4e-08,	5.22e-08, 6.19e-08, 7.81e-08, 9.66e-08, 1.33e-07,
		  1.73e-07, 1.48e-07, 2.02e-07, 2.17e-07, 2.63e-07, 2.98e-07, 3.43e-07, 3.31e-07,
		  4.59e-07, 4.28e-07, 5.96e-07, 5.16e-07, 5.55e-07, 7.95e-07, 6.73e-07, 9.28e-07,
		  1.02e-06, 8.78e-07, 1.22e-06, 1.27e-06, 1.45e-06, 1.84e-06, 1.78e-06, 2.27e-06,
		  2.42e-06, 2.54e-06, 3.43e-06, 3.08e-06, 3.26e-06, 3.87e-06, 4.1e-06,	5.29e-06,
		  6.48e-06, 9.43e-06, 8.56e-06, 1.09e-05, 1.52e-05, 1.85e-05, 2.63e-05, 3.19e-05,
		  4.61e-05, 6.59e-05, 8.6e-05,	0.000122}};

const struct wconv_costs *
wconv_costs_builtin(void)
{
	return &builtin;
}

void
wconv_costs_format(const struct wconv_costs *c, char text[WCONV_COSTS_TEXT])
{
	int n = snprintf(text, WCONV_COSTS_TEXT, "turn %.4g\nproduct %.4g\ntap %.4g\n", c->turn,
			 c->product, c->tap);

	for (size_t i = 0; i < WCONV_SIZES; i++)
		n += snprintf(text + n, WCONV_COSTS_TEXT - (size_t)n, "transform-%zu %.4g\n",
			      wconv_sizes[i], c->transform[i]);
}

/* The value on the line of that name; 0: there is none above 0. */
static double
find_value(const char *text, const char *name)
{
	const size_t n = strlen(name);
	double v;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, n) && line[n] == ' ' && sscanf(line + n, "%lf", &v) == 1 &&
		    isfinite(v) && v > 0)
			return v;
	}
	return 0;
}

int
wconv_costs_parse(struct wconv_costs *c, const char *text)
{
	char name[32];
	bool all;

	c->turn = find_value(text, "turn");
	c->product = find_value(text, "product");
	c->tap = find_value(text, "tap");
	all = c->turn > 0 && c->product > 0 && c->tap > 0;
	for (size_t i = 0; i < WCONV_SIZES; i++) {
		snprintf(name, sizeof name, "transform-%zu", wconv_sizes[i]);
		c->transform[i] = find_value(text, name);
		all &= c->transform[i] > 0;
	}
	return all ? 0 : -1;
}
