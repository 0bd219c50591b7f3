/* Turns items into vertices. All of these functions may die. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/roots.h"
#include "common/base/sample.h"
#include "emst/job.h"
#include "emst/mesh/mesh.h"

/* ---- saved trees ---- */

/* Reads trees that --to=tree has written. Reads trees for --tree. */

static void
check_tree_header(const struct raw_in *in, const struct img *y, size_t min_pts)
{
	const char *columns = img_key(y, "columns"), *pts = img_key(y, "min_pts");
	size_t made_with = 0;

	if (y->type != IMG_F64 || y->dim != 2 || y->axis[0].n != 3 || !columns ||
	    strcmp(columns, "u v length"))
		raw_die(in, "not a tree written by --to=tree");
	if (pts && !opt_size(pts, &made_with))
		raw_die(in, "min_pts:=%s is no number", pts);
	if (made_with != min_pts)
		raw_die(in,
			made_with ? "this tree was made with --min-pts %zu; give the same"
				  : "this tree was not made with --min-pts; leave it out",
			made_with);
}

/* Turns rows (u, v, length) into edges between vertices. Edges between equal points are left out. */
static void
take_rows(struct emst_tree *t, const struct raw_in *in, const double (*row)[3], size_t n,
	  const struct vertices *v)
{
	uint32_t *up = weir_xalloc(t->n, sizeof *up), a, b;
	size_t have = 0;

	roots_single(up, t->n);
	for (size_t i = 0; i < n; i++) {
		if (!vertices_named(v, row[i][0], &a) || !vertices_named(v, row[i][1], &b))
			raw_die(in, "edge %zu joins %.17g and %.17g, which are not both there", i,
				row[i][0], row[i][1]);
		if (a == b && row[i][0] != row[i][1])
			continue;
		uint32_t ra = roots_find(up, a), rb = roots_find(up, b);
		if (ra == rb || !(row[i][2] >= (i ? row[i - 1][2] : 0)) || isinf(row[i][2]))
			raw_die(in, "edge %zu closes a ring or is out of order", i);
		roots_join(up, ra, rb);
		t->edge[have] = a < b ? (struct emst_edge){a, b} : (struct emst_edge){b, a};
		t->length[have++] = row[i][2];
	}
	if (have + 1 < t->n)
		raw_die(in, "%zu edges do not join %zu vertices", have, t->n);
	weir_free(up);
}

void
saved_read(struct emst_tree *t, struct vertices *v, struct raw_in *from, size_t min_pts,
	   const struct raw_in *in)
{
	struct img y;

	if (!raw_next(from, &y))
		raw_die(in, "%s has no tree for it", raw_name(from));
	check_tree_header(from, &y, min_pts);
	if (v->points && !v->of && vertices_distinct(v))
		raw_die(in, "no memory");
	raw_load(from, &y);
	*t = (struct emst_tree){v->set.n, weir_xalloc(v->set.n, sizeof *t->edge),
				weir_xalloc(v->set.n, sizeof *t->length)};
	take_rows(t, from, y.data, y.axis[1].n, v);
	img_free(&y);
}

/* ---- taking ---- */

/* --- shapes ------------------------------------------------------------------------------------------------------- */

/* Returns true for few columns and many rows in a format that does not tell pictures from lists. */
static bool
is_table(const struct img *x)
{
	return x->format != IMG_PNM && x->dim == 2 && x->axis[0].n <= EMST_MAXDIM &&
	       x->axis[1].n >= 8 * x->axis[0].n;
}

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
take_colours(struct shape *s, const struct raw_in *in, const struct img *x, const char *type)
{
	const char *opaque = img_key(x, "opaque");

	s->type = img_type_named(type);
	if (s->type == IMG_NONE)
		raw_die(in, "colours:=%s is not a type", type);
	const bool coded = rows_coded(s->type, x->axis[0].n - 1, false);
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
}

