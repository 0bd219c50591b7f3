/* texttoraw: converts numbers in text to raw items: tables of points, kernels, pictures. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/base/stats.h"
#include "common/stream/foreign.h"
#include "common/stream/raw.h"

const char *const weir_prog = "texttoraw";

struct args {
	struct opt_common common;
	int type;		     /* enum img_type - 1 */
	const char *columns, *sizes; /* columns: as given, commas or blanks between the names */
	bool header;		     /* the first line of a file names the columns */
	size_t size[IMG_MAXDIM];
	size_t dim; /* number of --sizes; 0: the item is a table */
	char **path;
	size_t npath;
};

static const struct opt table[] = {
    {0, "type", OPT_WORD, AT(type), "TYPE", "%s (double)", .words = IMG_WORDS},
    {0, "columns", OPT_STR, AT(columns), "NAMES",
     "what the columns are: the key columns:=, x,y,re"},
    {0, "header", OPT_FLAG, AT(header), NULL, "the first line of a file names the columns"},
    {0, "sizes", OPT_STR, AT(sizes), "LIST", "an array of that shape, fastest axis first: 7,7,4,4"},
    {0}};

static const struct opt_program program = {
    .what = "Turns numbers in text into raw items; an empty line ends an item.",
    .example = "texttoraw --header points.csv >points.nrrd",
    .table = table};

static struct args
parse(int argc, char **argv)
{
	struct args args = {.type = IMG_F64 - 1};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	if (args.sizes)
		args.dim = opt_sizes("--sizes", args.sizes, args.size, IMG_MAXDIM, 0x1p53);
	for (size_t i = 0, n = 0; i < args.npath; i++)
		if (!strcmp(args.path[i], "-") && n++)
			die_usage("- is standard input, which can be read once");
	if ((args.columns || args.header) && args.dim)
		die_usage("--columns or --header, and --sizes, exclude each other");
	if (args.columns && strpbrk(args.columns, "\n\r"))
		die_usage("--columns: a name with a line break");
	return args;
}

/* --- reading ------------------------------------------------------------------------------------------------------- */

#define BLANKS	   " \t\r\n"
#define SEPARATORS BLANKS ",;"

/* int64 is whole, uint64 is natural, all others are real. */
union number {
	double real;
	int64_t whole;
	uint64_t natural;
};

struct text {
	FILE *f;
	const char *name;
	size_t line, bytes, most; /* most: --max-bytes */
	char *names; /* of the columns, with blanks between them; NULL: the file has none */
	size_t nnames;

	/* The current item. */
	union number *v;
	size_t n, room, columns;
	enum img_type type;
};

static void
append(struct text *t, union number v)
{
	if (t->n * sizeof v >= t->most)
		die("%s: line %zu: more than %zu numbers; raise the limit with --max-bytes",
		    t->name, t->line, t->most / sizeof v);
	if (t->n == t->room)
		t->v = weir_xgrow(t->v, &t->room, t->n + 1, sizeof v);
	t->v[t->n++] = v;
}

/*
 * Reads the number that s begins with. Sets *end behind it, to s where there is none. Returns false when the type has not
 * that number: here integers of 64 bits are checked, which doubles would round.
 */
static bool
take_number(const struct text *t, char *s, char **end, union number *v)
{
	const bool sign = t->type == IMG_I64;

	if (!sign && t->type != IMG_U64) {
		v->real = strtod(s, end);
		return true;
	}
	errno = 0;
	if (sign)
		v->whole = strtoll(s, end, 10);
	else
		v->natural = strtoull(s, end, 10);
	if (*end > s && strchr(SEPARATORS, **end))
		return !errno && (sign || *s != '-' || !v->natural);
	const double real = strtod(s, end);
	return sample_store(v, &real, t->type, 1) == 1;
}

/* Reads the field at s, which is not at the end of a line, and returns its end. A field without a character is NaN. */
static char *
take_field(struct text *t, char *s)
{
	const int width = (int)strcspn(s, SEPARATORS);
	const int length = width == 2 && !strncmp(s, "NA", 2) ? 0 : width; /* as R writes it */
	union number v = {.real = NAN};
	char *end = s;

	if (!length && !img_is_float(t->type))
		die("%s: line %zu: %s is no %s", t->name, t->line, width ? "NA" : "an empty field",
		    img_type_name(t->type));
	const bool fits = !length || take_number(t, s, &end, &v);
	if (length && (end == s || !strchr(SEPARATORS, *end)))
		die("%s: line %zu: '%.*s' is not a number%s", t->name, t->line, length, s,
		    t->line == 1 && !t->n ? "; see --header" : "");
	if (!fits)
		die("%s: line %zu: %.*s is no %s", t->name, t->line, length, s,
		    img_type_name(t->type));
	append(t, v);
	return length ? end : s + width;
}

/*
 * Reads the numbers of a line. Blanks separate them, or a comma or semicolon with or without blanks; # begins a comment.
 * Returns how many there are.
 */
static size_t
take_line(struct text *t, char *s)
{
	size_t n = 0;

	s[strcspn(s, "#")] = 0;
	for (s += strspn(s, BLANKS); *s; n++) {
		s = take_field(t, s);
		s += strspn(s, BLANKS);
		s += *s == ',' || *s == ';';
		s += strspn(s, BLANKS);
	}
	return n;
}

/* Adds the name in a..b of a column: quotes and blanks around it are left out, and those inside become _. */
static void
add_name(struct text *t, char **to, const char *a, const char *b)
{
	static const char around[] = BLANKS "\"'";

	while (a < b && strchr(around, *a))
		a++;
	while (a < b && strchr(around, b[-1]))
		b--;
	if (t->nnames++)
		*(*to)++ = ' ';
	if (a == b)
		*(*to)++ = '_';
	for (; a < b; a++)
		*(*to)++ = strchr(around, *a) ? '_' : *a;
}

