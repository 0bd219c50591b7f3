/* rawphot: fluxes in circles and ellipses at places of a picture. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "common/picture/world.h"

const char *const weir_prog = "rawphot";

enum { RADII = 32, NAMES = 256, EDGE = 1, MISSING = 2, NEAR = 4 };

/* The columns of --at that count. */
static const char *const columns[] = {"x", "y", "xx", "yy", "xy", "item", "label"};
enum { X, Y, XX, YY, XY, ITEM, LABEL, COLUMNS };

struct args {
	struct opt_common common;
	const char *at, *radii, *annulus, *noise, *labels;
	double radius[RADII], ring[2], deviation, gain;
	size_t nradius, n;
	bool kron;
	struct img deviations;	  /* the file of --noise, with its samples; zeroed: none */
	struct img owners;	  /* the file of --labels, with its samples; zeroed: none */
	double (*place)[COLUMNS]; /* [n], owned; NaN: the file has no such column */
	char sky[20];		  /* of the item before */

	struct world world; /* of the item, x */
	struct img_picture shape;
	size_t item;
	uint8_t *places; /* [h][w]: how many are in a pixel, 2 for more */
	double *rows;	 /* five of the picture for each thread */
};

static const struct opt table[] = {
    {0, "at", OPT_STR, AT(at), "FILE", "csv with columns x and y: the places", .required = true},
    {0, "radius", OPT_STR, AT(radii), "R,...", "radii of circles, in samples"},
    {0, "kron", OPT_FLAG, AT(kron), NULL, "ellipses of 2.5 Kron radii, by xx, yy and xy"},
    {0, "annulus", OPT_STR, AT(annulus), "IN,OUT", "subtract the clipped mean of a ring"},
    {0, "noise", OPT_STR, AT(noise), "N", "a sample's deviation, or a file of them"},
    {0, "gain", OPT_ABOVE, AT(gain), "E", "electrons in a unit of the picture"},
    {0, "labels", OPT_STR, AT(labels), "FILE",
     "samples of another label than the place do not count"},
    {0}};

static const struct opt_program program = {
    .what = "Sums samples in circles and ellipses at given places: aperture photometry.",
    .example = "rawphot --at=places.csv --radius=3 --annulus=8,12 stars.nrrd >fluxes.csv",
    .table = table,
    .common = OPT_THREADS};

/* Reads the places. The first line of the file names its columns. */
static void
read_places(struct args *args)
{
	FILE *f = file_open(args->at);
	int what[NAMES], names = 0;
	size_t room = 0, size = 0;
	char *text = NULL, *rest, *end;

	for (int line = 1; getline(&text, &size, f) > 0; line++) {
		double v[COLUMNS + 1] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
		int n = 0;
		for (char *w; n < NAMES && (w = strtok_r(n ? NULL : text, ",; \t\r\n", &rest)); n++)
			if (line == 1)
				for (what[n] = 0; what[n] < COLUMNS && strcmp(w, columns[what[n]]);)
					what[n]++;
			else if (n < names && (v[what[n]] = strtod(w, &end), *end))
				v[what[n]] = NAN;
		names = line == 1 ? n : names;
		if (line == 1 || !n)
			continue;
		const bool lacks = args->labels && isnan(v[LABEL]);
		if (n != names || !isfinite(v[X] + v[Y]) || lacks ||
		    (args->kron && !(v[XX] * v[YY] >= v[XY] * v[XY])))
			die("%s: line %d: it has no %s, or not a number for each name", args->at,
			    line,
			    lacks	 ? "label"
			    : args->kron ? "x, y, xx, yy and xy"
					 : "x and y");
		args->place = weir_xgrow(args->place, &room, args->n + 1, sizeof *args->place);
		memcpy(args->place[args->n++], v, sizeof *args->place);
	}
	if (!feof(f)) /* getline() may find no memory, too */
		die("%s: it cannot be read", args->at);
	free(text);
}

