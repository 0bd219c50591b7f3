/* The texts of opt.c: for opt.c alone. */
#ifndef WEIR_USAGE_H
#define WEIR_USAGE_H

#include "common/opt.h"

/* Prints the text that what asks for, OPT_HELP to OPT_COMPLETION, from the n rows of the whole table; exit 0. */
_Noreturn void
opt_print(const struct opt_program *p, const struct opt *row, size_t n, enum opt_kind what);

#endif
