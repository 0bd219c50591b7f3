/*
 * A share of a picture or volume whose shares are reconstructed one by one: --seam=DIR --part=I/N. The array is cut along its
 * slowest axis. A layer is a row of a picture, or a slice of a volume. Share I has two files in DIR:
 *
 *	state.I		J of its layers and of the HALO: the last layer of the share before and the first one of the share
 *			after. The file is mapped and changes in place.
 *	border.I	its own first and last layer, for the shares beside it. It is replaced by rename().
 *
 * A run raises the halo to the borders of the shares beside it, brings J to its fixpoint and writes its own border. Pixels of
 * the halo rise like all others. Where the halo then is higher than the border that a neighbour wrote, the neighbour must run
 * again.
 *
 * When no share's last run found that, all of them together are the reconstruction: no pixel can raise another, within a share
 * or across a seam. No pixel is too high, because each rise is one that the whole would make. The order of the runs does not
 * matter. A border that is read late or twice is only lower than it could be, which the neighbour's next run makes up for.
 *
 * A run that is killed, or whose machine crashes, leaves a state that is not settled: the disk has all of J before it has that J is
 * settled, and the names of the files before the run says which shares must run again. The next run makes it again from the marker and the borders. That
 * gives what was there before or more, because the borders only rise. The state is locked while a run uses it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/stream/axes.h"
#include "morphrec/job.h"

enum { HEAD = 4096, NAME = 4096 }; /* HEAD: J begins on a page */

#define NO_SHARE SIZE_MAX

/* The first bytes of both files. */
struct head {
	char magic[16];
	uint64_t hash, share, shares, layers, bytes;
	uint64_t made;	  /* of a state: the head is whole */
	uint64_t settled; /* of a state: J is its fixpoint */
	uint64_t lo, hi;  /* of a settled state: the range of keys of its first marker */
};

/* A run of a share. The item's problem, the mask and f are those of the share with its halo. */
struct seam {
	struct item i;
	struct share mine;
	struct img *x; /* the input, mapped as a whole */
	struct morphrec_problem whole;
	struct morphrec_operator o;
	char *f; /* the share's layers of x */
	void *I;
	uint64_t hash;	      /* what all shares have in common */
	size_t layers, bytes; /* layers of the whole; bytes of a layer */
	size_t first, end;    /* its own layers; first == end: it has none, and no files */
	size_t at, n;	      /* n layers from `at` on: its own and the halo */
	size_t beside[2];     /* the shares before and after it */
	struct head *head;    /* the mapped state */
	char *J;
	int fd;
	size_t moved; /* bytes of borders that were read and written */
};

/* --- files -------------------------------------------------------------------------------------------------------- */

static const char *
name_of(const struct seam *s, const char *what, size_t share, char name[NAME])
{
	if (snprintf(name, NAME, "%s/%s.%zu", s->i.a->seam, what, share) >= NAME)
		die("%s: %s", s->i.a->seam, strerror(ENAMETOOLONG));
	return name;
}

/* The head of a file of that share. */
static struct head
head_of(const struct seam *s, size_t share)
{
	return (struct head){.magic = "morphrec seam 1",
			     .hash = s->hash,
			     .share = share,
			     .shares = s->mine.n,
			     .layers = s->layers,
			     .bytes = s->bytes};
}

/* Dies unless h is the head of a file of that share of this run. */
static void
check_head(const struct seam *s, const struct head *h, size_t share, const char *name)
{
	const struct head want = head_of(s, share);

	if (memcmp(h, &want, offsetof(struct head, made)))
		die("%s is of another run, with other options, input or number of shares; take "
		    "another directory",
		    name);
}

