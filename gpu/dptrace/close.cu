/* See gpu/dptrace/close.h. */
#include "gpu/dptrace/close.h"

namespace
{

/* The largest bound is tried again, or halved; without any there is no polyline. */
void
choose_branch(struct closing *c)
{
	c->i = 0;
	for (int m = 1; m < c->n; m++)
		if (c->branch[m].bound > c->branch[c->i].bound)
			c->i = m;
	c->chosen = c->branch[c->i];
	c->at = closing::CHOSEN;
	if (c->chosen.bound <= (double)NEVER / 2) {
		c->chosen = {0, -1, 0};
		c->at = closing::DONE;
	} else if (c->chosen.k0 == c->chosen.k1) {
		c->at = closing::DONE;
	}
}

} // namespace

struct branch *
closing_try(struct closing *c)
{
	return c->at == closing::CHOSEN ? &c->chosen
	       : c->at == closing::LEFT ? &c->branch[c->i]
					: &c->branch[c->n - 1];
}

void
closing_go_on(struct closing *c, bool agrees)
{
	const struct branch b = c->chosen;

	switch (c->at) {
	case closing::WHOLE:
		c->chosen = c->branch[0];
		if (agrees)
			c->at = closing::DONE;
		else
			choose_branch(c);
		break;
	case closing::CHOSEN:
		if (agrees) {
			c->at = closing::DONE;
			break;
		}
		c->branch[c->i] = {b.k0, (b.k0 + b.k1) / 2, 0};
		c->branch[c->n++] = {(b.k0 + b.k1) / 2 + 1, b.k1, 0};
		c->at = closing::LEFT;
		break;
	case closing::LEFT:
		c->at = closing::RIGHT;
		break;
	default:
		choose_branch(c);
	}
}
