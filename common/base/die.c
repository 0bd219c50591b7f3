#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/why.h"

const char weir_version[] = WEIR_VERSION;

static bool quiet;
static FILE *held; /* lines that wait */
static atomic_flag dying = ATOMIC_FLAG_INIT;
static void (*do_first)(void);

size_t
visible_char(char to[VISIBLE], char c)
{
	static const char hex[] = "0123456789abcdef";
	const bool control = (unsigned char)c < ' ' || c == 0x7f;
	const char text[VISIBLE] = {control ? '\\' : c, c == '\n' ? 'n' : 'x', hex[c >> 4 & 15],
				    hex[c & 15]};

	memcpy(to, text, VISIBLE);
	return !control ? 1 : c == '\n' ? 2 : VISIBLE;
}

char *
make_visible(const char *text)
{
	char *out = malloc(VISIBLE * (strlen(text) + 1)), *to = out;

	for (; out && *text; text++)
		to += visible_char(to, *text);
	if (out)
		*to = 0;
	return out;
}

enum { LONGEST = 600, END = 200 }; /* bytes of a message, and of its end */

/* Cuts the middle out of a text that is too long: what it echoes may be a whole file. */
static void
shorten(char *text)
{
	const size_t n = strlen(text);
	char *to = text + LONGEST - END, *from = text + n - END;

	if (n <= LONGEST)
		return;
	for (int i = 0; i < 3; i++) { /* not inside a character of UTF-8 */
		to -= (*to & 0xc0) == 0x80;
		from += (*from & 0xc0) == 0x80;
	}
	memmove(stpcpy(to, " ... "), from, strlen(from) + 1);
}

/* Writes one line to f; without one, in one write(), so that the lines of processes that share a terminal do not mix. */
static void
say(FILE *f, const char *fmt, va_list ap)
{
	char *text, *seen = NULL, *line;
	int n;

	if (vasprintf(&text, fmt, ap) >= 0) {
		seen = make_visible(text);
		free(text);
	}
	if (seen)
		shorten(seen);
	n = asprintf(&line, "%s: %s\n", weir_prog, seen ? seen : "no memory");
	free(seen);
	if (n < 0)
		return;
	const ssize_t written = f ? fputs(line, f) : write(STDERR_FILENO, line, (size_t)n);
	(void)written; /* a failure to write to stderr cannot be reported */
	free(line);
}

void
die_after(void (*first)(void))
{
	do_first = first;
}

/*
 * The process ends without what exit() would call: a library that closed its device there would do so below the threads that
 * still use it. Of several threads that die, one speaks.
 */
static _Noreturn void
end(int status, const char *fmt, va_list ap)
{
	if (do_first)
		do_first();
	while (atomic_flag_test_and_set(&dying))
		pause();
	say(NULL, fmt, ap);
	fflush(stdout);
	quick_exit(status);
}

void
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	end(1, fmt, ap);
}

void
die_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	end(2, fmt, ap);
}

void
warn(const char *fmt, ...)
{
	va_list ap;

	if (quiet)
		return;
	va_start(ap, fmt);
	say(held, fmt, ap);
	va_end(ap);
}

void
warn_hold(bool on)
{
	static char *lines;
	static size_t n;

	if (held) {
		if (!fflush(held)) /* fclose() may lose the lines where there is no memory */
			fputs(lines, stderr);
		fclose(held);
		free(lines);
	}
	held = on ? open_memstream(&lines, &n) : NULL;
}

void
warn_quiet(bool on)
{
	quiet = on;
}

int
why_set(struct why *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof why->text, fmt, ap);
	va_end(ap);
	return -1;
}
