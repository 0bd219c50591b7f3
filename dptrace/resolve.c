/* Resolves options and points into the shapes of segments. */
#include <math.h>

#include "dptrace/evidence/strip.h"
#include "dptrace/numbers.h"
#include "dptrace/resolve.h"

/* ---- levels ---- */

/*
 * Responses at whole pixels, computed from the picture itself. A segment needs a few hundred of them, where its strip has
 * a hundred thousand. Beyond the border the pixels of the border are repeated.
 */

#define NEAR 2.2 /* px: the Gaussian that weighs responses for the polarity of a point */

/* Half kernels of the derivatives of orders 0 .. most, at steps of a pixel. */
static void
make_kernels(struct kernel *k, double sigma, int most)
{
	for (int order = 0; order <= most; order++)
		strip_kernel(&k[order], order, sigma, (int)ceil(3 * sigma), 1);
}

/* The derivatives of orders 0..most of a row at column x. ref is subtracted from every sample. */
static void
derive_row(const struct kernel *k, const float *row, size_t w, ptrdiff_t x, int most, double ref,
	   double out[3])
{
	const double mid = (double)row[clamp_index(x, w)] - ref;

	for (int order = 0; order <= most; order++)
		out[order] = order == 1 ? 0 : (double)k[order].w[0] * mid;
	for (int i = 1; i <= k->r; i++) {
		const double a = (double)row[clamp_index(x - i, w)] - ref,
			     b = (double)row[clamp_index(x + i, w)] - ref;
		for (int order = 0; order <= most; order++)
			out[order] += (double)k[order].w[i] * (order == 1 ? b - a : b + a);
	}
}

/* Adds rows y - j (up) and y + j (down) to the derivatives of that order: d[i] is of order i along y. */
static void
add_rows(const struct kernel *k, int j, const double up[3], const double down[3], int order,
	 double *d)
{
	for (int i = 0; i <= order; i++)
		d[i] += (double)k[i].w[j] * (i == 1 ? down[order - i] - up[order - i]
						    : down[order - i] + up[order - i]);
}

/* The derivatives at a pixel: g those of order 1, d those of order 2. Element i is of order i along y. */
struct jet {
	double g[2], d[3];
};

/*
 * The derivatives of a plane at the n pixels of column x from row y on. ref is subtracted from every sample. Where most is
 * 1, those of order 2 are left out.
 */
static void
derive(const struct kernel *k, const float *plane, size_t w, size_t h, ptrdiff_t x, ptrdiff_t y,
       int n, int most, double ref, struct jet *out)
{
	double row[2 * LEVEL_REACH + 1 + 2 * MAXTAPS][3];

	for (int i = 0; i < n + 2 * k->r; i++)
		derive_row(k, plane + clamp_index(y - k->r + i, h) * w, w, x, most, ref, row[i]);
	for (int i = 0; i < n; i++) {
		const double(*mid)[3] = (const double(*)[3])row + k->r + i;
		double *g = out[i].g, *d = out[i].d;
		for (int o = 0; o <= most; o++)
			d[o] = o == 1 ? 0 : (double)k[o].w[0] * mid[0][most - o];
		g[0] = (double)k[0].w[0] * mid[0][1];
		g[1] = 0;
		for (int j = 1; j <= k->r; j++) {
			add_rows(k, j, mid[-j], mid[j], 1, g);
			if (most == 2)
				add_rows(k, j, mid[-j], mid[j], 2, d);
		}
	}
}

static double
less(double a, double b)
{
	return a > b ? a - b : 0;
}

/* The responses at the n pixels of column x from row y on. ref is a value near those of the picture there. */
static void
respond(const struct kernel *k, const struct dptrace_image *im, const float *gray,
	const struct dptrace_options *o, double sigma, ptrdiff_t x, ptrdiff_t y, int n, double ref,
	struct level *out)
{
	const bool ridge = o->score == DPTRACE_RIDGE,
		   colour = o->score == DPTRACE_EDGE && im->c > 1 && !o->polarity;
	double sum[2 * LEVEL_REACH + 1][3] = {{0}};
	struct jet jet[2 * LEVEL_REACH + 1];

