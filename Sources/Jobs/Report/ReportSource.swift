import JSON
import OperatingSystem

/// The results for a report: those of a finished output, or of an unfinished run.
package final class ReportSource {
    private let path: String
    package let state: JobStatus.State
    /// Whether an output of other settings stands beside the log of a new run.
    package private(set) var hasOtherOutput = false
    /// Settings that the results depend on, as far as known.
    package private(set) var settings: [(name: String, value: String)] = []
    /// The schemes of their lines.
    private(set) var lines: [LineScheme] = []
    /// Lines of the file that are no results, and the first of them, from 1.
    package private(set) var damaged = 0
    package private(set) var firstDamaged: Int?
    private let content: Content

    private enum Content {
        /// Lines of OpenAI's batch API, up to the file's end when opened.
        case lines(File, end: Int)
        case logged(StoredResults)
    }

    /// - Parameter path: an output; before it is finished, its log is read.
    /// - Throws: `UserError` if results are missing or unreadable.
    package init(_ path: String) throws {
        let system = FileSystem.real
        let paths = try OutputPaths(output: path, in: system)
        self.path = path
        let log = try OutputLog.find(of: path)
        if let log, log.isOpen {
            state = try OutputLock.probe(paths, in: system).isHeld ? .running : .stopped
            let stored = StoredResults(log)
            damaged = try stored.readCounted().damaged
            content = .logged(stored)
            (settings, lines) = (stored.headers.first?.fingerprint.parts ?? [], stored.lines)
            hasOtherOutput = try log.begun?.isRestarted == true && system.exists(paths.output)
            return
        }
        state = .complete
        if Files.kind(of: path) == .folder {
            throw UserError(.missingInput, at: path, "is a folder, not results.")
        }
        if log?.finished != nil, let finished = try FinishedOutput(path) {
            damaged = finished.lost
            content = .logged(finished)
            (settings, lines) = (finished.header.fingerprint.parts, finished.lines)
            return
        }
        guard let file = try File.textIfPresent(paths.output, in: system) else {
            throw UserError(.missingInput, at: path, "there are no such results.")
        }
        guard try file.info().kind == .regular else {
            throw UserError(.missingInput, at: path, "is no regular file; results are read twice.")
        }
        content = .lines(file, end: try file.info().size)
    }

    /// Reads all results: those of an output in its order, those of an unfinished one in order of completion.
    /// - Parameter body: returns false to stop.
    /// - Throws: `UserError` if a file has no line that is a result; errors of `body`.
    package func visit(_ body: (ReportedResult) throws -> Bool) throws {
        switch content {
        case .lines(let file, let end): try visitLines(of: file, to: end, body)
        case .logged(let stored):
            var place = -1
            for number in 0..<stored.count where stored.index[number].isStored {
                var result = ReportedResult(try stored.record(number))
                if state == .complete {
                    if result.sample == 0 { place += 1 }
                    result.index = place
                }
                guard try body(result) else { return }
            }
        }
    }

    private func visitLines(of file: File, to end: Int, _ body: (ReportedResult) throws -> Bool) throws {
        (damaged, firstDamaged) = (0, nil)
        var (number, found, isEnded) = (0, 0, false)
        func addDamage() {
            damaged += 1
            firstDamaged = firstDamaged ?? number
        }
        let readEnd = try LineScanner(file: file).forEachLine { line in
            guard line.offset < end else { return false }
            number += 1
            guard line.isWhole, let results = ReportedResult.openAI(line.bytes) else {
                addDamage()
                // A file of anything else is not read to its end.
                return found > 0 || damaged < 1000
            }
            found += results.count
            isEnded = try results.contains { try !body($0) }
            return !isEnded
        }
        if isEnded { return }
        number += 1
        if readEnd < end, found > 0 || damaged < 1000 { addDamage() }
        guard found > 0 || damaged == 0 else {
            throw UserError(
                .badJob, at: path,
                "has no log beside it, and line \(firstDamaged ?? 1) is no result of OpenAI's batch API."
            )
        }
    }
}

extension ReportedResult {
    init(_ record: ResultRecord) {
        let result = record.result
        self.init(id: record.key.id, status: "unknown")
        (sample, lineHash) = (record.key.sample, record.key.contentHash)
        run = record.run
        timing = result.timing
        switch result.content {
        case .made(let made):
            (promptTokens, completionTokens) = (made.promptTokens, made.completionTokens)
            made.describe(in: &self)
        case .failed(let failure):
            status = failure.error.code.rawValue
            isFailed = true
            message = failure.error.message
            text = failure.text
            line = failure.line
            if let file = failure.file { facts.append(("file", file)) }
        }
        for kept in result.kept where kept.name != OpenAIRequest.keptName {
            let value = (try? JSONValue(parsing: Array(kept.json.utf8), limits: .line)) ?? .string(kept.json)
            facts.append((kept.name, Self.text(of: value)))
            fields += ReportedField.parts(of: value, at: [kept.name], .line)
        }
    }
}
