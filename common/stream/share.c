#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/words.h"
#include "common/stream/read.h"
#include "common/stream/share.h"

/* Returns units * i / n, without overflow. */
static size_t
boundary(size_t units, size_t i, size_t n)
{
	return units / n * i + units % n * i / n;
}

void
share_range(const struct share *p, size_t units, size_t *first, size_t *end)
{
	*first = p->n ? boundary(units, p->i, p->n) : 0;
	*end = p->n ? boundary(units, p->i + 1, p->n) : units;
}

/* --- fingerprints ------------------------------------------------------------------------------------------------ */

enum { BLOCKS = 64, BLOCK = 4096 };

/* FNV-1a, 64 bits. */
static uint64_t
hash_bytes(uint64_t hash, const void *p, size_t n)
{
	const unsigned char *c = p;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ c[i]) * 0x100000001b3;
	return hash;
}

static uint64_t
hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text, strlen(text) + 1);
}

uint64_t
share_begin(const struct opt_common *o)
{
	return hash_text(hash_text(0xcbf29ce484222325, weir_version), o->history);
}

static uint64_t
hash_block(uint64_t hash, int fd, off_t at, const char *name)
{
	char block[BLOCK];
	const ssize_t n = pread(fd, block, sizeof block, at);

	if (n < 0)
		die("%s: %s", name, strerror(errno));
	return hash_bytes(hash, block, (size_t)n);
}

uint64_t
share_hash_file(uint64_t hash, const char *path)
{
	const bool is_stdin = !path || !strcmp(path, "-");
	FILE *f = is_stdin ? stdin : file_open(path);
	const int fd = fileno(f);
	struct stat st;

	if (fstat(fd, &st))
		die("%s: %s", file_name(path), strerror(errno));
	if (!S_ISREG(st.st_mode))
		die("%s: --part needs a regular file, of which each share reads its own places",
		    file_name(path));
	const uint64_t size = (uint64_t)st.st_size;
	hash = hash_bytes(hash, &size, sizeof size);
	if (size <= BLOCKS * BLOCK)
		for (off_t at = 0; at < st.st_size; at += BLOCK)
			hash = hash_block(hash, fd, at, file_name(path));
	else
		for (off_t i = 0; i < BLOCKS; i++)
			hash = hash_block(hash, fd, (st.st_size - BLOCK) / (BLOCKS - 1) * i,
					  file_name(path));
	if (!is_stdin)
		fclose(f);
	return hash;
}

uint64_t
share_hash_files(uint64_t hash, char *const *path, size_t npath)
{
	if (!npath)
		return share_hash_file(hash, NULL);
	for (size_t i = 0; i < npath; i++)
		hash = share_hash_file(hash, path[i]);
	return hash;
}

/* --- writing the keys -------------------------------------------------------------------------------------------- */

void
share_cut(struct img *y, struct share_place *place, int axis, size_t first, size_t n)
{
	const struct img_axis *a = &y->axis[axis];
	const struct img_space space = y->space;

	place->cut[place->ncut++] = (struct share_cut){axis, first, a->n, a->min};
	img_cut_axis(y, axis, n, (ptrdiff_t)first);
	y->space =
	    space; /* a share keeps the origin of the whole, since moving it back would round it */
}

void
share_set(struct img *y, const struct share *p, uint64_t hash, const struct share_place *place)
{
	char text[256];

	snprintf(text, sizeof text, "%zu/%zu %zu/%zu%s%s%s", place->item, place->items,
		 place->piece, place->pieces, place->pnm ? " pnm" : "", place->tile ? " tile" : "",
		 place->empty ? " empty" : "");

	for (size_t i = 0; i < place->ncut; i++) {
		const struct share_cut *c = &place->cut[i];
		word_append(text, sizeof text, " %d:%zu/%zu", c->axis, c->first, c->total);
		if (!isnan(c->min))
			word_append(text, sizeof text, "@%.17g", c->min);
	}
	img_set_key(y, "part", "%zu/%zu %016llx", p->i, p->n, (unsigned long long)hash);
	img_set_key(y, "place", "%s", text);
}

void
share_set_empty(struct img *y, const struct share *p, uint64_t hash, size_t items)
{
	const struct share_place place = {.items = items, .pieces = 1, .empty = true};

	for (int i = img_row_axis(y); i < y->dim; i++)
		img_cut_axis(y, i, 1, 0);
	img_drop_key(y, "tile");
	share_set(y, p, hash, &place);
}

/* --- reading the keys -------------------------------------------------------------------------------------------- */

bool
share_is(const struct img *x)
{
	return img_key(x, "part") != NULL;
}

