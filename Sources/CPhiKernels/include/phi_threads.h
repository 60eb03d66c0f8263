#ifndef PHI_THREADS_H
#define PHI_THREADS_H

#include <stdint.h>

// Help for threads that wait for each other on a shared machine. In C, since the system calls are hidden from Swift. On
// systems without them (macOS), these functions return "unknown" and do nothing.

// Returns the caller's number; 0 if threads have none.
int32_t phi_thread(void);

// Returns the caller's processor; -1 if unknown.
int32_t phi_processor(void);

// Returns the nanoseconds of processor time of a thread of this process; -1 if unknown. If they don't grow, it has no
// processor.
int64_t phi_thread_time(int32_t thread);

// Moves a thread that waits for a processor to the caller's, if it may run there. Its affinity stays.
void phi_fetch_thread(int32_t thread);

// Moves the caller to another processor, if it may run on another.
void phi_leave_processor(int32_t processor);

// Binds the caller to these processors.
void phi_bind_thread(const int32_t *processors, int32_t count);

#endif
