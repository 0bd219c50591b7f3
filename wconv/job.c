#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/die.h"
#include "common/tile.h"
#include "wconv/job.h"

static void
load_kernels(struct job *j)
{
	struct img file;
	char err[WCONV_ERR];

	raw_load_file(j->args->kernels, j->args->common.max_bytes, true, &file);
	if (wconv_take_kernels(&j->kernels, &file, &j->args->ask, &j->q, err))
		die("%s: %s", j->args->kernels, err);
	if (j->q.cx >= j->q.kw || j->q.cy >= j->q.kh)
		die_usage("--centre: '%s' is outside the kernel of %zux%zu", j->args->centre,
			  j->q.kw, j->q.kh);
}

/* Where a part of an image says that it lies. */
static void
find_tile(const struct raw_in *in, const struct img *x, struct wconv_problem *q)
{
	char words[TILE_ERR];
	struct tile t;

	if (tile_of(x, q->w, q->h, &t, words))
		raw_die(in, "%s", words);
	q->x0 = t.x0;
	q->y0 = t.y0;
	q->W = t.W;
	q->H = t.H;
}

/* Threads that a plan for the GPU is made for, so that each of its steps holds tiles enough to fill one. */
enum { GPU_TILES = 32 };

/* What the item says about the problem. */
static size_t
pose(struct job *j, const struct raw_in *in, const struct img *x)
{
	const struct args *args = j->args;
	const bool keep = args->type && !img_is_float(x->type);
	struct wconv_problem *q = &j->q;
	struct img_picture p;

	if (!img_picture(x, &p))
		raw_die(in, "it has %d axes, more than pictures have", x->dim);
	q->w = p.w;
	q->h = p.h;
	q->planes = p.c;
	q->in = x->type;
	q->out = keep || (args->type && x->type == IMG_F64) ? x->type
		 : args->in_double			    ? IMG_F64
							    : IMG_F32;
	q->top = keep ? img_maxval(x) : 0;
	q->normalise = args->normalise;
	q->correlate = args->correlate;
	q->edge = (enum wconv_edge)args->edge;
	q->constant = args->constant;
	q->nan = (enum wconv_nan)args->nan;
	q->output = (enum wconv_output)args->output;
	q->method = (enum wconv_method)args->method;
	q->threads = args->gpu ? GPU_TILES * (int)gpu_count(args->gpu) : args->common.threads;
	find_tile(in, x, q);
	return p.n;
}

static bool
same_shape(const struct wconv_problem *a, const struct wconv_problem *b)
{
	return a->w == b->w && a->h == b->h && a->planes == b->planes && a->in == b->in &&
	       a->out == b->out && a->top == b->top && a->x0 == b->x0 && a->y0 == b->y0 &&
	       a->W == b->W && a->H == b->H;
}

/* The first results of the tiles along x, or along y. */
static void
list_borders(const struct wconv_plan *p, bool y, size_t n)
{
	fprintf(stderr, "%s: tiles begin at %s", weir_prog, y ? "rows" : "columns");
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, " %td", wconv_border(p, y, i));
	fputc('\n', stderr);
}

static void
explain(const struct job *j)
{
	const struct wconv_chosen c = wconv_chosen(j->plan);
	char text[512];

	wconv_explain(j->plan, text, sizeof text);
	fprintf(stderr, "%s: %s\n", weir_prog, text);
	if (!c.direct) {
		list_borders(j->plan, false, c.tiles_x);
		list_borders(j->plan, true, c.tiles_y);
	}
}

size_t
job_plan(struct job *j, const struct raw_in *in, const struct img *x)
{
	const struct wconv_problem before = j->q;
	const size_t n = pose(j, in, x);
	char text[512];

	if (j->plan && same_shape(&before, &j->q))
		return n;
	wconv_free(j->plan);
	if (wconv_place_nodes(&j->kernels, &j->args->ask, &j->q, text))
		die("%s: %s", j->args->kernels, text);
	if (wconv_plan(&j->plan, &j->q, text))
		raw_die(in, "%s", text);
	if (j->args->common.verbose)
		explain(j);
	if (j->args->common.verbose && j->args->gpu)
		fprintf(stderr, "%s: run on %s\n", weir_prog, gpu_name(j->args->gpu));
	return n;
}

const void *
job_picture(const struct job *j, const void *payload, size_t i)
{
	const struct wconv_problem *q = &j->q;

	return (const char *)payload + i * q->h * q->w * q->planes * img_type_size(q->in);
}

void
job_describe(const struct job *j, const struct img *x, struct img *y)
{
	const struct wconv_problem *q = &j->q;
	size_t w, h;
	ptrdiff_t x0, y0;

	wconv_shape(j->plan, &w, &h, &x0, &y0);
	img_copy_head(y, x);
	y->type = q->out;
	const int first = img_row_axis(y);
	if (y->dim == first + 1 && h > 1)
		img_insert_axis(y, first + 1, 1, "domain");
	img_cut_axis(&y->axis[first], w, x0 - (ptrdiff_t)q->x0);
	if (y->dim > first + 1)
		img_cut_axis(&y->axis[first + 1], h, y0 - (ptrdiff_t)q->y0);
	if (img_key(y, "tile"))
		img_set_key(y, "tile", "%td %td %zu %zu", x0, y0, q->W, q->H);
	opt_add_history(y, &j->args->common);
}

void
job_start(struct job *j)
{
	load_kernels(j);
}

void
job_report(const struct job *j, struct stats *st)
{
	if (!j->plan || j->args->gpu)
		return;
	const struct wconv_chosen c = wconv_chosen(j->plan);
	stats_add(st, "method", "\"%s\"", c.direct ? "direct" : "fft");
	stats_add(st, "transform", "[%zu, %zu]", c.px, c.py);
	stats_add(st, "tiles", "[%zu, %zu]", c.tiles_x, c.tiles_y);
	stats_add(st, "steps", "%zu", wconv_count(j->plan));
	stats_add(st, "level", "\"%s\"", c.level);
}

void
job_end(struct job *j)
{
	wconv_free(j->plan);
	wconv_drop_kernels(&j->kernels);
}
