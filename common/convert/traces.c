#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/convert/traces.h"
#include "common/stream/axes.h"
#include "common/stream/formats.h"
#include "common/stream/tempfile.h"

/* Bytes of the read buffer, which grows with longer traces. Trailers and what stands before the first trace have no more. */
enum { ROOM = 2 << 20 };

/* So many bytes are read rather than passed over by a seek. */
enum { NEAR = 1 << 16 };

/* --- bytes ------------------------------------------------------------------------------------------------------ */

/* Opens path. It reads nothing yet. */
static void
traces_open(struct traces *t, const char *path)
{
	*t = (struct traces){.f = file_open(path),
			     .name = file_name(path),
			     .head = TRACE_HEAD,
			     .format = SEGY_IEEE,
			     .sample = 4,
			     .trace = 1,
			     .room = ROOM,
			     .chunk = ROOM};
	t->buf = weir_xalloc(ROOM, 1);
}

/* Adds to the buffer what has arrived, without waiting for more. Gathers go out before it waits. False: the end of the file. */
static bool
fill(struct traces *t)
{
	ssize_t n;

	file_flush_when_idle(t->f);
	if (t->have == t->room)
		t->buf = weir_xgrow(t->buf, &t->room, t->have + 1, 1);
	const size_t room = t->room - t->have;
	do
		n = read(fileno(t->f), t->buf + t->have, room < t->chunk ? room : t->chunk);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		die("%s: %s", t->name, strerror(errno));
	if (t->chunk < ROOM)
		t->chunk *= 2;
	t->have += (size_t)n;
	return n > 0;
}

const unsigned char *
traces_look(struct traces *t, size_t n, size_t *got)
{
	if (t->have < n) {
		memmove(t->buf, t->buf + t->at, t->have);
		t->at = 0;
		while (t->have < n && fill(t))
			;
	}
	*got = t->have < n ? t->have : n;
	return t->buf + t->at;
}

void
traces_skip(struct traces *t, size_t n)
{
	t->at += n;
	t->have -= n;
	t->bytes += n;
}

/* Whether the first trace, if it has ns samples, ends at the end of the file, or before a header that states the same ns and dt. */
static bool
traces_fit(struct traces *t, size_t ns)
{
	const size_t record = t->head + ns * t->sample;
	size_t got;
	const unsigned char *first = traces_look(t, record + TRACE_HEAD, &got);

	return got == record || (got == record + TRACE_HEAD &&
				 !memcmp(first + TRACE_NS, first + record + TRACE_NS, 4));
}

void
traces_close(struct traces *t)
{
	if (t->f && t->f != stdin)
		fclose(t->f);
	weir_free_all(t->buf, t->lead, t->row);
	*t = (struct traces){0};
}

/* --- byte order --------------------------------------------------------------------------------------------------- */

/* What the first header says in one byte order. */
struct guess {
	unsigned ns, dt;

	/* The record ends at the end of the file, or before a header with the same ns and dt. */
	bool fits;
};

/*
 * Whether a is likelier than b. When both or neither fit, small numbers decide: a dt above 32.767 ms and more than 32767
 * samples are rare.
 */
static bool
likelier(struct guess a, struct guess b)
{
	const int na = (a.ns > 0) + (a.ns <= INT16_MAX) + (a.dt <= INT16_MAX),
		  nb = (b.ns > 0) + (b.ns <= INT16_MAX) + (b.dt <= INT16_MAX);

	if (a.fits != b.fits)
		return a.fits;
	if (na != nb)
		return na > nb;
	return a.dt < b.dt;
}

/*
 * Makes the guesses of both byte orders, g[1] of the little-endian one. The shorter record comes first. When it fits and is the
 * likelier one anyway, the other is not tried: a pipe may not have its bytes before the reader has its first gather.
 */
static void
make_guesses(struct traces *t, const unsigned char *first, struct guess g[2])
{
	for (int i = 0; i < 2; i++)
		g[i] = (struct guess){trace_ushort(first + TRACE_NS, i),
				      trace_ushort(first + TRACE_DT, i), false};
	const int a = g[1].ns < g[0].ns, b = !a;

	g[a].fits = g[a].ns && traces_fit(t, g[a].ns);
	struct guess other = g[b];
	other.fits = true;
	if (!g[a].fits || !likelier(g[a], other))
		g[b].fits = g[b].ns && traces_fit(t, g[b].ns);
}

