/* rawinfo: describes items, and the samples of each: range, mean, and, where asked for, ranks and noise. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/picture/ranks.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawinfo";

struct args {
	struct opt_common common;
	bool json, skip, robust;
	const char *percentiles;
	int bins; /* 0: no histogram */
	double percent[100];
	size_t npercent;
};

static const struct opt table[] = {
    {0, "json", OPT_FLAG, AT(json), NULL, "one JSON object a line for each item"},
    {0, "skip", OPT_FLAG, AT(skip), NULL, "only the offset of each payload in its file"},
    {0, "robust", OPT_FLAG, AT(robust), NULL, "also the median, and what outliers do not change"},
    {0, "percentiles", OPT_STR, AT(percentiles), "P,...", "also these, of 0 to 100"},
    {0, "histogram", OPT_INT, AT(bins), "N", "also how many samples lie in each of N bins (256)", 1,
     1 << 20, .absent = "256"},
    {0}};

static const struct opt_program program = {
    .what = "Describes the items of a stream: type, shape, keys, and the range of samples.",
    .example = "rawinfo photo.ppm",
    .table = table};

static void
check(void *options)
{
	struct args *args = options;

	if (args->json && args->skip)
		die_usage("--json and --skip exclude each other");
	if (args->skip && (args->robust || args->percentiles || args->bins))
		die_usage("--skip excludes --robust, --percentiles and --histogram");
	if (args->percentiles)
		args->npercent =
		    opt_reals_upto("--percentiles", args->percentiles, ',', args->percent, 100);
	for (size_t i = 0; i < args->npercent; i++)
		if (args->percent[i] < 0 || args->percent[i] > 100)
			die_usage("--percentiles: %.9g is not in 0..100", args->percent[i]);
}

/* --- as text --------------------------------------------------------------------------------- */

static const char *
byte_order(const struct raw_in *in)
{
	return raw_swapped(in) ? "big" : "little";
}

static void
print_text(struct raw_out *out, const struct raw_in *in, const struct img *x,
	   const struct sample_stats *s)
{
	size_t bytes, n;
	char *name = make_visible(raw_name(in)), *text = raw_format(x, &n);

	if (!name || !text)
		die("no memory");
	img_bytes(x, &bytes);
	raw_printf(out, "%s# %s: item %zu, %s, %zu bytes of samples\n",
		   raw_item(in) > 1 ? "\n" : "", name, raw_item(in), img_format_name(x->format),
		   bytes);
	free(name);
	/* The lines of the header from type to the keys. The byte order is that of the file. */
	for (char *l = strchr(text, '\n') + 1; *l != '#'; l = strchr(l, '\n') + 1)
		if (!strncmp(l, "endian:", 7))
			raw_printf(out, "endian: %s\n", byte_order(in));
		else {
			raw_words(out, l, strcspn(l, "\n"));
			raw_text(out, "\n", 1);
		}
	free(text);
	if (s->finite)
		raw_printf(out, "min: %.9g\nmax: %.9g\nmean: %.9g\n", real_shown(s->lo),
			   real_shown(s->hi), real_shown(sample_mean(s)));
	raw_printf(out, "nan: %ju\n", (uintmax_t)s->nan);
	if (s->inf)
		raw_printf(out, "inf: %ju\n", (uintmax_t)s->inf);
}

/* --- as JSON --------------------------------------------------------------------------------- */

/* Returns the number of bytes of the UTF-8 character at s, or 0 when it is malformed. */
static size_t
utf8_length(const unsigned char *s)
{
	const size_t n = *s < 0x80   ? 1
			 : *s < 0xc2 ? 0
			 : *s < 0xe0 ? 2
			 : *s < 0xf0 ? 3
			 : *s < 0xf5 ? 4
				     : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0; /* an overlong form, a surrogate, or above U+10FFFF */
	return n;
}

