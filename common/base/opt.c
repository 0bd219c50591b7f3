#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/sample.h"
#include "common/base/words.h"

enum { MAXROWS = 80, MAXNAME = 40, MAXSIZES = 16 };

/* ---- values: numbers, sizes, words and lists, each checked and stored ---- */

enum { LIMIT = 32 }; /* bytes of a limit as text */

static void *
keep(void *p)
{
	static void *kept[MAXROWS];
	static size_t n;

	return kept[n++ % MAXROWS] = p;
}

bool
opt_number(const char *text, double *v)
{
	return word_real(&text, v) && !*text;
}

bool
opt_size(const char *text, size_t *v)
{
	static const char suffix[] = "1kMGT";
	const char end = text[strspn(text, "0123456789")], *s = strchr(suffix, end ? end : '1');

	return word_size_before(&text, end, v) && s && !*text &&
	       weir_mul(*v, (size_t)1 << 10 * (s - suffix), v);
}

bool
share_parse(const char *text, struct share *p)
{
	return word_fraction(text, &p->i, &p->n) && p->n <= SHARE_MOST;
}

static const char *
spelled(const struct opt *o)
{
	static char text[64];

	if (o->letter)
		snprintf(text, sizeof text, "-%c, --%s", o->letter, o->name);
	else
		snprintf(text, sizeof text, "--%s", o->name);
	return text;
}

static bool
within(const struct opt *o, double v)
{
	if (o->kind == OPT_ABOVE)
		return v > o->lo && (o->hi == 0 || v <= o->hi);
	return (o->lo == 0 && o->hi == 0) || (v >= o->lo && v <= o->hi);
}

/* Writes a limit as people do: %g would make 2147483647 "2.14748e+09", which the option itself refuses. */
static const char *
limit(double v, char text[LIMIT])
{
	snprintf(text, LIMIT, v == floor(v) && fabs(v) <= 0x1p63 ? "%.0f" : "%g", v);
	return text;
}

static _Noreturn void
die_range(const struct opt *o, const char *value, const char *what)
{
	char lo[LIMIT], hi[LIMIT];

	if (o->kind == OPT_ABOVE)
		die_usage("%s: '%s' is not %s above %g%s%s", spelled(o), value, what, o->lo,
			  o->hi == 0 ? "" : ", at most ", o->hi == 0 ? "" : limit(o->hi, hi));
	if (o->lo == 0 && o->hi == 0)
		die_usage("%s: '%s' is not %s", spelled(o), value, what);
	die_usage("%s: '%s' is not %s in %s..%s", spelled(o), value, what, limit(o->lo, lo),
		  limit(o->hi, hi));
}

static void
store_int(const struct opt *o, const char *value, int *to)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(value, &end, 10);
	if (errno || end == value || *end || isspace((unsigned char)*value) || v < INT_MIN ||
	    v > INT_MAX || !within(o, (double)v))
		die_range(o, value, "a whole number");
	*to = (int)v;
}

static void
store_size(const struct opt *o, const char *value, size_t *to)
{
	char lo[LIMIT], hi[LIMIT];

	/* As whole numbers: 2^62 + 1 would be 2^62 as a double. */
	if (opt_size(value, to) && (value == o->absent || (o->lo == 0 && o->hi == 0) ||
				    (*to >= (size_t)o->lo && *to <= (size_t)o->hi)))
		return;
	if (o->lo == 0 && o->hi == 0)
		die_usage("%s: '%s' is not a whole number, or one before k, M, G or T", spelled(o),
			  value);
	die_usage("%s: '%s' is not a whole number in %s..%s, or one before k, M, G or T",
		  spelled(o), value, limit(o->lo, lo), limit(o->hi, hi));
}

static const char *
american(const char *name, char text[MAXNAME])
{
	static const char *const pairs[][2] = {
	    {"centre", "center"}, {"colour", "color"}, {"normalise", "normalize"}};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		const char *at = strstr(name, pairs[i][0]);
		if (!at)
			continue;
		snprintf(text, MAXNAME, "%.*s%s%s", (int)(at - name), name, pairs[i][1],
			 at + strlen(pairs[i][0]));
		return text;
	}
	return name;
}

