/* Formats by their first bytes, and the program that converts or unpacks each: for messages about a file of the wrong format. */
#ifndef WEIR_FOREIGN_H
#define WEIR_FOREIGN_H

#include <stddef.h>

enum { FOREIGN_MAGIC = 8 }; /* this many of the first bytes tell all formats */

/*
 * Returns what the file is whose first n bytes these are, for "this is ...": "TIFF; convert it with tifftoraw". Returns NULL
 * when the format is unknown, or when the calling program itself converts it.
 */
const char *foreign_what(const void *first, size_t n);

#endif
