#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/stream/axes.h"
#include "radon/stream/gathers.h"

/* The names of curves in --curve and radon_curve:=, indexed by enum radon_curve. */
enum { RADON_CURVES = RADON_HYPERBOLIC + 1 };

struct gathers {
	struct raw_in *in;
	const struct gathers_options *o;
	struct img item;      /* the current item's head; dim 0: none */
	bool stack;	      /* its last axis counts gathers */
	size_t planes, plane; /* of the item */
	size_t from, to;      /* those of its planes that are in the share */
	size_t per;	      /* the numbers of an offset: x, or with two axes of curves x and y */
	double *offset;	     /* owned: the item's offsets, of nx traces for each plane or for all */
	size_t noffset;	     /* numbers */
	const double *taken; /* the offsets of the plane */
	double *file;	     /* owned: all numbers of the offsets file */
	/* at: the numbers used so far, when the file has offsets for more than one gather. */
	size_t nfile, at;
	struct radon_options shape; /* of the item's gathers; without g */
	enum radon_curve curve;
	double reference, depth, azimuth;
	size_t rows, n; /* of a plane of the input: traces or curves, samples */
	size_t skip;	/* the place of its first sample in a row of the transform */
	float peak;	/* the largest magnitude of the plane */
	void *raw;	/* owned: one row in the item's type */
	double *wide;	/* owned: the same row in double */
};

/* ---- offsets ---- */

/*
 * Finds the item's offsets from its keys or its trace axis, into s->offset: pairs, or their distances from 0. It finds none when a
 * file gives them instead.
 */
static void
offsets_of_item(struct gathers *s)
{
	struct why why;

	weir_free(s->offset);
	s->offset = NULL;
	s->noffset = 0;
	if (s->file)
		return;
	s->offset =
	    axiskeys_offsets(&s->item, s->per, s->shape.mode != RADON_MODEL, &s->noffset, &why);
	if (!s->offset)
		raw_die(s->in, "%s", why.text);
}

/*
 * Returns the number of traces of a plane. A panel without the key radon_gather has one trace for each offset. Dies when the
 * number of offsets does not suit the traces.
 */
static size_t
offsets_count(const struct gathers *s)
{
	const bool model = s->shape.mode == RADON_MODEL;
	const size_t given = (s->file ? s->nfile : s->noffset) / s->per;
	const size_t nx = !model		    ? s->item.axis[1].n
			  : s->file || !s->shape.nx ? given
						    : s->shape.nx;

	if (s->file && s->nfile % s->per)
		die("%s: %zu numbers are not pairs of x and y", s->o->offsets, s->nfile);
	if (!s->file && given != nx && given != nx * s->planes)
		raw_die(s->in, "%zu offsets for %zu traces", given, nx);
	return nx;
}

/* Finds g of an offset; dies when the offset has no curve. */
static double
curve_at(const struct gathers *s, double x)
{
	double g;

	if (!radon_curve(s->curve, x, s->reference, s->depth, &g))
		raw_die(s->in, "the offset %g has no curve at reference offset %g, depth %g", x,
			s->reference, s->depth);
	return g;
}

/* Finds g and h of the offset v, one number or two. */
static void
curves_at(const struct gathers *s, const double *v, double *g, double *h)
{
	const double angle = s->azimuth * M_PI / 180, along = cos(angle), across = sin(angle);

	if (s->per == 1) {
		*g = curve_at(s, v[0]);
		*h = 0;
		return;
	}
	*g = curve_at(s, v[0] * along + v[1] * across);
	*h = curve_at(s, v[1] * along - v[0] * across);
}

static double
distance_of(const struct gathers *s, const double *v)
{
	return s->per == 2 ? hypot(v[0], v[1]) : v[0];
}

static double
farthest(const struct gathers *s)
{
	const double *v = s->file ? s->file : s->offset;
	double most = 0;

	for (size_t i = 0; i < (s->file ? s->nfile : s->noffset); i += s->per)
		most = fmax(most, fabs(distance_of(s, v + i)));
	return most;
}

/* Finds the range of moveouts over the item, into s->shape, so that all panels of the item have one time axis. */
static void
offsets_range(struct gathers *s)
{
	const double *v = s->file ? s->file : s->offset;
	const size_t n = (s->file ? s->nfile : s->noffset) / s->per;
	double g, h;

	s->shape.least = s->shape.most = 0;
	for (size_t i = 0; i < n && s->planes > 1; i++) {
		curves_at(s, v + i * s->per, &g, &h);
		radon_widen(&s->shape, g, h, &s->shape.least, &s->shape.most);
	}
}

