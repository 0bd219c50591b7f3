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

static inline double
clip(double v, double low, double high)
{
	const double least = v < low ? low : v, most = least > high ? high : least;

	return low != low ? low : high != high ? high : most;
}

/* Simple operations on up to three values, which become vector loops for the CPU at hand. The result replaces a. */
#define DO(NAME, EXPRESSION)                                                                    \
	WEIR_CLONES(                                                                            \
	    do_##NAME,                                                                          \
	    (double *restrict a, const double *restrict b, const double *restrict c, size_t n), \
	    (a, b, c, n))                                                                       \
	{                                                                                       \
		(void)b;                                                                        \
		(void)c;                                                                        \
		for (size_t i = 0; i < n; i++)                                                  \
			a[i] = EXPRESSION;                                                      \
	}
DO(neg, -a[i])
DO(not, a[i] != a[i] ? a[i] : a[i] == 0)
DO(flip, has_bits(a[i]) ? -1 - a[i] : NAN)
DO(abs, fabs(a[i]))
DO(sqrt, sqrt(a[i]))
DO(floor, floor(a[i]))
DO(ceil, ceil(a[i]))
DO(trunc, trunc(a[i]))
DO(round, rint(a[i]))
DO(isnan, a[i] != a[i])
DO(sign, a[i] != a[i] ? a[i] : (double)((a[i] > 0) - (a[i] < 0)))
DO(exp, exp(a[i]))
DO(log, log(a[i]))
DO(log2, log2(a[i]))
DO(log10, log10(a[i]))
DO(sin, sin(a[i]))
DO(cos, cos(a[i]))
DO(tan, tan(a[i]))
DO(asin, asin(a[i]))
DO(acos, acos(a[i]))
DO(atan, atan(a[i]))
DO(add, a[i] + b[i])
DO(sub, a[i] - b[i])
DO(mul, a[i] * b[i])
DO(div, a[i] / b[i])
DO(mod, fmod(a[i], b[i]))
DO(floordiv, floor_quotient(a[i], b[i]))
#define BITS(OPERATOR) \
	(has_bits(a[i]) && has_bits(b[i]) ? (double)((int64_t)a[i] OPERATOR(int64_t) b[i]) : NAN)
DO(bitand, BITS(&))
DO(bitor, BITS(|))
DO(bitxor, BITS(^))
#undef BITS
DO(left, shift(a[i], b[i] >= 0 && b[i] < 64 ? b[i] : NAN))
DO(right, shift(a[i], b[i] >= 0 && b[i] < 64 ? -b[i] : NAN))
/* For C, pow(NaN, 0), pow(1, NaN) and hypot(NaN, inf) are numbers. Here a missing sample stays missing. */
#define BOTH(EXPRESSION) ((a[i] != a[i] || b[i] != b[i]) ? a[i] + b[i] : (EXPRESSION))
DO(pow, BOTH(pow(a[i], b[i])))
DO(atan2, atan2(a[i], b[i]))
DO(hypot, BOTH(hypot(a[i], b[i])))
DO(less, a[i] < b[i])
DO(most, a[i] <= b[i])
DO(more, a[i] > b[i])
DO(least, a[i] >= b[i])
DO(equal, a[i] == b[i])
DO(differ, a[i] != b[i])
DO(and, BOTH((a[i] != 0) & (b[i] != 0)))
DO(or, BOTH((a[i] != 0) | (b[i] != 0)))
DO(min, (a[i] < b[i] || a[i] != a[i]) ? a[i] : b[i])
DO(max, (a[i] > b[i] || a[i] != a[i]) ? a[i] : b[i])
DO(where, a[i] != a[i] ? a[i] : a[i] != 0 ? b[i] : c[i])
DO(clip, clip(a[i], b[i], c[i]))
#undef BOTH
#undef DO

/* Codes of operations. From FIRST on, code - FIRST is an index of the table below, where figures of a whole item compute nothing. */
enum { CONSTANT, VARIABLE, FIRST };

