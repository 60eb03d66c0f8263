#include "phi_kernels.h"
