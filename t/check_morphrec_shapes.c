/* Erosion by shapes and area openings, against their definitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "morphrec/ops/area.h"
#include "morphrec/ops/erode.h"
#include "morphrec/value.h"
#include "t/check_morphrec.h"

/* Whether pixel (x, y, z) from the centre is in a ball of radius r. */
static bool
in_ball(ptrdiff_t x, ptrdiff_t y, ptrdiff_t z, ptrdiff_t r)
{
	return x * x + y * y + z * z <= r * r;
}

/* The lowest (by erosion: highest) value over the ball around each pixel. */
static void
erode_slowly(struct job *a, ptrdiff_t r)
{
	const struct morphrec_problem *w = &a->what;
	const ptrdiff_t rz = morphrec_is_volume(w->conn) ? r : 0;

	for (size_t i = 0; i < a->n; i++) {
		const ptrdiff_t x = (ptrdiff_t)(i % w->w), y = (ptrdiff_t)(i / w->w % w->h),
				z = (ptrdiff_t)(i / w->w / w->h);
		double low = w->erode ? -INFINITY : INFINITY;
		for (ptrdiff_t k = z - rz; k <= z + rz; k++)
			for (ptrdiff_t j = y - r; j <= y + r; j++)
				for (ptrdiff_t m = x - r; m <= x + r; m++) {
					if (!in_ball(m - x, j - y, k - z, r) || k < 0 || j < 0 ||
					    m < 0 || k >= (ptrdiff_t)w->d || j >= (ptrdiff_t)w->h ||
					    m >= (ptrdiff_t)w->w)
						continue;
					const size_t q =
					    ((size_t)k * w->h + (size_t)j) * w->w + (size_t)m;
					const double v = value_get(w->type, a->I, q);
					low = w->erode ? fmax(low, v) : fmin(low, v);
				}
		value_set(w->type, a->want, i, low);
	}
}

static void
shapes_agree(void)
{
	static const enum img_type types[] = {IMG_U8, IMG_I16, IMG_F32, IMG_F64};
	struct check_rng r = {29};
	struct check_many m = {0};

	for (int i = 0; i < 40; i++) {
		const int conn = i % 3 ? 8 : 26;
		const ptrdiff_t radius = (ptrdiff_t)rng_below(&r, 5);
		const double radii[3] = {(double)radius, (double)radius, (double)radius};
		struct job a = job_new(types[i % 4], 1 + rng_below(&r, 30), 1 + rng_below(&r, 30),
				       1 + rng_below(&r, 4), conn, i / 4 % 2);
		struct shape s;
		int err = conn == 8 ? shape_disk(&s, radii) : shape_ball(&s, radii);
		job_fill(&a, &r, NOISE);
		erode_slowly(&a, radius);
		a.what.threads = 1 + i % 3;
		err = err ? err : erode_by(&a.what, &s, 1, a.got, a.I);
		bool same = !err;
		for (size_t k = 0; same && k < a.n; k++)
			same =
			    value_get(a.what.type, a.got, k) == value_get(a.what.type, a.want, k);
		check_case(&m, same, "%s, radius %td", job_name(&a), radius);
		shape_free(&s);
		job_free(&a);
	}
	check_end(&m, "erosion by disks and balls is the extremum over each");
}

/* A square, or cube, along one axis after the other is the shape of all its pixels at once. */
static void
squares_agree(void)
{
	static const enum img_type types[] = {IMG_U8, IMG_I16, IMG_F32, IMG_F64};
	struct check_rng r = {37};
	struct check_many m = {0};

	for (int i = 0; i < 32; i++) {
		const int conn = i % 3 ? 8 : 26;
		const size_t radius = 1 + rng_below(&r, 9);
		const double box[3] = {(double)radius, (double)radius,
				       conn == 8 ? 0 : (double)radius};
		struct job a = job_new(types[i % 4], 1 + rng_below(&r, 300), 1 + rng_below(&r, 30),
				       1 + rng_below(&r, 4), conn, i / 4 % 2);
		struct shape s;
		job_fill(&a, &r, NOISE);
		a.what.threads = 1 + i % 3;
		int err = shape_box(&s, box);
		err = err ? err : erode_by(&a.what, &s, 1, a.want, a.I);
		err = err ? err : erode_square(&a.what, radius, a.got, a.I);
		check_case(&m, !err && !memcmp(a.got, a.want, a.bytes), "%s, radius %zu",
			   job_name(&a), radius);
		shape_free(&s);
		job_free(&a);
	}
	check_end(&m,
		  "erosion by squares along one axis after the other is that by all their pixels");
}

/* Marks in seen what is connected to pixel i over pixels of k or more; returns their number. */
static size_t
connected(const struct job *a, size_t i, uint8_t k, bool *seen, size_t *list)
{
	const struct morphrec_problem *w = &a->what;
	const int reach = w->conn == 4 || w->conn == 6 ? 1 : w->conn == 18 ? 2 : 3;
	const uint8_t *f = a->I;
	size_t n = 0;

	memset(seen, 0, a->n * sizeof *seen);
	seen[list[n++] = i] = true;
	for (size_t at = 0; at < n; at++)
		for (int o = 0; o < 27; o++) {
			const int dx = o % 3 - 1, dy = o / 3 % 3 - 1, dz = o / 9 - 1;
			const size_t p = list[at], x = p % w->w + (size_t)dx,
				     y = p / w->w % w->h + (size_t)dy,
				     z = p / w->w / w->h + (size_t)dz,
				     q = (z * w->h + y) * w->w + x;
			if (abs(dx) + abs(dy) + abs(dz) > reach ||
			    (dz && !morphrec_is_volume(w->conn)) || x >= w->w || y >= w->h ||
			    z >= w->d || seen[q] || f[q] < k)
				continue;
			seen[list[n++] = q] = true;
		}
	return n;
}

static void
areas_agree(void)
{
	static const int conns[] = {4, 8, 6, 18, 26};
	struct check_rng r = {31};
	struct check_many m = {0};

	for (int i = 0; i < 40; i++) {
		const size_t levels = 2 + rng_below(&r, 5), area = 1 + rng_below(&r, 30);
		struct job a = job_new(IMG_U8, 1 + rng_below(&r, 12), 1 + rng_below(&r, 12),
				       1 + rng_below(&r, 3), conns[i % 5], false);
		bool *seen = weir_xalloc(a.n, sizeof *seen);
		size_t *list = weir_xalloc(a.n, sizeof *list);
		uint8_t *f = a.I, *want = a.want;
		for (size_t p = 0; p < a.n; p++)
			f[p] = (uint8_t)rng_below(&r, levels);
		for (size_t p = 0; p < a.n; p++) {
			int k = f[p];
			while (k > 0 && connected(&a, p, (uint8_t)k, seen, list) < area)
				k--;
			want[p] = (uint8_t)k;
			if (k)
				continue;
			/* Too few even at level 0: the lowest of those connected, which are its whole picture. */
			const size_t n = connected(&a, p, 0, seen, list);
			uint8_t low = f[p];
			for (size_t q = 0; q < n; q++)
				low = f[list[q]] < low ? f[list[q]] : low;
			want[p] = low;
		}
		const int err = area_open(&a.what, area, a.got, a.I);
		check_case(&m, !err && !memcmp(a.got, a.want, a.n), "%s, area %zu", job_name(&a),
			   area);
		weir_free(seen);
		weir_free(list);
		job_free(&a);
	}
	check_end(&m, "an area opening cuts each peak where it holds as many pixels");
}

void
check_morphrec_shapes(void)
{
	shapes_agree();
	squares_agree();
	areas_agree();
}