/* Returns the alpha of opaque pixels, or 0 where the last plane is not alpha. */
static double
opaque_of(const struct img *x, size_t planes)
{
	const char *tuple_type = img_key(x, "tupltype");
	const bool gray = planes == 2 && tuple_type && !strcmp(tuple_type, "GRAYSCALE_ALPHA"),
		   rgb = planes == 4 && !strcmp(x->axis[0].kind, "RGBA-color");

	if (!gray && !rgb)
		return 0;
	return img_maxval(x) ? (double)img_maxval(x) : x->type == IMG_U8 ? 255 : 65535;
}

static void
take_list(struct shape *s, const struct raw_in *in, const struct img *x)
{
	const char *colours = img_key(x, "colours");

	s->points = true;
	s->planes = x->axis[0].n;
	if (colours) {
		take_colours(s, in, x, colours);
	} else if (columns_end(x, "count")) {
		s->counted = true;
		s->planes--;
	}
	if (s->planes == 0 || s->planes >= x->axis[0].n + !s->counted)
		raw_die(in, "%zu columns: want the samples too", x->axis[0].n);
}

static void
take_picture(struct shape *s, const struct raw_in *in, const struct img *x, const struct args *args)
{
	struct img_picture p;

	if (!img_picture(x, &p))
		raw_die(in, "neither a picture nor a list of points; rawaxes --order puts "
			    "planes first, and rawstack --split makes items of a stack");
	if (!args->image && is_table(x))
		raw_die(in,
			"%zu columns and %zu rows: give --points if the rows are points, --image "
			"if this is a gray picture",
			x->axis[0].n, x->axis[1].n);
	if (args->neighbours && p.n > 1)
		raw_die(in, "--neighbours takes items of one picture");
	s->w = p.w;
	s->h = p.h;
	s->planes = p.c;
	s->opaque = opaque_of(x, p.c);
}

/* Refuses what the options do not go with. */
static void
check_shape(const struct raw_in *in, struct shape s, const struct args *args)
{
	const int most = args->gpu ? EMST_MAXDIM : EMST_MOSTDIM;

	if (args->neighbours && (s.points || s.counted))
		raw_die(in, "--neighbours takes items of one picture");
	if (args->dither && s.counted)
		raw_die(in, "a list of colours; --dither takes pictures");
	if ((args->together || args->colours) && s.points)
		raw_die(in, "a list of points; %s takes pictures and colours",
			args->together ? "--together" : "--to=colours");
	if (s.planes > (size_t)most)
		raw_die(in, "%zu coordinates; at most %d%s", s.planes, most,
			most < EMST_MOSTDIM ? " with -g" : "");
	if (args->neighbours && s.inputs >= MESH_MOST)
		raw_die(in, "%zu pixels; --neighbours takes at most 1073741823", s.inputs);
	if (s.inputs >= EMST_MAXPOINTS)
		raw_die(in, "%zu %s; at most 2147483647", s.inputs, s.points ? "points" : "pixels");
}

struct shape
take_shape(const struct raw_in *in, const struct img *x, const struct args *args)
{
	struct shape s = {.type = x->type};
	size_t count;

	if (!img_count(x, &count))
		raw_die(in, "neither a picture nor a list of points; rawaxes --order puts "
			    "planes first, and rawstack --split makes items of a stack");
	if (args->points || (x->dim == 2 && !strcmp(x->axis[0].kind, "list")))
		take_list(&s, in, x);
	else
		take_picture(&s, in, x, args);
	if (img_key(x, "tile") && !args->common.quiet)
		warn("%s: item %zu: tile:= says that this is part of a picture; only that part "
		     "is looked at, and what is written has no tile:=",
		     raw_name(in), raw_item(in));
	s.inputs = count / (s.counted ? x->axis[0].n : s.planes);
	check_shape(in, s, args);
	return s;
}

/* --- vertices ----------------------------------------------------------------------------------------------------- */

static void
insist_finite(const struct raw_in *in, int err, struct shape s, size_t at, const char *why)
{
	if (err == VERTICES_NOT_FINITE)
		raw_die(in, "coordinate %zu of %s %zu is not finite%s", at % s.planes,
			s.points    ? "point"
			: s.counted ? "row"
				    : "pixel",
			at / s.planes, why);
	insist(in, err);
}

