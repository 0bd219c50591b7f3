/* Joins equal vectors. */
#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "emst/vertices.h"

#define NONE 0xffffffffu

static inline uint64_t
hash(const void *x, size_t bytes)
{
	const char *p = x;
	uint64_t h = 0x9e3779b97f4a7c15u;
	uint32_t word;

	for (size_t i = 0; i < bytes; i += sizeof word) {
		memcpy(&word, p + i, sizeof word);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 29;
	}
	return h;
}

/* Moves the first of equal vectors to the front of x, in order. table is a hash table with open addressing. */
static size_t
gather(struct vertices *v, uint32_t *table, size_t mask)
{
	size_t bytes = v->set.k * (v->set.type == EMST_F32 ? sizeof(float) : sizeof(double)), n = 0;
	char *x = v->x;

	for (size_t i = 0; i < v->inputs; i++) {
		const char *p = x + i * bytes;
		size_t slot = hash(p, bytes) & mask;
		while (table[slot] != NONE && memcmp(x + table[slot] * bytes, p, bytes))
			slot = (slot + 1) & mask;
		if (table[slot] == NONE) {
			table[slot] = (uint32_t)n;
			v->first[n] = (uint32_t)i;
			memmove(x + n++ * bytes, p, bytes);
		}
		v->of[i] = table[slot];
	}
	return n;
}

/* Does the same for samples of at most 8 bytes a vertex, which stay where they are. */
static size_t
gather_samples(struct vertices *v, uint32_t *table, size_t mask)
{
	const size_t bytes = v->planes * img_type_size(v->type);
	const char *x = v->data;
	size_t n = 0;

	for (size_t i = 0; i < v->inputs; i++) {
		uint64_t own = 0, other = 0;
		memcpy(&own, x + i * bytes, bytes);
		size_t slot = hash(&own, sizeof own) & mask;
		for (; table[slot] != NONE; slot = (slot + 1) & mask) {
			memcpy(&other, x + v->first[table[slot]] * bytes, bytes);
			if (other == own)
				break;
		}
		if (table[slot] == NONE) {
			table[slot] = (uint32_t)n;
			v->first[n++] = (uint32_t)i;
		}
		v->of[i] = table[slot];
	}
	return n;
}

int
vertices_distinct(struct vertices *v)
{
	size_t room = 16;

	while (room < 2 * v->inputs)
		room *= 2;
	uint32_t *table = weir_alloc_large(room, sizeof *table);
	v->first = weir_alloc_large(v->inputs, sizeof *v->first);
	v->of = weir_alloc_large(v->inputs, sizeof *v->of);
	if (!table || !v->first || !v->of) {
		weir_free(table);
		return -ENOMEM;
	}
	memset(table, 0xff, room * sizeof *table);
	v->set.n = (v->x ? gather : gather_samples)(v, table, room - 1);
	v->set.id = v->first;
	weir_free(table);
	return 0;
}
