import FoundationShim
import JSON
import OperatingSystem

/// Lock that keeps two runs from writing the same output: `flock` on its log, which the kernel drops with the process, so that
/// nothing has to be cleaned up after a crash.
package final class OutputLock {
    /// Process that holds a lock, as it has named itself.
    package struct Holder: Sendable, Equatable {
        package var pid: Int32
        package var host: String
        /// When its run began, ISO 8601.
        package var started: String

        /// Whether the run may be alive: its process is, or is on another host.
        fileprivate var mayLive: Bool { host != ThisProcess.hostName || ThisProcess.isRunning(pid) }

        /// For a terminal: the file may hold anything.
        package var description: String { "process \(pid) on \(host), started \(started)".asMessage }
    }

    /// Callbacks while another run holds the lock: one when the wait begins, one that is asked a few times a second.
    package typealias Waiting = (onWait: (Holder?) -> Void, shouldStop: () -> Bool)

    /// The log, locked. A run that puts another one in its place hands it over here.
    var log: File
    /// Whether the log was made by this lock, and nothing has been written to it since.
    var isNew: Bool
    /// The file that holds the lock on a file system that has none: there the holder that it names counts, while its process
    /// lives or is another host's.
    private(set) var lockFile: File?
    private var isHeld = true

    /// - Parameters:
    ///   - header: of the log, where there is none.
    ///   - waiting: if nil, a lock that is held is an error.
    /// - Throws: `UserError` of kind `locked`, `interrupted`, `mismatch`, `cannotCreate` or `io`.
    init(_ paths: OutputPaths, _ header: LogHeader, waiting: Waiting?) throws {
        var attempts = 0
        while true {
            var holder: Holder?
            if let taken = try Self.attempt(paths, header, &holder) {
                (log, isNew, lockFile) = taken
                return
            }
            // `phibatch status` may hold a shared lock for an instant, or others are at it too: a refusal must last.
            attempts += 1
            if attempts == 5 {
                // Perhaps it is somebody else's file, locked by somebody else's program.
                _ = try paths.log.open(.readOwn)
                guard let waiting else {
                    let name = holder?.description ?? "another process"
                    throw UserError(
                        .locked, at: paths.given,
                        "another run is writing it (\(name)). Wait for it, or use --wait; if it is over, and this file system has no locks, remove \(paths.lock)."
                    )
                }
                waiting.onWait(holder)
            }
            if let waiting, attempts >= 5, waiting.shouldStop() {
                throw UserError(.interrupted, at: paths.given, "the wait for the other run was broken off.")
            }
            WorkerThread.sleep(seconds: attempts < 5 ? 0.02 : 0.1)
        }
    }

    private typealias Taken = (log: File, isNew: Bool, lockFile: File?)

    /// - Parameter holder: gets the one that has the lock; it stays nil while others change the files, and the next attempt
    ///   will tell.
    private static func attempt(
        _ paths: OutputPaths, _ header: LogHeader, _ holder: inout Holder?
    ) throws -> Taken? {
        if let there = try paths.log.openUnchecked(.readWrite) {
            return try take(there, isNew: false, paths, &holder)
        }
        let draft: File
        do { draft = try paths.examined().makeOwnFile(paths.newLog) } catch  where error.code == EEXIST {
            do { try paths.newLog.removeLeftover() } catch {
                guard error.kind == .locked else { throw error }
            }
            return nil
        }
        // Another may take it for what a killed run left, and remove it, until it is locked.
        guard let taken = try take(draft, isNew: true, paths, &holder) else { return nil }
        try draft.write(header.line + [0x0A])
        // Else it might be empty after a power failure, and nobody's.
        try draft.sync()
        do { try draft.moveNew(to: paths.log.path) } catch  where error.code == EEXIST { return nil }
        return taken
    }

    /// Locks a log, by a lock file of its own where it can't be locked.
    private static func take(
        _ log: File, isNew: Bool, _ paths: OutputPaths, _ holder: inout Holder?
    ) throws -> Taken? {
        let isFree = try log.tryLock(exclusive: true)
        if isFree == false { holder = Self.holder(of: log) }
        guard try isFree != false && log.isInPlace() else { return nil }
        guard try isNew || paths.log.isOurs(log) else { throw paths.log.foreign }
        if isFree == true { return (log, isNew, nil) }
        do {
            let file = try File.open(paths.lock.path, .createNew(), in: paths.system)
            let writer = JSONWriter.object { Holder.own.write(to: &$0) }
            try file.write(writer.bytes + [0x0A])
            return (log, isNew, file)
        } catch {
            guard error.code == EEXIST else { throw error }
            guard let there = try paths.lock.open(.readOwn) else { return nil }
            let named = try Holder(of: there)
            if named?.mayLive == true { holder = named } else { try there.remove() }
            return nil
        }
    }

    deinit { release() }

    /// Removes what is left of the run while it is still locked, so that no one else's is removed.
    func release() {
        guard isHeld else { return }
        isHeld = false
        if isNew { try? log.remove() }
        // Others may still read it.
        log.system.unlock(log.descriptor)
        try? lockFile?.remove()
        lockFile = nil
    }

    /// Returns the writer that a log names; nil if it names none, or that has died.
    private static func holder(of log: File) -> Holder? {
        let holder = (try? OutputLog(reading: log))?.begun?.holder
        return holder?.mayLive == true ? holder : nil
    }

    /// Whether a run holds the lock now, and which. Doesn't disturb it.
    static func probe(_ paths: OutputPaths) throws -> (isHeld: Bool, holder: Holder?) {
        guard let log = try paths.log.open(.readOwn) else { return (false, nil) }
        switch try log.tryLock(exclusive: false) {
        case true: return (false, nil)
        case false: return (true, holder(of: log))
        case nil:
            let holder = try paths.lock.open(.readOwn).flatMap { try Holder(of: $0) }
            return holder?.mayLive == true ? (true, holder) : (false, nil)
        }
    }
}

extension OutputLock.Holder {
    static var own: Self {
        Self(
            pid: ThisProcess.id, host: ThisProcess.hostName,
            started: UTCTime(seconds: Int(Date().timeIntervalSince1970)).text)
    }

    /// - Parameter json: the value of a member `holder`.
    init?(_ json: JSONValue) {
        guard let pid = json.int("pid").flatMap(Int32.init(exactly:)), let host = json.string("host"),
            let started = json.string("started")
        else { return nil }
        self.init(pid: pid, host: host, started: started)
    }

    /// Reads what a lock file says; nil if it names no process.
    init?(of file: File) throws(UserError) {
        let bytes = try file.bytes(0..<4096)
        guard let json = try? JSONValue(parsing: bytes, limits: .file), let holder = json["holder"] else {
            return nil
        }
        self.init(holder)
    }

    func write(to writer: inout JSONWriter) {
        writer.object("holder") { writer in
            writer.int("pid", pid)
            writer.string("host", host)
            writer.string("started", started)
        }
    }
}
