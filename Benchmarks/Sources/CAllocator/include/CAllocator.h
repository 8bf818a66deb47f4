#ifndef C_ALLOCATOR_H
#define C_ALLOCATOR_H

#include <stddef.h>

/// How many bytes the process has allocated and not freed, with the allocator's own share of each block.
///
/// Linux with glibc only; elsewhere 0.
size_t allocated_bytes(void);

/// Gives memory that was freed back to the system, so that what is resident is what is in use.
void release_freed_memory(void);

#endif
