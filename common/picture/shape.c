#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/neighbours.h"
#include "common/picture/shape.h"

/* ---- perimeters ---- */

/* What a pixel of the border counts that has this many neighbours in the border by corners and by sides. */
static double
share_of(int corners, int sides)
{
	if (corners < 3 && (sides == 2 || sides == 3))
		return 1;
	if (sides == 1 && corners && corners < 4)
		return corners == 3 ? M_SQRT2 : (1 + M_SQRT2) / 2;
	return corners == 2 && !sides ? M_SQRT2 : 0;
}

static int
find_perimeters(const struct label *l, const int32_t *map, struct shape *shape)
{
	const size_t row = l->w + 2;
	struct neighbour to[NEIGHBOURS];
	uint8_t *edge = weir_calloc(row * (l->h + 2), 1);

	neighbours_list(8, row, l->h + 2, to);
	for (size_t i = row; edge && i < row * (l->h + 1); i++)
		edge[i] = map[i] && (map[i - 1] != map[i] || map[i + 1] != map[i] ||
				     map[i - row] != map[i] || map[i + row] != map[i]);
	for (size_t i = row; edge && i < row * (l->h + 1); i++) {
		int near[3] = {0};
		for (int k = 0; edge[i] && k < 8; k++) {
			const size_t j = i + (size_t)to[k].at;
			near[(to[k].x != 0) + (to[k].y != 0)] += edge[j] && map[j] == map[i];
		}
		if (edge[i])
			shape[map[i] - 1].perimeter += share_of(near[2], near[1]);
	}
	weir_free(edge);
	return edge ? 0 : -ENOMEM;
}

/* ---- convex hulls ---- */

/*
 * Lengths are in half samples: sample i of a box has its centre at 2i + 1. All numbers are whole, and exact as doubles for boxes of
 * less than 2^47 samples.
 */

/* The first and the last sample of a component in a row of its box. first > last: it has none. */
struct span {
	int64_t first, last;
};

struct corner {
	double x[3];
	struct corner *next; /* of those above a facet */
};

/* A triangle of a hull, where n x <= off. above: the corners that are above it and above no facet before it, the highest first. */
struct facet {
	const struct corner *v[3];
	struct corner *above;
	double n[3], off;
};

/* Where row r of plane k begins, or for sign = -1 less where it ends. It is infinite where there is none. */
static double
end_of(const struct span *s, const size_t box[3], size_t r, size_t k, int sign)
{
	if (r >= box[1] || k >= box[2] || s[k * box[1] + r].first > s[k * box[1] + r].last)
		return INFINITY;
	return (double)(sign > 0 ? s[k * box[1] + r].first : -s[k * box[1] + r].last);
}

/*
 * Lists corners of the left side, downwards, of the hull of all middles of sides of samples in plane z. sign: -1 is the right side.
 * box: the samples along x, y and z. What lies between two other middles is no corner, such as a middle between two rows that begin
 * within a sample of each other. Returns how many corners there are.
 */
static size_t
find_side(const struct span *s, const size_t box[3], size_t z, int sign, struct corner *c)
{
	size_t n = 0;

	for (size_t y = !(z & 1); y <= 2 * box[1]; y += 2 - (z & 1)) {
		const bool row = y & z & 1;
		const double a = end_of(s, box, (y - 1) / 2, (z - 1) / 2, sign),
			     b = end_of(s, box, y / 2, z / 2, sign), x = a < b ? a : b,
			     other = !row ? a + b - x
					  : (end_of(s, box, y / 2, z / 2 - 1, sign) +
					     end_of(s, box, y / 2, z / 2 + 1, sign)) /
						2;
		const struct corner p = {{2 * x + sign - row, (double)y, (double)z}, NULL};
		if (x == INFINITY || other - x <= !row)
			continue;
		while (n > 1 && (c[n - 1].x[0] - c[n - 2].x[0]) * (p.x[1] - c[n - 2].x[1]) >=
				    (p.x[0] - c[n - 2].x[0]) * (c[n - 1].x[1] - c[n - 2].x[1]))
			n--;
		c[n++] = p;
	}
	for (size_t i = 0; i < n; i++)
		c[i].x[0] *= sign;
	return n;
}

/* flat: of the plane of a picture alone. */
static size_t
list_corners(const struct span *s, const size_t box[3], bool flat, struct corner *c)
{
	size_t n = 0;

	for (size_t z = flat; z <= 2 * box[2] - flat; z++) {
		n += find_side(s, box, z, 1, c + n);
		n += find_side(s, box, z, -1, c + n);
	}
	return n;
}

