/* rawtonpy: writes raw items as NumPy's .npy. */
#include <stdio.h>

#include "common/stream/raw.h"

const char *const weir_prog = "rawtonpy";

static const struct opt table[] = {{0}};

static const struct opt_program program = {
    .what = "Writes raw items as NumPy arrays (.npy), one after the other.",
    .example = "rawtonpy picture.nrrd >picture.npy",
    .table = table};

enum { PREFIX = 10, ROOM = 1024 };

/* Writes the dictionary of x, padded with blanks: the whole header is a multiple of 64 bytes. Returns the text's length. */
static size_t
print_dict(const struct img *x, char text[ROOM])
{
	static const char *const names[] = {
	    [IMG_I8] = "i1",  [IMG_U8] = "u1",	[IMG_I16] = "i2", [IMG_U16] = "u2",
	    [IMG_I32] = "i4", [IMG_U32] = "u4", [IMG_I64] = "i8", [IMG_U64] = "u8",
	    [IMG_F32] = "f4", [IMG_F64] = "f8"};
	const bool complex = img_is_complex(x);
	const char *name = !complex ? names[x->type] : x->type == IMG_F32 ? "c8" : "c16";
	const char order = img_type_size(x->type) == 1 ? '|' : '<';
	size_t n = (size_t)snprintf(
	    text, ROOM, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, name);

	for (int i = x->dim; i-- > complex;)
		n += (size_t)snprintf(text + n, ROOM - n, i > complex ? "%zu, " : "%zu",
				      x->axis[i].n);
	n += (size_t)snprintf(text + n, ROOM - n, x->dim - complex > 1 ? "), }" : ",), }");
	while ((PREFIX + n + 1) % 64)
		text[n++] = ' ';
	text[n++] = '\n';
	return n;
}

static void
put_head(struct raw_out *out, const struct img *x)
{
	char text[PREFIX + ROOM] = "\x93NUMPY\1";
	const size_t n = print_dict(x, text + PREFIX);

	text[8] = (char)(n & 255);
	text[9] = (char)(n >> 8);
	raw_text(out, text, PREFIX + n);
}

static void
convert_item(void *args, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct opt_common *common = args;
	struct raw_blocks b = {.x = x, .quiet = common->quiet};

	put_head(out, x);
	while (raw_next_block(&b, in, st)) {
		raw_text(out, b.data, b.n * img_type_size(x->type));
		stats_charge(st, STATS_WRITE);
	}
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, NULL, convert_item, NULL};
	struct opt_common common = {.as = RAW_AS_RAW};

	return raw_each(&filter, argc, argv, &common);
}
