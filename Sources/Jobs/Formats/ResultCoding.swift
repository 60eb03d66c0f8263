import JSON

/// Selection of a result's members.
package enum ResultMembers: Sendable {
    /// All, from which the result can be read again.
    case log
    /// Members of an output's row, without the seed.
    case row
    /// Only the data, in a plain form.
    case data
}

/// Encoding of a result as members of a JSON object.
///
///     <members, see the task's result><kept>[,"timing":{…}]
///     "error":{"code","message"[,"file"],"line"[,"text"]}<kept>
///
/// Members with any other name are kept fields of the input's line; in a row they come first. Only `timing`, at the
/// end, differs from run to run.
package enum ResultCoding {
    package static func write(
        _ result: GenerationResult, _ members: ResultMembers = .log, to writer: inout JSONWriter
    ) {
        func writeKept() { for value in result.kept { writer.raw(value.name, value.json) } }
        if members != .log { writeKept() }
        switch result.content {
        case .made(let made): made.write(members, to: &writer)
        case .failed(let failure): write(failure, &writer)
        }
        if members == .log { writeKept() }
        if let timing = result.timing { write(timing, &writer) }
    }

    /// Returns an object of its members.
    static func text(of result: GenerationResult) -> String {
        JSONWriter.object { write(result, to: &$0) }.text
    }

    /// - Parameter reasoning: tokens of the reasoning before an answer.
    static func writeUsage(
        of result: some TaskResult, reasoning: Int? = nil, _ writer: inout JSONWriter
    ) {
        writer.object("usage") { writer in
            writer.int("prompt_tokens", result.promptTokens)
            writer.int("completion_tokens", result.completionTokens)
            if let reasoning { writer.int("reasoning_tokens", reasoning) }
        }
    }

    static func write(_ tokens: [Int32], _ writer: inout JSONWriter) {
        writer.array("tokens") { writer in for token in tokens { writer.int(token) } }
    }

    static func write(_ provenance: [GenerationResult.NamedValue], _ writer: inout JSONWriter) {
        guard !provenance.isEmpty else { return }
        writer.object("provenance") { writer in
            for part in provenance { writer.string(part.name, part.value) }
        }
    }

    private static func write(_ timing: GenerationResult.Timing, _ writer: inout JSONWriter) {
        writer.object("timing") { writer in
            writer.number("queued", timing.queued)
            writer.number("prefill", timing.prefill)
            writer.number("decode", timing.decode)
            writer.number("tokens_per_second", timing.tokensPerSecond)
            if let ended = timing.ended { writer.number("ended", ended) }
        }
    }

    private static func write(_ failure: GenerationResult.Failure, _ writer: inout JSONWriter) {
        writer.object("error") { writer in
            writer.string("code", failure.error.code.rawValue)
            writer.string("message", failure.error.message)
            if let file = failure.file {
                writer.string("file", file)
            }
            writer.int("line", failure.line)
            if let text = failure.text { writer.string("text", text) }
        }
    }
}

extension ResultCoding {
    /// Reads a result's members from an object that has others too. The first one identifies the task, or an error;
    /// after that all names but `error` are the line's.
    struct Reader {
        let keeps: Bool
        /// Nil before the first member, and for an error.
        private var made: (any ResultReader)?
        private var isFirst = true
        private var timing: GenerationResult.Timing?
        private var failure: GenerationResult.Failure?
        private var kept: [GenerationResult.CarriedValue] = []

        /// - Parameter keeps: whether to keep texts and lists; otherwise they are only checked.
        init(keeps: Bool) { self.keeps = keeps }

        /// - Parameter name: name of the current member, not one of the line's own.
        /// - Throws: `JSONFault` if its value is invalid.
        mutating func take(
            _ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner
        ) throws {
            if isFirst {
                isFirst = false
                if !name.spells("error") { made = JobTask.reader(first: name, keeps: keeps) }
            }
            if try made?.take(name, from: &scanner) == true { return }
            if name.spells("timing"), made != nil {
                try takeTiming(&scanner)
            } else if name.spells("error") {
                try takeFailure(&scanner)
            } else {
                let name = keeps ? String(decoding: name, as: UTF8.self) : ""
                let json = try scanner.skippedText()
                if keeps { kept.append(.init(name: name, json: json)) }
            }
        }

