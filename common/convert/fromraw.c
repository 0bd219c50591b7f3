/* The traces of raw items as records of SU and SEG-Y. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/convert/traces.h"
#include "common/stream/axes.h"

/* A trace that waits for those of lower numbers: it is the `at`-th in the scratch file. */
struct held {
	double number;
	size_t at;
};

/* What is kept from item to item. */
struct feed {
	struct traces_sink *sink;
	struct raw_in *in;
	struct raw_out *out;
	size_t head, ns; /* bytes of the headers of every trace, and its samples */
	size_t sample;	 /* bytes of a sample in the file */
	size_t trace;	 /* traces written */
	size_t room;	 /* samples of the longest row so far */
	size_t skip, least,
	    most;     /* the trace begins there in its row; the least and the most of the item */
	bool cropped; /* traces have fewer samples than in the file of headers */
	/*
	 * The item's offsets; or, with headers from a file, three numbers a trace: its number and NaN, or a, b and w for one at the
	 * part w of the way from a to b.
	 */
	double *list;
	size_t listed;
	double *place; /* owned: where the item's traces lie in a plane, pairs; NULL: on a line */
	size_t placed;
	double number;	   /* of the trace whose header was taken */
	bool wait;	   /* the item's traces were sorted, and return to the order of the file */
	FILE *scratch;	   /* the records that wait; NULL: none has yet */
	struct held *held; /* owned: `waiting` of them */
	size_t waiting, room_held;
	struct {
		int at;
		double value;
	} key[TRACES_KEYS]; /* the header words that keys of the item give */
	int nkey;
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
	f->cropped = h && f->listed && x->axis[0].n < h->ns;
	f->ns = h && !f->cropped ? h->ns : x->axis[0].n;
	if (f->ns > TRACE_MAXNS && !h && !f->sink->lead)
		raw_die(f->in, "%zu samples a trace: a header holds up to 65535", f->ns);
	f->record = weir_xalloc(f->head + f->ns * f->sample, 1);
	if (f->cropped && h->nlead)
		segy_set_samples(h->lead, h->little, f->ns);
	if (h && !f->cropped && h->format != SEGY_IEEE) {
		f->old = weir_xalloc(f->ns, sizeof *f->old);
		f->fresh = weir_xalloc(f->ns, f->sample);
	}
	if (h && h->nlead)
		raw_text(f->out, (const char *)h->lead, h->nlead);
	else if (f->sink->lead)
		f->sink->lead(f->sink, f->out, f->ns, microseconds(f, x));
}

/* The first time of x in units of so many ms. */
static long
delay(const struct feed *f, const struct img *x, double unit)
{
	const double ms = isnan(x->axis[0].min) ? 0 : x->axis[0].min * 1e3 / unit;

	if (!(fabs(ms) < 32767.5) || fabs(ms - rint(ms)) > 1e-3)
		raw_die(f->in, "a header holds the first time as whole ms, and it is %g s",
			x->axis[0].min);
	return lrint(ms);
}

/*
 * Reads the list of a key, which has a word for each of the n traces of x, or of a gather: `per` numbers with colons between
 * them, or one number. There are 0 without the key.
 */
static void
read_list(struct feed *f, const struct img *x, const char *name, size_t n, size_t per)
{
	const char *s = img_key(x, name);
	const size_t count = s ? axiskeys_count(s) : 0, fold = x->dim > 1 ? x->axis[1].n : 1;

	if (s && count != fold && count != n)
		raw_die(f->in, "%s:= has %zu numbers for %zu traces", name, count, fold);
	weir_free(f->list);
	f->list = weir_xalloc(count + 1, per * sizeof *f->list);
	for (size_t j = 0; j < count; j++) {
		double *v = f->list + per * j;
		size_t got = 1;
		s += strspn(s, " ");
		bool good = word_real(&s, v);
		for (; good && *s == ':' && got < per; got++) {
			s++;
			good = word_real(&s, &v[got]);
		}
		if (!good || (got > 1 && got < per) || (*s && *s != ' '))
			raw_die(f->in, "%s:= is not a list of numbers", name);
		if (got < per)
			v[1] = NAN;
	}
	f->listed = count;
}

