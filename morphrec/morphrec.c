#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/cpu.h"
#include "morphrec/morphrec.h"
#include "morphrec/tile/engine.h"

int
morphrec_plan(struct morphrec_plan *p, const struct morphrec_problem *what)
{
	*p = (struct morphrec_plan){.what = *what};
	if (what->method == MORPHREC_TILE)
		p->engine = engine_new(what, tile_kernels[weir_cpu]);
	else
		p->heaps = heaps_new(what);
	if (p->engine || p->heaps)
		return 0;
	*p = (struct morphrec_plan){0};
	return -ENOMEM;
}

void
morphrec_explain(const struct morphrec_plan *p, char *text, size_t size)
{
	if (p->engine)
		engine_explain(p->engine, text, size);
	else
		snprintf(text, size, "16 bytes a pixel for keys, and heaps");
}

void
morphrec_clip(struct morphrec_plan *p, void *J, const void *I)
{
	p->clip = clip_all(&p->what, J, I);
}

int
morphrec_run(struct morphrec_plan *p, void *J, const void *I)
{
	if (p->heaps)
		return heaps_run(p->heaps, &p->what, &p->figures, J, I);
	engine_run(p->engine, &p->clip, &p->figures, J, I);
	return 0;
}

int
morphrec_clip_and_run(struct morphrec_plan *p, void *J, const void *I)
{
	if (p->engine) {
		engine_clip_and_run(p->engine, &p->clip, &p->figures, J, I);
		return 0;
	}
	morphrec_clip(p, J, I);
	return morphrec_run(p, J, I);
}

void
morphrec_resume(struct morphrec_plan *p, void *J, const void *I, const size_t *risen, size_t n)
{
	engine_resume(p->engine, &p->clip, &p->figures, J, I, risen, n);
}

void
morphrec_free(struct morphrec_plan *p)
{
	engine_free(p->engine);
	heaps_free(p->heaps);
	memset(p, 0, sizeof *p);
}