static void
check(void *options)
{
	struct args *args = options;
	double *const r = args->radius, *const ring = args->ring;
	const size_t n = args->radii ? opt_reals_upto("--radius", args->radii, ',', r, RADII) : 0;

	for (; args->nradius < n; args->nradius++)
		if (!(r[args->nradius] > 0))
			die_usage("--radius: %g is not above 0", r[args->nradius]);
	if (!n && !args->kron)
		die_usage("--radius or --kron is needed");
	if (args->annulus)
		opt_reals("--annulus", args->annulus, ',', ring, 2);
	if (args->annulus && !(ring[0] >= 0 && ring[1] > ring[0]))
		die_usage("--annulus: %s is not 0 <= IN < OUT", args->annulus);
	if (!args->noise) /* of nothing comes no error */
		args->deviation = args->annulus || args->gain > 0 ? 0 : NAN;
	else if (!opt_number(args->noise, &args->deviation))
		raw_load_file(args->noise, args->common.max_bytes, true, &args->deviations);
	if (args->labels)
		raw_load_file(args->labels, args->common.max_bytes, true, &args->owners);
	read_places(args);
}

/* Place i in samples, and its moments. Returns whether it is of the item. */
static bool
find_place(const struct args *args, size_t i, double s[COLUMNS])
{
	const double *v = args->place[i];
	double step[2];

	for (int k = 0; k < 2; k++) {
		const struct img_axis *a = &args->world.x->axis[img_row_axis(args->world.x) + k];
		step[k] = isnan(a->spacing) ? 1 : a->spacing;
		s[k] = (v[k] - (isnan(a->min) ? 0 : a->min)) / step[k];
		s[XX + k] = v[XX + k] / step[k] / step[k];
	}
	s[XY] = v[XY] / step[0] / step[1];
	s[LABEL] = v[LABEL];
	return isnan(v[ITEM]) || v[ITEM] == (double)args->item;
}

/* An ellipse about x, y, which dx / a and (dy - s dx) / b turn into the unit disc; of the thing with that label. */
struct ellipse {
	double x, y, a, b, s, label;
};

/* That of k deviations by the moments of the place. A thin one has those of a pixel, too. */
static struct ellipse
ellipse_of(const double v[COLUMNS], double k)
{
	const double more = v[XX] * v[YY] - v[XY] * v[XY] < 1. / 144 ? 1. / 12 : 0,
		     xx = v[XX] + more, s = v[XY] / xx, yy = v[YY] + more - s * v[XY];

	return (struct ellipse){v[X], v[Y],    k * sqrt(xx), k * sqrt(fmax(yy, 1. / 144)),
				s,    v[LABEL]};
}

/* The area of the disc above v = 0 and left of u, which is in -1..1. */
static double
half_disc(double u)
{
	return (u * sqrt(1 - u * u) + asin(u)) / 2 + atan(1);
}

/* An edge of a row, v = c - k u. It meets the circle at u[0] <= u[1], where it meets it, and half[] is half_disc() there. */
struct edge {
	double c, k, u[2], half[2];
};

static struct edge
edge_of(const struct ellipse *e, double y)
{
	struct edge l = {.c = (y - e->y) / e->b, .k = e->s * e->a / e->b, .u = {1, 1}};
	const double kk = 1 + l.k * l.k, root = sqrt(fmax(kk - l.c * l.c, 0));

	for (int i = 0; i < 2; i++) {
		if (root > 0)
			l.u[i] = fmin(fmax((l.c * l.k + (i ? root : -root)) / kk, -1), 1);
		l.half[i] = half_disc(l.u[i]);
	}
	return l;
}

/* The area of the disc left of u and below the edge: that of what is left of the edge, between its ends, and right of it. */
static double
corner(const struct edge *l, double u, double half)
{
	const double m = u < l->u[1] ? u : l->u[1], d = m - l->u[0],
		     left = l->c + l->k > 0 ? 2 * (d < 0 ? half : l->half[0]) : 0;

	if (d <= 0)
		return left;
	return left + d * (l->c - l->k * (m + l->u[0]) / 2) + (u < l->u[1] ? half : l->half[1]) -
	       l->half[0] + (u > l->u[1] && l->c - l->k > 0 ? 2 * (half - l->half[1]) : 0);
}

