/* link: -lcfitsio */
/* fitstoraw: the images of FITS files as raw items. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/convert/fits.h"
#include "common/convert/wcs.h"
#include "common/stream/tempfile.h"
#include "common/stream/raw.h"

const char *const weir_prog = "fitstoraw";

struct args {
	struct opt_common common;
	const char *hdu;
};

static const struct opt table[] = {
    {0, "hdu", OPT_STR, AT(hdu), "LIST",
     "0 (the primary one), numbers or names, by commas (all images)"},
    {0}};

static const struct opt_program program = {.what = "Turns the images of FITS files into raw items.",
					   .example = "fitstoraw --hdu=0 m31.fits | rawinfo",
					   .table = table};

enum { BLOCK = 1 << 20 }; /* bytes to read at a time, or a row of tiles if that is more */

/* An open file, and its HDU (header and data unit) that is being read. */
struct source {
	const struct tempfile *file;
	fitsfile *f;
	void *map; /* what f reads in place of the file; NULL: it reads the file; owned */
	size_t mapped;
	int unit;			       /* number of the HDU; 0 is the primary HDU */
	char name[FLEN_VALUE];		       /* EXTNAME of the HDU; "" when it has none */
	LONGLONG bytes;			       /* of the file, as f reads it */
	LONGLONG data, end;		       /* where its data begin and end */
	bool spoilt;			       /* a checksum of the HDU is wrong */
	bool floats;			       /* an item of this file has floats */
	char picture[FLEN_VALUE], planes[256]; /* of note_plane() */
	struct img empty; /* holds the cards of a primary HDU without pixels for the next item */
};

static _Noreturn void
die_fits(const struct source *s, int status)
{
	die("%s: HDU %d: %s", s->file->name, s->unit, fits_why(status).text);
}

/* A number of the header; absent when it has none. */
static double
number_of(fitsfile *f, const char *name, double absent)
{
	double v = absent;
	int status = 0;

	if (!fits_read_key(f, TDOUBLE, name, &v, NULL, &status))
		return v;
	fits_clear_errmsg();
	return absent;
}

