/* The command line of emst. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/par.h"
#include "common/base/words.h"
#include "emst/args.h"

static const struct opt table[] = {
    {0, "to", OPT_WORD, AT(to), "WHAT",
     "tree, text, linkage, labels, means, palette, colours or table (tree)",
     .words = "tree|text|linkage|labels|means|palette|colours|table", .seen = AT(has_to),
     .group = OPT_DATA},
    {0, "labels-to", OPT_STR, AT(file[LABELS]), "FILE", "write the map of classes to FILE as well",
     .writes = true},
    {0, "palette-to", OPT_STR, AT(file[PALETTE]), "FILE",
     "write the table of classes to FILE as well", .writes = true},
    {0, "map", OPT_STR, AT(map), "FILE",
     "the classes are those of FILE: a palette, colours, or a picture"},
    {'k', "classes", OPT_SIZE, AT(k), "N", "N classes", 1, 0x1p31, .seen = AT(has_k)},
    {0, "cut", OPT_WORD, AT(cut), "WORD",
     "cut for the least variance within classes, or by length (variance for pictures)",
     .words = "length|variance", .seen = AT(has_cut)},
    {'m', "min-size", OPT_STR, AT(min_size), "SIZE",
     "classes of at least SIZE pixels or points, or SIZE% of them"},
    {0, "min-pts", OPT_SIZE, AT(min_pts), "P", "HDBSCAN* with P pixels or points", 1, 0x1p31,
     .seen = AT(has_min_pts)},
    {0, "fill", OPT_FLAG, AT(fill), NULL, "with --min-pts: everything gets a class"},
    {0, "genie", OPT_REAL, AT(genie), "G",
     "with -k: by Genie, while the Gini index is at most G (points)", 0, 1, .absent = "0.3",
     .seen = AT(has_genie)},
    {0, "distance", OPT_REAL, AT(distance), "D", "cut the edges longer than D", 0, 1e300,
     .seen = AT(has_distance)},
    {0, "functional", OPT_ABOVE, AT(functional), "LAMBDA",
     "the cuts by variance with the least SSE + LAMBDA K SST", .seen = AT(has_functional)},
    {0, "neighbours", OPT_INT, AT(neighbours), "4|8",
     "join neighbouring pixels only: classes are regions", 4, 8},
    {0, "scale", OPT_REAL, AT(scale), "S",
     "with --neighbours: regions of Felzenszwalb and Huttenlocher", 0, 1e300,
     .seen = AT(has_scale)},
    {0, "points", OPT_FLAG, AT(points), NULL, "axis 0 holds the coordinates of points",
     .group = OPT_DATA},
    {0, "image", OPT_FLAG, AT(image), NULL, "a table of numbers is a gray picture",
     .group = OPT_DATA},
    {0, "together", OPT_FLAG, AT(together), NULL, "one set of colours from all items",
     .group = OPT_DATA},
    {0, "tree", OPT_STR, AT(tree), "FILE", "cut this tree, written by --to=tree"},
    {0, "method", OPT_WORD, AT(method), "WORD",
     "fast, or brute, which compares all pairs as the paper does (fast)", .words = "fast|brute"},
    {0}};

static const struct opt_program program = {
    .what = "Finds the Euclidean minimum spanning tree of colours or points, and classes.",
    .example = "emst --min-size=50 --to=means photo.ppm >classes.ppm",
    .table = table,
    .common = OPT_THREADS | OPT_GPU | OPT_FORMAT,
    .gpu_state = gpu_state};

/* Parses a number of pixels, or a share of them. */
static struct args_size
parse_size(const char *text)
{
	const char *at = text;
	double v;
	const bool number = word_real(&at, &v), percent = *at == '%';

	if (!number || at[percent] ||
	    (percent ? !(v >= 0 && v <= 100) : !(v >= 1 && v < 0x1p31 && v == floor(v))))
		die_usage(
		    "--min-size: '%s' is not a whole number in 1..2147483647, or 0%% to 100%%",
		    text);
	return percent ? (struct args_size){0, v} : (struct args_size){v, -1};
}

