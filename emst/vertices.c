#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/sample.h"
#include "emst/lattice/lattice.h"
#include "emst/sort.h"
#include "emst/vertices.h"

/* --- equal vectors ------------------------------------------------------------------------------------------------ */

#define NONE 0xffffffffu

static inline uint64_t
hash(const void *x, size_t bytes)
{
	const char *p = x;
	uint64_t h = 0x9e3779b97f4a7c15u;
	uint32_t word;

	for (size_t i = 0; i < bytes; i += sizeof word) {
		memcpy(&word, p + i, sizeof word);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 29;
	}
	return h;
}

/*
 * Finds the first of equal vectors, and moves it to the front of x, in order. Samples of at most 8 bytes a vertex stay where they
 * are. table is a hash table with open addressing.
 */
CPU_INLINE size_t
gather(struct vertices *v, uint32_t *table, size_t mask, bool samples)
{
	const size_t bytes =
	    samples ? v->planes * img_type_size(v->type)
		    : v->set.k * (v->set.type == EMST_F32 ? sizeof(float) : sizeof(double));
	const char *x = samples ? v->data : v->x;
	size_t n = 0;

	for (size_t i = 0; i < v->inputs; i++) {
		const char *p = x + i * bytes;
		uint64_t own = 0;
		if (samples)
			memcpy(&own, p, bytes);
		size_t slot = (samples ? hash(&own, sizeof own) : hash(p, bytes)) & mask;
		for (; table[slot] != NONE; slot = (slot + 1) & mask) {
			const size_t at = samples ? v->first[table[slot]] : table[slot];
			if (!memcmp(x + at * bytes, p, bytes))
				break;
		}
		if (table[slot] == NONE) {
			table[slot] = (uint32_t)n;
			v->first[n] = (uint32_t)i;
			if (!samples)
				memmove((char *)v->x + n * bytes, p, bytes);
			n++;
		}
		v->of[i] = table[slot];
	}
	return n;
}

int
vertices_distinct(struct vertices *v)
{
	size_t room = 16;

	while (room < 2 * v->inputs)
		room *= 2;
	uint32_t *table = weir_alloc_large(room, sizeof *table);
	v->first = weir_alloc_large(v->inputs, sizeof *v->first);
	v->of = weir_alloc_large(v->inputs, sizeof *v->of);
	if (!table || !v->first || !v->of) {
		weir_free(table);
		return -ENOMEM;
	}
	memset(table, 0xff, room * sizeof *table);
	v->set.n = v->x ? gather(v, table, room - 1, false) : gather(v, table, room - 1, true);
	v->set.id = v->first;
	weir_free(table);
	return 0;
}

/* --- samples to coordinates -------------------------------------------------------------------------------------- */

struct extent {
	double least; /* the smallest magnitude that is not 0 */
	double most;  /* the largest */
};

static double
scale_of(struct extent e)
{
	int exponent;

	if (e.most == 0 || (e.most < 0x1p500 && e.most > 0x1p-400))
		return 1;
	frexp(e.most, &exponent);
	return ldexp(1, exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent);
}

/* Reads samples block by block. Returns false at the first one that is not finite, *at. Bytes need no test. */
static bool
survey(const struct vertices *v, size_t n, struct extent *e, size_t *at)
{
	enum { BLOCK = 4096 };
	double s[BLOCK];
	size_t size = img_type_size(v->type);

	*e = (struct extent){DBL_MAX, 0};
	if (size == 1)
		return true;
	for (size_t from = 0; from < n; from += BLOCK) {
		size_t count = n - from < BLOCK ? n - from : BLOCK;
		sample_load(s, (const char *)v->data + from * size, v->type, count);
		for (size_t i = 0; i < count; i++) {
			double m = fabs(s[i]);
			if (!(m <= DBL_MAX)) {
				*at = from + i;
				return false;
			}
			e->most = m > e->most ? m : e->most;
			e->least = m > 0 && m < e->least ? m : e->least;
		}
	}
	return true;
}

