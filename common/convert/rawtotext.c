/* rawtotext: prints samples as numbers, for awk, gnuplot and people. texttoraw reads them back. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/picture/world.h"
#include "common/stream/axes.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawtotext";

struct args {
	struct opt_common common;
	const char *separator;
	int digits; /* 0: as many as each number needs */
	bool positions, header, map;
	struct world world; /* of the item, where map is set */
};

static const struct opt table[] = {
    {0, "digits", OPT_INT, AT(digits), "N", "digits of a number (as many as it takes)", 1, 17},
    {0, "positions", OPT_FLAG, AT(positions), NULL, "a line a sample, where it lies before it"},
    {0, "map", OPT_FLAG, AT(map), NULL, "and its place on the map or in the sky"},
    {0, "header", OPT_FLAG, AT(header), NULL, "the names of columns:= in the first line"},
    {'s', "separator", OPT_STR, AT(separator), "TEXT", "between numbers, \\t a tab (a blank)"},
    {0}};

static const struct opt_program program = {
    .what = "Writes samples as numbers, a line for each row of the fastest axis.",
    .example = "rawtotext --positions picture.nrrd >picture.txt",
    .table = table};

static void
check(void *options)
{
	struct args *args = options;

	if (args->header && args->positions)
		die_usage("--header and --positions exclude each other");
	if (args->map && !args->positions)
		die_usage("--map: goes with --positions");
	if (!strcmp(args->separator, "\\t"))
		args->separator = "\t";
}

static void
put_number(struct raw_out *out, const struct args *args, const void *sample, enum img_type type)
{
	char s[40];
	double v;
	int64_t whole;
	int n;

	sample_load(&v, sample, type, 1);
	if (isnan(v))
		v = NAN; /* drops the sign of a NaN */
	if (args->digits)
		n = snprintf(s, sizeof s, "%.*g", args->digits, v);
	else if (type != IMG_I64 && type != IMG_U64)
		n = word_shortest(s, sizeof s, v, type == IMG_F32 ? 6 : 14, type == IMG_F32);
	else { /* it may have more digits than a double */
		memcpy(&whole, sample, sizeof whole);
		n = snprintf(s, sizeof s, type == IMG_I64 ? "%jd" : "%ju", (intmax_t)whole);
	}
	raw_text(out, s, (size_t)n);
}

/* Prints the position of a sample along each axis, except axes whose samples share a line; then its place. */
static void
put_position(struct raw_out *out, const struct args *args, const struct img *x, size_t i)
{
	double p[IMG_MAXDIM + 3];
	char s[40];
	int n = 0;

	for (int a = img_row_axis(x); a < x->dim; i /= x->axis[a++].n) {
		const struct img_axis *axis = &x->axis[a];
		const double at = (double)(i % axis->n),
			     step = isnan(axis->spacing) ? 1 : axis->spacing;
		p[n++] = isnan(axis->min) ? at * step : axis->min + at * step;
	}
	p[n] = 0; /* a map has rows, and an item of one axis has none */
	if (args->map)
		world_place(&args->world, p, n, p + n + 1);
	for (int k = 0; k < n + 2 * args->map; k++) {
		raw_text(out, s,
			 (size_t)word_shortest(s, sizeof s, p[k < n ? k : k + 1], 14, false));
		raw_text(out, args->separator, strlen(args->separator));
	}
}

/* Prints the names of the columns. Dies when the item has not one for each number of a line. */
static void
put_header(struct raw_in *in, struct raw_out *out, const struct img *x, const struct args *args)
{
	static const char blanks[] = " \t";
	const char *s = img_key(x, "columns");
	size_t n = s ? axiskeys_count(s) : 0;

	if (!n || n != x->axis[0].n)
		raw_die(in, "--header: columns:= has %zu names, and a line %zu numbers", n,
			x->axis[0].n);
	for (size_t k; (k = strcspn(s += strspn(s, blanks), blanks)); s += k) {
		raw_words(out, s, k);
		n--;
		raw_text(out, n ? args->separator : "\n", n ? strlen(args->separator) : 1);
	}
}

static void
print(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	struct args *args = options;
	/* The number of samples that share a line. */
	const size_t row = args->positions && !img_row_axis(x) ? 1 : x->axis[0].n;
	struct raw_blocks b = {.x = x, .quiet = true};

	if (args->map)
		world_open(&args->world, in, x, WORLD_MUST);
	if (st->items)
		raw_text(out, "\n", 1);
	else if (args->header)
		put_header(in, out, x, args);
	while (raw_next_block(&b, in, st)) {
		const char *sample = b.data;
		for (size_t i = b.at; i < b.at + b.n; i++, sample += img_type_size(x->type)) {
			if (i % row)
				raw_text(out, args->separator, strlen(args->separator));
			else if (args->positions)
				put_position(out, args, x, i / row);
			put_number(out, args, sample, x->type);
			if (i % row == row - 1)
				raw_text(out, "\n", 1);
		}
		stats_charge(st, STATS_WRITE);
	}
	world_close(&args->world);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, print, NULL};
	struct args args = {.common.as = RAW_AS_TEXT, .separator = " "};

	return raw_each(&filter, argc, argv, &args);
}
