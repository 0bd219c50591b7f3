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
#include "common/base/words.h"

enum { MAXROWS = 80, MAXNAME = 40 };

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
	static const char suffix[] = "kMGT";
	unsigned long long n;
	const char *s;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	*v = (size_t)n;
	if (errno || !*end)
		return !errno;
	s = strchr(suffix, *end);
	return s && !end[1] && weir_mul(*v, (size_t)1 << 10 * (s - suffix + 1), v);
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

	if (opt_size(value, to) && (value == o->absent || within(o, (double)*to)))
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

static void
store_word(const struct opt *o, const char *value, int *to)
{
	int i = 0;

	for (const char *w = o->words; *w; w += *w == '|', i++) {
		char word[MAXNAME], spelling[MAXNAME];
		const size_t len = strcspn(w, "|");

		snprintf(word, sizeof word, "%.*s", (int)len, w);
		if (!strcmp(word, value) || !strcmp(american(word, spelling), value)) {
			*to = i;
			return;
		}
		w += len;
	}
	die_usage("%s: '%s' is not one of %s", spelled(o), value, o->words);
}

static void
store_list(const char *value, struct opt_list *list, size_t most)
{
	if (!list->v)
		list->v = keep(weir_xalloc(most, sizeof *list->v));
	list->v[list->n++] = value;
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
		if (!value[strspn(value, "-+0123456789")] && strtold(value, NULL) != *v)
			die_usage("%s: '%s' has more digits than a double", spelled(o), value);
	} else if (o->kind == OPT_STR)
		*(const char **)to = value;
	else if (o->kind == OPT_WORD)
		store_word(o, value, to);
	else if (o->kind == OPT_LIST)
		store_list(value, to, most);
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

/* Returns how many numbers there are; 0 when the text is something else. */
static size_t
read_reals(const char *text, char sep, double *v, size_t max)
{
	size_t n = 0;

	for (const char *s = text; n < max; s++) {
		if (!word_real(&s, &v[n]) || !isfinite(v[n]) || (*s && *s != sep))
			return 0;
		n++;
		if (!*s)
			return n;
	}
	return 0;
}

size_t
opt_reals_upto(const char *option, const char *text, char sep, double *v, size_t max)
{
	const size_t n = read_reals(text, sep, v, max);
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

	if (read_reals(text, sep, v, n) == n)
		return;
	if (n == 1)
		die_usage("%s: '%s' is not a number", option, text);
	die_usage("%s: '%s' is not %s%zu numbers with '%c' between them", option, text,
		  form_of(option, form), n, sep);
}

/* ---- --help and --version ---- */

enum { HELP_MAX = 512 };

/* Formats an option as the SYNOPSIS shows it, such as "[-k FILE]". Returns the length. */
static int
format_synopsis(const struct opt *o, char *text, size_t size)
{
	const char *open = o->required ? "" : "[", *close = o->required ? "" : "]";
	const char *arg = o->arg && !(o->letter && o->absent) ? o->arg : "";

	if (o->letter)
		return snprintf(text, size, "%s-%c%s%s%s", open, o->letter, *arg ? " " : "", arg,
				close);
	return snprintf(text, size, "%s--%s%s%s%s%s%s", open, o->name, o->absent ? "[" : "",
			*arg ? "=" : "", arg, o->absent ? "]" : "", close);
}

static void
put_wrapped(int *column, const char *word, int n)
{
	if (*column + 1 + n > 79) {
		printf("\n\t");
		*column = 8;
	}
	printf(" %s", word);
	*column += 1 + n;
}

/* Prints the words of a text from column `indent` on, in lines of at most 79 columns. */
static void
print_words(const char *text, int indent)
{
	int column = indent;

	for (int n; *text; text += n, text += *text == ' ') {
		n = (int)strcspn(text, " ");
		if (column > indent && column + 1 + n > 79)
			column = printf("\n%*s", indent, "") - 1;
		column += printf("%s%.*s", column > indent ? " " : "", n, text);
	}
	putchar('\n');
}

/* Writes the help of an option to text. %s in it stands for the words: "zero|wrap|reflect" as "zero, wrap or reflect". */
static void
format_help(const struct opt *o, char text[HELP_MAX])
{
	const char *at = o->words ? strstr(o->help, "%s") : NULL, *word = o->words;
	int n = snprintf(text, HELP_MAX, "%.*s", at ? (int)(at - o->help) : -1, o->help);

	while (at && n < HELP_MAX) {
		const char *end = word + strcspn(word, "|");
		const char *after = !*end ? at + 2 : strchr(end + 1, '|') ? ", " : " or ";

		n += snprintf(text + n, (size_t)(HELP_MAX - n), "%.*s%s", (int)(end - word), word,
			      after);
		if (!*end)
			return;
		word = end + 1;
	}
}

