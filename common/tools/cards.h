/*
 * Cards of a FITS header as keys of an item, and back, without loss. Pure.
 *
 *	EXPTIME =                 30.0 / [s] exposure		fits.EXPTIME:=30.0 / [s] exposure
 *	COMMENT  in two cameras					fits.COMMENT:= in two cameras
 *	GAIN    = 1.5e0 / free format				fits.GAIN:== 1.5e0 / free format
 *
 * A card in FITS's fixed format becomes value and comment. Another one becomes its text from column 9 on, which begins with =
 * where the card has a value; and where even the name is malformed, the whole card, under the name `fits.`.
 */
#ifndef TOOLS_CARDS_H
#define TOOLS_CARDS_H

#include <stdbool.h>

#include "common/img.h"

enum { CARD = 80, CARD_NAME = 8 };

#define CARD_PREFIX	"fits."
#define CARD_PREFIX_LEN 5

/* The key of a card of up to 80 characters: its name, prefix included, and its value. */
void
card_to_key(const char *card, char name[CARD_PREFIX_LEN + CARD_NAME + 1], char value[CARD + 1]);

/* The card of a key; name without the prefix. False: it is longer than a card, which is then cut. */
bool card_from_key(const char *name, const char *value, char card[CARD + 1]);

/*
 * A card of a compressed image, which is stored in a table: cards of the table are to be dropped (false), and ZBITPIX and the
 * like, which say what the image was, get their names back.
 */
bool card_unpack(char card[CARD + 1]);

/* Whether the card says how samples are stored: SIMPLE, BITPIX, NAXISn, BSCALE ... Readers and writers make them anew. */
bool card_is_structural(const char *name);

/* The card NAME of x as a number; false where it is missing or no number. */
bool card_number(const struct img *x, const char *name, double *v);

/* Gives the card NAME another number; its comment stays. A missing card is added at the end. */
void card_set_number(struct img *x, const char *name, double v);

/* The shortest text that reads back as v, with a point or an exponent. */
void card_print(double v, char text[32]);

#endif
