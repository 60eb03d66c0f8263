import JSON

/// The ids with a role of their own, from a GGUF file's metadata.
struct GGUFSpecialTokens {
    let beginOfSequence: Int?
    let unknown: Int?
    let padding: Int?
    /// Ends a text and, where the file says so, a turn.
    let endOfSequence: [Int]

    init(_ metadata: ConfigReader, vocabularySize: Int) throws {
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

    private let kind: GGUFTokenizerKind
    private let tokens: [String]
    private let types: [TokenType]
    private let merges: [String]
    private let chatTemplate: String?
    private let special: GGUFSpecialTokens
    private let contextLength: Int
    private let isPhi3: Bool
    /// Whether text as it is begins with the beginning-of-sequence token.
    private let addsBeginOfSequence: Bool

    /// - Throws: `UserError`: `malformed`, or `unsupported` for a tokenizer that can't be put into
    ///   tokenizer.json with certainty.
    init(
        _ metadata: ConfigReader, special: GGUFSpecialTokens, vocabularySize: Int, contextLength: Int,
        architecture: GGUFHyperparameters.Architecture
    ) throws {
        func key(_ name: String) -> String { "tokenizer.ggml." + name }
        kind = try GGUFTokenizerKind(metadata, architecture: architecture)
        if try metadata.optionalBool(key("add_eos_token")) == true {
            throw metadata.fault(.unsupported, key("add_eos_token"), "is true; only false can be converted")
        }
        addsBeginOfSequence =
            try metadata.optionalBool(key("add_bos_token"))
            ?? (kind.isSentencePiece || kind == .byteLevel(.llama3))
        if addsBeginOfSequence, special.beginOfSequence == nil {
            throw metadata.fault(.malformed, key("bos_token_id"), "is missing, and add_bos_token is true")
        }
        if !kind.isSentencePiece, try metadata.optionalBool(key("add_space_prefix")) == true {
            throw metadata.fault(
                .unsupported, key("add_space_prefix"),
                "is true; for byte-level BPE only false can be converted")
        }
        tokens = try Self.strings(metadata, key("tokens"))
        guard !tokens.isEmpty, tokens.count <= vocabularySize else {
            throw metadata.fault(
                .malformed, key("tokens"),
                "has \(tokens.count) entries; the embedding has \(vocabularySize) rows")
        }
        let types = try Self.types(metadata, key("token_type"), count: tokens.count, kind)
        self.types = types
        switch kind {
        case .byteLevel:
            merges = try Self.strings(metadata, key("merges"))
        case .sentencePiece:
            let largest = Double(Float.greatestFiniteMagnitude)
            let scores = try metadata.numbers(key("scores"), count: tokens.count, -largest...largest)
                .map { Float($0) }
            merges = SentencePieceMerges.merges(tokens: tokens, scores: scores) { types[$0] == .normal }
        }
        try Self.check(tokens, types, merges, metadata)
        chatTemplate = try metadata.optionalString("tokenizer.chat_template")
        for id in special.all where id >= tokens.count {
            throw metadata.fault(
                .malformed, key("tokens"), "has \(tokens.count) entries, but \(id) is a special token")
        }
        self.special = special
        self.contextLength = contextLength
        isPhi3 = architecture == .phi3 || architecture == .phimoe
    }

    private static func strings(_ metadata: ConfigReader, _ key: String) throws -> [String] {
        guard let strings = try metadata.optionalStrings(key) else {
            throw metadata.fault(.malformed, key, "is missing")
        }
        return strings
    }

    private static func types(
        _ metadata: ConfigReader, _ key: String, count: Int, _ kind: GGUFTokenizerKind
    ) throws -> [TokenType] {
        try metadata.numbers(key, count: count, -1e9...1e9).enumerated().map { id, number in
            let known = Int(exactly: number).flatMap(TokenType.init)
            guard let type = known, kind.isSentencePiece || type != .unknown && type != .byte else {
                throw metadata.fault(
                    .unsupported, key,
                    "has type \(Int(number)) at \(id); \(kind.isSentencePiece ? "1 to 6" : "1, 3, 4 and 5") can be converted"
                )
            }
            return type
        }
    }

    private static func check(
        _ tokens: [String], _ types: [TokenType], _ merges: [String], _ metadata: ConfigReader
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
            case .control, .unknown: (id, true)
            case .userDefined: (id, false)
            case .normal, .unused, .byte: nil
            }
        }
    }

    private func addedToken(_ id: Int, isSpecial: Bool, withID: Bool) -> JSONValue {
        let strips = kind.strips(tokens[id], isPhi3: isPhi3)
        let members: [(String, JSONValue)] = [
            ("content", .string(tokens[id])), ("single_word", .bool(false)), ("lstrip", .bool(strips.left)),
            ("rstrip", .bool(strips.right)), ("normalized", .bool(false)), ("special", .bool(isSpecial)),
        ]
        return .object(JSONObject((withID ? [("id", .int(id))] : []) + members))
    }

    /// tokenizer.json
    var tokenizer: JSONValue {
        let vocabulary = tokens.indices.filter { types[$0] != .unused }.map {
            (tokens[$0], JSONValue.int($0))
        }
        let isPieces = kind.isSentencePiece
        let unknown = special.unknown ?? types.firstIndex(of: .unknown)
        let model: JSONValue = [
            "type": "BPE", "dropout": nil,
            "unk_token": isPieces ? unknown.map { .string(tokens[$0]) } ?? .null : .null,
            "continuing_subword_prefix": nil, "end_of_word_suffix": nil, "fuse_unk": .bool(isPieces),
            "byte_fallback": .bool(types.contains(.byte)),
            "ignore_merges": .bool(kind == .byteLevel(.llama3)),
            "vocab": .object(JSONObject(vocabulary)), "merges": .array(merges.map { .string($0) }),
        ]
        return [
            "version": "1.0", "truncation": nil, "padding": nil,
            "added_tokens": .array(added.map { addedToken($0.id, isSpecial: $0.isSpecial, withID: true) }),
            "normalizer": kind.normalizer, "pre_tokenizer": kind.preTokenizer,
            "post_processor": postProcessor, "decoder": kind.decoder, "model": model,
        ]
    }

    private var postProcessor: JSONValue {
        guard addsBeginOfSequence, let id = special.beginOfSequence else { return .null }
        let token: JSONValue = ["SpecialToken": ["id": .string(tokens[id]), "type_id": 0]]
        func sequence(_ name: String, _ type: Int) -> JSONValue {
            ["Sequence": ["id": .string(name), "type_id": .int(type)]]
        }
        let entry: JSONValue = [
            "id": .string(tokens[id]), "ids": [.int(id)], "tokens": [.string(tokens[id])],
        ]
        return [
            "type": "TemplateProcessing", "single": [token, sequence("A", 0)],
            "pair": [token, sequence("A", 0), token, sequence("B", 1)],
            "special_tokens": .object(JSONObject([(tokens[id], entry)])),
        ]
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
        if kind.isSentencePiece { members.insert(("add_bos_token", .bool(addsBeginOfSequence)), at: 0) }
        members += specialTokens
        if let chatTemplate { members.append(("chat_template", .string(chatTemplate))) }
        members += [
            ("clean_up_tokenization_spaces", .bool(false)), ("model_max_length", .int(contextLength)),
            ("tokenizer_class", .string(kind.isSentencePiece ? "LlamaTokenizer" : "GPT2Tokenizer")),
        ]
        return .object(JSONObject(members))
    }
}
