#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/real.h"
#include "common/picture/measures.h"
#include "common/picture/number.h"
#include "common/picture/table.h"

/* Writes the row of component i. Returns how many numbers it has. */
static size_t
fill_row(double v[MEASURES], const struct table *t, size_t i)
{
	const size_t n =
	    measures_fill(v, t->x, label_region(t->l, i), t->name ? t->name[i] : i + 1, t->dims);

	if (t->map)
		measures_map(v, t->x, t->g, t->dims);
	return n;
}

/* Writes whole numbers with all digits. Others have nine, and twelve where places on a map need them. */
static size_t
print(char *to, double v, bool map)
{
	if (map && v != rint(v))
		return (size_t)snprintf(to, NUMBER_ROOM, "%.12g", v);
	return number_print(to, v);
}

void
table_put_csv(const struct table *t, bool first, struct raw_out *out)
{
	char line[MEASURES * (NUMBER_ROOM + 1)];
	double v[MEASURES];

	if (first) {
		for (const char *s = measures_names[t->dims > 2]; *s; s++)
			raw_text(out, *s == ' ' ? "," : s, 1);
		raw_text(out, "\n", 1);
	}
	for (size_t i = 0; i < t->l->n; i++) {
		const size_t n = fill_row(v, t, i);
		size_t used = 0;

		for (size_t k = 0; k < n; k++) {
			used += print(line + used, real_shown(v[k]), t->map);
			line[used++] = k + 1 < n ? ',' : '\n';
		}
		raw_text(out, line, used);
	}
}

void
table_put(const struct table *t, const struct raw_in *in, const struct opt_common *common,
	  struct raw_out *out)
{
	double v[MEASURES] = {0};
	const size_t sizes[2] = {t->dims > 2 ? 22 : 17, t->l->n};
	struct img y;

	if (!t->l->n)
		raw_die(in, "it has no component, and a table cannot be empty; see --to=csv");
	img_init(&y, IMG_F64, 2, sizes);
	strcpy(y.axis[0].kind, "list");
	img_set_key(&y, "columns", "%s", measures_names[t->dims > 2]);
	opt_add_history(&y, common);
	raw_head(out, &y);
	for (size_t i = 0; i < t->l->n; i++)
		raw_write(out, v, fill_row(v, t, i));
	img_free(&y);
}
