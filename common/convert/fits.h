/* cfitsio's types and messages, which fitstoraw and rawtofits share. */
#ifndef WEIR_CONVERT_FITS_H
#define WEIR_CONVERT_FITS_H

#include <fitsio.h>

#include "common/base/why.h"
#include "common/stream/img.h"

/* cfitsio's codes of a type in memory, for example TUSHORT, and in a file, for example USHORT_IMG. */
static const struct fits_type {
	int code, image;
} fits_types[] = {[IMG_I8] = {TSBYTE, SBYTE_IMG},	 [IMG_U8] = {TBYTE, BYTE_IMG},
		  [IMG_I16] = {TSHORT, SHORT_IMG},	 [IMG_U16] = {TUSHORT, USHORT_IMG},
		  [IMG_I32] = {TINT, LONG_IMG},		 [IMG_U32] = {TUINT, ULONG_IMG},
		  [IMG_I64] = {TLONGLONG, LONGLONG_IMG}, [IMG_U64] = {TULONGLONG, ULONGLONG_IMG},
		  [IMG_F32] = {TFLOAT, FLOAT_IMG},	 [IMG_F64] = {TDOUBLE, DOUBLE_IMG}};

/* The first of cfitsio's messages about a failure; the others are dropped. */
static inline struct why
fits_why(int status)
{
	char line[FLEN_ERRMSG], name[FLEN_STATUS];
	struct why why;

	fits_get_errstatus(status, name);
	if (fits_read_errmsg(line))
		why_set(&why, "%s (%s)", line, name);
	else
		why_set(&why, "%s", name);
	fits_clear_errmsg();
	return why;
}

#endif
