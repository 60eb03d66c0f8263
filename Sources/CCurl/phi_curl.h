/// Declarations of our own for libcurl: no header of it is needed to compile, and the library is loaded at the first
/// fetch. The numbers are part of libcurl's stable interface.
#ifndef PHI_CURL_H
#define PHI_CURL_H

enum PhiCurlOption {
    PHI_CURL_LOW_SPEED_LIMIT = 19,
    PHI_CURL_LOW_SPEED_TIME = 20,
    PHI_CURL_NOPROGRESS = 43,
    PHI_CURL_NOBODY = 44,
    PHI_CURL_PROXYPORT = 59,
    PHI_CURL_HTTP_VERSION = 84,
    PHI_CURL_BUFFERSIZE = 98,
    PHI_CURL_NOSIGNAL = 99,
    PHI_CURL_TIMEOUT_MS = 155,
    PHI_CURL_CONNECTTIMEOUT_MS = 156,
    PHI_CURL_PROTOCOLS = 181,
    PHI_CURL_SUPPRESS_CONNECT_HEADERS = 265,
    PHI_CURL_WRITEDATA = 10001,
    PHI_CURL_URL = 10002,
    PHI_CURL_PROXY = 10004,
    PHI_CURL_ERRORBUFFER = 10010,
    PHI_CURL_HTTPHEADER = 10023,
    PHI_CURL_HEADERDATA = 10029,
    PHI_CURL_XFERINFODATA = 10057,
    PHI_CURL_CAINFO = 10065,
    PHI_CURL_CAPATH = 10097,
    PHI_CURL_NOPROXY = 10177,
    PHI_CURL_PROXY_CAINFO = 10246,
    PHI_CURL_PROXY_CAPATH = 10247,
    PHI_CURL_WRITEFUNCTION = 20011,
    PHI_CURL_HEADERFUNCTION = 20079,
    PHI_CURL_XFERINFOFUNCTION = 20219
};

enum PhiCurlInfo {
    PHI_CURL_REDIRECT_URL = 0x100000 + 31,
    PHI_CURL_HTTP_CONNECTCODE = 0x200000 + 22,
    PHI_CURL_OS_ERRNO = 0x200000 + 25
};

/// Results of a transfer.
enum PhiCurlCode {
    PHI_CURL_UNSUPPORTED_PROTOCOL = 1,
    PHI_CURL_COULDNT_RESOLVE_HOST = 6,
    PHI_CURL_COULDNT_CONNECT = 7,
    PHI_CURL_PARTIAL_FILE = 18,
    PHI_CURL_OPERATION_TIMEDOUT = 28,
    PHI_CURL_GOT_NOTHING = 52,
    PHI_CURL_PEER_FAILED_VERIFICATION = 60,
    PHI_CURL_SSL_CACERT_BADFILE = 77
};

#define PHI_CURL_GLOBAL_DEFAULT 3
#define PHI_CURL_HTTP_1_1 2
#define PHI_CURL_HTTP_AND_HTTPS 3
#define PHI_CURL_ERROR_SIZE 256

/// curl_easy_setopt and curl_easy_getinfo, which are variadic, so Swift can't call them.
typedef int (*PhiCurlVariadic)(void *handle, int option, ...);

static inline int phi_curl_call(void *function, void *handle, int option, long value) {
    return ((PhiCurlVariadic)function)(handle, option, value);
}

static inline int phi_curl_call_pointer(void *function, void *handle, int option, const void *value) {
    return ((PhiCurlVariadic)function)(handle, option, value);
}

#endif
