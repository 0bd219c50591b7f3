/* Messages. One line on stderr, `prog: file: reason`, no full stop. Only main.c files and common/ call these. */
#ifndef WEIR_DIE_H
#define WEIR_DIE_H

#include <stdbool.h>

/* The program's name: what every message begins with. Each main.c defines it. */
extern const char *const weir_prog;

/* Data, I/O or device failure: the line on stderr, then exit 1. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Wrong usage: the line on stderr, then exit 2. */
_Noreturn void die_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A line on stderr that --quiet silences. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn_quiet(bool quiet);

/*
 * text with its control characters as \n and \x1b, so that a file name cannot forge a line of a message or command a
 * terminal. Caller frees; NULL: no memory.
 */
char *make_visible(const char *text);

#endif
