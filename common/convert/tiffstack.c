/* link: -ltiff -ljansson */
/* What the tag ImageDescription says of a stack: ImageJ's lines, OME-XML, and the JSON of tifffile. */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/base/words.h"
#include "common/convert/tiff.h"

/* --- values of the text ---------------------------------------------------------------------------------------------- */

/* The value in ImageJ's line name=value; NULL when it is missing. */
static const char *
line_value(const char *text, const char *name)
{
	const size_t n = strlen(name);

	for (const char *s = text; s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
		if (!strncmp(s, name, n) && s[n] == '=')
			return s + n + 1;
	return NULL;
}

/* A start tag: its attributes, and the '>' or "/>" behind them. */
struct element {
	const char *at, *end;
};

/* Finds the next tag of that name, with any prefix, in [s, end). "/Name" is an end tag. */
static bool
find_element(const char *s, const char *end, const char *name, struct element *e)
{
	static const char *const skipped[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}};
	const bool closes = *name == '/';

	for (; s < end && (s = memchr(s, '<', (size_t)(end - s))); s++) {
		const char *word = s + 1 + (s[1] == '/');
		const size_t n = strcspn(word, " \t\r\n/>");
		const char *colon = memchr(word, ':', n);
		const char *local = colon ? colon + 1 : word;
		for (int i = 0; i < 2; i++)
			if (!strncmp(s, skipped[i][0], strlen(skipped[i][0])) &&
			    !(s = strstr(s, skipped[i][1])))
				return false;
		if (s >= end)
			return false;
		if ((s[1] == '/') != closes ||
		    (size_t)(word + n - local) != strlen(name + closes) ||
		    strncmp(local, name + closes, (size_t)(word + n - local)) != 0)
			continue;
		const char *last = word + n;
		for (; *last && *last != '>'; last++)
			if (*last == '"' || *last == '\'')
				last = strchr(last + 1, *last) ? strchr(last + 1, *last)
							       : last + strlen(last) - 1;
		*e = (struct element){word + n, last};
		return true;
	}
	return false;
}

/* Where the contents of an element end: at its end tag `close`, in front of `end`. */
static const char *
contents_end(const struct element *e, const char *end, const char *close)
{
	struct element tag;

	if (e->end[-1] == '/')
		return e->end;
	return find_element(e->end, end, close, &tag) ? tag.at : end;
}

/* The value of the attribute name="value", up to its quote; NULL when it is missing. */
static const char *
attribute(const struct element *e, const char *name)
{
	const size_t n = strlen(name);

	for (const char *s = e->at; (s = strstr(s, name)) && s < e->end; s += n)
		if (strchr(" \t\n\r", s[-1]) && s[n] == '=' &&
		    (s[n + 1] == '"' || s[n + 1] == '\''))
			return s + n + 2;
	return NULL;
}

/* The attribute as a place counted from 0; SIZE_MAX where it is none. */
static size_t
place_at(const struct element *e, const char *name, size_t otherwise)
{
	const char *s = attribute(e, name);
	const double v = s ? strtod(s, NULL) : 0;

	return !s ? otherwise : v >= 0 && v <= 0x1p40 && v == floor(v) ? (size_t)v : SIZE_MAX;
}

static size_t
count_at(const char *s)
{
	const double v = s ? strtod(s, NULL) : 1;

	return v >= 1 && v <= 0x1p40 && v == floor(v) ? (size_t)v : 0;
}

static double
distance_at(const char *s)
{
	const double v = s ? strtod(s, NULL) : NAN;

	return isfinite(v) && v > 0 ? v : NAN;
}

/* Copies text up to one of the characters in `ends`. \u00B5 and the micro sign become u, as in um. */
static void
take_unit(const char *s, const char *ends, char unit[16])
{
	size_t n = 0;

	unit[0] = 0;
	while (s && *s && !strchr(ends, *s) && n < 15) {
		if (!strncmp(s, "\\u00B5", 6) || !strncmp(s, "\xc2\xb5", 2) ||
		    !strncmp(s, "\xce\xbc", 2)) {
			unit[n++] = 'u';
			s += *s == '\\' ? 6 : 2;
		} else {
			unit[n++] = *s == '"' || (unsigned char)*s < ' ' ? '?' : *s;
			s++;
		}
	}
	unit[n] = 0;
	if (!strcmp(unit, "micron"))
		strcpy(unit, "um");
}

/* Reads a time and its unit, which ends at one of `ends`. Returns seconds; NaN when one of them is malformed. */
static double
seconds_at(const char *s, const char *unit, const char *ends)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"", 1},	   {"s", 1},	   {"sec", 1},	 {"seconds", 1},
		     {"ms", 1e-3}, {"msec", 1e-3}, {"us", 1e-6}, {"ns", 1e-9},
		     {"min", 60},  {"h", 3600},	   {"d", 86400}};
	char name[16];

	take_unit(unit, ends, name);
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(name, units[i].name))
			return distance_at(s) * units[i].seconds;
	return NAN;
}

