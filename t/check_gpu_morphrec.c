/* morphrec's kernels against the definition, in every order of t/cudacpu: the same bytes. */
#include "gpu/morphrec/morphrec.h"
#include "t/check_gpu.h"
#include "t/check_morphrec.h"

static double
sample(struct check_rng *r, size_t levels, const struct morphrec_problem *what)
{
	const double k = (double)rng_below(r, levels);

	if (img_is_float(what->type) && rng_below(r, 40) == 0)
		return rng_below(r, 2) ? (double)INFINITY : (double)NAN;
	return k - (what->type == IMG_U8 || what->type == IMG_U16 || what->type == IMG_U32 ? 0 : 3);
}

/* SPARSE: few marked pixels. DENSE: all are. WAYS: corridors one pixel wide. STAIRS: ways that go through corners alone. */
enum fill { SPARSE, DENSE, WAYS, STAIRS };

/* The mask of ways or of stairs: whether pixel x, y is on a way. */
static bool
on_way(const struct morphrec_problem *what, enum fill fill, size_t x, size_t y)
{
	if (fill == WAYS)
		return y % 2 == 0 || x == (y % 4 == 1 ? what->w - 1 : 0);
	return x == y;
}

static struct job
job_filled(struct check_rng *r, const struct morphrec_problem *what, enum fill fill)
{
	struct job a = job_of(what);
	const size_t levels = fill >= WAYS ? 3 : 2 + rng_below(r, 60);

	for (size_t i = 0; i < a.n; i++) {
		const size_t x = i % what->w, y = i / what->w % what->h;
		double m = sample(r, levels, what), j = sample(r, levels, what);
		if (fill == DENSE && !what->erode)
			m += 60;
		if (fill != DENSE && rng_below(r, 1 + a.n / 4))
			j = what->erode ? 100 : what->type == IMG_U8 ? 0 : fmin(j, 0);
		if (fill >= WAYS)
			m = on_way(what, fill, x, y) == what->erode ? 0 : 20;
		value_set(what->type, a.J, i, j);
		value_set(what->type, a.I, i, m);
	}
	return a;
}

/* The same bytes, or NaN both. */
static bool
same(const struct job *a, size_t i)
{
	const size_t size = img_type_size(a->what.type);
	const double x = value_get(a->what.type, a->got, i),
		     y = value_get(a->what.type, a->want, i);

	return !memcmp((char *)a->got + i * size, (char *)a->want + i * size, size) ||
	       (isnan(x) && isnan(y));
}

/* got: by the kernels. */
static void
job_check(struct job *a, struct check_many *m)
{
	const int order = (int)m->cases % check_orders();
	struct morphrec_plan p;
	size_t i = 0;

	memcpy(a->got, a->J, a->bytes);
	if (morphrec_plan(&p, &a->what)) {
		check_case(m, false, "no plan");
		return;
	}
	morphrec_clip(&p, a->got, a->I);
	check_order(order);
	const int err = gpu_morphrec_run(gpu_on, &p, a->got, a->I);
	while (i < a->n && same(a, i))
		i++;
	check_case(m, !err && i == a->n, "%s, order %d: error %d (%s), sample %zu is %g, not %g",
		   job_name(a), order, err, err ? gpu_why(gpu_on) : "", i,
		   i < a->n ? value_get(a->what.type, a->got, i) : 0,
		   i < a->n ? value_get(a->what.type, a->want, i) : 0);
	morphrec_free(&p);
}

/*
 * want: by the definition, or, of large pictures, by the CPU's heaps, which are held to it: the definition takes a step a
 * pixel of the longest way, in these checks half of their time, and minutes under AddressSanitizer.
 */
static bool
define(struct job *a)
{
	a->what.method = a->n <= 8000 ? (enum morphrec_method)DEFINITION : MORPHREC_HEAP;
	const bool ran = job_run(a);
	memcpy(a->want, a->got, a->bytes);
	a->what.method = MORPHREC_TILE;
	return ran;
}

