#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/sample.h"
#include "dptrace/resolve.h"
#include "dptrace/text/report.h"

/* ---- masks ---- */

static double
sample_of(const struct img *x, size_t i)
{
	double v;

	sample_load(&v, (const char *)x->data + i * img_type_size(x->type), x->type, 1);
	return v;
}

int
mask_take(unsigned char *mask, const struct img *x, size_t w, size_t h, char err[DPTRACE_ERR])
{
	struct img_picture p;

	if (!img_picture(x, &p) || img_is_complex(x) || p.n > 1 || p.c > 1 || p.w != w || p.h != h)
		return dptrace_fail(err, "a mask of one plane of %zu x %zu is needed", w, h);
	for (size_t i = 0; i < w * h; i++) {
		const double v = sample_of(x, i);
		mask[i] = v != 0 && !isnan(v);
	}
	return 0;
}

bool
mask_nodata(unsigned char *mask, const struct img *x, const struct img_picture *p, double nodata)
{
	bool any = false;

	for (size_t i = 0; i < p->w * p->h * p->c; i++) {
		const double v = sample_of(x, i);
		if (isnan(v) || v == nodata) {
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

int
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

/* ---- overlays ---- */

static void
range_of(const struct dptrace_image *im, unsigned maxval, float *lo, float *hi)
{
	*lo = 0;
	*hi = (float)maxval;
	if (maxval)
		return;
	*lo = *hi = im->v[0];
	for (size_t i = 0; i < im->c * im->h * im->w; i++) {
		*lo = im->v[i] < *lo ? im->v[i] : *lo;
		*hi = im->v[i] > *hi ? im->v[i] : *hi;
	}
}

int
overlay_make(struct img *y, const struct dptrace_image *im, unsigned maxval)
{
	const size_t sizes[] = {3, im->w, im->h}, n = im->w * im->h;
	float lo, hi;
	uint8_t *out;
	int r;

	img_init(y, IMG_U8, 3, sizes);
	y->format = IMG_PNM;
	strcpy(y->axis[0].kind, "RGB-color");
	if ((r = img_alloc(y)))
		return r;
	out = y->data;
	range_of(im, maxval, &lo, &hi);
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

/* ---- reports ---- */

/* The coordinates of a vertex as they are written. */
struct spot {
	double x, y;
};

static struct spot
place_of(const struct report *r, const struct dptrace_vertex *v)
{
	const double *w = r->world;

	if (!w)
		return (struct spot){v->x, v->y};
	return (struct spot){w[0] * v->x + w[2] * v->y + w[4], w[1] * v->x + w[3] * v->y + w[5]};
}

/* Writes before, x, between and y. Pixels have three decimals, places of a world file ten digits. */
static void
put_place(const struct report *r, const char *before, const struct dptrace_vertex *v,
	  const char *between)
{
	const struct spot p = place_of(r, v);

	if (r->world)
		raw_printf(r->out, "%s%.10g%s%.10g", before, p.x, between, p.y);
	else /* + 0. turns -0.000 into 0.000 */
		raw_printf(r->out, "%s%.3f%s%.3f", before, round(p.x * 1e3) / 1e3 + 0., between,
			   round(p.y * 1e3) / 1e3 + 0.);
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
		raw_printf(r->out, "%s%s", before, r->format == REPORT_CSV ? "" : "null");
}

static void
put_feature(const struct report *r, const struct dptrace_trace *t, bool closed, size_t item,
	    size_t line)
{
	if (r->format == REPORT_GEOJSON)
		raw_printf(r->out, "%s\n", r->written ? "," : "");
	raw_printf(r->out, "{\"type\": \"Feature\", \"properties\": {\"item\": %zu, \"line\": %zu",
		   item, line);
	put_figure(r, ", \"score\": ", t->score);
	put_figure(r, ", \"margin\": ", t->margin);
	put_figure(r, ", \"doubt\": ", t->doubt);
	raw_printf(r->out,
		   ", \"border\": %zu}, \"geometry\": {\"type\": \"%s\", \"coordinates\": [%s",
		   t->border, closed ? "Polygon" : "LineString", closed ? "[" : "");
	put_places(r, t, ", ", "[", ", ", "]");
	raw_printf(r->out, "%s]}}%s", closed ? "]" : "", r->format == REPORT_GEOJSONL ? "\n" : "");
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
	unsigned n;

	return r->world && r->crs && sscanf(r->crs, "EPSG:%u", &n) == 1 ? n : 0;
}

/* Writes the member crs by which GDAL and QGIS know the coordinates. */
static void
put_crs(const struct report *r)
{
	if (epsg_of(r))
		raw_printf(r->out,
			   "\"crs\": {\"type\": \"name\", \"properties\": {\"name\": "
			   "\"urn:ogc:def:crs:EPSG::%u\"}}, ",
			   epsg_of(r));
}

void
report_begin(struct report *r, size_t w, size_t h)
{
	if (r->format == REPORT_GEOJSON) {
		raw_printf(r->out, "{\"type\": \"FeatureCollection\", ");
		put_crs(r);
		raw_printf(r->out, "\"features\": [");
	}
	if (r->format == REPORT_CSV && !r->follows)
		raw_printf(r->out, "item,line,vertex,x,y,score,margin,point,border\n");
	if (r->format == REPORT_SVG && w > 0) /* The centre of pixel 0,0 is 0,0. */
		raw_printf(r->out,
			   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-0.5 -0.5 %zu "
			   "%zu\" fill=\"none\" "
			   "stroke=\"red\">\n",
			   w, h);
	else if (r->format == REPORT_SVG)
		raw_printf(
		    r->out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" fill=\"none\" stroke=\"red\">\n");
}

void
report_line(struct report *r, const struct dptrace_trace *t, bool closed, size_t item, size_t line)
{
	switch (r->format) {
	case REPORT_TEXT:
		raw_printf(r->out, "%s", r->written ? "\n" : "");
		put_places(r, t, "", "", " ", "\n");
		break;
	case REPORT_WKT:
	case REPORT_EWKT:
		if (r->format == REPORT_EWKT && epsg_of(r))
			raw_printf(r->out, "SRID=%u;", epsg_of(r));
		raw_printf(r->out, "%s", closed ? "POLYGON ((" : "LINESTRING (");
		put_places(r, t, ", ", "", " ", "");
		raw_printf(r->out, "%s\n", closed ? "))" : ")");
		break;
	case REPORT_GEOJSON:
	case REPORT_GEOJSONL:
		put_feature(r, t, closed, item, line);
		break;
	case REPORT_SVG:
		raw_printf(r->out, "<%s points=\"", closed ? "polygon" : "polyline");
		put_places(r, t, " ", "", ",", "");
		raw_printf(r->out, "\"/>\n");
		break;
	case REPORT_CSV:
		put_rows(r, t, item, line);
		break;
	}
	r->written++;
}

void
report_end(struct report *r)
{
	if (r->format == REPORT_GEOJSON)
		raw_printf(r->out, "\n]}\n");
	if (r->format == REPORT_SVG)
		raw_printf(r->out, "</svg>\n");
}