	for (size_t c = 0; c < (colour ? im->c : 1); c++) {
		derive(k, colour ? im->v + c * im->w * im->h : gray, im->w, im->h, x, y, n,
		       ridge ? 2 : 1, ref, jet);
		for (int i = 0; i < n; i++) {
			sum[i][0] += jet[i].g[0] * jet[i].g[0];
			sum[i][1] += jet[i].g[0] * jet[i].g[1];
			sum[i][2] += jet[i].g[1] * jet[i].g[1];
		}
	}
	for (int i = 0; i < n; i++) {
		const double xx = ridge ? jet[i].d[0] : sum[i][0],
			     yy = ridge ? jet[i].d[2] : sum[i][2],
			     xy = ridge ? jet[i].d[1] : sum[i][1], mean = (xx + yy) / 2,
			     half = (xx - yy) / 2, root = sqrt(half * half + xy * xy);
		if (!ridge) {
			const double size = sigma * sqrt(mean + root);
			out[i] = (struct level){size, size, size, size};
			continue;
		}
		/* Responses for the polarity are smaller where there is a gradient. */
		const double *g = jet[i].g, square = sigma * sigma,
			     flank = COST_FLANK * sigma * sqrt(g[0] * g[0] + g[1] * g[1]),
			     bright = square * (root - mean), dark = square * (root + mean);
		out[i] = (struct level){bright, dark, less(bright, flank), less(dark, flank)};
	}
}

struct level
level_at(const struct dptrace_image *im, const float *gray, const struct dptrace_options *o,
	 double sigma, double reach, const double p[2])
{
	const ptrdiff_t r = (ptrdiff_t)ceil(reach), px = lround(p[0]), py = lround(p[1]),
			y0 = (ptrdiff_t)clamp_index(py - r, im->h),
			y1 = (ptrdiff_t)clamp_index(py + r, im->h);
	const double ref = (double)gray[clamp_index(py, im->h) * im->w + clamp_index(px, im->w)];
	struct level at[2 * LEVEL_REACH + 1], most = {0, 0, 0, 0};
	struct kernel k[3];

	make_kernels(k, sigma, 2);
	for (ptrdiff_t x = px - r; x <= px + r; x++) {
		if (x < 0 || x >= (ptrdiff_t)im->w)
			continue;
		respond(k, im, gray, o, sigma, x, y0, (int)(y1 - y0) + 1, ref, at);
		for (ptrdiff_t y = y0; y <= y1; y++) {
			if (im->mask && !im->mask[(size_t)y * im->w + (size_t)x])
				continue;
			const struct level l = at[y - y0];
			const double gain = (double)gain_at(&im->gain, (size_t)x, (size_t)y);
			const double near =
			    gain *
			    libm_exp_minus((double)((x - px) * (x - px) + (y - py) * (y - py)) /
					   (2 * NEAR * NEAR));
			most.bright = larger(most.bright, gain * l.bright);
			most.dark = larger(most.dark, gain * l.dark);
			most.near_bright = larger(most.near_bright, near * l.near_bright);
			most.near_dark = larger(most.near_dark, near * l.near_dark);
		}
	}
	return most;
}

/* The size of the second difference at p, along a row (step 1) or along a column (step w). */
static double
second_difference(const float *p, size_t step)
{
	return fabs((double)p[0] - (double)p[-(ptrdiff_t)step] - ((double)p[step] - (double)p[0]));
}