static void
problem_check(struct check_rng *r, const struct morphrec_problem *what, enum fill fill,
	      struct check_many *m)
{
	struct job a = job_filled(r, what, fill);

	if (define(&a))
		job_check(&a, m);
	else
		check_case(m, false, "no reference");
}

static size_t
awkward(struct check_rng *r)
{
	static const size_t v[] = {1, 2, 31, 32, 33, 127, 128, 129, 257};

	return rng_below(r, 3) ? v[rng_below(r, 9)] : 1 + rng_below(r, 150);
}

static void
pictures_agree(struct check_many *m, struct check_rng *r, size_t i)
{
	const bool maze = i % 4 == 3; /* long ways, through several tiles */
	const struct morphrec_problem what = {.type = types[i % TYPES],
					      .w = maze ? 100 + rng_below(r, 100) : awkward(r),
					      .h = maze ? 2 + rng_below(r, 22) : awkward(r),
					      .d = rng_below(r, 4) ? 1 : 2,
					      .conn = i / 8 % 2 ? 4 : 8,
					      .erode = i / 4 % 2};

	problem_check(r, &what, maze ? WAYS : i % 4 == 1 ? DENSE : SPARSE, m);
}

/* A diagonal marked at one end, so that what is owed must pass the corners of tiles; from each end, either way round. */
static void
corners_are_passed(struct check_many *m, struct check_rng *r, size_t k)
{
	const struct morphrec_problem what = {
	    .type = IMG_U8, .w = 160, .h = 160, .d = 1, .conn = 8};
	const size_t end = k % 2 ? 159 : 0;
	struct job a = job_filled(r, &what, STAIRS);
	uint8_t *J = a.J, *I = a.I, *want = a.want;

	memset(J, 0, a.n);
	for (size_t y = 0; k >= 2 && y < 160; y++) { /* turned round: the other diagonal */
		I[y * 160 + y] = 0;
		I[y * 160 + 159 - y] = 20;
	}
	J[end * 160 + (k >= 2 ? 159 - end : end)] = 9;
	for (size_t i = 0; i < a.n; i++)
		want[i] = I[i] ? 9 : 0;
	job_check(&a, m);
}

static void
volumes_agree(struct check_many *m, struct check_rng *r, size_t i)
{
	const struct morphrec_problem what = {.type = types[i % TYPES],
					      .w = 1 + rng_below(r, 150),
					      .h = 1 + rng_below(r, 30),
					      .d = 1 + rng_below(r, 5),
					      .conn = conns[2 + i % 3],
					      .erode = i / 3 % 2};

	problem_check(r, &what, i % 2 ? DENSE : SPARSE, m);
}

/* A device too small for the whole: bands of rows, of slices, and pictures of a stack one by one. */
static void
bands_agree(struct check_many *m, struct check_rng *r, size_t i)
{
	static const struct {
		struct morphrec_problem what;
		size_t bytes;
	} cases[] = {{{.type = IMG_U8, .w = 40, .h = 700, .d = 1, .conn = 4}, 260000},
		     {{.type = IMG_U8, .w = 40, .h = 700, .d = 1, .conn = 8}, 260000},
		     {{.type = IMG_U8, .w = 30, .h = 20, .d = 12, .conn = 26}, 600000},
		     {{.type = IMG_U8, .w = 30, .h = 20, .d = 9, .conn = 8}, 600000},
		     {{.type = IMG_U8, .w = 33, .h = 400, .d = 2, .conn = 8}, 260000}};

	check_memory(cases[i].bytes);
	problem_check(r, &cases[i].what, i == 0 ? WAYS : SPARSE, m);
	check_memory(0);
}

