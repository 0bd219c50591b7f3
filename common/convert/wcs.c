#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/convert/cards.h"
#include "common/convert/wcs.h"

enum { NAME = CARD_NAME + 8 };

/* The names of alternate coordinate systems end in a letter. */
static const char versions[] = "\0ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/*
 * Sets name to that of a card: PREFIXi_j, or PREFIXi when j is below 0, and the letter of the system `version`. Returns the
 * card's number, or `other` when there is no such card.
 */
static double
number_or(const struct img *x, const char *prefix, int i, int j, char version, double other,
	  char name[NAME + 16])
{
	char pair[16] = "";
	double v;

	if (j >= 0)
		snprintf(pair, sizeof pair, "_%d", j);
	snprintf(name, NAME + 16, "%s%d%s%.1s", prefix, i, pair, version ? &version : "");
	return strlen(name) <= CARD_NAME && card_number(x, name, &v) ? v : other;
}

/* Whether the cards of x say anything of axis j (from 1) in the system `version`. Cards that are missing then have defaults. */
static bool
describes(const struct img *x, int j, char version)
{
	static const char *const prefixes[] = {"CRPIX", "CRVAL", "CDELT", "CTYPE"};
	char key[CARD_PREFIX_LEN + NAME + 16];

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		snprintf(key, sizeof key, CARD_PREFIX "%s%d%.1s", prefixes[i], j,
			 version ? &version : "");
		if (img_key(x, key))
			return true;
	}
	return false;
}

/* Multiplies the column of axis j (from 1) of a matrix by s. Returns false when there is no matrix of that kind. */
static bool
scale_matrix(struct img *x, const char *matrix, int j, char version, double s)
{
	char name[NAME + 16];
	bool any = false;

	for (int i = 1; i <= IMG_MAXDIM; i++)
		for (int k = 1; k <= IMG_MAXDIM; k++) {
			const double v = number_or(x, matrix, i, k, version, NAN, name);
			any |= !isnan(v);
			if (k == j && !isnan(v))
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
	char name[NAME + 16];
	double v;

	if (!describes(x, j, version))
		return;
	v = number_or(x, "CRPIX", j, -1, version, 0, name);
	card_set_number(x, name, (v - shift) / s + 1);
	if (s == 1)
		return;
	/* Some files have both matrices; readers then differ in the one that they take. */
	const bool cd = scale_matrix(x, "CD", j, version, s);
	if (scale_matrix(x, "PC", j, version, s)) {
		/* What is missing of a matrix PC is that of the unit matrix. */
		if (isnan(number_or(x, "PC", j, j, version, NAN, name)))
			card_set_number(x, name, s);
		return;
	}
	if (cd)
		return;
	v = number_or(x, "CDELT", j, -1, version, 1, name);
	card_set_number(x, name, v * s);
}

/* Whether the cards of x say anything of axis j (from 1), in any system. */
static bool
has_system(const struct img *x, int j)
{
	for (size_t v = 0; v < sizeof versions - 1; v++)
		if (describes(x, j, versions[v]))
			return true;
	return false;
}

/*
 * IRAF's physical coordinates: i = LTM p + LTV, where i counts the samples of this image from 1. An axis of which no other card
 * says where it lies gets them. CNPIX of the Digitized Sky Survey is the place of the first sample on the plate.
 */
static void
follow_physical(struct img *x, int axis)
{
	const struct img_axis *a = &x->axis[axis];
	char name[NAME + 16];
	double ltv = 0, ltm = 1, v;

	snprintf(name, sizeof name, "LTV%d", axis + 1);
	if (card_number(x, name, &ltv) || !has_system(x, axis + 1)) {
		card_set_number(x, name, (ltv - 1 - a->min) / a->spacing + 1);
		snprintf(name, sizeof name, "LTM%d_%d", axis + 1, axis + 1);
		if (card_number(x, name, &ltm) || a->spacing != 1)
			card_set_number(x, name, ltm / a->spacing);
	}
	snprintf(name, sizeof name, "CNPIX%d", axis + 1);
	if (card_number(x, name, &v) && a->spacing == 1)
		card_set_number(x, name, v + a->min);
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
				char name[NAME + 16];
				const double v = number_or(x, letters[l], p, q, 0, NAN, name);
				if (!isnan(v))
					card_set_number(x, name, v * by);
			}
}

