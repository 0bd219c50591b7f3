#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/die.h"

static bool quiet, dying;
static void (*do_first)(void);

/* LeakSanitizer calls this when the process ends. The memory that a dying program still holds is not a leak. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return dying;
}

char *
make_visible(const char *text)
{
	char *out = malloc(4 * strlen(text) + 1), *to = out;

	for (; out && *text; text++)
		if ((unsigned char)*text >= ' ' && *text != 0x7f)
			*to++ = *text;
		else
			to += sprintf(to, *text == '\n' ? "\\n" : "\\x%02x", (unsigned char)*text);
	if (out)
		*to = 0;
	return out;
}

/* Writes one line in one write(), so that the lines of processes that share a terminal do not mix. */
static void
say(const char *fmt, va_list ap)
{
	char *text, *seen = NULL, *line;
	int n;

	if (vasprintf(&text, fmt, ap) >= 0) {
		seen = make_visible(text);
		free(text);
	}
	n = asprintf(&line, "%s: %s\n", weir_prog, seen ? seen : "no memory");
	free(seen);
	if (n < 0)
		return;
	const ssize_t written = write(STDERR_FILENO, line, (size_t)n);
	(void)written; /* a failure to write to stderr cannot be reported */
	free(line);
}

void
die_after(void (*first)(void))
{
	do_first = first;
}

static _Noreturn void
end(int status, const char *fmt, va_list ap)
{
	if (do_first)
		do_first();
	say(fmt, ap);
	dying = true;
	exit(status);
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
	say(fmt, ap);
	va_end(ap);
}

void
warn_quiet(bool on)
{
	quiet = on;
}