/* Opens, locks and maps the state, and makes the directory if there is none. A new state gets its head. */
static void
open_state(struct seam *s)
{
	const size_t size = HEAD + s->n * s->bytes;
	const struct head h = head_of(s, s->mine.i);
	const char *dir = s->i.a->seam, *want = (const char *)&h, *is;
	char name[NAME];
	struct head found;
	struct stat st;

	name_of(s, "state", s->mine.i, name);
	if (mkdir(dir, 0777) && errno != EEXIST)
		die("%s: %s", dir, strerror(errno));
	if ((s->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666)) < 0)
		die("%s: %s", name, strerror(errno));
	if (flock(s->fd, LOCK_EX | LOCK_NB))
		die("%s: %s", name,
		    errno == EWOULDBLOCK ? "another process runs this share" : strerror(errno));
	/* What is missing would be made of zeros. A head that is not whole is of a process that was killed before it made J. */
	if (pread(s->fd, &found, sizeof found, 0) == sizeof found && found.made &&
	    (fstat(s->fd, &st) || (uint64_t)st.st_size < size)) {
		check_head(s, &found, s->mine.i, name);
		die("%s: it is too short: remove it, and this share begins again", name);
	}
	/* Space is reserved now, because a write to the mapping could not report that there is none. */
	const int err = posix_fallocate(s->fd, 0, (off_t)size);
	if (err)
		die("%s: %s", name, strerror(err));
	s->head = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->head == MAP_FAILED)
		die("%s: %s", name, strerror(errno));
	s->J = (char *)s->head + HEAD;
	if (!s->head->made) {
		/* A process that was killed may have begun it. */
		is = (const char *)s->head;
		for (size_t i = 0; i < sizeof h; i++)
			if (is[i] && is[i] != want[i])
				die("%s is no state of a share", name);
		*s->head = h;
		__atomic_store_n(&s->head->made, 1, __ATOMIC_SEQ_CST);
	}
	check_head(s, s->head, s->mine.i, name);
}

/* Waits until what was written to the state, or to the directory, is on the disk. */
static void
sync_disk(const struct seam *s, int fd)
{
	if (fd < 0 || fsync(fd)) /* what was written to a shared mapping, too */
		die("%s: %s", s->i.a->seam, strerror(errno));
}

/* Notes whether J is at its fixpoint, in one step, on the disk after all that was written to J and before all that will be. */
static void
settle(struct seam *s, bool settled)
{
	if (settled)
		sync_disk(s, s->fd);
	__atomic_store_n(&s->head->settled, settled, __ATOMIC_SEQ_CST);
	sync_disk(s, s->fd);
}

/* Returns layer number i of the whole, in the state. */
static char *
layer_at(const struct seam *s, size_t i)
{
	return s->J + (i - s->at) * s->bytes;
}

/*
 * Reads the layer of the share beside that touches this one; side: 0 before, 1 after. Returns false when there is none, or it has
 * not written its border yet.
 */
static bool
read_beside(struct seam *s, int side, void *layer)
{
	const size_t share = s->beside[side];
	char name[NAME];
	struct head h;

	if (share == NO_SHARE)
		return false;
	FILE *f = fopen(name_of(s, "border", share, name), "rbe");
	if (!f && errno != ENOENT)
		die("%s: %s", name, strerror(errno));
	if (!f)
		return false;
	if (fread(&h, sizeof h, 1, f) != 1)
		die("%s: %s", name, ferror(f) ? strerror(errno) : "it is too short");
	check_head(s, &h, share, name);
	if (fseeko(f, (off_t)(sizeof h + (side ? 0 : s->bytes)), SEEK_SET) ||
	    fread(layer, 1, s->bytes, f) != s->bytes)
		die("%s: %s", name, ferror(f) ? strerror(errno) : "it is too short");
	fclose(f);
	s->moved += s->bytes;
	return true;
}

