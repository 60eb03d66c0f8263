import BatchEngine
import Errors
import Foundation
import TestSupport
import Testing

@testable import BatchPipeline
@testable import Jobs
@testable import OperatingSystem

typealias TestFolder = TemporaryFolder

extension TestFolder {
    var url: URL { URL(fileURLWithPath: path) }
    func path(_ name: String) -> String { path + "/" + name }
    func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }
    func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }
    /// Puts lines into the input.
    func write(lines: [String]) throws { try write(lines.map { $0 + "\n" }.joined().utf8, to: "in.jsonl") }
    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
    /// With its log.
    func removeOutput(_ name: String = "out.jsonl") throws {
        for name in [name, name + ".log"] { try FileManager.default.removeItem(atPath: path(name)) }
    }
    /// Whether a run has begun and not come to its end.
    var isOpen: Bool { isOpen("out.jsonl.log") }
    private func isOpen(_ log: String) -> Bool {
        (try? OutputLog(RunFile(path(log))))?.isOpen ?? false
    }
    /// But for the logs of finished outputs.
    var names: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: url.path)
                .filter { name in
                    guard name.hasSuffix(".log") else { return true }
                    return isOpen(name) && !(name.contains(".old-") && has(String(name.dropLast(4))))
                }.sorted()
        }
    }
    /// Faults of the output there, of which the job is not known.
    func faults(_ name: String = "out.jsonl") throws -> [Message] {
        try OutputCheck(output: path(name)).faults
    }
    /// The digests of the runs that made the output's results.
    func runs(_ name: String = "out.jsonl") throws -> [String] {
        let output = try #require(try FinishedOutput(path(name)))
        return try (0..<output.count).map { try output.record($0).run }
    }
}

/// The real file system, except that the calls may be counted and one of them goes wrong.
final class FaultyFileSystem: FileSystem, @unchecked Sendable {
    enum Fault: Equatable {
        case error(Int32)
        case short
    }
    enum Call: String {
        case open, read, write, sync, truncate, rename, unlink, info, link, lock, mode, owner, attributes,
            probe, name, list
    }

    private let fault: (at: Int, Fault, lasts: Bool)?
    private let refused: [Call: Int32]
    private let hasSecondNames: Bool
    private let made = Mutex<[Call]>([])
    /// Gets all that changes files; set before the first call.
    nonisolated(unsafe) var disk: PowerCutDisk?

    /// - Parameters:
    ///   - number: the call that fails.
    ///   - lasts: whether all calls from the faulty one on fail, as when a process dies there.
    ///   - hasSecondNames: whether there are hard links.
    ///   - refused: kinds of calls that all fail, as where the user lacks a right.
    init(
        failing number: Int? = nil, with fault: Fault = .short, lasts: Bool = false,
        hasSecondNames: Bool = true, refusing refused: [Call: Int32] = [:]
    ) {
        self.fault = number.map { ($0, fault, lasts) }
        (self.hasSecondNames, self.refused) = (hasSecondNames, refused)
    }

    var calls: [Call] { made.withLock { $0 } }

    /// - Returns: whether the call is to be a short one.
    private func pass(_ call: Call) throws(SystemError) -> Bool {
        let number = made.withLock { made in
            made.append(call)
            return made.count - 1
        }
        if let code = refused[call] { throw SystemError(code: code) }
        guard let fault, number == fault.at || fault.lasts && number > fault.at else { return false }
        if case .error(let code) = fault.1 { throw SystemError(code: code) }
        return true
    }

    private func at<T>(
        _ call: Call, _ body: @autoclosure () throws(SystemError) -> T
    ) throws(SystemError) -> T {
        _ = try pass(call)
        return try body()
    }

    /// - Parameter change: of the disk, if there is one.
    private func at(
        _ call: Call, _ body: @autoclosure () throws(SystemError) -> Void, _ change: PowerCutDisk.Change
    ) throws(SystemError) {
        try at(call, try body())
        disk?.changes.append(change)
    }

