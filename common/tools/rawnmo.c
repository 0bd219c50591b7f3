/* rawnmo: normal moveout correction of seismic gathers, and its inverse. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/words.h"
#include "common/stream/axes.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawnmo";

/* Velocities at times that ascend, linear between them and constant beyond, of one cdp after another. */
struct knot {
	double cdp, t, v;
};
#define KNOTS "T:V,T:V... with times that ascend and velocities above 0"

struct args {
	struct opt_common common;
	const char *velocity, *offsets;
	double stretch, *offset; /* offset: owned, the numbers of --offsets */
	bool inverse;
	size_t numbers, knots, room;
	struct knot *knot; /* owned: knots, and one whose cdp is NaN */
};

static const struct opt table[] = {
    {0, "velocity", OPT_STR, AT(velocity), "T:V,T:V...|FILE", "velocities at times, or a table",
     .words = "FILE", .required = true, .group = OPT_COMPUTE},
    {0, "inverse", OPT_FLAG, AT(inverse), NULL, "take the correction back"},
    {0, "stretch", OPT_REAL, AT(stretch), "S", "mute what stretches more (1.5); 0: nothing", 0,
     1e9},
    {0, "offsets", OPT_STR, AT(offsets), "FILE", "the offsets of the traces, as numbers"},
    {0}};

static const struct opt_program program = {
    .what = "Corrects seismic gathers for normal moveout, and takes that back.",
    .example = "rawnmo --velocity=0.5:1500,2:2500 gather.nrrd >flat.nrrd",
    .table = table,
    .common = OPT_THREADS};

/* Adds the knots T:V,T:V,... of a cdp. False: they are none, of times that ascend and velocities above 0. */
static bool
add_knots(struct args *a, double cdp, const char *s)
{
	do {
		a->knot = weir_xgrow(a->knot, &a->room, a->knots + 2, sizeof *a->knot);
		struct knot *k = &a->knot[a->knots];

		k->cdp = cdp;
		k[1].cdp = NAN;
		if (!word_real(&s, &k->t) || *s++ != ':' || !word_real(&s, &k->v) ||
		    !(isfinite(k->t) && k->v > 0 && isfinite(k->v)) || (*s && *s != ',') ||
		    (a->knots && k[-1].cdp == cdp && !(k->t > k[-1].t)))
			return false;
		a->knots++;
	} while (*s++);
	return true;
}

/* Reads lines `cdp T:V,T:V,...`, whose cdps ascend. */
static void
read_table(struct args *a)
{
	const char *path = a->velocity;
	FILE *f = file_open(path);
	char *line = NULL;
	size_t size = 0;
	double cdp;

	for (size_t n = 1; getline(&line, &size, f) > 0; n++) {
		char *rest = line, *s = strsep(&rest, "#");
		const char *number = word_next(&s), *list = number ? word_next(&s) : NULL;
		if (number && (!list || word_next(&s) || !opt_number(number, &cdp) ||
			       !(cdp > (a->knots ? a->knot[a->knots - 1].cdp : -INFINITY)) ||
			       !add_knots(a, cdp, list)))
			die("%s: line %zu: no cdp above the one before and " KNOTS, path, n);
	}
	if (!feof(f) || !a->knots)
		die("%s: %s", path, feof(f) ? "no velocities" : "cannot be read");
	free(line);
	fclose(f);
}

enum { POINTS = 8, STEPS = 512 }; /* of the sinc; positions between two samples */
static double sinc[(STEPS + 1) * POINTS];

