/*
 * The method for comparison and study: a cluster of parallel heaps. It works on copies of J and I as keys. A frame of zeros, which
 * neither rise nor raise, surrounds each picture or volume, so that each neighbour lies at a fixed offset.
 */
#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "morphrec/morphrec.h"

/*
 * The method of He, Wu, Di and Chen: a cluster of parallel heaps. A node of a heap holds r pixels, the highest first; no pixel
 * of a node is below one of its children's. Both operations go from the root down, so that on a parallel machine an
 * operation can start while the one before it is still on its way:
 *
 *	insert r pixels		on the path to the first free place, each node keeps the higher half of its own and those
 *				that come by; the rest goes on
 *	delete the root		the last node takes its place; it and its two children share out their pixels. The highest
 *				r stay. The next r go to the child whose lowest pixel was the lower, which is then in order
 *				with its own children. The lowest r go to the other child, which goes on.
 *
 * All pixels of the root raise their neighbours at once, though one may raise another of them, which is then spread again.
 * The rows are shared out in bands with a heap each. A band begins with Vincent's two scans, and only the pixels that can
 * still raise a neighbour enter its heap: without the scans every pixel enters, which took 11 times as long. Even and odd
 * bands run in turn, and a later turn begins with what the bands beside can raise.
 */

enum {
	HALF = 13,  /* neighbours before a pixel in raster order, at most */
	NODE = 256, /* pixels of a node of a heap */
};

/* A picture or volume at a time. */
struct heap_cluster {
	size_t w, h, d; /* with the frame */
	size_t pieces;	/* arrays that are reconstructed one by one: slices, or 1 volume */
	int n;		/* neighbours before a pixel in raster order; as many lie after it */
	ptrdiff_t to[2 * HALF];		  /* those before, then their opposites */
	uint64_t *J, *I;		  /* [d][h][w] of one piece */
	struct morphrec_figures *figures; /* of the run */
};

struct pixel {
	uint64_t key;
	size_t at;
};

struct heap {
	struct heap_cluster *s;
	size_t r;	    /* pixels of a node */
	struct pixel *node; /* [0..n) nodes; the children of i are 2 i + 1 and 2 i + 2 */
	size_t n, cap;
	struct pixel *in; /* [r]: pixels that are gathered, not yet inserted */
	size_t nin;
	struct pixel *top;   /* [r]: the root that was taken out */
	struct pixel *work;  /* [5 r] */
	size_t first, end;   /* the pixels of its band */
	size_t rises, stale; /* struct morphrec_figures */
	bool begun;
	bool due; /* the bands beside may raise pixels of this one */
	int err;
};

/* Merges a and b into to[0..na + nb), highest first. */
static void
merge(struct pixel *restrict to, const struct pixel *a, size_t na, const struct pixel *b, size_t nb)
{
	size_t i = 0, j = 0;

	while (i < na && j < nb) {
		const bool first = a[i].key >= b[j].key;
		*to++ = first ? a[i] : b[j];
		i += first;
		j += !first;
	}
	memcpy(to, a + i, (na - i) * sizeof *to);
	memcpy(to + (na - i), b + j, (nb - j) * sizeof *to);
}

/* Sorts v[0..n), highest first. work has room for as many. */
static void
sort(struct pixel *v, size_t n, struct pixel *work)
{
	enum { RUN = 16 }; /* sorted by insertion */

	for (size_t from = 0; from < n; from += RUN)
		for (size_t i = from + 1; i < n && i < from + RUN; i++) {
			const struct pixel p = v[i];
			size_t j = i;
			for (; j > from && v[j - 1].key < p.key; j--)
				v[j] = v[j - 1];
			v[j] = p;
		}
	for (size_t run = RUN; run < n; run *= 2) {
		for (size_t i = 0; i < n; i += 2 * run) {
			const size_t a = n - i < run ? n - i : run,
				     b = n - i - a < run ? n - i - a : run;
			merge(work + i, v + i, a, v + i + a, b);
		}
		memcpy(v, work, n * sizeof *v);
	}
}

/* Makes room for a node more. */
static bool
heap_grow(struct heap *h)
{
	const size_t cap = h->cap ? 2 * h->cap : 4;
	struct pixel *more;
	size_t bytes;

	if (h->n < h->cap)
		return true;
	more = weir_mul(cap, h->r, &bytes) ? weir_alloc(bytes, sizeof *more) : NULL;
	if (!more) {
		h->err = -ENOMEM;
		return false;
	}
	if (h->n)
		memcpy(more, h->node, h->n * h->r * sizeof *more);
	weir_free(h->node);
	h->node = more;
	h->cap = cap;
	return true;
}