/* Adds the second differences at some hundred places in the strip of that half-width around ab. */
static void
level_add_noise(struct noise *to, const struct dptrace_image *im, const float *gray,
		const double a[2], const double b[2], double halfwidth)
{
	enum { PLACES = 128, ACROSS = 8 };
	const double dx = b[0] - a[0], dy = b[1] - a[1], length = sqrt(dx * dx + dy * dy);

	for (int i = 0; i < PLACES; i++) {
		const double u = (i + .5) / PLACES,
			     v = halfwidth * ((i % ACROSS + .5) / ACROSS * 2 - 1) / length;
		const ptrdiff_t x = lround(a[0] + u * dx - v * dy),
				y = lround(a[1] + u * dy + v * dx);
		const float *p = gray + y * (ptrdiff_t)im->w + x;
		if (x < 1 || y < 1 || x + 1 >= (ptrdiff_t)im->w || y + 1 >= (ptrdiff_t)im->h)
			continue;
		if (im->mask && !im->mask[p - gray])
			continue;
		to->sum += (double)gain_at(&im->gain, (size_t)x, (size_t)y) *
			   (second_difference(p, 1) + second_difference(p, im->w));
		to->n += 2;
	}
}

/* The typical response to such noise alone; 0 where nothing was counted. */
static double
level_of_noise(const struct noise *n, double sigma)
{
	/* White noise of deviation s has E|d2| = sqrt(6) sqrt(2/pi) s, and responses of size .3 s / sigma. */
	return n->n ? n->sum / (double)n->n * 1.2533 / sqrt(6) * .3 / sigma : 0;
}

/* The integral of n'g along the link from a to b: above 0 where the picture is brighter on the right of a walker. */
static double
side_of(const struct kernel *k, const struct dptrace_image *im, const float *gray, double step,
	const struct dptrace_vertex *a, const struct dptrace_vertex *b)
{
	const double dx = b->x - a->x, dy = b->y - a->y;
	const int n = (int)ceil(sqrt(dx * dx + dy * dy) / step);
	double sum = 0;
	struct jet jet;

	for (int i = 0; i < n; i++) {
		const double u = (i + .5) / n;
		const size_t x = clamp_index(lround(a->x + u * dx), im->w),
			     y = clamp_index(lround(a->y + u * dy), im->h);
		derive(k, gray, im->w, im->h, (ptrdiff_t)x, (ptrdiff_t)y, 1, 1,
		       (double)gray[y * im->w + x], &jet);
		sum += (dx * jet.g[1] - dy * jet.g[0]) / n;
	}
	return sum;
}

double
level_turned(const struct dptrace_trace *t, const struct dptrace_image *im, const float *gray,
	     double sigma)
{
	double run[2] = {0, 0}, most[2] = {0, 0}, sum[2] = {0, 0};
	struct kernel k[2];

	make_kernels(k, sigma, 1);
	for (size_t i = 1; i < t->n; i++) {
		const struct dptrace_vertex *a = &t->v[i - 1], *b = &t->v[i];
		const double e = side_of(k, im, gray, larger(1, sigma), a, b), dx = b->x - a->x,
			     dy = b->y - a->y;
		const int side = e > 0;
		run[side] += sqrt(dx * dx + dy * dy);
		run[!side] = 0;
		sum[side] += fabs(e);
		most[side] = larger(run[side], most[side]);
	}
	return most[sum[1] < sum[0]];
}

/*
 * The mean picture across a stretch of a polyline, less that in its middle, times its length: side[0][i] to the left and
 * side[1][i] to the right of a walker, (1.5 + i / 2) sigma off.
 */
enum { PLACES = 4, STRETCH = 40 };
struct profile {
	double side[2][PLACES], length;
};

/* Adds a link, every 2 px or less of it. */
static void
profile_add(struct profile *p, const struct dptrace_image *im, const float *gray, double sigma,
	    const struct dptrace_vertex *a, const struct dptrace_vertex *b)
{
	const double dx = b->x - a->x, dy = b->y - a->y, length = sqrt(dx * dx + dy * dy);
	const int n = (int)ceil(length / 2);

	for (int i = 0; i < n; i++) {
		const double u = (i + .5) / n, x = a->x + u * dx, y = a->y + u * dy;
		const float middle = sample_clamped(gray, im->w, im->h, x, y, 0);
		for (int k = 0; k < 2 * PLACES; k++) {
			const double off = (1.5 + k / 2 * .5) * sigma / length * (k % 2 ? 1 : -1);
			p->side[k % 2][k / 2] +=
			    length / n *
			    (double)sample_clamped(gray, im->w, im->h, x - off * dy, y + off * dx,
						   middle);
		}
	}
	p->length += length;
}

