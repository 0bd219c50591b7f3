/* Writes results, with one writer for each kind of output. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/stream/axes.h"
#include "common/stream/nodata.h"
#include "common/stream/pipeline.h"
#include "emst/items.h"

enum { BLOCK = 1024, MANY = 1 << 16 };

/* --- trees ------------------------------------------------------------------------------------------------------- */

/* Returns the number that the output has for a vertex. */
static uint32_t
number(const struct result *r, uint32_t vertex)
{
	return r->item->v.points ? vertex : vertices_number(&r->item->v, vertex);
}

/*
 * Writes the edges as rows of numbers: u, v and the length, or, with d, SciPy's rows: the two parts, the smaller number first;
 * the distance; the number of vertices in both parts. Threads fill a piece together, then one of them writes it.
 */
static void
write_edges(struct raw_out *out, const struct result *r, const struct dendrogram *d)
{
	const struct emst_tree *t = r->tree;
	const int threads = par_threads(r->common->threads);
	const size_t n = t->n - 1, columns = d ? 4 : 3,
		     piece = n > MANY && threads > 1 ? MANY : BLOCK;
	double *row = weir_xalloc_large(piece * columns, sizeof *row);
	struct img y;

	if (!n)
		raw_die(r->in, "a single vertex has no edges; --to=text or --to=labels can say so");
	img_init(&y, IMG_F64, 2, (size_t[]){columns, n});
	strcpy(y.axis[0].kind, "list");
	img_set_key(&y, "columns", d ? "part part length vertices" : "u v length");
	if (r->min_pts)
		img_set_key(&y, "min_pts", "%zu", r->min_pts);
	opt_add_history(&y, r->common);
	raw_head(out, &y);
	for (size_t from = 0; from < n; from += piece) {
		const size_t end = n - from < piece ? n : from + piece;
#pragma omp parallel for schedule(static) num_threads(threads) if (end - from > BLOCK)
		for (size_t i = from; i < end; i++) {
			const uint32_t u = d ? d->part[i][0] : number(r, t->edge[i].u),
				       v = d ? d->part[i][1] : number(r, t->edge[i].v);
			double *to = row + columns * (i - from);
			to[0] = u < v ? u : v;
			to[1] = u < v ? v : u;
			to[2] = t->length[i];
			if (d)
				to[3] = (double)d->weight[t->n + i];
		}
		raw_write(out, row, columns * (end - from));
	}
	weir_free(row);
	img_free(&y);
}

static void
write_tree(struct raw_out *out, const struct result *r)
{
	write_edges(out, r, NULL);
}

static void
write_linkage(struct raw_out *out, const struct result *r)
{
	struct dendrogram d;

	insist(r->in, dendrogram_make(&d, r->tree, NULL));
	write_edges(out, r, &d);
	dendrogram_free(&d);
}

static void
write_text(struct raw_out *out, const struct result *r)
{
	for (size_t i = 0; i + 1 < r->tree->n; i++)
		raw_printf(out, "%u %u %.10g\n", number(r, r->tree->edge[i].u),
			   number(r, r->tree->edge[i].v), r->tree->length[i]);
}

/* --- classes ----------------------------------------------------------------------------------------------------- */

/* What an output has for every pixel or point: k samples of `bytes` bytes in all, which its class has in table[]. */
struct rows_of_classes {
	const char *table, *none; /* none: the row of a pixel without data */
	size_t k, bytes;
};

/* Fills `to` with the rows of the pixels or points from..from + n - 1. */
static void
fill_rows(char *to, const struct rows_of_classes *w, const struct result *r, size_t from, size_t n)
{
	const uint8_t *pixel = r->pixel;
	const char *table = w->table;
	const size_t bytes = w->bytes;
	uint32_t vertex[BLOCK];

	for (size_t at = 0; at < n; at += BLOCK) {
		const size_t count = n - at < BLOCK ? n - at : BLOCK;
		if (!pixel)
			vertices_find(&r->item->v, from + at, count, vertex);
		for (size_t i = 0; i < count; i++)
			vertex[i] =
			    pixel ? pixel[from + at + i] + 1u : r->classes->label[vertex[i]];
		/* A call of memcpy() for each pixel would take longer than all the rest. */
		if (bytes == 1)
			for (size_t i = 0; i < count; i++)
				to[at + i] = table[vertex[i]];
		else if (bytes == 3)
			for (size_t i = 0; i < count; i++)
				memcpy(to + 3 * (at + i), table + 3 * (size_t)vertex[i], 3);
		else
			for (size_t i = 0; i < count; i++)
				memcpy(to + (at + i) * bytes, table + vertex[i] * bytes, bytes);
	}
}

/* Counts the pixels with data among from..from + n - 1. */
static size_t
with_data(const struct missing *m, size_t from, size_t n)
{
	size_t others = 0;

	for (size_t i = 0; i < n; i++)
		others += !m->is[from + i];
	return others;
}

