/*
 * Runs the steps of palette.h. Few classes are made from three starts, and the best result is taken, since with few classes
 * the result depends most on the start. The numbers of parts were tuned on Kodak 13 to 24; the man page reports none of
 * these. A start of 1500 parts is no better than one of 150 and takes 40 ms more. Trial swaps for 17 to 32 classes gain
 * .017 dB and double the time.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/mem.h"
#include "common/par.h"
#include "emst/palette/palette.h"
#include "emst/palette/swaps.h"

enum { MOST_ROUNDS = 1000, FAILURES = 10, STARTS = 3, FEW = 16, MANY = 64 };
static const double GAIN = .001; /* dB */

/*
 * Makes k classes, starting from an octree whose cells are split from pixels/parts pixels on. Returns the SSE; a negative value
 * means that memory has run out.
 */
static double
settle(struct lloyd *l, const struct cells *cells, size_t k, uint64_t parts)
{
	struct centre *seed = NULL;
	struct ward *w = NULL;
	size_t n;
	double sse = -1;
	int err = seeds_make(cells, cells->pixels / parts, &seed, &n);

	if (!err)
		err = ward_make(&w, seed, n);
	if (!err) {
		l->k = k < n ? k : n;
		ward_cut(w, l->k, l->c);
		for (int i = 0; i < 10; i++) {
			lloyd_run(l, 2, GAIN);
			if (!swaps_make(l, k / 8 + 1))
				break;
		}
		sse = lloyd_run(l, MOST_ROUNDS, GAIN);
		sse = swaps_try(l, FAILURES, sse);
		sse = lloyd_run(l, MOST_ROUNDS, GAIN);
	}
	ward_free(w);
	weir_free(seed);
	return sse;
}

/* Rounds the centres to whole numbers, since the output has these. */
static void
round_centres(struct lloyd *l)
{
	for (size_t j = 0; j < l->k; j++)
		for (int a = 0; a < 3; a++)
			l->c[j].x[a] = rintf(fminf(fmaxf(l->c[j].x[a], 0), 255));
}

/* Runs all starts. l[0] gets the best result. */
static int
settle_best(struct lloyd *l, size_t starts, const struct cells *cells, size_t k, int threads)
{
	const uint64_t parts[STARTS] = {k > FEW && k <= MANY ? 250 : 500, 250, 150};
	double sse[STARTS] = {0};

#pragma omp parallel for schedule(static, 1) num_threads(threads) if (starts > 1)
	for (size_t i = 0; i < starts; i++)
		sse[i] = settle(&l[i], cells, k, parts[i]);
	for (size_t i = 0; i < starts; i++)
		if (sse[i] < 0)
			return -ENOMEM;
	for (size_t i = 1; i < starts; i++)
		if (sse[i] < sse[0]) {
			sse[0] = sse[i];
			l[0].k = l[i].k;
			memcpy(l[0].c, l[i].c, sizeof l[0].c);
		}
	return 0;
}

static int
find_labels(const struct cells *cells, size_t k, int threads, uint32_t *label)
{
	const size_t starts = k <= FEW ? STARTS : 1;
	struct lloyd *l = weir_calloc(STARTS, sizeof *l);
	int err = l ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < starts; i++)
		err = lloyd_init(&l[i], cells, starts > 1 ? 1 : threads);
	if (!err)
		err = settle_best(l, starts, cells, k, threads);
	if (!err) {
		l->threads = threads;
		round_centres(l);
		lloyd_assign(l);
		for (size_t i = 0; i < cells->n; i++)
			label[i] = l->label[cells->at[i]];
	}
	for (size_t i = 0; l && i < STARTS; i++)
		lloyd_free(&l[i]);
	weir_free(l);
	return err;
}

int
palette_make(const uint32_t *code, const uint64_t *weight, size_t n, size_t k, int threads,
	     uint32_t *label)
{
	struct cells cells;

	if (n <= k) {
		for (uint32_t i = 0; i < n; i++)
			label[i] = i;
		return 0;
	}
	int err = cells_make(&cells, code, weight, n);
	if (!err)
		err = find_labels(&cells, k, threads, label);
	cells_free(&cells);
	return err;
}
