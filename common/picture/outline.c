#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/roots.h"
#include "common/picture/label.h"
#include "common/picture/mosaic.h"
#include "common/picture/outline.h"

/* The labels with a frame, and what is known of each sample of it. */
struct field {
	const int32_t *map;
	size_t row, n;
	uint32_t *up; /* the polygon: a sample of it, by union-find */
	uint32_t *
	    where; /* of a corner before a sample where a ring can meet itself: 1 + its place in the ring that is followed */
	uint8_t *seen; /* the upper edge has been followed */
};

/* Adds a ring of n vertices of pixel i's label. A hole has an area below 0. */
static void
add_ring(struct outlines *o, struct field *f, size_t i, const uint32_t *vertex, size_t n)
{
	struct ring r = {(uint32_t)f->map[i], roots_find(f->up, (uint32_t)i), false, o->corners, n};
	int64_t area = 0;

	o->corner = weir_xgrow(o->corner, &o->room_corners, o->corners + n, sizeof *o->corner);
	for (size_t k = 0; k < n; k++) {
		o->corner[o->corners][0] = (uint32_t)(vertex[k] % f->row) - 1;
		o->corner[o->corners++][1] = (uint32_t)(vertex[k] / f->row) - 1;
	}
	for (size_t k = 0; k < n; k++) {
		const uint32_t *a = o->corner[r.first + k], *b = o->corner[r.first + (k + 1) % n];
		area += (int64_t)a[0] * b[1] - (int64_t)b[0] * a[1];
	}
	r.hole = area < 0;
	o->ring = weir_xgrow(o->ring, &o->room_rings, o->rings + 1, sizeof *o->ring);
	o->ring[o->rings++] = r;
}

/*
 * Follows the edges around pixel `first` from its upper one, with the label at the right hand. Where four pixels meet of which two
 * opposite ones have the label, it turns right, so that the two stay apart. A ring that comes to such a corner again is cut
 * there: what it has gone round since then is a ring of its own.
 */
static void
follow(struct outlines *o, struct field *f, size_t first, uint32_t **vertex, size_t *room)
{
	const ptrdiff_t row = (ptrdiff_t)f->row, step[4] = {1, row, -1, -row};
	/* From pixel i to the vertex at the end of its edge, by direction. */
	const ptrdiff_t end[4] = {1, row + 1, row, 0};
	size_t n = 0, i = first;
	int d = 0;

	do {
		const size_t right = i + (size_t)step[d], left = right + (size_t)step[(d + 3) % 4];
		const uint32_t v = (uint32_t)(i + (size_t)end[d]);
		f->seen[i] |= d == 0;
		if (f->map[right] == f->map[i] && f->map[left] != f->map[i]) {
			i = right;
			continue;
		}
		const bool meets = f->map[left] == f->map[i] && f->map[right] != f->map[i];

		if (meets && f->where[v]) {
			const size_t at = f->where[v] - 1;
			add_ring(o, f, i, *vertex + at, n - at);
			for (; n > at + 1; n--)
				f->where[(*vertex)[n - 1]] = 0;
		} else {
			*vertex = weir_xgrow(*vertex, room, n + 1, sizeof **vertex);
			(*vertex)[n++] = v;
			f->where[v] = meets ? (uint32_t)n : 0;
		}
		if (f->map[right] != f->map[i]) {
			d = (d + 1) % 4;
		} else {
			i = left;
			d = (d + 3) % 4;
		}
	} while (i != first || d);
	add_ring(o, f, first, *vertex, n);
	while (n)
		f->where[(*vertex)[--n]] = 0;
}

static int
compare_rings(const void *a, const void *b)
{
	const struct ring *p = a, *q = b;
	const size_t key[2][4] = {{p->label, p->polygon, p->hole, p->first},
				  {q->label, q->polygon, q->hole, q->first}};
	int k = 0;

	while (k < 3 && key[0][k] == key[1][k])
		k++;
	return (key[0][k] > key[1][k]) - (key[0][k] < key[1][k]);
}

void
outlines_find(struct outlines *o, const int32_t *map, size_t w, size_t h)
{
	struct field f = {map, w + 2, (w + 2) * (h + 2), NULL, NULL, NULL};
	uint32_t *vertex = NULL;
	size_t room = 0;

	*o = (struct outlines){0};
	f.up = weir_xalloc_large(f.n, sizeof *f.up);
	f.where = weir_xalloc_large(f.n, sizeof *f.where);
	f.seen = weir_xalloc_large(f.n, 1);
	memset(f.where, 0, f.n * sizeof *f.where);
	memset(f.seen, 0, f.n);
	roots_single(f.up, f.n);
	for (size_t i = f.row; i < f.n; i++) {
		const size_t near[2] = {i - 1, i - f.row};
		for (int k = 0; map[i] && k < 2; k++)
			if (map[near[k]] == map[i])
				roots_join(f.up, roots_find(f.up, (uint32_t)near[k]),
					   roots_find(f.up, (uint32_t)i));
	}
	for (size_t i = f.row; i < f.n; i++)
		if (map[i] && map[i - f.row] != map[i] && !f.seen[i])
			follow(o, &f, i, &vertex, &room);
	if (o->rings)
		qsort(o->ring, o->rings, sizeof *o->ring, compare_rings);
	weir_free_all(vertex, f.up, f.where, f.seen);
}

