#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/die.h"
#include "common/mem.h"

bool
weir_mul(size_t a, size_t b, size_t *product)
{
	size_t dummy;

	return !__builtin_mul_overflow(a, b, product ? product : &dummy);
}

void *
weir_alloc(size_t n, size_t size)
{
	size_t bytes;

	if (!weir_mul(n, size, &bytes) || bytes > SIZE_MAX - WEIR_ALIGN)
		return NULL;
	bytes = (bytes + WEIR_ALIGN - 1) / WEIR_ALIGN * WEIR_ALIGN;
	return aligned_alloc(WEIR_ALIGN, bytes ? bytes : WEIR_ALIGN);
}

void *
weir_calloc(size_t n, size_t size)
{
	void *p = weir_alloc(n, size);

	if (p)
		memset(p, 0, n * size);
	return p;
}

void
weir_free(void *p)
{
	free(p);
}

void *
weir_xalloc(size_t n, size_t size)
{
	void *p = weir_alloc(n, size);

	if (!p)
		die("no memory for %zu x %zu bytes", n, size);
	return p;
}

char *
weir_xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(weir_xalloc(n, 1), s, n);
}

size_t
weir_ram_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	return pages > 0 && page > 0 ? (size_t)pages * (size_t)page : SIZE_MAX / 4;
}

size_t
weir_peak_bytes(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (size_t)r.ru_maxrss * 1024;
}