static void
curves_take(const struct gathers *s, const double *v, struct gather *g)
{
	for (size_t j = 0; j < s->shape.nx; j++)
		curves_at(s, v + j * s->per, &g->g[j], &g->h[j]);
}

/* Sets g and h of the next plane. Its offsets come from the file, or are those of all planes, or the plane's own. */
static void
offsets_take(struct gathers *s, struct gather *g)
{
	const size_t nx = s->shape.nx, n = nx * s->per;
	const double *from = s->noffset == n ? s->offset : s->offset + s->plane * n;

	if (s->file && s->nfile == n) {
		from = s->file;
	} else if (s->file) {
		if (s->nfile - s->at < n * (s->plane ? 1 : s->planes))
			die("%s: %zu numbers: neither %zu, the %s of a gather, nor those of all "
			    "gathers",
			    s->o->offsets, s->nfile, n, s->per == 2 ? "pairs" : "traces");
		from = s->file + s->at;
		s->at += n;
	}
	curves_take(s, from, g);
	s->taken = from;
}

/* Dies when an offset of this plane, or of a later one of the item, is far from most others. g and h are changed. */
static void
refuse_odd(const struct gathers *s, struct gather *g, double most, double length)
{
	const size_t n = s->shape.nx * s->per, end = s->noffset > n ? s->planes : s->plane + 1;

	for (size_t k = s->plane; k < end; k++) {
		const double *v = k > s->plane ? s->offset + k * n : s->taken;
		curves_take(s, v, g);
		const size_t j = gather_find_odd(&g->o);
		if (j != SIZE_MAX)
			raw_die(s->in, "gather %zu: trace %zu: " GATHERS_ODD, k + 1, j + 1,
				distance_of(s, v + j * s->per), most, length);
	}
}

/* ---- rows ---- */

/* Samples that are read at a time. They stay in the cache while they are looked at. */
enum { BLOCK = 1 << 16 };

/* Makes room for rows of n samples in *x, which has room for *has samples. Dies when there is no memory. */
static void
rows_room(float **x, size_t *has, size_t rows, size_t n)
{
	size_t want;

	if (!weir_mul(rows, n, &want))
		die("a gather of %zu x %zu samples is too large", rows, n);
	if (*has >= want && *x)
		return;
	weir_free(*x);
	*x = weir_xalloc_large(want, sizeof **x);
	*has = want;
}

/* Looks at a row. NaN and infinity become 0 or are fatal. Returns whether any sample is not 0. */
static bool
check_row(struct gathers *s, size_t row, float *x)
{
	float peak = radon_peak(x, s->n);
	const bool bad = !isfinite(peak);
	for (size_t i = 0; bad && i < s->n; i++)
		if (!isfinite(x[i]) && !s->o->nan_is_zero)
			raw_die(s->in,
				"gather %zu: %s %zu: sample %zu is %g; --nan=zero takes it for 0",
				s->plane + 1, s->shape.mode == RADON_MODEL ? "curve" : "trace",
				row + 1, i + 1,
				real_shown(s->item.type == IMG_F32 ? (double)x[i] : s->wide[i]));
		else if (!isfinite(x[i]))
			x[i] = 0;
	if (bad)
		peak = radon_peak(x, s->n);
	s->peak = fmaxf(s->peak, peak);
	return peak > 0;
}

/* Multiplies n samples by a power of 2. Returns false when one is then too large for a float. */
static bool
rows_multiply(float *x, size_t n, double by)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (float)((double)x[i] * by);
	return isfinite(radon_peak(x, n));
}

/*
 * Multiplies n samples by a power of 2 when they are so large or small that their squares would leave the range of floats.
 * Amplitudes of 1e-20 occur in real files.
 */
static void
normalise(const struct gathers *s, struct gather *g, float *x, size_t n)
{
	const int e = s->peak > 0 ? ilogbf(s->peak) : 0;

	g->exponent = abs(e) > 32 ? e : 0;
	if (g->exponent)
		rows_multiply(x, n, ldexp(1, -g->exponent));
}

/*
 * Returns the plane in the mapped file, where nothing need be converted or read in between; else NULL. Smaller planes are read:
 * a page that is mapped for one use costs more than its copy to memory that is used again.
 */
