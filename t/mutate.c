/*
 * Damages a file: standard input goes to standard output with 1 to 4 changes, the same for the same seed. Half of them are
 * made in the first 512 bytes, where headers are: a number becomes another that parsers and products of sizes stumble over,
 * a line is doubled, dropped or swapped with the next; the others flip, drop or repeat bytes anywhere, or cut the end off.
 *
 *	build/t/mutate SEED <item >damaged
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "t/rng.h"

const char *const weir_prog = "mutate";

enum { HEAD = 512, ROOM = 4096 }; /* ROOM: what changes may add */

struct text {
	char *v;
	size_t n, room;
};

/* Puts n bytes in the place of those in [from, to), as far as there is room. */
static void
replace(struct text *t, size_t from, size_t to, const char *with, size_t n)
{
	if (t->n - (to - from) + n > t->room)
		return;
	memmove(t->v + from + n, t->v + to, t->n - to);
	memcpy(t->v + from, with, n);
	t->n = t->n - (to - from) + n;
}

/* Numbers that parsers and products of sizes stumble over, with a blank behind each; the last one is empty. */
static const char odd[] =
    "0 1 -1 2 3 4 7 255 256 65535 65536 1000000 2147483647 2147483648 4294967296 "
    "1152921504606846976 18446744073709551615 99999999999999999999 "
    "nan inf -inf 1e308 1e-320 -0 0x10 1.5 ";
enum { ODD = 27 };

static void
change_number(struct text *t, struct check_rng *r)
{
	const size_t head = t->n < HEAD ? t->n : HEAD;
	size_t at = head ? rng_below(r, head) : 0, end;
	const char *with = odd;

	for (size_t i = rng_below(r, ODD); i > 0; i--)
		with = strchr(with, ' ') + 1;
	while (at < head && !isdigit((unsigned char)t->v[at]))
		at++;
	for (end = at; end < head && isdigit((unsigned char)t->v[end]); end++)
		;
	replace(t, at, end, with, strcspn(with, " "));
}

/* Where the line that begins at `at` ends, its newline included. */
static size_t
end_of_line(const struct text *t, size_t at)
{
	while (at < t->n && t->v[at] != '\n')
		at++;
	return at < t->n ? at + 1 : at;
}

static void
change_line(struct text *t, struct check_rng *r)
{
	const size_t head = t->n < HEAD ? t->n : HEAD;
	const size_t from = end_of_line(t, head ? rng_below(r, head) : 0),
		     to = end_of_line(t, from), after = end_of_line(t, to);

	if (to == from)
		return;
	char *line = weir_xalloc(to - from, 1);
	memcpy(line, t->v + from, to - from);
	switch (rng_below(r, 3)) {
	case 0:
		replace(t, from, from, line, to - from);
		break;
	case 1:
		replace(t, from, to, "", 0);
		break;
	default:
		memmove(t->v + from, t->v + to, after - to);
		memcpy(t->v + from + (after - to), line, to - from);
	}
	weir_free(line);
}

static void
change_bytes(struct text *t, struct check_rng *r)
{
	const size_t at = rng_below(r, t->n), some = 1 + rng_below(r, 16);
	const size_t to = at + some < t->n ? at + some : t->n;
	char copy[16];

	switch (rng_below(r, 4)) {
	case 0:
		t->v[at] ^= (char)(1 << rng_below(r, 8));
		break;
	case 1:
		replace(t, at, to, "", 0);
		break;
	case 2:
		memcpy(copy, t->v + at, to - at);
		replace(t, at, at, copy, to - at);
		break;
	default:
		t->n = at + 1;
	}
}

int
main(int argc, char **argv)
{
	struct check_rng r = {argc == 2 ? strtoull(argv[1], NULL, 10) : 0};
	struct text t = {.room = 1 << 20};

	t.v = weir_xalloc(t.room, 1);
	t.n = fread(t.v, 1, t.room - ROOM, stdin);
	for (size_t k = 1 + rng_below(&r, 4); k > 0 && t.n > 0; k--) {
		const size_t which = rng_below(&r, 4);
		if (which < 1)
			change_number(&t, &r);
		else if (which < 2)
			change_line(&t, &r);
		else
			change_bytes(&t, &r);
	}
	if (fwrite(t.v, 1, t.n, stdout) != t.n || fflush(stdout))
		die("(stdout): cannot write");
	weir_free(t.v);
	return 0;
}
