/* Items to vertices. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/stream/img.h"
#include "common/stream/nodata.h"
#include "emst/items.h"

void
insist(const struct raw_in *in, int err)
{
	if (err)
		raw_die(in, "%s", err == -ENOMEM ? "no memory" : strerror(-err));
}

/* --- pixels without data ------------------------------------------------------------------------------------------- */

/* Fills is[]. A pixel is missing that has NaN in a plane, or the value in all planes. Returns how many are. */
static size_t
mark(uint8_t *is, const struct img *x, size_t planes, size_t inputs, const struct nodata *nodata)
{
	const size_t size = planes * img_type_size(x->type), most = 4096 / planes + 1;
	uint8_t *sample = weir_xalloc(most, planes);
	size_t found = 0;

	for (size_t from = 0, n; from < inputs; from += n) {
		n = inputs - from < most ? inputs - from : most;
		nodata_mark(nodata, sample, (const char *)x->data + from * size, n * planes);
		for (size_t i = 0; i < n; i++) {
			bool nan = false, equal = true;
			for (size_t a = 0; a < planes; a++) {
				nan |= sample[i * planes + a] == NODATA_NAN;
				equal &= sample[i * planes + a] == NODATA_VALUE;
			}
			found += is[from + i] = nan || equal;
		}
	}
	weir_free(sample);
	return found;
}

static void
missing_free(struct missing *m)
{
	weir_free_all(m->is, m->place);
	*m = (struct missing){0};
}

/*
 * Finds the pixels of x without data. *inputs: the pixels of x, each of
 * `planes` samples. The samples of the pixels with data move to the front of x->data, and *inputs becomes their number.
 */
static void
missing_find(struct missing *m, const struct raw_in *in, struct img *x, size_t planes,
	     size_t *inputs)
{
	const size_t size = planes * img_type_size(x->type);
	const struct nodata nodata = nodata_of(x, false);
	char *data = x->data;

	if (!nodata.any)
		return;
	m->is = weir_xalloc_large(*inputs, 1);
	m->n = mark(m->is, x, planes, *inputs, &nodata);
	if (m->n == *inputs)
		raw_die(in, "no pixel has data");
	if (!m->n) {
		missing_free(m);
		return;
	}
	m->place = weir_xalloc_large(*inputs - m->n, sizeof *m->place);
	for (size_t i = 0, to = 0; i < *inputs; i++) {
		if (m->is[i])
			continue;
		memmove(data + to * size, data + i * size, size);
		m->place[to++] = (uint32_t)i;
	}
	*inputs -= m->n;
}

/* --- rows ------------------------------------------------------------------------------------------------------------ */

/* The sum of all counts is below this. */
#define ROWS_MOST ((uint64_t)1 << 46)

/* Whether these are colours of 1..3 planes of 8 bits. The order of their edges depends on the colours, not on their places. */
static bool
is_coded(enum img_type type, size_t planes)
{
	return type == IMG_U8 && planes <= 3;
}

static bool
has_places(const struct rows *r)
{
	return !r->points && !is_coded(r->type, r->planes);
}

static size_t
row_bytes(const struct rows *r)
{
	return r->planes * img_type_size(r->type);
}

static void
rows_free(struct rows *r)
{
	weir_free_all(r->x, r->count, r->place);
	*r = (struct rows){0};
}

/* Makes room for n more rows. */
static void
make_room(struct rows *r, size_t n)
{
	size_t room[] = {r->room, r->room, r->room};

	r->x = weir_xgrow(r->x, &room[0], r->n + n, row_bytes(r));
	r->count = weir_xgrow(r->count, &room[1], r->n + n, sizeof *r->count);
	if (has_places(r))
		r->place = weir_xgrow(r->place, &room[2], r->n + n, sizeof *r->place);
	r->room = room[0];
}

static bool
is_whole(double x, double below)
{
	return x >= 0 && x < below && x == floor(x);
}

