#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/tools/cards.h"
#include "common/tools/wcs.h"

enum { NAME = CARD_NAME + 8 };

/* The names of alternate coordinate systems end in a letter. */
static const char versions[] = "\0ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Replaces the card's value by scale * (value - shift), if the card exists. */
static void
change(struct img *x, const char *name, double scale, double shift)
{
	double v;

	if (card_number(x, name, &v))
		card_set_number(x, name, scale * (v - shift));
}

/* Multiplies the column of axis j (from 1) of a matrix by s. Returns false when there is no matrix of that kind. */
static bool
scale_matrix(struct img *x, const char *matrix, int j, char version, double s)
{
	bool any = false;

	for (int i = 1; i <= IMG_MAXDIM; i++)
		for (int k = 1; k <= IMG_MAXDIM; k++) {
			char name[NAME + 16];
			double v;

			snprintf(name, sizeof name, "%s%d_%d%.1s", matrix, i, k,
				 version ? &version : "");
			if (strlen(name) > CARD_NAME || !card_number(x, name, &v))
				continue;
			any = true;
			if (k == j)
				card_set_number(x, name, v * s);
		}
	return any;
}

static void
follow_axis(struct img *x, int axis, char version)
{
	const struct img_axis *a = &x->axis[axis];
	const char *letter = version ? &version : "";
	const double s = a->spacing, shift = 1 + a->min;
	const int j = axis + 1;
	char name[NAME + 16];
	double v;

	snprintf(name, sizeof name, "CRPIX%d%.1s", j, letter);
	if (card_number(x, name, &v))
		card_set_number(x, name, (v - shift) / s + 1);
	if (s == 1)
		return;
	if (scale_matrix(x, "CD", j, version, s) || scale_matrix(x, "PC", j, version, s))
		return;
	snprintf(name, sizeof name, "CDELT%d%.1s", j, letter);
	change(x, name, s, 0);
}

/* IRAF's physical coordinates: i = LTM p + LTV, where i counts the samples of this image from 1. */
static void
follow_physical(struct img *x, int axis)
{
	const struct img_axis *a = &x->axis[axis];
	char name[NAME + 16];
	double v;

	snprintf(name, sizeof name, "LTV%d", axis + 1);
	if (card_number(x, name, &v))
		card_set_number(x, name, (v - 1 - a->min) / a->spacing + 1);
	snprintf(name, sizeof name, "LTM%d_%d", axis + 1, axis + 1);
	change(x, name, 1 / a->spacing, 0);
}

void
wcs_follow(struct img *x)
{
	for (int i = 0; i < x->dim; i++) {
		struct img_axis *a = &x->axis[i];

		if (isfinite(a->min) && isfinite(a->spacing) && (a->min != 0 || a->spacing != 1)) {
			for (size_t v = 0; v < sizeof versions - 1; v++)
				follow_axis(x, i, versions[v]);
			follow_physical(x, i);
		}
		a->min = a->spacing = NAN;
	}
}

void
wcs_slice(struct img *x, int axis)
{
	struct img_axis *a = &x->axis[axis];

	if (!img_key(x, CARD_PREFIX "NAXIS") || !isfinite(a->min) || !isfinite(a->spacing))
		return;
	for (size_t v = 0; v < sizeof versions - 1; v++)
		follow_axis(x, axis, versions[v]);
	follow_physical(x, axis);
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

/* Sets `to` to the card's name after the axes were renumbered. Returns false when it keeps its name. */
static bool
rename_card(const char *name, const int *from, int n, char to[NAME + 32])
{
	bool pair;
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

void
wcs_permute(struct img *x, const int *from, int n)
{
	char to[NAME + 32], name[CARD_PREFIX_LEN + NAME + 32];

	for (size_t i = 0; i < x->nkey; i++) {
		if (strncmp(x->key[i].name, CARD_PREFIX, CARD_PREFIX_LEN) ||
		    strlen(x->key[i].name) > CARD_PREFIX_LEN + CARD_NAME ||
		    !rename_card(x->key[i].name + CARD_PREFIX_LEN, from, n, to))
			continue;
		snprintf(name, sizeof name, CARD_PREFIX "%s", to);
		weir_free(x->key[i].name);
		x->key[i].name = weir_xstrdup(name);
	}
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
