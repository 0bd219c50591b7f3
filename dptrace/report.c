/* Writes polylines, warns of doubtful ones, and draws them over the picture. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/die.h"
#include "dptrace/args.h"
#include "dptrace/pass.h"

/* ---- overlays ---- */

int
overlay_make(struct img *y, const struct dptrace_image *im, unsigned maxval)
{
	const size_t sizes[] = {3, im->w, im->h}, n = im->w * im->h;
	float lo = 0, hi = (float)maxval;
	uint8_t *out;
	int r;

	img_init(y, IMG_U8, 3, sizes);
	y->format = IMG_PNM;
	strcpy(y->axis[0].kind, "RGB-color");
	if ((r = img_alloc(y)))
		return r;
	out = y->data;
	if (!maxval)
		lo = hi = im->v[0];
	for (size_t i = 0; !maxval && i < im->c * n; i++) {
		lo = im->v[i] < lo ? im->v[i] : lo;
		hi = im->v[i] > hi ? im->v[i] : hi;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < 3; c++) {
			float v = im->v[(im->c >= 3 ? c : 0) * n + i],
			      t = hi > lo ? (v - lo) / (hi - lo) : 0;
			out[3 * i + c] = (uint8_t)(255 * (t < 0 ? 0 : t > 1 ? 1 : t) + .5f);
		}
	return 0;
}

static void
dot(struct img *y, double x, double z, int radius, const uint8_t colour[3])
{
	const long w = (long)y->axis[1].n, h = (long)y->axis[2].n, cx = lround(x), cy = lround(z);
	uint8_t *out = y->data;

	for (long i = cy - radius; i <= cy + radius; i++)
		for (long j = cx - radius; j <= cx + radius; j++)
			if (i >= 0 && i < h && j >= 0 && j < w)
				memcpy(out + 3 * (i * w + j), colour, 3);
}

void
overlay_draw(struct img *y, const struct dptrace_trace *t)
{
	static const uint8_t red[3] = {255, 0, 0}, yellow[3] = {255, 255, 0};

	for (size_t i = 0; i + 1 < t->n; i++) {
		const struct dptrace_vertex *a = &t->v[i], *b = &t->v[i + 1];
		const double dx = b->x - a->x, dy = b->y - a->y;
		const double steps = ceil(2 * fmax(fabs(dx), fabs(dy))) + 1;
		for (double k = 0; k <= steps; k++)
			dot(y, a->x + dx * k / steps, a->y + dy * k / steps, 0, red);
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].point)
			dot(y, t->v[i].x, t->v[i].y, 1, yellow);
}

/* ---- doubts ---- */

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
	if (t->flanks)
		warn(
		    "%s: line %zu: a flank or an edge, not the middle of a line, in segment %zu%s: "
		    "try "
		    "half the line's width (-s), bright or dark (--score), or points on its middle",
		    name, line, t->flank_at, t->flanks > 1 ? " and others" : "");
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

/* The figures of --stats: polylines and vertices, and polylines with each kind of doubt. */
static const char *const figures[REPORT_FIGURES] = {"lines",	"vertices",   "border",	    "sharp",
						    "released", "low_margin", "doubtful",   "bare",
						    "turned",	"flank",      "unsupported"};

static void
count(size_t figure[REPORT_FIGURES], const struct dptrace_trace *t)
{
	const size_t now[REPORT_FIGURES] = {1,
					    t->n,
					    t->border > 0,
					    t->sharp > 0,
					    t->released > 0,
					    has_low_margin(t),
					    is_doubtful(t),
					    t->bare > DPTRACE_BARE,
					    has_turned(t),
					    t->flanks > 0,
					    t->unsupported > 0};

	for (int i = 0; i < REPORT_FIGURES; i++)
		figure[i] += now[i];
}

void
report_explain(const char *name, size_t first, const struct dptrace_plan *p)
{
	for (size_t i = 0; i < p->nline; i++)
		for (size_t k = 0; k < p->first[i + 1] - p->first[i]; k++) {
			const struct segment_shape *s = &p->shape[p->first[i] + k];
			const bool way = s->cost && s->spine.n;
			warn("%s: line %zu: segment %zu of %.4g px%s%s: -n %d -d %d -w %.4g "
			     "-a %.4g -s %.4g --objective=%s level %.4g noise %.4g",
			     name, first + i, k, way ? s->way.length : s->length,
			     way ? " along a way" : "", p->trace[i].like ? " by colour" : "",
			     pass_guides(s, 0), pass_samples(s, 0),
			     way ? (s->spine.d - 1) / 2 * s->dv : s->halfwidth, s->phi * 180 / M_PI,
			     s->sigma, s->cost ? "cost" : "sum", s->level, s->noise);
		}
}

/* ---- reports ---- */

/* Writes before, x, between and y. Pixels have three decimals, places of a world file ten digits. */
static void
put_place(const struct report *r, const char *before, const struct dptrace_vertex *v,
	  const char *between)
{
	const double *w = r->world, x = v->x, y = v->y;

	if (w)
		raw_printf(r->out, "%s%.10g%s%.10g", before, w[0] * x + w[2] * y + w[4], between,
			   w[1] * x + w[3] * y + w[5]);
	else /* + 0. turns -0.000 into 0.000 */
		raw_printf(r->out, "%s%.3f%s%.3f", before, round(x * 1e3) / 1e3 + 0., between,
			   round(y * 1e3) / 1e3 + 0.);
}

