import BatchEngine
import Errors
import FoundationShim
import JSON
import OperatingSystem

/// A folder of answers by request, shared by any number of runs on any number of machines.
///
/// Each run appends to files of its own, a first line that identifies them and then records. Nobody else changes these,
/// except to void a wrong answer, so runs can't damage one another's. The index holds the first bytes of the keys; a record
/// is used only if its checksum and its whole key are right. Any failure means computing again, never an error. For one
/// thread at a time.
package final class AnswerStore {
    package let folder: String
    /// The most bytes of all files together.
    private let limit: Int
    private let system: FileSystem
    /// Bytes of the disk to leave free.
    private let reserve: Int
    private let tell: (Message) -> Void

    private struct Segment {
        let name: String
        /// Offset up to which its records are indexed; the largest number if it is none of ours, or can't be read.
        var known = 0
    }

    private var segments: [Segment] = []
    private(set) var index: [UInt64: (segment: Int, offset: Int)] = [:]
    /// The file being written, and its unwritten records.
    private var writer: (number: Int, file: File)?
    private var buffer: [UInt8] = []
    private var hasWritten = false
    /// Whether nothing is added any more.
    private var isReadOnly = false
    private var lastLook = ContinuousClock.now
    /// Number of records that were damaged, or no answer to their request.
    package private(set) var damaged = 0

    static let ending = ".answers"
    static let head = ChecksummedLine.make { $0.int("phibatch_answers", 1) } + [0x0A]
    private static let segmentCountLimit = 10_000
    private static let lookInterval = 60.0

    /// - Parameter tell: receives messages about the folder for a person.
    /// - Throws: `UserError` if the folder can't be created or read.
    package init(
        folder: String, limit: Int, reserve: Int = 1_000_000_000,
        system: FileSystem = .real, tell: @escaping (Message) -> Void = { _ in }
    ) throws {
        (self.folder, self.limit, self.reserve) = (folder, limit, reserve)
        (self.system, self.tell) = (system, tell)
        try explaining(
            .cannotWrite, at: folder, "the folder of answers can't be made", try Files.makeFolder(folder))
        if let info = try system.infoIfPresent(folder), info.mode & 0o002 != 0 {
            tell(
                "\(folder): everybody can write to the folder of answers (its mode is \(String(info.mode, radix: 8))), and forge answers for your jobs; chmod o-w fixes that"
            )
        }
        try look()
    }

    // MARK: Reading

    /// Adds the records of other processes to the index.
    private func look() throws {
        lastLook = .now
        let numbers = Dictionary(uniqueKeysWithValues: zip(segments.map(\.name), segments.indices))
        for (name, _) in try segmentsByAge() {
            if numbers[name] == nil { segments.append(Segment(name: name)) }
            learn(numbers[name] ?? segments.count - 1)
        }
    }

    /// Returns the files in the folder, least recently written first.
    private func segmentsByAge() throws -> [(name: String, state: FileInfo)] {
        let names = try explaining(
            .missingInput, at: folder, "the folder of answers can't be read", try Files.names(in: folder))
        return names.filter { $0.utf8.reversed().starts(with: Self.ending.utf8.reversed()) }
            .compactMap { name in Files.info(of: path(of: name)).map { (name: name, state: $0) } }
            .sorted { ($0.state.modified, $0.name) < ($1.state.modified, $1.name) }
    }

    private func path(of name: String) -> String { Paths.join(folder, name) }

    /// Indexes a file's new records. Only their beginnings are read; a record is checked when it is used.
    private func learn(_ number: Int) {
        do {
            let file = try file(number)
            let size = try file.info().size
            guard size > segments[number].known else { return }
            if segments[number].known == 0 {
                guard size >= Self.head.count else { return }
                // Writers end a file at 256 MiB, so a larger one is none.
                guard size < 1 << 29, try file.bytes(0..<Self.head.count) == Self.head else {
                    segments[number].known = .max
                    return
                }
            }
            let start = max(segments[number].known, Self.head.count)
            segments[number].known = try file.forEachLine(from: start) { line in
                var cursor = ByteCursor(bytes: line.bytes)
                if line.isWhole, cursor.skip(ChecksummedLine.start), cursor.hex() != nil,
                    cursor.skip("\",\"key\":\""), let key = cursor.hex()
                {
                    index[key] = (number, line.offset)
                }
                return true
            }
        } catch {
            segments[number].known = .max
        }
    }

    private func file(_ number: Int) throws -> File {
        if let writer, writer.number == number { return writer.file }
        return try File.open(path(of: segments[number].name), .readOwn, in: system)
    }

    // MARK: Answers

    /// Returns the answer of a key.
    func find(_ key: RequestKey) -> AnswerRecord? {
        guard let place = index[key.prefix] else { return nil }
        guard let file = try? self.file(place.segment) else {
            // Removed to make room.
            index[key.prefix] = nil
            return nil
        }
        var record: AnswerRecord?
        _ = try? file.forEachLine(from: place.offset, pieceSize: 1 << 12) { line in
            record = AnswerRecord(line.bytes)
            return false
        }
        guard let record, Paths.areEqual(record.key, key.text) else {
            isUnfit(key)
            return nil
        }
        return record
    }

    /// Records that a key's record is no answer.
    func isUnfit(_ key: RequestKey) {
        damaged += 1
        index[key.prefix] = nil
    }

    /// Compares a key's record with a computed answer. A different record is voided in place, so that nobody uses it.
    /// - Parameter computed: nil if the request failed.
    func verify(_ key: RequestKey, against computed: AnswerRecord?) -> Check {
        guard let place = index[key.prefix], let known = find(key) else { return .unknown }
        if let computed, computed.line == known.line { return .right }
        index[key.prefix] = nil
        let wrong: Message = "\(folder): the answer \(key.text) is not what the model gives, and "
        do {
            let file = try File.open(path(of: segments[place.segment].name), .readWrite, in: system)
            // Now the line no longer begins like a record.
            try file.fill(place.offset..<place.offset + 1, with: UInt8(ascii: " "))
            return .wrong(wrong + "is removed")
        } catch {
            return .wrong(wrong + "can't be removed: \(error)")
        }
    }

    enum Check: Equatable {
        case unknown, right
        /// With a sentence about it.
        case wrong(Message)
    }

    /// - Returns: whether the outcome will be stored; false if it can't be, or is already.
    func add(_ ended: EndedRequest, _ key: RequestKey) -> Bool {
        guard !isReadOnly, index[key.prefix] == nil else { return false }
        do {
            if writer == nil { try begin() }
            buffer += AnswerRecord(key: key, ended.decoding.saved, ended.provenance).line + [0x0A]
            if buffer.count >= pieceSize { write() }
        } catch {
            giveUp(error)
        }
        return !isReadOnly
    }

    // MARK: Writing

    /// A file ends with the piece that reaches this size.
    private var segmentLimit: Int { min(1 << 28, max(limit / 8, 1 << 12)) }
    private var pieceSize: Int { min(1 << 18, segmentLimit) }

    /// Creates a file under a unique name.
    private func begin() throws {
        removeOldest(to: limit - segmentLimit - pieceSize)
        let name = String(UInt64.random(in: 0 ... .max), radix: 16) + Self.ending
        let file = try File.open(path(of: name), .createNew(), in: system)
        segments.append(Segment(name: name))
        (writer, buffer, hasWritten) = ((segments.count - 1, file), Self.head, true)
    }

    /// Writes added answers to the folder, and from time to time reads others' additions. Nothing is synced: answers lost in
    /// a crash are computed again.
    package func flush() {
        write()
        guard (.now - lastLook).seconds >= Self.lookInterval else { return }
        // A vanished folder has nothing new.
        try? look()
    }

    private func write() {
        guard let (number, file) = writer, !buffer.isEmpty else { return }
        do {
            if let free = DiskSpace.free(at: folder), free < reserve {
                throw UserError(.io, at: folder, "has less than \(reserve / 1_000_000) MB left.")
            }
            try file.write(buffer, at: segments[number].known)
            buffer = []
            learn(number)
            if segments[number].known >= segmentLimit { writer = nil }
        } catch {
            giveUp(error)
        }
    }

    /// Ends the use of the store.
    package func close() {
        write()
        writer = nil
        if hasWritten, !isReadOnly { removeOldest(to: limit) }
        isReadOnly = true
        if damaged > 0 {
            tell(
                "\(folder): \(counted(damaged, "answer")) could not be used, and \(damaged == 1 ? "was" : "were") computed again: damaged"
            )
        }
    }

    /// Reports once that nothing can be added; existing answers can still be read.
    private func giveUp(_ error: any Error) {
        isReadOnly = true
        writer = nil
        tell("no more answers are added to \(folder): \(error)")
    }

    /// Removes files, least recently written first. A run whose file goes keeps its results, and adds no more to it.
    private func removeOldest(to limit: Int) {
        guard let all = try? segmentsByAge() else { return }
        var (bytes, count) = (all.reduce(0) { $0 + $1.state.size }, all.count)
        for (name, state) in all where bytes > limit || count > Self.segmentCountLimit {
            guard writer.map({ segments[$0.number].name }) != name else { continue }
            do throws(SystemError) { try Files.remove(path(of: name)) } catch { continue }
            bytes -= state.size
            count -= 1
        }
    }
}