static void
follow(struct img *x, int axis)
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
is_moved(const struct img_axis *a)
{
	return isfinite(a->min) && isfinite(a->spacing) && (a->min != 0 || a->spacing != 1);
}

/* The first of these cards that x has; NULL when it has none. */
static const char *
first_of(const struct img *x, const char *const *names, size_t n)
{
	char key[CARD_PREFIX_LEN + NAME];

	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof key, CARD_PREFIX "%s", names[i]);
		if (img_key(x, key))
			return names[i];
	}
	return NULL;
}

/* Cards that no program updates: cuts make the first TABLES wrong, flips and another order of axes all of them. */
static const char *const stiff[] = {"CPDIS1", "CPDIS2",	  "CQDIS1",   "CQDIS2",
				    "D2IM1",  "D2IMDIS1", "D2IMDIS2", "AMDX1"};
enum { STIFF = sizeof stiff / sizeof *stiff, TABLES = STIFF - 1 };

const char *
wcs_left_behind(const struct img *x)
{
	bool moved = false, turned = false;

	for (int i = 0; i < x->dim; i++) {
		moved |= is_moved(&x->axis[i]);
		turned |= is_moved(&x->axis[i]) && x->axis[i].spacing != 1;
	}
	return first_of(x, stiff, turned ? STIFF : moved ? TABLES : 0);
}

void
wcs_follow(struct img *x, char gone[SECTION_NAMES])
{
	*gone = 0;
	for (int i = 0; i < x->dim; i++) {
		struct img_axis *a = &x->axis[i];

		if (is_moved(a)) {
			follow(x, i);
			section_follow(x, i, gone);
		}
		a->min = a->spacing = NAN;
	}
}

void
wcs_slice(struct img *x, int axis)
{
	struct img_axis *a = &x->axis[axis];

	if (img_key(x, CARD_PREFIX "NAXIS") && isfinite(a->min) && isfinite(a->spacing))
		follow(x, axis);
}

/* --- other numbers --------------------------------------------------------------------------------------------------- */

static int
place_of(const int *from, int n, long axis)
{
	for (int i = 0; i < n; i++)
		if (from[i] + 1 == axis)
			return i + 1;
	return (int)axis;
}

/* Where the axis number begins in a card's name; 0 when the name has none. Sets *pair when it is a pair, i_j. */
static size_t
digits_at(const char *name, bool *pair)
{
	static const struct {
		const char *word;
		bool pair;
	} words[] = {{"CRPIX", false}, {"CRVAL", false}, {"CDELT", false}, {"CTYPE", false},
		     {"CUNIT", false}, {"CNAME", false}, {"CROTA", false}, {"CRDER", false},
		     {"CSYER", false}, {"LTV", false},	 {"WAT", false},   {"CD", true},
		     {"PC", true},     {"LTM", true},	 {"PV", false},	   {"PS", false}};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const size_t n = strlen(words[i].word);

		if (!strncmp(name, words[i].word, n) && isdigit((unsigned char)name[n])) {
			*pair = words[i].pair;
			return n;
		}
	}
	return 0;
}

/*
 * Whether the name is that of a card of SIP: A_p_q, A_ORDER or A_DMAX; or B, AP, BP. Sets `to` to its name after a
 * transposition.
 */
