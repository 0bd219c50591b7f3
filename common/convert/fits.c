/* link: -lcfitsio */
#include <fitsio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/convert/fits.h"

int
fits_code(enum img_type type)
{
	static const int codes[] = {
	    [IMG_I8] = TSBYTE,	[IMG_U8] = TBYTE,   [IMG_I16] = TSHORT,	   [IMG_U16] = TUSHORT,
	    [IMG_I32] = TINT,	[IMG_U32] = TUINT,  [IMG_I64] = TLONGLONG, [IMG_U64] = TULONGLONG,
	    [IMG_F32] = TFLOAT, [IMG_F64] = TDOUBLE};

	return codes[type];
}

int
fits_image(enum img_type type)
{
	static const int images[] = {
	    [IMG_I8] = SBYTE_IMG,     [IMG_U8] = BYTE_IMG,	 [IMG_I16] = SHORT_IMG,
	    [IMG_U16] = USHORT_IMG,   [IMG_I32] = LONG_IMG,	 [IMG_U32] = ULONG_IMG,
	    [IMG_I64] = LONGLONG_IMG, [IMG_U64] = ULONGLONG_IMG, [IMG_F32] = FLOAT_IMG,
	    [IMG_F64] = DOUBLE_IMG};

	return images[type];
}

/* Whether BZERO + BSCALE * v, as a float, differs for any two neighbouring 16-bit values of v. */
static bool
float_is_enough(double scale, double zero)
{
	return fabs(zero) + fabs(scale) * 0x1p15 < fabs(scale) * 0x1p23;
}

enum img_type
fits_choose_type(int bitpix, double scale, double zero, bool blank)
{
	static const struct {
		int bitpix;
		double zero;
		enum img_type type;
	} exact[] = {{8, 0, IMG_U8},	    {8, -128, IMG_I8},	  {16, 0, IMG_I16},
		     {16, 0x1p15, IMG_U16}, {32, 0, IMG_I32},	  {32, 0x1p31, IMG_U32},
		     {64, 0, IMG_I64},	    {64, 0x1p63, IMG_U64}};

	if (bitpix < 0)
		return bitpix == -32 && scale == 1 && zero == 0 ? IMG_F32 : IMG_F64;
	for (size_t i = 0; !blank && scale == 1 && i < sizeof exact / sizeof *exact; i++)
		if (bitpix == exact[i].bitpix && zero == exact[i].zero)
			return exact[i].type;
	return bitpix <= 16 && float_is_enough(scale, zero) ? IMG_F32 : IMG_F64;
}

void
fits_why(int status, char *text, size_t n)
{
	char line[FLEN_ERRMSG], name[FLEN_STATUS];

	fits_get_errstatus(status, name);
	if (fits_read_errmsg(line))
		snprintf(text, n, "%s (%s)", line, name);
	else
		snprintf(text, n, "%s", name);
	fits_clear_errmsg();
}

bool
fits_listed(const char *list, int unit, const char *extname)
{
	char number[16];

	snprintf(number, sizeof number, "%d", unit);
	for (const char *w = list;; w++) {
		const size_t n = strcspn(w, ",");

		if ((n == strlen(number) && !strncmp(w, number, n)) ||
		    (n && n == strlen(extname) && !strncasecmp(w, extname, n)))
			return true;
		w += n;
		if (!*w)
			return false;
	}
}

size_t
fits_words(const char *list)
{
	size_t n = 1;

	for (; *list; list++)
		n += *list == ',';
	return n;
}
