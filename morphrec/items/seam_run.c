#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/progress.h"
#include "common/stream/bands.h"
#include "morphrec/items/item_op.h"
#include "morphrec/items/item_run.h"
#include "morphrec/items/seam.h"
#include "morphrec/items/seam_run.h"

/* A run. The whole array is mapped. Problems, masks and the input of operators are those of the share with its halo. */
struct run {
	const struct raw_in *in;
	const struct args *a;
	struct seam s;
	struct morphrec_problem whole, what;
	struct morphrec_operator o;
	struct morphrec_plan p;
	struct img *x;	/* the input */
	struct img cut; /* its layers; data belongs to x */
	void *I;
};

/* --- layers of an array ----------------------------------------------------------------------------------------- */

/* Makes *cut layers [at, at + n) of x, whose samples it borrows. */
static void
cut_layers(struct img *cut, const struct img *x, size_t at, size_t n)
{
	size_t layer = img_type_size(x->type);

	img_copy_head(cut, x);
	for (int i = 0; i + 1 < x->dim; i++)
		layer *= x->axis[i].n;
	cut->axis[x->dim - 1].n = n;
	cut->data = (char *)x->data + at * layer;
	cut->map = x->map;
}

static void
drop_layers(struct img *cut)
{
	cut->data = cut->map = NULL;
	img_free(cut);
}

/* Returns the problem with only n layers. */
static struct morphrec_problem
with_layers(struct morphrec_problem what, size_t n)
{
	*(morphrec_is_volume(what.conn) ? &what.d : &what.h) = n;
	return what;
}

/* --- keys ------------------------------------------------------------------------------------------------------- */

/*
 * Raises the n samples at J to those of `to` that are higher. Lists them in risen, if it is not NULL, by their index from
 * `at` on. Returns their number.
 */
static size_t
raise(const struct morphrec_problem *what, void *J, const void *to, size_t n, size_t at,
      size_t *risen)
{
	const struct key_map map = morphrec_keys(what);
	const size_t size = img_type_size(what->type);
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t k = key_get(size, to, i, map);
		if (k <= key_get(size, J, i, map))
			continue;
		key_put(size, J, i, k, map);
		if (risen)
			risen[count] = at + i;
		count++;
	}
	return count;
}

/* --- marker and mask -------------------------------------------------------------------------------------------- */

/*
 * Makes the marker of the share's layers in J, and changes f into their mask where that is not f. Where the marker depends on
 * the layers around, it is made from more of them.
 */
static void
make_marker(struct run *r, void *J)
{
	const size_t reach = morphrec_op_reach(&r->what, &r->o), bytes = r->s.bytes,
		     before = r->s.at < reach ? r->s.at : reach, end = r->s.at + r->s.n,
		     after = r->s.layers - end < reach ? r->s.layers - end : reach;
	const struct morphrec_problem more = with_layers(r->what, before + r->s.n + after);
	char *f = r->cut.data, *wide = J;

	if (reach && !(wide = weir_alloc(before + r->s.n + after, bytes)))
		raw_die(r->in, "no memory for the marker");
	if (morphrec_marker(&more, &r->o, wide, f - before * bytes))
		raw_die(r->in, "no memory for the marker");
	if (!reach)
		return;
	memcpy(J, wide + before * bytes, r->s.n * bytes);
	weir_free(wide);
}

/* Changes f into the mask for an operator whose mask is not f. */
static void
make_mask(struct run *r)
{
	if (r->a->mask || r->o.op != MORPHREC_HYSTERESIS)
		return;
	char *J = weir_alloc(r->s.n, r->s.bytes);
	if (!J)
		raw_die(r->in, "no memory for the mask");
	make_marker(r, J);
	weir_free(J);
}