/* Sets *to to the index of the word. Returns false when it is none of the option's. */
static bool
find_word(const struct opt *o, const char *value, int *to)
{
	int i = 0;

	for (const char *w = o->words; *w; w += *w == '|', i++) {
		char word[MAXNAME], spelling[MAXNAME];
		const size_t len = strcspn(w, "|");
		snprintf(word, sizeof word, "%.*s", (int)len, w);
		if (!strcmp(word, value) || !strcmp(american(word, spelling), value)) {
			*to = i;
			return true;
		}
		w += len;
	}
	return false;
}

static void
store_word(const struct opt *o, const char *value, int *to)
{
	/* Types may be called as NumPy and NRRD do it. */
	const enum img_type type = !strcmp(value, "float32")   ? IMG_F32
				   : !strcmp(value, "float64") ? IMG_F64
							       : img_type_named(value);
	const char *own = type == IMG_I8 ? "char" : img_type_name(type);

	if (!find_word(o, value, to) && (type == IMG_NONE || !find_word(o, own, to)))
		die_usage("%s: '%s' is not one of %s", spelled(o), value, o->words);
}

/* The options of the program, as --help shows them: opt_reals() says by them what an argument is. */
static const struct opt *known;

static void
store(const struct opt *o, const char *value, void *args, size_t most)
{
	void *to = (char *)args + o->at;

	if (o->arg && !value)
		value = o->absent;
	else if (o->arg && strstr(o->arg, "FILE") && !*value)
		die_usage("%s: '' is the name of no file", spelled(o));
	if (o->seen)
		*(bool *)((char *)args + o->seen) = true;
	if (o->kind == OPT_FLAG)
		*(bool *)to = true;
	else if (o->kind == OPT_SET)
		*(int *)to = o->value;
	else if (o->kind == OPT_COUNT)
		++*(int *)to;
	else if (o->kind == OPT_INT)
		store_int(o, value, to);
	else if (o->kind == OPT_SIZE)
		store_size(o, value, to);
	else if (o->kind == OPT_REAL || o->kind == OPT_ABOVE) {
		double *v = to;
		if (!opt_number(value, v) || !isfinite(*v) || !within(o, *v))
			die_range(o, value, "a number");
		if (word_rounds(value))
			die_usage("%s: '%s' has more digits than a double", spelled(o), value);
	} else if (o->kind == OPT_STR)
		*(const char **)to = value;
	else if (o->kind == OPT_WORD)
		store_word(o, value, to);
	else if (o->kind == OPT_LIST) {
		struct opt_list *l = to;
		if (!l->v)
			l->v = keep(weir_xalloc(most, sizeof *l->v));
		l->v[l->n++] = value;
	}
}

/* Returns "FORM, " as --help shows the option's argument; "" where it has no such row. */
static const char *
form_of(const char *option, char text[LIMIT])
{
	*text = 0;
	for (const struct opt *o = known; o && o->name; o++)
		if (!strcmp(option + strspn(option, "-"), o->name) ||
		    (o->letter == option[1] && !option[2]))
			snprintf(text, LIMIT, "%s, ", o->arg);
	return text;
}

/* Returns how many numbers there are; 0 when the text is something else. A comma may stand for x. */
static size_t
read_reals(const char *option, const char *text, char sep, double *v, size_t max)
{
	size_t n = 0;

	for (const char *s = text, *from; n < max; s++) {
		from = s;
		if (!word_real(&s, &v[n]) || !isfinite(v[n]) ||
		    (*s && *s != sep && !(sep == 'x' && *s == ',')))
			return 0;
		if (word_rounds(from))
			die_usage("%s: '%s' has more digits than a double", option, from);
		n++;
		if (!*s)
			return n;
	}
	return 0;
}

size_t
opt_reals_upto(const char *option, const char *text, char sep, double *v, size_t max)
{
	const size_t n = read_reals(option, text, sep, v, max);
	char form[LIMIT];

	if (!n)
		die_usage("%s: '%s' is not %s1 to %zu numbers with '%c' between them", option, text,
			  form_of(option, form), max, sep);
	return n;
}

