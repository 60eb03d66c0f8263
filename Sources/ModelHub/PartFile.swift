import FoundationShim
import OperatingSystem
import Synchronization

/// Stops the threads of a download.
final class Stop: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }

    /// - Throws: `CancellationError` if it is set.
    func check() throws(CancellationError) {
        if isSet { throw CancellationError() }
    }

    /// Waits on this thread.
    /// - Throws: `CancellationError`, soon after it is set.
    func sleep(_ seconds: Double) throws(CancellationError) {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            try check()
            let left = (end - .now).seconds
            guard left > 0 else { return }
            WorkerThread.sleep(seconds: min(0.05, left))
        }
    }

    /// Makes writes to a connection closed by the other side fail, on this thread and those that it starts: libcurl's
    /// TLS may raise SIGPIPE, which would end the program.
    static func blockBrokenPipes() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

/// A file that is being fetched. It counts its bytes.
final class PartFile {
    private let folder: OpenFolder
    private let name: String
    private let descriptor: Int32
    private(set) var size: Int
    /// Counts the bytes under the file's name.
    var tally: (sum: DownloadTally, file: String)? { didSet { count() } }

    /// Opens the part of an earlier attempt, or makes a new one.
    init(_ name: String, in folder: OpenFolder) throws(SystemError) {
        (self.folder, self.name) = (folder, name)
        descriptor = try folder.file(name)
        guard let status = try? FileInfo(of: descriptor), status.kind == .regular else {
            close(descriptor)
            throw SystemError(code: EINVAL)
        }
        size = status.size
        lseek(descriptor, 0, SEEK_END)
    }

    deinit { close(descriptor) }

    func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        try Files.write(Array(bytes), to: descriptor)
        size += bytes.count
        count(new: bytes.count)
    }

    func empty() throws(SystemError) {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw .last }
        size = 0
        count()
    }

    private func count(new: Int = 0) { tally?.sum.count(tally?.file ?? name, here: size, fetched: new) }

    /// Gives the whole file its name.
    func move(to newName: String) throws(SystemError) {
        guard fsync(descriptor) == 0 else { throw .last }
        try folder.rename(name, to: newName)
    }
}
