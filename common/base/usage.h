/* Makes the texts of --help, --version and --completion from the option table. Only opt.c calls this. */
#ifndef WEIR_BASE_USAGE_H
#define WEIR_BASE_USAGE_H

#include "common/base/opt.h"

/* The order is that of the words of --completion. */
enum opt_shell { OPT_BASH, OPT_ZSH, OPT_FISH };

/* Prints the text for what (OPT_HELP, OPT_VERSION or OPT_COMPLETION) from the n rows of the whole table, and exits 0. */
_Noreturn void opt_print(const struct opt_program *p, const struct opt *row, size_t n,
			 enum opt_kind what, enum opt_shell shell);

/* Writes the help of an option to text. %s in it stands for the words: "zero|wrap|reflect" as "zero, wrap or reflect". */
enum { OPT_HELP_MAX = 512 };
void opt_format_help(const struct opt *o, char text[OPT_HELP_MAX]);

/* Prints the completion for a shell. The program's name is the one by which it was called. */
void opt_put_completion(const struct opt_program *p, const struct opt *row, size_t n,
			enum opt_shell shell);

#endif
