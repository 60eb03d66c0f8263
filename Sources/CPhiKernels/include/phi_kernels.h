#ifndef PHI_KERNELS_H
#define PHI_KERNELS_H
#include <stdint.h>
#endif