/* Columns box[0] to before box[1] and rows from box[2] on hold what a reach about x, y touches. Returns whether it is cut. */
static bool
cut_box(const struct args *p, double x, double y, double rx, double ry, size_t box[4])
{
	const double w = (double)p->shape.w, h = (double)p->shape.h;

	box[0] = (size_t)fmin(fmax(floor(x - rx + .5), 0), w);
	box[1] = (size_t)fmin(fmax(ceil(x + rx + .5), 0), w);
	box[2] = (size_t)fmin(fmax(floor(y - ry + .5), 0), h);
	box[3] = (size_t)fmin(fmax(ceil(y + ry + .5), 0), h);
	return x - rx < -.5 || y - ry < -.5 || x + rx > w - .5 || y + ry > h - .5;
}

/* Of samples less a level, by the part of each that counts. radius: the mean distance in the disc. */
struct sums {
	double area, flux, variance, radius;
	int flags;
	unsigned places;
};

static void
load(double *v, const struct img *x, size_t at, size_t n)
{
	sample_load(v, (char *)x->data + at * img_type_size(x->type), x->type, n);
}

/* The sample on the other side of the place; NaN where that is outside, or of another label, too. */
static double
opposite(const struct args *p, const struct ellipse *e, size_t x, size_t y)
{
	const double i = rint(2 * e->x - (double)x), j = rint(2 * e->y - (double)y);
	double v, label;

	if (!(i >= 0 && j >= 0 && i < (double)p->shape.w && j < (double)p->shape.h))
		return NAN;
	load(&label, &p->owners, (size_t)j * p->shape.w + (size_t)i, 1);
	load(&v, p->world.x, (size_t)j * p->shape.w + (size_t)i, 1);
	return label == 0 || label == e->label ? v : NAN;
}

/* Sums over the ellipse; or over the pixels with centres in the ring and samples in its limits, with variance the sum of squares. */
static struct sums
sum(const struct args *p, const struct ellipse *e, double level, const double ring[4])
{
	const double rx = ring ? ring[1] : e->a, ry = ring ? rx : hypot(e->b, e->s * e->a);
	const double by[2] = {1 / e->a, 1 / e->b}, square = e->a * e->b;
	const double rounding = fmin(1e-12 * (1 + square), .5); /* of areas, and more */
	const double rim = hypot(.5 * by[0], (.5 + fabs(e->s) / 2) * by[1]); /* half a diagonal */
	const struct img *const from[] = {p->world.x, &p->deviations, &p->owners};
	double *const row = p->rows + 5 * (size_t)omp_get_thread_num() * (p->shape.w + 1);
	double *const noise = row + p->shape.w, *const owner = noise + p->shape.w;
	double *const u = owner + p->shape.w, *const half = u + p->shape.w + 1;
	struct sums t = {0};
	struct edge edge[2];
	size_t box[4];

	t.flags = cut_box(p, e->x, e->y, rx, ry, box) ? EDGE : 0;
	for (size_t x = box[0]; x <= box[1] && !ring; x++) {
		u[x] = fmin(fmax(((double)x - .5 - e->x) * by[0], -1), 1);
		half[x] = half_disc(u[x]);
	}
	for (size_t y = box[2]; y < box[3]; y++) { /* all at once: rows are far apart */
		const size_t at = y * p->shape.w + box[0];
		__builtin_prefetch(p->places + at);
		__builtin_prefetch((char *)from[0]->data + at * img_type_size(from[0]->type));
	}
	edge[1] = edge_of(e, (double)box[2] - .5);
	for (size_t y = box[2]; y < box[3]; y++) {
		const size_t at = y * p->shape.w;
		for (size_t k = 0; k < 3; k++)
			if (from[k]->data)
				load(row + k * p->shape.w + box[0], from[k], at + box[0],
				     box[1] - box[0]);
		edge[0] = edge[1];
		edge[1] = ring ? edge[0] : edge_of(e, (double)y + .5);
		for (size_t x = box[0]; x < box[1]; x++) {
			const double dx = (double)x - e->x, i = dx * by[0],
				     j = ((double)y - e->y - e->s * dx) * by[1],
				     d = sqrt(i * i + j * j);
			double w = 0;
			if (ring)
				w = d >= ring[0] && d < ring[1];
			else if (!(fabs(d - 1) < rim))
				w = d < 1;
			else
				for (size_t k = 0; k < 4; k++)
					w += (k % 3 ? -square : square) *
					     corner(&edge[k / 2], u[x + k % 2], half[x + k % 2]);
			if (!(w > rounding))
				continue;
			const bool other = p->labels && owner[x] != 0 && owner[x] != e->label;
			const double v = !other ? row[x]
					 : ring ? NAN
						: opposite(p, e, x, y),
				     f = v - level,
				     s = ring		      ? f
					 : p->deviations.data ? noise[x]
							      : p->deviation;

			if (ring && !(v >= ring[2] && v <= ring[3]))
				continue;
			t.places += p->places[at + x];
			t.flags |= isfinite(v) || other ? 0 : MISSING;
			if (!isfinite(v))
				continue;
			w = fmin(w, 1);
			t.area += w;
			t.flux += w * f;
			t.variance += w * s * s;
			t.radius += w * f * d;
		}
	}
	t.radius = t.flux > 0 ? t.radius / t.flux : 0;
	return t;
}

