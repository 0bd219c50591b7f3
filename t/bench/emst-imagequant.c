/* pkg-config: imagequant */
/*
 * rawpalette against libimagequant, which pngquant is: from pixels in memory to indices and table in memory, dithering off,
 * both with their defaults. Photographs are PPM files given as arguments, else those of Debian's python3-sklearn.
 */
#include <libimagequant.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "emst/rawpalette/palette.h"
#include "emst/vertices.h"
#include "t/bench/bench.h"

const char *const weir_prog = "bench emst";

struct picture {
	size_t w, h;
	uint8_t *rgb, *rgba, *index;
	size_t k;
	int threads;
	double psnr;
};

static double
psnr_of(const struct picture *p, const uint8_t (*table)[4])
{
	double sse = 0;

	for (size_t i = 0; i < 3 * p->w * p->h; i++) {
		const double d = (double)p->rgb[i] - table[p->index[i / 3]][i % 3];
		sse += d * d;
	}
	return 10 * log10(255. * 255 * 3 * (double)(p->w * p->h) / sse);
}

static void
run_ours(void *job)
{
	enum { BLOCK = 4096 };
	struct picture *p = job;
	uint32_t vertex[BLOCK], *label;
	double sum[PALETTE_MOST][4] = {{0}};
	uint8_t table[PALETTE_MOST][4] = {{0}};
	struct vertices v;
	size_t at, n = p->w * p->h;

	if (vertices_make(&v, p->rgb, IMG_U8, n, 3, VERTICES_COLOURS, p->threads, &at) ||
	    vertices_weigh(&v, p->threads))
		die("no memory");
	label = weir_xalloc(v.set.n, sizeof *label);
	if (palette_make(&v, p->k, p->threads, label))
		die("no memory");
	for (size_t from = 0; from < n; from += BLOCK) {
		const size_t count = n - from < BLOCK ? n - from : BLOCK;
		vertices_find(&v, from, count, vertex);
		for (size_t i = 0; i < count; i++)
			p->index[from + i] = (uint8_t)label[vertex[i]];
	}
	for (size_t i = 0; i < v.set.n; i++) {
		double *s = sum[label[i]];
		for (int a = 0; a < 3; a++)
			s[a] += (double)v.weight[i] * (v.code[i] >> 8 * (2 - a) & 255);
		s[3] += (double)v.weight[i];
	}
	for (size_t j = 0; j < p->k; j++)
		for (int a = 0; a < 3; a++)
			table[j][a] = (uint8_t)(sum[j][3] > 0 ? sum[j][a] / sum[j][3] + .5 : 0);
	weir_free(label);
	vertices_free(&v);
	p->psnr = psnr_of(p, (const uint8_t(*)[4])table);
}

static void
run_imagequant(void *job)
{
	struct picture *p = job;
	uint8_t table[256][4];
	liq_attr *attr = liq_attr_create();
	liq_image *image = liq_image_create_rgba(attr, p->rgba, (int)p->w, (int)p->h, 0);
	liq_result *result;

	liq_set_max_colors(attr, (int)p->k);
	if (liq_image_quantize(image, attr, &result) != LIQ_OK)
		die("libimagequant failed");
	liq_set_dithering_level(result, 0);
	liq_write_remapped_image(result, image, p->index, p->w * p->h);
	const liq_palette *t = liq_get_palette(result);
	for (size_t j = 0; j < t->count; j++)
		memcpy(table[j], (uint8_t[4]){t->entries[j].r, t->entries[j].g, t->entries[j].b, 0},
		       4);
	liq_result_destroy(result);
	liq_image_destroy(image);
	liq_attr_destroy(attr);
	p->psnr = psnr_of(p, (const uint8_t(*)[4])table);
}

static void
compare(const char *name, struct picture *p)
{
	for (p->k = 8; p->k <= 256; p->k *= 2) {
		struct picture one = *p, two = *p, peer = *p;
		struct bench_entry e[] = {
		    {.name = "2 threads", .run = run_ours, .job = &two},
		    {.name = "1 thread", .run = run_ours, .job = &one},
		    {.name = "libimagequant", .run = run_imagequant, .job = &peer}};
		char title[256];
		one.threads = 1;
		two.threads = 2;
		run_ours(&two);
		snprintf(title, sizeof title, "%s: %zu x %zu, %zu colours", name, p->w, p->h, p->k);
		bench_compare(title, e, 3, 3);
		printf("  %.2f dB and %.2f dB\n", two.psnr, peer.psnr);
	}
}

static void
read_picture(const char *name, FILE *f)
{
	struct picture p = {0};

	if (!f || fscanf(f, "P6 %zu %zu 255", &p.w, &p.h) != 2 || fgetc(f) != '\n') {
		printf("%s: left out\n", name);
		return;
	}
	p.rgb = weir_xalloc(p.w * p.h, 3);
	p.rgba = weir_xalloc(p.w * p.h, 4);
	p.index = weir_xalloc(p.w * p.h, 1);
	if (fread(p.rgb, 3, p.w * p.h, f) != p.w * p.h)
		die("%s: truncated", name);
	for (size_t i = 0; i < p.w * p.h; i++) {
		memcpy(p.rgba + 4 * i, p.rgb + 3 * i, 3);
		p.rgba[4 * i + 3] = 255;
	}
	compare(name, &p);
	weir_free(p.rgb);
	weir_free(p.rgba);
	weir_free(p.index);
}

#define SKLEARN "/usr/lib/python3/dist-packages/sklearn/datasets/images/"

int
main(int argc, char **argv)
{
	par_threads(0); /* sets how threads wait */
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		read_picture(argv[i], f);
		if (f)
			fclose(f);
	}
	if (argc > 1)
		return 0;
	static const char *const name[] = {"china.jpg", "flower.jpg"};
	for (int i = 0; i < 2; i++) {
		char command[256];
		snprintf(command, sizeof command, "jpegtopnm -quiet " SKLEARN "%s 2>/dev/null",
			 name[i]);
		FILE *f = popen(command, "r");
		read_picture(name[i], f);
		if (f)
			pclose(f);
	}
	return 0;
}
