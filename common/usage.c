/* Makes texts from the option table: the usage, the version and the completion. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "common/die.h"
#include "common/opt.h"
#include "common/usage.h"

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
		*column = 7;
	}
	printf(" %s", word);
	*column += 1 + n;
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
	printf("\n\n%s\n\n", p->what);
	for (size_t i = 0; i < n; i++) {
		const struct opt *o = &row[i];
		snprintf(text, sizeof text, "%s%s%s%s%s", o->name,
			 o->arg ? (o->absent ? "[=" : "=") : "", o->arg ? o->arg : "",
			 o->absent ? "]" : "", o->required ? " *" : "");
		printf("  %c%c%c --%-26s %s\n", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
		       o->letter ? ',' : ' ', text, o->help);
	}
}

static void
print_version(const struct opt_program *p)
{
	printf("%s (weir) %s\ncompiler: %s\nCPU: %s\nGPU: %s\n", weir_prog, WEIR_VERSION,
	       __VERSION__, cpu_name(weir_cpu),
	       p->gpu_state ? p->gpu_state() : "none for this program");
}

static void
print_completion(const struct opt *row, size_t n)
{
	printf("complete -o default -W '");
	for (size_t i = 0; i < n; i++)
		printf("%s--%s%s", i ? " " : "", row[i].name,
		       row[i].arg && !row[i].absent ? "=" : "");
	printf("' %s\n", weir_prog);
}

_Noreturn void
opt_print(const struct opt_program *p, const struct opt *row, size_t n, enum opt_kind what)
{
	if (what == OPT_HELP)
		print_help(p, row, n);
	else if (what == OPT_VERSION)
		print_version(p);
	else
		print_completion(row, n);
	if (fflush(stdout) || ferror(stdout))
		die("(stdout): %s", strerror(errno));
	exit(0);
}