/* Finds where the traces lie in a plane, of an item whose offsets are not those on a line. */
static void
read_places(struct feed *f, const struct img *x)
{
	struct why why;

	weir_free(f->place);
	f->place = NULL;
	if (x->dim < 2 || img_key(x, "offsets") || !img_key(x, "offset-x"))
		return;
	f->place = axiskeys_offsets(x, 2, false, &f->placed, &why);
	if (!f->place)
		raw_die(f->in, "%s", why.text);
}

/* Finds the header words that keys of the item give. No sample is placed by them, so what is no number of a header is left out. */
static void
read_keys(struct feed *f, const struct img *x)
{
	char name[TRACES_KEY_NAME];

	f->nkey = 0;
	for (int i = 1; i < TRACES_KEYS; i++) {
		const int at = traces_key(i, name);
		const char *text = img_key(x, name);
		double v;
		if (text && opt_number(text, &v) && rint(v) == v && fabs(v) < 0x1p31) {
			f->key[f->nkey].at = at;
			f->key[f->nkey++].value = v;
		} else if (text) {
			warn("%s: item %zu: %s:=%.40s is no whole number of 32 bits, and is left "
			     "out",
			     raw_name(f->in), raw_item(f->in), name, text);
		}
	}
}

static void
make_header(struct feed *f, const struct img *x, size_t j)
{
	const size_t fold = x->dim > 1 ? x->axis[1].n : 1;
	const struct img_axis *a = &x->axis[1]; /* which says the offsets where no key does */
	const double offset = f->listed ? f->list[j % f->listed]
			      : x->dim < 2 || isnan(a->min) || isnan(a->spacing)
				  ? 0
				  : a->min + (double)(j % fold) * a->spacing;
	const struct {
		size_t at, bytes;
		long value;
	} words[] = {{TRACE_TRACL, 4, (long)(f->trace + 1)},
		     {TRACE_TRACR, 4, (long)(f->trace + 1)},
		     {TRACE_CDP, 4, (long)(raw_item(f->in) + j / fold)},
		     {TRACE_CDPT, 4, (long)(j % fold + 1)},
		     {TRACE_TRID, 2, 1},
		     {TRACE_OFFSET, 4, fabs(offset) < 0x1p31 ? lrint(offset) : 0},
		     {TRACE_DELRT, 2, delay(f, x, 1)},
		     {TRACE_NS, 2, f->ns > TRACE_MAXNS ? 0 : (long)f->ns},
		     {TRACE_DT, 2, (long)microseconds(f, x)}};

	if (!(fabs(offset) < 0x1p31))
		raw_die(f->in, "trace %zu: an offset of %g", j + 1, real_shown(offset));
	memset(f->record, 0, TRACE_HEAD);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		bytes_store(f->record + words[i].at, words[i].bytes, f->sink->little,
			    (uint64_t)words[i].value);
	for (int i = 0; i < f->nkey; i++)
		bytes_store(f->record + f->key[i].at, 4, f->sink->little,
			    (uint64_t)lrint(f->key[i].value));
}

_Noreturn static void
die_of_samples(const struct feed *f, const struct img *x)
{
	raw_die(f->in, "%zu samples a trace, and %s has %zu", x->axis[0].n, f->sink->headers->name,
		f->ns);
}

/* Returns the record of that number in the file of headers, for trace j of the item. */
static const unsigned char *
find_record(struct feed *f, size_t j, double number)
{
	struct traces *h = f->sink->headers;

	if (number >= 1 && number < 0x1p62 / (double)(f->head + h->ns * f->sample) &&
	    number == floor(number))
		traces_seek(h, (size_t)number);
	else
		raw_die(f->in, "trace %zu: traces:= has %g, which is no number of a trace", j + 1,
			real_shown(number));
	const unsigned char *r = traces_peek(h);
	if (!r && f->listed)
		raw_die(f->in, "trace %zu: %s has no trace %g", j + 1, h->name, number);
	if (!r)
		raw_die(f->in, "more traces than the %zu of %s", f->trace, h->name);
	return r;
}