static const struct {
	const char *name; /* a function's name, or an operator */
	int args;
	void (*run)(double *a, const double *b, const double *c, size_t n);
} table[] = {{"-1", 1, do_neg},	     {"!", 1, do_not},	     {"+", 2, do_add},
	     {"-", 2, do_sub},	     {"*", 2, do_mul},	     {"/", 2, do_div},
	     {"%", 2, do_mod},	     {"^", 2, do_pow},	     {"<=", 2, do_most},
	     {">=", 2, do_least},    {"<", 2, do_less},	     {">", 2, do_more},
	     {"==", 2, do_equal},    {"!=", 2, do_differ},   {"&&", 2, do_and},
	     {"||", 2, do_or},	     {"?", 3, do_where},     {"where", 3, do_where},
	     {"clip", 3, do_clip},   {"min", 2, do_min},     {"max", 2, do_max},
	     {"mod", 2, do_mod},     {"pow", 2, do_pow},     {"atan2", 2, do_atan2},
	     {"hypot", 2, do_hypot}, {"abs", 1, do_abs},     {"sqrt", 1, do_sqrt},
	     {"floor", 1, do_floor}, {"ceil", 1, do_ceil},   {"trunc", 1, do_trunc},
	     {"round", 1, do_round}, {"isnan", 1, do_isnan}, {"sign", 1, do_sign},
	     {"exp", 1, do_exp},     {"log", 1, do_log},     {"log2", 1, do_log2},
	     {"log10", 1, do_log10}, {"sin", 1, do_sin},     {"cos", 1, do_cos},
	     {"tan", 1, do_tan},     {"asin", 1, do_asin},   {"acos", 1, do_acos},
	     {"atan", 1, do_atan},   {"arcsin", 1, do_asin}, {"arccos", 1, do_acos},
	     {"arctan", 1, do_atan}, {"ln", 1, do_log},	     {"arctan2", 2, do_atan2},
	     {"minimum", 2, do_min}, {"maximum", 2, do_max}, {"~", 1, do_flip},
	     {"//", 2, do_floordiv}, {"&", 2, do_bitand},    {"|", 2, do_bitor},
	     {"^^", 2, do_bitxor},   {"<<", 2, do_left},     {">>", 2, do_right},
	     {"median", 1, NULL},    {"sum", 1, NULL},	     {"std", 1, NULL},
	     {"mean", 1, NULL},	     {"min", 1, NULL},	     {"max", 1, NULL}};

enum { OPERATIONS = sizeof table / sizeof *table };

const char *
expr_whole(const struct expr *e, size_t op)
{
	const int i = e->op[op].code - FIRST;

	return i >= 0 && !table[i].run ? table[i].name : NULL;
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
	if (i == OPERATIONS) {
		p->s = word;
		fail(p, "there is no such function");
		return;
	}
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

/* Counts one more level. Where there are too many, the parser fails, and accepts nothing that would lead deeper. */
static void
enter(struct parser *p)
{
	if (++p->nested > 4 * EXPR_DEPTH)
		fail(p, "the expression is nested too deeply");
}

static void
parse_unary(struct parser *p)
{
	static const char *const signs[][2] = {{"-", "-1"}, {"+", ""}, {"!", "!"}, {"~", "~"}};
	size_t i = 0;

	enter(p);
	while (i < 4 && !accept(p, signs[i][0]))
		i++;
	if (i < 4) {
		parse_unary(p);
		emit_named(p, signs[i][1]);
	} else {
		parse_primary(p);
		if (accept(p, "^") || accept(p, "**")) {
			parse_unary(p);
			emit_named(p, "^");
		}
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
		enter(p);
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
	enter(p);
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
	double stack
	    [EXPR_DEPTH + 2]
	    [EXPR_BLOCK]; /* two more, which the last operation may be given and does not read */
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
		top -= (size_t)table[o->code - FIRST].args - 1;
		table[o->code - FIRST].run(stack[top - 1], stack[top], stack[top + 1], n);
	}
	memcpy(out, stack[0], n * sizeof *out);
}
