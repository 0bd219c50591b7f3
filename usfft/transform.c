#include <errno.h>
#include <string.h>

#include "common/mem.h"
#include "gpu/usfft.h"
#include "usfft/transform.h"

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

static size_t
row_bytes(const struct transform *t)
{
	return t->o.n[0] * 2 * (t->o.single ? sizeof(float) : sizeof(double));
}

int
transform_gather(struct transform *t, int sign, const void *c)
{
	const struct usfft_options *o = &t->o;

	if (!t->gpu) {
		usfft_gather(t->plan, sign, c);
		return 0;
	}
	weir_free(t->modes);
	t->modes =
	    weir_alloc((o->dim > 1 ? o->n[1] : 1) * (o->dim > 2 ? o->n[2] : 1), row_bytes(t));
	return t->modes ? gpu_usfft_type1(t->gpu, t->plan, sign, c, t->modes) : -ENOMEM;
}

void
transform_get_rows(const struct transform *t, int sign, size_t row, size_t count, char *modes)
{
	if (t->gpu) {
		memcpy(modes, t->modes + row * row_bytes(t), count * row_bytes(t));
		return;
	}
	for (size_t i = 0; i < count; i++)
		usfft_get_row(t->plan, sign, row + i, modes + i * row_bytes(t));
}

void
transform_free(struct transform *t)
{
	usfft_free(t->plan);
	weir_free(t->modes);
}
