/* Reads the files that the command line names, and makes floats of their samples. Functions die where something is wrong. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "common/stream/formats.h"
#include "common/stream/nodata.h"
#include "dptrace/args.h"

/* ---- samples ---- */

/* The largest size of a sample. */
#define MOST (FLT_MAX / 4)

/* Work of fewer samples than this stays on one thread. */
enum { SHARED = 1 << 16 };

/* Pixels of a block whose means are held at once. */
enum { BLOCK = 2048 };

/* Reads row y as [w][c]. Pixels that the mask leaves out become 0. */
static void
load_row(double *row, const struct img *x, const struct img_picture *p, size_t y,
	 const unsigned char *mask)
{
	const size_t n = p->w * p->c;

	sample_load(row, (const char *)x->data + y * n * img_type_size(x->type), x->type, n);
	for (size_t i = 0; mask && i < p->w; i++)
		for (size_t c = 0; c < p->c && !mask[y * p->w + i]; c++)
			row[i * p->c + c] = 0;
}

CPU_INLINE bool
deal_planes(float *restrict v, size_t stride, const double *restrict row, size_t w, size_t c)
{
	int bad = 0;

	for (size_t k = 0; k < c; k++)
		for (size_t i = 0; i < w; i++) {
			const double s = row[i * c + k];
			const int fits = __builtin_fabs(s) <= (double)MOST;
			v[k * stride + i] = fits ? (float)s : 0;
			bad |= !fits;
		}
	return bad;
}

/* Distributes a row to its planes, which are stride floats apart. Returns whether a sample is no number or too large. */
WEIR_CLONES_OF(bool, deal_row,
	       (float *restrict v, size_t stride, const double *restrict row, size_t w, size_t c),
	       (v, stride, row, w, c))
{
	if (c == 3)
		return deal_planes(v, stride, row, w, 3);
	return deal_planes(v, stride, row, w, c);
}

/* Dies of the first sample that deal_row() refuses. */
static void
name_bad(const struct raw_in *in, double *row, const struct img *x, const struct img_picture *p,
	 const unsigned char *mask)
{
	for (size_t y = 0; y < p->h; y++) {
		load_row(row, x, p, y, mask);
		for (size_t i = 0; i < p->w * p->c; i++)
			if (!(fabs(row[i]) <= (double)MOST))
				raw_die(in,
					"sample %zu,%zu is %g: NaN, infinite and huge samples have "
					"no place here; see --mask%s",
					i / p->c, y, real_shown(row[i]),
					isnan(row[i]) ? " (rawmath '!isnan(a)' makes one)" : "");
	}
	raw_die(in, "samples changed while they were read");
}

/* Copies the samples of the picture p of x into v by planes, [c][h][w]. Pixels that mask [h][w] leaves out are 0. */
static void
take_planes(const struct raw_in *in, float *v, const struct img *x, const struct img_picture *p,
	    const unsigned char *mask, int threads)
{
	const size_t n = p->w * p->c;
	const int team = p->h * n < SHARED ? 1 : threads;
	double *row = weir_alloc(n, (size_t)team * sizeof *row);
	bool bad = false;

	if (!row)
		raw_die(in, "no memory for %d rows of %zu samples", team, n);
#pragma omp parallel for num_threads(team) reduction(|| : bad)
	for (size_t y = 0; y < p->h; y++) {
		double *mine = row + (size_t)omp_get_thread_num() * n;
		load_row(mine, x, p, y, mask);
		bad = deal_row(v + y * p->w, p->w * p->h, mine, p->w, p->c) || bad;
	}
	if (bad)
		name_bad(in, row, x, p, mask);
	weir_free(row);
}

/*
 * Moves the n <= BLOCK pixels of c planes, which are stride floats apart, from the mean m of their samples: v <- m + k (v - m).
 * Returns whether a result is too large.
 */
WEIR_CLONES_OF(bool, move_block, (float *restrict v, size_t stride, size_t n, size_t c, float k),
	       (v, stride, n, c, k))
{
	float mean[BLOCK] = {0};
	int bad = 0;

	for (size_t p = 0; p < c; p++)
		for (size_t i = 0; i < n; i++)
			mean[i] += v[p * stride + i] / (float)c;
	for (size_t p = 0; p < c; p++)
		for (size_t i = 0; i < n; i++) {
			const float now = mean[i] + k * (v[p * stride + i] - mean[i]);
			v[p * stride + i] = now;
			bad |= !(__builtin_fabsf(now) <= MOST);
		}
	return bad;
}

/* Whether one of n scores is NaN or beyond 1e20. */
WEIR_CLONES_OF(bool, any_huge, (const float *v, size_t n), (v, n))
{
	int bad = 0;

	for (size_t i = 0; i < n; i++)
		bad |= !(__builtin_fabsf(v[i]) <= 1e20f);
	return bad;
}