/* How far p is above a facet, in a unit of the facet's own. */
static double
height(const struct facet *f, const struct corner *p)
{
	return f->n[0] * p->x[0] + f->n[1] * p->x[1] + f->n[2] * p->x[2] - f->off;
}

static struct facet
make_facet(const struct corner *a, const struct corner *b, const struct corner *c)
{
	struct facet f = {.v = {a, b, c}};

	for (int d = 0; d < 3; d++) {
		const int i = (d + 1) % 3, k = (d + 2) % 3;
		f.n[d] = (b->x[i] - a->x[i]) * (c->x[k] - a->x[k]) -
			 (b->x[k] - a->x[k]) * (c->x[i] - a->x[i]);
	}
	f.off = height(&f, a);
	return f;
}

/* Gives each of a list of corners to the first facet that it is above. */
static void
give_corners(struct facet *begin, const struct facet *end, struct corner *p)
{
	for (struct corner *next; p; p = next) {
		struct facet *f = begin;
		next = p->next;
		while (f < end && height(f, p) <= 0)
			f++;
		if (f == end)
			continue;
		struct corner **at =
		    f->above && height(f, p) <= height(f, f->above) ? &f->above->next : &f->above;

		p->next = *at;
		*at = p;
	}
}

/* Whether an edge of one of the facets leads from b to a. */
static bool
has_edge(const struct facet *f, const struct facet *end, const struct corner *a,
	 const struct corner *b)
{
	for (; f < end; f++)
		for (int e = 0; e < 3; e++)
			if (f->v[e] == b && f->v[(e + 1) % 3] == a)
				return true;
	return false;
}

/*
 * Finds the hull of n corners, of which the first six are the middles of the sides of a sample: Quickhull (Barber, Dobkin,
 * Huhdanpaa, ACM Trans. Math. Softw. 22(4), 1996). A corner takes the place of the facets that it is above, and sees the edges
 * around them. Nothing is rounded, so flat places need no care. f has room for 4n facets. Returns their end.
 */
static struct facet *
find_hull(struct corner *c, size_t n, struct facet *f)
{
	struct facet *end = f + 8;

	for (size_t k = 0; k < 8; k++) {
		const size_t odd = (k ^ k >> 1 ^ k >> 2) & 1, i = 2 - odd, j = 1 + odd;
		f[k] = make_facet(&c[k & 1], &c[2 * i + (k >> i & 1)], &c[2 * j + (k >> j & 1)]);
	}
	for (size_t i = 6; i < n; i++)
		c[i].next = i + 1 < n ? &c[i + 1] : NULL;
	give_corners(f, end, c + 6);
	for (struct facet *of = end; of-- > f;) {
		const struct corner *p = of->above, at = p ? *p : *c;
		struct facet *below = end, *more = end;
		if (!p)
			continue;
		for (struct facet *g = f; g < below;)
			if (height(g, &at) > 0) {
				const struct facet swap = *g;
				*g = *--below;
				*below = swap;
			} else
				g++;
		for (struct facet *g = below; g < end; g++)
			for (int e = 0; e < 3; e++)
				if (!has_edge(below, end, g->v[e], g->v[(e + 1) % 3]))
					*more++ = make_facet(g->v[e], g->v[(e + 1) % 3], p);
		for (struct facet *g = below; g < end; g++)
			give_corners(end, more, g->above);
		memmove(below, end, (size_t)(more - end) * sizeof *end);
		end = of = below + (more - end);
	}
	return end;
}

/* Lets the rows that cross the facet begin or end there. */
static void
fill_rows(struct span *s, const size_t box[3], const struct facet *f)
{
	const double *const v[4] = {f->v[0]->x, f->v[1]->x, f->v[2]->x, f->v[0]->x};
	double lo[3], hi[3];

	for (int d = 1; d < 3; d++) {
		lo[d] = fmin(fmin(v[0][d], v[1][d]), v[2][d]);
		hi[d] = fmax(fmax(v[0][d], v[1][d]), v[2][d]);
	}
	for (double z = 2 * floor(lo[2] / 2) + 1; f->n[0] != 0 && z <= hi[2]; z += 2)
		for (double y = 2 * floor(lo[1] / 2) + 1; y <= hi[1]; y += 2) {
			struct span *row = &s[(size_t)z / 2 * box[1] + (size_t)y / 2];
			const double i =
			    (f->off - f->n[1] * y - f->n[2] * z - f->n[0]) / (2 * f->n[0]);
			bool in = true;
			for (int e = 0; e < 3; e++)
				in &= f->n[0] * ((v[e + 1][1] - v[e][1]) * (z - v[e][2]) -
						 (v[e + 1][2] - v[e][2]) * (y - v[e][1])) >=
				      0;
			if (in && f->n[0] > 0)
				row->last = (int64_t)floor(i);
			else if (in)
				row->first = (int64_t)ceil(i);
		}
}

