/* What the operators do before and after the reconstruction. They work sample by sample, mostly on keys (keys.h). */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/roots.h"
#include "morphrec/keys.h"
#include "morphrec/ops/ops.h"
#include "morphrec/value.h"

/* ---- areas ---- */

#define NOWHERE UINT32_MAX /* not placed yet */

/* The pixels that can be connected: a volume, or a slice of an image. */
struct piece {
	size_t w, h, d, n;
	int nears;
	struct neighbour near[NEIGHBOURS];
};

/*
 * The connected sets of the pixels that were placed so far. Each set is a tree whose root is the pixel placed last. A set
 * that is large enough is joined only to pixels of its own level, so that its root holds the level of the result.
 * area[r] of a root r: the pixels of its set, or `least` where the set touches one that is large enough.
 */
struct forest {
	uint32_t *order, *parent, *area; /* one block of memory */
	uint32_t least;
};

enum {
	CLIP_PIECE = 4096, /* samples, so that what needs mending is still in the cache */
	LET_GO = 1 << 20,  /* bytes: many pages */
	PIECE = 1 << 20	   /* bytes of the array for each thread, at least */
};

#define TEMPLATE "morphrec/ops/ops_body.h"
#include "morphrec/by_type.h"

typedef void
clip(void *J, const void *I, size_t n, size_t at, struct key_map map, struct morphrec_clip *c);
typedef void loop(void *J, void *f, size_t n, const struct morphrec_recipe *p);

static clip *const clips[] = BY_TYPE(clip);
static void (*const open_piece[])(const struct morphrec_problem *a, struct forest *t,
				  const struct piece *s, void *J,
				  const void *f) = BY_TYPE(open_piece);
static loop *const lower[] = BY_TYPE(lower), *const threshold[] = BY_TYPE(threshold),
		   *const subtract[] = BY_TYPE(subtract), *const below[] = BY_TYPE(below);

static struct piece
piece_of(const struct morphrec_problem *a)
{
	const bool volume = morphrec_is_volume(a->conn);
	struct piece s = {.w = a->w, .h = a->h, .d = volume ? a->d : 1};

	s.n = s.w * s.h * s.d;
	s.nears = neighbours_list(a->conn, s.w, s.h, s.near);
	return s;
}

int
area_open(const struct morphrec_problem *a, size_t area, void *J, const void *f)
{
	const struct piece s = piece_of(a);
	const size_t size = img_type_size(a->type), pieces = a->w * a->h * a->d / s.n;
	struct forest t = {.least = area < UINT32_MAX ? (uint32_t)area : UINT32_MAX};

	if (s.n >= UINT32_MAX)
		return -E2BIG;
	t.order = weir_alloc(s.n, 3 * sizeof *t.order);
	if (!t.order)
		return -ENOMEM;
	t.parent = t.order + s.n;
	t.area = t.parent + s.n;
	for (size_t i = 0; i < pieces; i++) {
		void *to = (char *)J + i * s.n * size;
		const void *from = (const char *)f + i * s.n * size;
		open_piece[morphrec_width(a->type)](a, &t, &s, to, from);
	}
	weir_free(t.order);
	return 0;
}

/* ---- clipping ---- */

void
clip_some(const struct morphrec_problem *what, void *J, const void *I, size_t at, size_t n,
	  struct morphrec_clip *sum)
{
	const size_t size = img_type_size(what->type);
	struct morphrec_clip c = clip_nothing();

	clips[morphrec_width(what->type)]((char *)J + at * size, (const char *)I + at * size, n, at,
					  morphrec_keys(what), &c);
	clip_join(sum, &c);
}

/* Clips samples [at, end). `at` is the start of a piece. */
static struct morphrec_clip
clip_part(const struct morphrec_problem *what, void *J, const void *I, size_t at, size_t end)
{
	const struct key_map map = morphrec_keys(what);
	const size_t size = img_type_size(what->type);
	clip *const one = clips[morphrec_width(what->type)];
	struct morphrec_clip c = clip_nothing();

	for (size_t kept = at; at < end;) {
		const size_t n = end - at < CLIP_PIECE ? end - at : CLIP_PIECE;
		one((char *)J + at * size, (const char *)I + at * size, n, at, map, &c);
		at += n;
		if (what->done && ((at - kept) * size >= LET_GO || at == end)) {
			what->done(what->done_with, kept * size, (at - kept) * size);
			kept = at;
		}
	}
	return c;
}