/* Takes the names of columns from a line. Commas, semicolons or tabs stand between them, or else blanks. */
static void
take_names(struct text *t, const char *s)
{
	const char *const ends = s[strcspn(s, ",;\t")] ? ",;\t" : BLANKS;
	char *to = t->names = weir_xalloc(2 * strlen(s) + 2, 1);

	for (size_t n; s[strspn(s, BLANKS)]; s += n + (s[n] != 0)) {
		n = strcspn(s, ends);
		if (n || *ends == ',')
			add_name(t, &to, s, s + n);
	}
	*to = 0;
}

/* Reads a line to *s. Returns false at the end of the text. */
static bool
next_line(struct text *t, char **s, size_t *room)
{
	const ssize_t got = getline(s, room, t->f);

	if (got <= 0)
		return false;
	if (!t->line++ && foreign_what(*s, (size_t)got))
		die("%s: this is %s", t->name, foreign_what(*s, (size_t)got));
	t->bytes += (size_t)got;
	if (memchr(*s, 0, (size_t)got))
		die("%s: line %zu: a zero byte: this is no text", t->name, t->line);
	return true;
}

/* Reads the numbers up to the next empty line. Returns false when there are none. */
static bool
next_item(struct text *t, const struct args *args)
{
	const bool even = !args->dim; /* all lines must have equally many numbers */
	char *s = NULL;
	size_t room = 0;

	t->n = t->columns = 0;
	file_flush_when_idle(t->f);
	while (next_line(t, &s, &room)) {
		/* Some programs put the mark of UTF-8 before the text. */
		const bool marked = t->line == 1 && !strncmp(s, "\xef\xbb\xbf", 3);
		char *const text = marked ? s + 3 : s;
		if (args->header && t->line == 1) {
			if (!args->columns)
				take_names(t, text);
			continue;
		}
		const bool comment = *text == '#';
		const size_t n = take_line(t, text);
		if (!n && t->n && !comment)
			break;
		if (n && t->columns && n != t->columns && even)
			die("%s: line %zu: %zu numbers, but %zu in the lines before", t->name,
			    t->line, n, t->columns);
		t->columns = n ? n : t->columns;
	}
	if (ferror(t->f))
		die("%s: %s", t->name, strerror(errno));
	if (t->names && t->n && t->nnames != t->columns)
		die("%s: line %zu: %zu numbers, but %s has %zu name%s", t->name, t->line,
		    t->columns, args->columns ? "--columns" : "the header", t->nnames,
		    t->nnames == 1 ? "" : "s");
	free(s);
	return t->n;
}

/* --- writing ------------------------------------------------------------------------------------------------------- */

/* Makes the description of the item. */
static void
describe(struct img *x, const struct text *t, const struct args *args)
{
	const enum img_type type = (enum img_type)(args->type + 1);
	size_t sizes[IMG_MAXDIM] = {t->columns, t->n / t->columns}, count = 1;

	for (size_t i = 0; i < args->dim; i++) {
		sizes[i] = args->size[i];
		if (!weir_mul(count, sizes[i], &count))
			count = 0;
	}
	if (args->dim && count != t->n)
		die("%s: line %zu: %zu numbers do not make the sizes %s", t->name, t->line, t->n,
		    args->sizes);
	img_init(x, type, args->dim ? (int)args->dim : 2, sizes);
	if (!args->dim)
		strcpy(x->axis[0].kind, "list");
	if (t->names)
		img_set_key(x, "columns", "%s", t->names);
	opt_add_history(x, &args->common);
}

static void
put(struct raw_out *out, const struct text *t, const struct args *args)
{
	struct img x;

	describe(&x, t, args);
	if (img_alloc(&x))
		die("%s: no memory for %zu samples", t->name, t->n);
	size_t fit = t->n;
	if (x.type == IMG_I64 || x.type == IMG_U64)
		memcpy(x.data, t->v, t->n * sizeof *t->v);
	else
		fit = sample_store(x.data, &t->v->real, x.type, t->n);
	if (fit != t->n)
		die("%s: number %zu of the item that ends in line %zu, %g, is no %s", t->name,
		    fit + 1, t->line, real_shown(t->v[fit].real), img_type_name(x.type));
	raw_put(out, &x);
	img_free(&x);
}

static void
convert(const char *path, struct raw_out *out, const struct args *args, struct stats *st)
{
	struct text t = {.f = file_open(path),
			 .name = file_name(path),
			 .type = (enum img_type)(args->type + 1),
			 .most = weir_limit(args->common.max_bytes)};

	if (args->columns)
		take_names(&t, args->columns);
	for (; next_item(&t, args); st->items++) {
		stats_charge(st, STATS_READ);
		put(out, &t, args);
		stats_charge(st, STATS_WRITE);
	}
	st->bytes_in += t.bytes;
	if (t.f != stdin)
		fclose(t.f);
	weir_free(t.v);
	weir_free(t.names);
}

int
main(int argc, char **argv)
{
	struct args args = parse(argc, argv);
	struct raw_out *out = raw_create(args.common.out, RAW_AS_RAW);
	struct stats st;

	stats_start(&st);
	if (!args.npath)
		convert("-", out, &args, &st);
	for (size_t i = 0; i < args.npath; i++)
		convert(args.path[i], out, &args, &st);
	if (!st.items)
		die("%s: empty input", args.npath ? args.path[0] : "(stdin)");
	stats_close(&st, NULL, out, &args.common);
	return 0;
}
