#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/words.h"
#include "common/convert/wcs.h"
#include "common/stream/axes.h"
#include "common/stream/place.h"

/* Sets the number on the card `name` of x and keeps its comment. A missing card is added at the end. */
static void
card_set_number(struct img *x, const char *name, double v)
{
	char key[CARD_PREFIX_LEN + CARD_NAME + 1], text[32], value[CARD + 48];
	const char *old = card_text(x, "%s", name);

	word_shortest(text, sizeof text, v, 15, false);
	if (strchr(text, 'e'))
		*strchr(text, 'e') = 'E';
	else if (!strchr(text, '.'))
		strcat(text, ".0");
	snprintf(key, sizeof key, CARD_PREFIX "%s", name);
	snprintf(value, sizeof value, "%s%s", text, old ? old + card_value_length(old) : "");
	for (size_t i = x->nkey; old && i-- > 0;)
		if (!strcmp(x->key[i].name, key)) { /* it keeps its place */
			weir_free(x->key[i].value);
			x->key[i].value = weir_xstrdup(value);
			return;
		}
	img_add_key(x, key, value);
}

/* A card of x by the name that numbers of axes make, and its number; NAN: there is none. */
struct number {
	char name[CARD_NAME + 8];
	double v;
};

static __attribute__((format(printf, 2, 3))) struct number
number_of(const struct img *x, const char *fmt, ...)
{
	struct number n;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(n.name, sizeof n.name, fmt, ap);
	va_end(ap);
	n.v = card_number(x, NAN, "%s", n.name);
	return n;
}

/* ---- sections ---- */

enum { WORD = CARD + 1 };

/* A section, taken apart: its ranges, and the comment of its card. */
struct section {
	int n;
	char range[IMG_MAXDIM][WORD];
	char rest[WORD]; /* of the card, behind the value */
};

/* What a section counts: the pixels of the image, or those of the detector that lie under the pixels of the card `data`. */
struct meaning {
	const char *name, *data; /* data: NULL when it counts the image's */
};

/* Returns what key i of x means; NULL: it is no section, or a later line of that name counts. Digits and letters may follow the name. */
static const struct meaning *
meaning_at(const struct img *x, size_t i)
{
	static const struct meaning known[] = {
	    {"DATASEC", NULL},	   {"TRIMSEC", NULL},	  {"PRESEC", NULL},	 {"POSTSEC", NULL},
	    {"BIASSEC", NULL},	   {"DSEC", NULL},	  {"TSEC", NULL},	 {"BSEC", NULL},
	    {"CCDSEC", "DATASEC"}, {"DETSEC", "DATASEC"}, {"AMPSEC", "DATASEC"}, {"CSEC", "DSEC"},
	    {"ASEC", "DSEC"}};
	const char *key = x->key[i].name;

	if (strncmp(key, CARD_PREFIX, CARD_PREFIX_LEN) ||
	    strlen(key) > CARD_PREFIX_LEN + CARD_NAME || img_key(x, key) != x->key[i].value)
		return NULL;
	for (size_t k = 0; k < sizeof known / sizeof *known; k++)
		if (!strncmp(key + CARD_PREFIX_LEN, known[k].name, strlen(known[k].name)))
			return &known[k];
	return NULL;
}

/* Returns false when the value of the card is no section. */
static bool
parse(const char *value, struct section *s)
{
	const char *at = value + (*value == '=');

	at += strspn(at, " ");
	if (strlen(value) > CARD || strncmp(at, "'[", 2))
		return false;
	at += 2;
	for (s->n = 0; s->n < IMG_MAXDIM; at++) {
		const size_t n = strcspn(at, ",]");
		snprintf(s->range[s->n++], WORD, "%.*s", (int)n, at);
		at += n;
		if (*at != ',')
			break;
	}
	if (*at != ']' || !(at = strchr(at, '\'')))
		return false;
	strcpy(s->rest, at + 1);
	return true;
}

static void
write_section(struct img *x, const char *key, const struct section *s)
{
	char text[2 * CARD] = "'[";

	for (int i = 0; i < s->n && strlen(text) < CARD; i++)
		word_append(text, sizeof text, "%s%s", i ? "," : "", s->range[i]);
	img_change_key(x, key, "%s]'%s", text, s->rest);
}

