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
 * A run that is killed leaves a state that is not settled. The next run makes it again from the marker and the borders. That
 * gives what was there before or more, because the borders only rise. The state is locked while a run uses it.
 */
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
#include "common/stream/axes.h"
#include "morphrec/job.h"

#define SEAM_NONE SIZE_MAX /* no share */

struct seam {
	/* These are filled in by the caller. */
	const char *dir;
	struct part part;
	uint64_t hash;	      /* what all shares have in common */
	size_t layers, bytes; /* layers of the whole; bytes of a layer */

	/* These by seam_lay_out(). */
	size_t first, end; /* its own layers */
	size_t at, n;	   /* n layers from `at` on: its own and the halo */
	size_t beside[2];  /* the shares before and after it */

	/* These by seam_open(). */
	struct seam_head *head; /* the mapped file */
	void *J;
	int fd;
	size_t moved; /* bytes of borders that were read and written */
};

/* The first bytes of both files. */
struct seam_head {
	char magic[16];
	uint64_t hash, share, shares, layers, bytes;
	uint64_t made;	  /* of a state: the head is whole */
	uint64_t settled; /* of a state: J is its fixpoint */
	uint64_t lo, hi;  /* of a settled state: the range of keys of its first marker */
};

/* ---- the seam ---- */

enum { HEAD = 4096, NAME = 4096 }; /* HEAD: J begins on a page */

static const char magic[16] = "morphrec seam 1";

/* Computes the layers. first == end: the share has none, and no files. */
static void
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

/* Notes whether J is at its fixpoint, in one step, after all that was written to J. */
static void
seam_settle(struct seam *s, bool settled)
{
	__atomic_store_n(&s->head->settled, settled, __ATOMIC_SEQ_CST);
}

/* Opens the state, and the directory if there is none. Dies when DIR is of another run, or another process has the share. */
static void
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

/* Returns layer number i of the whole, in the state. */
static void *
seam_layer(const struct seam *s, size_t i)
{
	return (char *)s->J + (i - s->at) * s->bytes;
}

static void
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

/*
 * Reads the layer of the share beside that touches this one; side: 0 before, 1 after. Returns false when that share has not
 * written its border yet.
 */
static bool
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

/* Writes the border, unless it is there already. */
static void
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

/* ---- shares of one picture ---- */

/* A run of one share: --seam=DIR --part=I/N. */

/* A run. The whole array is mapped. Problems, masks and the input of operators are those of the share with its halo. */
struct run {
	const struct raw_in *in;
	const struct args *a;
	struct seam s;
	struct morphrec_problem whole, what;
	struct morphrec_operator o;
	struct morphrec_plan p;
	struct img *x;	/* the input */
	struct img cut; /* its layers; data belongs to x */
	void *I;
};

/* --- layers of an array ----------------------------------------------------------------------------------------- */

/* Makes *cut layers [at, at + n) of x, whose samples it borrows. */
static void
cut_layers(struct img *cut, const struct img *x, size_t at, size_t n)
{
	size_t layer = img_type_size(x->type);

	img_copy_head(cut, x);
	for (int i = 0; i + 1 < x->dim; i++)
		layer *= x->axis[i].n;
	cut->axis[x->dim - 1].n = n;
	cut->data = (char *)x->data + at * layer;
	cut->map = x->map;
}

static void
drop_layers(struct img *cut)
{
	cut->data = cut->map = NULL;
	img_free(cut);
}

/* Returns the problem with only n layers. */
static struct morphrec_problem
with_layers(struct morphrec_problem what, size_t n)
{
	*(morphrec_is_volume(what.conn) ? &what.d : &what.h) = n;
	return what;
}

/* --- keys ------------------------------------------------------------------------------------------------------- */

/*
 * Raises the n samples at J to those of `to` that are higher. Lists them in risen, if it is not NULL, by their index from
 * `at` on. Returns their number.
 */
