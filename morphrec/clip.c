#include "common/base/cpu.h"
#include "common/base/par.h"
#include "morphrec/clip.h"

enum {
	PIECE = 4096,	 /* samples, so that what needs mending is still in the cache */
	LET_GO = 1 << 20 /* bytes: many pages */
};

#define TEMPLATE "morphrec/clip_body.h"
#include "morphrec/four_body.h"

typedef void
clip(void *J, const void *I, size_t n, size_t at, struct key_map map, struct morphrec_clip *c);

static clip *const clips[] = {clip8, clip16, clip32, clip64};

void
clip_some(const struct morphrec_problem *what, void *J, const void *I, size_t at, size_t n,
	  struct morphrec_clip *sum)
{
	const size_t size = img_type_size(what->type);
	struct morphrec_clip c = clip_nothing();

	clips[__builtin_ctzll(size)]((char *)J + at * size, (const char *)I + at * size, n, at,
				     morphrec_keys(what), &c);
	clip_join(sum, &c);
}

/* Clips samples [at, end). `at` is the start of a piece. */
static struct morphrec_clip
clip_part(const struct morphrec_problem *what, void *J, const void *I, size_t at, size_t end)
{
	const struct key_map map = morphrec_keys(what);
	const size_t size = img_type_size(what->type);
	clip *const one = clips[__builtin_ctzll(size)];
	struct morphrec_clip c = clip_nothing();

	for (size_t kept = at; at < end;) {
		const size_t n = end - at < PIECE ? end - at : PIECE;
		one((char *)J + at * size, (const char *)I + at * size, n, at, map, &c);
		at += n;
		if (what->done && ((at - kept) * size >= LET_GO || at == end)) {
			what->done(what->done_with, kept * size, (at - kept) * size);
			kept = at;
		}
	}
	return c;
}

void
clip_join(struct morphrec_clip *a, const struct morphrec_clip *b)
{
	if (a->lo > a->hi) {
		*a = *b;
		return;
	}
	if (b->above && (!a->above || b->first_above < a->first_above))
		a->first_above = b->first_above;
	if (b->nan && (!a->nan || b->first_nan < a->first_nan))
		a->first_nan = b->first_nan;
	a->above += b->above;
	a->nan += b->nan;
	a->lo = b->lo < a->lo ? b->lo : a->lo;
	a->hi = b->hi > a->hi ? b->hi : a->hi;
}

struct morphrec_clip
clip_all(const struct morphrec_problem *what, void *J, const void *I)
{
	const size_t total = what->w * what->h * what->d, pieces = (total + PIECE - 1) / PIECE,
		     most = 1 + total * img_type_size(what->type) / LET_GO,
		     parts = most < (size_t)what->threads ? most : (size_t)what->threads;
	struct morphrec_clip sum = clip_nothing();

	if (parts < 2)
		return clip_part(what, J, I, 0, total);
#pragma omp parallel for num_threads((int)parts)
	for (size_t i = 0; i < parts; i++) {
		const size_t end = pieces * (i + 1) / parts * PIECE;
		const struct morphrec_clip c =
		    clip_part(what, J, I, pieces * i / parts * PIECE, end < total ? end : total);
#pragma omp critical(clip)
		clip_join(&sum, &c);
	}
	return sum;
}