/* Inserts the gathered pixels as a node, which is filled up with pixels of key 0; these raise nothing. */
static void
heap_insert(struct heap *h)
{
	const size_t r = h->r, bytes = r * sizeof *h->in;

	memset(h->in + h->nin, 0, (r - h->nin) * sizeof *h->in);
	sort(h->in, h->nin, h->work);
	h->nin = 0;
	if (!heap_grow(h))
		return;
	/* The place counts from 1: its bits below the highest are the turns from the root. */
	const size_t place = ++h->n;
	for (int bit = 62 - __builtin_clzll(place); bit >= 0; bit--) {
		struct pixel *on = h->node + ((place >> (bit + 1)) - 1) * r;
		if (on[r - 1].key >= h->in[0].key)
			continue;
		merge(h->work, on, r, h->in, r);
		memcpy(on, h->work, bytes);
		memcpy(h->in, h->work + r, bytes);
	}
	memcpy(h->node + (place - 1) * r, h->in, bytes);
}

static void
heap_push(struct heap *h, uint64_t key, size_t at)
{
	h->in[h->nin++] = (struct pixel){key, at};
	if (h->nin == h->r)
		heap_insert(h);
}

/* Removes the root into h->top. */
static void
heap_pop(struct heap *h)
{
	const size_t r = h->r, bytes = r * sizeof *h->top;
	struct pixel *two = h->work, *three = two + 2 * r;
	size_t i = 0;

	memcpy(h->top, h->node, bytes);
	memmove(h->node, h->node + --h->n * r, bytes);
	while (2 * i + 1 < h->n) {
		struct pixel *up = h->node + i * r, *left = h->node + (2 * i + 1) * r,
			     *right = 2 * i + 2 < h->n ? left + r : NULL;
		const uint64_t high = right && right->key > left->key ? right->key : left->key;
		if (up[r - 1].key >= high)
			break;
		merge(two, left, r, right ? right : left, right ? r : 0);
		merge(three, up, r, two, right ? 2 * r : r);
		const bool left_next = right && left[r - 1].key <= right[r - 1].key;
		memcpy(up, three, bytes);
		memcpy(left_next || !right ? left : right, three + r, bytes);
		if (!right)
			break;
		memcpy(left_next ? right : left, three + 2 * r, bytes);
		i = left_next ? 2 * i + 2 : 2 * i + 1;
	}
}

/* Pixel p, if it still has that key, raises its neighbours in the band. */
static void
spread(struct heap *h, uint64_t key, size_t p)
{
	const struct heap_cluster *s = h->s;

	if (s->J[p] != key) {
		h->stale++;
		return;
	}
	for (int k = 0; k < 2 * s->n; k++) {
		const size_t q = p + (size_t)s->to[k];
		const uint64_t v = key < s->I[q] ? key : s->I[q];
		if (q < h->first || q >= h->end || s->J[q] >= v)
			continue;
		s->J[q] = v;
		h->rises++;
		heap_push(h, v, q);
	}
}

/* Raises the key of J at p from its neighbours before it (sign 1) or after it (-1), and counts whether it rose. */
static inline void
pull(struct heap_cluster *s, size_t p, int sign, size_t *count)
{
	uint64_t v = s->J[p];

	for (int k = 0; k < s->n; k++) {
		const uint64_t u = s->J[p + (size_t)(sign * s->to[k])];
		v = u > v ? u : v;
	}
	v = v < s->I[p] ? v : s->I[p];
	*count += v > s->J[p];
	s->J[p] = v;
}

/*
 * Vincent's two scans, of the pixels of the band. Pixels around them do not change, but raise. Those that can still raise one
 * after them enter the heap.
 */
static void
scan(struct heap *h)
{
	struct heap_cluster *s = h->s;
	const size_t all = s->w * s->h * s->d, frame = (s->d > 1 ? s->w * s->h : 0) + s->w + 1,
		     first = h->first > frame ? h->first : frame,
		     end = h->end < all - frame ? h->end : all - frame;

	for (size_t p = first; p < end; p++)
		pull(s, p, 1, &h->rises);
	for (size_t p = end; !h->err && p-- > first;) {
		bool raises = false;
		pull(s, p, -1, &h->rises);
		for (int k = 0; k < s->n; k++) {
			const size_t q = p - (size_t)s->to[k];
			raises |= s->J[q] < s->J[p] && s->J[q] < s->I[q];
		}
		if (raises)
			heap_push(h, s->J[p], p);
	}
}

