#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

/// How many bytes the process has allocated and not freed.
///
/// Linux with glibc only; elsewhere 0.
size_t allocated_bytes(void);

#endif