/* Returns false for ranges of other forms, such as `*` and `:`. */
static bool
scan_range(const char *range, long *first, long *last)
{
	int used = 0;

	return sscanf(range, " %ld : %ld %n", first, last, &used) == 2 && !range[used];
}

/* Finds the samples of axis a that are pixels first to last, which count from 1. Returns false when there are none. */
static bool
find_samples(const struct img_axis *a, long first, long last, double *from, double *to)
{
	const double p = ((double)first - 1 - a->min) / a->spacing,
		     q = ((double)last - 1 - a->min) / a->spacing;

	*from = fmax(ceil(fmin(p, q)), 0);
	*to = fmin(floor(fmax(p, q)), (double)a->n - 1);
	return *from <= *to;
}

/* Updates a range of pixels for the samples of axis a. Returns false when none of its pixels is left. */
static bool
follow_image(char range[WORD], const struct img_axis *a)
{
	double from, to;
	long first, last;

	if (!scan_range(range, &first, &last) || last < first)
		return true;
	if (!find_samples(a, first, last, &from, &to))
		return false;
	snprintf(range, WORD, "%.0f:%.0f", from + 1, to + 1);
	return true;
}

/*
 * Updates a range of the detector, which lies under the pixels data[0] to data[1] of the image. It has the same number of
 * detector pixels under each of them, and its ends are exchanged where the readout runs backwards. Returns false when none is
 * left, when the axis was thinned, or when the numbers do not divide.
 */
static bool
follow_detector(char range[WORD], const struct img_axis *a, const long data[2])
{
	double from, to;
	long first, last;

	if (!scan_range(range, &first, &last))
		return true;
	const long n = data[1] - data[0] + 1, all = labs(last - first) + 1;
	if (n < 1 || all % n || fabs(a->spacing) != 1 || a->min != floor(a->min) ||
	    !find_samples(a, data[0], data[1], &from, &to))
		return false;
	const bool flipped = a->spacing < 0;
	const long sign = last < first ? -1 : 1, each = sign * (all / n), rest = each - sign;
	const long u = (long)(a->min + a->spacing * from) + 1 - data[0],
		   v = (long)(a->min + a->spacing * to) + 1 - data[0];

	snprintf(range, WORD, "%ld:%ld", first + each * u + (flipped ? rest : 0),
		 first + each * v + (flipped ? 0 : rest));
	return true;
}

/* Sets data to the pixels of the image that a section of the detector lies under: those of its DATASEC, else all. */
static bool
find_data(const struct img *x, const char *key, const struct meaning *m, int axis, long data[2])
{
	const char *after = key + CARD_PREFIX_LEN + strlen(m->name);
	const char *value = card_text(x, "%s%s", m->data, after);
	struct section s;

	if (!value)
		value = card_text(x, "%s", m->data);
	if (value && parse(value, &s) && axis < s.n &&
	    scan_range(s.range[axis], &data[0], &data[1]))
		return true;
	const double n = card_number(x, NAN, "NAXIS%d", axis + 1);
	if (isnan(n))
		return false;
	data[0] = 1;
	data[1] = (long)n;
	return true;
}

/*
 * Updates the sections of x for the cut and the flip of an axis, whose position says where its samples lie in the image, as in
 * wcs.h; those of the detector while DATASEC is that of the whole. Sections without a pixel left are removed, and those of the
 * detector also when the axis was thinned; their names, each behind a blank, are added to `gone`.
 */
static void
section_follow(struct img *x, int axis, bool detector, char gone[SECTION_NAMES])
{
	char name[CARD_PREFIX_LEN + WORD];
	struct section s;
	long data[2];

	for (size_t i = 0; i < x->nkey;) {
		const char *key = x->key[i].name;
		const struct meaning *m = meaning_at(x, i);
		bool good = true;
		if (m && (m->data != NULL) == detector && parse(x->key[i].value, &s) &&
		    axis < s.n) {
			good = detector ? find_data(x, key, m, axis, data) &&
					      follow_detector(s.range[axis], &x->axis[axis], data)
					: follow_image(s.range[axis], &x->axis[axis]);
			if (good) {
				write_section(x, key, &s);
			} else { /* the next key is at i then */
				snprintf(name, sizeof name, "%s", key);
				word_append(gone, SECTION_NAMES, " %s", name + CARD_PREFIX_LEN);
				img_drop_key(x, name);
			}
		}
		i += good;
	}
}

