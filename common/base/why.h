/* Why something failed: one sentence without a name, a line end or a full stop, which main() gives to die(). */
#ifndef WEIR_BASE_WHY_H
#define WEIR_BASE_WHY_H

struct why {
	char text[512];
};

/* Writes the sentence, cut where it is too long, and returns -1, so that a function can `return why_set(why, "...")`. */
int why_set(struct why *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
