/*
 * Pictures of a linear object of known course, for the tests and benches of dptrace.
 *
 *	gen_dptrace KIND NOISE SEED		the picture, raw float, on stdout; KIND line, edge, gap, crossings, loop or fold
 *	gen_dptrace KIND NOISE SEED CLICKS	that many points of its course, `x y x y ...` on one line
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/stream/raw.h"
#include "t/dptrace_scene.h"

const char *const weir_prog = "gen_dptrace";

static struct scene scene;

static enum scene_kind
kind_of(const char *word)
{
	static const char *const words[] = {"line", "edge", "gap", "crossings", "loop", "fold"};

	for (int i = 0; i < 6; i++)
		if (!strcmp(word, words[i]))
			return (enum scene_kind)i;
	die_usage("no such kind: %s", word);
}

int
main(int argc, char **argv)
{
	const size_t sizes[] = {SIDE, SIDE};
	struct img x;

	if (argc != 4 && argc != 5)
		die_usage("KIND NOISE SEED [CLICKS]");
	scene_make(&scene, kind_of(argv[1]), atof(argv[2]), strtoull(argv[3], NULL, 10));
	if (argc == 5) {
		const size_t n = strtoul(argv[4], NULL, 10);
		for (size_t i = 0; i < n; i++) {
			const double *p = scene.truth[i * (TRUTH - 1) / (n - 1)];
			printf("%s%.3f %.3f", i ? " " : "", p[0], p[1]);
		}
		putchar('\n');
		return 0;
	}
	img_init(&x, IMG_F32, 2, sizes);
	if (img_alloc(&x))
		die("no memory");
	memcpy(x.data, scene.v, sizeof scene.v);
	struct raw_out *out = raw_create(NULL, RAW_AS_RAW);
	raw_put(out, &x);
	raw_finish(out);
	img_free(&x);
	return 0;
}