void
opt_reals(const char *option, const char *text, char sep, double *v, size_t n)
{
	char form[LIMIT];

	if (read_reals(option, text, sep, v, n) == n)
		return;
	if (n == 1)
		die_usage("%s: '%s' is not a number", option, text);
	die_usage("%s: '%s' is not %s%zu numbers with '%c' between them", option, text,
		  form_of(option, form), n, sep);
}

size_t
opt_sizes(const char *option, const char *text, size_t *v, size_t max, double most)
{
	double size[MAXSIZES];
	const size_t n = read_reals(option, text, 'x', size, max);
	size_t i = 0;
	char form[LIMIT];

	for (; i < n && size[i] >= 1 && size[i] <= most && size[i] == floor(size[i]); i++)
		v[i] = (size_t)size[i];
	if (!n || i < n)
		die_usage("%s: '%s' is not %s1 to %zu sizes; each is a whole number in 1..%.0f",
			  option, text, form_of(option, form), max, most);
	return n;
}

/* ---- the command line ---- */

/* getopt returns LONG for row 0 of the table. It is above every letter. */
enum { LONG = 256 };

#define COMMON(member) offsetof(struct opt_common, member)

static const struct {
	unsigned needs;
	struct opt row;
} common_rows[] = {
    {OPT_THREADS,
     {'t', "threads", OPT_INT, COMMON(threads), "N", "threads", 1, 4096, .group = OPT_RUN}},
    {OPT_GPU,
     {'g', "gpu", OPT_STR, COMMON(gpu), "LIST", "run on the GPU", .absent = "", .group = OPT_RUN}},
    {OPT_FORMAT,
     {0, "raw", OPT_SET, COMMON(as), NULL, "write raw whatever the input was", .value = RAW_AS_RAW,
      .group = OPT_DATA}},
    {OPT_FORMAT,
     {0, "pnm", OPT_SET, COMMON(as), NULL, "write PNM or fail", .value = RAW_AS_PNM,
      .group = OPT_DATA}},
    {OPT_PART,
     {0, "part", OPT_STR, COMMON(part), "I/N", "do share I of N alone", .group = OPT_RUN}},
    {0,
     {'o', "out", OPT_STR, COMMON(out), "FILE", "write to FILE, which appears when all is done",
      .writes = true, .group = OPT_DATA}},
    {0,
     {'v', "verbose", OPT_COUNT, COMMON(verbose), NULL, "say on stderr what is done",
      .group = OPT_RUN}},
    {0,
     {0, "quiet", OPT_FLAG, COMMON(quiet), NULL, "no warnings, no progress bar", .group = OPT_RUN}},
    {0,
     {0, "max-bytes", OPT_SIZE, COMMON(max_bytes), "SIZE", "largest item read", 1, 0x1p62,
      .group = OPT_RUN}},
    {0,
     {0, "stats", OPT_STR, COMMON(stats), "FILE", "figures as JSON, to stderr", .absent = "-",
      .writes = true, .group = OPT_RUN}},
    {0, {'h', "help", OPT_HELP, 0, NULL, "this text", .group = OPT_RUN}},
    {0, {'V', "version", OPT_VERSION, 0, NULL, "version, compiler, CPU and GPU", .group = OPT_RUN}},
    {0,
     {0, "completion", OPT_COMPLETION, 0, "SHELL", "a completion for %s (bash)", .absent = "bash",
      .words = "bash|zsh|fish|weir", .group = OPT_RUN}},
};

/* The program's own rows, and after them its common rows. */
struct rows {
	struct opt v[MAXROWS];
	size_t n, own;
	bool given[MAXROWS];
	FILE *history; /* the text of the command so far */
};

static void
gather_rows(const struct opt_program *p, struct rows *r)
{
	*r = (struct rows){0};
	for (const struct opt *o = p->table; o->name && r->n < MAXROWS; o++)
		r->v[r->n++] = *o;
	r->own = r->n;
	for (size_t i = 0; i < sizeof common_rows / sizeof *common_rows && r->n < MAXROWS; i++)
		if ((common_rows[i].needs & p->common) == common_rows[i].needs)
			r->v[r->n++] = common_rows[i].row;
}

/* --- history ------------------------------------------------------------------------------- */

