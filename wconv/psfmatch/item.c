#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/sample.h"
#include "wconv/kernels.h"
#include "wconv/psfmatch/item.h"

struct picture
psfmatch_read_picture(const char *path, const struct args *args)
{
	struct picture p = {0};
	struct img_picture shape;
	double value;

	raw_load_file(path, args->common.max_bytes, true, &p.file);
	if (!img_picture(&p.file, &shape) || shape.c != 1 || shape.n != 1)
		die("%s: it is not one picture of one plane", path);
	p.w = shape.w;
	p.h = shape.h;
	p.v = weir_xalloc(p.w * p.h, sizeof *p.v);
	double *row = weir_xalloc(p.w, sizeof *row);
	for (size_t y = 0; y < p.h; y++) {
		sample_load(row, (const char *)p.file.data + y * p.w * img_type_size(p.file.type),
			    p.file.type, p.w);
		for (size_t x = 0; x < p.w; x++)
			p.v[y * p.w + x] = row[x] > args->o.top ? NAN : (float)row[x];
	}
	weir_free(row);
	const size_t fill = psfmatch_drop_fill(p.v, p.w * p.h, &value);
	if (fill == SIZE_MAX)
		die("%s: no memory for the sky", path);
	if (fill)
		warn("%s: %zu pixels of the value %g, far below the sky, count as unknown, and are "
		     "NaN in a difference",
		     path, fill, value);
	return p;
}

void
psfmatch_drop_picture(struct picture *p)
{
	img_free(&p->file);
	weir_free_all(p->v, p->lone);
}

void
psfmatch_check_pair(struct picture *ref, struct picture *new, const struct args *args)
{
	if (ref->w != new->w || ref->h != new->h)
		die("%s: %zux%zu pixels, where %s has %zux%zu", args->path[1], new->w, new->h,
		    args->path[0], ref->w, ref->h);
	if (!place_same(&ref->file, &new->file))
		die("%s: it is another part of a picture than %s: see tile:= and place:=",
		    args->path[1], args->path[0]);
	/* A shift of less is in the kernels. */
	place_compare(&new->file, &ref->file, 1, args->path[1], args->path[0]);
	new->lone = weir_calloc(new->w *new->h, sizeof *new->lone);
	if (!new->lone || psfmatch_align(ref->v, new->v, ref->w, ref->h, ref->moved) == -ENOMEM ||
	    psfmatch_clean(ref->v, new->v, ref->w, ref->h, new->lone) == -ENOMEM)
		die("%s: no memory for the sky", args->path[1]);
}

void
psfmatch_find_corner(const struct picture *p, const char *path, double corner[2])
{
	struct why why;
	struct place t;

	if (place_of(&p->file, p->w, p->h, &t, &why))
		die("%s: %s", path, why.text);
	wconv_find_corner(&p->file, &t, corner);
	if (isnan(corner[0]) || isnan(corner[1]))
		die("%s: it is flipped, and wconv could not place the kernels; flip the results "
		    "instead",
		    path);
}

void
psfmatch_write_kernels(struct raw_out *out, const struct psfmatch *m, const double corner[2],
		       const long moved[2], const struct args *args)
{
	const size_t planes = psfmatch_terms(m->degree), rows = planes * m->size;
	const long pad = labs(moved[labs(moved[1]) > labs(moved[0])]);
	const size_t size = m->size + 2 * (size_t)pad, sizes[] = {size, size, planes};
	float *k = weir_calloc(size * size * planes, sizeof *k);
	/* the longest number is -1.23456789e-308, and a blank or the final 0 follows it */
	const size_t room = 17 * psfmatch_terms(m->background);
	char *text = weir_xalloc(room, 1);
	size_t n = 0;
	struct img y;

	img_init(&y, IMG_F32, 3, sizes);
	img_set_key(&y, "basis", "poly:%d", m->degree);
	img_set_key(&y, "zero", "%.17g %.17g", m->zero_x + corner[0], m->zero_y + corner[1]);
	img_set_key(&y, "scale", "%.17g %.17g", m->scale_x, m->scale_y);
	for (size_t t = 0; t < psfmatch_terms(m->background); t++)
		n += (size_t)snprintf(text + n, room - n, "%s%.9g", t ? " " : "", m->b[t]);
	img_set_key(&y, "background", "%s", text);
	weir_free(text);
	opt_add_history(&y, &args->common);
	raw_head(out, &y);
	if (!k)
		die("no memory");
	for (size_t r = 0; r < rows; r++)
		memcpy(k + r / m->size * size * size +
			   (r % m->size + (size_t)(pad + moved[1])) * size + pad + moved[0],
		       m->kernel + r * m->size, m->size * sizeof *k);
	raw_write(out, k, size * size * planes);
	weir_free(k);
	img_free(&y);
}

void
psfmatch_write_difference(struct raw_out *out, const struct picture *new, const float *v,
			  const struct args *args)
{
	struct img y;

	img_copy_head(&y, &new->file);
	y.type = IMG_F32;
	y.format = IMG_RAW;
	img_drop_key(&y, "maxval");
	opt_add_history(&y, &args->common);
	raw_head(out, &y);
	raw_write(out, v, new->w *new->h);
	img_free(&y);
}
