/* rawmath: arithmetic on the samples of items. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/picture/expr.h"
#include "common/picture/mosaic.h"
#include "common/picture/ranks.h"
#include "common/stream/axes.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawmath";

enum { INPUTS = 23, PLACES = 3, NAMES = PLACES + INPUTS, CHUNK = 512 * EXPR_BLOCK };

struct args {
	struct opt_common common;
	int type; /* enum img_type - 1; -1: not given */
	const char *sizes;
	size_t size[IMG_MAXDIM], dim; /* of --sizes; 0: not given */
	char **operand;
	size_t noperand;
	const char *name[NAMES]; /* x, y, z, and the inputs */
	const char *path[INPUTS];
	size_t ninput;
	struct expr expr;
	unsigned char used[NAMES];
};

static const struct opt table[] = {{.name = "type",
				    .kind = OPT_WORD,
				    .at = AT(type),
				    .arg = "TYPE",
				    .help = "%s (float, or double where floats would lose digits)",
				    .words = IMG_WORDS},
				   {0, "sizes", OPT_STR, AT(sizes), "W,H,...",
				    "without input: the shape of the result, fastest axis first"},
				   {0}};

static const struct opt_program program = {
    .what = "Computes an expression of the samples of its inputs, a, b, c ... or NAME=FILE.",
    .example = "rawmath --type=uchar 'a > 100' coins.pgm >mask.pgm",
    .table = table,
    .common = OPT_THREADS | OPT_FORMAT,
    .operands = "EXPRESSION [FILE ...]",
    .max_operands = 1 + INPUTS};

/* --- arguments ---------------------------------------------------------------------------------------------------------- */

/* Names the inputs: NAME=FILE gives its own name, and FILE takes the next letter. */
static void
add_input(struct args *args, char *operand)
{
	static const char letters[INPUTS][2] = {"a", "b", "c", "d", "e", "f", "g", "h",
						"i", "j", "k", "l", "m", "n", "o", "p",
						"q", "r", "s", "t", "u", "v", "w"};
	char *s = operand;

	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	const bool named = s > operand && *s == '=' && !isdigit((unsigned char)*operand);
	char *name = named ? weir_xstrdup(operand) : NULL; /* lives as long as args */
	if (named)
		name[s - operand] = 0;
	args->name[PLACES + args->ninput] = named ? name : letters[args->ninput];
	args->path[args->ninput++] = named ? s + 1 : operand;
}

static struct args *
parse(int argc, char **argv)
{
	static struct args args = {.type = -1, .name = {"x", "y", "z"}};
	static char standard[] = "-";
	struct why why;

	opt_parse(&program, argc, argv, &args, &args.operand, &args.noperand);
	if (!args.noperand)
		die_usage("an expression is missing: rawmath 'a - b' A B");
	if (args.sizes)
		args.dim = opt_sizes("--sizes", args.sizes, args.size, IMG_MAXDIM, 0x1p31);
	if (args.dim && args.noperand > 1)
		die_usage("--sizes: goes without inputs");
	for (size_t i = 1; i < args.noperand; i++)
		add_input(&args, args.operand[i]);
	if (!args.ninput && !args.dim)
		add_input(&args, standard);
	for (size_t i = 0; i < PLACES + args.ninput; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(args.name[i], args.name[k]))
				die_usage(k < PLACES ? "%s is the position along an axis; give "
						       "the input another name"
						     : "two inputs have the name %s",
					  args.name[i]);
	if (expr_parse(&args.expr, args.operand[0], args.name, PLACES + args.ninput, args.used,
		       &why))
		die_usage("%s%s", why.text,
			  access(args.operand[0], F_OK) ? "" : ": files follow the expression");
	return &args;
}

/* --- inputs --------------------------------------------------------------------------------------------------------------- */

struct input {
	struct raw_in *in;
	struct img x;
	size_t count; /* samples: as many as the result has, or one, or a plane that repeats */
	bool kept;    /* the only item of its file: it is used for all items of the other inputs */
	char *
	    chunk; /* of an input that is read as it is computed: its samples from number `from` on; owned */
	size_t from;
};

/* Takes the header of the next item, and the samples of other inputs than the first, which is computed as it is read. */
static void
take_item(struct input *p, const struct img *next, bool first)
{
	img_free(&p->x);
	p->x = *next;
	img_count(&p->x, &p->count);
	if (!first)
		raw_map(p->in, &p->x);
}