static void
store_word(struct feed *f, size_t j, size_t at, double x)
{
	if (!(fabs(x) < 0x1p31 - 1))
		raw_die(f->in, "trace %zu: traces:= leads to %g in a header", j + 1, real_shown(x));
	bytes_store(f->record + at, 4, f->sink->little, (uint64_t)lrint(x));
}

/*
 * Moves source and group of trace j, whose header is a, to its place in the plane. What the nearest two have in common stays: the
 * source, the group, or else the midpoint. Coordinates that are angles stay. The offset has the sign of that of the nearest one.
 */
static void
place_header(struct feed *f, size_t j, const unsigned char *a, const unsigned char *b)
{
	const size_t source = TRACE_SX, group = TRACE_SX + 8;
	const bool little = f->sink->little;
	const double *const to = f->place + 2 * (j % (f->placed / 2));
	const double unit = traces_scaled(1, trace_word(a + TRACE_SCALCO, 2, little)),
		     part = !memcmp(a + source, b + source, 8) ? 0
			    : !memcmp(a + group, b + group, 8) ? 1
							       : .5;

	store_word(f, j, TRACE_OFFSET,
		   copysign(hypot(to[0], to[1]), trace_word(a + TRACE_OFFSET, 4, little)));
	for (size_t k = 0; k < 2 && trace_word(a + TRACE_COUNIT, 2, little) < 2; k++) {
		const double s = trace_word(a + source + 4 * k, 4, little),
			     g = trace_word(a + group + 4 * k, 4, little),
			     more = to[k] / unit - (g - s);
		store_word(f, j, source + 4 * k, s - part * more);
		store_word(f, j, group + 4 * k, g + (1 - part) * more);
	}
}

/*
 * Makes the header of trace j of the item, which lies between two of the file, of that of the nearer one. Offset, elevations,
 * depths and coordinates are interpolated where both have the same scales of them. trid says that the trace was not recorded.
 */
static void
interpolate_header(struct feed *f, size_t j, const double v[3])
{
	enum { SCALES = TRACE_SCALCO - 2, DUMMY = 3 };
	const bool little = f->sink->little;
	unsigned char a[TRACE_HEAD], b[TRACE_HEAD];

	memcpy(a, find_record(f, j, v[0]), TRACE_HEAD);
	memcpy(b, find_record(f, j, v[1]), TRACE_HEAD);
	bytes_store(f->record + TRACE_TRID, 2, little, DUMMY);
	if (memcmp(a + SCALES, b + SCALES, 4) || memcmp(a + TRACE_COUNIT, b + TRACE_COUNIT, 2))
		return;
	if (f->place) {
		place_header(f, j, a, b);
		return;
	}
	for (size_t at = TRACE_OFFSET; at < TRACE_COUNIT; at += 4) {
		const double from = trace_word(a + at, 4, little),
			     to = trace_word(b + at, 4, little);
		if (at != SCALES)
			store_word(f, j, at, from + v[2] * (to - from));
	}
}

/* Takes the record of trace j of the item over from the file of headers, with its samples; without traces:= it is the next one. */
static void
take_record(struct feed *f, const struct img *x, size_t j)
{
	struct traces *h = f->sink->headers;
	const double next[3] = {(double)h->trace, NAN, 0},
		     *v = f->listed ? f->list + 3 * (j % f->listed) : next;

	f->number = isnan(v[1]) || v[2] < .5 ? v[0] : v[1];
	const unsigned char *r = find_record(f, j, f->number);
	f->skip = 0;
	if (x->axis[0].n >
	    f->ns) { /* where it begins in its row, which is longer where delrt varies */
		const struct img_axis *a = &x->axis[0];
		const double at = rint((traces_delay(h, r) / 1e3 - a->min) / a->spacing);
		if (!(at >= 0 && at <= (double)(a->n - f->ns)))
			die_of_samples(f, x);
		f->skip = (size_t)at;
	}
	f->least = f->skip < f->least ? f->skip : f->least;
	f->most = f->skip > f->most ? f->skip : f->most;
	memcpy(f->record, r, f->head + f->ns * f->sample);
	if (!isnan(v[1]))
		interpolate_header(f, j, v);
	else
		traces_take(h);
	if (!f->cropped)
		return;
	bytes_store(f->record + TRACE_NS, 2, h->little, f->ns > TRACE_MAXNS ? 0 : f->ns);
	bytes_store(f->record + TRACE_DELRT, 2, h->little,
		    (uint64_t)delay(f, x, traces_ms(h, f->record, 1)));
}

