/* The order of visits: which tile is next, and which bands or slices run at the same time. See tile.h. */
#ifndef MORPHREC_ENGINE_H
#define MORPHREC_ENGINE_H

#include "morphrec/morphrec.h"
#include "morphrec/tile.h"

struct engine;

/* NULL: no memory. */
struct engine *engine_new(const struct morphrec_problem *what);
void engine_free(struct engine *e);

/* As morphrec_explain. */
void engine_explain(const struct engine *e, char *text, size_t size);

/* Other kernels than the best for this CPU, which engine_new takes; rows as in tile.h. For checks and benches. */
void engine_use(struct engine *e, const struct tile_kernel *rows);

/* J, clipped as p->clip says, becomes the fixpoint. Adds to p->figures. */
void engine_run(struct engine *e, struct morphrec_plan *p, void *J, const void *I);

/*
 * The same of J that is not clipped: each unit clips its own as it first comes by, and p->clip then says what was met.
 * False, and nothing is done, of volumes, which pour from slices that have not begun, and of what looks two-valued, which
 * must be known before.
 */
bool engine_clip_and_run(struct engine *e, struct morphrec_plan *p, void *J, const void *I);

#endif