static void
put_places(const struct report *r, const struct dptrace_trace *t, const char *separator,
	   const char *before, const char *between, const char *after)
{
	for (size_t i = 0; i < t->n; i++) {
		raw_printf(r->out, "%s", i ? separator : "");
		put_place(r, before, &t->v[i], between);
		raw_printf(r->out, "%s", after);
	}
}

/* Writes a figure. Infinity and NaN become null in JSON, which has neither, and an empty field in CSV. */
static void
put_figure(const struct report *r, const char *before, double x)
{
	if (isfinite(x))
		raw_printf(r->out, "%s%.6g", before, x);
	else
		raw_printf(r->out, "%s%s", before, r->a->to == REPORT_CSV ? "" : "null");
}

static void
put_feature(const struct report *r, const struct dptrace_trace *t, size_t item, size_t line)
{
	if (r->a->to == REPORT_GEOJSON)
		raw_printf(r->out, "%s\n", r->written ? "," : "");
	raw_printf(r->out, "{\"type\": \"Feature\", \"properties\": {\"item\": %zu, \"line\": %zu",
		   item, line);
	put_figure(r, ", \"score\": ", t->score);
	put_figure(r, ", \"margin\": ", t->margin);
	put_figure(r, ", \"doubt\": ", t->doubt);
	raw_printf(
	    r->out,
	    ", \"border\": %zu}, \"geometry\": {\"type\": \"LineString\", \"coordinates\": [",
	    t->border);
	put_places(r, t, ", ", "[", ", ", "]");
	raw_printf(r->out, "]}}%s", r->a->to == REPORT_GEOJSONL ? "\n" : "");
}

static void
put_rows(const struct report *r, const struct dptrace_trace *t, size_t item, size_t line)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct dptrace_vertex *v = &t->v[i];
		raw_printf(r->out, "%zu,%zu,%zu", item, line, i);
		put_place(r, ",", v, ",");
		put_figure(r, ",", v->score);
		put_figure(r, ",", v->margin);
		raw_printf(r->out, ",%d,%d\n", v->point, v->border);
	}
}

/* The number of the system of the places, of EPSG; 0 for pixels and for systems without a number. */
static unsigned
epsg_of(const struct report *r)
{
	return r->world ? crs_number(r->crs) : 0;
}

void
report_open(struct report *r, const struct args *a, const double *world)
{
	r->a = a;
	r->world = world;
	r->written = r->first;
	r->out = raw_create(a->common.out, RAW_AS_TEXT);
}

void
report_begin(struct report *r)
{
	if (r->a->to == REPORT_GEOJSON) {
		raw_printf(r->out, "{\"type\": \"FeatureCollection\", ");
		if (epsg_of(r))
			raw_printf(r->out, CRS_MEMBER, epsg_of(r));
		raw_printf(r->out, "\"features\": [");
	}
	if (r->a->to == REPORT_CSV && r->a->common.share.i == 0)
		raw_printf(r->out, "item,line,vertex,x,y,score,margin,point,border\n");
}

void
report_line(struct report *r, const char *name, const struct dptrace_trace *t, size_t item,
	    size_t line)
{
	switch ((enum report_format)r->a->to) {
	case REPORT_TEXT:
		raw_printf(r->out, "%s", r->written ? "\n" : "");
		put_places(r, t, "", "", " ", "\n");
		break;
	case REPORT_WKT:
	case REPORT_EWKT:
		if (r->a->to == REPORT_EWKT && epsg_of(r))
			raw_printf(r->out, "SRID=%u;", epsg_of(r));
		raw_printf(r->out, "LINESTRING (");
		put_places(r, t, ", ", "", " ", "");
		raw_printf(r->out, ")\n");
		break;
	case REPORT_GEOJSON:
	case REPORT_GEOJSONL:
		put_feature(r, t, item, line);
		break;
	case REPORT_CSV:
		put_rows(r, t, item, line);
		break;
	}
	r->written++;
	warn_about(name, line, t, r->a);
	for (size_t i = 0; r->a->common.verbose && i < t->n; i++) {
		const struct dptrace_vertex *v = &t->v[i];
		warn("%s: line %zu: vertex %zu at %.3f,%.3f: link score %.4f, margin %.4g%s%s",
		     name, line, i, v->x, v->y, v->score, v->margin, v->point ? ", given" : "",
		     v->border ? ", border" : "");
	}
	count(r->figure, t);
}

void
report_end(struct report *r, struct stats *st)
{
	if (r->a->to == REPORT_GEOJSON)
		raw_printf(r->out, "\n]}\n");
	for (int i = 0; i < REPORT_FIGURES; i++)
		stats_add(st, figures[i], "%zu", r->figure[i]);
}

void
report_shift(const struct dptrace_trace *t, double dx, double dy)
{
	for (size_t i = 0; i < t->n; i++) {
		t->v[i].x += dx;
		t->v[i].y += dy;
	}
}
