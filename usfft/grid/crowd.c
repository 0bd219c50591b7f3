#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "usfft/plan.h"

int
crowd_make(struct usfft_plan *p, size_t m)
{
	struct crowds *q = &p->crowds;
	struct usfft_options o = p->o;
	void **table[3] = {&q->taps.x, &q->taps.y, &q->taps.z};

	if (q->acc || !p->o.single || p->o.type == 2 || m <= CROWD)
		return 0;
	o.single = false;
	q->ops = &usfft_loops_for(&o)->tile;
	q->taps.ncoef = p->taps.ncoef;
	for (int a = 0; a < o.dim; a++) {
		const int offsets = a ? 1 : q->ops->lanes / 2;
		if (!*table[a])
			*table[a] =
			    window_table(&p->win[a], q->taps.ncoef, q->ops->lanes, offsets, false);
		if (!*table[a])
			return -ENOMEM;
	}
	q->accs = p->accs;
	q->acc_bytes = spread_acc_bytes(p, q->ops->lanes, sizeof(double));
	q->acc = weir_take(q->accs, q->acc_bytes);
	return q->acc ? 0 : -ENOMEM;
}

void
crowd_free(struct crowds *q)
{
	void *owned[] = {q->taps.x, q->taps.y, q->taps.z};

	weir_give(q->acc, q->accs, q->acc_bytes);
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		weir_free(owned[i]);
}

/*
 * Counts RUN points of each GROUP that follow each other, which are few lines of the cache. Which points these are varies, so
 * that no order hides a place. There is one instance for each dimension.
 */
static inline __attribute__((always_inline)) bool
fills_a_cell(const char *records, size_t bytes, size_t n, int dim)
{
	enum { CELLS = 1 << 12, RUN = 4, GROUP = 16, LIMIT = CROWD * RUN / GROUP };
	const int log = tile_span_log(dim), bits = tile_bits(dim, false);
	uint8_t count[CELLS];

	memset(count, 0, (size_t)1 << dim * log);
	for (uint32_t i = 0; i < n / GROUP; i++) {
		const size_t any = i * 0x9e3779b1u >> 30;
		const char *record = records + (i * GROUP + any * RUN) * bytes;
		for (int j = 0; j < RUN; j++, record += bytes) {
			const uint32_t *place = (const uint32_t *)record;
			size_t cell = 0;
			for (int a = 0; a < dim; a++)
				cell = cell << log | place[a] >> bits;
			if (count[cell]++ == LIMIT)
				return true;
		}
	}
	return false;
}

bool
crowd_in(const struct usfft_plan *p, size_t tile)
{
	const size_t from = p->points.start[tile], n = p->points.start[tile + 1] - from;
	const size_t bytes = p->points.bytes;
	const char *record = (const char *)p->points.record + from * bytes;

	if (n <= 2 * CROWD || !p->crowds.acc)
		return false;
	if (p->o.dim == 1)
		return fills_a_cell(record, bytes, n, 1);
	return p->o.dim == 2 ? fills_a_cell(record, bytes, n, 2)
			     : fills_a_cell(record, bytes, n, 3);
}

bool
crowd_anywhere(const struct usfft_plan *p)
{
	for (size_t t = 0; t < p->ntiles; t++)
		if (crowd_in(p, t))
			return true;
	return false;
}

/* The records become records in double precision, which carry their values, a block at a time. */
void
crowd_spread(const struct usfft_plan *p, const struct tile_points *pt, const float *c, void *acc)
{
	enum { BLOCK = 64, MOST = 4 };
	const int dim = p->o.dim;
	const size_t bytes = tile_record(dim, sizeof(double), false, false);
	const size_t behind = pt->bytes - tile_value(sizeof(float), pt->indexed);
	const char *record = pt->record;
	double room[BLOCK * MOST] = {0};
	struct tile_points some = *pt;

	some.record = room;
	some.bytes = bytes;
	some.indexed = false;
	for (size_t left = pt->n; left; left -= some.n) {
		char *to = (char *)room;
		some.n = left < BLOCK ? left : BLOCK;
		for (size_t i = 0; i < some.n; i++, record += pt->bytes, to += bytes) {
			const float *value = (const float *)(record + behind);
			uint64_t j;
			if (pt->indexed) {
				memcpy(&j, value, sizeof j);
				value = c + 2 * j;
			}
			memcpy(to, record, (size_t)dim * sizeof(int32_t));
			memcpy(to + bytes - 2 * sizeof(double), (double[]){value[0], value[1]},
			       2 * sizeof(double));
		}
		p->crowds.ops->spread[dim - 1][p->win[0].w](&p->crowds.taps, acc, &some, NULL);
	}
}