/* Renumbers the ranges of sections: axis i of the item was axis from[i] before, i < n. */
static void
section_permute(struct img *x, const int *from, int n)
{
	struct section s, t;

	for (size_t i = 0; i < x->nkey; i++) {
		if (!meaning_at(x, i) || !parse(x->key[i].value, &s) || s.n > n)
			continue;
		t = s;
		for (int k = 0; k < s.n; k++)
			if (from[k] < s.n)
				memcpy(t.range[k], s.range[from[k]], WORD);
		write_section(x, x->key[i].name, &t);
	}
}

/* ---- positions of other formats ---- */

static double
value_or(double v, double absent)
{
	return isnan(v) ? absent : v;
}

/* The value of a card with the comment AXIS_STATED, of axis j (from 1); NULL: there is none. */
static const char *
own_text(const struct img *x, const char *prefix, int j)
{
	const char *value = card_text(x, "%s%d", prefix, j);

	return value && strstr(value + card_value_length(value), AXIS_STATED) ? value : NULL;
}

/* Whether such cards state positions of the axis. */
static bool
states_own(const struct img *x, int axis)
{
	return img_key(x, CARD_PREFIX "NAXIS") && !axis_counts_pixels(x, axis);
}

/* Sets such a card: with the comment `what AXIS_STATED` unless that is NULL. */
static void
set_own(struct img *x, const char *prefix, int j, double v, const char *what)
{
	const struct number n = number_of(x, "%s%d", prefix, j);
	char key[CARD_PREFIX_LEN + sizeof n.name];

	if (n.v != v)
		card_set_number(x, n.name, v);
	if (!what || own_text(x, prefix, j))
		return;
	snprintf(key, sizeof key, CARD_PREFIX "%s", n.name);
	const char *value = card_text(x, "%s", n.name);
	char text[CARD + 1];
	snprintf(text, sizeof text, "%.*s / %s " AXIS_STATED, (int)card_value_length(value), value,
		 what);
	img_change_key(x, key, "%s", text);
}

/* The text of such a card, without its quotes; NULL: there is none. To be freed. */
static char *
own_string(const struct img *x, const char *prefix, int j)
{
	const char *value = own_text(x, prefix, j);
	char text[CARD + 1];
	size_t n = 0;

	if (!value || *value != '\'')
		return NULL;
	for (const char *s = value + 1; *s && n < CARD && (*s != '\'' || *++s == '\''); s++)
		text[n++] = *s;
	while (n && text[n - 1] == ' ')
		n--;
	text[n] = 0;
	return weir_xstrdup(text);
}

void
wcs_positions(struct img *x)
{
	for (int i = 0; i < x->dim; i++) {
		struct img_axis *a = &x->axis[i];
		const int j = i + 1;
		const double pixel = card_number(x, 0, "CRPIX%d", j),
			     value = card_number(x, 0, "CRVAL%d", j),
			     step = card_number(x, 1, "CDELT%d", j);
		a->label = own_string(x, "CTYPE", j);
		a->unit = own_string(x, "CUNIT", j);
		if (!states_own(x, i)) {
			a->spacing = 1;
			a->min = 0;
			continue;
		}
		a->spacing = own_text(x, "CDELT", j) && step != 0 ? step : NAN;
		a->min = own_text(x, "CRVAL", j) ? value + (1 - pixel) * step : NAN;
	}
}

/* Updates the cards that wcs_positions() has read for other positions of the axis. */
static void
follow_own(struct img *x, int axis)
{
	const struct img_axis *a = &x->axis[axis];
	const int j = axis + 1;
	const double pixel = card_number(x, 0, "CRPIX%d", j), was = card_number(x, 1, "CDELT%d", j),
		     first = card_number(x, 0, "CRVAL%d", j) + (1 - pixel) * was,
		     step = value_or(a->spacing, was);

	set_own(x, "CDELT", j, step, isnan(a->spacing) ? NULL : "spacing");
	if (step != was || (!isnan(a->min) && a->min != first))
		set_own(x, "CRVAL", j, value_or(a->min, first) + (pixel - 1) * step,
			isnan(a->min) ? NULL : "axis min");
}

/* ---- celestial coordinates ---- */