/* Takes the numbers of one row: its samples, its count and, for rows with places, its place. */
static void
put_row(struct rows *r, const struct raw_in *in, const double *row)
{
	const double count = row[r->planes];

	if (sample_store(r->x + r->n * row_bytes(r), row, r->type, r->planes) < r->planes)
		raw_die(in, "row %zu has a sample that is no %s", r->n, img_type_name(r->type));
	if (!is_whole(count, (double)ROWS_MOST) || count < 1 ||
	    r->total + (uint64_t)count >= ROWS_MOST)
		raw_die(in,
			"row %zu: want a count that is a whole number from 1, and all counts "
			"together below 2^46",
			r->n);
	r->count[r->n] = (uint64_t)count;
	if (has_places(r)) {
		const double place = row[r->planes + 1];
		if (!is_whole(place, (double)EMST_MAXPOINTS) ||
		    (r->n && place <= r->place[r->n - 1]))
			raw_die(in,
				"row %zu: want a place that is a whole number below 2147483648 and "
				"above that of the row before",
				r->n);
		r->place[r->n] = (uint32_t)place;
	}
	r->total += (uint64_t)count;
	r->n++;
}

/* Reads the rows of an item with counts block by block. */
static void
read_rows(struct rows *r, struct raw_in *in, const struct img *x, struct shape s)
{
	enum { BLOCK = 1024 };
	const size_t columns = x->axis[0].n;
	char *raw = weir_xalloc(BLOCK * columns, img_type_size(x->type));
	double *row = weir_xalloc(BLOCK * columns, sizeof *row);

	*r = (struct rows){.type = s.type, .planes = s.planes, .points = s.points};
	for (size_t from = 0; from < s.inputs; from += BLOCK) {
		const size_t n = s.inputs - from < BLOCK ? s.inputs - from : BLOCK;
		raw_read(in, raw, n * columns);
		sample_load(row, raw, x->type, n * columns);
		make_room(r, n);
		for (size_t i = 0; i < n; i++)
			put_row(r, in, row + i * columns);
	}
	weir_free_all(row, raw);
}

/* Makes the vertices of the rows, which must outlive them. Returns what vertices_make() returns. */
static int
rows_vertices(const struct rows *r, struct vertices *v, int threads, size_t *at)
{
	int err = vertices_make(v, r->x, r->type, r->n, r->planes,
				r->points ? VERTICES_POINTS : VERTICES_COLOURS, threads, at);

	return err ? err : vertices_count(v, r->count, r->place, r->total);
}

/* Appends all vertices of v, whose pictures have so many pixels without data. Their places are moved by all pixels before. */
static void
append(struct rows *r, const struct vertices *v, size_t missing, const struct raw_in *in)
{
	const uint64_t before = r->total + r->missing,
		       most = has_places(r) ? EMST_MAXPOINTS : ROWS_MOST;
	bool fits = v->total < ROWS_MOST - r->total;

	make_room(r, v->set.n);
	for (size_t i = 0; fits && i < v->set.n; i++, r->n++) {
		char *const x = r->x + r->n * row_bytes(r);
		for (size_t a = 0; v->code && a < v->planes; a++)
			x[a] = (char)(v->code[i] >> 8 * (v->planes - 1 - a) & 255);
		if (!v->code)
			memcpy(x, (const char *)v->data + v->first[i] * row_bytes(r), row_bytes(r));
		r->count[r->n] = v->weight[i];
		if (!has_places(r))
			continue;
		const uint64_t place = before + vertices_number(v, i);
		fits = place < most;
		r->place[r->n] = (uint32_t)place;
	}
	if (!fits)
		raw_die(in, "--together: all pictures have more than %s pixels",
			has_places(r) ? "2147483647" : "2^46");
	r->total += v->total;
	r->missing += missing;
	if (has_places(r) && r->place[r->n - 1] >= r->total + r->missing)
		r->missing = r->place[r->n - 1] + 1 - (size_t)r->total;
}

/* Joins equal rows when there are many. */
static void
join_rows(struct rows *r, const struct raw_in *in, int threads)
{
	enum { ENOUGH = 1 << 16 };
	struct rows joined = {.type = r->type, .planes = r->planes, .opaque = r->opaque};
	struct vertices v;
	size_t at;

	if (r->n <= 2 * r->distinct + ENOUGH)
		return;
	insist(in, rows_vertices(r, &v, threads, &at));
	insist(in, vertices_weigh(&v, threads));
	append(&joined, &v, 0, in);
	joined.missing = r->missing;
	vertices_free(&v);
	rows_free(r);
	*r = joined;
	r->distinct = r->n;
}

