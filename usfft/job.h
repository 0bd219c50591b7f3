/* What the files of the program share: its options, what one run works on, and what reads, transforms and writes the items. */
#ifndef WEIR_USFFT_JOB_H
#define WEIR_USFFT_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/stream/img.h"
#include "common/stream/raw.h"
#include "common/stream/share.h"
#include "gpu/gpu.h"
#include "usfft/inverse.h"
#include "usfft/sky/sky.h"
#include "usfft/usfft.h"

/*
 * Finds points, values and modes in items: by the names of columns, by axes and by types. It also makes the headers of
 * results. Its only arithmetic is conversion. Failures are sentences.
 */

/* Points, and values beside them when the item has columns re and im. Both borrow the item. */
struct stream_points {
	int dim;
	struct usfft_points pt;
	const void *c;	/* NULL: no values */
	size_t cstride; /* reals from one value to the next */
	bool single;	/* the values are float */
};

enum { STREAM_ERR = 160 };

/*
 * Finds the points of x. values: three columns without a key are x re im, not x y z. sky: the columns are u v w, all three.
 * False: err says why.
 */
bool stream_points(const struct img *x, bool values, bool sky, struct stream_points *p,
		   char err[STREAM_ERR]);

/* n = the modes per axis that item x holds. Its samples are complex or real. False: x does not have dim axes; see err. */
bool stream_modes(const struct img *x, int dim, size_t n[3], char err[STREAM_ERR]);

/*
 * Returns the samples of an item as complex floats or doubles; real samples get the imaginary part 0. The caller frees.
 * NULL: no memory.
 */
void *stream_complex(const struct img *x, size_t count, bool single);

/* Whether values of that type are single: float and all integers that it holds exactly. */
bool stream_single(enum img_type type);

/* Fill the header of an item of modes, or of values at m points. complex: axis 0 is that of re and im. */
void stream_modes_head(struct img *x, const struct usfft_options *o, bool complex);
void stream_values_head(struct img *x, size_t m, bool single, bool complex);

/* Replace each complex z[i] by one real, in place: its real (0) or imaginary (1) part, or |z[i]|. */
void stream_take(void *z, size_t count, bool single, int part);
void stream_abs(void *z, size_t count, bool single);

/* Returns the first point with a coordinate, times scale, outside [-1/2, 1/2), or m. */
size_t stream_find_outside(const struct usfft_points *pt, int dim, const double scale[3]);

/* The transforms on the CPU, or on the GPU that -g chose, by its twin. They do no I/O. */

struct transform {
	struct gpu *gpu; /* borrowed; NULL: the CPU */
	struct usfft_options o;
	struct usfft_plan *plan; /* owned */
};

/* The number of modes of o, over all axes. */
size_t transform_modes(const struct usfft_options *o);

/* Whether the plan serves o: the same dimension, precision and modes. */
bool transform_fits(const struct transform *t, const struct usfft_options *o);

/* Replaces the plan by one for o. It returns what usfft_plan() returns. */
int transform_plan(struct transform *t, const struct usfft_options *o);

/*
 * usfft_points() and usfft_type2(). Either may also return -EIO when the GPU fails; gpu_why() says why. On a GPU, the results
 * have come after transform_settle().
 */
int transform_points(struct transform *t, const struct usfft_points *pt, const void *c,
		     size_t cstride, size_t *bad);
int transform_type2(struct transform *t, int sign, const void *modes, void *c);

/* usfft_together(), which is 1 on a GPU; and usfft_type1_many() or usfft_type2_many(). */
size_t transform_together(const struct transform *t);
void transform_many(struct transform *t, int type, int sign, size_t count, const void *const *in,
		    void *const *out);

/*
 * usfft_gather(), which may return -ENOMEM or -EIO on a GPU. *modes: on a GPU all modes, which the caller frees and which have
 * come after transform_settle(); on the CPU NULL, and they stay in the plan's grid.
 */
int transform_gather(struct transform *t, int sign, const void *c, char **modes);

/* usfft_get_row() for rows row..row+count-1, on the CPU. */
void transform_get_rows(const struct transform *t, int sign, size_t row, size_t count, char *modes);

