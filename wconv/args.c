/* The options of wconv. */
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/words.h"
#include "gpu/use.h"
#include "wconv/args.h"

static const struct opt table[] = {
    {'k', "kernel", OPT_STR, AT(kernels), "FILE", "the kernel, or the grid of kernels"},
    {0, "gaussian", OPT_STR, AT(gaussian), "SIGMA,...",
     "a Gaussian instead, along x, y, z, in pixels or 2um"},
    {0, "less", OPT_STR, AT(less), "SIGMA,...", "less a wider Gaussian of this size"},
    {0, "box", OPT_STR, AT(box), "N,...", "the mean of N pixels instead, along x, y, z"},
    {0, "volume", OPT_SET, AT(depth), NULL, "a stack is a volume", .value = IMG_VOLUME},
    {0, "slices", OPT_SET, AT(depth), NULL, "a stack is no volume", .value = IMG_SLICES},
    {0, "grid", OPT_STR, AT(grid), "GXxGY", "the file is a sheet of GX by GY kernels"},
    {0, "normalise", OPT_FLAG, AT(normalise), NULL, "scale each kernel to the sum 1"},
    {0, "edge", OPT_WORD, AT(edge), "HOW", "%s",
     .words = "zero|reflect|mirror|nearest|wrap|renormalise", .seen = AT(has_edge)},
    {0, "type", OPT_WORD, AT(type), "TYPE", "float, or input: rounded and clipped to the input's",
     .words = "float|input"},
    {0, "nan", OPT_WORD, AT(nan), "HOW", "pixels that are not finite: %s",
     .words = "propagate|interpolate|zero", .seen = AT(has_nan)},
    {0, "variance", OPT_FLAG, AT(variance), NULL, "the pixels, and so the results, are variances"},
    {0, "deconvolve", OPT_INT, AT(steps), "N", "the inverse, by N steps of Richardson and Lucy", 1,
     1e6},
    {0, "accelerate", OPT_FLAG, AT(accelerate), NULL, "deconvolve in fewer steps"},
    {0, "noise", OPT_REAL, AT(noise), "RMS", "stop deconvolving when the misfit is RMS", 0, 1e300,
     .seen = AT(has_noise)},
    {0, "sky", OPT_REAL, AT(sky), "V", "a level of the data that is not deconvolved",
     .seen = AT(has_sky)},
    {0, "damp", OPT_REAL, AT(damp), "V", "deconvolve by least squares, damped by V", 0, 1e30,
     .seen = AT(has_damp)},
    {0, "adjoint", OPT_FLAG, AT(adjoint), NULL, "scatter along the kernels instead of gathering"},
    {0, "correlate", OPT_FLAG, AT(correlate), NULL, "correlate instead of convolving"},
    {0, "basis", OPT_STR, AT(basis), "poly:DEG", "the kernels are coefficients of polynomials"},
    {0, "place", OPT_WORD, AT(ask.place), "WHERE",
     "nodes at the centres of cells or from corner to corner: centre, corner",
     .words = "centre|corner"},
    {0, "cols", OPT_STR, AT(cols), "X,...", "positions of the grid's columns, in pixels"},
    {0, "rows", OPT_STR, AT(rows), "Y,...", "positions of the grid's rows"},
    {0, "double", OPT_FLAG, AT(ask.in_double), NULL, "compute in double precision"},
    {0, "method", OPT_WORD, AT(method), "HOW", "auto, direct or fft", .words = "auto|direct|fft"},
    {0}};

static const struct opt_program program = {
    .what = "Convolves images with a kernel that varies from place to place.",
    .example = "wconv -k psf.pgm --normalise --type=input photo.ppm >blurred.ppm",
    .table = table,
    .common = OPT_THREADS | OPT_GPU | OPT_FORMAT | OPT_PART,
    .gpu_state = gpu_state};

/* Parses --grid=AxB; both are 1 or more. */
static void
parse_grid(struct args *args)
{
	const char *at = args->grid;

	if (!at)
		return;
	if (!word_size_before(&at, strchr(at, ',') ? ',' : 'x', &args->ask.gx) || !args->ask.gx ||
	    !word_size_before(&at, '\0', &args->ask.gy) || !args->ask.gy)
		die_usage("--grid: '%s' is not GXxGY, two numbers from 1", args->grid);
}

static void
parse_basis(struct args *args)
{
	if (args->basis && wconv_parse_basis(args->basis, &args->ask.degree))
		die_usage("--basis: '%s' is not poly:DEG, a degree in 0..%d", args->basis,
			  WCONV_DEGREE);
}

/* Parses the sizes of the kernel that an option makes. Returns how many there are, and where a unit follows them. */
static size_t
parse_sizes(const char *option, const char *from, bool box, double size[3], const char **unit)
{
	char *text = weir_xstrdup(from), *end = text + strlen(text);

	while (!box && end > text && !strchr("0123456789.,", end[-1]))
		end--;
	*unit = from + (end > text ? (size_t)(end - text) : strlen(from));
	if (end > text)
		*end = 0;
	const size_t n = opt_reals_upto(option, text, ',', size, 3);
	weir_free(text);
	if (n == 1)
		size[1] = size[2] = size[0];
	for (int a = 0; a < 3; a++)
		if (!(size[a] >= box && size[a] <= 1e6) || (box && size[a] != floor(size[a])))
			die_usage("%s: %g is not %s to 1e6", option, size[a],
				  box ? "a whole number from 1" : "from 0");
	return n;
}