/* Returns true when floats hold every sum of squares of the differences of n bytes: it is at most 2^24. */
static bool
bytes_suffice(const struct vertices *v, size_t n)
{
	const int8_t *i8 = v->data;
	const uint8_t *u8 = v->data;
	int low = 255, high = -128;

	if (v->planes * 255 * 255 <= 1 << 24)
		return true;
	for (size_t i = 0; i < n; i++) {
		const int x = v->type == IMG_I8 ? i8[i] : u8[i];
		low = x < low ? x : low;
		high = x > high ? x : high;
	}
	return v->planes * (size_t)(high - low) * (size_t)(high - low) <= 1 << 24;
}

static int
load(struct vertices *v, size_t n, struct extent e)
{
	/* Squares of differences fit floats when none overflows, and none underflows even for adjacent floats. */
	const double most = v->planes > EMST_MAXDIM ? 0x1p54 : 0x1p60;
	const bool bytes = v->type == IMG_U8 || v->type == IMG_I8,
		   floats = (bytes && bytes_suffice(v, n)) ||
			    (v->type == IMG_F32 && e.most < most && e.least > 0x1p-39);
	const int8_t *i8 = v->data;
	const uint8_t *u8 = v->data;
	float *f;
	double *x;

	v->x = weir_alloc_large(n, floats ? sizeof(float) : sizeof(double));
	if (!v->x)
		return -ENOMEM;
	v->set = (struct emst_set){.type = floats ? EMST_F32 : EMST_F64,
				   .n = v->inputs,
				   .k = (unsigned)v->planes,
				   .x = v->x};
	f = v->x;
	x = v->x;
	if (bytes && floats) {
		for (size_t i = 0; i < n; i++)
			f[i] = v->type == IMG_I8 ? (float)i8[i] : (float)u8[i];
	} else if (floats) {
		for (size_t i = 0; i < n; i++) /* adding 0 turns -0.0 into 0 */
			f[i] = ((const float *)v->data)[i] + 0.f;
	} else {
		v->scale = scale_of(e);
		sample_load(x, v->data, v->type, n);
		for (size_t i = 0; i < n; i++)
			x[i] = x[i] / v->scale + 0.;
	}
	return 0;
}

/* --- the two kinds ------------------------------------------------------------------------------------------------ */

/* Makes the vertices of a small picture without a lattice. */
static int
make_small(struct vertices *v)
{
	struct sorted *work = weir_alloc(v->inputs, 2 * sizeof *work);

	v->of = weir_alloc(v->inputs, sizeof *v->of);
	v->code = weir_alloc(v->inputs, sizeof *v->code);
	const bool room = work && v->of && v->code;
	if (room)
		v->set = (struct emst_set){
		    .type = EMST_CODE,
		    .n = small_colours(v->data, v->inputs, v->planes, v->of, v->code, work),
		    .k = (unsigned)v->planes,
		    .code = v->code};
	weir_free(work);
	return room ? 0 : -ENOMEM;
}

int
vertices_lattice(struct vertices *v)
{
	if (v->set.type != EMST_CODE || v->set.lattice)
		return 0;
	int err = lattice_init(&v->lattice);
	if (err)
		return err;
	lattice_add_codes(&v->lattice, v->code, v->set.n);
	lattice_index(&v->lattice);
	v->set.lattice = &v->lattice;
	return 0;
}

static int
make_lattice(struct vertices *v, int threads)
{
	int err = lattice_init(&v->lattice);

	if (!err)
		err = lattice_add(&v->lattice, v->data, v->inputs, v->planes, threads);
	if (err)
		return err;
	lattice_index(&v->lattice);
	v->code = weir_alloc_large(v->lattice.n, sizeof *v->code);
	if (!v->code)
		return -ENOMEM;
	lattice_codes(&v->lattice, v->code, threads);
	v->set = (struct emst_set){.type = EMST_CODE,
				   .n = v->lattice.n,
				   .k = (unsigned)v->planes,
				   .lattice = &v->lattice,
				   .code = v->code};
	return 0;
}

