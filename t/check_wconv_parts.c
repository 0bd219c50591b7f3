/* wconv: parts of a picture against the whole. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/check_wconv.h"

/* A part of w x h pixels at (x,y): where its result lies in the whole, and whether it is as it is there. */
struct part {
	size_t x, y, w, h;
	ptrdiff_t x0, y0; /* of its result */
	size_t pw, ph;
	float *result;
};

static bool
run_part(const struct conv_job *j, struct part *t)
{
	struct conv_job part = *j;
	struct wconv_plan *p;
	struct why why;

	part.got = NULL;
	part.want = NULL;
	part.q.x0 = t->x;
	part.q.y0 = t->y;
	part.q.w = t->w;
	part.q.h = t->h;
	part.image = weir_xalloc(t->w * t->h, sizeof(float));
	for (size_t r = 0; r < t->h; r++)
		memcpy((float *)part.image + r * t->w,
		       (float *)j->image + (t->y + r) * j->q.w + t->x, t->w * sizeof(float));
	const bool ran = conv_run(&part, NULL, NULL) && !wconv_plan(&p, &part.q, &why);
	if (ran) {
		wconv_shape(p, &t->pw, &t->ph, &t->x0, &t->y0);
		wconv_free(p);
	}
	t->result = part.got;
	weir_free(part.image);
	return ran && t->pw > 0 && t->ph > 0;
}

/* How many of its results in [x,x1) x [y,y1) of the whole are other bytes than there. */
static size_t
count_other(const struct conv_job *j, const struct part *t, ptrdiff_t x, ptrdiff_t x1, ptrdiff_t y,
	    ptrdiff_t y1)
{
	const float *whole = j->got;
	size_t n = 0;

	for (ptrdiff_t r = y; r < y1; r++)
		for (ptrdiff_t c = x; c < x1; c++)
			n += memcmp(t->result + (size_t)(r - t->y0) * t->pw + (size_t)(c - t->x0),
				    whole + (size_t)r * j->q.w + (size_t)c, sizeof(float)) != 0;
	return n;
}

static void
hold_part(struct check_many *m, const struct conv_job *j, size_t x, size_t y, size_t w, size_t h,
	  const char *what)
{
	struct part t = {x, y, w, h};
	const bool ran = run_part(j, &t);
	const size_t other =
	    ran ? count_other(j, &t, t.x0, t.x0 + (ptrdiff_t)t.pw, t.y0, t.y0 + (ptrdiff_t)t.ph)
		: 1;

	check_case(m, !other, "%s, %zux%zu at %zu,%zu: %zu results differ", what, w, h, x, y,
		   other);
	weir_free(t.result);
}

static void
check_parts(void)
{
	struct check_many m = {0};
	struct check_rng rng = {9};

	for (int e = 0; e < 12; e++) {
		struct conv_job j;
		conv_pose(&j, 120, 90, 7, e < 4 ? 5 : e < 8 ? 17 : 7, e < 4 ? 3 : 1, e < 4 ? 2 : 1);
		conv_fill(&j, &rng);
		if (e >= 4 && e < 8)
			conv_multiply(&j);
		j.q.edge = (enum wconv_edge)(e % 4);
		j.q.method = WCONV_DIRECT;
		check_case(&m, conv_run(&j, NULL, NULL), "no plan");
		hold_part(&m, &j, 0, 0, 60, 50, "the upper left part");
		hold_part(&m, &j, 33, 20, 41, 30, "an inner part");
		hold_part(&m, &j, 70, 40, 50, 50, "the lower right part");
		conv_drop(&j);
	}
	check_end(&m, "wconv: a part that knows its place gives the same bytes as the whole");
}

/* The tiles of x or y that lie in [lo,hi): their results from *from up to *to. */
static void
whole_tiles(const struct wconv_plan *p, bool y, ptrdiff_t lo, ptrdiff_t hi, ptrdiff_t *from,
	    ptrdiff_t *to)
{
	const struct wconv_chosen c = wconv_chosen(p);
	const size_t n = y ? c.tiles_y : c.tiles_x;
	const ptrdiff_t end = (ptrdiff_t)(y ? p->q.H : p->q.W);

	*from = *to = -1;
	for (size_t i = 0; i < n; i++) {
		const ptrdiff_t a = wconv_border(p, y, i),
				b = i + 1 < n ? wconv_border(p, y, i + 1) : end;
		if (a < lo || b > hi)
			continue;
		*from = *from < 0 ? a : *from;
		*to = b;
	}
}

/* A part cut where tiles begin, and parts cut anywhere, of which the tiles that lie in them are held. */
static void
check_parts_of_transforms(void)
{
	struct check_many m = {0};
	struct check_rng rng = {13};
	struct why why;
	struct wconv_plan *p;
	struct conv_job j;
	ptrdiff_t x, x1, y, y1;
	size_t held = 0;

	conv_pose(&j, 500, 400, 31, 24, 4, 3);
	conv_fill(&j, &rng);
	j.q.method = WCONV_FFT;
	check_case(&m, conv_run(&j, NULL, NULL) && !wconv_plan(&p, &j.q, &why), "no plan");
	whole_tiles(p, false, 60, 440, &x, &x1);
	whole_tiles(p, true, 60, 340, &y, &y1);
	const size_t before_x = 31 - 1 - j.q.cx, before_y = 24 - 1 - j.q.cy;
	check_case(&m, x > 0 && y > 0, "too few tiles");
	hold_part(&m, &j, (size_t)x - before_x, (size_t)y - before_y, (size_t)(x1 - x) + 30,
		  (size_t)(y1 - y) + 23, "a part cut where tiles begin");
	hold_part(&m, &j, 0, 0, (size_t)x1 + j.q.cx, (size_t)y1 + j.q.cy, "the corner before it");
	for (size_t i = 0; i < 12; i++) {
		struct part t = {rng_below(&rng, 100),
				 rng_below(&rng, 80),
				 250 + rng_below(&rng, 150),
				 200 + rng_below(&rng, 120),
				 0,
				 0,
				 0,
				 0,
				 NULL};
		check_case(&m, run_part(&j, &t), "no plan for a part");
		whole_tiles(p, false, t.x0, t.x0 + (ptrdiff_t)t.pw, &x, &x1);
		whole_tiles(p, true, t.y0, t.y0 + (ptrdiff_t)t.ph, &y, &y1);
		const size_t other = count_other(&j, &t, x, x1, y, y1);
		check_case(&m, !other, "%zux%zu at %zu,%zu: %zu results differ", t.w, t.h, t.x, t.y,
			   other);
		held += (size_t)(x1 - x) * (size_t)(y1 - y);
		weir_free(t.result);
	}
	check_case(&m, held > 100000, "only %zu results held", held);
	wconv_free(p);
	conv_drop(&j);
	check_end(&m,
		  "wconv: tiles that lie in a part have the bytes of the whole, by transforms too");
}

void
check_wconv_parts(void)
{
	check_parts();
	check_parts_of_transforms();
}
