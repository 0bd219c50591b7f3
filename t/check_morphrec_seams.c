/* The tile engine where tiles meet: faces, edges and corners, by all kernels that this CPU has. */
#include <pthread.h>
#include <sched.h>

#include "common/base/cpu.h"
#include "t/check_morphrec.h"

enum { SIDE = 52, HIGH = 130, BLOCK = 9, WAY = 5 };

/* A cube, or an image, that holds two tiles along each of its axes; own: their sizes. */
static struct job
cube(int conn, const struct tile_kernel *const *kernels, size_t own[3])
{
	const bool volume = morphrec_is_volume(conn);
	struct job a = job_new(IMG_F64, SIDE, volume ? SIDE : HIGH, volume ? SIDE : 1, conn, false);
	struct morphrec_plan p;

	a.what.kernels = kernels;
	morphrec_plan(&p, &a.what);
	own[0] = p.engine->x.own;
	own[1] = p.engine->y.own;
	own[2] = p.engine->z.own;
	morphrec_free(&p);
	return a;
}

/* Opens pixel p of the mask; marked: the marker is there. */
static void
open_pixel(struct job *a, const long p[3], bool marked)
{
	const size_t i = ((size_t)p[2] * a->what.h + (size_t)p[1]) * a->what.w + (size_t)p[0];

	if (p[0] < 0 || p[0] >= (long)a->what.w || p[1] < 0 || p[1] >= (long)a->what.h ||
	    p[2] < 0 || p[2] >= (long)a->what.d)
		return;
	((double *)a->I)[i] = ((double *)a->want)[i] = 9;
	if (marked)
		((double *)a->J)[i] = 9;
}

/*
 * A way one pixel wide in a void, in direction to, that crosses from a tile to the one beside it (at a corner where to has
 * three parts) in its middle; before and after it a block of pixels, if blocks says so, too wide for a flood.
 */
static void
open_way(struct job *a, const size_t own[3], const int to[3], unsigned blocks)
{
	memset(a->I, 0, a->bytes);
	memset(a->J, 0, a->bytes);
	memset(a->want, 0, a->bytes);
	for (int t = -WAY; t < WAY; t++) {
		long p[3];
		for (int k = 0; k < 3; k++)
			p[k] = to[k] ? (long)own[k] - (to[k] < 0) + t * to[k]
				     : (long)(own[k] > 1 ? own[k] / 2 : 0);
		open_pixel(a, p, t == -WAY);
		for (long i = 0; (t == -WAY ? blocks & 1 : t == WAY - 1 && blocks & 2) &&
				 i < BLOCK * BLOCK * BLOCK;
		     i++) {
			/* The block lies on the far side of the way's end, so that it touches nothing else. */
			const long q[3] = {i % BLOCK, i / BLOCK % BLOCK, i / BLOCK / BLOCK};
			long r[3];
			for (int k = 0; k < 3; k++)
				r[k] = p[k] +
				       (to[k] ? (t < 0 ? -1 : 1) * to[k] * q[k] : q[k] - BLOCK / 2);
			if (a->what.d > 1 || q[2] == BLOCK / 2)
				open_pixel(a, r, false);
		}
	}
}

