/* The stream: headers there and back, what is refused, pictures of every maxval, byte order, sizes of transforms. */
#include <unistd.h>

#include "common/base/fft.h"
#include "common/base/sample.h"
#include "common/stream/formats.h"
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
bad_headers_are_refused(void)
{
#define HEAD "NRRD0005\ntype: float\ndimension: 2\nsizes: 3 4\nendian: little\nencoding: raw\n"
	static const struct {
		const char *text, *says;
	} bad[] = {
	    {"NRRD0006\n", "not a raw header"},
	    {"NRRD0005\ndimension: 1\nsizes: 1\nencoding: raw\n", "'type' is missing"},
	    {"NRRD0005\ntype: uchar\nsizes: 1\n", "before dimension"},
	    {"NRRD0005\ntype: block\n", "block"},
	    {"NRRD0005\ntype: uchar\ndimension: 17\n", "1..16"},
	    {"NRRD0005\ntype: uchar\ndimension: 0\n", "1..16"},
	    {"NRRD0005\ntype: uchar\ndimension: 2\nsizes: 3\n", "sizes"},
	    {"NRRD0005\ntype: uchar\ndimension: 2\nsizes: 3 0\n", "sizes"},
	    {"NRRD0005\ntype: uchar\ndimension: 2\nsizes: 3 -1\n", "sizes"},
	    {"NRRD0005\ntype: uchar\ndimension: 2\nsizes: 3 4 5\n", "sizes"},
	    {"NRRD0005\ntype: uchar\ndimension: 2\nsizes: 3 4x\n", "sizes"},
	    {"NRRD0005\ntype: uchar\ndimension: 2\nsizes: 4294967296 4294967296\n", "overflows"},
	    {"NRRD0005\ntype: float\ndimension: 1\nsizes: 3\nencoding: raw\n", "endian"},
	    {HEAD "sizes: 3 4\n", "twice"},
	    {HEAD "data file: x.raw\n", "detached header"},
	    {HEAD "byte skip: 4\n", "skip"},
	    {HEAD "rubbish\n", "rubbish"},
	    {HEAD "nonsense: 1\n", "nonsense"},
	    {HEAD "kinds: domain\n", "kinds"},
	    {HEAD "spacings: 1 x\n", "spacings"},
	    {HEAD "centers: node middle\n", "centers"},
	    {HEAD "labels: \"x\n", "labels"},
	};
	struct check_many many = {0};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct why why = {""};
		struct img x;
		bool swap;
		int r = raw_parse(bad[i].text, strlen(bad[i].text), &x, &swap, &why);

		check_case(&many, r && strstr(why.text, bad[i].says) && !x.key && !x.dim,
			   "returns %d and says '%s' of\n%s", r, why.text, bad[i].text);
		img_free(&x);
	}
	check_end(&many, "common: what a header may not be is refused, and said");
#undef HEAD
}

static void
npy_headers_are_understood(void)
{
	static const struct {
		const char *text;
		enum img_type type;
		int dim;
		size_t n0;
		bool fortran;
	} good[] = {
	    {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", IMG_F32, 2, 4, false},
	    {"{'shape':(5,),'fortran_order':False,'descr':'|u1'}", IMG_U8, 1, 5, false},
	    {"{'descr': '<c16', 'fortran_order': True, 'shape': (2, 3)}", IMG_F64, 3, 2, true},
	    {"{'descr': '<i8', 'fortran_order': False, 'shape': ()}", IMG_I64, 1, 1, false},
	};
	static const char *const bad[] = {
	    "",
	    "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}",
	    "{'descr': '<f3', 'fortran_order': False, 'shape': (3,)}",
	    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, -4)}",
	    "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4)}",
	    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4",
	    "{'descr': '<f4', 'fortran_order': None, 'shape': (3, 4)}",
	    "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"};
	struct check_many many = {0};
	struct why why = {""};
	struct npy_layout how;
	struct img x;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		int r = npy_parse(good[i].text, strlen(good[i].text), &x, &how, &why);

		check_case(&many,
			   !r && x.type == good[i].type && x.dim == good[i].dim &&
			       x.axis[0].n == good[i].n0 && how.fortran == good[i].fortran,
			   "%s (%s)", good[i].text, why.text);
		img_free(&x);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		check_case(&many, npy_parse(bad[i], strlen(bad[i]), &x, &how, &why) && *why.text,
			   "accepted: %s", bad[i]);
	check_end(&many, "common: npy headers are understood or refused");
}

/* --- streams --------------------------------------------------------------------------------- */

/* Every maxval once, as one file of 65535 pictures. */
static void
write_pictures(const char *path)
{
	struct raw_out *out = raw_create(path, RAW_AS_PNM);

	for (unsigned max = 1; max <= 65535; max++) {
		uint16_t wide[4] = {0, 1, (uint16_t)(max / 2), (uint16_t)max};
		uint8_t narrow[4] = {0, 1, (uint8_t)(max / 2), (uint8_t)max};
		struct img x;

		img_init(&x, max < 256 ? IMG_U8 : IMG_U16, 2, (size_t[]){2, 2});
		img_set_key(&x, "maxval", "%u", max);
		raw_head(out, &x);
		raw_write(out, max < 256 ? (void *)narrow : wide, 4);
		img_free(&x);
	}
	raw_finish(out);
}

static void
copy_items(char *from, const char *to, enum raw_as as)
{
	struct raw_in *in = raw_open(&from, 1, 0);
	struct raw_out *out = raw_create(to, as);
	struct stats st;
	struct img x;

	stats_start(&st);
	while (raw_next(in, &x)) {
		raw_copy(in, out, &x, true, &st);
		img_free(&x);
	}
	raw_close(in);
	raw_finish(out);
}

static bool
same_files(const char *a, const char *b)
{
	FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
	bool same = f && g;
	int c = 0;

	while (same && c != EOF)
		same = (c = getc(f)) == getc(g);
	if (f)
		fclose(f);
	if (g)
		fclose(g);
	return same;
}

static void
every_maxval_comes_back(void)
{
	char dir[200], a[256], b[256], c[256];

	snprintf(dir, sizeof dir, "%s/check-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	if (!mkdtemp(dir)) {
		check(false, "common: a directory for files", "%s", dir);
		return;
	}
	snprintf(a, sizeof a, "%s/a.pgm", dir);
	snprintf(b, sizeof b, "%s/b.nrrd", dir);
	snprintf(c, sizeof c, "%s/c.pgm", dir);
	write_pictures(a);
	copy_items(a, b, RAW_AS_RAW);
	copy_items(b, c, RAW_AS_PNM);
	check(same_files(a, c) && !same_files(a, b),
	      "common: PGM to raw to PGM is byte-exact for every maxval, in one stream",
	      "the files differ");
	unlink(a);
	unlink(b);
	unlink(c);
	rmdir(dir);
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
	bad_headers_are_refused();
	npy_headers_are_understood();
	every_maxval_comes_back();
	check_each("common: the bytes of samples of every size are swapped", 4 * 67, 2,
		   bytes_are_swapped);
	transforms_have_good_sizes();
	memory_is_kept();
}
