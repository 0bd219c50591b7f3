/* link: -lcfitsio */
/* fitstoraw: the images of FITS files as raw items. */
#include <fitsio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/progress.h"
#include "common/base/stats.h"
#include "common/convert/fits.h"
#include "common/convert/wcs.h"
#include "common/stream/door.h"
#include "common/stream/raw.h"

const char *const weir_prog = "fitstoraw";

struct args {
	struct opt_common common;
	const char *hdu;
	char **path;
	size_t npath;
};

static const struct opt table[] = {
    {.name = "hdu",
     .kind = OPT_STR,
     .at = offsetof(struct args, hdu),
     .arg = "LIST",
     .help = "0 (the primary one), numbers or names, by commas (all images)"},
    {0}};

static const struct opt_program program = {.what = "Turns the images of FITS files into raw items.",
					   .table = table,
					   .operands = "[FILE ...]",
					   .max_operands = SIZE_MAX};

enum { BLOCK = 1 << 20 }; /* bytes to read at a time, or a row of tiles if that is more */

/* An open file, and its HDU (header and data unit) that is being read. */
struct source {
	const struct door *door;
	fitsfile *f;
	int unit;	       /* number of the HDU; 0 is the primary HDU */
	char name[FLEN_VALUE]; /* EXTNAME of the HDU; "" when it has none */
	struct img empty; /* holds the cards of a primary HDU without pixels for the next item */
};

static _Noreturn void
die_fits(const struct source *s, int status)
{
	char text[FLEN_ERRMSG + 32];

	fits_why(status, text, sizeof text);
	die("%s: HDU %d: %s", s->door->name, s->unit, text);
}

/* --- what the HDU holds --------------------------------------------------------------------------------------------- */

/* How the samples of an HDU are stored, and what they become. */
struct layout {
	enum img_type type;
	int code;     /* cfitsio's code of the type */
	bool scaled;  /* the item's samples differ from the stored ones */
	bool packed;  /* the HDU is a table of compressed tiles */
	bool primary; /* it holds the image of a primary HDU */
	bool nulls;   /* cfitsio is to replace BLANK by NaN */
	int dim;
	LONGLONG sizes[IMG_MAXDIM];
	LONGLONG rows; /* rows to read at a time; of compressed images, whole tiles */
};

static double
number_of(const struct source *s, const char *name, double absent)
{
	double v = absent;
	int status = 0;

	if (fits_read_key(s->f, TDOUBLE, name, &v, NULL, &status)) {
		fits_clear_errmsg();
		return absent;
	}
	return v;
}

/* The number of rows that a tile of a compressed image has. */
static LONGLONG
rows_of_tiles(const struct source *s)
{
	const double rows = number_of(s, "ZTILE2", 1);
	return rows >= 1 && rows <= 0x1p30 ? (LONGLONG)rows : 1;
}

static struct layout
read_layout(const struct source *s)
{
	int bitpix, status = 0;
	struct layout l = {0};

	if (fits_get_img_type(s->f, &bitpix, &status) || fits_get_img_dim(s->f, &l.dim, &status))
		die_fits(s, status);
	if (l.dim > IMG_MAXDIM)
		die("%s: HDU %d: it has %d axes, and an item at most %d", s->door->name, s->unit,
		    l.dim, IMG_MAXDIM);
	if (fits_get_img_sizell(s->f, l.dim, l.sizes, &status))
		die_fits(s, status);
	const double scale = number_of(s, "BSCALE", 1), zero = number_of(s, "BZERO", 0);
	const bool blank = bitpix > 0 && (!isnan(number_of(s, "BLANK", NAN)) ||
					  !isnan(number_of(s, "ZBLANK", NAN)));
	if (scale == 0 || !isfinite(scale) || !isfinite(zero))
		die("%s: HDU %d: BSCALE or BZERO is no scale", s->door->name, s->unit);
	l.type = fits_choose_type(bitpix, scale, zero, blank);
	l.code = fits_code(l.type);
	l.packed = fits_is_compressed_image(s->f, &status);
	l.primary = l.packed && number_of(s, "ZSIMPLE", 0) != 0;
	l.scaled = img_is_float(l.type) && (bitpix > 0 || scale != 1 || zero != 0);
	l.nulls = blank || (l.packed && bitpix < 0);
	l.rows = l.packed ? rows_of_tiles(s) : 1;
	return l;
}

/* --- its cards ------------------------------------------------------------------------------------------------------ */

/* Whether a card becomes a key. Structural cards do, for their comments, except those that converted samples make wrong. */
static bool
is_kept(const struct layout *l, const char *name)
{
	static const char *const changed[] = {"BLANK", "BSCALE", "BZERO", "BITPIX"};

	for (size_t i = 0; l->scaled && i < sizeof changed / sizeof *changed; i++)
		if (!strcmp(name, changed[i]))
			return false;
	return true;
}