/*
 * Dies when the n bytes that the file begins with are those of a format that foreign_what() knows. wants: the format that is
 * read. A program that writes traces reads files for its --headers alone, and its message says so.
 */
static void
traces_refuse_foreign(const struct traces *t, const void *first, size_t n, const char *wants)
{
	const char *what = foreign_what(first, n);

	if (what && !strncmp(weir_prog, "rawto", 5))
		die("%s: this is %.*s, and --headers takes %s", t->name, (int)strcspn(what, ";"),
		    what, wants);
	if (what)
		die("%s: this is %s", t->name, what);
}

/*
 * Dies when t->dt is 0 or negative. dt is an unsigned number, since there are SEG-Y files with 40000 us, which SEG-Y's signed
 * numbers do not hold. Above 32767, what is a multiple of 250 us as a negative number counts as negative: -4000 is 61536
 * unsigned, which nobody records. where: "", or "trace 1: ".
 */
static void
traces_check_dt(const struct traces *t, const char *where)
{
	const int below = (int)t->dt - (UINT16_MAX + 1);
	const bool negative = t->dt > INT16_MAX && below % 250 == 0;

	if (!t->dt || negative)
		die("%s: %sdt is %d; give --dt=SECONDS", t->name, where, negative ? below : 0);
}

void
traces_open_su(struct traces *t, const char *path, const struct traces_args *args)
{
	struct guess g[2] = {0};
	size_t got;

	traces_open(t, path);
	const unsigned char *first = traces_look(t, TRACE_HEAD, &got);
	if (!got)
		die("%s: empty input", t->name);
	if (got == TRACE_HEAD) {
		make_guesses(t, first, g);
		first = traces_look(t, FOREIGN_MAGIC, &got);
	}
	/* The number of a trace may have any bytes, so they decide only where no trace follows. */
	if (!g[0].fits && !g[1].fits)
		traces_refuse_foreign(t, first, got, "SU");
	if (got < TRACE_HEAD)
		die("%s: %zu bytes are no trace: its header alone has 240", t->name, got);
	t->little = likelier(g[1], g[0]);
	t->stated = args->ns ? 0 : g[t->little].ns;
	t->ns = args->ns ? (size_t)args->ns : t->stated;
	t->step = t->dt = args->dt_given ? 0 : g[t->little].dt;
	if (!t->ns)
		die("%s: trace 1: ns is 0; give --ns=N", t->name);
	if (!args->dt_given)
		traces_check_dt(t, "trace 1: ");
}

/* --- SEG-Y ------------------------------------------------------------------------------------------------------ */

/* A word of two bytes in the first further header of a trace: how many there are, or 0. */
enum { SEGY_MORE_HEADS = TRACE_HEAD + 156 };

/* What the words of --format stand for. */
static const int format_number[] = {SEGY_IBM, SEGY_IEEE, 6, 8, 3, 7, 2, 9, 16, 11, 15, 10, 12};

/* The largest numbers of further text headers, and of further headers of a trace, and the bytes of a text header. */
enum { TEXTS = 300, MOREHEADS = 100, TEXT = 3200 };