/* The names of alternate coordinate systems end in a letter. */
static const char versions[] = "\0ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Whether the cards of x say anything of axis j (from 1) in the system `version`. Cards that are missing then have defaults. */
static bool
describes(const struct img *x, int j, char version)
{
	static const char *const prefixes[] = {"CRPIX", "CRVAL", "CDELT", "CTYPE"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (card_text(x, "%s%d%.1s", prefixes[i], j, &version))
			return true;
	return false;
}

/*
 * Whether the key is that of an element of the matrix, i and j, in a form that wcslib reads: PC1_2, PC01_02, or PC001002, which is how
 * it was written before the standard.
 */
static bool
is_element(const char *key, const char *matrix, char version, int *i, int *j)
{
	const size_t n = CARD_PREFIX_LEN + strlen(matrix);
	int used = 0;

	if (strncmp(key, CARD_PREFIX, CARD_PREFIX_LEN) ||
	    strncmp(key + CARD_PREFIX_LEN, matrix, strlen(matrix)) ||
	    !isdigit((unsigned char)key[n]))
		return false;
	if (sscanf(key + n, "%3d%3d%n", i, j, &used) == 2 && used == 6 && !key[n + 6])
		return !version;
	return sscanf(key + n, "%2d_%2d%n", i, j, &used) == 2 && key[n + (size_t)used] == version &&
	       (!version || !key[n + (size_t)used + 1]);
}

static bool
has_matrix(const struct img *x, const char *matrix, char version)
{
	int i, j;

	for (size_t k = 0; k < x->nkey; k++)
		if (is_element(x->key[k].name, matrix, version, &i, &j))
			return true;
	return false;
}

/*
 * Multiplies the column of axis j (from 1) of a matrix by s. Returns false when there is no matrix of that kind. *unit: whether it
 * has an element on its diagonal there.
 */
static bool
scale_matrix(struct img *x, const char *matrix, int j, char version, double s, bool *unit)
{
	bool any = false;
	int row, column;

	*unit = false;
	for (size_t i = 0; i < x->nkey; i++) {
		const char *key = x->key[i].name, *name = key + CARD_PREFIX_LEN;
		/* Of cards of one name the last counts. */
		if (!is_element(key, matrix, version, &row, &column) ||
		    img_key(x, key) != x->key[i].value)
			continue;
		const double v = card_number(x, NAN, "%s", name);
		if (isnan(v))
			continue;
		any = true;
		*unit |= row == j && column == j;
		if (column == j)
			card_set_number(x, name, v * s);
	}
	return any;
}

static void
follow_axis(struct img *x, int axis, char version)
{
	const struct img_axis *a = &x->axis[axis];
	const double s = a->spacing, shift = 1 + a->min;
	const int j = axis + 1;
	bool unit;

	if (!describes(x, j, version))
		return;
	const struct number pixel = number_of(x, "CRPIX%d%.1s", j, &version);
	card_set_number(x, pixel.name, (value_or(pixel.v, 0) - shift) / s + 1);
	if (s == 1)
		return;
	/* Some files have both matrices; readers then differ in the one that they take. */
	const bool cd = scale_matrix(x, "CD", j, version, s, &unit);
	if (scale_matrix(x, "PC", j, version, s, &unit)) {
		/* What is missing of a matrix PC is that of the unit matrix. */
		if (!unit)
			card_set_number(x, number_of(x, "PC%d_%d%.1s", j, j, &version).name, s);
	} else if (!cd) {
		const struct number delta = number_of(x, "CDELT%d%.1s", j, &version);
		card_set_number(x, delta.name, value_or(delta.v, 1) * s);
	}
}

/*
 * IRAF's physical coordinates: i = LTM p + LTV, where i counts the samples of this image from 1. An axis of which no other card
 * says where it lies gets them. CNPIX of the Digitized Sky Survey is the place of the first sample on the plate.
 */
static void
follow_physical(struct img *x, int axis)
{
	const struct img_axis *a = &x->axis[axis];
	const int j = axis + 1;
	const struct number ltv = number_of(x, "LTV%d", j), ltm = number_of(x, "LTM%d_%d", j, j),
			    plate = number_of(x, "CNPIX%d", j);
	bool stated = false; /* by a card of some system */

	for (size_t v = 0; v < sizeof versions - 1; v++)
		stated |= describes(x, j, versions[v]);
	if (!isnan(ltv.v) || !stated) {
		card_set_number(x, ltv.name, (value_or(ltv.v, 0) - 1 - a->min) / a->spacing + 1);
		if (!isnan(ltm.v) || a->spacing != 1)
			card_set_number(x, ltm.name, value_or(ltm.v, 1) / a->spacing);
	}
	if (!isnan(plate.v) && a->spacing == 1)
		card_set_number(x, plate.name, plate.v + a->min);
}

/*
 * SIP's polynomials (Shupe et al. 2005) move pixels before the matrix does, u + sum A_pq u^p v^q and v + sum B_pq u^p v^q, where
 * u and v count from CRPIX along axes 1 and 2. AP and BP are those of the way back. When u becomes s u, A_pq becomes
 * A_pq s^p / s, and B_pq becomes B_pq s^p.
 */
static void
follow_sip(struct img *x, int axis)
{
	static const char *const letters[] = {"A_", "B_", "AP_", "BP_"};
	const double s = x->axis[axis].spacing;

	if (axis > 1 || s == 1)
		return;
	for (int l = 0; l < 4; l++)
		for (int p = 0; p < 10; p++)
			for (int q = 0; q < 10; q++) {
				const double by = pow(s, axis ? q : p) / (l % 2 == axis ? s : 1);
				const struct number n = number_of(x, "%s%d_%d", letters[l], p, q);
				if (!isnan(n.v))
					card_set_number(x, n.name, n.v * by);
			}
}

static void
follow_wcs(struct img *x, int axis)
{
	for (size_t v = 0; v < sizeof versions - 1; v++)
		follow_axis(x, axis, versions[v]);
	follow_sip(x, axis);
	follow_physical(x, axis);
}

void
wcs_place(struct img *x)
{
	if (!img_key(x, CARD_PREFIX "NAXIS"))
		return;
	for (int i = 0; i < x->dim; i++)
		if (isnan(x->axis[i].min) && isnan(x->axis[i].spacing)) {
			x->axis[i].min = 0;
			x->axis[i].spacing = 1;
		}
}

/* Whether the item is a cut of the original, or turned over. */
static bool
is_moved(const struct img *x, int axis)
{
	const struct img_axis *a = &x->axis[axis];

	return !states_own(x, axis) && isfinite(a->min) && isfinite(a->spacing) &&
	       (a->min != 0 || a->spacing != 1);
}

/* The first of these cards that x has; NULL when it has none. */
static const char *
first_of(const struct img *x, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (card_text(x, "%s", names[i]))
			return names[i];
	return NULL;
}

/* Cards that no program updates: cuts make the first TABLES wrong, flips and another order of axes all of them. */
static const char *const stiff[] = {"CPDIS1", "CPDIS2",	  "CQDIS1",   "CQDIS2",
				    "D2IM1",  "D2IMDIS1", "D2IMDIS2", "AMDX1"};
enum { STIFF = sizeof stiff / sizeof *stiff, TABLES = STIFF - 1 };

/* Whether axis j (from 1) of the system has polynomials of TPV. */
static bool
is_tpv(const struct img *x, int j, char version)
{
	const char *type = card_text(x, "CTYPE%d%.1s", j, &version);

	return type && strstr(type, "-TPV");
}

const char *
wcs_left_behind(const struct img *x)
{
	bool moved = false, turned = false;

	for (int i = 0; i < x->dim; i++) {
		const bool turns = is_moved(x, i) && x->axis[i].spacing != 1;
		/* Readers apply TPV before CDELT, which then must not change. */
		for (size_t k = 0; turns && k < sizeof versions - 1; k++)
			if (is_tpv(x, i + 1, versions[k]) && !has_matrix(x, "CD", versions[k]) &&
			    !has_matrix(x, "PC", versions[k]))
				return "CTYPE1";
		moved |= is_moved(x, i);
		turned |= turns;
	}
	return first_of(x, stiff, turned ? STIFF : moved ? TABLES : 0);
}

void
wcs_follow(struct img *x, char gone[SECTION_NAMES])
{
	*gone = 0;
	for (int i = 0; i < x->dim; i++) {
		struct img_axis *a = &x->axis[i];
		if (states_own(x, i))
			follow_own(x, i);
		if (is_moved(x, i)) {
			follow_wcs(x, i);
			section_follow(x, i, true, gone);
			section_follow(x, i, false, gone);
		}
		a->min = a->spacing = NAN;
	}
}

void
wcs_slice(struct img *x, int axis)
{
	struct img_axis *a = &x->axis[axis];

	if (states_own(x, axis))
		follow_own(x, axis);
	else if (img_key(x, CARD_PREFIX "NAXIS") && isfinite(a->min) && isfinite(a->spacing))
		follow_wcs(x, axis);
}

/* --- other numbers --------------------------------------------------------------------------------------------------- */

/* The number of an axis (from 1) after they were put in another order. */
static long
number_after(const int *from, int n, long axis)
{
	for (int i = 0; i < n; i++)
		if (from[i] + 1 == axis)
			return i + 1;
	return axis;
}

enum { RENAMED = 40 };

/* A card whose name is a word and the numbers of axes: of pixels, or of the coordinates that they become. */
struct numbered {
	const char *word;
	enum { PIXEL, WORLD, MATRIX, PIXELS } axes; /* MATRIX: WORLD_PIXEL; PIXELS: PIXEL_PIXEL */
};

static const struct numbered *
numbered_of(const char *name)
{
	static const struct numbered known[] = {
	    {"CRPIX", PIXEL}, {"CRVAL", WORLD}, {"CDELT", WORLD}, {"CTYPE", WORLD},
	    {"CUNIT", WORLD}, {"CNAME", WORLD}, {"CROTA", WORLD}, {"CRDER", WORLD},
	    {"CSYER", WORLD}, {"LTV", PIXEL},	{"WAT", WORLD},	  {"CD", MATRIX},
	    {"PC", MATRIX},   {"LTM", PIXELS},	{"PV", WORLD},	  {"PS", WORLD}};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strncmp(name, known[i].word, strlen(known[i].word)) &&
		    isdigit((unsigned char)name[strlen(known[i].word)]))
			return &known[i];
	return NULL;
}

