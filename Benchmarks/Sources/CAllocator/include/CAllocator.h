#ifndef CALLOCATOR_H
#define CALLOCATOR_H

#include <stddef.h>

// How many bytes malloc has given out and not got back, in all threads; 0 if the C library does not tell.
size_t allocated_bytes(void);

// Has this thread, and all that it makes, share one core, if the system can do that.
void use_one_core(void);

#endif
