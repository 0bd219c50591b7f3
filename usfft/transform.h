/* The transforms where -g says: on the CPU, or on a GPU by its twin. No I/O. */
#ifndef WEIR_USFFT_TRANSFORM_H
#define WEIR_USFFT_TRANSFORM_H

#include "gpu/gpu.h"
#include "usfft/inverse.h"
#include "usfft/usfft.h"

struct transform {
	struct gpu *gpu; /* borrowed; NULL: the CPU */
	struct usfft_options o;
	struct usfft_plan *plan; /* owned */
	char *modes; /* owned: what type 1 gave on the GPU; the CPU keeps it in its grid */
};

/* The modes of o, all axes together. */
size_t transform_modes(const struct usfft_options *o);

/* Whether the plan is one of o. */
bool transform_fits(const struct transform *t, const struct usfft_options *o);

/* Plans anew; as usfft_plan. */
int transform_plan(struct transform *t, const struct usfft_options *o);

/* As usfft_points and usfft_type2; -EIO besides: gpu_why(). */
int transform_points(struct transform *t, const struct usfft_points *pt, const void *c,
		     size_t cstride, size_t *bad);
int transform_type2(struct transform *t, int sign, const void *modes, void *c);

/* As usfft_gather, and usfft_get_row for rows row..row+count-1. */
int transform_gather(struct transform *t, int sign, const void *c);
void transform_get_rows(const struct transform *t, int sign, size_t row, size_t count, char *modes);

/* As usfft_type3, usfft_inverse and usfft_pipe. On a GPU points that transform_points() took are lost. */
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
