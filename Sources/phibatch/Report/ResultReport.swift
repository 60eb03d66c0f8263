import BatchPipeline
import PhiModel

/// Contents of a report on a finished output or an unfinished run: statistics of all results, and the rows of its table.
///
/// The results are read twice, first for the statistics and then for the rows, so that memory only holds prompts.
struct ResultReport {
    let state: JobStatus.State
    /// Settings that the results depend on, as far as known.
    let settings: [(name: String, value: String)]
    /// Damaged lines of the log.
    let damaged: Int
    private(set) var statistics: ReportStatistics
    /// Number of rows of the table: the first results.
    let rowCount: Int
    /// Rows whose line has no prompt, has changed, or is gone from the input.
    let withoutPrompt: Int
    private let log: OutputLog
    private let prompts: ReportPrompts?

    var hasPrompts: Bool { prompts != nil }

    /// - Parameters:
    ///   - path: an output, whose log is read.
    ///   - job: the job whose input has the prompts; nil for a table without them.
    ///   - rowLimit: the most rows of the table.
    /// - Throws: `UserError` if results or input can't be read.
    init(_ path: String, job: JobSettings? = nil, rowLimit: Int = .max) throws {
        let status = try JobStatus(output: path)
        guard let log = status.log, log.isOpen || log.finished != nil else {
            // An output without a log has an error of its own.
            _ = try FinishedOutput(path)
            throw UserError(.missingInput, at: path, "there are no such results.")
        }
        self.log = log
        (state, damaged) = log.isOpen ? (status.state, status.damagedLines) : (.complete, log.lost)
        settings = status.latest?.parts ?? []
        var statistics = ReportStatistics(steps: job?.steps.map(\.name) ?? [])
        var keys: [ResultKey] = []
        try log.visit { record in
            statistics.add(ReportedResult(record))
            if keys.count < rowLimit { keys.append(record.key) }
            return true
        }
        let prompts = try job.map { try ReportPrompts(of: $0, for: Set(keys.map(\.id)), schemes: log.lines) }
        (self.statistics, self.prompts, rowCount) = (statistics, prompts, keys.count)
        withoutPrompt = prompts.map { prompts in keys.count { prompts.prompt(of: $0) == nil } } ?? 0
    }

    /// Visits the table's rows: in the order of the output, or of completion.
    func forEachRow(_ body: (ReportedResult, _ prompt: ReportPrompts.Prompt?) throws -> Void) throws {
        var (left, line) = (rowCount, -1)
        try log.visit { record in
            guard left > 0 else { return false }
            left -= 1
            var result = ReportedResult(record)
            if result.sample == 0 { line += 1 }
            if state == .complete { result.index = line }
            try body(result, prompts?.prompt(of: record.key))
            return true
        }
    }
}

/// Prompts of some results, read from the input again.
struct ReportPrompts {
    /// A prompt, maybe cut, and its length in bytes before.
    typealias Prompt = (text: String, length: Int)

    /// The lines of each id, with their hashes by all schemes.
    private var lines: [String: [(hashes: [UInt64], prompt: Prompt)]] = [:]

    /// Reads the whole input.
    /// - Parameters:
    ///   - ids: the ids whose prompts are needed.
    ///   - schemes: the results' schemes, besides the job's own.
    /// - Throws: `UserError` if the input can't be read or a template is malformed.
    init(of job: JobSettings, for ids: Set<String>, schemes: [LineScheme] = []) throws {
        let builder = try PromptBuilder(job)
        let keys = try LineKeys(job, earlier: schemes)
        var reader = job.inputReader()
        while let line = try reader.next() {
            if line.isHalf { continue }
            let line = JobLine(line, keys)
            guard ids.contains(line.id), case .success(let record) = line.record,
                let prompt = try? builder.prompt(for: record)
            else { continue }
            let text = Self.text(of: prompt)
            lines[line.id, default: []].append((line.hashes, (text.cut(), text.utf8.count)))
        }
    }

    /// Returns the prompt that a result is of; nil if the input has none, or the line has changed.
    func prompt(of key: ResultKey) -> Prompt? {
        lines[key.id]?.first { line in
            line.hashes.contains { ResultKey.redo(of: key.contentHash, from: $0) != nil }
        }?.prompt
    }

    /// A single question is its own text; several messages have their roles before them.
    private static func text(of prompt: PhiModel.Prompt) -> String {
        switch prompt {
        case .messages(let messages): text(of: messages)
        case .continued(let messages, let prefix): text(of: messages) + "\n\n[the answer begins]\n" + prefix
        case .text(let text): text
        case .tokens(let tokens): "token ids: " + tokens.map(String.init).joined(separator: " ")
        }
    }

    private static func text(of messages: [ChatMessage]) -> String {
        if messages.count == 1, messages[0].role == "user" { return messages[0].content }
        return messages.map { "[\($0.role)]\n\($0.content)" }.joined(separator: "\n\n")
    }
}

extension String {
    /// Returns at most that many bytes of a text, by default as many as a report shows.
    func cut(to limit: Int = 32 << 10) -> String {
        // Such an index falls back to the beginning of its scalar.
        utf8.count > limit ? String(unicodeScalars[..<utf8.index(startIndex, offsetBy: limit)]) : self
    }
}
