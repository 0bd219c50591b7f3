/* See gpu/load.h. */
#include <string.h>

#include "gpu/load.h"

extern "C" {
#include "common/base/mem.h"
}

size_t
load_bytes(const load &l)
{
	size_t sum = 0;

	for (size_t i = 0; i < l.n; i++)
		sum += l.span[i].bytes;
	return sum;
}

bool
load_set(load *l, const gpu_span *s, size_t n)
{
	if (n > l->room) {
		weir_free(l->span);
		l->span = static_cast<gpu_span *>(weir_alloc(n, sizeof *s));
		l->room = l->span ? n : 0;
	}
	l->n = l->span ? n : 0;
	if (l->n)
		memcpy(l->span, s, n * sizeof *s);
	l->left = load_bytes(*l);
	return l->n > 0;
}

ptrdiff_t
load_place(const load &l, const void *host, size_t bytes)
{
	const char *const from = static_cast<const char *>(host);
	size_t at = 0;

	for (size_t i = 0; i < l.n; at += l.span[i++].bytes) {
		const char *const s = static_cast<const char *>(l.span[i].host);
		if (s <= from && from + bytes <= s + l.span[i].bytes)
			return (ptrdiff_t)(at + (size_t)(from - s));
	}
	return -1;
}

bool
load_meets(const load &l, const void *host, size_t bytes)
{
	const char *const from = static_cast<const char *>(host);

	for (size_t i = 0; i < l.n; i++) {
		const char *const s = static_cast<const char *>(l.span[i].host);
		if (s < from + bytes && from < s + l.span[i].bytes)
			return true;
	}
	return false;
}
