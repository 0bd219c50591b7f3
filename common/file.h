/*
 * Files by the names of the command line. An output appears under its name, whole, when all is done: until then its bytes
 * are in a file without a name (O_TMPFILE), or, where the system has none, in .NAME.XXXXXX beside it, which is removed
 * when the program fails or is killed. A file that exists keeps its mode, owner, links and place in the directory: a
 * symbolic link stays, and what it points to is replaced. What is no regular file (a device, a FIFO, /dev/fd/N) is written
 * as the bytes come.
 *
 * Descriptors 0 to 2 that the caller left closed are filled when the program starts, so that no file takes their place;
 * reading and writing them fails. Every function dies on failure with a line that names the file.
 */
#ifndef WEIR_FILE_H
#define WEIR_FILE_H

#include <stdio.h>

/* The file to read; NULL or "-": stdin, at most once in a process. A file that --stats would replace is refused. */
FILE *file_open(const char *path);

/* Its name in messages: "(stdin)" for NULL and "-". */
const char *file_name(const char *path);

struct file_out;

/*
 * The file to write; NULL or "-": stdout. path is borrowed. A regular file or a pipe that is an output already is refused
 * (exit 2).
 */
struct file_out *file_create(const char *path);

/* The same for the file of --stats, which must not be an input either. */
struct file_out *file_create_report(const char *path);

/* Where to write, and the name in messages. */
FILE *file_stream(const struct file_out *out);
const char *file_out_name(const struct file_out *out);

/* Dies of what errno says of writing out. */
_Noreturn void file_die_writing(const struct file_out *out);

/* The one checked flush, close and appearance under its name. A full disk is never a success. */
void file_finish(struct file_out *out);

/* Removes the temporaries that have a name. Safe in a signal handler. */
void file_remove_unfinished(void);

#endif
