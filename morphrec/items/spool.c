#include "common/base/mem.h"
#include "morphrec/items/spool.h"

void
spool_done(void *pages, size_t at, size_t n)
{
	const struct spool_pages *p = pages;

	weir_forget((const char *)p->J + at, n);
	if (p->I)
		weir_forget((const char *)p->I + at, n);
}