/* Checks that the options that cut the tree go together. */
static void
check_cuts(const struct args *args)
{
	const int cuts =
	    (args->min_size != NULL) + args->has_distance + args->has_functional + args->has_genie;

	if (cuts > 1)
		die_usage("only one of -m, --distance, --functional and --genie can be given");
	if (args->has_min_pts && cuts && !args->has_k)
		die_usage("--min-pts makes its own classes; give -k N for others of its tree");
	if (args->has_genie && !args->has_k)
		die_usage("--genie goes with -k");
	if (args->cut ? args->has_distance || args->has_genie || args->has_scale
		      : args->has_cut && args->has_functional)
		die_usage("--cut=variance goes without --distance, --genie and --scale, and "
			  "--cut=length without --functional");
	if (args->has_cut && args->has_min_pts && !args->has_k)
		die_usage("--min-pts makes its own classes; give -k N for others of its tree");
	if (args->fill && (!args->has_min_pts || args->has_k))
		die_usage("--fill goes with --min-pts and without -k");
	if (args->neighbours && args->neighbours != 4 && args->neighbours != 8)
		die_usage("--neighbours: '%d' is not 4 or 8", args->neighbours);
	if (args->neighbours &&
	    (args->has_min_pts || args->tree || args->common.gpu || args->points))
		die_usage("--neighbours goes with pictures and without --min-pts, --tree, "
			  "--points and -g");
	if (args->has_scale && !args->neighbours)
		die_usage("--scale goes with --neighbours");
	if (args->has_scale && (args->has_k || cuts > (args->min_size != NULL)))
		die_usage("--scale finds its own regions; only -m goes with it");
}

static bool
writes(const struct args *args, int kind)
{
	return args->to == kind || args->file[kind];
}

/* Checks that classes are written where an option chooses them, and a tree or classes where one says how they are made. */
static void
check_use(const struct args *args)
{
	const char *chooser = args->has_k	     ? "-k"
			      : args->min_size	     ? "-m"
			      : args->has_cut	     ? "--cut"
			      : args->has_distance   ? "--distance"
			      : args->has_functional ? "--functional"
			      : args->fill	     ? "--fill"
						     : NULL,
		   *maker = args->method	? "--method=brute"
			    : args->tree	? "--tree"
			    : args->has_min_pts ? "--min-pts"
			    : args->common.gpu	? "-g"
						: NULL;
	const bool pictures = writes(args, LABELS) || writes(args, MEANS),
		   classes = pictures || writes(args, PALETTE) || args->to == TABLE;

	if (chooser && !classes)
		die_usage("%s chooses classes: give --to=labels, means, palette or table", chooser);
	if (maker && args->to == COLOURS && !classes)
		die_usage("%s: goes with a tree or classes, and --to=colours makes none", maker);
	if (args->common.as == RAW_AS_PNM && !pictures)
		die_usage("--pnm: give --to=labels or means, which are pictures");
	if (args->map && (chooser || maker || args->has_genie || args->neighbours))
		die_usage("--map: FILE has the classes, so %s is not needed", chooser ? chooser
									      : maker ? maker
									      : args->has_genie
										  ? "--genie"
										  : "--neighbours");
	if (args->map && (!is_of_classes(args->to) || (args->together && pictures)))
		die_usage("--map writes labels, means, palette and table, of each item for itself");
}

/* Checks the other options. */
static void
check(const struct args *args)
{
	check_cuts(args);
	if (args->points && args->image)
		die_usage("only one of --points and --image can be given");
	if (args->has_scale && !is_of_classes(args->to))
		die_usage("--scale makes no tree; it can write labels, means and palette");
	if ((args->together || args->to == COLOURS) && (args->neighbours || args->points))
		die_usage("%s goes without --neighbours and --points",
			  args->together ? "--together" : "--to=colours");
	for (int kind = 0; kind < KINDS; kind++)
		if (args->file[kind] && !strcmp(args->file[kind], "-"))
			die_usage("standard output is for --to; give a file for the others");
	check_use(args);
	if (args->common.gpu && (args->has_min_pts || args->tree))
		die_usage("-g: goes neither with --min-pts nor with --tree");
	if (args->method && (args->has_min_pts || args->tree || args->neighbours))
		die_usage("--method=brute makes the tree: it goes neither with --min-pts, --tree "
			  "nor --neighbours");
}

void
args_parse(struct args *args, int argc, char **argv)
{
	*args = (struct args){.genie = .3};
	opt_parse(&program, argc, argv, args, &args->path, &args->npath);
	if ((args->has_scale || args->map) && !args->has_to)
		args->to = LABELS;
	args->m = parse_size(args->min_size ? args->min_size : args->has_scale ? "20" : "1%");
	check(args);
	args->gpu = gpu_use(&args->common, GPU_AUTO);
	args->reading =
	    (struct reading){.common = &args->common,
			     .of = args->neighbours ? VERTICES_PIXELS : VERTICES_COLOURS,
			     .points = args->points,
			     .image = args->image,
			     .whole = args->neighbours,
			     .pictures_only = args->together	    ? "--together"
					      : args->to == COLOURS ? "--to=colours"
								    : NULL,
			     .most = args->gpu ? EMST_MAXDIM : EMST_MOSTDIM,
			     .threads = par_threads(args->common.threads)};
}
