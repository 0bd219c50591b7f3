/* link: -ljansson */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/words.h"
#include "dptrace/args.h"

enum { WORD = 64 }; /* the longest number that is read */

void
points_point(struct points *p, double x, double y)
{
	p->xy = weir_xgrow(p->xy, &p->xy_room, p->nxy + 1, sizeof *p->xy);
	p->xy[p->nxy][0] = x;
	p->xy[p->nxy++][1] = y;
}

void
points_line(struct points *p, size_t n)
{
	p->line = weir_xgrow(p->line, &p->line_room, p->nline + 1, sizeof *p->line);
	p->line[p->nline++] = (struct dptrace_line){.n = n};
}

void
points_finish(struct points *p)
{
	for (size_t i = 0, at = 0; i < p->nline; at += p->line[i++].n)
		p->line[i].xy = (const double(*)[2])p->xy + at;
}

/* Notes the system that the text names for its places. Returns 0, or -1 with a sentence in why where it named another before. */
static int
points_system(struct points *p, unsigned epsg, struct why *why)
{
	if (epsg && p->epsg && epsg != p->epsg)
		return why_set(why, "places of EPSG:%u behind those of EPSG:%u: give one system",
			       epsg, p->epsg);
	p->epsg = epsg ? epsg : p->epsg;
	return 0;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/*
 * Reads the next word of *at..end as a number; blanks separate words. Returns 1, 0 when no word is left, or -1 with a
 * sentence in err.
 */
static int
next_number(const char **at, const char *end, double *v, struct why *why)
{
	char word[WORD];
	size_t n = 0;

	while (*at < end && is_blank(**at))
		++*at;
	while (*at < end && !is_blank(**at) && n + 1 < sizeof word)
		word[n++] = *(*at)++;
	word[n] = '\0';
	if (n == 0)
		return 0;
	if (strlen(word) != n || !opt_number(word, v) || !isfinite(*v))
		return why_set(why, "'%s' is not a finite number", word);
	return 1;
}

/*
 * Says whether *at..end holds a geometry of WKT, with or without the SRID of EWKT. If it does, *at moves to the name of
 * the geometry, and *epsg, which is 0, receives the SRID.
 */
static bool
is_wkt(const char **at, const char *end, unsigned *epsg)
{
	static const char srid[] = "SRID=";
	const char *from = *at;

	while (from < end && is_blank(*from))
		from++;
	if ((size_t)(end - from) >= sizeof srid - 1 && !strncasecmp(from, srid, sizeof srid - 1) &&
	    memchr(from, ';', (size_t)(end - from))) {
		for (from += sizeof srid - 1; isdigit((unsigned char)*from) && *epsg < 100000000;)
			*epsg = *epsg * 10 + (unsigned)(*from++ - '0');
		from = (const char *)memchr(from, ';', (size_t)(end - from)) + 1;
	}
	while (from < end && is_blank(*from))
		from++;
	if (from == end || !isalpha((unsigned char)*from) ||
	    !memchr(from, '(', (size_t)(end - from)))
		return false;
	*at = from;
	return true;
}

/* Parses a position of WKT: its first two numbers are x and y, a height and a measure may follow. */
static int
parse_position(struct points *p, const char *at, const char *end, struct why *why)
{
	double v[4];
	int n = 0, r;

	while (n < 4 && (r = next_number(&at, end, &v[n], why)) != 0) {
		if (r < 0)
			return -1;
		n++;
	}
	while (at < end && is_blank(*at))
		at++;
	if (n < 2 || at < end)
		return why_set(why, "a position of WKT has two to four numbers");
	points_point(p, v[0], v[1]);
	return 0;
}

/* The letters of the name at `at`, at most 40. */
static int
name_length(const char *at, const char *end)
{
	int n = 0;

	while (n < 40 && at + n < end && isalpha((unsigned char)at[n]))
		n++;
	return n;
}

/* Parses WKT's LINESTRING (x y, x y, ...), which fills at..end. */
static int
parse_wkt(struct points *p, const char *at, const char *end, struct why *why)
{
	static const char word[] = "LINESTRING";
	const size_t size = (size_t)(end - at);
	const char *open = memchr(at, '(', size), *shut = memchr(at, ')', size), *rest = shut;
	const size_t before = p->nxy;

	if (size < sizeof word || strncasecmp(at, word, sizeof word - 1) != 0)
		return why_set(why, "'%.*s': of WKT only LINESTRINGs are traced",
			       name_length(at, end), at);
	while (rest && ++rest < end && is_blank(*rest))
		;
	if (!open || !shut || shut < open || rest < end)
		return why_set(why, "a LINESTRING is (x y, x y, ...) and fills its line");
	for (at = open + 1; at <= shut;) {
		const char *comma = memchr(at, ',', (size_t)(shut - at));
		const char *stop = comma ? comma : shut;
		if (parse_position(p, at, stop, why))
			return -1;
		at = stop + 1;
	}
	points_line(p, p->nxy - before);
	return 0;
}

/* Parses one line of text up to its comment. */
static int
parse_line(struct points *p, const char *at, const char *end, struct why *why)
{
	const char *comment = memchr(at, '#', (size_t)(end - at));
	double xy[2];
	unsigned epsg = 0;
	size_t n = 0;
	int r;

	end = comment ? comment : end;
	if (is_wkt(&at, end, &epsg))
		return points_system(p, epsg, why) ? -1 : parse_wkt(p, at, end, why);
	while ((r = next_number(&at, end, &xy[n % 2], why)) > 0)
		if (++n % 2 == 0)
			points_point(p, xy[0], xy[1]);
	if (r < 0 || n == 0)
		return r;
	if (n % 2 || n < 4)
		return why_set(why, "%zu number%s: a polyline is x y x y ...", n,
			       n == 1 ? "" : "s");
	points_line(p, n / 2);
	return 0;
}

/*
 * Adds the places of a LineString. Numbers of a position after the second, as a height, are not used. This and the others
 * return 0, or -1 with a sentence in why.
 */
static int
add_positions(struct points *p, const json_t *positions, struct why *why)
{
	const size_t n = json_array_size(positions);
	const json_t *xy;
	size_t i;

	json_array_foreach(positions, i, xy)
	{
		const json_t *x = json_array_get(xy, 0), *y = json_array_get(xy, 1);
		if (!json_is_number(x) || !json_is_number(y))
			return why_set(why, "a position has two numbers");
		points_point(p, json_number_value(x), json_number_value(y));
	}
	if (n < 2)
		return why_set(why, "%zu position%s: a LineString has two or more", n,
			       n == 1 ? "" : "s");
	points_line(p, n);
	return 0;
}

/* The system that a value of GeoJSON names by its member crs; 0: none. */
static unsigned
named_system(const json_t *v)
{
	const json_t *named = json_object_get(json_object_get(v, "crs"), "properties");

	return crs_number(json_string_value(json_object_get(named, "name")));
}

/* Adds the lines of a geometry. Another geometry than LineStrings is an error. */
static int
add_geometry(struct points *p, const json_t *g, struct why *why)
{
	const char *type = json_string_value(json_object_get(g, "type"));
	const json_t *at = json_object_get(g, "coordinates"), *part;
	size_t i;

	if (points_system(p, named_system(g), why))
		return -1;

	json_array_foreach(json_object_get(g, "geometries"), i, part)
	{
		if (add_geometry(p, part, why))
			return -1;
	}
	if (!type || !json_is_array(at))
		return 0;
	if (!strcmp(type, "LineString"))
		return add_positions(p, at, why);
	if (strcmp(type, "MultiLineString"))
		return why_set(why, "a %.32s: only LineStrings are traced", type);
	json_array_foreach(at, i, part)
	{
		if (add_positions(p, part, why))
			return -1;
	}
	return 0;
}

/* Adds the lines of a value: a geometry, a Feature or a FeatureCollection. */
static int
add_value(struct points *p, const json_t *v, struct why *why)
{
	const json_t *geometry = json_object_get(v, "geometry"), *feature;
	struct why of;
	size_t i;

	if (points_system(p, named_system(v), why))
		return -1;
	json_array_foreach(json_object_get(v, "features"), i, feature)
	{
		if (add_value(p, feature, &of))
			return why_set(why, "feature %zu: %s", i, of.text);
	}
	return add_geometry(p, geometry ? geometry : v, why);
}

/*
 * Adds the LineStrings of a text in GeoJSON, one value after another, in order. RFC 8142 puts a record separator before each
 * of them.
 */
static int
parse_geojson(struct points *p, const char *at, const char *end, struct why *why)
{
	struct why of;

	for (size_t row = 1; at < end;) {
		if (is_blank(*at) || *at == '\n' || *at == '\x1e') {
			row += *at++ == '\n';
			continue;
		}
		json_error_t e;
		json_t *v = json_loadb(
		    at, (size_t)(end - at),
		    JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &e);
		if (!v)
			return why_set(why, "line %zu: malformed GeoJSON: %s",
				       row + (size_t)(e.line > 1 ? e.line - 1 : 0),
				       *e.text ? e.text : "no memory");
		const int bad = add_value(p, v, &of);
		json_decref(v);
		if (bad)
			return why_set(why, "line %zu: %s", row, of.text);
		for (const char *stop = at + e.position; at < stop; at++)
			row += *at == '\n';
	}
	return 0;
}

int
points_parse(struct points *p, const char *text, size_t n, struct why *why)
{
	const char *end = text + n, *at = text;
	struct why of;
	size_t row = 1, before = p->nline, blanks = 0;

	while (blanks < n && strchr(" \t\r\n\x1e", text[blanks]))
		blanks++;
	if (blanks < n && text[blanks] == '{') {
		if (parse_geojson(p, text, end, why))
			return -1;
		at = end;
	}
	for (; at < end; row++) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		if (parse_line(p, at, nl ? nl : end, &of))
			return why_set(why, "line %zu: %s", row, of.text);
		at = nl ? nl + 1 : end;
	}
	return p->nline > before ? 0 : why_set(why, "no points");
}