/* Makes J0 in the state: the marker, and the borders of the shares beside it. */
static void
make_state(struct run *r)
{
	if (r->a->mask)
		memcpy(r->s.J, r->cut.data, r->s.n * r->s.bytes);
	else
		make_marker(r, r->s.J);
	if (r->s.first > r->s.at)
		seam_read_beside(&r->s, 0, seam_layer(&r->s, r->s.at));
	if (r->s.end < r->s.layers)
		seam_read_beside(&r->s, 1, seam_layer(&r->s, r->s.end));
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

/* The first run, or one after a run that was killed. */
static void
begin(struct run *r)
{
	seam_settle(&r->s, false);
	make_state(r);
	item_reconstruct(r->in, &r->p, r->a, r->s.J, r->I, &r->whole, r->s.at * r->s.bytes);
	r->s.head->lo = r->p.clip.lo;
	r->s.head->hi = r->p.clip.hi;
}

/* A later run: only what the borders of the neighbours raise. */
static void
resume(struct run *r)
{
	const size_t n = r->s.bytes / img_type_size(r->what.type);
	size_t *risen = weir_xalloc(2 * n, sizeof *risen), count = 0;
	char *layer = weir_xalloc(1, r->s.bytes);

	seam_settle(&r->s, false);
	for (int side = 0; side < 2; side++) {
		const size_t at = side ? r->s.end : r->s.at;
		if (seam_read_beside(&r->s, side, layer))
			count += raise(&r->what, seam_layer(&r->s, at), layer, n,
				       (at - r->s.at) * n, risen + count);
	}
	r->p.clip.lo = r->s.head->lo;
	r->p.clip.hi = r->s.head->hi;
	if (count) {
		make_mask(r);
		morphrec_resume(&r->p, r->s.J, r->I, risen, count);
	}
	weir_free(layer);
	weir_free(risen);
}

/* Returns whether the share on that side must run again: its border is lower than the halo, or it has not written one. */
static bool
owes(struct run *r, int side)
{
	if (r->s.beside[side] == SEAM_NONE)
		return false;
	char *layer = weir_xalloc(1, r->s.bytes);
	const bool owed = !seam_read_beside(&r->s, side, layer) ||
			  raise(&r->what, layer, seam_layer(&r->s, side ? r->s.end : r->s.at),
				r->s.bytes / img_type_size(r->what.type), 0, NULL);
	weir_free(layer);
	return owed;
}

/* Brings the share to its fixpoint. */
static void
run_share(struct run *r)
{
	(r->s.head->settled ? resume : begin)(r);
	seam_settle(&r->s, true);
	seam_write_border(&r->s);
}

static void
print_line(struct run *r)
{
	struct raw_out *out = raw_create_text(NULL);
	const bool owed[2] = {r->s.first < r->s.end && owes(r, 0),
			      r->s.first < r->s.end && owes(r, 1)};

	raw_printf(out, "%s", owed[0] || owed[1] ? "rose" : "still");
	for (int side = 0; side < 2; side++)
		if (owed[side])
			raw_printf(out, " %zu", r->s.beside[side]);
	raw_printf(out, "\n");
	raw_finish(out);
}

/* --- the picture of a share ------------------------------------------------------------------------------------- */

/* Writes the item of the share: its own layers of the result. */
static void
write_item(struct run *r, struct stats *st)
{
	const struct opt_common *c = &r->a->common;
	const size_t own = r->s.end - r->s.first;
	struct part_place place = {.items = 1,
				   .pieces = 1,
				   .pnm = c->as == RAW_AS_PNM ||
					  (c->as == RAW_FOLLOW && r->x->format == IMG_PNM),
				   .tile = img_key(r->x, "tile") != NULL};
	struct raw_out *out = raw_create(c->out, RAW_AS_RAW);
	struct img y;

	img_copy_head(&y, r->x);
	y.format = IMG_RAW;
	if (morphrec_op_differs(r->a->o.op))
		bands_renew(&y);
	opt_add_history(&y, c);
	if (own) {
		part_cut(&y, &place, y.dim - 1, r->s.first, own);
		part_set(&y, &c->part, r->s.hash, &place);
		const struct morphrec_problem what = with_layers(r->what, own);
		if (img_alloc(&y))
			raw_die(r->in, "no memory for the result");
		memcpy(y.data, seam_layer(&r->s, r->s.first), own * r->s.bytes);
		morphrec_finish(&what, &r->o, y.data,
				(char *)r->cut.data + (r->s.first - r->s.at) * r->s.bytes);
	} else {
		part_set_empty(&y, &c->part, r->s.hash, 1);
		if (img_alloc(&y))
			raw_die(r->in, "no memory for the result");
		memset(y.data, 0, img_type_size(y.type));
	}
	raw_put(out, &y);
	img_free(&y);
	st->bytes_out += raw_bytes_out(out);
	raw_finish(out);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

/* Fills in the shape of the whole and of the share. Dies when they are not for seams. */
static void
lay_out(struct run *r)
{
	const struct args *a = r->a;
	struct parts parts;
	const bool volume = morphrec_is_volume(a->conn);

	r->whole = item_problem(r->in, r->x, a, &parts);
	if (parts_count(&parts) > 1 || r->x->dim != (volume ? 3 : 2))
		raw_die(r->in, "--seam: takes a grey picture, or with -c 6, 18 or 26 a volume");
	r->s =
	    (struct seam){.dir = a->seam, .part = a->common.part, .hash = part_begin(&a->common)};
	r->s.hash = part_hash_files(r->s.hash, a->path, a->npath);
	if (a->mask)
		r->s.hash = part_hash_file(r->s.hash, a->mask);
	if (a->kind == ARGS_PICTURE)
		r->s.hash = part_hash_file(r->s.hash, a->shape);
	r->s.layers = volume ? r->whole.d : r->whole.h;
	r->s.bytes = img_type_size(r->x->type) * r->whole.w * (volume ? r->whole.h : 1);
	seam_lay_out(&r->s);
	r->what = with_layers(r->whole, r->s.n);
}

/* Fills in the operator, the share's layers of the input, and its mask. */
static void
take_layers(struct run *r, struct masks *m, struct shape *shape)
{
	r->o = item_operator(r->in, r->x, r->a, &m->shape, shape);
	r->o.cut[0] = r->s.at > 0;
	r->o.cut[1] = r->s.at + r->s.n < r->s.layers;
	if (r->o.op == MORPHREC_REGMAX || r->o.op == MORPHREC_REGMIN)
		r->o.rest = !morphrec_all_floor(&r->whole, &r->o, r->x->data);
	cut_layers(&r->cut, r->x, r->s.at, r->s.n);
	r->I = r->cut.data;
	if (r->a->mask)
		r->I = masks_layers(r->in, r->x, m, r->a, r->s.layers, r->s.at, r->s.n)->data;
}

/* Plans and runs the share, and writes its picture when there is -o. */
static void
run_planned(struct run *r, struct stats *st)
{
	struct progress bar;

	r->what.step = item_step;
	r->what.step_with = &bar;
	const char *why = morphrec_plan(&r->p, &r->what);
	if (why)
		raw_die(r->in, "%s", why);
	if (r->a->common.verbose)
		item_explain(r->in, &r->p);
	seam_open(&r->s);
	stats_charge(st, STATS_PLAN);
	run_share(r);
	stats_charge(st, STATS_COMPUTE);
}

void
seam_run(struct raw_in *in, struct masks *m, const struct args *a, struct stats *st,
	 struct morphrec_figures *f)
{
	struct run r = {.in = in, .a = a};
	struct shape shape;
	struct img x, second;

	raw_next(in, &x);
	r.x = &x;
	lay_out(&r);
	raw_map(in, &x);
	if (raw_next(in, &second))
		raw_die(in, "--seam: the input holds more than one item");
	take_layers(&r, m, &shape);
	stats_charge(st, STATS_READ);
	if (r.s.first < r.s.end)
		run_planned(&r, st);
	if (a->common.out)
		write_item(&r, st);
	print_line(&r);
	stats_charge(st, STATS_WRITE);
	stats_add(st, "moved", "%zu", r.s.moved);
	item_add_figures(f, &r.p.figures);
	st->items++;
	if (r.s.first < r.s.end)
		seam_close(&r.s);
	morphrec_free(&r.p);
	shape_free(&shape);
	drop_layers(&r.cut);
	img_free(&x);
}
