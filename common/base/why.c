#include <stdarg.h>
#include <stdio.h>

#include "common/base/why.h"

int
why_set(struct why *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof why->text, fmt, ap);
	va_end(ap);
	return -1;
}
