import Foundations

/// The ids with a role of their own, from a GGUF file's metadata.
struct GGUFSpecialTokens {
    let beginOfSequence: Int?
    let unknown: Int?
    let padding: Int?
    /// Ends a text and, where the file says so, a turn.
    let endOfSequence: [Int]

    init(_ metadata: GGUFMetadata, vocabularySize: Int) throws {
        func id(_ name: String) throws -> Int? {
            try metadata.optionalInteger("tokenizer.ggml.\(name)_token_id", 0...vocabularySize - 1)
        }
        beginOfSequence = try id("bos")
        unknown = try id("unknown")
        padding = try id("padding")
        let (text, turn) = (try id("eos"), try id("eot"))
        endOfSequence = [text, turn == text ? nil : turn].compactMap { $0 }
    }

    var all: [Int] { endOfSequence + [beginOfSequence, unknown, padding].compactMap { $0 } }
}

/// The tokenizer in a GGUF file, as the files that Hugging Face's tokenizers and transformers read.
struct GGUFTokenizer {
    /// `tokenizer.ggml.token_type`.
    private enum TokenType: Int {
        case normal = 1
        case unknown, control, userDefined, unused, byte
    }

    private static let maximumTokens = 1 << 24
    private static let maximumMerges = 1 << 25

    private let tokens: [String]
    private let types: [TokenType]
    private let merges: [String]
    private let preTokenizer: JSONValue
    private let chatTemplate: String?
    private let special: GGUFSpecialTokens
    private let contextLength: Int

    /// - Throws: `ModelError`: `malformed`, or `unsupported` for a tokenizer that can't be put into
    ///   tokenizer.json with certainty.
    init(
        _ metadata: GGUFMetadata, special: GGUFSpecialTokens, vocabularySize: Int, contextLength: Int
    ) throws {
        func key(_ name: String) -> String { "tokenizer.ggml." + name }
        guard let model = try metadata.optionalString(key("model")) else {
            throw metadata.fault(.malformed, key("model"), "is missing")
        }
        guard model == "gpt2" else {
            throw metadata.fault(
                .unsupported, key("model"),
                "is \"\(model)\"; only byte-level BPE (\"gpt2\") can be converted. "
                    + "Give the folder of the original model's tokenizer instead")
        }
        preTokenizer = try Self.preTokenizer(metadata, key("pre"))
        for flag in ["add_bos_token", "add_eos_token", "add_space_prefix"]
        where try metadata.optionalBool(key(flag)) == true {
            throw metadata.fault(.unsupported, key(flag), "is true; only false can be converted")
        }
        tokens = try metadata.strings(key("tokens"), maximumCount: Self.maximumTokens)
        guard !tokens.isEmpty, tokens.count <= vocabularySize else {
            throw metadata.fault(
                .malformed, key("tokens"),
                "has \(tokens.count) entries; the embedding has \(vocabularySize) rows")
        }
        types = try metadata.integers(key("token_type"), count: tokens.count).enumerated().map { id, number in
            guard let type = TokenType(rawValue: number), type != .unknown, type != .byte else {
                throw metadata.fault(
                    .unsupported, key("token_type"),
                    "has type \(number) at \(id); 1, 3, 4 and 5 can be converted")
            }
            return type
        }
        merges = try metadata.strings(key("merges"), maximumCount: Self.maximumMerges)
        try Self.check(tokens, types, merges, metadata)
        chatTemplate = try metadata.optionalString("tokenizer.chat_template")
        for id in special.all where id >= tokens.count {
            throw metadata.fault(
                .malformed, key("tokens"), "has \(tokens.count) entries, but \(id) is a special token")
        }
        self.special = special
        self.contextLength = contextLength
    }

