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

/*
 * Ward's method over all pairs by the nearest-neighbour chain, in O(n^2). The chain goes from a class to its nearest class,
 * and on, until two classes are each other's nearest; these two join. The costs are sorted at the end, which gives the order
 * of joining.
 */
enum { WARD_BLOCK = 512, WIDE = 16 };

struct joining {
	float cost;
	uint32_t order, a, b;
};

struct ward {
	size_t n;
	struct centre *c;     /* [n]; owned */
	struct joining *join; /* [n - 1], the cheapest first; owned */
	uint32_t *up;	      /* [n]; scratch, owned */
	struct centre *part;  /* [n]; scratch, owned */
};

/* The remaining classes, by coordinate. w < 0 marks a class that has joined another, and the places up to a multiple of WIDE. */
struct chain {
	size_t n, left;
	float *x[DIMS], *w, *cost;
	uint32_t *id, *link;
	size_t nlink;
};

static int
cheaper(const void *pa, const void *pb)
{
	const struct joining *a = pa, *b = pb;

	if (a->cost != b->cost)
		return a->cost < b->cost ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/*
 * Fills cost[] with the costs of joining class i with the classes from..to-1, in groups of WIDE; class i itself costs 1e30.
 * Returns the least cost.
 */
WEIR_CLONES_OF(float, find_costs,
	       (const struct chain *c, size_t i, size_t from, size_t to, float *restrict cost),
	       (c, i, from, to, cost))
{
	const float *restrict w = c->w;
	const float wi = w[i];
	const float *x[DIMS];
	float xi[DIMS], least[WIDE];

	for (int a = 0; a < DIMS; a++) {
		x[a] = c->x[a];
		xi[a] = x[a][i];
	}
	for (size_t l = 0; l < WIDE; l++)
		least[l] = 1e30f;
	for (size_t j = from; j < to; j += WIDE)
		for (size_t l = 0; l < WIDE; l++) {
			const float wj = w[j + l];
			float d2 = 0;
			for (int a = 0; a < DIMS; a++)
				d2 += (x[a][j + l] - xi[a]) * (x[a][j + l] - xi[a]);
			const float q = d2 * (wi * wj) / (wi + wj);
			const float p = ((wj < 0) | (j + l == i)) ? 1e30f : q;
			cost[j + l] = p;
			least[l] = p < least[l] ? p : least[l];
		}
	for (size_t l = 1; l < WIDE; l++)
		least[0] = least[l] < least[0] ? least[l] : least[0];
	return least[0];
}

/* Returns the class that costs least to join with i; among equal ones the class before i in the chain, else the first. */
static size_t
nearest(const struct chain *c, size_t i, float *cost)
{
	size_t best = i;

	*cost = 1e30f;
	for (size_t from = 0; from < c->n; from += WARD_BLOCK) {
		const size_t all = (c->n + WIDE - 1) / WIDE * WIDE,
			     to = from + WARD_BLOCK < all ? from + WARD_BLOCK : all;
		const float least = find_costs(c, i, from, to, c->cost);
		if (least >= *cost)
			continue;
		*cost = least;
		for (best = from; c->cost[best] != least; best++)
			;
	}
	if (c->nlink > 1 && c->cost[c->link[c->nlink - 2]] <= *cost)
		best = c->link[c->nlink - 2];
	return best;
}

/* Joins class b to class a, which has the smaller place. */
static void
join(struct chain *c, size_t a, size_t b)
{
	struct centre p = {.w = c->w[a]}, q = {.w = c->w[b]};

	for (int i = 0; i < DIMS; i++) {
		p.x[i] = c->x[i][a];
		q.x[i] = c->x[i][b];
	}
	p = centre_join(p, q);
	for (int i = 0; i < DIMS; i++)
		c->x[i][a] = p.x[i];
	c->w[a] = p.w;
	c->w[b] = -1;
	c->left--;
}

/* Moves the remaining classes together when half of the classes are gone. The chain must be empty. */
static void
close_ranks(struct chain *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->w[i] >= 0) {
			for (int a = 0; a < DIMS; a++)
				c->x[a][n] = c->x[a][i];
			c->w[n] = c->w[i];
			c->id[n++] = c->id[i];
		}
	for (c->n = n; n % WIDE; n++)
		c->w[n] = -1;
}

