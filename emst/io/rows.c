/*
 * Rows that count more than once: the colours of pictures with their numbers of pixels, and weighted points.
 *
 * The colours of several pictures are gathered in rows. The vertices of these rows, their weights and their numbers are those
 * of one item that holds all these pictures, in this order.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "emst/job.h"
#include "emst/sort.h"
#include "emst/vertices.h"

/* ---- inputs ---- */

/* Finds the vertex that an input is, what all inputs of a vertex weigh, and the tree of all inputs. */

/* Finds the vertices of n pixels of 1..3 planes. */
WEIR_CLONES(find_colours,
	    (const struct lattice *l, const uint8_t *px, size_t planes, size_t n,
	     uint32_t *restrict vertex),
	    (l, px, planes, n, vertex))
{
	if (planes == 3)
		for (size_t i = 0; i < n; i++, px += 3)
			vertex[i] = lattice_rank(l, (uint32_t)(px[0] << 16 | px[1] << 8 | px[2]));
	else if (planes == 2)
		for (size_t i = 0; i < n; i++, px += 2)
			vertex[i] = lattice_rank(l, (uint32_t)(px[0] << 8 | px[1]));
	else
		for (size_t i = 0; i < n; i++)
			vertex[i] = lattice_rank(l, px[i]);
}

void
vertices_find(const struct vertices *v, size_t from, size_t count, uint32_t *vertex)
{
	if (v->lattice.n) {
		find_colours(&v->lattice, (const uint8_t *)v->data + from * v->planes, v->planes,
			     count, vertex);
		return;
	}
	for (size_t i = 0; i < count; i++)
		vertex[i] = v->of ? v->of[from + i] : (uint32_t)(from + i);
}

/* Adds the counts of the inputs from..to-1 to weight[]. */
static void
weigh_part(const struct vertices *v, size_t from, size_t to, uint64_t *weight)
{
	enum { BLOCK = 1024 };
	uint32_t vertex[BLOCK];

	for (; from < to; from += BLOCK) {
		const size_t n = to - from < BLOCK ? to - from : BLOCK;
		vertices_find(v, from, n, vertex);
		for (size_t i = 0; i < n; i++)
			weight[vertex[i]] += v->count ? v->count[from + i] : 1;
	}
}

/* Each part of the inputs has sums of its own, where there are many inputs for each vertex; they are then added. */
int
vertices_weigh(struct vertices *v, int threads)
{
	enum { MANY = 1 << 18, EACH = 4, MOST = 4 };
	const size_t n = v->set.n, parts = v->inputs < MANY || v->inputs / EACH < n || threads < 2
					       ? 1
					   : threads > MOST ? MOST
							    : (size_t)threads;
	uint64_t *own = parts > 1 ? weir_calloc_large((parts - 1) * n, sizeof *own) : NULL;

	v->weight = weir_calloc_large(n, sizeof *v->weight);
	if (!v->weight || (parts > 1 && !own)) {
		weir_free(own);
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static, 1) num_threads((int)parts) if (parts > 1)
	for (size_t p = 0; p < parts; p++)
		weigh_part(v, v->inputs * p / parts, v->inputs * (p + 1) / parts,
			   p ? own + (p - 1) * n : v->weight);
	for (size_t p = 1; p < parts; p++)
		for (size_t i = 0; i < n; i++)
			v->weight[i] += own[(p - 1) * n + i];
	weir_free(own);
	return 0;
}

/*
 * Gives every input a count and, unless place is NULL, a number; total is the sum of the counts. count [inputs] is borrowed;
 * place [inputs] ascends and is copied. 0 or -ENOMEM, and then v is empty.
 */
static int
vertices_count(struct vertices *v, const uint64_t *count, const uint32_t *place, uint64_t total)
{
	v->count = count;
	v->total = total;
	if (!place)
		return 0;
	v->place = weir_alloc_large(v->set.n, sizeof *v->place);
	if (!v->place) {
		vertices_free(v);
		return -ENOMEM;
	}
	for (size_t i = 0; i < v->set.n; i++)
		v->place[i] = place[v->first[i]];
	v->set.id = v->place;
	return 0;
}

/* Writes the edges of length 0. By the rule they come first, those with the smallest difference of places before others. */
static size_t
join_equal(const struct vertices *v, struct sorted *e, struct sorted *tmp, struct emst_tree *to)
{
	size_t n = 0;

	for (uint32_t i = 0; i < v->inputs; i++) {
		uint32_t first = v->first[v->of[i]];
		if (first != i)
			e[n++] = (struct sorted){(uint64_t)(i - first) << 32 | first, first, i};
	}
	emst_sort(e, tmp, n);
	for (size_t i = 0; i < n; i++) {
		to->edge[i] = (struct emst_edge){e[i].a, e[i].b};
		to->length[i] = 0;
	}
	return n;
}

