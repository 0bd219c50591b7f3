#include <math.h>
#include <stdio.h>

#include "dptrace/text/report.h"

/* The coordinates of a vertex as they are written. */
struct place {
	double x, y;
};

static struct place
place_of(const struct report *r, const struct dptrace_vertex *v)
{
	const double *w = r->world;

	if (!w)
		return (struct place){v->x, v->y};
	return (struct place){w[0] * v->x + w[2] * v->y + w[4], w[1] * v->x + w[3] * v->y + w[5]};
}

/* Writes before, x, between and y. Pixels have three decimals, places of a world file ten digits. */
static void
put_place(const struct report *r, const char *before, const struct dptrace_vertex *v,
	  const char *between)
{
	const struct place p = place_of(r, v);

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
