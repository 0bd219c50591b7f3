/* Makes texts from the option table: the usage and the version. The completion has its own file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/die.h"
#include "common/base/opt.h"
#include "common/base/usage.h"

/* Formats an option as the SYNOPSIS shows it, such as "[-k FILE]". Returns the length. */
static int
format_synopsis(const struct opt *o, char *text, size_t size)
{
	const char *open = o->required ? "" : "[", *close = o->required ? "" : "]";

	if (!o->arg)
		return o->letter ? snprintf(text, size, "%s-%c%s", open, o->letter, close)
				 : snprintf(text, size, "%s--%s%s", open, o->name, close);
	if (o->absent)
		return o->letter
			   ? snprintf(text, size, "%s-%c%s", open, o->letter, close)
			   : snprintf(text, size, "%s--%s[=%s]%s", open, o->name, o->arg, close);
	return o->letter ? snprintf(text, size, "%s-%c %s%s", open, o->letter, o->arg, close)
			 : snprintf(text, size, "%s--%s=%s%s", open, o->name, o->arg, close);
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

static enum opt_group
group_of(const struct opt *o)
{
	if (o->group != OPT_BY_ARG)
		return o->group;
	return o->arg && !strcmp(o->arg, "FILE") ? OPT_DATA : OPT_COMPUTE;
}

void
opt_format_help(const struct opt *o, char text[OPT_HELP_MAX])
{
	const char *at = o->words ? strstr(o->help, "%s") : NULL, *word = o->words;
	int n = snprintf(text, OPT_HELP_MAX, "%.*s", at ? (int)(at - o->help) : -1, o->help);

	while (at && n < OPT_HELP_MAX) {
		const char *end = word + strcspn(word, "|");
		const char *after = !*end ? at + 2 : strchr(end + 1, '|') ? ", " : " or ";

		n += snprintf(text + n, (size_t)(OPT_HELP_MAX - n), "%.*s%s", (int)(end - word),
			      word, after);
		if (!*end)
			return;
		word = end + 1;
	}
}

static void
print_option(const struct opt *o)
{
	char text[128], help[OPT_HELP_MAX];

	snprintf(text, sizeof text, "%s%s%s%s%s", o->name, o->arg ? (o->absent ? "[=" : "=") : "",
		 o->arg ? o->arg : "", o->absent ? "]" : "", o->required ? " *" : "");
	opt_format_help(o, help);
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
		if (group_of(&row[i]) != group)
			continue;
		if (!any)
			printf("\n%s:\n", title[group]);
		any = true;
		print_option(&row[i]);
	}
}

static bool
any_required(const struct opt *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (row[i].required)
			return true;
	return false;
}

static void
print_help(const struct opt_program *p, const struct opt *row, size_t n)
{
	int column = printf("usage: %s", weir_prog);
	char text[128];

	for (size_t i = 0; i < n; i++)
		put_wrapped(&column, text, format_synopsis(&row[i], text, sizeof text));
	if (p->operands)
		put_wrapped(&column, p->operands, (int)strlen(p->operands));
	printf("\n\n%s\n", p->what);
	for (enum opt_group g = OPT_COMPUTE; g <= OPT_RUN; g++)
		print_group(row, n, g);
	printf("\nDefaults stand in parentheses.%s\n",
	       any_required(row, n) ? " The option with * must be given." : "");
}

static void
print_version(const struct opt_program *p)
{
	printf("%s (weir) %s\ncompiler: %s\nCPU: %s\nGPU: %s\n", weir_prog, WEIR_VERSION,
	       __VERSION__, cpu_name(weir_cpu),
	       p->gpu_state ? p->gpu_state() : "none for this program");
}

_Noreturn void
opt_print(const struct opt_program *p, const struct opt *row, size_t n, enum opt_kind what,
	  enum opt_shell shell)
{
	if (what == OPT_HELP)
		print_help(p, row, n);
	else if (what == OPT_VERSION)
		print_version(p);
	else
		opt_put_completion(p, row, n, shell);
	if (fflush(stdout) || ferror(stdout))
		die("(stdout): %s", strerror(errno));
	exit(0);
}
