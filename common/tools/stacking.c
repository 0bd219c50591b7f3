#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/progress.h"
#include "common/base/sample.h"
#include "common/stream/axiskeys.h"
#include "common/stream/tile.h"
#include "common/tools/places.h"
#include "common/tools/stacking.h"

/* --- items that belong together ------------------------------------------------------------------------------------------ */

/* The result has the keys of the first item, so what holds for another one alone is named. */
static void
compare_maps(const struct raw_in *in, const struct img *first, const struct img *x)
{
	const char *nodata = img_key(x, "nodata"), *other = img_key(first, "nodata");

	if (!axiskeys_same_place(x, first))
		warn("%s: item %zu: it is a map of another place than the first item", raw_name(in),
		     raw_item(in));
	if (nodata && other && strcmp(nodata, other) && !img_is_float(x->type))
		warn("%s: item %zu: its missing samples are %s, and those of the first item %s; "
		     "see tifftoraw --nan",
		     raw_name(in), raw_item(in), nodata, other);
}

static void
insist_on_same(const struct raw_in *in, const struct img *first, const struct img *x)
{
	if (x->type != first->type)
		raw_die(in, "its samples are %s, and those of the first item %s",
			img_type_name(x->type), img_type_name(first->type));
	for (int i = 0; i < x->dim || i < first->dim; i++)
		if (x->dim != first->dim || x->axis[i].n != first->axis[i].n)
			raw_die(in, "its shape is not that of the first item");
	if (img_maxval(x) != img_maxval(first))
		raw_die(in, "its maxval is %u, and that of the first item %u", img_maxval(x),
			img_maxval(first));
	if (!tile_same(x, first))
		raw_die(in, "it is another part of a picture than the first item");
	compare_maps(in, first, x);
}

static void
insist_on_whole_group(const struct stacking *s, const struct raw_in *in, size_t n)
{
	if (s->every && n && n < s->every)
		raw_die(in, "%zu items are left, fewer than --every=%zu", n, s->every);
}

bool
stacking_read(const struct stacking *s, const struct opt_common *o, struct raw_in *in,
	      struct group *g)
{
	const size_t most = weir_limit(o->max_bytes);
	struct img x;

	*g = (struct group){0};
	while ((!s->every || g->n < s->every) && raw_next(in, &x)) {
		if (g->n)
			insist_on_same(in, &g->x[0], &x);
		if (g->n == g->room) {
			g->room = 2 * g->room + 16;
			g->x = realloc(g->x, g->room * sizeof *g->x);
			if (!g->x)
				die("no memory");
		}
		if (o->verbose)
			raw_say(in, &x);
		raw_map(in, &x);
		size_t bytes;
		img_bytes(&x, &bytes);
		g->bytes += x.map ? 0 : bytes;
		if (g->bytes > most)
			raw_die(in,
				"the items so far exceed the limit of %zu bytes; raise it with "
				"--max-bytes, or give files",
				most);
		g->x[g->n++] = x;
	}
	insist_on_whole_group(s, in, g->n);
	return g->n;
}

void
stacking_free(struct group *g)
{
	for (size_t i = 0; i < g->n; i++)
		img_free(&g->x[i]);
	free(g->x);
}

/* --- results ---------------------------------------------------------------------------------------------------------- */

/* Describes what a combination of items like x is. */
static void
describe_result(const struct stacking *s, const struct opt_common *o, const struct raw_in *in,
		const struct img *x, struct img *y)
{
	const bool one = s->combine == COMBINE_MIN || s->combine == COMBINE_MAX;

	if (x->type == IMG_I64 || x->type == IMG_U64)
		raw_die(in, "samples of 64 bits would lose digits; convert them with rawmath");
	if (img_is_complex(x) && s->combine != COMBINE_SUM && s->combine != COMBINE_MEAN)
		raw_die(in, "complex numbers have no order; of them there are sums and means");
	img_copy_head(y, x);
	if (!one) {
		y->type = x->type >= IMG_I32 && x->type != IMG_F32 ? IMG_F64 : IMG_F32;
		img_drop_key(y, "maxval");
	}
	places_forget(y);
	opt_add_history(y, o);
}

enum { BLOCK = 64 * COMBINE_BLOCK }; /* pixels at a time */

/* Writes n <= BLOCK results, from sample number `at` on. */
static void
write_block(const struct img *y, const double *v, size_t at, size_t n, struct raw_out *out)
{
	static char samples[BLOCK * 8];
	const size_t fit = sample_store(samples, v, y->type, n);

	if (fit < n)
		die("sample %zu of the result is not in the range of %s; use doubles, by rawmath "
		    "--type=double a",
		    at + fit, img_type_name(y->type));
	raw_write(out, samples, n);
}

