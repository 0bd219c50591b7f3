/* The command line of morphrec. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/die.h"
#include "common/base/words.h"
#include "morphrec/job.h"

static const char one[] = "1"; /* the radius of --dilate and --erode without one */

static const struct opt table[] = {
    {0, "open", OPT_STR, AT(reach), "R", "opening by reconstruction, by a shape of radius R",
     .seen = AT(has_open)},
    {0, "close", OPT_STR, AT(reach), "R", "closing by reconstruction, by a shape of radius R",
     .seen = AT(has_close)},
    {0, "tophat", OPT_STR, AT(reach), "R", "what --open takes off", .seen = AT(has_tophat)},
    {0, "dilate", OPT_STR, AT(reach), "R", "the highest sample within a shape of radius R (1)",
     .absent = one, .seen = AT(has_dilate)},
    {0, "erode", OPT_STR, AT(reach), "R", "the lowest sample within a shape of radius R (1)",
     .absent = one, .seen = AT(has_erode)},
    {0, "shape", OPT_STR, AT(shape), "SHAPE",
     "of those: square, disk, ball, line:DEGREES or a FILE (square)",
     .words = "square|disk|ball|FILE"},
    {0, "fill-holes", OPT_SET, AT(flag_op), NULL,
     "raise what the frame of the picture does not reach", .value = MORPHREC_FILL_HOLES},
    {0, "clear-border", OPT_SET, AT(flag_op), NULL, "take off what is connected to the frame",
     .value = MORPHREC_CLEAR_BORDER},
    {0, "hysteresis", OPT_STR, AT(hysteresis), "LO,HI",
     "pixels of LO or more that are connected to one of HI or more"},
    {0, "area", OPT_SIZE, AT(o.area), "N", "cut down peaks of fewer than N pixels", .lo = 1,
     .hi = 1e18, .seen = AT(has_area)},
    {0, "area-close", OPT_SIZE, AT(o.area), "N", "fill basins of fewer than N pixels", .lo = 1,
     .hi = 1e18, .seen = AT(has_area_close)},
    {0, "hmax", OPT_ABOVE, AT(o.h), "H", "flatten maxima that rise less than H",
     .seen = AT(has_hmax)},
    {0, "hmin", OPT_ABOVE, AT(o.h), "H", "flatten minima that sink less than H",
     .seen = AT(has_hmin)},
    {0, "hdome", OPT_ABOVE, AT(o.h), "H", "the domes, of height up to H, that --hmax takes off",
     .seen = AT(has_hdome)},
    {0, "regmax", OPT_SET, AT(flag_op), NULL, "the regional maxima, as a binary picture",
     .value = MORPHREC_REGMAX},
    {0, "regmin", OPT_SET, AT(flag_op), NULL, "the regional minima, as a binary picture",
     .value = MORPHREC_REGMIN},
    {'m', "mask", OPT_STR, AT(mask), "FILE", "the mask; the marker is the input"},
    {'e', "dual", OPT_FLAG, AT(erode), NULL, "with -m: reconstruct by erosion"},
    {'c', "connectivity", OPT_INT, AT(conn), "N",
     "neighbours: 4 or 8 (8), in a volume 6, 18 or 26 (26)", .lo = 4, .hi = 26,
     .words = "4|6|8|18|26"},
    {0, "volume", OPT_SET, AT(depth), NULL, "a stack is a volume", .value = IMG_VOLUME},
    {0, "slices", OPT_SET, AT(depth), NULL, "a stack is no volume", .value = IMG_SLICES},
    {0, "nan", OPT_WORD, AT(nan), "HOW", "NaN samples: error, barrier or frame (error)",
     .words = "error|barrier|frame"},
    {0, "max-mem", OPT_SIZE, AT(max_mem), "BYTES", "keep the pictures in files, work in bands",
     .lo = 1, .hi = 1e18},
    {0, "seam", OPT_STR, AT(seam), "DIR", "with --part: shares of one picture meet in DIR",
     .unrecorded = true},
    {0, "method", OPT_WORD, AT(method), "NAME", "tile or heap (tile)", .words = "tile|heap"},
    {0, "node", OPT_SIZE, AT(node), "N", "of --method=heap: pixels of a node (256)", .lo = 1,
     .hi = 1e6},
    {0, "heaps", OPT_SIZE, AT(heaps), "N",
     "of --method=heap: heaps (1, or 4 for each of more threads)", .lo = 1, .hi = 1 << 20},
    {0}};

