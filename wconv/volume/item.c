#include <stdio.h>

#include "common/base/die.h"
#include "wconv/volume/item.h"

void
volume_check_args(const struct args *args)
{
	const char *option = args->common.gpu		    ? "-g"
			     : args->common.part.n	    ? "--part"
			     : args->type		    ? "--type=input"
			     : args->method == WCONV_DIRECT ? "--method=direct"
			     : args->edge == WCONV_RENORMALISE && !args->steps
				 ? "--edge=renormalise without --deconvolve"
			     : args->nan == WCONV_NAN_INTERPOLATE && !args->steps
				 ? "--nan=interpolate"
				 : NULL;

	if (option)
		die_usage("%s does not go with a kernel of three axes", option);
}

void
volume_pose(struct job *j, const struct raw_in *in, const struct img *x)
{
	const int deep = img_row_axis(x) + 2;
	const char *other = x->dim > deep ? img_no_depth(&x->axis[deep]) : NULL;

	if (x->dim <= deep)
		raw_die(in, "a kernel of three axes needs a volume, of axes `x y z`");
	if (other)
		raw_die(in,
			"axis %d is `%s' and not z: rawaxes --order brings z there, or --slice "
			"takes one volume",
			deep, other);
	if (img_key(x, "tile"))
		raw_die(in, "a kernel of three axes needs whole slices, not parts of them");
	j->q.d = x->axis[deep].n;
	j->q.in = j->q.out;
	j->pictures = j->pictures / j->q.d;
	j->at_z = 0;
}

/* Finds the size of the result, and the position of its first sample. */
static void
find_result(const struct job *j, size_t n[3], ptrdiff_t first[3])
{
	const struct wconv_problem *q = &j->q;
	const size_t size[3] = {q->w, q->h, q->d}, k[3] = {q->kw, q->kh, q->kd},
		     centre[3] = {q->cx, q->cy, q->cz};

	for (int a = 0; a < 3; a++) {
		const size_t before = q->correlate ? centre[a] : k[a] - 1 - centre[a];
		n[a] = size[a];
		first[a] = 0;
		if (j->args->steps || j->args->adjoint || q->output == WCONV_SAME)
			continue;
		if (q->output == WCONV_VALID && size[a] < k[a])
			raw_die(j->in,
				"no pixel's window lies inside %zux%zux%zu pixels: the "
				"kernel is %zux%zux%zu",
				q->w, q->h, q->d, q->kw, q->kh, q->kd);
		n[a] = q->output == WCONV_VALID ? size[a] + 1 - k[a] : size[a] + k[a] - 1;
		first[a] = q->output == WCONV_VALID ? (ptrdiff_t)before
						    : (ptrdiff_t)before + 1 - (ptrdiff_t)k[a];
	}
}

void
volume_size(const struct job *j, size_t *w, size_t *rows)
{
	ptrdiff_t first[3];
	size_t n[3];

	find_result(j, n, first);
	*w = n[0];
	*rows = n[1] * n[2];
}

void
volume_describe(const struct job *j, const struct img *x, struct img *y)
{
	const ptrdiff_t at[3] = {j->at_x, j->at_y, j->at_z};
	ptrdiff_t first[3];
	size_t n[3];

	find_result(j, n, first);
	img_copy_head(y, x);
	y->type = j->q.out;
	for (int a = 0; a < 3; a++)
		img_cut_axis(y, img_row_axis(y) + a, n[a], first[a] - at[a]);
	opt_add_history(y, &j->args->common);
}

void
volume_explain(const struct job *j)
{
	const struct wconv_problem *q = &j->q;

	fprintf(stderr, "%s: volumes of %zux%zux%zu, a kernel of %zux%zux%zu, transforms\n",
		weir_prog, q->w, q->h, q->d, q->kw, q->kh, q->kd);
}
