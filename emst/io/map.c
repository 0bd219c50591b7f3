/*
 * Classes that a file names, or that were made of all pictures together: every colour gets the class of the row that is it, or
 * else of the nearest one. It is found along one axis, from both sides, as long as the distance along this axis allows a nearer
 * one.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "emst/items.h"

enum {
	HEAD = 3
}; /* the number, the pixels and their share before the mean in a line of --to=palette */

/* --- rows ------------------------------------------------------------------------------------------------------------ */

/* Appends a row of the class. */
static void
add_row(struct map *m, size_t *room, const double *x, uint32_t class)
{
	size_t rooms[] = {*room, *room};

	m->x = weir_xgrow(m->x, &rooms[0], m->n + 1, m->planes * sizeof *m->x);
	m->class = weir_xgrow(m->class, &rooms[1], m->n + 1, sizeof *m->class);
	*room = rooms[0];
	memcpy(m->x + m->n * m->planes, x, m->planes * sizeof *x);
	m->class[m->n++] = class;
	m->classes = class > m->classes ? class : m->classes;
}

/* The rows become the means of their classes. */
static void
take_means(struct map *m)
{
	m->mean = weir_xalloc((m->classes + 1) * m->planes, sizeof *m->mean);
	memset(m->mean, 0, (m->classes + 1) * m->planes * sizeof *m->mean);
	for (size_t i = 0; i < m->n; i++)
		memcpy(m->mean + m->class[i] * m -> planes, m -> x + i * m -> planes,
		       m -> planes * sizeof *m->x);
}

/* Reads the lines that --to=palette has written. */
static void
read_text(struct map *m, FILE *f, const char *path)
{
	double v[EMST_MOSTDIM + HEAD];
	size_t room = 0, size = 0;
	char *text = NULL;

	for (size_t line = 1; getline(&text, &size, f) > 0; line++) {
		const size_t n = word_reals(text, ' ', v, EMST_MOSTDIM + HEAD);
		if (n == HEAD && v[0] == 0)
			continue;
		if (n <= HEAD || (m->planes && n != m->planes + HEAD) ||
		    !(v[0] >= 1 && v[0] < EMST_MAXPOINTS && v[0] == floor(v[0])))
			die("%s: line %zu is not a number, pixels, their share and a mean, as "
			    "--to=palette writes them",
			    path, line);
		m->planes = n - HEAD;
		add_row(m, &room, v + HEAD, (uint32_t)v[0]);
	}
	if (!feof(f)) /* getline() may find no memory, too */
		die("%s: it cannot be read", path);
	free(text);
}

void
map_make(struct map *m, const struct vertices *v, const uint32_t *class, const double *mean)
{
	double *x = weir_xalloc(v->planes, sizeof *x);
	size_t room = 0;

	*m = (struct map){.planes = v->planes};
	for (size_t i = 0; i < v->set.n; i++) {
		vertices_get(v, i, x);
		for (size_t a = 0; a < v->planes; a++)
			x[a] *= v->scale;
		add_row(m, &room, x, class ? class[i] : (uint32_t)i + 1);
	}
	weir_free(x);
	take_means(m);
	if (mean)
		memcpy(m->mean, mean, (m->classes + 1) * m->planes * sizeof *mean);
}

/* Reads the only item of the file. The colours of a picture are numbered as classes are, rows of a list in their order. */
static void
read_item(struct map *m, const char *path, const struct reading *r)
{
	struct reading as = *r;
	struct raw_in *in = raw_open((char *[]){(char *)(uintptr_t)path}, 1, r->common->max_bytes);
	struct classes c = {0};
	struct item item;

	as.palette = true;
	as.pictures_only = NULL;
	as.of = VERTICES_COLOURS;
	if (!item_next(&item, in, &as))
		raw_die(in, "there is no item in it");
	item_fill(&item, in, &as);
	if (item.shape.pictures) {
		insist(in, vertices_weigh(&item.v, r->threads));
		c.label = weir_xalloc(item.v.set.n, sizeof *c.label);
		for (size_t i = 0; i < item.v.set.n; i++)
			c.label[i] = (uint32_t)i;
		insist(in, classes_rank(&c, item.v.set.n, item.v.set.n, item.v.weight));
	}
	map_make(m, &item.v, c.label, NULL);
	classes_free(&c);
	item_free(&item);
	raw_close(in);
}

void
map_read(struct map *m, const char *path, const struct reading *r)
{
	struct stat st;
	FILE *f = stat(path, &st) || !S_ISREG(st.st_mode) ? NULL : file_open(path);
	const int first = f ? getc(f) : EOF;

	*m = (struct map){0};
	if (isdigit(first)) {
		ungetc(first, f);
		read_text(m, f, path);
		take_means(m);
	} else {
		read_item(m, path, r);
	}
	if (f)
		fclose(f);
}

void
map_free(struct map *m)
{
	weir_free_all(m->x, m->class, m->mean);
	*m = (struct map){0};
}

/* --- the nearest row ------------------------------------------------------------------------------------------------- */

/* The rows as they are searched: in ascending order of the coordinates from the axis on, and of the classes of equal rows. */
struct index {
	size_t planes, n, axis;
	double *x;	 /* [n][planes]; owned */
	uint32_t *class; /* [n]; owned */
};

/* Turns samples with alpha into those that are compared: palette.h states them. */
static void
see(double *x, size_t planes, double opaque)
{
	const size_t k = planes - 1;

	if (!(opaque > 0))
		return;
	const double a = fmin(fmax(x[k] / opaque, 0), 1);
	for (size_t i = 0; i < k; i++)
		x[i] = a * (fmin(fmax(x[i] / opaque, 0), 1) - .5);
	x[k] = a * sqrt((double)k) / 2;
}

