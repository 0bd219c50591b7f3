/*
 * Gathers out of items and into items. A gather is an item `t trace`, or each plane of an item `t trace gather`; a panel is
 * `tau q` or `tau q gather`. What a panel cannot say by its axes travels in keys of its own, so that modelling needs no
 * options:
 *
 *	offsets:=68 168 268		of the traces
 *	radon_curve:=parabolic 3000 0	curve, reference offset, depth
 *	radon_gather:=92 1751 0		traces, samples and first time of the gather
 *	radon_trace:=nan nan - trace	min, spacing, unit and label of its trace axis; - for none
 *
 * Everything here dies with a line that names the file, the item, and the gather and trace where it is about those.
 */
#ifndef RADON_GATHERS_H
#define RADON_GATHERS_H

#include "common/raw.h"
#include "radon/radon.h"

/* What the options say, the same for all gathers. */
struct gathers_options {
	struct radon_options
	    radon; /* q0, dq, nq, mode, method and so on; shapes and g are found per gather */
	enum radon_curve curve;
	double reference, depth; /* reference 0: not given */
	const char *offsets;	 /* a file of numbers; NULL: none */
	bool nan_is_zero, cut;
	bool any_noise; /* lsq: NU by radon_noise(), gather by gather */
	const struct opt_common *common;
	struct gpu *gpu; /* NULL: the CPU */
};

/* One gather under way. */
struct gather {
	struct radon_options o; /* all of it; g and live are ours */
	struct img
	    head; /* of the item that the result begins; dim 0: it goes on with the one before */
	size_t item, plane; /* from 1 and from 0, for messages */
	double *g, *offset; /* owned: room for `room_x` traces */
	bool *live;
	float *in, *out; /* owned: room for room_in and room_out samples */
	size_t room_x, room_in, room_out;
	size_t ntau, lead;
	struct radon_report report;
	double alpha; /* radon_alpha() of the result; 1: not subtracted */
};

struct gathers;

/* in is borrowed until gathers_close. */
struct gathers *gathers_open(struct raw_in *in, const struct gathers_options *o);

/* The next gather into g, a zeroed struct or one used before; false at the end of the stream. */
bool gathers_next(struct gathers *s, struct gather *g);

/* Numbers of the offsets file left over are an error. */
void gathers_close(struct gathers *s);

/* Do a and b have the same plan? */
bool gather_like(const struct gather *a, const struct gather *b);

/* Writes the result. */
void gather_put(const struct gathers_options *o, struct raw_out *out, struct gather *g);

void gather_free(struct gather *g);

#endif