/* Pictures, stacks and volumes on several devices, in several bands of each where memory is short. */
static void
shares_agree(struct gpu *one, struct check_many *m)
{
	static const struct {
		struct morphrec_problem what;
		size_t bytes;
		enum fill fill;
	} cases[] = {{{.type = IMG_U8, .w = 20, .h = 60, .d = 1, .conn = 4}, 0, WAYS},
		     {{.type = IMG_I16, .w = 150, .h = 2, .d = 1, .conn = 8}, 0, SPARSE},
		     {{.type = IMG_F32, .w = 40, .h = 1100, .d = 1, .conn = 8}, 1040000, DENSE},
		     {{.type = IMG_U16, .w = 30, .h = 20, .d = 12, .conn = 26}, 1200000, WAYS},
		     {{.type = IMG_I8, .w = 30, .h = 20, .d = 7, .conn = 18}, 0, SPARSE},
		     {{.type = IMG_F64, .w = 33, .h = 400, .d = 2, .conn = 8}, 2080000, DENSE},
		     {{.type = IMG_U32, .w = 70, .h = 12, .d = 5, .conn = 4}, 0, WAYS}};
	struct check_rng r = {16};

	(void)one;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i += check_large ? 2 : 1) {
		check_memory(cases[i].bytes);
		problem_check(&r, &cases[i].what, cases[i].fill, m);
		check_memory(0);
	}
}

/* No band fits: an error that says so, not a wrong picture. */
static void
too_small_is_said(void)
{
	struct morphrec_problem what = {
	    .type = IMG_U8, .w = 300, .h = 5, .d = 1, .conn = 8, .threads = 1};
	uint8_t J[1500] = {0}, I[1500] = {1};
	struct morphrec_plan p;

	if (!cudacpu_memory || morphrec_plan(&p, &what))
		return;
	morphrec_clip(&p, J, I);
	check_memory(5000);
	const int err = gpu_morphrec_run(gpu_on, &p, J, I);
	check_memory(0);
	check(err == -EIO && strstr(gpu_why(gpu_on), "memory"),
	      "gpu: a device too small is an error that says so", "%d: %s", err, gpu_why(gpu_on));
	morphrec_free(&p);
}

/* The operator as the CPU makes it, in a->want; a->I becomes the mask. */
static bool
operate(struct job *a, const struct morphrec_operator *o)
{
	struct morphrec_plan p;

	if (morphrec_plan(&p, &a->what) || morphrec_marker(&a->what, o, a->want, a->I))
		return false;
	const bool ok = !morphrec_clip_and_run(&p, a->want, a->I);
	morphrec_finish(&a->what, o, a->want, a->I);
	morphrec_free(&p);
	return ok;
}

/* That operator on a random picture, in another place and in its own. fits: the device makes it. */
static void
operator_check(struct check_rng *r, struct morphrec_problem what, const struct morphrec_operator *o,
	       bool fits, struct check_many *m)
{
	const int order = (int)m->cases % check_orders();
	int err = 0;

	what.erode = morphrec_op_erodes(o->op);
	for (int over = 0; over < 2; over++) {
		struct job a = job_filled(r, &what, DENSE);
		struct morphrec_plan p;
		void *const to = over ? a.J : a.got;
		memcpy(a.J, a.I, a.bytes);
		check_order(order);
		if (!morphrec_plan(&p, &a.what))
			err = gpu_morphrec_operate(gpu_on, &p, o, true, to, a.J);
		morphrec_free(&p);
		const bool done = operate(&a, o);
		check_case(m,
			   done && (fits ? !err && !memcmp(to, a.want, a.bytes) : err == -ENOTSUP),
			   "operator %d, %s %zux%zux%zu, connectivity %d, order %d: error %d (%s)",
			   (int)o->op, img_type_name(what.type), what.w, what.h, what.d, what.conn,
			   order, err, err == -EIO ? gpu_why(gpu_on) : "");
	}
}