static void
run_chain(struct chain *c, struct joining *out)
{
	uint32_t done = 0;

	while (c->left > 1) {
		if (!c->nlink) {
			if (c->left < c->n / 2)
				close_ranks(c);
			uint32_t i = 0;
			while (c->w[i] < 0)
				i++;
			c->link[c->nlink++] = i;
		}
		float cost;
		const uint32_t i = c->link[c->nlink - 1];
		const uint32_t j = (uint32_t)nearest(c, i, &cost);
		if (c->nlink > 1 && j == c->link[c->nlink - 2]) {
			const uint32_t a = i < j ? i : j, b = i < j ? j : i;
			out[done] = (struct joining){cost, done, c->id[a], c->id[b]};
			done++;
			join(c, a, b);
			c->nlink -= 2;
		} else {
			c->link[c->nlink++] = j;
		}
	}
}

static int
find_joinings(struct ward *w)
{
	const size_t n = w->n, lanes = (n + WIDE - 1) / WIDE * WIDE;
	float *room = weir_calloc_large((DIMS + 2) * lanes, sizeof *room);
	uint32_t *more = weir_alloc_large(2 * n + 2, sizeof *more);
	struct chain c = {.n = n, .left = n, .id = more};

	if (room && more) {
		for (int a = 0; a < DIMS; a++)
			c.x[a] = room + (size_t)a * lanes;
		c.w = room + DIMS * lanes;
		c.cost = c.w + lanes;
		for (size_t i = n; i < lanes; i++)
			c.w[i] = -1;
		c.link = more + n;
		for (size_t i = 0; i < n; i++) {
			for (int a = 0; a < DIMS; a++)
				c.x[a][i] = w->c[i].x[a];
			c.w[i] = w->c[i].w;
			c.id[i] = (uint32_t)i;
		}
		run_chain(&c, w->join);
		qsort(w->join, n - 1, sizeof *w->join, cheaper);
	}
	weir_free(room);
	weir_free(more);
	return room && more ? 0 : -ENOMEM;
}

/* Finds the order of joining n classes: always the two whose joining costs least. 0 or -ENOMEM; call ward_free() in either case. */
static int
ward_make(struct ward **out, const struct centre *c, size_t n)
{
	struct ward *w = *out = weir_calloc(1, sizeof *w);

	if (!w)
		return -ENOMEM;
	*w = (struct ward){n, weir_alloc(n, sizeof *w->c), weir_alloc(n, sizeof *w->join),
			   weir_alloc(n, sizeof *w->up), weir_alloc(n, sizeof *w->part)};
	if (!w->c || !w->join || !w->up || !w->part)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		w->c[i] = c[i];
	return find_joinings(w);
}

static void
ward_free(struct ward *w)
{
	if (!w)
		return;
	weir_free(w->c);
	weir_free(w->join);
	weir_free(w->up);
	weir_free(w->part);
	weir_free(w);
}

/* Fills out [k] with the classes when k <= n of them are left. */
static void
ward_cut(const struct ward *w, size_t k, struct centre *out)
{
	size_t n = 0;

	roots_single(w->up, w->n);
	for (size_t i = 0; i < w->n; i++)
		w->part[i] = w->c[i];
	for (size_t i = 0; i + k < w->n; i++) {
		const uint32_t a = roots_find(w->up, w->join[i].a),
			       b = roots_find(w->up, w->join[i].b), to = a < b ? a : b;
		w->part[to] = centre_join(w->part[a], w->part[b]);
		roots_join(w->up, a, b);
	}
	for (size_t i = 0; i < w->n; i++)
		if (w->up[i] == i)
			out[n++] = w->part[i];
}
