#include <netpbm/pam.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "common/pnm.h"

/* libnetpbm passes its message to a function without a context: hence the one static of this file. */
static char message[RAW_ERR];

static void
keep_message(const char *text)
{
	snprintf(message, sizeof message, "%.*s", (int)strcspn(text, "\n"), text);
}

static void
start_netpbm(void)
{
	static bool started;

	if (started)
		return;
	started = true;
	pm_init(weir_prog, 0);
	pm_setusererrormsgfn(keep_message);
}

/*
 * Calls step(arg) with libnetpbm's exit turned into a return: 0, or -1 and its message in err. Memory that libnetpbm
 * held at that moment is lost; the program is about to end.
 */
static int
guarded(void (*step)(void *arg), void *arg, char err[RAW_ERR])
{
	jmp_buf here, *outer;
	int failed;

	pm_setjmpbufsave(&here, &outer);
	failed = setjmp(here);
	if (!failed)
		step(arg);
	pm_setjmpbuf(outer);
	if (failed)
		memcpy(err, message, sizeof message);
	return failed ? -1 : 0;
}

struct reading {
	FILE *f;
	struct pam pam;
	const struct img *x;
};

static void
read_head(void *arg)
{
	struct reading *r = arg;

	pnm_readpaminit(r->f, &r->pam, (int)PAM_STRUCT_SIZE(tuple_type));
}

static void
describe(const struct pam *pam, struct img *x)
{
	const size_t sizes[3] = {pam->depth, (size_t)pam->width, (size_t)pam->height};
	const bool gray = pam->depth == 1;

	img_init(x, pam->maxval < 256 ? IMG_U8 : IMG_U16, gray ? 2 : 3, sizes + gray);
	if (!gray)
		strcpy(x->axis[0].kind, pam->depth == 3 ? "RGB-color" : "list");
	x->format = IMG_PNM;
	img_set_key(x, "maxval", "%lu", pam->maxval);
	if (pam->format == PAM_FORMAT && pam->tuple_type[0])
		img_set_key(x, "tupltype", "%s", pam->tuple_type);
}

int
pnm_head(FILE *f, struct img *x, bool *block, char err[RAW_ERR])
{
	struct reading r = {.f = f};

	*x = (struct img){0};
	start_netpbm();
	if (guarded(read_head, &r, err))
		return -1;
	describe(&r.pam, x);
	*block = r.pam.format == PAM_FORMAT || r.pam.format == RPGM_FORMAT ||
		 r.pam.format == RPPM_FORMAT;
	return 0;
}

/* Rows through libnetpbm: the plain formats and the packed bits of P4. */
static void
read_rows(void *arg)
{
	struct reading *r = arg;
	const size_t n = (size_t)r->pam.width * r->pam.depth;
	tuple *row = pnm_allocpamrow(&r->pam);

	for (int y = 0; y < r->pam.height; y++) {
		pnm_readpamrow(&r->pam, row);
		for (size_t i = 0; i < n; i++) {
			sample v = row[i / r->pam.depth][i % r->pam.depth];
			if (r->x->type == IMG_U8)
				((unsigned char *)r->x->data)[(size_t)y * n + i] = (unsigned char)v;
			else
				((unsigned short *)r->x->data)[(size_t)y * n + i] =
				    (unsigned short)v;
		}
	}
	pnm_freepamrow(row);
}

static int
format_of(char magic)
{
	return magic == '1'   ? PBM_FORMAT
	       : magic == '2' ? PGM_FORMAT
	       : magic == '3' ? PPM_FORMAT
			      : RPBM_FORMAT;
}

int
pnm_load(FILE *f, const struct img *x, char magic, char err[RAW_ERR])
{
	struct reading r = {.f = f, .x = x};
	const bool gray = x->dim == 2;

	r.pam = (struct pam){
	    .size = sizeof r.pam,
	    .len = (unsigned)PAM_STRUCT_SIZE(tuple_type),
	    .file = f,
	    .format = format_of(magic),
	    .width = (int)x->axis[!gray].n,
	    .height = (int)x->axis[!gray + 1].n,
	    .depth = gray ? 1 : (unsigned)x->axis[0].n,
	    .maxval = img_maxval(x),
	    .bytes_per_sample = (unsigned)img_type_size(x->type),
	};
	return guarded(read_rows, &r, err);
}

int
pnm_put_head(FILE *f, const struct img_picture *p, unsigned maxval, const char *tuple_type)
{
	int r;

	if (p->c == 1 || p->c == 3)
		r = fprintf(f, "P%d\n%zu %zu\n%u\n", p->c == 1 ? 5 : 6, p->w, p->h, maxval);
	else
		r = fprintf(f, "P7\nWIDTH %zu\nHEIGHT %zu\nDEPTH %zu\nMAXVAL %u\n%s%s%sENDHDR\n",
			    p->w, p->h, p->c, maxval, tuple_type ? "TUPLTYPE " : "",
			    tuple_type ? tuple_type : "", tuple_type ? "\n" : "");
	return r < 0 ? -1 : r;
}
