/* Runs the engine: kd-tree, lists or core radii, Boruvka's algorithm, then the order of the edges. */

static int
start_trees(struct kd *t)
{
	t->ntrees = t->n;
	t->tree = weir_alloc_large(t->n, sizeof *t->tree);
	t->size = weir_alloc_large(t->n, sizeof *t->size);
	t->node_tree = weir_alloc_large(2 * t->nleaves, sizeof *t->node_tree);
	t->used = weir_calloc_large(t->n, sizeof *t->used);
	t->best = weir_alloc_large(t->n, sizeof *t->best);
	if (!t->tree || !t->size || !t->node_tree || !t->used || !t->best)
		return -ENOMEM;
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->n > SMALL)
	for (size_t p = 0; p < t->n; p++) {
		t->tree[p] = (uint32_t)p;
		t->size[p] = 1;
	}
	return 0;
}

static void
free_kd(struct kd *t)
{
	weir_free(t->x);
	weir_free(t->vertex);
	weir_free(t->own_number);
	weir_free(t->lane);
	weir_free(t->box);
	weir_free(t->core);
	weir_free(t->core_lane);
	weir_free(t->near);
	weir_free(t->tree);
	weir_free(t->size);
	weir_free(t->node_tree);
	weir_free(t->bound);
	weir_free(t->used);
	weir_free(t->best);
	weir_free(t);
}

static inline uint64_t
tie_key(const struct kd *t, const struct sorted *e)
{
	uint32_t a = t->number[e->a], b = t->number[e->b];

	return (uint64_t)(a < b ? b - a : a - b) << 32 | (a < b ? a : b);
}

/* Sorts edges of equal length by the rest of the rule. */
static void
sort_ties(const struct kd *t, struct sorted *e, struct sorted *tmp, size_t n)
{
	uint64_t length = e[0].key;

	for (size_t i = 0; i < n; i++)
		e[i].key = tie_key(t, &e[i]);
	emst_sort(e, tmp, n);
	for (size_t i = 0; i < n; i++)
		e[i].key = length;
}

/* The lists have served when edges are sorted. Their memory is scratch where it suffices: new pages have to be cleared. */
static int
write_tree(const struct kd *t, struct sorted *e, struct emst_tree *tree)
{
	size_t n = t->n - 1;
	const bool room = t->nnear * sizeof *t->near >= sizeof(struct sorted);
	struct sorted *tmp = room ? (void *)t->near : weir_alloc_large(n, sizeof *tmp);

	tree->edge = weir_alloc_large(n, sizeof *tree->edge);
	tree->length = weir_alloc_large(n, sizeof *tree->length);
	if (tmp && tree->edge && tree->length) {
		emst_sort(e, tmp, n);
		for (size_t i = 0, j; i < n; i = j) {
			for (j = i + 1; j < n && e[j].key == e[i].key; j++)
				;
			if (j > i + 1)
				sort_ties(t, e + i, tmp, j - i);
		}
#pragma omp parallel for schedule(static) num_threads(t->threads) if (n > SMALL)
		for (size_t i = 0; i < n; i++) {
			uint32_t u = t->vertex[e[i].a], v = t->vertex[e[i].b];
			tree->edge[i] = u < v ? (struct emst_edge){u, v} : (struct emst_edge){v, u};
			tree->length[i] = sqrt((double)REAL_OF_KEY(e[i].key));
		}
	}
	if (!room)
		weir_free(tmp);
	return tmp && tree->edge && tree->length ? 0 : -ENOMEM;
}

static int
boruvka(struct kd *t, struct emst_tree *tree)
{
	struct sorted *edge = weir_alloc_large(t->n, sizeof *edge);
	uint32_t *up = weir_alloc_large(t->n, sizeof *up);
	size_t n = 0;
	int err = edge && up ? start_trees(t) : -ENOMEM;

	while (!err && t->ntrees > 1) {
		search_all(t);
		n = take_edges(t, up, edge, n);
		step(t, 1 - (1 - LISTED) * log((double)(t->n - n)) / log((double)t->n));
		number_trees(t, up);
	}
	weir_free(up);
	if (!err)
		err = write_tree(t, edge, tree);
	weir_free(edge);
	return err;
}

int
RUN(const struct kd_input *in, struct emst_tree *tree)
{
	struct kd *t = weir_calloc(1, sizeof *t);
	int err;

	*tree = (struct emst_tree){.n = in->s->n};
	if (!t)
		return -ENOMEM;
	t->in = in;
	t->n = in->s->n;
	t->k = in->s->k;
	t->threads = in->threads;
	t->nnear = in->min_weight ? 0 : list_length(t->k);
	err = build(t);
	if (!err)
		err = in->min_weight ? find_cores(t) : list_near(t);
	if (!err)
		err = boruvka(t, tree);
	free_kd(t);
	if (err == PRUNES_LITTLE)
		return RUN_PRIM(in, tree);
	if (err)
		emst_tree_free(tree);
	return err;
}