/*
 * Whether the name is that of a card of SIP: A_p_q, A_ORDER or A_DMAX; or B, AP, BP. Sets `to` to its name after a
 * transposition.
 */
static bool
transpose_sip(const char *name, char to[RENAMED])
{
	const char *rest = strchr(name, '_');
	const size_t letters = rest ? (size_t)(rest - name) : 0;
	int p, q, used = 0;

	if ((*name != 'A' && *name != 'B') || !(letters == 1 || (letters == 2 && name[1] == 'P')))
		return false;
	if (sscanf(rest, "_%1d_%1d%n", &p, &q, &used) == 2 && !rest[used])
		snprintf(to, RENAMED, "%.*s_%d_%d", (int)letters, name, q, p);
	else if (!strcmp(rest, "_ORDER") || !strcmp(rest, "_DMAX"))
		snprintf(to, RENAMED, "%s", name);
	else
		return false;
	*to = *name == 'A' ? 'B' : 'A';
	return true;
}

/*
 * Sets `to` to the card's name after the axes were renumbered. Returns false when it keeps its name, such as WAT01_001, whose
 * numbers are none of axes. fixed: the coordinates keep their numbers, though the axes of pixels do not.
 */
static bool
rename_card(const char *name, const int *from, int n, bool fixed, char to[RENAMED])
{
	if (n > 1 && from[0] == 1 && from[1] == 0 && transpose_sip(name, to))
		return true;
	const struct numbered *card = numbered_of(name);
	const int at = card ? (int)strlen(card->word) : 0;
	const bool pair = card && card->axes >= MATRIX;
	/* wcslib reads these with zeros, too. */
	const bool zeros = card && (card->axes == MATRIX || !strncmp(name, "PV", 2));
	long i, j = 0;
	int used = 0;

	if (!card)
		return false;
	if (pair && strlen(name + at) == 6 && sscanf(name + at, "%3ld%3ld%n", &i, &j, &used) == 2 &&
	    used == 6) {
		snprintf(to, RENAMED, "%.*s%03ld%03ld", at, name,
			 fixed && card->axes == MATRIX ? i : number_after(from, n, i),
			 number_after(from, n, j));
		return strcmp(to, name) != 0;
	}
	if ((name[at] == '0' && !(zeros && strchr(name, '_'))) ||
	    sscanf(name + at, "%ld%n", &i, &used) != 1)
		return false;
	const char *rest = name + at + used;
	const int width = used;
	if (!(fixed && (card->axes == WORLD || card->axes == MATRIX)))
		i = number_after(from, n, i);
	if (pair && *rest == '_' && isdigit((unsigned char)rest[1]) && (zeros || rest[1] != '0') &&
	    sscanf(rest, "_%ld%n", &j, &used) == 1)
		snprintf(to, RENAMED, "%.*s%0*ld_%0*ld%s", at, name, width, i, used - 1,
			 number_after(from, n, j), rest + used);
	else
		snprintf(to, RENAMED, "%.*s%0*ld%s", at, name, width, i, rest);
	return strcmp(to, name) != 0;
}

