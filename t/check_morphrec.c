#include "common/base/cpu.h"
#include "t/check_morphrec.h"

size_t
job_awkward(struct check_rng *r)
{
	static const size_t v[] = {1,  2,   31,	 32,  33,  61,	62,  63, 64,
				   65, 124, 125, 126, 127, 128, 129, 257};

	return rng_below(r, 3) ? v[rng_below(r, 17)] : 1 + rng_below(r, 200);
}

struct job
job_image(struct check_rng *r, int i)
{
	return job_new(types[i % TYPES], job_awkward(r), job_awkward(r), rng_below(r, 8) ? 1 : 3,
		       i / 8 % 2 ? 4 : 8, i / 16 % 2);
}

struct job
job_volume(struct check_rng *r, int i)
{
	return job_new(types[i % TYPES], 1 + rng_below(r, 70), 1 + rng_below(r, 70),
		       1 + rng_below(r, 9), conns[2 + i % 3], i / 3 % 2);
}

static struct job
below(struct check_rng *r, int i, size_t side, size_t depth)
{
	const int conn = conns[i % 5];

	return job_new(types[i % TYPES], 1 + rng_below(r, side), 1 + rng_below(r, side),
		       morphrec_is_volume(conn) ? 1 + rng_below(r, depth) : 1, conn, i / 5 % 2);
}

/* Few enough pixels for the definition. */
static struct job
tiny(struct check_rng *r, int i)
{
	return below(r, i, 17, 6);
}

/* Heaps of many nodes and many bands: small nodes make deep heaps of small pictures. */
static struct job
small(struct check_rng *r, int i)
{
	static const size_t nodes[] = {1, 2, 3, 17, 64};
	struct job a = below(r, i, 60, 12);

	a.what.node = nodes[rng_below(r, 5)];
	a.what.heaps = 1 + rng_below(r, 9);
	return a;
}

/* Random problems by that method, on 1 and 3 threads, against the oracle: cases of m, or of m by each level's kernels. */
static void
compare_random(struct job (*make)(struct check_rng *r, int i), int cases,
	       enum morphrec_method method, bool each_level, struct check_many *m)
{
	struct check_rng r = {2 + (uint64_t)method};

	for (int i = 0; i < cases; i++) {
		struct job a = make(&r, i);
		job_fill(&a, &r, (enum style)(i % STYLES));
		oracle(&a);
		a.what.method = method;
		for (int level = 0; level <= (each_level ? (int)weir_cpu : 0); level++) {
			a.what.kernels = each_level ? tile_kernels[level] : NULL;
			for (a.what.threads = 1; a.what.threads <= (job_on ? 1 : 3);
			     a.what.threads += 2)
				job_compare(&a, &m[level]);
		}
		check_free();
	}
}

void
job_agree(const char *name, struct job (*make)(struct check_rng *r, int i), int cases,
	  enum morphrec_method method)
{
	struct check_many m = {0};

	compare_random(make, cases, method, false, &m);
	check_end(&m, name);
}

/* The kernels of each level that this CPU has. */
static void
kernels_agree(void)
{
	struct check_many m[CPU_AVX512 + 1] = {0};
	struct seams seams[CPU_AVX512 + 1] = {0};

	compare_random(job_image, 320, MORPHREC_TILE, true, m);
	check_morphrec_seams(seams);
	for (int level = 0; level <= CPU_AVX512; level++) {
		char of[32];
		snprintf(of, sizeof of, ", %s", cpu_name((enum cpu_level)level));
		check_where(of);
		if (level > (int)weir_cpu) {
			check_skip("tiles", "not on this CPU");
		} else {
			check_end(&m[level], "tiles");
			check_end(&seams[level].ways,
				  "ways cross faces, edges and corners of tiles");
			check_end(&seams[level].volumes, "volumes of many tiles");
			check_end(&seams[level].risen, "pixels raised later spread as at first");
		}
		check_where("");
	}
}

