import Foundation
import Foundations

/// Keeps two runs from writing the same output: `flock` on `OUTPUT.lock`, which the kernel drops with
/// the process, so that nothing has to be cleaned up after a crash. The file says who holds it.
public final class OutputLock {
    /// Who holds a lock, as it wrote itself down.
    public struct Holder: Sendable, Equatable, Codable {
        public var pid: Int32
        public var host: String
        /// When its run began, ISO 8601.
        public var started: String

        /// For a terminal: the file may hold anything.
        public var description: String { "process \(pid) on \(host), started \(started)".asMessage }
    }

    /// What to do while another run holds the lock.
    public struct Waiting {
        /// Called once, when the wait begins.
        public var onWait: (Holder?) -> Void
        /// Asked a few times a second.
        public var shouldStop: () -> Bool

        public init(onWait: @escaping (Holder?) -> Void, shouldStop: @escaping () -> Bool = { false }) {
            self.onWait = onWait
            self.shouldStop = shouldStop
        }
    }

    private var file: File?
    private let path: String
    private let system: any FileSystem

    /// - Parameter waiting: if nil, a lock that is held is an error.
    /// - Throws: `StoreError` of kind `locked`, `interrupted`, `cannotCreate` or `io`.
    init(_ path: String, output: String, waiting: Waiting?, in system: any FileSystem) throws(StoreError) {
        self.path = path
        self.system = system
        var attempts = 0
        while true {
            let file = try File.open(path, .create, in: system)
            if try file.lock(exclusive: true) {
                // The holder before may have removed the file between our open and our lock.
                guard try file.isInPlace() else { continue }
                self.file = file
                try writeHolder()
                return
            }
            // `phibatch status` may hold a shared lock for an instant: a refusal must last.
            attempts += 1
            if attempts == 5 {
                let holder = Self.holder(in: file)
                guard let waiting else {
                    let name = holder?.description ?? "another process"
                    throw StoreError(
                        .locked, path: output,
                        "another run is writing it (\(name)). Wait for it, or use --wait.")
                }
                waiting.onWait(holder)
            }
            if let waiting, attempts >= 5, waiting.shouldStop() {
                throw StoreError(.interrupted, path: output, "the wait for the other run was broken off.")
            }
            Platform.sleep(milliseconds: attempts < 5 ? 20 : 100)
        }
    }

    deinit { release() }

    /// Removes the file while it is still locked, so that no one else's is removed.
    func release() {
        guard let file else { return }
        self.file = nil
        // Without effect on the lock itself, which ends with the descriptor.
        if (try? file.isInPlace()) == true { try? system.removeIfPresent(path) }
    }

    private func writeHolder() throws(StoreError) {
        guard let file else { return }
        let holder = Holder(
            pid: Platform.processID, host: Platform.hostName, started: Date().ISO8601Format())
        var bytes: [UInt8] = Array("{\"pid\":\(holder.pid),\"host\":".utf8)
        JSONBytes.append(holder.host, to: &bytes)
        bytes.append(contentsOf: ",\"started\":".utf8)
        JSONBytes.append(holder.started, to: &bytes)
        bytes.append(contentsOf: "}\n".utf8)
        do {
            try file.truncate(to: 0)
            try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        } catch let error as StoreError {
            release()
            throw error
        } catch {
            throw StoreError(.io, path: path, "\(error)")
        }
    }

    private static func holder(in file: File) -> Holder? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        guard let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) }) else {
            return nil
        }
        return try? JSONDecoder().decode(Holder.self, from: Data(bytes[..<count]))
    }

    /// Whether a run holds the lock now, and which. Doesn't disturb it.
    static func probe(
        _ path: String, in system: any FileSystem
    ) throws(StoreError) -> (isHeld: Bool, holder: Holder?) {
        guard let file = try File.openIfPresent(path, .read, in: system) else { return (false, nil) }
        if try file.lock(exclusive: false) { return (false, nil) }
        return (true, holder(in: file))
    }
}