int
vertices_make(struct vertices *v, const void *data, enum img_type type, size_t inputs,
	      size_t planes, enum vertices_of of, int threads, size_t *at)
{
	const bool bytes = type == IMG_U8 && planes <= 3,
		   colours = of == VERTICES_COLOURS || of == VERTICES_SAMPLES,
		   bare =
		       of == VERTICES_SAMPLES && planes <= 4 && (type == IMG_U8 || type == IMG_U16);
	struct extent e;
	int err = 0;

	*v = (struct vertices){.data = data,
			       .type = type,
			       .inputs = inputs,
			       .planes = planes,
			       .points = of == VERTICES_POINTS,
			       .total = inputs,
			       .scale = 1};
	v->set = (struct emst_set){.type = EMST_F32, .n = inputs, .k = (unsigned)planes};
	/* The grid of pixels is made of the bytes. Copying them to floats would take a tenth of the time. */
	if (bytes && colours)
		err = inputs <= SMALL_MOST ? make_small(v) : make_lattice(v, threads);
	else if (!bare && !(bytes && of == VERTICES_PIXELS))
		err = survey(v, inputs * planes, &e, at) ? load(v, inputs * planes, e)
							 : VERTICES_NOT_FINITE;
	if (!err && colours && !bytes)
		err = vertices_distinct(v);
	if (err)
		vertices_free(v);
	return err;
}

void
vertices_free(struct vertices *v)
{
	lattice_free(&v->lattice);
	weir_free_all(v->code, v->x, v->first, v->place, v->of, v->weight);
	*v = (struct vertices){0};
}

/* --- and back ----------------------------------------------------------------------------------------------------- */

static inline double
sample(const struct vertices *v, size_t i)
{
	return v->type == IMG_U16 ? ((const uint16_t *)v->data)[i] : ((const uint8_t *)v->data)[i];
}

void
vertices_get(const struct vertices *v, size_t i, double *x)
{
	unsigned k = v->set.k;

	for (unsigned a = 0; a < k; a++)
		if (v->code)
			x[a] = v->code[i] >> 8 * (k - 1 - a) & 255;
		else if (!v->x)
			x[a] = sample(v, (v->first ? v->first[i] : i) * k + a);
		else if (v->set.type == EMST_F32)
			x[a] = (double)((const float *)v->x)[i * k + a];
		else
			x[a] = ((const double *)v->x)[i * k + a];
}

uint32_t
vertices_number(const struct vertices *v, size_t i)
{
	if (v->code)
		return v->code[i];
	if (v->place)
		return v->place[i];
	return v->first ? v->first[i] : (uint32_t)i;
}

bool
vertices_named(const struct vertices *v, double number, uint32_t *i)
{
	size_t low = 0, high = v->set.n;

	if (!(number >= 0 && number < (double)EMST_MAXPOINTS) || number != floor(number))
		return false;
	if (v->points) {
		if (number >= (double)v->inputs)
			return false;
		*i = v->of ? v->of[(size_t)number] : (uint32_t)number;
		return true;
	}
	while (high - low > 1) {
		size_t middle = (low + high) / 2;
		if (vertices_number(v, middle) <= (uint32_t)number)
			low = middle;
		else
			high = middle;
	}
	*i = (uint32_t)low;
	return vertices_number(v, low) == (uint32_t)number;
}

void
vertices_scale_back(const struct vertices *v, struct emst_tree *t)
{
	for (size_t i = 0; v->scale != 1 && i + 1 < t->n; i++)
		t->length[i] *= v->scale;
}

/* --- inputs ------------------------------------------------------------------------------------------------------- */

/* Finds the vertices of n pixels of 1..3 planes. */
WEIR_CLONES(find_colours,
	    (const struct lattice *l, const uint8_t *px, size_t planes, size_t n,
	     uint32_t *restrict vertex),
	    (l, px, planes, n, vertex))
{
	if (planes == 3)
		for (size_t i = 0; i < n; i++, px += 3)
			vertex[i] = lattice_rank(l, (uint32_t)(px[0] << 16 | px[1] << 8 | px[2]));
	else if (planes == 2)
		for (size_t i = 0; i < n; i++, px += 2)
			vertex[i] = lattice_rank(l, (uint32_t)(px[0] << 8 | px[1]));
	else
		for (size_t i = 0; i < n; i++)
			vertex[i] = lattice_rank(l, px[i]);
}

