/* usfft against the exact sums of direct.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "t/check_usfft.h"

extern void check_usfft(void);

static void
check_error(struct check_many *many, const struct usfft_options *o, size_t m, enum kind kind,
	    struct check_rng *r)
{
	struct problem q;

	problem_make(&q, o, m, kind, r);
	for (int type = 1; type <= 2; type++) {
		void *out = weir_xalloc(2 * (type == 1 ? q.modes : m), sizeof(double));
		const int sign = type == 1 ? -1 : 1;
		problem_run(&q, type, sign, out);
		const double e = problem_error(&q, type, sign, out, 60);
		check_case(many, e <= o->tol, "%s type %d: error %.2e", problem_name(&q, kind),
			   type, e);
		weir_free(out);
	}
	problem_free(&q);
}

static void
check_tolerances(bool single, struct check_rng *r)
{
	static const size_t n[3][3] = {{1000}, {48, 35}, {18, 10, 13}};
	struct check_many many = {0};

	for (int dim = 1; dim <= 3; dim++)
		for (double tol = 1e-2; tol > (single ? 5e-7 : 5e-15); tol /= 10)
			for (enum kind kind = 0; kind < KINDS; kind++) {
				struct usfft_options o = {
				    .dim = dim, .tol = tol, .single = single, .threads = 2};
				memcpy(o.n, n[dim - 1], sizeof o.n);
				check_error(&many, &o, 400, kind, r);
			}
	check_end(&many, single ? "float: errors stay below tolerances 1e-2 to 1e-6"
				: "double: errors stay below tolerances 1e-2 to 1e-14");
}

static void
check_shapes(struct check_rng *r)
{
	static const size_t n[] = {1, 2, 3, 7, 16, 31, 129};
	struct check_many many = {0};

	for (size_t i = 0; i < sizeof n / sizeof *n; i++)
		for (size_t m = 1; m < 4000; m = 3 * m + 1) {
			struct usfft_options o = {.dim = 1 + (int)(m % 3),
						  .tol = 1e-8,
						  .n = {n[i], n[(i + 3) % 7], n[(i + 5) % 7]},
						  .fft_order = i % 2,
						  .threads = 1 + (int)(i % 3)};
			check_error(&many, &o, m, UNIFORM, r);
		}
	check_end(&many, "odd, single and short axes, one point and many, both orders of modes");
}

void
check_usfft(void)
{
	struct check_rng r = {11};

	check_tolerances(false, &r);
	check_tolerances(true, &r);
	check_shapes(&r);
	check_usfft_line();
}
