/*
 * Stores the values of options.
 * The values of options: numbers, sizes, words and lists, each checked and stored.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"

enum { LIMIT = 32 }; /* bytes of a limit as text */

void *
opt_keep(void *p)
{
	static void *kept[OPT_MAXROWS];
	static size_t n;

	return kept[n++ % OPT_MAXROWS] = p;
}

bool
opt_number(const char *text, double *v)
{
	char *end;

	*v = strtod(text, &end);
	return end != text && !*end && !isspace((unsigned char)*text);
}

bool
opt_size(const char *text, size_t *v)
{
	static const char suffix[] = "kMGT";
	unsigned long long n;
	const char *s;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	*v = (size_t)n;
	if (errno || !*end)
		return !errno;
	s = strchr(suffix, *end);
	return s && !end[1] && weir_mul(*v, (size_t)1 << 10 * (s - suffix + 1), v);
}

const char *
opt_spelled(const struct opt *o)
{
	static char text[64];

	if (o->letter)
		snprintf(text, sizeof text, "-%c, --%s", o->letter, o->name);
	else
		snprintf(text, sizeof text, "--%s", o->name);
	return text;
}

static bool
within(const struct opt *o, double v)
{
	if (o->kind == OPT_ABOVE)
		return v > o->lo && (o->hi == 0 || v <= o->hi);
	return (o->lo == 0 && o->hi == 0) || (v >= o->lo && v <= o->hi);
}

/* Writes a limit as people do: %g would make 2147483647 "2.14748e+09", which the option itself refuses. */
static const char *
limit(double v, char text[LIMIT])
{
	snprintf(text, LIMIT, v == floor(v) && fabs(v) <= 0x1p63 ? "%.0f" : "%g", v);
	return text;
}

static _Noreturn void
die_range(const struct opt *o, const char *value, const char *what)
{
	char lo[LIMIT], hi[LIMIT];

	if (o->kind == OPT_ABOVE)
		die_usage("%s: '%s' is not %s above %g%s%s", opt_spelled(o), value, what, o->lo,
			  o->hi == 0 ? "" : ", at most ", o->hi == 0 ? "" : limit(o->hi, hi));
	if (o->lo == 0 && o->hi == 0)
		die_usage("%s: '%s' is not %s", opt_spelled(o), value, what);
	die_usage("%s: '%s' is not %s in %s..%s", opt_spelled(o), value, what, limit(o->lo, lo),
		  limit(o->hi, hi));
}

static void
store_int(const struct opt *o, const char *value, int *to)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(value, &end, 10);
	if (errno || end == value || *end || isspace((unsigned char)*value) || v < INT_MIN ||
	    v > INT_MAX || !within(o, (double)v))
		die_range(o, value, "a whole number");
	*to = (int)v;
}

static void
store_size(const struct opt *o, const char *value, size_t *to)
{
	char lo[LIMIT], hi[LIMIT];

	if (opt_size(value, to) && (value == o->absent || within(o, (double)*to)))
		return;
	if (o->lo == 0 && o->hi == 0)
		die_usage("%s: '%s' is not a whole number, or one before k, M, G or T",
			  opt_spelled(o), value);
	die_usage("%s: '%s' is not a whole number in %s..%s, or one before k, M, G or T",
		  opt_spelled(o), value, limit(o->lo, lo), limit(o->hi, hi));
}

static void
store_real(const struct opt *o, const char *value, double *to)
{
	if (!opt_number(value, to) || !isfinite(*to) || !within(o, *to))
		die_range(o, value, "a number");
}

const char *
opt_american(const char *name, char text[OPT_MAXNAME])
{
	static const char *const pairs[][2] = {
	    {"centre", "center"}, {"colour", "color"}, {"normalise", "normalize"}};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		const char *at = strstr(name, pairs[i][0]);
		if (!at)
			continue;
		snprintf(text, OPT_MAXNAME, "%.*s%s%s", (int)(at - name), name, pairs[i][1],
			 at + strlen(pairs[i][0]));
		return text;
	}
	return name;
}

