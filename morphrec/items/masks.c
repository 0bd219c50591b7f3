#include <string.h>

#include "common/base/die.h"
#include "common/stream/tile.h"
#include "morphrec/items/item_io.h"
#include "morphrec/items/masks.h"
#include "morphrec/items/parts.h"
#include "morphrec/items/spool.h"

/* Dies unless the mask has the marker's shape and maxval, and its type or a type that converts to it. */
static void
match(const struct raw_in *in, const struct img *x, const struct img *mask, const char *name)
{
	struct parts p, q;
	struct tile t, u;
	char words[TILE_ERR];

	if (!parts_of(x, &p) || !parts_of(mask, &q))
		die("%s: not a picture, a stack, a volume or several volumes", name);
	if (p.c != q.c || p.w != q.w || p.h != q.h || p.d * p.n != q.d * q.n)
		raw_die(in,
			"the marker is %zux%zux%zux%zu (planes, width, height, count), the mask %s "
			"%zux%zux%zux%zu",
			p.c, p.w, p.h, p.d * p.n, name, q.c, q.w, q.h, q.d * q.n);
	const char *why = tile_of(mask, q.w, q.h, &u, words);
	if (why)
		die("%s: %s", name, why);
	if (!tile_of(x, p.w, p.h, &t, words) && memcmp(&t, &u, sizeof t))
		raw_die(in,
			"the marker lies at column %zu, row %zu of a picture of %zux%zu, the mask "
			"%s at "
			"column %zu, row %zu of %zux%zu",
			t.x0, t.y0, t.W, t.H, name, u.x0, u.y0, u.W, u.H);
	if (x->type != mask->type && !morphrec_widening(x->type, mask->type))
		raw_die(in, "the marker is of type %s, the mask %s of type %s",
			img_type_name(x->type), name, img_type_name(mask->type));
	if (img_maxval(x) && img_maxval(mask) && img_maxval(x) != img_maxval(mask))
		raw_die(in, "the marker has maxval %u, the mask %s %u", img_maxval(x), name,
			img_maxval(mask));
}

/* Makes w the mask in that type, in memory or in a temporary file. */
static void
widen(const struct raw_in *in, const struct masks *m, struct img *w, enum img_type type,
      bool to_file)
{
	morphrec_widen *const one = morphrec_widening(type, m->given.type);
	const size_t from = img_type_size(m->given.type), to = img_type_size(type);
	size_t total;

	img_copy_head(w, &m->given);
	w->type = type;
	if (to_file)
		item_room(in, w);
	else if (img_alloc(w))
		raw_die(in, "no memory for the mask in the marker's type");
	img_count(w, &total);
	for (size_t at = 0, n; at < total; at += n) {
		n = total - at < ITEM_PIECE / to ? total - at : ITEM_PIECE / to;
		one((char *)w->data + at * to, (const char *)m->given.data + at * from, n);
		if (to_file)
			spool_done(&(struct spool_pages){.J = w->data}, at * to, n * to);
		if (to_file && m->given.map)
			spool_done(&(struct spool_pages){.J = m->given.data}, at * from, n * from);
	}
}

/* Returns the mask in x's type. */
static struct img *
in_type(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a)
{
	if (x->type == m->given.type)
		return &m->given;
	struct img *const w = &m->wide[x->type == IMG_F64];
	if (!w->data)
		widen(in, m, w, x->type, a->max_mem != 0);
	return w;
}

struct img *
masks_for(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a)
{
	match(in, x, &m->given, a->mask);
	return in_type(in, x, m, a);
}

struct img *
masks_layers(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a,
	     size_t layers, size_t at, size_t n)
{
	struct img *g = &m->given;
	size_t bytes;

	match(in, x, g, a->mask);
	img_bytes(g, &bytes);
	const size_t layer = bytes / layers;
	if (g->map)
		g->data = (char *)g->data + at * layer;
	else
		memmove(g->data, (char *)g->data + at * layer, n * layer);
	while (g->dim > 1)
		img_drop_axis(g, g->dim - 1);
	g->axis[0].n = n * layer / img_type_size(g->type);
	return in_type(in, x, m, a);
}
