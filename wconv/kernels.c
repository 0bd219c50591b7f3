#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/sample.h"
#include "common/base/words.h"
#include "common/stream/axes.h"
#include "wconv/kernels.h"
#include "wconv/plan.h"

/* --- shapes -------------------------------------------------------------------------------------------------------- */

/* Finds the kernels in a sheet, where gx x gy of them stand side by side. */
static int
cut_sheet(const struct img *x, size_t gx, size_t gy, struct wconv_problem *q, struct why *why)
{
	const size_t w = x->axis[0].n, h = x->dim > 1 ? x->axis[1].n : 1;

	if (w % gx || h % gy)
		return why_set(why, "a sheet of %zux%zu cannot be cut into %zux%zu kernels", w, h,
			       gx, gy);
	q->gx = gx;
	q->gy = gy;
	q->kw = w / gx;
	q->kh = h / gy;
	q->step_row = w;
	q->step_x = q->kw;
	q->step_y = q->kh * w;
	return 0;
}

/* Finds the kernels in an item of axes kx ky [gx [gy]], where they stand one after the other. */
static void
list_kernels(const struct img *x, struct wconv_problem *q)
{
	q->kw = x->axis[0].n;
	q->kh = x->dim > 1 ? x->axis[1].n : 1;
	q->gx = x->dim > 2 ? x->axis[2].n : 1;
	q->gy = x->dim > 3 ? x->axis[3].n : 1;
	q->step_row = q->kw;
	q->step_x = q->kw * q->kh;
	q->step_y = q->step_x * q->gx;
}

int
wconv_parse_basis(const char *text, int *degree)
{
	const char *at = text + 5;
	size_t d;

	if (strncmp(text, "poly:", 5) || !word_size_before(&at, '\0', &d) || d > WCONV_DEGREE)
		return -1;
	*degree = (int)d;
	return 0;
}

/* Decides between a grid and a basis: by the command line, else by the file. */
static int
find_degree(const struct img *x, const struct wconv_ask *ask, struct wconv_problem *q,
	    struct why *why)
{
	const char *text = img_key(x, "basis");

	q->degree = ask->degree;
	if (ask->degree >= 0 || !text)
		return 0;
	if (wconv_parse_basis(text, &q->degree))
		return why_set(why, "basis:=%.40s is not poly:DEG, a degree in 0..%d", text,
			       WCONV_DEGREE);
	if (ask->col || ask->row || ask->place != WCONV_PLACE_UNSAID)
		return why_set(
		    why, "basis:=%.40s has no nodes: it excludes --place, --cols and --rows", text);
	return 0;
}

static int
find_shape(const struct img *x, const struct wconv_ask *ask, struct wconv_problem *q,
	   struct why *why)
{
	const size_t need =
	    q->degree < 0 ? 0 : (size_t)(q->degree + 1) * (size_t)(q->degree + 2) / 2;
	struct img_picture p;

	if (x->dim > 4 || img_is_complex(x) || (x->dim < 4 && img_picture(x, &p) && p.c > 1))
		return why_set(why,
			       "kernels are real, of axes `x y`, or in a grid `x y column row`");
	if (ask->gx && x->dim > 2)
		return why_set(why, "--grid is for a sheet of kernels; this file has %d axes",
			       x->dim);
	if (ask->gx && cut_sheet(x, ask->gx, ask->gy, q, why))
		return -1;
	if (!ask->gx)
		list_kernels(x, q);
	q->kd = !need && x->dim == 3 ? q->gx : 0;
	if (q->kd && (ask->col || ask->row || ask->place != WCONV_PLACE_UNSAID))
		return why_set(why,
			       "three axes are one kernel `x y z`, or coefficients for --basis; "
			       "a grid has four, `x y column row`");
	if (q->kd) /* one kernel: it needs no nodes */
		q->gx = 1;
	if (need && q->gx * q->gy != need)
		return why_set(why, "a basis poly:%d needs %zu kernels, not %zu", q->degree, need,
			       q->gx * q->gy);
	return 0;
}

