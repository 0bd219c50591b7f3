/*
 * Test data, the same on every machine: build/t/gen --help lists what it makes. Pictures are computed as numbers in
 * 0..1 and come out as PGM (uchar, ushort; 1 is maxval) or raw (all other types; 1 is 1).
 */
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/stream/raw.h"
#include "t/pictures.h"

const char *const weir_prog = "gen";

struct args {
	struct opt_common common;
	int type; /* enum img_type - 1; -1: what suits the kind */
	int maxval;
	size_t seed;
};

#define TYPES "char|uchar|short|ushort|int|uint|int64|uint64|float|double"

static const struct opt table[] = {
    {'s', "seed", OPT_SIZE, AT(seed), "N", "seed of the random numbers; default 1"},
    {0, "type", OPT_WORD, AT(type), "TYPE", TYPES "; default uchar, float for values and kernels",
     .words = TYPES},
    {0, "maxval", OPT_INT, AT(maxval), "N",
     "what 1 becomes in an integer type; default 255 (uchar), else 65535", 1, 65535},
    {0}};

static const struct opt_program program = {
    .what =
	"makes test data:\n\n"
	"  constant W H V        V everywhere\n"
	"  ramp W H              0 at the left edge to 1 at the right\n"
	"  noise W H             white, uniform\n"
	"  smooth W H R          the same, three times averaged over 2R+1 pixels each way, "
	"stretched\n"
	"  seeds W H N           N single pixels of 1 on 0\n"
	"  dot W H X Y           one pixel of 1 on 0\n"
	"  serpentine W H        a corridor of 1 one pixel wide, there and back, between walls of "
	"0\n"
	"  spiral W H            the same, wound inwards from the upper left corner\n"
	"  stairs W H            corridors that descend diagonally in steps of one pixel\n"
	"  stars W H N           N stars of changing shape, N/2 hits of cosmic rays, sky and "
	"noise\n"
	"  kernels K GX GY       the shapes of those stars: a grid of KxK kernels of sum 1\n"
	"  values SIZES V ...    an item of these sizes (3x2: two rows of three) and samples",
    .table = table,
    .common = OPT_FORMAT,
    .operands = "KIND NUMBER ...",
    .max_operands = SIZE_MAX};

static const struct kind {
	const char *name;
	size_t args; /* numbers after W and H */
	void (*fill)(struct canvas *c);
} kinds[] = {{"constant", 1, fill_constant},	 {"ramp", 0, fill_ramp},
	     {"noise", 0, fill_noise},		 {"smooth", 1, fill_smooth},
	     {"seeds", 1, fill_seeds},		 {"dot", 2, fill_dot},
	     {"serpentine", 0, fill_serpentine}, {"spiral", 0, fill_spiral},
	     {"stairs", 0, fill_stairs},	 {"stars", 1, fill_stars}};

static double
number(const char *text)
{
	double v;

	if (!opt_number(text, &v))
		die_usage("'%s' is not a number", text);
	return v;
}

static size_t
size(const char *text)
{
	const double v = number(text);

	if (!(v >= 1 && v <= 1e9) || v != floor(v))
		die_usage("'%s' is not a size in 1..1e9", text);
	return (size_t)v;
}

/* The item of a type and shape, with room for its samples. */
static struct img
make(const struct args *args, enum img_type by_default, int dim, const size_t *sizes)
{
	struct img x;

	img_init(&x, args->type < 0 ? by_default : (enum img_type)(args->type + 1), dim, sizes);
	if (img_alloc(&x))
		die("no memory for the samples");
	if (args->maxval)
		img_set_key(&x, "maxval", "%d", args->maxval);
	if (dim == 2 && (x.type == IMG_U8 || x.type == IMG_U16))
		x.format = IMG_PNM;
	return x;
}

static void
set(struct img *x, size_t i, double v)
{
	if (!sample_store((char *)x->data + i * img_type_size(x->type), &v, x->type, 1))
		die_usage("%g is no %s", v, img_type_name(x->type));
}

