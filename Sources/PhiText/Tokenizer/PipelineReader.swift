import Regex

/// Reads `normalizer`, `pre_tokenizer`, `post_processor` and `decoder` of tokenizer.json.
extension TokenizerConfigReader {
    private static let literalLimit = 64
    private static let stripLimit = 1024

    /// GPT-2's splitting pattern, which `ByteLevel` implies.
    private static let byteLevelPattern =
        #"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"#

    private func unsupportedType(_ type: String) -> UserError {
        unsupported("the type \(type.quotedStart) is not supported")
    }

    /// Reads a short literal that is searched by comparison.
    private func literal() throws -> [UInt8] {
        let literal = Array(try string().utf8)
        guard 1...Self.literalLimit ~= literal.count else {
            throw unsupported("a text of 1 to \(Self.literalLimit) bytes is supported")
        }
        return literal
    }

    private func replacement() throws -> (literal: [UInt8], content: [UInt8]) {
        try allow("pattern", "content")
        let pattern = try member("pattern")
        guard try pattern.names() == ["String"] else {
            throw pattern.unsupported("only {\"String\": ...} is supported here")
        }
        return (try pattern.member("String").literal(), Array(try member("content").string().utf8))
    }

    private func pattern() throws -> Pattern {
        let kinds = try names()
        guard kinds == ["String"] || kinds == ["Regex"] else {
            throw malformed("expected {\"String\": ...} or {\"Regex\": ...}")
        }
        let source = try member(kinds[0])
        let text = try source.string()
        return try source.built { kinds[0] == "Regex" ? try Pattern(text) : try Pattern(literal: text) }
    }

    private func built(_ make: () throws -> Pattern) throws -> Pattern {
        do { return try make() } catch let error as ConstraintFault {
            throw unsupported("the pattern has \(error.problem), which is not supported")
        }
    }

    // MARK: Normalizer

    func normalizers() throws -> [Normalizer] {
        if isNull { return [] }
        let type = try type()
        switch type {
        case "Sequence":
            try allow("normalizers")
            return try member("normalizers").elements().flatMap { try $0.normalizers() }
        case "Prepend":
            try allow("prepend")
            return [.prepend(Array(try member("prepend").string().utf8))]
        case "Replace":
            let (literal, content) = try replacement()
            return [.replace(literal, with: content)]
        case "NFC":
            try allow()
            return [.composed]
        default: throw unsupportedType(type)
        }
    }

    // MARK: Pre-tokenizer

