#ifndef PHI_PROCESSOR_H
#define PHI_PROCESSOR_H

#include <stdint.h>

// What is known of the processor beyond its instructions, and which of the kernels' ways suit it. Results don't
// depend on any of it.

enum { PHI_OTHER = 0, PHI_AMD = 1, PHI_INTEL = 2 };

typedef struct {
    uint32_t vendor;
    uint32_t family;  // 0x19: Zen 3 and 4; 0x1a: Zen 5; 0 where processors have none
} PhiProcessor;

typedef struct {
    // Products are scaled by shifts and additions beside multiplications, rather than by multiplying.
    int32_t shifts;
    // The KV cache is fetched a whole head ahead by instructions, rather than by the hardware alone.
    int32_t fetches_heads;
    // A single row's weights are fetched 4 KB ahead into the second-level cache, rather than by the hardware alone.
    int32_t fetches_row;
} PhiWays;

// This machine's.
PhiProcessor phi_this_processor(void);

// Begins to count the instructions of the calling thread; -1 where the system does not let it.
int32_t phi_begin_instructions(void);

// Ends a count. Returns the instructions; -1 if they are not known.
int64_t phi_end_instructions(int32_t count);

// Whether this machine's suits `fetches_row`; asked once.
int32_t phi_fetches_row(void);

// What suits a processor; one nobody has measured gets what is simplest.
PhiWays phi_ways(PhiProcessor processor);

#endif