void
clip_join(struct morphrec_clip *a, const struct morphrec_clip *b)
{
	if (a->lo > a->hi) {
		*a = *b;
		return;
	}
	if (b->nan && (!a->nan || b->first_nan < a->first_nan))
		a->first_nan = b->first_nan;
	a->above += b->above;
	a->nan += b->nan;
	a->lo = b->lo < a->lo ? b->lo : a->lo;
	a->hi = b->hi > a->hi ? b->hi : a->hi;
}

struct morphrec_clip
clip_all(const struct morphrec_problem *what, void *J, const void *I)
{
	const size_t total = what->w * what->h * what->d,
		     pieces = (total + CLIP_PIECE - 1) / CLIP_PIECE,
		     most = 1 + total * img_type_size(what->type) / LET_GO,
		     parts = most < (size_t)what->threads ? most : (size_t)what->threads;
	struct morphrec_clip sum = clip_nothing();

	if (parts < 2)
		return clip_part(what, J, I, 0, total);
#pragma omp parallel for num_threads((int)parts)
	for (size_t i = 0; i < parts; i++) {
		const size_t end = pieces * (i + 1) / parts * CLIP_PIECE;
		const struct morphrec_clip c = clip_part(
		    what, J, I, pieces * i / parts * CLIP_PIECE, end < total ? end : total);
#pragma omp critical(clip)
		clip_join(&sum, &c);
	}
	return sum;
}

/* ---- shapes ---- */

static int
shape_new(struct shape *s, size_t most)
{
	s->n = 0;
	s->run = weir_alloc(most, sizeof *s->run);
	return s->run ? 0 : -ENOMEM;
}