/* Spreads pixels [first, end), which lie beside the band. */
static void
spread_beside(struct heap *h, size_t first, size_t end)
{
	for (size_t p = first; p < end && !h->err; p++)
		if (h->s->J[p])
			spread(h, h->s->J[p], p);
}

/* Brings the band to its fixpoint. reach: how many pixels of the bands beside can raise one of this one. */
static void
heap_run(struct heap *h, size_t reach)
{
	const size_t total = h->s->w * h->s->h * h->s->d;

	if (!h->begun) {
		scan(h);
	} else {
		spread_beside(h, h->first > reach ? h->first - reach : 0, h->first);
		spread_beside(h, h->end, h->end + reach < total ? h->end + reach : total);
	}
	h->begun = true;
	while (!h->err && (h->n || h->nin)) {
		/* Pixels wait until they fill a node, because one filled up with zeros costs as much as a full one. */
		if (!h->n)
			heap_insert(h);
		if (h->err)
			break;
		heap_pop(h);
		for (size_t i = 0; i < h->r && h->top[i].key && !h->err; i++)
			spread(h, h->top[i].key, h->top[i].at);
	}
}

/* Whether a pixel of band a could raise one of band b. */
static bool
can_raise(const struct heap_cluster *s, const struct heap *a, const struct heap *b, size_t reach)
{
	const size_t first = a->first < b->first && a->end > a->first + reach ? a->end - reach
									      : a->first,
		     end = a->first > b->first && a->first + reach < a->end ? a->first + reach
									    : a->end;

	for (size_t p = first; p < end; p++)
		for (int k = 0; k < 2 * s->n; k++) {
			const size_t q = p + (size_t)s->to[k];
			if (s->J[p] && q >= b->first && q < b->end && s->J[q] < s->J[p] &&
			    s->J[q] < s->I[q])
				return true;
		}
	return false;
}

/* Runs the due bands of each parity in turn until none is due. */
static void
cluster_run(struct heap *h, size_t bands, size_t reach, int threads)
{
	for (size_t idle = 0, parity = 0; idle < 2; parity ^= 1) {
		bool any = false;
		for (size_t b = parity; b < bands; b += 2)
			any |= h[b].due;
		idle = any ? 0 : idle + 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (any && bands > 2)
		for (size_t b = parity; b < bands; b += 2)
			if (h[b].due)
				heap_run(&h[b], reach);
		for (size_t b = parity; b < bands; b += 2) {
			if (b && h[b].due)
				h[b - 1].due |= can_raise(h->s, &h[b], &h[b - 1], reach);
			if (b + 1 < bands && h[b].due)
				h[b + 1].due |= can_raise(h->s, &h[b], &h[b + 1], reach);
			if (h[b].err)
				return;
			h[b].due = false;
		}
	}
}

/* Sets up the heap of rows [first, end) of a row of `row` pixels. */
static int
heap_new(struct heap *h, struct heap_cluster *s, size_t r, size_t first, size_t end)
{
	*h = (struct heap){.s = s, .r = r, .first = first, .end = end, .due = true};
	h->in = weir_alloc(7 * r, sizeof *h->in);
	h->top = h->in + r;
	h->work = h->top + r;
	return h->in ? 0 : -ENOMEM;
}

/*
 * The method of the heaps, on the piece that s holds. Returns 0 or -ENOMEM.
 * node: pixels of a node, 0 for NODE; heaps: their number, at most; 0: one, or with more threads four each.
 */
