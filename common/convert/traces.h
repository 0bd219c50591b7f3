/*
 * Files of seismic traces, SU and SEG-Y, for the converters. A file is a sequence of records of one length:
 *
 *	240 bytes of header | further headers | ns samples of `sample` bytes
 *
 * A SEG-Y file begins with file headers; an SU file has none. Only SEG-Y of revision 2 has further headers of a trace. The
 * whole file has one byte order, which it does not name: it is the order in which ns and dt are plausible. Consecutive traces
 * with the same value of a header word, the key, are a gather.
 *
 * All functions die on an error, with a line that names the file and the trace (from 1).
 */
#ifndef WEIR_CONVERT_TRACES_H
#define WEIR_CONVERT_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/opt.h"
#include "common/stream/img.h"

enum { TRACE_HEAD = 240, TRACE_MAXNS = 65535 };

/*
 * Header words, by their offset from the start of the header. trid, scalco, counit, delrt, ns, dt and scalet have two bytes,
 * the others four.
 */
enum {
	TRACE_TRACL = 0,
	TRACE_TRACR = 4,
	TRACE_CDP = 20,
	TRACE_CDPT = 24,
	TRACE_TRID = 28, /* two bytes */
	TRACE_OFFSET = 36,
	TRACE_SCALCO = 70, /* the factor of coordinates; below 0: their divisor; 0: none */
	TRACE_SX = 72,
	TRACE_SY = 76,
	TRACE_GX = 80,
	TRACE_GY = 84,
	TRACE_COUNIT = 88, /* 2 and more: coordinates are angles */
	TRACE_DELRT = 108, /* ms, signed */
	TRACE_NS = 114,	   /* unsigned */
	TRACE_DT = 116,	   /* us, unsigned */
	TRACE_SCALET = 214 /* SEG-Y, revision 1 and 2: the factor of times, as TRACE_SCALCO */
};

enum trace_order { TRACE_DETECT = -1, TRACE_BIG, TRACE_LITTLE };
#define TRACE_ORDERS "big|little"

/* Whether this byte order differs from this machine's. */
bool traces_swapped(enum trace_order order);

/* The header words that can be the key, as an option lists them. With "none" all traces are one gather. */
#define TRACE_KEYS "none|tracl|tracr|fldr|tracf|ep|cdp|cdpt|offset|sx|sy|gx|gy|iline|xline"
enum { TRACE_KEY_NONE, TRACE_KEY_CDP = 6 };

struct traces {
	FILE *f;
	const char *name;
	bool swap;	   /* the file is not in this machine's byte order */
	size_t ns;	   /* samples of every trace */
	unsigned dt;	   /* us; 0: no header's dt is looked at */
	size_t head;	   /* bytes of a trace's headers, TRACE_HEAD or more */
	size_t sample;	   /* bytes of a sample */
	unsigned stated;   /* ns as the trace headers state it */
	bool lax;	   /* ns and dt of a trace header may be 0 (SEG-Y) */
	bool scaled_times; /* the word TRACE_SCALET holds the factor of delrt */
	size_t trace;	   /* number of the record that traces_peek() returns, from 1 */
	uint64_t bytes;	   /* consumed so far */

	unsigned char *buf; /* owned; the unread bytes are buf[at..at+have) */
	size_t at, have;
};

/* Read and write a word of a header in the byte order of the file. trace_ushort() reads 16 bits without a sign. */
int32_t trace_word(const unsigned char *at, size_t bytes, bool swap);
unsigned trace_ushort(const unsigned char *at, bool swap);
void trace_set(unsigned char *at, size_t bytes, long value, bool swap);

/* Opens path; NULL or "-" is stdin. It reads nothing yet: byte order, ns and dt are still unknown. */
void traces_open(struct traces *t, const char *path);

/*
 * Returns the next n bytes without consuming them, n <= 1 MiB. Sets *got to the bytes that there are: fewer than n at the end
 * of the file.
 */
const unsigned char *traces_look(struct traces *t, size_t n, size_t *got);

/* Consumes n bytes that traces_look() has returned. */
void traces_skip(struct traces *t, size_t n);

/*
 * Dies when the n bytes that the file begins with are those of a format that foreign_what() knows. wants: the format that is
 * read. A program that writes traces reads files for its --headers alone, and its message says so.
 */
void traces_refuse_foreign(const struct traces *t, const void *first, size_t n, const char *wants);

/*
 * Dies when t->dt is 0 or negative. dt is an unsigned number, since there are SEG-Y files with 40000 us, which SEG-Y's signed
 * numbers do not hold. Above 32767, what is a multiple of 250 us as a negative number counts as negative: -4000 is 61536
 * unsigned, which nobody records. where: "", or "trace 1: ".
 */
void traces_check_dt(const struct traces *t, const char *where);

/*
 * Opens an SU file and sets byte order, ns and dt from its first trace. order: the user's choice, or TRACE_DETECT. dt_given:
 * the user gives dt, and no header's is looked at; otherwise a dt of 0 is an error. An empty file is an error.
 */
void traces_open_su(struct traces *t, const char *path, enum trace_order order, bool dt_given);

void traces_close(struct traces *t);

/* --- to raw ------------------------------------------------------------------------------------------------------- */

struct traces_args {
	struct opt_common common;
	int key, order;
	double dt;
	bool dt_given;
};

extern const struct opt traces_table[];

/*
 * Writes all gathers of t as items `t trace` to the output that args names. decode() converts the samples of a record to
 * t->ns floats.
 */
void traces_to_raw(struct traces *t, const struct traces_args *args,
		   void (*decode)(const struct traces *t, float *to, const unsigned char *from));

/* --- from raw ----------------------------------------------------------------------------------------------------- */

/* How records are written: each is a header and the samples that encode() makes. */
struct traces_sink {
	/* The file to copy the headers from. NULL: headers are made from the items. */
	struct traces *headers;
	bool swap;
	size_t sample;
	void (*encode)(const struct traces_sink *s, unsigned char *to, const float *from, size_t n);
	/*
	 * Decodes what encode() has written. A sample that equals the one of `headers` keeps its bytes there. NULL: each float
	 * has one form.
	 */
	void (*decode)(const struct traces_sink *s, float *to, const unsigned char *from, size_t n);
	bool no_nan; /* the format has no NaN */
	int format;  /* for encode() and decode() */
	/* Writes the file headers before the first trace of ns samples; dt is in us, 0 when unknown. NULL: there are none. */
	void (*lead)(const struct traces_sink *s, struct raw_out *out, size_t ns, unsigned dt);
};

/* Writes all traces of the raw items of path (NULL: stdin) as records to the output that o names. */
void traces_from_raw(const struct traces_sink *s, const char *path, const struct opt_common *o);

#endif
