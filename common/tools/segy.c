/* link: -lsegyio */
#include <math.h>
#include <segyio/segy.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/swap.h"
#include "common/tools/segy.h"

static const bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

size_t
segy_sample_size(int format)
{
	switch (format) {
	case SEGY_IBM_FLOAT_4_BYTE:
	case SEGY_IEEE_FLOAT_4_BYTE:
	case SEGY_SIGNED_INTEGER_4_BYTE:
		return 4;
	case SEGY_SIGNED_SHORT_2_BYTE:
		return 2;
	case SEGY_SIGNED_CHAR_1_BYTE:
		return 1;
	default:
		return 0;
	}
}

/* Swaps bytes. libsegyio knows big-endian samples only, so those of a little-endian file are swapped before and after. */
static void
turn(bool swap, void *samples, size_t n, size_t size)
{
	if (swap != host_is_little && size > 1)
		swap_bytes(samples, n, size);
}

void
segy_decode(int format, bool swap, size_t n, float *to, const unsigned char *from)
{
	const size_t size = segy_sample_size(format);
	int32_t v;

	memcpy(to, from, n * size);
	turn(swap, to, n, size);
	segy_to_native(format, (long long)n, to);
	if (format == SEGY_IBM_FLOAT_4_BYTE || format == SEGY_IEEE_FLOAT_4_BYTE)
		return;
	for (size_t i = n; i-- > 0; to[i] = (float)v) {
		const unsigned char *at = (const unsigned char *)to + i * size;
		v = size == 1 ? (int8_t)*at : trace_word(at, size, false);
	}
}

/* The nearest integer that the format can hold; 0 for NaN. */
static int32_t
to_integer(float v, size_t size)
{
	const double top = size == 1 ? INT8_MAX : size == 2 ? INT16_MAX : INT32_MAX;

	return isnan(v) ? 0 : (int32_t)rint(fmin(fmax((double)v, -top - 1), top));
}

void
segy_encode(int format, bool swap, size_t n, unsigned char *to, const float *from)
{
	const size_t size = segy_sample_size(format);

	if (format == SEGY_IBM_FLOAT_4_BYTE || format == SEGY_IEEE_FLOAT_4_BYTE)
		memcpy(to, from, n * size);
	else
		for (size_t i = 0; i < n; i++)
			trace_set(to + i * size, size, to_integer(from[i], size), false);
	segy_from_native(format, (long long)n, to);
	turn(swap, to, n, size);
}

/* Whether the file is to be byte-swapped. The right order is the one in which the format's number is known. */
static bool
find_order(const struct traces *t, const unsigned char *lead, enum trace_order order)
{
	if (order != TRACE_DETECT)
		return traces_swapped(order);
	for (int o = TRACE_BIG; o <= TRACE_LITTLE; o++)
		if (segy_sample_size(trace_word(lead + SEGY_AT_FORMAT, 2, traces_swapped(o))))
			return traces_swapped(o);
	die("%s: sample format %d is none of 1 (IBM), 2, 3, 8 (integers), 5 (IEEE)", t->name,
	    trace_word(lead + SEGY_AT_FORMAT, 2, host_is_little));
}

static void
read_binary(struct segy *s, const unsigned char *lead, enum trace_order order)
{
	struct traces *t = &s->traces;
	int texts;

	t->swap = find_order(t, lead, order);
	s->format = trace_word(lead + SEGY_AT_FORMAT, 2, t->swap);
	t->sample = segy_sample_size(s->format);
	if (!t->sample)
		die("%s: sample format %d is none of 1 (IBM), 2, 3, 8 (integers), 5 (IEEE)",
		    t->name, s->format);
	t->ns = trace_ushort(lead + SEGY_AT_SAMPLES, t->swap);
	t->dt = trace_ushort(lead + SEGY_AT_INTERVAL, t->swap);
	texts = trace_word(lead + SEGY_AT_TEXTS, 2, t->swap);
	if (texts < 0 || texts > 300)
		die("%s: %d further text headers: up to 300 are read", t->name, texts);
	s->nlead = SEGY_LEAD + (size_t)texts * 3200;
}

void
segy_open_traces(struct segy *s, const char *path, enum trace_order order, bool dt_given)
{
	struct traces *t = &s->traces;
	const unsigned char *lead, *head;
	size_t got;

	*s = (struct segy){0};
	traces_open(t, path);
	lead = traces_look(t, SEGY_LEAD, &got);
	if (!got)
		die("%s: empty input", t->name);
	if (got < SEGY_LEAD)
		die("%s: %zu bytes are no SEG-Y file: its headers alone have 3600", t->name, got);
	read_binary(s, lead, order);
	lead = traces_look(t, s->nlead + TRACE_HEAD, &got);
	if (got < s->nlead + TRACE_HEAD)
		die("%s: no trace after the headers", t->name);
	head = lead + s->nlead;
	t->lax = true;
	if (!t->ns)
		t->ns = trace_ushort(head + TRACE_NS, t->swap);
	if (!t->dt)
		t->dt = trace_ushort(head + TRACE_DT, t->swap);
	if (!t->ns)
		die("%s: ns is 0", t->name);
	if (!t->dt && !dt_given)
		die("%s: dt is 0; give --dt=SECONDS", t->name);
	if (dt_given)
		t->dt = 0;
	s->lead = weir_xalloc(s->nlead, 1);
	memcpy(s->lead, lead, s->nlead);
	traces_skip(t, s->nlead);
}

void
segy_close_traces(struct segy *s)
{
	traces_close(&s->traces);
	weir_free(s->lead);
	*s = (struct segy){0};
}