/* Waits for the results at that place. Returns 0 or -EIO. */
int transform_settle(const struct transform *t, const void *results);

/* usfft_type3(), usfft_inverse() and usfft_pipe(). On a GPU they discard the points that transform_points() took. */
int transform_type3(struct transform *t, const struct usfft_options *o,
		    const struct usfft_points *pt, const void *c,
		    const struct usfft_points *targets, int sign, void *out, size_t *bad);
int
transform_inverse(struct transform *t, const struct usfft_options *o, const struct usfft_points *pt,
		  const double *w, const double *b, const struct usfft_inverse *v, double *modes,
		  struct usfft_outcome *got, size_t *bad);
int transform_pipe(struct transform *t, const struct usfft_options *o,
		   const struct usfft_points *pt, int rounds, double *w, size_t *bad);

void transform_free(struct transform *t);

/*
 * The I/O of usfft, one item after the other. It passes what it read to the transforms and writes their results. A failure
 * ends the program with a line that names the file and the item. The computing is done in transform.c, inverse.c and points.c.
 */

struct args {
	struct opt_common common;
	int type, sign, order, window, output, iter;
	const char *n, *points, *targets, *wisdom, *weights, *weights_to, *start, *coils, *pixel;
	double tol, rtol, damp, sigma, wstep;
	bool adjoint, batch, inverse, strict, has_order, has_iter, has_rtol;
};

/* The words of --order, --window and --output. */
enum { ORDER_CENTRED, ORDER_FFT };
enum { WINDOW_KAISER, WINDOW_GAUSS };
enum { OUTPUT_COMPLEX, OUTPUT_REAL, OUTPUT_IMAG, OUTPUT_ABS };

/* What one run of the program works on. */
struct job {
	struct args a;
	int type, sign; /* after --adjoint */
	struct usfft_options o;
	struct transform run;	    /* run.gpu is NULL on the CPU */
	struct img points, targets; /* points: the item of --points or --batch */
	struct stream_points at, to;
	bool fixed;	       /* the points are those of --points or --batch, for all items */
	double pixel[2];       /* of --pixel, as direction cosines */
	struct usfft_sky *sky; /* owned: of --pixel; NULL: none */
	size_t sky_n[2];       /* the image that it is for */
	double *weights;       /* owned: of the item, of fixed points, or from a file; NULL: none */
	size_t nweights;       /* numbers in the file; 0: there is none */
	bool weighed;	       /* an item has got its weights */
	double *maps, *start;  /* owned: of --inverse, complex; NULL: none */
	size_t coils;	       /* maps */
	struct raw_out *weights_out; /* NULL: none */
	struct raw_in *in;
	struct raw_out *out;
	struct slices share; /* the items that --part leaves; without it, all */
	struct stats st;
	struct usfft_seconds took;
	/* What messages call the item whose results are written; NULL: the last one read. */
	const char *where;
	/* Owned: items that wait for one call of transform_many(); NULL: none yet. */
	struct group *group;
	size_t piece; /* points of the item that are read at a time; 0: all data is in memory */
};

/* args.c: sets j to what the options ask for, checked. *path points to the *npath files among the arguments. */
void usfft_args(struct job *j, int argc, char **argv, char ***path, size_t *npath);

/* Finds the points of item x, which p borrows; name is that of its file. values: as in stream_points(). */
void item_take_points(const struct job *j, const char *name, const struct img *x, bool values,
		      struct stream_points *p);

/* Maps or loads the samples of an item. Points that can be sorted as they arrive stay in the pipe; see piece. */
void item_read(struct job *j, struct img *x);

/* Each transforms item x and writes an item of results. */
void item_points_to_modes(struct job *j, struct img *x);
void item_modes_to_points(struct job *j, struct img *x);
void item_points_to_points(struct job *j, struct img *x);
void item_invert(struct job *j, struct img *x);

/* The first two with --pixel: from visibilities to an image of the sky, and back. */
void item_to_sky(struct job *j, struct img *x);
void item_from_sky(struct job *j, struct img *x);

/* Complex values as they stand in an item: floats or doubles, with any stride. There is no I/O here. */