/* Parses --gaussian, --less and --box, which take the place of -k. */
static void
parse_made(struct args *args)
{
	const bool box = args->box;
	const char *option = box ? "--box" : "--gaussian", *unit = "";

	if (!!args->kernels + !!args->gaussian + box != 1)
		die_usage("one kernel is needed: -k, --gaussian or --box");
	if (args->less && !args->gaussian)
		die_usage("--less goes with --gaussian");
	if (args->kernels && args->depth)
		die_usage("--volume and --slices go with --gaussian and --box");
	if (args->kernels)
		return;
	args->made.box = box;
	args->made.axes = parse_sizes(option, box ? args->box : args->gaussian, box,
				      args->made.size[0], &args->made.unit);
	args->made.less = args->less;
	if (args->less && (parse_sizes("--less", args->less, false, args->made.size[1], &unit) !=
			       args->made.axes ||
			   strcmp(unit, args->made.unit) != 0))
		die_usage("--less: it has as many sizes as --gaussian, in the same unit");
	if (!*args->made.unit)
		args->made.unit = NULL;
	if (args->made.axes > 1 && !args->depth)
		args->depth = args->made.axes == 2 ? IMG_SLICES : IMG_VOLUME;
	if (args->depth && args->made.axes == (args->depth == IMG_SLICES ? 3 : 2))
		die_usage("%s: volumes take one size or three, slices one or two", option);
	if (args->grid || args->basis || args->cols || args->rows ||
	    args->ask.place != WCONV_PLACE_UNSAID)
		die_usage("--grid, --basis, --place, --cols and --rows go with -k");
	args->edge = args->has_edge ? args->edge : WCONV_REFLECT;
}

/* Parses a list of positions, *n of them, separated by commas. */
static double *
parse_positions(const char *option, const char *text, size_t *n)
{
	double *v;

	if (!text)
		return NULL;
	*n = 1;
	for (const char *s = text; (s = strchr(s, ',')); s++)
		++*n;
	v = weir_xalloc(*n, sizeof *v);
	opt_reals(option, text, ',', v, *n);
	return v;
}

/* Checks the options that the adjoint and the deconvolution exclude, and sets the defaults that they change. */
static void
check_inverse(struct args *args)
{
	if ((args->has_damp || args->has_noise || args->has_sky) && !args->steps)
		die_usage("--damp, --noise and --sky go with --deconvolve");
	if (args->accelerate && (!args->steps || args->has_damp))
		die_usage("--accelerate goes with --deconvolve without --damp");
	if (args->accelerate && args->common.gpu)
		die_usage("--accelerate runs on the CPU alone: leave -g out");
	if (args->variance && (args->steps || args->adjoint || args->common.gpu))
		die_usage("--variance goes with the convolution alone, on the CPU");
	if (!args->steps && !args->adjoint)
		return;
	if (args->common.gpu && args->steps && strchr(args->common.gpu, ','))
		die_usage("-g: '%s' is a list, and --deconvolve runs on one GPU", args->common.gpu);
	if (args->type)
		die_usage("--type=input goes with the convolution alone");
	if (args->steps && !args->has_edge)
		args->edge = WCONV_RENORMALISE;
	if (args->steps && !args->has_nan)
		args->nan = WCONV_NAN_INTERPOLATE;
	if (!args->steps && args->nan == WCONV_NAN_INTERPOLATE)
		die_usage("--nan=interpolate: the adjoint has no pixels to fill in");
}

static void
check_share(const struct args *args)
{
	if (!args->common.share.n)
		return;
	if (args->steps || args->adjoint)
		die_usage("--part shares out the convolution; --adjoint and --deconvolve need all "
			  "pixels");
	if (args->edge == WCONV_WRAP)
		die_usage(
		    "--part: --edge=wrap needs the first and the last rows of a picture at once");
}

struct args
wconv_args(int argc, char **argv)
{
	struct args args = {.made.size[0] = {1, 1, 1},
			    .ask = {.degree = -1, .place = WCONV_PLACE_UNSAID}};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	args.common.threads = par_threads(args.common.threads);
	parse_grid(&args);
	parse_basis(&args);
	parse_made(&args);
	args.ask.col = parse_positions("--cols", args.cols, &args.ask.ncol);
	args.ask.row = parse_positions("--rows", args.rows, &args.ask.nrow);
	check_inverse(&args);
	check_share(&args);
	if (args.basis && (args.cols || args.rows || args.ask.place != WCONV_PLACE_UNSAID))
		die_usage("--basis has no nodes: it excludes --place, --cols and --rows");
	for (size_t i = 0; args.kernels && !strcmp(args.kernels, "-") && i <= args.npath; i++)
		if (i == args.npath ? i == 0 : !strcmp(args.path[i], "-"))
			die_usage("standard input cannot be both the kernels and an image");
	args.gpu = gpu_use(&args.common, GPU_LIST);
	return args;
}

void
wconv_args_volume(const struct args *args)
{
	const char *option = args->common.gpu		    ? "-g"
			     : args->common.share.n	    ? "--part"
			     : args->method == WCONV_DIRECT ? "--method=direct"
			     : args->edge == WCONV_RENORMALISE && !args->steps
				 ? "--edge=renormalise without --deconvolve"
			     : args->nan == WCONV_NAN_INTERPOLATE && args->variance
				 ? "--nan=interpolate with --variance"
				 : NULL;

	if (option)
		die_usage("%s does not go with a kernel of three axes%s", option,
			  args->kernels ? "" : "; --slices takes pictures");
}

void
wconv_args_free(struct args *args)
{
	gpu_close(args->gpu);
	weir_free_all(args->ask.col, args->ask.row);
}
