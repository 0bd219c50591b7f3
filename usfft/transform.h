/* The transforms on the CPU, or on the GPU that -g chose, by its twin. They do no I/O. */
#ifndef WEIR_USFFT_TRANSFORM_H
#define WEIR_USFFT_TRANSFORM_H

#include "gpu/gpu.h"
#include "usfft/inverse.h"
#include "usfft/usfft.h"

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

#endif