    /// - Returns: the steps, and whether pieces then go to the model as bytes.
    func preTokenizers() throws -> (steps: [PreTokenizer], isByteLevel: Bool) {
        if isNull { return ([], false) }
        let type = try type()
        switch type {
        case "Sequence":
            try allow("pretokenizers")
            var all: [PreTokenizer] = []
            var isByteLevel = false
            for element in try member("pretokenizers").elements() {
                if isByteLevel { throw element.unsupported("a step after ByteLevel is not supported") }
                let (steps, isLast) = try element.preTokenizers()
                all += steps
                isByteLevel = isLast
            }
            return (all, isByteLevel)
        case "Split":
            try allow("pattern", "behavior", "invert")
            let behavior = try member("behavior")
            let invert = try member("invert").bool(default: false)
            let pattern = try member("pattern").pattern()
            switch try behavior.string() {
            case "Isolated": return ([.split(pattern)], false)
            case "Removed": return ([.split(pattern, keepsMatches: invert, keepsOthers: !invert)], false)
            case let other: throw behavior.unsupported("\(other.quotedStart) is not supported")
            }
        case "Digits":
            try allow("individual_digits")
            let individual = try member("individual_digits")
            guard try individual.bool(default: false) else {
                throw individual.unsupported("only true is supported")
            }
            return ([.split(try built { try Pattern(#"\p{N}"#) })], false)
        case "ByteLevel":
            try allow("add_prefix_space", "trim_offsets", "use_regex")
            var steps: [PreTokenizer] = []
            if try member("add_prefix_space").bool(default: true) { steps.append(.prefixSpace) }
            if try member("use_regex").bool(default: true) {
                steps.append(.split(try built { try Pattern(Self.byteLevelPattern) }))
            }
            return (steps, true)
        case "Metaspace":
            let (mark, scheme) = try metaspace()
            let split = try member("split").bool(default: true)
            return ([.metaspace(replacement: mark, scheme: scheme, split: split)], false)
        default: throw unsupportedType(type)
        }
    }

    private func metaspace() throws -> (mark: [UInt8], scheme: PreTokenizer.PrependScheme) {
        try allow("replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep")
        var scheme = PreTokenizer.PrependScheme.always
        let name = try member("prepend_scheme")
        if !name.isNull {
            guard let known = PreTokenizer.PrependScheme(rawValue: try name.string()) else {
                throw name.unsupported("expected \"first\", \"never\" or \"always\"")
            }
            scheme = known
        }
        // The form of older files.
        let prefix = try member("add_prefix_space")
        if try !prefix.bool(default: true) {
            guard name.isNull || scheme == .never else {
                throw prefix.malformed("does not agree with prepend_scheme")
            }
            scheme = .never
        }
        return (Array(try member("replacement").character().utf8), scheme)
    }

    // MARK: Post-processor

    /// Returns the special tokens before and after a text.
    func postProcessor() throws -> (prefix: [Int32], suffix: [Int32]) {
        if isNull { return ([], []) }
        let type = try type()
        switch type {
        case "ByteLevel":
            // It only trims offsets, which are not used here.
            try allow("add_prefix_space", "trim_offsets", "use_regex")
            return ([], [])
        case "Sequence":
            try allow("processors")
            return try member("processors").elements().reduce(into: ([], [])) { all, element in
                let next = try element.postProcessor()
                all = (next.prefix + all.0, all.1 + next.suffix)
                try checkSpecials(all.0.count + all.1.count)
            }
        case "TemplateProcessing":
            try allow("single", "pair", "special_tokens")
            return try template()
        default: throw unsupportedType(type)
        }
    }

    private func checkSpecials(_ count: Int) throws {
        guard count <= Self.specialLimit else {
            throw unsupported("it puts more than \(Self.specialLimit) special tokens around a text")
        }
    }

    private func template() throws -> (prefix: [Int32], suffix: [Int32]) {
        var prefix: [Int32] = []
        var suffix: [Int32] = []
        var sequences = 0
        for piece in try member("single").elements() {
            let kind = try piece.names()
            if kind == ["Sequence"] {
                sequences += 1
            } else if kind == ["SpecialToken"] {
                let token = try piece.member("SpecialToken").member("id").string()
                let ids = try member("special_tokens").member(token).member("ids").elements()
                    .map { Int32(try $0.integer(in: 0...Int(Int32.max))) }
                if sequences == 0 { prefix += ids } else { suffix += ids }
                try checkSpecials(prefix.count + suffix.count)
            } else {
                throw piece.malformed("expected {\"Sequence\": ...} or {\"SpecialToken\": ...}")
            }
        }
        guard sequences == 1 else {
            throw unsupported("\"single\" must name the sequence once")
        }
        return (prefix, suffix)
    }

    // MARK: Decoder

    func decoder() throws -> [DecoderStep] {
        if isNull { throw unsupported("null is not supported: it would put a space between all tokens") }
        let steps = try decoderSteps()
        var isFused = false
        for step in steps {
            switch step {
            case .fuse: isFused = true
            case .byteLevel where !isFused: isFused = true
            case .strip where isFused: break
            case .replace where !isFused, .byteFallback where !isFused, .metaspace where !isFused: break
            default: throw unsupported("Strip must follow Fuse or ByteLevel, and only Strip and Fuse may")
            }
        }
        return steps
    }

    private func decoderSteps() throws -> [DecoderStep] {
        let type = try type()
        switch type {
        case "Sequence":
            try allow("decoders")
            return try member("decoders").elements().flatMap { try $0.decoderSteps() }
        case "Replace":
            let (literal, content) = try replacement()
            return [.replace(literal, with: content)]
        case "ByteFallback":
            try allow()
            return [.byteFallback]
        case "Fuse":
            try allow()
            return [.fuse]
        case "Strip":
            try allow("content", "start", "stop")
            return [
                .strip(
                    Array(try member("content").character().utf8),
                    start: try member("start").integer(in: 0...Self.stripLimit),
                    stop: try member("stop").integer(in: 0...Self.stripLimit))
            ]
        case "ByteLevel":
            try allow("add_prefix_space", "trim_offsets", "use_regex")
            return [.byteLevel]
        case "Metaspace":
            let (mark, scheme) = try metaspace()
            return [.metaspace(mark, dropsFirst: scheme != .never)]
        default: throw unsupportedType(type)
        }
    }
}