static double
distance(const double *x, const double *y, size_t planes)
{
	double sum = 0;

	for (size_t a = 0; a < planes; a++)
		sum += (x[a] - y[a]) * (x[a] - y[a]);
	return sum;
}

/* Compares rows by the coordinates from the axis on; those before it come last. */
static int
compare(const struct index *s, const double *x, const double *y)
{
	for (size_t i = 0, a = s->axis; i < s->planes; i++, a = a + 1 < s->planes ? a + 1 : 0)
		if (x[a] != y[a])
			return x[a] < y[a] ? -1 : 1;
	return 0;
}

struct ranked {
	const struct index *s;
	const double *x;
	uint32_t class;
};

static int
by_place(const void *a, const void *b)
{
	const struct ranked *p = a, *q = b;
	const int order = compare(p->s, p->x, q->x);

	return order ? order : (p->class > q->class) - (p->class < q->class);
}

static struct index
index_make(const struct map *m, double opaque)
{
	struct index s = {.planes = m->planes, .n = m->n};
	struct ranked *row = weir_xalloc_large(m->n, sizeof *row);
	double *seen = weir_xalloc_large(m->n * m->planes, sizeof *seen), widest = -1;

	s.x = weir_xalloc_large(m->n * m->planes, sizeof *s.x);
	s.class = weir_xalloc_large(m->n, sizeof *s.class);
	memcpy(seen, m->x, m->n * m->planes * sizeof *seen);
	for (size_t i = 0; i < m->n; i++)
		see(seen + i * m->planes, m->planes, opaque);
	for (size_t a = 0; a < m->planes; a++) {
		double lo = INFINITY, hi = -INFINITY;
		for (size_t i = 0; i < m->n; i++) {
			lo = fmin(lo, seen[i * m->planes + a]);
			hi = fmax(hi, seen[i * m->planes + a]);
		}
		if (hi - lo > widest) {
			widest = hi - lo;
			s.axis = a;
		}
	}
	for (size_t i = 0; i < m->n; i++)
		row[i] = (struct ranked){&s, seen + i * m->planes, m->class[i]};
	qsort(row, m->n, sizeof *row, by_place);
	for (size_t i = 0; i < m->n; i++) {
		memcpy(s.x + i * m->planes, row[i].x, m->planes * sizeof *seen);
		s.class[i] = row[i].class;
	}
	weir_free_all(seen, row);
	return s;
}

/* Returns the class of the row that is x, or of the nearest one: of equally near ones, the first class. */
static uint32_t
find_class(const struct index *s, const double *x)
{
	const double at = x[s->axis];
	const size_t k = s->planes;
	size_t up = s->n, down = 0;
	double least = INFINITY;
	uint32_t class = 0;

	while (down < up) {
		const size_t middle = (down + up) / 2;
		if (compare(s, s->x + middle * k, x) < 0)
			down = middle + 1;
		else
			up = middle;
	}
	if (up < s->n && !compare(s, s->x + up * k, x))
		return s->class[up];
	while (up < s->n || down > 0) {
		const double above = up < s->n ? s->x[up * k + s->axis] - at : INFINITY,
			     below = down ? at - s->x[(down - 1) * k + s->axis] : INFINITY,
			     near = fmin(above, below);
		if (near * near > least)
			break;
		const size_t row = above < below ? up++ : --down;
		const double d = distance(s->x + row * k, x, k);
		if (d < least || (d == least && s->class[row] < class)) {
			least = d;
			class = s->class[row];
		}
	}
	return class;
}

/* Dies when a mean is no sample of the type. */
static void
check_means(const struct map *m, enum img_type type, const struct raw_in *in)
{
	const bool whole = type != IMG_F32 && type != IMG_F64;
	uint64_t sample;

	for (size_t i = m->planes; i < (m->classes + 1) * m->planes; i++) {
		const double y = whole ? floor(m->mean[i] + .5) : m->mean[i];
		if (!sample_store(&sample, &y, type, 1))
			raw_die(in, "class %zu of --map has a sample %g, which is no %s",
				i / m->planes, m->mean[i], img_type_name(type));
	}
}

void
map_apply(struct classes *c, const struct map *m, struct vertices *v, const struct raw_in *in,
	  const struct reading *r, const struct outputs *o)
{
	if (m->planes != v->planes)
		raw_die(in, "%zu samples; the rows of --map have %zu", v->planes, m->planes);
	if (o->kind == MEANS || o->other[MEANS])
		check_means(m, v->type, in);
	if (!v->weight)
		insist(in, vertices_weigh(v, r->threads));
	*c = (struct classes){.n = m->classes,
			      .label = weir_xalloc_large(v->set.n, sizeof *c->label),
			      .weight = weir_xalloc(m->classes + 1, sizeof *c->weight)};
	memset(c->weight, 0, (m->classes + 1) * sizeof *c->weight);
	struct index s = index_make(m, v->opaque);
#pragma omp parallel num_threads(r->threads)
	{
		double x[EMST_MOSTDIM];
#pragma omp for schedule(dynamic, 4096)
		for (size_t i = 0; i < v->set.n; i++) {
			vertices_get(v, i, x);
			for (size_t a = 0; a < v->planes; a++)
				x[a] *= v->scale;
			see(x, v->planes, v->opaque);
			c->label[i] = find_class(&s, x);
		}
	}
	for (size_t i = 0; i < v->set.n; i++)
		c->weight[c->label[i]] += v->weight[i];
	weir_free_all(s.x, s.class);
}
