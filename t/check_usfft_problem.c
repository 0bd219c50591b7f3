/* Problems for the checks of usfft. */
#include "common/base/cpu.h"
#include "t/check_usfft.h"

static double
place(enum kind kind, int axis, size_t j, size_t m, struct check_rng *r)
{
	const double u = rng_unit(r) - 0.5;
	const size_t rows = (size_t)sqrt((double)m) + 1;
	const double w = (double)(j / rows) / (double)rows, g = (double)(j % rows) / (double)rows;

	switch (kind) {
	case CLUSTERED:
		return 0.13 * axis + 0.004 * rng_normal(r);
	case DUPLICATE:
		return 0.37 - 0.2 * axis;
	case EDGE:
		return j % 3 == 0 ? 0.5 : j % 3 == 1 ? -0.5 : (u > 0 ? 0.5 - 1e-17 : u);
	case RADON:
		return axis == 0 ? w - 0.5 : w * g * g * 0.9;
	case FAR:
		return 1e6 * u;
	default:
		return u;
	}
}

void *
problem_values(size_t n, bool single, double **copy, struct check_rng *r)
{
	void *v = check_alloc(2 * n, single ? sizeof(float) : sizeof(double));

	*copy = check_alloc(2 * n, sizeof **copy);
	for (size_t i = 0; i < 2 * n; i++) {
		real_set(v, i, rng_normal(r), single);
		(*copy)[i] = real_at(v, i, single);
	}
	return v;
}

void
problem_make(struct problem *q, const struct usfft_options *o, size_t m, enum kind kind,
	     struct check_rng *r)
{
	const size_t dim = (size_t)o->dim, real = o->single ? sizeof(float) : sizeof(double);

	*q = (struct problem){
	    .o = *o, .pt = {.m = m, .stride = dim, .single = o->single}, .modes = 1};
	for (int a = 0; a < 3; a++) {
		q->o.n[a] = a < o->dim ? o->n[a] : 1;
		q->modes *= q->o.n[a];
	}
	q->x = check_alloc(m * dim, real);
	for (size_t i = 0; i < m * dim; i++)
		real_set(q->x, i, place(kind, (int)(i % dim), i / dim, m, r), o->single);
	for (size_t a = 0; a < dim; a++)
		q->pt.x[a] = (char *)q->x + a * real;
	q->c = problem_values(m, o->single, &q->cd, r);
	q->f = problem_values(q->modes, o->single, &q->fd, r);
}

const char *
problem_name(const struct problem *q, enum kind kind)
{
	static const char *const kinds[] = {"uniform", "clustered", "duplicate",
					    "edge",    "radon",	    "far"};
	static char text[128];

	snprintf(text, sizeof text, "%s %d-D %zux%zux%zu m %zu tol %g %s", kinds[kind], q->o.dim,
		 q->o.n[0], q->o.n[1], q->o.n[2], q->pt.m, q->o.tol,
		 q->o.single ? "float" : "double");
	return text;
}

enum { SAMPLES = 24 };

static size_t
samples_of(size_t outs)
{
	return outs < SAMPLES ? outs : SAMPLES;
}

/*
 * The outputs are cut into as many parts of one length, and one of each is taken, at a place that differs from part to
 * part: even steps through a cube of 24^3 modes would keep to one of its edges, where the error is largest.
 */
static size_t
sample_at(size_t outs, size_t s)
{
	const size_t each = outs / samples_of(outs);
	const double golden = 0.6180339887498949 * ((double)s + 0.5);

	return each * s + (size_t)((golden - floor(golden)) * (double)each);
}

static const double *
exact_of(struct problem *q, int type, int sign, size_t outs)
{
	double *known = q->exact[type - 1];

	if (known && q->exact_sign[type - 1] == sign)
		return known;
	double *exact = check_alloc(samples_of(outs), 2 * sizeof *exact);
	for (size_t s = 0; s < samples_of(outs); s++) {
		const size_t i = sample_at(outs, s);
		if (type == 1)
			usfft_direct_mode(&q->o, &q->pt, q->cd, sign, i, exact + 2 * s);
		else
			usfft_direct_point(&q->o, &q->pt, q->fd, sign, i, exact + 2 * s);
	}
	q->exact[type - 1] = exact;
	q->exact_sign[type - 1] = sign;
	return exact;
}

/* The norm is that of the results, or what random phases make of the input where that is larger: a lone sum may cancel. */
double
problem_error(struct problem *q, int type, int sign, const void *got)
{
	const size_t outs = type == 1 ? q->modes : q->pt.m;
	const double *in = type == 1 ? q->cd : q->fd, *want = exact_of(q, type, sign, outs);
	double out[2 * SAMPLES], input = 0;

	for (size_t i = 0; i < 2 * (type == 1 ? q->pt.m : q->modes); i++)
		input += in[i] * in[i];
	for (size_t i = 0; i < 2 * samples_of(outs); i++)
		out[i] = real_at(got, 2 * sample_at(outs, i / 2) + i % 2, q->o.single);
	return check_apart(out, false, want, 2 * samples_of(outs),
			   sqrt(input * (double)samples_of(outs)));
}

int
problem_registers(int bytes[3])
{
	const int widest = weir_cpu == CPU_AVX512 ? 64 : weir_cpu == CPU_AVX2 ? 32 : 16;
	int count = 0;

	for (int b = widest; b >= 16; b /= 2)
		bytes[count++] = b;
	return count;
}

static int
cpu_type1(struct usfft_plan *p, int sign, const void *c, void *modes)
{
	usfft_type1(p, sign, c, modes);
	return 0;
}

static int
cpu_type2(struct usfft_plan *p, int sign, const void *modes, void *c)
{
	usfft_type2(p, sign, modes, c);
	return 0;
}

const struct engine on_cpu = {.name = "",
			      .every = 1,
			      .points = usfft_points,
			      .type1 = cpu_type1,
			      .type2 = cpu_type2,
			      .type3 = usfft_type3,
			      .inverse = usfft_inverse};
const struct engine *engine_on = &on_cpu;

void
engine_begin(const struct check_many *m)
{
	if (engine_on->begin)
		engine_on->begin(m->cases);
}

int
problem_run_on(const struct engine *e, const struct problem *q, int type, int sign, bool carried,
	       void *out)
{
	const size_t outs = type == 1 ? q->modes : q->pt.m;
	const bool along = carried && type == 1;
	struct usfft_options o = q->o;
	struct usfft_plan *p;
	size_t bad;

	o.type = type;
	if (usfft_plan(&p, &o))
		die("no plan");
	check_poison(out, outs * 2 * (q->o.single ? sizeof(float) : sizeof(double)));
	int err = e->points(p, &q->pt, along ? q->c : NULL, 2, &bad);
	/* Points without values of their own serve many runs. */
	for (int runs = type == 1 && !along ? 2 : 1; runs > 0 && !err; runs--)
		err = type == 1 ? e->type1(p, sign, along ? NULL : q->c, out)
				: e->type2(p, sign, q->f, out);
	usfft_free(p);
	return err;
}

void
problem_run(const struct problem *q, int type, int sign, void *out)
{
	if (problem_run_on(&on_cpu, q, type, sign, true, out))
		die("no memory");
}
