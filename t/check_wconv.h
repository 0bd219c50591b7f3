/* Problems for the checks of wconv, on the CPU and on the GPU. */
#ifndef WEIR_CHECK_WCONV_H
#define WEIR_CHECK_WCONV_H

#include "common/base/real.h"
#include "t/check.h"
#include "wconv/plan.h"
#include "wconv/restore/restore.h"

enum { CONV_NODES = 16, CONV_SHAPES = 16, CONV_EDGES = 6, CONV_SERIES = 7 };

/* A problem with what it borrows; its arrays are check_free()'s. Not to be moved once posed: q points into it. */
struct conv_job {
	struct wconv_problem q;
	double node[2][CONV_NODES];
	void *kernels, *image;
	size_t nout;  /* results, from conv_run on */
	double *want; /* by the definition */
	void *got;
	double bound; /* of conv_error() */
	bool product; /* the plan must take the kernel for a product; from conv_run on: it did */
};

/* w x h pixels, kernels of kw x kh in a grid of gx x gy, nodes at the cells' centres. One plane, float, two threads. */
void conv_pose(struct conv_job *j, size_t w, size_t h, size_t kw, size_t kh, size_t gx, size_t gy);

/* The same with awkward sizes: number s of CONV_SHAPES. */
void conv_pose_shape(struct conv_job *j, size_t s);

/* Positive kernels, and an image of numbers in 0..1 or of any integers. */
void conv_fill(struct conv_job *j, struct check_rng *rng);

/* Makes each kernel the product of its first row and its first column, 1 more each. */
void conv_multiply(struct conv_job *j);

/* One step of the plan; not 0: it failed. */
typedef int conv_step(struct wconv_plan *p, const void *in, void *out);

/* Runs the plan over the whole image, by `step` (NULL: wconv_run). false: it cannot be planned, or it failed. */
bool conv_run(struct conv_job *j, conv_step *step);

void conv_define(struct conv_job *j);

/* Result i. */
double conv_got(const struct conv_job *j, size_t i);

/*
 * max |got - want| / max |want|; of integers max |got - want|, want clipped to 0..top. NaN must stand at the same places,
 * else INFINITY.
 */
double conv_error(const struct conv_job *j);

/* max |got - want| / max |want| of n floats, or doubles; NaN when any difference is. */
double conv_relative(const void *got, const double *want, size_t n, bool single);

/* The job by its method, or by both where that is WCONV_AUTO, at every level, within its bound of the definition. */
void conv_hold(struct check_many *m, struct conv_job *j);

/* Problems 0 .. n - 1, posed and filled, for the CPU and for the GPU. */
extern const struct conv_series {
	const char *name;
	void (*pose)(struct conv_job *j, struct check_rng *rng, size_t i);
	size_t n, seed;
	bool product; /* kernels are products, whose sums are direct */
} conv_series[CONV_SERIES];

/* The test of a series: each problem goes to hold(). */
void
conv_check(const struct conv_series *s, void (*hold)(struct check_many *m, struct conv_job *j));

/* Runs the adjoint of a plan over a whole item; not 0: it failed. */
typedef int conv_scatter(struct wconv_plan *p, const void *in, void *out);

/* The checks of the adjoint, by that function. on_device: at one level, with many tiles at once. where: before the tests' names. */
void conv_check_adjoint(const char *where, conv_scatter *scatter, bool on_device);

/* wconv_restore_run(), or its twin; `with` is the twin's device. */
typedef int dense_run(struct wconv_restore *r, const void *y, void *x, struct wconv_restored *done,
		      struct why *why);

/*
 * Deconvolves small pictures by the method that how.least_squares and how.accelerate name, at all edges, with unknown samples, with
 * both directions, precisions and methods of convolution, and holds that to a dense matrix made of the definition.
 * how.on_device: plans for `run`, which has its own memory.
 */
void dense_hold(struct check_many *m, struct wconv_restore_options how, dense_run *run);

void check_wconv_adjoint(void);
void check_wconv_restore(void);
void check_wconv_volume(void);

#endif
