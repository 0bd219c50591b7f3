/*
 * The method of He, Wu, Di and Chen: a cluster of parallel heaps. A node of a heap holds NODE pixels, the highest first; no
 * pixel of a node is below one of its children's. Both operations go from the root down, so that on a parallel machine an
 * operation can start while the one before it is still on its way:
 *
 *	insert NODE pixels	on the path to the first free place, each node keeps the higher half of its own and those
 *				that come by; the rest goes on
 *	delete the root		the last node takes its place; it and its two children share out their pixels. The highest
 *				NODE stay. The next NODE go to the child whose lowest pixel was the lower, which is then
 *				in order with its own children. The lowest NODE go to the other child, which goes on.
 *
 * All pixels of the root raise their neighbours at once, though one may raise another of them, which is then spread again.
 * The rows are shared out in bands with a heap each. Even and odd bands run in turn, as units do in tile/tile.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/par.h"
#include "morphrec/study/serial.h"

enum { NODE = 256 };

struct pixel {
	uint64_t key;
	size_t at;
};

struct node {
	struct pixel v[NODE];
};

struct heap {
	struct node *node; /* [0..n), children of i: 2i + 1 and 2i + 2 */
	size_t n, cap;
	struct node in; /* pixels that are gathered, not yet inserted */
	size_t nin;
	size_t first, end;   /* the pixels of its band */
	size_t rises, stale; /* struct morphrec_figures */
	bool due;	     /* the bands beside may raise pixels of this one */
	int err;
};

static int
descending(const void *a, const void *b)
{
	const struct pixel *p = a, *q = b;

	return (p->key < q->key) - (p->key > q->key);
}

/* Merges a and b into to[0..na + nb), highest first. */
static void
merge(struct pixel *to, const struct pixel *a, size_t na, const struct pixel *b, size_t nb)
{
	size_t i = 0, j = 0;

	while (i < na || j < nb)
		*to++ = j == nb || (i < na && a[i].key >= b[j].key) ? a[i++] : b[j++];
}

/* Inserts the gathered pixels as a node, which is filled up with pixels of key 0; these raise nothing. */
static void
heap_insert(struct heap *h)
{
	struct pixel both[2 * NODE];

	memset(h->in.v + h->nin, 0, (NODE - h->nin) * sizeof *h->in.v);
	qsort(h->in.v, h->nin, sizeof *h->in.v, descending);
	h->nin = 0;
	if (h->n == h->cap) {
		const size_t cap = h->cap ? 2 * h->cap : 4;
		struct node *more = weir_alloc(cap, sizeof *more);
		if (!more) {
			h->err = -ENOMEM;
			return;
		}
		if (h->n)
			memcpy(more, h->node, h->n * sizeof *more);
		weir_free(h->node);
		h->node = more;
		h->cap = cap;
	}
	const size_t place =
	    ++h->n; /* counted from 1: its bits below the highest are the turns from the root */
	for (int bit = 62 - __builtin_clzll(place); bit >= 0; bit--) {
		struct node *on = &h->node[(place >> (bit + 1)) - 1];
		merge(both, on->v, NODE, h->in.v, NODE);
		memcpy(on, both, sizeof *on);
		memcpy(&h->in, both + NODE, sizeof h->in);
	}
	h->node[place - 1] = h->in;
}

static void
heap_push(struct heap *h, uint64_t key, size_t at)
{
	h->in.v[h->nin++] = (struct pixel){key, at};
	if (h->nin == NODE)
		heap_insert(h);
}

/* Removes the root into *top. */
static void
heap_pop(struct heap *h, struct node *top)
{
	struct pixel two[2 * NODE], three[3 * NODE];
	size_t i = 0;

	*top = h->node[0];
	h->node[0] = h->node[--h->n];
	while (2 * i + 1 < h->n) {
		struct node *up = &h->node[i], *l = &h->node[2 * i + 1],
			    *r = 2 * i + 2 < h->n ? l + 1 : NULL;
		merge(two, l->v, NODE, r ? r->v : NULL, r ? NODE : 0);
		merge(three, up->v, NODE, two, r ? 2 * NODE : NODE);
		const bool left_next = r && l->v[NODE - 1].key <= r->v[NODE - 1].key;
		memcpy(up, three, sizeof *up);
		memcpy(left_next || !r ? l : r, three + NODE, sizeof *l);
		if (!r)
			break;
		memcpy(left_next ? r : l, three + 2 * NODE, sizeof *r);
		i = left_next ? 2 * i + 2 : 2 * i + 1;
	}
}

/* Pixel p, if it still has that key, raises its neighbours in the band. */
static void
spread(struct heap *h, const struct serial *s, uint64_t key, size_t p)
{
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

/* Brings the band to its fixpoint. It starts from all pixels that can raise one of the band, in the bands beside too. */
static void
heap_run(struct heap *h, const struct serial *s, size_t reach)
{
	const size_t total = s->w * s->h * s->d;
	const size_t first = h->first > reach ? h->first - reach : 0,
		     end = h->end + reach < total ? h->end + reach : total;
	struct node top;

	for (size_t p = first; p < end && !h->err; p++)
		if (s->J[p])
			spread(h, s, s->J[p], p);
	while (!h->err && (h->n || h->nin)) {
		if (h->nin)
			heap_insert(h);
		if (h->err)
			break;
		heap_pop(h, &top);
		for (size_t i = 0; i < NODE && top.v[i].key && !h->err; i++)
			spread(h, s, top.v[i].key, top.v[i].at);
	}
}

/* Whether a pixel of band a could raise one of band b. */
static bool
owes(const struct serial *s, const struct heap *a, const struct heap *b, size_t reach)
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
cluster_run(struct heap *h, size_t bands, const struct serial *s, size_t reach, int threads)
{
	for (size_t idle = 0, parity = 0; idle < 2; parity ^= 1) {
		bool any = false;
		for (size_t b = parity; b < bands; b += 2)
			any |= h[b].due;
		idle = any ? 0 : idle + 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (any && bands > 2)
		for (size_t b = parity; b < bands; b += 2)
			if (h[b].due)
				heap_run(&h[b], s, reach);
		for (size_t b = parity; b < bands; b += 2) {
			if (b && h[b].due)
				h[b - 1].due |= owes(s, &h[b], &h[b - 1], reach);
			if (b + 1 < bands && h[b].due)
				h[b + 1].due |= owes(s, &h[b], &h[b + 1], reach);
			if (h[b].err)
				return;
			h[b].due = false;
		}
	}
}

int
serial_heap(struct serial *s, int threads)
{
	/* A band has at least two rows, or two slices of a volume, so that it touches only the bands beside it. */
	const size_t row = s->d > 1 ? s->w * s->h : s->w, rows = s->d > 1 ? s->d : s->h;
	size_t bands = threads > 1 ? 4 * (size_t)threads : 1;
	int err = 0;

	bands = bands < rows / 2 ? bands : rows / 2 ? rows / 2 : 1;
	struct heap *h = weir_calloc(bands, sizeof *h);
	if (!h)
		return -ENOMEM;
	for (size_t b = 0; b < bands; b++) {
		h[b].first = rows * b / bands * row;
		h[b].end = rows * (b + 1) / bands * row;
		h[b].due = true;
	}
	cluster_run(h, bands, s, 2 * row, threads);
	for (size_t b = 0; b < bands; b++) {
		err = h[b].err ? h[b].err : err;
		s->figures.rises += h[b].rises;
		s->figures.stale += h[b].stale;
		weir_free(h[b].node);
	}
	weir_free(h);
	return err;
}
