import Errors
import FoundationShim

/// Our own threads. Creating one may fail if processes or memory are limited, and then throws: Foundation's `Thread` is
/// silent, and waiting for a missing thread would never end.
package enum WorkerThread {
    /// Calls `body` on a new thread, which ends with it. It receives no signals that ask the program to stop: those are
    /// the main thread's.
    /// - Parameters:
    ///   - name: for debuggers, which show at most 15 bytes.
    ///   - stackSize: in bytes.
    ///   - givesWay: whether other threads have priority.
    package static func start(
        _ name: String, stackSize: Int = 8 << 20, givesWay: Bool = false,
        _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let code = start(stackSize: stackSize) {
            setName(name)
            if givesWay { giveWay() }
            body()
        }
        if code != 0 { throw SystemError(code: code) }
    }

    /// The same.
    /// - Throws: `UserError` of kind `resources` if there can be no thread.
    package static func startOrExplain(
        _ name: String, _ body: @escaping @Sendable () -> Void
    ) throws(UserError) {
        do { try start(name, body) } catch {
            throw UserError(
                .resources,
                "a thread can't be made: \(error.reason). Raise the limit on processes (ulimit -u, or pids.max of the control group)."
            )
        }
    }

    /// Makes the caller's thread wait, unless a signal arrives.
    package static func sleep(seconds: Double) {
        let whole = min(max(seconds, 0), 1e9)
        var time = timespec(tv_sec: Int(whole), tv_nsec: Int((whole - whole.rounded(.down)) * 1e9))
        nanosleep(&time, nil)
    }
}

/// Calls `body` with 0 ..< count, each once, on up to `threads` threads, the caller's included. A thread that can't be
/// created is left out.
package func onThreads(_ threads: Int, count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let next = Mutex(0)
    let others = Condition(0)
    @Sendable func work() {
        while case let index = next.withLock({ next in
            defer { next += 1 }
            return next
        }), index < count {
            body(index)
        }
    }
    for _ in 1..<max(1, min(threads, count)) {
        others.withLock { $0 += 1 }
        do throws(SystemError) {
            try WorkerThread.start("phibatch-work") {
                work()
                others.change { $0 -= 1 }
            }
        } catch {
            others.withLock { $0 -= 1 }
            break
        }
    }
    work()
    others.wait { $0 == 0 ? () : nil }
}

extension WorkerThread {
    /// Signals that ask a program to stop.
    private static let stopSignals = [SIGINT, SIGTERM, SIGHUP, SIGALRM]

    /// - Returns: 0, or an error number.
    private static func start(stackSize: Int, _ body: @escaping @Sendable () -> Void) -> Int32 {
        var attributes = pthread_attr_t()
        var code = pthread_attr_init(&attributes)
        guard code == 0 else { return code }
        defer { pthread_attr_destroy(&attributes) }
        code = pthread_attr_setstacksize(&attributes, stackSize)
        guard code == 0 else { return code }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))

        // A new thread inherits the signal mask.
        var (blocked, before) = (sigset_t(), sigset_t())
        sigemptyset(&blocked)
        for number in stopSignals { sigaddset(&blocked, number) }
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let box = Unmanaged.passRetained(ThreadBody(body))
        #if canImport(Darwin)
            var thread: pthread_t?
            code = pthread_create(&thread, &attributes, { ThreadBody.run($0) }, box.toOpaque())
        #else
            var thread = pthread_t()
            code = pthread_create(&thread, &attributes, { ThreadBody.run($0) }, box.toOpaque())
        #endif
        if code != 0 { box.release() }
        return code
    }

    private static func setName(_ name: String) {
        #if canImport(Darwin)
            pthread_setname_np(name)
        #else
            // The call for it is hidden from Swift.
            let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            Array(name.utf8.prefix(15)).withUnsafeBytes { _ = FileCalls.write(descriptor, $0) }
        #endif
    }

    /// Gives other threads priority over the caller's.
    private static func giveWay() {
        #if canImport(Darwin)
            pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0)
        #elseif canImport(Glibc)
            // On Linux this applies to the thread.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
        #else
            _ = setpriority(CInt(PRIO_PROCESS), 0, 5)
        #endif
    }
}

/// Carries a closure to its thread.
private final class ThreadBody: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let pointer { Unmanaged<ThreadBody>.fromOpaque(pointer).takeRetainedValue().body() }
        return nil
    }
}
