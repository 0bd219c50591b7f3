/* Writes results, with one writer for each kind of output. io/ and main.c do all the input and output of emst. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/stream/axes.h"
#include "emst/job.h"
#include "emst/mesh/mesh.h"
#include "emst/palette/palette.h"

/* ---- means ---- */

/* The colours that stand for classes. */

/* A class of colours with alpha. */
struct seen {
	double w, alpha,
	    p[3]; /* pixels, and the sums of alpha and of premultiplied samples; opaque is 1 */
	bool opaque, clear; /* Some of its colours are. */
};

static void
add_seen(struct seen *s, const struct vertices *v, size_t i)
{
	const size_t planes = v->planes - 1;
	const double w = (double)v->weight[i];
	double x[4];

	vertices_get(v, i, x);
	const double alpha = fmin(x[planes] / v->opaque, 1);
	s->w += w;
	s->alpha += w * alpha;
	for (size_t c = 0; c < planes; c++)
		s->p[c] += w * alpha * fmin(x[c] / v->opaque, 1);
	s->opaque |= alpha == 1;
	s->clear |= alpha == 0;
}

/* Fills row[] with the colour of a class. */
static void
colour_of(double *row, const struct seen *s, const struct vertices *v, bool only)
{
	const size_t planes = v->planes - 1;
	const bool clear = s->alpha == 0 || (s->clear && !s->opaque && !only);

	for (size_t c = 0; c < planes; c++)
		row[c] = clear	     ? 0
			 : s->opaque ? v->opaque * ((s->p[c] - s->alpha / 2) / s->w + .5)
				     : v->opaque * s->p[c] / s->alpha;
	row[planes] = clear ? 0 : s->opaque ? v->opaque : v->opaque * s->alpha / s->w;
}

static void
find_seen(double *mean, const struct result *r)
{
	const size_t k = r->v->planes, n = r->classes->n + 1;
	struct seen *s = weir_calloc(n, sizeof *s);

	if (!s)
		raw_die(r->in, "no memory");
	for (size_t i = 0; i < r->v->set.n; i++)
		add_seen(&s[r->classes->label[i]], r->v, i);
	for (size_t label = 1; label < n; label++)
		colour_of(mean + label * k, &s[label], r->v, n == 2);
	weir_free(s);
}

static void
find_means(double *mean, const struct result *r)
{
	const size_t k = r->v->set.k, n = r->classes->n + 1;
	double x[EMST_MOSTDIM];

	for (size_t i = 0; i < r->v->set.n; i++) {
		uint32_t label = r->classes->label[i];
		vertices_get(r->v, i, x);
		for (size_t a = 0; label && a < k; a++)
			mean[label * k + a] += (double)r->v->weight[i] * x[a];
	}
	for (size_t label = 1; label < n; label++)
		for (size_t a = 0; a < k; a++)
			mean[label * k + a] =
			    mean[label * k + a] / (double)r->classes->weight[label] * r->v->scale;
}

/*
 * Returns [label][k]: the weighted means of the classes. Row 0, for vertices without a class, is 0. Classes of colours as they
 * are seen (palette.h) have the colour that is nearest to theirs in this sense. The caller frees them. Dies without memory.
 */
static double *
means_of(const struct result *r)
{
	double *mean = weir_calloc((r->classes->n + 1) * r->v->set.k, sizeof *mean);

	if (!mean)
		raw_die(r->in, "no memory");
	if (r->classes->seen)
		find_seen(mean, r);
	else
		find_means(mean, r);
	return mean;
}

/* ---- writing ---- */

enum { BLOCK = 4096 };

static bool
is_pnm(const struct result *r)
{
	return r->common->as == RAW_AS_PNM ||
	       (r->common->as == RAW_FOLLOW && r->x->format == IMG_PNM);
}

/* --- trees ------------------------------------------------------------------------------------------------------- */

/* Begins an item of n rows of numbers, with names for the columns. */
static void
begin_rows(struct raw_out *out, const struct result *r, size_t columns, const char *names)
{
	struct img y;

	if (r->full->n < 2)
		raw_die(r->in, "a single vertex has no edges; --to=text or --to=labels can say so");
	img_init(&y, IMG_F64, 2, (size_t[]){columns, r->full->n - 1});
	strcpy(y.axis[0].kind, "list");
	img_set_key(&y, "columns", "%s", names);
	if (r->min_pts)
		img_set_key(&y, "min_pts", "%zu", r->min_pts);
	opt_add_history(&y, r->common);
	raw_head(out, &y);
	img_free(&y);
}

