#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/words.h"
#include "common/convert/wcs.h"

enum { VALUE = 10, FIXED = 20 }; /* the column where values begin; the width of fixed format */

/* --- words of a card ----------------------------------------------------------------------------------------------- */

size_t
card_value_length(const char *s)
{
	if (*s == '(')
		return strcspn(s, ")") + (strchr(s, ')') != NULL);
	if (*s != '\'')
		return strcspn(s, " /");
	for (size_t n = 1; s[n]; n++)
		if (s[n] == '\'' && s[++n] != '\'')
			return n;
	return strlen(s);
}

static void
trim(char *s)
{
	size_t n = strlen(s);

	while (n && s[n - 1] == ' ')
		s[--n] = 0;
}

/* Whether cards of this name hold text instead of a value. */
static bool
is_commentary(const char *name)
{
	return !strcmp(name, "COMMENT") || !strcmp(name, "HISTORY") || !strcmp(name, "CONTINUE") ||
	       !strcmp(name, "HIERARCH");
}

/* --- both ways ------------------------------------------------------------------------------------------------------ */

bool
card_from_key(const char *name, const char *value, char card[CARD + 1])
{
	char text[2 * CARD];
	int n;

	if (!*name)
		n = snprintf(text, sizeof text, "%s", value);
	else if (is_commentary(name) || *value == '=')
		n = snprintf(text, sizeof text, "%-8s%s", name, value);
	else { /* the fixed format: numbers end in column 30, strings begin in column 11 */
		const int length = (int)card_value_length(value),
			  width = *value == '\'' ? -FIXED : FIXED;
		const char *rest = value + length + strspn(value + length, " ");
		n = snprintf(text, sizeof text, "%-8s= %*.*s%s%s", name, width, length, value,
			     *rest ? " " : "", rest);
	}
	snprintf(card, CARD + 1, "%.*s", CARD, text);
	trim(card);
	return n <= CARD;
}

/* Sets value to `value / comment` without padding. Returns false when the card could not be made from it again. */
static bool
take_fixed(const char *name, const char *card, char value[CARD + 1])
{
	if (strlen(card) <= VALUE) /* a card may end with its `=` */
		return false;
	const char *s = card + VALUE + strspn(card + VALUE, " ");
	const size_t n = card_value_length(s);
	char again[CARD + 1];

	if (!n)
		return false;
	snprintf(value, CARD + 1, "%.*s%s%s", (int)n, s, s[n] ? " " : "",
		 s + n + strspn(s + n, " "));
	return card_from_key(name, value, again) && !strcmp(again, card);
}

void
card_to_key(const char *card, char name[CARD_PREFIX_LEN + CARD_NAME + 1], char value[CARD + 1])
{
	char *const word = name + CARD_PREFIX_LEN;
	char text[CARD + 1], padded[CARD + 1];

	snprintf(text, sizeof text, "%.*s", CARD, card);
	trim(text);
	snprintf(padded, sizeof padded, "%-*s", CARD, text);
	/* The name in columns 1 to 8 is malformed where more than blanks follow it. */
	size_t n = strspn(padded, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
	n = n < CARD_NAME ? n : CARD_NAME;
	if (strspn(padded + n, " ") < CARD_NAME - n)
		n = 0;
	snprintf(name, CARD_PREFIX_LEN + CARD_NAME + 1, CARD_PREFIX "%.*s", (int)n, padded);
	if (!n) {
		strcpy(value, text);
		return;
	}
	const bool has_value = padded[8] == '=' && padded[9] == ' ';
	if (has_value && !is_commentary(word) && take_fixed(word, text, value))
		return;
	if (has_value || is_commentary(word)) {
		strcpy(value, strlen(text) > 8 ? text + 8 : "");
		return;
	}
	*word = 0;
	strcpy(value, text);
}

/* --- keys that are no cards ------------------------------------------------------------------------------------------ */

const char *
card_comment(const char *s, char text[CARD_TEXT + 1])
{
	size_t n = strlen(s);
	const bool last = n <= CARD_TEXT && (!n || s[n - 1] != '&');

	if (!last)
		n = n < CARD_TEXT ? n : CARD_TEXT - 1;
	/* A reader drops blanks at the end of a card, but not before &. */
	snprintf(text, CARD_TEXT + 1, "%.*s%s", (int)n, s, last ? "" : "&");
	return last ? NULL : s + n;
}

bool
card_take_comment(struct img *x, const char *text, char **pieces)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const size_t had = *pieces ? strlen(*pieces) : 0, n = strlen(text),
		     name = strspn(text, letters);
	const bool last = !n || text[n - 1] != '&';

	/* The first piece begins with `name:=`. Cards of FITS have keys of their own. */
	if (!*pieces && (!name || strncmp(text + name, ":=", 2) || !strncmp(text, "fits", 4)))
		return false;
	char *all = weir_xalloc(had + n + 1, 1);
	snprintf(all, had + n + 1, "%s%.*s", had ? *pieces : "", (int)(last ? n : n - 1), text);
	weir_free(*pieces);
	*pieces = all;
	if (last) {
		char *mark = strstr(all, ":=");
		*mark = 0;
		img_add_key(x, all, mark + 2);
		weir_free(all);
		*pieces = NULL;
	}
	return true;
}

bool
card_is_one_of(const char *name, const char *list)
{
	return *name && word_index(list, ' ', name, strlen(name), strncmp) >= 0;
}

bool
card_is_structural(const char *name)
{
	return card_is_one_of(name,
			      " SIMPLE XTENSION BITPIX NAXIS PCOUNT GCOUNT EXTEND GROUPS BSCALE "
			      "BZERO BLANK CHECKSUM DATASUM END ZDATASUM ZHECKSUM ") ||
	       (!strncmp(name, "NAXIS", 5) && name[5] && !name[5 + strspn(name + 5, "0123456789")]);
}

bool
card_unpack(char card[CARD + 1])
{
	char name[CARD_NAME + 1];
	size_t n = strcspn(card, " =");

	n = n < CARD_NAME ? n : CARD_NAME;
	while (n && isdigit((unsigned char)card[n - 1]))
		n--;
	snprintf(name, sizeof name, "%.*s", (int)n, card);
	if (card_is_one_of(name,
			   " XTENSION BITPIX NAXIS PCOUNT GCOUNT TFIELDS TTYPE TFORM TUNIT TNULL "
			   "TSCAL TZERO THEAP ZIMAGE ZCMPTYPE ZTILE ZNAME ZVAL ZSCALE ZZERO ZBLANK "
			   "ZQUANTIZ ZDITHER ZMASKCMP CHECKSUM DATASUM ") ||
	    !strncmp(card, "EXTNAME = 'COMPRESSED_IMAGE'", 28))
		return false;
	if (!strcmp(name, "ZTENSION"))
		*card = 'X';
	else if (!strcmp(name, "ZHECKSUM"))
		*card = 'C';
	else if (card_is_one_of(name,
				" ZSIMPLE ZBITPIX ZNAXIS ZPCOUNT ZGCOUNT ZEXTEND ZDATASUM ")) {
		memmove(card, card + 1, CARD_NAME - 1);
		card[CARD_NAME - 1] = ' ';
	}
	return true;
}
