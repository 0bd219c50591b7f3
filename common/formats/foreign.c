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
	const char *programs; /* those of ours that read it; NULL: none does */
} formats[] = {
    {MAGIC("\x89PNG"), "PNG; convert it with pngtopam", NULL},
    {MAGIC("\xff\xd8\xff"), "JPEG; convert it with jpegtopnm", NULL},
    {MAGIC("II*\0"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {MAGIC("MM\0*"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {MAGIC("II+\0"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {MAGIC("MM\0+"), "TIFF; convert it with tifftoraw", "tifftoraw"},
    {MAGIC("SIMPLE  "), "FITS; convert it with fitstoraw", "fitstoraw"},
    {MAGIC("\xc3\x40\xf1\x40"), "SEG-Y; convert it with segytoraw", "segytoraw rawtosegy"},
    {MAGIC("\xc3\xf0\xf1\x40"), "SEG-Y; convert it with segytoraw", "segytoraw rawtosegy"},
    {MAGIC("C 1 "), "SEG-Y; convert it with segytoraw", "segytoraw rawtosegy texttoraw"},
    {MAGIC("C01 "), "SEG-Y; convert it with segytoraw", "segytoraw rawtosegy texttoraw"},
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

/*
 * Says whether a trace of SU ends where the next one begins, by the samples of a trace that its header states. The next
 * header states as many, with the same interval.
 */
static bool
is_su(const unsigned char *first, size_t n)
{
	enum { HEADER = 240, SAMPLES = 114 };

	for (size_t swap = 0; n > HEADER && swap < 2; swap++) {
		const size_t ns = first[SAMPLES + swap] + 256u * first[SAMPLES + 1 - swap];
		const size_t end = HEADER + 4 * ns;
		if (ns && (n == end || (n >= end + HEADER &&
					!memcmp(first + SAMPLES, first + end + SAMPLES, 4))))
			return true;
	}
	return false;
}

const char *
foreign_what(const void *first, size_t n)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (n >= formats[i].n && !memcmp(first, formats[i].magic, formats[i].n))
			return formats[i].programs && strstr(formats[i].programs, weir_prog)
				   ? NULL
				   : formats[i].what;
	if (is_pnm(first, n))
		return "PNM; it needs no conversion";
	return is_su(first, n) && !strstr("sutoraw rawtosu", weir_prog)
		   ? "SU; convert it with sutoraw"
		   : NULL;
}