/* Writes the row of every pixel or point. Threads fill a piece together, then one of them writes it. */
static void
write_rows(struct raw_out *out, const struct rows_of_classes *w, const struct result *r)
{
	enum { SHARE = 1 << 15, SHARES = 8, SHARE_BYTES = 1 << 17 };
	const struct missing *m = &r->item->missing;
	const size_t all = r->item->v.inputs + m->n, fit = SHARE_BYTES / w->bytes + 1,
		     share = fit < SHARE ? fit : SHARE,
		     piece = SHARES * share < all ? SHARES * share : all;
	const int threads = par_threads(r->common->threads);
	char *row = weir_xalloc_large(piece, w->bytes);

	for (size_t from = 0, first = 0; from < all; from += piece) {
		const size_t whole = all - from < piece ? all - from : piece,
			     n = m->n ? with_data(m, from, whole) : whole;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (n > 2 * share)
		for (size_t at = 0; at < n; at += share)
			fill_rows(row + at * w->bytes, w, r, first + at,
				  n - at < share ? n - at : share);
		/* The rows of the pixels with data stand in front; each moves to its pixel. */
		for (size_t i = whole, at = n; m->n && i-- > 0;)
			if (m->is[from + i])
				memcpy(row + i * w->bytes, w->none, w->bytes);
			else
				memmove(row + i * w->bytes, row + --at * w->bytes, w->bytes);
		raw_write(out, row, whole * w->k);
		first += n;
	}
	weir_free(row);
}

/* Removes what a list with counts says of its columns. */
static void
drop_columns(struct img *y, const struct result *r)
{
	if (!r->item->v.count)
		return;
	img_drop_key(y, "columns");
	img_drop_key(y, "colours");
	img_drop_key(y, "opaque");
	img_drop_key(y, "missing");
}

static void
write_labels(struct raw_out *out, const struct result *r)
{
	const size_t n = r->classes->n;
	const int as = r->common->as;
	double label[BLOCK];
	struct img y;

	if (n > 65535 && (as == RAW_AS_PNM || (as == RAW_FOLLOW && r->item->x.format == IMG_PNM)))
		raw_die(r->in, "%zu classes are more than the 65535 of a PGM; use --raw", n);
	img_copy_head(&y, &r->item->x);
	if (r->item->v.planes > 1 || r->item->v.points || r->item->v.count)
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
	for (size_t from = 0; from <= n; from += BLOCK) {
		const size_t count = n + 1 - from < BLOCK ? n + 1 - from : BLOCK;
		for (size_t i = 0; i < count; i++)
			label[i] = (double)(from + i);
		sample_store(table + from * size, label, y.type, count);
	}
	write_rows(out, &(struct rows_of_classes){table, table, 1, size}, r);
	weir_free(table);
	img_free(&y);
}

/* Writes every sample as the mean of its class, integers rounded to the nearest, halves up. Counts are left out. */
static void
write_means(struct raw_out *out, const struct result *r)
{
	const enum img_type type = r->item->v.type;
	const bool whole = type != IMG_F32 && type != IMG_F64;
	const size_t k = r->item->v.planes, size = img_type_size(type), n = r->classes->n + 1;
	const struct nodata nodata = nodata_of(&r->item->x, true);
	char *sample = weir_xalloc((n + 1) * k, size), *none = sample + n * k * size;
	struct img y;

	for (size_t i = 0; i < n * k; i++) {
		const double mean = whole ? floor(r->mean[i] + .5) : r->mean[i];
		/* Only a mean near the largest integer of 64 bits can be rounded beyond it. */
		if (!sample_store(sample + i * size, &mean, type, 1))
			memcpy(sample + i * size,
			       &(uint64_t){type == IMG_I64 ? INT64_MAX : UINT64_MAX}, size);
	}
	for (size_t a = 0; a < k; a++)
		memcpy(none + a * size, nodata.sample, size);
	img_copy_head(&y, &r->item->x);
	y.type = type;
	if (r->item->v.count)
		y.axis[0].n = k;
	drop_columns(&y, r);
	img_drop_key(&y, "tile");
	opt_add_history(&y, r->common);
	raw_head(out, &y);
	write_rows(out, &(struct rows_of_classes){sample, none, k, k * size}, r);
	img_free(&y);
	weir_free(sample);
}

/* Names the columns of a table: those of the points that the item names, and the class. */
static void
name_table(struct img *y, const struct img *x, size_t planes)
{
	const char *names = img_key(x, "columns"), *end = names ? names : "";
	size_t n = 0;

	for (; n < planes && end[strspn(end, " ")]; n++) {
		end += strspn(end, " ");
		end += strcspn(end, " ");
	}
	if (n == planes)
		img_set_key(y, "columns", "%.*s class", (int)(end - names), names);
}

/* Writes the points, each with its class in a column more. */
static void
write_table(struct raw_out *out, const struct result *r)
{
	const struct vertices *v = &r->item->v;
	const size_t k = v->planes, size = k * img_type_size(v->type);
	double *row = weir_xalloc(k + 1, sizeof *row);
	struct img y;

	if (!v->points)
		raw_die(r->in, "--to=table takes points; pictures have --to=labels");
	img_init(&y, IMG_F64, 2, (size_t[]){k + 1, v->inputs});
	strcpy(y.axis[0].kind, "list");
	name_table(&y, &r->item->x, k);
	opt_add_history(&y, r->common);
	raw_head(out, &y);
	for (size_t i = 0; i < v->inputs; i++) {
		uint32_t vertex;
		vertices_find(v, i, 1, &vertex);
		sample_load(row, (const char *)v->data + i * size, v->type, k);
		row[k] = r->classes->label[vertex];
		raw_write(out, row, k + 1);
	}
	img_free(&y);
	weir_free(row);
}

