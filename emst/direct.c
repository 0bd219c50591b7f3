/*
 * The definition of the tree, computed as Barsuk and Ivanov do. The edges are never stored. In every round each vertex looks
 * at all vertices of other trees, each tree keeps its first edge in the order of the rule, and these edges join the trees.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "emst/emst.h"

/* ---- the tree ---- */

struct direct {
	const struct emst_set *s;
	const double *core; /* radii, or NULL */
	uint32_t *tree;	    /* [n]: the tree a vertex is in */
};

struct direct_edge {
	double d2;
	uint32_t lo, hi; /* vertex indices; hi == 0: none yet */
	uint64_t span;	 /* the difference of their numbers */
};

static double
direct_d2(const struct direct *d, size_t i, size_t j)
{
	const struct emst_set *s = d->s;
	const float *xf = s->x;
	const double *xd = s->x;
	double d2 = 0;
	float f2 = 0;

	for (unsigned a = 0; a < s->k; a++)
		if (s->type == EMST_CODE) {
			double t = (double)(s->code[i] >> 8 * a & 255) -
				   (double)(s->code[j] >> 8 * a & 255);
			d2 += t * t;
		} else if (s->type == EMST_F32) {
			float t = xf[i * s->k + a] - xf[j * s->k + a];
			f2 += t * t;
		} else {
			double t = xd[i * s->k + a] - xd[j * s->k + a];
			d2 += t * t;
		}
	d2 = s->type == EMST_F32 ? (double)f2 : d2;
	return d->core ? fmax(d2, fmax(d->core[i], d->core[j])) : d2;
}

static uint32_t
number(const struct direct *d, size_t i)
{
	if (d->s->type == EMST_CODE)
		return d->s->code[i];
	return d->s->id ? d->s->id[i] : (uint32_t)i;
}

static int
order(const void *pa, const void *pb)
{
	const struct direct_edge *a = pa, *b = pb;

	if (a->d2 != b->d2)
		return a->d2 < b->d2 ? -1 : 1;
	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	return (a->lo > b->lo) - (a->lo < b->lo);
}

/* Sets best[t] to the first edge that leaves tree t. */
static void
look(const struct direct *d, struct direct_edge *best)
{
	for (size_t i = 0; i < d->s->n; i++)
		best[i] = (struct direct_edge){.d2 = INFINITY};
	for (size_t i = 0; i < d->s->n; i++)
		for (size_t j = 0; j < d->s->n; j++) {
			if (d->tree[i] == d->tree[j])
				continue;
			size_t lo = i < j ? i : j, hi = i < j ? j : i;
			struct direct_edge e = {direct_d2(d, lo, hi), (uint32_t)lo, (uint32_t)hi,
						number(d, hi) - number(d, lo)};
			if (order(&e, &best[d->tree[i]]) < 0)
				best[d->tree[i]] = e;
		}
}

/* Every tree takes its edge. An edge that two trees chose is taken once. Returns the number of edges taken. */
static size_t
join(const struct direct *d, const struct direct_edge *best, struct direct_edge *out)
{
	size_t taken = 0;

	for (size_t t = 0; t < d->s->n; t++) {
		if (!best[t].hi)
			continue;
		uint32_t from = d->tree[best[t].hi], to = d->tree[best[t].lo];
		if (from == to)
			continue;
		out[taken++] = best[t];
		for (size_t i = 0; i < d->s->n; i++)
			if (d->tree[i] == from)
				d->tree[i] = to;
	}
	return taken;
}

