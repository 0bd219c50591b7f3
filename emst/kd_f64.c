/* The kd-tree way in doubles: see kd.h. */
#define REAL	       double
#define REAL_KEY(x)    sort_key_double(x)
#define REAL_OF_KEY(k) sort_double(k)
#define RUN	       emst_kd_f64

#include "emst/kd_tree.h"
#include "emst/kd_near.h"
#include "emst/kd_core.h"
#include "emst/kd_join.h"
#include "emst/kd_run.h"
