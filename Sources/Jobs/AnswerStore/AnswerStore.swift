import BatchEngine
import Errors
import FoundationShim
import OperatingSystem

/// A folder of answers by request, shared by any number of runs on any number of machines.
///
/// Each writer has its own files (`AnswerSegment`), which nobody else changes (except to void a wrong answer), so
/// writers can't damage one another's. The index holds the first bytes of the keys; a record is used only if its
/// checksum and its whole key are right. Any failure means computing again, never an error. For one thread at a time.
package final class AnswerStore {
    package let folder: String
    /// The most bytes of all segments together.
    package var limit: Int
    private let system: any FileSystem
    /// Bytes of the disk to leave free.
    private let reserve: Int
    private let tell: (Message) -> Void

    private struct Segment {
        let name: String
        /// Offset up to which its records are indexed.
        var known = 0
        /// Whether nothing more will come, or it is none of ours.
        var isOver = false
    }

    private var segments: [Segment] = []
    private var numbers: [String: Int] = [:]
    private var index = AnswerIndex()
    private var open: [Int: File] = [:]
    /// The segment being written, and its number.
    private var writer: (file: SegmentWriter, number: Int)?
    private var hasWritten = false
    /// Whether nothing is added any more.
    private var isReadOnly = false
    private var isClosed = false
    private var lastLook = ContinuousClock.now
    /// Number of records that were damaged, or no answer to their request.
    package private(set) var damaged = 0

    private static let openLimit = 16
    private static let segmentCountLimit = 10_000
    private static let lookInterval = 60.0
    /// Silence after which a segment is over if locks can't tell whether its writer lives.
    private static let silenceLimit = 86_400 * 1_000_000_000

    /// - Parameter tell: receives messages about the folder for a person.
    /// - Throws: `UserError` if the folder can't be created or read.
    package init(
        folder: String, limit: Int, reserve: Int = 1_000_000_000,
        system: any FileSystem = POSIXFileSystem(), tell: @escaping (Message) -> Void = { _ in }
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

    package var answerCount: Int { index.count }

    // MARK: Reading

    /// Adds the records of other processes to the index.
    private func look() throws {
        lastLook = .now
        for (name, _) in try segmentsByAge() {
            let number = numbers[name] ?? add(Segment(name: name))
            if !segments[number].isOver, writer?.number != number { learn(number) }
        }
    }

    private func add(_ segment: Segment) -> Int {
        segments.append(segment)
        numbers[segment.name] = segments.count - 1
        return segments.count - 1
    }

    /// Returns the segments in the folder, least recently written first.
    private func segmentsByAge() throws -> [(name: String, state: FileState)] {
        let names = try explaining(
            .missingInput, at: folder, "the folder of answers can't be read", try Files.names(in: folder))
        return names.filter { $0.utf8.reversed().starts(with: AnswerSegment.ending.utf8.reversed()) }
            .compactMap { name in Files.state(of: path(of: name)).map { (name: name, state: $0) } }
            .sorted { ($0.state.modified, $0.name) < ($1.state.modified, $1.name) }
    }

    private func path(of name: String) -> String { Paths.join(folder, name) }

    private func learn(_ number: Int) {
        // An unreadable segment is ignored.
        guard number < AnswerIndex.Location.segmentLimit, let file = try? self.file(number) else { return }
        do {
            let size = try file.info().size
            guard size > segments[number].known else { return }
            if segments[number].known == 0 {
                // Writers end a segment at 256 MiB, so a larger file is none.
                guard size < 1 << 29, try AnswerSegment.isOne(file) else {
                    // Its writer may have just created it.
                    segments[number].isOver = size >= AnswerSegment.head.count
                    return
                }
                if let entries = try AnswerSegment.index(of: file, size: size) {
                    for entry in entries { note(entry, number) }
                    segments[number].isOver = true
                    return
                }
                segments[number].known = AnswerSegment.head.count
            }
            segments[number].known = try AnswerSegment.scan(file, from: segments[number].known) {
                note($0, number)
            }
        } catch {
            segments[number].isOver = true
        }
    }

    private func note(_ entry: AnswerSegment.Entry, _ number: Int) {
        guard entry.offset < AnswerIndex.Location.offsetLimit else { return }
        index.set(entry.key, .init(segment: number, offset: entry.offset))
    }

    private func file(_ number: Int) throws -> File {
        if let file = open[number] { return file }
        let file = try File.open(path(of: segments[number].name), .readOwn, in: system)
        guard try file.info().kind == .regular else {
            throw UserError(.io, at: file.path, "is not a regular file")
        }
        if open.count >= Self.openLimit { open = [:] }
        open[number] = file
        return file
    }

    // MARK: Answers

    /// Returns the answer of a key.
    func find(_ key: RequestKey) -> AnswerRecord? {
        guard let place = index[key.prefix] else { return nil }
        guard let file = try? self.file(place.segment) else {
            // Removed to make room.
            index.remove(key.prefix)
            return nil
        }
        guard let record = try? AnswerSegment.record(in: file, at: place.offset),
            Paths.areEqual(record.key, key.text)
        else {
            isUnfit(key)
            return nil
        }
        return record
    }

    /// Records that a key's record is no answer.
    func isUnfit(_ key: RequestKey) {
        damaged += 1
        index.remove(key.prefix)
    }

    /// Compares a key's record with a computed answer. A different record is voided in place, so that nobody uses it.
    /// - Parameter computed: nil if the request failed.
    func verify(_ key: RequestKey, against computed: AnswerRecord?) -> Check {
        guard let place = index[key.prefix], let known = find(key) else { return .unknown }
        if let computed, computed.line == known.line { return .right }
        index.remove(key.prefix)
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
    func add(_ sequence: TokenSequence, _ provenance: [String: String], _ key: RequestKey) -> Bool {
        guard !isReadOnly, index[key.prefix] == nil, let outcome = sequence.decoding.outcome else {
            return false
        }
        do {
            if writer == nil { writer = try begin() }
            writer?.file.append(AnswerRecord(key: key, outcome, provenance).line, key: key.prefix)
            if let waiting = writer?.file.waitingCount, waiting >= pieceSize { write() }
        } catch {
            giveUp(error)
        }
        return !isReadOnly
    }

    // MARK: Writing

    /// A segment ends with the piece that reaches this size.
    private var segmentLimit: Int { min(1 << 28, max(limit / 8, 1 << 12)) }
    private var pieceSize: Int { min(1 << 18, segmentLimit) }

    private func begin() throws -> (file: SegmentWriter, number: Int) {
        removeOldest(to: limit - segmentLimit - pieceSize)
        let writer = try SegmentWriter(in: folder, system)
        let number = add(Segment(name: Paths.name(of: writer.file.path)))
        open[number] = writer.file
        hasWritten = true
        return (writer, number)
    }

    /// Writes added answers to the folder, without syncing, and from time to time reads others' additions.
    package func flush() {
        if writer != nil { write() }
        guard (.now - lastLook).seconds >= Self.lookInterval else { return }
        // A vanished folder has nothing new.
        try? look()
    }

    private func write() {
        do {
            if let free = DiskSpace.free(at: folder), free < reserve {
                throw UserError(.io, at: folder, "has less than \(reserve / 1_000_000) MB left.")
            }
            guard let number = writer?.number else { return }
            for entry in try writer?.file.flush() ?? [] { note(entry, number) }
            if let count = writer?.file.count, count >= segmentLimit { endSegment() }
        } catch {
            giveUp(error)
        }
    }

    private func endSegment() {
        guard let (file, number) = writer else { return }
        do { try file.close() } catch { return giveUp(error) }
        // The file's last reference holds its lock.
        (writer, open[number]) = (nil, nil)
    }

    /// Ends the use of the store.
    package func close() {
        guard !isClosed else { return }
        if writer != nil { write() }
        endSegment()
        if hasWritten, !isReadOnly { removeOldest(to: limit) }
        (isReadOnly, isClosed) = (true, true)
        open = [:]
        if damaged > 0 {
            tell(
                "\(folder): \(counted(damaged, "answer")) could not be used, and \(damaged == 1 ? "was" : "were") computed again: damaged"
            )
        }
    }

    /// Reports once that nothing can be added; existing answers can still be read.
    private func giveUp(_ error: any Error) {
        isReadOnly = true
        if let number = writer?.number { open[number] = nil }
        writer = nil
        tell("no more answers are added to \(folder): \(error)")
    }

    // MARK: Bounds

    /// Removes segments of ended writers, least recently written first.
    private func removeOldest(to limit: Int) {
        guard let all = try? segmentsByAge() else { return }
        var (bytes, count) = (all.reduce(0) { $0 + $1.state.size }, all.count)
        for (name, state) in all where bytes > limit || count > Self.segmentCountLimit {
            guard writer.map({ segments[$0.number].name }) != name, !isLive(name, state) else { continue }
            do throws(SystemError) { try Files.remove(path(of: name)) } catch { continue }
            bytes -= state.size
            count -= 1
        }
    }

    private func isLive(_ name: String, _ state: FileState) -> Bool {
        do {
            if let isFree = try File.open(path(of: name), .readOwn, in: system).tryLock(exclusive: true) {
                return !isFree
            }
            return FileState.now - state.modified < Self.silenceLimit
        } catch {
            return FileState.now - state.modified < Self.silenceLimit
        }
    }
}
