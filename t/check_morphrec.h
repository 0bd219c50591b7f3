/* What the checks of morphrec share: a problem with its arrays, and the oracle. */
#ifndef CHECK_MORPHREC_H
#define CHECK_MORPHREC_H

#include "common/stream/img.h"
#include "morphrec/morphrec.h"
#include "morphrec/tile/engine.h"
#include "morphrec/value.h"
#include "t/check.h"

static const enum img_type types[] = {IMG_U8, IMG_I16, IMG_F32, IMG_U16,
				      IMG_I8, IMG_F64, IMG_U32, IMG_I32};
static const int conns[] = {4, 8, 6, 18, 26};
enum { TYPES = sizeof types / sizeof *types, DEFINITION = MORPHREC_HEAP + 1 };

/* A problem with its arrays, check_free()'s: marker J, mask I, and room for what is computed. */
struct job {
	struct morphrec_problem what;
	size_t n, bytes;
	void *J, *I, *got, *want;
};

/* threads 0: 1 */
struct job job_of(const struct morphrec_problem *what);
struct job job_new(enum img_type type, size_t w, size_t h, size_t d, int conn, bool erode);

/* NOISE: any values. MAZE: a mask of walls and corridors one pixel wide. SEEDS: few marked pixels under a high mask. */
enum style { NOISE, MAZE, SEEDS, STYLES };
void job_fill(struct job *a, struct check_rng *r, enum style style);

const char *job_name(const struct job *a);

/* got: the reconstruction by the method and threads of a->what; the method may be DEFINITION, too. */
bool job_run(struct job *a);

/* A case of m: got, newly computed, is want; a NaN is any. */
void job_compare(struct job *a, struct check_many *m);

/* What turns got, clipped, into the reconstruction; NULL: the CPU. In check_gpu_morphrec.c it is the GPU. */
extern bool (*job_on)(struct morphrec_plan *p, struct job *a);

/*
 * want: the reconstruction of a, by union-find over the pixels, highest mask first, which shares nothing with the program.
 */
void oracle(struct job *a);

/* Fills a in that style, and holds it to the oracle. */
void job_check(struct job *a, struct check_rng *r, enum style style, struct check_many *m);

/* A side of a picture: often one around those of tiles. Random pictures and volumes, number i. */
size_t job_awkward(struct check_rng *r);
struct job job_image(struct check_rng *r, int i);
struct job job_volume(struct check_rng *r, int i);

/* The test `name`: such problems by that method, on the CPU with 1 and 3 threads, against the oracle. */
void job_agree(const char *name, struct job (*make)(struct check_rng *r, int i), int cases,
	       enum morphrec_method method);

/* A set of check_each(): floats that are easily taken for each other, against the definition. */
void job_floats(struct check_many *m, struct check_rng *r, size_t i);

/* More checks: the tile engine where tiles meet, by the kernels of each level of this CPU; units that run at the same time. */
struct seams {
	struct check_many ways, volumes, risen;
};
void check_morphrec_seams(struct seams *levels);
void check_morphrec_units(void);

/* And what is not a reconstruction: erosion by shapes, area openings. */
void check_morphrec_shapes(void);

#endif
