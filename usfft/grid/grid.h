/*
 * The oversampled grid and its FFTs; grid.c says how they work. The grid is stored [z][y][x]. Its rows are padded, so that
 * the cells of a column fall into different sets of the cache (1280^2: 30 -> 13 ms for the FFTs). A long 1-D grid is cut
 * into rows, and its FFT has two passes.
 */
#ifndef WEIR_USFFT_GRID_GRID_H
#define WEIR_USFFT_GRID_GRID_H

#include "usfft/loops/loops.h"
#include "usfft/usfft.h"

enum { ROOT_FINE = 1024 }; /* see root[] below */

/* FFTs by FFTW along one axis of the grid, in place and with the sign -1. */

struct fftw_axis {
	void *plan; /* owned; NULL: none */
	size_t n;
	bool single;
	/* The plan is of one line of consecutive samples: it serves any such plan of n samples. */
	bool plain;
};

/* A row in the caller's order is two runs of modes: the negative modes, and the others. */
struct run {
	size_t at;   /* index of the first mode in the caller's row */
	size_t cell; /* its cell in the grid's row */
	size_t mode; /* |k| of the first mode */
	int step;    /* of |k| from mode to mode: -1 for negative modes */
	size_t n;    /* modes */
};

struct grid;

/* The loops over the modes of one run in a row of the transformed grid: modes_simd.c. They divide the window out. */
struct modes_ops {
	/* From the grid (get) to modes, or back. factor: of the window along y and z. sign -1: modes are conjugated. */
	void (*move)(const struct grid *g, size_t row, const struct run *run, double factor,
		     int sign, bool get, void *modes);
	/* Multiplies a row of a cut 1-D grid by the twiddle factors between its two passes. */
	void (*twiddle)(const struct grid *g, size_t row);
	/* The same as move() for the first `count` layers. Mode i of layer l is modes[l][at + i]. */
	void (*move_layers)(const struct grid *g, size_t row, const struct run *run, double factor,
			    int sign, bool get, size_t at, size_t count, void *const *modes);
};

struct grid {
	int dim, threads;	     /* threads: for the next call */
	size_t real;		     /* bytes of a real */
	const struct batch_ops *ops; /* the loops of batches */
	const struct modes_ops *modes_ops;

	/* The modes, which fill a part of the transformed grid, and how the caller orders them. 1 beyond dim. */
	size_t modes[3];
	bool fft_order;
	void *undo[3]; /* owned: reals; per axis, 1 / window_hat() at modes 0..modes/2 */

	/*
	 * A cell holds this many complex samples, each of a transform of its own: 1, or grid_most_layers(). With several
	 * layers, `copies` grids follow one another, and `margin` cells follow the cells of each axis.
	 */
	size_t layers, copies, margin;

	size_t n[3];   /* cells per axis, multiples of the tile's span; 1 beyond dim */
	size_t rowlen; /* cells in a row: n[0], or a divisor of it in 1-D */
	size_t ld;     /* stride of rows, cells */
	size_t plane;  /* rows from one z to the next */
	size_t rows;   /* all of them */
	size_t cells;  /* of one copy */
	/* Cells of data: copies * cells, or more where the caller of grid_make() asks for more. */
	size_t room;
	void *data; /* owned */
	/* loops.h runs the FFTs; else FFTW does: for uncut 1-D grids and for very long axes. */
	bool batched;

	/*
	 * The plans of [0] rows, [1] columns along y, or down the rows of a cut 1-D grid, [2] columns along z. Owned;
	 * batches of one length share their roots.
	 */
	struct batch batch[3];
	struct fftw_axis fftw[3];
	char *work; /* owned: work_bytes for each thread */
	size_t work_bytes;

	/* Owned, for a cut 1-D grid: exp(-2 pi i q / n), [0] q = 0..ROOT_FINE-1, [1] q = 0, ROOT_FINE, 2 ROOT_FINE ... */
	double *root[2];
};

/* The layers that make a cell a line of the cache. Two such cells side by side are a batch (loops.h). */
static inline size_t
grid_most_layers(size_t real)
{
	return batch_width(real) / 2;
}

static inline size_t
grid_cell_bytes(const struct grid *g)
{
	return g->layers * 2 * g->real;
}

/* The index in data of cell x of a row, in cells. */
static inline size_t
grid_cell(const struct grid *g, size_t row, size_t x)
{
	return (row * (g->n[0] / g->rowlen) + x / g->rowlen) * g->ld + x % g->rowlen;
}

/*
 * Allocates the grid of g->n cells, g->layers, g->copies and g->margin for the modes of o, and plans its FFTs by g->ops.
 * Returns 0 or -errno.
 */
int grid_make(struct grid *g, const struct usfft_options *o);

/* Frees what g owns. It accepts a zeroed struct. */
void grid_free(struct grid *g);

/* Zeroes the cells that modes_move() to the grid does not write. */
void grid_clear(struct grid *g);

/* Transforms all rows, and then only the columns that hold modes; or takes the same steps in reverse. */
void grid_transform(const struct grid *g, bool to_modes);

/*
 * Copies modes from..to-1 of a row between the transformed grid (get) and the caller's array, or back, in the caller's order, and
 * divides the window out. sign -1: also conjugates them, since the FFTs of the grid have the sign -1. Only get writes to modes.
 */
void modes_move(const struct grid *g, int sign, size_t row, size_t from, size_t to, bool get,
		void *modes);

/* The same for one row of the first `count` layers. modes: for each layer the caller's whole array. */
void modes_move_layers(const struct grid *g, int sign, size_t row, bool get, size_t count,
		       void *const *modes);

#endif
