/* The command line of dptrace. */
#ifndef DPTRACE_ARGS_H
#define DPTRACE_ARGS_H

#include "common/base/opt.h"
#include "dptrace/dptrace.h"
#include "gpu/use.h"

struct args {
	struct opt_common common;
	struct gpu *gpu; /* NULL: the CPU */
	struct opt_list point;
	const char *lines, *scores, *overlay, *world, *mask;
	bool closed;
	bool has_score, has_objective, has_length, has_sigma, has_slope, has_passes;
	int score, objective, length, method, to, points;
	double sigma, chroma, spacing, halfwidth, angle, slope, snap;
	size_t n, d, passes;
};

enum { POINTS_WORLD = 1 }; /* the index of world among the words of --points */
/* The indices of edge and sin among the words of --score; edge+ and edge- lie between. */
enum { SCORE_EDGE = 3, SCORE_SIN = 6 };

static inline bool
args_edge(const struct args *a)
{
	return a->score >= SCORE_EDGE && a->score < SCORE_SIN;
}

/* Reads and checks the command line. Dies on wrong usage, and where -g finds no GPU. */
struct args dptrace_args(int argc, char **argv, char ***path, size_t *npath);

/* The options of the engine that these arguments stand for. */
struct dptrace_options dptrace_args_options(const struct args *a);

#endif