static void
print_option(const struct opt *o)
{
	char text[128], help[HELP_MAX];

	snprintf(text, sizeof text, "%s%s%s%s%s", o->name, o->arg ? (o->absent ? "[=" : "=") : "",
		 o->arg ? o->arg : "", o->absent ? "]" : "", o->required ? " *" : "");
	format_help(o, help);
	print_words(help, printf("  %c%c%c --%-20s ", o->letter ? '-' : ' ',
				 o->letter ? o->letter : ' ', o->letter ? ',' : ' ', text));
}

/* Prints a heading and the options of the group, in the order of the table; nothing where there are none. */
static void
print_group(const struct opt *row, size_t n, enum opt_group group)
{
	static const char *const title[] = {[OPT_COMPUTE] = "What to compute",
					    [OPT_DATA] = "Input and output",
					    [OPT_RUN] = "Running"};
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const enum opt_group by_arg =
		    row[i].arg && !strcmp(row[i].arg, "FILE") ? OPT_DATA : OPT_COMPUTE;

		if (group != (row[i].group == OPT_BY_ARG ? by_arg : row[i].group))
			continue;
		if (!any)
			printf("\n%s:\n", title[group]);
		any = true;
		print_option(&row[i]);
	}
}

static const char *
operands_of(const struct opt_program *p)
{
	return p->operands ? p->operands : "[FILE ...]";
}

static void
print_help(const struct opt_program *p, const struct opt *row, size_t n)
{
	int column = printf("usage: %s", weir_prog);
	bool required = false;
	char text[128];

	for (size_t i = 0; i < n; i++) {
		put_wrapped(&column, text, format_synopsis(&row[i], text, sizeof text));
		required |= row[i].required;
	}
	if (*operands_of(p))
		put_wrapped(&column, operands_of(p), (int)strlen(operands_of(p)));
	printf("\n\n%s\n", p->what);
	for (enum opt_group g = OPT_COMPUTE; g <= OPT_RUN; g++)
		print_group(row, n, g);
	printf("\nDefaults stand in parentheses.%s\n",
	       required ? " The option with * must be given." : "");
}

/* ---- completions: of the options, the words of an option, and files where an argument or an operand is one ---- */

/* Returns the words of an option, with | between them. NULL: its argument is free. */
static const char *
words_of(const struct opt *o)
{
	return o->words || !o->arg || !strchr(o->arg, '|') ? o->words : o->arg;
}

/* Whether the argument may be a file: it is called so, or FILE is one of the words. */
static bool
takes_file(const struct opt *o)
{
	const char *words = words_of(o);

	return o->arg && (strstr(o->arg, "FILE") || (words && strstr(words, "FILE")));
}

static bool
may_repeat(const struct opt *o)
{
	return o->kind == OPT_LIST || o->kind == OPT_COUNT;
}

/* Prints the words with blanks between them and a text behind each, without FILE. */
static void
put_words(const char *words, const char *behind)
{
	const char *blank = "";

	for (const char *w = words; *w; w += strcspn(w, "|"), w += *w == '|') {
		const int len = (int)strcspn(w, "|");
		if (len == 4 && !strncmp(w, "FILE", 4))
			continue;
		printf("%s%.*s%s", blank, len, w, behind);
		blank = " ";
	}
}

/* Prints text inside single quotes of a shell, with a backslash before each character of special. */
static void
put_quoted(const char *text, const char *special, const char *quote)
{
	for (; *text; text++)
		if (*text == '\'')
			fputs(quote, stdout);
		else
			printf("%s%c", strchr(special, *text) ? "\\" : "", *text);
}

/* --- bash ------------------------------------------------------------------------------------ */

/* A case of the option's own names. `--name=` is the option with its value behind the sign. */
static void
put_bash_case(const struct opt *o)
{
	printf("\t");
	if (o->letter && !o->absent)
		printf("-%c | ", o->letter);
	if (!o->absent)
		printf("--%s | ", o->name);
	printf("--%s=)", o->name);
	if (words_of(o)) {
		printf(" words='");
		put_words(words_of(o), "");
		printf("'");
	}
	printf("%s ;;\n", takes_file(o) ? " files=1" : "");
}

