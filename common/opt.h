/*
 * The command line. One table per program makes its getopt call, its usage text, its history line and its completion.
 * Values are stored into the program's struct args, which begins with a struct opt_common; defaults are what the struct
 * holds before opt_parse. All messages name the option, the value and the range, and exit 2.
 */
#ifndef WEIR_OPT_H
#define WEIR_OPT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/raw.h"

/* What every program takes; see weir(7). The first member of every struct args. */
struct opt_common {
	int threads; /* -t: as given; 0 when not (see par_threads) */
	const char *
	    gpu; /* -g, --gpu[=LIST]: NULL: not asked; "": the first device; else numbers joined by commas */
	bool quiet;	   /* --quiet */
	int verbose;	   /* -v, counted */
	size_t max_bytes;  /* --max-bytes; 0: the default */
	const char *stats; /* --stats[=FILE]: NULL: none; "-": stderr */
	const char *out;   /* -o; NULL: stdout */
	enum raw_as as;	   /* --raw, --pnm */
};

enum opt_kind {
	OPT_FLAG,  /* bool: set to true */
	OPT_SET,   /* int: set to .value (for a choice made by several flags) */
	OPT_COUNT, /* int: one more each time */
	OPT_INT,   /* int in lo..hi */
	OPT_SIZE,  /* size_t in lo..hi; k, M, G, T (powers of 1024) may follow */
	OPT_REAL, /* double in lo..hi, finite; for an open end give the next double, as nextafter(0, 1) */
	OPT_STR,  /* const char *: as given, borrowed from argv */
	OPT_WORD, /* int: the index of the word in .words, "zero|reflect|nearest" */
	OPT_LIST  /* struct opt_list: one more string each time */
};

struct opt_list {
	const char **v; /* owned by opt: lives as long as the process */
	size_t n;
};

struct opt {
	char letter;	  /* 0: none */
	const char *name; /* the long name */
	enum opt_kind kind;
	size_t at; /* offsetof(struct args, member) */
	const char
	    *arg; /* the argument's name in the usage: "FILE", "N"; NULL for FLAG, SET, COUNT */
	const char *help;  /* half a line, no full stop */
	double lo, hi;	   /* INT, SIZE, REAL: lo == hi == 0 means any */
	const char *words; /* WORD */
	const char *
	    absent; /* the argument is optional (--name[=ARG]); this is what it means when left out */
	int value;     /* SET */
	size_t seen;   /* != 0: offsetof a bool that becomes true when the option is given */
	bool required; /* shown without brackets in the usage; opt_parse insists on it */
};

enum {
	OPT_THREADS = 1,
	OPT_GPU = 2,
	OPT_FORMAT = 4
}; /* the common options that only some programs have */

struct opt_program {
	const char *what;	 /* one line: what the program does */
	const struct opt *table; /* ends with a zeroed row */
	unsigned
	    common; /* OPT_THREADS | OPT_GPU | OPT_FORMAT: which optional common options it has */
	const char *operands; /* "[FILE ...]" */
	size_t max_operands;  /* more are an error */
};

/*
 * Parses argv into args. --help and --version print and exit 0. *operand, *noperand: what follows the options.
 * argv may be permuted.
 */
void opt_parse(const struct opt_program *p, int argc, char **argv, void *args, char ***operand,
	       size_t *noperand);

/*
 * The line that goes into history:= of every item written: the program's name and its own options, in the order of the
 * table. Common options are left out, since they do not change a byte of the result. Caller frees.
 */
char *opt_history(const struct opt_program *p, const void *args);

/* Adds that line to x. */
void opt_add_history(struct img *x, const struct opt_program *p, const void *args);

/* --- numbers inside an argument --------------------------------------------------------------------------------- */

/*
 * Reads exactly n numbers separated by sep, whole, in the C locale, finite: opt_reals("--centre", "3,4", ',', v, 2).
 * Dies naming the option otherwise.
 */
void opt_reals(const char *option, const char *text, char sep, double *v, size_t n);

/* The same for 1..max numbers; returns how many. */
size_t opt_reals_upto(const char *option, const char *text, char sep, double *v, size_t max);

/* A number that is the whole of text; false otherwise. inf and nan are numbers here. */
bool opt_number(const char *text, double *v);

#endif
