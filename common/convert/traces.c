#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/swap.h"
#include "common/convert/traces.h"
#include "common/stream/file.h"
#include "common/stream/foreign.h"

enum { ROOM = 1 << 20 }; /* bytes of the read buffer: three of the longest SU records */

static const bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

bool
traces_swapped(enum trace_order order)
{
	return host_is_little != (order == TRACE_LITTLE);
}

unsigned
trace_ushort(const unsigned char *at, bool swap)
{
	const bool little = host_is_little != swap;

	return little ? (unsigned)(at[0] | at[1] << 8) : (unsigned)(at[1] | at[0] << 8);
}

int32_t
trace_word(const unsigned char *at, size_t bytes, bool swap)
{
	unsigned char b[4];
	int32_t v;

	if (bytes == 2)
		return (int16_t)trace_ushort(at, swap);
	memcpy(b, at, 4);
	if (swap)
		swap_bytes(b, 1, 4);
	memcpy(&v, b, 4);
	return v;
}

void
trace_set(unsigned char *at, size_t bytes, long value, bool swap)
{
	const bool little = host_is_little != swap;

	for (size_t i = 0; i < bytes; i++)
		at[little ? i : bytes - 1 - i] = (unsigned char)((unsigned long)value >> 8 * i);
}

/* --- bytes ------------------------------------------------------------------------------------------------------ */

void
traces_open(struct traces *t, const char *path)
{
	*t = (struct traces){.f = file_open(path),
			     .name = file_name(path),
			     .head = TRACE_HEAD,
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

void
traces_close(struct traces *t)
{
	if (t->f && t->f != stdin)
		fclose(t->f);
	weir_free(t->buf);
	*t = (struct traces){0};
}

/* --- byte order --------------------------------------------------------------------------------------------------- */

/* What the first header says in one byte order. */
struct guess {
	unsigned ns, dt;

	/* The record ends at the end of the file, or before a header with the same ns and dt. */
	bool fits;
};

static struct guess
state(const unsigned char *first, bool swap)
{
	return (struct guess){trace_ushort(first + TRACE_NS, swap),
			      trace_ushort(first + TRACE_DT, swap), false};
}

static void
find_fit(struct traces *t, struct guess *g, bool swap)
{
	const size_t record = TRACE_HEAD + (size_t)g->ns * 4;
	size_t got;
	const unsigned char *first = traces_look(t, record + TRACE_HEAD, &got),
			    *next = first + record;

	g->fits = g->ns && (got == record || (got == record + TRACE_HEAD &&
					      trace_ushort(next + TRACE_NS, swap) == g->ns &&
					      trace_ushort(next + TRACE_DT, swap) == g->dt));
}

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
 * Makes the guesses of both byte orders. The shorter record comes first, or that of the order that was given. When it fits and
 * is the likelier one anyway, the other is not tried: a pipe may not have its bytes before the reader has its first gather.
 */
static void
make_guesses(struct traces *t, const unsigned char *first, enum trace_order order,
	     struct guess g[2])
{
	for (int i = 0; i < 2; i++)
		g[i] = state(first, traces_swapped(i));
	const int a = order == TRACE_DETECT ? g[1].ns < g[0].ns : order, b = !a;

	find_fit(t, &g[a], traces_swapped(a));
	struct guess other = g[b];
	other.fits = true;
	if (!g[a].fits || (order == TRACE_DETECT && !likelier(g[a], other)))
		find_fit(t, &g[b], traces_swapped(b));
}

void
traces_refuse_foreign(const struct traces *t, const void *first, size_t n, const char *wants)
{
	const char *what = foreign_what(first, n);

	if (what && !strncmp(weir_prog, "rawto", 5))
		die("%s: this is %.*s, and --headers takes %s", t->name, (int)strcspn(what, ";"),
		    what, wants);
	if (what)
		die("%s: this is %s", t->name, what);
}

void
traces_check_dt(const struct traces *t, const char *where)
{
	const int below = (int)t->dt - (UINT16_MAX + 1);
	const bool negative = t->dt > INT16_MAX && below % 250 == 0;

	if (!t->dt || negative)
		die("%s: %sdt is %d; give --dt=SECONDS", t->name, where, negative ? below : 0);
}

void
traces_open_su(struct traces *t, const char *path, enum trace_order order, bool dt_given)
{
	static const char *const names[] = {"big", "little"};
	struct guess g[2] = {0};
	const unsigned char *first;
	size_t got;

	traces_open(t, path);
	first = traces_look(t, TRACE_HEAD, &got);
	if (!got)
		die("%s: empty input", t->name);
	if (got == TRACE_HEAD) {
		make_guesses(t, first, order, g);
		first = traces_look(t, FOREIGN_MAGIC, &got);
	}
	/* The number of a trace may have any bytes, so they decide only where no trace follows. */
	if (!g[0].fits && !g[1].fits)
		traces_refuse_foreign(t, first, got, "SU");
	if (got < TRACE_HEAD)
		die("%s: %zu bytes are no trace: its header alone has 240", t->name, got);
	if (order == TRACE_DETECT)
		order = likelier(g[1], g[0]) ? TRACE_LITTLE : TRACE_BIG;
	else if (!g[order].fits && g[!order].fits)
		die("%s: not %s-endian: ns would be %u, dt %u; %s-endian they are %u and %u",
		    t->name, names[order], g[order].ns, g[order].dt, names[!order], g[!order].ns,
		    g[!order].dt);
	t->swap = traces_swapped(order);
	t->ns = t->stated = g[order].ns;
	t->dt = dt_given ? 0 : g[order].dt;
	if (!t->ns)
		die("%s: trace 1: ns is 0", t->name);
	if (!dt_given)
		traces_check_dt(t, "trace 1: ");
}

/* --- records ------------------------------------------------------------------------------------------------------ */

const unsigned char *
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
	ns = trace_ushort(r + TRACE_NS, t->swap);
	dt = trace_ushort(r + TRACE_DT, t->swap);
	if (ns != t->stated && !(t->lax && !ns))
		die("%s: trace %zu: ns changes from %u to %u", t->name, t->trace, t->stated, ns);
	if (t->dt && dt != t->dt && !(t->lax && !dt))
		die("%s: trace %zu: dt changes from %u to %u us; --dt=SECONDS overrides both",
		    t->name, t->trace, t->dt, dt);
	if (got < record)
		die("%s: trace %zu: truncated: %zu of %zu bytes", t->name, t->trace, got, record);
	return r;
}

void
traces_take(struct traces *t)
{
	traces_skip(t, t->head + t->ns * t->sample);
	t->trace++;
}