/* --- traces that wait ------------------------------------------------------------------------------------------- */

static int
by_number(const void *a, const void *b)
{
	const struct held *h = a, *k = b;

	return h->number < k->number || (h->number == k->number && h->at < k->at) ? -1 : 1;
}

_Noreturn static void
die_of_scratch(void)
{
	die("the scratch file in TMPDIR: %s", strerror(errno));
}

/* Writes the record, or keeps it. */
static void
put_record(struct feed *f)
{
	const size_t bytes = f->head + f->ns * f->sample;

	if (!f->wait) {
		raw_text(f->out, (const char *)f->record, bytes);
		return;
	}
	if (!f->scratch && !(f->scratch = fdopen(scratch_open(), "w+")))
		die_of_scratch();
	f->held = weir_xgrow(f->held, &f->room_held, f->waiting + 1, sizeof *f->held);
	f->held[f->waiting] = (struct held){f->number, f->waiting};
	f->waiting++;
	if (fwrite(f->record, bytes, 1, f->scratch) != 1)
		die_of_scratch();
}

static void
put_held(struct feed *f)
{
	const size_t bytes = f->head + f->ns * f->sample;

	qsort(f->held, f->waiting, sizeof *f->held, by_number);
	for (size_t i = 0; i < f->waiting; i++) {
		if (fseeko(f->scratch, (off_t)(f->held[i].at * bytes), SEEK_SET) ||
		    fread(f->record, bytes, 1, f->scratch) != 1)
			die_of_scratch();
		raw_text(f->out, (const char *)f->record, bytes);
	}
	fclose(f->scratch);
}

static void
encode_trace(const struct feed *f)
{
	const int format = f->sink->format;
	const bool little = f->sink->little, no_nan = !segy_has_nan(format);
	const float *data = f->data + f->skip;
	unsigned char *to = f->record + f->head;

	for (size_t i = 0; no_nan && i < f->ns; i++)
		if (isnan(data[i]))
			raw_die(f->in, "trace %zu: sample %zu is nan, and format %d has none",
				f->trace + 1, i + 1, format);
	if (!f->old) {
		segy_encode(format, little, f->ns, to, data);
		return;
	}
	segy_decode(format, little, f->ns, f->old, to);
	segy_encode(format, little, f->ns, f->fresh, data);
	for (size_t i = 0; i < f->ns; i++)
		if (memcmp(&f->old[i], &data[i], sizeof *f->old))
			memcpy(to + i * f->sample, f->fresh + i * f->sample, f->sample);
}

static void
put_trace(struct feed *f, const struct img *x)
{
	const size_t n = x->axis[0].n;

	if (n > f->room) {
		weir_free_all(f->raw, f->wide, f->data);
		f->raw = weir_xalloc(n, 8);
		f->wide = weir_xalloc(n, sizeof *f->wide);
		f->data = weir_xalloc(n, sizeof *f->data);
		f->room = n;
	}
	raw_read(f->in, x->type == IMG_F32 ? f->data : f->raw, n);
	if (x->type != IMG_F32) {
		sample_load(f->wide, f->raw, x->type, n);
		for (size_t i = 0; i < n; i++)
			f->data[i] = (float)f->wide[i];
	}
	encode_trace(f);
	put_record(f);
	f->trace++;
}