static const struct morphrec_operator operators[] = {
    {.op = MORPHREC_HMAX, .h = 7, .top = 1},
    {.op = MORPHREC_HMIN, .h = 5, .top = 100},
    {.op = MORPHREC_HDOME, .h = 9, .top = 1},
    {.op = MORPHREC_FILL_HOLES, .top = 100},
    {.op = MORPHREC_CLEAR_BORDER, .top = 1},
    {.op = MORPHREC_REGMAX, .top = 1},
    {.op = MORPHREC_REGMIN, .top = 1},
    {.op = MORPHREC_HDOME, .h = 1e300, .top = 1},
    {.op = MORPHREC_HYSTERESIS, .lo = 63.5, .hi = 80, .top = 1}};
enum { OPERATORS = sizeof operators / sizeof *operators };

static void
operators_agree(struct check_many *m, struct check_rng *r, size_t i)
{
	const struct morphrec_problem what = {.type = types[i % TYPES],
					      .w = awkward(r),
					      .h = 1 + rng_below(r, 40),
					      .d = 1 + rng_below(r, 3),
					      .conn = conns[i / OPERATORS]};

	operator_check(r, what, &operators[i % OPERATORS], true, m);
}

/* On several devices, and where memory is too short for that. */
static void
operators_are_shared(struct gpu *one, struct check_many *m)
{
	const struct morphrec_problem flat = {.w = 40, .h = 300, .d = 1, .conn = 8},
				      deep = {.w = 30, .h = 20, .d = 7, .conn = 18};
	struct check_rng r = {18};

	(void)one;
	for (size_t i = 0; i < OPERATORS; i++) {
		struct morphrec_problem what = i % 3 ? flat : deep;
		what.type = types[(i + 3) % TYPES];
		if (i == OPERATORS - 1)
			what.conn = 4, what.h = 2;
		operator_check(&r, what, &operators[i], true, m);
	}
	if (cudacpu_memory) {
		struct morphrec_problem what = flat;
		what.type = IMG_F32;
		check_memory(100000);
		operator_check(&r, what, &operators[0], false, m);
		check_memory(0);
	}
}

/* A NaN that is no wall, and a picture all at the floor, are left to the host; the picture stays as it was. */
static void
operators_are_refused(void)
{
	const struct morphrec_problem what = {
	    .type = IMG_F32, .w = 3, .h = 2, .d = 1, .conn = 8, .threads = 1};
	float f[6] = {1, 2, 3, NAN, 5, 6}, low[6], was[6];
	struct morphrec_plan p;

	if (morphrec_plan(&p, &what))
		return;
	memcpy(was, f, sizeof f);
	int err = gpu_morphrec_operate(gpu_on, &p, &operators[2], false, f, f);
	check(err == -EDOM && !memcmp(was, f, sizeof f), "gpu: a NaN that is no wall is refused",
	      "%d", err);
	for (int i = 0; i < 6; i++)
		low[i] = -INFINITY;
	err = gpu_morphrec_operate(gpu_on, &p, &operators[5], false, low, low);
	check(err == -ENOTSUP, "gpu: maxima of a picture at the floor are left to the host", "%d",
	      err);
	morphrec_free(&p);
}

void
check_gpu_morphrec(void)
{
	check_each("gpu: morphrec's operators, marker and result made on the device", 5 * OPERATORS,
		   17, operators_agree);
	operators_are_refused();
	check_each("gpu: morphrec by tiles, all types, awkward sizes", check_large ? 16 : 32, 11,
		   pictures_agree);
	check_each("gpu: morphrec by tiles passes each corner of a tile", 4, 14,
		   corners_are_passed);
	check_each("gpu: morphrec by tiles, volumes of 6, 18 and 26 neighbours", 12, 12,
		   volumes_agree);
	if (cudacpu_memory)
		check_each("gpu: morphrec in bands where memory is short", 5, 13, bands_agree);
	too_small_is_said();
	check_on_devices("gpu: morphrec's operators", operators_are_shared);
	check_on_devices("gpu: morphrec, the same bytes", shares_agree);
}
