/*
 * Chains of segments, the host's part: what the sums that come back mean, and whether a bound is given up.
 * dptrace/search/chain.c, for all lines of a batch at a time.
 */
#include "gpu/dptrace/chain.h"

#include <string.h>

namespace
{

/* What came of a line. */
struct passage {
	unsigned line;
	bool through; /* some polyline goes through */
	double best;
};

/* What goes to the device and comes back, by line, on the host and there. */
struct lists {
	unsigned *ids, *of; /* segments at work, and the passages they belong to */
	dp_sums *out;
	unsigned *on_ids;
	dp_sums *on_out;
};

int
take_lists(struct dp_job *j, struct lists *l, void **host)
{
	*host = gpu_place_on_host([=](gpu_block *b) {
		l->ids = gpu_take<unsigned>(b, j->nline);
		l->of = gpu_take<unsigned>(b, j->nline);
		l->out = gpu_take<dp_sums>(b, j->nline);
	});
	return !*host ? -ENOMEM : gpu_place(j->g, HOLD_LIST, [=](gpu_block *b) {
		l->on_ids = gpu_take<unsigned>(b, j->nline);
		l->on_out = gpu_take<dp_sums>(b, j->nline);
	});
}

/* The segments of l->ids[0..n), from their entries to their exits. */
int
pass(struct dp_job *j, const struct lists *l, unsigned n)
{
	int err = gpu_up(j->g, l->on_ids, l->ids, n * sizeof *l->ids);

	if (err || (err = gpu_begin(j->g)))
		return err;
	if ((err = dp_meet(j, l->on_ids, n, l->on_out)) || (err = dp_forward(j, l->on_ids, n)) ||
	    (err = dp_pass_out(j, l->on_ids, n, l->on_out)) || (err = gpu_end(j->g)))
		return err;
	return gpu_down(j->g, l->out, l->on_out, n * sizeof *l->out);
}

/*
 * Of the n segments just passed, those that no polyline goes through: they are tried again without a bound at their start,
 * and their number is returned; the others' passages are done with or have failed.
 */
unsigned
look_over(struct dp_job *j, const struct lists *l, struct passage *p, unsigned n)
{
	unsigned again = 0;

	for (unsigned i = 0; i < n; i++) {
		const unsigned id = l->ids[i];
		struct passage *q = &p[l->of[i]];
		if (l->out[i].most > NEVER / 2) {
			q->best += (double)l->out[i].taken;
		} else if (j->seg[id].k == 0 || j->released[id]) {
			q->through = false;
		} else {
			j->released[id] = 1;
			l->ids[again] = id;
			l->of[again++] = l->of[i];
		}
	}
	return again;
}

int
send_released(struct dp_job *j)
{
	return gpu_up(j->g, j->on.released, j->released, j->nseg * sizeof *j->released);
}

/* The lines of p[0..n) into the list of the device. */
int
send_lines(struct dp_job *j, const struct lists *l, const struct passage *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		l->ids[i] = p[i].line;
	return gpu_up(j->g, l->on_ids, l->ids, n * sizeof *l->ids);
}

/* passage_run() of dptrace/search/chain.c, for n lines. */
int
go(struct dp_job *j, const struct lists *l, struct passage *p, unsigned n)
{
	int most = 0, err = send_lines(j, l, p, n);

	if (err || (err = dp_begin(j, l->on_ids, n)))
		return err;
	for (unsigned i = 0; i < n; i++) {
		p[i].through = true;
		p[i].best = 0;
		most = j->line[p[i].line].n > most ? j->line[p[i].line].n : most;
	}
	for (int k = 0; k < most; k++) {
		unsigned count = 0;
		for (unsigned i = 0; i < n; i++)
			if (p[i].through && k < j->line[p[i].line].n) {
				l->ids[count] = (unsigned)(j->line[p[i].line].seg + (size_t)k);
				l->of[count++] = i;
			}
		while (count) {
			if ((err = pass(j, l, count)))
				return err;
			count = look_over(j, l, p, count);
			if (count && (err = send_released(j)))
				return err;
		}
	}
	return 0;
}

/* The sums that lines that went through reach at the end, and their polylines. */
int
finish(struct dp_job *j, const struct lists *l, struct passage *p, unsigned n)
{
	int err = send_lines(j, l, p, n);

	if (err || (err = gpu_begin(j->g)) || (err = dp_end(j, l->on_ids, n, l->on_out)) ||
	    (err = dp_follow(j, l->on_ids, n)) || (err = gpu_end(j->g)) ||
	    (err = gpu_down(j->g, l->out, l->on_out, n * sizeof *l->out)))
		return err;
	for (unsigned i = 0; i < n; i++)
		p[i].best += (double)l->out[i].most;
	return 0;
}

/* Keeps those of p[0..n) that went through, in order; how many. */
unsigned
keep_through(struct passage *p, unsigned n)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < n; i++)
		if (p[i].through)
			p[kept++] = p[i];
	return kept;
}

