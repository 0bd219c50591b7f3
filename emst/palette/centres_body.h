/* A class of colours is represented by its mean and its weight. */

struct centre {
	float x[DIMS], w; /* mean and pixels */
};

/* The centres of all classes. */
struct centres {
	struct centre at[PALETTE_MOST];
	bool opaque[PALETTE_MOST]; /* the class is for opaque colours */
	size_t clear;		   /* the class of the clear colour, or the number of classes */
};

static inline struct centre
centre_of(const struct sums *s, float unit)
{
	struct centre c = {.w = (float)s->v[DIMS]};

	for (int a = 0; a < DIMS; a++)
		c.x[a] = (float)((double)s->v[a] / (double)s->v[DIMS]) * unit;
	return c;
}

static inline struct centre
centre_join(struct centre a, struct centre b)
{
	for (int i = 0; i < DIMS; i++)
		a.x[i] = (a.x[i] * a.w + b.x[i] * b.w) / (a.w + b.w);
	a.w += b.w;
	return a;
}

/* Returns what joining two classes adds to the SSE (Ward 1963). */
static inline float
centre_cost(const struct centre *a, const struct centre *b)
{
	float d2 = 0;

	for (int i = 0; i < DIMS; i++)
		d2 += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
	return d2 * (a->w * b->w) / (a->w + b->w);
}