static void
write_border(struct seam *s)
{
	const struct head h = head_of(s, s->mine.i);
	char name[NAME], tmp[NAME];
	FILE *f = fopen(name_of(s, ".border", s->mine.i, tmp), "wbe");
	bool done = f && fwrite(&h, sizeof h, 1, f) == 1 &&
		    fwrite(layer_at(s, s->first), 1, s->bytes, f) == s->bytes &&
		    fwrite(layer_at(s, s->end - 1), 1, s->bytes, f) == s->bytes;

	done = done && !fflush(f) && !fsync(fileno(f));
	if (f && fclose(f))
		done = false;
	if (!done || rename(tmp, name_of(s, "border", s->mine.i, name)))
		die("%s: %s", tmp, strerror(errno));
	const int dir = open(s->i.a->seam, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sync_disk(s, dir);
	close(dir);
	s->moved += 2 * s->bytes;
}

/* --- layers ------------------------------------------------------------------------------------------------------- */

/* Returns the problem with only n layers. */
static struct morphrec_problem
with_layers(struct morphrec_problem what, size_t n)
{
	*(morphrec_is_volume(what.conn) ? &what.d : &what.h) = n;
	return what;
}

/*
 * Raises the samples of a layer at J to those of `to` that are higher. Lists them in risen, if it is not NULL, by their index from
 * `at` on. Returns their number.
 */
static size_t
raise_layer(const struct seam *s, void *J, const void *to, size_t at, size_t *risen)
{
	const struct key_map map = morphrec_keys(&s->whole);
	const size_t size = img_type_size(s->whole.type);
	size_t count = 0;

	for (size_t i = 0; i < s->bytes / size; i++) {
		const uint64_t k = key_get(size, to, i, map);
		if (k <= key_get(size, J, i, map))
			continue;
		key_put(size, J, i, k, map);
		if (risen)
			risen[count] = at + i;
		count++;
	}
	return count;
}

/*
 * Makes the marker of the share's layers in J, and changes f into their mask where that is not f. Where the marker depends on
 * the layers around, it is made from more of them.
 */
static void
make_marker(struct seam *s, void *J)
{
	const size_t reach = morphrec_op_reach(&s->i.what, &s->o),
		     before = s->at < reach ? s->at : reach, end = s->at + s->n,
		     after = s->layers - end < reach ? s->layers - end : reach;
	const struct morphrec_problem more = with_layers(s->whole, before + s->n + after);
	char *wide = reach ? weir_alloc(before + s->n + after, s->bytes) : J;

	if (!wide || morphrec_marker(&more, &s->o, wide, s->f - before * s->bytes))
		raw_die(s->i.in, "no memory for the marker");
	if (!reach)
		return;
	memcpy(J, wide + before * s->bytes, s->n * s->bytes);
	weir_free(wide);
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

/* The first run, or one after a run that was killed. J0 is the marker, and the borders of the shares beside it. */
static void
begin(struct seam *s)
{
	settle(s, false);
	if (s->i.a->mask)
		memcpy(s->J, s->f, s->n * s->bytes);
	else
		make_marker(s, s->J);
	read_beside(s, 0, layer_at(s, s->at));
	read_beside(s, 1, layer_at(s, s->end));
	item_reconstruct(&s->i, s->J, s->I, &s->whole, s->at * s->bytes);
	item_say_clipped(&s->i);
	s->head->lo = s->i.p.clip.lo;
	s->head->hi = s->i.p.clip.hi;
}

/* A later run: only what the borders of the neighbours raise. */
static void
resume(struct seam *s)
{
	const size_t n = s->bytes / img_type_size(s->whole.type);
	size_t *risen = weir_xalloc(2 * n, sizeof *risen), count = 0;
	char *layer = weir_xalloc(1, s->bytes);

	settle(s, false);
	for (int side = 0; side < 2; side++) {
		const size_t at = side ? s->end : s->at;
		if (read_beside(s, side, layer))
			count +=
			    raise_layer(s, layer_at(s, at), layer, (at - s->at) * n, risen + count);
	}
	s->i.p.clip.lo = s->head->lo;
	s->i.p.clip.hi = s->head->hi;
	if (count && s->o.op == MORPHREC_HYSTERESIS) { /* whose mask is made with the marker */
		char *J = weir_xalloc(s->n, s->bytes);
		make_marker(s, J);
		weir_free(J);
	}
	if (count)
		morphrec_resume(&s->i.p, s->J, s->I, risen, count);
	weir_free_all(layer, risen);
}

/* Returns whether the share on that side must run again: its border is lower than the halo, or it has not written one. */
static bool
must_run(struct seam *s, int side)
{
	if (s->first == s->end || s->beside[side] == NO_SHARE)
		return false;
	char *layer = weir_xalloc(1, s->bytes);
	const bool again = !read_beside(s, side, layer) ||
			   raise_layer(s, layer, layer_at(s, side ? s->end : s->at), 0, NULL);
	weir_free(layer);
	return again;
}

static void
print_line(struct seam *s)
{
	struct raw_out *out = raw_create(NULL, RAW_AS_TEXT);
	const bool again[2] = {must_run(s, 0), must_run(s, 1)};

	raw_printf(out, "%s", again[0] || again[1] ? "rose" : "still");
	for (int side = 0; side < 2; side++)
		if (again[side])
			raw_printf(out, " %zu", s->beside[side]);
	raw_printf(out, "\n");
	raw_finish(out);
}

/* Writes the item of the share: its own layers of the result. */
static void
write_item(struct seam *s, struct stats *st)
{
	const struct opt_common *c = &s->i.a->common;
	const size_t own = s->end - s->first;
	struct share_place place = {.items = 1,
				    .pieces = 1,
				    .pnm = c->as == RAW_AS_PNM ||
					   (c->as == RAW_FOLLOW && s->x->format == IMG_PNM),
				    .tile = img_key(s->x, "tile") != NULL};
	struct raw_out *out = raw_create(c->out, RAW_AS_RAW);
	struct img y;

	img_copy_head(&y, s->x);
	y.format = IMG_RAW;
	if (morphrec_op_differs(s->o.op))
		bands_renew(&y);
	opt_add_history(&y, c);
	if (own) {
		share_cut(&y, &place, y.dim - 1, s->first, own);
		share_set(&y, &s->mine, s->hash, &place);
	} else {
		share_set_empty(&y, &s->mine, s->hash, 1);
	}
	if (img_alloc(&y))
		raw_die(s->i.in, "no memory for the result");
	if (own) {
		const struct morphrec_problem what = with_layers(s->whole, own);
		memcpy(y.data, layer_at(s, s->first), own * s->bytes);
		morphrec_finish(&what, &s->o, y.data, s->f + (s->first - s->at) * s->bytes);
	} else {
		memset(y.data, 0, img_type_size(y.type));
	}
	raw_put(out, &y);
	img_free(&y);
	st->bytes_out += raw_bytes_out(out);
	raw_finish(out);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

/* Returns the share that has that layer of the whole. Shares without layers are passed over. */
static size_t
share_with(const struct seam *s, size_t layer)
{
	size_t first, end = 0, share = 0;

	while (end <= layer)
		share_range(&(struct share){share++, s->mine.n}, s->layers, &first, &end);
	return share - 1;
}

/* Fills in the shape of the whole and of the share. Dies when they are not for seams. */
static void
lay_out(struct seam *s)
{
	const struct args *a = s->i.a;

	item_problem(&s->i, s->x);
	s->whole = s->i.what;
	const bool volume = morphrec_is_volume(s->whole.conn);
	if (planes_count(&s->i.planes) > 1 || s->x->dim != (volume ? 3 : 2))
		raw_die(s->i.in, "--seam: takes a grey picture or a volume");
	s->mine = a->common.share;
	s->hash = share_hash(a);
	s->layers = volume ? s->whole.d : s->whole.h;
	s->bytes = img_type_size(s->x->type) * s->whole.w * (volume ? s->whole.h : 1);
	share_range(&s->mine, s->layers, &s->first, &s->end);
	s->at = s->first - (s->first > 0);
	s->n = s->end + (s->end < s->layers) - s->at;
	s->beside[0] = s->first > 0 ? share_with(s, s->first - 1) : NO_SHARE;
	s->beside[1] = s->end < s->layers ? share_with(s, s->end) : NO_SHARE;
	s->i.what = with_layers(s->whole, s->n);
}

/* Fills in the operator, the share's layers of the input, and its mask. */
static void
take_layers(struct seam *s, struct masks *m, struct shape *shape)
{
	s->o = item_operator(&s->i, s->x, shape);
	s->o.cut[0] = s->at > 0;
	s->o.cut[1] = s->at + s->n < s->layers;
	if (s->o.op == MORPHREC_REGMAX || s->o.op == MORPHREC_REGMIN)
		s->o.rest = !morphrec_all_floor(&s->whole, &s->o, s->x->data);
	s->I = s->f = (char *)s->x->data + s->at * s->bytes;
	if (s->i.a->mask)
		s->I = masks_layers(s->i.in, s->x, m, s->i.a, s->layers, s->at, s->n)->data;
}

void
seam_run(struct raw_in *in, struct masks *m, const struct args *a, struct stats *st,
	 struct morphrec_figures *f)
{
	struct img x, second;
	struct seam s = {.i = {.in = in, .a = a, .picture = &m->shape}, .x = &x};
	struct shape shape;

	raw_next(in, &x);
	lay_out(&s);
	raw_map(in, &x);
	if (raw_next(in, &second))
		raw_die(in, "--seam: the input holds more than one item");
	take_layers(&s, m, &shape);
	stats_charge(st, STATS_READ);
	if (s.first < s.end) {
		item_plan(&s.i);
		open_state(&s);
		stats_charge(st, STATS_PLAN);
		(s.head->settled ? resume : begin)(&s);
		settle(&s, true);
		write_border(&s);
		stats_charge(st, STATS_COMPUTE);
	}
	if (a->common.out)
		write_item(&s, st);
	print_line(&s);
	stats_charge(st, STATS_WRITE);
	stats_add(st, "moved", "%zu", s.moved);
	item_add_figures(f, &s.i.p.figures);
	st->items++;
	if (s.first < s.end) {
		munmap(s.head, HEAD + s.n * s.bytes);
		close(s.fd);
	}
	morphrec_free(&s.i.p);
	shape_free(&shape);
	img_free(&x);
}