static float *
map_plane(struct gathers *s, struct gather *g, size_t n)
{
	enum { WORTH_MAPPING = 1 << 20 };
	const size_t count = s->rows * n;

	img_free(&g->map);
	if (s->item.type != IMG_F32 || s->n != n || count * sizeof(float) < WORTH_MAPPING ||
	    !raw_try_view(s->in, count, &g->map))
		return NULL;
	return g->map.data;
}

/* Reads the samples of the next plane into g->in, and finds g->live and g->exponent. */
static void
rows_read(struct gathers *s, struct gather *g)
{
	const bool inverse = s->shape.mode == RADON_LSQ || s->shape.mode == RADON_SPARSE;
	const size_t n = s->shape.mode == RADON_MODEL ? g->ntau : s->n;

	/* where rows follow each other here as in the file, several are read at once */
	const bool dense = s->item.type == IMG_F32 && s->n == n;
	const size_t block = dense && n < BLOCK ? BLOCK / n : 1;
	float *const mapped = map_plane(s, g, n);

	if (!mapped)
		rows_room(&g->rows, &g->room_in, s->rows, n);
	if (!mapped && s->n < n) /* what the file does not have of the rows is 0 */
		memset(g->rows, 0, s->rows * n * sizeof *g->rows);
	float *const x = mapped ? mapped : g->rows;
	s->peak = 0;
	g->in = x;
	for (size_t j = 0; j < g->o.nx; j++)
		g->live[j] = true;
	for (size_t r = 0; r < s->rows; r++) {
		float *const row = x + r * n + s->skip;
		const size_t left = s->rows - r;
		if (!mapped && s->item.type != IMG_F32) {
			raw_read(s->in, s->raw, s->n);
			sample_load(s->wide, s->raw, s->item.type, s->n);
			for (size_t i = 0; i < s->n; i++)
				row[i] = (float)s->wide[i];
		} else if (!mapped && r % block == 0)
			raw_read(s->in, row, (left < block ? left : block) * s->n);
		const bool any = check_row(s, r, row);
		if (inverse)
			g->live[r] = any;
	}
	if (mapped)
		raw_skip(s->in, s->rows * n);
	normalise(s, g, x, s->rows * n);
	g->loud_trace = SIZE_MAX;
	g->whole = NULL;
	g->report.explained = NULL;
	if (inverse && s->o->balance != BALANCE_YES)
		gather_find_loud(g);
	if (s->o->balance == BALANCE_YES ||
	    (s->o->balance == BALANCE_AUTO && s->shape.subtract && g->uneven &&
	     (s->shape.mode == RADON_SPARSE || gather_suits_balance(g))))
		gather_balance(g);
}

/* ---- headers ---- */

static const char *const radon_curve_names[RADON_CURVES] = {"parabolic", "linear", "foster-mosher",
							    "hyperbolic"};

static void
key_offsets(const struct gathers *s, struct img *x, const double *v, size_t n)
{
	img_drop_key(x, "offsets");
	img_drop_key(x, "offset-x");
	img_drop_key(x, "offset-y");
	if (s->per == 1) {
		axiskeys_set_numbers(x, "offsets", v, n, 1);
		return;
	}
	axiskeys_set_numbers(x, "offset-x", v, n / 2, 2);
	axiskeys_set_numbers(x, "offset-y", v + 1, n / 2, 2);
}

/*
 * Writes what traces:= has for a new trace at x, by the offsets and numbers of m traces: the number of one at the same offset, or
 * a:b:w where it lies at the part w of the way from trace a, the nearest, to b, the nearest on the other side or, beyond the
 * last, on the same. Returns the length.
 */
static size_t
put_between(char *to, double x, const double *offset, const double *number, size_t m)
{
	double least[2] = {INFINITY, INFINITY}, far = 0;
	size_t near[2] = {0};

	for (int i = 0; i < 2; i++) {
		near[i] = near[0];
		for (size_t k = 0; k < m; k++) {
			const double d = offset[k] - x, a = offset[near[0]] - x,
				     cost = fabs(d) + (i && d * a > 0 ? far : 0);
			if (isfinite(number[k]) && cost < least[i] && !(i && d == a)) {
				least[i] = cost;
				near[i] = k;
			}
			far = fmax(far, fabs(d));
		}
	}
	const double from = offset[near[0]], way = offset[near[1]] - from;

	if (least[0] == 0)
		return (size_t)sprintf(to, "%.15g ", number[near[0]]);
	return (size_t)sprintf(to, "%.15g:%.15g:%.15g ", number[near[0]], number[near[1]],
			       way != 0 ? (x - from) / way : 0);
}

