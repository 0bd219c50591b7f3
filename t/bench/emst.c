/* emst on photographs, colours and points of many kinds: two threads against one. */
#include "t/bench/bench.h"
#include "t/bench/emst.h"

const char *const weir_prog = "emst-bench";

static uint8_t
level(double x)
{
	return (uint8_t)fmin(fmax(x + .5, 0), 255);
}

enum kind { NOISY, CLOUDS, RANDOM, POSTER, SPARSE, SHEETS };

static void
fill_colour(uint8_t *px, enum kind kind, size_t i)
{
	double x = 255 * emst_unit(), y = 255 * emst_unit(), z = 255 * emst_unit();
	double c = floor(12 * emst_unit());

	if (kind == NOISY) {
		x = 255 * pow((double)(i % 1000) / 1000, 2) + 6 * rng_normal(&emst_random);
		y = .8 * x + 12 * rng_normal(&emst_random);
		z = .6 * y + 12 * rng_normal(&emst_random);
	} else if (kind == CLOUDS) {
		x = fmod(c * 97, 215) + 20 + 12 * rng_normal(&emst_random);
		y = fmod(c * 61, 215) + 20 + 12 * rng_normal(&emst_random);
		z = fmod(c * 41, 215) + 20 + 12 * rng_normal(&emst_random);
	} else if (kind == POSTER) {
		x = round((double)(i >> 12 & 63) * 255 / 63);
		y = round((double)(i >> 6 & 63) * 255 / 63);
		z = round((double)(i & 63) * 255 / 63);
	} else if (kind == SHEETS) {
		z = 25 + 40 * floor(c / 2) + 8 * sin(x / 30) + 8 * cos(y / 25);
	}
	px[0] = level(x);
	px[1] = level(y);
	px[2] = level(z);
}

static void
compare(const char *name, const void *data, enum img_type type, size_t n, size_t k)
{
	struct emst_job two = {data, type, n, k, 2, 0, 0}, one = {data, type, n, k, 1, 0, 0};
	struct bench_entry e[] = {{.name = "2 threads", .run = emst_job_run, .job = &two},
				  {.name = "1 thread", .run = emst_job_run, .job = &one}};
	char title[128];

	emst_job_run(&two); /* for the number of vertices, and to warm up */
	snprintf(title, sizeof title, "%s: %zu %s", name, two.vertices,
		 type == IMG_U8 ? "colours" : "points");
	bench_compare(title, e, 2, 5);
}

static void
colours(const char *name, enum kind kind, size_t n)
{
	uint8_t *px = weir_xalloc(n, 3);

	for (size_t i = 0; i < n; i++)
		fill_colour(px + 3 * i, kind, i);
	compare(name, px, IMG_U8, n, 3);
	weir_free(px);
}

/* A JPEG of a Debian package, by netpbm's jpegtopnm. */
static void
photograph(const char *package, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	char command[256];
	size_t w, h;

	snprintf(command, sizeof command, "test -e %s && jpegtopnm -quiet %s 2>/dev/null", path,
		 path);
	FILE *f = popen(command, "r");
	if (!f)
		die("no pipe");
	if (fscanf(f, "P6 %zu %zu 255", &w, &h) == 2) {
		uint8_t *px = weir_xalloc(w * h, 3);
		if (fgetc(f) != '\n' || fread(px, 3, w * h, f) != w * h)
			die("%s: truncated", path);
		compare(name, px, IMG_U8, w * h, 3);
		weir_free(px);
	} else {
		printf("%s: left out, needs netpbm and %s\n", name, package);
	}
	pclose(f);
}

static void
points(const char *name, size_t k, size_t n)
{
	float *x = weir_xalloc(n * k, sizeof *x);

	emst_uniform(x, n, k);
	compare(name, x, IMG_F32, n, k);
	weir_free(x);
}

#define SKLEARN "/usr/lib/python3/dist-packages/sklearn/datasets/images/"

int
main(void)
{
	par_threads(0); /* sets how threads wait */
	photograph("python3-sklearn", SKLEARN "china.jpg");
	photograph("python3-sklearn", SKLEARN "flower.jpg");
	photograph("python-matplotlib-data",
		   "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg");
	colours("noisy ramp", NOISY, 3700000);
	colours("12 clouds", CLOUDS, 4000000);
	colours("random RGB", RANDOM, 1000000);
	colours("posterised to 64 levels", POSTER, 1 << 18);
	colours("sparse", SPARSE, 4096);
	colours("six sheets", SHEETS, 1500000);
	points("uniform, 2 dimensions", 2, 1000000);
	points("uniform, 3 dimensions", 3, 1000000);
	points("uniform, 5 dimensions", 5, 100000);
	points("uniform, 8 dimensions", 8, 100000);
	return 0;
}
