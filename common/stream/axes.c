#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/file.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/words.h"
#include "common/stream/axes.h"
#include "common/stream/nodata.h"

/* ---- what GDAL says of planes ---- */

static const char name_of_key[] = "tiff.GDALMetadata";

/* An element: its text of n bytes, with the blanks before it; its tag; the digits of its plane, or NULL. */
struct element {
	const char *text, *tag, *digits;
	size_t n, tag_n, plane;
};

/* Finds the first element in the text. Returns false when there is none that is whole. */
static bool
find_element(const char *text, struct element *i)
{
	static const char sample[] = " sample=\"", end[] = "</Item>";
	const char *const tag = strstr(text, "<Item "),
			  *const close = tag ? strchr(tag, '>') : NULL,
			  *const last = close ? strstr(close, end) : NULL;

	if (!last)
		return false;
	*i = (struct element){.text = tag, .tag = tag, .tag_n = (size_t)(close - tag)};
	while (i->text > text && strchr(" \t\r\n", i->text[-1]))
		i->text--;
	i->n = (size_t)(last - i->text) + strlen(end);
	i->digits = memmem(tag, i->tag_n, sample, strlen(sample));
	if (i->digits) {
		i->digits += strlen(sample);
		i->plane = strtoul(i->digits, NULL, 10);
	}
	return true;
}

/* --- choices ---------------------------------------------------------------------------------------------------------- */

/* The attributes of elements that go, and the planes that are chosen where choose is set. */
struct edit {
	const char *goes[3];
	bool choose, back;
	size_t first, count;
};

/* Appends the element, which has a plane, to f as that of another plane. */
static void
put_plane(FILE *f, const struct element *i, size_t plane)
{
	const char *const rest = i->digits + strspn(i->digits, "0123456789");

	fwrite(i->text, 1, (size_t)(i->digits - i->text), f);
	fprintf(f, "%zu", plane);
	fwrite(rest, 1, (size_t)(i->text + i->n - rest), f);
}

static FILE *
open_key(char **made, size_t *n)
{
	FILE *f = open_memstream(made, n);

	if (!f)
		die("no memory for a key");
	return f;
}

static void
close_key(FILE *f)
{
	const bool failed = ferror(f);

	if (fclose(f) || failed)
		die("no memory for a key");
}

static void
edit_key(struct img *x, struct edit e)
{
	const char *text = img_key(x, name_of_key);
	bool any = false;
	char *made;
	size_t n;
	struct element i;

	if (!text)
		return;
	FILE *f = open_key(&made, &n);
	while (find_element(text, &i)) {
		fwrite(text, 1, (size_t)(i.text - text), f);
		text = i.text + i.n;
		const size_t at = i.plane - e.first;
		const bool chosen = e.choose && i.digits;
		bool goes = chosen && at >= e.count;
		for (int k = 0; k < 3 && e.goes[k]; k++)
			goes |= memmem(i.tag, i.tag_n, e.goes[k], strlen(e.goes[k])) != NULL;
		if (goes)
			continue;
		any = true;
		if (chosen)
			put_plane(f, &i, e.back ? e.count - 1 - at : at);
		else
			fwrite(i.text, 1, i.n, f);
	}
	fputs(text, f);
	close_key(f);
	if (any)
		img_change_key(x, name_of_key, "%s", made);
	else
		img_drop_key(x, name_of_key);
	free(made);
}

void
bands_drop_statistics(struct img *x)
{
	edit_key(x, (struct edit){.goes = {"name=\"STATISTICS_"}});
}

void
bands_choose(struct img *x, size_t first, size_t count, bool back)
{
	edit_key(x, (struct edit){.choose = true, .back = back, .first = first, .count = count});
}

void
bands_append(struct img *x, const struct img *from, size_t first)
{
	static const char close[] = "</GDALMetadata>";
	const char *old = img_key(x, name_of_key), *text = img_key(from, name_of_key);
	const char *end = old ? strstr(old, close) : NULL;
	char *made;
	size_t n;
	struct element i;

	if (!text || (old && !end))
		return;
	FILE *f = open_key(&made, &n);
	if (old)
		fwrite(old, 1, (size_t)(end - old), f);
	else
		fputs("<GDALMetadata>", f);
	for (; find_element(text, &i); text = i.text + i.n)
		if (i.digits)
			put_plane(f, &i, first + i.plane);
	fputs(old ? end : close, f);
	close_key(f);
	img_set_key(x, name_of_key, "%s", made);
	free(made);
}

