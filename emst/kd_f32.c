/* The kd-tree way in floats: see kd.h. */
#define REAL	       float
#define REAL_KEY(x)    sort_key_float(x)
#define REAL_OF_KEY(k) sort_float(k)
#define RUN	       emst_kd_f32

#include "emst/kd_tree.h"
#include "emst/kd_near.h"
#include "emst/kd_core.h"
#include "emst/kd_join.h"
#include "emst/kd_run.h"
