#ifndef PHI_PROCESSOR_H
#define PHI_PROCESSOR_H

#include <stdint.h>

// Properties of the processor beyond its instructions, and the choices between the kernels' ways that depend on them.
// Results don't depend on any of it.

enum { PHI_OTHER = 0, PHI_AMD = 1, PHI_INTEL = 2 };

typedef struct {
    uint32_t vendor;
    uint32_t family;  // 0x19: Zen 3 and 4; 0x1a: Zen 5; 0 where processors have none
} PhiProcessor;

typedef struct {
    // Whether products are scaled by shifts and additions beside multiplications, rather than by multiplying.
    int32_t shifts;
    // The cache, of the first or second level, into which instructions prefetch the KV cache a whole head ahead; or 0.
    int32_t fetches_heads;
    // Whether instructions prefetch a single row's weights 4 KB ahead into the second-level cache.
    int32_t fetches_row;
} PhiWays;

// Returns this machine's.
PhiProcessor phi_this_processor(void);

// Begins to count the calling thread's instructions; -1 if the system doesn't allow it.
int32_t phi_begin_instructions(void);

// Ends a count. Returns the number of instructions; -1 if unknown.
int64_t phi_end_instructions(int32_t count);

// Whether this machine's ways have `fetches_row`; computed once.
int32_t phi_fetches_row(void);

// Returns the best ways of a processor; the simplest for one that was never measured.
PhiWays phi_ways(PhiProcessor processor);

#endif
