#include <math.h>

#include "common/picture/frame.h"
#include "common/picture/map.h"
#include "common/stream/part.h"

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
greatest(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void
check_system(const struct frame *f, const struct raw_in *in, const struct img *x)
{
	const char *name = map_other_system(&f->first, x);

	if (!name)
		return;
	const char *mine = img_key(&f->first, name), *theirs = img_key(x, name);
	raw_die(in,
		"its coordinate system is another one: %s:=%.80s, but %.80s in the parts before",
		name, theirs ? theirs : "none", mine ? mine : "none");
}

/* Finds the column and the row of x in the grid of the first part. */
static void
find(const struct frame *f, const struct raw_in *in, const struct img *x,
     const struct img_picture *p, int64_t at[2])
{
	char words[MAP_ERR];
	double g[6];

	if (!map_of(x, g))
		raw_die(in, "it has no geotransform:= that places it on a map; see tifftoraw");
	const char *why = map_align(f->g, g, p->w, p->h, at, words);
	if (why)
		raw_die(in, "%s", why);
}

/* Extends the frame by x. */
static void
extend(struct frame *f, const struct raw_in *in, const struct img *x)
{
	struct img_picture p;
	int64_t at[2];

	if (part_is(x))
		raw_die(in, "it is a share of --part; join the shares first");
	if (!img_picture(x, &p))
		raw_die(in, "it has %d axes, more than pictures have", x->dim);
	check_system(f, in, x);
	find(f, in, x, &p, at);
	f->left = least(f->left, at[0]);
	f->top = least(f->top, at[1]);
	f->right = greatest(f->right, at[0] + (int64_t)p.w);
	f->bottom = greatest(f->bottom, at[1] + (int64_t)p.h);
	if (f->right - f->left > TILE_MOST || f->bottom - f->top > TILE_MOST)
		raw_die(in, "the picture of all parts would have more than %d columns or rows",
			TILE_MOST);
}

struct frame
frame_of(struct raw_in *in, struct img *x)
{
	struct frame f = {0};

	img_copy_head(&f.first, x);
	if (!map_of(x, f.g))
		raw_die(in, "it has no geotransform:= that places it on a map; see tifftoraw");
	do {
		extend(&f, in, x);
		img_free(x);
	} while (raw_next(in, x));
	raw_rewind(in);
	return f;
}

struct tile
frame_place(const struct frame *f, const struct raw_in *in, struct img *x,
	    const struct img_picture *p)
{
	const int row = img_row_axis(x);
	int64_t at[2];

	find(f, in, x, p, at);
	for (int i = row; i < row + 2 && i < x->dim; i++)
		if (isnan(x->axis[i].min))
			x->axis[i].min = 0;
	return (struct tile){(size_t)(at[0] - f->left), (size_t)(at[1] - f->top),
			     (size_t)(f->right - f->left), (size_t)(f->bottom - f->top)};
}

void
frame_free(struct frame *f)
{
	img_free(&f->first);
}
