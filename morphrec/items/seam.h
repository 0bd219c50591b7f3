/*
 * A share of a picture or volume whose shares are reconstructed one by one: --seam=DIR --part=I/N. The array is cut along its
 * slowest axis. A layer is a row of a picture, or a slice of a volume. Share I has two files in DIR:
 *
 *	state.I		J of its layers and of the HALO: the last layer of the share before and the first one of the share
 *			after. The file is mapped and changes in place.
 *	border.I	its own first and last layer, for the shares beside it. It is replaced by rename().
 *
 * A run raises the halo to the borders of the shares beside it, brings J to its fixpoint and writes its own border. Pixels of
 * the halo rise like all others. Where the halo then is higher than the border that a neighbour wrote, the neighbour must run
 * again.
 *
 * When no share's last run found that, all of them together are the reconstruction: no pixel can raise another, within a share
 * or across a seam. No pixel is too high, because each rise is one that the whole would make. The order of the runs does not
 * matter. A border that is read late or twice is only lower than it could be, which the neighbour's next run makes up for.
 *
 * A run that is killed leaves a state that is not settled. The next run makes it again from the marker and the borders. That
 * gives what was there before or more, because the borders only rise. The state is locked while a run uses it.
 */
#ifndef MORPHREC_SEAM_H
#define MORPHREC_SEAM_H

#include "common/stream/part.h"

#define SEAM_NONE SIZE_MAX /* no share */

struct seam {
	/* These are filled in by the caller. */
	const char *dir;
	struct part part;
	uint64_t hash;	      /* what all shares have in common */
	size_t layers, bytes; /* layers of the whole; bytes of a layer */

	/* These by seam_lay_out(). */
	size_t first, end; /* its own layers */
	size_t at, n;	   /* n layers from `at` on: its own and the halo */
	size_t beside[2];  /* the shares before and after it */

	/* These by seam_open(). */
	struct seam_head *head; /* the mapped file */
	void *J;
	int fd;
	size_t moved; /* bytes of borders that were read and written */
};

/* The first bytes of both files. */
struct seam_head {
	char magic[16];
	uint64_t hash, share, shares, layers, bytes;
	uint64_t made;	  /* of a state: the head is whole */
	uint64_t settled; /* of a state: J is its fixpoint */
	uint64_t lo, hi;  /* of a settled state: the range of keys of its first marker */
};

/* Computes the layers. first == end: the share has none, and no files. */
void seam_lay_out(struct seam *s);

/* Opens the state, and the directory if there is none. Dies when DIR is of another run, or another process has the share. */
void seam_open(struct seam *s);

/*
 * Reads the layer of the share beside that touches this one; side: 0 before, 1 after. Returns false when that share has not
 * written its border yet.
 */
bool seam_read_beside(struct seam *s, int side, void *layer);

/* Returns layer number i of the whole, in the state. */
void *seam_layer(const struct seam *s, size_t i);

/* Notes whether J is at its fixpoint, in one step, after all that was written to J. */
void seam_settle(struct seam *s, bool settled);

/* Writes the border, unless it is there already. */
void seam_write_border(struct seam *s);

void seam_close(struct seam *s);

#endif
