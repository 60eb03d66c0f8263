import JSON

extension ResultCoding {
    /// - Parameter others: names of the object's members that are none of the result's.
    /// - Returns: nil if the rest don't make a result.
    static func result(in object: UnsafeRawBufferPointer, but others: [StaticString] = [])
        -> GenerationResult?
    {
        var reader = Reader(keeps: true)
        let isRead: Void? = try? JSONScanner.scan(object, limits: .ownLine) { scanner in
            try scanner.object { scanner, name in
                if others.contains(where: { name.spells($0) }) { return try scanner.skip() }
                try reader.take(name, from: &scanner)
            }
        }
        return isRead == nil ? nil : reader.result
    }

    /// Reads a result's members from an object that has others too. By the first of them it is known of which task it
    /// is, or that it is an error; then all names but `error` are the line's.
    struct Reader {
        let keeps: Bool
        /// Nil before the first member, and of an error.
        private var made: (any ResultReader)?
        private var isFirst = true
        private var timing: GenerationResult.Timing?
        private var failure: GenerationResult.Failure?
        private var kept: [GenerationResult.KeptValue] = []

        /// - Parameter keeps: whether texts and lists are wanted; else they are read all the same, and forgotten.
        init(keeps: Bool) { self.keeps = keeps }

        /// - Parameter name: of the member that the scanner stands at, one that is not the line's own.
        /// - Throws: `JSONFault` if its value can't be a result's.
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

        /// Nil if the members don't make a result.
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

    /// How many tokens prompt and completion have: whole numbers from 0 to 2^31.
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

    /// A string, which is empty unless it is kept.
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