/*
 * Says whether that is the flank of an object or an edge: everywhere the odd part of the profile is above half of the even one.
 * *lopsided: whether it is where the two are largest.
 * Of generated vessels, roads and lines, 1 to 30 px wide, with noise, bends, crossings, neighbours and unequal sides, it named
 * 407 of 455 polylines that lay on a flank, 290 of which nothing else was said, and 7 of 929 right ones. The bounds were chosen on
 * other pictures.
 */
static bool
profile_is_flank(const struct profile *p, bool *lopsided)
{
	double most = -1;
	bool flank = true;

	for (int i = 0; i < PLACES; i++) {
		const double odd = fabs(p->side[1][i] - p->side[0][i]),
			     even = fabs(p->side[1][i] + p->side[0][i]);
		flank &= odd > .5 * even;
		if (odd + even > most)
			*lopsided = odd > .5 * even;
		most = larger(odd + even, most);
	}
	return flank;
}

void
level_flanks(struct dptrace_trace *t, const struct dptrace_image *im, const float *gray,
	     double sigma)
{
	struct profile p = {.length = 0};
	size_t segment = 0, from = 0;

	for (size_t i = 1; i < t->n; i++) {
		profile_add(&p, im, gray, sigma, &t->v[i - 1], &t->v[i]);
		if (!t->v[i].point)
			continue;
		segment++;
		if (p.length < STRETCH && (i + 1 < t->n || from))
			continue;
		bool lopsided = false;
		if (profile_is_flank(&p, &lopsided) && !t->flanks++)
			t->flank_at = from;
		t->lopsided += lopsided;
		from = segment;
		p = (struct profile){.length = 0};
	}
}

/* ---- ends: how far a polyline may move its given points ---- */

/* The samples, to either side of the middle, within that many px. */
static int
samples_within(const struct segment_shape *s, double px)
{
	const double samples = floor(px / s->dv + 1e-9);
	const int most = (s->d - 1) / 2;

	return samples < most ? (int)samples : most;
}

/* The unit vector along a segment at its start (side 0) or end (side 1). */
static void
direction_at(const struct segment_shape *s, int side, double e[2])
{
	e[0] = s->ex;
	e[1] = s->ey;
	if (s->spine.n) {
		const struct spot p = curve_place(&s->way, side ? s->way.length : 0);
		e[0] = p.ny;
		e[1] = -p.nx;
	}
}

/*
 * The samples that the polyline may move the point where segment s meets segment t. Both frames measure the same distance
 * across when their samples are equally far apart. The point moves along the bisector of their normals, and farther than
 * it moves across each of them. Where the line turns by more than 120 degrees the point stays.
 */
static int
samples_at_turn(const struct segment_shape *s, const struct segment_shape *t, double px)
{
	double e[2], f[2];

	direction_at(s, 1, e);
	direction_at(t, 0, f);
	const double half = sqrt((1 + e[0] * f[0] + e[1] * f[1]) / 2); /* cosine of half the turn */
	const int a = samples_within(s, px * half), b = samples_within(t, px * half);

	if (!(half >= .5) || s->dv != t->dv)
		return 0;
	return a < b ? a : b;
}

/* px that a point may move: at most px, and not out of the picture. */
static double
room_of(const double p[2], const struct dptrace_image *im, double px)
{
	const double x = smaller(p[0], (double)im->w - 1 - p[0]),
		     y = smaller(p[1], (double)im->h - 1 - p[1]);

	return clamp(smaller(x, y) + .5, 0, px);
}

void
dptrace_shape_ends(struct segment_shape *s, const struct dptrace_line *l,
		   const struct dptrace_image *im, const struct dptrace_options *o)
{
	const size_t n = dptrace_segments(l);
	const double px = o->snap >= 0 ? o->snap : s->cost ? larger(2, s->sigma) : 0;

	s->snap[0] = samples_within(s, room_of(l->xy[0], im, px));
	for (size_t i = 0; i < n; i++) {
		const double room = room_of(l->xy[i + 1], im, px);
		if (i + 1 == n)
			s[i].snap[1] = samples_within(&s[i], room);
		else
			s[i].snap[1] = s[i + 1].snap[0] = samples_at_turn(&s[i], &s[i + 1], room);
	}
}

