// Highway, for a file that defines HWY_TARGET_INCLUDE as itself: what follows is compiled once per
// instruction set. No include guard, because foreach_target.h includes that file again.
#if defined(__x86_64__) && !defined(HWY_BASELINE_TARGETS)
// Everything that can drive a GPU has it, and Highway's portable fallback lacks the operations
// needed here (gcc before 12.3 gets the one for single values only).
#define HWY_BASELINE_TARGETS HWY_SSSE3
#endif
#include <hwy/foreach_target.h>
// Above: the including file, per instruction set.
#include <hwy/highway.h>