/* Returns the number that the output has for a vertex. */
static uint32_t
number(const struct result *r, uint32_t vertex)
{
	return r->v->points ? vertex : vertices_number(r->v, vertex);
}

static void
write_tree(struct raw_out *out, const struct result *r)
{
	double row[BLOCK][3];
	size_t n = r->full->n - 1;

	begin_rows(out, r, 3, "u v length");
	for (size_t from = 0; from < n; from += BLOCK) {
		size_t count = n - from < BLOCK ? n - from : BLOCK;
		for (size_t i = 0; i < count; i++) {
			struct emst_edge e = r->full->edge[from + i];
			row[i][0] = number(r, e.u);
			row[i][1] = number(r, e.v);
			row[i][2] = r->full->length[from + i];
		}
		raw_write(out, row, 3 * count);
	}
}

static void
write_text(struct raw_out *out, const struct result *r)
{
	for (size_t i = 0; i + 1 < r->full->n; i++)
		raw_printf(out, "%u %u %.10g\n", number(r, r->full->edge[i].u),
			   number(r, r->full->edge[i].v), r->full->length[i]);
}

/* Writes SciPy's rows: the two parts, the smaller number first; the distance; the number of vertices in both parts. */
static void
write_linkage(struct raw_out *out, const struct result *r)
{
	double row[BLOCK][4];
	struct dendrogram d;
	size_t n = r->full->n - 1;

	begin_rows(out, r, 4, "part part length vertices");
	if (dendrogram_make(&d, r->full, NULL))
		raw_die(r->in, "no memory");
	for (size_t from = 0; from < n; from += BLOCK) {
		size_t count = n - from < BLOCK ? n - from : BLOCK;
		for (size_t i = 0; i < count; i++) {
			const uint32_t *part = d.part[from + i];
			row[i][0] = part[0] < part[1] ? part[0] : part[1];
			row[i][1] = part[0] < part[1] ? part[1] : part[0];
			row[i][2] = r->full->length[from + i];
			row[i][3] = (double)d.weight[r->full->n + from + i];
		}
		raw_write(out, row, 4 * count);
	}
	dendrogram_free(&d);
}

/* --- classes ----------------------------------------------------------------------------------------------------- */

/* Stores the label as sample i of the type. */
static void
put_label(void *to, enum img_type type, size_t i, uint32_t label)
{
	if (type == IMG_U8)
		((uint8_t *)to)[i] = (uint8_t)label;
	else if (type == IMG_U16)
		((uint16_t *)to)[i] = (uint16_t)label;
	else
		((uint32_t *)to)[i] = label;
}

/* What an output has for every pixel or point: k samples of `bytes` bytes in all, which its class has in table[]. */
struct rows_of_classes {
	const char *table, *none; /* none: the row of a pixel without data */
	size_t k, bytes;
};

/* Copies the rows of n classes. A call of memcpy() for each pixel would take longer than all the rest. */
static void
copy_rows(char *to, const struct rows_of_classes *w, const uint32_t *label, size_t n)
{
	const char *table = w->table;

	if (w->bytes == 1)
		for (size_t i = 0; i < n; i++)
			to[i] = table[label[i]];
	else if (w->bytes == 3)
		for (size_t i = 0; i < n; i++)
			memcpy(to + 3 * i, table + 3 * (size_t)label[i], 3);
	else
		for (size_t i = 0; i < n; i++)
			memcpy(to + i * w->bytes, table + label[i] * w->bytes, w->bytes);
}

/* Fills `to` with the rows of the pixels or points from..from + n - 1. */
static void
fill_rows(char *to, const struct rows_of_classes *w, const struct result *r, size_t from, size_t n)
{
	const uint8_t *pixel = r->classes->pixel;
	uint32_t vertex[BLOCK];

	for (size_t at = 0; at < n; at += BLOCK) {
		const size_t count = n - at < BLOCK ? n - at : BLOCK;
		if (!pixel)
			vertices_find(r->v, from + at, count, vertex);
		for (size_t i = 0; i < count; i++)
			vertex[i] =
			    pixel ? pixel[from + at + i] + 1u : r->classes->label[vertex[i]];
		copy_rows(to + at * w->bytes, w, vertex, count);
	}
}

