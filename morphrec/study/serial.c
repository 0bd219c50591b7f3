#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "morphrec/study/serial.h"

/* Raises the key of J at p from its neighbours at sign * to[0..n), and counts whether it rose. */
static inline void
pull(struct serial *s, size_t p, const ptrdiff_t *to, int sign, size_t *count)
{
	uint64_t v = s->J[p];

	for (int k = 0; k < s->n; k++) {
		const uint64_t u = s->J[p + (size_t)(sign * to[k])];
		v = u > v ? u : v;
	}
	v = v < s->I[p] ? v : s->I[p];
	*count += v > s->J[p];
	s->J[p] = v;
}

int
serial_scan_once(struct serial *s, size_t from, size_t to, size_t *rises,
		 int (*put)(void *with, size_t p), void *with)
{
	const size_t all = s->w * s->h * s->d, frame = (s->d > 1 ? s->w * s->h : 0) + s->w + 1,
		     first = from > frame ? from : frame, end = to < all - frame ? to : all - frame;
	int err = 0;

	for (size_t p = first; p < end; p++)
		pull(s, p, s->before, 1, rises);
	for (size_t p = end; !err && p-- > first;) {
		bool owes = false;
		pull(s, p, s->before, -1, rises);
		for (int k = 0; k < s->n; k++) {
			const size_t q = p - (size_t)s->before[k];
			owes |= s->J[q] < s->J[p] && s->J[q] < s->I[q];
		}
		err = owes ? put(with, p) : 0;
	}
	return err;
}

/* --- pieces ----------------------------------------------------------------------------------------------------- */

/* Copies row `row` of the piece that begins at pixel `at`, as keys. */
static void
load_row(struct serial *s, const struct morphrec_problem *a, const void *J, const void *I,
	 size_t at, size_t row)
{
	const struct key_map map = morphrec_keys(a);
	const size_t size = img_type_size(a->type),
		     q = ((row / a->h + (s->d > 1)) * s->h + row % a->h + 1) * s->w + 1,
		     i = at + row * a->w;

	for (size_t x = 0; x < a->w; x++) {
		s->J[q + x] = key_get(size, J, i + x, map);
		s->I[q + x] = key_get(size, I, i + x, map);
	}
}

/* Copies it back. Returns how many pixels rose. */
static size_t
store_row(const struct serial *s, const struct morphrec_problem *a, void *J, size_t at, size_t row)
{
	const struct key_map map = morphrec_keys(a);
	const size_t size = img_type_size(a->type),
		     q = ((row / a->h + (s->d > 1)) * s->h + row % a->h + 1) * s->w + 1,
		     i = at + row * a->w;
	size_t risen = 0;

	for (size_t x = 0; x < a->w; x++) {
		risen += s->J[q + x] > key_get(size, J, i + x, map);
		key_put(size, J, i + x, s->J[q + x], map);
	}
	return risen;
}

static int
run_piece(struct serial *s, const struct morphrec_problem *a, void *J, const void *I, size_t at)
{
	const int threads = a->threads;
	const size_t rows = a->h * (a->d / s->pieces);
	size_t risen = 0;

#pragma omp parallel for num_threads(threads) if (threads > 1)
	for (size_t i = 0; i < rows; i++)
		load_row(s, a, J, I, at, i);
	const int err = serial_heap(s, a->node, a->heaps, threads);
#pragma omp parallel for num_threads(threads) if (threads > 1) reduction(+ : risen)
	for (size_t i = 0; i < (err ? 0 : rows); i++)
		risen += store_row(s, a, J, at, i);
	s->figures.risen += risen;
	return err;
}

int
serial_run(struct serial *s, const struct morphrec_problem *what, struct morphrec_figures *figures,
	   void *J, const void *I)
{
	const size_t one = what->w * what->h * what->d / s->pieces;
	int err = 0;

	s->figures = (struct morphrec_figures){0};
	for (size_t i = 0; !err && i < s->pieces; i++)
		err = run_piece(s, what, J, I, i * one);
	figures->risen += s->figures.risen;
	figures->rises += s->figures.rises;
	figures->stale += s->figures.stale;
	return err;
}

/* The neighbours before a pixel in raster order, then their opposites. */
static void
list_neighbours(struct serial *s, int conn)
{
	for (int dz = -morphrec_is_volume(conn); dz <= 0; dz++)
		for (int dy = -1; dy <= 1; dy++)
			for (int dx = -1; dx <= 1; dx++) {
				const int axes = (dz != 0) + (dy != 0) + (dx != 0);
				const ptrdiff_t o =
				    (dz * (ptrdiff_t)s->h + dy) * (ptrdiff_t)s->w + dx;
				const int most = conn == 4 || conn == 6 ? 1 : conn == 18 ? 2 : 3;
				if (o < 0 && axes <= most)
					s->before[s->n++] = o;
			}
	for (int k = 0; k < s->n; k++) {
		s->to[k] = s->before[k];
		s->to[s->n + k] = -s->before[k];
	}
}

struct serial *
serial_new(const struct morphrec_problem *what)
{
	struct serial *s = weir_calloc(1, sizeof *s);
	const bool volume = morphrec_is_volume(what->conn);
	size_t n;

	if (!s)
		return NULL;
	s->w = what->w + 2;
	s->h = what->h + 2;
	s->d = volume ? what->d + 2 : 1;
	s->pieces = volume ? 1 : what->d;
	list_neighbours(s, what->conn);
	if (weir_mul(s->w, s->h, &n) && weir_mul(n, s->d, &n)) {
		s->J = weir_calloc(n, sizeof *s->J);
		s->I = weir_calloc(n, sizeof *s->I);
	}
	if (!s->J || !s->I) {
		serial_free(s);
		return NULL;
	}
	return s;
}

void
serial_free(struct serial *s)
{
	if (!s)
		return;
	weir_free(s->J);
	weir_free(s->I);
	weir_free(s);
}
