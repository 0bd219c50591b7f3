#include <stdio.h>
#include <string.h>

#include "common/base/words.h"
#include "common/stream/place.h"
#include "common/stream/share.h"

/* Reads text that has four whole numbers up to PLACE_MOST and nothing else. False: the text is malformed. */
static bool
parse(const char *text, size_t v[4])
{
	for (int i = 0; i < 4; i++)
		if (!word_size(&text, 0, &v[i]) || v[i] > PLACE_MOST)
			return false;
	return word_none(text);
}

int
place_of(const struct img *x, size_t w, size_t h, struct place *t, struct why *why)
{
	const char *text = img_key(x, "tile");
	size_t v[4] = {0, 0, w, h};

	if (text && !parse(text, v))
		return why_set(why, "tile:=%.40s is not `x0 y0 W H`, numbers up to %d", text,
			       PLACE_MOST);
	*t = (struct place){v[0], v[1], v[2], v[3]};
	if (w > t->W || h > t->H || t->x0 > t->W - w || t->y0 > t->H - h)
		return why_set(why,
			       "tile:=%.40s: %zux%zu pixels reach outside the image of %zux%zu",
			       text, w, h, t->W, t->H);
	return 0;
}

bool
place_same(const struct img *x, const struct img *y)
{
	const char *mine = img_key(x, "tile"), *theirs = img_key(y, "tile");

	return share_same(x, y) && (mine && theirs ? !strcmp(mine, theirs) : mine == theirs);
}

void
place_set(struct img *x, const struct place *t)
{
	img_set_key(x, "tile", "%zu %zu %zu %zu", t->x0, t->y0, t->W, t->H);
}
