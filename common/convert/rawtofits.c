/* link: -lcfitsio */
/* rawtofits: writes raw items as images of a FITS file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/convert/fits.h"
#include "common/convert/wcs.h"
#include "common/stream/tempfile.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawtofits";

enum compress { NONE, GZIP, RICE };

struct args {
	struct opt_common common;
	int compress;
	bool checksum;
	/* The file that is being written; f is NULL before the first item. */
	struct tempfile file;
	fitsfile *f;
};

static const struct opt table[] = {
    {0, "compress", OPT_WORD, AT(compress), "CODEC",
     "%s: tiles of rows, compressed without loss (none)", .words = "none|gzip|rice"},
    {0, "checksum", OPT_FLAG, AT(checksum), NULL,
     "write CHECKSUM and DATASUM; the default where the item had them"},
    {0}};

static const struct opt_program program = {.what = "Writes raw items as the images of a FITS file.",
					   .example = "rawtofits picture.nrrd >picture.fits",
					   .table = table};

/* The HDU (header and data unit) that is being written. */
struct unit {
	fitsfile *f;
	const char *prefix; /* of the keys that become its cards */
	bool empty;	    /* it has no pixels */
	bool alike;	    /* it is a primary HDU, or an extension, as the original was */
};

static void
check(int status)
{
	if (!status)
		return;
	tempfile_insist_on_room();
	die("%s", fits_why(status).text);
}

/* --- cards ---------------------------------------------------------------------------------------------------------- */

/* When a structural card of the original is written again. */
enum fate { ALWAYS, IF_TRUE, IF_ALIKE, NEVER };

/* Writes a structural card of the original, for its comment, when its value is true of this image. */
static void
restore_structural(const struct unit *u, const char *name, char *card)
{
	char now[FLEN_VALUE] = "", then[FLEN_VALUE], comment[FLEN_COMMENT];
	const enum fate fate = card_is_one_of(name, " EXTEND GROUPS CHECKSUM DATASUM ") ? ALWAYS
			       : card_is_one_of(name, " PCOUNT GCOUNT ")		? IF_ALIKE
			       : card_is_one_of(name, " BLANK END ZHECKSUM ZDATASUM ")	? NEVER
											: IF_TRUE;
	int status = 0;

	if (fits_read_keyword(u->f, name, now, comment, &status)) {
		fits_clear_errmsg();
		strcpy(now,
		       !strcmp(name, "BSCALE") ? "1" : "0"); /* the default of a missing card */
	}
	status = 0;
	fits_parse_value(card, then, comment, &status);
	const bool is_true = !strcmp(now, then) || (*now != '\'' && *now != 'T' && *now != 'F' &&
						    atof(now) == atof(then));
	if (fate != ALWAYS && !(fate == IF_TRUE && (is_true || u->empty)) &&
	    !(fate == IF_ALIKE && u->alike))
		return;
	/* It is written over cfitsio's own, or after the others, where it stood in the original. */
	if (card_is_one_of(name, " EXTEND BSCALE BZERO ") && fits_delete_key(u->f, name, &status)) {
		fits_clear_errmsg();
		status = 0;
	}
	fits_update_card(u->f, name, card, &status);
	check(status);
}

static void
put_card(const struct unit *u, const char *name, const char *value)
{
	char card[CARD + 1];
	int status = 0;

	if (!card_from_key(name, value, card))
		warn("the card %s is longer than %d characters, and is cut", name, CARD);
	if (card_is_structural(name)) {
		restore_structural(u, name, card);
		return;
	}
	if (fits_write_record(u->f, card, &status)) {
		fits_clear_errmsg();
		warn("the card '%.30s' is not FITS, and is left out", card);
	}
}

/* Keys that are no cards become COMMENT cards; lines of history:= become HISTORY cards. */
static void
put_key(fitsfile *f, const struct img_key *k)
{
	char card[CARD + 1] = "COMMENT ";
	int status = 0;

	if (!strcmp(k->name, "history")) {
		fits_write_history(f, k->value, &status);
	} else {
		const size_t n = strlen(k->name) + strlen(k->value) + 3;
		char *text = weir_xalloc(n, 1);
		snprintf(text, n, "%s:=%s", k->name, k->value);
		for (const char *s = text; s;) {
			s = card_comment(s, card + CARD_NAME);
			fits_write_record(f, card, &status);
		}
		weir_free(text);
	}
	check(status);
}

/* Writes the cards of the unit, and the keys that are cards of none where `others` says so. */
static void
put_keys(const struct unit *u, const struct img *x, bool others)
{
	const size_t n = strlen(u->prefix);

	for (size_t i = 0; i < x->nkey; i++) {
		const struct img_key *k = &x->key[i];
		if (!strncmp(k->name, u->prefix, n))
			put_card(u, k->name + n, k->value);
		else if (others && strncmp(k->name, "fits0.", 6))
			put_key(u->f, k);
	}
}

/* Deletes cards that cfitsio writes into a new HDU and that the original did not have. */
static void
drop_own_cards(const struct unit *u, const struct img *x)
{
	char simple[32], name[32];
	int status = 0;

	while (!fits_delete_key(u->f, "COMMENT", &status))
		;
	snprintf(simple, sizeof simple, "%sNAXIS", u->prefix);
	for (size_t i = 0; img_key(x, simple) && i < 2; i++) {
		snprintf(name, sizeof name, "%s%s", u->prefix, i ? "BSCALE" : "EXTEND");
		if (img_key(x, name) || (i && !img_key(x, CARD_PREFIX "BZERO")))
			continue;
		status = 0;
		fits_delete_key(u->f, name + strlen(u->prefix), &status);
	}
	fits_clear_errmsg();
}