/* ---- measures ---- */

/* Measures what the options of a line depend on: its scale, the levels of its segments, its polarity and the noise. */

enum { SCALES = 6 };
#define STEP	1.4142 /* from a scale to the next */
#define PER	.75    /* what a response at the next scale counts, against one at this scale */
#define NOISE	2. /* responses of noise alone that are subtracted: they are larger at fine scales */
#define SPACING 14 /* times the scale: a segment must be that long */

/*
 * The scale of a line: 2, or a coarser one at which its points respond more: the smallest of their responses, of the better
 * polarity. A segment that is short has room for a fine scale only.
 */
static double
scale_of(const struct segment_shape *s, size_t n, const struct dptrace_line *l,
	 const struct noise *noise, const struct dptrace_image *im, const float *gray,
	 const struct dptrace_options *o)
{
	double sigma = s->fine.sigma, best = 0, length = INFINITY, scale = sigma, weight = 1;

	if (o->sigma > 0 || o->score != DPTRACE_RIDGE)
		return sigma;
	for (size_t i = 0; i < n; i++)
		length = smaller(length, s[i].length);
	for (int k = 0; k < SCALES && scale * SPACING <= length; k++) {
		double bright = INFINITY, dark = INFINITY;
		for (size_t i = 0; i < l->n; i++) {
			const struct level at = level_at(im, gray, o, scale, 3, l->xy[i]);
			bright = smaller(bright, at.near_bright);
			dark = smaller(dark, at.near_dark);
		}
		const double r =
		    weight * (larger(bright, dark) - NOISE * level_of_noise(noise, scale));
		if (r > best)
			sigma = scale;
		best = larger(r, best);
		scale *= STEP;
		weight *= PER;
	}
	return sigma;
}

static double
share_of_bright(const struct level *l)
{
	const double both = l->near_bright + l->near_dark;

	return both > 0 ? l->near_bright / both : .5;
}

static struct level
level_of(const double p[2], const struct dptrace_image *im, const float *gray,
	 const struct dptrace_options *o, double sigma)
{
	return level_at(im, gray, o, sigma, larger(3, 1.5 * sigma), p);
}

/*
 * Finds the levels of a line's segments at that scale. The level of a segment is the smaller one of its points' levels.
 * The points of each segment vote for a polarity: the share of bright in a point's two responses is its vote.
 */
static void
find_levels(struct segment_shape *s, size_t n, const struct dptrace_line *l,
	    const struct dptrace_image *im, const float *gray, const struct dptrace_options *o,
	    double sigma)
{
	struct level last = level_of(l->xy[0], im, gray, o, sigma);
	double votes = 0;

	for (size_t i = 0; i < n; i++) {
		const struct level next = level_of(l->xy[i + 1], im, gray, o, sigma);
		s[i].own =
		    (struct levels){.sigma = sigma,
				    .bright = smaller(last.bright, next.bright),
				    .dark = smaller(last.dark, next.dark),
				    .near_bright = smaller(last.near_bright, next.near_bright),
				    .near_dark = smaller(last.near_dark, next.near_dark)};
		votes += share_of_bright(&last) + share_of_bright(&next) - 1;
		last = next;
	}
	for (size_t i = 0; i < n; i++)
		s[i].vote = votes / (double)n;
}

