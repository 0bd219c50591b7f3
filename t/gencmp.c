/*
 * Synthetic CMP gathers after normal moveout: flat primaries, and multiples that it leaves with a parabolic moveout. Both are
 * Ricker wavelets of 25 Hz at t0 + q (x / 3000 m)^2.
 *
 *	gencmp [--part=all|primaries|multiples] [--traces=N] [--samples=N] [--gathers=N] [--step=M] [--jitter=PART] ...
 */
#include <math.h>
#include <stdio.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/stream/raw.h"
#include "t/rng.h"

const char *const weir_prog = "gencmp";

struct args {
	struct opt_common common;
	int part, traces, samples, gathers;
	double step, jitter, dt;
	bool axis;
};

static const struct opt table[] = {
    {0, "part", OPT_WORD, AT(part), "PART", "all|primaries|multiples",
     .words = "all|primaries|multiples"},
    {0, "traces", OPT_INT, AT(traces), "N", "of a gather; default 60", 1, 100000},
    {0, "samples", OPT_INT, AT(samples), "N", "of a trace; default 500", 1, 100000},
    {0, "gathers", OPT_INT, AT(gathers), "N", "items; default 1", 1, 100000},
    {0, "step", OPT_REAL, AT(step), "M", "from offset to offset; default 50"},
    {0, "jitter", OPT_REAL, AT(jitter), "PART", "of the step, at random; default 0", 0, 1},
    {0, "dt", OPT_ABOVE, AT(dt), "SECONDS", "from sample to sample; default .004"},
    {0, "axis", OPT_FLAG, AT(axis), NULL, "offsets as the trace axis, not as a key"},
    {0}};

static const struct opt_program program = {
    .what = "makes CMP gathers with multiples", .table = table, .operands = ""};

static const struct event {
	double t0, q, amplitude; /* q 0: a primary */
} events[] = {{.35, 0, 1},  {.8, 0, -.8},     {1.3, 0, .9},   {1.65, 0, .6},
	      {.7, .3, .7}, {1.05, .26, -.6}, {1.4, .22, .5}, {1.72, .18, -.4}};

static double
ricker(double t)
{
	const double a = M_PI * 25 * t;

	return (1 - 2 * a * a) * exp(-a * a);
}

static float
sample(const struct args *args, double t, double x)
{
	double sum = 0;

	for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
		const struct event *e = &events[i];
		if (args->part == (e->q > 0 ? 1 : 2))
			continue;
		sum += e->amplitude * ricker(t - e->t0 - e->q * x / 3000 * x / 3000);
	}
	return (float)sum;
}

static void
fill(const struct args *args, struct img *x, struct check_rng *rng)
{
	char *text = weir_xalloc((size_t)args->traces, 32), *s = text;
	float *to = x->data;

	for (int j = 0; j < args->traces; j++) {
		const double offset =
		    rint(args->step * (j + 1 + args->jitter * (rng_unit(rng) - .5)));
		s += sprintf(s, j ? " %.0f" : "%.0f", offset);
		for (int t = 0; t < args->samples; t++)
			*to++ = sample(args, t * args->dt, offset);
	}
	if (args->axis) {
		x->axis[1].spacing = x->axis[1].min = args->step;
		img_set_unit(&x->axis[1], "m");
		img_set_label(&x->axis[1], "offset");
	} else {
		img_set_key(x, "offsets", "%s", text);
	}
	weir_free(text);
}

int
main(int argc, char **argv)
{
	struct args args = {.traces = 60, .samples = 500, .gathers = 1, .step = 50, .dt = .004};
	struct check_rng rng = {3};
	struct raw_out *out;
	char **operand;
	struct img x;
	size_t n;

	opt_parse(&program, argc, argv, &args, &operand, &n);
	out = raw_create(args.common.out, RAW_FOLLOW);
	for (int i = 0; i < args.gathers; i++) {
		img_init(&x, IMG_F32, 2, (size_t[]){(size_t)args.samples, (size_t)args.traces});
		if (img_alloc(&x))
			die("no memory for a gather");
		x.axis[0].spacing = args.dt;
		x.axis[0].min = 0;
		img_set_label(&x.axis[0], "t");
		img_set_unit(&x.axis[0], "s");
		img_set_label(&x.axis[1], "trace");
		img_set_key(&x, "cdp", "%d", 100 + i);
		fill(&args, &x, &rng);
		raw_put(out, &x);
		img_free(&x);
	}
	raw_finish(out);
	return 0;
}
