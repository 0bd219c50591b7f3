/* link: -lcfitsio */
/* cfitsio's types and messages, which fitstoraw and rawtofits share. */
#include <stdio.h>

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
