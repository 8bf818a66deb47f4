#include "CCallgrind.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

// A dump ends the counts of all threads; `CALLGRIND_ZERO_STATS` ends those of the current one alone.
void begin_counting(void) { CALLGRIND_DUMP_STATS_AT(""); }

void end_counting(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
#else
void begin_counting(void) {}

void end_counting(const char *name) { (void)name; }
#endif
