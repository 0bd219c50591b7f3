/* rawjoin: puts together the parts of pictures that rawtile makes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/picture/mosaic.h"
#include "common/stream/tempfile.h"
#include "common/stream/place.h"
#include "common/stream/read.h"
#include "common/stream/share.h"

/* A file that holds one share. */
struct share_file {
	const char *path;
	struct share share;
	uint64_t hash;
};

/* ---- shares: what --part=I/N has written becomes the bytes of the whole ---- */

/* --- one file ---------------------------------------------------------------------------------------------------- */

/* Reads the next header of f into x, and passes over its payload. */
static int
next_item(FILE *f, struct img *x, struct why *why)
{
	char magic[4] = "";
	struct stat st;
	size_t bytes;
	bool swap;

	*x = (struct img){0};
	const size_t n = fread(magic, 1, sizeof magic, f);
	if (fseeko(f, -(off_t)n, SEEK_CUR))
		return why_set(why, "%s", strerror(errno));
	if (memcmp(magic, "NRRD", n) != 0)
		return why_set(why, "this is no share of --part, which is a raw item");
	if (source_head(f, x, &swap, why))
		return -1;
	const off_t at = ftello(f);
	if (fstat(fileno(f), &st) || at < 0 || !img_bytes(x, &bytes))
		return why_set(why, "%s", strerror(errno));
	if ((size_t)(st.st_size - at) < bytes)
		return why_set(why, "the payload ends after %zu of %zu bytes",
			       (size_t)(st.st_size - at), bytes);
	return fseeko(f, at + (off_t)bytes, SEEK_SET) ? why_set(why, "%s", strerror(errno)) : 0;
}

/* Reads the keys of x, the next piece after the *pieces of f before. */
static int
take_keys(const struct img *x, struct share_file *f, struct share_place *at, size_t *pieces,
	  struct why *why)
{
	struct share p;
	uint64_t hash;

	if (!share_is(x))
		return why_set(why, "this is no share of --part: it has no key part:=");
	if (share_of(x, &p, &hash, at, why))
		return -1;
	if (f->share.n && (p.i != f->share.i || p.n != f->share.n || hash != f->hash))
		return why_set(why, "the file holds items of several shares");
	f->share = p;
	f->hash = hash;
	if (at->piece != (*pieces)++)
		return why_set(why, "piece %zu of %zu of the share follows after %zu", at->piece,
			       at->pieces, *pieces - 1);
	return 0;
}

/* Goes through the items of the open file. */
static int
look(FILE *f, struct share_file *to, struct why *why)
{
	struct share_place at = {0};
	size_t pieces = 0;
	int c;

	while ((c = getc(f)) != EOF) {
		struct img x;
		ungetc(c, f);
		const int r = next_item(f, &x, why) || take_keys(&x, to, &at, &pieces, why);
		img_free(&x);
		if (r)
			return -1;
	}
	if (!pieces)
		return why_set(why, "the file is empty");
	if (pieces < at.pieces)
		return why_set(why, "the file ends after %zu of the %zu pieces of share %zu/%zu",
			       pieces, at.pieces, to->share.i, to->share.n);
	return 0;
}

/*
 * Reads the headers of a file that should hold one share, and nothing else of it. Returns 0 if all pieces of the share are there
 * in full length, or -1. f is filled in as far as the keys tell; f->share.n is 0 when they tell nothing.
 */
static int
shares_look(const char *path, struct share_file *f, struct why *why)
{
	FILE *file = fopen(path, "rb");

	*f = (struct share_file){.path = path};
	if (!file)
		return why_set(why, "%s", strerror(errno));
	const int r = look(file, f, why);
	fclose(file);
	return r;
}

/* --- all files --------------------------------------------------------------------------------------------------- */

/* Dies when two files are shares of different runs. */
static void
check_same_run(const struct share_file *a, const struct share_file *b)
{
	if (a->share.n != b->share.n)
		die("%s: it is share %zu/%zu, but %s is share %zu/%zu: of another N", b->path,
		    b->share.i, b->share.n, a->path, a->share.i, a->share.n);
	if (a->hash != b->hash)
		die("%s: its fingerprint is %016llx, but that of %s is %016llx: it was made of "
		    "another input, or with other options",
		    b->path, (unsigned long long)b->hash, a->path, (unsigned long long)a->hash);
}

static int
by_share(const void *a, const void *b)
{
	const struct share_file *f = a, *g = b;

	return (f->share.i > g->share.i) - (f->share.i < g->share.i);
}

