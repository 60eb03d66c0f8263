import FoundationShim
import JSON
import OperatingSystem

/// Keeps two runs from writing the same output: `flock` on `OUTPUT.lock`, which the kernel drops with
/// the process, so that nothing has to be cleaned up after a crash. The file says who holds it.
package final class OutputLock {
    /// Who holds a lock, as it wrote itself down.
    package struct Holder: Sendable, Equatable {
        package var pid: Int32
        package var host: String
        /// When its run began, ISO 8601.
        package var started: String

        /// Whether the run may be alive: its process is, or is on another host.
        fileprivate var mayLive: Bool { host != Platform.hostName || Platform.isRunning(pid) }

        /// For a terminal: the file may hold anything.
        package var description: String { "process \(pid) on \(host), started \(started)".asMessage }
    }

    /// What to do while another run holds the lock.
    package struct Waiting {
        /// Called once, when the wait begins.
        package var onWait: (Holder?) -> Void
        /// Asked a few times a second.
        package var shouldStop: () -> Bool

        package init(onWait: @escaping (Holder?) -> Void, shouldStop: @escaping () -> Bool = { false }) {
            self.onWait = onWait
            self.shouldStop = shouldStop
        }
    }

    private var file: File?
    /// Whether the file system has locks. Where it has none the holder that the file names counts, while its process lives
    /// or is another host's.
    let hasLocks: Bool

    /// - Parameters:
    ///   - draft: where the lock file is made before it gets its name: it never stands there half written.
    ///   - waiting: if nil, a lock that is held is an error.
    /// - Throws: `UserError` of kind `locked`, `interrupted`, `mismatch`, `cannotWrite` or `io`.
    init(
        _ path: String, draft: String, output: String, waiting: Waiting?, in system: any FileSystem
    ) throws(UserError) {
        var attempts = 0
        var races = 0
        while true {
            let holder: Holder?
            switch try Self.attempt(path, draft: draft, in: system) {
            case .taken(let file, let isLocked):
                (self.file, hasLocks) = (file, isLocked)
                return
            case .changing where races < 1000:
                races += 1
                continue
            case .changing: holder = nil
            case .held(let other): holder = other
            }
            // `phibatch status` may hold a shared lock for an instant: a refusal must last.
            attempts += 1
            if attempts == 5 {
                // Perhaps it is somebody else's file, locked by somebody else's program.
                if holder == nil { _ = try RunFile.open(path, .lock, .readOwn, in: system) }
                guard let waiting else {
                    let name = holder?.description ?? "another process"
                    throw UserError(
                        .locked, at: output,
                        "another run is writing it (\(name)). Wait for it, or use --wait; if it is over, and this file system has no locks, remove \(path)."
                    )
                }
                waiting.onWait(holder)
            }
            if let waiting, attempts >= 5, waiting.shouldStop() {
                throw UserError(.interrupted, at: output, "the wait for the other run was broken off.")
            }
            Platform.sleep(milliseconds: attempts < 5 ? 20 : 100)
        }
    }

    private enum Attempt {
        case taken(File, isLocked: Bool)
        case held(by: Holder?)
        /// Others are at it too: the next attempt will tell.
        case changing
    }

    private static func attempt(
        _ path: String, draft: String, in system: any FileSystem
    ) throws(UserError) -> Attempt {
        if let there = try RunFile.openUnchecked(path, .lock, .readWrite, in: system) {
            return try removeLeftover(there, .lock, in: system) ? .changing : .held(by: try holder(in: there))
        }
        let file: File
        do {
            file = try File.open(draft, .createNew(), in: system)
        } catch {
            guard error.code == ErrorCode.exists else { throw error }
            guard let there = try RunFile.openUnchecked(draft, .lockDraft, .readOwn, in: system) else {
                return .changing
            }
            return try removeLeftover(there, .lockDraft, in: system) ? .changing : .held(by: nil)
        }
        do {
            // Another may take it for what a killed run left, and remove it, until it is locked.
            let isLocked = try file.tryLock(exclusive: true)
            guard isLocked != false, try file.isInPlace() else { return .changing }
            try writeHolder(to: file)
            // Else it might be empty after a power failure, and nobody's.
            try file.sync()
            try file.moveNew(to: path)
            return .taken(file, isLocked: isLocked != nil)
        } catch {
            try? file.remove()
            if error.code == ErrorCode.exists { return .changing }
            throw error
        }
    }

    /// Removes what a run has left that was killed, unless another has done so between our open and our lock.
    /// - Returns: false if it is locked.
    private static func removeLeftover(
        _ file: File, _ use: RunFile.Use, in system: any FileSystem
    ) throws(UserError) -> Bool {
        let isFree = try file.tryLock(exclusive: true)
        if isFree == false { return false }
        if isFree == nil, use == .lock, try holder(in: file)?.mayLive == true { return false }
        guard try file.isInPlace() else { return true }
        guard try RunFile.isOurs(file, use) else { throw RunFile.foreign(file.path, use) }
        try system.removeIfPresent(file.path)
        return true
    }

    deinit { release() }

    /// Removes the file while it is still locked, so that no one else's is removed.
    func release() {
        guard let file else { return }
        self.file = nil
        // Without effect on the lock itself, which ends with the descriptor.
        try? file.remove()
    }

    private static func writeHolder(to file: File) throws(UserError) {
        let holder = Holder(
            pid: Platform.processID, host: Platform.hostName,
            started: UTCTime(seconds: Int(Date().timeIntervalSince1970)).text)
        let writer = JSONWriter.object { writer in
            writer.int("pid", holder.pid)
            writer.string("host", holder.host)
            writer.string("started", holder.started)
        }
        try file.write(writer.bytes + [0x0a], at: 0)
    }

    /// Who has written himself down in a lock file; nil if it is none.
    static func holder(in file: File) throws(UserError) -> Holder? {
        let bytes = try file.bytes(0..<4096)
        guard let json = try? JSONValue(parsing: bytes, limits: .file),
            let pid = json.int("pid").flatMap(Int32.init(exactly:)), let host = json.string("host"),
            let started = json.string("started")
        else { return nil }
        return Holder(pid: pid, host: host, started: started)
    }

    /// Whether a run holds the lock now, and which. Doesn't disturb it.
    static func probe(
        _ path: String, in system: any FileSystem
    ) throws(UserError) -> (isHeld: Bool, holder: Holder?) {
        guard let file = try RunFile.openUnchecked(path, .lock, .readOwn, in: system) else {
            return (false, nil)
        }
        let (isFree, holder) = (try file.tryLock(exclusive: false), try holder(in: file))
        return isFree ?? (holder?.mayLive != true) ? (false, nil) : (true, holder)
    }
}
