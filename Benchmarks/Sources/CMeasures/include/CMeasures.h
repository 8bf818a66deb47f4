#pragma once
#include <stddef.h>

/// How many bytes malloc has given out and not got back, in all threads; 0 if the C library is not glibc.
size_t allocated_bytes(void);

/// Has this thread, and all that it makes, share one core, if the system can do that.
void use_one_core(void);

/// Begins to count instructions, those of all threads, if Valgrind's tool `callgrind` runs the program.
void begin_counting(void);

/// Ends the counting, and has callgrind write the count to a file that has this name in it.
void end_counting(const char *name);
