#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "morphrec/items/seam.h"

enum { HEAD = 4096, NAME = 4096 }; /* HEAD: J begins on a page */

static const char magic[16] = "morphrec seam 1";

void
seam_lay_out(struct seam *s)
{
	size_t first, end;

	part_range(&s->part, s->layers, &s->first, &s->end);
	s->at = s->first - (s->first > 0);
	s->n = s->end + (s->end < s->layers) - s->at;
	s->beside[0] = s->beside[1] = SEAM_NONE;
	/* Shares without layers are passed over. */
	for (size_t i = s->part.i; s->first > 0 && s->beside[0] == SEAM_NONE;) {
		part_range(&(struct part){--i, s->part.n}, s->layers, &first, &end);
		s->beside[0] = first < end ? i : SEAM_NONE;
	}
	for (size_t i = s->part.i; s->end < s->layers && s->beside[1] == SEAM_NONE;) {
		part_range(&(struct part){++i, s->part.n}, s->layers, &first, &end);
		s->beside[1] = first < end ? i : SEAM_NONE;
	}
}

static const char *
name_of(const struct seam *s, const char *what, size_t share, char name[NAME])
{
	if (snprintf(name, NAME, "%s/%s.%zu", s->dir, what, share) >= NAME)
		die("%s: %s", s->dir, strerror(ENAMETOOLONG));
	return name;
}

/* The head of a file of that share. */
static struct seam_head
head_of(const struct seam *s, size_t share)
{
	struct seam_head h = {.hash = s->hash,
			      .share = share,
			      .shares = s->part.n,
			      .layers = s->layers,
			      .bytes = s->bytes};

	memcpy(h.magic, magic, sizeof magic);
	return h;
}

/* Dies unless h is the head of a file of that share of this run. */
static void
check_head(const struct seam *s, const struct seam_head *h, size_t share, const char *name)
{
	const struct seam_head want = head_of(s, share);

	if (memcmp(h, &want, offsetof(struct seam_head, made)))
		die("%s is of another run, with other options, input or number of shares; take "
		    "another directory",
		    name);
}

/* --- the state -------------------------------------------------------------------------------------------------- */

/* Opens and locks the file of the state. */
static int
open_state(const struct seam *s, const char *name)
{
	if (mkdir(s->dir, 0777) && errno != EEXIST)
		die("%s: %s", s->dir, strerror(errno));
	const int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		die("%s: %s", name, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB))
		die("%s: %s", name,
		    errno == EWOULDBLOCK ? "another process runs this share" : strerror(errno));
	return fd;
}

/* Writes the head of a new state. A process that was killed may have begun that. */
static void
make_head(struct seam *s, const char *name)
{
	const struct seam_head h = head_of(s, s->part.i);
	const char *is = (const char *)s->head, *want = (const char *)&h;

	if (s->head->made)
		return;
	for (size_t i = 0; i < sizeof h; i++)
		if (is[i] && is[i] != want[i])
			die("%s is no state of a share", name);
	*s->head = h;
	__atomic_store_n(&s->head->made, 1, __ATOMIC_SEQ_CST);
}

void
seam_settle(struct seam *s, bool settled)
{
	__atomic_store_n(&s->head->settled, settled, __ATOMIC_SEQ_CST);
}

void
seam_open(struct seam *s)
{
	const size_t size = HEAD + s->n * s->bytes;
	char name[NAME];
	struct stat st;

	name_of(s, "state", s->part.i, name);
	s->fd = open_state(s, name);
	/* Space is reserved now, because a write to the mapping could not report that there is none. */
	const int err = posix_fallocate(s->fd, 0, (off_t)size);
	if (err)
		die("%s: %s", name, strerror(err));
	if (fstat(s->fd, &st) || (s->head = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
						 s->fd, 0)) == MAP_FAILED)
		die("%s: %s", name, strerror(errno));
	s->J = (char *)s->head + HEAD;
	make_head(s, name);
	check_head(s, s->head, s->part.i, name);
}

void *
seam_layer(const struct seam *s, size_t i)
{
	return (char *)s->J + (i - s->at) * s->bytes;
}

void
seam_close(struct seam *s)
{
	munmap(s->head, HEAD + s->n * s->bytes);
	close(s->fd);
}

/* --- borders ---------------------------------------------------------------------------------------------------- */

/* Reads layer `which`, 0 or 1, of a share's border. Returns false when there is no such file. */
static bool
read_border(struct seam *s, size_t share, int which, void *layer)
{
	char name[NAME];
	struct seam_head h;
	FILE *f = fopen(name_of(s, "border", share, name), "rbe");

	if (!f && errno != ENOENT)
		die("%s: %s", name, strerror(errno));
	if (!f)
		return false;
	if (fread(&h, sizeof h, 1, f) != 1)
		die("%s: %s", name, ferror(f) ? strerror(errno) : "it is too short");
	check_head(s, &h, share, name);
	if (fseeko(f, (off_t)(sizeof h + (which ? s->bytes : 0)), SEEK_SET) ||
	    fread(layer, 1, s->bytes, f) != s->bytes)
		die("%s: %s", name, ferror(f) ? strerror(errno) : "it is too short");
	fclose(f);
	s->moved += s->bytes;
	return true;
}

bool
seam_read_beside(struct seam *s, int side, void *layer)
{
	return s->beside[side] != SEAM_NONE && read_border(s, s->beside[side], !side, layer);
}

/* Whether the border on disk is that of J. */
static bool
is_written(struct seam *s, const void *border[2])
{
	char *was = weir_xalloc(s->bytes, 1);
	bool same = true;

	for (int i = 0; i < 2; i++)
		same =
		    same && read_border(s, s->part.i, i, was) && !memcmp(was, border[i], s->bytes);
	weir_free(was);
	return same;
}

void
seam_write_border(struct seam *s)
{
	const void *border[2] = {seam_layer(s, s->first), seam_layer(s, s->end - 1)};
	const struct seam_head h = head_of(s, s->part.i);
	char name[NAME], tmp[NAME];

	if (is_written(s, border))
		return;
	name_of(s, ".border", s->part.i, tmp);
	FILE *f = fopen(tmp, "wbe");
	bool done = f && fwrite(&h, sizeof h, 1, f) == 1;
	for (int i = 0; i < 2; i++)
		done = done && fwrite(border[i], 1, s->bytes, f) == s->bytes;
	if (f && fclose(f))
		done = false;
	if (!done || rename(tmp, name_of(s, "border", s->part.i, name)))
		die("%s: %s", tmp, strerror(errno));
	s->moved += 2 * s->bytes;
}