/* The rows of a picture by name; a letter's place in the alphabet is its value. */
static void
picture(void *a, const char *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)a)[i] = (uint8_t)(rows[i] - 'a');
}

/*
 * A pixel raised while the sweep goes up may still raise one below it, diagonally: the path down, up and down again takes
 * more than one sweep of a tile, none of which may be the last.
 */
static void
diagonals_settle(void)
{
	static const char mask[] = "zaaaaaaaz"
				   "azaaazaza"
				   "aazazazaa"
				   "aaazaaaaa",
			  result[] = "zaaaaaaaz"
				     "azaaazaza"
				     "aazazazaa"
				     "aaazaaaaa";
	struct job a = job_new(IMG_U8, 9, 4, 1, 8, false);
	struct check_many m = {0};

	picture(a.I, mask, a.n);
	picture(a.want, result, a.n);
	memset(a.J, 0, a.n);
	((uint8_t *)a.J)[0] = 'z' - 'a';
	job_compare(&a, &m);
	check_end(&m, "a path that goes down, up and down diagonally is followed to its end");
}

/* Pixel x, y of a square in one of its eight orientations. */
static size_t
turned(int i, size_t side, size_t x, size_t y)
{
	const size_t u = i & 1 ? side - 1 - x : x, v = i & 2 ? side - 1 - y : y;

	return i & 4 ? u * side + v : v * side + u;
}

enum { SIDE = 124 }; /* four tiles meet in the middle */

/*
 * A path in a void that passes where four tiles meet, between two that touch by their corners only, after it came through
 * a third; in all eight orientations, so that in some it goes against the order of the visits. It begins as a block, so
 * that the third is raised in too many places for a flood, and visited.
 */
static void
corner_path(int i, uint8_t *J, uint8_t *I)
{
	enum { BLOCK = 20 * 4, PATH = 10 };

	for (size_t k = 0; k < BLOCK + PATH; k++) {
		const size_t t = k - BLOCK, x = k < BLOCK ? 70 + k / 4 : 69 - t,
			     y = k < BLOCK ? 63 - k % 4
				 : t < 7   ? 60
					   : 54 + t;
		I[turned(i, SIDE, x, y)] = 9;
		J[turned(i, SIDE, x, y)] = k ? 0 : 9;
	}
}

/*
 * A block that reaches from one tile into another, marked where that does not see it, and an arm of one pixel from there
 * into a third: in four orientations the second is visited again, and raises that pixel of the third when it is long past.
 */
static void
side_path(int i, uint8_t *J, uint8_t *I)
{
	for (size_t y = 58; y <= 66; y++)
		for (size_t x = 20; x <= (y == 58 ? 70 : 39); x++)
			I[turned(i, SIDE, x, y)] = 9;
	J[turned(i, SIDE, 25, 66)] = 9;
}

/* The path as a whole rises to its marker. */
static void
paths_connect(const char *name, int conn, void (*path)(int i, uint8_t *J, uint8_t *I))
{
	struct job a = job_new(IMG_U8, SIDE, SIDE, 1, conn, false);
	struct check_many m = {0};

	for (int i = 0; i < 8; i++) {
		memset(a.J, 0, a.n);
		memset(a.I, 0, a.n);
		path(i, a.J, a.I);
		memcpy(a.want, a.I, a.n);
		job_compare(&a, &m);
	}
	check_end(&m, name);
}

