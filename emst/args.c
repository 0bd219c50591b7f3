/* The command line of emst. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/stream/raw.h"
#include "emst/job.h"
#include "emst/palette/palette.h"

#define AT(member) .at = offsetof(struct args, member)
#define FILE_OPTION(word, kind_, what)                                               \
	{                                                                            \
		.name = word "-to", .kind = OPT_STR, AT(file[kind_]), .arg = "FILE", \
		.help = "write " what " to FILE as well"                             \
	}

static const struct opt table[] = {
    {.name = "to",
     .kind = OPT_WORD,
     AT(to),
     .arg = "WHAT",
     .words = "tree|text|linkage|labels|means|palette|colours",
     .seen = offsetof(struct args, has_to),
     .help = "tree, text, linkage, labels, means, palette or colours (tree)",
     .group = OPT_DATA},
    FILE_OPTION("tree", TREE, "the tree"),
    FILE_OPTION("text", TEXT, "the tree as text"),
    FILE_OPTION("linkage", LINKAGE, "SciPy's linkage matrix"),
    FILE_OPTION("labels", LABELS, "the map of classes"),
    FILE_OPTION("means", MEANS, "the class means"),
    FILE_OPTION("palette", PALETTE, "the table of classes"),
    FILE_OPTION("colours", COLOURS, "the colours and their pixels"),
    {.name = "palette",
     .kind = OPT_SIZE,
     AT(palette),
     .arg = "K",
     .lo = 1,
     .hi = PALETTE_MOST,
     .seen = offsetof(struct args, has_palette),
     .help = "the K colours that lose least, without a tree"},
    {.name = "dither",
     .kind = OPT_FLAG,
     AT(dither),
     .help = "with --palette: mix colours, so that areas keep their mean"},
    {.name = "neighbours",
     .kind = OPT_INT,
     AT(neighbours),
     .arg = "4|8",
     .lo = 4,
     .hi = 8,
     .help = "join neighbouring pixels only: classes are regions"},
    {.name = "scale",
     .kind = OPT_REAL,
     AT(scale),
     .arg = "S",
     .lo = 0,
     .hi = 1e300,
     .seen = offsetof(struct args, has_scale),
     .help = "with --neighbours: regions of Felzenszwalb and Huttenlocher"},
    {.letter = 'm',
     .name = "min-size",
     .kind = OPT_STR,
     AT(min_size),
     .arg = "SIZE",
     .help = "classes of at least SIZE pixels or points, or SIZE% of them"},
    {.letter = 'k',
     .name = "classes",
     .kind = OPT_SIZE,
     AT(k),
     .arg = "N",
     .lo = 1,
     .hi = 0x1p31,
     .seen = offsetof(struct args, has_k),
     .help = "N classes, none of them a stray point"},
    {.name = "genie",
     .kind = OPT_REAL,
     AT(genie),
     .arg = "G",
     .lo = 0,
     .hi = 1,
     .absent = "0.3",
     .seen = offsetof(struct args, has_genie),
     .help = "with -k: by Genie, while the Gini index is at most G"},
    {.name = "linkage",
     .kind = OPT_WORD,
     AT(linkage),
     .arg = "WORD",
     .words = "forest|single",
     .help = "with -k: forest, or single, which cuts the N-1 longest edges (forest)"},
    {.name = "distance",
     .kind = OPT_REAL,
     AT(distance),
     .arg = "D",
     .lo = 0,
     .hi = 1e300,
     .seen = offsetof(struct args, has_distance),
     .help = "cut the edges longer than D"},
    {.name = "functional",
     .kind = OPT_ABOVE,
     AT(functional),
     .arg = "LAMBDA",
     .lo = 0,
     .seen = offsetof(struct args, has_functional),
     .help = "the -m with the least SSE + LAMBDA K SST"},
    {.name = "min-pts",
     .kind = OPT_SIZE,
     AT(min_pts),
     .arg = "P",
     .lo = 1,
     .hi = 0x1p31,
     .seen = offsetof(struct args, has_min_pts),
     .help = "HDBSCAN* with P pixels or points"},
    {.name = "select",
     .kind = OPT_WORD,
     AT(select),
     .arg = "WHICH",
     .words = "eom|leaf",
     .seen = offsetof(struct args, has_select),
     .help = "with --min-pts: eom, the most stable classes, or leaf, the smallest (eom)"},
    {.name = "fill", .kind = OPT_FLAG, AT(fill), .help = "with --min-pts: everything gets a class"},
    {.name = "method",
     .kind = OPT_WORD,
     AT(method),
     .arg = "WORD",
     .words = "fast|brute",
     .help = "fast, or brute, which compares all pairs as the paper does (fast)"},
    {.name = "tree",
     .kind = OPT_STR,
     AT(tree),
     .arg = "FILE",
     .help = "cut this tree, written by --to=tree"},
    {.name = "points",
     .kind = OPT_FLAG,
     AT(points),
     .help = "axis 0 holds the coordinates of points",
     .group = OPT_DATA},
    {.name = "image",
     .kind = OPT_FLAG,
     AT(image),
     .help = "a table of numbers is a gray picture",
     .group = OPT_DATA},
    {.name = "together",
     .kind = OPT_FLAG,
     AT(together),
     .help = "one set of colours from all items",
     .group = OPT_DATA},
    {0}};

static const struct opt_program program = {.what = "Finds the Euclidean minimum spanning tree of "
						   "colours or points, and classes.",
					   .table = table,
					   .common = OPT_THREADS | OPT_GPU | OPT_FORMAT,
					   .operands = "[FILE ...]",
					   .max_operands = SIZE_MAX,
					   .gpu_state = gpu_state};

/* Parses a number of pixels, or a share of them. */
static struct args_size
parse_size(const char *option, const char *text)
{
	size_t n = strlen(text);
	char *number = weir_xstrdup(text);
	bool percent = n && text[n - 1] == '%';
	struct args_size s = {0, -1};

	if (percent)
		number[n - 1] = 0;
	if (!opt_number(number, percent ? &s.percent : &s.number) ||
	    (percent && !(s.percent >= 0 && s.percent <= 100)) ||
	    (!percent && !(s.number >= 1 && s.number < 0x1p31 && s.number == floor(s.number))))
		die_usage("%s: '%s' is not a whole number in 1..2147483647, or 0%% to 100%%",
			  option, text);
	weir_free(number);
	return s;
}

