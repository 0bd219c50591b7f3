/* Makes cuts and classes as the options say. These functions may die, as main.c does. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "emst/mesh/mesh.h"
#include "emst/io/classify.h"
#include "emst/io/means.h"
#include "emst/palette/dither.h"
#include "emst/palette/palette.h"

void
insist(const struct raw_in *in, int err)
{
	if (err)
		raw_die(in, "%s", err == -ENOMEM ? "no memory" : strerror(-err));
}

/* Returns the share of all pixels, rounded up. The rounding of the double, a few units in its last place, does not count. */
static uint64_t
share_of(double percent, double all)
{
	return (uint64_t)fmax(ceil(percent * all / 100 * (1 - 0x1p-50)), 1);
}

static uint64_t
weight_of(struct args_size s, const struct raw_in *in, const struct vertices *v)
{
	const double all = (double)v->total;

	if (s.percent >= 0)
		return share_of(s.percent, all);
	if (s.number > all)
		raw_die(in, "--min-size %.0f: there are only %ju %s", s.number, (uintmax_t)v->total,
			v->points ? "points" : "pixels");
	return (uint64_t)s.number;
}

static void
run_genie(uint8_t *cut, const struct emst_tree *t, const struct vertices *v,
	  const struct raw_in *in, const struct args *args)
{
	const int err = cut_genie(t, v->weight, args->genie, args->k, cut);

	if (err == -EOVERFLOW)
		raw_die(in, "--genie: %zu vertices of %ju pixels; the product must be below 2^63",
			t->n, (uintmax_t)v->total);
	insist(in, err);
}

/* Marks the edges that the options cut. Sets *m to the least weight of a class, where the options have one. */
static void
cut_tree(uint8_t *cut, uint64_t *m, const struct emst_tree *t, const struct dendrogram *d,
	 const struct vertices *v, const struct raw_in *in, const struct args *args)
{
	if (args->has_genie)
		run_genie(cut, t, v, in, args);
	else if (args->linkage)
		cut_longest(t, args->k, cut);
	else if (args->has_distance)
		cut_length(t, args->distance, cut);
	else if (args->has_functional)
		insist(in, cut_functional(d, t, v, args->functional, cut, m));
	else if (args->has_k && !args->min_size)
		memset(cut, 1, t->n);
	else
		cut_size(d, *m = weight_of(args->m, in, v), cut);
	if (args->has_k)
		insist(in, cut_at_most(d, args->k, cut));
}

static void
make_classes(struct classes *c, const struct emst_tree *t, const struct dendrogram *d,
	     const struct vertices *v, const struct raw_in *in, const struct args *args)
{
	const bool by_cuts =
	    args->has_k || args->min_size || args->has_distance || args->has_functional;
	uint8_t *cut = weir_xalloc(t->n, 1);
	uint64_t m = 0;

	if (args->has_k && args->k > t->n)
		raw_die(in, "--classes %zu: there %s only %zu %s%s", args->k,
			t->n == 1 ? "is" : "are", t->n,
			v->points	   ? "distinct point"
			: args->neighbours ? "pixel"
					   : "colour",
			t->n == 1 ? "" : "s");
	if (args->has_min_pts && !args->has_k) {
		insist(in, classes_density(
			       c, d, t,
			       (struct density){args->min_pts, args->select == 1, args->fill}));
	} else if (v->points && !by_cuts) {
		m = (uint64_t)fmax(ceil(sqrt((double)v->total)), 2);
		insist(in, classes_density(c, d, t, (struct density){m, false, true}));
	} else {
		cut_tree(cut, &m, t, d, v, in, args);
		insist(in, classes_make(c, t, cut, v->weight));
	}
	weir_free(cut);
	if (m && args->common.verbose)
		warn("%s: item %zu: classes of at least %ju", raw_name(in), raw_item(in),
		     (uintmax_t)m);
	if (args->has_k && c->n < args->k && !args->common.quiet)
		warn("%s: item %zu: -k %zu: there are only %zu such classes", raw_name(in),
		     raw_item(in), args->k, c->n);
}

void
classify(struct classes *c, const struct emst_tree *t, struct vertices *v, const struct raw_in *in,
	 const struct args *args, int threads)
{
	struct dendrogram d;

	if (!v->weight)
		insist(in, vertices_weigh(v, threads));
	insist(in, dendrogram_make(&d, t, v->weight));
	make_classes(c, t, &d, v, in, args);
	dendrogram_free(&d);
}

/* Chooses the class of every pixel anew, by error diffusion. Pictures of an item are independent. */
static void
dither_pictures(struct classes *c, const struct vertices *v, const struct raw_in *in,
		const struct img *x, struct shape s, int threads)
{
	const size_t size = s.w * s.h, pictures = v->inputs / size;
	const size_t bytes = size * v->planes * img_type_size(v->type);
	double *colour = means_of(&(struct result){.in = in, .v = v, .classes = c});
	struct dither d = {.w = s.w, .h = s.h, .planes = v->planes, .type = v->type};
	int err = 0;

	d.top = img_maxval(x) ? img_maxval(x) : v->type == IMG_U8 ? 255 : 65535;
	d.alpha = v->opaque > 0;
	d.k = c->n;
	for (size_t i = 0; i < (c->n + 1) * v->planes; i++)
		colour[i] = floor(colour[i] + .5);
	d.colour = colour + v->planes;
	c->pixel = weir_xalloc_large(v->inputs, 1);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (pictures > 1)
	for (size_t i = 0; i < pictures; i++) {
		struct dither own = d;
		own.px = (const char *)v->data + i * bytes;
		const int failed = dither_run(&own, c->pixel + i * size);
#pragma omp critical
		err = failed ? failed : err;
	}
	weir_free(colour);
	insist(in, err);
}

void
reduce_colours(struct classes *c, struct vertices *v, const struct raw_in *in, const struct img *x,
	       struct shape s, const struct args *args, int threads)
{
	const bool wide = !palette_takes(v);

	if (v->points || v->planes > PALETTE_PLANES)
		raw_die(in, "--palette is for pictures of at most %d planes", PALETTE_PLANES);
	if (args->dither && wide)
		raw_die(in, "--dither is for pictures of one to four planes of 8 or 16 bits");
	insist(in, vertices_weigh(v, threads));
	*c = (struct classes){.label = weir_xalloc(v->set.n, sizeof *c->label)};
	insist(in, (wide ? palette_wide : palette_make)(v, args->palette, threads, c->label));
	insist(in, classes_rank(c, v->set.n, args->palette, v->weight));
	c->seen = v->opaque > 0 && !wide;
	if (args->dither)
		dither_pictures(c, v, in, x, s, threads);
}

void
find_regions(struct classes *c, struct mesh *g, struct vertices *v, const struct raw_in *in,
	     const struct args *args)
{
	/* The default size is more than a small picture has: all of it becomes one region. */
	const uint64_t m = args->min_size ? weight_of(args->m, in, v) : (uint64_t)args->m.number;
	size_t regions;

	insist(in, vertices_weigh(v, 1));
	*c = (struct classes){.label = weir_xalloc(v->set.n, sizeof *c->label)};
	insist(in, mesh_regions(g, args->scale, m, c->label, &regions));
	insist(in, classes_rank(c, v->set.n, regions, v->weight));
}
