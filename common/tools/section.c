#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/tools/cards.h"
#include "common/tools/section.h"

enum { WORD = CARD + 1 };

/* A section, taken apart: its ranges, and the comment of its card. */
struct section {
	int n;
	char range[IMG_MAXDIM][WORD];
	char rest[WORD]; /* of the card, behind the value */
};

static bool
is_section(const char *key)
{
	static const char *const names[] = {"DATASEC", "TRIMSEC", "BIASSEC"};

	if (strncmp(key, CARD_PREFIX, CARD_PREFIX_LEN) || strlen(key) > CARD_PREFIX_LEN + CARD_NAME)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(key + CARD_PREFIX_LEN, names[i], strlen(names[i])))
			return true;
	return false;
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

/*
 * Updates the range `first:last` for the samples of axis a. Returns false when none of its pixels is left. Ranges of other
 * forms, such as `*` and `:`, stay.
 */
static bool
follow_range(char range[WORD], const struct img_axis *a)
{
	long first, last;
	int used = 0;

	if (sscanf(range, " %ld : %ld %n", &first, &last, &used) != 2 || range[used] ||
	    last < first)
		return true;
	const double p = ((double)first - 1 - a->min) / a->spacing,
		     q = ((double)last - 1 - a->min) / a->spacing;
	const double from = fmax(ceil(fmin(p, q)), 0),
		     to = fmin(floor(fmax(p, q)), (double)a->n - 1);

	snprintf(range, WORD, "%.0f:%.0f", from + 1, to + 1);
	return from <= to;
}

void
section_follow(struct img *x, int axis, char gone[SECTION_NAMES])
{
	char name[CARD_PREFIX_LEN + WORD];
	struct section s;

	for (size_t i = 0; i < x->nkey; i++) {
		if (!is_section(x->key[i].name) || !parse(x->key[i].value, &s) || axis >= s.n)
			continue;
		if (follow_range(s.range[axis], &x->axis[axis])) {
			write_section(x, x->key[i].name, &s);
			continue;
		}
		const size_t used = strlen(gone);
		snprintf(name, sizeof name, "%s", x->key[i].name);
		snprintf(gone + used, SECTION_NAMES - used, " %s", name + CARD_PREFIX_LEN);
		img_drop_key(x, name); /* frees the name in x; the next key is at i then */
		i--;
	}
}

void
section_permute(struct img *x, const int *from, int n)
{
	struct section s, t;

	for (size_t i = 0; i < x->nkey; i++) {
		if (!is_section(x->key[i].name) || !parse(x->key[i].value, &s) || s.n > n)
			continue;
		t = s;
		for (int k = 0; k < s.n; k++)
			if (from[k] < s.n)
				memcpy(t.range[k], s.range[from[k]], WORD);
		write_section(x, x->key[i].name, &t);
	}
}
