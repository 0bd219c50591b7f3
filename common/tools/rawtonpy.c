/* rawtonpy: writes raw items as NumPy's .npy. */
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "common/base/progress.h"
#include "common/base/stats.h"
#include "common/stream/raw.h"

const char *const weir_prog = "rawtonpy";

struct args {
	struct opt_common common;
	char **path;
	size_t npath;
};

static const struct opt table[] = {{0}};

static const struct opt_program program = {
    .what = "Writes raw items as NumPy arrays (.npy), one after the other.",
    .table = table,
    .operands = "[FILE ...]",
    .max_operands = SIZE_MAX};

static struct args
parse(int argc, char **argv)
{
	struct args args = {0};

	opt_parse(&program, argc, argv, &args, &args.path, &args.npath);
	return args;
}

enum { PREFIX = 10, ROOM = 1024, BLOCK = 1 << 20 };

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
	const char order = img_type_size(x->type) == 1		       ? '|'
			   : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<'
								       : '>';
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
convert_item(const struct args *args, struct raw_in *in, const struct img *x, struct raw_out *out,
	     struct stats *st)
{
	const size_t size = img_type_size(x->type), most = BLOCK / size;
	char *block = weir_xalloc(BLOCK, 1);
	struct progress bar;
	size_t count;

	img_count(x, &count);
	put_head(out, x);
	progress_start(&bar, args->common.quiet);
	for (size_t done = 0, n; done < count; done += n) {
		n = count - done < most ? count - done : most;
		raw_read(in, block, n);
		stats_charge(st, STATS_READ);
		raw_text(out, block, n * size);
		stats_charge(st, STATS_WRITE);
		progress_step(&bar, (double)done / (double)count);
	}
	progress_end(&bar);
	weir_free(block);
}

int
main(int argc, char **argv)
{
	const struct args args = parse(argc, argv);
	struct raw_out *out = raw_create(args.common.out, RAW_AS_RAW);
	struct raw_in *in = raw_open(args.path, args.npath, args.common.max_bytes);
	struct stats st;
	struct img x;

	stats_start(&st);
	for (; raw_next(in, &x); st.items++) {
		if (args.common.verbose)
			raw_say(in, &x);
		convert_item(&args, in, &x, out, &st);
		img_free(&x);
	}
	stats_close(&st, in, out, &args.common);
	return 0;
}