static int
convert(struct wconv_kernels *k, bool in_double)
{
	size_t n;

	if (k->file.type == (in_double ? IMG_F64 : IMG_F32))
		return 0;
	if (!img_count(&k->file, &n))
		return -1;
	double *v = weir_alloc(n, sizeof *v);
	if (!v)
		return -1;
	sample_load(v, k->file.data, k->file.type, n);
	k->samples = v;
	if (!in_double) /* this works in place: each float lies at or before its double */
		for (size_t i = 0; i < n; i++) {
			const float f = (float)v[i];
			memcpy((char *)v + i * sizeof f, &f, sizeof f);
		}
	return 0;
}

/* Returns the Gaussian of these sizes at sample i of an array of n, whose middle is its centre; 0 where it has ended. */
static double
gaussian_at(size_t i, const size_t n[3], const double size[3], int axes)
{
	double square = 0;

	for (int a = 0; a < axes; i /= n[a++]) {
		const double d = fabs((double)(i % n[a]) - (double)(n[a] / 2));
		if (d > floor(4 * size[a] + .5))
			return 0;
		square += d > 0 ? pow(d / size[a], 2) : 0;
	}
	return exp(-.5 * square);
}

int
wconv_make_kernel(struct img *file, const struct wconv_made *m)
{
	size_t n[3], all = 1;

	for (int a = 0; a < 3; a++)
		n[a] = m->box ? (size_t)m->size[0][a]
			      : 2 * (size_t)(4 * fmax(m->size[0][a], m->size[1][a]) + .5) + 1;
	img_init(file, IMG_F64, m->axes < 3 ? 2 : 3, n);
	if (img_alloc(file) || !img_count(file, &all))
		return -1;
	double *v = file->data;
	for (int k = 0; k < 1 + m->less; k++) {
		double sum = m->box ? (double)all : 0;
		for (size_t i = 0; !m->box && i < all; i++)
			sum += gaussian_at(i, n, m->size[k], file->dim);
		for (size_t i = 0; i < all; i++)
			v[i] = (k ? v[i] : 0) -
			       (k ? 1 : -1) *
				   (m->box ? 1 : gaussian_at(i, n, m->size[k], file->dim)) / sum;
	}
	return 0;
}

int
wconv_take_kernels(struct wconv_kernels *k, struct img *file, const struct wconv_ask *ask,
		   struct wconv_problem *q, struct why *why)
{
	*k = (struct wconv_kernels){.file = *file};
	*file = (struct img){0};
	q->in_double = ask->in_double;
	if (find_degree(&k->file, ask, q, why) || find_shape(&k->file, ask, q, why))
		return -1;
	q->cx = q->kw / 2;
	q->cy = q->kh / 2;
	q->cz = q->kd / 2;
	k->node_x = weir_alloc(q->gx, sizeof *k->node_x);
	k->node_y = weir_alloc(q->gy, sizeof *k->node_y);
	if (!k->node_x || !k->node_y || convert(k, ask->in_double))
		return why_set(why, "no memory");
	q->kernels = k->samples ? k->samples : k->file.data;
	return 0;
}

void
wconv_drop_kernels(struct wconv_kernels *k)
{
	img_free(&k->file);
	weir_free_all(k->samples, k->node_x, k->node_y);
	*k = (struct wconv_kernels){0};
}

/* --- places -------------------------------------------------------------------------------------------------------- */

static void
spread_nodes(double *node, size_t g, double n, int place)
{
	for (size_t i = 0; i < g; i++)
		if (g == 1)
			node[i] = (n - 1) / 2;
		else if (place == WCONV_CORNER)
			node[i] = (double)i * (n - 1) / (double)(g - 1);
		else
			node[i] = ((double)i + .5) * n / (double)g - .5;
}

/* Makes positions in the original picture positions in the one at hand, whose first pixel is pixel `corner` of it. */
static int
count_from(double *position, size_t n, double corner, struct why *why)
{
	if (isnan(corner))
		return why_set(why, "the kernels have places in the original picture, and the "
				    "one at hand is flipped; flip the result instead");
	for (size_t i = 0; i < n; i++)
		position[i] -= corner;
	return 0;
}

