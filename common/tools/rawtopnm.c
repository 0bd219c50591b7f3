/* rawtopnm: shows items as PGM and PPM pictures, and converts integer items exactly. tone.c does the arithmetic. */

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "common/picture/ranks.h"
#include "common/picture/tone.h"
#include "common/stream/axes.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawtopnm";

struct args {
	struct opt_common common;
	const char *range;
	double gamma;
	int maxval;
	bool log, diverging, labels;
	struct opt_list slice;

	struct tone_end end[2]; /* the value of --range */
	struct slice cut[IMG_MAXDIM];
	size_t ncut;
};

static const struct opt table[] = {
    {0, "range", OPT_STR, AT(range), "RANGE", "LO:HI, minmax, or percentiles as p1:p99",
     .words = "minmax"},
    {0, "gamma", OPT_ABOVE, AT(gamma), "G", "brightness is the 1/G-th power (1)"},
    {0, "maxval", OPT_INT, AT(maxval), "N", "the brightest level (the item's, or 255)", 1, 65535},
    {0, "log", OPT_FLAG, AT(log), NULL, "show logarithms"},
    {0, "signed", OPT_FLAG, AT(diverging), NULL, "show negative blue, zero white, positive red"},
    {0, "labels", OPT_FLAG, AT(labels), NULL, "show each number in a colour of its own, 0 black"},
    {0, "slice", OPT_LIST, AT(slice), "AXIS:INDEX", "show only this place of that axis, from 0"},
    {0}};

static const struct opt_program program = {
    .what = "Turns raw items into PGM and PPM pictures; integers are kept as they are.",
    .example = "rawtopnm --range=p1:p99 picture.nrrd >picture.pgm",
    .table = table,
    .common = OPT_THREADS};

static void
check(void *options)
{
	struct args *args = options;

	args->common.threads = par_threads(args->common.threads);
	if (args->range && tone_parse_range(args->range, args->end))
		die_usage(
		    "--range: '%s' is not LO:HI, two numbers or percentiles p0 to p100, or minmax",
		    args->range);
	if (args->diverging && args->log)
		die_usage("--signed excludes --log");
	if (args->labels &&
	    (args->diverging || args->log || args->range || args->maxval || args->gamma != 1))
		die_usage("--labels excludes --range, --gamma, --maxval, --log and --signed");
	if (args->log && args->range &&
	    ((!args->end[0].is_percentile && args->end[0].v <= 0) ||
	     (!args->end[1].is_percentile && args->end[1].v <= 0)))
		die_usage("--range: '%s' with --log must be positive", args->range);
	for (; args->ncut < args->slice.n; args->ncut++) {
		const char *text = args->slice.v[args->ncut];
		if (args->ncut == IMG_MAXDIM)
			die_usage("--slice: more than %d of them", IMG_MAXDIM);
		if (slice_parse(text, &args->cut[args->ncut]))
			die_usage(
			    "--slice: '%s' is not AXIS:INDEX, an axis in 0..%d and a place on it",
			    text, IMG_MAXDIM - 1);
	}
}

/* --- which levels an item gets --------------------------------------------------------------- */

static const struct tone_end extremes[2] = {{true, 0}, {true, 100}};

/* The maxval of an item: its key, or else that of its integer type. Floats without the key have none: 0. */
static unsigned
own_maxval(const struct img *x)
{
	if (img_maxval(x) || img_is_float(x->type))
		return img_maxval(x);
	return img_type_size(x->type) == 1 ? 255 : 65535;
}

/* Whether the samples are levels already and no option changes them. */
static bool
as_they_are(const struct args *args, const struct img *x)
{
	return own_maxval(x) && !img_is_complex(x) && !args->range && args->gamma == 1 &&
	       (!args->maxval || (unsigned)args->maxval == own_maxval(x)) && !args->log &&
	       !args->diverging && !args->labels;
}

static struct tone
choose_tone(const struct args *args, const struct img *x)
{
	struct tone t = {.log = args->log,
			 .diverging = args->diverging,
			 .labels = args->labels,
			 .gamma = args->gamma,
			 .maxval = own_maxval(x) ? own_maxval(x) : 255,
			 .threads = args->common.threads};

	if (args->maxval || args->labels)
		t.maxval = args->labels ? 255 : (unsigned)args->maxval;
	if (!args->range && own_maxval(x) && !img_is_complex(x) && !t.log && !t.diverging)
		t.hi = own_maxval(x);
	else if (!t.labels)
		tone_find_range(&t, args->range ? args->end : extremes, x);
	return t;
}