void
vertices_find(const struct vertices *v, size_t from, size_t count, uint32_t *vertex)
{
	if (v->lattice.n) {
		find_colours(&v->lattice, (const uint8_t *)v->data + from * v->planes, v->planes,
			     count, vertex);
		return;
	}
	for (size_t i = 0; i < count; i++)
		vertex[i] = v->of ? v->of[from + i] : (uint32_t)(from + i);
}

/* Adds the counts of the inputs from..to-1 to weight[]. */
static void
weigh_part(const struct vertices *v, size_t from, size_t to, uint64_t *weight)
{
	enum { BLOCK = 1024 };
	uint32_t vertex[BLOCK];

	for (; from < to; from += BLOCK) {
		const size_t n = to - from < BLOCK ? to - from : BLOCK;
		vertices_find(v, from, n, vertex);
		for (size_t i = 0; i < n; i++)
			weight[vertex[i]] += v->count ? v->count[from + i] : 1;
	}
}

/* Each part of the inputs has sums of its own, where there are many inputs for each vertex; they are then added. */
int
vertices_weigh(struct vertices *v, int threads)
{
	enum { MANY = 1 << 18, EACH = 4, MOST = 4 };
	const size_t n = v->set.n, parts = v->inputs < MANY || v->inputs / EACH < n || threads < 2
					       ? 1
					   : threads > MOST ? MOST
							    : (size_t)threads;
	uint64_t *own = parts > 1 ? weir_calloc_large((parts - 1) * n, sizeof *own) : NULL;

	v->weight = weir_calloc_large(n, sizeof *v->weight);
	if (!v->weight || (parts > 1 && !own)) {
		weir_free(own);
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static, 1) num_threads((int)parts) if (parts > 1)
	for (size_t p = 0; p < parts; p++)
		weigh_part(v, v->inputs * p / parts, v->inputs * (p + 1) / parts,
			   p ? own + (p - 1) * n : v->weight);
	for (size_t p = 1; p < parts; p++)
		for (size_t i = 0; i < n; i++)
			v->weight[i] += own[(p - 1) * n + i];
	weir_free(own);
	return 0;
}

int
vertices_count(struct vertices *v, const uint64_t *count, const uint32_t *place, uint64_t total)
{
	v->count = count;
	v->total = total;
	if (!place)
		return 0;
	v->place = weir_alloc_large(v->set.n, sizeof *v->place);
	if (!v->place) {
		vertices_free(v);
		return -ENOMEM;
	}
	for (size_t i = 0; i < v->set.n; i++)
		v->place[i] = place[v->first[i]];
	v->set.id = v->place;
	return 0;
}

int
vertices_expand(const struct vertices *v, const struct emst_tree *t, struct emst_tree *to)
{
	struct sorted *e = weir_alloc_large(2 * v->inputs, sizeof *e);

	*to = (struct emst_tree){v->inputs, weir_alloc_large(v->inputs, sizeof *to->edge),
				 weir_alloc_large(v->inputs, sizeof *to->length)};
	const bool ok = e && to->edge && to->length;
	size_t n = 0;
	/* By the rule edges of length 0 come first, those with the smallest difference of places before others. */
	for (uint32_t i = 0; ok && i < v->inputs; i++) {
		const uint32_t first = v->first[v->of[i]];
		if (first != i)
			e[n++] = (struct sorted){(uint64_t)(i - first) << 32 | first, first, i};
	}
	if (ok) {
		emst_sort(e, e + v->inputs, n);
		for (size_t i = 0; i < n; i++) {
			to->edge[i] = (struct emst_edge){e[i].a, e[i].b};
			to->length[i] = 0;
		}
		for (size_t i = 0; i + 1 < t->n; i++, n++) {
			to->edge[n] =
			    (struct emst_edge){v->first[t->edge[i].u], v->first[t->edge[i].v]};
			to->length[n] = t->length[i];
		}
	} else {
		emst_tree_free(to);
	}
	weir_free(e);
	return ok ? 0 : -ENOMEM;
}