/* A number of the header whose name ends in i + 1. */
static double
numbered(fitsfile *f, const char *name, int i, double absent)
{
	char key[24];

	snprintf(key, sizeof key, "%s%d", name, i + 1);
	return number_of(f, key, absent);
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

/* The item's type for samples BZERO + BSCALE * v. blank: some value of v may stand for NaN. */
static enum img_type
choose_type(int bitpix, double scale, double zero, bool blank)
{
	static const struct {
		int bitpix;
		double zero;
		enum img_type type;
	} exact[] = {{8, 0, IMG_U8},	    {8, -128, IMG_I8},	  {16, 0, IMG_I16},
		     {16, 0x1p15, IMG_U16}, {32, 0, IMG_I32},	  {32, 0x1p31, IMG_U32},
		     {64, 0, IMG_I64},	    {64, 0x1p63, IMG_U64}};

	if (bitpix < 0)
		return bitpix == -32 && scale == 1 && zero == 0 ? IMG_F32 : IMG_F64;
	for (size_t i = 0; !blank && scale == 1 && i < sizeof exact / sizeof *exact; i++)
		if (bitpix == exact[i].bitpix && zero == exact[i].zero)
			return exact[i].type;
	/* Floats are enough where BZERO + BSCALE * v differs for any two neighbouring 16-bit values of v. */
	return bitpix <= 16 && fabs(zero) + fabs(scale) * 0x1p15 < fabs(scale) * 0x1p23 ? IMG_F32
											: IMG_F64;
}

static struct layout
read_layout(const struct source *s)
{
	int bitpix, status = 0;
	struct layout l = {0};

	if (fits_get_img_type(s->f, &bitpix, &status) || fits_get_img_dim(s->f, &l.dim, &status))
		die_fits(s, status);
	if (l.dim > IMG_MAXDIM)
		die("%s: HDU %d: it has %d axes, and an item at most %d", s->file->name, s->unit,
		    l.dim, IMG_MAXDIM);
	if (fits_get_img_sizell(s->f, l.dim, l.sizes, &status))
		die_fits(s, status);
	const double scale = number_of(s->f, "BSCALE", 1), zero = number_of(s->f, "BZERO", 0);
	const bool blank = bitpix > 0 && (!isnan(number_of(s->f, "BLANK", NAN)) ||
					  !isnan(number_of(s->f, "ZBLANK", NAN)));
	if (scale == 0 || !isfinite(scale) || !isfinite(zero))
		die("%s: HDU %d: BSCALE or BZERO is no scale", s->file->name, s->unit);
	l.type = choose_type(bitpix, scale, zero, blank);
	l.code = fits_types[l.type].code;
	l.packed = fits_is_compressed_image(s->f, &status);
	l.primary = l.packed && number_of(s->f, "ZSIMPLE", 0) != 0;
	l.scaled = img_is_float(l.type) && (bitpix > 0 || scale != 1 || zero != 0);
	l.nulls = blank || (l.packed && bitpix < 0);
	const double rows = l.packed ? number_of(s->f, "ZTILE2", 1) : 1;
	l.rows = rows >= 1 && rows <= 0x1p30 ? (LONGLONG)rows : 1;
	return l;
}

static void
add_card(struct img *x, const struct source *s, const struct layout *l, const char *prefix,
	 char *card, char **pieces)
{
	char name[CARD_PREFIX_LEN + CARD_NAME + 1], value[CARD + 1], key[32];

	for (char *c = card; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	if (l->packed && !card_unpack(card))
		return;
	card_to_key(card, name, value);
	/* Structural cards are kept, for their comments, except those that converted samples make wrong. */
	if ((s->spoilt && card_is_one_of(name + CARD_PREFIX_LEN, " CHECKSUM DATASUM ")) ||
	    (l->scaled && card_is_one_of(name + CARD_PREFIX_LEN, " BLANK BSCALE BZERO BITPIX ")))
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
		add_card(x, s, l, prefix, card, &pieces);
	if (pieces) /* the last piece is missing */
		card_take_comment(x, "", &pieces);
	if (status)
		die_fits(s, status);
}

/* --- items ---------------------------------------------------------------------------------------------------------- */

/* Returns the bytes of the HDU's data, without those that fill the last block. The header says how many. */
static double
data_bytes(fitsfile *f)
{
	const double dim = number_of(f, "NAXIS", 0);
	double n = dim > 0;

	for (int i = 0; i < dim && i < 999; i++)
		n *= numbered(f, "NAXIS", i, 0);
	return (n + number_of(f, "PCOUNT", 0)) * number_of(f, "GCOUNT", 1) *
	       fabs(number_of(f, "BITPIX", 8)) / 8;
}

/* Dies when the file is too short for the HDU, before anything is written, and warns when only the fill is missing. */
static void
insist_on_all(const struct source *s)
{
	const double want = data_bytes(s->f), has = (double)(s->bytes - s->data);

	if (has < want)
		die("%s: HDU %d: the payload ends after %.0f of %.0f bytes", s->file->name, s->unit,
		    fmax(has, 0), want);
	if (s->bytes < s->end)
		warn("%s: HDU %d: the last %lld bytes are missing, which only fill the block",
		     s->file->name, s->unit, s->end - s->bytes);
}

/* Returns how many pixels tile `row` of a compressed image has, which count from 0. */
static double
tile_pixels(const FITSfile *f, LONGLONG row)
{
	double n = 1;

	for (int i = 0; i < f->zndim; i++) {
		const LONGLONG tiles = (f->znaxis[i] - 1) / f->tilesize[i] + 1,
			       first = row % tiles * f->tilesize[i], rest = f->znaxis[i] - first;
		n *= (double)(rest < f->tilesize[i] ? rest : f->tilesize[i]);
		row /= tiles;
	}
	return n;
}

/* Whether so many bytes may hold a tile of n pixels. cfitsio trusts a tile, and a wrong one leads it out of its memory. */
static bool
may_hold(const struct source *s, LONGLONG row, LONGLONG bytes, double n)
{
	const FITSfile *f = s->f->Fptr;
	unsigned char head[10];
	int status = 0, any;

	if (f->compress_type == RICE_1) { /* a whole sample, and some bits for each block */
		const int size = f->rice_bytepix < 4 ? f->rice_bytepix : 4,
			  bits = size < 3 ? size + 2 : 5;
		return f->rice_blocksize > 0 && size > 0 &&
		       (double)bytes >= size + ceil(ceil(n / f->rice_blocksize) * bits / 8);
	}
	if (f->compress_type == HCOMPRESS_1) { /* two bytes, then its width and height */
		return bytes >= (LONGLONG)sizeof head &&
		       !fits_read_col(s->f, TBYTE, f->cn_compressed, row + 1, 1, sizeof head, NULL,
				      head, &any, &status) &&
		       (double)bytes_load(head + 2, 4, false) *
			       (double)bytes_load(head + 6, 4, false) ==
			   n;
	}
	return true;
}

/* Dies where a tile of a compressed image lies beyond the data, or cannot have its pixels. */
static void
insist_on_tiles(const struct source *s)
{
	const FITSfile *f = s->f->Fptr;
	const double end = data_bytes(s->f) - (double)f->heapstart;
	const int each = f->compress_type == PLIO_1 ? 2 : 1;
	LONGLONG n, at;
	int status = 0;

	for (LONGLONG row = 0; row < f->numrows; row++) {
		if (fits_read_descriptll(s->f, f->cn_compressed, row + 1, &n, &at, &status))
			die_fits(s, status);
		if (n < 0 || at < 0 || (double)at + (double)n * each > end ||
		    (n && !may_hold(s, row, n, tile_pixels(f, row))))
			die("%s: HDU %d: tile %lld is damaged: %lld bytes from byte %lld of %.0f",
			    s->file->name, s->unit, row + 1, n * each, at, end);
	}
}

/* Warns when a checksum of the HDU is wrong. Its cards are then left out, so that no program makes true ones of them. */
static void
check_sums(struct source *s)
{
	int data_ok = 0, unit_ok = 0, status = 0;

	s->spoilt = false;
	if (s->bytes < s->end)
		return;
	if (fits_verify_chksum(s->f, &data_ok, &unit_ok, &status))
		die_fits(s, status);
	s->spoilt = data_ok < 0 || unit_ok < 0;
	if (s->spoilt)
		warn("%s: HDU %d: %s is wrong: what it sums has changed; the item gets no sum",
		     s->file->name, s->unit, data_ok < 0 ? "DATASUM" : "CHECKSUM");
}

/* Describes the item, and checks that the HDU is whole. */
static void
describe(struct img *x, struct source *s, const struct layout *l, size_t max_bytes)
{
	size_t sizes[IMG_MAXDIM];

	for (int i = 0; i < l->dim; i++)
		sizes[i] = (size_t)l->sizes[i];
	img_init(x, l->type, l->dim, sizes);
	img_limit(s->file->name, x, max_bytes);
	insist_on_all(s);
	if (l->packed)
		insist_on_tiles(s);
	check_sums(s);
	/* A compressed image that was the primary HDU becomes the primary HDU again. */
	for (size_t i = 0; !l->primary && i < s->empty.nkey; i++)
		img_add_key(x, s->empty.key[i].name, s->empty.key[i].value);
	img_free(&s->empty);
	add_cards(x, s, l, CARD_PREFIX);
	wcs_positions(x);
}

/* Notes the first picture, as --hdu takes it, and items that say something of one by their names, or are integers beside floats. */
static void
note_plane(struct source *s, const struct img *x)
{
	char word[FLEN_VALUE + 4] = "";

	if (*s->name)
		snprintf(word, sizeof word, " (%s)", s->name);
	const bool named =
	    *word && strcasestr(" (DQ) (MASK) (BPM) (FLAGS) (ERR) (UNCERT) (VAR) (VARIANCE) (IVAR) "
				"(WHT) (WEIGHT) (RMS) (NOISE) (CON) (CTX) (SAMP) (TIME)",
				word);
	if (!named && (img_is_float(x->type) || !s->floats)) {
		s->floats |= img_is_float(x->type);
		if (!*s->picture && *s->name && !strpbrk(s->name, ", '"))
			memcpy(s->picture, s->name, sizeof s->picture);
		else if (!*s->picture)
			snprintf(s->picture, sizeof s->picture, "%d", s->unit);
	} else if (!*word || !strstr(s->planes, word)) {
		word_append(s->planes, sizeof s->planes, "%sHDU %d%s", *s->planes ? ", " : "",
			    s->unit, word);
	}
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
	if (!args->hdu)
		note_plane(s, &x);
	if (args->common.verbose)
		warn("%s: HDU %d: item %ju: %s, %d axes", s->file->name, s->unit,
		     (uintmax_t)st->items + 1, img_type_name(x.type), x.dim);
	stats_charge(st, STATS_PLAN);
	raw_head(out, &x);
	copy_pixels(s, &l, &x, out, args->common.quiet, st);
	img_free(&x);
	st->items++;
}

/* --- models of PSFEx -------------------------------------------------------------------------------------------------- */

/*
 * Models of point spread functions by PSFEx (tables, .psf), and its homogenisation kernels (images, homo.fits): planes of
 * coefficients of polynomials, sampled at steps of PSF_SAMP pixels. put_psf() brings a plane to pixels as PSFEx itself
 * does before it subtracts a model from an image: by the Lanczos function of three lobes, whose weights have the sum 1 at each
 * pixel.
 */
struct psf {
	size_t w, h, n; /* n planes of h rows of w samples */
	int degree;	/* of the polynomials: n = (degree + 1) (degree + 2) / 2; -1: none */
	double zero[2], scale[2]; /* of positions; zero counts pixels from 0 */
	double step;		  /* between samples, in pixels */
	/* What resampled samples are multiplied by. Those of a model are light per pixel already, those of a homogenisation
	 * kernel are light per sample: 1 / step^2. */
	double gain;
};

/* Returns how many pixels n samples cover: as many on both sides of the centre, n / 2 rounded down, which is a pixel. */
static size_t
psf_pixels(size_t n, double step)
{
	/* A few rounding errors must not cost a pixel. */
	return 2 * (size_t)((double)(n / 2 < n - 1 - n / 2 ? n / 2 : n - 1 - n / 2) * step + 1e-6) +
	       1;
}

static double
lanczos3(double x)
{
	const double pi = 3.14159265358979323846;

	/* At whole numbers it is exact. */
	if (fabs(x - rint(x)) < 1e-9)
		return fabs(x) < .5 ? 1 : 0;
	return fabs(x) >= 3 ? 0 : 3 * sin(pi * x) * sin(pi * x / 3) / (pi * pi * x * x);
}

/* out[i] = the value at pixel i of n, of the m samples in[k * from]. */
static void
resample_line(const double *in, size_t m, size_t from, double step, double *out, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const double x = (double)(m / 2) + ((double)i - (double)(n / 2)) / step;
		double sum = 0, norm = 0;
		for (size_t k = 0; k < m; k++) {
			const double weight = lanczos3((double)k - x);
			sum += weight * in[k * from];
			norm += weight;
		}
		out[i] = sum / norm;
	}
}

static bool
is_table(fitsfile *f)
{
	int type = IMAGE_HDU, status = 0;

	fits_get_hdu_type(f, &type, &status);
	return type != IMAGE_HDU;
}

/* Returns the number of the table's column of samples, or 0, and how many it has in a row. */
static int
column_of(fitsfile *f, LONGLONG *repeat)
{
	static char name[] = "PSF_MASK";
	int column = 0, status = 0;

	if (!fits_get_colnum(f, CASEINSEN, name, &column, &status) &&
	    !fits_get_coltypell(f, column, NULL, repeat, NULL, &status))
		return column;
	fits_clear_errmsg();
	return 0;
}

/* Whether the current HDU has PSFEx's coefficients. */
static bool
is_psf(fitsfile *f)
{
	LONGLONG repeat;

	return number_of(f, "POLNAXIS", -1) >= 0 && number_of(f, "PSF_SAMP", NAN) > 0 &&
	       (!is_table(f) || column_of(f, &repeat));
}

/* Whether name is that of a position in the image: X_IMAGE, XWIN_IMAGE ... */
static bool
is_position(fitsfile *f, int i)
{
	char key[24], name[FLEN_VALUE] = "";
	int status = 0;

	snprintf(key, sizeof key, "POLNAME%d", i + 1);
	if (fits_read_key(f, TSTRING, key, name, NULL, &status))
		fits_clear_errmsg();
	const char *end = strstr(name, "IMAGE");
	return *name == "XY"[i] && end && !end[5];
}

static _Noreturn void
die_psf(const struct source *s, const char *what)
{
	die("%s: HDU %d: it is a model of PSFEx, %s", s->file->name, s->unit, what);
}

static void
read_psf(const struct source *s, struct psf *p)
{
	fitsfile *const f = s->f;
	const double degree = number_of(f, "POLDEG1", NAN), axes = number_of(f, "POLNAXIS", 0);
	LONGLONG repeat;
	double size[3];

	*p = (struct psf){.degree = -1, .step = number_of(f, "PSF_SAMP", NAN)};
	p->gain = is_table(f) ? 1 : 1 / (p->step * p->step);
	for (int i = 0; i < 3; i++) { /* a kernel of degree 0 may have two axes */
		size[i] = numbered(f, is_table(f) ? "PSFAXIS" : "NAXIS", i, i < 2 ? 0 : 1);
		if (!(size[i] >= 1 && size[i] <= 4096))
			die_psf(s, "and one of its sizes is not in 1..4096");
	}
	p->w = (size_t)size[0];
	p->h = (size_t)size[1];
	p->n = (size_t)size[2];
	if (is_table(f) && column_of(f, &repeat) && repeat != (LONGLONG)(p->w * p->h * p->n))
		die_psf(s, "and its column does not have the samples of PSFAXIS");
	if (!(p->step >= .01 && p->step <= 100))
		die_psf(s, "and PSF_SAMP is not in .01..100");
	if (axes != 0 && (axes != 2 || number_of(f, "POLNGRP", 1) != 1 || !is_position(f, 0) ||
			  !is_position(f, 1)))
		die_psf(s, "and depends on more than X_IMAGE and Y_IMAGE");
	if (axes == 0 || (degree == 0 && p->n == 1)) {
		if (p->n != 1)
			die_psf(s, "and has planes without polynomials");
		return;
	}
	if (!(degree >= 0 && degree <= 20) || p->n != (size_t)((degree + 1) * (degree + 2) / 2))
		die_psf(s, "and POLDEG1 does not agree with the number of planes");
	for (int i = 0; i < 2; i++) {
		p->zero[i] = numbered(f, "POLZERO", i, NAN) - 1;
		p->scale[i] = numbered(f, "POLSCAL", i, NAN);
		if (!isfinite(p->zero[i]) || !isfinite(p->scale[i]) || p->scale[i] == 0)
			die_psf(s, "and POLZERO or POLSCAL is no number");
	}
	p->degree = (int)degree;
}

/* Brings the planes to pixels and writes them. A constant stays the same. */
static void
put_psf(const struct psf *p, const float *samples, struct raw_out *out)
{
	const size_t w = psf_pixels(p->w, p->step), h = psf_pixels(p->h, p->step);
	float *plane = weir_xalloc(w * h, sizeof *plane);
	double *row = weir_xalloc(p->w, sizeof *row), *rows = weir_xalloc(w * p->h, sizeof *rows),
	       *column = weir_xalloc(h, sizeof *column);

	for (size_t i = 0; i < p->n; i++, samples += p->w * p->h) {
		for (size_t y = 0; y < p->h; y++) {
			for (size_t x = 0; x < p->w; x++)
				row[x] = (double)samples[y * p->w + x];
			resample_line(row, p->w, 1, p->step, rows + y * w, w);
		}
		for (size_t x = 0; x < w; x++) {
			resample_line(rows + x, p->h, w, p->step, column, h);
			for (size_t y = 0; y < h; y++)
				plane[y * w + x] = (float)((double)(float)column[y] * p->gain);
		}
		raw_write(out, plane, w * h);
	}
	weir_free_all(plane, row, rows, column);
}

static void
convert_psf(const struct args *args, const struct source *s, struct raw_out *out, struct stats *st)
{
	struct psf p;
	struct img x;
	LONGLONG repeat;
	int status = 0, any;

	insist_on_all(s);
	read_psf(s, &p);
	/* `x y n`, with the keys that --basis of wconv needs. */
	img_init(&x, IMG_F32, p.degree < 0 ? 2 : 3,
		 (size_t[]){psf_pixels(p.w, p.step), psf_pixels(p.h, p.step), p.n});
	if (p.degree >= 0) {
		img_set_key(&x, "basis", "poly:%d", p.degree);
		img_set_key(&x, "zero", "%.17g %.17g", p.zero[0], p.zero[1]);
		img_set_key(&x, "scale", "%.17g %.17g", p.scale[0], p.scale[1]);
	}
	img_limit(s->file->name, &x, args->common.max_bytes);
	if (args->common.verbose)
		warn("%s: HDU %d: item %ju: a model of PSFEx, %zu planes, %g pixels a sample",
		     s->file->name, s->unit, (uintmax_t)st->items + 1, p.n, p.step);
	const LONGLONG n = (LONGLONG)(p.w * p.h * p.n);
	float *samples = weir_xalloc((size_t)n, sizeof *samples);
	if (is_table(s->f))
		fits_read_col(s->f, TFLOAT, column_of(s->f, &repeat), 1, 1, n, NULL, samples, &any,
			      &status);
	else
		fits_read_img(s->f, TFLOAT, 1, n, NULL, samples, &any, &status);
	if (status)
		die_fits(s, status);
	stats_charge(st, STATS_READ);
	raw_head(out, &x);
	put_psf(&p, samples, out);
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
	LONGLONG sizes[999], repeat;
	int type, dim = 0, status = 0;

	if (fits_get_hdu_type(s->f, &type, &status))
		die_fits(s, status);
	if (type != IMAGE_HDU && !fits_is_compressed_image(s->f, &status))
		return !column_of(s->f, &repeat) ? "is a table"
		       : number_of(s->f, "POLNAXIS", -1) < 0
			   ? "is a table of PSFEx without the card POLNAXIS"
			   : "is a table of PSFEx without a card PSF_SAMP above 0";
	if (fits_get_img_dim(s->f, &dim, &status) ||
	    fits_get_img_sizell(s->f, dim < 999 ? dim : 999, sizes, &status))
		die_fits(s, status);
	for (int i = 0; i < dim && i < 999; i++)
		if (!sizes[i])
			return "has an axis of length 0";
	return dim ? NULL : "has no pixels";
}

/* A signal that a file raises within cfitsio. */
static void
on_signal(int sig)
{
	const char *text = sig == SIGBUS ? ": a file shrank while it was mapped\n"
					 : ": a file has a size of 0 where cfitsio divides by it\n";

	file_remove_unfinished();
	if (write(2, weir_prog, strlen(weir_prog)) < 0 || write(2, text, strlen(text)) < 0)
		_exit(1);
	_exit(1);
}

/* Opens the file. cfitsio reads whole blocks only: where the last one is cut, it gets the mapped file and zeros behind that. */
static void
open_source(struct source *s)
{
	const struct tempfile *file = s->file;
	char url[FLEN_FILENAME] = "";
	const size_t bytes = ((size_t)file->bytes + 2879) / 2880 * 2880;
	void *map = MAP_FAILED;
	int status = 0;

	signal(SIGFPE, on_signal);
	if (bytes != file->bytes && tempfile_begins(file, "SIMPLE"))
		map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map != MAP_FAILED && mmap(map, (size_t)file->bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED,
				      file->fd, 0) != MAP_FAILED) {
		signal(SIGBUS, on_signal);
		s->map = map;
		s->mapped = bytes;
		fits_open_memfile(&s->f, "mapped", READONLY, &s->map, &s->mapped, 0, NULL, &status);
	} else {
		fits_open_diskfile(&s->f, file->path, READONLY, &status);
	}
	if (status) {
		tempfile_refuse_foreign(file);
		if (!tempfile_begins(file, "SIMPLE") && !tempfile_begins(file, "\x1f\x8b"))
			die("%s: this is no FITS file, which begins with SIMPLE", file->name);
		die("%s: %s", file->name, fits_why(status).text);
	}
	fits_url_type(s->f, url, &status);
	s->bytes = strcmp(url, "file://") && !s->map ? LLONG_MAX : (LONGLONG)file->bytes;
}