/* Finds the weights of a sinc at each position. Its window is that of Kaiser with beta 5.8. */
static void
make_sinc(void)
{
	for (int i = 0; i <= STEPS; i++) {
		double *w = sinc + i * POINTS, sum = 0;
		for (int j = 0; j < POINTS; j++) {
			const double at = j - (POINTS / 2 - 1) - (double)i / STEPS;
			const double z = 5.8 * 5.8 / 4 * (1 - at * at / (POINTS * POINTS / 4));
			double bessel = 0, term = 1;
			for (int k = 1; k < 30; term *= z / (k * k), k++)
				bessel += term;
			w[j] = bessel * (at != 0 ? sin(M_PI * at) / (M_PI * at) : 1);
			sum += w[j];
		}
		for (int j = 0; j < POINTS; j++)
			w[j] /= sum;
	}
}

typedef double taps __attribute__((vector_size(POINTS * sizeof(double)), aligned(sizeof(double))));

/* Finds a trace at positions p[first] .. p[n - 1]. x: 3 zeros, its n samples, 5 zeros. */
WEIR_CLONES(interpolate, (const double *x, const double *p, long first, long n, float *to),
	    (x, p, first, n, to))
{
	for (long j = first; j < n; j++) {
		const double at = p[j] >= 0 && p[j] <= (double)(n - 1) ? p[j] : (double)n;
		const long k = (long)at;
		const double r = (at - (double)k) * STEPS, part = r - (double)(long)r;
		const taps *w = (const taps *)(sinc + (long)r * POINTS), *v = (const taps *)(x + k);
		const taps y = (w[0] + part * (w[1] - w[0])) * *v;
		to[j] = r > 0
			    ? (float)((y[0] + y[4] + (y[1] + y[5])) + (y[2] + y[6] + (y[3] + y[7])))
			    : (float)x[k + 3];
	}
}

/* The traces of a gather: n samples from t0 on. What stretches more than 1 / least is muted. */
struct gather {
	double t0, dt, least;
	double *slow, *number; /* n + 1 slownesses and 0 .. n; slow: owned, number: in it */
	size_t n;
	bool inverse;
};

/* Finds the times t of a trace of offset x, in samples. slow, number: those of g. */
WEIR_CLONES(find_times,
	    (const struct gather *g, const double *slow, const double *number, double x, double *t),
	    (g, slow, number, x, t))
{
	for (size_t i = 0; i <= g->n; i++) {
		const double t0 = g->t0 + number[i] * g->dt, s = x * slow[i] * (x * slow[i]);
		t[i] = number[i] + s / ((sqrt(t0 * t0 + s) + t0 + DBL_MIN) * g->dt);
	}
}

/* Corrects a trace of offset x, or takes that back. t has room for 2 n + 1 numbers. False: all of it is muted. */
static bool
correct(const struct gather *g, double x, const double *from, double *t, float *to)
{
	size_t first = g->n;
	double *q = t;

	find_times(g, g->slow, g->number, x, t);
	while (first && g->t0 + (double)first * g->dt > g->dt / 2 &&
	       t[first] - t[first - 1] >= g->least)
		first--;
	t[g->n] = INFINITY;
	q += g->inverse ? g->n + 1 : 0;
	for (size_t j = first, i = first; g->inverse && j < g->n; j++) {
		const double p = (double)j;
		while (t[i + 1] <= p)
			i++;
		q[j] = p < t[i] ? -1 : (double)i + (p - t[i]) / (t[i + 1] - t[i]);
	}
	memset(to, 0, first * sizeof *to);
	interpolate(from, q, (long)first, (long)g->n, to);
	return first < g->n;
}

/* Returns the velocity at t, of the cdp whose knots begin at k. */
static double
velocity(const struct knot *k, double t)
{
	for (; k[1].cdp == k->cdp; k++)
		if (t < k[1].t)
			return k->v + (k[1].v - k->v) * fmax(0, (t - k->t) / (k[1].t - k->t));
	return k->v;
}