static double
sample_of(const struct img *x, size_t i)
{
	double v;

	sample_load(&v, (const char *)x->data + i * img_type_size(x->type), x->type, 1);
	return v;
}

/* Makes floats of the scores x, and dies where one is NaN or beyond 1e20. */
static void
take_scores(const char *name, struct img *x)
{
	size_t n;

	if (!img_count(x, &n))
		die("%s: more scores than can be counted", name);
	if (x->type != IMG_F32) {
		struct img y;
		img_copy_head(&y, x);
		y.type = IMG_F32;
		if (img_alloc(&y))
			die("%s: no memory for %zu scores", name, n);
		for (size_t i = 0; i < n; i++)
			((float *)y.data)[i] = (float)sample_of(x, i);
		img_free(x);
		*x = y;
	}
	const float *v = x->data;
	for (size_t i = 0; any_huge(v, n) && i < n; i++)
		if (!(fabsf(v[i]) <= 1e20f))
			die("%s: score %zu is %g: beyond 1e20 there is no sum", name, i,
			    (double)v[i]);
}

/* ---- masks ---- */

/* Which pixels may hold a line: those of `given`, the item of --mask, that are neither 0 nor NaN. */
static void
take_mask(unsigned char *mask, const struct raw_in *in, const struct img *x,
	  const struct img *given, const struct img_picture *p, const char *path)
{
	struct img_picture q;

	if (!img_picture(given, &q) || img_is_complex(given) || q.n > 1 || q.c > 1 || q.w != p->w ||
	    q.h != p->h)
		die("%s: a mask of one plane of %zu x %zu is needed", file_name(path), p->w, p->h);
	place_compare(given, x, .1, file_name(path), raw_name(in));
	for (size_t i = 0; i < p->w * p->h; i++) {
		const double v = sample_of(given, i);
		mask[i] = v != 0 && !isnan(v);
	}
}

/* Leaves out pixels of x that have no data: a sample of theirs is missing. Says whether there are any. */
static bool
mask_nodata(unsigned char *mask, const struct img *x, const struct img_picture *p,
	    const struct nodata *nodata)
{
	const size_t n = p->w * p->h * p->c, size = img_type_size(x->type);
	uint8_t is[BLOCK];
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (i % BLOCK == 0)
			nodata_mark(nodata, is, (const char *)x->data + i * size,
				    n - i < BLOCK ? n - i : BLOCK);
		if (is[i % BLOCK]) {
			mask[i / p->c] = 0;
			any = true;
		}
	}
	return any;
}

/* Squares of distances between places of a picture of that width; far when b is no place. */
static double
square_between(size_t a, size_t b, size_t w)
{
	const double dx = (double)(a % w) - (double)(b % w), dy = (double)(a / w) - (double)(b / w);

	return b == SIZE_MAX ? INFINITY : dx * dx + dy * dy;
}

/* Pixel i takes the source of its neighbour k when that is nearer. */
static void
take_nearer(size_t *near, size_t i, size_t k, size_t w)
{
	if (square_between(i, near[k], w) < square_between(i, near[i], w))
		near[i] = near[k];
}

/* Hands sources on from the row before (y - step) to row y, and along row y in both directions. */
static void
pass_row(size_t *near, size_t y, ptrdiff_t step, bool first, size_t w)
{
	const size_t row = y * w, before = (size_t)((ptrdiff_t)y - step) * w;

	for (size_t x = 0; x < w && !first; x++)
		for (size_t k = x ? x - 1 : 0; k <= x + 1 && k < w; k++)
			take_nearer(near, row + x, before + k, w);
	for (size_t x = 1; x < w; x++)
		take_nearer(near, row + x, row + x - 1, w);
	for (size_t x = w - 1; x-- > 0;)
		take_nearer(near, row + x, row + x + 1, w);
}

/*
 * Gives pixels of mask 0 the samples of a near pixel of mask 1, in all c planes, so that the rim of the mask is no edge.
 * Returns 0, 1 when mask is 0 everywhere, or -ENOMEM.
 */
static int
mask_fill(float *v, size_t c, size_t h, size_t w, const unsigned char *mask)
{
	const size_t n = w * h;
	size_t *near = weir_alloc(n, sizeof *near);

	if (!near)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		near[i] = mask[i] ? i : SIZE_MAX;
	for (size_t y = 0; y < h; y++)
		pass_row(near, y, 1, y == 0, w);
	for (size_t y = h; y-- > 0;)
		pass_row(near, y, -1, y + 1 == h, w);
	const bool none = near[0] == SIZE_MAX;
	for (size_t k = 0; k < c && !none; k++)
		for (size_t i = 0; i < n; i++)
			v[k * n + i] = v[k * n + near[i]];
	weir_free(near);
	return none;
}

/* ---- files ---- */