static bool
parse_share(const char *text, struct share *p, uint64_t *hash)
{
	char share[48];
	const size_t n = strcspn(text, " ");
	const char *digits = text + n + (text[n] == ' ');

	if (n >= sizeof share || strlen(digits) != 16 || digits[strspn(digits, "0123456789abcdef")])
		return false;
	snprintf(share, sizeof share, "%.*s", (int)n, text);
	*hash = strtoull(digits, NULL, 16);
	return share_parse(share, p);
}

/* Parses A:FIRST/TOTAL[@MIN]. */
static bool
parse_cut(const char *word, struct share_cut *c)
{
	const char *min = strchr(word, '@');
	size_t axis;

	c->min = NAN;
	if (min && (!opt_number(min + 1, &c->min) || !isfinite(c->min)))
		return false;
	if (!word_size_before(&word, ':', &axis) || axis >= IMG_MAXDIM ||
	    !word_size_before(&word, '/', &c->first) ||
	    !word_size_before(&word, min ? '@' : '\0', &c->total))
		return false;
	c->axis = (int)axis;
	return c->total >= 1 && c->first <= c->total;
}

static bool
parse_place(char *text, struct share_place *place)
{
	*place = (struct share_place){0};
	if (!word_fraction(word_next(&text), &place->item, &place->items) ||
	    !word_fraction(word_next(&text), &place->piece, &place->pieces))
		return false;
	for (char *word; (word = word_next(&text));) {
		if (!strcmp(word, "pnm"))
			place->pnm = true;
		else if (!strcmp(word, "tile"))
			place->tile = true;
		else if (!strcmp(word, "empty"))
			place->empty = true;
		else if (place->ncut == SHARE_CUTS || !parse_cut(word, &place->cut[place->ncut++]))
			return false;
	}
	return true;
}

/* Whether the samples of x lie inside the whole, one after the other: an axis above a cut one has one sample, or is the cut one. */
static bool
fits(const struct img *x, const struct share_place *place)
{
	int last = x->dim;

	for (size_t i = 0; i < place->ncut; i++) {
		const struct share_cut *c = &place->cut[i];
		if (c->axis >= last || x->axis[c->axis].n > c->total - c->first)
			return false;
		for (int k = c->axis + 1; k < x->dim; k++)
			if (x->axis[k].n > 1)
				return false;
		last = c->axis;
	}
	return true;
}

int
share_of(const struct img *x, struct share *p, uint64_t *hash, struct share_place *place,
	 struct why *why)
{
	const char *share = img_key(x, "part"), *text = img_key(x, "place");
	char copy[256];

	if (!share || !parse_share(share, p, hash))
		return why_set(why, "part:=%.60s is not `I/N` and 16 hexadecimal digits",
			       share ? share : "");
	if (!text || snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy ||
	    !parse_place(copy, place))
		return why_set(why, "place:=%.60s is not the place of a share", text ? text : "");
	if (!fits(x, place))
		return why_set(why, "place:=%.60s does not agree with the sizes of the item", text);
	return 0;
}

bool
share_same(const struct img *x, const struct img *y)
{
	struct share_place a, b;
	struct why why;
	struct share p;
	uint64_t hash;

	if (!share_is(x) || !share_is(y))
		return share_is(x) == share_is(y);
	if (share_of(x, &p, &hash, &a, &why) || share_of(y, &p, &hash, &b, &why) ||
	    a.ncut != b.ncut || a.empty != b.empty)
		return false;
	for (size_t i = 0; i < a.ncut; i++)
		if (a.cut[i].axis != b.cut[i].axis || a.cut[i].first != b.cut[i].first ||
		    a.cut[i].total != b.cut[i].total)
			return false;
	return true;
}

void
share_restore(struct img *x, const struct share_place *place)
{
	double v[4];

	for (size_t i = 0; i < place->ncut; i++) {
		const struct share_cut *c = &place->cut[i];
		x->axis[c->axis].n = c->total;
		x->axis[c->axis].min = c->min;
		/* tile:=x0 y0 W H of these rows becomes that of the first row. */
		if (place->tile && c->axis == img_row_axis(x) + 1 &&
		    word_reals(img_key(x, "tile"), ' ', v, 4) == 4)
			img_change_key(x, "tile", "%.0f %.0f %.0f %.0f", v[0],
				       v[1] - (double)c->first, v[2], v[3]);
	}
	if (!place->tile)
		img_drop_key(x, "tile");
	img_drop_key(x, "part");
	img_drop_key(x, "place");
	if (place->pnm)
		x->format = IMG_PNM;
}

/* ---- shares along an axis ---- */