/* Reads rows block by block. */
static void
read_rows(struct rows *r, struct raw_in *in, const struct img *x, struct shape s)
{
	enum { COUNTED = 1024 };
	const size_t columns = x->axis[0].n;
	char *raw = weir_xalloc(COUNTED * columns, img_type_size(x->type));
	double *row = weir_xalloc(COUNTED * columns, sizeof *row);
	size_t at = 0;

	rows_init(r, s.type, s.planes, s.points);
	for (size_t from = 0; from < s.inputs; from += COUNTED) {
		const size_t n = s.inputs - from < COUNTED ? s.inputs - from : COUNTED;
		raw_read(in, raw, n * columns);
		sample_load(row, raw, x->type, n * columns);
		const int err = rows_put(r, row, n, &at);
		if (err == ROWS_SAMPLE)
			raw_die(in, "row %zu has a sample that is no %s", at,
				img_type_name(s.type));
		if (err == ROWS_COUNT)
			raw_die(in,
				"row %zu: want a count that is a whole number from 1, and all "
				"counts together below 2^46",
				at);
		if (err == ROWS_PLACE)
			raw_die(in,
				"row %zu: want a place that is a whole number below 2147483648 and "
				"above that of the row before",
				at);
		insist(in, err);
	}
	weir_free(row);
	weir_free(raw);
}

/* Whether the pixels of a picture become a palette at once. */
static bool
makes_palette(const struct args *args, enum img_type type, struct shape s)
{
	return args->has_palette && !args->together && !s.points && s.planes <= 4 &&
	       (type == IMG_U8 || type == IMG_U16);
}

void
take_item(struct vertices *v, struct rows *rows, struct missing *m, struct raw_in *in,
	  struct img *x, struct shape s, const struct args *args, int threads)
{
	size_t at = 0;
	int err;

	if (s.counted) {
		read_rows(rows, in, x, s);
		err = rows_vertices(rows, v, threads, &at);
	} else {
		raw_load(in, x);
		if (!s.points && !args->neighbours && !args->dither)
			missing_find(m, in, x, s.planes, &s.inputs);
		err = makes_palette(args, x->type, s)
			  ? vertices_colours(v, x->data, x->type, s.inputs, s.planes, threads)
		      : args->neighbours
			  ? vertices_pixels(v, x->data, x->type, s.inputs, s.planes, &at)
			  : vertices_make(v, x->data, x->type, s.inputs, s.planes, s.points,
					  threads, &at);
	}
	insist_finite(in, err, s, at, args->neighbours ? "; --neighbours joins all pixels" : "");
	insist(in, missing_number(m, v));
	v->opaque = s.opaque;
	if (m->n && args->common.verbose)
		fprintf(stderr, "%s: %s: item %zu: %zu pixels have no data\n", weir_prog,
			raw_name(in), raw_item(in), m->n);
}

void
take_together(struct rows *all, struct raw_in *in, struct img *x, struct shape s,
	      const struct args *args, int threads)
{
	struct vertices v;
	struct rows rows = {0};
	struct missing missing = {0};

	if (!all->planes) {
		rows_init(all, s.type, s.planes, false);
		all->opaque = s.opaque;
	}
	if (all->type != s.type || all->planes != s.planes)
		raw_die(in, "--together: %zu samples of type %s; the items before have %zu of %s",
			s.planes, img_type_name(s.type), all->planes, img_type_name(all->type));
	if (all->opaque != s.opaque)
		raw_die(in, "--together: opaque pixels have alpha %.0f; in the items before %.0f",
			s.opaque, all->opaque);
	take_item(&v, &rows, &missing, in, x, s, args, threads);
	insist(in, vertices_weigh(&v, threads));
	const int err = rows_add(all, &v, threads);
	if (err == -ERANGE)
		raw_die(in, "--together: all pictures have more than %s pixels",
			rows_coded(s.type, s.planes, false) ? "2^46" : "2147483647");
	insist(in, err);
	missing_free(&missing);
	vertices_free(&v);
	rows_free(&rows);
}

void
take_all(struct vertices *v, const struct rows *all, const struct raw_in *in, int threads)
{
	size_t at = 0;

	insist(in, rows_vertices(all, v, threads, &at));
	v->opaque = all->opaque;
}