/* The same for a new trace in a plane: a:b:0, where it lies at neither of the nearest two. */
static size_t
put_nearest(char *to, const double x[2], const double *offset, const double *number, size_t m)
{
	double least[2] = {INFINITY, INFINITY};
	size_t near[2] = {0};

	for (size_t k = 0; k < m; k++) {
		const double d = hypot(offset[2 * k] - x[0], offset[2 * k + 1] - x[1]);
		const int i = d < least[0] ? 0 : 1;
		if (!isfinite(number[k]) || !(d < least[i]))
			continue;
		least[1] = i ? d : least[0];
		near[1] = i ? k : near[0];
		least[0] = i ? least[0] : d;
		near[0] = i ? near[0] : k;
	}
	return least[0] == 0
		   ? (size_t)sprintf(to, "%.15g ", number[near[0]])
		   : (size_t)sprintf(to, "%.15g:%.15g:0 ", number[near[0]], number[near[1]]);
}

/* Says by traces:= which traces of a file those at the offsets x lie between; `planes` of s->shape.nx of them, or 1. */
static void
key_between(const struct gathers *s, struct img *y, const double *x, size_t planes)
{
	const char *text = img_key(y, "traces"), *gather = img_key(y, "radon_gather");
	const size_t n = text ? axiskeys_count(text) : 0, nx = s->shape.nx, per = s->per;
	double *number = weir_xalloc(n, sizeof *number), *offset = NULL;
	size_t m, offsets = 0;
	struct why why;

	if (gather && word_size(&gather, 1, &m) && word_reals(text, ' ', number, n) == n)
		offset = axiskeys_offsets(y, per, false, &offsets, &why);
	img_drop_key(y, "traces");
	if (offset && n && n % m == 0 && offsets % (per * m) == 0) {
		const size_t rows = n > m || offsets > per * m ? s->planes : planes;
		char *list = weir_xalloc(rows * nx, 3 * 25), *t = list;
		for (size_t j = 0; j < rows * nx; j++) {
			const double *at = x + per * (j % (planes * nx)),
				     *from = offset + per * m * (j / nx) % offsets,
				     *of = number + j / nx * m % n;
			t += per == 2 ? put_nearest(t, at, from, of, m)
				      : put_between(t, *at, from, of, m);
		}
		t[-1] = 0;
		img_set_key(y, "traces", "%s", list);
		weir_free(list);
	}
	weir_free_all(offset, number);
}

/* Sets the item's offsets from the file. They are the same for all planes, or those of its planes one after the other. */
static void
key_of_file(const struct gathers *s, struct img *x)
{
	const size_t n = s->shape.nx * s->per, planes = s->nfile == n ? 1 : s->planes;
	const double *v = s->nfile == n ? s->file : s->file + s->at - (s->plane + 1) * n;

	if (s->shape.mode == RADON_MODEL)
		key_between(s, x, v, planes);
	key_offsets(s, x, v, planes * n);
}

static const char *
or_none(const char *text)
{
	return text && *text ? text : "-";
}

static void
set_curves(struct img_axis *q, size_t n, double first, double apart, const char *label)
{
	q->n = n;
	q->min = first;
	q->spacing = n > 1 ? apart : NAN;
	img_set_label(q, label);
	img_set_unit(q, "s");
}

static void
head_of_panel(const struct gathers *s, struct gather *g)
{
	const struct gathers_options *o = s->o;
	struct img *x = &g->head;
	struct img_axis *t = &x->axis[0], *q = &x->axis[1];
	const size_t nr = g->o.nr;

	img_leave_space(x);
	img_drop_key(x, "tile");
	img_set_key(x, "radon_curve", "%s %.17g %.17g", radon_curve_names[s->curve], s->reference,
		    s->depth);
	img_set_key(x, "radon_gather", "%zu %zu %.17g", g->o.nx, g->o.nt, g->o.t0);
	img_set_key(x, "radon_trace", "%.17g %.17g %s %s", q->min, q->spacing, or_none(q->unit),
		    or_none(q->label));
	if (s->file)
		key_of_file(s, x);
	else if (!nr && !img_key(x, "offsets"))
		key_offsets(s, x, s->offset, s->noffset);
	t->n = o->cut ? g->o.nt : g->ntau;
	t->min = o->cut ? g->o.t0 : g->o.t0 - (double)g->lead * g->o.dt;
	set_curves(q, nr ? g->o.nq / nr : g->o.nq, g->o.q0, g->o.dq, nr ? "qx" : "q");
	img_set_label(t, "tau");
	img_set_unit(t, "s");
	if (s->curve == RADON_HYPERBOLIC)
		img_set_unit(q, "s^2");
	if (!nr)
		return;
	img_set_key(x, "radon_azimuth", "%.17g", s->azimuth);
	img_insert_axis(x, 2, nr, q->kind);
	set_curves(&x->axis[2], nr, g->o.r0, g->o.dr, "qy");
}