struct values {
	bool single;
	const void *c;	/* value i is the pair at c + i * cstride reals */
	size_t cstride; /* 2 where values are contiguous */
	void *owned;	/* equal to c where c is to be freed; else NULL */
};

/* Returns the m values as pairs of doubles, times weights (NULL: ones). The caller frees. NULL: no memory. */
double *values_as_doubles(const struct values *v, size_t m, const double *weights);

/* Copies the m values into memory that v owns, contiguous, times weights (NULL: ones). Returns 0 or -ENOMEM. */
int values_make_own(struct values *v, size_t m, const double *weights);

/* Returns the first value whose real or imaginary part is not finite, or m. */
size_t values_find_bad(const struct values *v, size_t m);

/* Whether all n reals at z are finite. */
bool values_are_finite(const void *z, size_t n, bool single);

void values_free(struct values *v);

/* Reads and checks an item for items.c, plans, and sorts points. All functions die when the item is wrong. */

enum { ITEM_PIECE = 1 << 18 }; /* bytes read or written at a time: they fit the cache */

/* Points and values of one item. The points are the item's own, or the fixed ones of --points or --batch. */
struct item_input {
	struct stream_points at;
	struct values v;
};

/* Dies with a message for err, a return value of usfft_plan(), usfft_points() or what is built on them; 0: returns. */
void item_judge(const struct job *j, int err, const size_t *bad);

/* Warns of a tolerance that cannot be reached; with --strict it is an error. */
void item_check_tolerance(const struct job *j, const struct usfft_options *o);

/* The same for a tolerance that an option with that value does not allow. reach: the least tolerance that it allows. */
void item_check_reach(const struct job *j, const char *option, double value, double reach);

/* Dies when a grid of so many bytes is larger than --max-bytes. SIZE_MAX: there is no such grid. */
void item_check_memory(const struct job *j, size_t bytes);

/*
 * Returns the item's points and values. With fixed points, there are m of them, and the item must hold sets times m values.
 * Where the item is still to be read, the pointers say where its first piece will lie.
 */
struct item_input item_input(const struct job *j, const struct img *x, size_t m, size_t sets);

/*
 * Tells the GPU that the item's transform will read these bytes; there may be no GPU, or no bytes. item_compute() then takes
 * the item from reading to computing: see common/stream/pipeline.h.
 */
void item_tell_gpu(const struct job *j, const void *host, size_t bytes);
void item_compute(const struct job *j);

/*
 * Writes n reals of the results. It dies when one is not finite: then sums have overflowed, since the input is finite. This
 * is a pass of its own, because it takes .2 ms for the 16 MiB of 1024^2 modes, of 75, and serves results of every kind.
 */
void item_write_reals(struct job *j, const void *z, size_t n, bool single);

/* Writes one row of n complex results, or what --output asks of them. */
void item_write_row(struct job *j, void *row, size_t n, bool single);

/* Adds the keys of `from` to the header y of an item of results that was computed from it, and writes the header. */
void item_write_head(struct job *j, struct img *y, const struct img *from);

/* Writes m results at points as one item. */
void item_write_values(struct job *j, const struct img *x, void *z, size_t m, bool single);

/* Whether --weights asks for weights. */
bool item_weighs(const struct job *j);

/* Whether --weights names a file. */
bool item_weighs_by_file(const struct job *j);

/* Reads the file of --weights, and opens the file of --weights-to, where they are given. */
void item_load_weights(struct job *j);

/*
 * Returns the weights of the first m points that --weights asks for, or NULL; they are valid until the next item. It also
 * writes them to the file of --weights-to.
 */
const double *
item_weigh(struct job *j, const struct usfft_points *pt, size_t m, const struct usfft_options *o);

/* Reads --start and --coils. */
void item_load_inverse(struct job *j);

/*
 * Items on the same points wait here until there are as many as the plan transforms at once, or until the input pauses, ends
 * or fails. Their results are then written in the order of the items.
 */

/* Transforms the waiting items and writes their results. */
void group_flush(struct job *j);

/* The same when the next item has not arrived yet, so that nobody waits for results while this program waits for input. */
void group_flush_when_idle(struct job *j);

void group_free(struct job *j);

#endif
