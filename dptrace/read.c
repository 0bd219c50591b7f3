/* Reads and checks the files that the command line names. All functions die with a message where something is wrong. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/stream/file.h"
#include "common/stream/foreign.h"
#include "dptrace/args.h"
#include "dptrace/text/points.h"
#include "dptrace/text/report.h"

/* ---- doubts ---- */

/* Reports doubtful polylines on standard error and counts them for --stats. */

/*
 * A blank line has no margin that tells of another course: its polyline is a chord. Under the cost, where the doubt tells of one,
 * low is 0; rounding may leave a margin just below that.
 */
static bool
has_low_margin(const struct dptrace_trace *t)
{
	return t->low > 0 && t->margin < t->low && !t->blank;
}

static bool
is_doubtful(const struct dptrace_trace *t)
{
	return t->doubt > DPTRACE_DOUBT;
}

/*
 * Edges of people change sides, too: of boundaries that BSDS500's people drew, those that do are as often traced right as others
 * of the same doubt. So under the cost, which has doubts, this says what is wrong about a doubtful edge.
 */
static bool
has_turned(const struct dptrace_trace *t)
{
	return t->turned > DPTRACE_TURNED && (t->low > 0 || is_doubtful(t));
}

static void
warn_about(const char *name, size_t line, const struct dptrace_trace *t, const struct args *a)
{
	if (t->blank)
		warn("%s: line %zu: no evidence in the strip of some segment: its chord is the "
		     "polyline",
		     name, line);
	if (t->released)
		warn("%s: line %zu: no polyline keeps the angle at point %zu%s: it was given up "
		     "there",
		     name, line, t->released_at, t->released > 1 ? " and others" : "");
	if (t->border)
		warn("%s: line %zu: %zu %s the border of the strip: widen it (-w) or add points",
		     name, line, t->border, t->border == 1 ? "vertex touches" : "vertices touch");
	if (t->sharp && a->angle == 0 && a->score != SCORE_SIN)
		warn("%s: line %zu: %zu %s may: if the object doubles back there, add points", name,
		     line, t->sharp,
		     t->sharp == 1 ? "vertex turns about as far as it"
				   : "vertices turn about as far as they");
	if (t->bare > DPTRACE_BARE)
		warn("%s: line %zu: %.0f px without a line: add points", name, line, t->bare);
	if (has_turned(t))
		warn("%s: line %zu: %.0f px with the other side brighter: if one side always is, "
		     "use edge+ or edge-",
		     name, line, t->turned);
	if (t->unsupported && !t->blank)
		warn("%s: line %zu: hardly any evidence in segment %zu%s: do its points lie on a "
		     "line?",
		     name, line, t->unsupported_at, t->unsupported > 1 ? " and others" : "");
	if (is_doubtful(t))
		warn("%s: line %zu: another course may be the right one in segment %zu (doubt "
		     "%.0f): add points",
		     name, line, t->doubt_at, t->doubt);
	if (has_low_margin(t))
		warn("%s: line %zu: another course is about as good (margin %.2g): add points",
		     name, line, t->margin);
}

/* Prints every vertex, for -v. */
static void
explain(const char *name, size_t line, const struct dptrace_trace *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct dptrace_vertex *v = &t->v[i];
		warn("%s: line %zu: vertex %zu at %.3f,%.3f: link score %.4f, margin %.4g%s%s",
		     name, line, i, v->x, v->y, v->score, v->margin, v->point ? ", given" : "",
		     v->border ? ", border" : "");
	}
}

void
doubts_of(struct doubts *d, const char *name, const struct args *a, size_t line,
	  const struct dptrace_trace *t)
{
	warn_about(name, line, t, a);
	if (a->common.verbose)
		explain(name, line, t);
	d->lines++;
	d->vertices += t->n;
	d->border += t->border > 0;
	d->sharp += t->sharp > 0;
	d->released += t->released > 0;
	d->low += has_low_margin(t);
	d->doubtful += is_doubtful(t);
	d->bare += t->bare > DPTRACE_BARE;
	d->turned += has_turned(t);
	d->unsupported += t->unsupported > 0;
}

