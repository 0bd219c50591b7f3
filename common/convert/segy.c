#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/convert/traces.h"
#include "common/stream/foreign.h"

/* A word of two bytes in the first further header of a trace: how many there are, or 0. */
enum { SEGY_MORE_HEADS = TRACE_HEAD + 156 };

/* The largest numbers of further text headers, and of further headers of a trace, and the bytes of a text header. */
enum { TEXTS = 300, MOREHEADS = 100, TEXT = 3200 };

/* The right byte order is the one in which the format's number is known. */
static bool
is_little(const unsigned char *lead)
{
	return !segy_sample_size(trace_word(lead + SEGY_AT_FORMAT, 2, false)) &&
	       segy_sample_size(trace_word(lead + SEGY_AT_FORMAT, 2, true));
}

/* Revision 2 allows more than 240 bytes of header for a trace, and more than 65535 samples. */
static void
read_second_revision(struct traces *t, const unsigned char *lead)
{
	const uint32_t ns = (uint32_t)trace_word(lead + SEGY_AT_LONG_SAMPLES, 4, t->little);
	const unsigned char *at = lead + SEGY_AT_MORE_HEADS;
	int32_t more = trace_word(at, 2, t->little);

	if (!more && !lead[SEGY_AT_REVISION + 1])
		more = trace_word(at, 4, t->little);
	if (more < 0 || more > MOREHEADS)
		die("%s: %d further headers of a trace: up to %d are read", t->name, more,
		    MOREHEADS);
	t->head += (size_t)more * TRACE_HEAD;
	if (ns > TRACE_MAXNS)
		die("%s: %u samples a trace: up to %d are read", t->name, ns, TRACE_MAXNS);
	if (ns)
		t->ns = ns;
}

/* Does a text header begin with ((SEG: EndText)), in ASCII or EBCDIC, in any case and with any blanks? */
static bool
ends_texts(const unsigned char *text)
{
	static const unsigned char want[2][16] = {"((SEG:ENDTEXT))",
						  "MM\xe2\xc5\xc7z\xc5\xd5\xc4\xe3\xc5\xe7\xe3]]"};

	for (int ebcdic = 0; ebcdic < 2; ebcdic++) {
		size_t n = 0;
		for (size_t i = 0; i < 80 && want[ebcdic][n]; i++) {
			int c = text[i];
			if (!ebcdic)
				c = toupper(c);
			else if (c >= 0x80)
				c |= 0x40; /* capitals have one bit more than small letters */
			if (c != (ebcdic ? 0x40 : ' ') && c != want[ebcdic][n])
				break;
			n += c == want[ebcdic][n];
		}
		if (!want[ebcdic][n])
			return true;
	}
	return false;
}

/* Sets t->nlead to the end of the last text header, of files that do not state their number. */
static void
find_last_text(struct traces *t)
{
	const unsigned char *lead;
	size_t got;

	for (int i = 0; i < TEXTS; i++) {
		t->nlead += TEXT;
		lead = traces_look(t, t->nlead, &got);
		if (got < t->nlead)
			break;
		if (ends_texts(lead + t->nlead - TEXT))
			return;
	}
	die("%s: -1 further text headers, and no ((SEG: EndText)) among the first %d", t->name,
	    TEXTS);
}

static void
read_binary(struct traces *t, const unsigned char *lead)
{
	const int revision = lead[SEGY_AT_REVISION];
	size_t got;
	int texts;

	t->little = is_little(lead);
	t->format = trace_word(lead + SEGY_AT_FORMAT, 2, t->little);
	t->sample = segy_sample_size(t->format);
	if (!t->sample) {
		const unsigned char *first = traces_look(t, FOREIGN_MOST, &got);

		/* Traces of SU may be longer than the headers of SEG-Y. */
		traces_refuse_foreign(t, first, got, "SEG-Y");
		die("%s: sample format %d is none of 1 (IBM), 5, 6 (IEEE), 2, 3, 7 to 12, 15, 16 "
		    "(integers)",
		    t->name, t->format);
	}
	t->ns = trace_ushort(lead + SEGY_AT_SAMPLES, t->little);
	t->dt = trace_ushort(lead + SEGY_AT_INTERVAL, t->little);
	t->scaled_times = revision == 1 || revision == 2;
	if (revision == 2)
		read_second_revision(t, lead);
	texts = trace_word(lead + SEGY_AT_TEXTS, 2, t->little);
	if (texts < -1 || texts > TEXTS)
		die("%s: %d further text headers: up to %d are read", t->name, texts, TEXTS);
	t->nlead = SEGY_LEAD;
	if (texts < 0)
		find_last_text(t);
	else
		t->nlead += (size_t)texts * TEXT;
}

static void
read_lead(struct traces *t)
{
	const unsigned char *lead;
	size_t got;

	/* Few bytes tell most formats, so that a pipe need not have more of them; SU takes two traces. */
	lead = traces_look(t, FOREIGN_MAGIC, &got);
	if (!got)
		die("%s: empty input", t->name);
	traces_refuse_foreign(t, lead, got, "SEG-Y");
	lead = traces_look(t, SEGY_LEAD, &got);
	traces_refuse_foreign(t, lead, got, "SEG-Y");
	if (got < SEGY_LEAD)
		die("%s: %zu bytes are no SEG-Y file: its headers alone have 3600", t->name, got);
	read_binary(t, lead);
	lead = traces_look(t, t->nlead, &got);
	if (got < t->nlead)
		die("%s: %zu bytes: the headers alone have %zu", t->name, got, t->nlead);
	t->lead = weir_xalloc(t->nlead, 1);
	memcpy(t->lead, lead, t->nlead);
	traces_skip(t, t->nlead);
}

/* The binary header states the largest number of further headers. A trace with fewer would make records of many lengths. */
static void
check_more_heads(const struct traces *t, const unsigned char *head)
{
	const int more = (int)(t->head / TRACE_HEAD) - 1,
		  stated = trace_word(head + SEGY_MORE_HEADS, 2, t->little);

	if (stated && stated != more)
		die("%s: trace 1: %d further headers, and the binary header has %d", t->name,
		    stated, more);
}

/*
 * Finds ns and dt from the binary header and the first trace. Files whose traces have been cut often keep the old ns in one of
 * the two; the right one leads to the next header.
 */
static void
find_samples(struct traces *t, bool dt_given)
{
	size_t got;
	const unsigned char *head = traces_look(t, t->head, &got);

	if (got < t->head)
		die("%s: no trace after the headers", t->name);
	if (t->head > TRACE_HEAD)
		check_more_heads(t, head);
	t->stated = trace_ushort(head + TRACE_NS, t->little);
	if (!t->dt)
		t->dt = trace_ushort(head + TRACE_DT, t->little);
	if (!t->ns && !t->stated)
		die("%s: ns is 0", t->name);
	if (dt_given)
		t->dt = 0;
	else
		traces_check_dt(t, "");
	if (!t->stated || t->stated == t->ns) {
		t->stated = (unsigned)t->ns;
		return;
	}
	const bool binary = t->ns && traces_fit(t, t->ns), trace = traces_fit(t, t->stated);
	if (t->ns && binary == trace)
		die("%s: ns is %zu in the binary header and %u in the first trace, and %s", t->name,
		    t->ns, t->stated, trace ? "both fit" : "neither fits");
	if (!binary)
		t->ns = t->stated;
}

void
traces_open_segy(struct traces *t, const char *path, bool dt_given)
{
	traces_open(t, path);
	t->lax = true;
	read_lead(t);
	find_samples(t, dt_given);
}
