/* The order of visits: which tile is next, and which units run at the same time. See tile.h. */
#ifndef MORPHREC_TILE_ENGINE_H
#define MORPHREC_TILE_ENGINE_H

#include "morphrec/clip.h"
#include "morphrec/tile/tile.h"

struct engine;

/* NULL: no memory. */
struct engine *engine_new(const struct morphrec_problem *what);
void engine_free(struct engine *e);

/* As morphrec_explain. */
void engine_explain(const struct engine *e, char *text, size_t size);

/* NULL on success: other kernels than the best for this CPU, which engine_new takes. For checks and benches. */
struct engine *
engine_new_on(const struct morphrec_problem *what, const struct tile_kernel *kernels);

/* The best kernels for this CPU. */
const struct tile_kernel *tile_kernels(void);

/* J, clipped, its keys in [clip->lo, clip->hi], becomes the fixpoint. Adds to *figures. */
void engine_run(struct engine *e, const struct morphrec_clip *clip,
		struct morphrec_figures *figures, void *J, const void *I);

/*
 * The same of J that is not clipped: each unit clips its own pixels when it first visits them, and *clip then says what was
 * met. Volumes are clipped as a whole before they are run, in a pass of its own.
 */
void engine_clip_and_run(struct engine *e, struct morphrec_clip *clip,
			 struct morphrec_figures *figures, void *J, const void *I);

#endif
