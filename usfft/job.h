/* What the files of the program share: its options, what one run works on, and what reads, transforms and writes the items. */
#ifndef WEIR_USFFT_JOB_H
#define WEIR_USFFT_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/base/why.h"
#include "common/stream/img.h"
#include "common/stream/raw.h"
#include "common/stream/share.h"
#include "gpu/gpu.h"
#include "usfft/inverse.h"
#include "usfft/usfft.h"

/* --- items/values.c: points, values and modes of items ------------------------------------------------------------ */

/* Points, and values beside them when the item has columns re and im. Both borrow the item, unless owned has the points. */
struct stream_points {
	int dim;
	struct usfft_points pt;
	const void *c;	/* NULL: no values */
	size_t cstride; /* reals from one value to the next */
	bool single;	/* the values are float */
	bool real;	/* they have no imaginary parts */
	double *owned;	/* the points in cycles after --unit; NULL: they are the item's */
};

/* Whether the columns of x name re, but not im. */
bool stream_lacks_im(const struct img *x);

/*
 * Finds the points of x: of its columns, or of the rows of an item `n d` that has no key columns:=. values: three columns without
 * a key are x re im, not x y z. sky: the columns are u v w, all three. Returns 0 or -1.
 */
int
stream_points(const struct img *x, bool values, bool sky, struct stream_points *p, struct why *why);

/* Finds the values alone, by the key columns:= of x. p->c is NULL when it names neither re nor im. Returns 0 or -1. */
int stream_values(const struct img *x, struct stream_points *p, struct why *why);

/* n = the modes per axis that item x holds. Its samples are complex or real. Returns 0, or -1: x does not have dim axes. */
int stream_modes(const struct img *x, int dim, size_t n[3], struct why *why);

/*
 * Returns the samples of an item as complex floats or doubles; real samples get the imaginary part 0. The caller frees.
 * NULL: no memory.
 */
void *stream_complex(const struct img *x, size_t count, bool single);

/* Whether values of that type are single: float and all integers that it holds exactly. */
bool stream_single(enum img_type type);

/* Fill the header of an item of these sizes, or of modes. complex: axis 0 is that of re and im. */
void stream_head(struct img *x, bool single, bool complex, int dim, const size_t *n);
void stream_modes_head(struct img *x, const struct usfft_options *o, bool complex);

/* Returns the first point with a coordinate, times scale, outside [-1/2, 1/2), or m. */
size_t stream_find_outside(const struct usfft_points *pt, int dim, const double scale[3]);

/*
 * Whether most of the points lie outside [-1/2, 1), by some of them, evenly spread. Raises most to the largest magnitude of each
 * axis.
 */
bool stream_mostly_outside(const struct usfft_points *pt, int dim, double most[3]);

/* Complex values as they stand in an item: floats or doubles, with any stride. */
struct values {
	bool single;
	const void *c;	/* value i is the pair at c + i * cstride reals */
	size_t cstride; /* 2 where values are contiguous */
	void *owned;	/* equal to c where c is to be freed; else NULL */
	bool real;	/* there are no imaginary parts */
};

/* Returns the m values as pairs of floats (single) or doubles, times weights (NULL: ones). The caller frees. NULL: no memory. */
void *values_copy(const struct values *v, size_t m, const double *weights, bool single);

/* Returns the first value whose real or imaginary part is not finite, or m. */
size_t values_find_bad(const struct values *v, size_t m);

/* Whether all n reals at z are finite. */
bool values_are_finite(const void *z, size_t n, bool single);

/* --- args.c: the options ------------------------------------------------------------------------------------------- */

struct args {
	struct opt_common common;
	int type, sign, window, output, iter, unit;
	const char *n, *points, *targets, *weights, *weights_to, *coils, *coils_to, *pixel, *centre;
	double tol, rtol, damp, tv;
	bool adjoint, batch, inverse, strict, has_iter, has_rtol;
};

/* The words of --window, --unit and --output. */
enum { WINDOW_KAISER, WINDOW_GAUSS };
enum { UNIT_CYCLES, UNIT_RADIANS, UNIT_INDEX };
enum { OUTPUT_COMPLEX, OUTPUT_REAL, OUTPUT_IMAG, OUTPUT_ABS };

/* What one run of the program works on. */
struct job {
	struct args a;
	int type, sign; /* after --adjoint */
	struct usfft_options o;
	double pixel[2];	      /* of --pixel, as direction cosines */
	double degrees[2], centre[2]; /* of --pixel and --centre, as given */
	bool pipe;		      /* --weights=pipe */
	const char *weights_file;     /* of --weights; NULL: none */
	bool find_coils;	      /* --coils=auto */
	struct gpu *gpu;	      /* NULL: the CPU */

	struct raw_in *in;
	struct raw_out *out, *weights_out, *coils_out; /* the last two: NULL: none */
	struct slices share; /* the items that --part leaves; without it, all */
	struct stats st;
	struct usfft_seconds took;

	struct img points, targets;	    /* points: the item of --points or --batch */
	struct stream_points at, to, given; /* given: at before --unit */
	bool fixed;	 /* the points are those of --points or --batch, for all items */
	double *weights; /* owned: of the item, of fixed points, or from a file; NULL: none */
	size_t nweights; /* numbers in the file; 0: there is none */
	bool weighed;	 /* an item has got its weights */
	double *maps;	 /* owned: of --coils, complex, or of the item; NULL: none */
	size_t coils;	 /* maps */