void
slices_open(struct slices *s, const struct opt_common *o, uint64_t hash, struct raw_in *in,
	    size_t (*count)(const void *with, const struct img *x), const void *with)
{
	struct img x;
	size_t room = 0, from, to;

	*s = (struct slices){.o = o, .hash = hash};
	if (!o->share.n)
		return;
	s->before = weir_xgrow(NULL, &room, 1, sizeof *s->before);
	s->before[0] = 0;
	while (raw_next(in, &x)) {
		const size_t n = count(with, &x);
		if (share_is(&x))
			raw_die(in,
				"--part: this is a share itself; rawjoin makes the whole of it");
		if (n) {
			s->before = weir_xgrow(s->before, &room, ++s->items + 1, sizeof *s->before);
			s->before[s->items] = s->before[s->items - 1] + n;
			img_free(&s->empty);
			s->empty = x;
		} else {
			s->skipped++;
			img_free(&x);
		}
		raw_skip(in, raw_left(in));
	}
	if (!s->items)
		raw_die(in, "nothing to share out");
	share_range(&o->share, s->before[s->items], &s->first, &s->end);
	raw_rewind(in);
	for (size_t k = 0; k < s->items; k++) {
		from = s->before[k] > s->first ? s->before[k] : s->first;
		to = s->before[k + 1] < s->end ? s->before[k + 1] : s->end;
		s->pieces += from < to;
	}
}

/* Returns the number of the current item of in, from 0, without those that were skipped. */
static size_t
item_of(const struct slices *s, const struct raw_in *in)
{
	const size_t k = raw_item(in) - 1 - s->skipped;

	if (k >= s->items)
		raw_die(in, "the file has changed since its headers were read");
	return k;
}

bool
slices_over(const struct slices *s, const struct raw_in *in)
{
	return s->o->share.n && raw_item(in) > s->skipped && s->before[item_of(s, in)] >= s->end;
}

bool
slices_of(const struct slices *s, const struct raw_in *in, size_t n, size_t *from, size_t *to)
{
	*from = 0;
	*to = n;
	if (!s->o->share.n)
		return true;
	const size_t k = item_of(s, in), lo = s->before[k], hi = s->before[k + 1];
	if (hi - lo != n)
		raw_die(in, "the file has changed since its headers were read");
	*from = s->first > lo ? s->first - lo : 0;
	*to = (s->end < hi ? s->end : hi) - lo;
	return s->first < hi && s->end > lo && s->first < s->end;
}

struct share_place
slices_place(struct slices *s, const struct raw_in *in, const struct img *y)
{
	return (struct share_place){.item = item_of(s, in),
				    .items = s->items,
				    .piece = s->piece++,
				    .pieces = s->pieces,
				    .pnm = s->o->as != RAW_AS_RAW && y->format == IMG_PNM,
				    .tile = img_key(y, "tile") != NULL};
}

void
slices_set(struct slices *s, const struct raw_in *in, struct img *y, int axis)
{
	size_t from, to;

	if (!s->o->share.n)
		return;
	struct share_place place = slices_place(s, in, y);
	const size_t k = item_of(s, in);
	slices_of(s, in, s->before[k + 1] - s->before[k], &from, &to);
	if (axis >= 0)
		share_cut(y, &place, axis, from, to - from);
	share_set(y, &s->o->share, s->hash, &place);
}

bool
slices_take(struct slices *s, struct raw_in *in, struct img *x, int axis)
{
	size_t from, to, all, count;

	if (!s->o->share.n)
		return true;
	if (!slices_of(s, in, axis < 0 ? 1 : x->axis[axis].n, &from, &to))
		return false;
	struct share_place *const place = &s->place[raw_item(in) % PIPELINE_STAGES];
	*place = slices_place(s, in, x);
	img_count(x, &all);
	if (axis >= 0) {
		raw_skip(in, all / x->axis[axis].n * from);
		share_cut(x, place, axis, from, to - from);
	}
	img_count(x, &count);
	source_narrow(in, count);
	return true;
}

void
slices_keys(struct slices *s, const struct raw_in *in, struct img *y)
{
	if (s->o->share.n)
		share_set(y, &s->o->share, s->hash, &s->place[raw_item(in) % PIPELINE_STAGES]);
}

void
slices_free(struct slices *s)
{
	weir_free(s->before);
	img_free(&s->empty);
}

void
slices_close(struct slices *s, struct raw_out *out)
{
	const double zero = 0;

	if (s->o->share.n && s->first == s->end) {
		share_set_empty(&s->empty, &s->o->share, s->hash, s->items);
		raw_head(out, &s->empty);
		size_t n = 0;
		for (img_count(&s->empty, &n); n > 0; n--)
			raw_write(out, &zero, 1);
	}
	if (s->piece < s->pieces)
		die("the input has changed since its headers were read");
	slices_free(s);
}
