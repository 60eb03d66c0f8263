import BatchEngine
import Essentials
import JSON

extension ResultCoding {
    /// Reads a result's members from an object that has others too.
    ///
    /// A scan over very many results need not keep what it reads: then `result` has no texts and no lists, but is
    /// nil for the same bytes.
    struct Reader {
        let keeps: Bool
        private var text: String?
        private var finishReason: FinishReason?
        private var hasFinishReason = false
        private var usage: (prompt: Int, completion: Int)?
        private var seed: Int?
        private var probabilities: [GenerationResult.Probability]?
        private var tokens: [Int32]?
        private var logprobs: [LogprobEntry]?
        private var provenance: [GenerationResult.NamedValue] = []
        private var timing: GenerationResult.Timing?
        private var failure: GenerationResult.Failure?
        private var kept: [GenerationResult.KeptValue] = []
        /// Of a result that begins as a score.
        private var scored: ScoredReader?
        private var isFirst = true
        /// It begins as an error: then all else is the line's.
        private var beginsAsError = false

        init(keeps: Bool) { self.keeps = keeps }

        /// - Parameter name: of the member that the scanner stands at, one that is not the line's own.
        /// - Throws: `JSONFault` if its value can't be a result's.
        mutating func take(
            _ name: UnsafeBufferPointer<UInt8>, from scanner: inout JSONScanner
        ) throws {
            if isFirst {
                isFirst = false
                scored = ScoredReader(first: name, keeps: keeps)
                beginsAsError = name.spells("error")
            }
            if try scored?.take(name, from: &scanner) == true { return }
            if name.spells("usage"), !beginsAsError {
                let counts = try integers(["prompt_tokens", "completion_tokens"], &scanner)
                usage = (counts[0], counts[1])
            } else if name.spells("timing"), !beginsAsError {
                try takeTiming(&scanner)
            } else if name.spells("error") {
                try takeFailure(&scanner)
            } else if scored != nil || beginsAsError {
                try keep(name, &scanner)
            } else if name.spells("text") {
                text = try string(&scanner)
            } else if name.spells("finish_reason") {
                try takeFinishReason(&scanner)
            } else if name.spells("seed") {
                seed = try scanner.integer()
            } else if name.spells("probabilities"), usage == nil {
                // After the counts it is a field of the line.
                probabilities = try ResultCoding.probabilities(&scanner, keeps: keeps)
            } else if name.spells("tokens") {
                tokens = try ResultCoding.tokens(&scanner, keeps: keeps)
            } else if name.spells("logprobs") {
                try takeLogprobs(&scanner)
            } else if name.spells("provenance") {
                provenance = try ResultCoding.provenance(&scanner, keeps: keeps)
            } else {
                try keep(name, &scanner)
            }
        }

        private mutating func keep(
            _ name: UnsafeBufferPointer<UInt8>, _ scanner: inout JSONScanner
        ) throws {
            let name = keeps ? String(decoding: name, as: UTF8.self) : ""
            let json = try scanner.skippedText()
            if keeps { kept.append(.init(name: name, json: json)) }
        }

        /// Nil if the members don't make a result.
        var result: GenerationResult? {
            if var failure {
                failure.kept = kept
                return text == nil && usage == nil && seed == nil ? .failure(failure) : nil
            }
            if let scored {
                return usage.flatMap { usage in
                    scored.result(
                        promptTokens: usage.prompt, completionTokens: usage.completion, timing: timing,
                        kept: kept
                    ).map { .scored($0) }
                }
            }
            guard let text, hasFinishReason, let usage, let seed else { return nil }
            return .completion(
                .init(
                    text: text, finishReason: finishReason, promptTokens: usage.prompt,
                    completionTokens: usage.completion, seed: seed, probabilities: probabilities,
                    tokens: tokens, logprobs: logprobs,
                    provenance: provenance, timing: timing, kept: kept))
        }

        // MARK: Members

        private func string(_ scanner: inout JSONScanner) throws -> String {
            try ResultCoding.string(&scanner, keeps: keeps)
        }

        private mutating func takeFinishReason(_ scanner: inout JSONScanner) throws {
            hasFinishReason = true
            finishReason = nil
            if try scanner.peek() == .null { return try scanner.null() }
            finishReason = FinishReason(rawValue: try scanner.string())
            guard finishReason != nil else { throw scanner.fault("no known finish reason") }
        }

        private mutating func takeLogprobs(_ scanner: inout JSONScanner) throws {
            var list: [LogprobEntry] = []
            try scanner.object { scanner, name in
                guard name.spells("content") else { throw scanner.fault("expected content") }
                try scanner.array { scanner in
                    let entry = try LogprobEntry(&scanner)
                    if keeps { list.append(entry) }
                }
            }
            logprobs = list
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
            try scanner.object { scanner, name in
                if name.spells("code") {
                    code = LineError.Code(rawValue: try scanner.string())
                } else if name.spells("message") {
                    message = try string(&scanner)
                } else if name.spells("file") {
                    file = try string(&scanner)
                } else if name.spells("line") {
                    line = try scanner.integer()
                } else if name.spells("text") {
                    text = try string(&scanner)
                } else {
                    throw scanner.fault("an error has no such member")
                }
            }
            guard let code, let message, let line else { throw scanner.fault("an error lacks a member") }
            failure = .init(LineError(code, message), file: file, line: line, text: text)
        }

        /// An object of whole numbers from 0 to 2^31.
        private func integers(_ names: [StaticString], _ scanner: inout JSONScanner) throws -> [Int] {
            var values: [Int?] = Array(repeating: nil, count: names.count)
            try scanner.object { scanner, name in
                guard let index = names.firstIndex(where: { name.spells($0) }) else {
                    throw scanner.fault("no known count")
                }
                let value = try scanner.integer()
                guard 0...Int(Int32.max) ~= value else { throw scanner.fault("a count is out of range") }
                values[index] = value
            }
            let all = values.compactMap { $0 }
            guard all.count == names.count else { throw scanner.fault("a count is missing") }
            return all
        }
    }

    /// A string, which is empty unless it is kept.
    private static func string(_ scanner: inout JSONScanner, keeps: Bool) throws -> String {
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
