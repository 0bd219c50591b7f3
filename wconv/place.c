#include "common/stream/tile.h"
#include "wconv/place.h"

void
job_find_place(const struct raw_in *in, const struct img *x, struct wconv_problem *q)
{
	char words[TILE_ERR];
	struct tile t;

	if (tile_of(x, q->w, q->h, &t, words))
		raw_die(in, "%s", words);
	q->x0 = t.x0;
	q->y0 = t.y0;
	q->W = t.W;
	q->H = t.H;
}

/*
 * One direction of the adjoint: the item has n results, and this finds the n pixels at *x0, of a whole of *W, that give
 * them. *first: position of the first result. An item that is not placed in a whole has all results, and its size tells
 * that of the picture. Returns false if no picture has these results.
 */
static bool
find_span(bool placed, enum wconv_output output, size_t before, size_t after, ptrdiff_t *first,
	  size_t *n, size_t *x0, size_t *W)
{
	const size_t k = before + after;
	const ptrdiff_t lo = output == WCONV_VALID  ? (ptrdiff_t)before
			     : output == WCONV_FULL ? -(ptrdiff_t)after
						    : 0;

	if (!placed) {
		if (output == WCONV_FULL && *n <= k)
			return false;
		*n = output == WCONV_VALID ? *n + k : output == WCONV_FULL ? *n - k : *n;
		*first = lo;
		*W = *n;
		*x0 = 0;
		return true;
	}
	const ptrdiff_t hi = (ptrdiff_t)*W - (output == WCONV_VALID ? (ptrdiff_t)after : 0);
	const ptrdiff_t end = *first + (ptrdiff_t)*n;
	const ptrdiff_t have0 = *first == lo ? 0 : *first - (ptrdiff_t)before;
	const ptrdiff_t have1 = end == hi ? (ptrdiff_t)*W : end + (ptrdiff_t)after;
	*x0 = (size_t)have0;
	*n = (size_t)(have1 - have0);
	return have0 >= 0 && have1 <= (ptrdiff_t)*W;
}

void
job_find_source(struct job *j, const struct raw_in *in, const struct img *x)
{
	struct wconv_problem *q = &j->q;
	const size_t bx = q->correlate ? q->cx : q->kw - 1 - q->cx;
	const size_t by = q->correlate ? q->cy : q->kh - 1 - q->cy;
	const bool placed = img_key(x, "tile") != NULL;

	if (!find_span(placed, q->output, bx, q->kw - 1 - bx, &j->at_x, &q->w, &q->x0, &q->W) ||
	    !find_span(placed, q->output, by, q->kh - 1 - by, &j->at_y, &q->h, &q->y0, &q->H))
		raw_die(in, "no picture has these %zux%zu results of a kernel of %zux%zu", q->w,
			q->h, q->kw, q->kh);
	const size_t bz = q->correlate ? q->cz : q->kd - 1 - q->cz;
	size_t at = 0, whole;
	if (q->kd && !find_span(false, q->output, bz, q->kd - 1 - bz, &j->at_z, &q->d, &at, &whole))
		raw_die(in, "no volume has these %zu slices of results of a kernel of %zu", q->d,
			q->kd);
}