static const struct opt_program program = {
    .what = "Grayscale morphological reconstruction, and the operators made of it.",
    .example = "morphrec --fill-holes coins.pgm >filled.pgm",
    .table = table,
    .common = OPT_THREADS | OPT_GPU | OPT_FORMAT | OPT_PART,
    .gpu_state = gpu_state};

/* Finds the operator that was asked for. */
static void
choose(struct args *a)
{
	const struct {
		bool given;
		enum morphrec_op op;
	} all[] = {{a->has_hmax, MORPHREC_HMAX},
		   {a->has_hmin, MORPHREC_HMIN},
		   {a->has_hdome, MORPHREC_HDOME},
		   {a->has_open, MORPHREC_OPEN},
		   {a->has_close, MORPHREC_CLOSE},
		   {a->has_tophat, MORPHREC_TOPHAT},
		   {a->has_dilate, MORPHREC_DILATE},
		   {a->has_erode, MORPHREC_ERODE},
		   {a->has_area, MORPHREC_AREA},
		   {a->has_area_close, MORPHREC_AREA_CLOSE},
		   {a->hysteresis != NULL, MORPHREC_HYSTERESIS},
		   {a->flag_op != MORPHREC_NONE, (enum morphrec_op)a->flag_op}};
	int n = a->mask != NULL;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		n += all[i].given;
		a->o.op = all[i].given ? all[i].op : a->o.op;
	}
	if (n != 1)
		die_usage("%s: give a mask (-m) or one operator",
			  n ? "several operations" : "nothing to do");
}

/* Reads the radius: a number that a unit may follow. */
static void
read_radius(struct args *a)
{
	const char *text = a->reach, *name = a->has_open     ? "--open"
					     : a->has_close  ? "--close"
					     : a->has_dilate ? "--dilate"
					     : a->has_erode  ? "--erode"
							     : "--tophat";
	a->unit = text;
	const bool number = word_real(&a->unit, &a->radius);
	const unsigned char next = (unsigned char)*a->unit;

	if (!number || (next && !isalpha(next) && next < 128) || /* the m of um may be any */
	    !(a->radius > 0) || !(a->radius <= 1e9))
		die_usage("%s: '%s' is not a number above 0, up to 1e9, that a unit may follow",
			  name, text);
	if (!*a->unit && (a->radius < 1 || a->radius != floor(a->radius)))
		die_usage("%s: '%s' is not a whole number of pixels, 1 or more; a unit may follow",
			  name, text);
	a->o.r = *a->unit ? 1 : (size_t)a->radius;
}

/* Reads the name of a shape. What is not a name is a file, which must exist. */
static void
read_kind(struct args *a, const char *shape)
{
	static const struct {
		const char *name;
		enum args_shape kind;
	} named[] = {{"square", ARGS_SQUARE}, {"disk", ARGS_DISK}, {"ball", ARGS_BALL}};
	struct stat file;

	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		if (!strcmp(shape, named[i].name)) {
			a->kind = named[i].kind;
			return;
		}
	if (!strncmp(shape, "line:", 5)) {
		if (!opt_number(shape + 5, &a->degrees) || !isfinite(a->degrees))
			die_usage("--shape=%s: '%s' is not a number of degrees", shape, shape + 5);
		a->kind = ARGS_LINE;
		return;
	}
	if (stat(shape, &file) && errno == ENOENT)
		die_usage("--shape: '%s' is not square, disk, ball or line:DEGREES, and there is "
			  "no such file",
			  shape);
	a->kind = ARGS_PICTURE;
}