        /// Nil if the members are no complete result.
        var result: GenerationResult? {
            let result = made?.result
            if let failure { return result == nil ? .failure(failure, kept: kept) : nil }
            return result.map { GenerationResult($0, timing: timing, kept: kept) }
        }

        private mutating func takeTiming(_ scanner: inout JSONScanner) throws {
            var values = [Double?](repeating: nil, count: 5)
            let names: [StaticString] = ["queued", "prefill", "decode", "tokens_per_second", "ended"]
            try scanner.object { scanner, name in
                guard let index = names.firstIndex(where: { name.spells($0) }) else {
                    throw scanner.fault("no known time")
                }
                values[index] = try scanner.number()
            }
            guard let queued = values[0], let prefill = values[1], let decode = values[2],
                let speed = values[3]
            else { throw scanner.fault("a time is missing") }
            timing = .init(
                queued: queued, prefill: prefill, decode: decode, tokensPerSecond: speed, ended: values[4])
        }

        private mutating func takeFailure(_ scanner: inout JSONScanner) throws {
            var (code, message, file, line): (LineError.Code?, String?, String?, Int?)
            var text: String?
            let keeps = keeps
            try scanner.object { scanner, name in
                if name.spells("code") {
                    code = LineError.Code(rawValue: try scanner.string())
                } else if name.spells("message") {
                    message = try ResultCoding.string(&scanner, keeps: keeps)
                } else if name.spells("file") {
                    file = try ResultCoding.string(&scanner, keeps: keeps)
                } else if name.spells("line") {
                    line = try scanner.integer()
                } else if name.spells("text") {
                    text = try ResultCoding.string(&scanner, keeps: keeps)
                } else {
                    throw scanner.fault("an error has no such member")
                }
            }
            guard let code, let message, let line else { throw scanner.fault("an error lacks a member") }
            failure = .init(LineError(code, message), file: file, line: line, text: text)
        }
    }

    /// Token counts of prompt and completion: whole numbers from 0 to 2^31.
    struct Usage {
        let prompt: Int
        let completion: Int
        let reasoning: Int?

        init(_ scanner: inout JSONScanner) throws {
            var (prompt, completion, reasoning): (Int?, Int?, Int?)
            try scanner.object { scanner, name in
                let isPrompt = name.spells("prompt_tokens")
                let isReasoning = name.spells("reasoning_tokens")
                guard isPrompt || isReasoning || name.spells("completion_tokens") else {
                    throw scanner.fault("no known count")
                }
                let value = try scanner.integer()
                guard 0...Int(Int32.max) ~= value else { throw scanner.fault("a count is out of range") }
                if isPrompt {
                    prompt = value
                } else if isReasoning {
                    reasoning = value
                } else {
                    completion = value
                }
            }
            guard let prompt, let completion else { throw scanner.fault("a count is missing") }
            (self.prompt, self.completion, self.reasoning) = (prompt, completion, reasoning)
        }
    }

    /// Reads a string, which is empty unless it is kept.
    static func string(_ scanner: inout JSONScanner, keeps: Bool) throws -> String {
        if keeps { return try scanner.string() }
        _ = try scanner.stringBytes()
        return ""
    }

    static func tokens(_ scanner: inout JSONScanner, keeps: Bool) throws -> [Int32] {
        var list: [Int32] = []
        try scanner.array { scanner in
            guard let token = Int32(exactly: try scanner.integer()) else {
                throw scanner.fault("expected a token id")
            }
            if keeps { list.append(token) }
        }
        return list
    }

    static func provenance(
        _ scanner: inout JSONScanner, keeps: Bool
    ) throws -> [GenerationResult.NamedValue] {
        var list: [GenerationResult.NamedValue] = []
        try scanner.object { scanner, name in
            let name = keeps ? String(decoding: name, as: UTF8.self) : ""
            list.append(.init(name: name, value: try string(&scanner, keeps: keeps)))
        }
        return list
    }
}
