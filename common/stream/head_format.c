/* Writes the header of a raw item as text in memory. Pure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/stream/img.h"
#include "common/stream/raw.h"
#include "common/stream/space.h"

static void
put_quoted(FILE *f, const char *s)
{
	fputs(" \"", f);
	for (; s && *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		fputc(*s == '\n' ? ' ' : *s, f);
	}
	fputc('"', f);
}

/* The fields to write: those that at least one axis has. */
struct said {
	bool kind, centre, spacing, min, label, unit;
};

static struct said
what_is_said(const struct img *x)
{
	struct said s = {0};

	for (int i = 0; i < x->dim; i++) {
		const struct img_axis *a = &x->axis[i];
		s.kind |= a->kind[0] != 0;
		s.spacing |= !isnan(a->spacing) && !a->directed;
		s.min |= !isnan(a->min) && !a->directed;
		s.centre |= a->centre != IMG_UNCENTRED;
		s.label |= a->label != NULL;
		s.unit |= a->unit != NULL;
	}
	s.centre |= s.min;
	return s;
}

/*
 * Other readers shift the origin by half a sample where a position has no centring, so this then says node. They do not where
 * the axis has a direction, and they refuse such an axis with a spacing or a position.
 */
static const char *
centre_word(const struct img_axis *a)
{
	if (a->centre == IMG_CELL)
		return "cell";
	if (a->centre == IMG_NODE)
		return "node";
	return a->directed || (isnan(a->min) && isnan(a->spacing)) ? "none" : "node";
}

static void
put_size(FILE *f, const struct img_axis *a)
{
	fprintf(f, " %zu", a->n);
}

static void
put_kind(FILE *f, const struct img_axis *a)
{
	fprintf(f, " %s", a->kind[0] ? a->kind : "none");
}

static void
put_centre(FILE *f, const struct img_axis *a)
{
	fprintf(f, " %s", centre_word(a));
}

static void
put_spacing(FILE *f, const struct img_axis *a)
{
	fprintf(f, " %.17g", a->directed ? NAN : a->spacing);
}

static void
put_min(FILE *f, const struct img_axis *a)
{
	fprintf(f, " %.17g", a->directed ? NAN : a->min);
}

static void
put_label(FILE *f, const struct img_axis *a)
{
	put_quoted(f, a->label);
}

static void
put_unit(FILE *f, const struct img_axis *a)
{
	put_quoted(f, a->unit);
}

static void
put_field(FILE *f, const struct img *x, const char *name, bool said,
	  void (*put)(FILE *f, const struct img_axis *a))
{
	if (!said)
		return;
	fprintf(f, "%s:", name);
	for (int i = 0; i < x->dim; i++)
		put(f, &x->axis[i]);
	fputc('\n', f);
}

static void
put_axes(FILE *f, const struct img *x)
{
	const struct said s = what_is_said(x);

	put_field(f, x, "sizes", true, put_size);
	put_field(f, x, "kinds", s.kind, put_kind);
	put_field(f, x, "centers", s.centre, put_centre);
	put_field(f, x, "spacings", s.spacing, put_spacing);
	put_field(f, x, "axis mins", s.min, put_min);
	put_field(f, x, "labels", s.label, put_label);
	put_field(f, x, "units", s.unit, put_unit);
	space_put(f, x);
}

static void
put_head(FILE *f, const struct img *x)
{
	fprintf(f, "NRRD0005\ntype: %s\ndimension: %d\n", img_type_name(x->type), x->dim);
	put_axes(f, x);
	if (img_type_size(x->type) > 1)
		fputs("endian: little\n", f);
	fputs("encoding: raw\n", f);
	for (size_t i = 0; i < x->nkey; i++)
		fprintf(f, "%s:=%s\n", x->key[i].name, x->key[i].value);
	/* A comment line of spaces ("#", spaces, newline) makes the header, with its empty line, a multiple of 64 bytes. */
	long used = ftell(f), fill = (64 - (used + 3) % 64) % 64;
	fprintf(f, "#%*s\n\n", (int)fill, "");
}

char *
raw_format(const struct img *x, size_t *n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, n);

	if (!f)
		return NULL;
	put_head(f, x);
	if (ferror(f) | fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
