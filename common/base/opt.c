#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/die.h"
#include "common/base/opt.h"
#include "common/base/usage.h"
#include "common/base/value.h"
#include "common/stream/file.h"

/* getopt returns LONG for row 0 of the table. It is above every letter. */
enum { LONG = 256 };

#define AT(member) offsetof(struct opt_common, member)

static const struct {
	unsigned needs;
	struct opt row;
} common_rows[] = {
    {OPT_THREADS,
     {'t', "threads", OPT_INT, AT(threads), "N", "threads", 1, 4096, .group = OPT_RUN}},
    {OPT_GPU,
     {'g', "gpu", OPT_STR, AT(gpu), "LIST", "run on the GPU", .absent = "", .group = OPT_RUN}},
    {OPT_FORMAT,
     {0, "raw", OPT_SET, AT(as), NULL, "write raw whatever the input was", .value = RAW_AS_RAW,
      .group = OPT_DATA}},
    {OPT_FORMAT,
     {0, "pnm", OPT_SET, AT(as), NULL, "write PNM or fail", .value = RAW_AS_PNM,
      .group = OPT_DATA}},
    {OPT_PART, {0, "part", OPT_STR, AT(share), "I/N", "do share I of N alone", .group = OPT_RUN}},
    {0,
     {'o', "out", OPT_STR, AT(out), "FILE", "write to FILE, which appears when all is done",
      .group = OPT_DATA}},
    {0,
     {'v', "verbose", OPT_COUNT, AT(verbose), NULL, "say on stderr what is done",
      .group = OPT_RUN}},
    {0, {0, "quiet", OPT_FLAG, AT(quiet), NULL, "no warnings, no progress bar", .group = OPT_RUN}},
    {0,
     {0, "max-bytes", OPT_SIZE, AT(max_bytes), "SIZE", "largest item read", 1, 0x1p62,
      .group = OPT_RUN}},
    {0,
     {0, "stats", OPT_STR, AT(stats), "FILE", "figures as JSON, to stderr", .absent = "-",
      .group = OPT_RUN}},
    {0, {'h', "help", OPT_HELP, 0, NULL, "this text", .group = OPT_RUN}},
    {0, {'V', "version", OPT_VERSION, 0, NULL, "version, compiler, CPU and GPU", .group = OPT_RUN}},
    {0,
     {0, "completion", OPT_COMPLETION, 0, "SHELL", "a completion for %s (bash)", .absent = "bash",
      .words = "bash|zsh|fish", .group = OPT_RUN}},
};

/* The program's own rows, and after them its common rows. */
struct rows {
	struct opt v[OPT_MAXROWS];
	size_t n, own;
	bool given[OPT_MAXROWS];
};

static void
gather_rows(const struct opt_program *p, struct rows *r)
{
	*r = (struct rows){0};
	for (const struct opt *o = p->table; o->name && r->n < OPT_MAXROWS; o++)
		r->v[r->n++] = *o;
	r->own = r->n;
	for (size_t i = 0; i < sizeof common_rows / sizeof *common_rows && r->n < OPT_MAXROWS; i++)
		if ((common_rows[i].needs & p->common) == common_rows[i].needs)
			r->v[r->n++] = common_rows[i].row;
}

/* --- history ------------------------------------------------------------------------------- */

/* Writes s as one word for a shell. It is quoted when it holds a special character; control characters become blanks. */
static void
put_shell_word(FILE *f, const char *s)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/%@";
	const bool quote = !*s || s[strspn(s, plain)];

	if (quote)
		fputc('\'', f);
	for (; *s; s++)
		if (*s == '\'')
			fputs("'\\''", f);
		else
			fputc(iscntrl((unsigned char)*s) ? ' ' : *s, f);
	if (quote)
		fputc('\'', f);
}

static void
put_history(FILE *f, const struct opt *o, const char *value)
{
	if (o->letter)
		fprintf(f, " -%c", o->letter);
	else
		fprintf(f, " --%s", o->name);
	if (!value)
		return;
	fputc(o->letter ? ' ' : '=', f);
	put_shell_word(f, value);
}

/* --- parsing --------------------------------------------------------------------------------- */

static size_t
row_of(const struct rows *r, int c)
{
	for (size_t i = 0; c < LONG && i < r->n; i++)
		if (r->v[i].letter == c)
			return i;
	return (size_t)c - LONG;
}

static void
fill_getopt(const struct rows *r, struct option *longs, char *shorts,
	    char american_names[][OPT_MAXNAME])
{
	*shorts++ = ':';
	for (size_t i = 0; i < r->n; i++) {
		const struct opt *o = &r->v[i];
		int has = !o->arg ? no_argument : o->absent ? optional_argument : required_argument;
		longs[i] = (struct option){o->name, has, NULL, LONG + (int)i};
		longs[r->n + i] = longs[i];
		longs[r->n + i].name = opt_american(o->name, american_names[i]);
		if (!o->letter)
			continue;
		*shorts++ = o->letter;
		for (int k = 0; k < has; k++)
			*shorts++ = ':';
	}
	*shorts = 0;
}

/* Returns how many letters must be inserted, deleted or changed to make b from a[0..n). */
static size_t
distance(const char *a, size_t n, const char *b)
{
	size_t row[OPT_MAXNAME], m = strlen(b);

	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 0; i < n; i++) {
		size_t diagonal = row[0]++;
		for (size_t j = 0; j < m; j++) {
			const size_t change = diagonal + (a[i] != b[j]);
			const size_t step = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;

			diagonal = row[j + 1];
			row[j + 1] = change < step ? change : step;
		}
	}
	return row[m];
}

