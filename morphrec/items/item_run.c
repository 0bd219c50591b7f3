#include <errno.h>
#include <stdio.h>

#include "common/base/die.h"
#include "common/base/par.h"
#include "common/base/progress.h"
#include "common/stream/tile.h"
#include "gpu/morphrec/morphrec.h"
#include "morphrec/items/item_run.h"

/* To start a thread and to share out tiles takes .1 to .3 ms. Below so many bytes, a second thread does not save as much. */
enum { ALONE = 1 << 20 };

/* Refuses several volumes whose slices are channels or frames. One such volume may be meant, as an object moves in time. */
static void
check_slices(const struct raw_in *in, const struct img *x, const struct parts *p)
{
	const int deep = img_row_axis(x) + 2;
	const char *other = p->n > 1 ? img_no_depth(&x->axis[deep]) : NULL;

	if (other)
		raw_die(in, "axis %d is `%s' and not z: rawaxes --order brings z there", deep,
			other);
}

/* Dies when x is a part of a picture whose rest the operator must see, and warns when the rest would change the result. */
static void
check_tile(const struct raw_in *in, const struct img *x, const struct parts *p,
	   const struct args *a)
{
	char words[TILE_ERR];
	struct tile t;
	const char *why = tile_of(x, p->w, p->h, &t, words);

	if (why)
		raw_die(in, "%s", why);
	if (t.W == p->w && t.H == p->h)
		return;
	if (a->o.op == MORPHREC_FILL_HOLES || a->o.op == MORPHREC_CLEAR_BORDER)
		raw_die(in,
			"a part of a picture (tile:=%s): its sides are cuts, not the frame; see "
			"rawjoin",
			img_key(x, "tile"));
	warn("%s: a part of a picture (tile:=%s): nothing comes from beyond its sides; see rawjoin",
	     raw_name(in), img_key(x, "tile"));
}

struct morphrec_problem
item_problem(const struct raw_in *in, const struct img *x, const struct args *a, struct parts *p)
{
	if (!parts_of(x, p))
		raw_die(in, "%d axes: not a picture, a stack, a volume or several volumes", x->dim);
	if (img_is_complex(x))
		raw_die(in, "complex samples have no order");
	if (a->max_mem && (p->c > 1 || (p->n > 1 && morphrec_is_volume(a->conn))))
		raw_die(
		    in,
		    "--max-mem: takes grey pictures and one volume an item, not %zu planes of %zu",
		    p->c, p->n);
	if (morphrec_is_volume(a->conn) && p->d == 1)
		warn("%s: connectivity %d is for volumes, and this item is a single picture; "
		     "rawstack makes volumes of pictures",
		     raw_name(in), a->conn);
	if (morphrec_is_volume(a->conn)) {
		check_slices(in, x, p);
	} else {
		p->d *= p->n;
		p->n = 1;
	}
	check_tile(in, x, p, a);
	return (struct morphrec_problem){.type = x->type,
					 .w = p->w,
					 .h = p->h,
					 .d = p->d,
					 .conn = a->conn,
					 .erode = a->mask ? a->erode : morphrec_op_erodes(a->o.op),
					 .method = (enum morphrec_method)a->method,
					 .node = a->node,
					 .heaps = a->heaps,
					 .threads = par_threads(a->common.threads),
					 .alone = ALONE,
					 .max_mem = a->max_mem};
}

void
item_explain(const struct raw_in *in, const struct morphrec_plan *p)
{
	char text[256];

	morphrec_explain(p, text, sizeof text);
	warn("%s: %zux%zux%zu %s: %s", raw_name(in), p->what.w, p->what.h, p->what.d,
	     img_type_name(p->what.type), text);
}

void
item_step(void *bar, double share)
{
	progress_step(bar, share);
}

/* Writes the place of sample i of an array of the shape of whole, for messages. */
static const char *
place(const struct morphrec_problem *whole, uint64_t i, char text[80])
{
	snprintf(text, 80, "x %zu, y %zu, slice %zu", (size_t)i % whole->w,
		 (size_t)i / whole->w % whole->h, (size_t)i / whole->w / whole->h);
	return text;
}

/* Dies when p->clip met NaN, except with --nan=barrier. The array begins at sample `at` of an array of the shape of whole. */
static void
refuse(const struct raw_in *in, const struct morphrec_plan *p, const struct args *a,
       const struct morphrec_problem *whole, size_t at)
{
	const struct morphrec_clip *c = &p->clip;
	char text[80];

	if (c->nan && a->nan == ARGS_ERROR)
		raw_die(in, "%llu samples are NaN, the first at %s; see --nan",
			(unsigned long long)c->nan, place(whole, at + c->first_nan, text));
}

void
item_refuse_nan(const struct raw_in *in, struct morphrec_plan *p, const struct args *a, void *f)
{
	if (!img_is_float(p->what.type) || a->nan)
		return;
	morphrec_clip(p, f, f);
	refuse(in, p, a, &p->what, 0);
}

void
item_reconstruct(const struct raw_in *in, struct morphrec_plan *p, const struct args *a, void *J,
		 void *I, const struct morphrec_problem *whole, size_t at)
{
	const struct morphrec_clip *c = &p->clip;
	const size_t first = at / img_type_size(whole->type);
	char text[80];
	int err = 0;

	progress_start(p->what.step_with, a->common.quiet);
	if (a->gpu)
		morphrec_clip(p, J, I);
	else
		err = morphrec_clip_and_run(p, J, I);
	progress_end(p->what.step_with);
	refuse(in, p, a, whole, first);
	if (c->above && a->strict)
		raw_die(in, "%llu markers are beyond the mask, the first at %s",
			(unsigned long long)c->above, place(whole, first + c->first_above, text));
	if (c->above && a->mask && a->common.verbose)
		warn("%s: %llu markers beyond the mask were clipped", raw_name(in),
		     (unsigned long long)c->above);
	if (a->gpu)
		err = gpu_morphrec_run(a->gpu, p, J, I);
	if (err == -EIO)
		raw_die(in, "-g: %s", gpu_why(a->gpu));
	if (err)
		raw_die(in, "no memory for the queue of pixels");
}

void
item_add_figures(struct morphrec_figures *sum, const struct morphrec_figures *f)
{
	sum->tiles += f->tiles;
	sum->visits += f->visits;
	sum->floods += f->floods;
	sum->risen += f->risen;
	sum->rises += f->rises;
	sum->stale += f->stale;
}
