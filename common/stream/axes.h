/*
 * What the key tiff.GDALMetadata:= says of the planes of an item: GDAL's elements <Item name="..." sample="N" role="...">,
 * where N counts planes from 0. The key is dropped when no element remains.
 */
#ifndef WEIR_STREAM_AXES_H
#define WEIR_STREAM_AXES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/why.h"
#include "common/stream/img.h"

/*
 * The samples of x mean something else than those of the item whose header it was: labels, distances, an index. Drops scale,
 * offset and unit of its planes. The key nodata:= becomes nan where x has floats, and is dropped elsewhere: a value that
 * marked missing samples is now a number like others. Call it when the type of x is known.
 */
void bands_renew(struct img *x);

/* The samples of x have changed since GDAL counted them. Drops the statistics STATISTICS_*. */
void bands_drop_statistics(struct img *x);

/* x keeps the planes first .. first + count - 1, in descending order when back. What the key says follows them. */
void bands_choose(struct img *x, size_t first, size_t count, bool back);

/* The planes of from become the planes of x from the number first on. What its key says of them is added to that of x. */
void bands_append(struct img *x, const struct img *from, size_t first);

/*
 * An axis is a number, or x, y, z or c (planes), which are numbers from AXIS_NAMED on until axis_of() finds them in an item; c
 * stays one where there are no planes. Pure.
 */
enum { AXIS_NAMED = IMG_MAXDIM };
bool axis_take(const char **text, size_t *axis);
size_t axis_of(const struct img *x, size_t axis);

/* `AXIS:INDEX` names one index along one axis of an item. Pure. */

struct slice {
	size_t axis; /* 0 is the fastest; counted before any cut */
	size_t index;
};

/* Returns 0, or -1 when text is not of the form AXIS:INDEX. */
int slice_parse(const char *text, struct slice *s);

/*
 * Cuts x, its description and its payload, at one index along each of n different axes. The other axes keep their order. When
 * all axes are cut, one sample is left. Returns 0, or -1 with x unchanged.
 */
int slice_apply(struct img *x, const struct slice *s, size_t n, struct why *why);

/*
 * Whether x came from FITS and the positions of the axis count the pixels of that file, and no others: the comment of no card
 * CRVAL or CDELT says that rawtofits stated positions of an item there.
 */
#define AXIS_STATED "of weir-raw(5)"
bool axis_counts_pixels(const struct img *x, int axis);

/* Keys of an item that know its axes, when axes are cut, flipped or change places. Pure. */

/*
 * Updates geotransform:= and geotiff.tiepoints:= of y, whose axes are those of x in another order: axis i was from[i]. Exchanges
 * columns and rows where they were exchanged. Drops the keys where y has no columns and rows of the map.
 */
void axiskeys_follow_map(const struct img *x, struct img *y, const int *from);

/* What is taken of an axis: `count` samples of n from `first` on, in descending order if `back`. */
struct axis_choice {
	size_t n, first, count;
	bool back;
};

/*
 * Updates what the kind of axis 0 and keys say of the planes on it, of which c is taken: RGB-color and RGBA-color are of so many
 * planes in this order.
 */
void axiskeys_choose_planes(struct img *y, const struct axis_choice *c);

/*
 * Updates the lists of traces: offsets:=, offset-x:= and offset-y:= hold a number for each place along axis 1, or for all places
 * of axes 1 and 2, where axis 1 is the faster. c: what is taken of these two, with n, count 1 and first 0 for an axis that is
 * missing. exchanged: axis 1 becomes axis 2, and axis 2 becomes axis 1. A list of another length stays as it is.
 */
void axiskeys_choose_traces(struct img *y, const struct axis_choice c[2], bool exchanged);

/*
 * Updates the lists of traces before axis k and the next one become one, or, with `split`, before axis k becomes two. A list
 * that ends with the first of two axes is repeated along the second. One that would be along three, or of samples, is dropped.
 */
void axiskeys_reshape_traces(struct img *y, int k, bool split);

/* x, a part, becomes the places of y from `first` on along axis 1: so do its lists of traces. A place without a number has nan. */
void axiskeys_lay_traces(struct img *y, const struct img *x, size_t first);

/*
 * Sets the lists of traces of y, a stack of the n items x of two axes. Lists that are equal stay one list. Others, of a number
 * for each trace, become one list for all traces of the stack. Returns false when an item has no such list: y loses it then.
 */
bool axiskeys_stack_traces(struct img *y, const struct img *x, size_t n);

/*
 * Finds the offsets of the traces along axis 1, *n numbers: pairs x, y of the keys offset-x:= and offset-y:= where per is 2. Else
 * those of offsets:=, or the distances of such pairs, or with `axis` the positions along axis 1. Caller frees. NULL: there are none.
 */
double *axiskeys_offsets(const struct img *x, size_t per, bool axis, size_t *n, struct why *why);

/* Reads all numbers of a file, which blanks separate. Dies when it has anything else, or nothing. Caller frees. */
double *axiskeys_read_numbers(const char *path, size_t *n);

/* Sets a key to n numbers, every `step`-th from v on, of as many digits as tell them. */
void axiskeys_set_numbers(struct img *x, const char *key, const double *v, size_t n, size_t step);

/* Finds the time between the samples of traces and the time of the first, 0 where axis 0 has none. Returns 0, or -1. */
int axiskeys_times(const struct img *x, double *dt, double *t0, struct why *why);

/* Returns the count of the words of a text, which blanks separate. */
size_t axiskeys_count(const char *text);

#endif