static bool
transpose_sip(const char *name, char to[NAME + 32])
{
	const char *rest = strchr(name, '_');
	const size_t letters = rest ? (size_t)(rest - name) : 0;
	int p, q, used = 0;

	if ((*name != 'A' && *name != 'B') || !(letters == 1 || (letters == 2 && name[1] == 'P')))
		return false;
	if (sscanf(rest, "_%1d_%1d%n", &p, &q, &used) == 2 && !rest[used])
		snprintf(to, NAME + 32, "%.*s_%d_%d", (int)letters, name, q, p);
	else if (!strcmp(rest, "_ORDER") || !strcmp(rest, "_DMAX"))
		snprintf(to, NAME + 32, "%s", name);
	else
		return false;
	*to = *name == 'A' ? 'B' : 'A';
	return true;
}

/* Sets `to` to the card's name after the axes were renumbered. Returns false when it keeps its name. */
static bool
rename_card(const char *name, const int *from, int n, char to[NAME + 32])
{
	bool pair;

	if (n > 1 && from[0] == 1 && from[1] == 0 && transpose_sip(name, to))
		return true;
	const size_t at = digits_at(name, &pair);
	char *rest, *end;

	if (!at)
		return false;
	const int i = place_of(from, n, strtol(name + at, &rest, 10));
	int used = snprintf(to, NAME + 32, "%.*s%d", (int)at, name, i);
	if (pair && *rest == '_' && isdigit((unsigned char)rest[1])) {
		const int j = place_of(from, n, strtol(rest + 1, &end, 10));
		used += snprintf(to + used, NAME + 32 - (size_t)used, "_%d", j);
		rest = end;
	}
	snprintf(to + used, NAME + 32 - (size_t)used, "%s", rest);
	return strcmp(to, name) != 0;
}

const char *
wcs_permute(struct img *x, const int *from, int n)
{
	static const char *const sip[] = {"A_ORDER", "B_ORDER"};
	const bool same = n < 2 || (from[0] == 0 && from[1] == 1);
	const bool pair = n < 2 || (from[0] < 2 && from[1] < 2);
	const char *wrong = first_of(x, sip, pair ? 0 : 2);
	char to[NAME + 32], name[CARD_PREFIX_LEN + NAME + 32];

	section_permute(x, from, n);
	for (size_t i = 0; i < x->nkey; i++) {
		if (strncmp(x->key[i].name, CARD_PREFIX, CARD_PREFIX_LEN) ||
		    strlen(x->key[i].name) > CARD_PREFIX_LEN + CARD_NAME ||
		    !rename_card(x->key[i].name + CARD_PREFIX_LEN, from, n, to))
			continue;
		snprintf(name, sizeof name, CARD_PREFIX "%s", to);
		weir_free(x->key[i].name);
		x->key[i].name = weir_xstrdup(name);
	}
	return wrong ? wrong : first_of(x, stiff, same ? 0 : STIFF);
}

/* --- positions of other formats --------------------------------------------------------------------------------------- */

static void
add_string(struct img *x, const char *name, int i, const char *text)
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
	quoted[n] = 0;
	snprintf(key, sizeof key, CARD_PREFIX "%s%d", name, i);
	img_add_key(x, key, quoted);
}

static void
add_number(struct img *x, const char *name, int i, double v)
{
	char card[NAME + 16];

	snprintf(card, sizeof card, "%s%d", name, i);
	card_set_number(x, card, v);
}

void
wcs_of_axes(struct img *x)
{
	for (int i = 0; i < x->dim; i++) {
		struct img_axis *a = &x->axis[i];
		const bool placed = !isnan(a->spacing) || !isnan(a->min);

		add_string(x, "CTYPE", i + 1, a->label);
		add_string(x, "CUNIT", i + 1, a->unit);
		if (placed) {
			add_number(x, "CRPIX", i + 1, 1);
			add_number(x, "CRVAL", i + 1, isnan(a->min) ? 0 : a->min);
			add_number(x, "CDELT", i + 1, isnan(a->spacing) ? 1 : a->spacing);
		}
		a->min = a->spacing = NAN;
	}
}
