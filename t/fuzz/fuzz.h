/* What each fuzzer has: its entry, its name in messages, and any bytes as a text. */
#ifndef WEIR_FUZZ_H
#define WEIR_FUZZ_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const weir_prog = "fuzz";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* The bytes and a 0 behind them, to be freed; NULL: no memory. */
static inline char *
fuzz_text(const uint8_t *bytes, size_t n)
{
	char *text = malloc(n + 1);

	if (text && n)
		memcpy(text, bytes, n);
	if (text)
		text[n] = 0;
	return text;
}

#endif