/* The ring's samples, but for those more than 3 deviations off their mean, until all stay. flux: the mean; variance: of a sample. */
static struct sums
find_level(const struct args *p, const double v[COLUMNS])
{
	double mean = 0, was = -1, ring[4] = {p->ring[0], p->ring[1], -INFINITY, INFINITY};
	struct sums t = {0};

	while (t.area != was) {
		was = t.area;
		t = sum(p, &(struct ellipse){v[X], v[Y], 1, 1, 0, v[LABEL]}, mean, ring);
		t.flux /= t.area; /* NaN of none */
		t.variance = fmax(t.variance / t.area - t.flux * t.flux, 0);
		/* Equal samples all stay, although their mean is rounded. */
		const double far = 3 * sqrt(t.variance) + 1e-12 * (fabs(mean) + fabs(t.flux));

		t.flux = mean += t.flux;
		ring[2] = fmax(ring[2], mean - far);
		ring[3] = fmin(ring[3], mean + far);
	}
	return t;
}

/* Measures flux and error of an aperture. Returns its flags. */
static int
measure(const struct args *args, const struct ellipse *e, const struct sums *level, double to[2])
{
	struct sums t = sum(args, e, level->flux, NULL);

	t.variance += args->noise ? 0 : level->variance * t.area;
	t.variance += level->area > 0 ? level->variance * t.area * t.area / level->area : 0;
	t.variance += args->gain > 0 ? fmax(t.flux, 0) / args->gain : 0;
	to[0] = t.area > 0 ? t.flux : NAN;
	to[1] = t.area > 0 ? sqrt(t.variance) : NAN;
	return t.flags | (t.places > 1 ? NEAR : 0);
}

/* Measures place i: the level and the fluxes. Returns its flags, or -1 where it is of another item. */
static int
measure_place(const struct args *args, size_t i, double *to)
{
	struct sums level = {0};
	double v[COLUMNS];
	struct ellipse e;
	int flags = 0;

	if (!find_place(args, i, v))
		return -1;
	if (args->annulus) {
		level = find_level(args, v);
		*to++ = level.flux;
	}
	for (size_t k = 0; k < args->nradius; k++, to += 2) {
		e = (struct ellipse){v[X], v[Y], args->radius[k], args->radius[k], 0, v[LABEL]};
		flags |= measure(args, &e, &level, to);
	}
	if (args->kron) {
		e = ellipse_of(v, 6);
		to[2] = fmax(2.5 * 6 * sum(args, &e, level.flux, NULL).radius, 3.5);
		e = ellipse_of(v, to[2]);
		flags |= measure(args, &e, &level, to);
	}
	return flags;
}

