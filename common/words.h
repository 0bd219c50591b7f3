/* Words and numbers of a line of text, taken one by one: *s steps past what was taken, and past blanks before it. */
#ifndef WEIR_WORDS_H
#define WEIR_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* A whole number >= lo, which a blank or the end must follow. False: there is none; *s has moved past blanks alone. */
bool word_size(const char **s, size_t lo, size_t *v);

/* The next word, ended in place; NULL at the end. */
char *word_next(char **s);

/* The next "quoted string" (\" is a quote, \\ a backslash), unquoted in place; NULL when there is none. */
char *word_quoted(char **s);

/* Whether nothing but blanks is left. */
bool word_none(const char *s);

#endif
