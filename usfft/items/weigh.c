/* Weights of points: transform_pipe() computes them, or they are read from a file. They can be written, too. */
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "common/base/sample.h"
#include "usfft/items/item_in.h"

enum { PIPE_ROUNDS = 30 };

bool
item_weighs(const struct job *j)
{
	return j->a.weights && strcmp(j->a.weights, "none") != 0;
}

bool
item_weighs_by_file(const struct job *j)
{
	return item_weighs(j) && strcmp(j->a.weights, "pipe") != 0;
}

static void
read_weights(struct job *j)
{
	struct img x;
	double most = 0;

	raw_load_file(j->a.weights, j->a.common.max_bytes, true, &x);
	if (img_is_complex(&x) || !img_count(&x, &j->nweights))
		die("%s: weights are real numbers", j->a.weights);
	j->weights = weir_xalloc(j->nweights, sizeof *j->weights);
	sample_load(j->weights, x.data, x.type, j->nweights);
	for (size_t i = 0; i < j->nweights; i++) {
		if (!isfinite(j->weights[i]) || j->weights[i] < 0)
			die("%s: weight %zu is %g", j->a.weights, i, real_shown(j->weights[i]));
		most = fmax(most, j->weights[i]);
	}
	if (j->a.inverse && most == 0)
		die("%s: all weights are 0, so no values are left for --inverse", j->a.weights);
	img_free(&x);
}

void
item_load_weights(struct job *j)
{
	if (item_weighs_by_file(j))
		read_weights(j);
	if (j->a.weights_to)
		j->weights_out = raw_create(j->a.weights_to, RAW_AS_RAW);
}

static void
write_weights(struct job *j, size_t m)
{
	struct img y;

	img_init(&y, IMG_F64, 1, &m);
	opt_add_history(&y, &j->a.common);
	raw_head(j->weights_out, &y);
	raw_write(j->weights_out, j->weights, m);
	img_free(&y);
}

const double *
item_weigh(struct job *j, const struct usfft_points *pt, size_t m, const struct usfft_options *o)
{
	const bool known = j->weights && j->fixed && j->weighed;
	size_t bad = 0;

	if (!item_weighs(j) || known)
		return j->weights;
	if (item_weighs_by_file(j) && j->nweights != m)
		raw_die(j->in, "%s: %zu weights for %zu points", j->a.weights, j->nweights, m);
	if (!item_weighs_by_file(j)) {
		const struct usfft_options grid = usfft_pipe_options(o);
		item_check_memory(j, usfft_bytes(&grid, NULL));
		weir_free(j->weights);
		j->weights = weir_xalloc(pt->m, sizeof *j->weights);
		item_judge(j, transform_pipe(&j->run, o, pt, PIPE_ROUNDS, j->weights, &bad), &bad);
	}
	if (j->weights_out)
		write_weights(j, m);
	j->weighed = true;
	return j->weights;
}
