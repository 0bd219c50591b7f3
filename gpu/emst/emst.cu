/* Which way: colours by their lattice, lattice.cu; other points, or all by brute force when asked to, brute.cu. */
#include "gpu/emst/lattice.h"

void
gpu_emst_ahead(struct gpu *g, const struct emst_set *s, bool brute)
{
	if (s->type == EMST_CODE && !brute)
		emst_tell_lattice(g, s->lattice);
}

int
gpu_emst_run(struct gpu *g, const struct emst_set *s, bool brute, struct emst_tree *t)
{
	int err;

	*t = {};
	if (s->n < 1 || s->n >= EMST_MAXPOINTS || s->k < 1 || s->k > EMST_MAXDIM)
		return -ERANGE;
	err = s->type == EMST_CODE && !brute ? emst_by_lattice(g, s, t)
					     : emst_by_points(g, s, brute, t);
	if (err)
		emst_tree_free(t);
	return err;
}