static void
head_of_gather(const struct gathers *s, struct gather *g)
{
	const char *key = img_key(&s->item, "radon_trace");
	struct img *x = &g->head;
	struct img_axis *t = &x->axis[0], *a = &x->axis[1];
	char unit[64] = "-", label[64] = "trace";

	img_leave_space(x);
	img_drop_key(x, "tile");
	if (s->file)
		key_of_file(s, x);
	t->n = g->o.nt;
	t->min = g->o.t0;
	a->n = g->o.nx;
	a->min = a->spacing = NAN;
	if (key && sscanf(key, "%lf %lf %63s %63[^\n]", &a->min, &a->spacing, unit, label) < 3)
		a->min = a->spacing = NAN;
	if (s->file)
		a->min = a->spacing = NAN;
	img_set_label(t, "t");
	img_set_label(a, strcmp(label, "-") ? label : NULL);
	img_set_unit(a, strcmp(unit, "-") ? unit : NULL);
	if (s->per == 2)
		img_drop_axis(x, 2);
	img_drop_key(x, "radon_azimuth");
	img_drop_key(x, "radon_curve");
	img_drop_key(x, "radon_gather");
	img_drop_key(x, "radon_trace");
}

/* Makes g->head, the head of the result of the current item. g is the item's first gather. */
static void
head_of_result(const struct gathers *s, struct gather *g)
{
	img_copy_head(&g->head, &s->item);
	g->head.type = IMG_F32;
	g->head.format = IMG_RAW;
	if (g->o.mode == RADON_MODEL)
		head_of_gather(s, g);
	else if (!g->o.subtract)
		head_of_panel(s, g);
	opt_add_history(&g->head, s->o->common);
}

/* ---- keys ---- */

/* Reads the keys of a panel: curve, reference, depth and the shape of the gather. */
static void
keys_read(struct gathers *s)
{
	const char *curve = img_key(&s->item, "radon_curve"),
		   *gather = img_key(&s->item, "radon_gather");
	char name[32];
	double x, z, t0;
	size_t nx, nt;

	if (curve && !(s->o->curve_given && s->o->reference > 0)) {
		if (sscanf(curve, "%31s %lf %lf", name, &x, &z) != 3)
			raw_die(s->in, "radon_curve:=%s is not a curve, an offset and a depth",
				curve);
		int i = 0;
		while (i < RADON_CURVES && strcmp(name, radon_curve_names[i]))
			i++;
		if (i == RADON_CURVES)
			raw_die(s->in, "radon_curve:=%s is no curve", name);
		if (!s->o->curve_given) {
			s->curve = (enum radon_curve)i;
			s->depth = z;
		}
		if (!(s->o->reference > 0))
			s->reference = x;
	}
	if (gather) {
		const char *at = gather;
		if (!word_size(&at, 1, &nx) || !word_size(&at, 1, &nt) || nt > 1 << 28 ||
		    !opt_number(at + (*at == ' '), &t0) || !isfinite(t0))
			raw_die(s->in, "radon_gather:=%s is no traces, samples and a time", gather);
		s->shape.nx = nx;
		s->shape.nt = nt;
		s->shape.t0 = t0;
	}
	if (s->per == 2 && (sscanf(img_key(&s->item, "radon_azimuth"), "%lf", &s->azimuth) != 1 ||
			    !isfinite(s->azimuth)))
		raw_die(s->in, "radon_azimuth:=%s is no angle", img_key(&s->item, "radon_azimuth"));
}

