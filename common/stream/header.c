/* The header of an item as text: reads and writes it. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/words.h"
#include "common/stream/img.h"
#include "common/stream/raw.h"

/* ---- the space in which an item lies: space, space directions, space origin, measurement frame ---- */

/*
 * Takes a vector "(a,b,c)", or "none", which gives NaN. The first vector of a header sets *dim, and the others must be as long.
 * *s moves behind it. Returns false when the text is malformed.
 */
static bool
take_vector(char **s, int *dim, double v[IMG_MAXSPACE])
{
	char *at = *s + strspn(*s, " \t");
	int n = 0;

	for (int i = 0; i < IMG_MAXSPACE; i++)
		v[i] = NAN;
	if (!strncasecmp(at, "none", 4)) {
		*s = at + 4;
		return true;
	}
	if (*at != '(')
		return false;
	do {
		char *end;
		if (n == IMG_MAXSPACE)
			return false;
		v[n] = strtod(++at, &end);
		if (end == at || isinf(v[n++]))
			return false;
		at = end + strspn(end, " \t");
	} while (*at == ',');
	if (*at != ')' || (*dim && *dim != n))
		return false;
	*dim = n;
	*s = at + 1;
	return true;
}

static bool
is_finite(const double *v, int n)
{
	for (int i = 0; i < n; i++)
		if (!isfinite(v[i]))
			return false;
	return n > 0;
}

static void
put_vector(FILE *f, const double *v, int n)
{
	for (int i = 0; i < n; i++)
		fprintf(f, "%s%.17g", i ? "," : " (", v[i]);
	fputc(')', f);
}

/* Writes all fields of the space, in the order that other readers need. */
static void
space_put(FILE *f, const struct img *x)
{
	bool directed = false;

	if (x->space.fields)
		fputs(x->space.fields, f);
	for (int i = 0; i < x->dim; i++)
		directed |= x->axis[i].directed;
	if (directed) {
		fputs("space directions:", f);
		for (int i = 0; i < x->dim; i++)
			if (x->axis[i].directed)
				put_vector(f, x->axis[i].step, x->space.dim);
			else
				fputs(" none", f);
		fputc('\n', f);
	}
	if (x->space.placed) {
		fputs("space origin:", f);
		put_vector(f, x->space.origin, x->space.dim);
		fputc('\n', f);
	}
}

/* ---- reading: refuses what weir-raw(5) lists. Pure ---- */

/* A header while it is parsed. Bit i of seen is set when field i of the table has been read. */
struct head {
	struct img *x;
	bool *swap;
	struct why *why;
	const char *field; /* the name of the one that is being read */
	unsigned long seen;
	bool little, has_endian;
	double max[IMG_MAXDIM]; /* axis maxs, which complete() converts to spacings */
};

/* --- the fields: each takes the text after the colon ----------------------------------------- */

static int
set_type(struct head *h, char *s)
{
	h->x->type = img_type_named(s);
	return h->x->type ? 0 : why_set(h->why, "type '%.40s' is not supported", s);
}

static int
set_dimension(struct head *h, char *s)
{
	const char *at = s;
	size_t d;

	if (!word_size(&at, 1, &d) || !word_none(at) || d > IMG_MAXDIM)
		return why_set(h->why, "dimension must be 1..%d", IMG_MAXDIM);
	h->x->dim = (int)d;
	for (int i = 0; i < h->x->dim; i++) {
		h->x->axis[i] = (struct img_axis){.spacing = NAN, .min = NAN};
		h->max[i] = NAN;
	}
	return 0;
}

static int
set_sizes(struct head *h, char *s)
{
	const char *at = s;
	size_t bytes;

	for (int i = 0; i < h->x->dim; i++)
		if (!word_size(&at, 1, &h->x->axis[i].n))
			return why_set(h->why, "sizes must be %d numbers >= 1, not '%.40s'",
				       h->x->dim, s);
	if (!word_none(at))
		return why_set(h->why, "sizes has more than %d numbers", h->x->dim);
	if (!img_count(h->x, &bytes) || !weir_mul(bytes, 8, NULL))
		return why_set(h->why, "the product of the sizes overflows");
	return 0;
}

static int
set_kinds(struct head *h, char *s)
{
	for (int i = 0; i < h->x->dim; i++) {
		char *w = word_next(&s);
		if (!w || strlen(w) >= sizeof h->x->axis[i].kind)
			return why_set(h->why, "kinds must be %d words", h->x->dim);
		if (strcasecmp(w, "none") && strcmp(w, "???"))
			strcpy(h->x->axis[i].kind, w);
	}
	return word_none(s) ? 0 : why_set(h->why, "kinds has more than %d words", h->x->dim);
}

