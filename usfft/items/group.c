#include "common/base/die.h"
#include "common/base/mem.h"
#include "usfft/items/group.h"

struct waiting {
	struct img head;       /* owned: of the results */
	char where[RAW_WHERE]; /* what messages call the item */
	size_t n;	       /* complex results */
	bool single;
};

struct group {
	size_t count, room;
	/* All arrays are owned and have `room` elements, and so is what in[i] and out[i] point to. */
	struct waiting *item;
	void **in, **out;
};

static struct group *
make_group(size_t room)
{
	struct group *g = weir_xalloc(1, sizeof *g);

	*g = (struct group){.room = room,
			    .item = weir_xalloc(room, sizeof *g->item),
			    .in = weir_xalloc(room, sizeof *g->in),
			    .out = weir_xalloc(room, sizeof *g->out)};
	return g;
}

bool
group_suits(const struct job *j)
{
	return j->fixed && transform_together(&j->run) > 1;
}

void
group_add(struct job *j, const struct img *y, const struct values *v, size_t n)
{
	if (!j->group)
		j->group = make_group(transform_together(&j->run));
	struct group *g = j->group;
	struct waiting *w = &g->item[g->count];
	void *out = weir_xalloc(n, 2 * (v->single ? sizeof(float) : sizeof(double)));

	w->head = *y;
	w->n = n;
	w->single = v->single;
	raw_where(j->in, w->where);
	g->in[g->count] = v->owned;
	g->out[g->count++] = out;
	if (g->count == g->room)
		group_flush(j);
}

void
group_flush(struct job *j)
{
	struct group *g = j->group;

	if (!g || !g->count)
		return;
	const size_t count = g->count;
	g->count = 0; /* whoever dies below flushes once more */
	stats_charge(&j->st, STATS_READ);
	transform_many(&j->run, j->type, j->sign, count, (const void *const *)g->in, g->out);
	stats_charge(&j->st, STATS_COMPUTE);
	for (size_t i = 0; i < count; i++) {
		struct waiting *w = &g->item[i];
		raw_head(j->out, &w->head);
		j->where = w->where;
		item_write_row(j, g->out[i], w->n, w->single);
		img_free(&w->head);
		weir_free(g->in[i]);
		weir_free(g->out[i]);
	}
	j->where = NULL;
	stats_charge(&j->st, STATS_WRITE);
}

void
group_flush_when_idle(struct job *j)
{
	if (j->group && raw_idle(j->in, 0))
		group_flush(j);
}

void
group_free(struct job *j)
{
	if (!j->group)
		return;
	weir_free(j->group->item);
	weir_free(j->group->in);
	weir_free(j->group->out);
	weir_free(j->group);
	j->group = NULL;
}
