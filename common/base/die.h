/*
 * Messages. Each is one line on stderr, `prog: file: reason`, without a full stop. Only main.c, args.c and common/ call
 * these functions.
 */
#ifndef WEIR_BASE_DIE_H
#define WEIR_BASE_DIE_H

#include <stdbool.h>
#include <stddef.h>

/* The program's name, with which every message begins. Each main.c defines it. */
extern const char *const weir_prog;

/* The version of weir, and the commit where that is no release. */
extern const char weir_version[];

/*
 * Reports failed data, I/O or a failed device, and ends the process with status 1 by quick_exit(). That calls what
 * at_quick_exit() has registered, and not what atexit() has.
 */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Reports wrong usage, and exits with status 2. */
_Noreturn void die_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* die() and die_usage() call first() before all else, on the thread that dies; NULL: nothing. */
void die_after(void (*first)(void));

/* warn() writes a line that --quiet silences; warn_quiet(true) silences it. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void warn_quiet(bool quiet);
/* Between warn_hold(true) and warn_hold(false) warnings wait for the latter, and a process that dies drops them. */
void warn_hold(bool on);

enum { VISIBLE = 4 }; /* the most bytes of a visible character */

/*
 * Writes a byte, or a control character as \n or \x1b, so that a file name cannot forge a line of a message or command a
 * terminal. Returns how many bytes it is then. A signal handler may call it.
 */
size_t visible_char(char to[VISIBLE], char c);

/* Returns a copy of text with each byte made visible. The caller frees it. NULL: no memory. */
char *make_visible(const char *text);

#endif
