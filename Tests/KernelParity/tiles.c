// The AMX kernels with their tile instructions done in C, for processors that have AVX-512 but no tiles:
// takes the place of x86/amx.c when the parity program is compiled for such a one.
#if defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint8_t tiles[8][16][64];
static uint16_t row_bytes[8];
static uint8_t rows[8];

static void configure_tiles(const void *config) {
    memcpy(row_bytes, (const uint8_t *)config + 16, sizeof row_bytes);
    memcpy(rows, (const uint8_t *)config + 48, sizeof rows);
    memset(tiles, 0, sizeof tiles);
}
// Without a configuration nothing is loaded.
static void release(void) { memset(rows, 0, sizeof rows); }
static void zero(int t) { memset(tiles[t], 0, sizeof tiles[t]); }
static void load(int t, const void *from, size_t stride) {
    zero(t);
    for (int r = 0; r < rows[t]; r++) memcpy(tiles[t][r], (const uint8_t *)from + r * stride, row_bytes[t]);
}
static void store(int t, void *to, size_t stride) {
    for (int r = 0; r < rows[t]; r++) memcpy((uint8_t *)to + r * stride, tiles[t][r], row_bytes[t]);
}
// Bytes of a by bytes of b, four at a time, added to the integers of t.
#define PRODUCTS_OF(name, TYPE_A, TYPE_B)                                                                  \
    static void name(int t, int a, int b) {                                                                \
        for (int m = 0; m < rows[t]; m++)                                                                  \
            for (int n = 0; n < row_bytes[t] / 4; n++) {                                                   \
                uint32_t sum;                                                                              \
                memcpy(&sum, &tiles[t][m][4 * n], 4);                                                      \
                for (int k = 0; k < row_bytes[a]; k++)                                                     \
                    sum += (uint32_t)((TYPE_A)tiles[a][m][k] * (TYPE_B)tiles[b][k / 4][4 * n + k % 4]);    \
                memcpy(&tiles[t][m][4 * n], &sum, 4);                                                      \
            }                                                                                              \
    }
PRODUCTS_OF(signed_by_unsigned, int8_t, uint8_t)
PRODUCTS_OF(unsigned_by_signed, uint8_t, int8_t)
PRODUCTS_OF(signed_by_signed, int8_t, int8_t)
PRODUCTS_OF(unsigned_by_unsigned, uint8_t, uint8_t)

#undef _tile_loadd
#undef _tile_stream_loadd
#undef _tile_stored
#undef _tile_zero
#undef _tile_dpbsud
#undef _tile_dpbusd
#undef _tile_dpbssd
#undef _tile_dpbuud
#define _tile_loadconfig configure_tiles
#define _tile_release release
#define _tile_zero zero
#define _tile_loadd load
#define _tile_stream_loadd load
#define _tile_stored store
#define _tile_dpbsud signed_by_unsigned
#define _tile_dpbusd unsigned_by_signed
#define _tile_dpbssd signed_by_signed
#define _tile_dpbuud unsigned_by_unsigned
#define phi_amx_available processor_has_tiles
#include "../../Sources/CPhiKernels/x86/amx.c"
#undef phi_amx_available

int phi_amx_available(void) { return 1; }
#endif
