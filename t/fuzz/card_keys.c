/* Any bytes as the cards of a FITS header: a card that becomes a key is the same card again. */
#include "common/convert/wcs.h"
#include "common/stream/place.h"
#include "t/fuzz/fuzz.h"

/* A card has printable characters, and blanks at its end do not count. */
static void
take_card(const uint8_t *bytes, size_t n, char card[CARD + 1])
{
	n = n < CARD ? n : CARD;
	for (size_t i = 0; i < n; i++)
		card[i] = bytes[i] < ' ' || bytes[i] > '~' ? ' ' : (char)bytes[i];
	while (n && card[n - 1] == ' ')
		n--;
	card[n] = 0;
}

/* A key that came from a card makes a card with the same key. */
static void
turn_round(const char *card)
{
	char name[CARD_PREFIX_LEN + CARD_NAME + 1], value[CARD + 1], again[CARD + 1];
	char name2[sizeof name], value2[sizeof value];

	card_to_key(card, name, value);
	if (!card_from_key(name + CARD_PREFIX_LEN, value, again))
		abort();
	card_to_key(again, name2, value2);
	if (strcmp(name, name2) || strcmp(value, value2))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const size_t sizes[2] = {4, 3};
	char card[CARD + 1];
	char gone[SECTION_NAMES];
	struct img x;

	img_init(&x, IMG_F32, 2, sizes);
	for (size_t at = 0; at < n; at += CARD) {
		char name[CARD_PREFIX_LEN + CARD_NAME + 1], value[CARD + 1];
		take_card(bytes + at, n - at, card);
		turn_round(card);
		card_to_key(card, name, value);
		img_add_key(&x, name, value);
		card_number(&x, 0, "%s", name + CARD_PREFIX_LEN);
		card_unpack(card);
	}
	wcs_positions(&x);
	x.axis[0].min = 2;
	x.axis[1].min = 3;
	x.axis[1].spacing = -1;
	wcs_follow(&x, gone);
	wcs_permute(&x, (const int[]){1, 0}, 2);
	wcs_slice(&x, 1);
	wcs_of_axes(&x);
	img_free(&x);
	return 0;
}