/* Reads the radius and the shape of the operators that have one. */
static void
read_shape(struct args *a)
{
	const char *const shape = a->shape;

	if (a->reach)
		read_radius(a);
	if (!shape)
		return;
	if (!a->reach)
		die_usage("--shape: goes with --open, --close, --tophat, --dilate or --erode");
	read_kind(a, shape);
	if (*a->unit && a->kind > ARGS_BALL)
		die_usage("--shape=%s: takes a radius in pixels, not in %s", shape, a->unit);
	if (a->kind == ARGS_BALL && a->depth == IMG_SLICES)
		die_usage("--shape=ball: goes with volumes; a disk is for pictures");
	a->depth = a->kind == ARGS_BALL ? IMG_VOLUME : a->depth;
}

/* Dies when options contradict each other. */
static void
check(const struct args *a)
{
	if (a->conn && a->conn != 4 && a->conn != 8 && a->conn != 6 && a->conn != 18 &&
	    a->conn != 26)
		die_usage("--connectivity: %d is not one of 4, 8, 6, 18, 26", a->conn);
	if (a->erode && !a->mask)
		die_usage("-e, --dual: goes with a mask (-m) only");
	if (a->nan && (a->has_dilate || a->has_erode))
		die_usage("--nan: not with --dilate or --erode, which are no reconstructions");
	if (a->nan == ARGS_FRAME && a->o.op != MORPHREC_FILL_HOLES &&
	    a->o.op != MORPHREC_CLEAR_BORDER)
		die_usage("--nan=frame: goes with --fill-holes and --clear-border");
	if ((a->node || a->heaps) && a->method != MORPHREC_HEAP)
		die_usage("--node and --heaps: go with --method=heap");
	if (a->max_mem && a->method != MORPHREC_TILE)
		die_usage("--max-mem: goes with the method tile only");
	if (a->max_mem && !morphrec_op_by_rows(a->o.op))
		die_usage(
		    "--max-mem: not with --regmax, --regmin, --open, --close, --tophat, --dilate, "
		    "--erode, --area or --area-close, which need the whole picture at a time");
	if (a->common.gpu && a->max_mem)
		die_usage("-g: goes without --max-mem");
	if (a->common.gpu && a->method == MORPHREC_HEAP)
		die_usage("-g: --method=heap runs on the CPU alone");
	if (a->seam && !a->common.share.n)
		die_usage("--seam needs --part=I/N");
	if (a->seam && (a->max_mem || a->common.gpu || a->method != MORPHREC_TILE ||
			morphrec_op_is_plain(a->o.op)))
		die_usage("--seam: not with --max-mem, -g, --area, --area-close, --dilate or "
			  "--erode, and only with the method tile");
	if (a->seam && a->common.out && !strcmp(a->common.out, "-"))
		die_usage("--seam: standard output takes a line, not the picture; -o needs a file");
	if (morphrec_op_is_plain(a->o.op) && (a->common.gpu || a->method != MORPHREC_TILE))
		die_usage("--area, --area-close, --dilate and --erode are no reconstructions: not "
			  "with -g or --method");
}

struct args
morphrec_args(int argc, char **argv)
{
	struct args a = {.unit = ""};

	opt_parse(&program, argc, argv, &a, &a.path, &a.npath);
	if (a.mask && a.has_erode && a.reach == one) { /* -e was so called */
		a.has_erode = false;
		a.reach = NULL;
		a.erode = true;
	}
	choose(&a);
	a.depth = (int)raw_depth(a.depth, a.conn);
	read_shape(&a);
	check(&a);
	if (a.hysteresis) {
		double v[2];
		opt_reals("--hysteresis", a.hysteresis, ',', v, 2);
		if (v[0] > v[1])
			die_usage("--hysteresis: '%s': LO is above HI", a.hysteresis);
		a.o.lo = v[0];
		a.o.hi = v[1];
	}
	if (a.max_mem && !a.common.max_bytes)
		a.common.max_bytes = SIZE_MAX;
	a.gpu = gpu_use(&a.common, GPU_LIST | GPU_AUTO);
	return a;
}