static size_t
raise(const struct morphrec_problem *what, void *J, const void *to, size_t n, size_t at,
      size_t *risen)
{
	const struct key_map map = morphrec_keys(what);
	const size_t size = img_type_size(what->type);
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
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

/* --- marker and mask -------------------------------------------------------------------------------------------- */

/*
 * Makes the marker of the share's layers in J, and changes f into their mask where that is not f. Where the marker depends on
 * the layers around, it is made from more of them.
 */
static void
make_marker(struct run *r, void *J)
{
	const size_t reach = morphrec_op_reach(&r->what, &r->o), bytes = r->s.bytes,
		     before = r->s.at < reach ? r->s.at : reach, end = r->s.at + r->s.n,
		     after = r->s.layers - end < reach ? r->s.layers - end : reach;
	const struct morphrec_problem more = with_layers(r->what, before + r->s.n + after);
	char *f = r->cut.data, *wide = J;

	if (reach && !(wide = weir_alloc(before + r->s.n + after, bytes)))
		raw_die(r->in, "no memory for the marker");
	if (morphrec_marker(&more, &r->o, wide, f - before * bytes))
		raw_die(r->in, "no memory for the marker");
	if (!reach)
		return;
	memcpy(J, wide + before * bytes, r->s.n * bytes);
	weir_free(wide);
}

/* Changes f into the mask for an operator whose mask is not f. */
static void
make_mask(struct run *r)
{
	if (r->a->mask || r->o.op != MORPHREC_HYSTERESIS)
		return;
	char *J = weir_alloc(r->s.n, r->s.bytes);
	if (!J)
		raw_die(r->in, "no memory for the mask");
	make_marker(r, J);
	weir_free(J);
}

/* Makes J0 in the state: the marker, and the borders of the shares beside it. */
static void
make_state(struct run *r)
{
	if (r->a->mask)
		memcpy(r->s.J, r->cut.data, r->s.n * r->s.bytes);
	else
		make_marker(r, r->s.J);
	if (r->s.first > r->s.at)
		seam_read_beside(&r->s, 0, seam_layer(&r->s, r->s.at));
	if (r->s.end < r->s.layers)
		seam_read_beside(&r->s, 1, seam_layer(&r->s, r->s.end));
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

/* The first run, or one after a run that was killed. */
static void
begin(struct run *r)
{
	seam_settle(&r->s, false);
	make_state(r);
	item_reconstruct(r->in, &r->p, r->a, r->s.J, r->I, &r->whole, r->s.at * r->s.bytes);
	r->s.head->lo = r->p.clip.lo;
	r->s.head->hi = r->p.clip.hi;
}

/* A later run: only what the borders of the neighbours raise. */
static void
resume(struct run *r)
{
	const size_t n = r->s.bytes / img_type_size(r->what.type);
	size_t *risen = weir_xalloc(2 * n, sizeof *risen), count = 0;
	char *layer = weir_xalloc(1, r->s.bytes);

	seam_settle(&r->s, false);
	for (int side = 0; side < 2; side++) {
		const size_t at = side ? r->s.end : r->s.at;
		if (seam_read_beside(&r->s, side, layer))
			count += raise(&r->what, seam_layer(&r->s, at), layer, n,
				       (at - r->s.at) * n, risen + count);
	}
	r->p.clip.lo = r->s.head->lo;
	r->p.clip.hi = r->s.head->hi;
	if (count) {
		make_mask(r);
		morphrec_resume(&r->p, r->s.J, r->I, risen, count);
	}
	weir_free(layer);
	weir_free(risen);
}

/* Returns whether the share on that side must run again: its border is lower than the halo, or it has not written one. */
static bool
must_run(struct run *r, int side)
{
	if (r->s.beside[side] == SEAM_NONE)
		return false;
	char *layer = weir_xalloc(1, r->s.bytes);
	const bool again = !seam_read_beside(&r->s, side, layer) ||
			   raise(&r->what, layer, seam_layer(&r->s, side ? r->s.end : r->s.at),
				 r->s.bytes / img_type_size(r->what.type), 0, NULL);
	weir_free(layer);
	return again;
}

/* Brings the share to its fixpoint. */
static void
run_share(struct run *r)
{
	(r->s.head->settled ? resume : begin)(r);
	seam_settle(&r->s, true);
	seam_write_border(&r->s);
}

static void
print_line(struct run *r)
{
	struct raw_out *out = raw_create(NULL, RAW_AS_TEXT);
	const bool again[2] = {r->s.first < r->s.end && must_run(r, 0),
			       r->s.first < r->s.end && must_run(r, 1)};

	raw_printf(out, "%s", again[0] || again[1] ? "rose" : "still");
	for (int side = 0; side < 2; side++)
		if (again[side])
			raw_printf(out, " %zu", r->s.beside[side]);
	raw_printf(out, "\n");
	raw_finish(out);
}

/* --- the picture of a share ------------------------------------------------------------------------------------- */

/* Writes the item of the share: its own layers of the result. */
static void
write_item(struct run *r, struct stats *st)
{
	const struct opt_common *c = &r->a->common;
	const size_t own = r->s.end - r->s.first;
	struct part_place place = {.items = 1,
				   .pieces = 1,
				   .pnm = c->as == RAW_AS_PNM ||
					  (c->as == RAW_FOLLOW && r->x->format == IMG_PNM),
				   .tile = img_key(r->x, "tile") != NULL};
	struct raw_out *out = raw_create(c->out, RAW_AS_RAW);
	struct img y;

	img_copy_head(&y, r->x);
	y.format = IMG_RAW;
	if (morphrec_op_differs(r->a->o.op))
		bands_renew(&y);
	opt_add_history(&y, c);
	if (own) {
		part_cut(&y, &place, y.dim - 1, r->s.first, own);
		part_set(&y, &c->part, r->s.hash, &place);
		const struct morphrec_problem what = with_layers(r->what, own);
		if (img_alloc(&y))
			raw_die(r->in, "no memory for the result");
		memcpy(y.data, seam_layer(&r->s, r->s.first), own * r->s.bytes);
		morphrec_finish(&what, &r->o, y.data,
				(char *)r->cut.data + (r->s.first - r->s.at) * r->s.bytes);
	} else {
		part_set_empty(&y, &c->part, r->s.hash, 1);
		if (img_alloc(&y))
			raw_die(r->in, "no memory for the result");
		memset(y.data, 0, img_type_size(y.type));
	}
	raw_put(out, &y);
	img_free(&y);
	st->bytes_out += raw_bytes_out(out);
	raw_finish(out);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

/* Fills in the shape of the whole and of the share. Dies when they are not for seams. */
static void
lay_out(struct run *r)
{
	const struct args *a = r->a;
	struct parts parts;
	const bool volume = morphrec_is_volume(a->conn);

	r->whole = item_problem(r->in, r->x, a, &parts);
	if (parts_count(&parts) > 1 || r->x->dim != (volume ? 3 : 2))
		raw_die(r->in, "--seam: takes a grey picture, or with -c 6, 18 or 26 a volume");
	r->s = (struct seam){.dir = a->seam, .part = a->common.part, .hash = share_hash(a)};
	r->s.layers = volume ? r->whole.d : r->whole.h;
	r->s.bytes = img_type_size(r->x->type) * r->whole.w * (volume ? r->whole.h : 1);
	seam_lay_out(&r->s);
	r->what = with_layers(r->whole, r->s.n);
}

/* Fills in the operator, the share's layers of the input, and its mask. */
static void
take_layers(struct run *r, struct masks *m, struct shape *shape)
{
	r->o = item_operator(r->in, r->x, r->a, &m->shape, shape);
	r->o.cut[0] = r->s.at > 0;
	r->o.cut[1] = r->s.at + r->s.n < r->s.layers;
	if (r->o.op == MORPHREC_REGMAX || r->o.op == MORPHREC_REGMIN)
		r->o.rest = !morphrec_all_floor(&r->whole, &r->o, r->x->data);
	cut_layers(&r->cut, r->x, r->s.at, r->s.n);
	r->I = r->cut.data;
	if (r->a->mask)
		r->I = masks_layers(r->in, r->x, m, r->a, r->s.layers, r->s.at, r->s.n)->data;
}

/* Plans and runs the share, and writes its picture when there is -o. */
static void
run_planned(struct run *r, struct stats *st)
{
	struct progress bar;

	r->what.step = item_step;
	r->what.step_with = &bar;
	item_plan(r->in, r->a, &r->p, &r->what);
	seam_open(&r->s);
	stats_charge(st, STATS_PLAN);
	run_share(r);
	stats_charge(st, STATS_COMPUTE);
}

void
seam_run(struct raw_in *in, struct masks *m, const struct args *a, struct stats *st,
	 struct morphrec_figures *f)
{
	struct run r = {.in = in, .a = a};
	struct shape shape;
	struct img x, second;

	raw_next(in, &x);
	r.x = &x;
	lay_out(&r);
	raw_map(in, &x);
	if (raw_next(in, &second))
		raw_die(in, "--seam: the input holds more than one item");
	take_layers(&r, m, &shape);
	stats_charge(st, STATS_READ);
	if (r.s.first < r.s.end)
		run_planned(&r, st);
	if (a->common.out)
		write_item(&r, st);
	print_line(&r);
	stats_charge(st, STATS_WRITE);
	stats_add(st, "moved", "%zu", r.s.moved);
	item_add_figures(f, &r.p.figures);
	st->items++;
	if (r.s.first < r.s.end)
		seam_close(&r.s);
	morphrec_free(&r.p);
	shape_free(&shape);
	drop_layers(&r.cut);
	img_free(&x);
}
