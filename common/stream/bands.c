/* See common/stream/bands.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/stream/bands.h"

static const char name_of_key[] = "tiff.GDALMetadata";

/* An element: its text of n bytes, with the blanks before it; its tag; the digits of its plane, or NULL. */
struct element {
	const char *text, *tag, *digits;
	size_t n, tag_n, plane;
};

static bool
tag_has(const struct element *i, const char *word)
{
	return memmem(i->tag, i->tag_n, word, strlen(word));
}

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

/* Which elements stay, and the planes that are chosen where choose is set. */
struct edit {
	bool (*stays)(const struct element *);
	bool choose, back;
	size_t first, count;
};

static bool
is_no_statistic(const struct element *i)
{
	return !tag_has(i, "name=\"STATISTICS_");
}

static bool
is_no_scale(const struct element *i)
{
	return !tag_has(i, "role=\"scale\"") && !tag_has(i, "role=\"offset\"") &&
	       !tag_has(i, "role=\"unittype\"");
}

/* Appends the element, which has a plane, to f as that of another plane. */
static void
put_plane(FILE *f, const struct element *i, size_t plane)
{
	const char *const rest = i->digits + strspn(i->digits, "0123456789");

	fwrite(i->text, 1, (size_t)(i->digits - i->text), f);
	fprintf(f, "%zu", plane);
	fwrite(rest, 1, (size_t)(i->text + i->n - rest), f);
}

/* Appends the element to f as the edit says. Returns whether it stays. */
static bool
put_element(FILE *f, const struct element *i, const struct edit *e)
{
	const size_t at = i->plane - e->first;

	if ((e->stays && !e->stays(i)) || (e->choose && i->digits && at >= e->count))
		return false;
	if (e->choose && i->digits)
		put_plane(f, i, e->back ? e->count - 1 - at : at);
	else
		fwrite(i->text, 1, i->n, f);
	return true;
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
		any |= put_element(f, &i, &e);
		text = i.text + i.n;
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
	edit_key(x, (struct edit){.stays = is_no_statistic});
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
	edit_key(x, (struct edit){.stays = is_no_scale});
	if (!img_key(x, "nodata"))
		return;
	if (img_is_float(x->type))
		img_change_key(x, "nodata", "nan");
	else
		img_drop_key(x, "nodata");
}