static void
ways_cross(int conn, const struct tile_kernel *const *kernels, struct check_many *m)
{
	const int axes = conn == 4 || conn == 6 ? 1 : conn == 18 ? 2 : 3;
	size_t own[3];
	struct job a = cube(conn, kernels, own);

	for (int k = 0; k < 27; k++) {
		const int to[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
		const int apart = (to[0] != 0) + (to[1] != 0) + (to[2] != 0);
		if (!apart || apart > axes || (to[2] && a.what.d == 1))
			continue;
		for (unsigned blocks = 0; blocks < 4; blocks++) {
			open_way(&a, own, to, blocks);
			job_compare(&a, m);
		}
	}
	check_free();
}

/* Volumes of several tiles along each axis, against the union-find. */
static void
volumes(struct seams *s)
{
	static const size_t wide[] = {1, 31, 64, 65, 127, 129, 255, 257},
			    tall[] = {1, 2, 33, 34, 35, 65, 67},
			    deep[] = {1, 2, 17, 18, 19, 33, 35};
	struct check_rng r = {23};

	for (int i = 0; i < 36; i++) {
		struct job a =
		    job_new(types[i % TYPES], wide[rng_below(&r, 8)], tall[rng_below(&r, 7)],
			    deep[rng_below(&r, 7)], conns[2 + i % 3], i / 12 % 2);
		job_fill(&a, &r, (enum style)(i % STYLES));
		oracle(&a);
		a.what.threads = 1 + i % 3;
		a.what.max_mem = i % 5 == 0;
		for (int level = 0; level <= (int)weir_cpu; level++) {
			a.what.kernels = tile_kernels[level];
			job_compare(&a, &s[level].volumes);
		}
		check_free();
	}
}

/* Raises some pixels of the result under the mask, and resumes. It must end as a run on that marker does. */
static void
resume_once(struct job *a, struct check_rng *r, struct check_many *m)
{
	const struct key_map map = morphrec_keys(&a->what);
	const size_t size = img_type_size(a->what.type), most = 1 + rng_below(r, 40);
	size_t risen[40], n = 0;
	struct morphrec_plan p;

	morphrec_plan(&p, &a->what);
	morphrec_clip(&p, a->J, a->I);
	morphrec_run(&p, a->J, a->I);
	for (size_t i = 0; i < most; i++) {
		const size_t at = rng_below(r, a->n);
		const uint64_t top = key_get(size, a->I, at, map);
		if (key_get(size, a->J, at, map) < top) {
			key_put(size, a->J, at, top, map);
			risen[n++] = at;
		}
	}
	oracle(a);
	morphrec_resume(&p, a->J, a->I, risen, n);
	check_case(m, !memcmp(a->J, a->want, a->bytes), "%s, %zu raised", job_name(a), n);
	morphrec_free(&p);
}

static void
resumes(struct seams *s)
{
	struct check_rng r = {29};

	for (int i = 0; i < 120; i++) {
		const int level = i / STYLES % ((int)weir_cpu + 1);
		const bool volume = morphrec_is_volume(conns[i % 5]);
		struct job a = job_new(types[i % TYPES], 1 + rng_below(&r, 300),
				       1 + rng_below(&r, volume ? 50 : 200),
				       1 + rng_below(&r, volume ? 24 : 3), conns[i % 5], i / 5 % 2);
		job_fill(&a, &r, (enum style)(i % STYLES));
		a.what.threads = 1 + i % 3;
		a.what.kernels = tile_kernels[level];
		resume_once(&a, &r, &s[level].risen);
		check_free();
	}
}

/* --- units that run at the same time ------------------------------------------------------------------------------ */

enum { WORKERS = 3 };

/* The units whose tiles are being visited. touched: two of them followed each other; outside: a tile was not of its unit. */
static struct {
	pthread_mutex_t lock;
	const struct unit *at[WORKERS];
	bool touched, outside;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A visit that looks at the units of the other workers, and lets these go on before it begins. */
static void
watched_visit(struct tile_job *job, const uint64_t *rose)
{
	const struct worker *w = job->with;
	const struct unit *u = w->unit;
	const size_t me = (size_t)(w - w->e->worker);

	pthread_mutex_lock(&watch.lock);
	watch.at[me] = u;
	watch.outside |= w->ty < u->y || w->ty >= u->y_end || w->tz < u->z || w->tz >= u->z_end;
	for (size_t i = 0; i < WORKERS; i++)
		watch.touched |= i != me && watch.at[i] && labs(watch.at[i] - u) <= 1;
	pthread_mutex_unlock(&watch.lock);
	for (int i = 0; i < 9; i++)
		sched_yield();
	tile_kernels[CPU_GENERIC][0]->visit(job, rose);
	pthread_mutex_lock(&watch.lock);
	watch.at[me] = NULL;
	pthread_mutex_unlock(&watch.lock);
}

/* Two workers never run the same unit or two that touch, and visit only tiles of their units: bands, and slabs along z and y. */
void
check_morphrec_units(void)
{
	const struct tile_kernel bytes = {tile_kernels[CPU_GENERIC][0]->width, watched_visit};
	const struct tile_kernel *const watched[4] = {&bytes};
	struct check_rng r = {41};
	struct check_many m = {0};

	for (int i = 0; i < 12; i++) {
		static const size_t h[] = {1200, 20, 240}, d[] = {1, 120, 20};
		struct job a = job_new(IMG_U8, 100, h[i % 3], d[i % 3], i % 3 ? 26 : 8, false);
		a.what.kernels = watched;
		a.what.threads = WORKERS;
		job_check(&a, &r, (enum style)(i / 3 % STYLES), &m);
		check_free();
	}
	check_case(&m, !watch.touched, "units that touch were run at the same time");
	check_case(&m, !watch.outside, "a worker visited a tile of another unit");
	check_end(&m, "threads run no two units that touch");
}

void
check_morphrec_seams(struct seams *s)
{
	for (int level = 0; level <= (int)weir_cpu; level++)
		for (int i = 0; i < 5; i++)
			ways_cross(conns[i], tile_kernels[level], &s[level].ways);
	volumes(s);
	resumes(s);
}