/* Writes s as one word for a shell. It is quoted when it holds a special character; control characters become blanks. */
static void
put_shell_word(FILE *f, const char *s)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/%@";
	const bool quote = !*s || s[strspn(s, plain)];

	if (quote)
		fputc('\'', f);
	for (; *s; s++)
		if (*s == '\'')
			fputs("'\\''", f);
		else
			fputc(iscntrl((unsigned char)*s) ? ' ' : *s, f);
	if (quote)
		fputc('\'', f);
}

/* Writes a word that may be a file. What the shell passes as /dev/fd/63 is the file that it has opened there, or a nameless pipe. */
static void
put_file(FILE *f, const char *path)
{
	const bool passed = !strncmp(path, "/dev/fd/", 8);
	char *real = passed ? realpath(path, NULL) : NULL;

	put_shell_word(f, real ? real : passed ? "(pipe)" : path);
	free(real);
}

static void
put_history(FILE *f, const struct opt *o, const char *value)
{
	if (o->letter)
		fprintf(f, " -%c", o->letter);
	else
		fprintf(f, " --%s", o->name);
	if (!value)
		return;
	fputc(o->letter ? ' ' : '=', f);
	(o->kind == OPT_STR ? put_file : put_shell_word)(f, value);
}

/* --- the command, as it can be typed again ------------------------------------------------- */

/* The words behind the program's name: the options, then the operands. */
static char *no_word, **typed = &no_word, **operands = &no_word;

/* Returns where `file` stands in a word that is FILE, NAME=FILE or -XFILE. NULL: it is another word. */
static const char *
find_file(const char *word, const char *file)
{
	const size_t n = strlen(word), m = strlen(file), at = n - m;
	const bool apart = n == m || (n > m && (word[at - 1] == '=' || (at == 2 && *word == '-')));

	return m && apart && !strcmp(word + at, file) ? word + at : NULL;
}

const char *
opt_command_on(const char *by, const char *file)
{
	const bool alone = file && operands[0] && !strcmp(operands[0], file) && !operands[1];
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		die("no memory");
	if (alone || !file) {
		fprintf(f, "%s ", by);
		put_shell_word(f, file ? file : "FILE");
		fputs(" | ", f);
	}
	fputs(weir_prog, f);
	for (char **w = typed; *w && !(alone && w == operands); w++) {
		const char *at = file ? find_file(*w, file) : NULL;
		fprintf(f, " %.*s%s%s", at ? (int)(at - *w) : 0, *w, at ? "<(" : "", at ? by : "");
		if (at)
			fputc(' ', f);
		put_shell_word(f, at ? at : *w);
		if (at)
			fputc(')', f);
	}
	if (fclose(f) || !text)
		die("no memory");
	return keep(text);
}

/* --- parsing --------------------------------------------------------------------------------- */

static void
fill_getopt(const struct rows *r, struct option *longs, char *shorts,
	    char american_names[][MAXNAME])
{
	*shorts++ = ':';
	for (size_t i = 0; i < r->n; i++) {
		const struct opt *o = &r->v[i];
		int has = !o->arg ? no_argument : o->absent ? optional_argument : required_argument;
		longs[i] = (struct option){o->name, has, NULL, LONG + (int)i};
		longs[r->n + i] = longs[i];
		longs[r->n + i].name = american(o->name, american_names[i]);
		if (!o->letter)
			continue;
		*shorts++ = o->letter;
		for (int k = 0; k < has; k++)
			*shorts++ = ':';
	}
	*shorts = 0;
}

/* Returns how many letters must be inserted, deleted or changed to make b from a[0..n). */
static size_t
distance(const char *a, size_t n, const char *b)
{
	size_t row[MAXNAME], m = strlen(b);

	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 0; i < n; i++) {
		size_t diagonal = row[0]++;
		for (size_t j = 0; j < m; j++) {
			const size_t change = diagonal + (a[i] != b[j]);
			const size_t step = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
			diagonal = row[j + 1];
			row[j + 1] = change < step ? change : step;
		}
	}
	return row[m];
}