/* Finds the velocities of the item, between those of two cdps. */
static void
interpolate_cdps(const struct args *args, struct raw_in *in, const struct img *x, struct gather *g)
{
	const struct knot *k = args->knot, *a = k;
	const char *key = img_key(x, "cdp");
	double cdp = k->cdp;

	if (k[args->knots - 1].cdp != cdp &&
	    (x->dim > 2 || !key || !opt_number(key, &cdp) || !isfinite(cdp)))
		raw_die(in, "no cdp:= of one gather, to find its velocities by");
	for (; k->cdp <= cdp; k++)
		a = k->cdp > a->cdp ? k : a;
	const struct knot *b = k->cdp > cdp ? k : a;
	const double w = b > a ? (cdp - a->cdp) / (b->cdp - a->cdp) : 0;

	g->slow = weir_xalloc(g->n + 1, 2 * sizeof *g->slow);
	g->number = g->slow + g->n + 1;
	for (size_t i = 0; i <= g->n; i++) {
		const double t0 = g->t0 + (double)i * g->dt;
		g->slow[i] = 1 / ((1 - w) * velocity(a, t0) + w * velocity(b, t0));
		g->number[i] = (double)i;
	}
}

static void
correct_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;
	struct gather g = {.n = x->axis[0].n, .inverse = args->inverse};
	double *own = NULL, *offset = args->offset;
	size_t n = args->numbers;
	bool kept = false;
	struct why why;
	struct img y;

	if (x->dim < 2 || x->dim > 3 || img_is_complex(x))
		raw_die(in, "not a gather: real, sizes `t trace` or `t trace gather`");
	if (axiskeys_times(x, &g.dt, &g.t0, &why) ||
	    (!n && !(offset = own = axiskeys_offsets(x, 1, true, &n, &why))))
		raw_die(in, "%s", why.text);
	const size_t nx = x->axis[1].n, all = x->dim > 2 ? nx * x->axis[2].n : nx;
	if (n != nx && n != all)
		raw_die(in, "%zu offsets for %zu traces", n, nx);
	g.least = args->stretch > 0 ? 1 / args->stretch : DBL_MIN;
	interpolate_cdps(args, in, x, &g);
	raw_map(in, x);
	stats_charge(st, STATS_READ);
	img_copy_head(&y, x);
	y.type = IMG_F32;
	opt_add_history(&y, &args->common);

	const int threads = par_threads(args->common.threads);
	const size_t stride = 3 * g.n + POINTS + 1, size = g.n * img_type_size(x->type);
	double *work = weir_xalloc((size_t)threads, stride * sizeof *work);
	float *to = y.data = weir_xalloc_large(all, g.n * sizeof *to);

#pragma omp parallel for num_threads(threads) if (all * g.n > 1 << 13) reduction(| : kept)
	for (size_t j = 0; j < all; j++) {
		double *trace = work + (size_t)omp_get_thread_num() * stride;
		memset(trace, 0, (g.n + POINTS) * sizeof *trace);
		sample_load(trace + 3, (char *)x->data + j * size, x->type, g.n);
		kept |= correct(&g, offset[j % n], trace, trace + g.n + POINTS, to + j * g.n);
	}
	if (!kept)
		warn("%s: item %zu: all is muted: are velocities in the offsets' unit a second?",
		     raw_name(in), raw_item(in));
	stats_charge(st, STATS_COMPUTE);
	raw_put(out, &y);
	stats_charge(st, STATS_WRITE);
	img_free(&y);
	weir_free_all(g.slow, work, own);
}

static void
check(void *options)
{
	struct args *a = options;

	if (!strcmp(a->velocity, "-") || a->velocity[strspn(a->velocity, "0123456789.:,eE+-")])
		read_table(a);
	else if (!add_knots(a, 0, a->velocity))
		die_usage("--velocity: '%s' is not " KNOTS, a->velocity);
	if (a->offsets)
		a->offset = axiskeys_read_numbers(a->offsets, &a->numbers);
	make_sinc();
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, correct_item, NULL};
	struct args args = {.common.as = RAW_AS_RAW, .stretch = 1.5};

	raw_each(&filter, argc, argv, &args);
	weir_free_all(args.offset, args.knot);
	return 0;
}
