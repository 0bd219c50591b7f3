/* rawjoin: puts together the parts of pictures that rawtile makes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/opt.h"
#include "common/raw.h"
#include "common/sample.h"
#include "common/scratch.h"
#include "common/stats.h"
#include "common/tile.h"
#include "common/tools/overlap.h"
#include "common/tools/shares.h"

const char *const weir_prog = "rawjoin";

struct args {
	struct opt_common common;
	int overlap;
	const char *fill; /* NULL: missing pixels are an error */
	double value;	  /* the number that fill states */
	bool missing;	  /* --missing */
	size_t shares;	  /* its number; 0: the files say it */
	size_t max_mem;	  /* 0: pictures are held in memory */
	char **path;
	size_t npath;
};

#define AT(member) offsetof(struct args, member)
static const struct opt table[] = {
    {0, "fill", OPT_STR, AT(fill), "V", "what pixels become that no part has, nan too (an error)"},
    {0, "max-mem", OPT_SIZE, AT(max_mem), "BYTES",
     "keep larger pictures in a file, and about so much of them in memory", 1, 0x1p62,
     .unrecorded = true},
    {0, "missing", OPT_SIZE, AT(shares), "N",
     "print which of N shares are absent or short, as sbatch -a takes them", 0, PART_MOST,
     .absent = "0", .seen = AT(missing)},
    {0, "overlap", OPT_WORD, AT(overlap), "WHICH",
     "same, first, last, sum, max or min: what overlapping pixels become (same; an error if they "
     "differ)",
     .words = "same|first|last|sum|max|min"},
    {0}};

static const struct opt_program program = {
    .what = "Puts parts of pictures together, each where it says that it lies.",
    .table = table,
    .common = OPT_FORMAT,
    .operands = "[FILE ...]",
    .max_operands = SIZE_MAX};

/* The picture that is being assembled. */
struct whole {
	struct img y; /* data is NULL when there is no picture */
	struct img_picture p;
	bool *have;	/* [h][w]: pixels that have arrived */
	bool in_file;	/* y.data and have are mapped from temporary files */
	size_t touched; /* bytes of them that may be in memory */
	size_t missing; /* pixels */
	unsigned most;	/* the greatest level, maxval; 0: that of the type */
};

static struct args
parse(int argc, char **argv)
{
	struct args args = {0};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	if (args.fill && !opt_number(args.fill, &args.value))
		die_usage("--fill: '%s' is not a number", args.fill);
	if (args.missing && !args.npath)
		die_usage("--missing needs the names of the files");
	if (args.max_mem && !args.common.max_bytes)
		args.common.max_bytes = SIZE_MAX;
	return args;
}

/* --- whole pictures ------------------------------------------------------------------------------------------------ */

/* Says that bytes of the picture were touched. Returns its pages to the system when they are too many. */
static void
touch(struct whole *w, size_t bytes, const struct args *args)
{
	w->touched += bytes;
	if (!w->in_file || w->touched < args->max_mem / 2)
		return;
	weir_forget(w->y.data, w->y.mapped);
	weir_forget(w->have, w->p.w * w->p.h);
	w->touched = 0;
}

/* Makes room for the pixels. Pages are untouched at first, so memory grows as parts arrive, not with the size that they claim. */
static void
make_room(struct whole *w, const struct raw_in *in, size_t bytes, const struct args *args)
{
	const size_t pixels = w->p.w * w->p.h;

	w->in_file = args->max_mem && bytes > args->max_mem;
	if (w->in_file) {
		w->y.mapped = bytes;
		w->y.map = w->y.data = scratch_map(bytes);
		w->have = w->y.data ? scratch_map(pixels) : NULL;
		if (!w->have)
			raw_die(in, "no temporary file in %s for a picture of %zux%zu pixels: %s",
				scratch_directory(), w->p.w, w->p.h, strerror(errno));
		return;
	}
	w->y.data = weir_alloc(bytes, 1);
	w->have = weir_map(pixels, sizeof *w->have);
	if (!w->y.data || !w->have)
		raw_die(in, "no memory for a picture of %zux%zu pixels", w->p.w, w->p.h);
}

