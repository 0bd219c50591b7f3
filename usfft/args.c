/* The options, checked. */
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/par.h"
#include "gpu/use.h"
#include "usfft/job.h"

static const struct opt table[] = {
    {'T', "type", OPT_INT, AT(type), "TYPE",
     "1: points to modes, 2: modes to points, 3: points to points", 1, 3, .words = "1|2|3",
     .required = true},
    {'n', "modes", OPT_STR, AT(n), "NX,NY,NZ", "modes per axis, fastest first"},
    {'p', "points", OPT_STR, AT(points), "FILE", "the points; the input is values or modes"},
    {0, "batch", OPT_FLAG, AT(batch), NULL, "the first item is the points, the others are values",
     .group = OPT_DATA},
    {0, "unit", OPT_WORD, AT(unit), "UNIT",
     "of points: cycles, radians or index, -N/2 to N/2 (cycles)", .words = "cycles|radians|index"},
    {'e', "tol", OPT_ABOVE, AT(tol), "TOL", "relative l2 error wanted (1e-6)", .hi = 0.5},
    {0, "output", OPT_WORD, AT(output), "WHAT",
     "what to write: complex, real, imag or abs (complex)", .words = "complex|real|imag|abs"},
    {0, "inverse", OPT_FLAG, AT(inverse), NULL, "type 2: the modes that give these values"},
    {0, "weights", OPT_STR, AT(weights), "HOW", "of points: none, pipe or a file of them (none)",
     .words = "none|pipe|FILE"},
    {0, "iter", OPT_INT, AT(iter), "N", "iterations of --inverse at most (50)", 1, 1e6,
     .seen = AT(has_iter)},
    {0, "rtol", OPT_REAL, AT(rtol), "R", "residual at which --inverse stops (1e-4)", 0, 1,
     .seen = AT(has_rtol)},
    {0, "damp", OPT_REAL, AT(damp), "MU", "--inverse: damping, in sums of the weights (0)", 0,
     1e30},
    {0, "tv", OPT_REAL, AT(tv), "NU", "--inverse: total variation, smooth but for edges (0)", 0,
     1e30},
    {0, "coils", OPT_STR, AT(coils), "FILE",
     "--inverse: sensitivity maps, or auto; one image from all coils", .words = "auto|FILE"},
    {'s', "sign", OPT_WORD, AT(sign), "SIGN", "sign of the exponent, - or + (-)", .words = "-|+"},
    {0, "adjoint", OPT_FLAG, AT(adjoint), NULL, "the adjoint of the type with that sign"},
    {0, "targets", OPT_STR, AT(targets), "FILE", "type 3: where to evaluate"},
    {0, "weights-to", OPT_STR, AT(weights_to), "FILE", "where to write the weights",
     .writes = true},
    {0, "coils-to", OPT_STR, AT(coils_to), "FILE", "where to write the maps of --coils",
     .writes = true},
    {0, "pixel", OPT_STR, AT(pixel), "DX[,DY]",
     "degrees from pixel to pixel of the sky; points are u v w"},
    {0, "centre", OPT_STR, AT(centre), "RA,DEC", "--pixel: the phase centre, in degrees"},
    {0, "window", OPT_WORD, AT(window), "NAME", "kaiser or gauss (kaiser)",
     .words = "kaiser|gauss"},
    {0, "strict", OPT_FLAG, AT(strict), NULL,
     "refuse points outside [-1/2,1/2) and tolerances out of reach"},
    {0}};

static const struct opt_program program = {
    .what = "Fourier transforms on nonequispaced points in 1, 2 and 3 dimensions.",
    .example = "usfft -T 1 -n 32,32 samples.nrrd >modes.nrrd",
    .table = table,
    .common = OPT_THREADS | OPT_GPU | OPT_PART,
    .gpu_state = gpu_state};

static void
check_inverse_args(const struct args *a)
{
	const char *given = a->coils	  ? "--coils"
			    : a->damp > 0 ? "--damp"
			    : a->tv > 0	  ? "--tv"
					  : NULL;

	if (given && !a->inverse)
		die_usage("%s: goes with --inverse", given);
	if ((a->has_iter || a->has_rtol) && !a->inverse)
		die_usage("%s: goes with --inverse", a->has_iter ? "--iter" : "--rtol");
	if (given && a->common.gpu)
		die_usage("%s: is for the CPU, and goes without -g", given);
	if (a->coils && !a->points && !a->batch)
		die_usage("--coils: needs the points by --points or --batch");
}

