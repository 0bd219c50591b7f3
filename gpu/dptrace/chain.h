/* Where segments meet, on the device: chain.cu, launched by solve.cu. */
#ifndef WEIR_GPU_DPTRACE_CHAIN_H
#define WEIR_GPU_DPTRACE_CHAIN_H

#include "gpu/dptrace/job.h"

/* A line whose first link is one of k0..k1; k1 < 0: any. */
struct dp_start {
	unsigned line;
	int k0, k1;
};

/* What passes bring to the host: what rebase() took off, and the largest sum at the end. */
struct dp_sums {
	float taken, most;
};

/* ids, from, out and closes are on the device, of n entries. */

/* All windows. */
int dp_windows(struct dp_job *j);

/* entry of the lines' first segments. */
int dp_begin(struct dp_job *j, const dp_start *from, unsigned n);

/* entry of segments, from the exit of those before, less out.taken; exit from F, and out.most. */
int dp_meet(struct dp_job *j, const unsigned *ids, unsigned n, dp_sums *out);
int dp_pass_out(struct dp_job *j, const unsigned *ids, unsigned n, dp_sums *out);

/* leave of the segments before, from H. */
int dp_meet_back(struct dp_job *j, const unsigned *ids, unsigned n);

/* leave of the lines' last segments, out.most with it; at and link; whether the closing turn is admissible. */
int dp_close_up(struct dp_job *j, const dp_start *from, unsigned n, dp_sums *out);
int dp_follow(struct dp_job *j, const dp_start *from, unsigned n, int *closes);

#endif