/*
 * Looks at the files, and sorts the list of paths by share. Dies when a share is incomplete, missing, there twice, or of
 * another run; the message names the files.
 */
static void
shares_sort(char **path, size_t npath)
{
	struct share_file *f = weir_xalloc(npath, sizeof *f);
	struct why why;

	for (size_t i = 0; i < npath; i++) {
		if (shares_look(path[i], &f[i], &why))
			die("%s: %s", path[i], why.text);
		check_same_run(&f[0], &f[i]);
	}
	qsort(f, npath, sizeof *f, by_share);
	for (size_t i = 0; i < npath; i++) {
		if (i && f[i].share.i == f[i - 1].share.i)
			die("%s: it is share %zu/%zu, and so is %s", f[i].path, f[i].share.i,
			    f[i].share.n, f[i - 1].path);
		if (f[i].share.i != i)
			die("share %zu/%zu is missing; see --missing", i, f[0].share.n);
		path[i] = (char *)(uintptr_t)f[i].path;
	}
	if (npath < f[0].share.n)
		die("share %zu/%zu is missing; see --missing", npath, f[0].share.n);
	weir_free(f);
}

/* Prints which of have[0..n) are false: single numbers and ranges, with commas between. */
static void
print_gaps(const bool *have, size_t n, struct raw_out *out)
{
	const char *comma = "";

	for (size_t i = 0, to; i < n; i = to + 1) {
		for (to = i; to < n && !have[to]; to++)
			;
		if (to == i)
			continue;
		raw_printf(out, to == i + 1 ? "%s%zu" : "%s%zu-%zu", comma, i, to - 1);
		comma = ",";
	}
	if (*comma)
		raw_printf(out, "\n");
}

/*
 * Prints the numbers of the shares that no file holds in full length, as `sbatch -a` takes them: `0,4-7`, or nothing. n: how
 * many shares there are; 0: as the files say. A file that does not exist holds none. Dies when files are of different runs.
 */
static void
shares_print_missing(char *const *path, size_t npath, size_t n, struct raw_out *out)
{
	struct share_file first = {0}, f;
	struct why why;
	bool *have = weir_calloc(n ? n : SHARE_MOST, sizeof *have);

	if (!have)
		die("no memory");
	for (size_t i = 0; i < npath; i++) {
		const int r = shares_look(path[i], &f, &why);
		first = first.share.n ? first : f;
		if (f.share.n)
			check_same_run(&first, &f);
		if (f.share.n && n && f.share.n != n)
			die("%s: it is share %zu/%zu, but --missing says %zu shares", f.path,
			    f.share.i, f.share.n, n);
		if (!r)
			have[f.share.i] = true;
		else if (strcmp(why.text, strerror(ENOENT)))
			warn("%s: %s", path[i], why.text);
	}
	if (!n && !first.share.n)
		die("no file says how many shares there are; see --missing=N");
	print_gaps(have, n ? n : first.share.n, out);
	weir_free(have);
}

/* --- joining ----------------------------------------------------------------------------------------------------- */

/* What has been joined so far. */
struct joined {
	struct raw_out *out;
	bool begun;
	struct share share; /* the last share */
	uint64_t hash;
	size_t piece, pieces; /* of that share: the last one that came, all */
	size_t item, items;   /* the current item; items: of the whole */
	size_t at, total;     /* samples of the current item */
	char *head;	      /* its header; owned; free() */
	size_t nhead;
};

/* Checks that the share p comes next: the one as before, with its next piece, or the one after it, with its first. */
static void
check_turn(const struct joined *j, const struct raw_in *in, const struct share *p, uint64_t hash,
	   const struct share_place *at)
{
	const bool same = j->begun && p->i == j->share.i;
	const size_t next = j->begun ? j->share.i + 1 : 0;

	if (j->begun && (p->n != j->share.n || hash != j->hash))
		raw_die(
		    in,
		    "share %zu/%zu with the fingerprint %016llx follows share %zu/%zu with %016llx",
		    p->i, p->n, (unsigned long long)hash, j->share.i, j->share.n,
		    (unsigned long long)j->hash);
	if (!same && p->i != next)
		raw_die(in,
			"share %zu/%zu comes where share %zu is due; a pipe needs them in order",
			p->i, p->n, next);
	if (!same && j->begun && j->piece + 1 < j->pieces)
		raw_die(in, "share %zu/%zu ends after %zu of its %zu pieces", j->share.i,
			j->share.n, j->piece + 1, j->pieces);
	if (at->piece != (same ? j->piece + 1 : 0))
		raw_die(in, "piece %zu of share %zu/%zu is out of place", at->piece, p->i, p->n);
}

