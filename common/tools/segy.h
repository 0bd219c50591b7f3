/*
 * SEG-Y files of revision 0 and 1. A file has 3200 bytes of text header, 400 bytes of binary header, further text headers of
 * 3200 bytes each, and then traces as in traces.h. libsegyio converts the samples. Both byte orders are read.
 */
#ifndef TOOLS_SEGY_H
#define TOOLS_SEGY_H

#include "common/tools/traces.h"

enum { SEGY_LEAD = 3600 };

/* Words of the binary header, two bytes each, by their offset in the file. */
enum {
	SEGY_AT_INTERVAL = 3216,
	SEGY_AT_SAMPLES = 3220,
	SEGY_AT_FORMAT = 3224,
	SEGY_AT_SORTING = 3228,
	SEGY_AT_REVISION = 3500,
	SEGY_AT_FIXED = 3502,
	SEGY_AT_TEXTS = 3504
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

/* Bytes of a sample in this format; 0 for a format that is not supported. */
size_t segy_sample_size(int format);

/* Convert n samples from, and to, a format. swap: the file is not in this machine's byte order. */
void segy_decode(int format, bool swap, size_t n, float *to, const unsigned char *from);
void segy_encode(int format, bool swap, size_t n, unsigned char *to, const float *from);

#endif