/* Reads a whole file of numbers; "-" is standard input. The caller frees the text. A picture, say, is no text. */
static char *
read_text(const char *path, size_t *n)
{
	FILE *f = file_open(path);
	size_t room = 0, got = 0;
	char *text = NULL;

	*n = 0;
	do {
		*n += got;
		text = weir_xgrow(text, &room, *n + (1 << 16), 1);
	} while ((got = fread(text + *n, 1, room - *n, f)) > 0);
	if (ferror(f))
		die("%s: %s", file_name(path), strerror(errno));
	if (f != stdin)
		fclose(f);
	const char *what = foreign_what(text, *n);
	if (what)
		die("%s: it is %.*s and not text with numbers; pictures come after the options",
		    file_name(path), (int)strcspn(what, ";"), what);
	text[*n] = 0;
	return text;
}

struct points
read_points(const struct args *a, size_t npath)
{
	struct points p = {0};
	struct why why;

	for (size_t i = 0; i < a->point.n; i++) {
		double xy[2];
		opt_reals("--point", a->point.v[i], ',', xy, 2);
		points_point(&p, xy[0], xy[1]);
	}
	if (a->point.n)
		points_line(&p, a->point.n);
	if (a->lines) {
		size_t n;
		if (!strcmp(a->lines, "-") && !npath && !a->scores)
			die_usage("--lines: standard input is the picture already");
		char *text = read_text(a->lines, &n);
		if (points_parse(&p, text, n, &why))
			die("%s: %s", strcmp(a->lines, "-") ? a->lines : "(stdin)", why.text);
		weir_free(text);
	}
	points_finish(&p);
	return p;
}

const double *
read_world(const struct args *a, double world[6])
{
	struct why why;
	size_t n;

	if (!a->world)
		return NULL;
	char *text = read_text(a->world, &n);
	if (world_parse(world, text, &why))
		die("%s: %s", a->world, why.text);
	weir_free(text);
	return world;
}

struct img
read_mask(const struct args *a)
{
	struct img mask = {0};

	if (a->mask)
		raw_load_file(a->mask, a->common.max_bytes, false, &mask);
	return mask;
}

/*
 * The pixels of the picture p of x that may hold a line: those of the item `given` of --mask, less the pixels without data
 * where x has the key nodata. NULL: all.
 */
static unsigned char *
mask_of(struct raw_in *in, const struct args *a, const struct img *given, const struct img *x,
	const struct img_picture *p)
{
	const char *word = img_key(x, "nodata");
	const struct nodata nodata = nodata_of(x, false);

	if (word && !nodata.named)
		raw_die(in, "nodata: '%s' is not a number", word);
	if (!a->mask && !word)
		return NULL;
	unsigned char *mask = weir_xalloc_large(p->w * p->h, 1);
	memset(mask, 1, p->w * p->h);
	if (a->mask)
		take_mask(mask, in, x, given, p, a->mask);
	if (word && !mask_nodata(mask, x, p, &nodata) && !a->mask) {
		weir_free(mask);
		return NULL;
	}
	return mask;
}

struct dptrace_image
read_image(struct raw_in *in, const struct args *a, const struct img *given, struct img *x)
{
	struct img_picture p;

	if (!img_picture(x, &p) || p.n > 1)
		raw_die(in, "%d axes: not a single picture", x->dim);
	if (img_is_complex(x))
		raw_die(in, "complex samples");
	raw_map(in, x);
	float *v = weir_xalloc_large(p.h * p.w, p.c * sizeof *v);
	unsigned char *mask = mask_of(in, a, given, x, &p);
	take_planes(in, v, x, &p, mask, par_threads(a->common.threads));
	const int none = mask ? mask_fill(v, p.c, p.h, p.w, mask) : 0;
	if (none)
		raw_die(in, none < 0 ? "no memory for the mask" : "the mask leaves no pixel");
	return (struct dptrace_image){.c = p.c, .h = p.h, .w = p.w, .v = v, .mask = mask};
}

void
read_colours(struct raw_in *in, const struct args *a, struct dptrace_image *image)
{
	const size_t n = image->h * image->w, c = image->c;
	const double k = !args_edge(a) || c == 1 ? 1 : a->chroma >= 0 ? a->chroma : c == 3 ? 4 : 1;
	float *v = (float *)image->v;
	bool bad = false;

	if (k == 1)
		return;
#pragma omp parallel for num_threads(par_threads(a->common.threads)) \
    reduction(||                                                     \
	      : bad) if (n * c >= SHARED)
	for (size_t i = 0; i < n; i += BLOCK)
		bad = move_block(v + i, n, n - i < BLOCK ? n - i : BLOCK, c, (float)k) || bad;
	if (bad)
		raw_die(in, "a sample is too large for --chroma=%g", k);
}