/* Returns the samples of the whole that come before the piece x, which place describes. */
static size_t
samples_before(const struct img *whole, const struct share_place *place)
{
	size_t n = 0;

	for (size_t i = 0; i < place->ncut; i++) {
		size_t step = 1;
		for (int k = 0; k < place->cut[i].axis; k++)
			step *= whole->axis[k].n;
		n += step * place->cut[i].first;
	}
	return n;
}

/* Begins the item `whole`, or checks that it is the current one. */
static void
begin_item(struct joined *j, const struct raw_in *in, const struct img *whole,
	   const struct share_place *at)
{
	size_t n;
	char *head = raw_format(whole, &n);

	if (!head)
		die("no memory");
	if (j->items && at->item == j->item) {
		if (n != j->nhead || memcmp(head, j->head, n))
			raw_die(in, "the header differs from that of the share before");
		free(head);
		return;
	}
	free(j->head);
	j->head = head;
	j->nhead = n;
	if (j->begun && j->at < j->total)
		raw_die(in, "%zu of %zu samples of item %zu are in no share", j->total - j->at,
			j->total, j->item + 1);
	if (at->item != (j->items ? j->item + 1 : 0))
		raw_die(in, "item %zu of %zu is out of place", at->item + 1, at->items);
	if (!img_count(whole, &j->total))
		raw_die(in, "the size of the whole overflows");
	raw_head(j->out, whole);
	j->item = at->item;
	j->items = at->items;
	j->at = 0;
}

static void
add_piece(struct joined *j, struct raw_in *in, struct img *x, struct stats *st)
{
	struct raw_blocks b = {.x = x, .quiet = true};
	struct share_place at;
	struct why why;
	struct share p;
	uint64_t hash;
	size_t count;

	if (!share_is(x))
		raw_die(in, "it has no key part:=, but the items before are of shares");
	if (share_of(x, &p, &hash, &at, &why))
		raw_die(in, "%s", why.text);
	check_turn(j, in, &p, hash, &at);
	if (!at.empty) {
		img_count(x, &count);
		share_restore(x, &at);
		begin_item(j, in, x, &at);
		if (samples_before(x, &at) != j->at || count > j->total - j->at)
			raw_die(in, "share %zu/%zu does not continue where share %zu ended", p.i,
				p.n, j->share.i);
		while (raw_next_block(&b, in, st))
			raw_write(j->out, b.data, b.n);
		j->at += count;
	}
	j->begun = true;
	j->share = p;
	j->hash = hash;
	j->piece = at.piece;
	j->pieces = at.pieces;
}

/*
 * Joins shares that come in their order, and writes their items. x is the header of the first item of in. Dies where
 * something is missing. Memory does not grow with the items.
 */
static void
shares_join(struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	struct joined j = {.out = out};

	do {
		add_piece(&j, in, x, st);
		img_free(x);
		st->items++;
	} while (raw_next(in, x));
	if (j.share.i + 1 < j.share.n)
		die("share %zu/%zu is missing; see --missing", j.share.i + 1, j.share.n);
	if (j.piece + 1 < j.pieces)
		die("share %zu/%zu ends after %zu of its %zu pieces", j.share.i, j.share.n,
		    j.piece + 1, j.pieces);
	if (j.at < j.total || !j.items || j.item + 1 < j.items)
		die("the shares end inside item %zu of %zu", j.item + 1, j.items);
	free(j.head);
}

/* ---- the program ---- */

const char *const weir_prog = "rawjoin";

struct args {
	struct opt_common common;
	struct mosaic_how how;
	bool missing;  /* --missing */
	size_t shares; /* its number; 0: the files say it */
	char **path;
	size_t npath;
};

static const struct opt table[] = {
    {0, "fill", OPT_STR, AT(how.fill), "V",
     "the value, nan too, of pixels that no part has (an error)"},
    {0, "map", OPT_FLAG, AT(how.map), NULL,
     "place parts by their geotransform:=; pixels that no part has are missing"},
    {0, "max-mem", OPT_SIZE, AT(how.max_mem), "BYTES",
     "hold at most about BYTES of a picture in memory, the rest in a file", 1, 0x1p62,
     .unrecorded = true},
    {0, "missing", OPT_SIZE, AT(shares), "N",
     "print which of N shares are absent or short, as sbatch -a takes them", 1, SHARE_MOST,
     .absent = "0", .seen = AT(missing)},
    {0, "overlap", OPT_WORD, AT(how.overlap), "WHICH",
     "of overlapping pixels: %s (same: an error if they differ)",
     .words = "same|first|last|sum|max|min"},
    {0}};

