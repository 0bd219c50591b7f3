/* The command line of morphrec. */
#ifndef MORPHREC_ARGS_H
#define MORPHREC_ARGS_H

#include "common/base/opt.h"
#include "gpu/use.h"
#include "morphrec/morphrec.h"

enum args_nan { ARGS_ERROR, ARGS_BARRIER, ARGS_FRAME };

struct args {
	struct opt_common common;
	const char *mask;
	struct morphrec_operator o;
	int flag_op; /* enum morphrec_op: the operator that takes no argument */
	double hmax, hmin, hdome;
	const char *open, *close, *tophat; /* R, perhaps with a unit */
	double radius;
	const char *unit; /* of the radius; "" for pixels */
	size_t area, area_close;
	const char *shape;
	enum args_shape {
		ARGS_SQUARE,
		ARGS_DISK,
		ARGS_BALL,
		ARGS_OCTAGON,
		ARGS_LINE,
		ARGS_PICTURE
	} kind;
	double degrees; /* ARGS_LINE */
	const char *hysteresis;
	bool has_hmax, has_hmin, has_hdome, has_area, has_area_close;
	int conn;
	bool erode, strict;
	int nan; /* of enum args_nan */
	int method;
	size_t node, heaps; /* of the method heap; 0: not given */
	size_t max_mem;
	const char *seam; /* the directory of the shares; NULL: not given */
	struct gpu *gpu;  /* NULL: the CPU */
	char **path;
	size_t npath;
};

/* Returns the options, checked. Dies on wrong usage, and when -g finds no GPU. */
struct args morphrec_args(int argc, char **argv);

#endif
