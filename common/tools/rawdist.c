/* rawdist: the distance of each chosen sample to the nearest that is not chosen. */
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "common/picture/distance.h"
#include "common/stream/axes.h"
#include "common/stream/place.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawdist";

struct args {
	struct opt_common common;
	int depth; /* of enum img_depth */
	bool pixels;
};

static const struct opt table[] = {
    {0, "volume", OPT_SET, AT(depth), NULL, "a stack is a volume", .value = IMG_VOLUME},
    {0, "slices", OPT_SET, AT(depth), NULL, "a stack is no volume", .value = IMG_SLICES},
    {0, "pixels", OPT_FLAG, AT(pixels), NULL, "distances are in samples, whatever the spacings"},
    {0}};

static const struct opt_program program = {
    .what = "Computes the distance of each chosen sample to the nearest that is not chosen.",
    .example = "rawdist coins.pgm | rawtopnm --range=minmax >distance.pgm",
    .table = table,
    .common = OPT_THREADS};

/* --- one item ------------------------------------------------------------------------------------------------------ */

/* Sets the steps along the axes that the distance has: their spacings, or 1 where none of them has any. */
static void
find_steps(const struct args *args, const struct raw_in *in, const struct img *x, bool deep,
	   double step[3])
{
	const int first = img_row_axis(x), most = deep ? 3 : 2;
	const struct img_axis *a = &x->axis[first];

	for (int i = 0; i < 3; i++)
		step[i] = 1;
	for (int i = 0; i < most && first + i < x->dim && !args->pixels; i++) {
		if (isnan(a[i].spacing) != isnan(a->spacing))
			raw_die(in, "axis %d has %s spacing, and axis %d has %s: see --pixels",
				first, isnan(a->spacing) ? "no" : "a", first + i,
				isnan(a[i].spacing) ? "none" : "one");
		if (isnan(a->spacing))
			continue;
		if (strcmp(a[i].unit ? a[i].unit : "", a->unit ? a->unit : "") != 0)
			raw_die(in, "axis %d is in %s, and axis %d in %s: see --pixels", first,
				a->unit ? a->unit : "no unit", first + i,
				a[i].unit ? a[i].unit : "no unit");
		step[i] = fabs(a[i].spacing);
		if (!(step[i] > 0 && step[i] < INFINITY))
			raw_die(in, "axis %d: a spacing of %g is no distance: see --pixels",
				first + i, a[i].spacing);
	}
}

/* Returns the shape of one picture or volume of x, of which there are *n. */
static struct distance_shape
shape_of(const struct args *args, const struct raw_in *in, const struct img *x, size_t *n)
{
	const struct img_volumes p = raw_volumes(in, x, (enum img_depth)args->depth);
	struct distance_shape s = {.w = p.w, .h = p.h, .depth = p.d};
	struct place t;
	struct why why;

	if (p.c != 1)
		raw_die(in, "distances are those of pictures and volumes of one plane; "
			    "rawaxes --slice takes one of several");
	if (place_of(x, p.w, p.h, &t, &why))
		raw_die(in, "%s", why.text);
	if (t.W != p.w || t.H != p.h)
		warn("%s: a part of a picture (tile:=%s): what lies beyond its sides is not seen; "
		     "see rawjoin",
		     raw_name(in), img_key(x, "tile"));
	*n = p.n;
	find_steps(args, in, x, p.deep, s.step);
	return s;
}

/* What a picture or volume passes through. Owned. */
struct work {
	void *from;	 /* a row */
	double *values;	 /* a row */
	float *to;	 /* a row */
	uint8_t *chosen; /* all samples */
	double *D;	 /* all samples */
};

static void
run(const struct args *args, const struct distance_shape *s, struct raw_in *in, enum img_type type,
    const struct work *w, struct raw_out *out, struct stats *st)
{
	const size_t rows = s->h * s->depth;

	for (size_t i = 0; i < rows; i++) {
		raw_read(in, w->from, s->w);
		sample_threshold(w->chosen + i * s->w, w->values, w->from, type, s->w, NAN);
	}
	stats_charge(st, STATS_READ);
	if (distance(s, par_threads(args->common.threads), w->chosen, w->D))
		raw_die(in, "no memory for the lines of %zu threads",
			(size_t)par_threads(args->common.threads));
	stats_charge(st, STATS_COMPUTE);
	for (size_t i = 0; i < rows; i++) {
		sample_store(w->to, w->D + i * s->w, IMG_F32, s->w);
		raw_write(out, w->to, s->w);
	}
	stats_charge(st, STATS_WRITE);
}

static void
convert_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;
	size_t n;
	const struct distance_shape s = shape_of(args, in, x, &n);
	const size_t all = s.w * s.h * s.depth;
	struct work w = {weir_xalloc(s.w, 8), weir_xalloc(s.w, sizeof(double)),
			 weir_xalloc(s.w, sizeof(float)), weir_xalloc_large(all, 1),
			 weir_xalloc_large(all, sizeof(double))};
	struct img y;

	img_copy_head(&y, x);
	y.type = IMG_F32;
	y.format = IMG_RAW;
	img_drop_key(&y, "maxval");
	bands_renew(&y);
	opt_add_history(&y, &args->common);
	raw_head(out, &y);
	img_free(&y);
	for (size_t i = 0; i < n; i++)
		run(args, &s, in, x->type, &w, out, st);
	weir_free_all(w.from, w.values, w.to, w.chosen, w.D);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, NULL, convert_item, NULL};
	struct args args = {.common.as = RAW_AS_RAW};

	return raw_each(&filter, argc, argv, &args);
}