/* Begins a picture; x is its first part. */
static void
start(struct whole *to, const struct raw_in *in, const struct img *x, const struct img_picture *p,
      const struct tile *t, const struct args *args)
{
	const size_t most = weir_limit(args->common.max_bytes);
	const int axis = img_row_axis(x);
	size_t bytes;

	img_copy_head(&to->y, x);
	img_cut_axis(&to->y.axis[axis], t->W, -(ptrdiff_t)t->x0);
	if (to->y.dim > axis + 1)
		img_cut_axis(&to->y.axis[axis + 1], t->H, -(ptrdiff_t)t->y0);
	else if (t->H > 1)
		raw_die(in, "a single row is no part of %zu rows", t->H);
	img_drop_key(&to->y, "tile");
	opt_add_history(&to->y, &args->common);
	if (!img_bytes(&to->y, &bytes) || bytes > most)
		raw_die(in,
			"a picture of %zux%zu pixels exceeds the limit of %zu bytes; raise it with "
			"--max-bytes",
			t->W, t->H, most);
	to->p = (struct img_picture){p->c, t->W, t->H, p->n};
	to->missing = t->W * t->H;
	if (x->type == IMG_U8 || x->type == IMG_U16)
		to->most = img_maxval(x);
	make_room(to, in, bytes, args);
}

static void
drop(struct whole *w)
{
	img_free(&w->y);
	if (w->in_file)
		munmap(w->have, w->p.w * w->p.h);
	else
		weir_unmap(w->have, w->p.w * w->p.h, sizeof *w->have);
	*w = (struct whole){0};
}

/* Sets the samples of a row that no part has. */
static void
fill_row(const struct whole *w, size_t row, const char *sample)
{
	const size_t size = img_type_size(w->y.type);
	const bool *have = w->have + row % w->p.h * w->p.w;
	char *y = (char *)w->y.data + row * w->p.w * w->p.c * size;

	for (size_t i = 0; i < w->p.w; i++)
		for (size_t k = 0; !have[i] && k < w->p.c; k++)
			memcpy(y + (i * w->p.c + k) * size, sample, size);
}

/* Writes the picture row by row, which drops its pages. */
static void
put(struct whole *w, struct raw_out *out, const struct args *args)
{
	const size_t width = w->p.w * w->p.c, row = width * img_type_size(w->y.type);
	char sample[8];

	if (w->missing && sample_store(sample, &args->value, w->y.type, 1) != 1)
		die("--fill: %g is no %s", args->value, img_type_name(w->y.type));
	raw_head(out, &w->y);
	for (size_t i = 0; i < w->p.h * w->p.n; i++) {
		if (w->missing)
			fill_row(w, i, sample);
		raw_write(out, (char *)w->y.data + i * row, width);
		touch(w, row + w->p.w, args);
	}
}

/* Writes a picture when no more parts of it will come. */
static void
finish(struct whole *w, struct raw_out *out, const struct args *args)
{
	if (w->missing && !args->fill) {
		const size_t i = (size_t)((bool *)memchr(w->have, 0, w->p.w * w->p.h) - w->have);
		die("%zu of %zux%zu pixels are in no part, the first at %zu,%zu; see --fill",
		    w->missing, w->p.w, w->p.h, i % w->p.w, i / w->p.w);
	}
	put(w, out, args);
	drop(w);
}

/* --- parts --------------------------------------------------------------------------------------------------------- */

/*
 * Lays n pixels into picture k, from pixel `at` on. Returns the index of the first pixel that differs from the one already there
 * with OVERLAP_SAME, or whose sum does not fit. Returns at + n when there is none.
 */
static size_t
lay(struct whole *w, size_t k, size_t at, const char *x, size_t n, enum overlap overlap)
{
	const size_t c = w->p.c, pixel = c * img_type_size(w->y.type);
	char *y = (char *)w->y.data + (k * w->p.w * w->p.h + at) * pixel;
	const bool *have = w->have + at;

	for (size_t i = 0, to; i < n; i = to) {
		for (to = i + 1; to < n && have[to] == have[i]; to++)
			;
		if (!have[i] || overlap == OVERLAP_LAST)
			memcpy(y + i * pixel, x + i * pixel, (to - i) * pixel);
		else if (overlap_combines(overlap)) {
			const size_t done = overlap_combine(overlap, y + i * pixel, x + i * pixel,
							    w->y.type, w->most, (to - i) * c);
			if (done < (to - i) * c)
				return at + i + done / c;
		} else if (overlap == OVERLAP_SAME)
			for (size_t j = i; j < to; j++)
				if (memcmp(y + j * pixel, x + j * pixel, pixel))
					return at + j;
	}
	return at + n;
}

static void
mark(struct whole *w, size_t at, size_t n)
{
	for (size_t i = at; i < at + n; i++) {
		w->missing -= !w->have[i];
		w->have[i] = true;
	}
}

