#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/words.h"
#include "common/picture/expr.h"

/* --- operations over a block ------------------------------------------------------------------------------------------ */

/* Whether bits of v can be asked for: it is whole, and a double holds all of its digits. */
static inline bool
has_bits(double v)
{
	return v == rint(v) && fabs(v) < 0x1p53;
}

static inline double
shift(double v, double left)
{
	return has_bits(v) && left == rint(left) ? floor(ldexp(v, (int)left)) : NAN;
}

/* As in Python: not the floor of a rounded quotient. */
static inline double
floor_quotient(double a, double b)
{
	const double rest = fmod(a, b);

	return b == 0 ? a / b : rint((a - rest) / b) - (rest != 0 && (rest < 0) != (b < 0));
}

/* Simple operations, which become vector loops for the CPU at hand. The result replaces a. */
#define DO1(NAME, EXPRESSION)                                          \
	WEIR_CLONES(do_##NAME, (double *restrict a, size_t n), (a, n)) \
	{                                                              \
		for (size_t i = 0; i < n; i++)                         \
			a[i] = EXPRESSION;                             \
	}
#define DO2(NAME, EXPRESSION)                                                            \
	WEIR_CLONES(do_##NAME, (double *restrict a, const double *restrict b, size_t n), \
		    (a, b, n))                                                           \
	{                                                                                \
		for (size_t i = 0; i < n; i++)                                           \
			a[i] = EXPRESSION;                                               \
	}
DO1(neg, -a[i])
DO1(not, a[i] != a[i] ? a[i] : a[i] == 0)
DO1(flip, has_bits(a[i]) ? -1 - a[i] : NAN)
DO1(abs, fabs(a[i]))
DO1(sqrt, sqrt(a[i]))
DO1(floor, floor(a[i]))
DO1(ceil, ceil(a[i]))
DO1(trunc, trunc(a[i]))
DO1(round, rint(a[i]))
DO1(isnan, a[i] != a[i])
DO1(sign, a[i] != a[i] ? a[i] : (double)((a[i] > 0) - (a[i] < 0)))
DO1(exp, exp(a[i]))
DO1(log, log(a[i]))
DO1(log2, log2(a[i]))
DO1(log10, log10(a[i]))
DO1(sin, sin(a[i]))
DO1(cos, cos(a[i]))
DO1(tan, tan(a[i]))
DO1(asin, asin(a[i]))
DO1(acos, acos(a[i]))
DO1(atan, atan(a[i]))
DO2(add, a[i] + b[i])
DO2(sub, a[i] - b[i])
DO2(mul, a[i] * b[i])
DO2(div, a[i] / b[i])
DO2(mod, fmod(a[i], b[i]))
DO2(floordiv, floor_quotient(a[i], b[i]))
#define BITS(OPERATOR) \
	(has_bits(a[i]) && has_bits(b[i]) ? (double)((int64_t)a[i] OPERATOR(int64_t) b[i]) : NAN)
DO2(bitand, BITS(&))
DO2(bitor, BITS(|))
DO2(bitxor, BITS(^))
#undef BITS
DO2(left, shift(a[i], b[i] >= 0 && b[i] < 64 ? b[i] : NAN))
DO2(right, shift(a[i], b[i] >= 0 && b[i] < 64 ? -b[i] : NAN))
/* For C, pow(NaN, 0), pow(1, NaN) and hypot(NaN, inf) are numbers. Here a missing sample stays missing. */
DO2(pow, (a[i] != a[i] || b[i] != b[i]) ? a[i] + b[i] : pow(a[i], b[i]))
DO2(atan2, atan2(a[i], b[i]))
DO2(hypot, (a[i] != a[i] || b[i] != b[i]) ? a[i] + b[i] : hypot(a[i], b[i]))
DO2(less, a[i] < b[i])
DO2(most, a[i] <= b[i])
DO2(more, a[i] > b[i])
DO2(least, a[i] >= b[i])
DO2(equal, a[i] == b[i])
DO2(differ, a[i] != b[i])
DO2(and, (a[i] != a[i] || b[i] != b[i]) ? a[i] + b[i] : (a[i] != 0) & (b[i] != 0))
DO2(or, (a[i] != a[i] || b[i] != b[i]) ? a[i] + b[i] : (a[i] != 0) | (b[i] != 0))
DO2(min, (a[i] < b[i] || a[i] != a[i]) ? a[i] : b[i])
DO2(max, (a[i] > b[i] || a[i] != a[i]) ? a[i] : b[i])
#undef DO1
#undef DO2

WEIR_CLONES(do_where,
	    (double *restrict a, const double *restrict b, const double *restrict c, size_t n),
	    (a, b, c, n))
{
	for (size_t i = 0; i < n; i++) {
		const double chosen = a[i] != 0 ? b[i] : c[i];

		a[i] = a[i] != a[i] ? a[i] : chosen;
	}
}

WEIR_CLONES(do_clip,
	    (double *restrict a, const double *restrict b, const double *restrict c, size_t n),
	    (a, b, c, n))
{
	for (size_t i = 0; i < n; i++) {
		const double low = a[i] < b[i] ? b[i] : a[i], v = low > c[i] ? c[i] : low;

		a[i] = b[i] != b[i] ? b[i] : c[i] != c[i] ? c[i] : v;
	}
}

/* Codes of operations. From FIRST on, code - FIRST is an index of the table below, where figures of a whole item compute nothing. */
enum { CONSTANT, VARIABLE, FIRST };

static const struct {
	const char *name; /* a function's name, or an operator */
	int args;
	void (*one)(double *a, size_t n);
	void (*two)(double *a, const double *b, size_t n);
	void (*three)(double *a, const double *b, const double *c, size_t n);
} table[] = {{"-1", 1, do_neg, NULL, NULL},	 {"!", 1, do_not, NULL, NULL},
	     {"+", 2, NULL, do_add, NULL},	 {"-", 2, NULL, do_sub, NULL},
	     {"*", 2, NULL, do_mul, NULL},	 {"/", 2, NULL, do_div, NULL},
	     {"%", 2, NULL, do_mod, NULL},	 {"^", 2, NULL, do_pow, NULL},
	     {"<=", 2, NULL, do_most, NULL},	 {">=", 2, NULL, do_least, NULL},
	     {"<", 2, NULL, do_less, NULL},	 {">", 2, NULL, do_more, NULL},
	     {"==", 2, NULL, do_equal, NULL},	 {"!=", 2, NULL, do_differ, NULL},
	     {"&&", 2, NULL, do_and, NULL},	 {"||", 2, NULL, do_or, NULL},
	     {"?", 3, NULL, NULL, do_where},	 {"where", 3, NULL, NULL, do_where},
	     {"clip", 3, NULL, NULL, do_clip},	 {"min", 2, NULL, do_min, NULL},
	     {"max", 2, NULL, do_max, NULL},	 {"mod", 2, NULL, do_mod, NULL},
	     {"pow", 2, NULL, do_pow, NULL},	 {"atan2", 2, NULL, do_atan2, NULL},
	     {"hypot", 2, NULL, do_hypot, NULL}, {"abs", 1, do_abs, NULL, NULL},
	     {"sqrt", 1, do_sqrt, NULL, NULL},	 {"floor", 1, do_floor, NULL, NULL},
	     {"ceil", 1, do_ceil, NULL, NULL},	 {"trunc", 1, do_trunc, NULL, NULL},
	     {"round", 1, do_round, NULL, NULL}, {"isnan", 1, do_isnan, NULL, NULL},
	     {"sign", 1, do_sign, NULL, NULL},	 {"exp", 1, do_exp, NULL, NULL},
	     {"log", 1, do_log, NULL, NULL},	 {"log2", 1, do_log2, NULL, NULL},
	     {"log10", 1, do_log10, NULL, NULL}, {"sin", 1, do_sin, NULL, NULL},
	     {"cos", 1, do_cos, NULL, NULL},	 {"tan", 1, do_tan, NULL, NULL},
	     {"asin", 1, do_asin, NULL, NULL},	 {"acos", 1, do_acos, NULL, NULL},
	     {"atan", 1, do_atan, NULL, NULL},	 {"arcsin", 1, do_asin, NULL, NULL},
	     {"arccos", 1, do_acos, NULL, NULL}, {"arctan", 1, do_atan, NULL, NULL},
	     {"ln", 1, do_log, NULL, NULL},	 {"arctan2", 2, NULL, do_atan2, NULL},
	     {"minimum", 2, NULL, do_min, NULL}, {"maximum", 2, NULL, do_max, NULL},
	     {"~", 1, do_flip, NULL, NULL},	 {"//", 2, NULL, do_floordiv, NULL},
	     {"&", 2, NULL, do_bitand, NULL},	 {"|", 2, NULL, do_bitor, NULL},
	     {"^^", 2, NULL, do_bitxor, NULL},	 {"<<", 2, NULL, do_left, NULL},
	     {">>", 2, NULL, do_right, NULL},	 {"median", 1, NULL, NULL, NULL},
	     {"sum", 1, NULL, NULL, NULL},	 {"std", 1, NULL, NULL, NULL},
	     {"mean", 1, NULL, NULL, NULL},	 {"min", 1, NULL, NULL, NULL},
	     {"max", 1, NULL, NULL, NULL}};

enum { OPERATIONS = sizeof table / sizeof *table };

const char *
expr_whole(const struct expr *e, size_t op)
{
	const int i = e->op[op].code - FIRST;

	return i >= 0 && !table[i].one && !table[i].two && !table[i].three ? table[i].name : NULL;
}

/* --- reading an expression ---------------------------------------------------------------------------------------------- */

struct parser {
	struct expr *e;
	const char *text, *s;
	const char *const *name;
	size_t nname, depth, nested;
	unsigned char *used;
	struct why *why;
	bool failed, not_is_input;
};

static void
fail(struct parser *p, const char *what)
{
	if (!p->failed)
		why_set(p->why, "%s at character %zu of '%.80s'", what,
			(size_t)(p->s - p->text) + 1, p->text);
	p->failed = true;
}

static void
emit(struct parser *p, int code, size_t name, double value, size_t takes)
{
	if (p->failed)
		return;
	p->depth += 1 - takes;
	if (p->e->n == EXPR_MOST || p->depth > EXPR_DEPTH) {
		fail(p, "the expression is too long");
		return;
	}
	p->e->op[p->e->n++] = (struct expr_op){code, name, value};
}

static void
emit_named(struct parser *p, const char *sign)
{
	for (int i = 0; i < OPERATIONS; i++)
		if (!strcmp(table[i].name, sign)) {
			emit(p, FIRST + i, 0, 0, (size_t)table[i].args);
			return;
		}
}

/* Whether a character may be in a name. */
static bool
in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Skips blanks. Then, if the operator comes next, steps past it and returns true. && is no & before another one. */
static bool
accept(struct parser *p, const char *sign)
{
	const size_t n = strlen(sign);

	p->s += strspn(p->s, " \t\n");
	if (p->failed || strncmp(p->s, sign, n) || (in_name(*sign) && in_name(p->s[n])) ||
	    (n == 1 && strchr("&|^", *sign) && p->s[1] == *sign))
		return false;
	p->s += n;
	return true;
}

static void parse_choice(struct parser *p);
static void parse_unary(struct parser *p);

static bool
is_word(const char *name, const char *word, size_t n)
{
	return strlen(name) == n && !strncmp(name, word, n);
}

/* A figure of the whole item stands before the operations from number `from` on, which it is of. */
static void
emit_call(struct parser *p, int code, size_t from)
{
	struct expr_op *const op = p->e->op + from, call = {code, p->e->n - from, NAN};

	if (p->failed)
		return;
	emit(p, code, 0, 0, (size_t)table[code - FIRST].args);
	if (!p->failed && expr_whole(p->e, p->e->n - 1)) {
		memmove(op + 1, op, call.name * sizeof *op);
		*op = call;
	}
}

static void
parse_call(struct parser *p, const char *word, size_t n)
{
	const size_t from = p->e->n;
	int i = 0, args = 0;

	while (i < OPERATIONS && !is_word(table[i].name, word, n))
		i++;
	if (i < OPERATIONS) {
		do {
			parse_choice(p);
			args++;
		} while (accept(p, ","));
		for (i = 0; i < OPERATIONS; i++)
			if (args == table[i].args && is_word(table[i].name, word, n))
				break;
		if (i == OPERATIONS)
			fail(p, "the function takes another number of values");
		if (!accept(p, ")"))
			fail(p, "a ) is missing");
		emit_call(p, FIRST + i, from);
		return;
	}
	p->s = word;
	fail(p, "there is no such function");
}

static void
parse_name(struct parser *p)
{
	static const struct {
		const char *name;
		double value;
	} constants[] = {{"pi", 3.14159265358979323846}, {"nan", NAN}, {"inf", INFINITY}};
	const char *word = p->s;
	char what[112];
	size_t n = 0;

	while (in_name(word[n]))
		n++;
	p->s += n;
	if (accept(p, "(")) {
		parse_call(p, word, n);
		return;
	}
	for (size_t i = 0; i < p->nname; i++)
		if (is_word(p->name[i], word, n)) {
			p->used[i] = 1;
			emit(p, VARIABLE, i, 0, 0);
			return;
		}
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
		if (is_word(constants[i].name, word, n)) {
			emit(p, CONSTANT, 0, constants[i].value, 0);
			return;
		}
	p->s = word;
	snprintf(what, sizeof what, "'%.*s' is no input (a, b ... or NAME=FILE), no constant",
		 (int)(n < 40 ? n : 40), word);
	fail(p, what);
}

static void
parse_primary(struct parser *p)
{
	char *end;

	if (accept(p, "(")) {
		parse_choice(p);
		if (!accept(p, ")"))
			fail(p, "a ) is missing");
	} else if (isdigit((unsigned char)*p->s) || *p->s == '.') {
		const double v = strtod(p->s, &end);
		if (end == p->s)
			fail(p, "a number is malformed");
		else if (word_rounds(p->s))
			fail(p, "a number has more digits than a double");
		p->s = end;
		emit(p, CONSTANT, 0, v, 0);
	} else if (isalpha((unsigned char)*p->s) || *p->s == '_') {
		parse_name(p);
	} else {
		fail(p, "a value is missing");
	}
}

static void
parse_power(struct parser *p)
{
	parse_primary(p);
	if (accept(p, "^") || accept(p, "**")) {
		parse_unary(p);
		emit_named(p, "^");
	}
}

static void
parse_unary(struct parser *p)
{
	if (++p->nested > 4 * EXPR_DEPTH) {
		fail(p, "the expression is nested too deeply");
	} else if (accept(p, "-")) {
		parse_unary(p);
		emit_named(p, "-1");
	} else if (accept(p, "+")) {
		parse_unary(p);
	} else if (accept(p, "!")) {
		parse_unary(p);
		emit_named(p, "!");
	} else if (accept(p, "~")) {
		parse_unary(p);
		emit_named(p, "~");
	} else {
		parse_power(p);
	}
	p->nested--;
}

/* Operators by precedence, as in Python, lowest first. "<=" stands before "<", so that it is found first. Before comparisons, `not` stands. */
enum { NOT = 2 };
static const char *const ranks[][7] = {
    {"||", "or", NULL}, {"&&", "and", NULL}, {"<=", ">=", "<", ">", "==", "!=", NULL},
    {"|", NULL},	{"^^", NULL},	     {"&", NULL},
    {"<<", ">>", NULL}, {"+", "-", NULL},    {"*", "//", "/", "%", NULL}};

static void
parse_rank(struct parser *p, size_t rank)
{
	if (rank == sizeof ranks / sizeof *ranks) {
		parse_unary(p);
		return;
	}
	if (rank == NOT && !p->not_is_input && accept(p, "not")) {
		if (++p->nested > 4 * EXPR_DEPTH)
			fail(p, "the expression is nested too deeply");
		else
			parse_rank(p, rank);
		emit_named(p, "!");
		p->nested--;
		return;
	}
	parse_rank(p, rank + 1);
	for (size_t i = 0; ranks[rank][i];) {
		if (!accept(p, ranks[rank][i])) {
			i++;
			continue;
		}
		parse_rank(p, rank + 1);
		emit_named(p, in_name(*ranks[rank][i]) ? ranks[rank][0] : ranks[rank][i]);
		i = 0;
	}
}

static void
parse_choice(struct parser *p)
{
	if (++p->nested > 4 * EXPR_DEPTH) {
		fail(p, "the expression is nested too deeply");
		return;
	}
	parse_rank(p, 0);
	if (accept(p, "?")) {
		parse_choice(p);
		if (!accept(p, ":"))
			fail(p, "a : is missing");
		parse_choice(p);
		emit_named(p, "?");
	}
	p->nested--;
}

int
expr_parse(struct expr *e, const char *text, const char *const *name, size_t nname,
	   unsigned char *used, struct why *why)
{
	struct parser p = {.e = e,
			   .text = text,
			   .s = text,
			   .name = name,
			   .nname = nname,
			   .used = used,
			   .why = why};

	e->n = 0;
	memset(used, 0, nname);
	for (size_t i = 0; i < nname; i++)
		p.not_is_input |= !strcmp(name[i], "not");
	parse_choice(&p);
	if (!accept(&p, "") || *p.s)
		fail(&p, "an operator is missing");
	return p.failed ? -1 : 0;
}

/* --- evaluation ----------------------------------------------------------------------------------------------------------- */

void
expr_eval(const struct expr *e, size_t of, const double *const *var, size_t n, double *out)
{
	const size_t first = of < e->n ? of + 1 : 0,
		     end = of < e->n ? first + e->op[of].name : e->n;
	double stack[EXPR_DEPTH][EXPR_BLOCK];
	size_t top = 0;

	for (size_t i = first; i < end; i++) {
		const struct expr_op *o = &e->op[i];

		if (o->code == CONSTANT || expr_whole(e, i)) {
			for (size_t k = 0; k < n; k++)
				stack[top][k] = o->value;
			top++;
			i += o->name;
			continue;
		}
		if (o->code == VARIABLE) {
			memcpy(stack[top++], var[o->name], n * sizeof *out);
			continue;
		}
		const int args = table[o->code - FIRST].args;
		top -= (size_t)args - 1;
		if (args == 1)
			table[o->code - FIRST].one(stack[top - 1], n);
		else if (args == 2)
			table[o->code - FIRST].two(stack[top - 1], stack[top], n);
		else
			table[o->code - FIRST].three(stack[top - 1], stack[top], stack[top + 1], n);
	}
	memcpy(out, stack[0], n * sizeof *out);
}
