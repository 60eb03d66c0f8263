// Processors of threads, by a temporary change of a thread's affinity.
#if defined(__linux__)
#define _GNU_SOURCE
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#endif

#include "phi_threads.h"

#if defined(__linux__)

int32_t phi_thread(void) {
    static _Thread_local int32_t number;
    if (number == 0) number = (int32_t)syscall(SYS_gettid);
    return number;
}

int32_t phi_processor(void) { return sched_getcpu(); }

int64_t phi_thread_time(int32_t thread) {
    if (thread <= 0) return -1;
    // Computed like pthread_getcpuclockid.
    clockid_t clock = (clockid_t)((~(uint32_t)thread << 3) | 6);
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return -1;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void phi_fetch_thread(int32_t thread) {
    cpu_set_t all, here;
    int processor = sched_getcpu();
    if (processor < 0 || processor >= CPU_SETSIZE) return;
    if (sched_getaffinity(thread, sizeof all, &all) != 0 || !CPU_ISSET(processor, &all)) return;
    CPU_ZERO(&here);
    CPU_SET(processor, &here);
    if (sched_setaffinity(thread, sizeof here, &here) == 0) sched_setaffinity(thread, sizeof all, &all);
}

void phi_leave_processor(int32_t processor) {
    cpu_set_t all, others;
    if (processor < 0 || processor >= CPU_SETSIZE) return;
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    others = all;
    CPU_CLR(processor, &others);
    if (CPU_COUNT(&others) == 0) return;
    if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof all, &all);
}

void phi_bind_thread(const int32_t *processors, int32_t count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int32_t i = 0; i < count; i++) {
        if (processors[i] >= 0 && processors[i] < CPU_SETSIZE) CPU_SET(processors[i], &set);
    }
    // Only for speed: if it is refused, the thread stays free.
    if (CPU_COUNT(&set) > 0) sched_setaffinity(0, sizeof set, &set);
}

#else

int32_t phi_thread(void) { return 0; }
int32_t phi_processor(void) { return -1; }
int64_t phi_thread_time(int32_t thread) { return thread < 0 ? 0 : -1; }
void phi_fetch_thread(int32_t thread) { (void)thread; }
void phi_leave_processor(int32_t processor) { (void)processor; }
void phi_bind_thread(const int32_t *processors, int32_t count) { (void)processors, (void)count; }

#endif
