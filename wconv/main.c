/* wconv: items convolved with a kernel that varies over the image. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/opt.h"
#include "common/par.h"
#include "common/stats.h"
#include "gpu/use.h"
#include "wconv/costs.h"
#include "wconv/kernels.h"
#include "wconv/pump.h"

const char *const weir_prog = "wconv";

struct args {
	struct opt_common common;
	const char *kernels, *grid, *centre, *cols, *rows, *basis, *wisdom;
	int place, edge, nan, output, method, type;
	double constant;
	bool has_constant, correlate, normalise, in_double, tune;

	struct gpu *gpu;      /* NULL: the CPU */
	struct wconv_ask ask; /* what those say together */
	char **path;
	size_t npath;
};

#define AT(member) offsetof(struct args, member)
static const struct opt table[] = {
    {.letter = 'k',
     .name = "kernel",
     .kind = OPT_STR,
     .at = AT(kernels),
     .arg = "FILE",
     .help = "the kernel, or the grid of kernels",
     .required = true},
    {.name = "grid",
     .kind = OPT_STR,
     .at = AT(grid),
     .arg = "GXxGY",
     .help = "the file is a sheet of GX by GY kernels"},
    {.name = "place",
     .kind = OPT_WORD,
     .at = AT(place),
     .arg = "WHERE",
     .help = "nodes at the centres of cells or from corner to corner: centre, corner",
     .words = "centre|corner"},
    {.name = "cols",
     .kind = OPT_STR,
     .at = AT(cols),
     .arg = "X,...",
     .help = "positions of the grid's columns, in pixels"},
    {.name = "rows",
     .kind = OPT_STR,
     .at = AT(rows),
     .arg = "Y,...",
     .help = "positions of the grid's rows"},
    {.name = "basis",
     .kind = OPT_STR,
     .at = AT(basis),
     .arg = "poly:DEG",
     .help = "the kernels are coefficients of polynomials"},
    {.name = "centre",
     .kind = OPT_STR,
     .at = AT(centre),
     .arg = "X,Y",
     .help = "the kernels' centre; default the middle, rounded up"},
    {.name = "normalise",
     .kind = OPT_FLAG,
     .at = AT(normalise),
     .help = "scale each kernel to the sum 1"},
    {.name = "correlate",
     .kind = OPT_FLAG,
     .at = AT(correlate),
     .help = "correlate instead of convolving"},
    {.name = "edge",
     .kind = OPT_WORD,
     .at = AT(edge),
     .arg = "HOW",
     .help = "zero, reflect, mirror, nearest, wrap, constant or renormalise",
     .words = "zero|reflect|mirror|nearest|wrap|constant|renormalise"},
    {.name = "constant",
     .kind = OPT_REAL,
     .at = AT(constant),
     .arg = "V",
     .help = "what lies beyond the edges; implies --edge=constant",
     .seen = AT(has_constant)},
    {.name = "nan",
     .kind = OPT_WORD,
     .at = AT(nan),
     .arg = "HOW",
     .help = "pixels that are no numbers: propagate, interpolate or zero",
     .words = "propagate|interpolate|zero"},
    {.name = "output",
     .kind = OPT_WORD,
     .at = AT(output),
     .arg = "SIZE",
     .help = "same, valid or full",
     .words = "same|valid|full"},
    {.name = "type",
     .kind = OPT_WORD,
     .at = AT(type),
     .arg = "TYPE",
     .help = "float, or input: rounded and clipped to the input's",
     .words = "float|input"},
    {.name = "double",
     .kind = OPT_FLAG,
     .at = AT(in_double),
     .help = "compute in double precision"},
    {.name = "method",
     .kind = OPT_WORD,
     .at = AT(method),
     .arg = "HOW",
     .help = "auto, direct or fft",
     .words = "auto|direct|fft"},
    {.name = "wisdom",
     .kind = OPT_STR,
     .at = AT(wisdom),
     .arg = "FILE",
     .help = "what this machine's transforms and sums cost, as --tune measured it"},
    {.name = "tune",
     .kind = OPT_FLAG,
     .at = AT(tune),
     .help = "measure that first, and write it to the file of --wisdom"},
    {0}};
#undef AT

static const struct opt_program program = {
    .what = "Convolves images with a kernel that varies from place to place: a grid of kernels and "
	    "bilinear weights.",
    .table = table,
    .common = OPT_THREADS | OPT_GPU | OPT_FORMAT,
    .operands = "[FILE ...]",
    .max_operands = SIZE_MAX,
    .gpu_state = gpu_state};

/* AxB, both 1 or more. */
static void
parse_grid(struct args *args)
{
	char end;

	if (!args->grid)
		return;
	if (sscanf(args->grid, "%zux%zu%c", &args->ask.gx, &args->ask.gy, &end) != 2 ||
	    strchr(args->grid, '-') || !args->ask.gx || !args->ask.gy)
		die_usage("--grid: '%s' is not GXxGY, two numbers from 1", args->grid);
}

