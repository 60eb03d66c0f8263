// Put before the C library's file calls by LD_PRELOAD (Linux): counts those that change files below a folder, and
// at one of them kills the process or has the call fail.
//
//   FAULTS_UNDER    the folder, absolute; several are separated by colons
//   FAULTS_LOG      a file that gets a line for each such call: its number, its name and its path
//   FAULTS_AT       the number of the call, from 1 on
//   FAULTS_DO       before, after: SIGKILL there; tear: SIGKILL after half of a write; short: half of a write;
//                   or what the call fails with: ENOSPC, EIO, EINTR
//   FAULTS_LASTING  if set, all calls from that one on fail

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum action { NONE, BEFORE, AFTER, TEAR, SHORT, FAIL };

static const char *under;
static int log_file = -1;
static long fault_at;
static int lasting, failure;
static enum action action;
static long count;

__attribute__((constructor)) static void start(void) {
    under = getenv("FAULTS_UNDER");
    const char *file = getenv("FAULTS_LOG"), *at = getenv("FAULTS_AT"), *what = getenv("FAULTS_DO");
    if (file) log_file = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    // Away from the numbers that the program's own files get.
    if (log_file >= 0) {
        int high = fcntl(log_file, F_DUPFD_CLOEXEC, 500);
        if (high >= 0) {
            syscall(SYS_close, log_file);
            log_file = high;
        }
    }
    if (at) fault_at = atol(at);
    lasting = getenv("FAULTS_LASTING") != NULL;
    if (!what) return;
    if (!strcmp(what, "before")) action = BEFORE;
    else if (!strcmp(what, "after")) action = AFTER;
    else if (!strcmp(what, "tear")) action = TEAR;
    else if (!strcmp(what, "short")) action = SHORT;
    else {
        action = FAIL;
        failure = !strcmp(what, "ENOSPC") ? ENOSPC : !strcmp(what, "EINTR") ? EINTR : EIO;
    }
}

static int is_under(const char *path) {
    for (const char *part = under; part && *part;) {
        size_t length = strcspn(part, ":");
        if (!strncmp(path, part, length) && (path[length] == '/' || !path[length])) return 1;
        part += length + (part[length] == ':');
    }
    return 0;
}

// The file of a descriptor, or of a path beside a folder's descriptor.
static void find(int folder, const char *path, char *found) {
    found[0] = 0;
    if (path && path[0] == '/') {
        snprintf(found, PATH_MAX, "%s", path);
        return;
    }
    char link[64];
    if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, found, PATH_MAX - 1);
    if (length < 0) length = 0;
    found[length] = 0;
    if (path && length < PATH_MAX - 2) snprintf(found + length, (size_t)(PATH_MAX - length), "/%s", path);
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

// What is to be done at this call. Kills the process if that is to be before it. `space`: whether the call takes
// room on the disk.
static enum action next(const char *name, int folder, const char *path, int space) {
    if (!under) return NONE;
    int saved = errno;
    char found[PATH_MAX];
    find(folder, path, found);
    enum action now = NONE;
    if (is_under(found)) {
        long number = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
        if (log_file >= 0) {
            char line[PATH_MAX + 64];
            int length = snprintf(line, sizeof line, "%ld %s %s\n", number, name, found);
            syscall(SYS_write, log_file, line, length);
        }
        if (number == fault_at || (lasting && fault_at && number > fault_at)) now = action;
    }
    errno = saved;
    if (now == BEFORE) die();
    if (now == FAIL && failure == ENOSPC && !space) now = NONE;
    if (now == FAIL) errno = failure;
    return now;
}

