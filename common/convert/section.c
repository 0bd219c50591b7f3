#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/convert/cards.h"
#include "common/convert/section.h"

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

/* Returns the meaning of the key; NULL when it is no section. Digits and letters may follow the name. */
static const struct meaning *
meaning_of(const char *key)
{
	static const struct meaning known[] = {
	    {"DATASEC", NULL},	   {"TRIMSEC", NULL},	  {"PRESEC", NULL},	 {"POSTSEC", NULL},
	    {"BIASSEC", NULL},	   {"DSEC", NULL},	  {"TSEC", NULL},	 {"BSEC", NULL},
	    {"CCDSEC", "DATASEC"}, {"DETSEC", "DATASEC"}, {"AMPSEC", "DATASEC"}, {"CSEC", "DSEC"},
	    {"ASEC", "DSEC"}};

	if (strncmp(key, CARD_PREFIX, CARD_PREFIX_LEN) || strlen(key) > CARD_PREFIX_LEN + CARD_NAME)
		return NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strncmp(key + CARD_PREFIX_LEN, known[i].name, strlen(known[i].name)))
			return &known[i];
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

/* Writes the section as the value of the key. */
static void
write_section(struct img *x, const char *key, const struct section *s)
{
	char text[2 * CARD] = "'[";
	int used = 2;

	for (int i = 0; i < s->n && used < CARD; i++)
		used += snprintf(text + used, sizeof text - (size_t)used, "%s%s", i ? "," : "",
				 s->range[i]);
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
	const char *after = key + CARD_PREFIX_LEN + strlen(m->name), *value = NULL;
	char name[CARD_PREFIX_LEN + 2 * WORD];
	struct section s;
	double n;

	snprintf(name, sizeof name, CARD_PREFIX "%s%s", m->data, after);
	value = img_key(x, name);
	snprintf(name, sizeof name, CARD_PREFIX "%s", m->data);
	if (!value)
		value = img_key(x, name);
	if (value && parse(value, &s) && axis < s.n &&
	    scan_range(s.range[axis], &data[0], &data[1]))
		return true;
	snprintf(name, sizeof name, "NAXIS%d", axis + 1);
	data[0] = 1;
	if (!card_number(x, name, &n))
		return false;
	data[1] = (long)n;
	return true;
}

/* Drops key i and adds its name to `gone`. */
static void
drop(struct img *x, size_t i, char gone[SECTION_NAMES])
{
	char name[CARD_PREFIX_LEN + WORD];
	const size_t used = strlen(gone);

	snprintf(name, sizeof name, "%s", x->key[i].name);
	snprintf(gone + used, SECTION_NAMES - used, " %s", name + CARD_PREFIX_LEN);
	img_drop_key(x, name); /* frees the name in x */
}

/* Updates the sections of the detector, or those of the image. */
static void
follow(struct img *x, int axis, bool detector, char gone[SECTION_NAMES])
{
	struct section s;
	long data[2];

	for (size_t i = 0; i < x->nkey;) {
		const char *key = x->key[i].name;
		const struct meaning *m = meaning_of(key);
		bool good = true;

		if (m && (m->data != NULL) == detector && parse(x->key[i].value, &s) &&
		    axis < s.n) {
			good = detector ? find_data(x, key, m, axis, data) &&
					      follow_detector(s.range[axis], &x->axis[axis], data)
					: follow_image(s.range[axis], &x->axis[axis]);
			if (good)
				write_section(x, key, &s);
			else
				drop(x, i, gone); /* the next key is at i then */
		}
		i += good;
	}
}

void
section_follow(struct img *x, int axis, char gone[SECTION_NAMES])
{
	follow(x, axis, true, gone); /* while DATASEC is that of the whole */
	follow(x, axis, false, gone);
}

void
section_permute(struct img *x, const int *from, int n)
{
	struct section s, t;

	for (size_t i = 0; i < x->nkey; i++) {
		if (!meaning_of(x->key[i].name) || !parse(x->key[i].value, &s) || s.n > n)
			continue;
		t = s;
		for (int k = 0; k < s.n; k++)
			if (from[k] < s.n)
				memcpy(t.range[k], s.range[from[k]], WORD);
		write_section(x, x->key[i].name, &t);
	}
}
