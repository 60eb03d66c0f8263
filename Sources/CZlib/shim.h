// The system's zlib.
#include <zlib.h>
