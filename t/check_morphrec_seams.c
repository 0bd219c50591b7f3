/* The tile engine where tiles meet: faces, edges and corners, by all kernels that this CPU has. */
#include <stdio.h>
#include <string.h>

#include "common/cpu.h"
#include "morphrec/tile/engine.h"
#include "morphrec/tile/unit.h"
#include "t/check_morphrec.h"

enum { SIDE = 42, HIGH = 130, BLOCK = 9, WAY = 5 };

/* A cube, or an image, that holds two tiles along each of its axes; own: their sizes. */
static struct job
cube(int conn, const struct tile_kernel *kernels, size_t own[3])
{
	const bool volume = morphrec_is_volume(conn);
	struct job a = job_new(IMG_F64, SIDE, volume ? SIDE : HIGH, volume ? SIDE : 1, conn, false);
	struct engine *e;

	a.kernels = kernels;
	e = engine_new_on(&a.what, kernels);
	own[0] = e->x.own;
	own[1] = e->y.own;
	own[2] = e->z.own;
	engine_free(e);
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
ways_cross(int conn, const struct tile_kernel *kernels, struct check_many *m)
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
	job_free(&a);
}

/* Volumes of several tiles along each axis, against the union-find. */
static void
volumes(const struct tile_kernel *kernels, struct check_many *m)
{
	static const enum img_type types[] = {IMG_U8, IMG_U16, IMG_F32, IMG_F64};
	static const int conns[] = {6, 18, 26};
	static const size_t wide[] = {1, 31, 64, 65, 127, 129, 255, 257},
			    deep[] = {1, 2, 17, 18, 19, 33, 35};
	struct check_rng r = {23};

	for (int i = 0; i < 36; i++) {
		struct job a = job_new(types[i % 4], wide[rng_below(&r, 8)], deep[rng_below(&r, 7)],
				       deep[rng_below(&r, 7)], conns[i % 3], i / 12 % 2);
		job_fill(&a, &r, (enum style)(i % STYLES));
		oracle(&a);
		a.kernels = kernels;
		a.what.threads = 1 + i % 3;
		a.what.max_mem = i % 5 == 0;
		job_compare(&a, m);
		job_free(&a);
	}
}

void
check_morphrec_seams(void)
{
	static const struct tile_kernel *const kernels[] = {tile_generic, tile_avx2, tile_avx512};
	static const int conns[] = {4, 8, 6, 18, 26};

	for (int level = 0; level <= CPU_AVX512; level++) {
		struct check_many ways = {0}, many = {0};
		char text[2][90];
		snprintf(text[0], sizeof text[0],
			 "%s: ways cross faces, edges and corners of tiles",
			 cpu_name((enum cpu_level)level));
		snprintf(text[1], sizeof text[1], "%s: volumes of many tiles",
			 cpu_name((enum cpu_level)level));
		if (level > (int)weir_cpu) {
			check_skip(text[0], "not on this CPU");
			check_skip(text[1], "not on this CPU");
			continue;
		}
		for (int i = 0; i < 5; i++)
			ways_cross(conns[i], kernels[level], &ways);
		volumes(kernels[level], &many);
		check_end(&ways, text[0]);
		check_end(&many, text[1]);
	}
}