/* Goes to the next HDU. Returns false after the last one, and where no header begins after an item: FITS allows that. */
static bool
next_unit(struct source *s, bool items)
{
	int status = 0;

	s->unit++;
	s->name[0] = 0;
	/* cfitsio 4.2 keeps these of the HDU before where a header does not have them. */
	s->f->Fptr->quantize_level = 0;
	s->f->Fptr->hcomp_smooth = 0;
	if (fits_movabs_hdu(s->f, s->unit + 1, NULL, &status) == END_OF_FILE) {
		fits_clear_errmsg();
		return false;
	}
	/* cfitsio loses this error when it opens a file in memory. */
	if (!status && s->f->Fptr->tfield && !s->f->Fptr->tableptr)
		status = MEMORY_ALLOCATION;
	if (items && status == UNKNOWN_REC) {
		warn("%s: no HDU begins behind HDU %d, and the rest is left out: %s", s->file->name,
		     s->unit - 1, fits_why(status).text);
		return false;
	}
	if (status || fits_get_hduaddrll(s->f, NULL, &s->data, &s->end, &status))
		die_fits(s, status);
	if (fits_read_key(s->f, TSTRING, "EXTNAME", s->name, NULL, &status))
		fits_clear_errmsg();
	return true;
}

static void
convert_file(const void *context, const struct tempfile *file, struct raw_out *out,
	     struct stats *st)
{
	const struct args *args = context;
	struct source s = {.file = file, .unit = -1};
	const uint64_t items = st->items;
	size_t found = 0, listed = 0;
	int status = 0;