/* core[] holds squared radii here, as in emst_direct_core(). */
int
emst_direct(const struct emst_set *s, const double *core, struct emst_tree *t)
{
	struct direct d = {s, core, weir_alloc(s->n, sizeof *d.tree)};
	struct direct_edge *best = weir_alloc(s->n, sizeof *best),
			   *edge = weir_alloc(s->n, sizeof *edge);
	size_t n = s->n, have = 0;

	*t = (struct emst_tree){.n = n,
				.edge = weir_alloc(n, sizeof *t->edge),
				.length = weir_alloc(n, sizeof *t->length)};
	const bool room = d.tree && best && edge && t->edge && t->length;
	for (size_t i = 0; room && i < n; i++)
		d.tree[i] = (uint32_t)i;
	while (room && have < n - 1) {
		look(&d, best);
		have += join(&d, best, edge + have);
	}
	if (room)
		qsort(edge, have, sizeof *edge, order);
	for (size_t i = 0; i < have; i++) {
		t->edge[i] = (struct emst_edge){edge[i].lo, edge[i].hi};
		t->length[i] = sqrt(edge[i].d2);
	}
	weir_free_all(d.tree, best, edge);
	if (!room) {
		weir_free_all(t->edge, t->length);
		*t = (struct emst_tree){0};
	}
	return room ? 0 : -ENOMEM;
}

struct near {
	double d2;
	uint64_t weight;
};

static int
nearer(const void *pa, const void *pb)
{
	const struct near *a = pa, *b = pb;

	return (a->d2 > b->d2) - (a->d2 < b->d2);
}

/* Computes the squared core radius of every vertex: takes all vertices in order of distance until they weigh min_weight. */
int
emst_direct_core(const struct emst_set *s, const uint64_t *weight, uint64_t min_weight,
		 double *core)
{
	const struct direct d = {.s = s};
	struct near *near = weir_alloc(s->n, sizeof *near);
	int err = near ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->n && !err; i++) {
		uint64_t w = 0;
		size_t j;
		for (j = 0; j < s->n; j++)
			near[j] = (struct near){direct_d2(&d, i, j), weight[j]};
		qsort(near, s->n, sizeof *near, nearer);
		for (j = 0; j < s->n && (w += near[j].weight) < min_weight; j++)
			;
		if (j == s->n)
			err = -EDOM;
		else
			core[i] = near[j].d2;
	}
	weir_free(near);
	return err;
}

/* ---- classes ---- */

/* The definitions of classes. They are slow, and share no code with what they check. */

/* --- HDBSCAN* ----------------------------------------------------------------------------------------------------- */

struct hdbscan {
	const struct emst_tree *t;
	const uint64_t *weight;
	uint64_t min_weight;
	uint8_t *rows;	 /* [2 n][n]: two sets of vertices for each level of the recursion */
	uint32_t *label; /* [n] */
	uint32_t chosen; /* classes chosen so far, including those dropped later */
};

/* Fills part[] with the vertices of set s that edges before e join to u. Returns its weight. */
static uint64_t
reach(const struct hdbscan *h, const uint8_t *s, uint32_t u, size_t e, uint8_t *part)
{
	uint64_t weight = h->weight[u];
	bool more = true;

	memset(part, 0, h->t->n);
	part[u] = 1;
	while (more) {
		more = false;
		for (size_t i = 0; i < e; i++) {
			struct emst_edge x = h->t->edge[i];
			if (!s[x.u] || !s[x.v] || part[x.u] == part[x.v])
				continue;
			weight += h->weight[part[x.u] ? x.v : x.u];
			part[x.u] = part[x.v] = more = true;
		}
	}
	return weight;
}

/* The marks of a vertex of a class: it is there, and its part has been found. */
enum { THERE = 1, FOUND = 2 };

/* Marks the vertices of part[] in s[]. Returns their number. */
static size_t
mark(const struct hdbscan *h, uint8_t *s, const uint8_t *part, uint8_t with)
{
	size_t vertices = 0;

	for (size_t v = 0; v < h->t->n; v++)
		if (part[v]) {
			s[v] = with;
			vertices++;
		}
	return vertices;
}

