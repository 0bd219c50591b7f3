/*
 * The command line. Each program has one table of options, from which opt makes the getopt call, the usage text, the history
 * line and the completions. Values are stored into the program's struct args, which begins with a struct opt_common. The
 * defaults are what that struct holds before opt_parse. A wrong option ends the program with status 2 and a message that
 * names the option, the value and the range.
 */
#ifndef WEIR_BASE_OPT_H
#define WEIR_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>

/* What a program writes: items as they came (RAW_FOLLOW), as --raw or --pnm says, or text alone. */
enum raw_as { RAW_FOLLOW, RAW_AS_RAW, RAW_AS_PNM, RAW_AS_TEXT };

/* The option --part=I/N: share i of n of a program's work, 0 <= i < n. n == 0: the option is not given. */
struct share {
	size_t i, n;
};

enum { SHARE_MOST = 1000000 }; /* the largest n */

/* The options of every program, see weir(7). It is the first member of every struct args. */
struct opt_common {
	int threads;	   /* -t; 0: not given (see par_threads) */
	const char *gpu;   /* -g; NULL: not given; "": the first device; else numbers and commas */
	bool quiet;	   /* --quiet */
	int verbose;	   /* -v, counted */
	size_t max_bytes;  /* --max-bytes; 0: the default */
	const char *stats; /* --stats[=FILE]; NULL: not given; "-": stderr */
	struct file_out *report; /* the FILE of --stats, for stats.c; NULL: none */
	const char *out;	 /* -o; NULL: stdout */
	int as;			 /* --raw, --pnm: an enum raw_as */
	const char *part;	 /* --part, as given; NULL: not given */
	struct share share;	 /* what it says */

	/*
	 * The text of a history:= line: the program's name and its own options as given. The common options are left
	 * out, since they do not say what is computed. opt owns it; it lives as long as the process.
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
	OPT_HELP,  /* this and the next two are for opt alone */
	OPT_VERSION,
	OPT_COMPLETION /* its argument is one of .words */
};

/* The parts of the help. */
enum opt_group {
	OPT_BY_ARG,  /* OPT_DATA where the argument is a FILE, else OPT_COMPUTE */
	OPT_COMPUTE, /* what to compute */
	OPT_DATA,    /* input and output */
	OPT_RUN	     /* running */
};

struct opt_list {
	const char **v; /* owned by opt: lives as long as the process */
	size_t n;
};

/* Where a row stores its value. */
#define AT(member) offsetof(struct args, member)

/* A row of the table. */
struct opt {
	char letter;	  /* 0: none */
	const char *name; /* the long name */
	enum opt_kind kind;
	size_t at;	  /* AT(member) */
	const char *arg;  /* its argument as the usage shows it, "FILE"; NULL: it takes none */
	const char *help; /* half a line, no full stop; %s: the words */
	double lo, hi; /* INT, SIZE, REAL: lo == hi == 0 means any. ABOVE: hi == 0 means no limit */
	const char *words; /* WORD; other kinds: what the completion proposes; FILE: a file */
	/* Not NULL: ARG is optional, and this is its value when left out. Of a SIZE, it need not be in lo..hi. */
	const char *absent;
	int value;	 /* SET */
	size_t seen;	 /* not 0: offsetof a bool that becomes true when the option is given */
	bool unrecorded; /* history:= leaves it out */
	bool writes;	 /* its FILE is written: it is not abbreviated */
	bool required;	 /* opt_parse dies when it is not given */
	enum opt_group group;
};

/* The common options that only some programs have. */
enum { OPT_THREADS = 1, OPT_GPU = 2, OPT_FORMAT = 4, OPT_PART = 8 };

struct opt_program {
	const char *what;		/* one line: what the program does */
	const char *example;		/* a command that ends --help; t/weir.bats runs it */
	const struct opt *table;	/* ends with a zeroed row */
	unsigned common;		/* OPT_THREADS | OPT_GPU | OPT_FORMAT | OPT_PART */
	const char *operands;		/* NULL: "[FILE ...]", any number; "": none */
	size_t max_operands;		/* where operands is not NULL: more are an error */
	const char *(*gpu_state)(void); /* for --version; NULL: the program has no GPU twin */
};

/*
 * Parses argv into args. --help, --version and --completion print and exit 0. *operand points to the *noperand operands;
 * argv is permuted so that they follow the options.
 */
void opt_parse(const struct opt_program *p, int argc, char **argv, void *args, char ***operand,
	       size_t *noperand);

/*
 * Returns the command with the file read through the program `by`: "by FILE | command", or "command <(by FILE)" where it reads
 * others, too. file is NULL where it is stdin. The text lives until the program ends.
 */
const char *opt_command_on(const char *by, const char *file);

/* Print what --help, and --completion in the words of a shell, say of n rows, the first `own` of which are the program's: help.c. */
void opt_put_help(const struct opt_program *p, const struct opt *row, size_t n);
void opt_put_completion(int shell, const struct opt_program *p, const struct opt *row, size_t n,
			size_t own);

/*
 * What the option called name[0..n) in other programs is here: "--option", "--option=value", or what a message says instead, which
 * has a blank. The first `skip` that have the name are passed over. NULL: there is no other. Pure: help.c.
 */
const char *opt_alias(size_t skip, const char *name, size_t n);

/* --- numbers inside an argument -------------------------------------------------------------- */

/*
 * Reads exactly n finite numbers separated by sep, each whole, in the C locale: opt_reals("--size", "3x4", 'x', v, 2).
 * Otherwise it dies with a message that names the option.
 */
void opt_reals(const char *option, const char *text, char sep, double *v, size_t n);

/* Does the same for 1..max numbers, and returns how many there are. */
size_t opt_reals_upto(const char *option, const char *text, char sep, double *v, size_t max);

/*
 * Reads 1..max sizes, max <= 16: whole numbers from 1 to most with commas or x between them. Returns how many there are. Dies
 * otherwise.
 */
size_t opt_sizes(const char *option, const char *text, size_t *v, size_t max, double most);

/* Reads text as one number, in *v; false when it is anything else. inf and nan are numbers here. Pure. */
bool opt_number(const char *text, double *v);

/* Reads a whole number, after which k, M, G or T (powers of 1024) may stand; false otherwise. Pure. */
bool opt_size(const char *text, size_t *v);

/* Reads "I/N"; false when text is anything else, or I is not below N. Pure. */
bool share_parse(const char *text, struct share *p);

#endif
