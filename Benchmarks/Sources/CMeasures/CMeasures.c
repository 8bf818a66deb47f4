#define _GNU_SOURCE
#include "CMeasures.h"

// Says whether this is glibc.
#include <stdlib.h>

#if defined(__GLIBC__)
#include <malloc.h>
#include <sched.h>

size_t allocated_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void use_one_core(void) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores)) return;
  int core = 0;
  while (!CPU_ISSET(core, &cores)) core++;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof cores, &cores);
  // A thread that is woken does not interrupt the one that has woken it.
  struct sched_param parameters = {0};
  sched_setscheduler(0, SCHED_BATCH, &parameters);
}
#else
size_t allocated_bytes(void) { return 0; }
void use_one_core(void) {}
#endif

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>

// A dump ends the counts of all threads; `CALLGRIND_ZERO_STATS` ends those of the current one alone.
void begin_counting(void) { CALLGRIND_DUMP_STATS_AT(""); }
void end_counting(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
#else
void begin_counting(void) {}
void end_counting(const char *name) { (void)name; }
#endif
