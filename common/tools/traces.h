/*
 * Files of seismic traces, SU and SEG-Y, for the converters. A file is a sequence of records of one length,
 *
 *	240 bytes of header | ns samples of `sample` bytes
 *
 * after the `lead` bytes of a SEG-Y file's own headers (SU: none). All of it is in one byte order, which nothing in the file
 * names: it is the one in which ns and dt make sense. Consecutive traces with the same value of a header word, the key,
 * are a gather.
 *
 * Everything here dies with a line that names the file and the trace (from 1).
 */
#ifndef TOOLS_TRACES_H
#define TOOLS_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/img.h"
#include "common/opt.h"

enum { TRACE_HEAD = 240, TRACE_MAXNS = 65535 };

/* Header words: offset from the start of the header, from 0. ns, dt and delrt have two bytes, these others four. */
enum {
	TRACE_TRACL = 0,
	TRACE_TRACR = 4,
	TRACE_CDP = 20,
	TRACE_CDPT = 24,
	TRACE_TRID = 28, /* two bytes */
	TRACE_OFFSET = 36,
	TRACE_DELRT = 108, /* ms, signed */
	TRACE_NS = 114,	   /* unsigned */
	TRACE_DT = 116	   /* us, unsigned */
};

enum trace_order { TRACE_DETECT = -1, TRACE_BIG, TRACE_LITTLE };
#define TRACE_ORDERS "big|little"

/* Is a file in this order not in this machine's? */
bool traces_swapped(enum trace_order order);

/* The words a gather may be made by, as an option lists them, and the offset of the nth; "none" is -1: all one gather. */
#define TRACE_KEYS "none|tracl|tracr|fldr|tracf|ep|cdp|cdpt|offset|sx|sy|gx|gy|iline|xline"
enum { TRACE_KEY_NONE, TRACE_KEY_CDP = 6 };

struct traces {
	FILE *f;
	const char *name;
	bool swap;	/* the file is not in this machine's byte order */
	size_t ns;	/* samples of every trace */
	unsigned dt;	/* us; 0: unknown, and not looked at */
	size_t sample;	/* bytes a sample */
	bool lax;	/* ns and dt of a trace header may be 0 (SEG-Y) */
	size_t trace;	/* the number of the record that traces_peek shows, from 1 */
	uint64_t bytes; /* used so far */

	unsigned char *buf; /* owned; the unread bytes are buf[at..at+have) */
	size_t at, have;
};

/* A word of a header in the byte order of the file: signed, or unsigned 16 bits. */
int32_t trace_word(const unsigned char *at, size_t bytes, bool swap);
unsigned trace_ushort(const unsigned char *at, bool swap);
void trace_set(unsigned char *at, size_t bytes, long value, bool swap);

/* Opens path; NULL or "-" is stdin. Nothing is known of the records yet. */
void traces_open(struct traces *t, const char *path);

/* Shows the next n bytes without using them up; fewer at the end of the file, *got says. n <= 1 MiB. Then uses n up. */
const unsigned char *traces_look(struct traces *t, size_t n, size_t *got);
void traces_skip(struct traces *t, size_t n);

/*
 * Sets byte order, ns and dt of an SU file from its first traces. order: as the user says, or TRACE_DETECT. dt is 0 in no
 * trace unless dt_given. An empty file is an error.
 */
void traces_open_su(struct traces *t, const char *path, enum trace_order order, bool dt_given);

/* The next record, whole, valid until the next call; NULL at the end. traces_take() goes to the one after. */
const unsigned char *traces_peek(struct traces *t);
void traces_take(struct traces *t);

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
 * All gathers of t as items `t trace`, to the output that args names. decode makes t->ns floats of the samples of a
 * record.
 */
void traces_to_raw(struct traces *t, const struct traces_args *args,
		   void (*decode)(const struct traces *t, float *to, const unsigned char *from));

/* --- from raw ----------------------------------------------------------------------------------------------------- */

/* Where records go: after `lead` bytes, each is a header and the samples as encode() makes them. */
struct traces_sink {
	struct traces
	    *headers; /* the file whose headers are to be taken over; NULL: they are made up */
	bool swap;
	size_t sample;
	void (*encode)(const struct traces_sink *s, unsigned char *to, const float *from, size_t n);
	int format; /* encode's own */
	/* Called before the first trace with its number of samples and dt in us (0: unknown). NULL: nothing to do. */
	void (*lead)(const struct traces_sink *s, struct raw_out *out, size_t ns, unsigned dt);
};

/* All traces of the raw items of path (NULL: stdin) as records, to the output that o names. */
void traces_from_raw(const struct traces_sink *s, const char *path, const struct opt_common *o);

#endif
