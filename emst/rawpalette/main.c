/* rawpalette replaces the colours of pictures by few with little loss. */
#include <errno.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/stats.h"
#include "emst/items.h"
#include "emst/rawpalette/palette.h"

const char *const weir_prog = "rawpalette";

struct args {
	struct opt_common common;
	size_t colours;
	int to; /* LABELS + to is the kind of output */
	const char *file[KINDS], *map;
	bool dither, image, together;
	struct reading reading;
	char **path;
	size_t npath;
};

static const struct opt table[] = {
    {0, "colours", OPT_SIZE, AT(colours), "K", "how many, at most 256", 1, PALETTE_MOST},
    {0, "map", OPT_STR, AT(map), "FILE",
     "the colours are those of FILE: a palette, colours, or a picture"},
    {0, "dither", OPT_FLAG, AT(dither), NULL, "mix colours, so that areas keep their mean"},
    {0, "to", OPT_WORD, AT(to), "WHAT", "%s (means)", .words = "labels|means|palette",
     .group = OPT_DATA},
    {0, "labels-to", OPT_STR, AT(file[LABELS]), "FILE", "write the indices to FILE as well",
     .writes = true},
    {0, "palette-to", OPT_STR, AT(file[PALETTE]), "FILE",
     "write the table of colours to FILE as well", .writes = true},
    {0, "image", OPT_FLAG, AT(image), NULL, "a table of numbers is a gray picture",
     .group = OPT_DATA},
    {0, "together", OPT_FLAG, AT(together), NULL, "one palette of all items", .group = OPT_DATA},
    {0}};

static const struct opt_program program = {
    .what = "Replaces the colours of pictures by K colours that lose least.",
    .example = "rawpalette --colours=16 --dither photo.ppm >few.ppm",
    .table = table,
    .common = OPT_THREADS | OPT_FORMAT};

static void
parse(struct args *args, int argc, char **argv)
{
	*args = (struct args){.to = MEANS - LABELS};
	opt_parse(&program, argc, argv, args, &args->path, &args->npath);
	args->to += LABELS;
	const bool pictures = args->to != PALETTE || args->file[LABELS];
	for (int kind = 0; kind < KINDS; kind++)
		if (args->file[kind] && !strcmp(args->file[kind], "-"))
			die_usage("standard output is for --to; give a file for the others");
	if (!args->colours == !args->map)
		die_usage("one of --colours=K and --map=FILE is needed");
	if (args->together && args->map && pictures)
		die_usage("--map writes labels and means of each item for itself");
	if (args->dither && !pictures)
		die_usage("--dither changes pictures: give --to=labels or means");
	if (args->common.as == RAW_AS_PNM && !pictures)
		die_usage("--pnm: give --to=labels or means, which are pictures");
	args->reading = (struct reading){.common = &args->common,
					 .of = VERTICES_SAMPLES,
					 .image = args->image,
					 .whole = args->dither,
					 .pictures_only = weir_prog,
					 .most = EMST_MOSTDIM,
					 .threads = par_threads(args->common.threads)};
}

/* The streams of a run, and what is known about all items so far. */
struct run {
	const struct args *args;
	struct raw_in *in;
	struct outputs o;
	struct map map; /* of --map, or of all items together; no rows: none */
	struct stats st;
	size_t colours, classes;
};

/* Chooses the colour of every pixel by error diffusion. The caller frees the result. */
static uint8_t *
dither(const struct run *r, const struct item *item, const struct classes *c, const double *mean)
{
	const struct shape *s = &item->shape;
	const uint64_t maxval = img_maxval(&item->x);
	uint8_t *pixel = weir_xalloc_large(s->inputs, 1);
	const struct dither d = {.w = s->w,
				 .h = s->h,
				 .planes = s->planes,
				 .type = s->type,
				 .px = item->x.data,
				 .top = maxval		    ? (double)maxval
					: s->type == IMG_U8 ? 255
							    : 65535,
				 .alpha = s->opaque > 0,
				 .k = c->n,
				 .colour = mean + s->planes};

	insist(r->in, dither_run(&d, s->pictures, r->st.threads, pixel));
	return pixel;
}

