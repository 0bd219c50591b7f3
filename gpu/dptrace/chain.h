/* The places where segments meet, on the device: chain.cu. solve.cu launches these. */
#ifndef WEIR_GPU_DPTRACE_CHAIN_H
#define WEIR_GPU_DPTRACE_CHAIN_H

#include "gpu/dptrace/job.h"

/* Numbers that the host reads: what rebase() subtracted, and the largest sum at the end. */
struct dp_sums {
	float taken, most;
};

/* Below, ids (of segments), lines and out are arrays of n entries on the device. */

/* Computes all windows. */
int dp_windows(struct dp_job *j);

/* Computes `entry` of the lines' first segments. */
int dp_begin(struct dp_job *j, const unsigned *lines, unsigned n);

/* Computes `entry` of segments from `exit` of the segments before, less out.taken; then `exit` from F, and out.most. */
int dp_meet(struct dp_job *j, const unsigned *ids, unsigned n, dp_sums *out);
int dp_pass_out(struct dp_job *j, const unsigned *ids, unsigned n, dp_sums *out);

/* Computes `leave` of the segments before from H. */
int dp_meet_back(struct dp_job *j, const unsigned *ids, unsigned n);

/* Make `leave` of the lines' last segments 0, and find out.most; find `at` and `link`. */
int dp_end(struct dp_job *j, const unsigned *lines, unsigned n, dp_sums *out);
int dp_follow(struct dp_job *j, const unsigned *lines, unsigned n);

#endif