void
bands_renew(struct img *x)
{
	edit_key(x,
		 (struct edit){.goes = {"role=\"scale\"", "role=\"offset\"", "role=\"unittype\""}});
	nodata_renew(x);
}

/* ---- AXIS:INDEX ---- */

bool
axis_take(const char **text, size_t *axis)
{
	static const char letters[] = "xyzc";
	const char *letter = **text ? strchr(letters, **text) : NULL;
	char *end;

	if (letter) {
		*axis = AXIS_NAMED + (size_t)(letter - letters);
		++*text;
		return true;
	}
	if (!isdigit((unsigned char)**text))
		return false;
	*axis = strtoul(*text, &end, 10);
	*text = end;
	return *axis < IMG_MAXDIM;
}

size_t
axis_of(const struct img *x, size_t axis)
{
	const size_t row = x ? (size_t)img_row_axis(x) : 0, c = AXIS_NAMED + 3;

	return !x || axis < AXIS_NAMED || (axis == c && !row) ? axis
	       : axis == c				      ? 0
							      : axis + row - AXIS_NAMED;
}

int
slice_parse(const char *text, struct slice *s)
{
	return axis_take(&text, &s->axis) && *text == ':' && opt_size(text + 1, &s->index) ? 0 : -1;
}

/*
 * Sees the payload as [outer][n][inner] and keeps row `index` of each n. This works in place: it only writes over what it has
 * already read.
 */
static void
cut(struct img *x, const struct slice *s)
{
	size_t inner = img_type_size(x->type), outer = 1, n = x->axis[s->axis].n;
	char *data = x->data;

	for (size_t i = 0; i < (size_t)x->dim; i++) {
		if (i < s->axis)
			inner *= x->axis[i].n;
		if (i > s->axis)
			outer *= x->axis[i].n;
	}
	for (size_t o = 0; o < outer; o++)
		memmove(data + o * inner, data + (o * n + s->index) * inner, inner);
	img_drop_axis(x, (int)s->axis);
}

static int
check_slices(const struct img *x, const struct slice *s, size_t n, struct why *why)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i].axis >= AXIS_NAMED)
			return why_set(why, "the item has no axis c");
		if (s[i].axis >= (size_t)x->dim)
			return why_set(why, "the item has no axis %zu", s[i].axis);
		if (s[i].index >= x->axis[s[i].axis].n)
			return why_set(why, "axis %zu has %zu samples", s[i].axis,
				       x->axis[s[i].axis].n);
		for (size_t k = 0; k < i; k++)
			if (s[k].axis == s[i].axis)
				return why_set(why, "the same axis is cut twice");
	}
	return 0;
}

int
slice_apply(struct img *x, const struct slice *given, size_t n, struct why *why)
{
	struct slice s[IMG_MAXDIM];

	for (size_t i = 0; i < n; i++)
		s[i] = (struct slice){axis_of(x, given[i].axis), given[i].index};
	if (check_slices(x, s, n, why))
		return -1;
	/* From the slowest axis down: a cut does not change the numbers of faster axes. */
	for (size_t axis = (size_t)x->dim; axis-- > 0;)
		for (size_t i = 0; i < n; i++)
			if (s[i].axis == axis)
				cut(x, &s[i]);
	return 0;
}

bool
axis_counts_pixels(const struct img *x, int axis)
{
	bool stated = false;
	char key[32];

	for (int i = 0; i < 2; i++) {
		snprintf(key, sizeof key, "fits.%s%d", i ? "CDELT" : "CRVAL", axis + 1);
		stated |= img_key(x, key) && strstr(img_key(x, key), AXIS_STATED);
	}
	return !stated && img_key(x, "fits.NAXIS");
}

static const char blanks[] = " \t\n\r";

/* --- lists of words ---------------------------------------------------------------------------------------------------- */