static void
parse_pixel(struct job *j)
{
	double v[2];

	if (j->a.centre) {
		opt_reals("--centre", j->a.centre, ',', j->centre, 2);
		if (!j->a.pixel || (j->type == 2 && !j->a.inverse))
			die_usage("--centre: goes with --pixel and an image as output");
		if (!(fabs(j->centre[0]) <= 360 && fabs(j->centre[1]) <= 90))
			die_usage("--centre: '%s' is no right ascension and declination in degrees",
				  j->a.centre);
	}
	if (!j->a.pixel)
		return;
	if (opt_reals_upto("--pixel", j->a.pixel, ',', v, 2) == 1)
		v[1] = v[0];
	for (int a = 0; a < 2; a++) {
		if (!(fabs(v[a]) >= 1e-12 && fabs(v[a]) <= 60))
			die_usage("--pixel: %g is not in 1e-12..60 or -60..-1e-12 degrees", v[a]);
		j->degrees[a] = v[a];
		j->pixel[a] = v[a] * M_PI / 180;
	}
}

static void
check_sky_args(const struct job *j)
{
	const struct args *a = &j->a;

	if (!a->pixel)
		return;
	if (j->type == 3 || (a->n && j->o.dim != 2))
		die_usage("--pixel: goes with types 1 and 2, and with two axes");
	if (a->coils || a->tv > 0 || a->output || a->unit || a->window == WINDOW_GAUSS)
		die_usage(
		    "--pixel: goes without --coils, --tv, --output, --unit and --window=gauss");
	if (a->common.gpu)
		die_usage("--pixel: is for the CPU, and goes without -g");
}

static void
check_args(const struct job *j)
{
	const struct args *a = &j->a;
	const bool to_modes = j->type == 1 || a->inverse;

	if (a->inverse && (a->type != 2 || a->adjoint))
		die_usage("--inverse: goes with -T 2, without --adjoint");
	if (to_modes != (a->n != NULL))
		die_usage(to_modes ? "-n: is needed: how many modes"
				   : "-n: goes with modes as output only");
	if (a->type == 3 && !a->targets)
		die_usage("-T 3: needs --targets=FILE, the places where to evaluate");
	if (a->type != 3 && a->targets)
		die_usage("--targets: goes with -T 3 only");
	if (a->type == 3 && a->unit == UNIT_INDEX)
		die_usage("--unit=index: goes with types 1 and 2: type 3 has no modes to count");
	if (a->points && a->batch)
		die_usage("--batch: the points come from --points already");
	if (!to_modes && (j->type == 2 || a->adjoint) && !a->points && !a->batch)
		die_usage("no points: give --points or --batch");
	if (a->weights && j->type != 1 && !a->inverse)
		die_usage("--weights: goes with points to modes, or --inverse");
	if (a->weights_to && !j->pipe && !j->weights_file)
		die_usage("--weights-to: goes with --weights=pipe or --weights=FILE");
	if (a->coils_to && !a->coils)
		die_usage("--coils-to: goes with --coils");
	if ((a->weights_to || a->coils_to) && a->common.share.n)
		die_usage("--%s-to: goes without --part", a->weights_to ? "weights" : "coils");
	check_inverse_args(a);
	check_sky_args(j);
}

void
usfft_args(struct job *j, int argc, char **argv, char ***path, size_t *npath)
{
	j->a = (struct args){.tol = 1e-6, .iter = 50, .rtol = 1e-4};
	opt_parse(&program, argc, argv, &j->a, path, npath);
	if (j->a.tv > 0 && !j->a.has_iter)
		j->a.iter = 100;
	if (j->a.tv > 0 && !j->a.has_rtol)
		j->a.rtol = 5e-3;
	j->find_coils = j->a.coils && !strcmp(j->a.coils, "auto");
	j->sign = j->a.sign ? 1 : -1;
	j->type = j->a.type;
	if (j->a.adjoint) {
		j->type = j->type == 3 ? 3 : 3 - j->type;
		j->sign = -j->sign;
	}
	j->pipe = j->a.weights && !strcmp(j->a.weights, "pipe");
	if (j->a.weights && !j->pipe && strcmp(j->a.weights, "none") != 0)
		j->weights_file = j->a.weights;
	j->o.dim = j->a.n ? (int)opt_sizes("-n", j->a.n, j->o.n, 3, 1 << 30) : 0;
	parse_pixel(j);
	check_args(j);
	j->o.tol = j->a.tol;
	j->o.gauss = j->a.window == WINDOW_GAUSS;
	j->o.threads = par_threads(j->a.common.threads);
	j->gpu = gpu_use(&j->a.common, 0);
	j->o.took = &j->took;
}