static void
add_axis(struct stackmeta *m, char name, size_t n)
{
	const size_t used = strlen(m->order);

	if (!n || !weir_mul(m->n, n, &m->n))
		m->n = 0;
	if (n <= 1 || used == sizeof m->order - 1)
		return;
	m->order[used] = name;
	m->size[used] = n;
}

/* --- ImageJ ---------------------------------------------------------------------------------------------------------- */

/* Adds the axes in the order of order=, such as zct; ImageJ itself writes czt, and reads zct, too. */
static void
add_imagej_axes(const char *text, const struct stackpage *p, struct stackmeta *m)
{
	static const char *const orders[] = {"czt", "ctz", "zct", "ztc", "tcz", "tzc"};
	const char *given = line_value(text, "order"), *order = orders[0];
	const size_t images = count_at(line_value(text, "images"));
	size_t c = count_at(line_value(text, "channels"));
	const size_t z = count_at(line_value(text, "slices"));
	const size_t t = count_at(line_value(text, "frames"));

	for (size_t i = 0; given && i < sizeof orders / sizeof *orders; i++)
		if (!strncasecmp(given, orders[i], 3))
			order = orders[i];
	/* Some programs count the samples of a pixel as channels. */
	if (c > 1 && c == p->planes && images == z * t)
		c = 1;
	for (; *order; order++)
		add_axis(m, *order, *order == 'c' ? c : *order == 'z' ? z : t);
	if (m->n == 1)
		add_axis(m, 'n', images);
}

static void
read_imagej(const char *text, const struct stackpage *p, struct stackmeta *m)
{
	static const char *const units[] = {"unit", "yunit", "zunit"};

	m->imagej = true;
	m->n = 1;
	add_imagej_axes(text, p, m);
	m->spacing[2] = distance_at(line_value(text, "spacing"));
	m->interval = seconds_at(line_value(text, "finterval"), line_value(text, "tunit"), "\r\n");
	for (int i = 0; i < 3; i++) {
		const char *own = line_value(text, units[i]);
		take_unit(own ? own : line_value(text, "unit"), "\r\n", m->unit[i]);
	}
}

/* --- tifffile -------------------------------------------------------------------------------------------------------- */

/* The label of an axis by tifffile's letter for it; Q: of no known meaning. */
static char
letter_of(char c)
{
	return (char)(c == 'Q' ? ' ' : c == 'I' ? 'n' : tolower((unsigned char)c));
}

/* Reads {"shape": [3, 4, 5], "axes": "ZYX", ...}. The last axes are those of a page, and the others those of pages. */
static void
read_shaped(const char *text, const struct stackpage *p, struct stackmeta *m)
{
	json_t *root = json_loads(text, 0, NULL);
	const char *axes = json_string_value(json_object_get(root, "axes"));
	const json_t *list = json_object_get(root, "shape");
	size_t shape[IMG_MAXDIM], own = 1, n = json_array_size(list);

	n = n <= IMG_MAXDIM ? n : 0;
	for (size_t i = 0; i < n; i++)
		shape[i] = (size_t)json_integer_value(json_array_get(list, i));
	size_t lead = n;

	axes = axes && strlen(axes) == n ? axes : NULL;
	m->shaped = n > 0;
	while (lead && own < p->planes * p->w * p->h)
		own *= shape[--lead];
	m->n = own == p->planes * p->w * p->h;
	for (size_t i = lead; i-- > 0;)
		add_axis(m, axes ? letter_of(axes[i]) : ' ', shape[i]);
	if (!axes)
		m->plane[0] = 0; /* no axis has a label */
	for (size_t i = n, k = 0; axes && i-- > lead && k < 2;)
		if (axes[i] != 'S')
			m->plane[k++] = letter_of(axes[i]);
	m->run = json_is_true(json_object_get(root, "truncated"));
	const double spacing = json_number_value(json_object_get(root, "spacing"));
	const double interval = json_number_value(json_object_get(root, "finterval"));
	m->spacing[2] = spacing > 0 ? spacing : NAN;
	m->interval = interval > 0 ? interval : NAN;
	for (int i = 0; i < 3; i++)
		take_unit(json_string_value(json_object_get(root, "unit")), "\r\n", m->unit[i]);
	json_decref(root);
}

/* --- OME ------------------------------------------------------------------------------------------------------------- */

/* An element <Image>, of which <Pixels> says how large its axes are, and <TiffData> which pages it has. */
struct ome {
	const struct stackpage *p;
	const char *uuid; /* of the file; NULL: it has none */
	struct element pixels;
	const char *end; /* of the contents of pixels */
	char name[4];	 /* axes of pages, fastest first */
	size_t n[3];
};