int
vertices_expand(const struct vertices *v, const struct emst_tree *t, struct emst_tree *to)
{
	struct sorted *e = weir_alloc_large(v->inputs, sizeof *e),
		      *tmp = weir_alloc_large(v->inputs, sizeof *tmp);

	*to = (struct emst_tree){v->inputs, weir_alloc_large(v->inputs, sizeof *to->edge),
				 weir_alloc_large(v->inputs, sizeof *to->length)};
	bool ok = e && tmp && to->edge && to->length;
	if (ok) {
		size_t n = join_equal(v, e, tmp, to);
		for (size_t i = 0; i + 1 < t->n; i++, n++) {
			to->edge[n] =
			    (struct emst_edge){v->first[t->edge[i].u], v->first[t->edge[i].v]};
			to->length[n] = t->length[i];
		}
	} else {
		emst_tree_free(to);
	}
	weir_free(tmp);
	weir_free(e);
	return ok ? 0 : -ENOMEM;
}

/* ---- rows ---- */

void
rows_init(struct rows *r, enum img_type type, size_t planes, bool points)
{
	*r = (struct rows){.type = type, .planes = planes, .points = points};
}

void
rows_free(struct rows *r)
{
	weir_free(r->x);
	weir_free(r->count);
	weir_free(r->place);
	*r = (struct rows){0};
}

bool
rows_coded(enum img_type type, size_t planes, bool points)
{
	return type == IMG_U8 && planes <= 3 && !points;
}

static bool
has_places(const struct rows *r)
{
	return !r->points && !rows_coded(r->type, r->planes, r->points);
}

/* Returns how many numbers rows_put() takes for a row. */
static size_t
columns(const struct rows *r)
{
	return r->planes + 1 + has_places(r);
}

static size_t
row_bytes(const struct rows *r)
{
	return r->planes * img_type_size(r->type);
}

/* Moves the block of n elements to one with room for more. */
static bool
move_block(void **block, size_t n, size_t room, size_t size)
{
	void *larger = weir_alloc_large(room, size);

	if (!larger)
		return false;
	if (n)
		memcpy(larger, *block, n * size);
	weir_free(*block);
	*block = larger;
	return true;
}

/* Makes room for n more rows. */
static int
make_room(struct rows *r, size_t n)
{
	size_t room = r->room ? r->room : 1024;
	void *x = r->x, *count = r->count, *place = r->place;

	while (room < r->n + n)
		room *= 2;
	if (room == r->room)
		return 0;
	bool ok = move_block(&x, r->n, room, row_bytes(r));
	r->x = x;
	ok = ok && move_block(&count, r->n, room, sizeof *r->count);
	r->count = count;
	ok = ok && (!has_places(r) || move_block(&place, r->n, room, sizeof *r->place));
	r->place = place;
	r->room = ok ? room : r->room;
	return ok ? 0 : -ENOMEM;
}

/* --- from numbers ------------------------------------------------------------------------------------------------- */

static bool
is_whole(double x, double below)
{
	return x >= 0 && x < below && x == floor(x);
}

/* Takes the numbers of one row. */
static int
put_row(struct rows *r, const double *row)
{
	const double count = row[r->planes];

	if (sample_store(r->x + r->n * row_bytes(r), row, r->type, r->planes) < r->planes)
		return ROWS_SAMPLE;
	if (!is_whole(count, (double)ROWS_MOST) || count < 1 ||
	    r->total + (uint64_t)count >= ROWS_MOST)
		return ROWS_COUNT;
	r->count[r->n] = (uint64_t)count;
	if (has_places(r)) {
		const double place = row[r->planes + 1];
		if (!is_whole(place, (double)EMST_MAXPOINTS) ||
		    (r->n && place <= r->place[r->n - 1]))
			return ROWS_PLACE;
		r->place[r->n] = (uint32_t)place;
	}
	r->total += (uint64_t)count;
	r->n++;
	return 0;
}

int
rows_put(struct rows *r, const double *row, size_t n, size_t *at)
{
	int err = make_room(r, n);

	for (size_t i = 0; !err && i < n; i++) {
		*at = r->n;
		err = put_row(r, row + i * columns(r));
	}
	return err;
}

/* --- from vertices ------------------------------------------------------------------------------------------------ */

/* Stores the samples of vertex i. */
static void
copy_samples(char *x, const struct vertices *v, size_t i)
{
	const size_t bytes = v->planes * img_type_size(v->type);

	if (v->code)
		for (size_t a = 0; a < v->planes; a++)
			x[a] = (char)(v->code[i] >> 8 * (v->planes - 1 - a) & 255);
	else
		memcpy(x, (const char *)v->data + v->first[i] * bytes, bytes);
}