static int
set_centers(struct head *h, char *s)
{
	for (int i = 0; i < h->x->dim; i++) {
		char *w = word_next(&s);
		if (!w)
			return why_set(h->why, "centers must be %d words", h->x->dim);
		if (!strcasecmp(w, "node"))
			h->x->axis[i].centre = IMG_NODE;
		else if (!strcasecmp(w, "cell"))
			h->x->axis[i].centre = IMG_CELL;
		else if (strcasecmp(w, "none") && strcmp(w, "???"))
			return why_set(h->why, "centers: '%.20s' is not node, cell or none", w);
	}
	return word_none(s) ? 0 : why_set(h->why, "centers has more than %d words", h->x->dim);
}

/* Stores the number of axis i, or NaN where there is none, in *(double *)((char *)first + i * step). */
static int
take_reals(struct head *h, char *s, double *first, size_t step)
{
	const size_t dim = (size_t)h->x->dim;
	double v[IMG_MAXDIM];
	bool good = word_reals(s, ' ', v, dim) == dim;

	for (size_t i = 0; good && i < dim; i++) {
		good = !isinf(v[i]);
		*(double *)((char *)first + i * step) = v[i];
	}
	return good ? 0 : why_set(h->why, "%s must be %zu finite numbers or nan", h->field, dim);
}

static int
set_spacings(struct head *h, char *s)
{
	if (take_reals(h, s, &h->x->axis[0].spacing, sizeof h->x->axis[0]))
		return -1;
	for (int i = 0; i < h->x->dim; i++)
		if (h->x->axis[i].spacing == 0)
			return why_set(h->why, "a spacing is 0");
	return 0;
}

static int
set_mins(struct head *h, char *s)
{
	return take_reals(h, s, &h->x->axis[0].min, sizeof h->x->axis[0]);
}

static int
set_maxs(struct head *h, char *s)
{
	return take_reals(h, s, h->max, sizeof *h->max);
}

/* Labels or units. */
static int
set_strings(struct head *h, char *s)
{
	const bool labels = !strcmp(h->field, "labels");

	for (int i = 0; i < h->x->dim; i++) {
		char *w = word_quoted(&s);
		if (!w)
			return why_set(h->why, "%s must be %d quoted strings", h->field, h->x->dim);
		(labels ? img_set_label : img_set_unit)(&h->x->axis[i], *w ? w : NULL);
	}
	return word_none(s) ? 0
			    : why_set(h->why, "%s has more than %d strings", h->field, h->x->dim);
}

static int
set_endian(struct head *h, char *s)
{
	h->has_endian = true;
	h->little = !strcasecmp(s, "little");
	return h->little || !strcasecmp(s, "big") ? 0
						  : why_set(h->why, "endian must be little or big");
}

static int
set_encoding(struct head *h, char *s)
{
	return strcasecmp(s, "raw")
		   ? why_set(h->why, "encoding '%.20s' is not raw; " RAW_CONVERT, s)
		   : 0;
}

static int
set_skip(struct head *h, char *s)
{
	return strcmp(s, "0")
		   ? why_set(h->why, "line skip and byte skip are not supported; " RAW_CONVERT)
		   : 0;
}

static int
set_data_file(struct head *h, char *s)
{
	(void)s;
	return why_set(h->why, "%s", RAW_DETACHED);
}

static int
set_content(struct head *h, char *s)
{
	img_set_key(h->x, "content", "%s", s);
	return 0;
}

/* s: the text after the colon of the field. */
static int
set_directions(struct head *h, char *s)
{
	struct img *x = h->x;

	for (int i = 0; i < x->dim; i++) {
		struct img_axis *a = &x->axis[i];
		double sum = 0;
		if (!take_vector(&s, &x->space.dim, a->step))
			return why_set(
			    h->why,
			    "space directions must be a vector (a,b,c) or none for each axis");
		a->directed = is_finite(a->step, x->space.dim);
		for (int k = 0; a->directed && k < x->space.dim; k++)
			sum += a->step[k] * a->step[k];
		if (sum > 0)
			a->spacing = sqrt(sum);
	}
	return word_none(s)
		   ? 0
		   : why_set(h->why, "space directions has more vectors than the item has axes");
}

static int
set_origin(struct head *h, char *s)
{
	struct img *x = h->x;

	if (!take_vector(&s, &x->space.dim, x->space.origin) || !word_none(s))
		return why_set(h->why, "space origin must be a vector (a,b,c)");
	x->space.placed = is_finite(x->space.origin, x->space.dim);
	return 0;
}

