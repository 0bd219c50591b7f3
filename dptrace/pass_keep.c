/* What a pass found: the places of its polyline, and of the first pass the verdicts. */
#include "dptrace/pass.h"

/* The v of sample j of guide g. */
static double
across(const struct course *c, int g, int j)
{
	return (c->o[g] + j - (c->rows - 1) / 2) * c->dv;
}

/* The unit vector across segment k at its start (side 0) or end (side 1), in this pass. */
static void
normal_of(const struct work *w, int k, int side, double n[2])
{
	const struct segment_shape *s = &w->shape[k];

	n[0] = -s->ey;
	n[1] = s->ex;
	if (pass_is_tube(s, w->pass)) {
		const struct place p = curve_place(&w->curve[k], side ? w->curve[k].length : 0);
		n[0] = p.nx;
		n[1] = p.ny;
	}
}

/*
 * The way of a point that moves 1 px across the segment whose end it is. Where two segments meet it moves 1 px across both,
 * along the bisector of their normals.
 */
static void
way_of_end(const struct work *w, int k, int side, double way[2])
{
	const int n = w->chain.n, next = side ? k + 1 : k - 1;
	double other[2];

	normal_of(w, k, side, way);
	if ((next < 0 || next == n) && !w->chain.closed)
		return;
	normal_of(w, (next + n) % n, !side, other);
	const double dot = way[0] * other[0] + way[1] * other[1];
	for (int a = 0; a < 2; a++)
		way[a] = (way[a] + other[a]) / (1 + dot);
}

/* The place xy in the picture of v on guide g of the course c of segment k. */
static void
put_place(const struct work *w, int k, const struct course *c, int g, double v, double xy[2])
{
	const struct place p = pass_place(w, k, c, g);
	double way[2] = {p.nx, p.ny};

	if (v != 0 && (g == 0 || g == c->n - 1))
		way_of_end(w, k, g > 0, way);
	xy[0] = p.x + v * way[0];
	xy[1] = p.y + v * way[1];
}

/* The number of places where a polyline's link is about as steep as it may be, or where it turns by more than most. */
static size_t
count_sharp(const struct course *c, const int *at, struct bound most)
{
	size_t sharp = 0;

	for (int g = 0; g + 1 < c->n; g++) {
		const double rise = across(c, g + 1, at[g + 1]) - across(c, g, at[g]),
			     before = g ? across(c, g, at[g]) - across(c, g - 1, at[g - 1]) : 0;
		const bool steep = c->steepest && fabs(rise) > (c->steepest - .5) * c->dv;
		sharp += steep || (g && !turn_ok(most, c->h[g - 1], before, c->h[g], rise));
	}
	return sharp;
}

/* Says whether sample j of guide g is the first or last one of the strip. Guides cut off by the picture have none. */
static bool
is_border(const struct work *w, int k, const struct course *c, int g, int j)
{
	const int row = c->o[g] + j;

	return g > 0 && g < c->n - 1 &&
	       (row == 0 || row == pass_samples(&w->shape[k], w->pass) - 1);
}

static void
keep_verdicts(struct work *w, int k, const struct course *c)
{
	const int *at = chain_at(&w->chain, k);
	const size_t row = (size_t)k * w->stride;

	for (int g = 0; g < c->n; g++)
		w->verdict[row + (size_t)g] = (struct verdict){
		    .x = w->xy[row + (size_t)g][0],
		    .y = w->xy[row + (size_t)g][1],
		    .border = is_border(w, k, c, g, at[g]),
		    .margin = w->chain.margins
				  ? w->chain.margin[(size_t)k * (size_t)w->chain.maxn + (size_t)g]
				  : NAN};
	if (w->shape[k].cost)
		w->sharp += count_sharp(c, at, bound_of(.97 * w->shape[k].phi));
}

/* Adds the moves of the ends of segment k, of n guides. Across a straight course, v counts from the given point. */
static void
keep_moves(struct work *w, int k, int n)
{
	const double *v = w->v + (size_t)k * w->stride;
	const bool on = w->pass && w->shape[k].cost;

	for (int side = 0; side < 2; side++)
		w->moved[k][side] = (on ? w->moved[k][side] : 0) + v[side ? n - 1 : 0];
}

void
pass_keep(struct work *w)
{
	w->sharp = w->pass ? w->sharp : 0;
	for (int k = 0; k < w->chain.n; k++) {
		const int *at = chain_at(&w->chain, k);
		const size_t row = (size_t)k * w->stride;
		struct course *c = &w->chain.slot[0].c;

		pass_course(w, k, c);
		for (int g = 0; g < c->n; g++) {
			const double v = across(c, g, at[g]);
			w->v[row + (size_t)g] = v;
			put_place(w, k, c, g, v, w->xy[row + (size_t)g]);
		}
		keep_moves(w, k, c->n);
		if (w->pass == 0)
			keep_verdicts(w, k, c);
	}
}
