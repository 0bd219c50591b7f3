/* The stream: headers there and back, byte order; sizes of transforms, and memory that is kept. */
#include "common/base/fft.h"
#include "common/base/sample.h"
#include "common/stream/raw.h"
#include "t/check.h"

/* --- headers --------------------------------------------------------------------------------- */

static double
random_number(struct check_rng *r)
{
	return rng_below(r, 3) ? NAN : ldexp(rng_normal(r), (int)rng_below(r, 200) - 100);
}

/* Text without a line break, sometimes with the characters that headers quote. */
static void
random_text(struct check_rng *r, char *s, size_t room)
{
	static const char letters[] = "abc xyz019\"\\:=#()_,.-";
	size_t n = 1 + rng_below(r, room - 1);

	for (size_t i = 0; i < n; i++)
		s[i] = letters[rng_below(r, sizeof letters - 1)];
	s[n] = '\0';
}

static void
random_item(struct check_rng *r, struct img *x)
{
	static const char *const kinds[] = {"domain", "RGB-color", "complex", "list", ""};
	size_t sizes[IMG_MAXDIM];
	char text[24];

	for (int i = 0; i < IMG_MAXDIM; i++)
		sizes[i] = 1 + rng_below(r, 12);
	img_init(x, (enum img_type)(IMG_I8 + rng_below(r, 10)), 1 + (int)rng_below(r, IMG_MAXDIM),
		 sizes);
	for (int i = 0; i < x->dim; i++) {
		struct img_axis *a = &x->axis[i];
		a->spacing = random_number(r);
		a->min = random_number(r);
		a->centre = isnan(a->spacing) && isnan(a->min) ? IMG_UNCENTRED : IMG_CELL;
		strcpy(a->kind, kinds[rng_below(r, 5)]);
		random_text(r, text, sizeof text - 1);
		img_set_label(a, rng_below(r, 2) ? text : NULL);
		img_set_unit(a, rng_below(r, 2) ? "m/s" : NULL);
	}
	for (size_t i = rng_below(r, 4); i > 0; i--) {
		random_text(r, text, sizeof text - 1);
		img_add_key(x, "name", text);
	}
}

static bool
same_number(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

/* NULL and "" say the same. */
static bool
same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* What differs; NULL: nothing. */
static const char *
difference(const struct img *a, const struct img *b)
{
	if (a->type != b->type || a->dim != b->dim || a->nkey != b->nkey)
		return "type, dimension or number of keys";
	for (int i = 0; i < a->dim; i++) {
		const struct img_axis *p = &a->axis[i], *q = &b->axis[i];
		if (p->n != q->n || strcmp(p->kind, q->kind) || p->centre != q->centre)
			return "a size, a kind or a centre";
		if (!same_number(p->spacing, q->spacing) || !same_number(p->min, q->min))
			return "a spacing or a position";
		if (!same_text(p->label, q->label) || !same_text(p->unit, q->unit))
			return "a label or a unit";
	}
	for (size_t i = 0; i < a->nkey; i++)
		if (strcmp(a->key[i].name, b->key[i].name) ||
		    strcmp(a->key[i].value, b->key[i].value))
			return "a key";
	return NULL;
}

static void
headers_come_back(struct check_many *many, struct check_rng *r, size_t i)
{
	struct why why = {""};
	const char *other;
	struct img x, y;
	bool swap;
	size_t n;

	(void)i;
	random_item(r, &x);
	char *text = raw_format(&x, &n);
	check_case(many, n % 64 == 0, "the header has %zu bytes", n);
	if (raw_parse(text, n - 1, &y, &swap, &why)) {
		check_case(many, false, "%s in\n%s", why.text, text);
	} else {
		other = difference(&x, &y);
		check_case(many, !other && !swap, "%s in\n%.150s", other, text);
	}
	free(text);
	img_free(&x);
	img_free(&y);
}

static void
bytes_are_swapped(struct check_many *many, struct check_rng *r, size_t set)
{
	unsigned char a[8 * 67], b[8 * 67];
	const size_t size = (size_t)1 << set / 67, n = set % 67;

	for (size_t i = 0; i < n * size; i++)
		a[i] = b[i] = (unsigned char)rng_u64(r);
	swap_bytes(b, n, size);
	for (size_t i = 0; i < n * size; i++)
		check_case(many, b[i] == a[i / size * size + size - 1 - i % size],
			   "%zu samples of %zu bytes", n, size);
}

static bool
fits_fftw(size_t n)
{
	size_t odd = 0;

	for (size_t p = 3; p <= 7; p += 2)
		for (; n % p == 0; n /= p)
			odd++;
	return n % 4 == 0 && (n & (n - 1)) == 0 && odd <= 3;
}

static void
transforms_have_good_sizes(void)
{
	struct check_many many = {0};

	for (size_t n = 1; n < 3000; n++) {
		size_t want = n;
		while (!fits_fftw(want))
			want++;
		check_case(&many, fft_size(n) == want, "%zu becomes %zu, not %zu", n, fft_size(n),
			   want);
	}
	check_end(&many, "common: transforms get the next size that FFTW is fast at");
}

/* Blocks of 24 MB: two fit into what is kept, three do not. */
static void
memory_is_kept(void)
{
	const size_t n = 3 << 20, size = 8;
	struct check_many many = {0};
	char *p[3], *again[3];
	int found = 0;

	weir_keep_heap(64 << 20);
	for (int i = 0; i < 3; i++) {
		p[i] = weir_take(n, size);
		if (!p[i])
			die("no memory");
		p[i][0] = (char)(i + 1);
	}
	for (int i = 0; i < 3; i++)
		weir_give(p[i], n, size);
	for (int i = 0; i < 3; i++) {
		again[i] = weir_take(n, size);
		found += again[i] && again[i][0] != 0;
	}
	check_case(&many, found == 2 && again[0][0] == 3 && again[1][0] == 2,
		   "%d of 3 blocks were kept, the last one holds %d", found, again[0][0]);
	char *other = weir_take(n + (1 << 20), size);
	check_case(&many, other && other[0] == 0, "a larger block is a new one");
	for (int i = 0; i < 2; i++)
		weir_give(again[i], n, size);
	weir_unmap(other, n + (1 << 20), size);
	other = weir_take(n + (1 << 20), size);
	for (int i = 0; i < 2; i++)
		again[i] = weir_take(n, size);
	check_case(&many, other && again[0][0] == 2 && again[1] && again[1][0] == 0,
		   "a new block of 32 MB takes the place of the older one of two");
	weir_unmap(other, n + (1 << 20), size);
	for (int i = 0; i < 3; i++)
		weir_unmap(again[i], n, size);
	check_end(&many, "common: blocks that were given back serve requests of their size");
}

void
check_common(void)
{
	check_each("common: 2000 random headers come back as they were, padded to 64 bytes", 2000,
		   1, headers_come_back);
	check_each("common: the bytes of samples of every size are swapped", 4 * 67, 2,
		   bytes_are_swapped);
	transforms_have_good_sizes();
	memory_is_kept();
}
