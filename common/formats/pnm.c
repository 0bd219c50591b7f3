#include <netpbm/pam.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/die.h"
#include "common/formats/pnm.h"
#include "common/mem.h"

/* libnetpbm passes its message to a function without a context argument, so the message needs a static variable. */
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
 * Calls step(arg). Returns 0, or -1 with libnetpbm's message in err where libnetpbm would have ended the process. The memory
 * that libnetpbm held at that moment is not freed, since the program is about to end.
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
	struct pam pam;	     /* read_head fills it */
	const struct img *x; /* read_rows fills its payload */
	char magic;
};

/* The size ends behind tuple_type. libnetpbm's PAM_STRUCT_SIZE gives the same number but dereferences a null pointer. */
static void
read_head(void *arg)
{
	struct reading *r = arg;

	pnm_readpaminit(r->f, &r->pam,
			(int)(offsetof(struct pam, tuple_type) + sizeof r->pam.tuple_type));
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

/*
 * These functions read rows of the plain formats and of P4's packed bits. They use the row functions of each format, since a
 * row of pam.h's tuples would commit sixteen times the memory of a wide picture's row before the first sample has arrived.
 */
static void
read_bits(FILE *f, uint8_t *to, size_t w, size_t h, int format)
{
	bit *row = pbm_allocrow((unsigned)w);

	for (size_t y = 0; y < h; y++) {
		pbm_readpbmrow(f, row, (int)w, format);
		for (size_t x = 0; x < w; x++)
			*to++ = row[x] == PBM_WHITE;
	}
	pbm_freerow(row);
}

/* Stores sample i of x, which is uchar or ushort. */
static void
store(const struct img *x, size_t i, unsigned v)
{
	if (x->type == IMG_U8)
		((uint8_t *)x->data)[i] = (uint8_t)v;
	else
		((uint16_t *)x->data)[i] = (uint16_t)v;
}

static void
read_grays(FILE *f, const struct img *x, size_t w, size_t h)
{
	gray *row = pgm_allocrow((unsigned)w);

	for (size_t y = 0; y < h; y++) {
		pgm_readpgmrow(f, row, (int)w, img_maxval(x), PGM_FORMAT);
		for (size_t i = 0; i < w; i++)
			store(x, y * w + i, row[i]);
	}
	pgm_freerow(row);
}

static void
read_colours(FILE *f, const struct img *x, size_t w, size_t h)
{
	pixel *row = ppm_allocrow((unsigned)w);

	for (size_t y = 0; y < h; y++) {
		ppm_readppmrow(f, row, (int)w, img_maxval(x), PPM_FORMAT);
		for (size_t i = 0; i < w; i++) {
			store(x, 3 * (y * w + i), PPM_GETR(row[i]));
			store(x, 3 * (y * w + i) + 1, PPM_GETG(row[i]));
			store(x, 3 * (y * w + i) + 2, PPM_GETB(row[i]));
		}
	}
	ppm_freerow(row);
}

static void
read_rows(void *arg)
{
	const struct reading *r = arg;
	const struct img *x = r->x;

	if (r->magic == '3')
		read_colours(r->f, x, x->axis[1].n, x->axis[2].n);
	else if (r->magic == '2')
		read_grays(r->f, x, x->axis[0].n, x->axis[1].n);
	else
		read_bits(r->f, x->data, x->axis[0].n, x->axis[1].n,
			  r->magic == '1' ? PBM_FORMAT : RPBM_FORMAT);
}

int
pnm_load(FILE *f, const struct img *x, char magic, char err[RAW_ERR])
{
	struct reading r = {.f = f, .x = x, .magic = magic};

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
