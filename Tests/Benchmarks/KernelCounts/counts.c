// Counts the instructions of matrix products, for each kernel variant of this machine, beside those that
// their arithmetic needs.
//   counts                        the table, by single steps (Linux on x86)
//   counts VARIANT TOKENS TIMES   does one product so many times: for emulators that count
// Where a processor lacks AMX or AVX-VNNI, their instructions are stepped over: which ones follow depends on no sum.
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../Sources/CPhiKernels/variants.h"

enum { rows = 96, columns = 1024, group = 64, most = 64 };
static PhiMatrix matrix = {0, rows, columns, group, PHI_INT4, PHI_F16};
static float out[most * rows];

static void *filled(size_t bytes, uint32_t mask) {
    uint32_t random = 1, *words = aligned_alloc(64, (bytes + 4096 + 63) / 64 * 64);
    if (!words) exit(2);
    for (size_t i = 0; i < bytes / 4; i++) random = random * 1664525 + 1013904223, words[i] = random & mask;
    return words;
}

static PhiActivations activations(const PhiKernels *k, size_t tokens) {
    const size_t all = (tokens + 15) / 16 * 16, groups = columns / group;
    PhiActivations x = {filled(all * columns, 0), filled(all * PHI_OUTLIERS * sizeof(PhiOutlier), 0),
                        filled(all / 16 * sizeof(PhiSharedOutliers), 0), filled(all * groups * 4, 0),
                        filled(all * groups * 12, 0), filled(all * 4, 0), filled(all * groups * 2, 0),
                        filled(all * 4, 0), columns, group, tokens < 16 ? (uint32_t)tokens : 16};
    float row[columns];
    for (size_t c = 0; c < columns; c++) row[c] = (float)(c * 7919 % 2001) / 1000 - 1;
    for (size_t t = 0; t < tokens; t++) k->quantize(row, &x, t);
    phi_gather_outliers(&x, tokens);
    return x;
}

static void multiply(const PhiKernels *k, const PhiActivations *x, size_t tokens) {
    k->linear(&matrix, x, tokens, out, rows, 0, phi_matrix_blocks(&matrix));
}

#if defined(__linux__) && defined(__x86_64__)
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// The length of the AMX or AVX-VNNI instruction at `p`; 0 if it is none. All have three bytes of VEX, an opcode and
// ModRM.
static size_t lacked_instruction(const uint8_t *p) {
    const int is_tile = p[3] == 0x49 || p[3] == 0x4b || p[3] == 0x5e, is_product = p[3] >= 0x50 && p[3] <= 0x53;
    if (p[0] != 0xc4 || (p[1] & 31) != 2 || !(is_tile || is_product)) return 0;
    const int mod = p[4] >> 6, has_sib = mod != 3 && (p[4] & 7) == 4, is_relative = mod == 0 && (p[4] & 7) == 5;
    return 5 + (size_t)has_sib + (mod == 1 ? 1 : mod == 2 || is_relative ? 4 : 0);
}

static int waited(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) exit(2);
    if (WIFSTOPPED(status)) return WSTOPSIG(status);
    fprintf(stderr, "counts: the product ended with status %x\n", status);
    exit(2);
}

// The instructions between two stops of a child that does the product between them.
static long counted(const PhiKernels *k, const PhiActivations *x, size_t tokens) {
    const pid_t child = fork();
    if (child < 0) exit(2);
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGSTOP);
        if (k) multiply(k, x, tokens);
        raise(SIGSTOP);
        _exit(0);
    }
    long steps = 0, at = 0;
    waited(child);
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_EXITKILL);
    for (;;) {
        if (ptrace(PTRACE_SINGLESTEP, child, 0, 0) != 0) exit(2);
        const int signal = waited(child);
        if (signal == SIGSTOP) break;
        if (signal == SIGTRAP) {
            // A repeated instruction stops after each turn, where it is.
            const long before = at;
            at = ptrace(PTRACE_PEEKUSER, child, offsetof(struct user_regs_struct, rip), 0);
            steps += at != before;
            continue;
        }
        struct user_regs_struct registers;
        ptrace(PTRACE_GETREGS, child, 0, &registers);
        uint8_t code[16];
        for (size_t i = 0; i < sizeof code; i += 8) {
            const long word = ptrace(PTRACE_PEEKTEXT, child, registers.rip + i, 0);
            memcpy(code + i, &word, 8);
        }
        const size_t length = signal == SIGILL ? lacked_instruction(code) : 0;
        if (length == 0) fprintf(stderr, "counts: %s ends by signal %d\n", k->name, signal), exit(2);
        registers.rip += length, at = (long)registers.rip;
        ptrace(PTRACE_SETREGS, child, 0, &registers);
        ++steps;
    }
    kill(child, SIGKILL), waitpid(child, 0, 0);
    return steps;
}

static void table(void) {
    static const size_t tokens[] = {1, 8, 32};
    const long besides = counted(0, 0, 0);
    const PhiKernels *list[10] = {0};
    size_t n = 0;
    int has_avx2 = 0, has_vnni = 0;
    for (; n < phi_kernels_count(); n++) {
        list[n] = phi_kernels_at(n);
        has_avx2 |= strcmp(list[n]->name, "avx2") == 0, has_vnni |= strcmp(list[n]->name, "avxvnni") == 0;
    }
    if (has_avx2 && !has_vnni) list[n++] = &phi_avxvnni_kernels;
    if (strcmp(list[0]->name, "amx") != 0 && strncmp(list[0]->name, "avx512", 6) == 0) list[n++] = &phi_amx_kernels;
    for (size_t i = 0; i < n; i++) {
        if (list[i]->needed == 0) continue;
        for (size_t j = 0; j < sizeof tokens / sizeof *tokens; j++) {
            const PhiActivations x = activations(list[i], tokens[j]);
            const long steps = counted(list[i], &x, tokens[j]) - besides;
            printf("%s %zu %ld %.9f\n", list[i]->name, tokens[j], steps, list[i]->needed);
            fflush(stdout);
        }
    }
}
#else
static void table(void) { fprintf(stderr, "counts: single steps are for Linux on x86\n"), exit(2); }
#endif

int main(int count, char **arguments) {
    matrix.data = filled(phi_matrix_blocks(&matrix) * phi_block_bytes(&matrix), 0x3b3b3b3b);
    if (count == 1) return table(), 0;
    for (size_t i = 0; count == 4 && i < phi_kernels_count(); i++) {
        const PhiKernels *k = phi_kernels_at(i);
        const size_t tokens = (size_t)atoi(arguments[2]);
        if (strcmp(k->name, arguments[1]) != 0 || tokens < 1 || tokens > most) continue;
        const PhiActivations x = activations(k, tokens);
        printf("\nneeded %.9f\n", k->needed), fflush(stdout);
        for (int times = atoi(arguments[3]); times > 0; times--) multiply(k, &x, tokens);
        return 0;
    }
    fprintf(stderr, "usage: counts [VARIANT TOKENS TIMES]\n");
    return 2;
}
