/*
 * Makes the completions from the option table: --completion=bash, zsh or fish. Each completes the options, the words of an
 * enumerated option, and the names of files where an argument or an operand is a file.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/opt.h"
#include "common/base/usage.h"

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
	char help[OPT_HELP_MAX];

	opt_format_help(o, help);
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

void
opt_put_completion(const struct opt_program *p, const struct opt *row, size_t n,
		   enum opt_shell shell)
{
	static void (*const put[])(const struct opt *, size_t, const char *, bool) = {
	    [OPT_BASH] = put_bash, [OPT_ZSH] = put_zsh, [OPT_FISH] = put_fish};

	put[shell](row, n, program_invocation_short_name, p->operands);
}