/* Fills in the measures and the votes of a line's segments, whose chords and half-widths must be there. */
static void
measure_levels(struct segment_shape *s, size_t n, const struct dptrace_line *l,
	       const struct dptrace_image *im, const float *gray, const struct dptrace_options *o)
{
	struct noise noise = {0, 0};

	for (size_t i = 0; i < n; i++)
		level_add_noise(&noise, im, gray, l->xy[i], l->xy[i + 1], s[i].halfwidth);
	const double fine = s->fine.sigma, own = scale_of(s, n, l, &noise, im, gray, o);

	find_levels(s, n, l, im, gray, o, fine);
	for (size_t i = 0; i < n; i++)
		s[i].fine = s[i].own;
	if (own > fine)
		find_levels(s, n, l, im, gray, o, own);
	for (size_t i = 0; i < n; i++) {
		s[i].fine.noise = level_of_noise(&noise, fine);
		s[i].own.noise = level_of_noise(&noise, own);
	}
}

/* ---- resolve ---- */

#define CLEAR	   4.3 /* DPTRACE_AUTO: a clear line's level, in responses of noise alone */
#define FLOOR	   2.  /* cost: the floor, in responses of noise alone */
#define TUBE_NOISE 45. /* px times level / noise: the spacing of a tube's guides in noise */
enum {
	TUBE_HALF = 15,
	STEEPEST = 4
};		       /* samples of a tube to either side; cost: px across for each px along ab */
#define SPINE_HALF 12. /* px to either side of a way, at scales up to 2; else 6 sigma */

/* The default px between samples under the cost. */
static double
cost_step(double sigma)
{
	return larger(1, sigma / 2);
}

/*
 * The default number of samples of a guide. Under the sum they are about sigma apart, within 1 to 2 px; later passes look
 * closer. For sin, which is not smooth, they are about a pixel apart. Their number is rounded up so that they fill
 * registers. On seeds 1 to 48 of t/dptrace_scene.h steps of 1, 1.6 and 2 px end at the same polylines. Under the cost they
 * are a pixel apart, or half of sigma if that is more.
 */
static double
default_samples(const struct segment_shape *s, enum dptrace_score score)
{
	const double step = 1.07 * (score == DPTRACE_SIN ? 1 : clamp(s->sigma, 1, 2));

	if (s->cost)
		return 2 * floor(s->halfwidth / cost_step(s->sigma) + 1e-9) + 1;
	return ceil((2 * s->halfwidth / step + 2) / GROUP) * GROUP - 1;
}

static double
default_halfwidth(double length, const struct dptrace_options *o, bool cost, double sigma)
{
	if (o->halfwidth > 0)
		return o->halfwidth;
	if (!cost)
		return clamp(.2 * length, 32, 64);
	/* Whole steps, so that the samples of all segments are equally far apart. */
	const double w = clamp(.4 * length, 8, 128), step = cost_step(sigma);
	return o->d || w < step ? w : floor(w / step) * step;
}

/* Fills in the guides of a segment. */
static int
shape_guides(struct segment_shape *s, const struct dptrace_options *o, struct why *why)
{
	const double bx = s->ax + s->length * s->ex, by = s->ay + s->length * s->ey;
	const double spacing = o->spacing > 0 ? o->spacing
			       : s->cost      ? larger(8, 4 * s->sigma)
					      : clamp(s->length / 15, 15, 30);
	const double n = o->n ? (double)o->n : floor(s->length / spacing + .5) + 1;

	if (n > DPTRACE_MAXN)
		return why_set(why, "%.0f guides between %g,%g and %g,%g are more than %d", n,
			       s->ax, s->ay, bx, by, DPTRACE_MAXN);
	s->n = n < 2 ? 2 : (int)n;
	if (s->length < s->n - 1)
		return why_set(why,
			       "%d guides do not fit between %g,%g and %g,%g: %g px are too short",
			       s->n, s->ax, s->ay, bx, by, s->length);
	s->halfwidth = default_halfwidth(s->length, o, s->cost, s->sigma);
	double d = o->d ? (double)o->d : default_samples(s, o->score);
	if (d > DPTRACE_MAXD)
		return why_set(why, "%.0f samples across %g px are more than %d", d,
			       2 * s->halfwidth, DPTRACE_MAXD);
	s->d = (int)d;
	s->dv = s->d > 1 ? 2 * s->halfwidth / (s->d - s->d % 2) : 1;
	if (s->dv < 1. / MAXFINE)
		return why_set(why, "%d samples across %g px are closer than 1/%d px", s->d,
			       2 * s->halfwidth, MAXFINE);
	return 0;
}

