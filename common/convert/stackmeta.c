#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/convert/stackmeta.h"

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

/* The value of the attribute name="value" in the element that begins at s; NULL when it is missing. */
static const char *
attribute(const char *s, const char *name)
{
	const size_t n = strlen(name);

	for (const char *end = strchr(s, '>'); end && (s = strstr(s, name)) && s < end; s += n)
		if (strchr(" \t\n\r", s[-1]) && s[n] == '=' &&
		    (s[n + 1] == '"' || s[n + 1] == '\''))
			return s + n + 2;
	return NULL;
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
	if (n <= 1 || used == 3)
		return;
	m->order[used] = name;
	m->size[used] = n;
}

/* --- the two formats ------------------------------------------------------------------------------------------------- */

static void
read_imagej(const char *text, struct stackmeta *m)
{
	static const char *const units[] = {"unit", "yunit", "zunit"};

	m->imagej = true;
	m->n = 1;
	add_axis(m, 'c', count_at(line_value(text, "channels")));
	add_axis(m, 'z', count_at(line_value(text, "slices")));
	add_axis(m, 't', count_at(line_value(text, "frames")));
	if (m->n == 1 && line_value(text, "images"))
		add_axis(m, 'n', count_at(line_value(text, "images")));
	m->spacing[2] = distance_at(line_value(text, "spacing"));
	m->interval = seconds_at(line_value(text, "finterval"), line_value(text, "tunit"), "\n");
	for (int i = 0; i < 3; i++) {
		const char *own = line_value(text, units[i]);
		take_unit(own ? own : line_value(text, "unit"), "\n", m->unit[i]);
	}
}

static void
read_ome(const char *pixels, size_t planes, struct stackmeta *m)
{
	const char *const sizes[] = {"SizeC", "SizeZ", "SizeT"};
	const char *order = attribute(pixels, "DimensionOrder");
	char name[] = "PhysicalSizeX", unit[] = "PhysicalSizeXUnit";

	m->ome = true;
	m->n = 1;
	for (size_t i = 2; order && i < strnlen(order, 5); i++)
		for (int k = 0; k < 3; k++)
			if (order[i] == sizes[k][4]) {
				size_t n = count_at(attribute(pixels, sizes[k]));
				if (k == 0 && planes && n % planes == 0)
					n /= planes;
				add_axis(m, (char)(sizes[k][4] - 'A' + 'a'), n);
			}
	for (int i = 0; i < 3; i++) {
		name[12] = unit[12] = (char)('X' + i);
		m->spacing[i] = distance_at(attribute(pixels, name));
		take_unit(attribute(pixels, unit), "\"'", m->unit[i]);
		if (!isnan(m->spacing[i]) && !m->unit[i][0])
			strcpy(m->unit[i], "um"); /* the default of OME's schema */
	}
	m->interval = seconds_at(attribute(pixels, "TimeIncrement"),
				 attribute(pixels, "TimeIncrementUnit"), "\"'");
}

void
stackmeta_read(const char *text, size_t planes, struct stackmeta *m)
{
	const char *pixels;

	*m = (struct stackmeta){.spacing = {NAN, NAN, NAN}, .interval = NAN};
	if (!strncmp(text, "ImageJ=", 7))
		read_imagej(text, m);
	else if (strstr(text, "<OME") && (pixels = strstr(text, "<Pixels")))
		read_ome(pixels + 7, planes, m);
}

char *
stackmeta_set(const char *text, const char *name, const char *value)
{
	const char *pixels = strstr(text, "<Pixels");
	const char *old = pixels ? attribute(pixels + 7, name) : NULL;
	const char *end = old ? strchr(old, old[-1]) : NULL;
	const size_t before = end ? (size_t)(old - text) : strlen(text);
	char *s = malloc(strlen(text) + strlen(value) + 1);

	if (!s)
		return NULL;
	memcpy(s, text, before);
	strcpy(s + before, end ? value : "");
	return strcat(s, end ? end : "");
}

void
stackmeta_print(const struct stackmeta *m, char *text, size_t room)
{
	size_t n[3] = {1, 1, 1}, used;

	for (size_t i = 0; m->order[i]; i++)
		n[m->order[i] == 'c' ? 0 : m->order[i] == 't' ? 2 : 1] *= m->size[i];
	used = (size_t)snprintf(text, room, "ImageJ=1.54f\nimages=%zu\n", n[0] * n[1] * n[2]);
	const char *const names[] = {"channels", "slices", "frames"};
	for (int i = 0; i < 3; i++)
		if (n[i] > 1)
			used +=
			    (size_t)snprintf(text + used, room - used, "%s=%zu\n", names[i], n[i]);
	if ((n[0] > 1) + (n[1] > 1) + (n[2] > 1) > 1)
		used += (size_t)snprintf(text + used, room - used, "hyperstack=true\n");
	if (m->unit[0][0])
		used += (size_t)snprintf(text + used, room - used, "unit=%s\n", m->unit[0]);
	if (!isnan(m->spacing[2]))
		used +=
		    (size_t)snprintf(text + used, room - used, "spacing=%.17g\n", m->spacing[2]);
	if (!isnan(m->interval))
		used +=
		    (size_t)snprintf(text + used, room - used, "finterval=%.17g\n", m->interval);
	snprintf(text + used, room - used, "loop=false\n");
}
