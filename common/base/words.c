/* Takes words and numbers from a line of text, one by one. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "common/base/words.h"

bool
word_size(const char **s, size_t lo, size_t *v)
{
	char *end;

	while (isspace((unsigned char)**s))
		++*s;
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
word_none(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return !*s;
}

char *
word_next(char **s)
{
	char *w;

	while (isspace((unsigned char)**s))
		++*s;
	if (!**s)
		return NULL;
	for (w = *s; **s && !isspace((unsigned char)**s); ++*s)
		;
	if (**s)
		*(*s)++ = 0;
	return w;
}

char *
word_quoted(char **s)
{
	char *w, *to;

	while (isspace((unsigned char)**s))
		++*s;
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