/* Dies when other options do not suit two axes of curves. */
static void
keys_have_two_axes(struct gathers *s)
{
	if (s->curve != RADON_PARABOLIC && s->curve != RADON_LINEAR)
		raw_die(s->in, "%s curves have no second axis", radon_curve_names[s->curve]);
	if (s->shape.method == RADON_TIME || s->shape.method == RADON_USFFT2D)
		raw_die(s->in, "--method: two axes of curves go with auto, nufft and recurrence");
	if (s->o->gpu)
		raw_die(s->in, "-g: two axes of curves do not run on the GPU");
}

/* Hyperbolic curves go with --method=time alone, which has no band. Sets the method, and dies when other options do not suit. */
static void
keys_be_hyperbolic(struct gathers *s)
{
	s->shape.hyperbolic = true;
	s->shape.method = RADON_TIME;
	if (!(s->shape.q0 >= 0))
		raw_die(s->in, "hyperbolic curves from q = %g on: q is (X/v)^2, 0 or more",
			s->shape.q0);
	if (s->o->gpu)
		raw_die(s->in, "hyperbolic curves do not run on the GPU");
	if (s->shape.fmin > 0 || s->shape.fmax > 0)
		raw_die(s->in, "--fmin and --fmax: hyperbolic curves have no band");
	if (s->shape.nt < 2)
		raw_die(s->in, "traces of one sample have no hyperbolic curves");
}

/* ---- gathers ---- */

/* A moveout longer than this many times the length of the traces comes from a wrong unit. */
static const double FAR = 16;

/* --- items --------------------------------------------------------------------------------------------------------- */

/* Finds the curves of a panel from an axis. */
static void
curves_of_axis(const struct gathers *s, int axis, size_t *n, double *first, double *apart)
{
	const struct img_axis *q = &s->item.axis[axis];

	*n = q->n;
	*first = q->min;
	*apart = q->n > 1 ? q->spacing : 0;
	if (!isfinite(q->min) || (q->n > 1 && !(q->spacing > 0 && isfinite(q->spacing))))
		raw_die(s->in,
			"axis %d is no axis of curves: it needs a first q and a spacing above 0",
			axis);
}

/* Finds the curves of a panel from its axes, and the rest from its keys. */
static void
shape_of_panel(struct gathers *s)
{
	curves_of_axis(s, 1, &s->shape.nq, &s->shape.q0, &s->shape.dq);
	s->shape.nr = 0;
	if (s->per == 2) {
		curves_of_axis(s, 2, &s->shape.nr, &s->shape.r0, &s->shape.dr);
		s->shape.nq *= s->shape.nr;
		s->rows = s->shape.nq;
	}
	keys_read(s);
}

static void
check_band_and_filter(const struct gathers *s)
{
	const struct radon_adapt_options *a = &s->shape.adapt;
	const double nyquist = .5 / s->shape.dt;

	if (s->shape.fmax > nyquist * (1 + 1e-9))
		raw_die(s->in, "--fmax=%g is above Nyquist, %g Hz", s->shape.fmax, nyquist);
	if (s->shape.fmin > nyquist)
		raw_die(s->in, "--fmin=%g is above Nyquist, %g Hz", s->shape.fmin, nyquist);
	if (a->filter > 0 && !(a->filter / s->shape.dt < RADON_MAXFILTER))
		raw_die(s->in, "--adapt: a filter of %g s has more than %d samples", a->filter,
			RADON_MAXFILTER);
}

/* Has an item two axes of curves, as a panel to model from or for its result? */
static bool
has_two_axes(const struct gathers_options *o, const struct img *x)
{
	return o->radon.mode == RADON_MODEL ? img_key(x, "radon_azimuth") != NULL : o->radon.nr > 0;
}

/* The axes of one gather or panel of the input. */
static int
axes_of_plane(const struct gathers_options *o, const struct img *x)
{
	return o->radon.mode == RADON_MODEL && has_two_axes(o, x) ? 3 : 2;
}

