/* The flood of flood.c for one element type, a template: see four.h. */

struct N(wait) {
	int n, x[FLOOD_WIDTH], y[FLOOD_WIDTH]; /* within the tile, 1..62 each */
	T key[FLOOD_WIDTH];
};

static inline T
N(key)(const struct tile_job *job, T v)
{
	return IN(v, job->map);
}

/* Pixel x, y of the tile may rise to v: to wait its turn, or, when it is a neighbour's, to be owed. */
static inline bool
N(raise)(struct tile_job *job, struct N(wait) * w, size_t at, int x, int y, T v)
{
	const T m = N(key)(job, ((const T *)job->I)[at]), r = v < m ? v : m;

	if (N(key)(job, ((const T *)job->J)[at]) >= r)
		return true;
	const int dx = (x > TILE_OWN) - (x < 1), dy = (y > TILE_OWN) - (y < 1);
	if (dx | dy) {
		struct tile_debt *d = &job->owed[4 + 3 * dy + dx];
		const uint8_t l = tile_level(job, r);
		d->level = l > d->level ? l : d->level;
		if (d->n < TILE_FEW)
			d->px[d->n++] = (uint16_t)((y - dy * TILE_OWN) * TILE + x - dx * TILE_OWN);
		else
			d->n = TILE_FULL;
		return true;
	}
	if (w->n == FLOOD_WIDTH)
		return false;
	((T *)job->J)[at] = OUT(r, job->map);
	job->changed = true;
	w->x[w->n] = x;
	w->y[w->n] = y;
	w->key[w->n++] = r;
	return true;
}

/* Tries the neighbours of pixel x, y at key v. */
static inline bool
N(spread)(struct tile_job *job, struct N(wait) * w, size_t x0, size_t y0, int x, int y, T v)
{
	static const int dx[8] = {0, -1, 1, 0, -1, 1, -1, 1}, dy[8] = {-1, 0, 0, 1, -1, -1, 1, 1};

	for (int k = 0; k < (job->diagonal ? 8 : 4); k++) {
		/* Tile coordinate 1 is pixel x0; one below 0 wraps and fails the test. */
		const size_t px = x0 + (size_t)(x + dx[k] - 1), py = y0 + (size_t)(y + dy[k] - 1),
			     ahead = py + (size_t)(FLOOD_AHEAD * dy[k]);
		const int n = w->n;
		if (px < job->w && py < job->h &&
		    !N(raise)(job, w, py * job->w + px, x + dx[k], y + dy[k], v))
			return false;
		if (dy[k] && w->n > n && ahead < job->h) {
			__builtin_prefetch((const T *)job->J + ahead * job->w + px);
			__builtin_prefetch((const T *)job->I + ahead * job->w + px);
		}
	}
	return true;
}

/* What the pixel may rise to: the highest of its neighbours, in whatever tile. */
static inline T
N(around)(const struct tile_job *job, size_t x, size_t y)
{
	T v = 0;

	for (size_t py = y ? y - 1 : 0; py <= y + 1 && py < job->h; py++)
		for (size_t px = x ? x - 1 : 0; px <= x + 1 && px < job->w; px++)
			if (job->diagonal || px == x || py == y) {
				const size_t at = py * job->w + px;
				const T j = N(key)(job, ((const T *)job->J)[at]),
					m = N(key)(job, ((const T *)job->I)[at]),
					k = j < m ? j : m; /* another band may not be clipped */
				v = k > v ? k : v;
			}
	return v;
}

static bool
N(flood)(struct tile_job *job, size_t tx, size_t ty, const uint16_t *px, size_t n)
{
	const size_t x0 = tx * TILE_OWN, y0 = ty * TILE_OWN;
	struct N(wait) w = {.n = 0};

	job->changed = false;
	for (int k = 0; k < 9; k++)
		job->owed[k].level = job->owed[k].n = 0;
	for (size_t i = 0; i < n; i++) {
		const int x = px[i] % TILE, y = px[i] / TILE;
		const size_t gx = x0 + (size_t)x - 1, gy = y0 + (size_t)y - 1;
		N(raise)(job, &w, gy * job->w + gx, x, y, N(around)(job, gx, gy));
	}
	for (int steps = 0; w.n; steps++) {
		int top = 0;
		if (steps == FLOOD_LENGTH)
			return false;
		for (int i = 1; i < w.n; i++)
			top = w.key[i] > w.key[top] ? i : top;
		const int x = w.x[top], y = w.y[top];
		const T v = w.key[top];
		w.n--;
		w.x[top] = w.x[w.n];
		w.y[top] = w.y[w.n];
		w.key[top] = w.key[w.n];
		if (!N(spread)(job, &w, x0, y0, x, y, v))
			return false;
	}
	return true;
}