/* Keeps the checksums of the original when they are true; else makes them anew. */
static void
put_checksums(const struct args *args, const struct unit *u, const struct img *x)
{
	char name[32];
	int status = 0, data_ok = 0, unit_ok = 0;

	snprintf(name, sizeof name, "%sCHECKSUM", u->prefix);
	if (!img_key(x, name) && !args->checksum)
		return;
	fits_flush_file(u->f, &status);
	fits_verify_chksum(u->f, &data_ok, &unit_ok, &status);
	if (data_ok != 1 || unit_ok != 1)
		fits_write_chksum(u->f, &status);
	check(status);
}

/* --- HDUs ----------------------------------------------------------------------------------------------------------- */

/* Writes the empty primary HDU that stood before the first image, with its cards. */
static void
put_empty(const struct args *args, fitsfile *f, const struct img *x)
{
	const struct unit u = {.f = f, .prefix = "fits0.", .empty = true, .alike = true};
	const char *bitpix = img_key(x, "fits0.BITPIX");
	int status = 0;

	if (!img_key(x, "fits0.SIMPLE"))
		return;
	fits_create_imgll(f, bitpix ? atoi(bitpix) : BYTE_IMG, 0, NULL, &status);
	check(status);
	drop_own_cards(&u, x);
	put_keys(&u, x, false);
	put_checksums(args, &u, x);
}

static struct unit
create_unit(const struct args *args, fitsfile *f, const struct img *x)
{
	static const int codecs[] = {[NONE] = 0, [GZIP] = GZIP_2, [RICE] = RICE_1};
	struct unit u = {.f = f, .prefix = CARD_PREFIX};
	LONGLONG sizes[IMG_MAXDIM];
	int status = 0, number = 0;

	for (int i = 0; i < x->dim; i++)
		sizes[i] = (LONGLONG)x->axis[i].n;
	fits_set_compression_type(f, codecs[args->compress], &status);
	fits_set_quantize_level(f, 0, &status);
	fits_create_imgll(f, fits_types[x->type].image, x->dim, sizes, &status);
	check(status);
	fits_get_hdu_num(f, &number);
	u.alike = (number == 1) == (img_key(x, CARD_PREFIX "SIMPLE") != NULL);
	drop_own_cards(&u, x);
	return u;
}

/* Moves the cards of x with its samples, and says which card cannot follow. */
static void
follow_cards(const struct raw_in *in, struct img *x)
{
	const char *card = wcs_left_behind(x);
	char gone[SECTION_NAMES];

	if (card)
		warn("%s: item %zu: %s and its distortions do not follow the samples; "
		     "positions by them are wrong",
		     raw_name(in), raw_item(in), card);
	wcs_follow(x, gone);
	if (*gone)
		warn("%s: item %zu: sections that cannot follow the samples are left out:%s",
		     raw_name(in), raw_item(in), gone);
}

static void
put_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	struct args *args = options;
	struct raw_blocks b = {.x = x, .quiet = args->common.quiet, .unit = x->axis[0].n};
	int status = 0;

	(void)out; /* it gets the whole file at the end */
	if (!args->f) {
		args->file = tempfile_path();
		fits_create_diskfile(&args->f, args->file.path, &status);
		check(status);
		tempfile_hide(&args->file);
	}
	if (args->compress == RICE && img_is_float(x->type))
		raw_die(in, "--compress=rice would lose digits of floats; use gzip");
	if (args->compress && (x->dim > 3 || x->type == IMG_I64 || x->type == IMG_U64))
		raw_die(in, "--compress takes up to 3 axes, and no integers of 64 bits");
	tempfile_warn_space(in, x, "FITS");
	if (img_key(x, CARD_PREFIX "NAXIS"))
		follow_cards(in, x);
	else
		wcs_of_axes(x);
	put_empty(args, args->f, x);
	const struct unit u = create_unit(args, args->f, x);
	put_keys(&u, x, true);
	while (raw_next_block(&b, in, st)) {
		fits_write_img(args->f, fits_types[x->type].code, (LONGLONG)b.at + 1, (LONGLONG)b.n,
			       b.data, &status);
		check(status);
		stats_charge(st, STATS_WRITE);
	}
	put_checksums(args, &u, x);
}

static void
finish(void *options, struct raw_in *in, struct raw_out *out, struct stats *st)
{
	struct args *args = options;
	struct stat file = {0};
	LONGLONG end = 0;
	int status = 0;

	(void)in;
	fits_flush_file(args->f, &status);
	fits_get_hduaddrll(args->f, NULL, NULL, &end, &status);
	fits_close_file(args->f, &status);
	check(status);
	/* cfitsio does not report a failed write at the end, for example on a full disk. */
	if (fstat(args->file.fd, &file) || file.st_size != end)
		die("%s: only %lld of %lld bytes could be written", args->file.name,
		    (long long)file.st_size, (long long)end);
	tempfile_send(&args->file, out);
	tempfile_close(&args->file);
	stats_charge(st, STATS_WRITE);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, NULL, put_item, finish};
	struct args args = {.common.as = RAW_AS_RAW};

	return raw_each(&filter, argc, argv, &args);
}