    private var real: FileSystem { .real }

    override func open(_ path: String, _ access: FileAccess) throws(SystemError) -> Int32 {
        let descriptor = try at(.open, try real.open(path, access))
        var isNew = false
        if case .createNew = access { isNew = true }
        disk?.changes.append(
            access == .nameless
                ? .make("", descriptor) : isNew ? .make(path, descriptor) : .open(path, descriptor))
        return descriptor
    }
    override func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int {
        let count = try pass(.read) ? (buffer.count + 1) / 2 : buffer.count
        return try real.read(
            descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
    }
    override func read(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        let count = try pass(.read) ? (buffer.count + 1) / 2 : buffer.count
        return try real.read(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
    }
    override func position(_ descriptor: Int32) throws(SystemError) -> Int {
        try at(.info, try real.position(descriptor))
    }
    override func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int {
        let count: Int
        do {
            count = try pass(.write) ? (bytes.count + 1) / 2 : bytes.count
        } catch {
            // A full disk takes what still fits.
            if error.code == ENOSPC {
                _ = try real.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), at: offset)
            }
            throw error
        }
        disk?.changes.append(.write(descriptor, offset, Array(bytes[..<count])))
        return try real.write(
            descriptor, UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset)
    }
    // Not to the disk itself: what is tested is the order of calls and what they leave.
    override func sync(_ descriptor: Int32) throws(SystemError) { try at(.sync, (), .sync(descriptor)) }
    override func truncate(_ descriptor: Int32, to size: Int) throws(SystemError) {
        try at(.truncate, try real.truncate(descriptor, to: size), .truncate(descriptor, size))
    }
    override func rename(_ from: String, to: String) throws(SystemError) {
        try at(.rename, try real.rename(from, to: to), .rename(from, to))
    }
    override func renameNew(_ from: String, to: String) throws(SystemError) {
        try at(.rename, try real.renameNew(from, to: to), .rename(from, to))
    }
    override func checkReplaceable(_ path: String) throws(SystemError) {
        try at(.probe, try real.checkReplaceable(path))
    }
    override func setMode(_ descriptor: Int32, _ mode: UInt32) throws(SystemError) {
        try at(.mode, try real.setMode(descriptor, mode))
    }
    override func setOwner(_ descriptor: Int32, user: UInt32, group: UInt32) throws(SystemError) {
        try at(.owner, try real.setOwner(descriptor, user: user, group: group))
    }
    override func copyAttributes(from path: String, to descriptor: Int32) throws(SystemError) -> [String] {
        try at(.attributes, try real.copyAttributes(from: path, to: descriptor))
    }
    override func unlink(_ path: String) throws(SystemError) {
        try at(.unlink, try real.unlink(path), .unlink(path))
    }
    override func link(_ path: String, to name: String) throws(SystemError) {
        if !hasSecondNames { _ = try pass(.name) }
        guard hasSecondNames else { throw SystemError(code: EPERM) }
        try at(.name, try real.link(path, to: name), .link(path, name))
    }
    override func names(in folder: String) throws(SystemError) -> [String] {
        try at(.list, try real.names(in: folder))
    }
    override func info(_ path: String) throws(SystemError) -> FileInfo { try at(.info, try real.info(path)) }
    override func entry(_ path: String) throws(SystemError) -> FileInfo {
        try at(.info, try real.entry(path))
    }
    override func info(_ descriptor: Int32) throws(SystemError) -> FileInfo {
        try at(.info, try real.info(descriptor))
    }
    override func linkTarget(_ path: String) throws(SystemError) -> String? {
        try at(.link, try real.linkTarget(path))
    }
    override func lock(_ descriptor: Int32, exclusive: Bool) throws(SystemError) -> Bool {
        try at(.lock, try real.lock(descriptor, exclusive: exclusive))
    }
}

