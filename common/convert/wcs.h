/*
 * The world coordinate system that the FITS cards of an item state, such as fits.CRPIX1. The cards count pixels of the original
 * image from 1. The item's axes say where its samples lie in that image, counted from 0:
 *
 *	p = min + spacing * i		pixel p of the original is sample i of the item
 *
 * Pure.
 */
#ifndef WEIR_CONVERT_WCS_H
#define WEIR_CONVERT_WCS_H

#include <stdbool.h>

#include "common/stream/img.h"

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

/* Length of the value that s begins with: a string in quotes, a complex number, or a word. */
size_t card_value_length(const char *s);

/* Whether the list has the name: words with a blank before and behind each. */
bool card_is_one_of(const char *name, const char *list);

/*
 * Sections of a CCD image that FITS cards name, of the form '[first:last,first:last]', also with a digit or a letter behind the
 * name. DATASEC, TRIMSEC, BIASSEC, PRESEC, POSTSEC, DSEC, TSEC and BSEC count the pixels of the image from 1. CCDSEC, DETSEC and AMPSEC
 * count pixels of the detector and name those that lie under DATASEC, or under the whole image where that is missing; CSEC and
 * ASEC lie under DSEC. Pure.
 */

#define SECTION_NAMES 128

/*
 * Sets the positions of the axes of an item whose cards have been read: FITS's pixel numbers less 1. Where cards that
 * wcs_of_axes() has made state positions, labels and units, the axes get these.
 */
void wcs_positions(struct img *x);

/* Before cuts and flips: axes of an item with cards that have no positions get min 0 and spacing 1. */
void wcs_place(struct img *x);

/*
 * Updates the cards for cuts and flips: they then hold for the samples of x. Removes the positions from the axes. gone gets the
 * names of sections that lie outside, and are removed.
 */
void wcs_follow(struct img *x, char gone[SECTION_NAMES]);

/*
 * The name of a card of x that does not hold for cut or flipped samples, and that wcs_follow() cannot update. It refers to a
 * lookup table of distortions in another HDU, belongs to the plate solution of the Digitized Sky Survey, or names TPV with a
 * flipped axis and no matrix. NULL: there is none.
 */
const char *wcs_left_behind(const struct img *x);

/*
 * Renumbers the cards: axis i of the item was axis from[i] before, i < n. Returns the name of a card that no longer holds, or
 * NULL: SIP's polynomials know axes 0 and 1 only, and those that wcs_left_behind() names do not follow.
 */
const char *wcs_permute(struct img *x, const int *from, int n);

/* Updates the cards of an axis that was cut to one sample and will be removed: they then count from that sample. */
void wcs_slice(struct img *x, int axis);

/*
 * Makes the cards of an item that did not come from FITS. Labels become CTYPE, units become CUNIT, and positions become CRPIX,
 * CRVAL and CDELT; their comments say so.
 */
void wcs_of_axes(struct img *x);

#endif
