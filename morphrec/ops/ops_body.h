/* The loops over samples of ops.c for one element type. This file is a template: see four_body.h. */

/*
 * Lowers keys by h, down to the floor at most. This is f - h where the reconstruction dilates, f + h where it erodes. The key
 * below that of 0 is that of -0, which counts as 0, so a float goes one further.
 */
WEIR_CLONES(N(lower), (void *to, void *from, size_t n, const struct morphrec_recipe *p),
	    (to, from, n, p))
{
	const T *restrict f = from, h = (T)p->h, floor = (T)p->floor;
	T *restrict J = to;

	for (size_t i = 0; i < n; i++) {
		const T k = IN(f[i], p->map), low = k < floor ? k : floor, down = (T)(k - h),
			same = IN(OUT(down, p->map), p->map) == k;
		J[i] = OUT(k > floor && k - floor > h ? (T)(down - same) : low, p->map);
	}
}

/* Makes the marker (f >= hi) in J and the mask (f >= lo) in f, as yes and no. Walls stay walls. */
WEIR_CLONES(N(threshold), (void *to, void *from, size_t n, const struct morphrec_recipe *p),
	    (to, from, n, p))
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

/* J becomes f - J of integers, clipped to the largest value of the type. */
WEIR_CLONES(N(subtract), (void *to, void *from, size_t n, const struct morphrec_recipe *p),
	    (to, from, n, p))
{
	const T *restrict f = from, most = (T)p->most;
	T *restrict J = to;

	for (size_t i = 0; i < n; i++) {
		const T d = (T)(IN(f[i], p->map) - IN(J[i], p->map));
		J[i] = d < most ? d : most;
	}
}

/* J becomes yes where J is below f. If all of f is at the floor, where no marker can be lower, all of J becomes yes. */
WEIR_CLONES(N(below), (void *to, void *from, size_t n, const struct morphrec_recipe *p),
	    (to, from, n, p))
{
	const T *restrict f = from, yes = (T)p->yes, no = (T)p->no, floor = (T)p->floor;
	T *restrict J = to, odd = p->odd;

	for (size_t i = 0; i < n; i++)
		odd |= (T)(IN(f[i], p->map) ^ floor);
	for (size_t i = 0; i < n; i++) {
		const T k = IN(f[i], p->map), wall = f[i];
		const bool is_wall = p->map.real && !k;
		J[i] = is_wall ? wall : !odd || IN(J[i], p->map) < k ? yes : no;
	}
}
