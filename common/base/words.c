/* Takes words and numbers from a line of text, one by one. */
#include <ctype.h>
#include <errno.h>
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
