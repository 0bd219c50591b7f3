#include <netpbm/pam.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include "common/base/die.h"
#include "common/stream/formats.h"

/* libnetpbm passes its message to a function without a context argument, so the message needs a static variable. */
static struct why message;

static void
keep_message(const char *text)
{
	size_t n = strcspn(text, "\n");

	while (n && strchr(" .", text[n - 1]))
		n--;
	why_set(&message, "%.*s", (int)n, text);
}

/*
 * Calls step(arg). Returns 0, or -1 with libnetpbm's message where libnetpbm would have ended the process. The memory
 * that libnetpbm held at that moment is not freed, since the program is about to end.
 */
static int
guarded(void (*step)(void *arg), void *arg, struct why *why)
{
	jmp_buf here, *outer;
	int failed;

	pm_setjmpbufsave(&here, &outer);
	failed = setjmp(here);
	if (!failed)
		step(arg);
	pm_setjmpbuf(outer);
	if (failed)
		*why = message;
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

int
pnm_head(FILE *f, struct img *x, bool *block, struct why *why)
{
	static bool started;
	struct reading r = {.f = f};

	*x = (struct img){0};
	if (!started) {
		pm_init(weir_prog, 0);
		pm_setusererrormsgfn(keep_message);
	}
	started = true;
	if (guarded(read_head, &r, why))
		return -1;
	const struct pam *pam = &r.pam;
	const size_t sizes[3] = {pam->depth, (size_t)pam->width, (size_t)pam->height};
	const bool gray = pam->depth == 1, named = pam->format == PAM_FORMAT,
		   rgba = named && pam->depth == 4 && !strcmp(pam->tuple_type, PNM_RGB_ALPHA);
	img_init(x, pam->maxval < 256 ? IMG_U8 : IMG_U16, gray ? 2 : 3, sizes + gray);
	if (!gray)
		strcpy(x->axis[0].kind, pam->depth == 3 ? "RGB-color"
					: rgba		? "RGBA-color"
							: "list");
	x->format = IMG_PNM;
	img_set_key(x, "maxval", "%lu", pam->maxval);
	if (named && pam->tuple_type[0])
		img_set_key(x, "tupltype", "%s", pam->tuple_type);
	*block = named || pam->format == RPGM_FORMAT || pam->format == RPPM_FORMAT;
	return 0;
}

/*
 * Reads P1, and P4's packed bits, by the row function of their format: a row of pam.h's tuples would commit sixteen times the
 * memory of a wide picture's row before the first sample has arrived.
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

/* Returns the next byte, or '\n' for a comment with its end. */
static int
next_byte(FILE *f)
{
	int c = getc(f);

	if (c == '#')
		while (c != '\n' && c != '\r' && c != EOF)
			c = getc(f);
	return c;
}

static bool
is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/*
 * Reads a number of a plain format and the blank behind it. libnetpbm's function wants that blank behind the last number of a
 * file, too, and takes any other byte for it.
 */
static unsigned
read_number(FILE *f, unsigned maxval)
{
	unsigned v = 0;
	int c = next_byte(f);

	while (is_blank(c))
		c = next_byte(f);
	if (c == EOF)
		pm_error("the file ends before the last sample");
	if (c < '0' || c > '9')
		pm_error("a sample is no number");
	for (; c >= '0' && c <= '9'; c = next_byte(f)) {
		v = 10 * v + (unsigned)(c - '0');
		if (v > maxval)
			pm_error("a sample exceeds the maxval %u", maxval);
	}
	if (c != EOF && !is_blank(c))
		pm_error("a sample is no number");
	return v;
}

static void
read_numbers(FILE *f, const struct img *x)
{
	const unsigned maxval = img_maxval(x);
	size_t n;

	img_count(x, &n);
	for (size_t i = 0; i < n; i++)
		if (x->type == IMG_U8)
			((uint8_t *)x->data)[i] = (uint8_t)read_number(f, maxval);
		else
			((uint16_t *)x->data)[i] = (uint16_t)read_number(f, maxval);
}

static void
read_rows(void *arg)
{
	const struct reading *r = arg;
	const struct img *x = r->x;

	if (r->magic == '2' || r->magic == '3')
		read_numbers(r->f, x);
	else
		read_bits(r->f, x->data, x->axis[0].n, x->axis[1].n,
			  r->magic == '1' ? PBM_FORMAT : RPBM_FORMAT);
}

int
pnm_load(FILE *f, const struct img *x, char magic, struct why *why)
{
	struct reading r = {.f = f, .x = x, .magic = magic};

	return guarded(read_rows, &r, why);
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
