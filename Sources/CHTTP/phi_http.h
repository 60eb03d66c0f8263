/// Declarations of the functions that the server uses of GNU libmicrohttpd: no header of it is needed to compile, and
/// the library is loaded only to serve. The numbers are part of its stable interface (soname 12).
#ifndef PHI_HTTP_H
#define PHI_HTTP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// Poll in its own thread, connections that can be suspended, and no log on stderr.
#define PHI_HTTP_FLAGS (64U | 8U | 8192U | 1024U)

/// Options of the server.
static const int PHI_HTTP_END = 0;
static const int PHI_HTTP_CONNECTION_MEMORY = 1;
static const int PHI_HTTP_CONNECTIONS = 2;
static const int PHI_HTTP_TIMEOUT = 3;
static const int PHI_HTTP_COMPLETED = 4;
static const int PHI_HTTP_LISTEN_SOCKET = 12;
static const int PHI_HTTP_OPTIONS = 15;
static const int PHI_HTTP_CONNECTED = 27;

static const int PHI_HTTP_NO = 0;
static const int PHI_HTTP_YES = 1;
/// Place of a request's values.
static const int PHI_HTTP_HEADER = 1;
static const int PHI_HTTP_ARGUMENT = 8;
/// End of a request.
static const int PHI_HTTP_COMPLETED_OK = 0;
/// Event of a connection.
static const int PHI_HTTP_OPENED = 0;
/// Question about a connection.
static const int PHI_HTTP_DESCRIPTOR = 6;
/// Bytes are copied.
static const int PHI_HTTP_COPY = 2;

static const ssize_t PHI_HTTP_END_OF_STREAM = -1;
static const ssize_t PHI_HTTP_END_WITH_ERROR = -2;
static const uint64_t PHI_HTTP_SIZE_UNKNOWN = UINT64_MAX;

struct PhiHttpOption {
    int name;
    intptr_t value;
    void *pointer;
};

typedef int (*PhiHttpHandler)(
    void *context, void *connection, const char *path, const char *method, const char *version, const char *bytes,
    size_t *count, void **request);
typedef void (*PhiHttpCompleted)(void *context, void *connection, void **request, int how);
typedef void (*PhiHttpConnected)(void *context, void *connection, void **socket, int what);
typedef ssize_t (*PhiHttpReader)(void *context, uint64_t position, char *bytes, size_t room);
typedef void (*PhiHttpRelease)(void *context);
typedef int (*PhiHttpValue)(void *context, int kind, const char *name, const char *value);
typedef int (*PhiHttpField)(
    void *context, int kind, const char *name, const char *file, const char *type, const char *encoding,
    const char *bytes, uint64_t offset, size_t count);

/// MHD_start_daemon and MHD_get_connection_info, which are variadic, so Swift can't call them.
typedef void *(*PhiHttpStart)(
    unsigned flags, uint16_t port, void *accept, void *accept_context, PhiHttpHandler handler, void *context, ...);
typedef const void *(*PhiHttpInfo)(void *connection, int what, ...);

static inline void *phi_http_start(
    void *start, PhiHttpHandler handler, void *context, const struct PhiHttpOption *options) {
    return ((PhiHttpStart)start)(
        PHI_HTTP_FLAGS, 0, NULL, NULL, handler, context, PHI_HTTP_OPTIONS, options, PHI_HTTP_END);
}

static inline int phi_http_descriptor(void *info, void *connection) {
    const void *found = ((PhiHttpInfo)info)(connection, PHI_HTTP_DESCRIPTOR);
    return found ? *(const int *)found : -1;
}

static inline intptr_t phi_http_completed(PhiHttpCompleted function) { return (intptr_t)function; }
static inline intptr_t phi_http_connected(PhiHttpConnected function) { return (intptr_t)function; }

#endif
