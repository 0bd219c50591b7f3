/* What ops.c does to each sample, for one element type, a template: see four.h. */

/* Keys lowered by h, but not below the floor: f - h where the reconstruction dilates, f + h where it erodes. */
WEIR_CLONES(N(lower), (void *to, void *from, size_t n, const struct point *p), (to, from, n, p))
{
	const T *restrict f = from, h = (T)p->h, floor = (T)p->floor;
	T *restrict J = to;

	for (size_t i = 0; i < n; i++) {
		const T k = IN(f[i], p->map), low = k < floor ? k : floor;
		J[i] = OUT(k > floor && k - floor > h ? (T)(k - h) : low, p->map);
	}
}

/* The marker f >= hi and the mask f >= lo, as yes and no; a wall stays one. */
WEIR_CLONES(N(threshold), (void *to, void *from, size_t n, const struct point *p), (to, from, n, p))
{
	T *restrict f = from, *restrict J = to;
	const T yes = (T)p->yes, no = (T)p->no, lo = (T)p->lo, hi = (T)p->hi;

	for (size_t i = 0; i < n; i++) {
		const T k = IN(f[i], p->map), wall = f[i];
		const bool is_wall = p->map.real && !k;
		J[i] = is_wall ? wall : k >= hi ? yes : no;
		f[i] = is_wall ? wall : k >= lo ? yes : no;
	}
}

/* Integers: f - J, not beyond the largest value of the type. */
WEIR_CLONES(N(subtract), (void *to, void *from, size_t n, const struct point *p), (to, from, n, p))
{
	const T *restrict f = from, most = (T)p->most;
	T *restrict J = to;

	for (size_t i = 0; i < n; i++) {
		const T d = (T)(IN(f[i], p->map) - IN(J[i], p->map));
		J[i] = d < most ? d : most;
	}
}

/* Yes where J stayed below f, or everywhere if all of f is at the floor (no marker could be lower). */
WEIR_CLONES(N(below), (void *to, void *from, size_t n, const struct point *p), (to, from, n, p))
{
	const T *restrict f = from, yes = (T)p->yes, no = (T)p->no, floor = (T)p->floor;
	T *restrict J = to, odd = 0;

	for (size_t i = 0; i < n; i++)
		odd |= (T)(IN(f[i], p->map) ^ floor);
	for (size_t i = 0; i < n; i++) {
		const T k = IN(f[i], p->map), wall = f[i];
		const bool is_wall = p->map.real && !k;
		J[i] = is_wall ? wall : !odd || IN(J[i], p->map) < k ? yes : no;
	}
}