struct place
read_tile(const struct raw_in *in, const struct img *x)
{
	struct img_picture p;
	struct place t = {0, 0, 0, 0};
	struct why why;

	if (img_picture(x, &p) && place_of(x, p.w, p.h, &t, &why))
		raw_die(in, "%s", why.text);
	return t;
}

/* Where samples of an axis lie in the picture that a geotransform is of: sample i is pixel `first` + step i. */
static void
pixels_of(const struct img_axis *a, size_t x0, double *first, double *step)
{
	*step = isnan(a->spacing) || isnan(a->min) ? 1 : a->spacing;
	*first = isnan(a->min) ? (double)x0 : a->min;
}

/*
 * The key geotransform as a world file for pixels of the whole picture, of which x is the part t; NULL without that key.
 * Positions on its axes say which pixels a cropped picture has.
 */
static const double *
geotransform_of(const struct raw_in *in, const struct img *x, const struct place *t,
		double world[6])
{
	const char *text = img_key(x, "geotransform");
	const struct img_axis *row = &x->axis[img_row_axis(x)];
	struct why why;
	double px, py = (double)t->y0, sx, sy = 1;

	if (!text)
		return NULL;
	if (geotransform_parse(world, text, &why))
		raw_die(in, "geotransform: %s", why.text);
	pixels_of(row, t->x0, &px, &sx);
	if (x->dim > img_row_axis(x) + 1)
		pixels_of(row + 1, t->y0, &py, &sy);
	/* Places of the whole count from the tile's corner: sample X - x0 is pixel px + sx (X - x0). */
	px -= sx * (double)t->x0;
	py -= sy * (double)t->y0;
	for (int i = 0; i < 2; i++) {
		world[4 + i] += world[i] * px + world[2 + i] * py;
		world[i] *= sx;
		world[2 + i] *= sy;
	}
	return world;
}

const double *
read_map(const struct raw_in *in, const struct args *a, const double *given, const struct img *x,
	 const struct place *t, unsigned epsg, double own[6])
{
	const bool placed = a->points == POINTS_WORLD;
	const double *world = given;
	const unsigned mine = given ? 0 : crs_number(img_key(x, "crs"));

	if (epsg && !placed)
		warn(
		    "%s: the points are places of EPSG:%u, but taken as pixels; see --points=world",
		    raw_name(in), epsg);
	if (epsg && placed && mine && epsg != mine)
		warn("%s: it is a map of EPSG:%u, and the points are places of EPSG:%u; transform "
		     "them (ogr2ogr -t_srs EPSG:%u)",
		     raw_name(in), mine, epsg, mine);
	if (!world && (placed || report_is_map(a->to)))
		world = geotransform_of(in, x, t, own);
	if (!world && placed)
		raw_die(in, "no geotransform: --points=world needs one, or --world");
	if (!world && report_is_map(a->to) && img_key(x, "geotiff.tiepoints"))
		warn("%s: a map with control points alone: pixels are written, not places; see "
		     "--world",
		     raw_name(in));
	if (world && !given && !mine && (a->to == REPORT_GEOJSON || a->to == REPORT_GEOJSONL))
		warn(
		    "%s: a map whose system has no number of EPSG: GeoJSON has no crs, and readers "
		    "take degrees",
		    raw_name(in));
	return world;
}

/* Dies unless there is one line, it has that many segments, and its neighbouring points differ. */
static void
check_line(const char *name, const struct points *lines, size_t segments)
{
	const struct dptrace_line *l = &lines->line[0];

	if (lines->nline != 1 || dptrace_segments(l) != segments)
		die("%s: scores of %zu segments are for one polyline of %zu points", name, segments,
		    segments + 1);
	for (size_t i = 0; i < segments; i++)
		if (!memcmp(l->xy[i], l->xy[i + 1], sizeof *l->xy))
			die("two neighbouring points are the same, %g,%g", l->xy[i][0],
			    l->xy[i][1]);
}

struct scores
read_scores(const struct args *a, const struct points *lines)
{
	struct img x;

	/* Diagonals cross many pages: 29 MB read into large pages took 7.1 ms on a virtual EPYC, a mapping 18.3. */
	raw_load_file(a->scores, a->common.max_bytes, false, &x);
	const size_t d = x.axis[0].n, n = x.dim > 2 ? x.axis[2].n + 1 : 2,
		     segments = x.dim > 3 ? x.axis[3].n : 1;
	if (x.dim < 2 || x.dim > 4 || x.axis[1].n != d || d > DPTRACE_MAXD || n > DPTRACE_MAXN)
		die("%s: link scores have sizes d d n-1 [segments], d below %d, n below %d",
		    a->scores, DPTRACE_MAXD + 1, DPTRACE_MAXN + 1);
	check_line(a->scores, lines, segments);
	take_scores(a->scores, &x);
	return (struct scores){.x = x, .v = x.data, .n = n, .d = d};
}