#define ORIGINAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// A call that is done whole or not at all.
#define WRAP(result, name, parameters, arguments, folder, path, space) \
    result name parameters { \
        enum action now = next(#name, folder, path, space); \
        if (now == FAIL) return -1; \
        if (now == TEAR) die(); \
        static __typeof__(&name) original; \
        if (!original) original = ORIGINAL(name); \
        result value = original arguments; \
        if (now == AFTER) die(); \
        return value; \
    }

WRAP(int, rename, (const char *a, const char *b), (a, b), AT_FDCWD, b, 1)
WRAP(int, renameat, (int f, const char *a, int g, const char *b), (f, a, g, b), g, b, 1)
WRAP(int, renameat2, (int f, const char *a, int g, const char *b, unsigned int x), (f, a, g, b, x), g, b, 1)
WRAP(int, link, (const char *a, const char *b), (a, b), AT_FDCWD, b, 1)
WRAP(int, linkat, (int f, const char *a, int g, const char *b, int x), (f, a, g, b, x), g, b, 1)
WRAP(int, symlink, (const char *a, const char *b), (a, b), AT_FDCWD, b, 1)
WRAP(int, symlinkat, (const char *a, int g, const char *b), (a, g, b), g, b, 1)
WRAP(int, unlink, (const char *a), (a), AT_FDCWD, a, 0)
WRAP(int, unlinkat, (int f, const char *a, int x), (f, a, x), f, a, 0)
WRAP(int, remove, (const char *a), (a), AT_FDCWD, a, 0)
WRAP(int, mkdir, (const char *a, mode_t m), (a, m), AT_FDCWD, a, 1)
WRAP(int, mkdirat, (int f, const char *a, mode_t m), (f, a, m), f, a, 1)
WRAP(int, rmdir, (const char *a), (a), AT_FDCWD, a, 0)
WRAP(int, truncate, (const char *a, off_t n), (a, n), AT_FDCWD, a, 1)
WRAP(int, truncate64, (const char *a, off64_t n), (a, n), AT_FDCWD, a, 1)
WRAP(int, ftruncate, (int f, off_t n), (f, n), f, NULL, 1)
WRAP(int, ftruncate64, (int f, off64_t n), (f, n), f, NULL, 1)
WRAP(int, fsync, (int f), (f), f, NULL, 1)
WRAP(int, fdatasync, (int f), (f), f, NULL, 1)
WRAP(int, flock, (int f, int x), (f, x), f, NULL, 0)
WRAP(int, chmod, (const char *a, mode_t m), (a, m), AT_FDCWD, a, 0)
WRAP(int, fchmod, (int f, mode_t m), (f, m), f, NULL, 0)
WRAP(int, fchmodat, (int f, const char *a, mode_t m, int x), (f, a, m, x), f, a, 0)
WRAP(int, chown, (const char *a, uid_t u, gid_t g), (a, u, g), AT_FDCWD, a, 0)
WRAP(int, lchown, (const char *a, uid_t u, gid_t g), (a, u, g), AT_FDCWD, a, 0)
WRAP(int, fchown, (int f, uid_t u, gid_t g), (f, u, g), f, NULL, 0)
WRAP(int, fchownat, (int f, const char *a, uid_t u, gid_t g, int x), (f, a, u, g, x), f, a, 0)
WRAP(int, utimensat, (int f, const char *a, const struct timespec t[2], int x), (f, a, t, x), f, a, 0)
WRAP(int, futimens, (int f, const struct timespec t[2]), (f, t), f, NULL, 0)

// A call that may transfer a part.
#define TRANSFER(name, parameters, whole, half) \
    ssize_t name parameters { \
        enum action now = next(#name, f, NULL, 1); \
        if (now == FAIL) return -1; \
        static __typeof__(&name) original; \
        if (!original) original = ORIGINAL(name); \
        if ((now == TEAR || now == SHORT) && n > 1) { \
            ssize_t value = original half; \
            if (now == TEAR) die(); \
            return value; \
        } \
        ssize_t value = original whole; \
        if (now == AFTER || now == TEAR) die(); \
        return value; \
    }

TRANSFER(write, (int f, const void *b, size_t n), (f, b, n), (f, b, n / 2))
TRANSFER(pwrite, (int f, const void *b, size_t n, off_t o), (f, b, n, o), (f, b, n / 2, o))
TRANSFER(pwrite64, (int f, const void *b, size_t n, off64_t o), (f, b, n, o), (f, b, n / 2, o))
TRANSFER(writev, (int f, const struct iovec *b, int n), (f, b, n), (f, b, n / 2))
TRANSFER(copy_file_range, (int s, off64_t *p, int f, off64_t *o, size_t n, unsigned int x), (s, p, f, o, n, x),
         (s, p, f, o, n / 2, x))

static int changes(int flags) { return (flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE; }

#define OPEN(name, parameters, arguments, last, folder) \
    int name parameters { \
        mode_t mode = 0; \
        if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) { \
            va_list rest; \
            va_start(rest, last); \
            mode = va_arg(rest, mode_t); \
            va_end(rest); \
        } \
        enum action now = changes(flags) ? next(#name, folder, path, 1) : NONE; \
        if (now == FAIL) return -1; \
        if (now == TEAR) die(); \
        static __typeof__(&name) original; \
        if (!original) original = ORIGINAL(name); \
        int value = original arguments; \
        if (now == AFTER) die(); \
        return value; \
    }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode), flags, AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), flags, AT_FDCWD)
OPEN(openat, (int f, const char *path, int flags, ...), (f, path, flags, mode), flags, f)
OPEN(openat64, (int f, const char *path, int flags, ...), (f, path, flags, mode), flags, f)

// Through the ones above, where the C library's own would go past them.
int creat(const char *path, mode_t mode) { return open(path, O_WRONLY | O_CREAT | O_TRUNC, mode); }

#define FOPEN(name) \
    FILE *name(const char *path, const char *how) { \
        enum action now = strpbrk(how, "wa") ? next(#name, AT_FDCWD, path, 1) : NONE; \
        if (now == FAIL) return NULL; \
        if (now == TEAR) die(); \
        static __typeof__(&name) original; \
        if (!original) original = ORIGINAL(name); \
        FILE *value = original(path, how); \
        if (now == AFTER) die(); \
        return value; \
    }

FOPEN(fopen)
FOPEN(fopen64)