static void
put_bash(const struct opt *row, size_t n, const char *name, bool operands)
{
	printf("# A completion for bash: source <(%s --completion)\n_weir_%s()\n{\n", name, name);
	fputs("\tlocal cur=${COMP_WORDS[COMP_CWORD]} opt=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal sign='' prefix='' words='' files=''\n"
	      "\tif [[ $cur == = ]]; then\n"
	      "\t\tcur='' sign==\n"
	      "\telif [[ $opt == = ]]; then\n"
	      "\t\topt=${COMP_WORDS[COMP_CWORD - 2]} sign==\n"
	      "\telif [[ $cur == --*=* ]]; then\n"
	      "\t\topt=${cur%%=*} prefix=${cur%%=*}= cur=${cur#*=} sign==\n"
	      "\tfi\n"
	      "\tcase $opt$sign in\n",
	      stdout);
	for (size_t i = 0; i < n; i++)
		if (row[i].arg)
			put_bash_case(&row[i]);
	printf("\t*)\n\t\tif [[ $cur == -* ]]; then\n\t\t\twords='");
	for (size_t i = 0; i < n; i++)
		printf("%s--%s%s", i ? " " : "", row[i].name,
		       row[i].arg && !row[i].absent ? "=" : "");
	printf("'\n\t\telse\n\t\t\tfiles=%s\n\t\tfi\n\t\t;;\n\tesac\n", operands ? "1" : "");
	fputs("\tCOMPREPLY=()\n"
	      "\tif [[ $words ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$prefix\" -W \"$words\" -- \"$cur\")\n"
	      "\t\t[[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace\n"
	      "\tfi\n"
	      "\tif [[ $files ]]; then\n"
	      "\t\tcompopt -o filenames\n"
	      "\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P \"$prefix\" -f -- "
	      "\"$cur\")\n"
	      "\tfi\n}\n",
	      stdout);
	printf("complete -F _weir_%s %s\n", name, name);
}

/* --- zsh ------------------------------------------------------------------------------------- */

/* Prints the option's names as _arguments reads them: with a letter, both in braces. */
static void
put_zsh_names(const struct opt *o)
{
	const char *after_letter = !o->arg ? "" : o->absent ? "-" : "+";
	const char *after_name = !o->arg ? "" : o->absent ? "=-" : "=";

	if (!o->letter) {
		printf("'%s--%s%s", may_repeat(o) ? "*" : "", o->name, after_name);
		return;
	}
	if (may_repeat(o))
		printf("'*'");
	else
		printf("'(-%c --%s)'", o->letter, o->name);
	printf("{-%c%s,--%s%s}'", o->letter, after_letter, o->name, after_name);
}

/* What completes the argument. A blank means that nothing does. */
static void
put_zsh_action(const struct opt *o)
{
	if (!words_of(o)) {
		printf("%s", takes_file(o) ? "_files" : " ");
		return;
	}
	printf("%s", takes_file(o) ? "{compadd -- " : "(");
	put_words(words_of(o), "");
	printf("%s", takes_file(o) ? "; _files}" : ")");
}

/* Prints the help of an option. */
static void
put_help(const struct opt *o, const char *special, const char *apostrophe)
{
	char help[HELP_MAX];

	format_help(o, help);
	put_quoted(help, special, apostrophe);
}

static void
put_zsh(const struct opt *row, size_t n, const char *name, bool operands)
{
	printf("#compdef %s\n\n_%s()\n{\n\t_arguments -s -S", name, name);
	for (size_t i = 0; i < n; i++) {
		const struct opt *o = &row[i];
		printf(" \\\n\t\t");
		put_zsh_names(o);
		printf("[");
		put_help(o, "[]:\\", "'\\''");
		printf("]");
		if (o->arg) {
			printf("%s", o->absent ? "::" : ":");
			put_quoted(o->arg, ":\\", "'\\''");
			printf(":");
			put_zsh_action(o);
		}
		printf("'");
	}
	printf("%s\n}\n\n", operands ? " \\\n\t\t'*:file:_files'" : "");
	printf("if [ \"$funcstack[1]\" = _%s ]; then\n\t_%s \"$@\"\nelse\n\tcompdef _%s %s\nfi\n",
	       name, name, name, name);
}

/* --- fish ------------------------------------------------------------------------------------ */

/*
 * An optional argument is proposed behind the sign =, and a required one there and as the next word. Words have an empty
 * description, \t"", or fish would show the option's behind each.
 */
