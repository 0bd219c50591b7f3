/*
 * The neighbours of a sample: in a picture those that share a side (connectivity 4) or a corner (8), in a volume those that
 * share a face (6), an edge (18) or a corner (26).
 */
#ifndef WEIR_BASE_NEIGHBOURS_H
#define WEIR_BASE_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>

enum { NEIGHBOURS = 26 };

struct neighbour {
	int x, y, z;  /* the step to it */
	ptrdiff_t at; /* the same in an array of rows of w samples, h rows a slice */
};

/* Lists them in the order of rows. Returns how many there are. */
static inline int
neighbours_list(int connectivity, size_t w, size_t h, struct neighbour to[NEIGHBOURS])
{
	const bool volume = connectivity != 4 && connectivity != 8;
	const int axes = connectivity == 4 || connectivity == 6 ? 1 : connectivity == 18 ? 2 : 3;
	int n = 0;

	for (int z = -volume; z <= volume; z++)
		for (int y = -1; y <= 1; y++)
			for (int x = -1; x <= 1; x++) {
				const int apart = (x != 0) + (y != 0) + (z != 0);
				const ptrdiff_t at = (z * (ptrdiff_t)h + y) * (ptrdiff_t)w + x;
				if (apart && apart <= axes)
					to[n++] = (struct neighbour){x, y, z, at};
			}
	return n;
}

#endif