/* Samples in 0..1 as the item's type has them: integers 0..maxval, rounded. */
static void
set_pictures(struct img *x, const float *v, size_t n)
{
	const unsigned given = img_maxval(x);
	const double max = given ? given : img_type_size(x->type) == 1 ? 255 : 65535;
	const enum img_type type = x->type;

	/* Signed integers wrap, so that they have numbers below 0. */
	x->type = type == IMG_I8 ? IMG_U8 : type == IMG_I16 ? IMG_U16 : type;
	for (size_t i = 0; i < n; i++)
		if (img_is_float(x->type))
			set(x, i, (double)v[i]);
		else
			set(x, i, floor(fmin(fmax((double)v[i], 0), 1) * max + .5));
	x->type = type;
}

static struct img
picture(const struct args *args, const struct kind *kind, char **operand, size_t n)
{
	struct canvas c = {.rng = {args->seed}};
	double arg[2] = {0};

	if (n != kind->args + 2)
		die_usage("%s takes %zu numbers; see --help", kind->name, kind->args + 2);
	for (size_t i = 0; i < kind->args; i++)
		arg[i] = number(operand[2 + i]);
	c.w = size(operand[0]);
	c.h = size(operand[1]);
	c.arg = arg;
	struct img x = make(args, IMG_U8, 2, (size_t[]){c.w, c.h});
	if (!(c.v = weir_calloc(c.w * c.h, sizeof *c.v)))
		die("no memory for %zux%zu pixels", c.w, c.h);
	kind->fill(&c);
	set_pictures(&x, c.v, c.w * c.h);
	weir_free(c.v);
	return x;
}

static struct img
kernels(const struct args *args, char **operand, size_t n)
{
	size_t k, gx, gy;
	float *v;

	if (n != 3)
		die_usage("kernels takes 3 numbers; see --help");
	k = size(operand[0]);
	gx = size(operand[1]);
	gy = size(operand[2]);
	struct img x = make(args, IMG_F32, 4, (size_t[]){k, k, gx, gy});
	v = weir_xalloc(k * k * gx * gy, sizeof *v);
	fill_kernels(v, k, gx, gy);
	set_pictures(&x, v, k * k * gx * gy);
	weir_free(v);
	return x;
}

static struct img
values(const struct args *args, char **operand, size_t n)
{
	size_t sizes[IMG_MAXDIM], count;
	int dim = 0;
	struct img x;

	if (!n)
		die_usage("values takes sizes and samples; see --help");
	for (char *s = strtok(operand[0], "x"); s; s = strtok(NULL, "x")) {
		if (dim == IMG_MAXDIM)
			die_usage("values: more than %d axes", IMG_MAXDIM);
		sizes[dim++] = size(s);
	}
	x = make(args, IMG_F32, dim, sizes);
	if (!img_count(&x, &count) || count != n - 1)
		die_usage("values: %zu samples for %zu places", n - 1, count);
	for (size_t i = 0; i < count; i++)
		set(&x, i, number(operand[1 + i]));
	return x;
}

static struct img
generate(const struct args *args, const char *name, char **operand, size_t n)
{
	if (!strcmp(name, "values"))
		return values(args, operand, n);
	if (!strcmp(name, "kernels"))
		return kernels(args, operand, n);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(name, kinds[i].name))
			return picture(args, &kinds[i], operand, n);
	die_usage("'%s' is none of the kinds; see --help", name);
}

int
main(int argc, char **argv)
{
	struct args args = {.type = -1, .seed = 1};
	struct raw_out *out;
	char **operand;
	size_t n;

	opt_parse(&program, argc, argv, &args, &operand, &n);
	if (!n)
		die_usage("no kind; see --help");
	struct img x = generate(&args, operand[0], operand + 1, n - 1);
	out = raw_create(args.common.out, (enum raw_as)args.common.as);
	raw_put(out, &x);
	raw_finish(out);
	img_free(&x);
	return 0;
}
