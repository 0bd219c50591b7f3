/*
 * A template: REAL is the type of the coordinates, NEAR the function's name.
 *
 * near_float() and near_double() return the first edge, in the order of the rule, from vertex v to a vertex of another tree.
 * With v fixed, the rule is (d2, span, number of the other end).
 */
WEIR_CLONES_OF(struct brute_edge, NEAR, (const struct brute *b, size_t v), (b, v))
{
	const REAL *x = b->x;
	const uint32_t *restrict tree = b->tree, *restrict number = b->number;
	const uint32_t own = tree[v], n = number[v];
	struct brute_edge best = {INFINITY, 0, UINT32_MAX};

	for (size_t block = 0; block < b->padded; block += BLOCK, x += b->s->k * BLOCK) {
		const REAL *restrict row = x;
		REAL d[BLOCK] = {0}, least[LANES];
		for (unsigned a = 0; a < b->s->k; a++, row += BLOCK) {
			const REAL c = ((const REAL *)b->s->x)[v * b->s->k + a];
			for (size_t j = 0; j < BLOCK; j++)
				d[j] += (row[j] - c) * (row[j] - c);
		}
		for (size_t j = 0; j < BLOCK; j++)
			d[j] = tree[block + j] == own ? (REAL)INFINITY : d[j];
		for (size_t j = 0; j < LANES; j++)
			least[j] = d[j];
		for (size_t i = LANES; i < BLOCK; i += LANES)
			for (size_t j = 0; j < LANES; j++)
				least[j] = d[i + j] < least[j] ? d[i + j] : least[j];
		for (size_t j = 1; j < LANES; j++)
			least[0] = least[j] < least[0] ? least[j] : least[0];
		for (size_t j = 0; (double)least[0] <= best.d2 && !isinf(least[0]) && j < BLOCK;
		     j++) {
			const uint32_t m = number[block + j], span = m < n ? n - m : m - n;
			if (d[j] > least[0] ||
			    ((double)d[j] == best.d2 &&
			     (span > best.span || (span == best.span && m > number[best.other]))))
				continue;
			best = (struct brute_edge){(double)d[j], (uint32_t)(block + j), span};
		}
	}
	return best;
}
