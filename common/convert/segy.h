/*
 * SEG-Y files of revisions 0 to 2. A file has 3200 bytes of text header, 400 bytes of binary header, further text headers of
 * 3200 bytes each, and then traces as in traces.h. Both byte orders are read. Where the file has -1 for the number of further
 * text headers, the last one begins with ((SEG: EndText)).
 */
#ifndef WEIR_CONVERT_SEGY_H
#define WEIR_CONVERT_SEGY_H

#include "common/convert/segysample.h"
#include "common/convert/traces.h"

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

/* A word of two bytes in the first further header of a trace: how many there are, or 0. */
enum { SEGY_MORE_HEADS = TRACE_HEAD + 156 };

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
