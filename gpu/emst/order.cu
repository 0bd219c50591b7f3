/*
 * The edges of the lattice's tree in the order of the rule, by d2, span and lo, with the numbers of their ends: order.h.
 *
 * Bytes: 9 passes of a sort at 20 an edge, 3 x 16 for the keys, 44 for the ranks and lengths: some 270 an edge, 1 ms for 2^24
 * colours at 4.3 TB/s.
 */
#include "gpu/emst/lattice.h"
#include "gpu/emst/order.h"

namespace
{

constexpr unsigned CODES = 1u << 24;

/* The largest d2 and one more. */
constexpr unsigned FAR = 3 * 255 * 255 + 1;

struct colour_edges {
	enum { LO, SPAN, D2, KEYS };
	unsigned limit[KEYS];
	grid w;
	double step2;

	__device__ unsigned
	key(unsigned i, unsigned k) const
	{
		const code_edge e = w.edges[i];

		return k == LO ? e.lo : k == SPAN ? e.span : e.d2;
	}

	__device__ emst_edge
	ends(unsigned i) const
	{
		const code_edge e = w.edges[i];

		return {grid_rank(w, e.lo), grid_rank(w, e.lo + e.span)};
	}

	__device__ double
	length(unsigned i) const
	{
		return sqrt(step2 * w.edges[i].d2);
	}
};

} // namespace

/* The trees' labels are not needed any more, nor the nodes. */
int
emst_order(struct gpu *g, const grid &w, double step2, struct emst_tree *t)
{
	const colour_edges e = {{CODES, CODES, FAR}, w, step2};

	return order_edges(g, e, w.n, HOLD_TREES, HOLD_NODES, t);
}
