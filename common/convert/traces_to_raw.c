#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/stats.h"
#include "common/convert/traces.h"
#include "common/stream/raw.h"

const struct opt traces_table[] = {{'k', "key", OPT_WORD, offsetof(struct traces_args, key), "WORD",
				    "header word that a gather shares (cdp)", .words = TRACE_KEYS},
				   {0, "endian", OPT_WORD, offsetof(struct traces_args, order),
				    "ORDER", TRACE_ORDERS " (the one that fits)",
				    .words = TRACE_ORDERS},
				   {0, "dt", OPT_ABOVE, offsetof(struct traces_args, dt), "SECONDS",
				    "time between samples, whatever the headers say",
				    .seen = offsetof(struct traces_args, dt_given)},
				   {0}};

static const struct {
	const char *name;
	int at;
} keys[] = {{"none", -1}, {"tracl", 0}, {"tracr", 4}, {"fldr", 8},    {"tracf", 12},
	    {"ep", 16},	  {"cdp", 20},	{"cdpt", 24}, {"offset", 36}, {"sx", 72},
	    {"sy", 76},	  {"gx", 80},	{"gy", 84},   {"iline", 188}, {"xline", 192}};

/* The gather that is being read. */
struct gather {
	float *data;	/* [n][ns] */
	double *offset; /* n */
	double *x, *y;	/* n: from source to group; 0 when the header has no coordinates */
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
	g->offset = realloc(g->offset, room * sizeof *g->offset);
	g->x = realloc(g->x, room * sizeof *g->x);
	g->y = realloc(g->y, room * sizeof *g->y);
	if (!g->data || !g->offset || !g->x || !g->y)
		die("%s: trace %zu: no memory for the gather", t->name, t->trace);
	g->room = room;
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
	const int32_t scale = t->scaled_times ? trace_word(r + TRACE_SCALET, 2, t->swap) : 0;

	return scaled(trace_word(r + TRACE_DELRT, 2, t->swap), scale);
}

/* Adds the offset of the record r to the gather. */
static void
add_offset(struct gather *g, const struct traces *t, const unsigned char *r)
{
	const int32_t scale = trace_word(r + TRACE_SCALCO, 2, t->swap);
	const bool angles = trace_word(r + TRACE_COUNIT, 2, t->swap) > 1;
	double at[4]; /* sx, sy, gx, gy */

	for (size_t i = 0; i < 4; i++)
		at[i] = angles ? 0 : trace_word(r + TRACE_SX + 4 * i, 4, t->swap);
	g->offset[g->n] = trace_word(r + TRACE_OFFSET, 4, t->swap);
	g->group |= at[2] != 0 || at[3] != 0;
	g->x[g->n] = scaled(at[2] - at[0], scale);
	g->y[g->n] = scaled(at[3] - at[1], scale);
}

/* Reads the traces up to the next change of the key. Returns false at the end of the file. */
static bool
read_gather(struct traces *t, const struct traces_args *args, struct gather *g,
	    void (*decode)(const struct traces *t, float *to, const unsigned char *from))
{
	const int at = keys[args->key].at;
	const unsigned char *r;

	g->group = false;
	for (g->n = 0; (r = traces_peek(t)); traces_take(t)) {
		const int32_t key = at < 0 ? 0 : trace_word(r + at, 4, t->swap);
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
		decode(t, g->data + g->n * t->ns, r + t->head);
		add_offset(g, t, r);
		g->n++;
	}
	return g->n > 0;
}

static void
set_numbers(struct img *x, const char *key, const double *v, size_t n)
{
	char *text = weir_xalloc(n, 26), *s = text;

	for (size_t j = 0; j < n; j++)
		s += sprintf(s, j ? " %.15g" : "%.15g", v[j]);
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
		plane |= g->x[j] != 0 || g->y[j] != 0;
		line |= g->offset[j] != 0;
	}
	plane = plane && (line || g->group);
	if (line || !plane)
		set_numbers(x, "offsets", g->offset, g->n);
	if (!plane)
		return;
	set_numbers(x, "offset-x", g->x, g->n);
	set_numbers(x, "offset-y", g->y, g->n);
}

static void
put_gather(struct raw_out *out, const struct gather *g, const struct traces *t,
	   const struct traces_args *args)
{
	const size_t sizes[2] = {t->ns, g->n};
	struct img x;

	img_init(&x, IMG_F32, 2, sizes);
	x.axis[0].spacing = args->dt_given ? args->dt : t->dt / 1e6;
	x.axis[0].min = g->delay / 1e3;
	img_set_label(&x.axis[0], "t");
	img_set_unit(&x.axis[0], "s");
	img_set_label(&x.axis[1], "trace");
	if (keys[args->key].at >= 0)
		img_set_key(&x, keys[args->key].name, "%d", g->key);
	set_offsets(&x, g);
	opt_add_history(&x, &args->common);
	raw_head(out, &x);
	raw_write(out, g->data, g->n * t->ns);
	img_free(&x);
}

void
traces_to_raw(struct traces *t, const struct traces_args *args,
	      void (*decode)(const struct traces *t, float *to, const unsigned char *from))
{
	struct raw_out *out = raw_create(args->common.out, RAW_FOLLOW);
	struct gather g = {0};
	struct stats st;

	stats_start(&st);
	while (read_gather(t, args, &g, decode)) {
		stats_charge(&st, STATS_READ);
		put_gather(out, &g, t, args);
		stats_charge(&st, STATS_WRITE);
		st.items++;
	}
	st.bytes_in = t->bytes;
	stats_add(&st, "traces", "%zu", t->trace - 1);
	stats_close(&st, NULL, out, &args->common);
	free(g.data);
	free(g.offset);
	free(g.x);
	free(g.y);
}