static void
parse_basis(struct args *args)
{
	char end;

	args->ask.degree = -1;
	if (args->basis && (sscanf(args->basis, "poly:%d%c", &args->ask.degree, &end) != 1 ||
			    args->ask.degree < 0 || args->ask.degree > 20))
		die_usage("--basis: '%s' is not poly:DEG, a degree in 0..20", args->basis);
}

static void
parse_centre(struct args *args)
{
	double v[2];

	if (!args->centre)
		return;
	opt_reals("--centre", args->centre, ',', v, 2);
	for (size_t i = 0; i < 2; i++)
		if (v[i] < 0 || v[i] > 1e9 || v[i] != (double)(size_t)v[i])
			die_usage("--centre: '%s' is not a sample of the kernel, X,Y from 0",
				  args->centre);
	args->ask.centred = true;
	args->ask.cx = (size_t)v[0];
	args->ask.cy = (size_t)v[1];
}

/* As many positions as commas and one. */
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

static struct args
parse(int argc, char **argv)
{
	struct args args = {.place = -1};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	args.common.threads = par_threads(args.common.threads);
	parse_grid(&args);
	parse_basis(&args);
	parse_centre(&args);
	args.ask.place = args.place < 0 ? WCONV_PLACE_UNSAID : WCONV_CENTRE + args.place;
	args.ask.in_double = args.in_double;
	args.ask.col = parse_positions("--cols", args.cols, &args.ask.ncol);
	args.ask.row = parse_positions("--rows", args.rows, &args.ask.nrow);
	if (args.has_constant && args.edge != WCONV_ZERO && args.edge != WCONV_CONSTANT)
		die_usage("--constant goes with --edge=constant alone");
	if (args.has_constant)
		args.edge = WCONV_CONSTANT;
	if (args.basis && (args.cols || args.rows || args.place >= 0))
		die_usage("--basis has no nodes: it excludes --place, --cols and --rows");
	if (args.tune && !args.wisdom)
		die_usage("--tune needs --wisdom, the file to write to");
	for (size_t i = 0; i < args.npath; i++)
		if (!strcmp(args.kernels, "-") && !strcmp(args.path[i], "-"))
			die_usage("standard input cannot be both the kernels and an image");
	if (!strcmp(args.kernels, "-") && args.npath == 0)
		die_usage("standard input cannot be both the kernels and an image");
	args.gpu = gpu_use(&args.common);
	return args;
}

/* What stays from item to item. */
struct job {
	const struct args *args;
	struct wconv_kernels kernels;
	struct wconv_problem q;
	struct wconv_plan *plan;
	struct wconv_costs costs;
};

static void
read_costs(struct wconv_costs *c, const char *path)
{
	char text[WCONV_COSTS_TEXT];
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

	if (!f || ferror(f))
		die("%s: %s", path, strerror(errno));
	fclose(f);
	text[n] = '\0';
	if (wconv_costs_parse(c, text))
		die("%s: this is no file that --tune wrote", path);
}

/* What the planner goes by: built in, or read, or measured now and written. */
static void
learn_costs(struct job *j)
{
	const char *path = j->args->wisdom;
	char text[WCONV_COSTS_TEXT];

	j->costs = *wconv_costs_builtin();
	if (j->args->tune) {
		if (wconv_costs_measure(&j->costs, j->args->in_double))
			die("no memory to measure with");
		wconv_costs_format(&j->costs, text);
		struct raw_out *out = raw_create_text(path);
		raw_text(out, text, strlen(text));
		raw_finish(out);
	} else if (path) {
		read_costs(&j->costs, path);
	}
}

static void
load_kernels(struct job *j)
{
	struct img file;
	char err[WCONV_ERR];

	raw_load_file(j->args->kernels, j->args->common.max_bytes, true, &file);
	if (wconv_take_kernels(&j->kernels, &file, &j->args->ask, &j->q, err))
		die("%s: %s", j->args->kernels, err);
	if (j->q.cx >= j->q.kw || j->q.cy >= j->q.kh)
		die_usage("--centre: '%s' is outside the kernel of %zux%zu", j->args->centre,
			  j->q.kw, j->q.kh);
}

/* Where a part of an image says that it lies: tile:=x0 y0 W H. */
static void
find_tile(const struct raw_in *in, const struct img *x, struct wconv_problem *q)
{
	const char *text = img_key(x, "tile");
	char end;

	q->x0 = q->y0 = 0;
	q->W = q->w;
	q->H = q->h;
	if (text && (strchr(text, '-') ||
		     sscanf(text, "%zu %zu %zu %zu %c", &q->x0, &q->y0, &q->W, &q->H, &end) != 4))
		raw_die(in, "tile:=%.40s is not `x0 y0 W H`", text);
}

/* Threads that a plan for the GPU is made for, so that each of its steps holds tiles enough to fill one. */
enum { GPU_TILES = 32 };

