#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/stream/space.h"

/*
 * Takes a vector "(a,b,c)", or "none", which gives NaN. The first vector of a header sets *dim, and the others must be as long.
 * *s moves behind it. Returns false when the text is malformed.
 */
static bool
take_vector(char **s, int *dim, double v[IMG_MAXSPACE])
{
	char *at = *s + strspn(*s, " \t");
	int n = 0;

	for (int i = 0; i < IMG_MAXSPACE; i++)
		v[i] = NAN;
	if (!strncasecmp(at, "none", 4)) {
		*s = at + 4;
		return true;
	}
	if (*at != '(')
		return false;
	do {
		char *end;

		if (n == IMG_MAXSPACE)
			return false;
		v[n] = strtod(++at, &end);
		if (end == at || isinf(v[n++]))
			return false;
		at = end + strspn(end, " \t");
	} while (*at == ',');
	if (*at != ')' || (*dim && *dim != n))
		return false;
	*dim = n;
	*s = at + 1;
	return true;
}

static bool
is_finite(const double *v, int n)
{
	for (int i = 0; i < n; i++)
		if (!isfinite(v[i]))
			return false;
	return n > 0;
}

const char *
space_take_directions(struct img *x, char *s)
{
	for (int i = 0; i < x->dim; i++) {
		struct img_axis *a = &x->axis[i];
		double sum = 0;

		if (!take_vector(&s, &x->space.dim, a->step))
			return "space directions must be a vector (a,b,c) or none for each axis";
		a->directed = is_finite(a->step, x->space.dim);
		for (int k = 0; a->directed && k < x->space.dim; k++)
			sum += a->step[k] * a->step[k];
		if (sum > 0)
			a->spacing = sqrt(sum);
	}
	return s[strspn(s, " \t")] ? "space directions has more vectors than the item has axes"
				   : NULL;
}

const char *
space_take_origin(struct img *x, char *s)
{
	if (!take_vector(&s, &x->space.dim, x->space.origin) || s[strspn(s, " \t")])
		return "space origin must be a vector (a,b,c)";
	x->space.placed = is_finite(x->space.origin, x->space.dim);
	return NULL;
}

void
space_keep(struct img *x, const char *name, const char *value)
{
	const char *before = x->space.fields ? x->space.fields : "";
	char *text;

	if (asprintf(&text, "%s%s: %s\n", before, name, value) < 0)
		die("no memory for a field");
	free(x->space.fields);
	x->space.fields = text;
}

static void
put_vector(FILE *f, const double *v, int n)
{
	for (int i = 0; i < n; i++)
		fprintf(f, "%s%.17g", i ? "," : " (", v[i]);
	fputc(')', f);
}

void
space_put(FILE *f, const struct img *x)
{
	bool directed = false;

	if (x->space.fields)
		fputs(x->space.fields, f);
	for (int i = 0; i < x->dim; i++)
		directed |= x->axis[i].directed;
	if (directed) {
		fputs("space directions:", f);
		for (int i = 0; i < x->dim; i++)
			if (x->axis[i].directed)
				put_vector(f, x->axis[i].step, x->space.dim);
			else
				fputs(" none", f);
		fputc('\n', f);
	}
	if (x->space.placed) {
		fputs("space origin:", f);
		put_vector(f, x->space.origin, x->space.dim);
		fputc('\n', f);
	}
}
