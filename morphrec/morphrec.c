#include <stdio.h>
#include <string.h>

#include "morphrec/morphrec.h"
#include "morphrec/tile/engine.h"

static const char *
refusal(const struct morphrec_problem *what)
{
	if (what->type == IMG_I64 || what->type == IMG_U64 || !img_type_size(what->type))
		return "64-bit integers are not reconstructed: the types are 8, 16 and 32-bit "
		       "integers, "
		       "float and double";
	switch (what->conn) {
	case 4:
	case 8:
	case 6:
	case 18:
	case 26:
		return NULL;
	default:
		return "the connectivity is 4 or 8, or 6, 18 or 26 in a volume";
	}
}

const char *
morphrec_plan(struct morphrec_plan *p, const struct morphrec_problem *what)
{
	const char *why = refusal(what);

	memset(p, 0, sizeof *p);
	if (why)
		return why;
	p->what = *what;
	if (what->method == MORPHREC_TILE)
		p->engine = engine_new(what);
	else
		p->heaps = heaps_new(what);
	if (!p->engine && !p->heaps) {
		memset(p, 0, sizeof *p);
		return "no memory for the reconstruction";
	}
	return NULL;
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