/* Goes to the next word of a text and returns its length, 0 at the end. */
static size_t
next_word(const char **text)
{
	*text += strspn(*text, blanks);
	return strcspn(*text, blanks);
}

size_t
axiskeys_count(const char *text)
{
	size_t n = 0;

	for (size_t k; (k = next_word(&text)); text += k)
		n++;
	return n;
}

/* Place i of what is taken of an axis, as a place of the whole axis. */
static size_t
place(const struct axis_choice *c, size_t i)
{
	return c->first + (c->back ? c->count - 1 - i : i);
}

/* Sets the key to n words, each of which ends at a blank or the end of a text, and frees their list. */
static void
set_words(struct img *y, const char *key, const char **word, size_t n)
{
	size_t room = 1;

	for (size_t i = 0; i < n; i++)
		room += strcspn(word[i], blanks) + 1;
	char *text = weir_xalloc(room, 1), *s = text;
	*s = 0;
	for (size_t i = 0; i < n; i++)
		s += sprintf(s, i ? " %.*s" : "%.*s", (int)strcspn(word[i], blanks), word[i]);
	img_set_key(y, key, "%s", text);
	weir_free_all(text, word);
}

/* Splits the text into its n words. The caller frees the list. */
static const char **
split(const char *text, size_t n)
{
	const char **word = weir_xalloc(n, sizeof *word);

	for (size_t i = 0; i < n; text += strcspn(text, blanks), i++) {
		next_word(&text);
		word[i] = text;
	}
	return word;
}

/* --- maps --------------------------------------------------------------------------------------------------------------- */

/* Exchanges columns and rows of ground control points: column, row, 0, x, y, z. */
static void
transpose_points(struct img *y)
{
	const char *text = img_key(y, "geotiff.tiepoints");
	const size_t n = text ? axiskeys_count(text) : 0;

	if (!n || n % 6)
		return;
	const char **word = split(text, n);

	for (size_t i = 0; i < n; i += 6) {
		const char *const column = word[i];
		word[i] = word[i + 1];
		word[i + 1] = column;
	}
	set_words(y, "geotiff.tiepoints", word, n);
}

void
axiskeys_choose_planes(struct img *y, const struct axis_choice *c)
{
	char *kind = y->axis[0].kind;
	const bool opaque = !strcmp(kind, "RGBA-color") && !c->first && c->count == 3 && !c->back;

	if (c->count == c->n && !c->back)
		return;
	img_drop_key(y, "tupltype");
	if (!strcmp(kind, "list"))
		return;
	strcpy(kind, opaque ? "RGB-color" : "vector");
	img_drop_key(y, "tiff.extrasamples");
	img_drop_key(y, "tiff.photometric");
	bands_choose(y, c->first, c->count, c->back);
}

void
axiskeys_follow_map(const struct img *x, struct img *y, const int *from)
{
	const int row = img_row_axis(x), to = img_row_axis(y);
	const bool picture = y->dim > to + 1;
	double g[6];

	if (picture && from[to] == row + 1 && from[to + 1] == row) {
		transpose_points(y);
		if (word_reals(img_key(y, "geotransform"), ' ', g, 6) == 6)
			img_set_key(y, "geotransform", "%.17g %.17g %.17g %.17g %.17g %.17g", g[0],
				    g[2], g[1], g[3], g[5], g[4]);
	} else if (!picture || from[to] != row || from[to + 1] != row + 1) {
		img_drop_key(y, "geotransform");
		img_drop_key(y, "geotiff.tiepoints");
	}
}

/* --- lists of traces ---------------------------------------------------------------------------------------------------- */

/* Sets the key to the list `text` of c[0].n words, or of c[0].n * c[1].n, after the choice. */
static void
choose(struct img *y, const char *key, const char *text, size_t n, const struct axis_choice c[2],
       bool exchanged)
{
	const bool both = exchanged || n != c[0].n;
	const struct axis_choice *fast = &c[exchanged], *slow = &c[!exchanged];
	const size_t rows = both ? slow->count : 1;
	const char **word = split(text, n), **kept = weir_xalloc(rows, fast->count * sizeof *kept);
	size_t at = 0;

	for (size_t k = 0; k < rows; k++)
		for (size_t i = 0; i < fast->count; i++) {
			const size_t trace = place(&c[0], exchanged ? k : i);
			const size_t gather = n == c[0].n ? 0 : place(&c[1], exchanged ? i : k);
			kept[at++] = word[gather * c[0].n + trace];
		}
	set_words(y, key, kept, at);
	weir_free(word);
}

