/* The engine for four coordinates: see palette.h. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/roots.h"
#include "emst/palette/palette.h"

#define DIMS 4
#define RUN  palette_rgba

#include "emst/palette/cells_body.h"
#include "emst/palette/ward_body.h"
#include "emst/palette/lloyd_body.h"
#include "emst/palette/palette_body.h"
