/* What --help and --completion print: all of it is made of the table of options, and of a table of other names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/opt.h"

/* ---- other names ---- */

static const struct {
	const char *of, *entries;
} aliases[] = {
#include "common/base/aliases.inc"
};

enum { ALIASES = sizeof aliases / sizeof *aliases };

/* Is a word among those before = or the end? */
static bool
has_word(const char *words, const char *word, size_t n)
{
	for (size_t len;; words += len + 1) {
		len = strcspn(words, " =");
		if (len == n && !strncmp(words, word, n))
			return true;
		if (words[len] != ' ')
			return false;
	}
}

/* Returns the entry of the program behind entry `e` of row *row; the first one of all: NULL, 0. NULL: there are no more. */
static const char *
next_entry(size_t *row, const char *e)
{
	e = e ? e + strlen(e) + 1 : aliases[*row].entries;
	while (!*e ||
	       (*aliases[*row].of && !has_word(aliases[*row].of, weir_prog, strlen(weir_prog)))) {
		if (++*row == ALIASES)
			return NULL;
		e = aliases[*row].entries;
	}
	return e;
}

const char *
opt_alias(size_t skip, const char *name, size_t n)
{
	size_t row = 0;

	for (const char *e = NULL; (e = next_entry(&row, e));)
		if (has_word(e, name, n) && !skip--)
			return strchr(e, '=') + 1;
	return NULL;
}

/* ---- --help ---- */

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

/* Prints a heading and the options of the group, in the order of the table; nothing where there are none. */
static void
print_group(const struct opt *row, size_t n, enum opt_group group)
{
	static const char *const title[] = {[OPT_COMPUTE] = "What to compute",
					    [OPT_DATA] = "Input and output",
					    [OPT_RUN] = "Running"};
	char text[128], help[HELP_MAX];
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		const enum opt_group by_arg =
		    row[i].arg && !strcmp(row[i].arg, "FILE") ? OPT_DATA : OPT_COMPUTE;
		if (group != (row[i].group == OPT_BY_ARG ? by_arg : row[i].group))
			continue;
		if (!any)
			printf("\n%s:\n", title[group]);
		any = true;
		const struct opt *o = &row[i];
		snprintf(text, sizeof text, "%s%s%s%s%s", o->name,
			 o->arg ? (o->absent ? "[=" : "=") : "", o->arg ? o->arg : "",
			 o->absent ? "]" : "", o->required ? " *" : "");
		format_help(o, help);
		print_words(help, printf("  %c%c%c --%-20s ", o->letter ? '-' : ' ',
					 o->letter ? o->letter : ' ', o->letter ? ',' : ' ', text));
	}
}

static const char *
operands_of(const struct opt_program *p)
{
	return p->operands ? p->operands : "[FILE ...]";
}

void
opt_put_help(const struct opt_program *p, const struct opt *row, size_t n)
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
	if (p->example)
		printf("\nFor example:\n  %s\n", p->example);
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
			/* What completes the argument. A blank means that nothing does. */
			if (!words_of(o)) {
				printf("%s", takes_file(o) ? "_files" : " ");
			} else {
				printf("%s", takes_file(o) ? "{compadd -- " : "(");
				put_words(words_of(o), "");
				printf("%s", takes_file(o) ? "; _files}" : ")");
			}
		}
		printf("'");
	}
	printf("%s\n}\n\n", operands ? " \\\n\t\t'*:file:_files'" : "");
	printf("if [ \"$funcstack[1]\" = _%s ]; then\n\t_%s \"$@\"\nelse\n\tcompdef _%s %s\nfi\n",
	       name, name, name, name);
}

/* --- fish ------------------------------------------------------------------------------------ */

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
		/* An optional argument is proposed behind the sign =, and a required one there and as the next word. */
		if (o->arg && !o->absent)
			printf("%s", takes_file(o) ? " -r -F" : " -x");
		else if (o->arg && !takes_file(o))
			printf(" -f");
		/* Words have an empty description, \t"", or fish would show the option's behind each. */
		if (words_of(o)) {
			printf(" -a '");
			put_words(words_of(o), "\\t\"\"");
			printf("'");
		}
		printf(" -d '");
		put_help(o, "\\", "\\'");
		printf("'\n");
	}
}

/* --- weir(1) --------------------------------------------------------------------------------- */

/* Prints what weir(1) shows of a program: what it is, its options and aliases, and those of any NAME, with tabs between words. */
static void
put_index(const struct opt_program *p, const struct opt *row, size_t n, size_t own,
	  const char *name)
{
	/* The name says the group. */
	const char *group = strstr(weir_prog, "toraw")	    ? "2\tFrom files to raw"
			    : strstr(weir_prog, "rawto")    ? "3\tFrom raw to files"
			    : !strncmp(weir_prog, "raw", 3) ? "1\tPictures and volumes"
							    : "0\tAlgorithms";
	char help[HELP_MAX];

	printf("%s\t%s\t%s\n", group, name, p->what);
	for (size_t i = 0; i < n; i++) {
		format_help(&row[i], help);
		printf("o\t\t%s --%s\t%s\n", i < own ? name : "NAME", row[i].name, help);
	}
	size_t at = 0;
	for (const char *e = NULL; (e = next_entry(&at, e));) {
		const char *is = strchr(e, '=') + 1, *be = strchr(is, ' ') ? "" : "is ";
		bool ours = !*be;
		for (size_t k = 0; k < own; k++)
			ours |= !strncmp(is + 2, row[k].name, strcspn(is + 2, "="));
		for (const char *word = e; ours && word < is; word += strcspn(word, " =") + 1)
			printf("o\t\t%s --%.*s\t%s%s\n", name, (int)strcspn(word, " ="), word, be,
			       is);
	}
}

void
opt_put_completion(int shell, const struct opt_program *p, const struct opt *row, size_t n,
		   size_t own)
{
	/* In the order of the words of --completion. The program's name is the one by which it was called. */
	static void (*const put[])(const struct opt *, size_t, const char *,
				   bool) = {put_bash, put_zsh, put_fish};
	const char *name = program_invocation_short_name;

	if (shell < (int)(sizeof put / sizeof *put))
		put[shell](row, n, name, *operands_of(p) != 0);
	else
		put_index(p, row, n, own, name);
}
