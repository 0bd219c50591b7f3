#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "dptrace/resolve.h"
#include "dptrace/text/points.h"

static int points_point(struct points *p, double x, double y);
static int points_line(struct points *p, size_t n, bool closed);

/* ---- features ---- */

/* The largest size of a sample. */
#define MOST (FLT_MAX / 4)

/* Work of fewer samples than this stays on one thread. */
enum { SHARED = 1 << 16 };

/* Pixels of a block whose means are held at once. */
enum { BLOCK = 2048 };

/* Reads row y as [w][c]. Pixels that the mask leaves out become 0. */
static void
load_row(double *row, const struct img *x, const struct img_picture *p, size_t y,
	 const unsigned char *mask)
{
	const size_t n = p->w * p->c;

	sample_load(row, (const char *)x->data + y * n * img_type_size(x->type), x->type, n);
	for (size_t i = 0; mask && i < p->w; i++)
		for (size_t c = 0; c < p->c && !mask[y * p->w + i]; c++)
			row[i * p->c + c] = 0;
}

CPU_INLINE bool
deal_planes(float *restrict v, size_t stride, const double *restrict row, size_t w, size_t c)
{
	int bad = 0;

	for (size_t k = 0; k < c; k++)
		for (size_t i = 0; i < w; i++) {
			const double s = row[i * c + k];
			const int fits = __builtin_fabs(s) <= (double)MOST;
			v[k * stride + i] = fits ? (float)s : 0;
			bad |= !fits;
		}
	return bad;
}

/* Distributes a row to its planes, which are stride floats apart. Returns whether a sample is no number or too large. */
WEIR_CLONES_OF(bool, deal_row,
	       (float *restrict v, size_t stride, const double *restrict row, size_t w, size_t c),
	       (v, stride, row, w, c))
{
	if (c == 3)
		return deal_planes(v, stride, row, w, 3);
	return deal_planes(v, stride, row, w, c);
}

/* The sentence about the first sample that deal_row() refuses. Returns -1. */
static int
name_bad(double *row, const struct img *x, const struct img_picture *p, const unsigned char *mask,
	 char err[DPTRACE_ERR])
{
	for (size_t y = 0; y < p->h; y++) {
		load_row(row, x, p, y, mask);
		for (size_t i = 0; i < p->w * p->c; i++)
			if (!(fabs(row[i]) <= (double)MOST))
				return dptrace_fail(
				    err,
				    "sample %zu,%zu is %g: NaN, infinite and huge samples have no "
				    "place here",
				    i / p->c, y, real_shown(row[i]));
	}
	return dptrace_fail(err, "samples changed while they were read");
}

int
take_planes(float *v, const struct img *x, const struct img_picture *p, const unsigned char *mask,
	    int threads, char err[DPTRACE_ERR])
{
	const size_t n = p->w * p->c;
	const int team = p->h * n < SHARED ? 1 : threads;
	double *row = weir_alloc(n, (size_t)team * sizeof *row);
	bool bad = false;

	if (!row)
		return dptrace_fail(err, "no memory for %d rows of %zu samples", team, n);
#pragma omp parallel for num_threads(team) reduction(|| : bad)
	for (size_t y = 0; y < p->h; y++) {
		double *mine = row + (size_t)omp_get_thread_num() * n;
		load_row(mine, x, p, y, mask);
		bad = deal_row(v + y * p->w, p->w * p->h, mine, p->w, p->c) || bad;
	}
	const int r = bad ? name_bad(row, x, p, mask, err) : 0;
	weir_free(row);
	return r;
}

