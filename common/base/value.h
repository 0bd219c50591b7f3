/* Stores the values of options. Only opt.c calls this; opt.h declares what programs call of value.c. */
#ifndef WEIR_BASE_VALUE_H
#define WEIR_BASE_VALUE_H

#include "common/base/opt.h"

enum { OPT_MAXROWS = 80, OPT_MAXNAME = 40 };

/* Keeps the table of the program, for messages about numbers inside an argument. */
void opt_know(const struct opt *table);

/* Stores value where row o says, in args. most: the length of the command line, which a list cannot exceed. */
void opt_store(const struct opt *o, const char *value, void *args, size_t most);

/* Stores the index of a word of o->words. */
void opt_store_word(const struct opt *o, const char *value, int *to);

/* Returns the names of an option, such as "-t, --threads". */
const char *opt_spelled(const struct opt *o);

/* Returns name with American spelling, in text, or name itself where it has no such word. */
const char *opt_american(const char *name, char text[OPT_MAXNAME]);

/* Keeps p reachable until the process ends, so that leak checkers do not report it. Returns p. */
void *opt_keep(void *p);

#endif