/* Measures and writes the places. Of each there are its values, and its flags. */
static void
put_places(struct raw_out *out, struct args *args)
{
	const size_t values = (args->annulus ? 1 : 0) + 2 * args->nradius + (args->kron ? 3 : 0);
	const int threads = par_threads(args->common.threads);
	double *all = weir_xalloc(args->n, (values + 1) * sizeof *all);

	args->rows = weir_xalloc(5 * (size_t)threads, (args->shape.w + 1) * sizeof(double));
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) if (args->n > 64)
	for (size_t i = 0; i < args->n; i++) {
		double *to = all + i * (values + 1);
		to[values] = measure_place(args, i, to);
	}
	for (size_t i = 0; i < args->n; i++) {
		const double *place = args->place[i], *found = all + i * (values + 1);
		double sky[2];
		if (found[values] < 0)
			continue;
		raw_printf(out, "%.15g,%.15g", place[X], place[Y]);
		world_place(&args->world, place, 2, sky);
		for (int k = 0; k < 2 && *args->sky; k++)
			raw_printf(out, ",%.15g", real_shown(sky[k]));
		for (size_t k = 0; k < values; k++)
			raw_printf(out, ",%.15g", real_shown(found[k]));
		raw_printf(out, ",%g,%zu\n", found[values], args->item);
	}
	weir_free_all(args->rows, all);
}

static void
put_names(struct raw_out *out, const struct args *args)
{
	raw_printf(out, "x,y");
	for (const char *c = args->sky; *c; c++)
		raw_text(out, *c == ' ' ? "," : c, 1);
	raw_printf(out, args->annulus ? ",level" : "");
	for (size_t i = 0; i < args->nradius; i++)
		raw_printf(out, ",flux_%g,err_%g", args->radius[i], args->radius[i]);
	raw_printf(out, "%s,flags,item\n", args->kron ? ",flux_kron,err_kron,radius_kron" : "");
}

static void
measure_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	struct args *args = options;
	struct img_picture *s = &args->shape, n;
	double v[COLUMNS];
	size_t box[4];

	if (!img_picture(x, s) || s->c * s->n != 1)
		raw_die(in, "it is not one picture of one plane; rawaxes --slice takes one");
	for (int i = 0; i < 2; i++) {
		const struct img *beside = i ? &args->owners : &args->deviations;
		if (beside->data &&
		    (!img_picture(beside, &n) || n.w != s->w || n.h != s->h || n.c * n.n != 1))
			raw_die(in, "%s: the shapes differ", i ? "--labels" : "--noise");
	}
	raw_map(in, x);
	args->item = st->items;
	args->places = weir_xalloc(s->w * s->h, sizeof *args->places);
	memset(args->places, 0, s->w * s->h * sizeof *args->places);
	stats_charge(st, STATS_READ);
	world_open(&args->world, in, x, WORLD_MAY);
	if (st->items && strcmp(args->sky, args->world.names) != 0)
		raw_die(in, "its table has other columns than that of the item before");
	strcpy(args->sky, args->world.names);
	if (!st->items)
		put_names(out, args);
	for (size_t i = 0; i < args->n; i++)
		if (find_place(args, i, v) && !cut_box(args, v[X], v[Y], 0, 0, box) &&
		    box[0] < s->w && box[2] < s->h) {
			uint8_t *here = &args->places[box[2] * s->w + box[0]];
			*here = *here ? 2 : 1;
		}
	put_places(out, args);
	stats_charge(st, STATS_COMPUTE);
	world_close(&args->world);
	weir_free(args->places);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, measure_item, NULL};
	static struct args args = {.common.as = RAW_AS_TEXT}; /* it keeps its memory */

	return raw_each(&filter, argc, argv, &args);
}
