/*
 * SEG-Y files (rev 0 and 1): 3200 bytes of text, 400 of binary header, further texts of 3200, then traces as in traces.h.
 * libsegyio knows the formats of samples and converts them; both byte orders are read.
 */
#ifndef TOOLS_SEGY_H
#define TOOLS_SEGY_H

#include "common/tools/traces.h"

enum { SEGY_LEAD = 3600 };

/* Offsets in the file of two-byte words of the binary header. */
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

/* n samples in a format and byte order, from and to floats. size: bytes of a sample, 0 for a format we lack. */
size_t segy_sample_size(int format);
void segy_decode(int format, bool swap, size_t n, float *to, const unsigned char *from);
void segy_encode(int format, bool swap, size_t n, unsigned char *to, const float *from);

#endif
