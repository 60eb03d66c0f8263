#ifndef PHI_THREADS_H
#define PHI_THREADS_H

#include <stdint.h>

// What threads that wait for each other can do on a machine that others use, too. In C, since the system's calls for
// it are hidden from Swift. Where there are none (macOS), these say so and do nothing.

// The caller's number; 0 where threads have none.
int32_t phi_thread(void);

// The processor that the caller is on; -1 if it is not known.
int32_t phi_processor(void);

// Nanoseconds of processor time that a thread of this process has had: if they don't grow, it has no processor.
// -1 if it is not known.
int64_t phi_thread_time(int32_t thread);

// Moves a thread that waits for a processor to the caller's, unless it may not be there. Where it may be stays.
void phi_fetch_thread(int32_t thread);

// Moves the caller to another processor, if it may be on another.
void phi_leave_processor(int32_t processor);

// Has the caller run on these processors alone.
void phi_bind_thread(const int32_t *processors, int32_t count);

#endif