/* Returns the long option that begins alike and has the smallest distance to name[0..n), below n / 3 and 3. NULL: none is near. */
static const char *
nearest(const struct rows *r, const char *name, size_t n)
{
	const char *best = NULL;
	size_t least = 3;

	for (size_t i = 0; i < r->n && n < MAXNAME; i++) {
		const size_t d = distance(name, n, r->v[i].name);
		if (d < least && 3 * d < n && name[0] == r->v[i].name[0]) {
			least = d;
			best = r->v[i].name;
		}
	}
	return best;
}

/* Returns which of our options, with -- before it, name[0..n) is. NULL: none. Dies with the answer where the table has one. */
static const char *
alias_of(const struct rows *r, const char *given, const char *name, size_t n)
{
	const char *is;

	for (size_t skip = 0; (is = opt_alias(skip, name, n)); skip++) {
		if (strchr(is, ' '))
			die_usage("option '%s' is unknown: %s", given, is);
		for (size_t i = 0; i < r->n; i++)
			if (!distance(is + 2, strcspn(is + 2, "="), r->v[i].name))
				return is;
	}
	return NULL;
}

/* Dies with the reason why getopt refused a long option. given is `--name` or `--name=value`. */
static _Noreturn void
die_long(const struct rows *r, const char *given)
{
	const char *name = given + 2;
	const size_t n = strcspn(name, "=");
	const char *first = NULL, *second = NULL, *near;

	for (size_t i = 0; i < r->n; i++) {
		if (strncmp(r->v[i].name, name, n))
			continue;
		if (!r->v[i].name[n])
			die_usage("option '--%s' takes no argument", r->v[i].name);
		second = first ? r->v[i].name : NULL;
		first = first ? first : r->v[i].name;
	}
	if (second)
		die_usage("option '%s' is ambiguous: --%s or --%s", given, first, second);
	if (first)
		die_usage("option '--%s' takes no argument", first);
	near = nearest(r, name, n);
	if (near)
		die_usage("option '%s' is unknown; is it --%s? See %s --help", given, near,
			  weir_prog);
	die_usage("option '%s' is unknown; see %s --help, or weir help %.*s", given, weir_prog,
		  (int)n, name);
}

static _Noreturn void
die_refused(const struct opt_program *p, const struct rows *r, char **argv, int c)
{
	const char *given = argv[optind - 1], *word, *near = NULL;

	/* `-colours 8`: getopt is at the word, or behind it after its last letter. */
	for (int at = optind - 1; c == '?' && !near && argv[at] && at <= optind; at++)
		if ((word = argv[at])[0] == '-' && word[1] && word[1] != '-') {
			const size_t n = strcspn(word + 1, "=");
			const char *is = alias_of(r, word, word + 1, n);
			near = is ? is + 2 : nearest(r, word + 1, n);
		}
	if (near && optopt < LONG)
		die_usage("option '%s' is unknown; is it --%s? See %s --help", word, near,
			  weir_prog);
	/* getopt sets optopt to the letter, to LONG + row, or to 0 for an unknown long option. */
	if (optopt && optopt < LONG)
		die_usage("option '-%c' %s; see %s --help%s", optopt,
			  c == ':' ? "needs an argument" : "is unknown", weir_prog,
			  c != ':' && p->operands && !strncmp(p->operands, "EXPRESSION", 10)
			      ? "; an expression that begins with - follows --"
			      : "");
	if (c == ':')
		die_usage("option '%s' needs an argument; see %s --help", given, weir_prog);
	die_long(r, given);
}

/* Prints the text that --help, --version or --completion asks for. */
static _Noreturn void
print_text(const struct opt_program *p, const struct rows *r, const struct opt *o,
	   const char *value)
{
	int shell = 0;

	if (o->kind == OPT_COMPLETION)
		store_word(o, value ? value : o->absent, &shell);
	if (o->kind == OPT_HELP)
		opt_put_help(p, r->v, r->n);
	else if (o->kind == OPT_VERSION)
		printf("%s (weir) %s\ncompiler: %s\nCPU: %s\nGPU: %s\n", weir_prog, weir_version,
		       __VERSION__, cpu_name(weir_cpu),
		       p->gpu_state ? p->gpu_state() : "none for this program");
	else
		opt_put_completion(shell, p, r->v, r->n, r->own);
	if (fflush(stdout) || ferror(stdout))
		die("(stdout): %s", strerror(errno));
	exit(0);
}

