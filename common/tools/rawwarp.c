/* rawwarp: pictures resampled onto the grid of another one. */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/picture/mosaic.h"
#include "common/picture/warp.h"
#include "common/stream/axes.h"
#include "common/stream/nodata.h"
#include "common/stream/share.h"

const char *const weir_prog = "rawwarp";

enum { ROWS = 256 }; /* computed and written at once */

struct args {
	struct opt_common common;
	const char *like;
	int kernel;
	bool flux;
	struct img ref; /* the head of --like */
	struct world grid;
	regex_t placing; /* the names of keys that say where a picture lies */
};

static const struct opt table[] = {
    {0, "like", OPT_STR, AT(like), "REF", "the item on whose grid results are", .required = true,
     .words = "FILE"},
    {0, "kernel", OPT_WORD, AT(kernel), "KERNEL", "%s (lanczos3)",
     .words = "lanczos3|cubic|linear|nearest"},
    {0, "flux", OPT_FLAG, AT(flux), NULL, "keep sums: multiply by the ratio of the pixels' areas"},
    {0}};

static const struct opt_program program = {
    .what = "Resamples pictures onto the grid of another one, by the sky, a map or positions.",
    .example = "rawwarp --like=reference.pgm new.pgm >aligned.nrrd",
    .table = table,
    .common = OPT_THREADS};

/* Cards of axes 1 and 2, of all systems. Sections count pixels of another grid. */
static const char placing[] =
    "^(geotransform|crs|geotiff\\..*|tile|fits\\.("
    "(NAXIS|CRPIX|CRVAL|CDELT|CTYPE|CUNIT|CNAME|CROTA|CRDER|CSYER|LTV)[12][A-Z]?|"
    "(CD|PC|LTM)0?[12]_0?[12][A-Z]?|(CD|PC)00[12]00[12]|P[VS]0?[12]_[0-9]+[A-Z]?|"
    "[AB]P?_([0-9]_[0-9]|ORDER|DMAX)|WAT[0-2]_[0-9]+|AMD[XY][0-9]+|PPO[1-6]|CNPIX[12]|"
    "PLT(RA[HMS]|DEC(SN|[DMS]))|[XY]PIXELSZ|(C[PQ]|D2IM)(DIS|ERR)[12]|D[PQ][12]|"
    "(LONPOLE|LATPOLE|RADESYS|EQUINOX|WCSNAME)[A-Z]?|RADECSYS|EPOCH|"
    "(DATA|TRIM|PRE|POST|BIAS|D|T|B|CCD|DET|AMP|C|A)SEC[0-9A-Z]?))$";

/* Opens the world of the columns and rows of x. */
static void
open_world(struct world *w, const struct raw_in *in, const struct img *x)
{
	if (x->dim < img_row_axis(x) + 2)
		raw_die(in, "it has no columns and rows");
	if (x->space.dim)
		raw_die(in, "it lies in a space, which rawwarp does not follow");
	world_open(w, in, x, WORLD_RIGHT);
}

static void
check(void *options)
{
	struct args *args = options;
	struct raw_in *in = raw_open((char *const *)&args->like, 1, args->common.max_bytes);

	if (!raw_next(in, &args->ref))
		die("%s: empty input", raw_name(in));
	open_world(&args->grid, in, &args->ref);
	raw_close(in);
	if (regcomp(&args->placing, placing, REG_EXTENDED | REG_NOSUB))
		die("no memory for a pattern");
}

/* The cards of other axes than columns and rows say CDELT or CD as REF does: FITS knows one of the two. */
static void
agree_on_scales(struct img *y, const struct img *ref)
{
	const bool cd = img_key(ref, "fits.CD1_1") || img_key(ref, "fits.CD1_2");
	char name[2][32];

	for (int i = 3; i <= y->dim; i++) {
		snprintf(name[0], sizeof *name, "fits.CDELT%d", i);
		snprintf(name[1], sizeof *name, "fits.CD%d_%d", i, i);
		const char *value = img_key(y, name[!cd]);

		if (value && !img_key(y, name[cd]))
			img_set_key(y, name[cd], "%s", value);
		img_drop_key(y, name[!cd]);
	}
}

