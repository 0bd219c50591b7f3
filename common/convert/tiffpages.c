/* link: -ltiff */
#include <stdio.h>
#include <stdlib.h>

#include "common/convert/tiffpages.h"

/* What the directory holds: a page (0), a small copy of another page, or a mask. */
static uint32_t
kind_of_page(TIFF *t)
{
	uint32_t kind = 0;

	TIFFGetFieldDefaulted(t, TIFFTAG_SUBFILETYPE, &kind);
	return kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK);
}

/* Returns NULL, or a sentence. */
static const char *
add(TIFF *t, bool indices, size_t number, struct tiffpages *l)
{
	if (!(l->n & (l->n + 1)) || !l->at) {
		void *more = realloc(l->at, (2 * l->n + 2) * sizeof *l->at);
		if (!more)
			return "no memory for pages";
		l->at = more;
	}
	struct tiffpages_page *p = &l->at[l->n++];
	*p = (struct tiffpages_page){.number = number, .offset = TIFFCurrentDirOffset(t)};
	return tiffpage_read(t, indices, &p->layout);
}

/* The last mask is that of the last page, if it fits and is the first to do so. */
static void
match(struct tiffpages *pages, struct tiffpages *masks)
{
	struct tiffpages_page *mask = &masks->at[masks->n - 1], *page;

	if (!pages->n)
		return;
	mask->of = pages->n - 1;
	page = &pages->at[mask->of];
	if (!page->mask && mask->layout.w == page->layout.w && mask->layout.h == page->layout.h &&
	    mask->layout.planes == 1 && mask->layout.type == IMG_U8)
		page->mask = masks->n;
}

/* Reads the next directory. Returns false at the end, or when that is all that is wanted. */
static bool
go_on(TIFF *t, const struct tiffpages_want *want, const struct tiffpages *pages)
{
	if (!want->first || !pages->n)
		return TIFFReadDirectory(t);
	return want->masks && TIFFReadDirectory(t) && kind_of_page(t);
}

int
tiffpages_find(TIFF *t, const struct tiffpages_want *want, struct tiffpages *pages,
	       struct tiffpages *masks, struct tiffpages_seen *seen, char err[TIFFPAGES_ERR])
{
	const char *why = NULL, *hint = "";
	size_t number = 0;

	*seen = (struct tiffpages_seen){0};
	do {
		const uint32_t kind = kind_of_page(t);

		if (!kind)
			why = add(t, want->indices, number, pages);
		else if (kind == FILETYPE_MASK && want->masks)
			why = add(t, want->indices, number, masks);
		if (!why && masks->n && masks->at[masks->n - 1].number == number)
			match(pages, masks);
		seen->copies += (kind & FILETYPE_REDUCEDIMAGE) != 0;
		seen->masks += kind == FILETYPE_MASK;
		if (!why)
			tiff_why();
	} while (!why && ++number && go_on(t, want, pages));
	if (!why)
		why = want->first && pages->n ? "" : tiff_why();
	if (pages->n && number)
		hint = "; --pages=first reads the first page";
	if (*why)
		snprintf(err, TIFFPAGES_ERR, "page %zu: %s%s", number, why, hint);
	else if (!pages->n)
		snprintf(err, TIFFPAGES_ERR, "it has small copies and masks alone, and no page");
	return *why || !pages->n ? -1 : 0;
}

void
tiffpages_free(struct tiffpages *l)
{
	free(l->at);
	*l = (struct tiffpages){0};
}
