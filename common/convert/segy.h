/*
 * SEG-Y files of revisions 0 to 2. A file has 3200 bytes of text header, 400 bytes of binary header, further text headers of
 * 3200 bytes each, and then traces as in traces.h. Both byte orders are read. Where the file has -1 for the number of further
 * text headers, the last one begins with ((SEG: EndText)).
 */
#ifndef WEIR_CONVERT_SEGY_H
#define WEIR_CONVERT_SEGY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/convert/traces.h"

/*
 * The samples of SEG-Y, by the format's number in the binary header:
 *
 *	1	IBM float of 4 bytes: a sign, e of 7 bits, f of 24 bits; f 2^-24 16^(e - 64)
 *	5, 6	IEEE floats of 4 and 8 bytes
 *	2, 3, 7, 8, 9		signed integers of 4, 2, 3, 1 and 8 bytes
 *	10, 11, 12, 15, 16	integers without a sign, of 4, 2, 8, 3 and 1 bytes
 *
 * A decoded sample is the float nearest to the number in the file, or infinite when the number is beyond the floats. An IBM
 * float need not be normalised.
 *
 * Source: SEG Technical Standards Committee, SEG-Y_r2.0: SEG-Y revision 2.0 Data Exchange format, 2017.
 */

enum { SEGY_IBM = 1, SEGY_IEEE = 5 };
#define SEGY_FORMATS "1 (IBM), 5, 6 (IEEE), 2, 3, 7 to 12, 15, 16 (integers)"

/* Returns the bytes of a sample in this format; 0 for a format that is not supported. */
size_t segy_sample_size(int format);

/* Can a sample be NaN in this format? */
bool segy_has_nan(int format);

/*
 * Convert n samples from, and to, a supported format. little: the byte order of the file. An encoded sample is the nearest one
 * of the format; NaN becomes 0 where the format has none.
 */
void segy_decode(int format, bool little, size_t n, float *to, const unsigned char *from);
void segy_encode(int format, bool little, size_t n, unsigned char *to, const float *from);

enum { SEGY_LEAD = 3600 };

/* Words of the binary header, two bytes each where nothing else is said, by their offset in the file. */
enum {
	SEGY_AT_INTERVAL = 3216,
	SEGY_AT_SAMPLES = 3220,
	SEGY_AT_FORMAT = 3224,
	SEGY_AT_SORTING = 3228,
	SEGY_AT_LONG_SAMPLES = 3268, /* four bytes, of revision 2 */
	SEGY_AT_REVISION = 3500,
	SEGY_AT_FIXED = 3502,
	SEGY_AT_TEXTS = 3504,
	/* Four bytes in revision 2.0, of which some writers use the first two; two bytes from 2.1 on. */
	SEGY_AT_MORE_HEADS = 3506
};

struct segy {
	struct traces traces;
	int format;
	unsigned char *lead; /* owned: everything before the first trace */
	size_t nlead;
};

/* Opens path (NULL or "-": stdin) and reads up to the first trace. Dies as traces.h says. */
void segy_open_traces(struct segy *s, const char *path, enum trace_order order, bool dt_given);
void segy_close_traces(struct segy *s);

#endif