/* Copies what the file of headers has behind its traces. picked: traces:= said which of them to take. */
static void
put_trailers(struct feed *f, bool picked)
{
	struct traces *h = f->sink->headers;
	const unsigned char *rest;
	size_t got;

	if (picked && !h->trailers)
		return;
	while (picked && traces_peek(h))
		traces_take(h);
	if (traces_peek(h))
		die("%s: more traces than the %zu of the items", h->name, f->trace);
	while (rest = traces_look(h, TRACE_HEAD, &got), got) {
		raw_text(f->out, (const char *)rest, got);
		traces_skip(h, got);
	}
}

static void
put_item(struct feed *f, const struct img *x)
{
	const bool heads = f->sink->headers;
	size_t n = 1;

	if (x->dim > 3 || img_is_complex(x))
		raw_die(f->in, "traces are real items `t`, `t trace` or `t trace gather`");
	for (int a = 1; a < x->dim; a++)
		if (!weir_mul(n, x->axis[a].n, &n))
			raw_die(f->in, "too many traces");
	read_list(f, x, heads ? "traces" : "offsets", n, heads ? 3 : 1);
	if (heads)
		read_places(f, x);
	else
		read_keys(f, x);
	if (!f->ns)
		start(f, x);
	if (x->axis[0].n < f->ns && heads)
		die_of_samples(f, x);
	if (x->axis[0].n != f->ns && (!heads || f->cropped))
		raw_die(f->in, "%zu samples a trace, and the items before have %zu", x->axis[0].n,
			f->ns);
	f->least = SIZE_MAX;
	f->most = 0;
	f->wait = heads && f->listed && !f->sink->sorted && img_key(x, "sorted");
	for (size_t j = 0; j < n; j++) {
		const size_t end = !f->wait || j % TRACES_AHEAD ? 0 : j + TRACES_AHEAD;
		for (size_t k = j; k < end && k < n; k++)
			traces_expect(f->sink->headers, f->list[3 * (k % f->listed)]);
		if (heads)
			take_record(f, x, j);
		else
			make_header(f, x, j);
		put_trace(f, x);
	}
	if (heads && !f->listed && (f->least || f->most != x->axis[0].n - f->ns))
		die_of_samples(f, x);
}

int
traces_from_raw(struct traces_sink *s, const struct opt_program *program, int argc, char **argv)
{
	const struct opt_common *o = &s->common;
	struct traces_args args = {.format = -1, .dt_given = true, .heads = true};
	struct traces headers = {0};
	struct feed f = {.sink = s};
	bool picked = false;
	struct stats st;
	struct img x;
	char **path;
	size_t npath;

	opt_parse(program, argc, argv, s, &path, &npath);
	args.ns = s->ns;
	s->format = s->lead && s->word == 1 ? SEGY_IBM : SEGY_IEEE;
	s->little = !s->lead && s->word == 1;
	if ((s->ns || s->sorted) && !s->path)
		die_usage("%s goes with --headers", s->ns ? "--ns" : "--sorted");
	if (s->path) {
		if (s->word >= 0)
			die_usage("%s cannot differ from that of --headers: give one of them",
				  s->own);
		s->open(&headers, s->path, &args);
		s->headers = &headers;
		s->little = headers.little;
		s->format = headers.format;
	}
	stats_start(&st);
	f.in = raw_open(path, npath, o->max_bytes);
	f.out = raw_create(o->out, RAW_FOLLOW);
	for (; raw_next(f.in, &x); img_free(&x), st.items++) {
		put_item(&f, &x);
		picked |= f.listed > 0;
	}
	if (f.scratch)
		put_held(&f);
	if (s->headers)
		put_trailers(&f, picked);
	stats_add(&st, "traces", "%zu", f.trace);
	stats_close(&st, f.in, f.out, o);
	weir_free_all(f.held, f.list, f.place, f.raw, f.wide, f.data, f.record, f.old, f.fresh);
	traces_close(&headers);
	return 0;
}