void
outlines_free(struct outlines *o)
{
	weir_free_all(o->ring, o->corner);
	*o = (struct outlines){0};
}

/* --- as text ---------------------------------------------------------------------------------------------------------- */

/* Writes a ring, its area at the left hand where x goes right and y up, and that of a hole at the right hand. */
static void
put_ring(const struct raw_in *in, const struct table *t, const struct outlines *o,
	 const struct ring *r, bool json, struct raw_out *out)
{
	double(*p)[2] = weir_xalloc(r->n + 1, sizeof *p), area = 0;
	const int row = img_row_axis(t->x);

	for (size_t i = 0; i < r->n; i++) {
		for (int k = 0; k < 2; k++) {
			const struct map_cut c = map_cut_of(t->x, row + k);
			p[i][k] = c.first + (o->corner[r->first + i][k] - .5) * c.step;
		}
		if (t->world.kind)
			world_place(&t->world, p[i], 2, p[i]);
		if (isnan(p[i][0]) || isnan(p[i][1]))
			raw_die(in, "a corner of label %u has no place in the sky", r->label);
		if (t->world.kind == WORLD_SKY) /* a ring across 0 degrees stays in one piece */
			p[i][0] -= 360 * rint((p[i][0] - p[0][0]) / 360);
	}
	memcpy(p[r->n], p[0], sizeof *p);
	for (size_t i = 0; i < r->n; i++)
		area += (p[i][0] - p[0][0]) * (p[i + 1][1] - p[0][1]) -
			(p[i + 1][0] - p[0][0]) * (p[i][1] - p[0][1]);
	for (size_t i = 0; i <= r->n; i++) {
		const double *at = p[(area > 0) == !r->hole ? i : r->n - i];
		raw_printf(out, json ? "%s[%.15g, %.15g]" : "%s%.15g %.15g", i ? ", " : "", at[0],
			   at[1]);
	}
	weir_free(p);
}

/* Writes the polygons of ring[0..n), of one label. */
static void
put_polygons(const struct raw_in *in, const struct table *t, const struct outlines *o,
	     const struct ring *ring, size_t n, bool json, struct raw_out *out)
{
	const bool multi = ring[n - 1].polygon != ring->polygon;
	const char *open = json ? "[" : "(", *close = json ? "]" : ")";
	static const char *const kinds[2][2] = {{"POLYGON ", "MULTIPOLYGON "},
						{"{\"type\": \"Polygon\", \"coordinates\": ",
						 "{\"type\": \"MultiPolygon\", \"coordinates\": "}};

	raw_printf(out, "%s%s", kinds[json][multi], multi ? open : "");
	for (size_t i = 0; i < n; i++) {
		const bool first = !i || ring[i].polygon != ring[i - 1].polygon;
		raw_printf(out, "%s%s%s%s", i && first ? close : "", i ? ", " : "",
			   first ? open : "", open);
		put_ring(in, t, o, &ring[i], json, out);
		raw_printf(out, "%s", close);
	}
	raw_printf(out, "%s%s%s", close, multi ? close : "", json ? "}}" : "\n");
}

void
outlines_put(struct outline_text *text, const struct table *t, const struct raw_in *in,
	     struct raw_out *out)
{
	const unsigned epsg = t->world.kind == WORLD_MAP ? crs_number(img_key(t->x, "crs")) : 0;
	struct label *l = t->l;
	int32_t *map = label_map(l, false);
	struct outlines o;

	if (text->json && !t->item) {
		raw_printf(out, "{\"type\": \"FeatureCollection\", ");
		if (epsg)
			raw_printf(out, CRS_MEMBER, epsg);
		raw_printf(out, "\"features\": [");
	}
	if (t->item && epsg != text->epsg)
		raw_die(in, "its map is of another system than that of the item before");
	text->epsg = epsg;
	if (!map || (l->w + 2) * (l->h + 2) > UINT32_MAX)
		raw_die(in, "it is too large for outlines");
	outlines_find(&o, map, l->w, l->h);
	for (size_t i = 0, to; i < o.rings; i = to) {
		const uint32_t label = o.ring[i].label;
		for (to = i + 1; to < o.rings && o.ring[to].label == label;)
			to++;
		if (text->json)
			raw_printf(out,
				   "%s\n{\"type\": \"Feature\", \"properties\": {\"label\": %u, "
				   "\"item\": %zu}, \"geometry\": ",
				   text->features++ ? "," : "",
				   t->named ? l->name[label - 1] : label, t->item);
		put_polygons(in, t, &o, o.ring + i, to - i, text->json, out);
	}
	outlines_free(&o);
	weir_free(map);
}
