/* Reads and checks an item for item_io.c, plans, and sorts points. All functions die when the item is wrong. */
#ifndef WEIR_USFFT_ITEM_IN_H
#define WEIR_USFFT_ITEM_IN_H

#include "usfft/items/item_io.h"
#include "usfft/items/values.h"

enum { ITEM_PIECE = 1 << 18 }; /* bytes read or written at a time: they fit the cache */

/* Points and values of one item. The points are the item's own, or the fixed ones of --points or --batch. */
struct item_input {
	struct stream_points at;
	struct values v;
};

/* Dies with a message for err, a return value of usfft_plan(), usfft_points() or what is built on them; 0: returns. */
void item_judge(const struct job *j, int err, const size_t *bad);

/* Warns of a tolerance that cannot be reached; with --strict it is an error. */
void item_check_tolerance(const struct job *j, const struct usfft_options *o);

/* The same for a tolerance that an option with that value does not allow. reach: the least tolerance that it allows. */
void item_check_reach(const struct job *j, const char *option, double value, double reach);

/* Dies when a grid of so many bytes is larger than --max-bytes. SIZE_MAX: there is no such grid. */
void item_check_memory(const struct job *j, size_t bytes);

/* Makes j->run a plan for o, and sorts fixed points into it. It keeps the last plan if that fits. */
void item_plan(struct job *j, const struct usfft_options *o);

/*
 * Returns the item's points and values. With fixed points, there are m of them, and the item must hold sets times m values.
 * Where the item is still to be read, the pointers say where its first piece will lie.
 */
struct item_input item_input(const struct job *j, const struct img *x, size_t m, size_t sets);

/*
 * Tells the GPU that the item's transform will read these bytes; there may be no GPU, or no bytes. item_compute() then takes
 * the item from reading to computing: see common/stream/relay.h.
 */
void item_tell_gpu(const struct job *j, const void *host, size_t bytes);
void item_compute(const struct job *j);

/* Takes the item from computing to writing. results: where the GPU's come to. */
void item_results(const struct job *j, const void *results);

/* Sorts an item's points into the plan, unless they are fixed. It frees the item's samples. */
void item_sort(struct job *j, struct img *x, const struct item_input *q);

/*
 * Writes n reals of the results. It dies when one is not finite: then sums have overflowed, since the input is finite. This
 * is a pass of its own, because it takes .2 ms for the 16 MiB of 1024^2 modes, of 75, and serves results of every kind.
 */
void item_write_reals(struct job *j, const void *z, size_t n, bool single);

/* Writes one row of n complex results, or what --output asks of them. */
void item_write_row(struct job *j, void *row, size_t n, bool single);

/* Adds the keys of `from` to the header y of an item of results that was computed from it, and writes the header. */
void item_write_head(struct job *j, struct img *y, const struct img *from);

/* Returns the plan of --pixel for the points and an image of sizes n; it keeps that of fixed points for the next item. */
struct usfft_sky *item_sky_plan(struct job *j, const struct usfft_points *pt, const size_t n[3]);

/* Returns the weights of visibilities, as item_weigh() does, which sees each with its conjugate at -u, -v. */
const double *item_sky_weigh(struct job *j, const struct usfft_points *pt, const size_t n[3]);

/* Writes an image of the sky as an item of float (single) or double, with degrees on its axes. x: as in item_write_head(). */
void item_sky_write(struct job *j, const struct img *x, const size_t n[3], const double *image,
		    bool single);

/* Writes m results at points as one item. */
void item_write_values(struct job *j, const struct img *x, void *z, size_t m, bool single);

/* Whether --weights asks for weights. */
bool item_weighs(const struct job *j);

/* Whether --weights names a file. */
bool item_weighs_by_file(const struct job *j);

/* Reads the file of --weights, and opens the file of --weights-to, where they are given. */
void item_load_weights(struct job *j);

/*
 * Returns the weights of the first m points that --weights asks for, or NULL; they are valid until the next item. It also
 * writes them to the file of --weights-to.
 */
const double *
item_weigh(struct job *j, const struct usfft_points *pt, size_t m, const struct usfft_options *o);

/* Reads --start and --coils. */
void item_load_inverse(struct job *j);

#endif
