import Errors
import OperatingSystem

/// An incomplete last line of an input, left for the next run: the input was truncated, or is still being written.
public struct UnfinishedLine: Sendable, Equatable {
    public var file: String
    public var line: Int
    /// Number of its bytes so far.
    public var bytes: Int
    /// Problem beyond the missing end, if there is one.
    package var what: Message?
}

extension UserError {
    /// - Parameter line: of an input that is not followed.
    init(_ line: UnfinishedLine) {
        let what =
            line.what ?? "\(counted(line.bytes, "byte")) that are no complete JSON object or row."
        let more: Message =
            line.what == nil
            ? ", or end it with a line feed, and it fails alone. --follow waits until it is complete." : "."
        self.init(
            .io, at: "\(line.file):\(line.line)",
            "the last line is incomplete: \(what) If the input was truncated or is still being written, run the same command again once it is complete; finished results are kept. If it is wrong, correct it"
                + more)
    }
}

/// Lines of a job's input that its run takes up.
package struct JobLines {
    let keys: LineKeys
    private let job: JobSettings
    private var reader: InputReader
    private var ids: SeenIDs?
    /// The overall number of the last record that is left out.
    private let start: Int
    /// Lines that count so far: neither blank nor passed over.
    package private(set) var count: Int
    /// Lines passed over, as they carry the error of an earlier step.
    package private(set) var passedOver = 0
    /// Half lines at the end of the input, or of one of its files.
    package private(set) var unfinished: [UnfinishedLine] = []
    /// All of the input so far; nil if nobody asks.
    private(set) var seen: InputSeen?

    package var warnings: [String] { reader.warnings }

    /// - Parameters:
    ///   - reader: by default of the fields by which lines are known.
    ///   - findsRepeats: whether a repeated id is an error.
    ///   - line: the last line that is left out; nil if none is.
    package init(
        _ job: JobSettings, _ keys: LineKeys, reader: InputReader? = nil, findsRepeats: Bool = false,
        after line: JobLine? = nil, seen: InputSeen? = nil
    ) {
        (self.job, self.keys, self.seen) = (job, keys, seen)
        self.reader = reader ?? job.inputReader(columns: keys.fields(of: job))
        ids = findsRepeats ? SeenIDs() : nil
        (start, count) = (line?.overallNumber ?? 0, line.map { $0.place + 1 } ?? 0)
    }

    /// - Throws: `UserError` if a file can't be opened or read.
    package mutating func next() throws -> JobLine? {
        while let record = try reader.next() {
            guard record.overallNumber > start else { continue }
            if record.isHalf {
                unfinished.append(
                    UnfinishedLine(
                        file: record.file, line: record.number, bytes: record.bytes.count,
                        what: record.whatIsBroken))
                continue
            }
            seen?.add(record)
            var line = JobLine(record, keys)
            if let error = line.fields.flatMap(PreviousStep.error) {
                guard job.passesErrorLines else {
                    passedOver += 1
                    continue
                }
                line.record = .failure(error)
            }
            count += 1
            seen?.lines = count
            // The id belongs to the line that came first.
            if ids?.insert(line.id) == false {
                line.record = .failure(
                    LineError(.duplicateID, "The id \"\(line.id)\" has come before."))
            }
            guard job.selection.holds(count - 1) else { continue }
            line.place = count - 1
            return line
        }
        return nil
    }
}

extension JobSettings {
    /// The places of the lines that have all their results, failed ones too, in what a stopped run has left.
    /// - Throws: `UserError` if input or log can't be read.
    package func linesWithResults() throws -> [Int] {
        guard let log = try OutputLog.find(of: output), log.isOpen else { return [] }
        var found: [String: Int] = [:]
        _ = try log.readCounted()
        try log.visit { record in
            found[record.key.id, default: 0] += 1
            return true
        }
        var lines = JobLines(self, try LineKeys(self))
        var places: [Int] = []
        while let line = try lines.next() {
            if found[line.id] ?? 0 >= line.samples(in: self) { places.append(line.place) }
        }
        return places
    }

    /// Counts the lines of the input that a run would take up: all that are not blank, and no half line at an end.
    /// - Parameter goesOn: asked from time to time.
    /// - Returns: nil if the input is, or includes, stdin or another thing that can be read but once, or if the count
    ///   was not to go on.
    /// - Throws: `UserError` if a file can't be read.
    package func countLines(while goesOn: () -> Bool = { true }) throws -> Int? {
        if let rows { return selection.count(of: rows) }
        guard try canReadTwice() else { return nil }
        var reader = inputReader(columns: ["error"])
        var count = 0
        while let line = try reader.next() {
            if line.isHalf { continue }
            if !passesErrorLines, carriesError(line) { continue }
            count += 1
            if count % 16 == 0, !goesOn() { return nil }
        }
        return selection.count(of: count)
    }

    private func carriesError(_ line: InputRecord) -> Bool {
        guard line.has("\"error\"") else { return false }
        return (try? line.content()).flatMap { PreviousStep.error(in: $0.fields) } != nil
    }

    /// Whether the input is files alone, or made.
    package func canReadTwice() throws -> Bool {
        try input.allSatisfy { path in
            try path != "-" && FileSystem.real.infoIfPresent(path).map { $0.kind == .regular } ?? true
        }
    }
}

extension InputRecord {
    fileprivate func has(_ text: StaticString) -> Bool {
        bytes.withUnsafeBytes { $0.offset(of: text) != nil }
    }
}