	struct usfft_plan *plan; /* owned: of the last item; NULL: none */
	struct usfft_options planned;
	struct usfft_sky *sky; /* owned: of --pixel; NULL: none */
	size_t sky_n[2];       /* the image that it is for */
	/* Owned: items that wait for one call of usfft_many(); NULL: none yet. */
	struct group *group;
	/* What messages call the item whose results are written; NULL: the last one read. */
	const char *where;
	size_t piece; /* points of the item that are read at a time; 0: all data is in memory */
	bool outside; /* there was the warning of points that are far out */
};

/* Sets j to what the options ask for, checked. *path points to the *npath files among the arguments. */
void usfft_args(struct job *j, int argc, char **argv, char ***path, size_t *npath);

/*
 * --- items/items.c: items are read, transformed and written -------------------------------------------------------
 *
 * A failure ends the program with a line that names the file and the item.
 */

/*
 * Finds the points of item x, which p borrows; name is that of its file. values: as in stream_points(). Where modes are the input,
 * --unit waits for their number.
 */
void item_take_points(struct job *j, const char *name, const struct img *x, bool values,
		      struct stream_points *p);

/* The same for the first item of a file. path NULL: there is none. */
void item_load_points(struct job *j, const char *path, struct img *x, struct stream_points *p);

/* Reads the file of --weights, and opens the file of --weights-to, where they are given. */
void item_load_weights(struct job *j);

/* Maps or loads the samples of an item. Points that can be sorted as they arrive stay in the pipe; see piece. */
void item_read(struct job *j, struct img *x);

/* Each transforms item x and writes an item of results. */
void item_points_to_modes(struct job *j, struct img *x);
void item_modes_to_points(struct job *j, struct img *x);
void item_points_to_points(struct job *j, struct img *x);

enum { ITEM_PIECE = 1 << 18 }; /* bytes read or written at a time: they fit the cache */

/* Points and values of one item. The points are the item's own, or the fixed ones of --points or --batch. */
struct item_input {
	struct stream_points at;
	struct values v;
};

void item_input_free(struct item_input *q);

/*
 * Returns the item's points and values. With fixed points, there are m of them, and the item must hold sets times m values.
 * Where the item is still to be read, the pointers say where its first piece will lie.
 */
struct item_input item_input(struct job *j, const struct img *x, size_t m, size_t sets);

/* Dies with a message for err, a return value of usfft_plan(), usfft_points() or what is built on them; 0: returns. */
void item_judge(const struct job *j, int err, const size_t *bad);

/* Warns of a tolerance that cannot be reached; with --strict it is an error. */
void item_check_tolerance(const struct job *j, const struct usfft_options *o);

/* Dies when a grid of so many bytes is larger than --max-bytes. SIZE_MAX: there is no such grid. */
void item_check_memory(const struct job *j, size_t bytes, const char *what);

/*
 * Writes n reals of the results. It dies when one is not finite: then sums have overflowed, since the input is finite. This
 * is a pass of its own, because it takes .2 ms for the 16 MiB of 1024^2 modes, of 75, and serves results of every kind.
 */
void item_write_reals(struct job *j, const void *z, size_t n, bool single);

/* Adds the keys of `from`, the line of history and those of a share to the header y of results; the second one writes it, too. */
void item_make_head(struct job *j, struct img *y, const struct img *from);
void item_write_head(struct job *j, struct img *y, const struct img *from);

/* Writes m results at points as one item. */
void item_write_values(struct job *j, const struct img *x, void *z, size_t m, bool single);

/*
 * Returns the weights of the first m points that --weights asks for, or NULL; they are valid until the next item. It also
 * writes them to the file of --weights-to.
 */
const double *
item_weigh(struct job *j, const struct usfft_points *pt, size_t m, const struct usfft_options *o);

/* Takes the item from reading to computing: see common/stream/pipeline.h. */
void item_compute(const struct job *j);

/* Writes modes, some rows at a time. NULL: those of the plan on the CPU, which come straight from the grid. */
void
item_write_modes(struct job *j, const struct img *x, const struct usfft_options *o, char *modes);

/* Transforms the waiting items and writes their results. */
void group_flush(struct job *j);

/* The same when the next item has not arrived yet, so that nobody waits for results while this program waits for input. */
void group_flush_when_idle(struct job *j);

void group_free(struct job *j);

/* --- items/inverse.c ----------------------------------------------------------------------------------------------- */

/* Reads the file of --coils, where it is given. */
void item_load_coils(struct job *j);

/* --inverse: transforms item x and writes an item of results. */
void item_invert(struct job *j, struct img *x);

/* --- sky/items.c: the same with --pixel ---------------------------------------------------------------------------- */

void sky_from_points(struct job *j, struct img *x);
void sky_to_points(struct job *j, struct img *x);

/* Returns the weights of visibilities, as item_weigh() does, which sees each with its conjugate at -u, -v. */
const double *sky_weigh(struct job *j, const struct usfft_points *pt, const size_t n[3]);

/* usfft_sky_inverse() for these visibilities. */
int sky_invert(struct job *j, const struct usfft_points *pt, const double *w, const double *b,
	       const struct usfft_inverse *v, double *image, struct usfft_outcome *got);

/* Writes an image of the sky as an item of float (single) or double, with degrees on its axes. x: as in item_write_head(). */
void
sky_write(struct job *j, const struct img *x, const size_t n[3], const double *image, bool single);

void usfft_sky_free(struct usfft_sky *p);

#endif
