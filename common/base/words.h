/* Takes words and numbers from a line of text, one by one. *s moves past the blanks and what was taken. */
#ifndef WEIR_BASE_WORDS_H
#define WEIR_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Takes a whole number >= lo that ends at a blank or at the end. False: there is none, and *s moves past the blanks alone. */
bool word_size(const char **s, size_t lo, size_t *v);

/* Takes a number, nan and inf too, before which no blank stands. False: there is none. */
bool word_real(const char **s, double *v);

/* Reads a text that is one whole number up to `most`, between blanks at most. False: it is NULL or anything else, and *v too. */
bool word_whole(const char *text, size_t most, size_t *v);

/* Reads a text of up to `most` numbers with blanks or one sep between them. Returns how many; 0: it is NULL or anything else. */
size_t word_reals(const char *text, char sep, double *v, size_t most);

/* Whether a double holds other digits than those of the number at s, from 2^53 on. In 1e23 nobody asked for more than one. */
bool word_rounds(const char *s);

/* Takes a whole number that ends before the character `end`, which is taken, too. False: there is no such number. */
bool word_size_before(const char **s, char end, size_t *v);

/* Reads "I/N", 0 <= I < N. False where word is NULL or anything else. */
bool word_fraction(const char *word, size_t *i, size_t *n);

/* Takes the next word and puts a zero behind it in the text. NULL at the end. */
char *word_next(char **s);

/* Takes the next "quoted string" (\" is a quote, \\ a backslash) and unquotes it in place. NULL when there is none. */
char *word_quoted(char **s);

/* Whether only blanks are left. */
bool word_none(const char *s);

/* Returns the place of the n letters of a word in a list with `sep` between its words; -1: none is it, by strncmp() or its like. */
int word_index(const char *list, char sep, const char *word, size_t n,
	       int (*compare)(const char *a, const char *b, size_t n));

/* Prints v in so many digits, or the fewest more from which the same double, or float, is read back. Returns the length. */
int word_shortest(char *s, size_t room, double v, int digits, bool single);

/* Adds to a text in room bytes, as far as it has room. */
void
word_append(char *text, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
