/* wconv: volumes and kernels of three axes against the definition, and against pictures. */
#include "t/check_wconv.h"
#include "wconv/volume/volume.h"

/* Volumes and kernels, x y z. */
static const size_t shapes[][2][3] = {{{1, 1, 1}, {1, 1, 1}},  {{7, 5, 3}, {3, 3, 3}},
				      {{4, 3, 2}, {7, 9, 5}},  {{1, 9, 6}, {1, 4, 3}},
				      {{23, 1, 1}, {5, 1, 1}}, {{17, 12, 9}, {4, 5, 6}},
				      {{33, 20, 5}, {9, 2, 1}}};
enum { SHAPES = sizeof shapes / sizeof *shapes, EDGES = 5 };

struct volume_job {
	struct wconv_problem q;
	double *in;
	void *samples, *kernel; /* in the problem's precision */
	size_t n;
};

static void
pose(struct volume_job *j, size_t shape, bool in_double, struct check_rng *rng)
{
	const size_t *n = shapes[shape][0], *k = shapes[shape][1], nk = k[0] * k[1] * k[2];
	struct conv_job slice;

	conv_pose(&slice, n[0], n[1], k[0], k[1], 1, 1);
	*j = (struct volume_job){.q = slice.q, .n = n[0] * n[1] * n[2]};
	j->q.node_x = j->q.node_y = NULL;
	j->q.d = n[2];
	j->q.kd = k[2];
	j->q.cz = k[2] - 1;
	j->q.in_double = in_double;
	j->in = check_alloc(j->n, sizeof *j->in);
	j->samples = check_alloc(j->n, sizeof(double));
	j->kernel = check_alloc(nk, sizeof(double));
	for (size_t i = 0; i < j->n; i++) {
		real_set(j->samples, i, rng_unit(rng), !in_double);
		j->in[i] = real_at(j->samples, i, !in_double);
	}
	for (size_t i = 0; i < nk; i++)
		real_set(j->kernel, i, rng_unit(rng), !in_double);
	j->q.kernels = j->kernel;
}

/* Takes the adjoint of random results y. Returns |<F, y> - <I, A'y>| / (|F| |y|). */
static double
dot_error(const struct volume_job *j, struct wconv_volume *v, const double *want, size_t n,
	  struct check_rng *rng)
{
	const bool single = !j->q.in_double;
	double left = 0, right = 0, ff = 0, yy = 0;
	void *y = check_alloc(n, sizeof(double)), *back = check_alloc(j->n, sizeof(double));

	for (size_t i = 0; i < n; i++)
		real_set(y, i, rng_unit(rng), single);
	check_poison(back, j->n * sizeof(double));
	wconv_volume_run(v, true, y, back);
	for (size_t i = 0; i < n; i++) {
		const double r = real_at(y, i, single);
		left += want[i] * r;
		ff += want[i] * want[i];
		yy += r * r;
	}
	for (size_t i = 0; i < j->n; i++)
		right += j->in[i] * real_at(back, i, single);
	return fabs(left - right) / sqrt(ff * yy);
}

/* The job as posed, on one thread and on three. */
static void
hold(struct check_many *m, struct volume_job *j, struct check_rng *rng)
{
	const double bound = j->q.in_double ? 1e-14 : 1e-6;
	struct why why;
	void *first = NULL;

	for (int t = 1; t <= 3; t += 2) {
		struct wconv_volume *v;
		size_t n = 1;
		j->q.threads = t;
		if (wconv_volume_plan(&v, &j->q, &why)) {
			check_case(m, false, "%s", why.text);
			break;
		}
		for (int a = 0; a < 3; a++)
			n *= v->axis[a].results;
		double *want = check_alloc(n, sizeof *want);
		void *got = check_alloc(n, sizeof(double));
		const size_t bytes = n * (j->q.in_double ? sizeof(double) : sizeof(float));
		check_poison(got, n * sizeof(double));
		wconv_volume_run(v, false, j->samples, got);
		wconv_volume_direct(&j->q, j->in, want);
		const double e = conv_relative(got, want, n, !j->q.in_double),
			     d = dot_error(j, v, want, n, rng);
		check_case(m, e <= bound && d <= bound && (!first || !memcmp(first, got, bytes)),
			   "%zux%zux%zu, kernel %zux%zux%zu, edge %d, output %d, correlate %d, %d "
			   "threads: error %.3g, dot %.3g",
			   j->q.w, j->q.h, j->q.d, j->q.kw, j->q.kh, j->q.kd, (int)j->q.edge,
			   (int)j->q.output, j->q.correlate, t, e, d);
		wconv_volume_free(v);
		first = got;
	}
}