/* The distance of the furthest of n corners. */
static double
find_furthest(const struct corner *c, size_t n, const struct corner *from)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		const double x = c[i].x[0] - from->x[0], y = c[i].x[1] - from->x[1],
			     z = c[i].x[2] - from->x[2], sum = x * x + y * y + z * z;
		most = sum > most ? sum : most;
	}
	return sqrt(most);
}

/* The greatest distance of two of n corners, which become places. It is not more than both of these are from the middle of the box. */
static double
find_feret(struct corner *c, size_t n, const size_t box[3], double to[3][3], size_t dims)
{
	double most = 0;

	c[n] = (struct corner){{(double)box[0], (double)box[1], (double)box[2]}, NULL};
	for (size_t i = 0; i <= n; i++) {
		const double x = c[i].x[0] / 2, y = c[i].x[1] / 2, z = c[i].x[2] / 2;
		for (size_t d = 0; d < 3; d++)
			c[i].x[d] = d < dims ? to[d][0] * x + to[d][1] * y + to[d][2] * z : 0;
	}
	const double reach = find_furthest(c, n, &c[n]);

	for (size_t i = 0; i < n; i++)
		if (find_furthest(&c[i], 1, &c[n]) + reach >= most)
			most = fmax(most, find_furthest(c, n, &c[i]));
	return most;
}

/* Fills the hull of a picture: triangles that rise from its sides are walls. c: room for its corners. */
static void
fill_flat(struct span *s, const size_t box[3], struct corner *c)
{
	for (int right = 0; right < 2; right++) {
		const size_t n = find_side(s, box, 1, right ? -1 : 1, c);
		for (size_t i = 0; i + 1 < n; i++) {
			const struct corner up = {{c[i].x[0], c[i].x[1], 2}, NULL};
			const struct facet wall =
			    make_facet(&c[right ? i : i + 1], &c[right ? i + 1 : i], &up);
			fill_rows(s, box, &wall);
		}
	}
}

static void
fill_volume(struct span *s, const size_t box[3], struct corner *c)
{
	const size_t n = 6 + list_corners(s, box, false, c + 6);
	struct facet *f = weir_xalloc(4 * n, sizeof *f), *end;
	size_t r = 0;

	while (s[r].first > s[r].last)
		r++;
	for (int k = 0; k < 6; k++) {
		c[k] = (struct corner){{2 * (double)s[r].first + 1, 2 * (double)(r % box[1]) + 1,
					2 * (double)(r / box[1]) + 1},
				       NULL};
		c[k].x[k / 2] += k & 1 ? 1 : -1;
	}
	for (end = find_hull(c, n, f); end > f;)
		fill_rows(s, box, --end);
	weir_free(f);
}

/* A run of samples in the map begins at first. before: the last one of its label before it; 0: there is none. */
struct run {
	size_t first, before;
};

static void
find_hulls(const struct label *l, const int32_t *map, double to[3][3], size_t dims, int threads,
	   struct shape *shape)
{
	const size_t row = l->w + 2, plane = row * (l->h + 2), flat = dims < 3,
		     size = plane * (l->depth + (flat ? 0 : 2));
	size_t n = 1, room = 0, *last = weir_xalloc(l->n + 1, sizeof *last);
	struct run *run = NULL;

