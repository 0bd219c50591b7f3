#include <errno.h>
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fft.h"

size_t
fft_size(size_t n)
{
	for (size_t m = n < 4 ? 4 : (n + 3) / 4 * 4;; m += 4) {
		size_t r = m, odd = 0;
		while (r % 2 == 0)
			r /= 2;
		for (size_t p = 3; p <= 7; p += 2)
			while (r % p == 0) {
				r /= p;
				odd++;
			}
		if (r == 1 && odd <= 3)
			return m;
	}
}

/* Returns the rest of f as text, which the caller frees. NULL: f is at its end, or there is no memory. */
static char *
read_text(FILE *f)
{
	char *text = NULL;
	size_t room = 0;
	const ssize_t n = getdelim(&text, &room, '\0', f);

	if (n > 0)
		return text;
	free(text);
	return NULL;
}

/*
 * The file holds the wisdom of single precision and then that of double precision. Each is one parenthesised expression that
 * begins with "(fftw-". FFTW reads ahead, so it cannot take both from one stream.
 */
int
fft_wisdom_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text, *second;
	int ok;

	if (!f)
		return errno == ENOENT ? 0 : -errno;
	text = read_text(f);
	fclose(f);
	second = text ? strstr(text + 1, "(fftw-") : NULL;
	ok = second && fftwf_import_wisdom_from_string(text) &&
	     fftw_import_wisdom_from_string(second);
	free(text);
	return ok ? 0 : -EINVAL;
}

int
fft_wisdom_write(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return -errno;
	fftwf_export_wisdom_to_file(f);
	fputc('\n', f);
	fftw_export_wisdom_to_file(f);
	if (fflush(f) || ferror(f)) {
		int e = errno ? errno : EIO;
		fclose(f);
		return -e;
	}
	return fclose(f) ? -errno : 0;
}
