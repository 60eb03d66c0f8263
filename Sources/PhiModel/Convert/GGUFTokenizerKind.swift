import JSON

/// Steps of a GGUF file's tokenizer around its vocabulary, as members of tokenizer.json.
///
/// Only kinds whose tokenizer.json is known for certain.
enum GGUFTokenizerKind: Equatable {
    /// Byte-level pairs, of text cut up as `pre` says.
    case byteLevel(PreTokenizer)
    /// SentencePiece's pairs of characters, with tokens for single bytes.
    case sentencePiece(addsSpacePrefix: Bool)

    /// `tokenizer.ggml.pre`, by the names that llama.cpp has for them.
    enum PreTokenizer: String, CaseIterable {
        case gpt2 = "gpt-2"
        /// The same; Phi-2 has it.
        case phi2 = "phi-2"
        /// SmolLM's.
        case smollm
        /// OpenAI's cl100k, which Phi-4 has.
        case dbrx
        /// The same cuts; a piece that is a token is that token. Llama 3 has it.
        case llama3 = "llama-bpe"
        /// Digits one by one, and text in the form NFC. Qwen2 and Qwen3 have it.
        case qwen2
        /// OpenAI's o200k, which Phi-4-mini has.
        case gpt4o = "gpt-4o"
    }

    init(_ metadata: ConfigReader, architecture: GGUFHyperparameters.Architecture) throws {
        let key = "tokenizer.ggml.model"
        switch try metadata.optionalString(key) {
        case "gpt2": self = .byteLevel(try Self.preTokenizer(metadata, architecture))
        case "llama":
            self = .sentencePiece(
                addsSpacePrefix: try metadata.optionalBool("tokenizer.ggml.add_space_prefix") ?? true)
        case nil: throw metadata.fault(.malformed, key, "is missing")
        case let other?:
            throw metadata.fault(
                .unsupported, key,
                "is \"\(other)\"; byte-level BPE (\"gpt2\") and SentencePiece (\"llama\") can be converted. "
                    + Self.instead)
        }
    }

    private static let instead =
        "Take the original's: \"phibatch convert FILE FOLDER --tokenizer ITS_FOLDER\""

    private static func preTokenizer(
        _ metadata: ConfigReader, _ architecture: GGUFHyperparameters.Architecture
    ) throws -> PreTokenizer {
        let key = "tokenizer.ggml.pre"
        let name = try metadata.optionalString(key)
        // Files of Phi-2 are older than the key.
        if architecture == .phi2, name == nil || name == "default" { return .phi2 }
        if let known = name.flatMap(PreTokenizer.init(rawValue:)) { return known }
        let all = PreTokenizer.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        throw metadata.fault(
            .unsupported, key,
            "is \(name.map { "\"\($0)\"" } ?? "missing"); of byte-level tokenizers \(all) can be converted. "
                + instead)
    }

    var isSentencePiece: Bool { if case .sentencePiece = self { true } else { false } }

    var normalizer: JSONValue {
        guard case .sentencePiece(let addsPrefix) = self else {
            return self == .byteLevel(.qwen2) ? ["type": "NFC"] : .null
        }
        let prepend: JSONValue = ["type": "Prepend", "prepend": "▁"]
        let replace: JSONValue = ["type": "Replace", "pattern": ["String": " "], "content": "▁"]
        return addsPrefix ? ["type": "Sequence", "normalizers": [prepend, replace]] : replace
    }

    var preTokenizer: JSONValue {
        switch self {
        case .sentencePiece: .null
        case .byteLevel(.gpt2), .byteLevel(.phi2): Self.byteLevel(cuts: true)
        case .byteLevel(.smollm):
            [
                "type": "Sequence",
                "pretokenizers": [
                    ["type": "Digits", "individual_digits": true], Self.byteLevel(cuts: true),
                ],
            ]
        case .byteLevel(.dbrx), .byteLevel(.llama3): Self.words(digits: #"\p{N}{1,3}"#)
        case .byteLevel(.qwen2): Self.words(digits: #"\p{N}"#)
        case .byteLevel(.gpt4o):
            Self.split(
                #"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"#
                    + #"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"#
                    + #"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"#
                    + #"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"#
                    + #"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"#)
        }
    }

    var decoder: JSONValue {
        guard case .sentencePiece(let addsPrefix) = self else {
            return ["type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true]
        }
        let replace: JSONValue = ["type": "Replace", "pattern": ["String": "▁"], "content": " "]
        var steps: [JSONValue] = [replace, ["type": "ByteFallback"], ["type": "Fuse"]]
        if addsPrefix { steps.append(["type": "Strip", "content": " ", "start": 1, "stop": 0]) }
        return ["type": "Sequence", "decoders": .array(steps)]
    }

    private static func byteLevel(cuts: Bool) -> JSONValue {
        [
            "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": .bool(cuts),
        ]
    }

    private static func words(digits: String) -> JSONValue {
        split(
            #"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"# + digits
                + #"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"#)
    }

    private static func split(_ pattern: String) -> JSONValue {
        let split: JSONValue = [
            "type": "Split", "pattern": ["Regex": .string(pattern)], "behavior": "Removed", "invert": true,
        ]
        return ["type": "Sequence", "pretokenizers": [split, byteLevel(cuts: false)]]
    }

    /// Whether white space beside a special token belongs to it. A GGUF file doesn't say; these are the ways of
    /// the Phi models with these tokenizers.
    func strips(_ token: String, isPhi3: Bool) -> (left: Bool, right: Bool) {
        guard isPhi3 else { return (false, false) }
        switch self {
        case .sentencePiece: return (false, !["<unk>", "<s>", "<|endoftext|>"].contains(token))
        case .byteLevel(.dbrx): return (true, true)
        case .byteLevel(.gpt4o): return (false, !["<|endoftext|>", "<|endofprompt|>"].contains(token))
        case .byteLevel: return (false, false)
        }
    }
}