/* What the item says about the problem. */
static size_t
pose(struct job *j, const struct raw_in *in, const struct img *x)
{
	const struct args *args = j->args;
	const bool keep = args->type && !img_is_float(x->type);
	struct wconv_problem *q = &j->q;
	struct img_picture p;

	if (!img_picture(x, &p))
		raw_die(in, "it has %d axes, more than pictures have", x->dim);
	q->w = p.w;
	q->h = p.h;
	q->planes = p.c;
	q->in = x->type;
	q->out = keep || (args->type && x->type == IMG_F64) ? x->type
		 : args->in_double			    ? IMG_F64
							    : IMG_F32;
	q->top = keep ? img_maxval(x) : 0;
	q->normalise = args->normalise;
	q->correlate = args->correlate;
	q->edge = (enum wconv_edge)args->edge;
	q->constant = args->constant;
	q->nan = (enum wconv_nan)args->nan;
	q->output = (enum wconv_output)args->output;
	q->method = (enum wconv_method)args->method;
	q->threads = args->gpu ? GPU_TILES : args->common.threads;
	find_tile(in, x, q);
	return p.n;
}

static bool
same_shape(const struct wconv_problem *a, const struct wconv_problem *b)
{
	return a->w == b->w && a->h == b->h && a->planes == b->planes && a->in == b->in &&
	       a->out == b->out && a->top == b->top && a->x0 == b->x0 && a->y0 == b->y0 &&
	       a->W == b->W && a->H == b->H;
}

/* A plan for the item, the last one's if that will do. Returns how many pictures the item has. */
static size_t
plan(struct job *j, const struct raw_in *in, const struct img *x)
{
	const struct wconv_problem before = j->q;
	const size_t n = pose(j, in, x);
	char text[512];

	if (j->plan && same_shape(&before, &j->q))
		return n;
	wconv_free(j->plan);
	if (wconv_place_nodes(&j->kernels, &j->args->ask, &j->q, text))
		die("%s: %s", j->args->kernels, text);
	if (wconv_plan(&j->plan, &j->q, &j->costs, text))
		raw_die(in, "%s", text);
	if (j->args->common.verbose) {
		wconv_explain(j->plan, text, sizeof text);
		fprintf(stderr, "%s: %s%s%s\n", weir_prog, text, j->args->gpu ? ", run on " : "",
			j->args->gpu ? gpu_name(j->args->gpu) : "");
	}
	return n;
}

/* The axis is n long now, and its first sample lies `shift` further on. */
static void
resize_axis(struct img_axis *a, size_t n, ptrdiff_t shift)
{
	a->n = n;
	if (shift)
		a->min += (double)shift * a->spacing; /* a bare axis has neither: NaN stays NaN */
}

static void
describe(const struct job *j, const struct img *x, struct img *y)
{
	const struct wconv_problem *q = &j->q;
	size_t w, h;
	ptrdiff_t x0, y0;

	wconv_shape(j->plan, &w, &h, &x0, &y0);
	img_copy_head(y, x);
	y->type = q->out;
	const int first = y->dim > 1 && (q->planes > 1 || y->axis[0].n != q->w);
	if (y->dim == first + 1 && h > 1)
		img_insert_axis(y, first + 1, 1, "domain");
	resize_axis(&y->axis[first], w, x0 - (ptrdiff_t)q->x0);
	if (y->dim > first + 1)
		resize_axis(&y->axis[first + 1], h, y0 - (ptrdiff_t)q->y0);
	if (img_key(y, "tile"))
		img_set_key(y, "tile", "%td %td %zu %zu", x0, y0, q->W, q->H);
	opt_add_history(y, &j->args->common);
}

static void
convolve(struct job *j, struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct progress bar;
	struct img x, y;

	for (; raw_next(in, &x); st->items++) {
		if (j->args->common.verbose)
			raw_say(in, &x);
		stats_lap(st, STATS_READ);
		size_t n = plan(j, in, &x);
		describe(j, &x, &y);
		stats_lap(st, STATS_PLAN);
		raw_head(out, &y);
		progress_start(&bar, j->args->common.quiet);
		while (n-- > 0)
			wconv_pump(j->plan, &j->q, j->args->gpu, in, out, &bar);
		progress_end(&bar);
		stats_lap(st, STATS_COMPUTE);
		img_free(&x);
		img_free(&y);
	}
}

int
main(int argc, char **argv)
{
	struct args args = parse(argc, argv);
	struct job job = {.args = &args};
	struct stats st;

	stats_start(&st);
	load_kernels(&job);
	learn_costs(&job);
	struct raw_out *out = raw_create(args.common.out, (enum raw_as)args.common.as);
	struct raw_in *in = raw_open(args.path, args.npath, args.common.max_bytes);
	convolve(&job, in, out, &st);
	st.threads = args.common.threads;
	st.bytes_in = raw_bytes_in(in);
	st.bytes_out = raw_bytes_out(out);
	raw_close(in);
	raw_finish(out);
	gpu_report(args.gpu, &st);
	stats_print(&st, &args.common);
	gpu_close(args.gpu);
	wconv_free(job.plan);
	wconv_drop_kernels(&job.kernels);
	weir_free(args.ask.col);
	weir_free(args.ask.row);
	return 0;
}
