/*
 * Opens and writes the files that the command line names. An output appears under its name, whole, when all is done. Until
 * then its bytes are in a file without a name (O_TMPFILE). Where the system has no such files, they are in .NAME.XXXXXX
 * beside the output, which is removed when the program fails or is killed. A file that exists already keeps its mode,
 * owner, links and place in the directory: a symbolic link stays, and the file that it points to is replaced. One whose links or
 * owner a new file cannot have is written over in the end, when there is room; until that is done, .NAME.XXXXXX has the new bytes, too,
 * and stays where the program is killed or meets an error. A device, a FIFO or /dev/fd/N is written directly, as the bytes arrive.
 *
 * When the program starts, those of the descriptors 0 to 2 that are closed are opened on /dev/null, so that no file takes
 * their place; reading and writing them fails. Every function dies on failure with a line that names the file.
 */
#ifndef WEIR_BASE_FILE_H
#define WEIR_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

/* Temporary files without a name, in the directory TMPDIR, or /tmp where that is not set. They vanish with the process. */

/* Returns the directory, for messages. */
const char *scratch_directory(void);

/* Opens a new file for reading and writing. Returns its descriptor, or -1 and sets errno. */
int scratch_open(void);

/*
 * Maps `bytes` > 0 bytes of a new file, which are zero. Free them with munmap(). On failure it returns NULL and sets errno:
 * ENOSPC when the file system has no room for them.
 */
void *scratch_map(size_t bytes);

/*
 * Opens path for reading, and keeps it. NULL or "-" is stdin, which can be opened once in a process. A file that --stats would
 * replace is refused (exit 2), and so is a regular one that an output is written to in place, as by the shell's >>: it would grow as it
 * is read.
 */
FILE *file_open(const char *path);

/*
 * The bytes before `end` of an input with this status are mapped. Of a file that shrinks then, the last page is filled with zeros,
 * and the pages behind it end the process by SIGBUS. file_shrunk() returns the name of such an input, or NULL; a signal handler
 * may call it. file_finish() dies where there is one.
 */
void file_note_map(const struct stat *st, off_t end);
const char *file_shrunk(void);

/* Whether no input arrives in the file within ms milliseconds. Some may have before when bytes wait in stdio's buffer. */
bool file_idle(FILE *in, int ms);

/*
 * Flushes the outputs when no input has arrived yet. Otherwise results would wait in a buffer while their reader waits for
 * them and this program waits for input, such as the next frame of a camera.
 */
static inline void
file_flush_when_idle(FILE *in)
{
	if (file_idle(in, 0))
		fflush(NULL);
}

/* Returns the name of path in messages: "(stdin)" for NULL and "-", else path. */
const char *file_name(const char *path);

struct file_out;

/*
 * Opens path for writing. NULL or "-" is stdout. path is borrowed until file_finish(). A regular file or a pipe that is an
 * output already is refused (exit 2). report: the file of --stats, which file_open() then refuses as an input.
 */
struct file_out *file_create(const char *path, bool report);

/* Return the stream to write to, and the name in messages. */
FILE *file_stream(const struct file_out *out);
const char *file_out_name(const struct file_out *out);

/* Dies with the name of out and the reason that errno gives. */
_Noreturn void file_die_writing(const struct file_out *out);

/* Flushes and closes out, and gives the file its name. Every failure, such as a full disk, is fatal. */
void file_finish(struct file_out *out);

/* Removes the temporary files that have a name. A signal handler may call it. */
void file_remove_unfinished(void);

#endif
