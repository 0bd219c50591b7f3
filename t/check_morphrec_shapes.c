/* Erosion by shapes and area openings, against their definitions. */
#include "t/check_morphrec.h"

enum { KINDS = FOOT_PICTURE + 1, REACH = 9 };

/* Makes a random footprint within REACH, and s, the runs that the program makes of it. picture has room for 9^3 bytes. */
static int
random_shape(struct check_rng *r, unsigned kind, bool volume, struct morphrec_footprint *foot,
	     struct shape *s, struct img *picture)
{
	static const double steps[] = {1, .25, .3, 2, .7};
	const size_t sizes[] = {1 + rng_below(r, 9), 1 + rng_below(r, 9),
				volume ? 1 + rng_below(r, 9) : 1};
	uint8_t *v = picture->data;
	double radii[3];
	const size_t whole = 1 + rng_below(r, 6);

	*foot = (struct morphrec_footprint){.kind = kind,
					    .r = (double)whole,
					    .spacing = {1, 1, 1},
					    .degrees = (double)rng_below(r, 361) - 180,
					    .picture = picture};
	for (int i = 0; i < 3 && kind <= FOOT_BALL && rng_below(r, 2); i++)
		foot->spacing[i] = foot->r * steps[rng_below(r, 5)];
	for (int i = 0; i < 3; i++)
		radii[i] = i < 2 || volume ? foot->r / foot->spacing[i] * (1 + 1e-12) : 0;
	img_init(picture, IMG_U8, 3, sizes);
	picture->data = v;
	for (size_t i = 0; i < sizes[0] * sizes[1] * sizes[2]; i++)
		v[i] = (uint8_t)(rng_below(r, 3) == 0);
	v[0] = 1;
	switch (kind) {
	case FOOT_BOX:
	case FOOT_DISK:
	case FOOT_BALL:
		radii[2] = kind == FOOT_DISK ? 0 : radii[2];
		return shape_solid(s, radii, kind != FOOT_BOX);
	case FOOT_LINE:
		return shape_line(s, whole, foot->degrees);
	default:
		return shape_picture(s, picture);
	}
}

/* Counts the runs of s that hold pixel (x, y, z). */
static int
runs_at(const struct shape *s, ptrdiff_t x, ptrdiff_t y, ptrdiff_t z)
{
	int n = 0;

	for (size_t k = 0; k < s->n; k++)
		n += s->run[k].dz == z && s->run[k].dy == y && x >= s->run[k].first &&
		     x <= s->run[k].last;
	return n;
}

static void
shapes_agree(void)
{
	struct check_rng r = {29};
	struct check_many same = {0}, eroded = {0};
	uint8_t room[729];
	struct img picture = {.data = room};

	for (int i = 0; i < 240; i++) {
		const unsigned kind = (unsigned)i % KINDS;
		const int conn = i / (int)KINDS % 2 ? 8 : 26;
		const bool volume = conn == 26;
		struct job a =
		    job_new(types[i % TYPES], 1 + rng_below(&r, 30), 1 + rng_below(&r, 12),
			    1 + rng_below(&r, 4), conn, i / 4 % 2);
		struct morphrec_footprint foot;
		struct shape s;
		int err = random_shape(&r, kind, volume, &foot, &s, &picture), wrong = 0;
		for (ptrdiff_t z = volume ? -REACH : 0; !err && z <= (volume ? REACH : 0); z++)
			for (ptrdiff_t y = -REACH; y <= REACH; y++)
				for (ptrdiff_t x = -REACH; x <= REACH; x++)
					wrong += runs_at(&s, x, y, z) !=
						 morphrec_direct_holds(&foot, x, y, z);
		check_case(&same, !err && !wrong, "kind %u, radius %g, %g degrees: %d pixels", kind,
			   foot.r, foot.degrees, wrong);
		job_fill(&a, &r, NOISE);
		morphrec_direct_erode(&a.what, &foot, REACH, a.want, a.I);
		a.what.threads = 1 + i % 3;
		err = err ? err : erode_by(&a.what, &s, 1, a.got, a.I);
		check_case(&eroded, !err && !memcmp(a.got, a.want, a.bytes), "%s, kind %u",
			   job_name(&a), kind);
		shape_free(&s);
		check_free();
	}
	check_end(&same, "the runs of each shape are the pixels of its definition");
	check_end(&eroded, "erosion by each shape is the extremum over it");
}

/* A square, or cube, along one axis after the other is the shape of all its pixels at once. */
static void
squares_agree(struct check_many *m, struct check_rng *r, size_t i)
{
	const int conn = i % 3 ? 8 : 26;
	const size_t radius = 1 + rng_below(r, 9);
	const double box[3] = {(double)radius, (double)radius, conn == 8 ? 0 : (double)radius};
	struct job a = job_new(types[i % TYPES], 1 + rng_below(r, 300), 1 + rng_below(r, 30),
			       1 + rng_below(r, 4), conn, i / 4 % 2);
	struct shape s;

	job_fill(&a, r, NOISE);
	a.what.threads = 1 + (int)(i % 3);
	int err = shape_solid(&s, box, false);
	err = err ? err : erode_by(&a.what, &s, 1, a.want, a.I);
	err = err ? err : erode_square(&a.what, radius, a.got, a.I);
	check_case(m, !err && !memcmp(a.got, a.want, a.bytes), "%s, radius %zu", job_name(&a),
		   radius);
	shape_free(&s);
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
areas_agree(struct check_many *m, struct check_rng *r, size_t i)
{
	const size_t levels = 2 + rng_below(r, 5), area = 1 + rng_below(r, 30);
	struct job a = job_new(IMG_U8, 1 + rng_below(r, 12), 1 + rng_below(r, 12),
			       1 + rng_below(r, 3), conns[i % 5], false);
	bool *seen = check_alloc(a.n, sizeof *seen);
	size_t *list = check_alloc(a.n, sizeof *list);
	uint8_t *f = a.I, *want = a.want;

	for (size_t p = 0; p < a.n; p++)
		f[p] = (uint8_t)rng_below(r, levels);
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
	check_case(m, !err && !memcmp(a.got, a.want, a.n), "%s, area %zu", job_name(&a), area);
}

void
check_morphrec_shapes(void)
{
	shapes_agree();
	check_each("erosion by squares along one axis after the other is that by all their pixels",
		   32, 37, squares_agree);
	check_each("an area opening cuts each peak where it holds as many pixels", 40, 31,
		   areas_agree);
}