/* Appends pixels first..last of a row, or makes the last run longer where they follow it. */
static void
add(struct shape *s, ptrdiff_t dz, ptrdiff_t dy, ptrdiff_t first, ptrdiff_t last)
{
	struct shape_run *u = &s->run[s->n ? s->n - 1 : 0];

	if (s->n && u->dz == dz && u->dy == dy && u->last == first - 1)
		u->last = last;
	else
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

int
shape_solid(struct shape *s, const double r[3], bool ball)
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
		if (value_get(x->type, x->data, i) != 0)
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

static struct reach
reach_of(const struct morphrec_problem *a, const struct shape *s)
{
	struct reach r = {0, 0, 1};

	for (size_t k = 0; k < s->n; k++) {
		const struct shape_run *u = &s->run[k];
		const size_t x = (size_t)(labs(u->first) > labs(u->last) ? labs(u->first)
									 : labs(u->last)),
			     rows = (size_t)labs(u->dz) * a->h + (size_t)labs(u->dy);
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

/* ---- ops ---- */

/* What makes the marker and the result of each operator; of floats, what is lowered is shifted. */
static const struct {
	enum morphrec_marking marker;
	enum morphrec_finishing result;
	bool erodes;
} kinds[] = {[MORPHREC_HMAX] = {MORPHREC_LOWERED, MORPHREC_LEVEL, false},
	     [MORPHREC_HMIN] = {MORPHREC_LOWERED, MORPHREC_LEVEL, true},
	     [MORPHREC_HDOME] = {MORPHREC_LOWERED, MORPHREC_DIFFERENCE, false},
	     [MORPHREC_FILL_HOLES] = {MORPHREC_FRAMED, MORPHREC_LEVEL, true},
	     [MORPHREC_CLEAR_BORDER] = {MORPHREC_FRAMED, MORPHREC_DIFFERENCE, false},
	     [MORPHREC_REGMAX] = {MORPHREC_LOWERED, MORPHREC_BELOW, false},
	     [MORPHREC_REGMIN] = {MORPHREC_LOWERED, MORPHREC_BELOW, true},
	     [MORPHREC_CLOSE] = {MORPHREC_GIVEN, MORPHREC_LEVEL, true},
	     [MORPHREC_TOPHAT] = {MORPHREC_GIVEN, MORPHREC_DIFFERENCE, false},
	     [MORPHREC_AREA_CLOSE] = {MORPHREC_GIVEN, MORPHREC_LEVEL, true},
	     [MORPHREC_DILATE] = {MORPHREC_GIVEN, MORPHREC_LEVEL, true},
	     [MORPHREC_HYSTERESIS] = {MORPHREC_THRESHOLD, MORPHREC_LEVEL, false}};

bool
morphrec_op_erodes(enum morphrec_op op)
{
	return kinds[op].erodes;
}

bool
morphrec_op_differs(enum morphrec_op op)
{
	return kinds[op].result != MORPHREC_LEVEL || op == MORPHREC_HYSTERESIS;
}

bool
morphrec_op_by_rows(enum morphrec_op op)
{
	return op == MORPHREC_NONE ||
	       (kinds[op].marker != MORPHREC_GIVEN && kinds[op].result != MORPHREC_BELOW);
}

void
morphrec_range(enum img_type type, double *lo, double *hi)
{
	const double bits = 8 * (double)img_type_size(type);

	if (img_is_float(type)) {
		*hi = INFINITY;
		*lo = -INFINITY;
	} else if (type == IMG_I8 || type == IMG_I16 || type == IMG_I32) {
		*hi = exp2(bits - 1) - 1;
		*lo = -exp2(bits - 1);
	} else {
		*hi = exp2(bits) - 1;
		*lo = 0;
	}
}

/* Returns the bits of the sample of value v, as an unsigned number of the type's size. */
static uint64_t
bits_of(enum img_type type, double v)
{
	uint64_t b = 0;

	value_set(type, &b, 0, v);
	return b;
}

static uint64_t
key_of(const struct morphrec_problem *what, double v)
{
	const uint64_t b = bits_of(what->type, v);

	return key_get(img_type_size(what->type), &b, 0, morphrec_keys(what));
}

/* Returns the key of the smallest value of the type that is >= v. v must not be above the type's largest value. */
static uint64_t
key_above(const struct morphrec_problem *what, double v)
{
	double lo, hi;

	morphrec_range(what->type, &lo, &hi);
	v = v > lo ? v : lo;
	if (what->type == IMG_F32 && (double)(float)v < v)
		v = (double)nextafterf((float)v, INFINITY);
	return key_of(what, img_is_float(what->type) ? v : ceil(v));
}

/*
 * Floats: shift: J = f - h; a negative h gives the marker of HMIN. difference: J becomes f - J; where no marker arrived, behind
 * walls, J is -inf, and the result is f.
 */
#define OF_FLOATS(F, bits)                                                                   \
	WEIR_CLONES(shift##bits,                                                             \
		    (void *to, void *from, size_t n, const struct morphrec_recipe *p),       \
		    (to, from, n, p))                                                        \
	{                                                                                    \
		const F *restrict f = from, h = (F)p->shift;                                 \
		F *restrict J = to;                                                          \
		for (size_t i = 0; i < n; i++)                                               \
			J[i] = f[i] - h;                                                     \
	}                                                                                    \
	static void difference##bits(void *to, void *from, size_t n,                         \
				     const struct morphrec_recipe *p)                        \
	{                                                                                    \
		const F *f = from;                                                           \
		F *J = to;                                                                   \
		(void)p;                                                                     \
		for (size_t i = 0; i < n; i++)                                               \
			J[i] = f[i] == J[i] ? 0 : J[i] == -(F)INFINITY ? f[i] : f[i] - J[i]; \
	}

OF_FLOATS(float, 32)
OF_FLOATS(double, 64)
static loop *const shift[] = {NULL, NULL, shift32, shift64}, *const difference[] = {NULL, NULL,
										    difference32,
										    difference64};

/* Whether row y of slice z lies on the frame as a whole. */
static bool
on_frame(const struct morphrec_problem *a, const struct morphrec_operator *o, size_t y, size_t z)
{
	const bool volume = morphrec_is_volume(a->conn);
	const bool top = y == 0 && (volume || !o->cut[0]),
		   foot = y + 1 == a->h && (volume || !o->cut[1]);

	return top || foot || (volume && ((z == 0 && !o->cut[0]) || (z + 1 == a->d && !o->cut[1])));
}

/* Sets J to f on the frame of the picture or volume, and to fill inside, in rows [first, end) of all rows. */
static void
frame(const struct morphrec_problem *a, const struct morphrec_operator *o, void *J, const void *f,
      uint64_t fill, size_t first, size_t end)
{
	const size_t size = img_type_size(a->type), row = a->w * size;
	const char *filled = NULL; /* a row to copy from */

	for (size_t i = first; i < end; i++) {
		char *to = (char *)J + i * row;
		const char *from = (const char *)f + i * row;
		if (on_frame(a, o, i % a->h, i / a->h)) {
			memcpy(to, from, row);
			continue;
		}
		for (size_t x = 1; !filled && x + 1 < a->w; x++)
			memcpy(to + x * size, &fill, size);
		if (filled && a->w > 2)
			memcpy(to + size, filled + size, row - 2 * size);
		filled = to;
		memcpy(to, from, size);
		memcpy(to + row - size, from + row - size, size);
	}
}

/* How many of x, y and z may differ between neighbours. */
static int
axes_of(int conn)
{
	return conn == 26 ? 3 : conn == 8 || conn == 18 ? 2 : 1;
}

/* Row i of J becomes f beside each NaN of row `by` of f, which is the same row or one that dy and dz lead to. */
static void
open_row(const struct morphrec_problem *a, void *J, const void *f, size_t i, size_t by, int away)
{
	const size_t most = away < axes_of(a->conn);

	for (size_t x = 0; x < a->w; x++) {
		if (!isnan(value_get(a->type, f, by * a->w + x)))
			continue;
		for (size_t X = x < most ? 0 : x - most; X <= x + most && X < a->w; X++)
			value_set(a->type, J, i * a->w + X, value_get(a->type, f, i * a->w + X));
	}
}

/* Sets J to f beside the NaN of f, in rows [first, end) of all rows. */
static void
open_walls(const struct morphrec_problem *a, void *J, const void *f, size_t first, size_t end)
{
	const int deep = morphrec_is_volume(a->conn);

	for (size_t i = first; i < end; i++)
		for (int dz = -deep; dz <= deep; dz++)
			for (int dy = -1; dy <= 1; dy++) {
				const size_t y = i % a->h + (size_t)dy, z = i / a->h + (size_t)dz;
				const int away = (dy != 0) + (dz != 0);
				/* Below 0 they are huge. */
				if (y < a->h && z < a->d && away <= axes_of(a->conn))
					open_row(a, J, f, i, z * a->h + y, away);
			}
}

struct morphrec_recipe
morphrec_recipe_of(const struct morphrec_problem *a, const struct morphrec_operator *o)
{
	struct morphrec_recipe p = {.marker = kinds[o->op].marker,
				    .result = kinds[o->op].result,
				    .map = morphrec_keys(a),
				    .h = 1,
				    .odd = o->rest};
	const double h = o->h < FLT_MAX || a->type == IMG_F64 ? o->h : FLT_MAX;
	double lo, hi;

	morphrec_range(a->type, &lo, &hi);
	p.floor = key_of(a, a->erode ? hi : lo);
	p.yes = bits_of(a->type, o->top);
	p.no = bits_of(a->type, 0);
	p.most = (uint64_t)(img_is_float(a->type) ? 0 : hi);
	p.fill = bits_of(a->type, !a->erode ? lo : img_is_float(a->type) ? hi : o->top);
	p.shift = a->erode ? -h : h;
	if (p.marker == MORPHREC_LOWERED && p.result != MORPHREC_BELOW && img_is_float(a->type))
		p.marker = MORPHREC_SHIFTED;
	if (p.marker == MORPHREC_THRESHOLD) {
		p.lo = key_above(a, o->lo);
		p.hi = key_above(a, o->hi);
	} else if (p.marker == MORPHREC_LOWERED && p.result != MORPHREC_BELOW) {
		p.h = (uint64_t)(o->h < hi - lo ? o->h : hi - lo);
		p.floor = key_of(a, a->erode ? o->top : lo);
	}
	return p;
}

void
morphrec_marker_rows(const struct morphrec_problem *a, const struct morphrec_operator *o, void *J,
		     void *f, size_t first, size_t end)
{
	const struct morphrec_recipe p = morphrec_recipe_of(a, o);
	const size_t n = a->w * (end - first), at = first * a->w * img_type_size(a->type);
	loop *const *const make = p.marker == MORPHREC_LOWERED	 ? lower
				  : p.marker == MORPHREC_SHIFTED ? shift
								 : threshold;

	if (p.marker != MORPHREC_FRAMED) {
		make[morphrec_width(a->type)]((char *)J + at, (char *)f + at, n, &p);
		return;
	}
	frame(a, o, J, f, p.fill, first, end);
	if (o->open)
		open_walls(a, J, f, first, end);
}

/*
 * Returns how many pieces the rows of the stack are shared out in, a piece a thread. Small arrays are one piece, which is done
 * without a parallel region: OpenMP makes a system call at the end of a region even when its team is one thread.
 */
static size_t
pieces_of(const struct morphrec_problem *a)
{
	const size_t rows = a->h * a->d, most = 1 + rows * a->w * img_type_size(a->type) / PIECE,
		     threads = (size_t)a->threads < most ? (size_t)a->threads : most;

	return threads < rows ? threads : rows;
}

static void
in_pieces(morphrec_rows *make, const struct morphrec_problem *a, const struct morphrec_operator *o,
	  void *J, void *f)
{
	const size_t rows = a->h * a->d, n = pieces_of(a);

	if (n < 2) {
		make(a, o, J, f, 0, rows);
		return;
	}
#pragma omp parallel for num_threads((int)n)
	for (size_t i = 0; i < n; i++)
		make(a, o, J, f, rows * i / n, rows * (i + 1) / n);
}

int
morphrec_marker(const struct morphrec_problem *a, const struct morphrec_operator *o, void *J,
		void *f)
{
	switch (o->op) {
	case MORPHREC_OPEN:
	case MORPHREC_CLOSE:
	case MORPHREC_TOPHAT:
	case MORPHREC_ERODE:
	case MORPHREC_DILATE:
		return o->shape ? erode_by(a, o->shape, o->r, J, f) : erode_square(a, o->r, J, f);
	case MORPHREC_AREA:
	case MORPHREC_AREA_CLOSE:
		return area_open(a, o->area, J, f);
	default:
		in_pieces(morphrec_marker_rows, a, o, J, f);
		return 0;
	}
}

void
morphrec_finish_rows(const struct morphrec_problem *a, const struct morphrec_operator *o, void *J,
		     void *f, size_t first, size_t end)
{
	const size_t at = first * a->w * img_type_size(a->type), n = a->w * (end - first);
	const struct morphrec_recipe p = morphrec_recipe_of(a, o);

	if (p.result == MORPHREC_DIFFERENCE)
		(img_is_float(a->type) ? difference : subtract)[morphrec_width(a->type)](
		    (char *)J + at, (char *)f + at, n, &p);
}

void
morphrec_finish(const struct morphrec_problem *a, const struct morphrec_operator *o, void *J,
		void *f)
{
	const struct morphrec_recipe p = morphrec_recipe_of(a, o);
	const size_t size = img_type_size(a->type),
		     pieces = morphrec_is_volume(a->conn) ? 1 : a->d, /* each has its own extrema */
	    n = a->w * a->h * a->d / pieces;

	if (p.result != MORPHREC_BELOW) {
		in_pieces(morphrec_finish_rows, a, o, J, f);
		return;
	}
	for (size_t i = 0; i < pieces; i++)
		below[morphrec_width(a->type)]((char *)J + i * n * size, (char *)f + i * n * size,
					       n, &p);
}

size_t
morphrec_op_reach(const struct morphrec_problem *a, const struct morphrec_operator *o)
{
	const bool volume = morphrec_is_volume(a->conn);
	size_t reach = 0;

	if (kinds[o->op].marker != MORPHREC_GIVEN || o->op == MORPHREC_NONE)
		return o->open;
	if (!o->shape)
		return o->r;
	for (size_t k = 0; k < o->shape->n; k++) {
		const struct shape_run *u = &o->shape->run[k];
		const size_t away = (size_t)labs(volume ? u->dz : u->dy);
		reach = (volume || !u->dz) && away > reach ? away : reach;
	}
	return reach * o->r;
}

bool
morphrec_all_floor(const struct morphrec_problem *a, const struct morphrec_operator *o,
		   const void *f)
{
	const struct morphrec_recipe p = morphrec_recipe_of(a, o);
	const size_t n = a->w * a->h * a->d, size = img_type_size(a->type);
	size_t i = 0;

	while (i < n && key_get(size, f, i, p.map) == p.floor)
		i++;
	return i == n;
}
