#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "usfft/cg.h"
#include "usfft/sky/planes.h"

/* The normal equations: A* W A + lambda. */
struct normal {
	struct usfft_sky *sky;
	const double *w; /* NULL: ones */
	double lambda;
	int sign;
	double *vis; /* owned: complex, one for each point */
};

static int
apply(void *who, const double *in, double *out)
{
	const struct normal *a = who;
	int err = usfft_sky_type2(a->sky, a->sign, in, a->vis);

	for (size_t j = 0; !err && a->w && j < a->sky->m; j++) {
		a->vis[2 * j] *= a->w[j];
		a->vis[2 * j + 1] *= a->w[j];
	}
	if (!err)
		err = usfft_sky_type1(a->sky, -a->sign, a->vis, out);
	for (size_t i = 0; !err && i < a->sky->modes; i++)
		out[i] += a->lambda * in[i];
	return err;
}

int
usfft_sky_inverse(struct usfft_sky *p, const double *w, const double *b,
		  const struct usfft_inverse *v, double *image, struct usfft_outcome *got)
{
	struct normal a = {.sky = p, .w = w, .sign = v->sign};
	double *r = weir_alloc(p->modes, sizeof *r), sum = 0;
	int err;

	a.vis = weir_alloc(p->m, 2 * sizeof *a.vis);
	for (size_t j = 0; a.vis && j < p->m; j++) {
		const double f = w ? w[j] : 1;
		a.vis[2 * j] = f * b[2 * j];
		a.vis[2 * j + 1] = f * b[2 * j + 1];
		sum += f;
	}
	a.lambda = v->damp * sum;
	err = r && a.vis ? usfft_sky_type1(p, -v->sign, a.vis, r) : -ENOMEM;
	if (!err) {
		if (v->start)
			memcpy(image, v->start, p->modes * sizeof *image);
		else
			memset(image, 0, p->modes * sizeof *image);
		err = usfft_cg(apply, &a, p->modes, v, image, r, got);
	}
	weir_free(a.vis);
	weir_free(r);
	return err;
}
