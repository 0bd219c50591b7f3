/*
 * Reads the polygons of a mute from a text. Each line is one corner `tau q`, and an empty line separates polygons. A # begins a
 * comment.
 */
#ifndef RADON_STREAM_POLYGONS_H
#define RADON_STREAM_POLYGONS_H

#include "radon/radon.h"

/* Sets corner, polygon and npolygon of m, whose arrays polygons_free() frees. Dies when the text is malformed. */
void polygons_read(struct radon_mute *m, const char *path);
void polygons_free(struct radon_mute *m);

#endif