static void
begin_item(struct gathers *s)
{
	const struct img *x = &s->item;
	const int axes = axes_of_plane(s->o, x);
	struct why why;

	if (x->dim < axes || x->dim > axes + 1 || img_is_complex(x))
		raw_die(s->in, "not a gather: real, sizes `t trace` or `t trace gather`");
	s->stack = x->dim > axes;
	s->planes = gathers_count(s->o, x);
	s->per = has_two_axes(s->o, x) ? 2 : 1;
	s->plane = 0;
	s->rows = x->axis[1].n;
	s->n = x->axis[0].n;
	if (img_key(x, "tile"))
		warn("%s: item %zu: a part of a picture (tile:=%s): what lies beyond its sides is "
		     "not seen; see rawjoin",
		     raw_name(s->in), raw_item(s->in), img_key(x, "tile"));
	s->shape = s->o->radon;
	s->curve = s->o->curve;
	s->reference = s->o->reference;
	s->depth = s->o->depth;
	s->azimuth = s->o->azimuth;
	if (axiskeys_times(x, &s->shape.dt, &s->shape.t0, &why))
		raw_die(s->in, "%s", why.text);
	s->shape.nt = s->n;
	check_band_and_filter(s);
	if (s->shape.mode == RADON_MODEL)
		shape_of_panel(s);
	if (s->per == 2)
		keys_have_two_axes(s);
	if (s->curve == RADON_HYPERBOLIC)
		keys_be_hyperbolic(s);
	offsets_of_item(s);
	s->shape.nx = offsets_count(s);
	if (!(s->reference > 0))
		die_usage("%s: -X is required; the farthest offset is -X %g", raw_name(s->in),
			  farthest(s));
	offsets_range(s);
	weir_free_all(s->raw, s->wide);
	s->raw = weir_xalloc(s->n, 8);
	s->wide = weir_xalloc(s->n, sizeof *s->wide);
}

/* --- gathers ------------------------------------------------------------------------------------------------------- */

void
gather_room(struct gather *g, size_t nx)
{
	if (g->room_x >= nx && g->g)
		return;
	weir_free_all(g->g, g->h, g->live);
	g->g = weir_xalloc(nx, sizeof *g->g);
	g->h = weir_xalloc(nx, sizeof *g->h);
	g->live = weir_xalloc(nx, sizeof *g->live);
	g->room_x = nx;
}

/*
 * Makes the time axis of the transform long enough for the input panel, even when the offsets need less. Returns the samples of the
 * panel before the gather's first time.
 */
static double
hold_panel(const struct gathers *s, struct gather *g)
{
	const double tau = isfinite(s->item.axis[0].min) ? s->item.axis[0].min : 0;
	const double before = (g->o.t0 - tau) / g->o.dt,
		     after = (double)s->n - (double)g->o.nt - before;

	if (!(fabs(before - rint(before)) < 1e-3 && fabs(before) < 1 << 28))
		raw_die(s->in,
			"a panel from %g s on lies between the samples of a gather from %g s on",
			tau, g->o.t0);
	g->o.lead = before > .5 ? (size_t)lrint(before) : 0;
	g->o.tail = after > .5 ? (size_t)lrint(after) : 0;
	return before;
}

/*
 * Finds the time axis of the panel. An axis far longer than the traces is an error: q is then in milliseconds, or X is in
 * another unit than the offsets. A panel may be as large as --max-bytes.
 */
static void
fit_panel(const struct gathers *s, struct gather *g)
{
	const double most = radon_moveout(&g->o), length = (double)g->o.nt * g->o.dt;
	const size_t limit = weir_limit(s->o->common->max_bytes);
	size_t bytes;

	g->odd_trace = most > length ? gather_find_odd(&g->o) : SIZE_MAX;
	if (g->odd_trace != SIZE_MAX)
		g->odd = distance_of(s, s->taken + g->odd_trace * s->per);
	if (most > FAR * length)
		refuse_odd(s, g, most, length);
	if (most > FAR * length)
		raw_die(s->in,
			"moveouts of up to %.4g s on traces of %.4g s: q is %s "
			"reference offset X, which is %.4g; see -q and -X",
			most, length,
			g->o.hyperbolic ? "(X/v)^2 in s^2 with the" : "in seconds at the",
			s->reference);
	if (!radon_fits(&g->o, &g->ntau, &g->lead) ||
	    !weir_mul(g->o.nq * sizeof(float), g->ntau, &bytes) || bytes > limit)
		raw_die(
		    s->in,
		    "a panel of %zu curves of at least %zu samples is larger than %zu bytes; see "
		    "--max-bytes",
		    g->o.nq, g->o.nt, limit);
}

/* --- the stream ---------------------------------------------------------------------------------------------------- */

