#ifndef C_CALLGRIND_H
#define C_CALLGRIND_H

/// Begins to count instructions, those of all threads, if Valgrind's tool `callgrind` runs the program.
void begin_counting(void);

/// Ends the counting, and has callgrind write the count to a file that has this name in it.
void end_counting(const char *name);

#endif
