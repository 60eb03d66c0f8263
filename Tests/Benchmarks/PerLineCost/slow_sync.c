// Put before the C library's by LD_PRELOAD (Linux): each sync takes SLOW_SYNC_MS milliseconds more, and SLOW_SYNC_LOG
// gets a line for it with the name of the thread that waited.

#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int log_file = -1;
static long delay;

__attribute__((constructor)) static void start(void) {
    const char *file = getenv("SLOW_SYNC_LOG"), *text = getenv("SLOW_SYNC_MS");
    if (file) log_file = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (text) delay = atol(text);
}

static int slow(long call, int file) {
    char name[17] = "?";
    pthread_getname_np(pthread_self(), name, sizeof name - 1);
    usleep((useconds_t)(1000 * delay));
    size_t length = strlen(name);
    name[length] = '\n';
    if (log_file >= 0 && write(log_file, name, length + 1) < 0) abort();
    return (int)syscall(call, file);
}

int fsync(int file) { return slow(SYS_fsync, file); }
int fdatasync(int file) { return slow(SYS_fdatasync, file); }
