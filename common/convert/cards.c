#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/convert/cards.h"

enum { VALUE = 10, FIXED = 20 }; /* the column where values begin; the width of fixed format */

/* --- words of a card ----------------------------------------------------------------------------------------------- */

static bool
name_char(char c)
{
	return isupper((unsigned char)c) || isdigit((unsigned char)c) || c == '-' || c == '_';
}

/* Length of the name in columns 1 to 8. Returns 0 when it is malformed: only blanks may follow a name. */
static size_t
name_length(const char *card)
{
	size_t n = 0;

	while (n < CARD_NAME && name_char(card[n]))
		n++;
	for (size_t i = n; i < CARD_NAME; i++)
		if (card[i] != ' ')
			return 0;
	return n;
}

/* Length of the value that s begins with: a string in quotes, a complex number, or a word. */
static size_t
value_length(const char *s)
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

/* Writes `value / comment` in fixed format: numbers end in column 30, strings begin in column 11. */
static int
print_fixed(const char *name, const char *value, char card[2 * CARD])
{
	const int n = (int)value_length(value);
	const char *rest = value + n + strspn(value + n, " ");
	const int width = *value == '\'' ? -FIXED : FIXED;

	return snprintf(card, 2 * CARD, "%-8s= %*.*s%s%s", name, width, n, value, *rest ? " " : "",
			rest);
}

bool
card_from_key(const char *name, const char *value, char card[CARD + 1])
{
	char text[2 * CARD];
	int n;

	if (!*name)
		n = snprintf(text, sizeof text, "%s", value);
	else if (is_commentary(name) || *value == '=')
		n = snprintf(text, sizeof text, "%-8s%s", name, value);
	else
		n = print_fixed(name, value, text);
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
	const size_t n = value_length(s);
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
	size_t n;

	snprintf(text, sizeof text, "%.*s", CARD, card);
	trim(text);
	snprintf(padded, sizeof padded, "%-*s", CARD, text);
	n = name_length(padded);
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

/* Whether the text begins with `name:=`. Cards of FITS have keys of their own. */
static bool
names_key(const char *text)
{
	const size_t n =
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n && !strncmp(text + n, ":=", 2) && strncmp(text, "fits", 4);
}

bool
card_take_comment(struct img *x, const char *text, char **pieces)
{
	const size_t had = *pieces ? strlen(*pieces) : 0, n = strlen(text);
	const bool last = !n || text[n - 1] != '&';

	if (!*pieces && !names_key(text))
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

/* --- cards of compressed images --------------------------------------------------------------------------------------- */

bool
card_unpack(char card[CARD + 1])
{
	static const char *const dropped[] = {
	    "XTENSION", "BITPIX  ", "NAXIS",
	    "PCOUNT  ", "GCOUNT  ", "TFIELDS ",
	    "TTYPE",	"TFORM",    "TUNIT",
	    "TNULL",	"TSCAL",    "TZERO",
	    "THEAP   ", "ZIMAGE  ", "ZCMPTYPE",
	    "ZTILE",	"ZNAME",    "ZVAL",
	    "ZSCALE  ", "ZZERO   ", "ZBLANK  ",
	    "ZQUANTIZ", "ZDITHER0", "ZMASKCMP",
	    "CHECKSUM", "DATASUM ", "EXTNAME = 'COMPRESSED_IMAGE'"};
	static const char *const named[][2] = {{"ZSIMPLE ", "SIMPLE  "}, {"ZTENSION", "XTENSION"},
					       {"ZBITPIX ", "BITPIX  "}, {"ZPCOUNT ", "PCOUNT  "},
					       {"ZGCOUNT ", "GCOUNT  "}, {"ZEXTEND ", "EXTEND  "},
					       {"ZHECKSUM", "CHECKSUM"}, {"ZDATASUM", "DATASUM "}};

	for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
		if (!strncmp(card, dropped[i], strlen(dropped[i])))
			return false;
	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		if (!strncmp(card, named[i][0], CARD_NAME))
			memcpy(card, named[i][1], CARD_NAME);
	if (!strncmp(card, "ZNAXIS", 6)) {
		memmove(card, card + 1, CARD_NAME - 1);
		card[CARD_NAME - 1] = ' ';
	}
	return true;
}

/* --- what cards say ------------------------------------------------------------------------------------------------- */

bool
card_is_structural(const char *name)
{
	static const char *const names[] = {"SIMPLE",  "XTENSION", "BITPIX",   "NAXIS",
					    "PCOUNT",  "GCOUNT",   "EXTEND",   "GROUPS",
					    "BSCALE",  "BZERO",	   "BLANK",    "CHECKSUM",
					    "DATASUM", "END",	   "ZDATASUM", "ZHECKSUM"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, "NAXIS", 5) && name[5] && !name[5 + strspn(name + 5, "0123456789")];
}

static const char *
card_text(const struct img *x, const char *name)
{
	char key[CARD_PREFIX_LEN + CARD_NAME + 1];
	const char *value;

	snprintf(key, sizeof key, CARD_PREFIX "%s", name);
	value = img_key(x, key);
	if (value && *value == '=')
		value += 1 + strspn(value + 1, " ");
	return value;
}

bool
card_number(const struct img *x, const char *name, double *v)
{
	const char *s = card_text(x, name);
	char word[CARD + 1], *end, *d;

	if (!s)
		return false;
	snprintf(word, sizeof word, "%.*s", (int)strcspn(s, " /"), s);
	if ((d = strpbrk(word, "Dd"))) /* FORTRAN's exponent */
		*d = 'E';
	*v = strtod(word, &end);
	return end > word && !*end && isfinite(*v);
}

/* Writes the shortest text that reads back as v. The text has a decimal point or an exponent. */
static void
print_number(double v, char text[32])
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, 32, "%.*G", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	if (!strpbrk(text, ".E"))
		strcat(text, ".0");
}

void
card_set_number(struct img *x, const char *name, double v)
{
	char key[CARD_PREFIX_LEN + CARD_NAME + 1], text[32], value[CARD + 48];
	const char *old = card_text(x, name);

	print_number(v, text);
	snprintf(key, sizeof key, CARD_PREFIX "%s", name);
	snprintf(value, sizeof value, "%s%s", text, old ? old + value_length(old) : "");
	for (size_t i = x->nkey; old && i-- > 0;)
		if (!strcmp(x->key[i].name, key)) {
			struct img one = {0};

			img_add_key(&one, key, value); /* replaced in place: the order is kept */
			struct img_key swap = x->key[i];
			x->key[i] = one.key[0];
			one.key[0] = swap;
			img_free(&one);
			return;
		}
	img_add_key(x, key, value);
}