const char *
wcs_permute(struct img *x, const int *from, int n)
{
	static const char *const sip[] = {"A_ORDER", "B_ORDER"};
	const bool same = n < 2 || (from[0] == 0 && from[1] == 1);
	const bool pair = n < 2 || (from[0] < 2 && from[1] < 2);
	const char *wrong = first_of(x, sip, pair ? 0 : 2);
	char to[RENAMED], name[CARD_PREFIX_LEN + RENAMED];
	bool fixed[128] = {false}; /* by the letter of a system */

	/*
	 * Readers take the polynomials of TPV by longitude and latitude. Where a matrix says which axis is which, the coordinates
	 * keep their numbers, else they are wrong.
	 */
	for (size_t k = 0; k < sizeof versions - 1; k++) {
		const char v = versions[k];
		bool moves = false;
		for (int j = 1; j <= n; j++)
			moves |= is_tpv(x, j, v) && number_after(from, n, j) != j;
		if (!moves)
			continue;
		if (pair && n == 2 &&
		    (card_text(x, "CD1_1%.1s", &v) || card_text(x, "CD1_2%.1s", &v)))
			fixed[(int)v] = true;
		else
			wrong = "CTYPE1";
	}
	section_permute(x, from, n);
	for (size_t i = 0; i < x->nkey; i++) {
		const char *old = x->key[i].name + CARD_PREFIX_LEN;
		const size_t length = strlen(x->key[i].name);
		const int last = (unsigned char)x->key[i].name[length ? length - 1 : 0];
		if (strncmp(x->key[i].name, CARD_PREFIX, CARD_PREFIX_LEN) ||
		    length > CARD_PREFIX_LEN + CARD_NAME ||
		    !rename_card(old, from, n, fixed[isupper(last) ? last : 0], to))
			continue;
		snprintf(name, sizeof name, CARD_PREFIX "%s", to);
		weir_free(x->key[i].name);
		x->key[i].name = weir_xstrdup(name);
	}
	return wrong ? wrong : first_of(x, stiff, same ? 0 : STIFF);
}