/* --- reading and writing --------------------------------------------------------------------- */

/* Dies when the options do not fit the item. */
static void
refuse(const struct args *args, const struct raw_in *in, const struct img *x)
{
	const bool complex = img_is_complex(x);
	struct img_picture p;

	if (!img_picture(x, &p))
		raw_die(in, "it has more axes than pictures have; cut them with --slice");
	if ((args->diverging || args->labels) && complex)
		raw_die(in, "--%s: complex samples have no %s; choose a part with --slice=0:0",
			args->labels ? "labels" : "signed", args->labels ? "numbers" : "sign");
	if ((args->diverging || args->labels) && p.c > 1 && !complex)
		raw_die(in, "--%s: it has colours already; choose one with --slice=0:0",
			args->labels ? "labels" : "signed");
}

enum { BLOCK = 1 << 18 }; /* values at a time */

static void
put(const struct tone *t, const struct img *x, const struct img *y, struct raw_out *out,
    struct stats *st)
{
	const size_t n = ranks_view(x, false).n, planes = tone_planes(t);
	void *level = weir_xalloc(BLOCK * planes, img_type_size(y->type));

	raw_head(out, y);
	for (size_t at = 0; at < n; at += BLOCK) {
		const size_t some = n - at < BLOCK ? n - at : BLOCK;
		tone_levels(t, x, at, some, level);
		stats_charge(st, STATS_COMPUTE);
		raw_write(out, level, some * planes);
		stats_charge(st, STATS_WRITE);
	}
	weir_free(level);
}

static void
convert_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;
	struct why why;
	struct tone t = {.threads = args->common.threads};
	struct img y;
	size_t count;
	const bool premultiplied = alpha_of(x) == ALPHA_PREMULTIPLIED;

	if (!args->ncut && as_they_are(args, x) && !premultiplied &&
	    (x->type == IMG_U8 || x->type == IMG_U16)) {
		raw_copy(in, out, x, args->common.quiet, st);
		return;
	}
	if (premultiplied) { /* those of PAM are not */
		raw_load(in, x);
		img_count(x, &count);
		alpha_divide(x, x->data, count / x->axis[0].n);
	} else {
		raw_map(in, x);
	}
	stats_charge(st, STATS_READ);
	if (slice_apply(x, args->cut, args->ncut, &why))
		raw_die(in, "--slice: %s", why.text);
	refuse(args, in, x);
	if (as_they_are(args, x) && !img_is_float(x->type)) {
		tone_find_range(&t, extremes, x);
		if (t.lo < 0 || t.hi > own_maxval(x))
			raw_die(in, "samples %.0f to %.0f do not fit 0 to %u; choose with --range",
				t.lo, t.hi, own_maxval(x));
		if (t.hi > 0 && t.hi < own_maxval(x) / 64 && !args->common.quiet)
			warn("%s: item %zu: levels up to %.0f of %u look black; see --labels and "
			     "--range=minmax",
			     raw_name(in), raw_item(in), t.hi, own_maxval(x));
	}
	t = choose_tone(args, x);
	if (args->common.verbose && !t.labels)
		warn("%s: item %zu: %.9g to %.9g become 0 to %u", raw_name(in), raw_item(in),
		     real_shown(t.lo), real_shown(t.hi), t.maxval);
	if (tone_make_table(&t, x))
		raw_die(in, "no memory");
	img_copy_head(&y, x);
	y.type = t.maxval < 256 ? IMG_U8 : IMG_U16;
	img_set_key(&y, "maxval", "%u", t.maxval);
	if (img_is_complex(x))
		img_drop_axis(&y, 0);
	if (tone_planes(&t) > 1)
		img_insert_axis(&y, 0, 3, "RGB-color");
	put(&t, x, &y, out, st);
	weir_free(t.table);
	img_free(&y);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, convert_item, NULL};
	struct args args = {.common.as = RAW_AS_PNM, .gamma = 1};

	return raw_each(&filter, argc, argv, &args);
}
