/*
 * Reads gathers from items and writes results as items. A gather is an item `t trace`, or one plane of an item
 * `t trace gather`. A panel is `tau q`, or one plane of `tau q gather`. The axes of a panel do not describe the gather, so the
 * panel carries these keys, and modelling needs no options:
 *
 *	offsets:=68 168 268		the offsets of the traces
 *	radon_curve:=parabolic 3000 0	curve, reference offset, depth
 *	radon_gather:=92 1751 0		traces, samples and first time of the gather
 *	radon_trace:=nan nan - trace	min, spacing, unit and label of its trace axis; - for none
 *
 * With two axes of curves a panel is `tau qx qy` or `tau qx qy gather`. Offsets are then pairs, and the keys are these:
 *
 *	offset-x:=60 160 260		the offsets of the traces along x
 *	offset-y:=20 40 30		and along y
 *	radon_azimuth:=30		the direction of the axis qx, in degrees from x towards y
 *
 * These functions die on bad input. The message names the file, the item, and the gather and trace if one is at fault.
 */
#ifndef WEIR_RADON_STREAM_GATHERS_H
#define WEIR_RADON_STREAM_GATHERS_H

#include "common/base/stats.h"
#include "common/stream/raw.h"
#include "common/stream/share.h"
#include "radon/radon.h"

/* When traces are made equally strong before a subtraction; BALANCE_AUTO: when a few of them outweigh the others. */
enum gathers_balance { BALANCE_AUTO, BALANCE_YES, BALANCE_NO };

/* The options, which are the same for all gathers. */
struct gathers_options {
	/* Options such as q0, dq, nq, mode and method. Shapes and g are found for each gather. */
	struct radon_options radon;
	enum radon_curve curve;
	bool curve_given;	 /* curve and depth replace those of panels */
	double reference, depth; /* reference 0: not given */
	double azimuth;		 /* of the axis qx, in degrees */
	const char *offsets;	 /* a file of numbers; NULL: none */
	const char *polygons;	 /* the file that the mute's are from; NULL: none */
	bool nan_is_zero, cut;
	enum gathers_balance balance;
	bool auto_nu; /* lsq, sparse: each gather has the NU of radon_noise(), or a tenth of it */
	const struct opt_common *common;
	struct slices *share; /* what --part leaves of the input; without the option, all */
	struct gpu *gpu;      /* NULL: the CPU */
};

/* One gather, its options and its result. */
struct gather {
	/* Complete options of this gather. They point to g, h and live below. */
	struct radon_options o;
	/* The head of the item that this result begins. With dim 0 the result continues the item of the previous one. */
	struct img head;
	size_t item, plane; /* from 1 and from 0, for messages */
	double *g, *h;	    /* owned: room for `room_x` traces */
	bool *live;
	const float *in; /* the samples: those of `rows`, of the mapped plane, or balanced ones */
	const float *whole; /* the samples before they were balanced; NULL: they are not */
	/* Owned: the balanced ones, a strength for each trace, and the part of it that the panel explains. */
	float *balanced;
	/* Owned: the live traces from weak to strong. strong: the first of the strongest `third` of them. */
	struct trace *trace, *strong;
	size_t room_balanced, room_trace, third;
	bool uneven;	   /* one trace is far louder than those beside it, or some than most */
	struct img map;	   /* owned: that plane, where it is mapped */
	float *rows, *out; /* owned: room for room_in and room_out samples */
	size_t room_x, room_in, room_out;
	size_t ntau, lead;
	int exponent; /* in and out are the samples of the input and the result times 2^-exponent */
	struct radon_report report;
	double alpha; /* radon_alpha() of the result; 1: not subtracted */
	/* radon_different() where the mute divides the curves, SIZE_MAX elsewhere. Below 2 the result is the gather itself. */
	size_t different;
	/* A trace whose offset is `odd` and far from all others; one that is `times` as loud as those beside it. SIZE_MAX: none. */
	size_t odd_trace, loud_trace;
	double odd, times;
};

/* --subtract loses a fifth and more of the primaries' amplitude where traces are at fewer places. */
enum { FEW = 6 };

/* What is wrong with a trace whose offset is odd: the offset, the moveout and the traces' length. */
#define GATHERS_ODD                                                                             \
	"an offset of %g, with moveouts of up to %.4g s on traces of %.4g s, is far from most " \
	"others; --offsets gives others"

/* --- odd.c: traces that do not belong to the others --- */

/* The trace with the longest moveout, when most others have less than a sixteenth of it. SIZE_MAX: there is none. */
size_t gather_find_odd(const struct radon_options *o);

/*
 * Divides each trace by its strength, the root mean square of its samples from the first to the last that is not 0, so that loud
 * traces do not outweigh the others. A spike neither sets the strength nor counts with its full height.
 */
void gather_balance(struct gather *g);

/*
 * Shall an uneven gather be balanced? Yes, when few of its traces are of another strength, or when events are as strong as their
 * traces: the panel of the balanced gather then explains as large a part of strong traces as of weak ones. Without
 * report.explained that is not known.
 */
bool gather_suits_balance(const struct gather *g);

/* Turns the result of a balanced gather into that of the gather: what was subtracted is subtracted in the gather's own strength. */
void gather_restore(struct gather *g);

/* Finds g->loud_trace, g->times, g->uneven, g->trace, g->strong and g->third. */
void gather_find_loud(struct gather *g);

struct gathers;

/* Counts the gathers of an item, for slices_open(). o is a struct gathers_options. */
size_t gathers_count(const void *o, const struct img *x);

/* Opens the stream and reads the file of offsets. in and o are borrowed until gathers_close(). */
struct gathers *gathers_open(struct raw_in *in, const struct gathers_options *o);

/* Reads the next gather into g, a zeroed struct or one used before. Returns false at the end of the stream. */
bool gathers_next(struct gathers *s, struct gather *g);

/* Frees s. Dies when the offsets file has numbers left over. */
void gathers_close(struct gathers *s);

/* Makes room for the numbers of nx traces. Dies when there is no memory. */
void gather_room(struct gather *g, size_t nx);

/* Do a and b have the same plan? */
bool gather_like(const struct gather *a, const struct gather *b);

/* Writes the result of g, after its head if g begins an item. Dies when a sample of it is too large for a float. */
void gather_put(const struct gathers_options *o, struct raw_out *out, struct gather *g);

void gather_free(struct gather *g);

/* --- args.c --- */

/* Parses and checks the command line; wrong usage is fatal. */
void radon_args(int argc, char **argv, struct gathers_options *g, char ***operand, size_t *n);

/* Frees what --polygons has set in m. */
void polygons_free(struct radon_mute *m);

/* --- batch.c --- */

/*
 * Reads the gathers of in, transforms them and writes the results to out, in batches on threads of their own where there are such.
 * It charges the stages and adds the counts to st, and dies on bad input when the results before it are written.
 */
void gathers_run(const struct gathers_options *o, struct raw_in *in, struct raw_out *out,
		 struct stats *st);

#endif