static void
check_definition(struct check_many *m, struct check_rng *rng, size_t i)
{
	struct volume_job j;

	pose(&j, i % SHAPES, i / SHAPES / EDGES % 2, rng);
	j.q.edge = (enum wconv_edge)(i / SHAPES % EDGES);
	j.q.correlate = i / SHAPES / EDGES / 2 % 2;
	j.q.normalise = j.q.correlate;
	j.q.output = (enum wconv_output)(i / SHAPES / EDGES / 4);
	if (j.q.output != WCONV_VALID || i % SHAPES != 2) /* its kernel is larger */
		hold(m, &j, rng);
}

/*
 * Deconvolves a volume one sample wide, and the picture of its y and z. Both are the same problem. Returns the largest
 * difference, relative to the largest result.
 */
static double
compare_restored(const struct wconv_problem *volume, const struct wconv_restore_options *o,
		 const double *y, struct why *why)
{
	const size_t n = volume->h * volume->d;
	double *x[2] = {check_alloc(n, sizeof **x), check_alloc(n, sizeof **x)}, worst = 0,
	       peak = 0;
	const double node = 0;

	for (int flat = 0; flat < 2; flat++) {
		struct wconv_problem q = *volume;
		q.node_x = q.node_y = &node;
		struct wconv_restored done;
		struct wconv_restore *r;
		if (flat) {
			q.w = q.W = volume->h;
			q.h = q.H = volume->d;
			q.kw = q.step_row = volume->kh;
			q.kh = volume->kd;
			q.cx = volume->cy;
			q.cy = volume->cz;
			q.d = q.kd = q.cz = 0;
		}
		const bool failed = wconv_restore_plan(&r, &q, o, why) ||
				    wconv_restore_run(r, y, x[flat], &done, why);
		for (size_t i = 0; failed && i < n; i++)
			x[flat][i] = INFINITY;
		wconv_restore_free(r);
	}
	for (size_t i = 0; i < n; i++) {
		const double e = fabs(x[0][i] - x[1][i]);
		worst = e <= worst ? worst : e;
		peak = fmax(peak, fabs(x[1][i]));
	}
	return worst / peak;
}

static void
check_restore(struct check_many *m, struct check_rng *rng, size_t i)
{
	static const enum wconv_edge edges[] = {WCONV_ZERO, WCONV_REFLECT, WCONV_WRAP,
						WCONV_RENORMALISE};
	struct why why = {0};
	struct volume_job j;

	pose(&j, 3, true, rng);
	j.q.edge = edges[i % 4];
	j.q.correlate = i / 4 % 2;
	j.q.in = j.q.out = IMG_F64;
	j.q.method = WCONV_FFT;
	const struct wconv_restore_options o = {.least_squares = i / 16 == 1,
						.accelerate = i / 16 == 2,
						.damp = .1,
						.steps = 6,
						.scatters = i / 8 % 2};
	j.in[7] = NAN; /* unknown */
	const double e = compare_restored(&j.q, &o, j.in, &why);
	check_case(m, e <= 1e-10, "edge %d, correlate %d, scatters %d, method %zu: %.3g %s",
		   (int)j.q.edge, j.q.correlate, o.scatters, i / 16, e, why.text);
}

void
check_wconv_volume(void)
{
	check_each("wconv: a volume's convolution is its definition, its adjoint passes the "
		   "dot-product test",
		   SHAPES * EDGES * 12, 71, check_definition);
	check_each("wconv: a volume one sample wide is deconvolved like the picture it is", 48, 72,
		   check_restore);
}