void
doubts_explain(const char *name, size_t first, const struct dptrace_plan *p)
{
	for (size_t i = 0; i < p->nline; i++)
		for (size_t k = 0; k < p->first[i + 1] - p->first[i]; k++) {
			const struct dptrace_resolved r = dptrace_resolved(p, i, k);
			warn(
			    "%s: line %zu: segment %zu of %.4g px%s: -n %zu -d %zu -w %.4g -a %.4g "
			    "-s %.4g "
			    "--objective=%s level %.4g noise %.4g",
			    name, first + i, k, r.length, r.way ? " along a way" : "", r.n, r.d,
			    r.halfwidth, r.phi * 180 / M_PI, r.sigma, r.cost ? "cost" : "sum",
			    r.level, r.noise);
		}
}

void
doubts_stats(const struct doubts *d, struct stats *st)
{
	stats_add(st, "lines", "%zu", d->lines);
	stats_add(st, "vertices", "%zu", d->vertices);
	stats_add(st, "border", "%zu", d->border);
	stats_add(st, "sharp", "%zu", d->sharp);
	stats_add(st, "released", "%zu", d->released);
	stats_add(st, "low_margin", "%zu", d->low);
	stats_add(st, "doubtful", "%zu", d->doubtful);
	stats_add(st, "bare", "%zu", d->bare);
	stats_add(st, "turned", "%zu", d->turned);
	stats_add(st, "unsupported", "%zu", d->unsupported);
}

/* ---- reading ---- */

/* Dies when a picture, or another file that is no text, stands where numbers are expected. */
static void
insist_on_text(const char *path, const char *text, size_t n)
{
	const char *what = foreign_what(text, n);

	if (what)
		die("%s: it is %.*s and not text with numbers; pictures come after the options",
		    file_name(path), (int)strcspn(what, ";"), what);
}

/* Reads a whole text file; "-" is standard input. The caller frees the text. */
static char *
read_text(const char *path, size_t *n)
{
	FILE *f = file_open(path);
	size_t room = 1 << 16, got;
	char *text = weir_xalloc(room, 1);

	for (*n = 0; (got = fread(text + *n, 1, room - *n, f)) > 0;) {
		*n += got;
		if (*n == room) {
			char *more = weir_xalloc(room, 2);
			memcpy(more, text, *n);
			weir_free(text);
			text = more;
			room *= 2;
		}
	}
	if (ferror(f))
		die("%s: %s", file_name(path), strerror(errno));
	if (f != stdin)
		fclose(f);
	insist_on_text(path, text, *n);
	return text;
}

struct points
read_points(const struct args *a, size_t npath)
{
	struct points p = {0};
	char err[DPTRACE_ERR];

	if (a->point.n) {
		double(*xy)[2] = weir_xalloc(a->point.n, sizeof *xy);
		for (size_t i = 0; i < a->point.n; i++)
			opt_reals("--point", a->point.v[i], ',', xy[i], 2);
		if (points_add(&p, (const double(*)[2])xy, a->point.n, a->closed))
			die("no memory for %zu points", a->point.n);
		weir_free(xy);
	}
	if (a->lines) {
		size_t n;
		if (!strcmp(a->lines, "-") && !npath && !a->scores)
			die_usage("--lines: standard input is the picture already");
		char *text = read_text(a->lines, &n);
		if (points_parse(&p, text, n, a->closed, err))
			die("%s: %s", strcmp(a->lines, "-") ? a->lines : "(stdin)", err);
		weir_free(text);
	}
	points_finish(&p);
	return p;
}

const double *
read_world(const struct args *a, double world[6])
{
	char err[DPTRACE_ERR];
	size_t n;

	if (!a->world)
		return NULL;
	char *text = read_text(a->world, &n);
	if (world_parse(world, text, n, err))
		die("%s: %s", a->world, err);
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
	double nodata = NAN;
	char err[DPTRACE_ERR];

	if (word && !opt_number(word, &nodata))
		raw_die(in, "nodata: '%s' is not a number", word);
	if (!a->mask && !word)
		return NULL;
	unsigned char *mask = weir_xalloc_large(p->w * p->h, 1);
	memset(mask, 1, p->w * p->h);
	if (a->mask && mask_take(mask, given, p->w, p->h, err))
		die("%s: %s", file_name(a->mask), err);
	if (word && !mask_nodata(mask, x, p, nodata) && !a->mask) {
		weir_free(mask);
		return NULL;
	}
	return mask;
}

