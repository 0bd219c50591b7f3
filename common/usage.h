/* Prints the texts of --help, --version and --completion. Only opt.c calls this. */
#ifndef WEIR_USAGE_H
#define WEIR_USAGE_H

#include "common/opt.h"

/* Prints the text for what (OPT_HELP, OPT_VERSION or OPT_COMPLETION) from the n rows of the whole table, and exits 0. */
_Noreturn void
opt_print(const struct opt_program *p, const struct opt *row, size_t n, enum opt_kind what);

#endif
