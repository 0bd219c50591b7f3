/* link: -ltiff */
/* tifftoraw: converts the pages of TIFF files to raw items. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/opt.h"
#include "common/progress.h"
#include "common/raw.h"
#include "common/stats.h"
#include "common/swap.h"
#include "common/tools/door.h"
#include "common/tools/tiffaxes.h"
#include "common/tools/tiffnodata.h"

const char *const weir_prog = "tifftoraw";

struct args {
	struct opt_common common;
	int pages;
	bool nan;
	bool indices;
	char **path;
	size_t npath;
};

enum { STACK, ITEMS };

static const struct opt table[] = {
    {.name = "pages",
     .kind = OPT_WORD,
     .at = offsetof(struct args, pages),
     .arg = "HOW",
     .help = "%s: pages as one item, or an item each (stack)",
     .words = "stack|items"},
    {.name = "nan",
     .kind = OPT_FLAG,
     .at = offsetof(struct args, nan),
     .help = "missing samples of integers become NaN, and the others floats"},
    {.name = "indices",
     .kind = OPT_FLAG,
     .at = offsetof(struct args, indices),
     .help = "keep the indices of a palette, instead of its colours"},
    {0}};

static const struct opt_program program = {.what = "Turns the pages of TIFF files into raw items.",
					   .table = table,
					   .operands = "[FILE ...]",
					   .max_operands = SIZE_MAX};

/* An open file, and where its pages are. */
struct source {
	const struct door *door;
	TIFF *t;
	bool indices; /* those of palettes stay what they are */
	struct page {
		struct tiffpage layout;
		uint64_t offset; /* of its directory */
		size_t number;	 /* from 0 */
	} * page;
	size_t n;
};

/* Dies with libtiff's message about the failure or, if there is none, with ours. */
static _Noreturn void
die_tiff(const struct source *s, size_t page, const char *ours)
{
	const char *why = tiff_why();

	die("%s: page %zu: %s", s->door->name, page, *why ? why : ours);
}

/* --- pages ----------------------------------------------------------------------------------------------------------- */

/* What the directory holds: a page (0), a small copy of another page, or a mask. */
static uint32_t
kind_of_page(TIFF *t)
{
	uint32_t kind = 0;

	TIFFGetFieldDefaulted(t, TIFFTAG_SUBFILETYPE, &kind);
	return kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK);
}

static void
add_page(struct source *s, size_t number)
{
	struct page *p;
	const char *why;

	if (!(s->n & (s->n + 1)) || !s->page)
		s->page = realloc(s->page, (2 * s->n + 2) * sizeof *s->page);
	if (!s->page)
		die("no memory for pages");
	p = &s->page[s->n++];
	why = tiffpage_read(s->t, s->indices, &p->layout);
	if (why)
		die("%s: page %zu: %s", s->door->name, number, why);
	p->offset = TIFFCurrentDirOffset(s->t);
	p->number = number;
}

static void
find_pages(struct source *s)
{
	size_t number = 0, copies = 0, masks = 0;

	do {
		const uint32_t kind = kind_of_page(s->t);

		if (!kind)
			add_page(s, number);
		copies += (kind & FILETYPE_REDUCEDIMAGE) != 0;
		masks += kind == FILETYPE_MASK;
		number++;
		tiff_why();
	} while (TIFFReadDirectory(s->t));
	const char *why = tiff_why();
	if (*why)
		die("%s: page %zu: %s", s->door->name, number, why);
	if (!s->n)
		die("%s: it has small copies and masks alone, and no page", s->door->name);
	if (copies)
		warn("%s: %zu small copies are left out", s->door->name, copies);
	if (masks)
		warn("%s: %zu masks of missing pixels are left out", s->door->name, masks);
}

static void
insist_alike(const struct source *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (!tiffpage_alike(&s->page[0].layout, &s->page[i].layout))
			die("%s: page %zu differs in shape or type from page %zu; see "
			    "--pages=items",
			    s->door->name, s->page[i].number, s->page[0].number);
}

/* --- samples ----------------------------------------------------------------------------------------------------------- */

/* Where rows go. */
struct target {
	struct raw_out *out;
	struct stats *st;
	size_t row; /* samples of a row */
	struct nodata missing;
	struct progress bar;
	size_t done, all; /* rows */
};

static void
put_rows(void *to, const void *rows, size_t n)
{
	struct target *o = to;
	const size_t count = n * o->row;

	stats_charge(o->st, STATS_READ);
	/* The band is the reader's buffer. put() may change it. */
	raw_write(o->out, nodata_mark(&o->missing, (void *)(uintptr_t)rows, count), count);
	stats_charge(o->st, STATS_WRITE);
	o->done += n;
	progress_step(&o->bar, (double)o->done / (double)o->all);
}

static struct target
open_target(const struct args *args, const struct tiffpage *p, struct nodata missing,
	    struct raw_out *out, size_t n, struct stats *st)
{
	struct target o = {.out = out, .st = st, .missing = missing};

	o.row = p->w * p->planes;
	o.all = p->h * n;
	progress_start(&o.bar, args->common.quiet);
	return o;
}