/* The default px between the guides of a tube: 5 to 15, more in noise, and at least 2.5 sigma. */
static double
tube_spacing(const struct segment_shape *s)
{
	const double contrast = s->noise > 0 ? s->level / s->noise : INFINITY;

	return larger(2.5 * s->sigma, clamp(TUBE_NOISE / contrast, 5, 15));
}

static struct tube_shape
shape_tube(const struct segment_shape *s, const struct dptrace_options *o)
{
	const double fine = tube_spacing(s);
	const double spacing = o->n		? s->length / (double)(o->n - 1)
			       : o->spacing > 0 ? o->spacing
						: fine;
	/* A curve is typically 1.1 times as long as its chord, and as long as its way. */
	const double length = s->spine.n ? s->way.length : 1.1 * s->length;
	const double n = o->n ? (double)o->n : floor(length / spacing + .5) + 1;

	return (struct tube_shape){.n = (int)clamp(n, 2, DPTRACE_MAXN),
				   .d = 2 * TUBE_HALF + 1,
				   .dv = larger(3, 1.5 * s->sigma) / TUBE_HALF,
				   .per_gap = (int)ceil(1.5 * spacing / larger(1, s->sigma)),
				   .points =
				       (int)ceil(larger(1.25 * s->length, 1.1 * s->way.length)) + 2,
				   .smooth = .4 * fine,
				   .phi = clamp(spacing / 5 * M_PI / 6, 0, M_PI)};
}

/* Fills in angles, slopes and tubes. All segments must have their guides. */
static void
shape_bounds(struct segment_shape *s, size_t n, const struct dptrace_options *o)
{
	double length = 0, gaps = 0, phi;

	for (size_t i = 0; i < n; i++) {
		length += s[i].length;
		gaps += s[i].n - 1;
	}
	if (o->phi > 0)
		phi = o->phi;
	else if (o->score == DPTRACE_SIN)
		phi = M_PI / 12;
	else if (s->cost)
		phi = clamp(length / gaps / 8 * .4 * M_PI, 0, M_PI);
	else /* the turn of a curve of 25 px radius from guide to guide */
		phi = clamp(length / gaps / 25, M_PI / 4, M_PI / 3);
	for (size_t i = 0; i < n; i++) {
		s[i].phi = phi;
		if (!s->cost)
			continue;
		const double rows = floor(STEEPEST * s[i].length / (s[i].n - 1) / s[i].dv);
		s[i].steepest = rows < 1 ? 1 : rows < 4 * DPTRACE_MAXD ? (int)rows : 0;
		s[i].tube = shape_tube(&s[i], o);
	}
}

/* --- the objective ------------------------------------------------------------------------------------------------ */

static bool
has_cost(const struct dptrace_options *o)
{
	return o->objective != DPTRACE_SUM && o->score != DPTRACE_SIN;
}

static double
level_of_polarity(const struct levels *l, int polarity)
{
	return polarity < 0 ? l->dark : l->bright;
}

/*
 * Says whether a line is clear against the noise at the fine scale or at its own, where its points must lie on a line: beside an
 * edge the response grows towards the edge. A wide line has no level at the fine one.
 */
static bool
is_clear(const struct segment_shape *s, size_t n, int polarity)
{
	bool fine = true, own = true;

	for (size_t i = 0; i < n; i++) {
		fine &= level_of_polarity(&s[i].fine, polarity) >= CLEAR * s[i].fine.noise;
		const double level = level_of_polarity(&s[i].own, polarity),
			     near = polarity < 0 ? s[i].own.near_dark : s[i].own.near_bright;
		own &= level >= CLEAR * s[i].own.noise && near >= level / 2;
	}
	return fine || own;
}

