/* Any bytes as an expression of rawmath. What compiles is computed for numbers of all kinds. */
#include "common/picture/expr.h"
#include "t/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char *const name[] = {"x", "y", "a", "b2"};
	static const double number[] = {0, -0., 1, -2.5, 1e300, NAN, INFINITY, -INFINITY};
	static double v[4][EXPR_BLOCK], out[EXPR_BLOCK];
	const double *const var[] = {v[0], v[1], v[2], v[3]};
	unsigned char used[4] = {0};
	char *text = fuzz_text(bytes, n);
	struct why why;
	struct expr e;

	if (!text)
		return 0;
	for (size_t i = 0; i < 4 * (size_t)EXPR_BLOCK; i++)
		v[i / EXPR_BLOCK][i % EXPR_BLOCK] = number[i * 7 % 8];
	const int r = expr_parse(&e, text, name, 4, used, &why);

	if (r ? !*why.text : e.n > EXPR_MOST)
		abort();
	for (size_t i = r ? 0 : e.n; i-- > 0;)
		if (expr_whole(&e, i)) {
			expr_eval(&e, i, var, 17, out);
			e.op[i].value = *out;
		}
	if (!r)
		expr_eval(&e, e.n, var, 17, out);
	free(text);
	return 0;
}
