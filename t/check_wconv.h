/* Problems for the checks of wconv, on the CPU and on the GPU. */
#ifndef WEIR_CHECK_WCONV_H
#define WEIR_CHECK_WCONV_H

#include "t/check.h"
#include "wconv/plan.h"

enum { CONV_NODES = 16 };

/* A problem with what it borrows, all owned. Not to be moved once posed: q points into it. */
struct conv_job {
	struct wconv_problem q;
	double node[2][CONV_NODES];
	void *kernels, *image;
	size_t nout;  /* results, from conv_run on */
	double *want; /* by the definition */
	void *got;
};

/* w x h pixels, kernels of kw x kh in a grid of gx x gy, nodes at the cells' centres. One plane, float, two threads. */
void conv_pose(struct conv_job *j, size_t w, size_t h, size_t kw, size_t kh, size_t gx, size_t gy);

/* Positive kernels, and an image of numbers in 0..1 or of any integers. */
void conv_fill(struct conv_job *j, struct check_rng *rng);

/* Makes each kernel the product of its first row and its first column, 1 more each. */
void conv_multiply(struct conv_job *j);

/* One step of the plan; not 0: it failed. */
typedef int conv_step(void *by, struct wconv_plan *p, const void *in, void *out);

/* Runs the plan over the whole image, by `step` (NULL: wconv_run). false: it cannot be planned, or it failed. */
bool conv_run(struct conv_job *j, conv_step *step, void *by);

void conv_define(struct conv_job *j);
void conv_drop(struct conv_job *j);

/* Result i. */
double conv_got(const struct conv_job *j, size_t i);

/*
 * max |got - want| / max |want|; of integers max |got - want|, want clipped to 0..top. NaN must stand at the same places,
 * else INFINITY.
 */
double conv_error(const struct conv_job *j);

/* The job by its method, or by both where that is WCONV_AUTO, at every level, within bound of the definition. */
void conv_hold(struct check_many *m, struct conv_job *j, double bound, const char *what);

void check_wconv_adjoint(void);
void check_wconv_restore(void);
void check_wconv_volume(void);

#endif
