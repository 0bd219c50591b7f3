/* The order of visits: which tile is next, and which units run at the same time. See tile.h. */
#ifndef MORPHREC_TILE_ENGINE_H
#define MORPHREC_TILE_ENGINE_H

#include "morphrec/clip.h"
#include "morphrec/tile/tile.h"

struct engine;

/* Returns NULL when there is no memory. */
struct engine *engine_new(const struct morphrec_problem *what);
void engine_free(struct engine *e);

/* Writes a line on the plan, for morphrec_explain(). */
void engine_explain(const struct engine *e, char *text, size_t size);

/* The same with given kernels, for checks and benches; engine_new() takes the best ones for this CPU. */
struct engine *
engine_new_on(const struct morphrec_problem *what, const struct tile_kernel *kernels);

/* J, which is clipped and has keys in [clip->lo, clip->hi], becomes the fixpoint. Adds to *figures. */
void engine_run(struct engine *e, const struct morphrec_clip *clip,
		struct morphrec_figures *figures, void *J, const void *I);

/*
 * The same for a J that was at its fixpoint before the n pixels risen[] of it were raised, none above its mask. Only tiles
 * that can rise are visited. clip need not hold the range of the raised keys.
 */
void
engine_resume(struct engine *e, const struct morphrec_clip *clip, struct morphrec_figures *figures,
	      void *J, const void *I, const size_t *risen, size_t n);

/*
 * The same as engine_run() for a J that is not clipped yet. Each unit of an image clips its own pixels before it first
 * visits them. A volume is clipped as a whole, in a pass before the run. *clip receives what was met.
 */
void engine_clip_and_run(struct engine *e, struct morphrec_clip *clip,
			 struct morphrec_figures *figures, void *J, const void *I);

#endif
