import Errors
import FoundationShim
import OperatingSystem

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
    private let keys: LineKeys
    private let job: JobSettings
    private var reader: InputReader
    private var ids: SeenIDs?
    /// The overall number of the last record that is left out.
    private var start = 0
    /// Lines that count so far, whether they are taken up or not: neither blank nor passed over.
    private var count = 0
    package private(set) var read = ReadLines()

    package var warnings: [String] { reader.warnings }

    /// - Parameters:
    ///   - earlier: schemes of earlier runs whose results count, too.
    ///   - reader: by default of the fields by which lines are known.
    ///   - isWhole: whether they are those of a run's whole input, of which a repeated id is an error.
    /// - Throws: `UserError` if a template of the job is malformed.
    package init(
        _ job: JobSettings, earlier: [LineScheme] = [], reader: InputReader? = nil,
        follow: FollowedInput? = nil, isWhole: Bool = false
    ) throws {
        (self.job, keys) = (job, try LineKeys(job, earlier: earlier))
        self.reader = reader ?? job.inputReader(columns: keys.fields(of: job), follow: follow)
        if isWhole { (ids, read.seen) = (SeenIDs(), InputSeen()) }
    }

    /// Returns the lines after the last one, to be read apart from these.
    func following(_ line: JobLine) -> JobLines {
        var lines = self
        lines.reader = job.inputReader(columns: keys.fields(of: job))
        (lines.start, lines.ids, lines.read.seen) = (line.overallNumber, nil, nil)
        return lines
    }

    /// - Throws: `UserError` if a file can't be opened or read.
    package mutating func next() throws -> JobLine? {
        while let record = try reader.next() {
            guard record.overallNumber > start else { continue }
            if record.isHalf {
                read.unfinished.append(UnfinishedLine(record))
                continue
            }
            read.seen?.add(record)
            var line = JobLine(record, keys)
            if let error = line.fields?.earlierError {
                guard job.passesErrorLines else {
                    read.passedOver += 1
                    continue
                }
                line.record = .failure(error)
            }
            count += 1
            read.seen?.lines = count
            // The id belongs to the line that came first.
            if ids?.insert(line.id) == false {
                line.record = .failure(
                    LineError(.duplicateID, "The id \"\(line.id)\" has come before."))
            }
            guard job.selection.holds(count - 1) else { continue }
            line.place = count - 1
            read.count += 1
            if line.isNumbered { read.hasNumbered = true }
            return line
        }
        return nil
    }
}

extension JobSettings {
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
            // Most lines are not parsed for that.
            if !passesErrorLines, line.bytes.withUnsafeBytes({ $0.offset(of: "\"error\"") }) != nil,
                (try? line.content())?.fields.earlierError != nil
            {
                continue
            }
            count += 1
            if count % 16 == 0, !goesOn() { return nil }
        }
        return selection.count(of: count)
    }

    /// Whether the input is files alone, or made.
    package func canReadTwice() throws -> Bool {
        try input.allSatisfy { path in
            try path != "-" && FileSystem.real.infoIfPresent(path).map { $0.kind == .regular } ?? true
        }
    }
}
