/*
 * A row of samples as bits: sample i is bit i % 64 of word i / 64. A row of w samples has w / 64 + 1 words; the bits behind
 * the last sample are 0. A run is a longest sequence of ones. Runs are numbered from 0, from left to right. Pure.
 */
#ifndef WEIR_PICTURE_BITROW_H
#define WEIR_PICTURE_BITROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the bits of w samples, each 0 or 1. */
void bitrow_pack(const uint8_t *chosen, size_t w, uint64_t *bits);

/* Writes where runs begin and where they have ended, in ascending order. Returns how many places these are, an even number. */
size_t bitrow_edges(const uint64_t *bits, size_t words, uint32_t *edge);

/* Run i of a row touches run j of another. */
struct bitrow_pair {
	uint32_t i, j;
};

/*
 * Finds the runs of rows a and b that have a column in common or, with corner, columns beside each other. The later of two
 * such runs begins where the other is. Returns the number of pairs, at most that of the runs of both rows.
 */
size_t bitrow_meet(const uint64_t *a, const uint64_t *b, size_t words, bool corner,
		   struct bitrow_pair *pair);

/* A band is two neighbouring rows. Its runs are those of their union. A single row is a band, too: both are that row. */
struct bitrow_rows {
	const uint64_t *top, *low;
};

/*
 * Finds the runs of band a that touch runs of the band b below it, by sides or corners. Returns the number of pairs, at most
 * that of the runs of both bands. A pair is found once, and pairs come in ascending order.
 */
size_t bitrow_meet_bands(struct bitrow_rows a, struct bitrow_rows b, size_t words,
			 struct bitrow_pair *pair);

/* How many runs a band has, how many of these have no sample in the upper row, and how many runs its rows have. */
struct bitrow_band {
	size_t runs, lower, row_runs;
};

/* Counts them, and writes the numbers of those runs of a band that have no sample in its upper row, in ascending order. */
struct bitrow_band bitrow_lower(struct bitrow_rows band, size_t words, uint32_t *lower);

/* Writes the label of the band's run for each run of its lower row. */
void bitrow_pick(struct bitrow_rows band, size_t words, const uint32_t *label, uint32_t *of_low);

#endif