/* Reads the six numbers of text, lines or not; what: a word for messages. Returns 0, or -1 with a sentence in why. */
static int
parse_six(double v[6], const char *what, const char *text, struct why *why)
{
	bool good = word_reals(text, ' ', v, 6) == 6;

	for (int i = 0; good && i < 6; i++)
		good = isfinite(v[i]);
	return good ? 0 : why_set(why, "%s has six finite numbers, and nothing else", what);
}

static bool
is_flat(const double world[6])
{
	return world[0] * world[3] - world[1] * world[2] == 0;
}

int
world_parse(double world[6], const char *text, struct why *why)
{
	if (parse_six(world, "a world file", text, why))
		return -1;
	return is_flat(world) ? why_set(why, "the first four numbers map the picture onto a line")
			      : 0;
}

int
geotransform_parse(double world[6], const char *text, struct why *why)
{
	double g[6];

	if (parse_six(g, "a geotransform", text, why))
		return -1;
	const double map[6] = {
	    g[1], g[4], g[2], g[5], g[0] + (g[1] + g[2]) / 2, g[3] + (g[4] + g[5]) / 2};
	memcpy(world, map, sizeof map);
	return is_flat(map) ? why_set(why, "a geotransform that maps the picture onto a line") : 0;
}

struct points
points_share(const struct points *all, const struct share *mine, size_t *first)
{
	struct points share = *all;
	size_t end;

	share_range(mine, all->nline, first, &end);
	share.line += *first;
	share.nline = end - *first;
	return share;
}

void
points_free(struct points *p)
{
	weir_free_all(p->line, p->xy);
	*p = (struct points){0};
}

struct points
points_place(const struct points *p, const double *world, double x0, double y0)
{
	struct points to = {.line = weir_xalloc(p->nline, sizeof *p->line),
			    .xy = weir_xalloc(p->nxy, sizeof *p->xy),
			    .nline = p->nline,
			    .nxy = p->nxy};

	memcpy(to.xy, p->xy, p->nxy * sizeof *p->xy);
	for (size_t i = 0; i < p->nxy; i++) {
		double *xy = to.xy[i];
		if (world) {
			const double x = xy[0] - world[4], y = xy[1] - world[5],
				     size = world[0] * world[3] - world[1] * world[2];
			xy[0] = (world[3] * x - world[2] * y) / size;
			xy[1] = (world[0] * y - world[1] * x) / size;
		}
		xy[0] -= x0;
		xy[1] -= y0;
	}
	for (size_t i = 0; i < p->nline; i++) {
		to.line[i] = p->line[i];
		to.line[i].xy =
		    (const double(*)[2])to.xy + (p->line[i].xy - (const double(*)[2])p->xy);
	}
	return to;
}