void
opt_store_word(const struct opt *o, const char *value, int *to)
{
	int i = 0;

	for (const char *w = o->words; *w; w += *w == '|', i++) {
		char word[OPT_MAXNAME], spelling[OPT_MAXNAME];
		const size_t len = strcspn(w, "|");

		snprintf(word, sizeof word, "%.*s", (int)len, w);
		if (!strcmp(word, value) || !strcmp(opt_american(word, spelling), value)) {
			*to = i;
			return;
		}
		w += len;
	}
	die_usage("%s: '%s' is not one of %s", opt_spelled(o), value, o->words);
}

static void
store_list(const char *value, struct opt_list *list, size_t most)
{
	if (!list->v)
		list->v = opt_keep(weir_xalloc(most, sizeof *list->v));
	list->v[list->n++] = value;
}

/* The options of the program, as --help shows them: opt_reals() says by them what an argument is. */
static const struct opt *known;

void
opt_know(const struct opt *table)
{
	known = table;
}

void
opt_store(const struct opt *o, const char *value, void *args, size_t most)
{
	void *to = (char *)args + o->at;

	if (o->arg && !value)
		value = o->absent;
	else if (o->arg && strstr(o->arg, "FILE") && !*value)
		die_usage("%s: '' is the name of no file", opt_spelled(o));
	if (o->seen)
		*(bool *)((char *)args + o->seen) = true;
	if (o->kind == OPT_FLAG)
		*(bool *)to = true;
	else if (o->kind == OPT_SET)
		*(int *)to = o->value;
	else if (o->kind == OPT_COUNT)
		++*(int *)to;
	else if (o->kind == OPT_INT)
		store_int(o, value, to);
	else if (o->kind == OPT_SIZE)
		store_size(o, value, to);
	else if (o->kind == OPT_REAL || o->kind == OPT_ABOVE)
		store_real(o, value, to);
	else if (o->kind == OPT_STR)
		*(const char **)to = value;
	else if (o->kind == OPT_WORD)
		opt_store_word(o, value, to);
	else if (o->kind == OPT_LIST)
		store_list(value, to, most);
}

/* Returns "FORM, " as --help shows the option's argument; "" where it has no such row. */
static const char *
form_of(const char *option, char text[LIMIT])
{
	*text = 0;
	for (const struct opt *o = known; o && o->name; o++)
		if (!strcmp(option + strspn(option, "-"), o->name) ||
		    (o->letter == option[1] && !option[2]))
			snprintf(text, LIMIT, "%s, ", o->arg);
	return text;
}

/* Returns how many numbers there are; 0 when the text is something else. */
static size_t
read_reals(const char *text, char sep, double *v, size_t max)
{
	size_t n = 0;

	for (const char *s = text; n < max; s++) {
		char *end;
		v[n] = strtod(s, &end);
		if (end == s || isspace((unsigned char)*s) || !isfinite(v[n]) ||
		    (*end && *end != sep))
			return 0;
		n++;
		if (!*end)
			return n;
		s = end;
	}
	return 0;
}

size_t
opt_reals_upto(const char *option, const char *text, char sep, double *v, size_t max)
{
	const size_t n = read_reals(text, sep, v, max);
	char form[LIMIT];

	if (!n)
		die_usage("%s: '%s' is not %s1 to %zu numbers with '%c' between them", option, text,
			  form_of(option, form), max, sep);
	return n;
}

void
opt_reals(const char *option, const char *text, char sep, double *v, size_t n)
{
	char form[LIMIT];

	if (read_reals(text, sep, v, n) == n)
		return;
	if (n == 1)
		die_usage("%s: '%s' is not a number", option, text);
	die_usage("%s: '%s' is not %s%zu numbers with '%c' between them", option, text,
		  form_of(option, form), n, sep);
}
