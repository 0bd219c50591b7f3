#include <string.h>

#include "common/base/cpu.h"
#include "common/picture/bitrow.h"

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

/*
 * Writes a pair for each bit of `meet`: the last runs that begin at it or before it in a word, numbered from i and j. Returns
 * how many.
 */
static inline size_t
put_pairs(uint64_t meet, uint64_t firsta, uint64_t firstb, uint32_t i, uint32_t j,
	  struct bitrow_pair *pair)
{
	size_t n = 0;

	for (; meet; meet &= meet - 1) {
		const uint64_t upto = meet ^ (meet - 1);

		pair[n].i = i + (uint32_t)__builtin_popcountll(firsta & upto) - 1;
		pair[n++].j = j + (uint32_t)__builtin_popcountll(firstb & upto) - 1;
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
		const uint64_t meet =
		    (firsta & (b[k] | (nextb & wide))) | (firstb & (a[k] | (nexta & wide)));

		n += put_pairs(meet, firsta, firstb, i, j, pair + n);
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

/* The first bit of `of` at or behind each bit of `begin` and before the next one. Carries pass through zeros of `of`. */
static inline uint64_t
find_first(uint64_t of, uint64_t begin, bool *carry)
{
	uint64_t sum;
	bool over = __builtin_add_overflow(~of, begin & ~of, &sum);

	over |= __builtin_add_overflow(sum, (uint64_t)*carry, &sum);
	*carry = over;
	return (sum | begin) & of;
}

WEIR_CLONES_OF(size_t, meet_bands,
	       (struct bitrow_rows a, struct bitrow_rows b, size_t words, struct bitrow_pair *pair),
	       (a, b, words, pair))
{
	uint64_t lasta = 0, lastb = 0, lastlow = 0, lasttop = 0;
	uint32_t i = 0, j = 0; /* runs that begin in the words before */
	bool carry = false;
	size_t n = 0;

	for (size_t k = 0; k < words; k++) {
		const uint64_t low = a.low[k], top = b.top[k], anya = a.top[k] | low,
			       anyb = top | b.low[k];
		const uint64_t firsta = anya & ~(anya << 1 | lasta),
			       firstb = anyb & ~(anyb << 1 | lastb);
		const uint64_t touch =
		    (low & (top | top << 1 | lasttop)) | ((low << 1 | lastlow) & top);

		/* In smooth pictures, no run begins in most words. */
		if (firsta | firstb || carry) {
			const uint64_t meet = find_first(touch, firsta | firstb, &carry);

			n += put_pairs(meet, firsta, firstb, i, j, pair + n);
			i += (uint32_t)__builtin_popcountll(firsta);
			j += (uint32_t)__builtin_popcountll(firstb);
		}
		lasta = anya >> 63;
		lastb = anyb >> 63;
		lastlow = low >> 63;
		lasttop = top >> 63;
	}
	return n;
}

size_t
bitrow_meet_bands(struct bitrow_rows a, struct bitrow_rows b, size_t words,
		  struct bitrow_pair *pair)
{
	return meet_bands(a, b, words, pair);
}

WEIR_CLONES_OF(struct bitrow_band, find_lower,
	       (struct bitrow_rows band, size_t words, uint32_t *lower), (band, words, lower))
{
	struct bitrow_band b = {0};
	uint64_t last = 0, lasttop = 0, lastlow = 0;
	bool carry = false;

	for (size_t k = 0; k < words; k++) {
		const uint64_t top = band.top[k], low = band.low[k], any = top | low,
			       next = any << 1 | last, end = next & ~any,
			       edges = (top ^ (top << 1 | lasttop)) | (low ^ (low << 1 | lastlow));

		/* In smooth pictures, no run begins or ends in most words. */
		if (edges) {
			uint64_t found = find_first(~any | top, any & ~next, &carry) & end;

			for (; found; found &= found - 1)
				lower[b.lower++] =
				    (uint32_t)b.runs +
				    (uint32_t)__builtin_popcountll(end & (found ^ (found - 1))) - 1;
			b.runs += (size_t)__builtin_popcountll(end);
			b.row_runs += (size_t)__builtin_popcountll(top & ~(top << 1 | lasttop)) +
				      (size_t)__builtin_popcountll(low & ~(low << 1 | lastlow));
			last = any >> 63;
			lasttop = top >> 63;
			lastlow = low >> 63;
		}
	}
	return b;
}

struct bitrow_band
bitrow_lower(struct bitrow_rows band, size_t words, uint32_t *lower)
{
	return find_lower(band, words, lower);
}

void
bitrow_pick(struct bitrow_rows band, size_t words, const uint32_t *label, uint32_t *of_low)
{
	uint64_t last = 0, lastany = 0;

	for (size_t k = 0; k < words; k++) {
		const uint64_t low = band.low[k], any = band.top[k] | low,
			       firstany = any & ~(any << 1 | lastany);
		uint64_t first = low & ~(low << 1 | last);

		for (; first; first &= first - 1) {
			const uint64_t upto = first ^ (first - 1);

			*of_low++ = label[__builtin_popcountll(firstany & upto) - 1];
		}
		label += __builtin_popcountll(firstany);
		last = low >> 63;
		lastany = any >> 63;
	}
}
