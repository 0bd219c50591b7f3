#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/die.h"

static bool quiet, dying;

/* LeakSanitizer's own hook, asked when the process ends: what a dying program still holds is no leak. */
int __lsan_is_turned_off(void);

int
__lsan_is_turned_off(void)
{
	return dying;
}

static void
say(const char *fmt, va_list ap)
{
	fprintf(stderr, "%s: ", weir_prog);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void
die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	dying = true;
	exit(1);
}

void
die_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	dying = true;
	exit(2);
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