    /// Only those whose tokenizer.json is known for certain.
    private static func preTokenizer(_ metadata: GGUFMetadata, _ key: String) throws -> JSONValue {
        let byteLevel = JSONValue.object(
            JSONObject([
                ("type", .string("ByteLevel")), ("add_prefix_space", .bool(false)),
                ("trim_offsets", .bool(true)),
                ("use_regex", .bool(true)),
            ]))
        switch try metadata.optionalString(key) {
        case "gpt-2": return byteLevel
        case "smollm":
            let digits = JSONValue.object(
                JSONObject([("type", .string("Digits")), ("individual_digits", .bool(true))]))
            return .object(
                JSONObject([("type", .string("Sequence")), ("pretokenizers", .array([digits, byteLevel]))]))
        case let other:
            throw metadata.fault(
                .unsupported, key,
                "is \(other.map { "\"\($0)\"" } ?? "missing"); \"gpt-2\" and \"smollm\" can be converted. "
                    + "Give the folder of the original model's tokenizer instead")
        }
    }

    private static func check(
        _ tokens: [String], _ types: [TokenType], _ merges: [String], _ metadata: GGUFMetadata
    ) throws {
        // Keys are bytes: strings that are only canonically equivalent are different tokens.
        var known: Set<ArraySlice<UInt8>> = []
        for (id, token) in tokens.enumerated() where types[id] != .unused {
            guard known.insert(Array(token.utf8)[...]).inserted else {
                throw metadata.fault(.malformed, "tokenizer.ggml.tokens", "has \"\(token)\" twice")
            }
        }
        for (rank, merge) in merges.enumerated() {
            let parts = Array(merge.utf8).split(separator: 0x20, omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ known.contains($0) }),
                known.contains(parts[0] + parts[1])
            else {
                throw metadata.fault(
                    .malformed, "tokenizer.ggml.merges",
                    "has at \(rank) \"\(merge)\", which is not two tokens that make a third")
            }
        }
    }

    private var added: [(id: Int, isSpecial: Bool)] {
        types.enumerated().compactMap { id, type in
            switch type {
            case .control: (id, true)
            case .userDefined: (id, false)
            case .normal, .unused, .unknown, .byte: nil
            }
        }
    }

    private func addedToken(_ id: Int, isSpecial: Bool, withID: Bool) -> JSONValue {
        let members: [(String, JSONValue)] = [
            ("content", .string(tokens[id])), ("single_word", .bool(false)), ("lstrip", .bool(false)),
            ("rstrip", .bool(false)), ("normalized", .bool(false)), ("special", .bool(isSpecial)),
        ]
        return .object(JSONObject((withID ? [("id", .int(id))] : []) + members))
    }

    /// tokenizer.json
    var tokenizer: JSONValue {
        let vocabulary = tokens.indices.filter { types[$0] != .unused }.map {
            (tokens[$0], JSONValue.int($0))
        }
        return .object(
            JSONObject([
                ("version", .string("1.0")), ("truncation", .null), ("padding", .null),
                (
                    "added_tokens",
                    .array(added.map { addedToken($0.id, isSpecial: $0.isSpecial, withID: true) })
                ),
                ("normalizer", .null), ("pre_tokenizer", preTokenizer), ("post_processor", .null),
                (
                    "decoder",
                    .object(
                        JSONObject([
                            ("type", .string("ByteLevel")), ("add_prefix_space", .bool(true)),
                            ("trim_offsets", .bool(true)), ("use_regex", .bool(true)),
                        ]))
                ),
                (
                    "model",
                    .object(
                        JSONObject([
                            ("type", .string("BPE")), ("dropout", .null), ("unk_token", .null),
                            ("continuing_subword_prefix", .null), ("end_of_word_suffix", .null),
                            ("fuse_unk", .bool(false)), ("byte_fallback", .bool(false)),
                            ("ignore_merges", .bool(false)),
                            ("vocab", .object(JSONObject(vocabulary))),
                            ("merges", .array(merges.map { .string($0) })),
                        ]))
                ),
            ]))
    }

    private var specialTokens: [(String, JSONValue)] {
        let named = [
            ("bos_token", special.beginOfSequence), ("eos_token", special.endOfSequence.first),
            ("pad_token", special.padding), ("unk_token", special.unknown),
        ]
        return named.compactMap { name, id in id.map { (name, .string(tokens[$0])) } }
    }

    /// special_tokens_map.json
    var specialTokensMap: JSONValue { .object(JSONObject(specialTokens)) }

    /// tokenizer_config.json
    var configuration: JSONValue {
        let decoder = added.map { (String($0.id), addedToken($0.id, isSpecial: $0.isSpecial, withID: false)) }
        var members: [(String, JSONValue)] = [
            ("add_prefix_space", .bool(false)), ("added_tokens_decoder", .object(JSONObject(decoder))),
        ]
        members += specialTokens
        if let chatTemplate { members.append(("chat_template", .string(chatTemplate))) }
        members += [
            ("clean_up_tokenization_spaces", .bool(false)), ("model_max_length", .int(contextLength)),
            ("tokenizer_class", .string("GPT2Tokenizer")),
        ]
        return .object(JSONObject(members))
    }
}
