/* Finds the pages of a TIFF file, and the masks of their missing pixels. */
#ifndef WEIR_CONVERT_TIFFPAGES_H
#define WEIR_CONVERT_TIFFPAGES_H

#include "common/convert/tiffpage.h"

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

struct tiffpages_want {
	bool indices; /* those of a palette stay what they are */
	bool masks;   /* else masks is left empty */
	bool first;   /* the first page and its masks alone. What follows them is not read */
};

/*
 * Goes through the directories of t. Returns 0, or -1 with a sentence in err, when there is no page, or one cannot be read.
 */
int tiffpages_find(TIFF *t, const struct tiffpages_want *want, struct tiffpages *pages,
		   struct tiffpages *masks, struct tiffpages_seen *seen, char err[TIFFPAGES_ERR]);

void tiffpages_free(struct tiffpages *l);

#endif