/* Moves n <= BLOCK pixels of planes that are stride floats apart. Returns whether a result is too large. */
WEIR_CLONES_OF(bool, move_block, (float *restrict v, size_t stride, size_t n, size_t c, float k),
	       (v, stride, n, c, k))
{
	float mean[BLOCK] = {0};
	int bad = 0;

	for (size_t p = 0; p < c; p++)
		for (size_t i = 0; i < n; i++)
			mean[i] += v[p * stride + i] / (float)c;
	for (size_t p = 0; p < c; p++)
		for (size_t i = 0; i < n; i++) {
			const float now = mean[i] + k * (v[p * stride + i] - mean[i]);
			v[p * stride + i] = now;
			bad |= !(__builtin_fabsf(now) <= MOST);
		}
	return bad;
}

int
take_chroma(float *v, size_t c, size_t n, double k, int threads, char err[DPTRACE_ERR])
{
	bool bad = false;

#pragma omp parallel for num_threads(threads) reduction(|| : bad) if (n * c >= SHARED)
	for (size_t i = 0; i < n; i += BLOCK)
		bad = move_block(v + i, n, n - i < BLOCK ? n - i : BLOCK, c, (float)k) || bad;
	return bad ? dptrace_fail(err, "a sample is too large for --chroma=%g", k) : 0;
}

/* Whether one of n scores is NaN or beyond 1e20. */
WEIR_CLONES_OF(bool, any_huge, (const float *v, size_t n), (v, n))
{
	int bad = 0;

	for (size_t i = 0; i < n; i++)
		bad |= !(__builtin_fabsf(v[i]) <= 1e20f);
	return bad;
}

/* Makes floats of the samples of x. */
static int
make_floats(struct img *x, size_t n, char err[DPTRACE_ERR])
{
	struct img y;

	img_copy_head(&y, x);
	y.type = IMG_F32;
	if (img_alloc(&y)) {
		img_free(&y);
		return dptrace_fail(err, "no memory for %zu scores", n);
	}
	for (size_t i = 0; i < n; i++) {
		double s;
		sample_load(&s, (const char *)x->data + i * img_type_size(x->type), x->type, 1);
		((float *)y.data)[i] = (float)s;
	}
	img_free(x);
	*x = y;
	return 0;
}

int
take_scores(struct img *x, char err[DPTRACE_ERR])
{
	size_t n;

	if (!img_count(x, &n))
		return dptrace_fail(err, "more scores than can be counted");
	if (x->type != IMG_F32 && make_floats(x, n, err))
		return -1;
	const float *v = x->data;
	if (!any_huge(v, n))
		return 0;
	for (size_t i = 0;; i++)
		if (!(fabsf(v[i]) <= 1e20f))
			return dptrace_fail(err, "score %zu is %g: beyond 1e20 there is no sum", i,
					    (double)v[i]);
}

/* ---- GeoJSON ---- */

/* A reader of GeoJSON that keeps the places of LineStrings and skips everything else. */

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

/*
 * Adds the polylines of a text in GeoJSON: its LineStrings and MultiLineStrings, in order. Another geometry with coordinates
 * is an error. Returns 0, or -1 with a sentence in err.
 */
static int
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

/* ---- points ---- */

enum { WORD = 64 }; /* the longest number that is read */

/* Makes room in the array *p of n elements for one more. The room is doubled when it is full. */
static bool
grow(void **p, size_t n, size_t size)
{
	void *q;

	if (n & (n - 1) || (n > 0 && n < 16))
		return true;
	if (!(q = weir_alloc(n ? 2 * n : 16, size)))
		return false;
	if (n)
		memcpy(q, *p, n * size);
	weir_free(*p);
	*p = q;
	return true;
}

/* Adds a point of the next line. Returns 0, or -1 when there is no memory. */
static int
points_point(struct points *p, double x, double y)
{
	if (!grow((void **)&p->xy, p->nxy, sizeof *p->xy))
		return -1;
	p->xy[p->nxy][0] = x;
	p->xy[p->nxy++][1] = y;
	return 0;
}

/* Makes a line of the last n points. Returns 0, or -1 when there is no memory. */
static int
points_line(struct points *p, size_t n, bool closed)
{
	if (!grow((void **)&p->line, p->nline, sizeof *p->line))
		return -1;
	p->line[p->nline++] = (struct dptrace_line){.n = n, .closed = closed};
	return 0;
}

