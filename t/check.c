#include <stdarg.h>

#include "common/base/par.h"
#include "common/base/real.h"
#include "t/check.h"

const char *const weir_prog = "check";

static size_t tests, failed, nkept;
static void **kept;
static const char *whose = "", *where = "";

void *
check_alloc(size_t n, size_t size)
{
	kept = realloc(kept, (nkept + 1) * sizeof *kept);
	kept[nkept] = weir_xalloc(n, size);
	return kept[nkept++];
}

void
check_free(void)
{
	while (nkept)
		weir_free(kept[--nkept]);
	free(kept);
	kept = NULL;
}

static void
report(bool ok, const char *name, const char *why)
{
	printf("%s %zu - %s%s%s\n", ok ? "ok" : "not ok", ++tests, whose, name, where);
	if (!ok && *why)
		printf("# %s\n", why);
	failed += !ok;
	fflush(stdout);
}

void
check(bool ok, const char *name, const char *why, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, why);
	vsnprintf(text, sizeof text, why, ap);
	va_end(ap);
	report(ok, name, text);
}

void
check_case(struct check_many *m, bool ok, const char *why, ...)
{
	va_list ap;

	m->cases++;
	if (ok || m->failures++)
		return;
	va_start(ap, why);
	vsnprintf(m->first, sizeof m->first, why, ap);
	va_end(ap);
}

void
check_end(struct check_many *m, const char *name)
{
	check(m->failures == 0 && m->cases > 0, name, "%zu of %zu cases fail; the first: %s",
	      m->failures, m->cases, m->first);
	check_free();
}

void
check_each_from(const char *name, size_t n, struct check_rng *rng, check_set *one)
{
	struct check_many m = {0};

	for (size_t set = 0; set < n; set++) {
		one(&m, rng, set);
		check_free();
	}
	check_end(&m, name);
}

void
check_each(const char *name, size_t n, uint64_t seed, check_set *one)
{
	check_each_from(name, n, &(struct check_rng){seed}, one);
}

void
check_skip(const char *name, const char *reason)
{
	printf("ok %zu - %s # skip %s\n", ++tests, name, reason);
}

void
check_whose(const char *by)
{
	whose = by;
}

void
check_where(const char *of)
{
	where = of;
}

void
check_poison(void *p, size_t bytes)
{
	memset(p, 0xff, bytes);
}

double
check_apart(const void *got, bool single, const double *want, size_t n, double least)
{
	double diff = 0, norm = 0;

	for (size_t i = 0; i < n; i++) {
		const double e = real_at(got, i, single) - want[i];
		diff += e * e;
		norm += want[i] * want[i];
	}
	return diff == 0 ? 0 : sqrt(diff / fmax(norm, least * least));
}

int
check_ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What main() was given. */
static int named;
static char **names;

/* Whether one is the other, or a part of it: gpu and gpu/wconv. */
static bool
is_part(const char *part, const char *whole)
{
	const size_t n = strlen(whole);

	return !strncmp(part, whole, n) && (!part[n] || part[n] == '/');
}

bool
check_wanted(const char *name)
{
	for (int i = 0; i < named; i++)
		if (is_part(name, names[i]) || is_part(names[i], name))
			return true;
	return !named;
}

static void
run_wanted(const char *name, void (*checks)(void))
{
	if (checks && check_wanted(name))
		checks();
}

int
main(int argc, char **argv)
{
	/* links par.c, without which idle threads spin: usfft's checks took four times as long */
	par_threads(1);
	named = argc - 1;
	names = argv + 1;
#define PROGRAM(name) run_wanted(#name, check_##name)
	CHECK_PROGRAMS(PROGRAM);
#undef PROGRAM
	printf("1..%zu\n", tests);
	return failed ? 1 : 0;
}