static void
put_fish_value(const struct opt *o)
{
	const char *words = words_of(o);

	if (o->arg && !o->absent)
		printf("%s", takes_file(o) ? " -r -F" : " -x");
	else if (o->arg && !takes_file(o))
		printf(" -f");
	if (!words)
		return;
	printf(" -a '");
	put_words(words, "\\t\"\"");
	printf("'");
}

static void
put_fish(const struct opt *row, size_t n, const char *name, bool operands)
{
	if (!operands)
		printf("complete -c %s -f\n", name);
	for (size_t i = 0; i < n; i++) {
		const struct opt *o = &row[i];
		printf("complete -c %s", name);
		if (o->letter)
			printf(" -s %c", o->letter);
		printf(" -l %s", o->name);
		put_fish_value(o);
		printf(" -d '");
		put_help(o, "\\", "\\'");
		printf("'\n");
	}
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
      .words = "bash|zsh|fish", .group = OPT_RUN}},
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
	put_shell_word(f, value);
}

/* --- parsing --------------------------------------------------------------------------------- */

static size_t
row_of(const struct rows *r, int c)
{
	for (size_t i = 0; c < LONG && i < r->n; i++)
		if (r->v[i].letter == c)
			return i;
	return (size_t)c - LONG;
}

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

/* Returns the long option with the smallest distance to name[0..n). NULL: none is near. */
static const char *
nearest(const struct rows *r, const char *name, size_t n)
{
	const char *best = NULL;
	size_t least = n / 3 + 1;

	for (size_t i = 0; i < r->n && n < MAXNAME; i++) {
		const size_t d = distance(name, n, r->v[i].name);
		if (d <= least && (!best || d < least)) {
			least = d;
			best = r->v[i].name;
		}
	}
	return best;
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
	die_usage("option '%s' is unknown; see %s --help", given, weir_prog);
}

static _Noreturn void
die_refused(const struct rows *r, char **argv, int c)
{
	const char *given = argv[optind - 1];

	/* getopt sets optopt to the letter, to LONG + row, or to 0 for an unknown long option. */
	if (optopt && optopt < LONG)
		die_usage("option '-%c' %s; see %s --help", optopt,
			  c == ':' ? "needs an argument" : "is unknown", weir_prog);
	if (c == ':')
		die_usage("option '%s' needs an argument; see %s --help", given, weir_prog);
	die_long(r, given);
}

/* Prints the text that --help, --version or --completion asks for. */
static _Noreturn void
print_text(const struct opt_program *p, const struct rows *r, const struct opt *o,
	   const char *value)
{
	/* In the order of the words of --completion. The program's name is the one by which it was called. */
	static void (*const put[])(const struct opt *, size_t, const char *,
				   bool) = {put_bash, put_zsh, put_fish};
	int shell = 0;

	if (o->kind == OPT_COMPLETION)
		store_word(o, value ? value : o->absent, &shell);
	if (o->kind == OPT_HELP)
		print_help(p, r->v, r->n);
	else if (o->kind == OPT_VERSION)
		printf("%s (weir) %s\ncompiler: %s\nCPU: %s\nGPU: %s\n", weir_prog, WEIR_VERSION,
		       __VERSION__, cpu_name(weir_cpu),
		       p->gpu_state ? p->gpu_state() : "none for this program");
	else
		put[shell](r->v, r->n, program_invocation_short_name, *operands_of(p) != 0);
	if (fflush(stdout) || ferror(stdout))
		die("(stdout): %s", strerror(errno));
	exit(0);
}

/* Dies when `given`, or `before` if that is its argument, is the beginning of a long name whose file would be written. */
static void
insist_on_name(const struct opt *o, const char *before, const char *given)
{
	const char *text = given == optarg ? before : given;

	if (strncmp(text, "--", 2) || strcspn(text + 2, "=") == strlen(o->name))
		return;
	die_usage("option '%s' is unknown; is it --%s, which writes a file? See %s --help", text,
		  o->name, weir_prog);
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
		if (c == '?' || c == ':')
			die_refused(r, argv, c);
		size_t i = row_of(r, c);
		if (r->v[i].writes)
			insist_on_name(&r->v[i], argv[optind - 2], argv[optind - 1]);
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
	if (ferror(r.history) | fclose(r.history) || !text)
		die("no memory");
	common->history = keep(text);
	for (size_t i = 0; i < r.n; i++)
		if (r.v[i].required && !r.given[i])
			die_usage("%s is required; see %s --help", spelled(&r.v[i]), weir_prog);
	*operand = argv + optind;
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