/* Checks that the options that cut the tree go together. */
static void
check_cuts(const struct args *args)
{
	const int cuts = (args->min_size != NULL) + args->has_distance + args->has_functional +
			 args->has_genie + (args->linkage != 0);

	if (cuts > 1)
		die_usage("only one of -m, --distance, --functional, --genie and --linkage can be "
			  "given");
	if (args->has_min_pts && cuts && !args->has_k)
		die_usage("--min-pts makes its own classes; give -k N for others of its tree");
	if (args->has_genie && !args->has_k)
		die_usage("--genie goes with -k");
	if (args->linkage && !args->has_k)
		die_usage("--linkage=single goes with -k");
	if (args->has_select && (!args->has_min_pts || args->has_k))
		die_usage("--select goes with --min-pts and without -k");
	if (args->fill && (!args->has_min_pts || args->has_k))
		die_usage("--fill goes with --min-pts and without -k");
	if (args->has_palette && (cuts || args->has_k || args->has_min_pts))
		die_usage("--palette makes its own classes; no other option that makes some goes "
			  "with it");
	if (args->has_palette && (args->tree || args->common.gpu || args->points))
		die_usage("--palette is for pictures and needs no tree; leave --tree, -g and "
			  "--points out");
	if (args->dither && !args->has_palette)
		die_usage("--dither goes with --palette");
	if (args->neighbours && args->neighbours != 4 && args->neighbours != 8)
		die_usage("--neighbours: '%d' is not 4 or 8", args->neighbours);
	if (args->neighbours && (args->has_palette || args->has_min_pts || args->tree ||
				 args->common.gpu || args->points))
		die_usage(
		    "--neighbours goes with pictures and without --palette, --min-pts, --tree, "
		    "--points and -g");
	if (args->has_scale && !args->neighbours)
		die_usage("--scale goes with --neighbours");
	if (args->has_scale && (args->has_k || cuts > (args->min_size != NULL)))
		die_usage("--scale finds its own regions; only -m goes with it");
	if (args->points && args->image)
		die_usage("only one of --points and --image can be given");
}