/* R(R(J, I), I) = R(J, I), and R*(J, I) = -R(-J, -I). */
static void
laws_hold(void)
{
	struct check_rng r = {11};
	struct check_many again = {0}, dual = {0};

	for (int i = 0; i < 60; i++) {
		struct job a =
		    job_new(IMG_I16, job_awkward(&r), job_awkward(&r), 1, i % 2 ? 4 : 8, false);
		int16_t *marker = a.J, *v[] = {marker, a.I, a.want};
		job_fill(&a, &r, (enum style)(i % STYLES));
		job_run(&a);
		memcpy(a.want, a.got, a.bytes);
		a.J = a.want;
		job_compare(&a, &again);
		a.J = marker;
		/* ~v = -1 - v reverses the order and stays in range. */
		for (int k = 0; k < 3; k++)
			for (size_t p = 0; p < a.n; p++)
				v[k][p] = (int16_t)~v[k][p];
		a.what.erode = true;
		job_compare(&a, &dual);
		check_free();
	}
	check_end(&again, "a reconstruction reconstructed is unchanged");
	check_end(&dual, "erosion is dilation of the complements");
}

/* Bands smaller than the picture, and the pages let go: the calls to done cover it all, and nothing else. */
static void
count_done(void *with, size_t at, size_t n)
{
	size_t *end = with;

#pragma omp critical
	*end = at + n > *end ? at + n : *end;
}

static void
bands_agree(void)
{
	struct check_rng r = {13};
	struct check_many m = {0}, inside = {0};

	for (int i = 0; i < 40; i++) {
		struct job a = job_new(types[i % TYPES], job_awkward(&r), 1 + rng_below(&r, 500), 1,
				       i / 8 % 2 ? 4 : 8, i / 16 % 2);
		size_t end = 0;
		a.what.max_mem = 1;
		a.what.threads = 1 + i % 2;
		a.what.done = count_done;
		a.what.done_with = &end;
		job_check(&a, &r, (enum style)(i % STYLES), &m);
		check_case(&inside, end == a.bytes, "%s: done up to %zu of %zu", job_name(&a), end,
			   a.bytes);
		check_free();
	}
	check_end(&m, "bands as thin as can be give the same");
	check_end(&inside, "pages are let go to the end of the picture, not beyond");
}

/* Fills from a few values of floats that are easily taken for each other. */
void
job_floats(struct check_many *m, struct check_rng *r, size_t i)
{
	static const double odd[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-40, -1e-40, 1};
	struct job a = job_new(i % 2 ? IMG_F32 : IMG_F64, 1 + rng_below(r, 140),
			       1 + rng_below(r, 40), 1, i / 2 % 2 ? 4 : 8, i / 4 % 2);

	for (size_t p = 0; p < a.n; p++) {
		value_set(a.what.type, a.J, p, odd[rng_below(r, 8)]);
		value_set(a.what.type, a.I, p, odd[rng_below(r, 8)]);
	}
	memcpy(a.want, a.J, a.bytes);
	morphrec_direct(&a.what, a.want, a.I);
	job_run(&a);
	for (size_t p = 0; p < a.n; p++) {
		const double x = value_get(a.what.type, a.got, p),
			     y = value_get(a.what.type, a.want, p);
		check_case(m, (isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y)),
			   "%s: sample %zu is %g, not %g", job_name(&a), p, x, y);
	}
}

void
check_morphrec(void)
{
	job_agree("the definition, iterated, agrees with a union-find over sorted pixels", tiny,
		  200, (enum morphrec_method)DEFINITION);
	kernels_agree();
	diagonals_settle();
	paths_connect("tiles are connected at their corners", 8, corner_path);
	paths_connect("tiles are connected at a single pixel of their sides", 4, side_path);
	check_morphrec_units();
	check_morphrec_shapes();
	laws_hold();
	bands_agree();
	check_each("floats: zeros, denormals, infinities, and NaN as walls", 64, 17, job_floats);
	job_agree("tiles: volumes of 6, 18 and 26 neighbours", job_volume, 48, MORPHREC_TILE);
	job_agree("the heap cluster gives the same", job_image, 48, MORPHREC_HEAP);
	job_agree("the heap cluster: nodes of 1 to 64 pixels, 1 to 9 heaps", small, 60,
		  MORPHREC_HEAP);
	job_agree("the heap cluster: volumes", job_volume, 48, MORPHREC_HEAP);
}
