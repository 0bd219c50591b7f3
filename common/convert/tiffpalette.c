/* link: -ltiff */
/* The palette of a page as a key, and back. */
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/convert/tiff.h"

#define KEY "tiff.ColorMap"

enum { LONGEST = 18 }; /* characters of ` 65535,65535,65535` */

void
tiff_palette_of(TIFF *t, unsigned bits, struct img *x)
{
	const size_t n = (size_t)1 << bits;
	uint16_t *map[3];

	if (!TIFFGetField(t, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
		return;
	char *text = weir_xalloc(n, LONGEST + 1), *s = text;

	for (size_t i = 0; i < n; i++)
		s += sprintf(s, i ? " %u,%u,%u" : "%u,%u,%u", map[0][i], map[1][i], map[2][i]);
	img_add_key(x, KEY, text);
	weir_free(text);
}

bool
tiff_set_palette(TIFF *t, unsigned bits, const struct img *x)
{
	const char *s = img_key(x, KEY);
	unsigned colour[3];
	size_t n = 0;
	int used;

	if (!s || bits > 16)
		return false;
	uint16_t *map = weir_xalloc((size_t)3 << bits, sizeof *map);

	memset(map, 0,
	       ((size_t)3 << bits) * sizeof *map); /* entries that the key lacks are black */
	for (; sscanf(s, "%u,%u,%u%n", &colour[0], &colour[1], &colour[2], &used) == 3; s += used) {
		if (n >> bits)
			break;
		for (size_t k = 0; k < 3; k++)
			map[(k << bits) + n] = (uint16_t)colour[k];
		n++;
	}
	const bool good = n && !*s;
	if (good)
		TIFFSetField(t, TIFFTAG_COLORMAP, map, map + ((size_t)1 << bits),
			     map + ((size_t)2 << bits));
	weir_free(map);
	return good;
}