/* Reads a large stack of ImageJ: one directory, and samples back to back. Returns false when the file is not of that kind. */
static bool
is_run(const struct source *s, const struct stackmeta *m, uint64_t *offset)
{
	const struct tiffpage *p = &s->page[0].layout;
	uint16_t compression = 0;
	uint64_t *offsets;

	TIFFGetFieldDefaulted(s->t, TIFFTAG_COMPRESSION, &compression);
	if (s->n != 1 || !m->imagej || m->n < 2 || p->tiled || p->separate ||
	    p->way != TIFF_PLAIN || compression != COMPRESSION_NONE ||
	    p->bits != 8 * img_type_size(p->type) || p->orientation != ORIENTATION_TOPLEFT ||
	    !TIFFGetField(s->t, TIFFTAG_STRIPOFFSETS, &offsets))
		return false;
	*offset = offsets[0];
	return m->n <= (s->door->bytes - *offset) / (p->h * tiffpage_row(p)) &&
	       *offset < s->door->bytes;
}

static void
put_run(const struct source *s, uint64_t offset, size_t n, struct target *o)
{
	const size_t row = tiffpage_row(&s->page[0].layout),
		     size = img_type_size(s->page[0].layout.type);
	const size_t most = 1 + (1 << 20) / row;
	void *band = weir_xalloc(most, row);

	for (size_t left = n * s->page[0].layout.h, some; left; left -= some) {
		some = left < most ? left : most;
		if (pread(s->door->fd, band, some * row, (off_t)offset) != (ssize_t)(some * row))
			die("%s: the samples end before the stack does", s->door->name);
		if (TIFFIsByteSwapped(s->t))
			swap_bytes(band, some * o->row, size);
		put_rows(o, band, some);
		offset += some * row;
	}
	weir_free(band);
}

static void
go_to(const struct source *s, size_t i)
{
	struct tiffpage again;

	if (!TIFFSetSubDirectory(s->t, s->page[i].offset) ||
	    tiffpage_read(s->t, s->indices, &again))
		die_tiff(s, s->page[i].number, "its directory cannot be read again");
}

/* Writes pages first .. first + n - 1 as one item. */
static void
put_item(const struct args *args, const struct source *s, size_t first, size_t n,
	 struct raw_out *out, struct stats *st)
{
	const struct tiffpage *p = &s->page[first].layout;
	struct stackmeta m;
	uint64_t offset;
	struct img x;

	go_to(s, first);
	tiffpage_describe(s->t, p, n, &x, &m);
	const bool run = args->pages != ITEMS && is_run(s, &m, &offset);
	if (run) {
		n = m.n;
		img_free(&x);
		tiffpage_describe(s->t, p, n, &x, &m);
	}
	tiff_keep_tags(s->t, &x, s->door->name);
	if (p->way == TIFF_PALETTE && img_key(&x, "nodata")) {
		warn("%s: the missing index %s becomes a colour; see --indices", s->door->name,
		     img_key(&x, "nodata"));
		img_drop_key(&x, "nodata");
	}
	const struct nodata missing = nodata_of(&x, args->nan);
	door_limit(s->door->name, &x, args->common.max_bytes);
	if (args->common.verbose)
		warn("%s: item %ju: %s, %zu x %zu, %zu planes, %zu pages", s->door->name,
		     (uintmax_t)st->items + 1, img_type_name(x.type), p->w, p->h, p->planes, n);
	struct target o = open_target(args, p, missing, out, n, st);
	stats_charge(st, STATS_PLAN);
	raw_head(out, &x);
	if (run)
		put_run(s, offset, n, &o);
	for (size_t i = first; !run && i < first + n; i++) {
		if (i > first)
			go_to(s, i);
		if (tiffpage_rows(s->t, &s->page[i].layout, put_rows, &o))
			die_tiff(s, s->page[i].number, "its samples cannot be read");
	}
	progress_end(&o.bar);
	if (o.missing.kept)
		warn(
		    "%s: %ju samples have the value %s of missing ones and stay numbers; see --nan",
		    s->door->name, (uintmax_t)o.missing.kept, img_key(&x, "nodata"));
	nodata_free(&o.missing);
	img_free(&x);
	st->items++;
}

static void
convert_file(const void *context, const struct door *door, struct raw_out *out, struct stats *st)
{
	const struct args *args = context;
	struct source s = {.door = door, .indices = args->indices};

	/* m: libtiff reads the file and does not map it. A file that shrinks is then an error instead of a signal. */
	s.t = TIFFOpen(door->path, "rm");
	if (!s.t) {
		const char *why = tiff_why();
		door_refuse_foreign(door);
		die("%s: %s", door->name, *why ? why : "this is no TIFF file");
	}
	find_pages(&s);
	if (args->pages != ITEMS) {
		insist_alike(&s);
		put_item(args, &s, 0, s.n, out, st);
	}
	for (size_t i = 0; args->pages == ITEMS && i < s.n; i++)
		put_item(args, &s, i, 1, out, st);
	TIFFClose(s.t);
	free(s.page);
}

int
main(int argc, char **argv)
{
	struct args args = {0};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	tiff_init();
	door_each(args.path, args.npath, &args.common, convert_file, &args);
	return 0;
}
