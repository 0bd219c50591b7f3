/*
 * Two-valued pictures of bytes: a row of a tile is a word of 64 bits. Down and up a row spreads by an and; along the
 * rows by doubling (Kogge and Stone: after k steps 2^k pixels), 64 rows at a time.
 */

/* The bits of row y of array from that hold the upper value; 0 outside the picture. */
static inline TARGET uint64_t
two_row(const struct tile_job *job, const uint8_t *from, const struct place_8 *p, int y)
{
	const uint8_t *row = from + (size_t)(p->y + y) * job->w + (size_t)(p->x + p->l);
	const V on = v_set8(key8_out((uint8_t)job->on, job->map));
	_Alignas(64) uint8_t a[TILE];
	const int n = p->r - p->l;
	uint64_t w = 0;

	if (n == TILE)
		memcpy(a, row, sizeof a);
	else
		memcpy(a, row, (size_t)n);
	for (int x = 0; x < TILE; x += PER_V_8)
		w |= v_equal8(v_load(a + x), on) << x;
	return (n == TILE ? w : w & ((UINT64_C(1) << n) - 1)) << p->l;
}

static inline TARGET void
two_along(uint64_t *restrict j, const uint64_t *restrict m)
{
	for (int y = 0; y < TILE; y++) {
		uint64_t u = j[y], d = j[y], mu = m[y], md = m[y];
		for (int s = 1; s < TILE; s *= 2) {
			u |= mu & u << s;
			mu &= mu << s;
			d |= md & d >> s;
			md &= md >> s;
		}
		j[y] = u | d;
	}
}

/* Row d of a chain filled along its run of m: upwards by the carry of a sum, downwards by doubling. */
static inline TARGET uint64_t
two_fill(uint64_t d, uint64_t m)
{
	uint64_t f = (((m + d) ^ m) | d) & m;

	for (int s = 1; s < TILE; s *= 2) {
		f |= m & f >> s;
		m &= m >> s;
	}
	return f;
}

/* Down and up at once, as sweep in kernel.h. fill: along each row on the way, which takes whole stairs at once. */
static inline TARGET void
two_across(uint64_t *restrict j, const uint64_t *restrict m, bool diagonal, bool fill)
{
	uint64_t d = 0, u = 0;

	for (int y = 0; y < TILE; y++) {
		if (diagonal) {
			d |= d << 1 | d >> 1;
			u |= u << 1 | u >> 1;
		}
		d = j[y] | (m[y] & d);
		u = j[TILE - 1 - y] | (m[TILE - 1 - y] & u);
		if (fill) {
			d = two_fill(d, m[y]);
			u = two_fill(u, m[TILE - 1 - y]);
		}
		j[y] |= d;
		u = j[TILE - 1 - y] |= u;
	}
}

static TARGET bool
two_fixpoint(uint64_t *restrict j, const uint64_t *restrict m, bool diagonal)
{
	uint64_t was[TILE];
	bool any = false;

	for (int round = 0;; round++) {
		uint64_t z = 0;
		memcpy(was, j, sizeof was);
		two_along(j, m);
		two_across(j, m, diagonal, round >= 2);
		for (int y = 0; y < TILE; y++)
			z |= was[y] ^ j[y];
		if (!z)
			return any;
		any = true;
	}
}

/* Writes the upper value where own pixels of row y rose: bits up. */
static inline TARGET void
two_save(const struct tile_job *job, const struct place_8 *p, int y, uint64_t up)
{
	uint8_t *row = (uint8_t *)job->J + (size_t)(p->y + y) * job->w, on;

	on = key8_out((uint8_t)job->on, job->map);
	for (int x = 0; x < TILE; x += 8) {
		/* A bit to a byte of ones: its own bit in each of 8 copies, carried into the top bit, spread down. */
		uint64_t b = (up >> x & 255) * UINT64_C(0x0101010101010101), v;
		if (!b)
			continue;
		b &= UINT64_C(0x8040201008040201);
		b = ((b | ((b & UINT64_C(0x7f7f7f7f7f7f7f7f)) + UINT64_C(0x7f7f7f7f7f7f7f7f))) >>
			 7 &
		     UINT64_C(0x0101010101010101)) *
		    255;
		if (p->l <= x && x + 8 <= p->r) {
			memcpy(&v, row + p->x + x, 8);
			v = (v & ~b) | (on * UINT64_C(0x0101010101010101) & b);
			memcpy(row + p->x + x, &v, 8);
		} else {
			for (int k = 0; k < 8; k++)
				if (up >> (x + k) & 1)
					row[p->x + x + k] = on;
		}
	}
}

/* The bits of ring row y that rose, from row at of neighbours k, k + 1 and k + 2. */
static void
two_owe_row(struct tile_job *job, uint64_t up, int k, int at)
{
	const uint8_t on = (uint8_t)job->on;

	if (job->diagonal && (up & 1))
		owe_8(job, &job->owed[k], at * TILE + TILE - 2, on);
	if (job->diagonal && up >> 63)
		owe_8(job, &job->owed[k + 2], at * TILE + 1, on);
	for (up &= UINT64_MAX >> 2 << 1; up; up &= up - 1)
		owe_8(job, &job->owed[k + 1], at * TILE + __builtin_ctzll(up), on);
}

static TARGET void
visit_two(struct tile_job *job, size_t tx, size_t ty)
{
	const struct place_8 p = place_of_8(job, tx, ty);
	uint64_t j[TILE] = {0}, m[TILE] = {0}, was[TILE];

	job->changed = false;
	for (int k = 0; k < 9; k++)
		job->owed[k].level = job->owed[k].n = 0;
	for (int y = p.t; y < p.b; y++) {
		j[y] = two_row(job, job->J, &p, y);
		m[y] = two_row(job, job->I, &p, y);
	}
	memcpy(was, j, sizeof was);
	if (!two_fixpoint(j, m, job->diagonal))
		return;
	job->changed = true;
	two_owe_row(job, was[0] ^ j[0], 0, TILE - 2);
	two_owe_row(job, was[TILE - 1] ^ j[TILE - 1], 6, 1);
	for (int y = 1; y < TILE - 1; y++) {
		const uint64_t up = was[y] ^ j[y];
		if (!up)
			continue;
		if (up & 1)
			owe_8(job, &job->owed[3], y * TILE + TILE - 2, (uint8_t)job->on);
		if (up >> 63)
			owe_8(job, &job->owed[5], y * TILE + 1, (uint8_t)job->on);
		two_save(job, &p, y, up & UINT64_MAX >> 2 << 1);
	}
}