static bool
writes(const struct args *args, int kind)
{
	return args->to == kind || args->file[kind];
}

/* The option that chooses the classes; NULL when none is given. */
static const char *
chooser(const struct args *args)
{
	return args->has_k	      ? "-k"
	       : args->min_size	      ? "-m"
	       : args->has_distance   ? "--distance"
	       : args->has_functional ? "--functional"
	       : args->has_select     ? "--select"
	       : args->fill	      ? "--fill"
	       : args->has_palette    ? "--palette"
				      : NULL;
}

/* Checks that classes are written where an option chooses them. */
static void
check_classes(const struct args *args)
{
	const char *given = chooser(args);

	if (given && !writes(args, LABELS) && !writes(args, MEANS) && !writes(args, PALETTE))
		die_usage("%s chooses classes: give --to=labels, means or palette", given);
}

/* The option that says how a tree is made; NULL when none is given. */
static const char *
tree_option(const struct args *args)
{
	return args->method	   ? "--method=brute"
	       : args->tree	   ? "--tree"
	       : args->has_min_pts ? "--min-pts"
	       : args->common.gpu  ? "-g"
				   : NULL;
}

/* Checks that something is made of the tree where an option says how it is made. */
static void
check_tree(const struct args *args)
{
	const char *given = tree_option(args);
	bool tree = false;

	for (int kind = 0; kind < KINDS; kind++)
		tree |= kind != COLOURS && writes(args, kind);
	if (given && !tree)
		die_usage("%s: goes with a tree or classes, and --to=colours makes none", given);
}

/* Checks that the colours of pictures are looked at where that is asked for. */
static void
check_colours(const struct args *args)
{
	if ((args->together || args->colours) && (args->neighbours || args->points))
		die_usage("%s goes without --neighbours and --points",
			  args->together ? "--together" : "--to=colours");
	if (args->together && (writes(args, LABELS) || writes(args, MEANS)))
		die_usage("--together writes no labels and means, since the pictures are not kept");
}

struct args
args_parse(int argc, char **argv)
{
	struct args args = {0};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	check_cuts(&args);
	if ((args.has_palette || args.has_scale) && !args.has_to)
		args.to = args.has_palette ? MEANS : LABELS;
	for (int kind = 0; kind < LABELS && (args.has_palette || args.has_scale); kind++)
		if (args.file[kind] || args.to == kind)
			die_usage("%s makes no tree; it can write labels, means and palette",
				  args.has_palette ? "--palette" : "--scale");
	args.colours = writes(&args, COLOURS);
	check_colours(&args);
	args.m = parse_size("--min-size", args.min_size	   ? args.min_size
					  : args.has_scale ? "20"
							   : "1%");
	for (int kind = 0; kind < KINDS; kind++)
		if (args.file[kind] && !strcmp(args.file[kind], "-"))
			die_usage("standard output is for --to; give a file for the others");
	check_classes(&args);
	check_tree(&args);
	if (args.common.gpu && (args.has_min_pts || args.tree))
		die_usage("-g: goes neither with --min-pts nor with --tree");
	if (args.method && (args.has_min_pts || args.tree || args.neighbours || args.has_palette))
		die_usage("--method=brute makes the tree: it goes neither with --min-pts, --tree, "
			  "--neighbours nor --palette");
	if (args.dither && !writes(&args, LABELS) && !writes(&args, MEANS))
		die_usage("--dither changes pictures: give --to=labels or means");
	if (args.common.as == RAW_AS_PNM && !writes(&args, LABELS) && !writes(&args, MEANS))
		die_usage("--pnm: give --to=labels or means, which are pictures");
	args.gpu = gpu_use(&args.common);
	return args;
}
