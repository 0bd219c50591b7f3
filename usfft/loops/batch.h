/*
 * FFTs of many columns or rows of a grid. One batch is as many of them as fill BATCH_BYTES. Each lane of a register holds
 * a transform of its own, so nothing moves between lanes. FFTW's unmeasured plans take 1.5 to 2 times as long for the rows
 * of 1536^2 cells and 2 to 2.4 times for the columns; measured plans, found in a second, take 1.2 to 1.5 times as long.
 *
 * The transforms are in place, with sign -1: X_k = sum_j x_j exp(-2 pi i j k / n). A batch is read into work memory that
 * stays in the cache, goes through the passes of Stockham's algorithm there, and is written back. For columns, the first
 * pass reads from the grid and the last one writes to it.
 */
#ifndef WEIR_USFFT_BATCH_H
#define WEIR_USFFT_BATCH_H

#include <stdbool.h>
#include <stddef.h>

enum { BATCH_BYTES = 128, BATCH_STAGES = 32 };

/* The number of transforms in a batch: columns side by side, or rows one below the other. */
static inline size_t
batch_width(size_t real)
{
	return BATCH_BYTES / (2 * real);
}

struct batch {
	size_t n;
	int stages, radix[BATCH_STAGES]; /* their product is n; at least two */
	void *root; /* owned: complex, per stage of radix r and m blocks: [m][r - 1] */
};

/* Elements from..to-1. A gap of the input counts as zeros and is not read; a gap of the output is not written. */
struct batch_gap {
	size_t from, to;
};

/*
 * Transforms one batch. data: its first sample; ld: samples from row to row; half: samples from the first column to the
 * middle one, which is batch_width() / 2 where all columns lie side by side; work: batch_work(n) bytes, aligned to 64. n is
 * a multiple of batch_width() for rows; so are the ends of their gaps.
 */
typedef void batch_columns_fn(const struct batch *f, void *data, size_t ld, size_t half,
			      struct batch_gap in, struct batch_gap out, void *work);
typedef void batch_rows_fn(const struct batch *f, void *data, size_t ld, struct batch_gap in,
			   struct batch_gap out, void *work);

struct batch_ops {
	batch_columns_fn *columns;
	batch_rows_fn *rows;
};

/* Whether the only prime factors of n are 2, 3, 5 and 7, and n splits into at least two radices. */
bool batch_suits(size_t n);

/* Computes radices and roots for transforms of n. Returns 0 or -ENOMEM. */
int batch_make(struct batch *f, size_t n, bool single);
void batch_free(struct batch *f);

static inline size_t
batch_work(size_t n)
{
	return 2 * n * BATCH_BYTES;
}

#endif