enum { LISTS = 4 };
static const char *const names[LISTS] = {"offsets", "offset-x", "offset-y", "traces"};

void
axiskeys_choose_traces(struct img *y, const struct axis_choice c[2], bool exchanged)
{
	for (size_t i = 0; i < LISTS; i++) {
		const char *text = img_key(y, names[i]);
		const size_t n = text ? axiskeys_count(text) : 0;
		if (!n || (n != c[0].n && (n % c[0].n || n / c[0].n != c[1].n)))
			continue;
		choose(y, names[i], text, n, c, exchanged);
	}
}

void
axiskeys_reshape_traces(struct img *y, int k, bool split)
{
	const size_t one = y->dim > 1 ? y->axis[1].n : 1,
		     both = y->dim > 2 ? one * y->axis[2].n : one;

	for (size_t i = 0; i < LISTS; i++) {
		const char *text = img_key(y, names[i]);
		const size_t n = text ? axiskeys_count(text) : 0;
		const int last = n == one ? 1 : n == both ? 2 : 0; /* axis of the list */
		if (!last || k > last)
			continue;
		if (!k || (split && last == 2)) {
			img_drop_key(y, names[i]);
		} else if (last == k && !split) {
			const size_t times = y->axis[k + 1].n;
			char *list = weir_xalloc(times, strlen(text) + 1), *s = list;
			for (size_t r = 0; r < times; r++)
				s += sprintf(s, r ? " %s" : "%s", text);
			img_set_key(y, names[i], "%s", list);
			weir_free(list);
		}
	}
}

void
axiskeys_lay_traces(struct img *y, const struct img *x, size_t first)
{
	const size_t part = x->dim > 1 ? x->axis[1].n : 0, whole = part ? y->axis[1].n : 0;

	for (size_t i = 0; i < LISTS && part != whole; i++) {
		const char *text = img_key(x, names[i]), *old = img_key(y, names[i]);
		const size_t n = text ? axiskeys_count(text) : 0, all = n / part * whole;
		if (!n || n % part)
			continue;
		const bool known = old && axiskeys_count(old) == all;
		const char **add = split(text, n),
			   **word = known ? split(old, all) : weir_xalloc(all, sizeof *word);
		for (size_t k = 0; !known && k < all; k++)
			word[k] = "nan";
		for (size_t k = 0; k < n; k++)
			word[k / part * whole + first + k % part] = add[k];
		set_words(y, names[i], word, all);
		weir_free(add);
	}
}

/* Whether all items have the same text under a key, or none has the key. */
static bool
all_same(const struct img *x, size_t n, const char *name)
{
	const char *first = img_key(&x[0], name);

	for (size_t i = 1; i < n; i++) {
		const char *text = img_key(&x[i], name);
		if (!first != !text || (first && strcmp(first, text)))
			return false;
	}
	return true;
}

/* Makes one list of the items' lists. Returns false when an item has none with a number for each trace. */
static bool
stack_list(struct img *y, const struct img *x, size_t n, const char *name)
{
	size_t room = 1;

	for (size_t i = 0; i < n; i++) {
		const char *text = img_key(&x[i], name);
		if (!text || x[i].dim != 2 || axiskeys_count(text) != x[i].axis[1].n)
			return false;
		room += strlen(text) + 1;
	}
	char *list = weir_xalloc(room, 1), *s = list;
	for (size_t i = 0; i < n; i++)
		s += sprintf(s, i ? " %s" : "%s", img_key(&x[i], name));
	img_set_key(y, name, "%s", list);
	weir_free(list);
	return true;
}

bool
axiskeys_stack_traces(struct img *y, const struct img *x, size_t n)
{
	bool whole = true;

	for (size_t i = 0; i < LISTS; i++) {
		if (all_same(x, n, names[i]) || stack_list(y, x, n, names[i]))
			continue;
		img_drop_key(y, names[i]);
		whole = false;
	}
	return whole;
}

