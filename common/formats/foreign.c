#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "common/die.h"
#include "common/formats/foreign.h"

#define MAGIC(text) text, sizeof(text) - 1

static const struct {
	const char *magic;
	size_t n;
	const char *what;
	const char *program; /* the one of ours that reads it; NULL: none does */
} formats[] = {
    {MAGIC("\x89PNG"), "PNG; convert it with pngtopam", NULL},
    {MAGIC("\xff\xd8\xff"), "JPEG; convert it with jpegtopnm", NULL},
    {MAGIC("II*\0"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {MAGIC("MM\0*"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {MAGIC("II+\0"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {MAGIC("MM\0+"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {MAGIC("SIMPLE  "), "FITS; convert it with fitstoraw", "fitstoraw"},
    {MAGIC("GIF8"), "GIF; convert it with giftopnm", NULL},
    {MAGIC("\x1f\x8b"), "gzip; unpack it with gzip -dc", NULL},
    {MAGIC("PK\3\4"),
     "a zip archive; of a .npz, unpack it with unzip and give the .npy files inside", NULL},
    {MAGIC("NRRD000"), "raw; it needs no conversion", NULL},
    {MAGIC("\x93NUMPY"), "NumPy; it needs no conversion", NULL},
};

/* Says whether n bytes begin as PNM or PFM do: P, one of nine signs, and white space. */
static bool
is_pnm(const char *first, size_t n)
{
	return n > 2 && first[0] == 'P' && first[1] && strchr("1234567fF", first[1]) &&
	       isspace((unsigned char)first[2]);
}

const char *
foreign_what(const void *first, size_t n)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (n >= formats[i].n && !memcmp(first, formats[i].magic, formats[i].n))
			return formats[i].program && !strcmp(formats[i].program, weir_prog)
				   ? NULL
				   : formats[i].what;
	return is_pnm(first, n) ? "PNM; it needs no conversion" : NULL;
}
