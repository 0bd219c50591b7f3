/*
 * What the key tiff.GDALMetadata:= says of the planes of an item: GDAL's elements <Item name="..." sample="N" role="...">,
 * where N counts planes from 0. The key is dropped when no element remains.
 */
#ifndef WEIR_STREAM_BANDS_H
#define WEIR_STREAM_BANDS_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