static const struct opt_program program = {
    .what = "Puts parts of pictures together, each where it says that it lies.",
    .example = "rawtile --grid=2x2 photo.ppm | rawjoin >joined.nrrd",
    .table = table,
    .common = OPT_FORMAT};

static struct args
parse(int argc, char **argv)
{
	struct args args = {0};
	double fill;

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	if (args.how.fill && !opt_number(args.how.fill, &fill))
		die_usage("--fill: '%s' is not a number", args.how.fill);
	if (args.missing && !args.npath)
		die_usage("--missing needs the names of the files");
	if (args.missing && args.how.map)
		die_usage("only one of --missing and --map can be given");
	if (args.how.max_mem && !args.common.max_bytes)
		args.common.max_bytes = SIZE_MAX;
	return args;
}

/* Joins x, the first part, and those that follow. frame: NULL without --map. */
static void
join_tiles(struct raw_in *in, struct img *x, const struct map_frame *frame, struct raw_out *out,
	   const struct args *args, struct stats *st)
{
	struct mosaic w = {0};
	struct img_picture p;
	struct place t;
	struct why why;

	do {
		if (args->common.verbose)
			raw_say(in, x);
		if (share_is(x))
			raw_die(in, "it is a share of --part, but the items before are not");
		if (!img_picture(x, &p))
			raw_die(in, "it has %d axes, more than pictures have", x->dim);
		if (frame)
			t = map_frame_place(frame, in, x, &p);
		else if (place_of(x, p.w, p.h, &t, &why))
			raw_die(in, "%s", why.text);
		if (w.y.data && mosaic_is_another(&w, x, &p, &t, &args->how))
			mosaic_finish(&w, out, &args->how);
		if (!w.y.data)
			mosaic_start(&w, in, x, &p, &t, &args->how);
		raw_map(in, x);
		stats_charge(st, STATS_READ);
		mosaic_add(&w, in, x, &p, &t, &args->how);
		stats_charge(st, STATS_COMPUTE);
		img_free(x);
		mosaic_put_early(&w, out, &args->how);
		stats_charge(st, STATS_WRITE);
		st->items++;
	} while (raw_next(in, x));
	if (w.y.data)
		mosaic_finish(&w, out, &args->how);
}

/* --- what there is to join ----------------------------------------------------------------------------------------- */

/* Whether all files are regular ones, and at least one is a share of --part. */
static bool
any_share(char *const *path, size_t npath)
{
	struct why why;
	struct share_file f = {0};
	struct stat st;

	for (size_t i = 0; i < npath; i++)
		if (stat(path[i], &st) || !S_ISREG(st.st_mode))
			return false;
	for (size_t i = 0; i < npath && !f.share.n; i++)
		shares_look(path[i], &f, &why);
	return f.share.n > 0;
}

static void
join(struct raw_in *in, struct raw_out *out, const struct args *args, struct stats *st)
{
	struct img x;

	raw_next(in, &x);
	if (args->how.map) {
		struct map_frame frame = map_frame_of(in, &x);
		raw_next(in, &x);
		join_tiles(in, &x, &frame, out, args, st);
		map_frame_free(&frame);
		return;
	}
	if (share_is(&x) && overlap_combines((enum overlap)args->how.overlap))
		raw_die(in,
			"it is a share of --part, and shares do not overlap; leave --overlap out");
	if (share_is(&x))
		shares_join(in, &x, out, st);
	else
		join_tiles(in, &x, NULL, out, args, st);
	stats_charge(st, STATS_WRITE);
}

int
main(int argc, char **argv)
{
	struct args args = parse(argc, argv);
	struct stats st;

	args.how.common = &args.common;
	stats_start(&st);
	if (args.missing) {
		struct raw_out *out = raw_create(args.common.out, RAW_AS_TEXT);
		shares_print_missing(args.path, args.npath, args.shares, out);
		stats_close(&st, NULL, out, &args.common);
		return 0;
	}
	if (args.how.map)
		tempfile_settle_stdin(args.path, args.npath);
	else if (args.npath > 1 && any_share(args.path, args.npath))
		shares_sort(args.path, args.npath);
	struct raw_out *out = raw_create(args.common.out, (enum raw_as)args.common.as);
	struct raw_in *in = raw_open(args.path, args.npath, args.common.max_bytes);
	join(in, out, &args, &st);
	stats_close(&st, in, out, &args.common);
	return 0;
}
