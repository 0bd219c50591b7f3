#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "morphrec/value.h"
#include "morphrec/ops/shape.h"

/* ---- shapes ---- */

static int
shape_new(struct shape *s, size_t most)
{
	s->n = 0;
	s->run = weir_alloc(most, sizeof *s->run);
	return s->run ? 0 : -ENOMEM;
}

static void
add(struct shape *s, ptrdiff_t dz, ptrdiff_t dy, ptrdiff_t first, ptrdiff_t last)
{
	s->run[s->n++] = (struct shape_run){dz, dy, first, last};
}

/* Returns (v / r)^2, and 0 when v is 0 whatever r is. */
static double
part(ptrdiff_t v, double r)
{
	return v ? (double)v * (double)v / (r * r) : 0;
}

/* Whether pixel (x, y, z), counted from the centre, is in the ball. Whole radii that are equal are compared exactly. */
static bool
is_in(ptrdiff_t x, ptrdiff_t y, ptrdiff_t z, const double r[3])
{
	if (r[0] == r[1] && (!z || r[0] == r[2]))
		return (double)(x * x) + (double)(y * y) + (double)(z * z) <= r[0] * r[0];
	return part(x, r[0]) + part(y, r[1]) + part(z, r[2]) <= 1;
}

/* The rows of a box, or of a ball in it. */
static int
rows_of(struct shape *s, const double r[3], bool ball)
{
	const ptrdiff_t ry = (ptrdiff_t)r[1], rz = (ptrdiff_t)r[2];
	const int err = shape_new(s, (size_t)(2 * ry + 1) * (size_t)(2 * rz + 1));

	for (ptrdiff_t z = -rz; !err && z <= rz; z++)
		for (ptrdiff_t y = -ry; y <= ry; y++) {
			ptrdiff_t x = (ptrdiff_t)r[0];
			while (ball && x >= 0 && !is_in(x, y, z, r))
				x--;
			if (x >= 0)
				add(s, z, y, -x, x);
		}
	return err;
}

int
shape_box(struct shape *s, const double r[3])
{
	return rows_of(s, r, false);
}

int
shape_ball(struct shape *s, const double r[3])
{
	return rows_of(s, r, true);
}

int
shape_disk(struct shape *s, const double r[3])
{
	const double flat[3] = {r[0], r[1], 0};

	return shape_ball(s, flat);
}

int
shape_line(struct shape *s, size_t r, double degrees)
{
	const double a = degrees * M_PI / 180, dx = cos(a), dy = -sin(a);
	const bool flat = fabs(dx) >= fabs(dy);
	const double along = flat ? dx : dy, slope = flat ? dy / dx : dx / dy;
	const ptrdiff_t most = lround((double)r * fabs(along));
	const int err = shape_new(s, (size_t)(2 * most + 1));

	for (ptrdiff_t t = -most; !err && t <= most; t++) {
		/* Halves are rounded away from the centre, so that the line is symmetric. */
		const ptrdiff_t other = lround((double)t * slope), x = flat ? t : other,
				y = flat ? other : t;
		if (s->n && s->run[s->n - 1].dy == y && s->run[s->n - 1].last == x - 1)
			s->run[s->n - 1].last = x;
		else
			add(s, 0, y, x, x);
	}
	return err;
}

int
shape_picture(struct shape *s, const struct img *x)
{
	struct img_picture p;
	size_t most = 0;

	if (!img_picture(x, &p) || p.c != 1)
		return -EINVAL;
	for (size_t i = 0; i < p.w * p.h * p.n; i++)
		most += value_get(x->type, x->data, i) != 0;
	if (!most)
		return -EDOM;
	const int err = shape_new(s, most);
	for (size_t i = 0; !err && i < p.w * p.h * p.n; i++) {
		const ptrdiff_t at = (ptrdiff_t)(i % p.w) - (ptrdiff_t)(p.w / 2),
				dy = (ptrdiff_t)(i / p.w % p.h) - (ptrdiff_t)(p.h / 2),
				dz = (ptrdiff_t)(i / p.w / p.h) - (ptrdiff_t)(p.n / 2);
		struct shape_run *last = s->n ? &s->run[s->n - 1] : NULL;
		if (value_get(x->type, x->data, i) == 0)
			continue;
		if (last && last->dy == dy && last->dz == dz && last->last == at - 1)
			last->last = at;
		else
			add(s, dz, dy, at, at);
	}
	return err;
}

void
shape_free(struct shape *s)
{
	weir_free(s->run);
	memset(s, 0, sizeof *s);
}

/* ---- erosion ---- */

/* How far a shape reaches: pixels along x; rows, those of other slices too; powers of 2 up to its longest run. */
struct reach {
	size_t x, rows;
	int levels;
};

#define TEMPLATE "morphrec/ops/erode_body.h"
#include "morphrec/by_type.h"

static size_t
away(ptrdiff_t v)
{
	return (size_t)(v < 0 ? -v : v);
}

static struct reach
reach_of(const struct morphrec_problem *a, const struct shape *s)
{
	struct reach r = {0, 0, 1};

	for (size_t k = 0; k < s->n; k++) {
		const struct shape_run *u = &s->run[k];
		const size_t x = away(u->first) > away(u->last) ? away(u->first) : away(u->last),
			     rows = away(u->dz) * a->h + away(u->dy);
		const int levels = 64 - __builtin_clzll((size_t)(u->last - u->first) + 1);
		r.x = x > r.x ? x : r.x;
		r.rows = rows > r.rows ? rows : r.rows;
		r.levels = levels > r.levels ? levels : r.levels;
	}
	return r;
}

