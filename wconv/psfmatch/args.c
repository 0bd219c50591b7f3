/* The options of psfmatch. */
#include <math.h>

#include "common/base/die.h"
#include "common/base/par.h"
#include "wconv/psfmatch/item.h"

static const struct opt table[] = {
    {0, "subtract", OPT_FLAG, AT(subtract), NULL, "write NEW less the matched REF"},
    {0, "sigma", OPT_FLAG, AT(sigma), NULL, "with --subtract: divide by the noise of each pixel"},
    {0, "noise", OPT_STR, AT(noise), "FILE", "write the noise of the difference", .writes = true,
     .unrecorded = true},
    {0, "psf", OPT_STR, AT(psf), "FILE", "write the point spread function of NEW", .writes = true,
     .unrecorded = true},
    {0, "convolve", OPT_WORD, AT(o.convolve), "WHICH", "%s, for --subtract (either)",
     .words = "ref|new|either", .seen = AT(has_convolve)},
    {0, "gain", OPT_ABOVE, AT(o.gain), "E", "electrons in a unit of the pictures"},
    {0, "top", OPT_REAL, AT(o.top), "V", "pixels above V are not used"},
    {0, "size", OPT_INT, AT(o.size), "N", "the kernels' width and height, odd (21 or more)", 3,
     101},
    {0, "degree", OPT_INT, AT(o.degree), "DEG", "of the kernel's polynomials (2)", 0, 10},
    {0, "background", OPT_INT, AT(o.background), "DEG", "of the background's (1)", 0, 10},
    {0, "basis", OPT_WORD, AT(o.basis), "WHICH", "%s (gauss)", .words = "gauss|delta"},
    {0, "smooth", OPT_REAL, AT(o.smooth), "V", "penalty on rough kernels of --basis=delta (100)", 0,
     1e9, .seen = AT(has_smooth)},
    {0}};

static const struct opt_program program = {
    .what = "Finds the kernel that turns one picture of a field into another.",
    .example = "psfmatch --subtract reference.pgm new.pgm >difference.nrrd",
    .table = table,
    .common = OPT_THREADS,
    .operands = "REF NEW",
    .max_operands = 2};

struct args
psfmatch_args(int argc, char **argv)
{
	struct args args = {
	    .o = {.degree = 2, .background = 1, .smooth = 100, .gain = INFINITY, .top = INFINITY}};
	static char *alone[2]; /* the frame in the place of both */

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	if (args.npath != 2 && !(args.npath == 1 && args.psf))
		die_usage("two pictures are needed, REF and NEW, or one with --psf; see %s --help",
			  weir_prog);
	if (args.npath == 1 && (args.subtract || args.common.out))
		die_usage("%s: goes with two pictures", args.subtract ? "--subtract" : "-o");
	if (args.npath == 1) {
		alone[0] = alone[1] = args.path[0];
		args.path = alone;
	}
	if (args.o.size && args.o.size % 2 == 0)
		die_usage("--size: %d is even", args.o.size);
	if (args.o.basis == PSFMATCH_DELTA && args.o.size > 31)
		die_usage("--size: %d is more than 31, the most for --basis=delta", args.o.size);
	if (args.has_smooth && args.o.basis != PSFMATCH_DELTA)
		die_usage("--smooth: goes with --basis=delta");
	if (args.has_convolve && !args.subtract)
		die_usage("--convolve: goes with --subtract");
	if ((args.sigma || args.noise) && !args.subtract)
		die_usage("--%s: goes with --subtract", args.sigma ? "sigma" : "noise");
	if (args.subtract && !args.has_convolve)
		args.o.convolve = PSFMATCH_EITHER;
	args.common.threads = par_threads(args.common.threads);
	args.o.threads = args.common.threads;
	return args;
}