/* --- shapes ---------------------------------------------------------------------------------------------------------- */

/* Returns true when columns:= ends in these words. */
static bool
columns_end(const struct img *x, const char *words)
{
	const char *names = img_key(x, "columns");
	const size_t n = names ? strlen(names) : 0, m = strlen(words);

	return n >= m && !strcmp(names + n - m, words) && (n == m || names[n - m - 1] == ' ');
}

/* Reads what colours:= says of the pictures that a list of colours is from. */
static void
describe_colours(struct shape *s, const struct raw_in *in, const struct img *x, const char *type)
{
	const char *opaque = img_key(x, "opaque"), *missing = img_key(x, "missing");

	s->type = img_type_named(type);
	if (s->type == IMG_NONE)
		raw_die(in, "colours:=%s is not a type", type);
	const bool coded = is_coded(s->type, x->axis[0].n - 1);
	const char *last = coded ? "count" : "count place";
	if (!columns_end(x, last))
		raw_die(in, "colours:=%s, but columns:= does not end in %s", type, last);
	s->points = false;
	s->counted = true;
	s->planes = x->axis[0].n - (coded ? 1 : 2);
	if (opaque && (!opt_number(opaque, &s->opaque) || !(s->opaque >= 1 && s->opaque <= 65535) ||
		       (s->planes != 2 && s->planes != 4)))
		raw_die(in,
			"opaque:=%s: want the alpha of opaque pixels, 1 to 65535, of 2 or 4 planes",
			opaque);
	if (missing && !(opt_size(missing, &s->missing) && s->missing < EMST_MAXPOINTS))
		raw_die(in, "missing:=%s: want a number of pixels below 2147483648", missing);
}

static void
describe_list(struct shape *s, const struct raw_in *in, const struct img *x)
{
	const char *colours = img_key(x, "colours");

	s->points = true;
	s->planes = x->axis[0].n;
	if (colours) {
		describe_colours(s, in, x, colours);
	} else if (columns_end(x, "count")) {
		s->counted = true;
		s->planes--;
	}
	if (s->planes == 0 || s->planes >= x->axis[0].n + !s->counted)
		raw_die(in, "%zu columns: want the samples too", x->axis[0].n);
}

static void
describe_picture(struct shape *s, const struct raw_in *in, const struct img *x,
		 const struct img_picture *p, const struct reading *r)
{
	/* Few columns and many rows, in a format that does not tell pictures from lists. */
	if (!r->image && x->format != IMG_PNM && x->dim == 2 && x->axis[0].n <= EMST_MAXDIM &&
	    x->axis[1].n >= 8 * x->axis[0].n)
		raw_die(in, "%zu columns and %zu rows: give %s--image if this is a gray picture",
			x->axis[0].n, x->axis[1].n,
			r->pictures_only ? "" : "--points if the rows are points, ");
	s->w = p->w;
	s->h = p->h;
	s->pictures = p->n;
	s->planes = p->c;
	const char *extra = img_key(x, "tiff.extrasamples");
	if (p->c > 2 && !alpha_of(x) && extra && strpbrk(extra, "12"))
		warn("%s: item %zu: the plane of alpha counts like the others; rawaxes "
		     "--crop=0:... leaves "
		     "it out",
		     raw_name(in), raw_item(in));
	s->opaque = alpha_of(x) ? alpha_opaque(x) : 0; /* 0: the last plane is not alpha */
}