/* Revision 2 allows more than 240 bytes of header for a trace, more than 65535 samples, any dt, and trailers. */
static void
read_second_revision(struct traces *t, const unsigned char *lead, const struct traces_args *args)
{
	const uint32_t ns = (uint32_t)trace_word(lead + SEGY_AT_LONG_SAMPLES, 4, t->little);
	const size_t limit = weir_limit(args->common.max_bytes);
	const unsigned char *at = lead + SEGY_AT_MORE_HEADS;
	int32_t more = trace_word(at, 2, t->little);

	memcpy(&t->step, &(uint64_t){bytes_load(lead + SEGY_AT_LONG_INTERVAL, 8, t->little)}, 8);
	if (t->step != 0 && !args->dt_given && !(t->step > 1e-6 && t->step < 1e9))
		die("%s: bytes 3273 to 3280 say that dt is %g us; give --dt=SECONDS", t->name,
		    real_shown(t->step));
	t->trailers = trace_word(lead + SEGY_AT_TRAILERS, 4, t->little);
	if (t->trailers < -1 || t->trailers > TEXTS)
		die("%s: %d trailers: up to %d are read", t->name, t->trailers, TEXTS);
	if (!more && !lead[SEGY_AT_REVISION + 1])
		more = trace_word(at, 4, t->little);
	if (more < 0 || more > MOREHEADS)
		die("%s: %d further headers of a trace: up to %d are read", t->name, more,
		    MOREHEADS);
	t->head += (size_t)more * TRACE_HEAD;
	if (ns > limit / sizeof(float))
		die("%s: %u samples a trace are larger than %zu bytes; see --ns, --max-bytes",
		    t->name, ns, limit);
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

/*
 * Finds the format of samples and the byte order, which is the one in which the format's number is known, or that of the more
 * usual ns and dt.
 */
static void
find_format(struct traces *t, const unsigned char *lead, const struct traces_args *args)
{
	const bool given = args->format >= 0;
	const int stated = trace_word(lead + SEGY_AT_FORMAT, 2, false),
		  turned = trace_word(lead + SEGY_AT_FORMAT, 2, true);
	struct guess g[2];
	size_t got;

	for (int i = 0; i < 2; i++)
		g[i] = (struct guess){trace_ushort(lead + SEGY_AT_SAMPLES, i),
				      trace_ushort(lead + SEGY_AT_INTERVAL, i), false};
	t->little = !segy_sample_size(stated) && segy_sample_size(turned);
	t->format = t->little ? turned : stated;
	if (!segy_sample_size(t->format)) {
		const unsigned char *first = traces_look(t, FOREIGN_MOST, &got);
		/* Traces of SU may be longer than the headers of SEG-Y. */
		traces_refuse_foreign(t, first, got, "SEG-Y");
		t->little = likelier(g[1], g[0]);
		if (stated && !given)
			die("%s: sample format %d is none of 1 (IBM), 5, 6 (IEEE), 2, 3, 7 to 12, "
			    "15, 16 (integers); see --format",
			    t->name, stated);
		t->format = SEGY_IBM;
		if (!given && !args->heads)
			warn("%s: the sample format is 0, and is taken for IBM floats; see "
			     "--format",
			     t->name);
	}
	if (given)
		t->format = format_number[args->format];
	t->doubted = given || args->heads || (t->format != SEGY_IBM && t->format != SEGY_IEEE);
	t->sample = segy_sample_size(t->format);
}

/*
 * Returns the number of further text headers; -1: unknown. Before revision 1 the word was nobody's: files have blanks there. It
 * does not count where it cannot be, or where the header of a trace with the right ns follows at once.
 */
static int
count_texts(struct traces *t, const unsigned char *lead, bool revised)
{
	const int texts = trace_word(lead + SEGY_AT_TEXTS, 2, t->little);
	const bool can_be = texts >= -1 && texts <= TEXTS;
	size_t got;

	if (!revised && texts) {
		lead = traces_look(t, SEGY_LEAD + TRACE_HEAD, &got);
		if (!can_be || (got == SEGY_LEAD + TRACE_HEAD && t->ns &&
				trace_ushort(lead + SEGY_LEAD + TRACE_NS, t->little) == t->ns))
			return 0;
	}
	if (!can_be)
		die("%s: %d further text headers: up to %d are read", t->name, texts, TEXTS);
	return texts;
}

static void
read_binary(struct traces *t, const unsigned char *lead, const struct traces_args *args)
{
	const int revision = lead[SEGY_AT_REVISION];
	const bool revised = revision == 1 || revision == 2;

	find_format(t, lead, args);
	lead = traces_look(t, SEGY_LEAD, &(size_t){0});
	t->ns = trace_ushort(lead + SEGY_AT_SAMPLES, t->little);
	t->dt = trace_ushort(lead + SEGY_AT_INTERVAL, t->little);
	t->scaled_times = revised;
	t->fixed = revised && t->dt && trace_word(lead + SEGY_AT_FIXED, 2, t->little) == 1;
	if (revision == 2)
		read_second_revision(t, lead, args);
	uint64_t first = revision == 2 ? bytes_load(lead + SEGY_AT_FIRST, 8, t->little) : 0;
	const int texts = count_texts(t, lead, revised);
	t->nlead = SEGY_LEAD + (size_t)(texts > 0 ? texts : 0) * TEXT;
	if (first && (first < t->nlead || first > ROOM))
		die("%s: bytes 3521 to 3528 say that traces begin at byte %ju: the headers have "
		    "%zu, and up to %d are read",
		    t->name, (uintmax_t)first, t->nlead, ROOM);
	if (first)
		t->nlead = first;
	else if (texts < 0)
		find_last_text(t);
}

static void
read_lead(struct traces *t, const struct traces_args *args)
{
	size_t got;

	/* Few bytes tell most formats, so that a pipe need not have more of them; SU takes two traces. */
	const unsigned char *lead = traces_look(t, FOREIGN_MAGIC, &got);
	if (!got)
		die("%s: empty input", t->name);
	traces_refuse_foreign(t, lead, got, "SEG-Y");
	lead = traces_look(t, SEGY_LEAD, &got);
	traces_refuse_foreign(t, lead, got, "SEG-Y");
	if (got < SEGY_LEAD)
		die("%s: %zu bytes are no SEG-Y file: its headers alone have 3600", t->name, got);
	read_binary(t, lead, args);
	lead = traces_look(t, t->nlead, &got);
	if (got < t->nlead)
		die("%s: %zu bytes: the headers alone have %zu", t->name, got, t->nlead);
	t->lead = weir_xalloc(t->nlead, 1);
	memcpy(t->lead, lead, t->nlead);
	traces_skip(t, t->nlead);
}

/*
 * Finds ns and dt from the binary header and the first trace. Files whose traces have been cut often keep the old ns in one of
 * the two; the right one leads to the next header.
 */
static void
find_samples(struct traces *t, const struct traces_args *args)
{
	size_t got;
	const unsigned char *head = traces_look(t, t->head, &got);

	if (got < t->head)
		die("%s: no trace after the headers", t->name);
	/* The binary header states the largest number. A trace with fewer would make records of many lengths. */
	const int more = (int)(t->head / TRACE_HEAD) - 1,
		  own = more ? trace_word(head + SEGY_MORE_HEADS, 2, t->little) : 0;
	if (own && own != more)
		die("%s: trace 1: %d further headers, and the binary header has %d", t->name, own,
		    more);
	t->stated = args->ns ? 0 : trace_ushort(head + TRACE_NS, t->little);
	if (args->ns)
		t->ns = (size_t)args->ns;
	if (!t->dt)
		t->dt = trace_ushort(head + TRACE_DT, t->little);
	if (!t->ns && !t->stated)
		die("%s: ns is 0; give --ns=N", t->name);
	if (args->dt_given || t->step != 0)
		t->dt = 0;
	else
		traces_check_dt(t, "");
	if (t->step == 0)
		t->step = t->dt;
	if (args->ns)
		return;
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
traces_open_segy(struct traces *t, const char *path, const struct traces_args *args)
{
	traces_open(t, path);
	t->lax = true;
	read_lead(t, args);
	find_samples(t, args);
}

/* The header words that can be the key, of four bytes each. With none, all traces are one gather. */
#define WORDS "tracl|tracr|fldr|tracf|ep|cdp|cdpt|offset|sx|sy|gx|gy|iline|xline"
#define KEYS  "none|" WORDS
enum { KEY_NONE, KEY_CDP = 6 };
static const int key_at[TRACES_KEYS] = {-1, 0, 4, 8, 12, 16, 20, 24, 36, 72, 76, 80, 84, 188, 192};

/* --- records ------------------------------------------------------------------------------------------------------ */

/*
 * Do the trailers of the file begin at r, where got bytes are left at least? Their first words are text: the number of samples
 * that a trace states is not there.
 */
static bool
at_trailers(const struct traces *t, const unsigned char *r, size_t got)
{
	if (!t->trailers || got < TRACE_HEAD || trace_ushort(r + TRACE_NS, t->little) == t->stated)
		return false;
	return t->trailers > 0 ? got == (size_t)t->trailers * TEXT
			       : !memcmp(r, "((", 2) || !memcmp(r, "MM", 2);
}

static void
check_record(struct traces *t, const unsigned char *r)
{
	const unsigned ns = trace_ushort(r + TRACE_NS, t->little),
		       dt = trace_ushort(r + TRACE_DT, t->little);

	if (t->stated && ns != t->stated && !(t->lax && !ns))
		die("%s: trace %zu: ns changes from %u to %u", t->name, t->trace, t->stated, ns);
	if (!t->dt || dt == t->dt || (t->lax && !dt) || t->warned_dt)
		return;
	if (!t->fixed)
		die("%s: trace %zu: dt changes from %u to %u us; --dt=SECONDS overrides both",
		    t->name, t->trace, t->dt, dt);
	warn("%s: trace %zu: dt is %u us, and that of the binary header, %u us, is taken for all "
	     "traces, as it says; see --dt",
	     t->name, t->trace, dt, t->dt);
	t->warned_dt = true;
}

const unsigned char *
traces_peek(struct traces *t)
{
	const size_t record = t->head + t->ns * t->sample,
		     whole = record + (t->trailers > 0 ? (size_t)t->trailers * TEXT : 0);
	size_t got;

	if (t->row && t->taken == t->nrow)
		return NULL;
	if (t->row)
		traces_seek(t, t->row[t->taken].trace);
	const unsigned char *r = traces_look(t, t->skim ? TRACE_HEAD : whole, &got);
	if (t->skim && got)
		got = t->skim < whole ? t->skim : whole;
	if (!got || at_trailers(t, r, got))
		return NULL;
	if (got >= TRACE_HEAD)
		check_record(t, r);
	if (got < record)
		die("%s: trace %zu: truncated: %zu of %zu bytes", t->name, t->trace, got, record);
	return r;
}

void
traces_take(struct traces *t)
{
	const size_t record = t->head + t->ns * t->sample, next = t->taken + TRACES_AHEAD;

	if (t->skim) {
		traces_seek(t, t->trace + 1);
		t->skim -= record;
		return;
	}
	if (t->row && next < t->nrow)
		traces_expect(t, (double)t->row[next].trace);
	traces_skip(t, record);
	t->trace++;
	t->taken++;
}

void
traces_seek(struct traces *t, size_t trace)
{
	const size_t record = t->head + t->ns * t->sample;
	const off_t far = ((off_t)trace - (off_t)t->trace) * (off_t)record;

	if (trace > t->trace && (size_t)far <= t->have + NEAR) {
		for (size_t left = (size_t)far, got; left; left = got ? left - got : 0) {
			traces_look(t, left < NEAR ? left : NEAR, &got);
			traces_skip(t, got);
		}
	} else if (trace != t->trace && lseek(fileno(t->f), far - (off_t)t->have, SEEK_CUR) >= 0) {
		t->have = 0;
		t->chunk = record < NEAR ? record : NEAR;
	} else if (trace < t->trace) {
		die("%s: trace %zu: a pipe does not go back to it", t->name, trace);
	} else {
		while (trace > t->trace && traces_peek(t))
			traces_take(t);
	}
	t->trace = trace;
}

void
traces_expect(struct traces *t, double trace)
{
	const size_t record = t->head + t->ns * t->sample;
	const off_t at = lseek(fileno(t->f), 0, SEEK_CUR) - (off_t)t->have;

	if (trace >= 1 && trace < 0x1p31 && at >= 0)
		posix_fadvise(fileno(t->f), at + ((off_t)trace - (off_t)t->trace) * (off_t)record,
			      (off_t)record, POSIX_FADV_WILLNEED);
}

static int
by_keys(const void *a, const void *b)
{
	const struct traces_row *r = a, *s = b;

	for (size_t k = 0; k < TRACES_SORTS; k++)
		if (r->key[k] != s->key[k])
			return r->key[k] < s->key[k] ? -1 : 1;
	return r->trace < s->trace ? -1 : 1;
}

void
traces_sort(struct traces *t, const struct traces_sort *sort)
{
	const off_t at = lseek(fileno(t->f), 0, SEEK_CUR);
	struct traces_row *row = NULL;
	const unsigned char *r;
	size_t n = 0, room = 0;
	struct stat st;

	if (at < 0 || fstat(fileno(t->f), &st) || !S_ISREG(st.st_mode))
		die("%s: --sort reads a file twice; the standard input may be a pipe", t->name);
	t->skim = (size_t)(st.st_size - at) + t->have;
	for (; (r = traces_peek(t)); traces_take(t), n++) {
		row = weir_xgrow(row, &room, n + 1, sizeof *row);
		row[n] = (struct traces_row){.trace = t->trace};
		for (size_t k = 0; k < sort->n; k++) {
			const int32_t v = trace_word(r + key_at[sort->key[k]], 4, t->little);
			row[n].key[k] = sort->down[k] ? ~v : v;
		}
	}
	if (n)
		qsort(row, n, sizeof *row, by_keys);
	t->skim = 0;
	t->trailers = 0;
	t->row = row;
	t->nrow = n;
}

/* ---- reading ---- */

const struct opt traces_table[] = {
    {0, "format", OPT_WORD, offsetof(struct traces_args, format), "FORMAT",
     "format of samples, whatever the header says",
     .words = "ibm|ieee|double|int8|int16|int24|int32|int64|"
	      "uint8|uint16|uint24|uint32|uint64"},
    {'k', "key", OPT_WORD, offsetof(struct traces_args, key), "WORD",
     "header word that a gather shares (cdp, or the first of --sort)", .words = KEYS},
    {0, "sort", OPT_STR, offsetof(struct traces_args, sort.text), "KEY,...",
     "sort by up to 4 header words; -KEY: descending", .words = WORDS},
    {0, "dt", OPT_ABOVE, offsetof(struct traces_args, dt), "SECONDS",
     "time between samples, whatever the headers say",
     .seen = offsetof(struct traces_args, dt_given)},
    {0, "ns", OPT_INT, offsetof(struct traces_args, ns), "N",
     "samples of a trace, whatever the headers say", 1, 1e9},
    {0, "delay", OPT_REAL, offsetof(struct traces_args, delay), "SECONDS",
     "time of the first sample, whatever the headers say", -1e6, 1e6,
     .seen = offsetof(struct traces_args, delay_given)},
    {0}};

/* The gather that is being read. */
struct gather {
	float *data; /* [n][ns] */
	/* [n][WHERE]: the offset, x and y from source to group, 0 when the header has no coordinates, delrt in ms, and the number */
	double *where;
	bool group;	/* a group of the gather has coordinates other than 0 */
	size_t n, room; /* traces */
	int32_t key;
};

enum { WHERE = 5, DELAY = 3, NUMBER = 4 };

int
traces_key(int key, char name[TRACES_KEY_NAME])
{
	const char *s = KEYS;

	for (int i = 0; i < key; i++)
		s = strchr(s, '|') + 1;
	snprintf(name, TRACES_KEY_NAME, "%.*s", (int)strcspn(s, "|"), s);
	return key_at[key];
}

double
traces_scaled(double x, int32_t scale)
{
	return scale < 0 ? x / -(double)scale : scale > 0 ? x * scale : x;
}

double
traces_ms(const struct traces *t, const unsigned char *r, double time)
{
	return traces_scaled(time,
			     t->scaled_times ? trace_word(r + TRACE_SCALET, 2, t->little) : 0);
}

double
traces_delay(const struct traces *t, const unsigned char *r)
{
	return traces_ms(t, r, trace_word(r + TRACE_DELRT, 2, t->little));
}

static void
add_offset(struct gather *g, const struct traces *t, const struct traces_args *args,
	   const unsigned char *r)
{
	const int32_t scale = trace_word(r + TRACE_SCALCO, 2, t->little);
	const bool angles = trace_word(r + TRACE_COUNIT, 2, t->little) > 1;
	double *const where = g->where + WHERE * g->n, at[4]; /* sx, sy, gx, gy */

	for (size_t i = 0; i < 4; i++)
		at[i] = angles ? 0 : trace_word(r + TRACE_SX + 4 * i, 4, t->little);
	where[0] = trace_word(r + TRACE_OFFSET, 4, t->little);
	g->group |= at[2] != 0 || at[3] != 0;
	where[1] = traces_scaled(at[2] - at[0], scale);
	where[2] = traces_scaled(at[3] - at[1], scale);
	where[DELAY] = args->delay_given ? args->delay * 1e3 : traces_delay(t, r);
	where[NUMBER] = (double)t->trace;
}

/* Looks at samples until it is known whether they are of the format that the file states, and warns where they are not. */
static void
doubt_format(struct traces *t, const unsigned char *samples, size_t n, bool last)
{
	segy_count(&t->digits, t->little, n, samples);
	if (!last && t->digits.n < 1 << 16)
		return;
	t->doubted = true;
	const int seems = segy_seems(&t->digits);
	if (seems && seems != t->format)
		warn("%s: the samples seem to be %s floats, though the sample format is %d; see "
		     "--format",
		     t->name, seems == SEGY_IBM ? "IBM" : "IEEE", t->format);
}

/* Reads the traces up to the next change of the key. Returns false at the end of the file. */
static bool
read_gather(struct traces *t, const struct traces_args *args, struct gather *g)
{
	const int at = key_at[args->key];
	const size_t limit = weir_limit(args->common.max_bytes),
		     most = limit / (t->ns * sizeof *g->data);
	const unsigned char *r;

	g->group = false;
	for (g->n = 0; (r = traces_peek(t)); traces_take(t)) {
		const int32_t key = at < 0 ? 0 : trace_word(r + at, 4, t->little);
		if (!g->n)
			g->key = key;
		else if (key != g->key)
			break;
		if (g->n >= most)
			die("%s: trace %zu: the gather is larger than %zu bytes; see --key, "
			    "--max-bytes",
			    t->name, t->trace, limit);
		if (g->n == g->room) {
			size_t room = g->room;
			g->data = weir_xgrow(g->data, &room, g->n + 1, t->ns * sizeof *g->data);
			g->where =
			    weir_xgrow(g->where, &g->room, g->n + 1, WHERE * sizeof *g->where);
		}
		if (!t->doubted)
			doubt_format(t, r + t->head, t->ns, false);
		segy_decode(t->format, t->little, t->ns, g->data + g->n * t->ns, r + t->head);
		add_offset(g, t, args, r);
		g->n++;
	}
	if (!r && !t->doubted)
		doubt_format(t, NULL, 0, true);
	return g->n > 0;
}

/* Warns once when the offset of a trace is not the distance that its coordinates have. Feathered cables differ by a little. */
static void
compare_offsets(const struct gather *g, struct traces *t)
{
	size_t first = 0, wrong = 0;
	double far = 0;

	for (size_t j = 0; j < g->n; j++)
		far = fmax(far, hypot(g->where[WHERE * j + 1], g->where[WHERE * j + 2]));
	for (size_t j = g->n; j-- > 0;) {
		const double *w = g->where + WHERE * j, offset = fabs(w[0]), d = hypot(w[1], w[2]);
		if (d == 0 || fabs(offset - d) <= .1 * fmax(offset, d) + .02 * far)
			continue;
		first = j;
		wrong++;
	}
	if (!wrong || t->warned_offset)
		return;
	warn(
	    "%s: trace %.15g: its offset is %g, but source and group are %g apart; so it is with "
	    "%zu of %zu traces of the gather, and offsets:= has the offset; see --offsets of radon",
	    t->name, g->where[WHERE * first + NUMBER], g->where[WHERE * first],
	    hypot(g->where[WHERE * first + 1], g->where[WHERE * first + 2]), wrong, g->n);
	t->warned_offset = true;
}

/*
 * Offsets that are all 0 were never set; the distances of source and group are then the offsets. Stacks have the coordinates
 * of midpoints as the source's, and none of groups.
 */
static void
set_offsets(struct img *x, const struct gather *g, struct traces *t)
{
	bool plane = false, line = false;

	for (size_t j = 0; j < g->n; j++) {
		plane |= g->where[WHERE * j + 1] != 0 || g->where[WHERE * j + 2] != 0;
		line |= g->where[WHERE * j] != 0;
	}
	plane = plane && (line || g->group);
	if (line || !plane)
		axiskeys_set_numbers(x, "offsets", g->where, g->n, WHERE);
	if (!plane)
		return;
	axiskeys_set_numbers(x, "offset-x", g->where + 1, g->n, WHERE);
	axiskeys_set_numbers(x, "offset-y", g->where + 2, g->n, WHERE);
	if (line)
		compare_offsets(g, t);
}

/*
 * Turns the delays of the traces into samples after *first, the least of them in ms, and returns the most. step: the samples'
 * distance in ms.
 */
static size_t
shift_traces(struct gather *g, struct traces *t, double step, double *first)
{
	double most = 0;

	*first = g->where[DELAY];
	for (size_t j = 1; j < g->n; j++)
		*first = fmin(*first, g->where[WHERE * j + DELAY]);
	for (size_t j = 0; j < g->n; j++) {
		double *const delay = &g->where[WHERE * j + DELAY];
		const double samples = (*delay - *first) / step;
		if (fabs(samples - rint(samples)) > 1e-3 && !t->warned_delay) {
			warn("%s: trace %.15g: delrt is %g ms, and that of another trace of the "
			     "gather %g ms: no whole number of samples of %g ms apart, and the "
			     "nearest one is taken",
			     t->name, g->where[WHERE * j + NUMBER], *delay, *first, step);
			t->warned_delay = true;
		}
		*delay = rint(samples);
		most = fmax(most, *delay);
	}
	return (size_t)most;
}

/* Traces that begin later than others have zeros before, and the others have them behind. */
static void
put_gather(struct raw_out *out, struct gather *g, struct traces *t, const struct traces_args *args)
{
	const double step = args->dt_given ? args->dt : t->step / 1e6;
	size_t sizes[2] = {t->ns, g->n}, most, bytes;
	char name[TRACES_KEY_NAME];
	double first;
	struct img x;

	most = shift_traces(g, t, step * 1e3, &first);
	sizes[0] += most;
	if (most && (!weir_mul(sizes[0] * sizeof(float), g->n, &bytes) ||
		     bytes > weir_limit(args->common.max_bytes)))
		die("%s: trace %zu: delrt varies by %zu samples inside the gather before, which is "
		    "larger than %zu bytes then; see --key, --max-bytes",
		    t->name, t->trace, most, weir_limit(args->common.max_bytes));
	img_init(&x, IMG_F32, 2, sizes);
	x.axis[0].spacing = step;
	x.axis[0].min = first / 1e3;
	img_set_label(&x.axis[0], "t");
	img_set_unit(&x.axis[0], "s");
	img_set_label(&x.axis[1], "trace");
	if (traces_key(args->key, name) >= 0)
		img_set_key(&x, name, "%d", g->key);
	set_offsets(&x, g, t);
	axiskeys_set_numbers(&x, "traces", g->where + NUMBER, g->n, WHERE);
	if (args->sort.n)
		img_set_key(&x, "sorted", "%s", args->sort.text);
	opt_add_history(&x, &args->common);
	raw_head(out, &x);
	float *const zeros = weir_calloc(most + 1, sizeof *zeros);
	if (!zeros)
		die("%s: no memory for the gather", t->name);
	for (size_t j = 0; j < g->n && most; j++) {
		const size_t before = (size_t)g->where[WHERE * j + DELAY];
		raw_write(out, zeros, before);
		raw_write(out, g->data + j * t->ns, t->ns);
		raw_write(out, zeros, most - before);
	}
	if (!most)
		raw_write(out, g->data, g->n * t->ns);
	weir_free(zeros);
	img_free(&x);
}

static void
parse_sort(struct traces_sort *sort)
{
	for (const char *s = sort->text; s; s = *s ? s + 1 : NULL) {
		const bool down = *s == '-';
		s += down;
		const size_t n = strcspn(s, ",");
		const int k = word_index(KEYS, '|', s, n, strncmp);
		if (k <= KEY_NONE || sort->n == TRACES_SORTS)
			die_usage("--sort: '%s' is not KEY,KEY..., up to %d of " WORDS, sort->text,
				  TRACES_SORTS);
		for (size_t i = 0; i < sort->n; i++)
			if (sort->key[i] == k)
				die_usage("--sort: %.*s is named twice", (int)n, s);
		sort->down[sort->n] = down;
		sort->key[sort->n++] = k;
		s += n;
	}
}

int
traces_to_raw(const struct opt_program *program, int argc, char **argv,
	      void (*open)(struct traces *t, const char *path, const struct traces_args *args))
{
	struct traces_args args = {.key = -1, .format = -1};
	struct gather g = {0};
	size_t traces = 0;
	struct traces t;
	struct stats st;
	char **operand;
	size_t n;

	opt_parse(program, argc, argv, &args, &operand, &n);
	parse_sort(&args.sort);
	if (args.key < 0)
		args.key = args.sort.n ? args.sort.key[0] : KEY_CDP;
	if (args.sort.n)
		tempfile_settle_stdin(operand, n);
	open(&t, n ? *operand : NULL, &args);
	if (args.sort.n)
		traces_sort(&t, &args.sort);
	struct raw_out *out = raw_create(args.common.out, RAW_FOLLOW);
	stats_start(&st);
	while (read_gather(&t, &args, &g)) {
		stats_charge(&st, STATS_READ);
		put_gather(out, &g, &t, &args);
		traces += g.n;
		stats_charge(&st, STATS_WRITE);
		st.items++;
	}
	st.bytes_in = t.bytes;
	stats_add(&st, "traces", "%zu", traces);
	stats_close(&st, NULL, out, &args.common);
	weir_free_all(g.data, g.where);
	traces_close(&t);
	return 0;
}
