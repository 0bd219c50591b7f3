/* Takes words and numbers from a line of text, one by one. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/words.h"

/* Where the blanks at s end. */
static char *
skip(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return (char *)(uintptr_t)s;
}

bool
word_size(const char **s, size_t lo, size_t *v)
{
	char *end;

	*s = skip(*s);
	if (!isdigit((unsigned char)**s))
		return false;
	errno = 0;
	unsigned long long n = strtoull(*s, &end, 10);
	if (errno || n < lo || (*end && !isspace((unsigned char)*end)))
		return false;
	*s = end;
	*v = (size_t)n;
	return true;
}

bool
word_real(const char **s, double *v)
{
	const char *from = *s;
	char *end;

	*v = strtod(from, &end);
	*s = end;
	return end != from && !isspace((unsigned char)*from);
}

bool
word_whole(const char *text, size_t most, size_t *v)
{
	return text && word_size(&text, 0, v) && *v <= most && word_none(text);
}

size_t
word_reals(const char *text, char sep, double *v, size_t most)
{
	size_t n = 0;

	for (text = text ? skip(text) : ""; *text; text = skip(text + (*text == sep)))
		if (n == most || !word_real(&text, &v[n++]) ||
		    (*text && !isspace((unsigned char)*text) && (*text != sep || !text[1])))
			return 0;
	return n;
}

bool
word_rounds(const char *s)
{
	const double v = fabs(strtod(s, NULL));
	char held[340], *h = held; /* DBL_MAX has 309 digits */
	int n = 0;

	s += strspn(s, "+-0.");
	for (const char *c = s; isdigit((unsigned char)*c) || *c == '.'; c++)
		n += *c != '.';
	if (!(v >= 0x1p53) || isinf(v) || !n) /* or hexadecimal */
		return false;
	snprintf(held, sizeof held, "%.*e", n < 330 ? n - 1 : 330, v);
	for (; n > 0; s++)
		if (*s != '.') {
			h += *h == '.';
			n--;
			if (*s != (isdigit((unsigned char)*h) ? *h++ : '0'))
				return true;
		}
	return false;
}

bool
word_size_before(const char **s, char end, size_t *v)
{
	const char *at = strchr(*s, end), *t;
	char text[24];

	if (!at || at == *s || (size_t)(at - *s) >= sizeof text ||
	    strspn(*s, "0123456789") < (size_t)(at - *s))
		return false;
	snprintf(text, sizeof text, "%.*s", (int)(at - *s), *s);
	*s = at + (end != '\0');
	t = text;
	return word_size(&t, 0, v);
}

bool
word_fraction(const char *word, size_t *i, size_t *n)
{
	return word && word_size_before(&word, '/', i) && word_size_before(&word, '\0', n) &&
	       *i < *n;
}

bool
word_none(const char *s)
{
	return !*skip(s);
}

char *
word_next(char **s)
{
	char *w = skip(*s);

	if (!*w)
		return NULL;
	for (*s = w; **s && !isspace((unsigned char)**s); ++*s)
		;
	if (**s)
		*(*s)++ = 0;
	return w;
}

char *
word_quoted(char **s)
{
	char *w, *to;

	*s = skip(*s);
	if (**s != '"')
		return NULL;
	w = to = ++*s;
	while (**s && **s != '"') {
		if ((*s)[0] == '\\' && ((*s)[1] == '"' || (*s)[1] == '\\'))
			++*s;
		*to++ = *(*s)++;
	}
	if (!**s)
		return NULL;
	++*s;
	*to = 0;
	return w;
}

int
word_index(const char *list, char sep, const char *word, size_t n,
	   int (*compare)(const char *a, const char *b, size_t n))
{
	for (int i = 0;; i++) {
		const char *end = strchrnul(list, sep);
		if ((size_t)(end - list) == n && !compare(list, word, n))
			return i;
		if (!*end)
			return -1;
		list = end + 1;
	}
}

int
word_shortest(char *s, size_t room, double v, int digits, bool single)
{
	int n = 0;

	for (; digits <= (single ? 9 : 17); digits++) {
		n = snprintf(s, room, "%.*g", digits, v);
		const double back = strtod(s, NULL);
		if (single ? (float)back == (float)v : back == v)
			break;
	}
	return n;
}

void
word_append(char *text, size_t room, const char *fmt, ...)
{
	const size_t used = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + used, room - used, fmt, ap);
	va_end(ap);
}
