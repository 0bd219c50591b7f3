/* rawinfo: describes items, and the least, greatest and mean sample of each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/base/stats.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawinfo";

struct args {
	struct opt_common common;
	bool json, skip;
};

static const struct opt table[] = {
    {0, "json", OPT_FLAG, AT(json), NULL, "one JSON object a line for each item"},
    {0, "skip", OPT_FLAG, AT(skip), NULL, "only the offset of each payload in its file"},
    {0}};

static const struct opt_program program = {
    .what = "Describes the items of a stream: type, shape, keys, and the range of samples.",
    .example = "rawinfo photo.ppm",
    .table = table};

static void
check(void *options)
{
	const struct args *args = options;

	if (args->json && args->skip)
		die_usage("--json and --skip exclude each other");
}

/* --- reading --------------------------------------------------------------------------------- */

static struct sample_stats
survey(struct raw_in *in, const struct img *x, bool quiet, struct stats *st)
{
	struct raw_blocks b = {.x = x, .quiet = quiet};
	struct sample_stats s;

	sample_stats_start(&s);
	while (raw_next_block(&b, in, st)) {
		sample_measure(&s, b.data, x->type, b.n);
		stats_charge(st, STATS_COMPUTE);
	}
	return s;
}

/* --- as text --------------------------------------------------------------------------------- */

static const char *
byte_order(const struct raw_in *in)
{
	return raw_swapped(in) ? "big" : "little";
}

/* Prints the lines of the header from type to the keys. The byte order is that of the file. */
static void
print_header(struct raw_out *out, const struct raw_in *in, const struct img *x)
{
	size_t n;
	char *text = raw_format(x, &n);

	if (!text)
		die("no memory");
	for (char *s = strchr(text, '\n') + 1; *s != '#'; s = strchr(s, '\n') + 1)
		if (!strncmp(s, "endian:", 7))
			raw_printf(out, "endian: %s\n", byte_order(in));
		else {
			raw_words(out, s, strcspn(s, "\n"));
			raw_text(out, "\n", 1);
		}
	free(text);
}

static void
print_text(struct raw_out *out, const struct raw_in *in, const struct img *x,
	   const struct sample_stats *s)
{
	char *name = make_visible(raw_name(in));
	size_t bytes;

	if (!name)
		die("no memory");
	img_bytes(x, &bytes);
	raw_printf(out, "%s# %s: item %zu, %s, %zu bytes of samples\n",
		   raw_item(in) > 1 ? "\n" : "", name, raw_item(in), img_format_name(x->format),
		   bytes);
	free(name);
	print_header(out, in, x);
	if (s->finite)
		raw_printf(out, "min: %.9g\nmax: %.9g\nmean: %.9g\n", real_shown(s->lo),
			   real_shown(s->hi), real_shown(s->sum / (double)s->finite));
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
	print_number(out, "mean", s->sum / (double)s->finite);
	raw_printf(out, ", \"nan\": %ju, \"inf\": %ju}\n", (uintmax_t)s->nan, (uintmax_t)s->inf);
}

/* --------------------------------------------------------------------------------------------- */

static void
describe(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;
	struct sample_stats s;

	if (args->skip) {
		raw_printf(out, "%ju\n", (uintmax_t)raw_offset(in));
		return;
	}
	s = survey(in, x, args->common.quiet, st);
	(args->json ? print_json : print_text)(out, in, x, &s);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, describe, NULL};
	struct args args = {.common.as = RAW_AS_TEXT};

	return raw_each(&filter, argc, argv, &args);
}