/* A text that leaves no room for the comment comes without it. */
static void
add_string(struct img *x, const char *name, int i, const char *text, const char *what)
{
	char key[32], quoted[CARD + 1];
	size_t n = 0;

	if (!text)
		return;
	quoted[n++] = '\'';
	for (; *text && n < 60; text++) {
		if (*text == '\'')
			quoted[n++] = '\'';
		quoted[n++] = (char)(*text < ' ' || *text > '~' ? '?' : *text);
	}
	while (n < 9)
		quoted[n++] = ' ';
	quoted[n++] = '\'';
	snprintf(key, sizeof key, CARD_PREFIX "%s%d", name, i);
	if (snprintf(quoted + n, sizeof quoted - n, " / %s " AXIS_STATED, what) >
	    CARD - CARD_NAME - 2 - (int)n)
		quoted[n] = 0;
	img_add_key(x, key, quoted);
}

void
wcs_of_axes(struct img *x)
{
	for (int i = 0; i < x->dim; i++) {
		struct img_axis *a = &x->axis[i];
		const bool min = !isnan(a->min), step = !isnan(a->spacing);
		add_string(x, "CTYPE", i + 1, a->label, "label");
		add_string(x, "CUNIT", i + 1, a->unit, "unit");
		if (min || step) {
			set_own(x, "CRPIX", i + 1, 1, NULL);
			set_own(x, "CRVAL", i + 1, value_or(a->min, 0), min ? "axis min" : NULL);
			set_own(x, "CDELT", i + 1, value_or(a->spacing, 1),
				step ? "spacing" : NULL);
		}
		a->min = a->spacing = NAN;
	}
}
