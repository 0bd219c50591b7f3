#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/base/stats.h"
#include "common/convert/traces.h"
#include "common/stream/axes.h"
#include "common/stream/foreign.h"
#include "common/stream/raw.h"

enum { ROOM = 1 << 20 }; /* bytes of the read buffer: three of the longest SU records */

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
			     .trace = 1};
	t->buf = weir_xalloc(ROOM, 1);
}

/* Adds to the buffer what has arrived, without waiting for more. Gathers go out before it waits. False: the end of the file. */
static bool
fill(struct traces *t)
{
	ssize_t n;

	file_flush_when_idle(t->f);
	do
		n = read(fileno(t->f), t->buf + t->have, ROOM - t->have);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		die("%s: %s", t->name, strerror(errno));
	t->have += (size_t)n;
	return n > 0;
}

/*
 * Returns the next n bytes without consuming them, n <= ROOM. Sets *got to the bytes that there are: fewer than n at the end of the
 * file.
 */
static const unsigned char *
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

/* Consumes n bytes that traces_look() has returned. */
static void
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

static void
traces_close(struct traces *t)
{
	if (t->f && t->f != stdin)
		fclose(t->f);
	weir_free(t->buf);
	weir_free(t->lead);
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
traces_open_su(struct traces *t, const char *path, bool dt_given)
{
	struct guess g[2] = {0};
	const unsigned char *first;
	size_t got;

	traces_open(t, path);
	first = traces_look(t, TRACE_HEAD, &got);
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
	t->ns = t->stated = g[t->little].ns;
	t->dt = dt_given ? 0 : g[t->little].dt;
	if (!t->ns)
		die("%s: trace 1: ns is 0", t->name);
	if (!dt_given)
		traces_check_dt(t, "trace 1: ");
}

/* --- SEG-Y ------------------------------------------------------------------------------------------------------ */

/* A word of two bytes in the first further header of a trace: how many there are, or 0. */
enum { SEGY_MORE_HEADS = TRACE_HEAD + 156 };

/* The largest numbers of further text headers, and of further headers of a trace, and the bytes of a text header. */
enum { TEXTS = 300, MOREHEADS = 100, TEXT = 3200 };

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

	/* The right byte order is the one in which the format's number is known. */
	t->little = !segy_sample_size(trace_word(lead + SEGY_AT_FORMAT, 2, false)) &&
		    segy_sample_size(trace_word(lead + SEGY_AT_FORMAT, 2, true));
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

/* --- records ------------------------------------------------------------------------------------------------------ */

/* Returns the next whole record, which is valid until the next call; NULL at the end of the file. */
static const unsigned char *
traces_peek(struct traces *t)
{
	const size_t record = t->head + t->ns * t->sample;
	size_t got;
	const unsigned char *r = traces_look(t, record, &got);
	unsigned ns, dt;

	if (!got)
		return NULL;
	if (got < TRACE_HEAD)
		die("%s: trace %zu: truncated: %zu of %zu bytes", t->name, t->trace, got, record);
	ns = trace_ushort(r + TRACE_NS, t->little);
	dt = trace_ushort(r + TRACE_DT, t->little);
	if (ns != t->stated && !(t->lax && !ns))
		die("%s: trace %zu: ns changes from %u to %u", t->name, t->trace, t->stated, ns);
	if (t->dt && dt != t->dt && !(t->lax && !dt))
		die("%s: trace %zu: dt changes from %u to %u us; --dt=SECONDS overrides both",
		    t->name, t->trace, t->dt, dt);
	if (got < record)
		die("%s: trace %zu: truncated: %zu of %zu bytes", t->name, t->trace, got, record);
	return r;
}

/* Goes on to the next record. */
static void
traces_take(struct traces *t)
{
	traces_skip(t, t->head + t->ns * t->sample);
	t->trace++;
}

/* ---- reading ---- */

/* The header words that can be the key. With none, all traces are one gather. */
#define KEYS "none|tracl|tracr|fldr|tracf|ep|cdp|cdpt|offset|sx|sy|gx|gy|iline|xline"
enum { KEY_NONE, KEY_CDP = 6, KEY_NAME = 8 };
static const int key_at[] = {-1, 0, 4, 8, 12, 16, 20, 24, 36, 72, 76, 80, 84, 188, 192};

const struct opt traces_table[] = {{'k', "key", OPT_WORD, offsetof(struct traces_args, key), "WORD",
				    "header word that a gather shares (cdp)", .words = KEYS},
				   {0, "dt", OPT_ABOVE, offsetof(struct traces_args, dt), "SECONDS",
				    "time between samples, whatever the headers say",
				    .seen = offsetof(struct traces_args, dt_given)},
				   {0}};

/* The gather that is being read. */
struct gather {
	float *data; /* [n][ns] */
	/* [n][3]: the offset, and x and y from source to group, 0 when the header has no coordinates */
	double *where;
	bool group;	/* a group of the gather has coordinates other than 0 */
	size_t n, room; /* traces */
	int32_t key;
	double delay; /* ms */
};

static void
grow(struct gather *g, const struct traces *t, size_t max_bytes)
{
	const size_t room = g->room ? 2 * g->room : 16, limit = weir_limit(max_bytes);

	if (g->n * t->ns * sizeof(float) >= limit)
		die("%s: trace %zu: the gather is larger than %zu bytes; see --key, --max-bytes",
		    t->name, t->trace, limit);
	g->data = realloc(g->data, room * t->ns * sizeof *g->data);
	g->where = realloc(g->where, room * 3 * sizeof *g->where);
	if (!g->data || !g->where)
		die("%s: trace %zu: no memory for the gather", t->name, t->trace);
	g->room = room;
}

/* Writes the name of a key, which is one of the words of KEYS. */
static const char *
key_name(int key, char name[KEY_NAME])
{
	const char *s = KEYS;

	while (key--)
		s = strchr(s, '|') + 1;
	snprintf(name, KEY_NAME, "%.*s", (int)strcspn(s, "|"), s);
	return name;
}

/* Returns x times the scale; a scale below 0 is a divisor, and 0 is none. */
static double
scaled(double x, int32_t scale)
{
	return scale < 0 ? x / -(double)scale : scale > 0 ? x * scale : x;
}

static double
delay_of(const struct traces *t, const unsigned char *r)
{
	const int32_t scale = t->scaled_times ? trace_word(r + TRACE_SCALET, 2, t->little) : 0;

	return scaled(trace_word(r + TRACE_DELRT, 2, t->little), scale);
}

/* Adds the offset of the record r to the gather. */
static void
add_offset(struct gather *g, const struct traces *t, const unsigned char *r)
{
	const int32_t scale = trace_word(r + TRACE_SCALCO, 2, t->little);
	const bool angles = trace_word(r + TRACE_COUNIT, 2, t->little) > 1;
	double *const where = g->where + 3 * g->n, at[4]; /* sx, sy, gx, gy */

	for (size_t i = 0; i < 4; i++)
		at[i] = angles ? 0 : trace_word(r + TRACE_SX + 4 * i, 4, t->little);
	where[0] = trace_word(r + TRACE_OFFSET, 4, t->little);
	g->group |= at[2] != 0 || at[3] != 0;
	where[1] = scaled(at[2] - at[0], scale);
	where[2] = scaled(at[3] - at[1], scale);
}

/* Reads the traces up to the next change of the key. Returns false at the end of the file. */
static bool
read_gather(struct traces *t, const struct traces_args *args, struct gather *g)
{
	const int at = key_at[args->key];
	const unsigned char *r;

	g->group = false;
	for (g->n = 0; (r = traces_peek(t)); traces_take(t)) {
		const int32_t key = at < 0 ? 0 : trace_word(r + at, 4, t->little);
		const double delay = delay_of(t, r);
		if (!g->n) {
			g->key = key;
			g->delay = delay;
		} else if (key != g->key) {
			break;
		} else if (delay != g->delay) {
			die("%s: trace %zu: delrt changes from %g to %g ms inside a gather",
			    t->name, t->trace, g->delay, delay);
		}
		if (g->n == g->room)
			grow(g, t, args->common.max_bytes);
		segy_decode(t->format, t->little, t->ns, g->data + g->n * t->ns, r + t->head);
		add_offset(g, t, r);
		g->n++;
	}
	return g->n > 0;
}

/* Sets the key to the numbers v[3 j]. */
static void
set_numbers(struct img *x, const char *key, const double *v, size_t n)
{
	char *text = weir_xalloc(n, 26), *s = text;

	for (size_t j = 0; j < n; j++)
		s += sprintf(s, j ? " %.15g" : "%.15g", v[3 * j]);
	img_set_key(x, key, "%s", text);
	weir_free(text);
}

/*
 * Offsets that are all 0 were never set; the distances of source and group are then the offsets. Stacks have the coordinates
 * of midpoints as the source's, and none of groups.
 */
static void
set_offsets(struct img *x, const struct gather *g)
{
	bool plane = false, line = false;

	for (size_t j = 0; j < g->n; j++) {
		plane |= g->where[3 * j + 1] != 0 || g->where[3 * j + 2] != 0;
		line |= g->where[3 * j] != 0;
	}
	plane = plane && (line || g->group);
	if (line || !plane)
		set_numbers(x, "offsets", g->where, g->n);
	if (!plane)
		return;
	set_numbers(x, "offset-x", g->where + 1, g->n);
	set_numbers(x, "offset-y", g->where + 2, g->n);
}

static void
put_gather(struct raw_out *out, const struct gather *g, const struct traces *t,
	   const struct traces_args *args)
{
	const size_t sizes[2] = {t->ns, g->n};
	char name[KEY_NAME];
	struct img x;

	img_init(&x, IMG_F32, 2, sizes);
	x.axis[0].spacing = args->dt_given ? args->dt : t->dt / 1e6;
	x.axis[0].min = g->delay / 1e3;
	img_set_label(&x.axis[0], "t");
	img_set_unit(&x.axis[0], "s");
	img_set_label(&x.axis[1], "trace");
	if (args->key != KEY_NONE)
		img_set_key(&x, key_name(args->key, name), "%d", g->key);
	set_offsets(&x, g);
	opt_add_history(&x, &args->common);
	raw_head(out, &x);
	raw_write(out, g->data, g->n * t->ns);
	img_free(&x);
}

int
traces_to_raw(const struct opt_program *program, int argc, char **argv,
	      void (*open)(struct traces *t, const char *path, bool dt_given))
{
	struct traces_args args = {.key = KEY_CDP};
	struct gather g = {0};
	struct traces t;
	struct stats st;
	char **operand;
	size_t n;

	opt_parse(program, argc, argv, &args, &operand, &n);
	open(&t, n ? *operand : NULL, args.dt_given);
	struct raw_out *out = raw_create(args.common.out, RAW_FOLLOW);
	stats_start(&st);
	while (read_gather(&t, &args, &g)) {
		stats_charge(&st, STATS_READ);
		put_gather(out, &g, &t, &args);
		stats_charge(&st, STATS_WRITE);
		st.items++;
	}
	st.bytes_in = t.bytes;
	stats_add(&st, "traces", "%zu", t.trace - 1);
	stats_close(&st, NULL, out, &args.common);
	free(g.data);
	free(g.where);
	traces_close(&t);
	return 0;
}

/* ---- writing ---- */

/* What is kept from item to item. */
struct feed {
	struct traces_sink *sink;
	struct raw_in *in;
	struct raw_out *out;
	size_t head, ns;       /* bytes of the headers of every trace, and its samples */
	size_t sample;	       /* bytes of a sample in the file */
	size_t trace;	       /* traces written */
	double *offset;	       /* the item's list of offsets */
	void *raw;	       /* a trace in the item's type */
	double *wide;	       /* the same as doubles */
	float *data;	       /* the same as floats */
	unsigned char *record; /* the same in the file's format, with its header */
	/*
	 * With headers from a file whose samples have several forms of one float: the samples of the file, and the new ones in
	 * its format. A sample that equals the one of the file keeps its bytes there.
	 */
	float *old;
	unsigned char *fresh;
};

/* Checks the shape of an item, one to three axes with t first, and returns its number of traces. */
static size_t
count_traces(const struct feed *f, const struct img *x)
{
	size_t n = 1;

	if (x->dim > 3 || img_is_complex(x))
		raw_die(f->in, "traces are real items `t`, `t trace` or `t trace gather`");
	for (int a = 1; a < x->dim; a++)
		if (!weir_mul(n, x->axis[a].n, &n))
			raw_die(f->in, "too many traces");
	return n;
}

static unsigned
microseconds(const struct feed *f, const struct img *x)
{
	const double us = x->axis[0].spacing * 1e6;

	if (isnan(us))
		raw_die(f->in, "the time axis has no spacing, which the headers need in seconds");
	if (!(us > .5 && us < 65535.5) || fabs(us - rint(us)) > 1e-3)
		raw_die(f->in, "a header holds dt as 1..65535 whole us, and the spacing is %g s",
			x->axis[0].spacing);
	return (unsigned)lrint(us);
}

static void
start(struct feed *f, const struct img *x)
{
	const struct traces *h = f->sink->headers;

	f->head = h ? h->head : TRACE_HEAD;
	f->sample = segy_sample_size(f->sink->format);
	f->ns = h ? h->ns : x->axis[0].n;
	if (f->ns > TRACE_MAXNS)
		raw_die(f->in, "%zu samples a trace: a header holds up to 65535", f->ns);
	f->raw = weir_xalloc(f->ns, 8);
	f->wide = weir_xalloc(f->ns, sizeof *f->wide);
	f->data = weir_xalloc(f->ns, sizeof *f->data);
	f->record = weir_xalloc(f->head + f->ns * f->sample, 1);
	if (h && h->format != SEGY_IEEE) {
		f->old = weir_xalloc(f->ns, sizeof *f->old);
		f->fresh = weir_xalloc(f->ns, f->sample);
	}
	if (h && h->nlead)
		raw_text(f->out, (const char *)h->lead, h->nlead);
	else if (f->sink->lead)
		f->sink->lead(f->sink, f->out, f->ns, microseconds(f, x));
}

static long
delay(const struct feed *f, const struct img *x)
{
	const double ms = isnan(x->axis[0].min) ? 0 : x->axis[0].min * 1e3;

	if (!(fabs(ms) < 32767.5) || fabs(ms - rint(ms)) > 1e-3)
		raw_die(f->in, "a header holds the first time as whole ms, and it is %g s",
			x->axis[0].min);
	return lrint(ms);
}

/* Reads the key offsets:=, which has a number for each of the n traces of x, or of a gather. Returns how many, 0 without a key. */
static size_t
read_offsets(struct feed *f, const struct img *x, size_t n)
{
	const char *text = img_key(x, "offsets");
	const size_t count = text ? axiskeys_count(text) : 0, fold = x->dim > 1 ? x->axis[1].n : 1;
	char *end;

	if (text && count != fold && count != n)
		raw_die(f->in, "%zu offsets for %zu traces", count, fold);
	weir_free(f->offset);
	f->offset = weir_xalloc(count + 1, sizeof *f->offset);
	for (size_t i = 0; i < count; i++, text = end) {
		f->offset[i] = strtod(text, &end);
		if (end == text || (*end && !isspace((unsigned char)*end)))
			raw_die(f->in, "offsets:= is not a list of numbers");
	}
	return count;
}

/* The offset of trace j of a gather, by the trace axis. */
static double
offset_of_axis(const struct img *x, size_t j)
{
	if (x->dim < 2 || isnan(x->axis[1].min) || isnan(x->axis[1].spacing))
		return 0;
	return x->axis[1].min + (double)j * x->axis[1].spacing;
}

static void
make_header(struct feed *f, const struct img *x, size_t j, size_t offsets)
{
	const char *cdp = img_key(x, "cdp");
	const size_t fold = x->dim > 1 ? x->axis[1].n : 1;
	const double offset = offsets ? f->offset[j % offsets] : offset_of_axis(x, j % fold);
	const struct {
		size_t at, bytes;
		long value;
	} words[] = {
	    {TRACE_TRACL, 4, (long)(f->trace + 1)},
	    {TRACE_TRACR, 4, (long)(f->trace + 1)},
	    {TRACE_CDP, 4, cdp ? strtol(cdp, NULL, 10) : (long)(raw_item(f->in) + j / fold)},
	    {TRACE_CDPT, 4, (long)(j % fold + 1)},
	    {TRACE_TRID, 2, 1},
	    {TRACE_OFFSET, 4, fabs(offset) < 0x1p31 ? lrint(offset) : 0},
	    {TRACE_DELRT, 2, delay(f, x)},
	    {TRACE_NS, 2, (long)f->ns},
	    {TRACE_DT, 2, (long)microseconds(f, x)}};

	if (!(fabs(offset) < 0x1p31))
		raw_die(f->in, "trace %zu: an offset of %g", j + 1, real_shown(offset));
	memset(f->record, 0, TRACE_HEAD);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		bytes_store(f->record + words[i].at, words[i].bytes, f->sink->little,
			    (uint64_t)words[i].value);
}

/* Takes the next record of the file of headers over, with its samples. */
static void
take_record(struct feed *f)
{
	const unsigned char *r = traces_peek(f->sink->headers);

	if (!r)
		raw_die(f->in, "more traces than the %zu of %s", f->trace, f->sink->headers->name);
	memcpy(f->record, r, f->head + f->ns * f->sample);
	traces_take(f->sink->headers);
}

static void
encode_trace(const struct feed *f)
{
	const int format = f->sink->format;
	const bool little = f->sink->little, no_nan = !segy_has_nan(format);
	unsigned char *to = f->record + f->head;

	for (size_t i = 0; no_nan && i < f->ns; i++)
		if (isnan(f->data[i]))
			raw_die(f->in, "trace %zu: sample %zu is nan, and format %d has none",
				f->trace + 1, i + 1, format);
	if (!f->old) {
		segy_encode(format, little, f->ns, to, f->data);
		return;
	}
	segy_decode(format, little, f->ns, f->old, to);
	segy_encode(format, little, f->ns, f->fresh, f->data);
	for (size_t i = 0; i < f->ns; i++)
		if (memcmp(&f->old[i], &f->data[i], sizeof *f->old))
			memcpy(to + i * f->sample, f->fresh + i * f->sample, f->sample);
}

static void
put_trace(struct feed *f, const struct img *x)
{
	raw_read(f->in, x->type == IMG_F32 ? f->data : f->raw, f->ns);
	if (x->type != IMG_F32) {
		sample_load(f->wide, f->raw, x->type, f->ns);
		for (size_t i = 0; i < f->ns; i++)
			f->data[i] = (float)f->wide[i];
	}
	encode_trace(f);
	raw_text(f->out, (const char *)f->record, f->head + f->ns * f->sample);
	f->trace++;
}

static void
put_item(struct feed *f, const struct img *x)
{
	const size_t n = count_traces(f, x);
	const size_t offsets = f->sink->headers ? 0 : read_offsets(f, x, n);

	if (!f->ns)
		start(f, x);
	if (x->axis[0].n != f->ns && f->sink->headers)
		raw_die(f->in, "%zu samples a trace, and %s has %zu", x->axis[0].n,
			f->sink->headers->name, f->ns);
	if (x->axis[0].n != f->ns)
		raw_die(f->in, "%zu samples a trace, and the items before have %zu", x->axis[0].n,
			f->ns);
	for (size_t j = 0; j < n; j++) {
		if (f->sink->headers)
			take_record(f);
		else
			make_header(f, x, j, offsets);
		put_trace(f, x);
	}
}

int
traces_from_raw(struct traces_sink *s, const char *path, const struct opt_common *o)
{
	struct traces headers = {0};
	struct feed f = {.sink = s};
	struct stats st;
	struct img x;

	if (s->path) {
		if (s->own)
			die_usage("%s cannot differ from that of --headers: give one of them",
				  s->own);
		s->open(&headers, s->path, true);
		s->headers = &headers;
		s->little = headers.little;
		s->format = headers.format;
	}
	stats_start(&st);
	f.in = raw_open((char *const *)&path, path ? 1 : 0, o->max_bytes);
	f.out = raw_create(o->out, RAW_FOLLOW);
	for (; raw_next(f.in, &x); img_free(&x), st.items++)
		put_item(&f, &x);
	if (s->headers && traces_peek(s->headers))
		die("%s: more traces than the %zu of the items", headers.name, f.trace);
	stats_add(&st, "traces", "%zu", f.trace);
	stats_close(&st, f.in, f.out, o);
	weir_free(f.offset);
	weir_free(f.raw);
	weir_free(f.wide);
	weir_free(f.data);
	weir_free(f.record);
	weir_free(f.old);
	weir_free(f.fresh);
	traces_close(&headers);
	return 0;
}