/* Some planes in a row, and the pages that hold them. */
struct planes {
	size_t first, n; /* planes; a channel of several samples is one */
	size_t page;
	const char *file; /* another file that holds them, up to its quote; NULL: this one */
};

static bool
open_ome(const char *text, size_t image, const struct stackpage *p, struct ome *o)
{
	const char *end = text + strlen(text), *order;
	struct element e = {text, text};

	*o = (struct ome){.p = p};
	if (!find_element(text, end, "OME", &e))
		return false;
	o->uuid = attribute(&e, "UUID");
	for (size_t i = 0; i <= image; i++) {
		if (i)
			e.end = o->end;
		if (!find_element(e.end, end, "Pixels", &e))
			return false;
		o->end = contents_end(&e, end, "/Pixels");
	}
	o->pixels = e;
	order = attribute(&e, "DimensionOrder");
	for (size_t i = 2, k = 0; order && i < strnlen(order, 5); i++) {
		char size[] = "Size?";
		if (!strchr("CZT", order[i]))
			return false;
		size[4] = order[i];
		o->name[k] = (char)tolower((unsigned char)order[i]);
		o->n[k++] = count_at(attribute(&o->pixels, size));
	}
	/* OME counts the samples of a pixel among the channels. */
	const bool channel = find_element(e.end, o->end, "Channel", &e);
	const char *own = channel ? attribute(&e, "SamplesPerPixel") : NULL;
	const size_t samples = own ? count_at(own) : p->planes;
	for (int k = 0; k < 3; k++)
		if (o->name[k] == 'c' && samples && o->n[k] % samples == 0)
			o->n[k] /= samples;
	return strlen(o->name) == 3;
}

/* Whether the text up to the quote or tag at its end is that of the other. */
static bool
same_text(const char *a, const char *b, bool any_case)
{
	const size_t n = strcspn(a, "\"'<");

	return n == strcspn(b, "\"'<") && !(any_case ? strncasecmp(a, b, n) : strncmp(a, b, n));
}

/* Returns NULL where the element <TiffData> speaks of this file, else the name of the other. */
static const char *
other_file(const struct ome *o, const struct element *data)
{
	struct element e;

	if (data->end[-1] == '/' || !o->p->name ||
	    !find_element(data->end, contents_end(data, o->end, "/TiffData"), "UUID", &e))
		return NULL;
	const char *name = attribute(&e, "FileName"), *own = strrchr(o->p->name, '/');
	const bool here = o->uuid ? same_text(*e.end ? e.end + 1 : e.end, o->uuid, false)
				  : name && same_text(own ? own + 1 : o->p->name, name, true);
	return here ? NULL : name ? name : "another";
}

/* Goes to the next <TiffData> behind *e. Returns false where there is none. r->n is 0 where its planes are none of the image. */
static bool
next_planes(const struct ome *o, struct element *e, struct planes *r)
{
	size_t stride = 1, all = 1;
	char name[] = "First?";

	if (!find_element(e->end, o->end, "TiffData", e))
		return false;
	*r = (struct planes){.page = place_at(e, "IFD", 0), .file = other_file(o, e)};
	bool good = true;
	for (int k = 0; k < 3; k++) {
		name[5] = (char)toupper((unsigned char)o->name[k]);
		const size_t at = place_at(e, name, 0);
		good &= at < o->n[k] && weir_mul(all, o->n[k], &all);
		r->first += good ? at * stride : 0;
		stride = all;
	}
	const size_t given = place_at(e, "NumPlanes", attribute(e, "IFD") ? 1 : 0);
	size_t n = place_at(e, "PlaneCount", given);
	n = r->page >= o->p->pages ? 0 : n && n < o->p->pages - r->page ? n : o->p->pages - r->page;
	r->n = !good ? 0 : n < all - r->first ? n : all - r->first;
	return true;
}

static void
read_ome(const struct ome *o, struct stackmeta *m)
{
	char name[] = "PhysicalSizeX", unit[] = "PhysicalSizeXUnit";
	struct element e = o->pixels;
	struct planes r;

	m->ome = true;
	m->n = 1;
	for (int k = 0; k < 3; k++)
		add_axis(m, o->name[k], o->n[k]);
	while (next_planes(o, &e, &r)) {
		m->placed = true;
		if (r.file && !m->file[0])
			snprintf(m->file, sizeof m->file, "%.*s", (int)strcspn(r.file, "\"'"),
				 r.file);
	}
	for (int i = 0; i < 3; i++) {
		name[12] = unit[12] = (char)('X' + i);
		m->spacing[i] = distance_at(attribute(&o->pixels, name));
		take_unit(attribute(&o->pixels, unit), "\"'", m->unit[i]);
		if (!isnan(m->spacing[i]) && !m->unit[i][0])
			strcpy(m->unit[i], "um"); /* the default of OME's schema */
	}
	m->interval = seconds_at(attribute(&o->pixels, "TimeIncrement"),
				 attribute(&o->pixels, "TimeIncrementUnit"), "\"'");
}