/* Refuses what is not taken. */
static void
check(const struct run *r, const struct item *item)
{
	const struct shape *s = &item->shape;

	if (r->args->dither && s->counted)
		raw_die(r->in, "a list of colours; --dither takes pictures");
	if (r->args->dither && r->map.classes > PALETTE_MOST)
		raw_die(r->in, "--map has %zu colours; --dither takes %d at most", r->map.classes,
			PALETTE_MOST);
	if (s->planes > PALETTE_PLANES)
		raw_die(r->in, "%zu planes; at most %d", s->planes, PALETTE_PLANES);
	if (r->args->dither && !palette_takes(s->type, s->planes))
		raw_die(r->in, "--dither is for pictures of one to four planes of 8 or 16 bits");
}

/* Finds the colours and writes what is asked for. */
static void
run_item(struct run *r, struct item *item)
{
	const struct args *args = r->args;
	struct vertices *v = &item->v;
	const bool mapped = r->map.n > 0;
	struct classes c = {0};
	uint8_t *pixel = NULL;
	double *mean = r->map.mean;

	if (mapped) {
		map_apply(&c, &r->map, v, r->in, &args->reading, &r->o);
	} else {
		c.label = weir_xalloc(v->set.n, sizeof *c.label);
		insist(r->in, vertices_weigh(v, r->st.threads));
		insist(r->in, palette_make(v, args->colours, r->st.threads, c.label));
		insist(r->in, classes_rank(&c, v->set.n, args->colours, v->weight));
		if (!(mean = palette_means(&c, v)))
			insist(r->in, -ENOMEM);
	}
	if (r->o.which == TABLES)
		map_make(&r->map, v, c.label, mean);
	else if (args->dither)
		pixel = dither(r, item, &c, mean);
	if (r->o.which != PICTURES) { /* those have been counted together */
		r->colours += v->set.n;
		r->classes += c.n;
	}
	stats_charge(&r->st, STATS_COMPUTE);
	outputs_write(&r->o, &(struct result){.common = &args->common,
					      .in = r->in,
					      .item = item,
					      .classes = &c,
					      .mean = mean,
					      .pixel = pixel});
	stats_charge(&r->st, STATS_WRITE);
	weir_free(pixel);
	if (!mapped)
		weir_free(mean);
	classes_free(&c);
	item_free(item);
}

static void
run_all(struct run *r)
{
	struct item item;

	while (item_next(&item, r->in, &r->args->reading)) {
		check(r, &item);
		item_fill(&item, r->in, &r->args->reading);
		stats_charge(&r->st, STATS_READ);
		run_item(r, &item);
		r->st.items++;
		outputs_flush(&r->o);
	}
}

/* Runs once on the colours of all items. */
static void
run_together(struct run *r)
{
	struct item all;

	r->st.items = item_load_all(&all, r->in, &r->args->reading);
	if (all.v.planes > PALETTE_PLANES)
		raw_die(r->in, "%zu planes; at most %d", all.v.planes, PALETTE_PLANES);
	stats_charge(&r->st, STATS_READ);
	r->o.which = r->o.pictures ? TABLES : EVERYTHING;
	run_item(r, &all);
	r->o.which = PICTURES;
	if (r->o.pictures)
		raw_rewind(r->in);
}

int
main(int argc, char **argv)
{
	struct args args;
	struct run r = {.args = &args};

	parse(&args, argc, argv);
	r.o = outputs_open(&args.common, args.to, args.file);
	r.in = raw_open(args.path, args.npath, args.common.max_bytes);
	stats_start(&r.st);
	r.st.threads = args.reading.threads;
	if (args.map)
		map_read(&r.map, args.map, &args.reading);
	if (args.together)
		run_together(&r);
	if (!args.together || r.o.pictures) {
		r.st.items = 0;
		run_all(&r);
	}
	map_free(&r.map);
	r.st.bytes_out = outputs_finish(&r.o);
	stats_add(&r.st, "colours", "%zu", r.colours);
	stats_add(&r.st, "classes", "%zu", r.classes);
	stats_close(&r.st, r.in, r.o.main, &args.common);
	return 0;
}