/* Combines n <= BLOCK pixels from number `at` on. work has room for the items of a group, for each thread. */
static void
combine_block(const struct stacking *s, const struct group *g, size_t at, size_t n, int threads,
	      double (*work)[COMBINE_BLOCK], double *result)
{
	const size_t size = img_type_size(g->x[0].type);

#pragma omp parallel for schedule(static) num_threads(threads) if (n > 4 * COMBINE_BLOCK)
	for (size_t b = 0; b < n; b += COMBINE_BLOCK) {
		const size_t some = n - b < COMBINE_BLOCK ? n - b : COMBINE_BLOCK;
		double(*v)[COMBINE_BLOCK] = work + (size_t)omp_get_thread_num() * g->n;

		for (size_t i = 0; i < g->n; i++)
			sample_load(v[i], (const char *)g->x[i].data + (at + b) * size,
				    g->x[i].type, some);
		combine_all((enum combine)s->combine, s->clip, v, g->n, some, result + b);
	}
}

void
stacking_put_all(const struct stacking *s, const struct opt_common *o, const struct raw_in *in,
		 const struct group *g, struct raw_out *out, struct stats *st)
{
	const int threads = par_threads(o->threads);
	double(*work)[COMBINE_BLOCK] = weir_xalloc((size_t)threads * g->n, sizeof *work);
	double *result = weir_xalloc(BLOCK, sizeof *result);
	struct progress bar;
	struct img y;
	size_t count;

	describe_result(s, o, in, &g->x[0], &y);
	img_count(&y, &count);
	raw_head(out, &y);
	progress_start(&bar, o->quiet);
	for (size_t at = 0; at < count; at += BLOCK) {
		const size_t n = count - at < BLOCK ? count - at : BLOCK;

		combine_block(s, g, at, n, threads, work, result);
		stats_charge(st, STATS_COMPUTE);
		write_block(&y, result, at, n, out);
		stats_charge(st, STATS_WRITE);
		progress_step(&bar, (double)at / (double)count);
	}
	progress_end(&bar);
	img_free(&y);
	weir_free(result);
	weir_free(work);
}

/* --- one item after the other ------------------------------------------------------------------------------------------ */

/* The running result of a combination. */
struct running {
	enum combine how;
	struct img y;
	double *total;	 /* owned */
	unsigned *count; /* owned */
	size_t n;
};

static void
start(struct running *r, const struct stacking *s, const struct opt_common *o,
      const struct raw_in *in, const struct img *x)
{
	*r = (struct running){.how = (enum combine)s->combine};
	describe_result(s, o, in, x, &r->y);
	img_count(x, &r->n);
	r->total = weir_xalloc_large(r->n, sizeof *r->total);
	r->count = weir_xalloc_large(r->n, sizeof *r->count);
}

/*
 * Adds the samples of the current item. The first one sets up the result block by block: memory is then committed as data
 * arrives, not by what a header claims.
 */
static void
add_item(const struct running *r, struct raw_in *in, enum img_type type, bool first)
{
	static char from[BLOCK * 8];
	static double v[BLOCK];

	for (size_t at = 0; at < r->n; at += BLOCK) {
		const size_t n = r->n - at < BLOCK ? r->n - at : BLOCK;

		raw_read(in, from, n);
		sample_load(v, from, type, n);
		if (first)
			combine_start(r->how, r->total + at, r->count + at, n);
		combine_add(r->how, r->total + at, r->count + at, v, n);
	}
}

static void
finish(struct running *r, struct raw_out *out)
{
	raw_head(out, &r->y);
	for (size_t at = 0; at < r->n; at += BLOCK) {
		const size_t n = r->n - at < BLOCK ? r->n - at : BLOCK;

		combine_finish(r->how, r->total + at, r->count + at, n);
		write_block(&r->y, r->total + at, at, n, out);
	}
	weir_free(r->total);
	weir_free(r->count);
	img_free(&r->y);
}

bool
stacking_put_running(const struct stacking *s, const struct opt_common *o, struct raw_in *in,
		     struct raw_out *out, struct stats *st)
{
	struct img x, first = {0};
	struct running r;
	size_t items = 0;

	for (; (!s->every || items < s->every) && raw_next(in, &x); items++) {
		if (o->verbose)
			raw_say(in, &x);
		if (items) {
			insist_on_same(in, &first, &x);
		} else {
			start(&r, s, o, in, &x);
			img_copy_head(&first, &x);
		}
		add_item(&r, in, x.type, !items);
		stats_charge(st, STATS_COMPUTE);
		img_free(&x);
	}
	insist_on_whole_group(s, in, items);
	if (items)
		finish(&r, out);
	stats_charge(st, STATS_WRITE);
	img_free(&first);
	return items;
}