/* Reads the next item of each input. Returns false when none has more. */
static bool
next_items(const struct args *args, struct input *input)
{
	const struct raw_in *longer = NULL;
	bool ended[INPUTS] = {false};
	struct img next;

	for (size_t i = 0; i < args->ninput; i++) {
		if (input[i].kept)
			continue;
		ended[i] = !raw_next(input[i].in, &next);
		if (ended[i])
			continue;
		longer = input[i].in;
		take_item(&input[i], &next, !i);
	}
	if (!longer)
		return false;
	for (size_t i = 0; i < args->ninput; i++) {
		if (ended[i] && raw_item(input[i].in) != 1)
			die("%s: it has fewer items than %s", raw_name(input[i].in),
			    raw_name(longer));
		input[i].kept |= ended[i];
	}
	if (input[0].kept) {
		raw_rewind(input[0].in);
		raw_next(input[0].in, &next);
		take_item(&input[0], &next, true);
	}
	return true;
}

/* --- samples --------------------------------------------------------------------------------------------------------------- */

/* What the computation of an item needs. */
struct work {
	const struct args *args;
	struct input *input;
	const struct img *whole;
	enum img_type type;
};

/* Reads n <= EXPR_BLOCK samples of an input as doubles, from sample number `at` on. */
static void
load(const struct input *p, size_t at, size_t n, double *v)
{
	const size_t size = img_type_size(p->x.type);

	if (p->chunk) {
		sample_load(v, p->chunk + (at - p->from) * size, p->x.type, n);
		return;
	}
	if (p->count == 1) {
		sample_load(v, p->x.data, p->x.type, 1);
		for (size_t i = 1; i < n; i++)
			v[i] = *v;
		return;
	}
	for (size_t done = 0, some; done < n; done += some) {
		const size_t from = (at + done) % p->count;
		some = p->count - from < n - done ? p->count - from : n - done;
		sample_load(v + done, (const char *)p->x.data + from * size, p->x.type, some);
	}
}

/* Computes the positions of n samples along axis `place` of the picture. */
static void
load_place(const struct img *x, int place, size_t at, size_t n, double *v)
{
	const int axis = img_row_axis(x) + place;
	const size_t size = axis < x->dim ? x->axis[axis].n : 1;
	const struct map_cut c = map_cut_of(x, axis);
	size_t inner = 1;

	for (int i = 0; i < axis && i < x->dim; i++)
		inner *= x->axis[i].n;
	for (size_t k = 0; k < n; k++)
		v[k] = c.first + (double)((at + k) / inner % size) * c.step;
}

/* Computes n <= EXPR_BLOCK values of what expr_eval() calls `of`. */
static void
evaluate(const struct work *w, size_t of, size_t at, size_t n, double *v)
{
	double value[NAMES][EXPR_BLOCK];
	const double *var[NAMES];

	for (size_t i = 0; i < PLACES + w->args->ninput; i++) {
		var[i] = value[i];
		if (!w->args->used[i])
			continue;
		if (i < PLACES)
			load_place(w->whole, (int)i, at, n, value[i]);
		else
			load(&w->input[i - PLACES], at, n, value[i]);
	}
	expr_eval(&w->args->expr, of, var, n, v);
}

/* Finds what operation `of` is of the whole item; the median between two values. */
static double
find_whole(const struct work *w, size_t of, size_t count)
{
	const int threads = par_threads(w->args->common.threads);
	const char *name = expr_whole(&w->args->expr, of);
	double *v = weir_xalloc(count, sizeof *v);
	struct ranks r = {
	    .type = IMG_F64, .data = v, .n = count, .centre = NAN, .threads = threads};
	struct sample_stats s;

#pragma omp parallel for schedule(static) num_threads(threads) if (count > 16 * EXPR_BLOCK)
	for (size_t at = 0; at < count; at += EXPR_BLOCK)
		evaluate(w, of, at, count - at < EXPR_BLOCK ? count - at : EXPR_BLOCK, v + at);
	sample_stats_start(&s);
	sample_stats_add(&s, v, count);
	const double mean = sample_mean(&s);
	const double found = !strcmp(name, "median") ? ranks_percentile(&r, 50, 0, s.finite)
			     : !strcmp(name, "std")  ? ranks_measure(&r, s.lo, s.hi, mean).sd
			     : !strcmp(name, "sum")  ? mean * (double)s.finite
			     : !strcmp(name, "mean") ? mean
			     : !strcmp(name, "min")  ? s.lo
						     : s.hi;
	ranks_free(&r);
	weir_free(v);
	return s.finite ? found : NAN;
}

