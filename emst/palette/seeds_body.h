/* Makes the classes that Ward's method begins with. */

static struct centre
sum_run(const struct cells *c, uint32_t from, uint32_t to)
{
	struct sums sum = {{0}};

	for (uint32_t p = from; p < to; p++)
		cells_add(&sum, c, p);
	return centre_of(&sum, c->unit);
}

/*
 * Makes classes by the tree of cells_body.h. Its nodes are split while they hold `most` pixels or more, down to side 2. Where
 * that leaves fewer than `least` classes, `most` is halved and nodes of side 2 are split too. The caller frees *seed [*n]. 0 or
 * -ENOMEM.
 */
static int
seeds_make(const struct cells *c, double most, size_t least, struct centre **seed, size_t *n)
{
	uint32_t *start = weir_alloc_large(c->n + 1, sizeof *start);
	double limit[TOP + 1];

	*seed = NULL;
	if (!start)
		return -ENOMEM;
	for (int s = 0; s <= TOP; s++)
		limit[s] = s > 1 ? most : INFINITY;
	least = least < c->n ? least : c->n;
	while ((*n = cells_cut(c, limit, start)) < least) {
		most /= 2;
		for (int s = 0; s <= TOP; s++)
			limit[s] = most;
	}
	*seed = weir_alloc_large(*n, sizeof **seed);
	for (size_t i = 0; *seed && i < *n; i++)
		(*seed)[i] = sum_run(c, start[i], start[i + 1]);
	weir_free(start);
	return *seed ? 0 : -ENOMEM;
}