/* Writes a line per class: label, pixels, share, mean. */
static void
write_palette(struct raw_out *out, const struct result *r)
{
	size_t k = r->item->v.set.k;
	const uint64_t missing = r->item->shape.missing, *weight = r->classes->weight;

	for (size_t label = weight[0] || missing ? 0 : 1; label <= r->classes->n; label++) {
		const uint64_t pixels = weight[label] + (label ? 0 : missing);
		raw_printf(out, "%zu %ju %.4f", label, (uintmax_t)pixels,
			   (double)pixels / (double)(r->item->v.total + missing));
		for (size_t a = 0; label && a < k; a++)
			raw_printf(out, " %.6g", r->mean[label * k + a]);
		raw_printf(out, "\n");
	}
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

static void
write_colours(struct raw_out *out, const struct result *r)
{
	struct vertices *v = &r->item->v;
	/* Unsigned integers of 32 bits hold all samples, counts and places. */
	const bool whole = (v->type == IMG_U8 || v->type == IMG_U16 || v->type == IMG_U32) &&
			   v->total <= UINT32_MAX,
		   place = !v->code;
	const size_t k = v->planes + 1 + place;
	double *row = weir_xalloc(k, sizeof *row);
	uint32_t *u32 = weir_xalloc(k, sizeof *u32);
	struct img y;

	if (!v->weight)
		insist(r->in, vertices_weigh(v, par_threads(r->common->threads)));
	img_init(&y, whole ? IMG_U32 : IMG_F64, 2, (size_t[]){k, v->set.n});
	strcpy(y.axis[0].kind, "list");
	name_columns(&y, v->planes, place);
	img_set_key(&y, "colours", "%s", img_type_name(v->type));
	if (v->opaque > 0)
		img_set_key(&y, "opaque", "%.0f", v->opaque);
	if (r->item->shape.missing)
		img_set_key(&y, "missing", "%zu", r->item->shape.missing);
	opt_add_history(&y, r->common);
	raw_head(out, &y);
	for (size_t i = 0; i < v->set.n; i++) {
		vertices_get(v, i, row);
		for (size_t a = 0; a < v->planes; a++)
			row[a] *= v->scale;
		row[v->planes] = (double)v->weight[i];
		if (place)
			row[v->planes + 1] = vertices_number(v, i);
		for (size_t a = 0; whole && a < k; a++)
			u32[a] = (uint32_t)row[a];
		raw_write(out, whole ? (void *)u32 : row, k);
	}
	img_free(&y);
	weir_free_all(u32, row);
}

/* --- outputs ----------------------------------------------------------------------------------------------------- */

static struct raw_out *
create(const char *path, int kind, int as)
{
	return kind == TEXT || kind == PALETTE
		   ? raw_create(path, RAW_AS_TEXT)
		   : raw_create(path,
				kind == LABELS || kind == MEANS ? (enum raw_as)as : RAW_AS_RAW);
}

struct outputs
outputs_open(const struct opt_common *common, int kind, const char *const file[KINDS])
{
	struct outputs o = {.kind = kind, .main = create(common->out, kind, common->as)};

	for (int i = 0; i < KINDS; i++) {
		if (file[i])
			o.other[i] = create(file[i], i, common->as);
		if (!file[i] && i != kind)
			continue;
		o.classes |= is_of_classes(i);
		o.means |= i == MEANS || i == PALETTE;
		o.pictures |= i == MEANS || i == LABELS;
	}
	return o;
}

void
outputs_write(const struct outputs *o, const struct result *r)
{
	static void (*const write[KINDS])(struct raw_out *, const struct result *) = {
	    [TREE] = write_tree,       [TEXT] = write_text,   [LINKAGE] = write_linkage,
	    [LABELS] = write_labels,   [MEANS] = write_means, [PALETTE] = write_palette,
	    [COLOURS] = write_colours, [TABLE] = write_table};

	for (int i = 0; i < KINDS; i++) {
		const bool picture = i == LABELS || i == MEANS;
		if (o->which == (picture ? TABLES : PICTURES))
			continue;
		if (i == o->kind)
			write[i](o->main, r);
		if (o->other[i])
			write[i](o->other[i], r);
	}
}

void
outputs_flush(const struct outputs *o)
{
	pipeline_flush(o->main);
	for (int i = 0; i < KINDS; i++)
		if (o->other[i])
			pipeline_flush(o->other[i]);
}

uint64_t
outputs_finish(const struct outputs *o)
{
	uint64_t bytes = 0;

	for (int i = 0; i < KINDS; i++)
		if (o->other[i]) {
			bytes += raw_bytes_out(o->other[i]);
			raw_finish(o->other[i]);
		}
	return bytes;
}