static void
compute(const struct work *w, size_t count, struct raw_out *out, struct stats *st)
{
	const size_t size = img_type_size(w->type);
	const int threads = par_threads(w->args->common.threads);
	char *chunk = weir_xalloc(CHUNK, size);
	struct progress bar;

	progress_start(&bar, w->args->common.quiet);
	for (size_t at = 0; at < count; at += CHUNK) {
		const size_t n = count - at < CHUNK ? count - at : CHUNK;
		size_t bad = n;
		if (w->input[0].chunk) {
			raw_read(w->input[0].in, w->input[0].chunk, n);
			w->input[0].from = at;
			stats_charge(st, STATS_READ);
		}
#pragma omp parallel for schedule(static) num_threads(threads) if (n > 16 * EXPR_BLOCK) \
    reduction(min                                                                       \
	      : bad)
		for (size_t b = 0; b < n; b += EXPR_BLOCK) {
			const size_t some = n - b < EXPR_BLOCK ? n - b : EXPR_BLOCK;
			double v[EXPR_BLOCK];
			evaluate(w, w->args->expr.n, at + b, some, v);
			for (size_t i = 0; !img_is_float(w->type) && i < some; i++)
				v[i] = rint(v[i]);
			const size_t ok = sample_store(chunk + b * size, v, w->type, some);

			if (ok < some && b + ok < bad)
				bad = b + ok;
		}
		if (bad < n)
			die("sample %zu of the result is not in the range of %s; see clip()",
			    at + bad, img_type_name(w->type));
		stats_charge(st, STATS_COMPUTE);
		raw_write(out, chunk, n);
		stats_charge(st, STATS_WRITE);
		progress_step(&bar, (double)at / (double)count);
	}
	progress_end(&bar);
	weir_free(chunk);
}

static void
convert_item(struct args *args, struct input *input, struct raw_out *out, struct stats *st)
{
	size_t best =
	    0; /* its shape is the result's: the first input of those with the most samples */
	enum img_type type = args->type >= 0 ? (enum img_type)(args->type + 1) : IMG_F32;
	bool whole = false;
	struct img y;

	for (size_t i = 1; i < args->ninput; i++)
		best = input[i].count > input[best].count ? i : best;
	for (size_t i = 0; i < args->ninput; i++) {
		const struct img *x = &input[i].x, *of = &input[best].x;
		const char *name = raw_name(input[i].in), *than = raw_name(input[best].in);
		if (args->type < 0 && x->type >= IMG_I32 && x->type != IMG_F32)
			type = IMG_F64;
		if (i == best || input[i].count == 1)
			continue;
		for (int k = 0; k < x->dim; k++)
			if (k >= of->dim || x->axis[k].n != of->axis[k].n)
				die("%s: its shape does not fit that of %s", name, than);
		if (!place_same(x, of))
			die("%s: it is another part of a picture than %s: see tile:= and place:=",
			    name, than);
		place_compare(x, of, .1, name, than);
	}
	struct work w = {args, input, &input[best].x, type};
	for (size_t i = 0; i < args->expr.n; i++)
		whole |= expr_whole(&args->expr, i) != NULL;
	if (args->ninput && !raw_try_map(input[0].in, &input[0].x)) {
		if (input[0].count == input[best].count && !whole)
			input[0].chunk = weir_xalloc(CHUNK, img_type_size(input[0].x.type));
		else
			raw_load(input[0].in, &input[0].x);
	}
	stats_charge(st, STATS_READ);
	for (size_t i = args->expr.n; i-- > 0;)
		if (expr_whole(&args->expr, i))
			args->expr.op[i].value = find_whole(&w, i, input[best].count);
	stats_charge(st, STATS_COMPUTE);
	img_copy_head(&y, w.whole);
	y.type = w.type;
	img_drop_key(&y, "maxval");
	bands_renew(&y);
	char *line;
	if (asprintf(&line, "%s '%s'", args->common.history, args->operand[0]) < 0)
		die("no memory");
	for (char *c = line; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	opt_add_history(&y, &args->common);
	img_change_key(&y, "history", "%s", line);
	free(line);
	raw_head(out, &y);
	compute(&w, input[best].count, out, st);
	weir_free(input[0].chunk);
	input[0].chunk = NULL;
	img_free(&y);
}

int
main(int argc, char **argv)
{
	struct args *args = parse(argc, argv);
	struct raw_out *out = raw_create(args->common.out, (enum raw_as)args->common.as);
	static struct input input[INPUTS]; /* too large for a small stack */
	struct stats st;

	for (size_t i = 0; i < args->ninput; i++)
		input[i].in =
		    raw_open((char *const *)(uintptr_t)&args->path[i], 1, args->common.max_bytes);
	stats_start(&st);
	if (args->dim) { /* a picture of this shape is in place of an input */
		img_init(&input->x, IMG_F32, (int)args->dim, args->size);
		if (!img_count(&input->x, &input->count))
			die("--sizes: '%s': their product overflows", args->sizes);
		convert_item(args, input, out, &st);
		st.items = 1;
	}
	for (; args->ninput && next_items(args, input); st.items++) {
		if (args->common.verbose)
			raw_say(input[0].in, &input[0].x);
		convert_item(args, input, out, &st);
	}
	for (size_t i = 1; i < args->ninput; i++) {
		st.bytes_in += raw_bytes_in(input[i].in);
		img_free(&input[i].x);
		raw_close(input[i].in);
	}
	img_free(&input[0].x);
	st.threads = par_threads(args->common.threads);
	stats_close(&st, input[0].in, out, &args->common);
	return 0;
}
