/* Finds the pages of a TIFF file, and the masks of their missing pixels. */
#ifndef TOOLS_TIFFPAGES_H
#define TOOLS_TIFFPAGES_H

#include "common/tools/tiffpage.h"

#define TIFFPAGES_ERR 512

/* A page, or the mask of one. */
struct tiffpages_page {
	struct tiffpage layout;
	uint64_t offset; /* of its directory */
	size_t number;	 /* from 0 */
	size_t mask;	 /* 1 + the index of its mask, which has its size; 0: none */
	size_t of;	 /* of a mask: the index of the page before it */
};

/* The caller frees it with tiffpages_free(). */
struct tiffpages {
	struct tiffpages_page *at;
	size_t n;
};

/* How many directories are small copies of other pages, or masks. */
struct tiffpages_seen {
	size_t copies, masks;
};

/*
 * Goes through all directories of t. masks is left empty without want_masks. Returns 0, or -1 with a sentence in err, when
 * there is no page, or one cannot be read.
 */
int tiffpages_find(TIFF *t, bool indices, bool want_masks, struct tiffpages *pages,
		   struct tiffpages *masks, struct tiffpages_seen *seen, char err[TIFFPAGES_ERR]);

void tiffpages_free(struct tiffpages *l);

#endif
