#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/opt.h"
#include "radon/stream/heads.h"

const char *const radon_curve_names[RADON_CURVES] = {"parabolic", "linear", "foster-mosher",
						     "hyperbolic"};

static void
set_number(char *to, size_t room, double v)
{
	snprintf(to, room, "%.15g", v);
	if (strtod(to, NULL) != v)
		snprintf(to, room, "%.17g", v);
}

/* Sets a key to n numbers, every `step`-th from v on. */
static void
set_key(struct img *x, const char *name, const double *v, size_t n, size_t step)
{
	char *text = weir_xalloc(n, 26), *s = text;

	for (size_t i = 0; i < n; i++) {
		if (i)
			*s++ = ' ';
		set_number(s, 25, v[i * step]);
		s += strlen(s);
	}
	img_set_key(x, name, "%s", text);
	weir_free(text);
}

static void
key_offsets(const struct gathers *s, struct img *x, const double *v, size_t n)
{
	img_drop_key(x, "offsets");
	img_drop_key(x, "offset-x");
	img_drop_key(x, "offset-y");
	if (s->per == 1) {
		set_key(x, "offsets", v, n, 1);
		return;
	}
	set_key(x, "offset-x", v, n / 2, 2);
	set_key(x, "offset-y", v + 1, n / 2, 2);
}

/* Sets the item's offsets from the file. They are the same for all planes, or those of its planes one after the other. */
static void
key_of_file(const struct gathers *s, struct img *x)
{
	const size_t n = s->shape.nx * s->per;

	if (s->nfile == n)
		key_offsets(s, x, s->file, n);
	else
		key_offsets(s, x, s->file + s->at - (s->plane + 1) * n, s->planes * n);
}

static const char *
or_none(const char *text)
{
	return text && *text ? text : "-";
}

static void
set_curves(struct img_axis *q, size_t n, double first, double apart, const char *label)
{
	q->n = n;
	q->min = first;
	q->spacing = n > 1 ? apart : NAN;
	img_set_label(q, label);
	img_set_unit(q, "s");
}

static void
head_of_panel(const struct gathers *s, struct gather *g)
{
	const struct gathers_options *o = s->o;
	struct img *x = &g->head;
	struct img_axis *t = &x->axis[0], *q = &x->axis[1];
	const size_t nr = g->o.nr;

	img_leave_space(x);
	img_set_key(x, "radon_curve", "%s %.17g %.17g", radon_curve_names[s->curve], s->reference,
		    s->depth);
	img_set_key(x, "radon_gather", "%zu %zu %.17g", g->o.nx, g->o.nt, g->o.t0);
	img_set_key(x, "radon_trace", "%.17g %.17g %s %s", q->min, q->spacing, or_none(q->unit),
		    or_none(q->label));
	if (s->file)
		key_of_file(s, x);
	else if (!nr && !img_key(x, "offsets"))
		key_offsets(s, x, s->offset, s->noffset);
	t->n = o->cut ? g->o.nt : g->ntau;
	t->min = o->cut ? g->o.t0 : g->o.t0 - (double)g->lead * g->o.dt;
	set_curves(q, nr ? g->o.nq / nr : g->o.nq, g->o.q0, g->o.dq, nr ? "qx" : "q");
	img_set_label(t, "tau");
	img_set_unit(t, "s");
	if (s->curve == RADON_HYPERBOLIC)
		img_set_unit(q, "s^2");
	if (!nr)
		return;
	img_set_key(x, "radon_azimuth", "%.17g", s->azimuth);
	img_insert_axis(x, 2, nr, q->kind);
	set_curves(&x->axis[2], nr, g->o.r0, g->o.dr, "qy");
}

static void
head_of_gather(const struct gathers *s, struct gather *g)
{
	const char *key = img_key(&s->item, "radon_trace");
	struct img *x = &g->head;
	struct img_axis *t = &x->axis[0], *a = &x->axis[1];
	char unit[64] = "-", label[64] = "trace";

	img_leave_space(x);
	if (s->file)
		key_of_file(s, x);
	t->n = g->o.nt;
	t->min = g->o.t0;
	a->n = g->o.nx;
	a->min = a->spacing = NAN;
	if (key && sscanf(key, "%lf %lf %63s %63[^\n]", &a->min, &a->spacing, unit, label) < 3)
		a->min = a->spacing = NAN;
	if (s->file)
		a->min = a->spacing = NAN;
	img_set_label(t, "t");
	img_set_label(a, strcmp(label, "-") ? label : NULL);
	img_set_unit(a, strcmp(unit, "-") ? unit : NULL);
	if (s->per == 2)
		img_drop_axis(x, 2);
	img_drop_key(x, "radon_azimuth");
	img_drop_key(x, "radon_curve");
	img_drop_key(x, "radon_gather");
	img_drop_key(x, "radon_trace");
}

void
head_of_result(const struct gathers *s, struct gather *g)
{
	img_copy_head(&g->head, &s->item);
	g->head.type = IMG_F32;
	g->head.format = IMG_RAW;
	if (g->o.mode == RADON_MODEL)
		head_of_gather(s, g);
	else if (!g->o.subtract)
		head_of_panel(s, g);
	opt_add_history(&g->head, s->o->common);
}