/* Where argv[at] is an alias, `--name` or `--name=value`, puts the option in its place, for getopt to read, and returns true. */
static bool
replace_alias(const struct rows *r, char **argv, int at)
{
	const size_t n = strcspn(argv[at], "=");
	const char *is = alias_of(r, argv[at], argv[at] + 2, n - 2);
	char *text;

	if (!is)
		return false;
	if (asprintf(&text, "%s%s", is, argv[at] + n) < 0)
		die("no memory");
	argv[at] = keep(text);
	optind = at;
	return true;
}

static void
parse_rows(const struct opt_program *p, struct rows *r, int argc, char **argv, void *args)
{
	struct option longs[2 * MAXROWS + 1] = {{0}};
	char shorts[3 * MAXROWS + 2], american_names[MAXROWS][MAXNAME];
	int c;

	fill_getopt(r, longs, shorts, american_names);
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const int at = optind - (optarg && argv[optind - 1] == optarg ? 2 : 1);
		char *line = c == '?' && !optopt ? strpbrk(argv[at], "_=") : NULL;
		if (line && *line == '_') { /* Python's names: --box_size is --box-size */
			*line = '-';
			optind = at;
			continue;
		}
		if (c == '?' && !optopt && replace_alias(r, argv, at))
			continue;
		if (c == '?' || c == ':')
			die_refused(p, r, argv, c);
		size_t i = c < LONG ? 0 : (size_t)c - LONG;
		while (c < LONG && r->v[i].letter != c)
			i++;
		const bool cut = !strncmp(argv[at], "--", 2) &&
				 strcspn(argv[at] + 2, "=") != strlen(r->v[i].name);
		if (cut && replace_alias(r, argv, at))
			continue;
		if (cut && r->v[i].writes)
			die_usage("option '%s' is unknown; is it --%s, which writes a file? See %s "
				  "--help",
				  argv[at], r->v[i].name, weir_prog);
		r->given[i] = true;
		if (r->v[i].kind >= OPT_HELP)
			print_text(p, r, &r->v[i], optarg);
		store(&r->v[i], optarg, args, (size_t)argc);
		if (i < r->own && !r->v[i].unrecorded)
			put_history(r->history, &r->v[i], optarg);
	}
}

void
opt_parse(const struct opt_program *p, int argc, char **argv, void *args, char ***operand,
	  size_t *noperand)
{
	struct opt_common *common = args;
	struct rows r;
	char *text = NULL;
	size_t n;

	gather_rows(p, &r);
	known = p->table;
	r.history = open_memstream(&text, &n);
	if (!r.history)
		die("no memory");
	fputs(weir_prog, r.history);
	parse_rows(p, &r, argc, argv, args);
	/* Operands that must be there are what is computed. Files of any number are not named. */
	for (int i = optind; p->operands && !strpbrk(p->operands, "[.") && i < argc; i++) {
		fputc(' ', r.history);
		put_file(r.history, argv[i]);
	}
	if (ferror(r.history) | fclose(r.history) || !text)
		die("no memory");
	common->history = keep(text);
	for (size_t i = 0; i < r.n; i++)
		if (r.v[i].required && !r.given[i])
			die_usage("%s is required; see %s --help", spelled(&r.v[i]), weir_prog);
	*operand = operands = argv + optind;
	typed = argv + 1;
	*noperand = (size_t)(argc - optind);
	if (p->operands && *noperand > p->max_operands)
		die_usage("'%s' is one operand too many", (*operand)[p->max_operands]);
	if (common->part && !share_parse(common->part, &common->share))
		die_usage("--part: '%s' is not I/N, a share from 0 to N-1 of N, which is in 1..%d",
			  common->part, SHARE_MOST);
	if (common->part && common->as == RAW_AS_PNM)
		die_usage("--part: shares are raw items; give --pnm to rawjoin");
	if (cpu_misnamed())
		die_usage("WEIR_CPU '%s': must be generic, avx2 or avx512", cpu_misnamed());
	warn_quiet(common->quiet);
	if (common->stats && strcmp(common->stats, "-"))
		common->report = file_create(common->stats, true);
}