/* Returns the long option with the smallest distance to name[0..n). NULL: none is near. */
static const char *
nearest(const struct rows *r, const char *name, size_t n)
{
	const char *best = NULL;
	size_t least = n / 3 + 1;

	for (size_t i = 0; i < r->n && n < OPT_MAXNAME; i++) {
		const size_t d = distance(name, n, r->v[i].name);
		if (d <= least && (!best || d < least)) {
			least = d;
			best = r->v[i].name;
		}
	}
	return best;
}

/* Dies with the reason why getopt refused a long option. given is `--name` or `--name=value`. */
static _Noreturn void
die_long(const struct rows *r, const char *given)
{
	const char *name = given + 2;
	const size_t n = strcspn(name, "=");
	const char *first = NULL, *second = NULL, *near;

	for (size_t i = 0; i < r->n; i++) {
		if (strncmp(r->v[i].name, name, n))
			continue;
		if (!r->v[i].name[n])
			die_usage("option '--%s' takes no argument", r->v[i].name);
		second = first ? r->v[i].name : NULL;
		first = first ? first : r->v[i].name;
	}
	if (second)
		die_usage("option '%s' is ambiguous: --%s or --%s", given, first, second);
	if (first)
		die_usage("option '--%s' takes no argument", first);
	near = nearest(r, name, n);
	if (near)
		die_usage("option '%s' is unknown; is it --%s? See %s --help", given, near,
			  weir_prog);
	die_usage("option '%s' is unknown; see %s --help", given, weir_prog);
}

static _Noreturn void
die_refused(const struct rows *r, char **argv, int c)
{
	const char *given = argv[optind - 1];

	/* getopt sets optopt to the letter, to LONG + row, or to 0 for an unknown long option. */
	if (optopt && optopt < LONG)
		die_usage("option '-%c' %s; see %s --help", optopt,
			  c == ':' ? "needs an argument" : "is unknown", weir_prog);
	if (c == ':')
		die_usage("option '%s' needs an argument; see %s --help", given, weir_prog);
	die_long(r, given);
}

/* Prints the text that --help, --version or --completion asks for. */
static _Noreturn void
print_text(const struct opt_program *p, const struct rows *r, const struct opt *o,
	   const char *value)
{
	int shell = 0;

	if (o->kind == OPT_COMPLETION)
		opt_store_word(o, value ? value : o->absent, &shell);
	opt_print(p, r->v, r->n, o->kind, (enum opt_shell)shell);
}

static void
parse_rows(const struct opt_program *p, struct rows *r, int argc, char **argv, void *args,
	   FILE *history)
{
	struct option longs[2 * OPT_MAXROWS + 1] = {{0}};
	char shorts[3 * OPT_MAXROWS + 2], american_names[OPT_MAXROWS][OPT_MAXNAME];
	int c;

	fill_getopt(r, longs, shorts, american_names);
	opterr = 0;
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			die_refused(r, argv, c);
		size_t i = row_of(r, c);
		r->given[i] = true;
		if (r->v[i].kind >= OPT_HELP)
			print_text(p, r, &r->v[i], optarg);
		opt_store(&r->v[i], optarg, args, (size_t)argc);
		if (i < r->own && !r->v[i].unrecorded)
			put_history(history, &r->v[i], optarg);
	}
}

void
opt_parse(const struct opt_program *p, int argc, char **argv, void *args, char ***operand,
	  size_t *noperand)
{
	struct opt_common *common = args;
	struct rows r;
	char *text = NULL;
	size_t n;
	FILE *history = open_memstream(&text, &n);

	if (!history)
		die("no memory");
	fputs(weir_prog, history);
	gather_rows(p, &r);
	opt_know(p->table);
	parse_rows(p, &r, argc, argv, args, history);
	if (ferror(history) | fclose(history) || !text)
		die("no memory");
	common->history = opt_keep(text);
	for (size_t i = 0; i < r.n; i++)
		if (r.v[i].required && !r.given[i])
			die_usage("%s is required; see %s --help", opt_spelled(&r.v[i]), weir_prog);
	*operand = argv + optind;
	*noperand = (size_t)(argc - optind);
	if (*noperand > p->max_operands)
		die_usage("'%s' is one operand too many", (*operand)[p->max_operands]);
	if (common->share && !part_parse(common->share, &common->part))
		die_usage("--part: '%s' is not I/N, a share from 0 to N-1 of N, which is in 1..%d",
			  common->share, PART_MOST);
	if (common->share && common->as == RAW_AS_PNM)
		die_usage("--part: shares are raw items; give --pnm to rawjoin");
	if (cpu_misnamed())
		die_usage("WEIR_CPU '%s': must be generic, avx2 or avx512", cpu_misnamed());
	warn_quiet(common->quiet);
	if (common->stats && strcmp(common->stats, "-"))
		common->report = file_create_report(common->stats);
}

void
opt_add_history(struct img *x, const struct opt_common *o)
{
	img_add_key(x, "history", o->history);
}

enum raw_as
opt_as(const struct opt_common *o)
{
	return o->part.n ? RAW_AS_RAW : (enum raw_as)o->as;
}