struct dptrace_image
read_image(struct raw_in *in, const struct args *a, const struct img *given, struct img *x)
{
	struct img_picture p;
	char err[DPTRACE_ERR];

	if (!img_picture(x, &p) || p.n > 1)
		raw_die(in, "%d axes: not a single picture", x->dim);
	if (img_is_complex(x))
		raw_die(in, "complex samples");
	raw_map(in, x);
	float *v = weir_xalloc_large(p.h * p.w, p.c * sizeof *v);
	unsigned char *mask = mask_of(in, a, given, x, &p);
	if (take_planes(v, x, &p, mask, par_threads(a->common.threads), err))
		raw_die(in, "%s", err);
	const int none = mask ? mask_fill(v, p.c, p.h, p.w, mask) : 0;
	if (none)
		raw_die(in, none < 0 ? "no memory for the mask" : "the mask leaves no pixel");
	return (struct dptrace_image){.c = p.c, .h = p.h, .w = p.w, .v = v, .mask = mask};
}

/* How much the colours of a picture of c planes count. */
static double
chroma_of(const struct args *a, size_t c)
{
	if (!args_edge(a) || c == 1)
		return 1;
	return a->chroma >= 0 ? a->chroma : c == 3 ? 4 : 1;
}

void
read_colours(struct raw_in *in, const struct args *a, struct dptrace_image *image)
{
	const double k = chroma_of(a, image->c);
	char err[DPTRACE_ERR];

	if (k != 1 && take_chroma((float *)image->v, image->c, image->h * image->w, k,
				  par_threads(a->common.threads), err))
		raw_die(in, "%s", err);
}

struct tile
read_tile(const struct raw_in *in, const struct img *x)
{
	struct img_picture p;
	struct tile t = {0, 0, 0, 0};
	struct why why;

	if (img_picture(x, &p) && tile_of(x, p.w, p.h, &t, &why))
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

const double *
read_geotransform(const struct raw_in *in, const struct img *x, const struct tile *t,
		  double world[6])
{
	const char *text = img_key(x, "geotransform");
	const struct img_axis *row = &x->axis[img_row_axis(x)];
	char err[DPTRACE_ERR];
	double px, py = (double)t->y0, sx, sy = 1;

	if (!text)
		return NULL;
	if (geotransform_parse(world, text, err))
		raw_die(in, "geotransform: %s", err);
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

/* Dies unless there is one line, it has that many segments, and its neighbouring points differ. */
static void
check_line(const char *name, const struct points *lines, size_t segments)
{
	const struct dptrace_line *l = &lines->line[0];

	if (lines->nline != 1 || l->n < 2 || (l->closed && l->n < 3) ||
	    dptrace_segments(l) != segments)
		die("%s: scores of %zu segments are for one polyline of %zu points", name, segments,
		    segments + !l->closed);
	for (size_t i = 0; i < segments; i++)
		if (!memcmp(l->xy[i], l->xy[(i + 1) % l->n], sizeof *l->xy))
			die("two neighbouring points are the same, %g,%g", l->xy[i][0],
			    l->xy[i][1]);
}

struct scores
read_scores(const struct args *a, const struct points *lines)
{
	char err[DPTRACE_ERR];
	struct img x;

	/* Diagonals cross many pages: 29 MB read into large pages took 7.1 ms on a virtual EPYC, a mapping 18.3. */
	raw_load_file(a->scores, a->common.max_bytes, false, &x);
	const size_t d = x.axis[0].n, n = x.dim > 2 ? x.axis[2].n + 1 : 2,
		     segments = x.dim > 3 ? x.axis[3].n : 1;
	if (x.dim < 2 || x.dim > 4 || x.axis[1].n != d || d > DPTRACE_MAXD || n > DPTRACE_MAXN)
		die("%s: link scores have sizes d d n-1 [segments], d below %d, n below %d",
		    a->scores, DPTRACE_MAXD + 1, DPTRACE_MAXN + 1);
	check_line(a->scores, lines, segments);
	if (take_scores(&x, err))
		die("%s: %s", a->scores, err);
	return (struct scores){.x = x, .v = x.data, .n = n, .d = d};
}