/* --- all of it ----------------------------------------------------------------------------------------------------- */

/* H and margins of all lines that are solved, their segments from the last on. */
int
find_margins(struct dp_job *j, const struct lists *l, const struct passage *p, unsigned n)
{
	int most = 0, err;

	for (unsigned i = 0; i < n; i++)
		most = j->line[p[i].line].n > most ? j->line[p[i].line].n : most;
	for (int back = 1; back <= most; back++) {
		unsigned count = 0;
		for (unsigned i = 0; i < n; i++) {
			const dp_line *of = &j->line[p[i].line];
			if (back <= of->n)
				l->ids[count++] = (unsigned)(of->seg + (size_t)(of->n - back));
		}
		if ((err = gpu_up(j->g, l->on_ids, l->ids, count * sizeof *l->ids)) ||
		    (err = gpu_begin(j->g)) || (err = dp_backward(j, l->on_ids, count)) ||
		    (err = dp_meet_back(j, l->on_ids, count)) || (err = gpu_end(j->g)))
			return err;
	}
	return 0;
}

/* p: [lines]. */
int
solve(struct dp_job *j, const struct lists *l, struct passage *p)
{
	unsigned n = (unsigned)j->nline;
	int err = gpu_begin(j->g);

	if (err || (err = dp_windows(j)) || (err = gpu_end(j->g)))
		return err;
	for (unsigned i = 0; i < n; i++) {
		p[i] = {i, false, 0};
		j->solved[i] = false;
	}
	memset(j->released, 0, j->nseg * sizeof *j->released);
	if ((err = send_released(j)) || (err = go(j, l, p, n)))
		return err;
	for (unsigned i = 0; i < n; i++)
		j->best[i] = p[i].best;
	n = keep_through(p, n);
	if (n && ((err = finish(j, l, p, n)) || (j->margins && (err = find_margins(j, l, p, n)))))
		return err;
	for (unsigned i = 0; i < n; i++) {
		j->solved[p[i].line] = true;
		j->best[p[i].line] = p[i].best;
	}
	if ((err = gpu_down(j->g, j->at, j->on.at, j->nguide * sizeof *j->at)) ||
	    (err = gpu_down(j->g, j->link, j->on.link, j->nguide * sizeof *j->link)))
		return err;
	return j->margins ? gpu_down(j->g, j->margin, j->on.margin, j->nguide * sizeof *j->margin)
			  : 0;
}

} // namespace

int
dp_solve(struct dp_job *j)
{
	struct lists l;
	void *host = NULL;
	struct passage *p =
	    static_cast<struct passage *>(weir_alloc(j->nline, sizeof(struct passage)));
	int err = -ENOMEM;

	if (p && !(err = take_lists(j, &l, &host)))
		err = solve(j, &l, p);
	weir_free(host);
	weir_free(p);
	return err;
}