static struct shape
describe_item(const struct raw_in *in, const struct img *x, const struct reading *r)
{
	struct shape s = {.type = x->type};
	const bool list =
	    r->points || (x->dim == 2 && (!strcmp(x->axis[0].kind, "list") ||
					  (r->palette && !r->image && x->format != IMG_PNM)));
	struct img_picture p;
	size_t count;

	if (!img_count(x, &count) || (!list && !img_picture(x, &p)))
		raw_die(in, "neither a picture nor a list of points; rawaxes --order puts "
			    "planes first, and rawstack --split makes items of a stack");
	if (list)
		describe_list(&s, in, x);
	else
		describe_picture(&s, in, x, &p, r);
	if (img_key(x, "tile") && !r->common->quiet)
		warn("%s: item %zu: tile:= says that this is part of a picture; only that part "
		     "is looked at, and what is written has no tile:=",
		     raw_name(in), raw_item(in));
	s.inputs = count / (s.counted ? x->axis[0].n : s.planes);
	if (r->pictures_only && s.points)
		raw_die(in, "a list of points; %s takes pictures and colours", r->pictures_only);
	if (s.planes > (size_t)r->most)
		raw_die(in, "%zu coordinates; at most %d%s", s.planes, r->most,
			r->most < EMST_MOSTDIM ? " with -g" : "");
	if (s.inputs >= EMST_MAXPOINTS)
		raw_die(in, "%zu %s; at most 2147483647", s.inputs, s.points ? "points" : "pixels");
	return s;
}

/* --- items ------------------------------------------------------------------------------------------------------------ */

bool
item_next(struct item *item, struct raw_in *in, const struct reading *r)
{
	*item = (struct item){0};
	if (!raw_next(in, &item->x))
		return false;
	if (r->common->verbose)
		raw_say(in, &item->x);
	item->shape = describe_item(in, &item->x, r);
	return true;
}

void
item_fill(struct item *item, struct raw_in *in, const struct reading *r)
{
	struct shape *s = &item->shape;
	struct missing *m = &item->missing;
	struct vertices *v = &item->v;
	size_t at = 0;
	int err;

	if (s->counted) {
		read_rows(&item->rows, in, &item->x, *s);
		err = rows_vertices(&item->rows, v, r->threads, &at);
	} else {
		raw_map(in, &item->x);
		if (!s->points && !r->whole)
			missing_find(m, in, &item->x, s->planes, &s->inputs);
		if (alpha_of(&item->x) == ALPHA_PREMULTIPLIED)
			alpha_divide(&item->x, item->x.data, s->inputs);
		s->missing = m->n;
		err = vertices_make(v, item->x.data, s->type, s->inputs, s->planes,
				    s->points ? VERTICES_POINTS : r->of, r->threads, &at);
	}
	if (err == VERTICES_NOT_FINITE)
		raw_die(in, "coordinate %zu of %s %zu is not finite%s", at % s->planes,
			s->points    ? "point"
			: s->counted ? "row"
				     : "pixel",
			m->n ? m->place[at / s->planes] : at / s->planes,
			r->of == VERTICES_PIXELS ? "; --neighbours joins all pixels" : "");
	insist(in, err);
	if (m->n && v->first)
		insist(in, vertices_count(v, v->count, m->place, v->total));
	v->opaque = s->opaque;
	if (m->n && r->common->verbose)
		fprintf(stderr, "%s: %s: item %zu: %zu pixels have no data\n", weir_prog,
			raw_name(in), raw_item(in), m->n);
}

size_t
item_load_all(struct item *all, struct raw_in *in, const struct reading *r)
{
	struct rows *rows = &all->rows;
	struct item item;
	size_t items = 0, at = 0;

	*all = (struct item){0};
	for (; item_next(&item, in, r); items++) {
		const struct shape s = item.shape;
		if (!rows->planes)
			*rows =
			    (struct rows){.type = s.type, .planes = s.planes, .opaque = s.opaque};
		if (rows->type != s.type || rows->planes != s.planes)
			raw_die(in,
				"--together: %zu samples of type %s; the items before have %zu of "
				"%s",
				s.planes, img_type_name(s.type), rows->planes,
				img_type_name(rows->type));
		if (rows->opaque != s.opaque)
			raw_die(
			    in,
			    "--together: opaque pixels have alpha %.0f; in the items before %.0f",
			    s.opaque, rows->opaque);
		item_fill(&item, in, r);
		insist(in, vertices_weigh(&item.v, r->threads));
		append(rows, &item.v, item.shape.missing, in);
		join_rows(rows, in, r->threads);
		item_free(&item);
	}
	insist(in, rows_vertices(&all->rows, &all->v, r->threads, &at));
	all->v.opaque = all->rows.opaque;
	all->shape.missing = all->rows.missing;
	return items;
}

void
item_free(struct item *item)
{
	vertices_free(&item->v);
	missing_free(&item->missing);
	rows_free(&item->rows);
	img_free(&item->x);
}
