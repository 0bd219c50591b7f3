/* link: -lcfitsio */
/* cfitsio's types and messages, which fitstoraw and rawtofits share. */
#include <stdio.h>

#include "common/convert/fits.h"

const struct fits_type fits_types[] = {
    [IMG_I8] = {TSBYTE, SBYTE_IMG},	   [IMG_U8] = {TBYTE, BYTE_IMG},
    [IMG_I16] = {TSHORT, SHORT_IMG},	   [IMG_U16] = {TUSHORT, USHORT_IMG},
    [IMG_I32] = {TINT, LONG_IMG},	   [IMG_U32] = {TUINT, ULONG_IMG},
    [IMG_I64] = {TLONGLONG, LONGLONG_IMG}, [IMG_U64] = {TULONGLONG, ULONGLONG_IMG},
    [IMG_F32] = {TFLOAT, FLOAT_IMG},	   [IMG_F64] = {TDOUBLE, DOUBLE_IMG}};

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
