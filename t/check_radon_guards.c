/* radon: figures that tell whether the options suit a gather. */
#include <math.h>

#include "common/base/mem.h"
#include "t/check_radon.h"

static struct check_rng rng = {13};

/* alpha is that of its definition; where as much energy is added as there is, it is 0. Zeros before a trace stay. */
static void
check_guards(void)
{
	struct radon_options o = scene_small;
	float d[3 * 20], left[3 * 20];

	o.nx = 3;
	o.nt = 20;
	for (size_t i = 0; i < 60; i++) {
		d[i] = i % 20 < 4 || i % 20 > 17 ? 0 : (float)i;
		left[i] = d[i] / 2;
	}
	check(fabs(radon_alpha(&o, d, left) - 2) < 1e-12,
	      "radon: half a gather subtracted has alpha 2", "%g", radon_alpha(&o, d, left));
	for (size_t i = 0; i < 60; i++)
		left[i] = 3 * d[i];
	check(fabs(radon_alpha(&o, d, left) + .5) < 1e-12, "radon: energy added has alpha below .5",
	      "%g", radon_alpha(&o, d, left));
	for (size_t i = 0; i < 60; i++)
		left[i] = 7;
	radon_keep_muted(&o, d, left);
	check(left[3] == 0 && left[4] == 7 && left[17] == 7 && left[18] == 0 && left[23] == 0 &&
		  left[24] == 7,
	      "radon: the zeros that a trace begins and ends with stay", "%g %g", (double)left[3],
	      (double)left[4]);
}

/* A wave of 30 Hz has its energy there, and curves alias where dq (g_max - g_min) f = 1. */
static void
check_frequencies(void)
{
	struct radon_options o = scene_small;
	float d[3 * 100];
	double apart;

	o.nx = 3;
	o.nt = 100;
	o.dq = .05;
	scene_g[0] = -.25;
	scene_g[1] = 0;
	scene_g[2] = .75;
	for (size_t i = 0; i < 300; i++)
		d[i] = (float)sin(2 * M_PI * 30 * o.dt * (double)(i % 100));
	check(fabs(radon_alias(&o, &apart) - 20) < 1e-9 && apart == o.dq,
	      "radon: curves alias a period apart across the traces", "%g",
	      radon_alias(&o, &apart));
	check(fabs(radon_top_frequency(&o, d) - 30) < 1e-9,
	      "radon: a wave's energy lies below its frequency", "%g", radon_top_frequency(&o, d));
}

/* Events beyond one end of the curves heap up at that end; those between the ends do not. */
static void
check_edges(void)
{
	static const double first[3] = {-.1, -.4, -.4}, q[3] = {-.13, .13, -.13};
	struct check_many many = {0};

	for (int mode = RADON_LSQ; mode <= RADON_SPARSE; mode++)
		for (int side = 0; side < 3; side++) {
			struct radon_options o = scene_small;
			struct radon_report r;
			o.mode = (enum radon_mode)mode;
			o.nu = mode == RADON_LSQ ? .05 : .003;
			o.nt = 180;
			o.q0 = first[side];
			o.dq = .5 / (double)(o.nq - 1);
			scene_lay_out(&rng, o.nx, RADON_PARABOLIC, .5);
			float *d = weir_alloc(o.nx * o.nt, sizeof *d), *m;
			for (size_t i = 0; i < o.nx * o.nt; i++)
				d[i] = scene_wavelet(&o, i, .36, q[side]);
			m = scene_run(&o, d, &r);
			for (int e = 0; e < 2; e++)
				check_case(&many, side == e ? r.edge[e] > 3 : r.edge[e] < 1.5,
					   "mode %d, side %d: %g %g", mode, side, r.edge[0],
					   r.edge[1]);
			weir_free(d);
			weir_free(m);
		}
	check_end(&many, "radon: energy at the outer curves tells of events beyond them");
}

void
check_radon_guards(void)
{
	check_guards();
	check_frequencies();
	check_edges();
}
