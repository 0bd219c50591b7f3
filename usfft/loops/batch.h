/*
 * FFTs of many columns or rows of a grid, as many at once as fill a line or two of the cache: each lane of a register
 * holds a transform of its own, so that no step of it moves anything between lanes. FFTW's unmeasured plans take 1.5 to 2
 * times as long for the rows of 1536^2 cells and 2 to 2.4 times for the columns; measured ones, found in a second, 1.2 to
 * 1.5 times.
 *
 * In place, sign -1: X_k = sum_j x_j exp(-2 pi i j k / n). One batch is read into memory that its core keeps, goes through
 * the passes of Stockham's algorithm there, and is written back; the first pass of columns reads them, the last writes.
 */
#ifndef WEIR_USFFT_BATCH_H
#define WEIR_USFFT_BATCH_H

#include <stdbool.h>
#include <stddef.h>

enum { BATCH_BYTES = 128, BATCH_STAGES = 32 };

/* Transforms at once: columns side by side, rows one below the other. */
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

/* Elements from..to-1: zero on the way in whatever the grid holds there, or of no interest on the way out. */
struct batch_gap {
	size_t from, to;
};

/*
 * data: the first sample; ld: samples from row to row; work: batch_work(n) bytes, aligned to 64. n, and of rows the ends of
 * gaps, are multiples of batch_width.
 */
typedef void batch_fn(const struct batch *f, void *data, size_t ld, struct batch_gap in,
		      struct batch_gap out, void *work);

struct batch_ops {
	batch_fn *columns, *rows;
};

/* Whether n has no prime factors but 2, 3, 5 and 7, and two radices at least. */
bool batch_suits(size_t n);

/* 0, or -ENOMEM. */
int batch_make(struct batch *f, size_t n, bool single);
void batch_free(struct batch *f);

static inline size_t
batch_work(size_t n)
{
	return 2 * n * BATCH_BYTES;
}

#endif