/* Refuses a part that does not fit those before. */
static void
check_part(const struct whole *w, const struct raw_in *in, const struct img *x,
	   const struct img_picture *p, const struct tile *t, enum overlap overlap)
{
	if (x->type != w->y.type || p->c != w->p.c || p->n != w->p.n || t->W != w->p.w ||
	    t->H != w->p.h)
		raw_die(in,
			"it is of %zu planes and %zu pictures of %s, %zux%zu pixels each, but the "
			"parts before are of %zu and %zu of %s, %zux%zu",
			p->c, p->n, img_type_name(x->type), t->W, t->H, w->p.c, w->p.n,
			img_type_name(w->y.type), w->p.w, w->p.h);
	if (img_maxval(x) != img_maxval(&w->y))
		raw_die(in, "its maxval is %u, but that of the parts before is %u", img_maxval(x),
			img_maxval(&w->y));
	if (img_is_complex(x) && (overlap == OVERLAP_MAX || overlap == OVERLAP_MIN))
		raw_die(in, "complex numbers have no order; of them there is --overlap=sum");
}

/* Refuses the part whose pixel i cannot be laid. */
static void __attribute__((noreturn))
die_at(const struct whole *w, const struct raw_in *in, size_t i, enum overlap overlap)
{
	if (overlap == OVERLAP_SUM && w->most)
		raw_die(in, "the sum at %zu,%zu exceeds the maxval %u", i % w->p.w, i / w->p.w,
			w->most);
	if (overlap == OVERLAP_SUM)
		raw_die(in, "the sum at %zu,%zu does not fit %s", i % w->p.w, i / w->p.w,
			img_type_name(w->y.type));
	raw_die(in, "it differs from the part below it, first at %zu,%zu; see --overlap",
		i % w->p.w, i / w->p.w);
}

static void
add(struct whole *w, const struct raw_in *in, const struct img *x, const struct img_picture *p,
    const struct tile *t, const struct args *args)
{
	enum { PAGES = 4 << 12 }; /* of both ends of a row, in y and in have */
	const enum overlap overlap = (enum overlap)args->overlap;
	const size_t row = p->w * p->c * img_type_size(x->type);

	check_part(w, in, x, p, t, overlap);
	for (size_t k = 0; k < p->n; k++)
		for (size_t r = 0; r < p->h; r++) {
			const size_t at = (t->y0 + r) * t->W + t->x0;
			const size_t to = lay(
			    w, k, at, (const char *)x->data + (k * p->h + r) * row, p->w, overlap);
			if (to != at + p->w)
				die_at(w, in, to, overlap);
			touch(w, row + p->w + PAGES, args);
		}
	for (size_t r = 0; r < p->h; r++) {
		mark(w, (t->y0 + r) * t->W + t->x0, p->w);
		touch(w, p->w + PAGES / 2, args);
	}
}

static void
join_tiles(struct raw_in *in, struct img *x, struct raw_out *out, const struct args *args,
	   struct stats *st)
{
	struct whole w = {0};
	struct img_picture p;
	char words[TILE_ERR];
	struct tile t;

	do {
		if (args->common.verbose)
			raw_say(in, x);
		if (part_is(x))
			raw_die(in, "it is a share of --part, but the items before are not");
		if (!img_picture(x, &p))
			raw_die(in, "it has %d axes, more than pictures have", x->dim);
		if (tile_of(x, p.w, p.h, &t, words))
			raw_die(in, "%s", words);
		if (!w.y.data)
			start(&w, in, x, &p, &t, args);
		raw_map(in, x);
		stats_charge(st, STATS_READ);
		add(&w, in, x, &p, &t, args);
		stats_charge(st, STATS_COMPUTE);
		img_free(x);
		if (!w.missing && !overlap_combines((enum overlap)args->overlap))
			finish(&w, out, args);
		stats_charge(st, STATS_WRITE);
		st->items++;
	} while (raw_next(in, x));
	if (w.y.data)
		finish(&w, out, args);
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
	if (part_is(&x) && overlap_combines((enum overlap)args->overlap))
		raw_die(in,
			"it is a share of --part, and shares do not overlap; leave --overlap out");
	if (part_is(&x))
		shares_join(in, &x, out, st);
	else
		join_tiles(in, &x, out, args, st);
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

	stats_start(&st);
	if (args.missing) {
		print_missing(&args, &st);
		return 0;
	}
	if (args.npath > 1 && any_share(args.path, args.npath))
		shares_sort(args.path, args.npath);
	struct raw_out *out = raw_create(args.common.out, (enum raw_as)args.common.as);
	struct raw_in *in = raw_open(args.path, args.npath, args.common.max_bytes);
	join(in, out, &args, &st);
	stats_close(&st, in, out, &args.common);
	return 0;
}
