/* Reads trees for --tree. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/opt.h"
#include "emst/roots.h"
#include "emst/io/saved.h"

static void
check_tree_header(const struct raw_in *in, const struct img *y, size_t min_pts)
{
	const char *columns = img_key(y, "columns"), *pts = img_key(y, "min_pts");
	size_t made_with = 0;

	if (y->type != IMG_F64 || y->dim != 2 || y->axis[0].n != 3 || !columns ||
	    strcmp(columns, "u v length"))
		raw_die(in, "not a tree written by --to=tree");
	if (pts && !opt_size(pts, &made_with))
		raw_die(in, "min_pts:=%s is no number", pts);
	if (made_with != min_pts)
		raw_die(in,
			made_with ? "this tree was made with --min-pts %zu; give the same"
				  : "this tree was not made with --min-pts; leave it out",
			made_with);
}

/* Turns rows (u, v, length) into edges between vertices. Edges between equal points are left out. */
static void
take_rows(struct emst_tree *t, const struct raw_in *in, const double (*row)[3], size_t n,
	  const struct vertices *v)
{
	uint32_t *up = weir_xalloc(t->n, sizeof *up), a, b;
	size_t have = 0;

	roots_single(up, t->n);
	for (size_t i = 0; i < n; i++) {
		if (!vertices_named(v, row[i][0], &a) || !vertices_named(v, row[i][1], &b))
			raw_die(in, "edge %zu joins %.17g and %.17g, which are not both there", i,
				row[i][0], row[i][1]);
		if (a == b && row[i][0] != row[i][1])
			continue;
		uint32_t ra = roots_find(up, a), rb = roots_find(up, b);
		if (ra == rb || !(row[i][2] >= (i ? row[i - 1][2] : 0)) || isinf(row[i][2]))
			raw_die(in, "edge %zu closes a ring or is out of order", i);
		roots_join(up, ra, rb);
		t->edge[have] = a < b ? (struct emst_edge){a, b} : (struct emst_edge){b, a};
		t->length[have++] = row[i][2];
	}
	if (have + 1 < t->n)
		raw_die(in, "%zu edges do not join %zu vertices", have, t->n);
	weir_free(up);
}

void
saved_read(struct emst_tree *t, struct vertices *v, struct raw_in *from, size_t min_pts,
	   const struct raw_in *in)
{
	struct img y;

	if (!raw_next(from, &y))
		raw_die(in, "%s has no tree for it", raw_name(from));
	check_tree_header(from, &y, min_pts);
	if (v->points && !v->of && vertices_distinct(v))
		raw_die(in, "no memory");
	raw_load(from, &y);
	*t = (struct emst_tree){v->set.n, weir_xalloc(v->set.n, sizeof *t->edge),
				weir_xalloc(v->set.n, sizeof *t->length)};
	take_rows(t, from, y.data, y.axis[1].n, v);
	img_free(&y);
}