/* Writes the row of every pixel or point. Threads fill a piece together, then one of them writes it. */
static void
write_rows(struct raw_out *out, const struct rows_of_classes *w, const struct result *r)
{
	enum { SHARE = 1 << 15, SHARES = 8, SHARE_BYTES = 1 << 17 };
	const struct missing *m = r->missing;
	const size_t all = r->v->inputs + m->n, fit = SHARE_BYTES / w->bytes + 1,
		     share = fit < SHARE ? fit : SHARE,
		     piece = SHARES * share < all ? SHARES * share : all;
	const int threads = par_threads(r->common->threads);
	char *row = weir_xalloc_large(piece, w->bytes);

	for (size_t from = 0, first = 0; from < all; from += piece) {
		const size_t whole = all - from < piece ? all - from : piece,
			     n = m->n ? missing_others(m, from, whole) : whole;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (n > 2 * share)
		for (size_t at = 0; at < n; at += share)
			fill_rows(row + at * w->bytes, w, r, first + at,
				  n - at < share ? n - at : share);
		if (m->n)
			missing_spread(m, row, from, whole, w->none, w->bytes);
		raw_write(out, row, whole * w->k);
		first += n;
	}
	weir_free(row);
}

/* Removes what a list with counts says of its columns. */
static void
drop_columns(struct img *y, const struct result *r)
{
	if (!r->v->count)
		return;
	img_drop_key(y, "columns");
	img_drop_key(y, "colours");
	img_drop_key(y, "opaque");
}

static void
write_labels(struct raw_out *out, const struct result *r)
{
	const size_t n = r->classes->n;
	struct img y;

	if (n > 65535 && is_pnm(r))
		raw_die(r->in, "%zu classes are more than the 65535 of a PGM; use --raw", n);
	img_copy_head(&y, r->x);
	if (r->v->planes > 1 || r->v->points || r->v->count)
		img_drop_axis(&y, 0);
	drop_columns(&y, r);
	y.type = n < 256 ? IMG_U8 : n < 65536 ? IMG_U16 : IMG_U32;
	img_drop_key(&y, "tupltype");
	img_drop_key(&y, "tile");
	img_drop_key(&y, "maxval");
	img_drop_key(&y, "tiff.ColorMap");
	bands_renew(&y);
	if (n < 65536)
		img_set_key(&y, "maxval", "%zu", n);
	opt_add_history(&y, r->common);
	raw_head(out, &y);
	const size_t size = img_type_size(y.type);
	char *table = weir_xalloc_large(n + 1, size);
	for (size_t i = 0; i <= n; i++)
		put_label(table, y.type, i, (uint32_t)i);
	write_rows(out, &(struct rows_of_classes){table, table, 1, size}, r);
	weir_free(table);
	img_free(&y);
}

/*
 * Stores a mean as a sample of the type. Integer types get the nearest integer, halves rounded up. Only a mean near the largest
 * integer of 64 bits can be rounded beyond it.
 */
static void
put_sample(char *to, enum img_type type, double x)
{
	const double y = type == IMG_F32 || type == IMG_F64 ? x : floor(x + .5);

	if (!sample_store(to, &y, type, 1))
		memcpy(to, &(uint64_t){type == IMG_I64 ? INT64_MAX : UINT64_MAX}, sizeof(uint64_t));
}

/* Stores what stands for no data: NaN, or the value that the picture has for it. */
static void
put_missing(char *to, const struct result *r)
{
	const char *word = img_key(r->x, "nodata");
	double value = NAN;

	if (word && !img_is_float(r->v->type))
		opt_number(word, &value);
	if (!sample_store(to, &value, r->v->type, 1))
		memset(to, 0, img_type_size(r->v->type));
}

/* Writes every sample as the mean of its class. Counts are left out. */
static void
write_means(struct raw_out *out, const struct result *r)
{
	size_t k = r->v->planes, size = img_type_size(r->v->type), n = r->classes->n + 1;
	double *mean = means_of(r);
	char *sample = weir_xalloc((n + 1) * k, size), *none = sample + n * k * size;
	struct img y;

	for (size_t i = 0; i < n * k; i++)
		put_sample(sample + i * size, r->v->type, mean[i]);
	for (size_t a = 0; a < k; a++)
		put_missing(none + a * size, r);
	img_copy_head(&y, r->x);
	y.type = r->v->type;
	if (r->v->count)
		y.axis[0].n = k;
	drop_columns(&y, r);
	img_drop_key(&y, "tile");
	opt_add_history(&y, r->common);
	raw_head(out, &y);
	write_rows(out, &(struct rows_of_classes){sample, none, k, k * size}, r);
	img_free(&y);
	weir_free(sample);
	weir_free(mean);
}