/* Prints a JSON string. File names may hold bytes that are not UTF-8: these become lone surrogates U+DC80..DCFF, as in Python. */
static void
print_string(struct raw_out *out, const char *s)
{
	raw_text(out, "\"", 1);
	for (size_t n = 1; *s; s += n ? n : 1) {
		n = utf8_length((const unsigned char *)s);
		if (*s == '"' || *s == '\\')
			raw_printf(out, "\\%c", *s);
		else if ((unsigned char)*s < ' ')
			raw_printf(out, "\\u%04x", *s);
		else if (!n)
			raw_printf(out, "\\udc%02x", (unsigned char)*s);
		else
			raw_text(out, s, n);
	}
	raw_text(out, "\"", 1);
}

static void
print_number(struct raw_out *out, const char *name, double v)
{
	if (isfinite(v))
		raw_printf(out, ", \"%s\": %.17g", name, real_shown(v));
	else
		raw_printf(out, ", \"%s\": null", name);
}

static void
print_member(struct raw_out *out, const char *name, const char *value)
{
	raw_printf(out, ", \"%s\": ", name);
	if (value)
		print_string(out, value);
	else
		raw_printf(out, "null");
}

/* A place or a step in the space of the item; null where it has none. */
static void
print_vector(struct raw_out *out, const char *name, const double *v, int n)
{
	raw_printf(out, ", \"%s\": ", name);
	for (int i = 0; i < n; i++)
		raw_printf(out, "%s%.17g", i ? ", " : "[", v[i]);
	raw_printf(out, n ? "]" : "null");
}

static void
print_axis(struct raw_out *out, const struct img_axis *a, int dim)
{
	static const char *const centres[] = {
	    [IMG_UNCENTRED] = NULL, [IMG_NODE] = "node", [IMG_CELL] = "cell"};

	raw_printf(out, "{\"size\": %zu", a->n);
	print_member(out, "kind", *a->kind ? a->kind : NULL);
	print_member(out, "center", centres[a->centre]);
	print_number(out, "spacing", a->spacing);
	print_number(out, "min", a->min);
	print_member(out, "label", a->label);
	print_member(out, "unit", a->unit);
	print_vector(out, "direction", a->step, a->directed ? dim : 0);
	raw_printf(out, "}");
}

static void
print_json(struct raw_out *out, const struct raw_in *in, const struct img *x,
	   const struct sample_stats *s)
{
	raw_printf(out, "{\"file\": ");
	print_string(out, raw_name(in));
	raw_printf(out, ", \"item\": %zu, \"format\": \"%s\", \"type\": \"%s\", \"axes\": [",
		   raw_item(in), img_format_name(x->format), img_type_name(x->type));
	for (int i = 0; i < x->dim; i++) {
		raw_printf(out, i ? ", " : "");
		print_axis(out, &x->axis[i], x->space.dim);
	}
	raw_printf(out, "]");
	print_vector(out, "origin", x->space.origin, x->space.placed ? x->space.dim : 0);
	print_member(out, "space", x->space.fields);
	raw_printf(out, ", \"endian\": \"%s\", \"keys\": [", byte_order(in));
	for (size_t i = 0; i < x->nkey; i++) {
		raw_printf(out, i ? ", [" : "[");
		print_string(out, x->key[i].name);
		raw_printf(out, ", ");
		print_string(out, x->key[i].value);
		raw_printf(out, "]");
	}
	raw_printf(out, "]");
	print_number(out, "min", s->lo);
	print_number(out, "max", s->hi);
	print_number(out, "mean", sample_mean(s));
	raw_printf(out, ", \"nan\": %ju, \"inf\": %ju", (uintmax_t)s->nan, (uintmax_t)s->inf);
}

/* --- ranks and noise ------------------------------------------------------------------------- */

static void
print_figure(struct raw_out *out, bool json, const char *name, double v)
{
	if (json)
		print_number(out, name, v);
	else if (!isnan(v))
		raw_printf(out, "%s: %.9g\n", name, real_shown(v));
}