static const struct {
	const char *name;
	int (*set)(struct head *h, char *s);
	bool per_axis; /* must stand after dimension */
} fields[] = {
    {"type", set_type, false},		 {"dimension", set_dimension, false},
    {"sizes", set_sizes, true},		 {"encoding", set_encoding, false},
    {"endian", set_endian, false},	 {"kinds", set_kinds, true},
    {"centers", set_centers, true},	 {"centerings", set_centers, true},
    {"spacings", set_spacings, true},	 {"axis mins", set_mins, true},
    {"axis maxs", set_maxs, true},	 {"labels", set_strings, true},
    {"units", set_strings, true},	 {"space directions", set_directions, true},
    {"content", set_content, false},	 {"line skip", set_skip, false},
    {"byte skip", set_skip, false},	 {"data file", set_data_file, false},
    {"space origin", set_origin, false},
};
enum { TYPE, DIMENSION, SIZES, ENCODING, NFIELDS = sizeof fields / sizeof *fields };

/* Fields that are passed on as they are. */
static const char *const kept[] = {"space", "space dimension", "space units", "measurement frame"};
enum { NKEPT = sizeof kept / sizeof *kept };
_Static_assert(NFIELDS + NKEPT <= 64, "one bit per field");

/* Fields of NRRD that have no meaning here. */
static const char *const ignored[] = {"number",	 "min",		 "max",	       "old min",
				      "old max", "sample units", "thicknesses"};

/* --- lines ----------------------------------------------------------------------------------- */

/* Compares field names without regard to case and blanks: "axis mins" equals "axismins". */
static bool
same_field(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, " ");
		b += strspn(b, " ");
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
	}
}

/* Notes that field i has been read. */
static int
see(struct head *h, size_t i, const char *name)
{
	if (h->seen >> i & 1)
		return why_set(h->why, "field '%s' stands twice", name);
	h->seen |= 1ul << i;
	return 0;
}

static int
take_field(struct head *h, char *line, char *colon)
{
	char *value = colon + 1;

	*colon = 0;
	while (isspace((unsigned char)*value))
		value++;
	for (size_t i = 0; i < NFIELDS; i++) {
		if (!same_field(line, fields[i].name))
			continue;
		if (fields[i].per_axis && !(h->seen >> DIMENSION & 1))
			return why_set(h->why, "field '%s' stands before dimension", line);
		h->field = fields[i].name;
		return see(h, i, line) ? -1 : fields[i].set(h, value);
	}
	for (size_t i = 0; i < NKEPT; i++) {
		if (!same_field(line, kept[i]))
			continue;
		char **const lines = &h->x->space.fields, *text;
		if (asprintf(&text, "%s%s: %s\n", *lines ? *lines : "", kept[i], value) < 0)
			die("no memory for a field");
		free(*lines);
		*lines = text;
		return see(h, NFIELDS + i, line);
	}
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		if (same_field(line, ignored[i]))
			return 0;
	return why_set(h->why, "unknown field '%.40s'", line);
}

static int
take_line(struct head *h, char *line)
{
	size_t n = strlen(line);

	if (*line == '#')
		return 0;
	char *key = strstr(line, ":=");
	char *colon = strchr(line, ':');
	if (key && key == colon) {
		*key = 0;
		img_add_key(h->x, line, key + 2); /* blanks at the end belong to the value */
		return 0;
	}
	while (n && line[n - 1] == ' ')
		line[--n] = 0;
	if (!n)
		return 0;
	return colon ? take_field(h, line, colon) : why_set(h->why, "'%.40s' is no field", line);
}

static int
complete(struct head *h)
{
	struct img *x = h->x;

	for (size_t i = TYPE; i <= ENCODING; i++)
		if (!(h->seen >> i & 1))
			return why_set(h->why, "field '%s' is missing", fields[i].name);
	if (img_type_size(x->type) > 1 && !h->has_endian)
		return why_set(h->why, "field 'endian' is missing");
	for (int i = 0; i < x->dim; i++) {
		struct img_axis *a = &x->axis[i];
		size_t steps = a->centre == IMG_CELL ? a->n : a->n - 1;
		if (isnan(a->spacing) && !isnan(a->min) && !isnan(h->max[i]) && steps)
			a->spacing = (h->max[i] - a->min) / (double)steps;
	}
	*h->swap = h->has_endian && !h->little && img_type_size(x->type) > 1;
	return 0;
}