int
points_add(struct points *p, const double (*xy)[2], size_t n, bool closed)
{
	for (size_t i = 0; i < n; i++)
		if (points_point(p, xy[i][0], xy[i][1]))
			return -1;
	return points_line(p, n, closed);
}

void
points_finish(struct points *p)
{
	for (size_t i = 0, at = 0; i < p->nline; at += p->line[i++].n)
		p->line[i].xy = (const double(*)[2])p->xy + at;
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
next_number(const char **at, const char *end, double *v, char err[DPTRACE_ERR])
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
		return dptrace_fail(err, "'%s' is not a finite number", word);
	return 1;
}

static const char *
end_of_line(const char *at, const char *end)
{
	const char *nl = memchr(at, '\n', (size_t)(end - at));

	return nl ? nl : end;
}

/*
 * Says whether *at..end holds a geometry of WKT, with or without the SRID of EWKT. If it does, *at moves to the name of
 * the geometry.
 */
static bool
is_wkt(const char **at, const char *end)
{
	static const char srid[] = "SRID=";
	const char *from = *at;

	while (from < end && is_blank(*from))
		from++;
	if ((size_t)(end - from) >= sizeof srid - 1 && !strncasecmp(from, srid, sizeof srid - 1) &&
	    memchr(from, ';', (size_t)(end - from)))
		from = (const char *)memchr(from, ';', (size_t)(end - from)) + 1;
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
parse_position(struct points *p, const char *at, const char *end, char err[DPTRACE_ERR])
{
	double v[4];
	int n = 0, r;

	while (n < 4 && (r = next_number(&at, end, &v[n], err)) != 0) {
		if (r < 0)
			return -1;
		n++;
	}
	while (at < end && is_blank(*at))
		at++;
	if (n < 2 || at < end)
		return dptrace_fail(err, "a position of WKT has two to four numbers");
	return points_point(p, v[0], v[1]) ? dptrace_fail(err, "no memory for %zu points", p->nxy)
					   : 0;
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
parse_wkt(struct points *p, const char *at, const char *end, bool closed, char err[DPTRACE_ERR])
{
	static const char word[] = "LINESTRING";
	const size_t size = (size_t)(end - at);
	const char *open = memchr(at, '(', size), *shut = memchr(at, ')', size), *rest = shut;
	size_t n = 0;

	if (size < sizeof word || strncasecmp(at, word, sizeof word - 1) != 0)
		return dptrace_fail(err, "'%.*s': of WKT only LINESTRINGs are traced",
				    name_length(at, end), at);
	while (rest && ++rest < end && is_blank(*rest))
		;
	if (!open || !shut || shut < open || rest < end)
		return dptrace_fail(err, "a LINESTRING is (x y, x y, ...) and fills its line");
	for (at = open + 1; at <= shut; n++) {
		const char *comma = memchr(at, ',', (size_t)(shut - at));
		const char *stop = comma ? comma : shut;
		if (parse_position(p, at, stop, err))
			return -1;
		at = stop + 1;
	}
	return points_line(p, n, closed) ? dptrace_fail(err, "no memory for %zu lines", p->nline)
					 : 0;
}

/* Parses one line of text up to its comment. */
static int
parse_line(struct points *p, const char *at, const char *end, bool closed, char err[DPTRACE_ERR])
{
	const char *comment = memchr(at, '#', (size_t)(end - at));
	double xy[2];
	size_t n = 0;
	int r;

	end = comment ? comment : end;
	if (is_wkt(&at, end))
		return parse_wkt(p, at, end, closed, err);
	while ((r = next_number(&at, end, &xy[n % 2], err)) > 0)
		if (++n % 2 == 0 && points_point(p, xy[0], xy[1]))
			return dptrace_fail(err, "no memory for %zu points", p->nxy);
	if (r < 0 || n == 0)
		return r;
	if (n % 2 || n < 4)
		return dptrace_fail(err, "%zu number%s: a polyline is x y x y ...", n,
				    n == 1 ? "" : "s");
	return points_line(p, n / 2, closed)
		   ? dptrace_fail(err, "no memory for %zu lines", p->nline)
		   : 0;
}

int
points_parse(struct points *p, const char *text, size_t n, bool closed, char err[DPTRACE_ERR])
{
	const char *end = text + n, *at = text;
	char why[DPTRACE_ERR - 32];
	size_t row = 1, before = p->nline, blanks = 0;

	while (blanks < n && strchr(" \t\r\n\x1e", text[blanks]))
		blanks++;
	if (blanks < n && text[blanks] == '{') {
		if (geojson_parse(p, text, n, closed, err))
			return -1;
		at = end;
	}
	for (; at < end; row++) {
		const char *nl = end_of_line(at, end);
		if (parse_line(p, at, nl, closed, err)) {
			snprintf(why, sizeof why, "%s", err);
			return dptrace_fail(err, "line %zu: %s", row, why);
		}
		at = nl < end ? nl + 1 : end;
	}
	return p->nline > before ? 0 : dptrace_fail(err, "no points");
}

int
world_parse(double world[6], const char *text, size_t n, char err[DPTRACE_ERR])
{
	const char *end = text + n, *at = text;
	int count = 0, r = 0;
	double v;

	while (at < end && r >= 0) {
		const char *nl = end_of_line(at, end);
		while ((r = next_number(&at, nl, &v, err)) > 0)
			if (count++ < 6)
				world[count - 1] = v;
		at = nl < end ? nl + 1 : end;
	}
	if (r < 0)
		return -1;
	if (count != 6)
		return dptrace_fail(err, "%d numbers: a world file has six", count);
	return world[0] * world[3] - world[1] * world[2] != 0
		   ? 0
		   : dptrace_fail(err, "the first four numbers map the picture onto a line");
}

int
geotransform_parse(double world[6], const char *text, char err[DPTRACE_ERR])
{
	const char *end = text + strlen(text);
	double g[6], v;
	int n = 0, r;

	while ((r = next_number(&text, end, &v, err)) > 0)
		if (n++ < 6)
			g[n - 1] = v;
	if (r < 0)
		return -1;
	if (n != 6)
		return dptrace_fail(err, "%d numbers: a geotransform has six", n);
	const double map[6] = {
	    g[1], g[4], g[2], g[5], g[0] + (g[1] + g[2]) / 2, g[3] + (g[4] + g[5]) / 2};
	memcpy(world, map, sizeof map);
	return map[0] * map[3] - map[1] * map[2] != 0
		   ? 0
		   : dptrace_fail(err, "a geotransform that maps the picture onto a line");
}

void
points_unmap(const double world[6], double xy[2])
{
	const double x = xy[0] - world[4], y = xy[1] - world[5],
		     size = world[0] * world[3] - world[1] * world[2];

	xy[0] = (world[3] * x - world[2] * y) / size;
	xy[1] = (world[0] * y - world[1] * x) / size;
}

int
points_copy(struct points *to, const struct points *p)
{
	*to = (struct points){.line = weir_alloc(p->nline, sizeof *p->line),
			      .xy = weir_alloc(p->nxy, sizeof *p->xy),
			      .nline = p->nline,
			      .nxy = p->nxy};
	if (!to->line || !to->xy) {
		points_free(to);
		return -1;
	}
	memcpy(to->xy, p->xy, p->nxy * sizeof *p->xy);
	for (size_t i = 0; i < p->nline; i++) {
		to->line[i] = p->line[i];
		to->line[i].xy =
		    (const double(*)[2])to->xy + (p->line[i].xy - (const double(*)[2])p->xy);
	}
	return 0;
}

void
points_free(struct points *p)
{
	weir_free(p->line);
	weir_free(p->xy);
	*p = (struct points){0};
}
