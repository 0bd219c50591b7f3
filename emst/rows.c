#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/sample.h"
#include "emst/rows.h"

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
join_equal(struct rows *r, int threads)
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
		err = join_equal(r, threads);
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
