/* Formats by their first bytes, and the program that converts or unpacks each: for messages about a file of the wrong format. */
#ifndef WEIR_STREAM_FOREIGN_H
#define WEIR_STREAM_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * FOREIGN_MAGIC first bytes tell all formats except SU, which has no magic. FOREIGN_MOST bytes also hold the longest trace of
 * SU and the header of the next one.
 */
enum { FOREIGN_MAGIC = 352, FOREIGN_MOST = 240 + 4 * 65535 + 240 };

/*
 * Returns what the file is whose first n bytes these are, for "this is ...": "TIFF; convert it with tifftoraw". Returns NULL
 * when the format is unknown, or when the calling program itself reads it.
 */
const char *foreign_what(const void *first, size_t n);

/* Whether more than these n bytes may tell that the file is SU: a header that states a kind of trace and its samples. */
bool foreign_may_be_su(const void *first, size_t n);

#endif