/* Chooses the objective of a line by its levels, and fills in the scale, polarity, level and floor that it needs. */
static void
choose_objective(struct segment_shape *s, size_t n, const struct dptrace_options *o)
{
	const bool either = o->score == DPTRACE_RIDGE && !o->polarity;
	const int polarity = !either ? o->polarity : s->vote < 0 ? -1 : 1;
	const bool cost = has_cost(o) && (o->objective == DPTRACE_COST || is_clear(s, n, polarity));

	for (size_t i = 0; i < n; i++) {
		s[i].cost = cost;
		const struct levels *m = s[i].cost ? &s[i].own : &s[i].fine;
		s[i].sigma = m->sigma;
		s[i].noise = m->noise;
		s[i].level = larger(level_of_polarity(m, polarity), m->noise);
		s[i].floor = smaller(FLOOR * s[i].noise, s[i].level / 2);
		s[i].polarity = s[i].cost ? polarity : o->polarity;
	}
}

int
dptrace_check(const struct dptrace_line *l, const struct dptrace_image *im,
	      const struct dptrace_options *o, struct why *why)
{
	const size_t side = im->w > im->h ? im->w : im->h;

	if (l->n < 2)
		return why_set(why, "%zu point%s: a line needs 2", l->n, l->n == 1 ? "" : "s");
	for (size_t i = 0; i < l->n; i++)
		if (!dptrace_has(im, l->xy[i][0], l->xy[i][1]))
			return why_set(why, "point %g,%g lies outside the image of %zu x %zu",
				       l->xy[i][0], l->xy[i][1], im->w, im->h);
	if (o->halfwidth > (double)side)
		return why_set(why, "a half-width of %g px is beyond the image of %zu x %zu",
			       o->halfwidth, im->w, im->h);
	for (size_t i = 0; i + 1 < l->n; i++)
		if (distance(l->xy[i], l->xy[i + 1]) == 0)
			return why_set(why, "two neighbouring points are the same, %g,%g",
				       l->xy[i][0], l->xy[i][1]);
	return 0;
}

int
dptrace_measure(struct segment_shape *s, const struct dptrace_line *l,
		const struct dptrace_image *im, const float *gray, const struct dptrace_options *o,
		struct why *why)
{
	const size_t n = dptrace_segments(l);

	if (dptrace_check(l, im, o, why))
		return -1;
	for (size_t i = 0; i < n; i++) {
		const double sigma = o->sigma > 0 ? o->sigma : 2, *a = l->xy[i], *b = l->xy[i + 1],
			     length = distance(a, b);
		s[i] =
		    (struct segment_shape){.ax = a[0],
					   .ay = a[1],
					   .ex = (b[0] - a[0]) / length,
					   .ey = (b[1] - a[1]) / length,
					   .length = length,
					   .fine.sigma = sigma,
					   .halfwidth = default_halfwidth(length, o, true, sigma)};
	}
	if (has_cost(o))
		measure_levels(s, n, l, im, gray, o);
	return 0;
}

int
dptrace_shape(struct segment_shape *s, const struct dptrace_line *l, const struct dptrace_image *im,
	      const struct dptrace_options *o, struct why *why)
{
	const size_t n = dptrace_segments(l);

	choose_objective(s, n, o);
	for (size_t i = 0; i < n; i++)
		if (shape_guides(&s[i], o, why))
			return -1;
	shape_bounds(s, n, o);
	dptrace_shape_ends(s, l, im, o);
	return 0;
}

/* The guides along the way are as far apart as those along ab, and so are their samples. */
void
dptrace_shape_way(struct segment_shape *s, const struct curve *way, const struct dptrace_options *o)
{
	const double spacing = o->n ? way->length / (double)(o->n - 1) : s->length / (s->n - 1),
		     n = floor(way->length / spacing + .5) + 1,
		     half = floor(SPINE_HALF * larger(1, s->sigma / 2) / s->dv + .5);

	s->way = *way;
	s->spine = (struct tube_shape){.n = (int)clamp(n, 2, DPTRACE_MAXN),
				       .d = 2 * (int)clamp(half, 1, DPTRACE_MAXD / 2) + 1,
				       .dv = s->dv,
				       .per_gap = (int)ceil(spacing / larger(1, s->sigma))};
	s->tube = shape_tube(s, o);
}
