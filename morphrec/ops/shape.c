#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "morphrec/ops/shape.h"
#include "morphrec/value.h"

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

int
shape_ball(struct shape *s, const double r[3])
{
	const ptrdiff_t ry = (ptrdiff_t)r[1], rz = (ptrdiff_t)r[2];
	const int err = shape_new(s, (size_t)(2 * ry + 1) * (size_t)(2 * rz + 1));

	for (ptrdiff_t z = -rz; !err && z <= rz; z++)
		for (ptrdiff_t y = -ry; y <= ry; y++) {
			ptrdiff_t x = (ptrdiff_t)r[0];
			while (x >= 0 && !is_in(x, y, z, r))
				x--;
			if (x >= 0)
				add(s, z, y, -x, x);
		}
	return err;
}

int
shape_box(struct shape *s, const double r[3])
{
	const ptrdiff_t rx = (ptrdiff_t)r[0], ry = (ptrdiff_t)r[1], rz = (ptrdiff_t)r[2];
	const int err = shape_new(s, (size_t)(2 * ry + 1) * (size_t)(2 * rz + 1));

	for (ptrdiff_t z = -rz; !err && z <= rz; z++)
		for (ptrdiff_t y = -ry; y <= ry; y++)
			add(s, z, y, -rx, rx);
	return err;
}

int
shape_disk(struct shape *s, const double r[3])
{
	const double flat[3] = {r[0], r[1], 0};

	return shape_ball(s, flat);
}

int
shape_octagon(struct shape *s, size_t r)
{
	const ptrdiff_t side = (ptrdiff_t)r, most = 2 * side - lround(.586 * (double)r);
	const int err = shape_new(s, 2 * r + 1);

	for (ptrdiff_t y = -side; !err && y <= side; y++) {
		const ptrdiff_t left = most - (y < 0 ? -y : y), x = left < side ? left : side;
		add(s, 0, y, -x, x);
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
		return -EINVAL;
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
