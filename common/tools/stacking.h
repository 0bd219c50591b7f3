/* The items of a stream that rawstack puts together, or combines into one number for each pixel. All functions die on failure. */
#ifndef TOOLS_STACKING_H
#define TOOLS_STACKING_H

#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/picture/combine.h"
#include "common/stream/raw.h"

/* What belongs together, and what becomes of it. */
struct stacking {
	int combine;  /* enum combine */
	double clip;  /* of the clipped mean */
	size_t every; /* items of a group; 0: all items of the stream */
};

/* Items that belong together, with their samples. */
struct group {
	struct img *x; /* owned */
	size_t n, room, bytes;
};

/* Reads the next group. Returns false when there was none. */
bool stacking_read(const struct stacking *s, const struct opt_common *o, struct raw_in *in,
		   struct group *g);

void stacking_free(struct group *g);

/* Writes the median or the clipped mean of the items of a group. */
void stacking_put_all(const struct stacking *s, const struct opt_common *o, const struct raw_in *in,
		      const struct group *g, struct raw_out *out, struct stats *st);

/*
 * Writes the sum, the mean, the least or the greatest of the next group, whose items are read one by one. Returns false when
 * there was none.
 */
bool stacking_put_running(const struct stacking *s, const struct opt_common *o, struct raw_in *in,
			  struct raw_out *out, struct stats *st);

#endif
