/* Temporary files without a name, in the directory TMPDIR, or /tmp where that is not set. They vanish with the process. */
#ifndef WEIR_STREAM_SCRATCH_H
#define WEIR_STREAM_SCRATCH_H

#include <stddef.h>

/* Returns the directory, for messages. */
const char *scratch_directory(void);

/* Opens a new file for reading and writing. Returns its descriptor, or -1 and sets errno. */
int scratch_open(void);

/*
 * Maps `bytes` > 0 bytes of a new file, which are zero. Free them with munmap(). On failure it returns NULL and sets errno:
 * ENOSPC when the file system has no room for them.
 */
void *scratch_map(size_t bytes);

#endif
