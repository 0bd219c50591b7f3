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
	int threads;	   /* -t: as given; 0 when not (see par_threads) */
	const char *gpu;   /* -g: NULL: not asked; "": the first device; else numbers and commas */
	bool quiet;	   /* --quiet */
	int verbose;	   /* -v, counted */
	size_t max_bytes;  /* --max-bytes; 0: the default */
	const char *stats; /* --stats[=FILE]: NULL: none; "-": stderr */
	struct file_out *report; /* its FILE, for stats.c; NULL: none */
	const char *out;	 /* -o; NULL: stdout */
	int as;			 /* --raw, --pnm: an enum raw_as */

	/*
	 * For history:= lines: the program's name and its own options as given. The common ones are left out, since
	 * they change no byte of the result. Owned by opt, lives as long as the process.
	 */
	const char *history;
};

enum opt_kind {
	OPT_FLAG,  /* bool: set to true */
	OPT_SET,   /* int: set to .value (for a choice made by several flags) */
	OPT_COUNT, /* int: one more each time */
	OPT_INT,   /* int in lo..hi */
	OPT_SIZE,  /* size_t in lo..hi; k, M, G, T (powers of 1024) may follow */
	OPT_REAL,  /* double in lo..hi, finite */
	OPT_ABOVE, /* double > lo, finite */
	OPT_STR,   /* const char *: as given, borrowed from argv */
	OPT_WORD,  /* int: the index of the word in .words, "zero|reflect|nearest" */
	OPT_LIST,  /* struct opt_list: one more string each time */
	OPT_HELP,  /* the last three are opt's own */
	OPT_VERSION,
	OPT_COMPLETION
};

struct opt_list {
	const char **v; /* owned by opt: lives as long as the process */
	size_t n;
};

/* A row of the table. */
struct opt {
	char letter;	  /* 0: none */
	const char *name; /* the long name */
	enum opt_kind kind;
	size_t at;	    /* offsetof(struct args, member) */
	const char *arg;    /* its argument as the usage shows it, "FILE"; NULL: it takes none */
	const char *help;   /* half a line, no full stop */
	double lo, hi;	    /* INT, SIZE, REAL: lo == hi == 0 means any */
	const char *words;  /* WORD */
	const char *absent; /* not NULL: --name[=ARG], and what leaving ARG out means */
	int value;	    /* SET */
	size_t seen;	    /* not 0: offsetof a bool that becomes true when the option is given */
	bool required;	    /* opt_parse insists on it */
};

/* The common options that only some programs have. */
enum { OPT_THREADS = 1, OPT_GPU = 2, OPT_FORMAT = 4 };

struct opt_program {
	const char *what;		/* one line: what the program does */
	const struct opt *table;	/* ends with a zeroed row */
	unsigned common;		/* OPT_THREADS | OPT_GPU | OPT_FORMAT */
	const char *operands;		/* "[FILE ...]"; NULL: none */
	size_t max_operands;		/* more are an error */
	const char *(*gpu_state)(void); /* for --version; NULL: the program has no GPU twin */
};

/*
 * Parses argv into args. --help, --version and --completion print and exit 0. *operand, *noperand: what follows the
 * options. argv is permuted.
 */
void opt_parse(const struct opt_program *p, int argc, char **argv, void *args, char ***operand,
	       size_t *noperand);

/* Adds o->history to the item as a history:= line. */
void opt_add_history(struct img *x, const struct opt_common *o);

/* --- numbers inside an argument -------------------------------------------------------------- */

/*
 * Reads exactly n finite numbers separated by sep, each whole, in the C locale: opt_reals("--centre", "3,4", ',', v, 2).
 * Dies naming the option otherwise.
 */
void opt_reals(const char *option, const char *text, char sep, double *v, size_t n);

/* The same for 1..max numbers; returns how many. */
size_t opt_reals_upto(const char *option, const char *text, char sep, double *v, size_t max);

/* A number that is the whole of text; false otherwise. inf and nan are numbers here. Pure. */
bool opt_number(const char *text, double *v);

/* A whole number, k, M, G or T (powers of 1024) may follow; false otherwise. Pure. */
bool opt_size(const char *text, size_t *v);

#endif