/* Returns the number of parts that weigh min_weight or more when edges from e on are cut. Marks s[] as FOUND. */
static size_t
count_large(const struct hdbscan *h, uint8_t *s, size_t e, uint8_t *part)
{
	size_t large = 0;

	for (uint32_t v = 0; v < h->t->n; v++)
		if (s[v] == THERE) {
			large += reach(h, s, v, e, part) >= h->min_weight;
			mark(h, s, part, FOUND);
		}
	return large;
}

/* Returns the first of the edges that are as long as edge e. *within tells whether one of them joins vertices of s. */
static size_t
first_equal(const struct hdbscan *h, const uint8_t *s, size_t e, bool *within)
{
	size_t i = e + 1;

	*within = false;
	for (; i && h->t->length[i - 1] == h->t->length[e]; i--)
		*within |= s[h->t->edge[i - 1].u] && s[h->t->edge[i - 1].v];
	return i;
}

/*
 * Follows the class of the vertices in row 2 * level, which began at 1/length = birth, while the edges below e are cut,
 * longest first, those of one length at once. Labels the classes chosen from it, and returns their total stability.
 */
static double
choose(struct hdbscan *h, size_t level, double birth, size_t e)
{
	const size_t n = h->t->n;
	uint8_t *all = h->rows + 2 * level * n, *s = all + n, *part = s + n;
	double own = 0, within = 0;
	bool splits = false, cut;

	memcpy(s, all, n);
	while (!splits && e > 0) {
		const double at = 1 / fmax(h->t->length[e - 1], 0x1p-500);
		e = first_equal(h, s, e - 1, &cut);
		if (!cut)
			continue;
		splits = count_large(h, s, e, part) > 1;
		for (uint32_t v = 0; v < n; v++) {
			if (s[v] != FOUND)
				continue;
			const uint64_t w = reach(h, s, v, e, part);
			const bool large = w >= h->min_weight;
			const size_t vertices = mark(h, s, part, large && !splits ? THERE : 0);
			if (!large || splits || vertices == 1)
				own += (double)w * (at - birth);
			if (large && splits)
				within += choose(h, level + 1, at, e);
		}
	}
	if (splits && (!level || own < within))
		return within;
	h->chosen++;
	for (size_t v = 0; v < n; v++)
		if (all[v])
			h->label[v] = h->chosen;
	return own;
}

/* Numbers the classes 1, 2 .. from the heaviest on; among equal weights the one with the first vertex comes first. */
static void
rank(const struct hdbscan *h, uint64_t *weight)
{
	const uint32_t ranked = 1u << 31;

	for (uint32_t number = 1;; number++) {
		size_t best = h->t->n;
		memset(weight, 0, (h->chosen + 1) * sizeof *weight);
		for (size_t v = 0; v < h->t->n; v++)
			if (h->label[v] && !(h->label[v] & ranked))
				weight[h->label[v]] += h->weight[v];
		for (size_t v = h->t->n; v-- > 0;)
			if (h->label[v] && !(h->label[v] & ranked) &&
			    (best == h->t->n || weight[h->label[v]] >= weight[h->label[best]]))
				best = v;
		if (best == h->t->n)
			break;
		for (size_t v = h->t->n, old = h->label[best]; v-- > 0;)
			if (h->label[v] == old)
				h->label[v] = ranked | number;
	}
	for (size_t v = 0; v < h->t->n; v++)
		h->label[v] &= ~ranked;
}

int
emst_direct_hdbscan(const struct emst_tree *t, const uint64_t *weight, uint64_t min_weight,
		    uint32_t *label)
{
	struct hdbscan h = {t, weight, min_weight, weir_calloc(2 * t->n + 3, t->n), label, 0};
	uint64_t *sum = weir_alloc(2 * t->n + 1, sizeof *sum);
	bool room = h.rows && sum;

	if (room) {
		memset(label, 0, t->n * sizeof *label);
		memset(h.rows, 1, t->n);
		choose(&h, 0, t->n > 1 ? 1 / fmax(t->length[t->n - 2], 0x1p-500) : 0, t->n - 1);
		rank(&h, sum);
	}
	weir_free_all(sum, h.rows);
	return room ? 0 : -ENOMEM;
}

