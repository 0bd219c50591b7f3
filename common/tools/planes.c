/* See common/tools/planes.h. */
#include <stdint.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/stream/bands.h"
#include "common/tools/planes.h"

enum { BLOCK = 1 << 14 }; /* pixels at a time */

static bool
on_axis(const struct img *x)
{
	return img_row_axis(x) && !img_is_complex(x);
}

size_t
planes_count(const struct img *x)
{
	return on_axis(x) ? x->axis[0].n : 1;
}

/* to[i * to_step] = from[i * from_step], samples of this many bytes. */
static void
copy_every(char *to, size_t to_step, const char *from, size_t from_step, size_t n, size_t size)
{
#define COPY(TYPE)                     \
	for (size_t i = 0; i < n; i++) \
	((TYPE *)(void *)to)[i * to_step] = ((const TYPE *)(const void *)from)[i * from_step]
	if (size == 1)
		COPY(uint8_t);
	else if (size == 2)
		COPY(uint16_t);
	else if (size == 4)
		COPY(uint32_t);
	else
		COPY(uint64_t);
#undef COPY
}

/* --- together ----------------------------------------------------------------------------------------------------------- */

/* Drops what keys say of the planes of the first item alone. */
static void
drop_keys(struct img *y)
{
	static const char *const names[] = {"tiff.extrasamples", "tiff.photometric",
					    "tiff.ColorMap", "tupltype"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		img_drop_key(y, names[i]);
}

void
planes_describe(const struct raw_in *in, const struct group *g, struct img *y)
{
	const size_t planes = planes_count(&g->x[0]);

	img_copy_head(y, &g->x[0]);
	if (img_is_complex(y))
		raw_die(in, "complex samples are no planes");
	y->format = IMG_RAW;
	if (!on_axis(y)) {
		if (y->dim == IMG_MAXDIM)
			raw_die(in, "it has %d axes already", IMG_MAXDIM);
		img_insert_axis(y, 0, 1, "vector");
	}
	y->axis[0].n = g->n * planes;
	strcpy(y->axis[0].kind, "vector");
	drop_keys(y);
	for (size_t i = 1; i < g->n; i++)
		bands_append(y, &g->x[i], i * planes);
}

void
planes_write(const struct group *g, struct raw_out *out)
{
	const struct img *x = &g->x[0];
	const size_t size = img_type_size(x->type), planes = planes_count(x), all = g->n * planes;
	size_t count;

	img_count(x, &count);
	count /= planes;
	const size_t most = count < BLOCK ? count : BLOCK;
	char *block = weir_xalloc(most, all * size);

	for (size_t at = 0, n; at < count; at += n) {
		n = count - at < most ? count - at : most;
		for (size_t k = 0; k < all; k++) {
			const char *from = g->x[k / planes].data;
			copy_every(block + k * size, all, from + (at * planes + k % planes) * size,
				   planes, n, size);
		}
		raw_write(out, block, n * all);
	}
	weir_free(block);
}

/* --- apart -------------------------------------------------------------------------------------------------------------- */

void
planes_describe_one(const struct img *x, size_t k, struct img *y)
{
	img_copy_head(y, x);
	if (!on_axis(x))
		return;
	img_drop_axis(y, 0);
	drop_keys(y);
	bands_choose(y, k, 1, false);
}

void
planes_write_one(const struct img *x, size_t k, struct raw_out *out)
{
	const size_t size = img_type_size(x->type), planes = planes_count(x);
	const char *from = (const char *)x->data + k * size;
	size_t count;

	img_count(x, &count);
	count /= planes;
	const size_t most = count < BLOCK ? count : BLOCK;
	char *block = weir_xalloc(most, size);

	for (size_t at = 0, n; at < count; at += n) {
		n = count - at < most ? count - at : most;
		copy_every(block, 1, from + at * planes * size, planes, n, size);
		raw_write(out, block, n);
	}
	weir_free(block);
}
