/* Cuts edges that are long compared with those around them (Zahn 1971). */
#include <errno.h>

#include "common/mem.h"
#include "emst/classes/classes.h"

/* The edges at every vertex: those of vertex v are edge[from[v]] .. edge[from[v + 1] - 1]. */
struct star {
	uint32_t *from, *edge; /* owned */
};

static int
make_stars(struct star *s, const struct emst_tree *t)
{
	*s = (struct star){weir_calloc(t->n + 2, sizeof *s->from),
			   weir_alloc(2 * t->n, sizeof *s->edge)};
	if (!s->from || !s->edge)
		return -ENOMEM;
	for (size_t e = 0; e + 1 < t->n; e++) {
		s->from[t->edge[e].u + 2]++;
		s->from[t->edge[e].v + 2]++;
	}
	for (size_t v = 2; v < t->n + 2; v++)
		s->from[v] += s->from[v - 1];
	for (uint32_t e = 0; e + 1 < t->n; e++) {
		s->edge[s->from[t->edge[e].u + 1]++] = e;
		s->edge[s->from[t->edge[e].v + 1]++] = e;
	}
	return 0;
}

struct mean {
	double sum;
	size_t n;
};

/* Adds the edges within `steps` steps of v to the mean, except the edge `without` that led to v. */
static void
add_around(const struct star *s, const struct emst_tree *t, uint32_t v, uint32_t without, int steps,
	   struct mean *m)
{
	for (uint32_t i = s->from[v]; i < s->from[v + 1]; i++) {
		uint32_t e = s->edge[i];
		if (e == without)
			continue;
		m->sum += t->length[e];
		m->n++;
		if (steps > 1)
			add_around(s, t, t->edge[e].u ^ t->edge[e].v ^ v, e, steps - 1, m);
	}
}

static bool
is_inconsistent(const struct star *s, const struct emst_tree *t, uint32_t e, double factor)
{
	struct mean u = {0}, v = {0};

	add_around(s, t, t->edge[e].u, e, 2, &u);
	add_around(s, t, t->edge[e].v, e, 2, &v);
	return u.n + v.n && (!u.n || t->length[e] * (double)u.n > factor * u.sum) &&
	       (!v.n || t->length[e] * (double)v.n > factor * v.sum);
}

int
cut_zahn(const struct emst_tree *t, double factor, uint8_t *cut)
{
	struct star s;
	int err = make_stars(&s, t);

	for (uint32_t e = 0; !err && e + 1 < t->n; e++)
		cut[e] = is_inconsistent(&s, t, e, factor);
	weir_free(s.from);
	weir_free(s.edge);
	return err;
}
