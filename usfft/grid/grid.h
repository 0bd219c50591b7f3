/*
 * The oversampled grid and its FFTs (grid.c says how they work). It is stored [z][y][x], with rows padded so that columns
 * do not all fall into the same sets of the cache (1280^2: 30 -> 13 ms for the FFTs). In one dimension a long grid is cut
 * into rows, which its FFT takes in two passes.
 */
#ifndef WEIR_USFFT_GRID_H
#define WEIR_USFFT_GRID_H

#include "usfft/loops/batch.h"
#include "usfft/usfft.h"

enum { ROOT_FINE = 1024 };

struct grid {
	size_t n[3];   /* cells per axis, multiples of the tile's span; 1 beyond dim */
	size_t rowlen; /* cells in a row: n[0], or a divisor of it in 1-D */
	size_t ld;     /* stride of rows, complex samples */
	size_t plane;  /* rows from one z to the next */
	size_t rows;   /* all of them */
	void *data;    /* owned: rows * ld samples */
	bool clean;    /* all zero, as the system gave it */
	bool batched;  /* FFTs by batch.h, else by FFTW: measured ones, very long axes */

	/* Rows; columns along y, or down the rows of 1-D; columns along z. */
	struct batch batch[3]; /* owned: of one length they share their roots */
	void *fftw[3];	       /* owned */
	char *work;	       /* owned: work_bytes for each thread */
	size_t work_bytes;

	/* 1-D in rows. Owned: exp(-2 pi i q / n), q = 0..ROOT_FINE-1, and its multiples of ROOT_FINE. */
	double *root[2];
};

/* Where cell x of a row lies in data, in samples. */
static inline size_t
grid_cell(const struct grid *g, size_t row, size_t x)
{
	return (row * (g->n[0] / g->rowlen) + x / g->rowlen) * g->ld + x % g->rowlen;
}

/* Memory and FFT plans for cells g->n. 0 or -errno. */
int grid_make(struct grid *g, const struct usfft_options *o);
void grid_free(struct grid *g, bool single);

struct usfft_plan;

/* Zeroes the cells that modes_put() does not write. */
void grid_clear(struct usfft_plan *p);

/* The FFTs: rows first and then only the columns that hold modes; and the reverse. */
void grid_to_modes(const struct usfft_plan *p);
void modes_to_grid(const struct usfft_plan *p);

#endif
