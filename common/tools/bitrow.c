#include <string.h>

#include "common/cpu.h"
#include "common/tools/bitrow.h"

/* Bit k of the result says whether v[k], which is 0 or 1, is 1. */
static uint64_t
gather_bits(const uint8_t *v)
{
	uint64_t bits = 0, eight;

	for (int k = 0; k < 64; k += 8) {
		memcpy(&eight, v + k, 8);
		bits |= (eight * 0x0102040810204080) >> 56 << k;
	}
	return bits;
}

void
bitrow_pack(const uint8_t *chosen, size_t w, uint64_t *bits)
{
	uint8_t rest[64] = {0};

	for (size_t i = 0; i < w / 64; i++)
		bits[i] = gather_bits(chosen + 64 * i);
	memcpy(rest, chosen + w / 64 * 64, w % 64);
	bits[w / 64] = gather_bits(rest);
}

size_t
bitrow_edges(const uint64_t *bits, size_t words, uint32_t *edge)
{
	uint64_t last = 0;
	size_t n = 0;

	for (size_t i = 0; i < words; i++) {
		uint64_t change = bits[i] ^ (bits[i] << 1 | last);

		for (last = bits[i] >> 63; change; change &= change - 1)
			edge[n++] = (uint32_t)(64 * i) + (uint32_t)__builtin_ctzll(change);
	}
	return n;
}

WEIR_CLONES_OF(size_t, find_pairs,
	       (const uint64_t *a, const uint64_t *b, size_t words, bool corner,
		struct bitrow_pair *pair),
	       (a, b, words, corner, pair))
{
	const uint64_t wide = corner ? UINT64_MAX : 0;
	uint64_t lasta = 0, lastb = 0;
	uint32_t i = 0, j = 0; /* runs that begin in the words before */
	size_t n = 0;

	for (size_t k = 0; k < words; k++) {
		const uint64_t nexta = a[k] << 1 | lasta, nextb = b[k] << 1 | lastb;
		const uint64_t firsta = a[k] & ~nexta, firstb = b[k] & ~nextb;
		uint64_t meet =
		    (firsta & (b[k] | (nextb & wide))) | (firstb & (a[k] | (nexta & wide)));

		for (; meet; meet &= meet - 1) {
			const uint64_t upto = meet ^ (meet - 1);

			pair[n].i = i + (uint32_t)__builtin_popcountll(firsta & upto) - 1;
			pair[n++].j = j + (uint32_t)__builtin_popcountll(firstb & upto) - 1;
		}
		i += (uint32_t)__builtin_popcountll(firsta);
		j += (uint32_t)__builtin_popcountll(firstb);
		lasta = a[k] >> 63;
		lastb = b[k] >> 63;
	}
	return n;
}

size_t
bitrow_meet(const uint64_t *a, const uint64_t *b, size_t words, bool corner,
	    struct bitrow_pair *pair)
{
	return find_pairs(a, b, words, corner, pair);
}