/// A line of a pretended input; its answer depends on its content alone.
struct TestLine: Equatable {
    var id: String
    var content: String
    var fails = false

    var key: ResultKey {
        ResultKey(
            id: id,
            contentHash: content.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
    }
    var result: GenerationResult {
        fails
            ? .failure(LineError(.badField, "no \(content)"), line: 1)
            : .completion("re: \(content)", promptTokens: 1, completionTokens: 7)
    }

    static func make(_ count: Int, _ content: String = "prompt") -> [TestLine] {
        (0..<count).map { TestLine(id: "line-\($0)", content: "\(content) \($0)") }
    }
}

extension [TestLine] {
    /// Two of 20 lines change places, one is changed, one goes, and one is added.
    mutating func edit() {
        swapAt(2, 15)
        self[7].content = "changed"
        remove(at: 11)
        insert(TestLine(id: "added", content: "new"), at: 0)
    }
}

let testFingerprint = RunFingerprint([
    ("model.config.json", "7 bytes"), ("job.seed", "17"), ("job.samples", "1"),
])

func openStore(
    _ folder: TestFolder, fingerprint: RunFingerprint = testFingerprint,
    format: ResultFormat = ResultFormat.jsonl, errors: String? = nil, restart: Bool = false,
    ifChanged: SettingsChange = .refuse, prunes: Bool = false, keeping: Int = 3, inputs: [String] = [],
    system: FileSystem = FaultyFileSystem()
) throws -> LogStore {
    var job = JobSettings()
    (job.output, job.outputFormat, job.errors) = (folder.path("out.jsonl"), format, errors)
    (job.outputFormat.omitsFailures, job.keepOld, job.input) = (errors != nil, keeping, inputs)
    return try LogStore(
        job, fingerprint: fingerprint,
        StoreOptions(restart: restart, ifChanged: ifChanged, prunes: prunes), system: system)
}

extension LogStore {
    convenience init(
        output: String, fingerprint: RunFingerprint, samples: Int = 1, waiting: OutputLock.Waiting? = nil,
        system: FileSystem = .real
    ) throws {
        var job = JobSettings()
        (job.output, job.samples) = (output, samples)
        try self.init(job, fingerprint: fingerprint, waiting: waiting, system: system)
    }
}

/// What a runner does with a store, except generating.
struct TestRun {
    var lines: [TestLine]
    /// Results after which the run is broken off.
    var limit = Int.max
    var redoesFailed = true

    /// - Returns: the number of results that were made.
    @discardableResult
    func run(_ store: any ResultStore) throws -> Int {
        var todo: [Int] = []
        for (position, line) in lines.enumerated() {
            switch try store.claim(line.key, position: position) {
            case .done(let failed): if failed, redoesFailed { todo.append(position) }
            case .new, .inFlight: todo.append(position)
            }
        }
        // Not in input order: pairs swapped, and the first one last.
        let order = todo.indices.map { $0 ^ 1 < todo.count ? todo[$0 ^ 1] : todo[$0] }
        let rotated = order.dropFirst() + order.prefix(1)
        for (count, position) in rotated.enumerated() {
            if count == limit { return count }
            let line = lines[position]
            try store.append(line.result, key: line.key, position: position)
            if count % 3 == 2 {
                try store.saveInFlight([
                    InFlightRecord(key: line.key, saved: SavedDecoding(tokens: [1, 2, 3]))
                ])
            }
        }
        if limit == Int.max { try store.finish(count: lines.count) }
        return todo.count
    }

    /// Runs, and breaks off.
    func stop(_ store: any ResultStore) throws {
        try run(store)
        try store.suspend()
    }

    /// The output of an undisturbed run.
    func expected() throws -> [UInt8] {
        let folder = try TestFolder()
        try TestRun(lines: lines).run(openStore(folder))
        return try folder.bytes("out.jsonl")
    }
}
