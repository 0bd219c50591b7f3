/* Names of files: where they lead, and what belongs to a file beside its bytes. */
#ifndef WEIR_STREAM_PATH_H
#define WEIR_STREAM_PATH_H

#include <stdbool.h>

/*
 * Follows the symbolic links of path. Returns the absolute path at their end, where a file may exist or not; the caller frees
 * it with weir_free(). When they end at a descriptor of this process, it returns NULL and sets *fd to it. On failure it returns
 * NULL with *fd = -1 and errno.
 */
char *path_follow(const char *path, int *fd);

/*
 * Gives the open file fd the extended attributes of path, access control lists among them. Those of the system's security
 * modules stay as the system has set them. False: one could not be given.
 */
bool path_copy_attributes(const char *path, int fd);

#endif
