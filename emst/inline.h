/* What WEIR_CLONES functions call must be part of them, or it would run at the lowest level. */
#ifndef EMST_INLINE_H
#define EMST_INLINE_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