/* What is more than 3 standard deviations from the median is left out, again and again until nothing is. */
static void
print_robust(struct raw_out *out, bool json, struct ranks *r, size_t n)
{
	const double median = ranks_percentile(r, 50, 0, n);
	double lo = -DBL_MAX, hi = DBL_MAX;
	struct ranks_sums s = ranks_measure(r, lo, hi, median);

	for (double had = 0; s.n != had;) {
		const double m = ranks_percentile(r, 50, (size_t)s.below, (size_t)s.n);
		had = s.n;
		lo = fmax(lo, m - 3 * s.sd);
		hi = fmin(hi, m + 3 * s.sd);
		s = ranks_measure(r, lo, hi, median);
	}
	r->centre = median;
	print_figure(out, json, "median", median);
	print_figure(out, json, "mad", 1.4826 * ranks_percentile(r, 50, 0, n));
	print_figure(out, json, "clipped mean", s.mean);
	print_figure(out, json, "clipped sd", s.sd);
	r->centre = NAN;
}

/* Integers of fewer than N values have a bin each. */
static void
print_histogram(struct raw_out *out, const struct args *args, const struct ranks *r, bool whole,
		const struct sample_stats *s)
{
	const double range = s->hi - s->lo;
	const bool each = whole && range < args->bins;
	const size_t most = each ? (size_t)range + 1 : (size_t)args->bins;
	const size_t n = range > 0 ? most : s->finite > 0;
	const double hi = each ? s->hi + 1 : s->hi, half = isfinite(range) ? 1 : .5;
	const double width = (half * hi - half * s->lo) / (double)n;
	size_t *count = weir_xalloc(n, sizeof *count);

	ranks_count(r, half, s->lo, width, n, count);
	raw_printf(out, args->json ? ", \"histogram\": [" : "histogram: %zu\n", n);
	for (size_t i = 0; i < n; i++)
		raw_printf(out, args->json ? "%s[%.17g, %zu]" : "%s%.9g %zu\n",
			   args->json && i ? ", " : "",
			   real_shown((half * s->lo + (double)i * width) / half), count[i]);
	raw_printf(out, args->json ? "]" : "");
	weir_free(count);
}

static void
print_ranks(struct raw_out *out, const struct args *args, const struct img *x,
	    const struct sample_stats *s)
{
	struct ranks r = ranks_start(x, false, 1);
	char name[32];

	if (args->robust)
		print_robust(out, args->json, &r, s->finite);
	for (size_t i = 0; i < args->npercent; i++) {
		snprintf(name, sizeof name, "p%.9g", args->percent[i]);
		print_figure(out, args->json, name,
			     ranks_percentile(&r, args->percent[i], 0, s->finite));
	}
	if (args->bins)
		print_histogram(out, args, &r, !img_is_float(x->type), s);
	ranks_free(&r);
}

/* --------------------------------------------------------------------------------------------- */

static void
describe(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;
	struct raw_blocks b = {.x = x, .quiet = args->common.quiet};
	struct sample_stats s;

	if (args->skip) {
		raw_printf(out, "%ju\n", (uintmax_t)raw_offset(in));
		return;
	}
	sample_stats_start(&s);
	if (args->robust || args->npercent || args->bins) {
		size_t n;
		if (img_is_complex(x))
			raw_die(in, "complex numbers have no order; see rawaxes --slice");
		raw_map(in, x);
		img_count(x, &n);
		stats_charge(st, STATS_READ);
		sample_measure(&s, x->data, x->type, n);
	}
	while (!x->data && raw_next_block(&b, in, st)) {
		sample_measure(&s, b.data, x->type, b.n);
		stats_charge(st, STATS_COMPUTE);
	}
	(args->json ? print_json : print_text)(out, in, x, &s);
	if (x->data)
		print_ranks(out, args, x, &s);
	raw_printf(out, args->json ? "}\n" : "");
	stats_charge(st, STATS_COMPUTE);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, describe, NULL};
	struct args args = {.common.as = RAW_AS_TEXT};

	return raw_each(&filter, argc, argv, &args);
}