static int
take_lines(struct head *h, char *text, size_t n)
{
	if (n < 8 || memcmp(text, "NRRD000", 7) || text[7] < '1' || text[7] > '5')
		return why_set(h->why, "not a raw header");
	if (memchr(text, 0, n))
		return why_set(h->why, "the header contains a zero byte");
	char *next = strchr(text, '\n');
	while (next) {
		char *line = next + 1;
		next = strchr(line, '\n');
		if (next)
			*next = 0;
		if (take_line(h, line))
			return -1;
	}
	return complete(h);
}

int
raw_parse(const char *text, size_t n, struct img *x, bool *swap, struct why *why)
{
	struct head h = {.x = x, .swap = swap, .why = why};
	char *copy = malloc(n + 1);

	*x = (struct img){0};
	if (!copy)
		return why_set(why, "no memory");
	memcpy(copy, text, n);
	copy[n] = 0;
	int r = take_lines(&h, copy, n);
	free(copy);
	if (r)
		img_free(x);
	return r;
}

/* ---- writing: as text in memory. Pure ---- */

static void
put_quoted(FILE *f, const char *s)
{
	fputs(" \"", f);
	for (; s && *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		fputc(*s == '\n' ? ' ' : *s, f);
	}
	fputc('"', f);
}

/* The fields that have a value for each axis, in the order of the header. */
enum axis_field {
	AXIS_SIZE,
	AXIS_KIND,
	AXIS_CENTRE,
	AXIS_SPACING,
	AXIS_MIN,
	AXIS_LABEL,
	AXIS_UNIT
};

/* Whether the axis has a value for the field, which is written where one axis has. */
static bool
has(const struct img_axis *a, enum axis_field field)
{
	const bool min = !isnan(a->min) && !a->directed;
	const bool known[] = {[AXIS_SIZE] = true,
			      [AXIS_KIND] = a->kind[0],
			      [AXIS_CENTRE] = a->centre != IMG_UNCENTRED || min,
			      [AXIS_SPACING] = !isnan(a->spacing) && !a->directed,
			      [AXIS_MIN] = min,
			      [AXIS_LABEL] = a->label,
			      [AXIS_UNIT] = a->unit};

	return known[field];
}

/*
 * Other readers shift the origin by half a sample where a position has no centring, so this then says node. They do not where
 * the axis has a direction, and they refuse such an axis with a spacing or a position.
 */
static const char *
centre_word(const struct img_axis *a)
{
	if (a->centre == IMG_CELL)
		return "cell";
	if (a->centre == IMG_NODE)
		return "node";
	return a->directed || (isnan(a->min) && isnan(a->spacing)) ? "none" : "node";
}

static void
put_value(FILE *f, const struct img_axis *a, enum axis_field field)
{
	if (field == AXIS_SIZE)
		fprintf(f, " %zu", a->n);
	else if (field == AXIS_KIND)
		fprintf(f, " %s", a->kind[0] ? a->kind : "none");
	else if (field == AXIS_CENTRE)
		fprintf(f, " %s", centre_word(a));
	else if (field == AXIS_SPACING || field == AXIS_MIN)
		fprintf(f, " %.17g", a->directed ? NAN : field == AXIS_MIN ? a->min : a->spacing);
	else
		put_quoted(f, field == AXIS_LABEL ? a->label : a->unit);
}

static void
put_axes(FILE *f, const struct img *x)
{
	static const char *const name[] = {"sizes",	"kinds",  "centers", "spacings",
					   "axis mins", "labels", "units"};

	for (enum axis_field k = AXIS_SIZE; k <= AXIS_UNIT; k++) {
		bool any = false;
		for (int i = 0; i < x->dim; i++)
			any |= has(&x->axis[i], k);
		if (!any)
			continue;
		fprintf(f, "%s:", name[k]);
		for (int i = 0; i < x->dim; i++)
			put_value(f, &x->axis[i], k);
		fputc('\n', f);
	}
	space_put(f, x);
}

char *
raw_format(const struct img *x, size_t *n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, n);

	if (!f)
		return NULL;
	fprintf(f, "NRRD0005\ntype: %s\ndimension: %d\n", img_type_name(x->type), x->dim);
	put_axes(f, x);
	if (img_type_size(x->type) > 1)
		fputs("endian: little\n", f);
	fputs("encoding: raw\n", f);
	for (size_t i = 0; i < x->nkey; i++)
		fprintf(f, "%s:=%s\n", x->key[i].name, x->key[i].value);
	/* A comment line of spaces ("#", spaces, newline) makes the header, with its empty line, a multiple of 64 bytes. */
	long used = ftell(f), fill = (64 - (used + 3) % 64) % 64;
	fprintf(f, "#%*s\n\n", (int)fill, "");
	if (ferror(f) | fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