/* Writes a line per class: label, pixels, share, mean. */
static void
write_palette(struct raw_out *out, const struct result *r)
{
	size_t k = r->v->set.k;
	const uint64_t missing = r->missing->n, *weight = r->classes->weight;
	double *mean = means_of(r);

	for (size_t label = weight[0] || missing ? 0 : 1; label <= r->classes->n; label++) {
		const uint64_t pixels = weight[label] + (label ? 0 : missing);
		raw_printf(out, "%zu %ju %.4f", label, (uintmax_t)pixels,
			   (double)pixels / (double)(r->v->total + missing));
		for (size_t a = 0; label && a < k; a++)
			raw_printf(out, " %.6g", mean[label * k + a]);
		raw_printf(out, "\n");
	}
	weir_free(mean);
}

/* --- colours ----------------------------------------------------------------------------------------------------- */

/* Names the columns: the samples, the count and, with place, the place of the first pixel. */
static void
name_columns(struct img *y, size_t k, bool place)
{
	char *names = weir_xalloc(k + 2, 8), *at = names;

	if (k == 1)
		at += sprintf(at, "gray ");
	else if (k == 3)
		at += sprintf(at, "r g b ");
	else
		for (size_t a = 1; a <= k; a++)
			at += sprintf(at, "x%zu ", a);
	strcpy(at, place ? "count place" : "count");
	img_set_key(y, "columns", "%s", names);
	weir_free(names);
}

/* Whether unsigned integers of 32 bits hold all samples, counts and places. */
static bool
fits_u32(const struct vertices *v)
{
	return (v->type == IMG_U8 || v->type == IMG_U16 || v->type == IMG_U32) &&
	       v->total <= UINT32_MAX;
}

static void
get_row(double *row, const struct vertices *v, size_t i, bool place)
{
	vertices_get(v, i, row);
	for (size_t a = 0; a < v->planes; a++)
		row[a] *= v->scale;
	row[v->planes] = (double)v->weight[i];
	if (place)
		row[v->planes + 1] = vertices_number(v, i);
}

static void
write_colours(struct raw_out *out, const struct result *r)
{
	const struct vertices *v = r->v;
	const bool place = !v->code;
	const size_t k = v->planes + 1 + place;
	double *row = weir_xalloc(k, sizeof *row);
	uint32_t *whole = weir_xalloc(k, sizeof *whole);
	struct img y;

	img_init(&y, fits_u32(v) ? IMG_U32 : IMG_F64, 2, (size_t[]){k, v->set.n});
	strcpy(y.axis[0].kind, "list");
	name_columns(&y, v->planes, place);
	img_set_key(&y, "colours", "%s", img_type_name(v->type));
	if (v->opaque > 0)
		img_set_key(&y, "opaque", "%.0f", v->opaque);
	opt_add_history(&y, r->common);
	raw_head(out, &y);
	for (size_t i = 0; i < v->set.n; i++) {
		get_row(row, v, i, place);
		for (size_t a = 0; y.type == IMG_U32 && a < k; a++)
			whole[a] = (uint32_t)row[a];
		raw_write(out, y.type == IMG_U32 ? (void *)whole : row, k);
	}
	img_free(&y);
	weir_free(whole);
	weir_free(row);
}

void
write_result(struct raw_out *out, enum kind kind, const struct result *r)
{
	static void (*const write[KINDS])(struct raw_out *, const struct result *) = {
	    [TREE] = write_tree,      [TEXT] = write_text,   [LINKAGE] = write_linkage,
	    [LABELS] = write_labels,  [MEANS] = write_means, [PALETTE] = write_palette,
	    [COLOURS] = write_colours};

	write[kind](out, r);
}

/* ---- classes ---- */

/*
 * Finds the classes that the options ask for, from a tree or directly. All of these functions may die.
 * Makes cuts and classes as the options say. These functions may die, as main.c does.
 */

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