/* The result is x on the grid of REF, whose keys say where that lies. */
static void
describe(const struct args *args, struct img *y, const struct img *x)
{
	const struct img *ref = &args->ref;

	img_copy_head(y, x);
	y->format = IMG_RAW;
	for (int i = 0; i < 2; i++) {
		struct img_axis *to = &y->axis[img_row_axis(x) + i];
		const struct img_axis *from = &ref->axis[img_row_axis(ref) + i];
		to->n = from->n;
		to->min = from->min;
		to->spacing = from->spacing;
		to->centre = from->centre;
		img_set_label(to, from->label);
		img_set_unit(to, from->unit);
	}
	for (size_t i = 0; i < x->nkey; i++)
		if (!regexec(&args->placing, x->key[i].name, 0, NULL, 0))
			img_drop_key(y, x->key[i].name);
	for (size_t i = 0; i < ref->nkey; i++)
		if (!regexec(&args->placing, ref->key[i].name, 0, NULL, 0))
			img_add_key(y, ref->key[i].name, ref->key[i].value);
	agree_on_scales(y, ref);
	bands_drop_statistics(y);
	if (args->kernel != WARP_NEAREST || args->flux) {
		y->type = x->type >= IMG_I32 && x->type != IMG_F32 ? IMG_F64 : IMG_F32;
		img_drop_key(y, "maxval");
		nodata_renew(y);
	}
	opt_add_history(y, &args->common);
}

static void
warp_item(void *options, struct raw_in *in, struct img *x, struct raw_out *out, struct stats *st)
{
	const struct args *args = options;
	const struct img_axis *grid = &args->ref.axis[img_row_axis(&args->ref)];
	const size_t h = grid[1].n, most = h < ROWS ? h : ROWS;
	struct img_picture p;
	struct world world;
	struct img y;

	if (share_is(x))
		raw_die(in, "it is a share of --part; join the shares first");
	open_world(&world, in, x);
	if (strcmp(world.system, args->grid.system) != 0)
		raw_die(in, "its places are %s, but those of REF are %s", world.system,
			args->grid.system);
	if (world.kind == WORLD_MAP)
		map_insist_on_system(in, x, &args->ref, "REF");
	if (!img_pictures(x, &p))
		raw_die(in, "it has too many pictures");
	raw_map(in, x);
	stats_charge(st, STATS_READ);
	describe(args, &y, x);
	struct warp *w = warp_plan((enum warp_kernel)args->kernel, args->flux, y.type, &world,
				   &args->grid, par_threads(args->common.threads));
	const size_t row = grid->n * p.c;
	char *rows = weir_xalloc(most * row, img_type_size(y.type));

	raw_head(out, &y);
	for (size_t i = 0; i < p.n; i++) {
		const char *picture =
		    (const char *)x->data + i * p.c * p.w * p.h * img_type_size(x->type);
		for (size_t j = 0, n; j < h; j += n) {
			n = h - j < most ? h - j : most;
			if (!warp_rows(w, picture, j, n, rows))
				raw_die(in, "a result is out of the range of floats");
			stats_charge(st, STATS_COMPUTE);
			raw_write(out, rows, n * row);
			stats_charge(st, STATS_WRITE);
		}
	}
	weir_free_all(rows, w);
	world_close(&world);
	img_free(&y);
}

int
main(int argc, char **argv)
{
	static const struct raw_filter filter = {&program, check, warp_item, NULL};
	static struct args args = {.common.as =
				       RAW_AS_RAW}; /* its memory lasts as long as the process */

	return raw_each(&filter, argc, argv, &args);
}