/* Copies the runs of s that can touch the array; in images only those of the slice that holds the centre. */
static int
clip_shape(const struct morphrec_problem *a, const struct shape *s, struct shape *to)
{
	const ptrdiff_t w = (ptrdiff_t)a->w, h = (ptrdiff_t)a->h,
			d = morphrec_is_volume(a->conn) ? (ptrdiff_t)a->d : 1;

	to->n = 0;
	to->run = weir_alloc(s->n, sizeof *to->run);
	if (!to->run)
		return -ENOMEM;
	for (size_t k = 0; k < s->n; k++) {
		struct shape_run u = s->run[k];
		u.first = u.first > -w ? u.first : -w;
		u.last = u.last < w ? u.last : w;
		if (u.first <= u.last && u.dy > -h && u.dy < h && u.dz > -d && u.dz < d)
			to->run[to->n++] = u;
	}
	return 0;
}

static void (*const erode_rows[])(const struct morphrec_problem *a, const struct shape *s,
				  const struct reach *r, void *J, const void *f, size_t first,
				  size_t end, void *work) = BY_TYPE(erode_rows);

static int
erode_once(const struct morphrec_problem *a, const struct shape *s, void *J, const void *f)
{
	const size_t size = img_type_size(a->type), rows = a->h * a->d,
		     threads = (size_t)morphrec_threads(a, s->n ? s->n : 1),
		     parts = rows / 64 + 1 < threads ? rows / 64 + 1 : threads;
	const struct reach r = reach_of(a, s);
	const size_t room = ((a->w + 2 * r.x) * (size_t)r.levels * size + 63) / 64 * 64;
	char *work = weir_alloc(parts, room);

	if (!work)
		return -ENOMEM;
	if (parts < 2) {
		erode_rows[morphrec_width(a->type)](a, s, &r, J, f, 0, rows, work);
	} else {
#pragma omp parallel for num_threads((int)parts)
		for (size_t i = 0; i < parts; i++)
			erode_rows[morphrec_width(a->type)](a, s, &r, J, f, rows * i / parts,
							    rows * (i + 1) / parts,
							    work + i * room);
	}
	weir_free(work);
	return 0;
}

int
erode_by(const struct morphrec_problem *a, const struct shape *s, size_t times, void *J,
	 const void *f)
{
	const size_t n = a->w * a->h * a->d, size = img_type_size(a->type);
	struct shape near;
	void *last = times > 1 ? weir_alloc(n, size) : NULL;
	int err = clip_shape(a, s, &near);

	if (!err && times > 1 && !last)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < times; i++) {
		if (i)
			memcpy(last, J, n * size);
		err = erode_once(a, &near, J, i ? last : f);
	}
	shape_free(&near);
	weir_free(last);
	return err;
}

enum { BESIDE = 128 }; /* bytes of a row that go down together: two lines of the cache */

/* Lines of an array along one axis: n places that are `step` pixels apart, in pieces of step * n pixels. */
struct lines {
	size_t n, step, r;   /* r: each pixel becomes the lowest within r places */
	size_t most, strips; /* pixels of a strip, and strips of a piece */
	struct key_map map;
};

static void (*const erode_columns[])(void *a, size_t n, size_t step, size_t c, size_t r,
				     struct key_map map, void *scratch) = BY_TYPE(erode_columns);

/* Erodes strip i of J along its lines. */
static void
erode_strip(const struct lines *l, size_t size, size_t i, char *J, void *work)
{
	const size_t x = i % l->strips * l->most, c = l->step - x < l->most ? l->step - x : l->most;
	void *line = J + (i / l->strips * l->step * l->n + x) * size;

	erode_columns[__builtin_ctzll(size)](line, l->n, l->step, c, l->r, l->map, work);
}

/* Each pixel of J becomes the lowest within r places along the axis of n places that are `step` pixels apart. */
static int
erode_along(const struct morphrec_problem *a, size_t n, size_t step, size_t r, char *J)
{
	const size_t size = img_type_size(a->type), most = BESIDE / size,
		     threads = (size_t)morphrec_threads(a, 1), room = 2 * (n + 2 * r) * BESIDE;
	const struct lines l = {n, step, r, most, (step + most - 1) / most, morphrec_keys(a)};
	const size_t strips = a->w * a->h * a->d / step / n * l.strips;
	char *work = weir_alloc(threads, room);

	if (!work)
		return -ENOMEM;
	const bool alone = strips <= 64 || threads < 2;

	for (size_t i = 0; alone && i < strips; i++)
		erode_strip(&l, size, i, J, work);
	if (!alone) {
#pragma omp parallel for num_threads((int)threads)
		for (size_t i = 0; i < strips; i++)
			erode_strip(&l, size, i, J, work + (size_t)omp_get_thread_num() * room);
	}
	weir_free(work);
	return 0;
}

int
erode_square(const struct morphrec_problem *a, size_t r, void *J, const void *f)
{
	struct shape_run row = {0, 0, -(ptrdiff_t)(r < a->w ? r : a->w),
				(ptrdiff_t)(r < a->w ? r : a->w)};
	const struct shape s = {&row, 1};
	int err = erode_by(a, &s, 1, J, f);

	if (!err)
		err = erode_along(a, a->h, a->w, r < a->h ? r : a->h, J);
	if (!err && morphrec_is_volume(a->conn))
		err = erode_along(a, a->d, a->w * a->h, r < a->d ? r : a->d, J);
	return err;
}
