/* morphrec's kernels against the definition, in every order of t/cudacpu: the same bytes. */
#include "gpu/morphrec/morphrec.h"
#include "t/check_gpu.h"
#include "t/check_morphrec.h"

/* The order of fibers changes from run to run. */
static bool
run_on_gpu(struct morphrec_plan *p, struct job *a)
{
	static size_t runs;

	check_order(runs++);
	const int err = gpu_morphrec_run(gpu_on, p, a->got, a->I);
	if (err)
		printf("# %s\n", gpu_why(gpu_on));
	return !err;
}

/* A diagonal marked at one end, so that what is owed must pass the corners of tiles; from each end, either way round. */
static void
corners_are_passed(struct check_many *m, struct check_rng *r, size_t k)
{
	const struct morphrec_problem what = {
	    .type = IMG_U8, .w = 160, .h = 160, .d = 1, .conn = 8};
	const size_t end = k % 2 ? 159 : 0;
	struct job a = job_of(&what);
	uint8_t *J = a.J, *I = a.I, *want = a.want;

	(void)r;
	memset(J, 0, a.n);
	memset(I, 0, a.n);
	for (size_t y = 0; y < 160; y++) /* or turned round: the other diagonal */
		I[y * 160 + (k < 2 ? y : 159 - y)] = 20;
	J[end * 160 + (k >= 2 ? 159 - end : end)] = 9;
	for (size_t i = 0; i < a.n; i++)
		want[i] = I[i] ? 9 : 0;
	job_compare(&a, m);
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

	struct job a = job_of(&cases[i].what);
	check_memory(cases[i].bytes);
	job_check(&a, r, i == 0 ? MAZE : SEEDS, m);
	check_memory(0);
}

/* Pictures, stacks and volumes on several devices, in several bands of each where memory is short. */
static void
shares_agree(struct gpu *one, struct check_many *m)
{
	static const struct {
		struct morphrec_problem what;
		size_t bytes;
		enum style style;
	} cases[] = {{{.type = IMG_U8, .w = 20, .h = 60, .d = 1, .conn = 4}, 0, MAZE},
		     {{.type = IMG_I16, .w = 150, .h = 2, .d = 1, .conn = 8}, 0, SEEDS},
		     {{.type = IMG_F32, .w = 40, .h = 1100, .d = 1, .conn = 8}, 1040000, NOISE},
		     {{.type = IMG_U16, .w = 30, .h = 20, .d = 12, .conn = 26}, 1200000, MAZE},
		     {{.type = IMG_I8, .w = 30, .h = 20, .d = 7, .conn = 18}, 0, SEEDS},
		     {{.type = IMG_F64, .w = 33, .h = 400, .d = 2, .conn = 8}, 2080000, NOISE},
		     {{.type = IMG_U32, .w = 70, .h = 12, .d = 5, .conn = 4}, 0, MAZE}};
	struct check_rng r = {16};

	(void)one;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i += check_large ? 2 : 1) {
		struct job a = job_of(&cases[i].what);
		check_memory(cases[i].bytes);
		job_check(&a, &r, cases[i].style, m);
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

/* Fills the mask with few values, all above 60 where the operator raises. */
static void
fill_mask(struct job *a, struct check_rng *r)
{
	const enum img_type type = a->what.type;
	const size_t levels = 2 + rng_below(r, 60);
	const bool is_signed = type != IMG_U8 && type != IMG_U16 && type != IMG_U32;

	for (size_t i = 0; i < a->n; i++) {
		double v = (double)rng_below(r, levels) - (is_signed ? 3 : 0);
		if (img_is_float(type) && rng_below(r, 40) == 0)
			v = rng_below(r, 2) ? INFINITY : NAN;
		value_set(type, a->I, i, a->what.erode ? v : v + 60);
	}
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
	const size_t order = m->cases % check_orders();
	int err = 0;

	what.erode = morphrec_op_erodes(o->op);
	for (int over = 0; over < 2; over++) {
		struct job a = job_of(&what);
		struct morphrec_plan p;
		void *const to = over ? a.J : a.got;
		fill_mask(&a, r);
		memcpy(a.J, a.I, a.bytes);
		check_order(order);
		if (!morphrec_plan(&p, &a.what))
			err = gpu_morphrec_operate(gpu_on, &p, o, true, to, a.J);
		morphrec_free(&p);
		const bool done = operate(&a, o);
		check_case(m,
			   done && (fits ? !err && !memcmp(to, a.want, a.bytes) : err == -ENOTSUP),
			   "operator %d, %s %zux%zux%zu, connectivity %d, order %zu: error %d (%s)",
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
					      .w = job_awkward(r),
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
	job_on = run_on_gpu;
	check_whose("gpu: morphrec by ");
	job_agree("tiles, all types, awkward sizes", job_image, check_large ? 16 : 32,
		  MORPHREC_TILE);
	job_agree("tiles, volumes of 6, 18 and 26 neighbours", job_volume, 12, MORPHREC_TILE);
	check_each("tiles, zeros, denormals, infinities, and NaN as walls", 16, 17, job_floats);
	check_whose("");
	check_each("gpu: morphrec by tiles passes each corner of a tile", 4, 14,
		   corners_are_passed);
	if (cudacpu_memory)
		check_each("gpu: morphrec in bands where memory is short", 5, 13, bands_agree);
	too_small_is_said();
	check_on_devices("gpu: morphrec's operators", operators_are_shared);
	check_on_devices("gpu: morphrec, the same bytes", shares_agree);
	job_on = NULL;
}
