import Essentials

extension Platform {
    /// Calls `body`, a write, so that a closed pipe is the error EPIPE and never the signal SIGPIPE, whatever the
    /// process does with that signal: it is blocked for this thread, and taken if the write has raised it.
    static func withoutPipeSignal<Value>(
        _ body: @autoclosure () throws(SystemError) -> Value
    ) throws(SystemError) -> Value {
        var (pipe, before, pending) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        sigpending(&pending)
        // One that waits already is not ours to take.
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        do { return try body() } catch {
            sigpending(&pending)
            if error.code == EPIPE, !wasPending, sigismember(&pending, SIGPIPE) == 1 {
                var taken: Int32 = 0
                sigwait(&pipe, &taken)
            }
            throw error
        }
    }
}
