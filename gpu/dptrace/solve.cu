/*
 * Chains of segments, the host's part: what the sums that come back mean, whether a bound is given up, which first links of a
 * closed line are tried next. dptrace/search/chain.c and chain.c, for all lines of a batch at a time.
 */
#include "gpu/dptrace/chain.h"
#include "gpu/dptrace/close.h"

#include <string.h>

namespace
{

/* A passage of a line: what is asked, what came of it. */
struct passage {
	unsigned line;
	int k0, k1;
	bool through; /* some polyline goes through */
	bool closes;  /* the optimum, by its own first and last link */
	double best;
};

/* What goes to the device and comes back, by line, on the host and there. */
struct lists {
	unsigned *ids, *of; /* segments at work, and the passages they belong to */
	dp_start *from;
	dp_sums *out;
	int *closes;
	unsigned *on_ids;
	dp_start *on_from;
	dp_sums *on_out;
	int *on_closes;
};

int
take_lists(struct dp_job *j, struct lists *l, void **host)
{
	struct arena a = {NULL, 0};
	void *device;

	for (int round = 0; round < 2; round++) {
		a.used = 0;
		l->ids = dp_take<unsigned>(&a, j->nline);
		l->of = dp_take<unsigned>(&a, j->nline);
		l->from = dp_take<dp_start>(&a, j->nline);
		l->out = dp_take<dp_sums>(&a, j->nline);
		l->closes = dp_take<int>(&a, j->nline);
		if (!round && !(*host = a.base = static_cast<char *>(weir_alloc(a.used, 1))))
			return -ENOMEM;
	}
	const int err = gpu_hold(j->g, HOLD_LIST, a.used, &device);
	a = {static_cast<char *>(device), 0};
	l->on_ids = dp_take<unsigned>(&a, j->nline);
	l->on_from = dp_take<dp_start>(&a, j->nline);
	l->on_out = dp_take<dp_sums>(&a, j->nline);
	l->on_closes = dp_take<int>(&a, j->nline);
	return err;
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
 * if that is allowed, and their number is returned; the others' passages are done with or have failed.
 */
unsigned
look_over(struct dp_job *j, const struct lists *l, struct passage *p, unsigned n, bool release)
{
	unsigned again = 0;

	for (unsigned i = 0; i < n; i++) {
		const unsigned id = l->ids[i];
		struct passage *q = &p[l->of[i]];
		if (l->out[i].most > NEVER / 2) {
			q->best += (double)l->out[i].taken;
		} else if (!release || j->seg[id].k == 0 || j->released[id]) {
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

int
send_starts(struct dp_job *j, const struct lists *l, const struct passage *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		l->from[i] = {p[i].line, p[i].k0, p[i].k1};
	return gpu_up(j->g, l->on_from, l->from, n * sizeof *l->from);
}

/* passage_run() of dptrace/search/chain.c, for n passages. */
int
go(struct dp_job *j, const struct lists *l, struct passage *p, unsigned n, bool release)
{
	int most = 0, err = send_starts(j, l, p, n);

	if (err || (err = dp_begin(j, l->on_from, n)))
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
			count = look_over(j, l, p, count, release);
			if (count && (err = send_released(j)))
				return err;
		}
	}
	return 0;
}

/* The sums that passages that went through reach at the end, and their polylines. */
int
finish(struct dp_job *j, const struct lists *l, struct passage *p, unsigned n)
{
	int err = send_starts(j, l, p, n);

	if (err || (err = gpu_begin(j->g)) || (err = dp_close_up(j, l->on_from, n, l->on_out)) ||
	    (err = dp_follow(j, l->on_from, n, l->on_closes)) || (err = gpu_end(j->g)) ||
	    (err = gpu_down(j->g, l->out, l->on_out, n * sizeof *l->out)) ||
	    (err = gpu_down(j->g, l->closes, l->on_closes, n * sizeof *l->closes)))
		return err;
	for (unsigned i = 0; i < n; i++) {
		p[i].best =
		    l->out[i].most > NEVER / 2 ? p[i].best + (double)l->out[i].most : (double)NEVER;
		p[i].closes = l->closes[i];
	}
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

/* --- closed lines -------------------------------------------------------------------------------------------------- */

/* An attempt for every line that is not done. */
int
try_branches(struct dp_job *j, const struct lists *l, struct closing *c, unsigned n,
	     struct passage *p)
{
	unsigned count = 0, at = 0;
	int err;

	for (unsigned i = 0; i < n; i++)
		if (c[i].at != closing::DONE)
			p[count++] = {
			    c[i].line, closing_try(&c[i])->k0, closing_try(&c[i])->k1, false, false,
			    0};
	if ((err = go(j, l, p, count, false)))
		return err;
	count = keep_through(p, count);
	if (count && (err = finish(j, l, p, count)))
		return err;
	for (unsigned i = 0; i < n; i++) {
		if (c[i].at == closing::DONE)
			continue;
		const bool through = at < count && p[at].line == c[i].line;
		const double bound = through ? p[at].best : (double)NEVER;
		closing_try(&c[i])->bound = bound;
		closing_go_on(&c[i], bound > (double)NEVER / 2 && p[at].closes);
		at += through;
	}
	return 0;
}

bool
all_done(const struct closing *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (c[i].at != closing::DONE)
			return false;
	return true;
}

/* Tries the first links of n closed lines until each has the best ones, or none. */
int
try_all(struct dp_job *j, const struct lists *l, struct closing *c, unsigned n,
	struct passage *scratch)
{
	int err;

	for (unsigned i = 0; i < n; i++) {
		const dp_guide *v = j->guide + j->seg[j->line[c[i].line].seg].guide;
		c[i].at = closing::WHOLE;
		c[i].n = 1;
		c[i].branch[0] = {0, v->d * v[1].d - 1, 0};
	}
	while (!all_done(c, n))
		if ((err = try_branches(j, l, c, n, scratch)))
			return err;
	return 0;
}

/*
 * The first links of all closed lines into p[line]. Lines that cannot be closed within the bound are released at their
 * start and tried again.
 */
int
close_lines(struct dp_job *j, const struct lists *l, struct passage *p, struct passage *scratch,
	    struct closing *c, struct branch *room)
{
	unsigned n = 0, count = 0, again = 0;
	int err;

	for (unsigned i = 0; i < j->nline; i++)
		if (j->closed[i])
			scratch[count++] = {i, 0, -1, false, false, 0};
	if (!count || (err = go(j, l, scratch, count, true)))
		return count ? err : 0;
	count = keep_through(scratch, count);
	for (; n < count; n++)
		c[n] = {
		    scratch[n].line, closing::WHOLE, room + 2 * (size_t)n * j->on.maxlinks, 1, 0,
		    {0, 0, 0}};
	for (int round = 0; round < 2 && n; round++, n = again) {
		if ((err = try_all(j, l, c, n, scratch)))
			return err;
		again = 0;
		for (unsigned i = 0; i < n; i++) {
			p[c[i].line].k0 = c[i].chosen.k0;
			p[c[i].line].k1 = c[i].chosen.k1;
			if (c[i].chosen.k1 >= 0)
				continue;
			j->released[j->line[c[i].line].seg] = 1;
			c[again++] = c[i];
		}
		if ((err = send_released(j)))
			return err;
	}
	return 0;
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

/* p and q: [lines]. */
int
solve(struct dp_job *j, const struct lists *l, struct passage *p, struct passage *q,
      struct closing *c, struct branch *room)
{
	unsigned n = (unsigned)j->nline;
	int err = gpu_begin(j->g);

	if (err || (err = dp_windows(j)) || (err = gpu_end(j->g)))
		return err;
	for (unsigned i = 0; i < n; i++) {
		p[i] = {i, 0, -1, false, false, 0};
		j->solved[i] = false;
	}
	memset(j->released, 0, j->nseg * sizeof *j->released);
	if ((err = send_released(j)) || (err = close_lines(j, l, p, q, c, room)) ||
	    (err = go(j, l, p, n, true)))
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
	const size_t n = j->nline;
	size_t closed = 0;
	struct arena a = {NULL, 0};
	struct lists l;
	void *host = NULL;
	int err = -ENOMEM;

	for (size_t i = 0; i < n; i++)
		closed += j->closed[i];
	for (int round = 0; round < 2; round++) {
		a.used = 0;
		struct passage *p = dp_take<struct passage>(&a, n),
			       *q = dp_take<struct passage>(&a, n);
		struct closing *c = dp_take<struct closing>(&a, closed);
		struct branch *room = dp_take<struct branch>(&a, 2 * closed * j->on.maxlinks);
		if (a.base)
			err = (err = take_lists(j, &l, &host)) ? err : solve(j, &l, p, q, c, room);
		else if (!(a.base = static_cast<char *>(weir_alloc(a.used, 1))))
			break;
	}
	weir_free(host);
	weir_free(a.base);
	return err;
}