	memset(last, 0, (l->n + 1) * sizeof *last);
	for (size_t i = 1; i < size; i++) {
		while (i + 16 < size && !memcmp(&map[i], &map[i - 1], 16 * sizeof *map))
			i += 16;
		if (map[i] && map[i] != map[i - 1]) {
			run = weir_xgrow(run, &room, n + 1, sizeof *run);
			run[n] = (struct run){i, last[map[i]]};
			last[map[i]] = n++;
		}
	}
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (size > 1 << 16)
	for (size_t k = 0; k < l->n; k++) {
		const struct region *g = label_region(l, k);
		const size_t box[3] = {g->hi[0] - g->lo[0] + 1, g->hi[1] - g->lo[1] + 1,
				       g->hi[2] - g->lo[2] + 1},
			     most = 2 * (2 * box[1] + 1) * (2 * box[2] + 1);
		struct span *s = weir_xalloc(box[1] * box[2], sizeof *s);
		struct corner *c = weir_xalloc(most + 6, sizeof *c);
		for (size_t i = 0; i < box[1] * box[2]; i++)
			s[i] = (struct span){0, -1};
		for (size_t j = last[k + 1]; j; j = run[j].before) {
			const size_t at = run[j].first, y = at % plane / row - 1 - g->lo[1],
				     z = at / plane - !flat - g->lo[2];
			struct span *its = &s[z * box[1] + y];
			size_t end = at;

			while (its->last < 0 && map[end] == map[at])
				end++;
			its->first = (int64_t)(at % row - 1 - g->lo[0]);
			its->last =
			    its->last < 0 ? its->first + (int64_t)(end - at) - 1 : its->last;
		}
		(flat ? fill_flat : fill_volume)(s, box, c);
		for (size_t i = 0; i < box[1] * box[2]; i++)
			if (s[i].first <= s[i].last)
				shape[k].filled += (double)(s[i].last - s[i].first + 1);
		shape[k].feret = find_feret(c, list_corners(s, box, flat, c), box, to, dims);
		weir_free_all(c, s);
	}
	weir_free_all(last, run);
}

/* ---- surfaces ---- */

/*
 * Sets c to the shares of the sphere that are nearest to each of the n directions. They are counted on 2^18 points of a spiral,
 * and give surfaces to 1e-4; where all steps are equal they are those of the formula, to 1e-13.
 */
static void
find_shares(const struct neighbour *to, int n, const double step[3], const double *length,
	    double *c)
{
	static const double cube[] = {0, 0.04577789120476, 0.03698062787608, 0.03519563978232};
	const int points = 1 << 18;
	const bool equal = step[0] == step[1] && step[0] == step[2];

	for (int k = 0; k < n; k++)
		c[k] = equal ? cube[(to[k].x != 0) + (to[k].y != 0) + (to[k].z != 0)] : 0;
	for (int i = 0; !equal && i < points; i++) {
		const double z = (2. * i + 1) / points - 1, turn = M_PI * (3 - sqrt(5)) * i,
			     x = sqrt(1 - z * z) * cos(turn), y = sqrt(1 - z * z) * sin(turn);
		double most = -1;
		int best = 0;
		for (int k = 0; k < n; k++) {
			const double cosine = (to[k].x * step[0] * x + to[k].y * step[1] * y +
					       to[k].z * step[2] * z) /
					      length[k];
			best = cosine > most ? k : best;
			most = cosine > most ? cosine : most;
		}
		c[best] += 1. / points;
	}
}

static void
find_surfaces(const struct label *l, const int32_t *map, const double step[3], struct shape *shape)
{
	const size_t plane = (l->w + 2) * (l->h + 2);
	struct neighbour to[NEIGHBOURS];
	double length[NEIGHBOURS], c[NEIGHBOURS];
	const int n = neighbours_list(26, l->w + 2, l->h + 2, to);

	for (int k = 0; k < n; k++)
		length[k] = hypot(hypot(to[k].x * step[0], to[k].y * step[1]), to[k].z * step[2]);
	find_shares(to, n, step, length, c);
	for (int k = 0; k < n; k++)
		c[k] *= 4 * step[0] * step[1] * step[2] / length[k];
	for (size_t i = plane; i < plane * (l->depth + 1); i++)
		for (int k = 0; map[i] && k < n; k++)
			if (map[i + (size_t)to[k].at] != map[i])
				shape[map[i] - 1].surface += c[k];
}

int
shape_measure(struct label *l, double to[3][3], size_t dims, int threads, struct shape *shape)
{
	const double steps[3] = {hypot(to[0][0], to[1][0]), hypot(to[0][1], to[1][1]),
				 fabs(to[2][2])};
	int32_t *map = label_map(l, dims > 2);
	int r = map ? 0 : -ENOMEM;

	memset(shape, 0, l->n * sizeof *shape);
	if (map && dims > 2)
		find_surfaces(l, map, steps, shape);
	else if (map)
		r = find_perimeters(l, map, shape);
	if (!r)
		find_hulls(l, map, to, dims, threads, shape);
	weir_free(map);
	return r;
}
