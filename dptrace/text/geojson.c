/* A reader of GeoJSON that keeps the places of LineStrings and skips everything else. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/opt.h"
#include "dptrace/resolve.h"
#include "dptrace/text/points.h"

enum { DEEP = 64 /* arrays and objects within each other, at most */ };

/* The state of the reader. Characters at..end are still to come. */
struct reader {
	const char *at, *end;
	struct points *p;
	bool closed;
	char *err;
};

static int read_value(struct reader *r, int depth);

/* The next character that is not blank, which stays. 0 is the end of the text, or a NUL byte. */
static char
next_char(struct reader *r)
{
	/* RFC 8142 puts a record separator before each Feature of a sequence. */
	while (r->at < r->end && (isspace((unsigned char)*r->at) || *r->at == '\x1e'))
		r->at++;
	return r->at < r->end ? *r->at : '\0';
}

/* Takes the character c, which must be next. */
static int
expect(struct reader *r, char c)
{
	if (next_char(r) != c)
		return dptrace_fail(r->err, "malformed GeoJSON: '%c' is missing", c);
	r->at++;
	return 0;
}

/* Takes a string; *text and *n receive what stands between its quotes, escapes included. */
static int
read_string(struct reader *r, const char **text, size_t *n)
{
	if (expect(r, '"'))
		return -1;
	for (*text = r->at; r->at < r->end && *r->at != '"'; r->at++)
		if (*r->at == '\\' && r->at + 1 < r->end)
			r->at++;
	*n = (size_t)(r->at - *text);
	return expect(r, '"');
}

/* Takes a number, true, false or null. *v receives the number; NaN for the words. */
static int
read_word(struct reader *r, double *v)
{
	char word[64];
	size_t n = 0;

	next_char(r);
	while (r->at < r->end && n + 1 < sizeof word && *r->at &&
	       (isalnum((unsigned char)*r->at) || strchr("+-.", *r->at)))
		word[n++] = *r->at++;
	word[n] = '\0';
	*v = NAN;
	if (!strcmp(word, "null") || !strcmp(word, "true") || !strcmp(word, "false"))
		return 0;
	return opt_number(word, v) && isfinite(*v)
		   ? 0
		   : dptrace_fail(r->err, "malformed GeoJSON: '%s' is no value", word);
}

/* Takes what separates the elements of an array or object. Returns 1 when another one follows, 0 after the end, or -1. */
static int
read_comma(struct reader *r, char end)
{
	if (next_char(r) == ',') {
		r->at++;
		return 1;
	}
	return expect(r, end) ? -1 : 0;
}

/* Takes the array that begins here, element by element. */
static int
read_array(struct reader *r, int (*element)(struct reader *r, int depth), int depth)
{
	int more = 1;

	if (expect(r, '['))
		return -1;
	if (next_char(r) == ']')
		return expect(r, ']');
	while (more > 0)
		more = element(r, depth) ? -1 : read_comma(r, ']');
	return more;
}

/* Takes a position [x, y, ...]; numbers after the second, as a height, are not used. */
static int
read_position(struct reader *r, int depth)
{
	double xy[2], v;
	size_t n = 0;
	int more = 1;

	(void)depth;
	if (expect(r, '['))
		return -1;
	for (; more > 0; n++) {
		if (read_word(r, &v))
			return -1;
		if (n < 2)
			xy[n] = v;
		more = read_comma(r, ']');
	}
	if (more < 0)
		return -1;
	if (n < 2 || isnan(xy[0]) || isnan(xy[1]))
		return dptrace_fail(r->err, "a position has two numbers");
	return points_point(r->p, xy[0], xy[1]) ? dptrace_fail(r->err, "no memory for points") : 0;
}

static int
read_line(struct reader *r, int depth)
{
	const size_t before = r->p->nxy;

	if (read_array(r, read_position, depth))
		return -1;
	if (r->p->nxy - before < 2)
		return dptrace_fail(r->err, "%zu position%s: a LineString has two or more",
				    r->p->nxy - before, r->p->nxy - before == 1 ? "" : "s");
	return points_line(r->p, r->p->nxy - before, r->closed)
		   ? dptrace_fail(r->err, "no memory for lines")
		   : 0;
}

/* Reads the coordinates at `at` of a geometry of that type, and goes back to where the reader was. */
static int
read_geometry(struct reader *r, const char *type, size_t n, const char *at)
{
	struct reader inside = *r;
	const bool many = n == 15 && !memcmp(type, "MultiLineString", n);

	inside.at = at;
	if (n == 10 && !memcmp(type, "LineString", n))
		return read_line(&inside, 0);
	if (!many)
		return dptrace_fail(r->err, "a %.*s: only LineStrings are traced",
				    n < 32 ? (int)n : 32, type);
	return read_array(&inside, read_line, 0);
}

static int
read_object(struct reader *r, int depth)
{
	const char *key, *type = NULL, *coordinates = NULL;
	size_t n, type_length = 0;
	int more = 1;

	if (expect(r, '{'))
		return -1;
	if (next_char(r) == '}')
		return expect(r, '}');
	while (more > 0) {
		if (read_string(r, &key, &n) || expect(r, ':'))
			return -1;
		const bool is_type = n == 4 && !memcmp(key, "type", n) && next_char(r) == '"';
		if (n == 11 && !memcmp(key, "coordinates", n) && next_char(r) == '[')
			coordinates = r->at;
		if (is_type ? read_string(r, &type, &type_length) : read_value(r, depth + 1))
			return -1;
		more = read_comma(r, '}');
	}
	if (more < 0)
		return -1;
	return type && coordinates ? read_geometry(r, type, type_length, coordinates) : 0;
}

static int
read_value(struct reader *r, int depth)
{
	const char *text;
	size_t n;
	double v;

	if (depth > DEEP)
		return dptrace_fail(r->err, "GeoJSON of more than %d levels", DEEP);
	switch (next_char(r)) {
	case '{':
		return read_object(r, depth);
	case '[':
		return read_array(r, read_value, depth + 1);
	case '"':
		return read_string(r, &text, &n);
	default:
		return read_word(r, &v);
	}
}

int
geojson_parse(struct points *p, const char *text, size_t n, bool closed, char err[DPTRACE_ERR])
{
	struct reader r = {text, text + n, p, closed, err};
	char why[DPTRACE_ERR - 32];
	size_t row = 1;
	int bad = 0;

	while (!bad && next_char(&r))
		bad = read_value(&r, 0);
	if (!bad && r.at < r.end)
		bad = dptrace_fail(err, "malformed GeoJSON: a NUL byte");
	if (!bad)
		return 0;
	for (const char *at = text; at < r.at; at++)
		row += *at == '\n';
	snprintf(why, sizeof why, "%s", err);
	return dptrace_fail(err, "line %zu: %s", row, why);
}