size_t *
stackmeta_pages(const char *text, size_t image, const struct stackpage *p,
		const struct stackmeta *m)
{
	struct ome o;
	struct planes r;
	size_t *page = weir_xalloc(m->n, sizeof *page);

	memset(page, 0xff, m->n * sizeof *page); /* SIZE_MAX */
	if (!open_ome(text, image, p, &o))
		return page;
	for (struct element e = o.pixels; next_planes(&o, &e, &r);)
		for (size_t i = 0; i < r.n; i++)
			page[r.first + i] = r.page + i;
	return page;
}

bool
stackmeta_in_order(const char *text, const struct stackpage *p, const struct stackmeta *m)
{
	struct stackmeta more;

	if (m->n != p->pages) /* before memory for so many is taken */
		return false;
	size_t *page = stackmeta_pages(text, 0, p, m);
	bool good = !stackmeta_read(text, 1, p, &more);

	for (size_t i = 0; i < m->n; i++)
		good &= page[i] == i;
	weir_free(page);
	return good;
}

bool
stackmeta_read(const char *text, size_t image, const struct stackpage *p, struct stackmeta *m)
{
	struct ome o;

	*m = (struct stackmeta){.spacing = {NAN, NAN, NAN}, .interval = NAN, .plane = "xy"};
	if (!strncmp(text, "ImageJ=", 7) || !strncmp(text, "SCIFIO=", 7))
		read_imagej(text, p, m);
	else if (*text == '{' && strstr(text, "\"shape\""))
		read_shaped(text, p, m);
	else if (strstr(text, "OME") && open_ome(text, image, p, &o))
		read_ome(&o, m);
	return m->imagej || m->shaped || m->ome;
}

char *
stackmeta_set(const char *text, const char *name, const char *value)
{
	struct element pixels;
	const bool found = find_element(text, text + strlen(text), "Pixels", &pixels);
	const char *old = found ? attribute(&pixels, name) : NULL;
	const char *end = old ? strchr(old, old[-1]) : NULL;
	const size_t before = end ? (size_t)(old - text) : strlen(text);
	size_t room = 0;
	char *s = weir_xgrow(NULL, &room, strlen(text) + strlen(value) + 1, 1);

	memcpy(s, text, before);
	strcpy(s + before, end ? value : "");
	return strcat(s, end ? end : "");
}

bool
stackmeta_order(const struct stackmeta *m, char order[4])
{
	static const char own[] = "czt";
	bool sorted = true, once = true;
	size_t n = 0;

	*order = 0;
	for (const char *s = m->order; *s; s++) {
		const char name =
		    *s == 'c' || *s == 't' ? *s : 'z'; /* as stackmeta_print() counts */
		once &= !strchr(order, name);
		sorted &= !n || strchr(own, order[n - 1]) < strchr(own, name);
		if (n < 3)
			order[n++] = name;
		order[n] = 0;
	}
	for (const char *s = own; *s && once; s++)
		if (!strchr(order, *s)) {
			order[n++] = *s;
			order[n] = 0;
		}
	if (sorted && once)
		strcpy(order, own);
	return once;
}

void
stackmeta_print(const struct stackmeta *m, char *text, size_t room)
{
	size_t n[3] = {1, 1, 1};
	char order[4];

	for (size_t i = 0; m->order[i]; i++)
		n[m->order[i] == 'c' ? 0 : m->order[i] == 't' ? 2 : 1] *= m->size[i];
	snprintf(text, room, "ImageJ=1.54f\nimages=%zu\n", n[0] * n[1] * n[2]);
	const char *const names[] = {"channels", "slices", "frames"};
	for (int i = 0; i < 3; i++)
		if (n[i] > 1)
			word_append(text, room, "%s=%zu\n", names[i], n[i]);
	if (stackmeta_order(m, order) && strcmp(order, "czt") != 0)
		word_append(text, room, "order=%s\n", order);
	if ((n[0] > 1) + (n[1] > 1) + (n[2] > 1) > 1)
		word_append(text, room, "hyperstack=true\n");
	if (m->unit[0][0])
		word_append(text, room, "unit=%s\n", m->unit[0]);
	if (!isnan(m->spacing[2]))
		word_append(text, room, "spacing=%.17g\n", m->spacing[2]);
	if (!isnan(m->interval))
		word_append(text, room, "finterval=%.17g\n", m->interval);
	word_append(text, room, "loop=false\n");
}
