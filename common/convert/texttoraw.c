/* texttoraw: converts numbers in text to raw items: tables of points, kernels, pictures. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/stream/formats.h"
#include "common/stream/raw.h"

const char *const weir_prog = "texttoraw";

struct args {
	struct opt_common common;
	int type;		     /* enum img_type - 1 */
	const char *columns, *sizes; /* columns: as given, commas or blanks between the names */
	const char *select; /* names of columns, or their numbers from 1, with commas; NULL: all */
	bool header;	    /* the first line of a file names the columns */
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
    {0, "select", OPT_STR, AT(select), "COLUMNS",
     "only these columns, by name or number from 1: x,y; others may hold any text"},
    {0, "sizes", OPT_STR, AT(sizes), "LIST", "an array of that shape, fastest axis first: 7,7,4,4"},
    {0}};

static const struct opt_program program = {
    .what = "Turns numbers in text into raw items; an empty line ends an item.",
    .example = "texttoraw --header points.csv >points.nrrd",
    .table = table};

#define BLANKS	   " \t\r\n"
#define SEPARATORS BLANKS ",;"

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
	if ((args.columns || args.header || args.select) && args.dim)
		die_usage("--columns, --header or --select, and --sizes, exclude each other");
	if (args.select && !args.select[strspn(args.select, SEPARATORS)])
		die_usage("--select: no column is named");
	if (args.columns && strpbrk(args.columns, "\n\r"))
		die_usage("--columns: a name with a line break");
	return args;
}

/* --- reading ------------------------------------------------------------------------------------------------------- */

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
	const char *select;  /* as in struct args */
	size_t *pick, npick; /* which of `width` columns are taken. NULL: not known yet */
	size_t width, fields;
	char **field; /* [fields]: those of a line */

	/* The current item. */
	union number *v;
	size_t n, room, columns;
	enum img_type type;
};

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
	if (t->n * sizeof v >= t->most)
		die("%s: line %zu: more than %zu numbers; raise the limit with --max-bytes",
		    t->name, t->line, t->most / sizeof v);
	if (t->n == t->room)
		t->v = weir_xgrow(t->v, &t->room, t->n + 1, sizeof v);
	t->v[t->n++] = v;
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

