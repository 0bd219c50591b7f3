/* Polygons of a mute from a text: a corner `tau q` a line, an empty line between polygons; # begins a comment. */
#ifndef RADON_STREAM_POLYGONS_H
#define RADON_STREAM_POLYGONS_H

#include "radon/radon.h"

/* Sets corner, polygon and npolygon of m, which live as long as the process; dies where the file is no such text. */
void polygons_read(struct radon_mute *m, const char *path);

#endif
