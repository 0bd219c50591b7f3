/* rawjoin: puts together the parts of pictures that rawtile makes. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/die.h"
#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/picture/frame.h"
#include "common/picture/mosaic.h"
#include "common/picture/overlap.h"
#include "common/stream/door.h"
#include "common/stream/raw.h"
#include "common/stream/tile.h"
#include "common/tools/shares.h"

const char *const weir_prog = "rawjoin";

struct args {
	struct opt_common common;
	struct mosaic_how how;
	bool missing;  /* --missing */
	size_t shares; /* its number; 0: the files say it */
	char **path;
	size_t npath;
};

#define AT(member) offsetof(struct args, member)
static const struct opt table[] = {
    {0, "fill", OPT_STR, AT(how.fill), "V",
     "the value, nan too, of pixels that no part has (an error)"},
    {0, "map", OPT_FLAG, AT(how.map), NULL,
     "place parts by their geotransform:=; pixels that no part has are missing"},
    {0, "max-mem", OPT_SIZE, AT(how.max_mem), "BYTES",
     "hold at most about BYTES of a picture in memory, the rest in a file", 1, 0x1p62,
     .unrecorded = true},
    {0, "missing", OPT_SIZE, AT(shares), "N",
     "print which of N shares are absent or short, as sbatch -a takes them", 1, PART_MOST,
     .absent = "0", .seen = AT(missing)},
    {0, "overlap", OPT_WORD, AT(how.overlap), "WHICH",
     "of overlapping pixels: %s (same: an error if they differ)",
     .words = "same|first|last|sum|max|min"},
    {0}};

static const struct opt_program program = {
    .what = "Puts parts of pictures together, each where it says that it lies.",
    .table = table,
    .common = OPT_FORMAT,
    .operands = "[FILE ...]",
    .max_operands = SIZE_MAX};

static struct args
parse(int argc, char **argv)
{
	struct args args = {0};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	if (args.how.fill && !opt_number(args.how.fill, &args.how.value))
		die_usage("--fill: '%s' is not a number", args.how.fill);
	if (args.missing && !args.npath)
		die_usage("--missing needs the names of the files");
	if (args.missing && args.how.map)
		die_usage("only one of --missing and --map can be given");
	if (args.how.max_mem && !args.common.max_bytes)
		args.common.max_bytes = SIZE_MAX;
	return args;
}

/* Finds where x, of p, lies. frame: NULL without --map. */
static struct tile
place(const struct raw_in *in, struct img *x, const struct img_picture *p,
      const struct frame *frame)
{
	char words[TILE_ERR];
	struct tile t;

	if (frame)
		return frame_place(frame, in, x, p);
	if (tile_of(x, p->w, p->h, &t, words))
		raw_die(in, "%s", words);
	return t;
}

/* Joins x, the first part, and those that follow. */
static void
join_tiles(struct raw_in *in, struct img *x, const struct frame *frame, struct raw_out *out,
	   const struct args *args, struct stats *st)
{
	struct mosaic w = {0};
	struct img_picture p;

	do {
		if (args->common.verbose)
			raw_say(in, x);
		if (part_is(x))
			raw_die(in, "it is a share of --part, but the items before are not");
		if (!img_picture(x, &p))
			raw_die(in, "it has %d axes, more than pictures have", x->dim);
		const struct tile t = place(in, x, &p, frame);
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

static void
join_map(struct raw_in *in, struct img *x, struct raw_out *out, const struct args *args,
	 struct stats *st)
{
	struct frame frame = frame_of(in, x);

	raw_next(in, x);
	join_tiles(in, x, &frame, out, args, st);
	frame_free(&frame);
}

/* --- what there is to join ----------------------------------------------------------------------------------------- */

/* Whether all files are regular ones, and at least one is a share of --part. */
static bool
any_share(char *const *path, size_t npath)
{
	char words[SHARE_ERR];
	struct share_file f = {0};
	struct stat st;

	for (size_t i = 0; i < npath; i++)
		if (stat(path[i], &st) || !S_ISREG(st.st_mode))
			return false;
	for (size_t i = 0; i < npath && !f.part.n; i++)
		shares_look(path[i], &f, words);
	return f.part.n > 0;
}

static void
join(struct raw_in *in, struct raw_out *out, const struct args *args, struct stats *st)
{
	struct img x;

	raw_next(in, &x);
	if (args->how.map) {
		join_map(in, &x, out, args, st);
		return;
	}
	if (part_is(&x) && overlap_combines((enum overlap)args->how.overlap))
		raw_die(in,
			"it is a share of --part, and shares do not overlap; leave --overlap out");
	if (part_is(&x))
		shares_join(in, &x, out, st);
	else
		join_tiles(in, &x, NULL, out, args, st);
	stats_charge(st, STATS_WRITE);
}

/* Prints what --missing asks for. */
static void
print_missing(const struct args *args, struct stats *st)
{
	struct raw_out *out = raw_create_text(args->common.out);

	shares_print_missing(args->path, args->npath, args->shares, out);
	stats_close(st, NULL, out, &args->common);
}

int
main(int argc, char **argv)
{
	struct args args = parse(argc, argv);
	struct stats st;

	args.how.common = &args.common;
	stats_start(&st);
	if (args.missing) {
		print_missing(&args, &st);
		return 0;
	}
	if (args.how.map)
		door_settle_stdin(args.path, args.npath);
	else if (args.npath > 1 && any_share(args.path, args.npath))
		shares_sort(args.path, args.npath);
	struct raw_out *out = raw_create(args.common.out, (enum raw_as)args.common.as);
	struct raw_in *in = raw_open(args.path, args.npath, args.common.max_bytes);
	join(in, out, &args, &st);
	stats_close(&st, in, out, &args.common);
	return 0;
}
