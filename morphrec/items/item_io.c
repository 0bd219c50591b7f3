#include <errno.h>
#include <string.h>

#include "common/stream/scratch.h"
#include "morphrec/items/item_io.h"
#include "morphrec/items/spool.h"

void
item_room(const struct raw_in *in, struct img *x)
{
	if (!img_bytes(x, &x->mapped) || !(x->map = x->data = scratch_map(x->mapped)))
		raw_die(in, "no temporary file for %zu bytes in %s: %s", x->mapped,
			scratch_directory(), strerror(errno));
}

void
item_spool(struct raw_in *in, struct img *x)
{
	const size_t size = img_type_size(x->type);
	struct spool_pages pages;

	item_room(in, x);
	pages = (struct spool_pages){.J = x->data};
	for (size_t at = 0; at < x->mapped; at += ITEM_PIECE) {
		const size_t n = x->mapped - at < ITEM_PIECE ? x->mapped - at : ITEM_PIECE;
		raw_read(in, pages.J + at, n / size);
		spool_done(&pages, at, n);
	}
}

void
item_unspool(struct raw_out *out, const struct img *x)
{
	const size_t size = img_type_size(x->type);
	struct spool_pages pages = {.J = x->data};

	raw_head(out, x);
	for (size_t at = 0; at < x->mapped; at += ITEM_PIECE) {
		const size_t n = x->mapped - at < ITEM_PIECE ? x->mapped - at : ITEM_PIECE;
		raw_write(out, pages.J + at, n / size);
		spool_done(&pages, at, n);
	}
}
