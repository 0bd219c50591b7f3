/* Curves, the mute and the time axis of a panel: pure functions of the options. */
#include <math.h>

#include "common/base/fft.h"
#include "radon/radon.h"

bool
radon_curve(enum radon_curve curve, double x, double reference, double depth, double *g)
{
	if (curve == RADON_PARABOLIC || curve == RADON_HYPERBOLIC)
		*g = x / reference * (x / reference);
	else if (curve == RADON_LINEAR)
		*g = x / reference;
	else /* sqrt(z^2 + x^2) - z = x^2 / (sqrt(z^2 + x^2) + z), without cancellation */
		*g = x * x / (hypot(depth, x) + depth) /
		     (reference * reference / (hypot(depth, reference) + depth));
	return isfinite(*g);
}

/* Half a cosine, which rises from 0 at x = 0 to 1 at x = taper. */
static double
rise(double x, double taper)
{
	if (!(x > 0))
		return 0;
	return x >= taper ? 1 : .5 * (1 - cos(M_PI * x / taper));
}

/* How many of n ascending q lie to the left of a side at `at`. */
static size_t
left_of(const double *q, size_t n, double at)
{
	size_t lo = 0;

	for (size_t hi = n; lo < hi;) {
		const size_t mid = lo + (hi - lo) / 2;
		if (at <= q[mid])
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* A polygon of n corners crosses a line of one tau: its sides, by the first of nq q to the right of each. Returns these q's range. */
static struct radon_span
cross(const double (*v)[2], size_t n, double tau, const double *q, size_t nq,
      struct radon_crossing *c)
{
	struct radon_span s = {nq + 1, 0};

	for (size_t i = 0, j = n - 1; i < n; j = i++) {
		if ((v[i][0] <= tau) == (v[j][0] <= tau))
			continue;
		const double at =
		    v[i][1] + (v[j][1] - v[i][1]) * (tau - v[i][0]) / (v[j][0] - v[i][0]);
		const size_t k = left_of(q, nq, at);
		c[k].left = fmax(c[k].left, at);
		c[k].right = fmin(c[k].right, at);
		c[k].odd = !c[k].odd;
		s.first = k < s.first ? k : s.first;
		s.end = k + 1 > s.end ? k + 1 : s.end;
	}
	return s;
}

void
radon_mute_line(const struct radon_mute *m, double tau, const double *q, size_t nq,
		struct radon_crossing *c, float *weight)
{
	for (size_t k = 0; k <= nq; k++)
		c[k] = (struct radon_crossing){-INFINITY, INFINITY, false};
	for (size_t k = 0; k < nq; k++)
		weight[k] = 0;
	for (size_t i = 0; i < m->npolygon; i++) {
		const size_t first = i ? m->polygon[i - 1] : 0;
		const struct radon_span s =
		    cross(m->corner + first, m->polygon[i] - first, tau, q, nq, c);
		double left = -INFINITY, right = INFINITY;
		bool inside = false;
		for (size_t k = s.end; k-- > s.first;) {
			const double here = c[k].right;
			c[k].right = right;
			right = fmin(right, here);
		}
		for (size_t k = s.first; k < s.end; k++) {
			left = fmax(left, c[k].left);
			inside ^= c[k].odd;
			if (inside && k < nq)
				weight[k] = fmaxf(
				    weight[k],
				    (float)rise(fmin(q[k] - left, c[k].right - q[k]), m->taper));
			c[k] = (struct radon_crossing){-INFINITY, INFINITY, false};
		}
	}
}

double
radon_mute_weight(const struct radon_mute *m, double tau, double q)
{
	size_t i = 0;
	double cut;

	if (m->npolygon) {
		struct radon_crossing c[2];
		float weight;
		radon_mute_line(m, tau, &q, 1, c, &weight);
		return (double)weight;
	}
	while (i < m->n && m->t[i] <= tau)
		i++;
	if (m->n == 0)
		return 1;
	if (i == 0 || i == m->n)
		cut = m->q[i ? m->n - 1 : 0];
	else
		cut = m->q[i - 1] +
		      (m->q[i] - m->q[i - 1]) * (tau - m->t[i - 1]) / (m->t[i] - m->t[i - 1]);
	return rise(q - cut, m->taper);
}

/* The energy of curve i and of its neighbours. */
static double
around(const double *energy, size_t n, size_t i)
{
	return (i ? energy[i - 1] : 0) + energy[i] + (i + 1 < n ? energy[i + 1] : 0);
}

void
radon_gap(const struct radon_options *o, const double *energy, struct radon_mute *m)
{
	const size_t n = o->nq, zero = (size_t)fmax(0, round(-o->q0 / o->dq)), from = zero + 4;
	double primaries = 0, low = INFINITY;
	size_t first = from, last, end = from;

	for (size_t i = zero > 4 ? zero - 4 : 0; i <= from; i++)
		primaries = fmax(primaries, around(energy, n, i));
	while (end < n && !(around(energy, n, end) > fmax(1.15 * low, low + .03 * primaries)))
		low = fmin(low, around(energy, n, end++));
	const double most = fmax(1.2 * low, low + .06 * primaries);
	while (first + 1 < end && around(energy, n, first) > most)
		first++;
	for (last = end - 1; last > first && around(energy, n, last) > most;)
		last--;
	m->taper = fmin(m->taper, fmax(2 * o->dq, (double)(last - first) * o->dq));
	m->q[0] = o->q0 + (double)(first + last) / 2 * o->dq - m->taper / 2;
}

double
radon_mute_q(const struct radon_options *o, size_t i)
{
	const size_t n = o->nr ? o->nq / o->nr : o->nq;
	const double q = o->q0 + (double)(i % n) * o->dq, r = o->r0 + (double)(i / n) * o->dr;

	return !o->nr ? q : o->mute.radial ? hypot(q, r) : (q + r) / 2;
}

void
radon_widen(const struct radon_options *o, double g, double h, double *least, double *most)
{
	const size_t nr = o->nr ? o->nr : 1;
	const double q[2] = {o->q0 * g, (o->q0 + (double)(o->nq / nr - 1) * o->dq) * g};
	double r[2] = {0, 0};

	if (o->nr) {
		r[0] = o->r0 * h;
		r[1] = (o->r0 + (double)(nr - 1) * o->dr) * h;
	}
	*least = fmin(*least, fmin(q[0], q[1]) + fmin(r[0], r[1]));
	*most = fmax(*most, fmax(q[0], q[1]) + fmax(r[0], r[1]));
}

/* The least and the greatest moveout of all curves and traces, and 0, in s. */
static void
moveouts(const struct radon_options *o, double *lo, double *hi)
{
	*lo = fmin(0, o->least);
	*hi = fmax(0, o->most);
	for (size_t j = 0; j < o->nx; j++)
		radon_widen(o, o->g[j], o->nr ? o->h[j] : 0, lo, hi);
}

double
radon_moveout(const struct radon_options *o)
{
	double lo, hi;

	moveouts(o, &lo, &hi);
	return o->hyperbolic ? sqrt(hi) : fmax(-lo, hi);
}

/* The time axis of hyperbolic curves: tau is not below 0, and never later than the gather. */
static bool
hyperbolic_axis(const struct radon_options *o, size_t *ntau, size_t *lead)
{
	const double before = floor(fmax(o->t0, 0) / o->dt + 1e-9),
		     all = fmax(before, (double)o->lead) + (double)o->nt + (double)o->tail;

	if (!(all < 1 << 28))
		return false;
	*lead = before > (double)o->lead ? (size_t)before : o->lead;
	*ntau = (size_t)all;
	return true;
}

bool
radon_fits(const struct radon_options *o, size_t *ntau, size_t *lead)
{
	double lo, hi;

	if (o->hyperbolic)
		return hyperbolic_axis(o, ntau, lead);
	moveouts(o, &lo, &hi);
	lo = ceil(-lo / o->dt - 1e-9);
	hi = ceil(hi / o->dt - 1e-9);
	lo = fmax(lo, (double)o->tail);
	hi = fmax(hi, (double)o->lead);
	if (!(lo + hi + (double)o->nt < 1 << 28))
		return false;
	*lead = (size_t)hi;
	*ntau = fft_size(o->nt + (size_t)lo + (size_t)hi);
	return true;
}