/* Places the nodes of one direction: by the command line, else by the key, else by the axis, else evenly over n pixels. */
static int
find_nodes(const struct wconv_kernels *k, const struct wconv_ask *ask, bool y, size_t n, size_t g,
	   double corner, double *node, struct why *why)
{
	const char *key = y ? "rows" : "cols", *text = img_key(&k->file, key);
	const double *given = y ? ask->row : ask->col;
	const size_t ngiven = y ? ask->nrow : ask->ncol;
	const struct img_axis *a = &k->file.axis[y ? 3 : 2];

	if (given && ngiven != g)
		return why_set(why, "--%s has %zu positions for %zu kernels", key, ngiven, g);
	if (given) {
		memcpy(node, given, g * sizeof *node);
	} else if (ask->place != WCONV_PLACE_UNSAID) {
		spread_nodes(node, g, (double)n, ask->place);
	} else if (text) {
		if (word_reals(text, ' ', node, g) != g)
			return why_set(why, "%s:=%.40s is not %zu numbers", key, text, g);
		return count_from(node, g, corner, why);
	} else if (k->file.dim == 4 && isfinite(a->min) && isfinite(a->spacing) &&
		   !axis_counts_pixels(&k->file, y ? 3 : 2)) {
		for (size_t i = 0; i < g; i++)
			node[i] = a->min + (double)i * a->spacing;
		return count_from(node, g, corner, why);
	} else {
		text = img_key(&k->file, "place");
		if (text && strcmp(text, "corner") && strcmp(text, "centre"))
			return why_set(why, "place:=%.40s is neither centre nor corner", text);
		spread_nodes(node, g, (double)n,
			     text && text[1] == 'o' ? WCONV_CORNER : WCONV_CENTRE);
	}
	return 0;
}

/* Reads the two numbers of a key into *x and *y, which keep their values if the file lacks the key. */
static int
find_pair(const struct wconv_kernels *k, const char *key, double *x, double *y, struct why *why)
{
	const char *text = img_key(&k->file, key);
	double v[2];

	if (!text)
		return 0;
	if (word_reals(text, ' ', v, 2) != 2 || !isfinite(v[0]) || !isfinite(v[1]))
		return why_set(why, "%s:=%.40s is not two numbers", key, text);
	*x = v[0];
	*y = v[1];
	return 0;
}

static int
place_polynomials(const struct wconv_kernels *k, const double corner[2], struct wconv_problem *q,
		  struct why *why)
{
	q->zero_x = ((double)q->W - 1) / 2;
	q->zero_y = ((double)q->H - 1) / 2;
	q->scale_x = (double)q->W / 2;
	q->scale_y = (double)q->H / 2;
	if (find_pair(k, "zero", &q->zero_x, &q->zero_y, why) ||
	    find_pair(k, "scale", &q->scale_x, &q->scale_y, why))
		return -1;
	if (img_key(&k->file, "zero") && (count_from(&q->zero_x, 1, corner[0], why) ||
					  count_from(&q->zero_y, 1, corner[1], why)))
		return -1;
	return q->scale_x != 0 && q->scale_y != 0 ? 0 : why_set(why, "scale:= is 0");
}

int
wconv_place_nodes(struct wconv_kernels *k, const struct wconv_ask *ask, const double corner[2],
		  struct wconv_problem *q, struct why *why)
{
	if (q->degree >= 0)
		return place_polynomials(k, corner, q, why);
	if (find_nodes(k, ask, false, q->W, q->gx, corner[0], k->node_x, why) ||
	    find_nodes(k, ask, true, q->H, q->gy, corner[1], k->node_y, why))
		return -1;
	q->node_x = k->node_x;
	q->node_y = k->node_y;
	return 0;
}

void
wconv_find_corner(const struct img *x, const struct place *t, double corner[2])
{
	const int first = img_row_axis(x);

	for (int i = 0; i < 2; i++) {
		const struct img_axis *a = &x->axis[first + i];
		const bool known = x->dim > first + i && axis_counts_pixels(x, first + i) &&
				   isfinite(a->min) && isfinite(a->spacing);
		corner[i] = !known ? (double)(i ? t->y0 : t->x0) : a->spacing == 1 ? a->min : NAN;
	}
}
