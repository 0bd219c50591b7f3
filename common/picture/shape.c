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

/* The first and the last pixel of a component in a row; first > last: it has none. */
struct span {
	int64_t first, last;
};

struct corner {
	int64_t x, y;
};

/*
 * Lists the corners of the hull's left side, downwards, in half pixels: row r has its centres at y = 2r + 1. sign: -1 makes x
 * descend, and so the right side. Returns how many corners there are.
 */
static size_t
find_side(const struct span *s, size_t rows, int sign, struct corner *c)
{
	size_t n = 0;

	for (size_t y = 0; y <= 2 * rows; y++) {
		struct corner p = {INT64_MAX, (int64_t)y};

		for (size_t r = y ? (y - 1) / 2 : 0; r < rows && r <= y / 2; r++) {
			const int64_t end = sign > 0 ? s[r].first : -s[r].last;

			if (s[r].first <= s[r].last && 2 * end - (int64_t)(y & 1) < p.x)
				p.x = 2 * end - (int64_t)(y & 1);
		}
		if (p.x == INT64_MAX)
			continue;
		while (n > 1 && (c[n - 1].x - c[n - 2].x) * (p.y - c[n - 2].y) >=
				    (p.x - c[n - 2].x) * (c[n - 1].y - c[n - 2].y))
			n--;
		c[n++] = p;
	}
	return n;
}

/* The first whole pixel not left of the side of the hull, at y; *c moves to the corner above. */
static int64_t
first_inside(const struct corner **c, int64_t y)
{
	while ((*c)[1].y < y)
		++*c;
	const struct corner *a = *c;
	const int64_t dy = 2 * (a[1].y - a->y), x = a->x * (dy / 2) + (a[1].x - a->x) * (y - a->y);

	return x / dy + (x % dy > 0);
}

/* s: the rows of a component become those of its hull. c: room for 4 rows + 2 corners. */
static void
measure_hull(struct span *s, size_t rows, double to[3][3], struct corner *c, struct shape *g)
{
	struct corner *other = c + find_side(s, rows, 1, c);
	const struct corner *left = c, *right = other;

	find_side(s, rows, -1, other);
	for (size_t r = 0; r < rows; r++) {
		s[r].first = first_inside(&left, 2 * (int64_t)r + 1);
		s[r].last = -first_inside(&right, 2 * (int64_t)r + 1);
		if (s[r].first <= s[r].last)
			g->filled += (double)(s[r].last - s[r].first + 1);
	}
	size_t n = find_side(s, rows, 1, c);
	const size_t more = find_side(s, rows, -1, c + n);

	for (size_t i = n; i < n + more; i++)
		c[i].x = -c[i].x;
	n += more;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			const double x = (double)(c[i].x - c[k].x) / 2,
				     y = (double)(c[i].y - c[k].y) / 2,
				     d = hypot(to[0][0] * x + to[0][1] * y,
					       to[1][0] * x + to[1][1] * y);

			g->feret = d > g->feret ? d : g->feret;
		}
}

static int
find_hulls(const struct label *l, const int32_t *map, double to[3][3], struct shape *shape)
{
	size_t *at = weir_alloc(l->n + 1, sizeof *at), rows = 0;
	struct span *span = NULL;
	struct corner *corner = weir_alloc(4 * l->h + 2, sizeof *corner);

	for (size_t i = 0; at && i < l->n; i++) {
		const struct region *g = label_region(l, i);

		at[i] = rows - g->lo[1];
		rows += g->hi[1] - g->lo[1] + 1;
	}
	if (at)
		span = weir_alloc(rows, sizeof *span);
	for (size_t i = 0; span && i < rows; i++)
		span[i] = (struct span){INT64_MAX, -1};
	for (size_t i = 0; span && i < (l->w + 2) * (l->h + 2); i++)
		if (map[i]) {
			struct span *s = &span[at[map[i] - 1] + i / (l->w + 2) - 1];
			const int64_t x = (int64_t)(i % (l->w + 2)) - 1;

			s->first = x < s->first ? x : s->first;
			s->last = x;
		}
	for (size_t i = 0; span && corner && i < l->n; i++) {
		const struct region *g = label_region(l, i);

		measure_hull(&span[at[i] + g->lo[1]], g->hi[1] - g->lo[1] + 1, to, corner,
			     &shape[i]);
	}
	weir_free_all(at, span, corner);
	return span && corner ? 0 : -ENOMEM;
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
shape_measure(struct label *l, double to[3][3], size_t dims, struct shape *shape)
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
	if (!r && dims == 2)
		r = find_hulls(l, map, to, shape);
	weir_free(map);
	return r;
}