/* --- numbers of traces -------------------------------------------------------------------------------------------------- */

/* Reads all finite numbers of a text. Returns NULL and a count of 0 when it has anything else, or nothing. Caller frees. */
static double *
numbers(const char *text, size_t *n)
{
	const size_t most = strlen(text) / 2 + 1;
	double *v = weir_xalloc(most, sizeof *v);

	*n = word_reals(text, ' ', v, most);
	for (size_t i = 0; i < *n; i++)
		*n = isfinite(v[i]) ? *n : 0;
	if (!*n)
		weir_free(v);
	return *n ? v : NULL;
}

double *
axiskeys_read_numbers(const char *path, size_t *n)
{
	FILE *f = file_open(path);
	char *text = NULL;
	size_t size = 0;
	const ssize_t got = getdelim(&text, &size, 0, f);

	if (ferror(f))
		die("%s: %s", path, strerror(errno));
	fclose(f);
	double *v = got > 0 ? numbers(text, n) : NULL;
	free(text);
	if (!v)
		die("%s: not a list of finite numbers", path);
	return v;
}

/* Reads a key. Sets *v to NULL and the count to 0 where there is none. Returns 0, or -1 where its text is no list. */
static int
numbers_of_key(const struct img *x, const char *name, double **v, size_t *n, struct why *why)
{
	const char *text = img_key(x, name);

	*n = 0;
	*v = text ? numbers(text, n) : NULL;
	return text && !*v ? why_set(why, "%s:= is not a list of finite numbers", name) : 0;
}

double *
axiskeys_offsets(const struct img *x, size_t per, bool axis, size_t *n, struct why *why)
{
	const struct img_axis *t = &x->axis[1];
	double *v = NULL, *a = NULL, *b = NULL;
	size_t nx, ny;

	if (per == 1 && (numbers_of_key(x, names[0], &v, n, why) || v))
		return v;
	const bool bad =
	    numbers_of_key(x, names[1], &a, &nx, why) || numbers_of_key(x, names[2], &b, &ny, why);
	const bool known = isfinite(t->min) && (t->n < 2 || isfinite(t->spacing));

	if (!bad && nx != ny) {
		why_set(why, "%zu numbers in offset-x:=, and %zu in offset-y:=", nx, ny);
	} else if (!bad && nx) {
		*n = per * nx;
		v = weir_xalloc(*n, sizeof *v);
		for (size_t j = 0; j < nx; j++) {
			v[per * j] = per == 2 ? a[j] : hypot(a[j], b[j]);
			v[per * j + per - 1] = per == 2 ? b[j] : v[j];
		}
	} else if (!bad && per == 1 && axis && known) {
		*n = t->n;
		v = weir_xalloc(*n, sizeof *v);
		for (size_t j = 0; j < *n; j++)
			v[j] = t->min + (*n > 1 ? (double)j * t->spacing : 0);
	} else if (!bad) {
		why_set(why, per == 2 ? "no offsets in a plane: give --offsets, or the keys "
					"offset-x:= and offset-y:="
				      : "no offsets: give --offsets, an offsets:= key or a trace "
					"axis with min and spacing");
	}
	weir_free_all(a, b);
	return v;
}

void
axiskeys_set_numbers(struct img *x, const char *key, const double *v, size_t n, size_t step)
{
	char *text = weir_xalloc(n, 26), *s = text;

	for (size_t i = 0; i < n; i++) {
		const int got = sprintf(s, i ? " %.15g" : "%.15g", v[i * step]);
		s += strtod(s, NULL) == v[i * step]
			 ? got
			 : sprintf(s, i ? " %.17g" : "%.17g", v[i * step]);
	}
	img_set_key(x, key, "%s", text);
	weir_free(text);
}

int
axiskeys_times(const struct img *x, double *dt, double *t0, struct why *why)
{
	const struct img_axis *a = &x->axis[0];

	*dt = a->spacing;
	*t0 = isfinite(a->min) ? a->min : 0;
	if (*dt > 0 && isfinite(*dt))
		return 0;
	return why_set(why, "axis 0 has no spacing above 0: how many seconds lie between samples?");
}