	open_source(&s);
	while (next_unit(&s, st->items > items)) {
		const bool psf = is_psf(s.f);
		const char *why = psf ? NULL : lacks_pixels(&s);
		if (!s.unit && why) {
			check_sums(&s);
			add_cards(&s.empty, &s, &(struct layout){0}, "fits0.");
		}
		char number[16];
		const int digits = snprintf(number, sizeof number, "%d", s.unit);
		if (args->hdu && word_index(args->hdu, ',', number, (size_t)digits, strncmp) < 0 &&
		    (!*s.name ||
		     word_index(args->hdu, ',', s.name, strlen(s.name), strncasecmp) < 0))
			continue;
		found++;
		if (psf)
			convert_psf(args, &s, out, st);
		else if (!why)
			convert_unit(args, &s, out, st);
		else if (args->hdu)
			die("%s: HDU %d %s", file->name, s.unit, why);
		else if (s.unit)
			warn("%s: HDU %d %s, and is left out", file->name, s.unit, why);
	}
	for (const char *c = args->hdu; c; c = strchr(c, ',') ? strchr(c, ',') + 1 : NULL)
		listed++;
	if (found < listed)
		die("%s: --hdu=%s: %zu of these %zu are in the file, whose HDUs are 0 to %d",
		    file->name, args->hdu, found, listed, s.unit - 1);
	if (st->items == items)
		die("%s: there is no image in it", file->name);
	if (*s.picture && *s.planes)
		warn("%s: items that are no pictures: %s; --hdu=%s leaves them out", file->name,
		     s.planes, s.picture);
	img_free(&s.empty);
	fits_close_file(s.f, &status);
	if (s.map)
		munmap(s.map, s.mapped);
}

int
main(int argc, char **argv)
{
	struct args args = {0};

	return tempfile_each(&program, argc, argv, &args, convert_file);
}
