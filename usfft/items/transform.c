/* The transforms of one item. */
#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "gpu/usfft/usfft.h"
#include "usfft/job.h"

size_t
transform_modes(const struct usfft_options *o)
{
	size_t modes = 1;

	for (int a = 0; a < o->dim; a++)
		modes *= o->n[a];
	return modes;
}

bool
transform_fits(const struct transform *t, const struct usfft_options *o)
{
	return t->plan && t->o.dim == o->dim && t->o.single == o->single &&
	       !memcmp(t->o.n, o->n, sizeof o->n);
}

int
transform_plan(struct transform *t, const struct usfft_options *o)
{
	t->o = *o;
	usfft_free(t->plan);
	return usfft_plan(&t->plan, &t->o);
}

int
transform_points(struct transform *t, const struct usfft_points *pt, const void *c, size_t cstride,
		 size_t *bad)
{
	return t->gpu ? gpu_usfft_points(t->gpu, t->plan, pt, c, cstride, bad)
		      : usfft_points(t->plan, pt, c, cstride, bad);
}

int
transform_type2(struct transform *t, int sign, const void *modes, void *c)
{
	if (t->gpu)
		return gpu_usfft_type2(t->gpu, t->plan, sign, modes, c);
	usfft_type2(t->plan, sign, modes, c);
	return 0;
}

size_t
transform_together(const struct transform *t)
{
	return t->gpu ? 1 : usfft_together(t->plan);
}

void
transform_many(struct transform *t, int type, int sign, size_t count, const void *const *in,
	       void *const *out)
{
	if (type == 1)
		usfft_type1_many(t->plan, sign, count, in, out);
	else
		usfft_type2_many(t->plan, sign, count, in, out);
}

static size_t
row_bytes(const struct transform *t)
{
	return t->o.n[0] * 2 * (t->o.single ? sizeof(float) : sizeof(double));
}

int
transform_gather(struct transform *t, int sign, const void *c, char **modes)
{
	const struct usfft_options *o = &t->o;

	*modes = NULL;
	if (!t->gpu) {
		usfft_gather(t->plan, sign, c);
		return 0;
	}
	*modes = weir_alloc(transform_modes(o) / o->n[0], row_bytes(t));
	return *modes ? gpu_usfft_type1(t->gpu, t->plan, sign, c, *modes) : -ENOMEM;
}

void
transform_get_rows(const struct transform *t, int sign, size_t row, size_t count, char *modes)
{
	for (size_t i = 0; i < count; i++)
		usfft_get_row(t->plan, sign, row + i, modes + i * row_bytes(t));
}

int
transform_settle(const struct transform *t, const void *results)
{
	return t->gpu ? gpu_settle(t->gpu, results, 1) : 0;
}

int
transform_type3(struct transform *t, const struct usfft_options *o, const struct usfft_points *pt,
		const void *c, const struct usfft_points *targets, int sign, void *out, size_t *bad)
{
	return t->gpu ? gpu_usfft_type3(t->gpu, o, pt, c, targets, sign, out, bad)
		      : usfft_type3(o, pt, c, targets, sign, out, bad);
}

int
transform_inverse(struct transform *t, const struct usfft_options *o, const struct usfft_points *pt,
		  const double *w, const double *b, const struct usfft_inverse *v, double *modes,
		  struct usfft_outcome *got, size_t *bad)
{
	return t->gpu ? gpu_usfft_inverse(t->gpu, o, pt, w, b, v, modes, got, bad)
		      : usfft_inverse(o, pt, w, b, v, modes, got, bad);
}

int
transform_pipe(struct transform *t, const struct usfft_options *o, const struct usfft_points *pt,
	       int rounds, double *w, size_t *bad)
{
	return t->gpu ? gpu_usfft_pipe(t->gpu, o, pt, rounds, w, bad)
		      : usfft_pipe(o, pt, rounds, w, bad);
}

void
transform_free(struct transform *t)
{
	usfft_free(t->plan);
}