/* --- Genie ---------------------------------------------------------------------------------------------------------- */

/* Returns the Gini index of the weights of all parts. w[p] is the weight of part p; 0 means that there is no part p. */
static double
gini_index(const uint64_t *w, size_t n, size_t parts)
{
	double difference = 0, sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += (double)w[i];
		for (size_t j = 0; j < i; j++)
			if (w[i] && w[j])
				difference += fabs((double)w[i] - (double)w[j]);
	}
	return difference / (double)(parts - 1) / sum;
}

/* Returns the first edge between two parts; with lightest, the first one that leaves a part of the least weight. */
static size_t
first_edge(const struct emst_tree *t, const uint32_t *part, const uint64_t *w, bool lightest)
{
	uint64_t least = UINT64_MAX;

	for (size_t p = 0; p < t->n; p++)
		if (w[p] && w[p] < least)
			least = w[p];
	for (size_t e = 0;; e++) {
		const uint32_t a = part[t->edge[e].u], b = part[t->edge[e].v];
		if (a != b && (!lightest || w[a] == least || w[b] == least))
			return e;
	}
}

int
emst_direct_genie(const struct emst_tree *t, const uint64_t *weight, double gini, size_t classes,
		  uint8_t *cut)
{
	uint32_t *part = weir_alloc(t->n, sizeof *part);
	uint64_t *w = weir_alloc(t->n, sizeof *w);

	for (size_t v = 0; part && w && v < t->n; v++) {
		part[v] = (uint32_t)v;
		w[v] = weight[v];
		if (v)
			cut[v - 1] = 1;
	}
	for (size_t parts = t->n; part && w && parts > classes; parts--) {
		const size_t e = first_edge(t, part, w, gini_index(w, t->n, parts) > gini);
		const uint32_t a = part[t->edge[e].u], b = part[t->edge[e].v];
		cut[e] = 0;
		w[a] += w[b];
		w[b] = 0;
		for (size_t v = 0; v < t->n; v++)
			part[v] = part[v] == b ? a : part[v];
	}
	const bool room = part && w;
	weir_free_all(part, w);
	return room ? 0 : -ENOMEM;
}

/* --- cuts by variance ------------------------------------------------------------------------------------------------ */

/* Fills with[] with the vertices that the edges without a cut join to u, and sum[] with their weight and weighted coordinates. */
static void
gather_part(const struct emst_tree *t, const double *x, size_t k, const uint64_t *weight,
	    const uint8_t *cut, uint32_t u, uint8_t *with, double *sum)
{
	bool more = true;

	memset(with, 0, t->n);
	for (with[u] = 1; more;) {
		more = false;
		for (size_t e = 0; e + 1 < t->n; e++)
			if (!cut[e] && with[t->edge[e].u] != with[t->edge[e].v])
				with[t->edge[e].u] = with[t->edge[e].v] = more = true;
	}
	memset(sum, 0, (k + 1) * sizeof *sum);
	for (size_t v = 0; v < t->n; v++)
		for (size_t a = 0; with[v] && a <= k; a++)
			sum[a] += (double)weight[v] * (a ? x[v * k + a - 1] : 1);
}

