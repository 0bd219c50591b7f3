#include <stddef.h>

#include "common/die.h"
#include "morphrec/args.h"

#define AT(member) offsetof(struct args, member)

static const struct opt table[] = {
    {'m', "mask", OPT_STR, AT(mask), "FILE", "the mask; the marker is the input"},
    {0, "hmax", OPT_ABOVE, AT(hmax), "H", "flatten maxima that rise less than H",
     .seen = AT(has_hmax)},
    {0, "hmin", OPT_ABOVE, AT(hmin), "H", "flatten minima that sink less than H",
     .seen = AT(has_hmin)},
    {0, "hdome", OPT_ABOVE, AT(hdome), "H", "the domes, of height up to H, that --hmax takes off",
     .seen = AT(has_hdome)},
    {0, "fill-holes", OPT_SET, AT(flag_op), NULL,
     "raise what the frame of the picture does not reach", .value = MORPHREC_FILL_HOLES},
    {0, "clear-border", OPT_SET, AT(flag_op), NULL, "take off what is connected to the frame",
     .value = MORPHREC_CLEAR_BORDER},
    {0, "regmax", OPT_SET, AT(flag_op), NULL, "the regional maxima, as a two-valued picture",
     .value = MORPHREC_REGMAX},
    {0, "regmin", OPT_SET, AT(flag_op), NULL, "the regional minima, as a two-valued picture",
     .value = MORPHREC_REGMIN},
    {0, "open", OPT_SIZE, AT(open), "R", "opening by reconstruction, by a square of side 2R+1",
     .lo = 1, .hi = 1e9, .seen = AT(has_open)},
    {0, "close", OPT_SIZE, AT(close), "R", "closing by reconstruction, by a square of side 2R+1",
     .lo = 1, .hi = 1e9, .seen = AT(has_close)},
    {0, "hysteresis", OPT_STR, AT(hysteresis), "LO,HI",
     "pixels of LO or more that are connected to one of HI or more"},
    {'c', "connectivity", OPT_INT, AT(conn), "N", "neighbours: 4 or 8 (8), in a volume 6, 18 or 26",
     .lo = 4, .hi = 26},
    {'e', "erode", OPT_FLAG, AT(erode), NULL, "with -m: reconstruct by erosion"},
    {0, "strict", OPT_FLAG, AT(strict), NULL, "a marker beyond the mask is an error, not clipped"},
    {0, "nan", OPT_WORD, AT(nan), "HOW", "NaN samples: error or barrier (error)",
     .words = "error|barrier"},
    {0, "method", OPT_WORD, AT(method), "NAME", "tile, queue, heap or scan (tile)",
     .words = "tile|queue|heap|scan"},
    {0, "max-mem", OPT_SIZE, AT(max_mem), "BYTES", "keep the pictures in files, work in bands",
     .lo = 1, .hi = 1e18},
    {0}};

static const struct opt_program program = {
    .what = "Grayscale morphological reconstruction, and the operators made of it.",
    .table = table,
    .common = OPT_THREADS | OPT_GPU | OPT_FORMAT,
    .operands = "[FILE ...]",
    .max_operands = SIZE_MAX,
    .gpu_state = gpu_state};

/* The one operator that was asked for. */
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
	a->o.h = a->has_hmax ? a->hmax : a->has_hmin ? a->hmin : a->hdome;
	a->o.r = a->has_open ? a->open : a->close;
}

struct args
morphrec_args(int argc, char **argv)
{
	struct args a = {.conn = 8};

	opt_parse(&program, argc, argv, &a, &a.path, &a.npath);
	choose(&a);
	if (a.conn != 4 && a.conn != 8 && a.conn != 6 && a.conn != 18 && a.conn != 26)
		die_usage("--connectivity: %d is not one of 4, 8, 6, 18, 26", a.conn);
	if (a.erode && !a.mask)
		die_usage("--erode: goes with a mask (-m) only");
	if (a.max_mem && a.method != MORPHREC_TILE)
		die_usage("--max-mem: goes with the method tile only");
	if (a.max_mem && !morphrec_op_by_rows(a.o.op))
		die_usage("--max-mem: not with --regmax, --regmin, --open or --close, which need "
			  "the whole picture at a time");
	if (a.hysteresis) {
		double v[2];
		opt_reals("--hysteresis", a.hysteresis, ',', v, 2);
		if (v[0] > v[1])
			die_usage("--hysteresis: %s: LO is above HI", a.hysteresis);
		a.o.lo = v[0];
		a.o.hi = v[1];
	}
	if (a.max_mem && !a.common.max_bytes)
		a.common.max_bytes = SIZE_MAX;
	if (a.common.gpu && (a.max_mem || (a.method != MORPHREC_TILE && a.method != MORPHREC_HEAP)))
		die_usage("-g: goes with the methods tile and heap, without --max-mem");
	a.gpu = gpu_use_list(&a.common);
	return a;
}
