#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/die.h"
#include "common/base/opt.h"
#include "common/base/words.h"
#include "common/stream/file.h"
#include "common/stream/part.h"

/* --- shares ------------------------------------------------------------------------------------------------------ */

/* Takes a whole number that ends before the character `end`. Moves *s past both. */
static bool
take_size(const char **s, char end, size_t *v)
{
	char text[24];
	const char *at = strchr(*s, end), *t = text;

	if (!at || at == *s || (size_t)(at - *s) >= sizeof text ||
	    strspn(*s, "0123456789") < (size_t)(at - *s))
		return false;
	snprintf(text, sizeof text, "%.*s", (int)(at - *s), *s);
	*s = at + (end != '\0');
	return word_size(&t, 0, v);
}

bool
part_parse(const char *text, struct part *p)
{
	return take_size(&text, '/', &p->i) && take_size(&text, '\0', &p->n) && p->n <= PART_MOST &&
	       p->i < p->n;
}

/* Returns units * i / n, without overflow. */
static size_t
share_begin(size_t units, size_t i, size_t n)
{
	return units / n * i + units % n * i / n;
}

void
part_range(const struct part *p, size_t units, size_t *first, size_t *end)
{
	*first = p->n ? share_begin(units, p->i, p->n) : 0;
	*end = p->n ? share_begin(units, p->i + 1, p->n) : units;
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
part_begin(const struct opt_common *o)
{
	return hash_text(hash_text(0xcbf29ce484222325, WEIR_VERSION), o->history);
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
part_hash_file(uint64_t hash, const char *path)
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
part_hash_files(uint64_t hash, char *const *path, size_t npath)
{
	if (!npath)
		return part_hash_file(hash, NULL);
	for (size_t i = 0; i < npath; i++)
		hash = part_hash_file(hash, path[i]);
	return hash;
}

/* --- writing the keys -------------------------------------------------------------------------------------------- */

void
part_cut(struct img *y, struct part_place *place, int axis, size_t first, size_t n)
{
	const struct img_axis *a = &y->axis[axis];
	const struct img_space space = y->space;

	place->cut[place->ncut++] = (struct part_cut){axis, first, a->n, a->min};
	img_cut_axis(y, axis, n, (ptrdiff_t)first);
	y->space =
	    space; /* a share keeps the origin of the whole, since moving it back would round it */
}

void
part_set(struct img *y, const struct part *p, uint64_t hash, const struct part_place *place)
{
	char text[256];
	int n = snprintf(text, sizeof text, "%zu/%zu %zu/%zu%s%s%s", place->item, place->items,
			 place->piece, place->pieces, place->pnm ? " pnm" : "",
			 place->tile ? " tile" : "", place->empty ? " empty" : "");

	for (size_t i = 0; i < place->ncut; i++) {
		const struct part_cut *c = &place->cut[i];

		n += snprintf(text + n, sizeof text - (size_t)n, " %d:%zu/%zu", c->axis, c->first,
			      c->total);
		if (!isnan(c->min))
			n += snprintf(text + n, sizeof text - (size_t)n, "@%.17g", c->min);
	}
	img_set_key(y, "part", "%zu/%zu %016llx", p->i, p->n, (unsigned long long)hash);
	img_set_key(y, "place", "%s", text);
}

void
part_set_empty(struct img *y, const struct part *p, uint64_t hash, size_t items)
{
	const struct part_place place = {.items = items, .pieces = 1, .empty = true};

	for (int i = img_row_axis(y); i < y->dim; i++)
		img_cut_axis(y, i, 1, 0);
	img_drop_key(y, "tile");
	part_set(y, p, hash, &place);
}

/* --- reading the keys -------------------------------------------------------------------------------------------- */

bool
part_is(const struct img *x)
{
	return img_key(x, "part") != NULL;
}

static bool
parse_share(const char *text, struct part *p, uint64_t *hash)
{
	char share[48];
	const size_t n = strcspn(text, " ");
	const char *digits = text + n + (text[n] == ' ');

	if (n >= sizeof share || strlen(digits) != 16 || digits[strspn(digits, "0123456789abcdef")])
		return false;
	snprintf(share, sizeof share, "%.*s", (int)n, text);
	*hash = strtoull(digits, NULL, 16);
	return part_parse(share, p);
}

/* Parses A:FIRST/TOTAL[@MIN]. */
static bool
parse_cut(const char *word, struct part_cut *c)
{
	char text[64];
	const char *s = text, *min = strchr(word, '@');
	size_t axis;

	if (snprintf(text, sizeof text, "%.*s", (int)strcspn(word, "@"), word) >= (int)sizeof text)
		return false;
	c->min = NAN;
	if (min && (!opt_number(min + 1, &c->min) || !isfinite(c->min)))
		return false;
	if (!take_size(&s, ':', &axis) || axis >= IMG_MAXDIM || !take_size(&s, '/', &c->first) ||
	    !take_size(&s, '\0', &c->total))
		return false;
	c->axis = (int)axis;
	return c->total >= 1 && c->first <= c->total;
}

/* Parses I/N. */
static bool
parse_fraction(const char *word, size_t *i, size_t *n)
{
	return word && take_size(&word, '/', i) && take_size(&word, '\0', n) && *i < *n;
}

static bool
parse_place(char *text, struct part_place *place)
{
	*place = (struct part_place){0};
	if (!parse_fraction(word_next(&text), &place->item, &place->items) ||
	    !parse_fraction(word_next(&text), &place->piece, &place->pieces))
		return false;
	for (char *word; (word = word_next(&text));) {
		if (!strcmp(word, "pnm"))
			place->pnm = true;
		else if (!strcmp(word, "tile"))
			place->tile = true;
		else if (!strcmp(word, "empty"))
			place->empty = true;
		else if (place->ncut == PART_CUTS || !parse_cut(word, &place->cut[place->ncut++]))
			return false;
	}
	return true;
}

/* Whether the samples of x lie inside the whole, one after the other: an axis above a cut one has one sample, or is the cut one. */
static bool
fits(const struct img *x, const struct part_place *place)
{
	int last = x->dim;

	for (size_t i = 0; i < place->ncut; i++) {
		const struct part_cut *c = &place->cut[i];

		if (c->axis >= last || x->axis[c->axis].n > c->total - c->first)
			return false;
		for (int k = c->axis + 1; k < x->dim; k++)
			if (x->axis[k].n > 1)
				return false;
		last = c->axis;
	}
	return true;
}

const char *
part_of(const struct img *x, struct part *p, uint64_t *hash, struct part_place *place,
	char words[PART_ERR])
{
	const char *share = img_key(x, "part"), *text = img_key(x, "place");
	char copy[256];

	if (!share || !parse_share(share, p, hash)) {
		snprintf(words, PART_ERR, "part:=%.60s is not `I/N` and 16 hexadecimal digits",
			 share ? share : "");
		return words;
	}
	if (!text || snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy ||
	    !parse_place(copy, place)) {
		snprintf(words, PART_ERR, "place:=%.60s is not the place of a share",
			 text ? text : "");
		return words;
	}
	if (!fits(x, place)) {
		snprintf(words, PART_ERR, "place:=%.60s does not agree with the sizes of the item",
			 text);
		return words;
	}
	return NULL;
}

bool
part_same(const struct img *x, const struct img *y)
{
	struct part_place a, b;
	char words[PART_ERR];
	struct part p;
	uint64_t hash;

	if (!part_is(x) || !part_is(y))
		return part_is(x) == part_is(y);
	if (part_of(x, &p, &hash, &a, words) || part_of(y, &p, &hash, &b, words) ||
	    a.ncut != b.ncut || a.empty != b.empty)
		return false;
	for (size_t i = 0; i < a.ncut; i++)
		if (a.cut[i].axis != b.cut[i].axis || a.cut[i].first != b.cut[i].first ||
		    a.cut[i].total != b.cut[i].total)
			return false;
	return true;
}

/* Moves tile:=x0 y0 W H of the rows from `first` on to the first row. */
static void
restore_tile(struct img *x, size_t first)
{
	const char *tile = img_key(x, "tile");
	ptrdiff_t v[4];

	if (tile && sscanf(tile, "%td %td %td %td", &v[0], &v[1], &v[2], &v[3]) == 4)
		img_change_key(x, "tile", "%td %td %td %td", v[0], v[1] - (ptrdiff_t)first, v[2],
			       v[3]);
}

void
part_restore(struct img *x, const struct part_place *place)
{
	for (size_t i = 0; i < place->ncut; i++) {
		const struct part_cut *c = &place->cut[i];

		x->axis[c->axis].n = c->total;
		x->axis[c->axis].min = c->min;
		if (place->tile && c->axis == img_row_axis(x) + 1)
			restore_tile(x, c->first);
	}
	if (!place->tile)
		img_drop_key(x, "tile");
	img_drop_key(x, "part");
	img_drop_key(x, "place");
	if (place->pnm)
		x->format = IMG_PNM;
}