int
emst_direct_variance(const struct emst_tree *t, const double *x, size_t k, const uint64_t *weight,
		     uint64_t min_weight, uint32_t *edge, double *gain, size_t *cuts)
{
	uint8_t *with = weir_alloc(t->n, 1), *cut = weir_calloc(t->n, 1);
	double *p = weir_alloc(2 * (k + 1), sizeof *p), *q = p + k + 1;
	const bool room = with && cut && p;

	for (*cuts = 0; room; ++*cuts) {
		size_t best = t->n;
		double most = 0;
		for (size_t e = 0; e + 1 < t->n; e++) {
			double d2 = 0;
			if (cut[e])
				continue;
			cut[e] = 1;
			gather_part(t, x, k, weight, cut, t->edge[e].u, with, p);
			gather_part(t, x, k, weight, cut, t->edge[e].v, with, q);
			cut[e] = 0;
			for (size_t a = 1; a <= k; a++)
				d2 += pow((p[a] * q[0] - q[a] * p[0]) * (1 / (p[0] * q[0])), 2);
			d2 = d2 * (p[0] * q[0]) / (p[0] + q[0]);
			if (d2 > 0 && d2 >= most && fmin(p[0], q[0]) >= (double)min_weight) {
				most = d2;
				best = e;
			}
		}
		if (best == t->n)
			break;
		cut[best] = 1;
		edge[*cuts] = (uint32_t)best;
		gain[*cuts] = most;
	}
	weir_free_all(p, cut, with);
	return room ? 0 : -ENOMEM;
}

/* --- regions ------------------------------------------------------------------------------------------------------ */

struct border {
	double d2;
	uint32_t order, u, v;
};

static int
shorter(const void *pa, const void *pb)
{
	const struct border *a = pa, *b = pb;

	if (a->d2 != b->d2)
		return a->d2 < b->d2 ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Lists all borders between neighbours, direction by direction, each in raster order, and sorts them. Returns their number. */
static size_t
list_borders(const uint8_t *px, size_t w, size_t h, size_t planes, int neighbours, struct border *e)
{
	static const int dx[] = {1, 0, 1, -1}, dy[] = {0, 1, 1, 1};
	size_t n = 0;

	for (int dir = 0; dir < neighbours / 2; dir++)
		for (size_t y = 0; y + (size_t)dy[dir] < h; y++)
			for (size_t x = 0; x < w; x++) {
				const size_t to = x + (size_t)dx[dir], u = y * w + x,
					     v = (y + (size_t)dy[dir]) * w + to;
				double d2 = 0;
				if (to >= w) /* true for -1 too, which wraps to SIZE_MAX */
					continue;
				for (size_t a = 0; a < planes; a++) {
					const double d =
					    (double)px[u * planes + a] - (double)px[v * planes + a];
					d2 += d * d;
				}
				e[n] = (struct border){d2, (uint32_t)n, (uint32_t)u, (uint32_t)v};
				n++;
			}
	qsort(e, n, sizeof *e, shorter);
	return n;
}

static size_t
count_pixels(const uint32_t *label, size_t pixels, uint32_t region)
{
	size_t n = 0;

	for (size_t i = 0; i < pixels; i++)
		n += label[i] == region;
	return n;
}

int
emst_direct_regions(const uint8_t *px, size_t w, size_t h, size_t planes, int neighbours,
		    double scale, uint64_t min_size, uint32_t *label)
{
	struct border *e = weir_alloc(4 * w * h, sizeof *e);
	double *inner = weir_calloc(w * h, sizeof *inner);
	const bool room = e && inner;
	const size_t n = room ? list_borders(px, w, h, planes, neighbours, e) : 0;

	for (uint32_t i = 0; i < w * h; i++)
		label[i] = i;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n; i++) {
			const uint32_t a = label[e[i].u], b = label[e[i].v];
			if (a == b)
				continue;
			const size_t na = count_pixels(label, w * h, a),
				     nb = count_pixels(label, w * h, b);
			const double length = sqrt(e[i].d2);
			if (pass ? na < min_size || nb < min_size
				 : length < inner[a] + scale / (double)na &&
				       length < inner[b] + scale / (double)nb) {
				for (size_t p = 0; p < w * h; p++)
					label[p] = label[p] == b ? a : label[p];
				inner[a] = pass ? inner[a] : length;
			}
		}
	weir_free_all(e, inner);
	return room ? 0 : -ENOMEM;
}
