/*
 * Converts the cards of a FITS header to keys of an item, and back, without loss. Pure.
 *
 *	EXPTIME =                 30.0 / [s] exposure		fits.EXPTIME:=30.0 / [s] exposure
 *	COMMENT  in two cameras					fits.COMMENT:= in two cameras
 *	GAIN    = 1.5e0 / free format				fits.GAIN:== 1.5e0 / free format
 *
 * The key of a card in FITS's fixed format holds the value and the comment. The key of any other card holds the text from
 * column 9 on; this text begins with = when the card has a value. A card with a malformed name is stored whole, under the
 * key `fits.`.
 */
#ifndef WEIR_CONVERT_CARDS_H
#define WEIR_CONVERT_CARDS_H

#include <stdbool.h>

#include "common/stream/img.h"

enum { CARD = 80, CARD_NAME = 8 };

#define CARD_PREFIX	"fits."
#define CARD_PREFIX_LEN 5

/* Sets name and value of the key for a card of up to 80 characters. The name includes the prefix. */
void
card_to_key(const char *card, char name[CARD_PREFIX_LEN + CARD_NAME + 1], char value[CARD + 1]);

/* Makes the card of a key. The name has no prefix. Returns false when the text is longer than a card and was cut. */
bool card_from_key(const char *name, const char *value, char card[CARD + 1]);

/*
 * A key that is no card travels in COMMENT cards, as `name:=value`, cut into pieces. All pieces but the last end in &.
 * card_comment() copies the piece at s to text and returns where the next one begins; NULL after the last.
 */
enum { CARD_TEXT = CARD - CARD_NAME };
const char *card_comment(const char *s, char text[CARD_TEXT + 1]);

/*
 * Takes the text of each COMMENT card in turn, and adds the key to x when its last piece has come. *pieces holds the others; it
 * is NULL at first, and the caller frees it at the end. Returns false when the text is no piece of a key.
 */
bool card_take_comment(struct img *x, const char *text, char **pieces);

/*
 * Restores a card of a compressed image, which FITS stores in a table. Cards that describe the image get their names back:
 * ZBITPIX becomes BITPIX. Returns false for a card that describes the table: drop it.
 */
bool card_unpack(char card[CARD + 1]);

/*
 * Whether the card says how samples are stored: SIMPLE, BITPIX, NAXISn, BSCALE and others. Readers and writers make these
 * cards anew.
 */
bool card_is_structural(const char *name);

/* Sets *v to the number on the card `name` of x. Returns false when the card is missing or holds no number. */
bool card_number(const struct img *x, const char *name, double *v);

/* Sets the number on the card `name` of x and keeps its comment. A missing card is added at the end. */
void card_set_number(struct img *x, const char *name, double v);

#endif
