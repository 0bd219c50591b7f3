/*
 * Traces that do not belong to the others of their gather: by a wrong offset, or so loud that an inverse is spent on them; and
 * traces made equally loud.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "radon/stream/gathers.h"

static double
moveout(const struct radon_options *o, size_t j)
{
	double lo = 0, hi = 0;

	radon_widen(o, o->g[j], o->nr ? o->h[j] : 0, &lo, &hi);
	return fmax(-lo, hi);
}

size_t
gather_find_odd(const struct radon_options *o)
{
	size_t at = 0, near = 0;

	for (size_t j = 1; j < o->nx; j++)
		at = moveout(o, j) > moveout(o, at) ? j : at;
	for (size_t j = 0; j < o->nx; j++)
		near += 16 * moveout(o, j) > moveout(o, at);
	return 4 * near <= o->nx ? at : SIZE_MAX;
}

/*
 * A trace is compared with the median of the BESIDE traces of the nearest offsets, since traces become louder towards the source.
 * TIMES was chosen on 103 gathers of every second of 96 files, where a trace of a shot has up to 12.6 times the energy of those. In
 * the other files, one of 100 gathers was warned of: its trace at offset 0 has 284 times. Of 594 traces made noise of 5 to 30 times
 * the amplitude there, 565 were named. With 25 times the energy, one of 60 traces costs the others 2.6 dB.
 */
enum { BESIDE = 8, FEWEST = 5 };
static const double TIMES = 16, SHARE = .1;

struct trace {
	double place, energy;
	size_t j;
};

static int
by_place(const void *a, const void *b)
{
	const struct trace *x = a, *y = b;

	return x->place != y->place ? (x->place > y->place) - (x->place < y->place)
				    : (x->j > y->j) - (x->j < y->j);
}

/*
 * The powers of traces are uneven where their mean exceeds UNEVEN times their median. They are even but for a loud trace where
 * those of the strongest and of the weakest third are at most EVEN apart, in logarithms. Events follow the traces where the part
 * of the energy that the panel explains falls by at most FOLLOWS as much between these thirds; a part below LEAST counts as
 * LEAST. These were chosen on 14 of 29 gathers: see t/bench/radon.md.
 */
static const double UNEVEN = 3.3, EVEN = .7, FOLLOWS = .25, LEAST = .01;

/* The median of the energies of the traces beside trace i of n; of an even number of them the greater one. */
static double
beside(const struct trace *t, size_t n, size_t i)
{
	const size_t most = n < BESIDE + 1 ? n : BESIDE + 1, half = most / 2;
	const size_t first = i < half ? 0 : i - half + most > n ? n - most : i - half;
	struct trace e[BESIDE];
	size_t count = 0;

	for (size_t k = first; k < first + most; k++)
		if (k != i) {
			e[count] = t[k];
			e[count++].place = t[k].energy;
		}
	qsort(e, count, sizeof *e, by_place);
	return e[count / 2].energy;
}

void
gather_find_loud(struct gather *g)
{
	struct trace *t = g->trace = weir_xgrow(g->trace, &g->room_trace, g->o.nx, sizeof *t);
	double all = 0, powers = 0;
	size_t n = 0;

	g->loud_trace = SIZE_MAX;
	g->times = TIMES;
	for (size_t j = 0; j < g->o.nx; j++) {
		if (!g->live[j])
			continue;
		const double e = radon_energy(g->in + j * g->o.nt, g->o.nt);
		t[n++] = (struct trace){fabs(g->g[j]) + fabs(g->h[j]), e, j};
		all += e;
	}
	qsort(t, n, sizeof *t, by_place);
	for (size_t i = 0; i < n && n >= FEWEST; i++) {
		const double times = t[i].energy / beside(t, n, i);
		if (times <= g->times || t[i].energy < SHARE * all)
			continue;
		g->times = times;
		g->loud_trace = t[i].j;
	}
	for (size_t i = 0; i < n; i++) {
		const struct radon_span s = radon_span(g->in + t[i].j * g->o.nt, g->o.nt);
		t[i].place = t[i].energy / (double)(s.end - s.first);
		powers += t[i].place;
	}
	qsort(t, n, sizeof *t, by_place);
	g->third = n / 3;
	g->strong = t + n - g->third;
	g->uneven = n >= FEWEST &&
		    (g->loud_trace != SIZE_MAX || powers > UNEVEN * (double)n * t[n / 2].place);
}

bool
gather_suits_balance(const struct gather *g)
{
	const size_t middle = g->third / 2;
	const double apart = log(g->strong[middle].place / g->trace[middle].place);
	double weak = 0, strong = 0;

	for (size_t i = 0; i < g->third && g->report.explained; i++) {
		weak += (double)g->report.explained[g->trace[i].j];
		strong += (double)g->report.explained[g->strong[i].j];
	}
	const double least = LEAST * (double)g->third;
	return (apart <= EVEN && g->loud_trace != SIZE_MAX) ||
	       (g->report.explained &&
		log(fmax(weak, least) / fmax(strong, least)) <= FOLLOWS * apart);
}

/* ---- traces made equally loud ---- */

/* Samples beyond CREST times the strength count as so many. What is beyond CLIP times it is no event, and no curve explains it. */
static const double CREST = 4, CLIP = 30;

/* Returns 1 for a trace of zeros. */
static double
strength(const float *x, size_t nt)
{
	const struct radon_span s = radon_span(x, nt);
	const double n = fmax(1, (double)(s.end - s.first));
	double rms = sqrt(radon_energy(x + s.first, s.end - s.first) / n);

	for (double before = INFINITY; rms < .99 * before;) {
		const double most = CREST * rms * CREST * rms;
		double sum = 0;
		for (size_t i = s.first; i < s.end; i++)
			sum += fmin((double)x[i] * (double)x[i], most);
		before = rms;
		rms = sqrt(sum / n);
	}
	return rms > FLT_MIN ? rms : 1;
}

void
gather_balance(struct gather *g)
{
	const size_t nt = g->o.nt, n = g->o.nx * nt;

	g->whole = g->in;
	g->balanced =
	    weir_xgrow(g->balanced, &g->room_balanced, n + 2 * g->o.nx, sizeof *g->balanced);
	g->in = g->balanced;
	for (size_t j = 0; j < g->o.nx; j++) {
		const float by = (float)strength(g->whole + j * nt, nt);
		g->balanced[n + j] = by;
		for (size_t i = j * nt; i < (j + 1) * nt; i++)
			g->balanced[i] =
			    (float)fmax(-CLIP, fmin(CLIP, (double)g->whole[i] / (double)by));
	}
}

void
gather_restore(struct gather *g)
{
	const size_t nt = g->o.nt, n = g->o.nx * nt;

	for (size_t i = 0; i < n; i++) {
		const double taken = (double)g->in[i] - (double)g->out[i];
		g->out[i] = (float)((double)g->whole[i] - (double)g->balanced[n + i / nt] * taken);
	}
}
