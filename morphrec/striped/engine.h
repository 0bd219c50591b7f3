/* The order of visits: which tile is next, and which units run at the same time. See striped.h. */
#ifndef MORPHREC_STRIPED_ENGINE_H
#define MORPHREC_STRIPED_ENGINE_H

#include "morphrec/clip.h"
#include "morphrec/striped/striped.h"

struct striped;

/* NULL: no memory. */
struct striped *striped_new(const struct morphrec_problem *what);
void striped_free(struct striped *e);

/* As morphrec_explain. */
void striped_explain(const struct striped *e, char *text, size_t size);

/* NULL on success: other kernels than the best for this CPU, which striped_new takes. For checks and benches. */
struct striped *
striped_new_on(const struct morphrec_problem *what, const struct striped_kernel *kernels);

/* The best kernels for this CPU. */
const struct striped_kernel *striped_kernels(void);

/* J, clipped, its keys in [clip->lo, clip->hi], becomes the fixpoint. Adds to *figures. */
void striped_run(struct striped *e, const struct morphrec_clip *clip,
		 struct morphrec_figures *figures, void *J, const void *I);

#endif