/* Appends all vertices of v. Their places are moved by the pixels of all rows before. */
static int
append(struct rows *r, const struct vertices *v)
{
	const uint64_t before = r->total;
	int err = make_room(r, v->set.n);

	if (err)
		return err;
	if (v->total >= ROWS_MOST - before)
		return -ERANGE;
	for (size_t i = 0; i < v->set.n; i++, r->n++) {
		copy_samples(r->x + r->n * row_bytes(r), v, i);
		r->count[r->n] = v->weight[i];
		if (!has_places(r))
			continue;
		const uint64_t place = before + vertices_number(v, i);
		if (place >= EMST_MAXPOINTS)
			return -ERANGE;
		r->place[r->n] = (uint32_t)place;
	}
	r->total += v->total;
	return 0;
}

/* Joins equal rows. */
static int
join_rows(struct rows *r, int threads)
{
	struct vertices v;
	struct rows joined;
	size_t at;
	int err = rows_vertices(r, &v, threads, &at);

	if (err)
		return err;
	rows_init(&joined, r->type, r->planes, r->points);
	err = vertices_weigh(&v, threads);
	if (!err)
		err = append(&joined, &v);
	vertices_free(&v);
	if (err) {
		rows_free(&joined);
		return err;
	}
	rows_free(r);
	*r = joined;
	r->distinct = r->n;
	return 0;
}

int
rows_add(struct rows *r, const struct vertices *v, int threads)
{
	enum { ENOUGH = 1 << 16 };
	int err = append(r, v);

	if (!err && r->n > 2 * r->distinct + ENOUGH)
		err = join_rows(r, threads);
	return err;
}

int
rows_vertices(const struct rows *r, struct vertices *v, int threads, size_t *at)
{
	int err = vertices_make(v, r->x, r->type, r->n, r->planes, r->points, threads, at);

	if (!err)
		err = vertices_count(v, r->count, r->place, r->total);
	return err;
}

/* ---- missing samples ---- */

/* Pixels without data: they are no vertices and have no class. */

enum { BLOCK = 4096 };

static bool
has_nan(const struct img *x, size_t count)
{
	const float *f = x->data;
	const double *g = x->data;
	bool any = false;

	if (x->type == IMG_F32)
		for (size_t i = 0; i < count; i++)
			any |= isnan(f[i]);
	else if (x->type == IMG_F64)
		for (size_t i = 0; i < count; i++)
			any |= isnan(g[i]);
	return any;
}

static bool
is_missing(const double *v, size_t planes, double nodata)
{
	bool nan = false, equal = true;

	for (size_t a = 0; a < planes; a++) {
		nan |= isnan(v[a]);
		equal &= v[a] == nodata;
	}
	return nan || equal;
}

/* Fills is[]. Returns how many are missing. nodata: NaN when there is no such value. */
static size_t
mark(uint8_t *is, const struct img *x, size_t planes, size_t inputs, double nodata)
{
	const size_t size = planes * img_type_size(x->type), most = BLOCK / planes + 1;
	double *v = weir_xalloc(most * planes, sizeof *v);
	size_t found = 0;

	for (size_t from = 0, n; from < inputs; from += n) {
		n = inputs - from < most ? inputs - from : most;
		sample_load(v, (const char *)x->data + from * size, x->type, n * planes);
		for (size_t i = 0; i < n; i++)
			found += is[from + i] = is_missing(v + i * planes, planes, nodata);
	}
	weir_free(v);
	return found;
}

void
missing_find(struct missing *m, const struct raw_in *in, struct img *x, size_t planes,
	     size_t *inputs)
{
	const size_t size = planes * img_type_size(x->type);
	const char *word = img_key(x, "nodata");
	double nodata = NAN;
	char *data = x->data;

	*m = (struct missing){0};
	if (word)
		opt_number(word, &nodata);
	if (isnan(nodata) && !has_nan(x, *inputs * planes))
		return;
	m->is = weir_xalloc_large(*inputs, 1);
	m->n = mark(m->is, x, planes, *inputs, nodata);
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

int
missing_number(const struct missing *m, struct vertices *v)
{
	return m->n && v->first ? vertices_count(v, v->count, m->place, v->total) : 0;
}

size_t
missing_others(const struct missing *m, size_t from, size_t n)
{
	size_t others = 0;

	for (size_t i = 0; i < n; i++)
		others += !m->is[from + i];
	return others;
}

void
missing_spread(const struct missing *m, char *rows, size_t from, size_t n, const char *none,
	       size_t bytes)
{
	size_t at = missing_others(m, from, n);

	for (size_t i = n; i-- > 0;)
		if (m->is[from + i])
			memcpy(rows + i * bytes, none, bytes);
		else
			memmove(rows + i * bytes, rows + --at * bytes, bytes);
}

void
missing_free(struct missing *m)
{
	weir_free(m->is);
	weir_free(m->place);
	*m = (struct missing){0};
}