static int
run_bands(struct heap_cluster *s, size_t node, size_t heaps, int threads)
{
	/* A band has at least two rows, or two slices of a volume, so that it touches only the bands beside it. */
	const size_t row = s->d > 1 ? s->w * s->h : s->w, rows = s->d > 1 ? s->d : s->h,
		     r = node ? node : NODE,
		     many = heaps	  ? heaps
			    : threads > 1 ? 4 * (size_t)threads
					  : 1,
		     bands = many < rows / 2 ? many : rows / 2;
	struct heap *h = weir_calloc(bands, sizeof *h);
	int err = h ? 0 : -ENOMEM;

	for (size_t b = 0; !err && b < bands; b++)
		err = heap_new(&h[b], s, r, rows * b / bands * row, rows * (b + 1) / bands * row);
	if (!err)
		cluster_run(h, bands, 2 * row, threads);
	for (size_t b = 0; h && b < bands; b++) {
		err = h[b].err ? h[b].err : err;
		s->figures->rises += h[b].rises;
		s->figures->stale += h[b].stale;
		weir_free_all(h[b].node, h[b].in);
	}
	weir_free(h);
	return err;
}

/* --- pieces ----------------------------------------------------------------------------------------------------- */

/* The place of row `row` of a piece among the keys. */
static size_t
place_of(const struct heap_cluster *s, const struct morphrec_problem *a, size_t row)
{
	return ((row / a->h + (s->d > 1)) * s->h + row % a->h + 1) * s->w + 1;
}

/* Copies row `row` of the piece that begins at pixel `at`, as keys. */
static void
load_row(struct heap_cluster *s, const struct morphrec_problem *a, const void *J, const void *I,
	 size_t at, size_t row)
{
	const struct key_map map = morphrec_keys(a);
	const size_t size = img_type_size(a->type), q = place_of(s, a, row), i = at + row * a->w;

	for (size_t x = 0; x < a->w; x++) {
		s->J[q + x] = key_get(size, J, i + x, map);
		s->I[q + x] = key_get(size, I, i + x, map);
	}
}

/* Copies it back. Returns how many pixels rose. */
static size_t
store_row(const struct heap_cluster *s, const struct morphrec_problem *a, void *J, size_t at,
	  size_t row)
{
	const struct key_map map = morphrec_keys(a);
	const size_t size = img_type_size(a->type), q = place_of(s, a, row), i = at + row * a->w;
	size_t risen = 0;

	for (size_t x = 0; x < a->w; x++) {
		risen += s->J[q + x] > key_get(size, J, i + x, map);
		key_put(size, J, i + x, s->J[q + x], map);
	}
	return risen;
}

static int
run_piece(struct heap_cluster *s, const struct morphrec_problem *a, void *J, const void *I,
	  size_t at)
{
	const int threads = a->threads;
	const size_t rows = a->h * (a->d / s->pieces);
	size_t risen = 0;

#pragma omp parallel for num_threads(threads) if (threads > 1)
	for (size_t i = 0; i < rows; i++)
		load_row(s, a, J, I, at, i);
	const int err = run_bands(s, a->node, a->heaps, threads);
#pragma omp parallel for num_threads(threads) if (threads > 1) reduction(+ : risen)
	for (size_t i = 0; i < (err ? 0 : rows); i++)
		risen += store_row(s, a, J, at, i);
	s->figures->risen += risen;
	return err;
}

int
heaps_run(struct heap_cluster *s, const struct morphrec_problem *what,
	  struct morphrec_figures *figures, void *J, const void *I)
{
	const size_t one = what->w * what->h * what->d / s->pieces;
	int err = 0;

	s->figures = figures;
	for (size_t i = 0; !err && i < s->pieces; i++)
		err = run_piece(s, what, J, I, i * one);
	return err;
}

struct heap_cluster *
heaps_new(const struct morphrec_problem *what)
{
	struct heap_cluster *s = weir_calloc(1, sizeof *s);
	struct neighbour near[NEIGHBOURS];
	const bool volume = morphrec_is_volume(what->conn);
	size_t n;

	if (!s)
		return NULL;
	s->w = what->w + 2;
	s->h = what->h + 2;
	s->d = volume ? what->d + 2 : 1;
	s->pieces = volume ? 1 : what->d;
	s->n = neighbours_list(what->conn, s->w, s->h, near) / 2;
	for (int k = 0; k < s->n; k++) {
		s->to[k] = near[k].at;
		s->to[s->n + k] = -near[k].at;
	}
	if (weir_mul(s->w, s->h, &n) && weir_mul(n, s->d, &n)) {
		s->J = weir_calloc(n, sizeof *s->J);
		s->I = weir_calloc(n, sizeof *s->I);
	}
	if (!s->J || !s->I) {
		heaps_free(s);
		return NULL;
	}
	return s;
}

void
heaps_free(struct heap_cluster *s)
{
	if (!s)
		return;
	weir_free_all(s->J, s->I, s);
}
