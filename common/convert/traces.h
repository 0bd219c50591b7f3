/*
 * Files of seismic traces, SU and SEG-Y of revisions 0 to 2, for the converters. A file is a sequence of records of one length:
 *
 *	240 bytes of header | further headers | ns samples
 *
 * An SU file has nothing else; its samples are IEEE floats. A SEG-Y file begins with 3200 bytes of text header, 400 bytes of
 * binary header and further text headers of 3200 bytes each; where it has -1 for their number, the last one begins with
 * ((SEG: EndText)). Only SEG-Y of revision 2 has further headers of a trace, a first trace that begins later, and trailers of
 * 3200 bytes behind the last trace. The whole file has one byte order, which it does not name. Consecutive traces with the same
 * value of a header word, the key, are a gather.
 *
 * All functions but those of samples and words die on an error, with a line that names the file and the trace (from 1).
 */
#ifndef WEIR_CONVERT_TRACES_H
#define WEIR_CONVERT_TRACES_H

#include <stdio.h>

#include "common/base/sample.h"
#include "common/stream/raw.h"

/* --- samples: pure ------------------------------------------------------------------------------------------------ */

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

/* What tells IBM floats from IEEE floats: the samples that are not 0, by four bits of theirs and by the exponent of 16. */
struct segy_digits {
	size_t digit[16], exponent[128], n;
};

/* Counts n samples of four bytes. */
void segy_count(struct segy_digits *d, bool little, size_t n, const unsigned char *from);

/*
 * Returns SEGY_IBM or SEGY_IEEE when the samples are of that format and not of the other; 0: either may be right.
 *
 * The first hexadecimal digit of a normalised IBM float is never 0, and is 1 as often as 8 to 15 together where numbers are
 * spread evenly over some orders of magnitude. The same four bits of an IEEE float are the last one of its exponent and the
 * first three after its hidden 1.
 */
int segy_seems(const struct segy_digits *d);

/* --- words of headers --------------------------------------------------------------------------------------------- */

enum { TRACE_HEAD = 240, TRACE_MAXNS = 65535 };

/*
 * By their offset from the start of the header. trid, scalco, counit, delrt, ns, dt and scalet have two bytes, the others
 * four.
 */
enum {
	TRACE_TRACL = 0,
	TRACE_TRACR = 4,
	TRACE_CDP = 20,
	TRACE_CDPT = 24,
	TRACE_TRID = 28,
	TRACE_OFFSET = 36,
	TRACE_SCALCO = 70, /* the factor of coordinates; below 0: their divisor; 0: none */
	TRACE_SX = 72,	   /* sy, gx and gy follow */
	TRACE_COUNIT = 88, /* 2 and more: coordinates are angles */
	TRACE_DELRT = 108, /* ms, signed */
	TRACE_NS = 114,	   /* unsigned */
	TRACE_DT = 116,	   /* us, unsigned */
	TRACE_SCALET = 214 /* SEG-Y, revision 1 and 2: the factor of times, as TRACE_SCALCO */
};

enum { SEGY_LEAD = 3600 };

/* Words of SEG-Y's binary header, two bytes each where nothing else is said, by their offset in the file. */
enum {
	SEGY_AT_INTERVAL = 3216,
	SEGY_AT_SAMPLES = 3220,
	SEGY_AT_FORMAT = 3224,
	SEGY_AT_SORTING = 3228,
	SEGY_AT_LONG_SAMPLES = 3268,  /* four bytes, of revision 2 */
	SEGY_AT_LONG_INTERVAL = 3272, /* an IEEE float of eight bytes, of revision 2 */
	SEGY_AT_REVISION = 3500,
	SEGY_AT_FIXED = 3502,
	SEGY_AT_TEXTS = 3504,
	/* Four bytes in revision 2.0, of which some writers use the first two; two bytes from 2.1 on. */
	SEGY_AT_MORE_HEADS = 3506,
	SEGY_AT_FIRST =
	    3520, /* eight bytes, of revision 2: where the first trace begins; 0: nowhere else */
	SEGY_AT_TRAILERS = 3528 /* four bytes, of revision 2: trailers of 3200 bytes; -1: some */
};

/* States ns in the file headers, in the word of revision 2 where the other is too short. Files of before are left without it. */
static inline void
segy_set_samples(unsigned char *lead, bool little, size_t ns)
{
	bytes_store(lead + SEGY_AT_SAMPLES, 2, little, ns > TRACE_MAXNS ? 0 : ns);
	if (lead[SEGY_AT_REVISION] == 2)
		bytes_store(lead + SEGY_AT_LONG_SAMPLES, 4, little, ns > TRACE_MAXNS ? ns : 0);
}

/* The integer of two bytes without a sign, and that of two or four bytes with one. */
static inline unsigned
trace_ushort(const unsigned char *at, bool little)
{
	return (unsigned)bytes_load(at, 2, little);
}