static void
add_card(struct img *x, const struct layout *l, const char *prefix, char *card, char **pieces)
{
	char name[CARD_PREFIX_LEN + CARD_NAME + 1], value[CARD + 1], key[32];

	for (char *c = card; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	if (l->packed && !card_unpack(card))
		return;
	card_to_key(card, name, value);
	if (!is_kept(l, name + CARD_PREFIX_LEN))
		return;
	if (!strcmp(name, CARD_PREFIX "COMMENT") && !strcmp(prefix, CARD_PREFIX) &&
	    card_take_comment(x, value, pieces))
		return;
	snprintf(key, sizeof key, "%s%s", prefix, name + CARD_PREFIX_LEN);
	img_add_key(x, key, value);
}

static void
add_cards(struct img *x, const struct source *s, const struct layout *l, const char *prefix)
{
	char card[FLEN_CARD + 8], *pieces = NULL;
	int n, status = 0;

	fits_get_hdrspace(s->f, &n, NULL, &status);
	for (int i = 1; i <= n && !fits_read_record(s->f, i, card, &status); i++)
		add_card(x, l, prefix, card, &pieces);
	if (pieces) /* the last piece is missing */
		card_take_comment(x, "", &pieces);
	if (status)
		die_fits(s, status);
}

/* --- items ---------------------------------------------------------------------------------------------------------- */

/* Positions are FITS's pixel numbers less 1. The cards of the coordinate system refer to them. */
static void
describe(struct img *x, struct source *s, const struct layout *l, size_t max_bytes)
{
	size_t sizes[IMG_MAXDIM];

	for (int i = 0; i < l->dim; i++)
		sizes[i] = (size_t)l->sizes[i];
	img_init(x, l->type, l->dim, sizes);
	door_limit(s->door->name, x, max_bytes);
	for (int i = 0; i < l->dim; i++) {
		x->axis[i].spacing = 1;
		x->axis[i].min = 0;
	}
	/* A compressed image that was the primary HDU becomes the primary HDU again. */
	for (size_t i = 0; !l->primary && i < s->empty.nkey; i++)
		img_add_key(x, s->empty.key[i].name, s->empty.key[i].value);
	img_free(&s->empty);
	add_cards(x, s, l, CARD_PREFIX);
}

/* Dies when the file is too short for the image, before anything is written. Packed files are not checked here. */
static void
insist_on_all(const struct source *s, const struct img *x)
{
	LONGLONG head, data, end;
	char packing[FLEN_FILENAME];
	int status = 0, bitpix;
	size_t count;

	fits_url_type(s->f, packing, &status);
	if (strcmp(packing, "file://") || fits_is_compressed_image(s->f, &status))
		return;
	fits_get_hduaddrll(s->f, &head, &data, &end, &status);
	fits_get_img_type(s->f, &bitpix, &status);
	if (status)
		die_fits(s, status);
	img_count(x, &count);
	const uint64_t want = (uint64_t)count * (uint64_t)abs(bitpix) / 8, at = (uint64_t)data;
	if (s->door->bytes < at + want)
		die("%s: HDU %d: the payload ends after %ju of %ju bytes", s->door->name, s->unit,
		    (uintmax_t)(s->door->bytes < at ? 0 : s->door->bytes - at), (uintmax_t)want);
}

static void
copy_pixels(const struct source *s, const struct layout *l, const struct img *x,
	    struct raw_out *out, bool quiet, struct stats *st)
{
	const size_t rows = (size_t)l->rows * x->axis[0].n;
	const size_t least = BLOCK / img_type_size(x->type),
		     some = (least + rows - 1) / rows * rows;
	float nanf = NAN;
	double nan = NAN;
	void *block = weir_xalloc(some, img_type_size(x->type));
	void *null = x->type == IMG_F32 ? (void *)&nanf : &nan;
	struct progress bar;
	int status = 0, any;
	size_t count;

	img_count(x, &count);
	progress_start(&bar, quiet);
	for (size_t at = 0, n; at < count; at += n) {
		n = count - at < some ? count - at : some;
		if (fits_read_img(s->f, l->code, (LONGLONG)at + 1, (LONGLONG)n,
				  l->nulls ? null : NULL, block, &any, &status))
			die_fits(s, status);
		stats_charge(st, STATS_READ);
		raw_write(out, block, n);
		stats_charge(st, STATS_WRITE);
		progress_step(&bar, (double)at / (double)count);
	}
	progress_end(&bar);
	weir_free(block);
}

static void
convert_unit(const struct args *args, struct source *s, struct raw_out *out, struct stats *st)
{
	const struct layout l = read_layout(s);
	struct img x;

	describe(&x, s, &l, args->common.max_bytes);
	insist_on_all(s, &x);
	if (args->common.verbose)
		warn("%s: HDU %d: item %ju: %s, %d axes", s->door->name, s->unit,
		     (uintmax_t)st->items + 1, img_type_name(x.type), x.dim);
	stats_charge(st, STATS_PLAN);
	raw_head(out, &x);
	copy_pixels(s, &l, &x, out, args->common.quiet, st);
	img_free(&x);
	st->items++;
}

/* --- models of PSFEx -------------------------------------------------------------------------------------------------- */

static void
convert_psf(const struct args *args, const struct source *s, struct raw_out *out, struct stats *st)
{
	struct why why;
	struct psf p;
	struct img x;
	int status = 0;

	if (fitspsf_read(s->f, &p, &why))
		die("%s: HDU %d: %s", s->door->name, s->unit, why.text);
	fitspsf_describe(&p, &x);
	door_limit(s->door->name, &x, args->common.max_bytes);
	if (args->common.verbose)
		warn("%s: HDU %d: item %ju: a model of PSFEx, %zu planes, %g pixels a sample",
		     s->door->name, s->unit, (uintmax_t)st->items + 1, p.n, p.step);
	float *samples = fitspsf_load(s->f, &p, &status);
	if (status)
		die_fits(s, status);
	stats_charge(st, STATS_READ);
	raw_head(out, &x);
	fitspsf_put(&p, samples, out);
	weir_free(samples);
	stats_charge(st, STATS_WRITE);
	img_free(&x);
	st->items++;
}

/* --- HDUs ----------------------------------------------------------------------------------------------------------- */

/* Says why the HDU is not an image; NULL when it is one. */
static const char *
lacks_pixels(const struct source *s)
{
	LONGLONG sizes[999];
	int type, dim = 0, status = 0;

	if (fits_get_hdu_type(s->f, &type, &status))
		die_fits(s, status);
	if (type != IMAGE_HDU && !fits_is_compressed_image(s->f, &status))
		return "is a table";
	if (fits_get_img_dim(s->f, &dim, &status) ||
	    fits_get_img_sizell(s->f, dim < 999 ? dim : 999, sizes, &status))
		die_fits(s, status);
	for (int i = 0; i < dim && i < 999; i++)
		if (!sizes[i])
			return "has an axis of length 0";
	return dim ? NULL : "has no pixels";
}

/* Goes to the next HDU. Returns false after the last one. */
static bool
next_unit(struct source *s)
{
	int status = 0;

	s->unit++;
	s->name[0] = 0;
	if (fits_movabs_hdu(s->f, s->unit + 1, NULL, &status) == END_OF_FILE) {
		fits_clear_errmsg();
		return false;
	}
	if (status)
		die_fits(s, status);
	if (fits_read_key(s->f, TSTRING, "EXTNAME", s->name, NULL, &status))
		fits_clear_errmsg();
	return true;
}

static void
keep_empty(struct source *s)
{
	const struct layout bare = {.scaled = false};

	add_cards(&s->empty, s, &bare, "fits0.");
}

static void
convert_file(const void *context, const struct door *door, struct raw_out *out, struct stats *st)
{
	const struct args *args = context;
	struct source s = {.door = door, .unit = -1};
	const uint64_t items = st->items;
	int status = 0, n;
	size_t found = 0;

	if (fits_open_diskfile(&s.f, door->path, READONLY, &status)) {
		char text[FLEN_ERRMSG + 32];
		door_refuse_foreign(door);
		if (!door_begins(door, "SIMPLE") && !door_begins(door, "\x1f\x8b"))
			die("%s: this is no FITS file, which begins with SIMPLE", door->name);
		fits_why(status, text, sizeof text);
		die("%s: %s", door->name, text);
	}
	while (next_unit(&s)) {
		const bool psf = fitspsf_is(s.f);
		const char *why = psf ? NULL : lacks_pixels(&s);

		if (!s.unit && why)
			keep_empty(&s);
		if (args->hdu && !fits_listed(args->hdu, s.unit, s.name))
			continue;
		found++;
		if (psf)
			convert_psf(args, &s, out, st);
		else if (!why)
			convert_unit(args, &s, out, st);
		else if (args->hdu)
			die("%s: HDU %d %s", door->name, s.unit, why);
		else if (s.unit)
			warn("%s: HDU %d %s, and is left out", door->name, s.unit, why);
	}
	if (args->hdu && found < fits_words(args->hdu) && !fits_get_num_hdus(s.f, &n, &status))
		die("%s: --hdu=%s: %zu of these %zu are in the file, whose HDUs are 0 to %d",
		    door->name, args->hdu, found, fits_words(args->hdu), n - 1);
	if (st->items == items)
		die("%s: there is no image in it", door->name);
	img_free(&s.empty);
	fits_close_file(s.f, &status);
}

int
main(int argc, char **argv)
{
	struct args args = {0};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	door_each(args.path, args.npath, &args.common, convert_file, &args);
	return 0;
}