struct gathers *
gathers_open(struct raw_in *in, const struct gathers_options *o)
{
	struct gathers *s = weir_xalloc(1, sizeof *s);

	*s = (struct gathers){.in = in, .o = o};
	if (o->offsets)
		s->file = axiskeys_read_numbers(o->offsets, &s->nfile);
	return s;
}

size_t
gathers_count(const void *o, const struct img *x)
{
	const int axes = axes_of_plane(o, x);

	return x->dim > axes ? x->axis[axes].n : 1;
}

/* Passes over the next n planes of the item, which are in other shares. */
static void
skip_planes(struct gathers *s, size_t n)
{
	raw_skip(s->in, n * s->rows * s->n);
	s->plane += n;
	if (s->file && s->nfile != s->shape.nx * s->per)
		s->at += n * s->shape.nx * s->per;
}

bool
gathers_next(struct gathers *s, struct gather *g)
{
	while (s->plane == s->to) {
		if (s->plane < s->planes)
			skip_planes(s, s->planes - s->plane);
		img_free(&s->item);
		if (!raw_next(s->in, &s->item) || slices_over(s->o->share, s->in))
			return false;
		begin_item(s);
		if (!slices_of(s->o->share, s->in, s->planes, &s->from, &s->to))
			s->from = s->to = s->planes;
		skip_planes(s, s->from);
	}
	gather_room(g, s->shape.nx);
	g->o = s->shape;
	g->item = raw_item(s->in);
	g->plane = s->plane;
	offsets_take(s, g);
	g->o.g = g->g;
	g->o.h = g->h;
	g->o.live = g->live;
	const double before = g->o.mode == RADON_MODEL ? hold_panel(s, g) : 0;
	fit_panel(s, g);
	s->skip = g->o.mode == RADON_MODEL ? (size_t)lrint((double)g->lead - before) : 0;
	rows_read(s, g);
	if (g->o.mode == RADON_MODEL || g->o.subtract)
		rows_room(&g->out, &g->room_out, g->o.nx, g->o.nt);
	else
		rows_room(&g->out, &g->room_out, g->o.nq, g->ntau);
	img_free(&g->head);
	if (s->plane == s->from) {
		head_of_result(s, g);
		slices_set(s->o->share, s->in, &g->head, s->stack ? g->head.dim - 1 : -1);
	}
	s->plane++;
	return true;
}

void
gathers_close(struct gathers *s)
{
	if (s->file && s->at && s->at < s->nfile && !s->o->common->share.n)
		die("%s: %zu numbers left over", s->o->offsets, s->nfile - s->at);
	img_free(&s->item);
	weir_free_all(s->offset, s->file, s->raw, s->wide, s);
}

bool
gather_like(const struct gather *a, const struct gather *b)
{
	const struct radon_options *x = &a->o, *y = &b->o;

	return x->nt == y->nt && x->nx == y->nx && x->nq == y->nq && x->nr == y->nr &&
	       x->dt == y->dt && x->t0 == y->t0 && x->q0 == y->q0 && x->dq == y->dq &&
	       x->r0 == y->r0 && x->dr == y->dr && a->ntau == b->ntau && a->lead == b->lead &&
	       x->nu == y->nu && !memcmp(a->g, b->g, x->nx * sizeof *a->g) &&
	       (!x->nr || !memcmp(a->h, b->h, x->nx * sizeof *a->h)) &&
	       !memcmp(a->live, b->live, x->nx * sizeof *a->live);
}

void
gather_put(const struct gathers_options *o, struct raw_out *out, struct gather *g)
{
	const bool gather = g->o.mode == RADON_MODEL || g->o.subtract;
	const size_t n = gather ? g->o.nx * g->o.nt : g->o.nq * g->ntau;

	if (g->exponent && !rows_multiply(g->out, n, ldexp(1, g->exponent)))
		die("item %zu: gather %zu: the results are too large for floats", g->item,
		    g->plane + 1);
	if (g->head.dim)
		raw_head(out, &g->head);
	if (gather)
		raw_write(out, g->out, n);
	else if (!o->cut)
		raw_write(out, g->out, g->o.nq * g->ntau);
	else
		for (size_t i = 0; i < g->o.nq; i++)
			raw_write(out, g->out + i * g->ntau + g->lead, g->o.nt);
}

void
gather_free(struct gather *g)
{
	img_free(&g->head);
	weir_free_all(g->g, g->h, g->live);
	img_free(&g->map);
	weir_free_all(g->rows, g->balanced, g->trace, g->out);
	*g = (struct gather){0};
}