static inline int32_t
trace_word(const unsigned char *at, size_t bytes, bool little)
{
	const uint32_t v = (uint32_t)bytes_load(at, bytes, little);

	return bytes == 2 ? (int16_t)v : (int32_t)v;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

struct traces {
	FILE *f;
	const char *name;
	bool little;	   /* the byte order of the file */
	size_t ns;	   /* samples of every trace */
	double step;	   /* us between samples, as the headers say */
	unsigned dt;	   /* the same as every trace states it; 0: no header's dt is looked at */
	bool fixed;	   /* the binary header's dt counts, whatever a trace says */
	size_t head;	   /* bytes of a trace's headers, TRACE_HEAD or more */
	int format;	   /* of samples */
	size_t sample;	   /* bytes of a sample */
	unsigned stated;   /* ns as the trace headers state it; 0: it is not looked at */
	bool lax;	   /* ns and dt of a trace header may be 0 (SEG-Y) */
	bool scaled_times; /* the word TRACE_SCALET holds the factor of delrt */
	int trailers;	   /* what SEGY_AT_TRAILERS says */
	bool warned_dt, warned_offset, warned_delay;
	bool doubted; /* whether the samples are of the stated format is known, or not asked */
	struct segy_digits digits;
	unsigned char *lead; /* owned: what a SEG-Y file has before the first trace */
	size_t nlead;
	size_t trace;	/* number of the record that traces_peek() returns, from 1 */
	uint64_t bytes; /* consumed so far */

	unsigned char *buf; /* owned, of room bytes; the unread ones are buf[at..at+have) */
	size_t at, have, room;
	size_t chunk; /* the most bytes that are read at once; it doubles until a seek */
	size_t skim;  /* not 0: only headers are looked at, and the file has so many bytes left */

	/* The records in the order of traces_sort(), and how many of them have been taken. Owned; NULL: that of the file. */
	struct traces_row *row;
	size_t nrow, taken;
};

/* The keys of a record, by which records are sorted, and its number. */
enum { TRACES_SORTS = 4 };
struct traces_row {
	int32_t key[TRACES_SORTS];
	size_t trace;
};

/* What --sort says: the keys, and which of them descend. */
struct traces_sort {
	const char *text; /* NULL: not given */
	int key[TRACES_SORTS];
	bool down[TRACES_SORTS];
	size_t n;
};

struct traces_args {
	struct opt_common common;
	/* key and format: the index of a word, or -1, where key is the first of --sort, or cdp; ns 0: that of the headers */
	int key, format, ns;
	struct traces_sort sort;
	double dt, delay;
	bool dt_given, delay_given;
	bool heads; /* the file is opened for its headers alone */
};

/*
 * Open path (NULL or "-": stdin), find byte order, ns and dt, and read up to the first trace. When dt or ns is given, no header's
 * is looked at; otherwise a dt of 0 is an error. An empty file is an error.
 */
void traces_open_su(struct traces *t, const char *path, const struct traces_args *args);
void traces_open_segy(struct traces *t, const char *path, const struct traces_args *args);

/*
 * Returns the next n bytes without consuming them. Sets *got to the bytes that there are: fewer than n at the end of the file.
 */
const unsigned char *traces_look(struct traces *t, size_t n, size_t *got);

/* Consumes n bytes that traces_look() has returned. */
void traces_skip(struct traces *t, size_t n);

/* Returns the next whole record, which is valid until the next call; NULL behind the last trace. */
const unsigned char *traces_peek(struct traces *t);

/* Goes on to the next record. */
void traces_take(struct traces *t);

/*
 * Reads all headers and puts the records in the order of these keys, those of equal keys in the order of the file. traces_peek()
 * and traces_take() go by it then. The file must be a regular one; its samples are not read where traces are long.
 */
void traces_sort(struct traces *t, const struct traces_sort *sort);

/* Goes to the record of that number. */
void traces_seek(struct traces *t, size_t trace);

/* Has the system read that record, which will be looked at after at most TRACES_AHEAD others. */
enum { TRACES_AHEAD = 32 };
void traces_expect(struct traces *t, double trace);

/* x times the scale; a scale below 0 is a divisor, and 0 is none. */
double traces_scaled(double x, int32_t scale);

/* The delay of the record r, and a time of its header words, in ms. */
double traces_delay(const struct traces *t, const unsigned char *r);
double traces_ms(const struct traces *t, const unsigned char *r, double time);

void traces_close(struct traces *t); /* accepts a zeroed struct */

/* --- the programs ------------------------------------------------------------------------------------------------- */

/* The options of segytoraw; those from TRACES_OF_SU on are sutoraw's. */
enum { TRACES_OF_SU = 1 };
extern const struct opt traces_table[];

/* Sets the name of a header word that can be the key of gathers, and returns its place; none, the first one, has -1. */
enum { TRACES_KEYS = 15, TRACES_KEY_NAME = 8 };
int traces_key(int key, char name[TRACES_KEY_NAME]);

/* All of sutoraw and of segytoraw: writes the gathers of a file, which `open` opens, as items `t trace`. */
int traces_to_raw(const struct opt_program *program, int argc, char **argv,
		  void (*open)(struct traces *t, const char *path, const struct traces_args *args));

/* How records are written: the arguments of rawtosegy and rawtosu. */
struct traces_sink {
	struct opt_common common;
	/* The file to copy all headers from, byte order and format, too; NULL: headers are made. open() opens it. */
	const char *path;
	int ns; /* of that file, whatever its headers say; 0: as they say */
	bool
	    sorted; /* traces that traces_sort() has sorted stay so, and do not return to the order of that file */
	void (*open)(struct traces *t, const char *path, const struct traces_args *args);
	const char *own; /* the option that says byte order or format without it */
	int word;	 /* what it says: 0 big or IEEE, 1 little or IBM; -1: it is not given */
	bool little;
	int format;
	/* Makes the file headers, before the first trace, of ns samples; dt is in us. NULL: there are none. */
	void (*lead)(const struct traces_sink *s, struct raw_out *out, size_t ns, unsigned dt);
	struct traces *headers; /* of traces_from_raw() */
};

/* All of rawtosu and of rawtosegy: writes all traces of raw items as records. */
int
traces_from_raw(struct traces_sink *s, const struct opt_program *program, int argc, char **argv);

#endif
