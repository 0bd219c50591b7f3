/* What the checks of morphrec share: a problem with its arrays, and the oracle. */
#ifndef CHECK_MORPHREC_H
#define CHECK_MORPHREC_H

#include <stdbool.h>

#include "common/stream/img.h"
#include "morphrec/morphrec.h"
#include "morphrec/tile/engine.h"
#include "morphrec/value.h"
#include "t/check.h"

/* A problem with its arrays: marker J, mask I, and room for what is computed. */
struct job {
	struct morphrec_problem what;
	size_t n, bytes;
	void *J, *I, *got, *want;
	const struct tile_kernel *const *kernels; /* NULL: the best of this CPU */
};

struct job job_of(const struct morphrec_problem *what);
struct job job_new(enum img_type type, size_t w, size_t h, size_t d, int conn, bool erode);
void job_free(struct job *a);

/* NOISE: any values. MAZE: a mask of walls and corridors one pixel wide. SEEDS: few marked pixels under a high mask. */
enum style { NOISE, MAZE, SEEDS, STYLES };
void job_fill(struct job *a, struct check_rng *r, enum style style);

const char *job_name(const struct job *a);

/* got: the reconstruction by the method and threads of a->what. */
bool job_run(struct job *a);

/* A case of m: got, newly computed, is want. */
void job_compare(struct job *a, struct check_many *m);

/*
 * want: the reconstruction of a, by union-find over the pixels, highest mask first, which shares nothing with the program.
 */
void oracle(struct job *a);

/* More checks: the tile engine where tiles meet. */
void check_morphrec_seams(void);

/* And what is not a reconstruction: erosion by shapes, area openings. */
void check_morphrec_shapes(void);

#endif