/* Adds the name of a column: quotes and blanks around it are left out, and those inside become _. */
static void
add_name(struct text *t, char **to, const char *a)
{
	static const char around[] = BLANKS "\"'";
	const char *b = a + strlen(a);

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

/*
 * Ends the field at *s with a zero. It ends at one of `ends`, or is between quotes, where a quote is written twice. Blanks around it
 * are left out. *s moves behind it and what ended it, and becomes NULL at the end of the line.
 */
static char *
cut_field(char **s, const char *ends)
{
	char *field = *s + strspn(*s, BLANKS), *at = field, *to = field;
	const bool quoted = *field == '"';

	if (quoted)
		for (at++; *at && (*at != '"' || *++at == '"'); at++)
			*to++ = *at;
	at += strcspn(at, ends);
	if (!quoted)
		for (to = at; to > field && strchr(BLANKS, to[-1]);)
			to--;
	*s = *at ? at + 1 : NULL;
	*to = 0;
	return field;
}

/* Cuts a line of text into its columns. Commas, semicolons or tabs stand between them, or else blanks. Returns their number. */
static size_t
cut_line(struct text *t, char *s)
{
	const char *const ends = s[strcspn(s, ",;\t")] ? ",;\t" : BLANKS;
	size_t n = 0, end = strlen(s);

	while (end > 0 && strchr(*ends == ',' ? "\r\n" : BLANKS, s[end - 1]))
		s[--end] = 0;
	if (!s[strspn(s, BLANKS)] || *s == '#')
		return 0;
	for (; s; n++) {
		t->field = weir_xgrow(t->field, &t->fields, n + 1, sizeof *t->field);
		t->field[n] = cut_field(&s, ends);
		for (; s && *ends != ',' && strchr(BLANKS, *s);)
			s++;
	}
	return n;
}

/* Takes the names of columns from a line. */
static void
take_names(struct text *t, const char *s)
{
	const size_t room = strlen(s) + 1;
	char *line = weir_xalloc(room, 1), *to = t->names = weir_xalloc(2, room);

	memcpy(line, s, room);
	size_t n = cut_line(t, line);
	n -= n > 1 && !*t->field[n - 1]; /* a comma at the end begins no field */
	for (size_t i = 0; i < n; i++)
		add_name(t, &to, t->field[i]);
	*to = 0;
	weir_free(line);
}

/* Finds the columns that --select names among the n of a line. Their names alone are kept. */
static void
pick_columns(struct text *t, size_t n)
{
	struct text wanted = {.name = t->name};
	const size_t room = t->names ? strlen(t->names) + 1 : 1;
	char **name = weir_xalloc(n + 1, sizeof *name), *at = t->names, *word, *kept, *to;
	size_t i = 0, number;

	take_names(&wanted, t->select);
	kept = to = weir_xalloc(wanted.nnames + 1, room);
	t->pick = weir_xalloc(wanted.nnames + 1, sizeof *t->pick);
	while (at && (name[i] = word_next(&at)))
		i++;
	t->nnames = 0;
	for (at = wanted.names; (word = word_next(&at)); t->pick[t->npick++] = i) {
		for (i = 0; i < n && (!t->names || strcmp(name[i], word));)
			i++;
		if (i == n && word_whole(word, n, &number) && number > 0)
			i = number - 1;
		else if (i == n)
			die("%s: line %zu: --select: %s is none of %zu columns%s", t->name, t->line,
			    word, n, t->names ? "" : "; see --header");
		if (t->names)
			add_name(t, &to, name[i]);
	}
	*to = 0;
	weir_free_all(wanted.names, wanted.field, name, t->names);
	t->names = t->nnames ? kept : NULL;
	if (!t->nnames)
		weir_free(kept);
}

/* Reads the numbers of a line in the columns of --select. Returns how many there are. */
static size_t
take_selected(struct text *t, char *s)
{
	size_t n = cut_line(t, s);
	const size_t width = t->pick ? t->width : t->names ? t->nnames : n;

	n -= n == width + 1 && !*t->field[width]; /* a comma at the end begins no field */
	if (n && !t->pick) {
		if (t->names && n != t->nnames)
			die("%s: line %zu: %zu columns, but %zu names", t->name, t->line, n,
			    t->nnames);
		pick_columns(t, n);
		t->width = n;
	}
	if (n && n != t->width)
		die("%s: line %zu: %zu columns, but %zu in the lines before", t->name, t->line, n,
		    t->width);
	for (size_t i = 0; n && i < t->npick; i++)
		take_field(t, t->field[t->pick[i]]);
	return n ? t->npick : 0;
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
		const size_t n = t->select ? take_selected(t, text) : take_line(t, text);
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

static void
put(struct raw_out *out, const struct text *t, const struct args *args)
{
	const enum img_type type = (enum img_type)(args->type + 1);
	size_t sizes[IMG_MAXDIM] = {t->columns, t->n / t->columns}, count = 1;
	struct img x;

	for (size_t i = 0; i < args->dim; i++) {
		sizes[i] = args->size[i];
		if (!weir_mul(count, sizes[i], &count))
			count = 0;
	}
	if (args->dim && count != t->n)
		die("%s: line %zu: %zu numbers do not make the sizes %s", t->name, t->line, t->n,
		    args->sizes);
	img_init(&x, type, args->dim ? (int)args->dim : 2, sizes);
	if (!args->dim)
		strcpy(x.axis[0].kind, "list");
	if (t->names)
		img_set_key(&x, "columns", "%s", t->names);
	opt_add_history(&x, &args->common);
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
			 .select = args->select,
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
	weir_free_all(t.v, t.names, t.pick, t.field);
}

int
main(int argc, char **argv)
{
	struct args args = parse(argc, argv);
	struct raw_out *out = raw_create(args.common.out, RAW_AS_RAW);
	struct stats st;

	stats_start(&st);
	for (size_t i = 0; i < (args.npath ? args.npath : 1); i++)
		convert(args.npath ? args.path[i] : "-", out, &args, &st);
	if (!st.items)
		die("%s: empty input", args.npath ? args.path[0] : "(stdin)");
	stats_close(&st, NULL, out, &args.common);
	return 0;
}
