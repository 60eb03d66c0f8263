import FoundationShim
import JSON
import OperatingSystem

/// Parsed and checked parts of a tokenizer.json or a `TiktokenFile`.
struct TokenizerFile {
    /// Far above any real file (15 MB), and small enough for 32-bit offsets.
    private static let sizeLimit = 512 << 20
    /// Bytes of a part other than vocabulary and merges; such parts are trees of values.
    private static let partLimit = 8 << 20
    /// Keys of such parts in one object; there are at most nine.
    private static let keyLimit = 64
    /// Ranks have 24 bits.
    private static let mergeLimit = 1 << 24

    let path: String
    private(set) var vocabulary = Vocabulary()
    private(set) var merges: [(left: Int32, right: Int32, merged: Int32)] = []
    private(set) var isByteLevel = false
    private(set) var ignoresMerges = false
    private(set) var addedTokens: [AddedToken] = []
    private(set) var normalizers: [Normalizer] = []
    private(set) var preTokenizers: [PreTokenizer] = []
    private(set) var prefix: [Int32] = []
    private(set) var suffix: [Int32] = []
    private(set) var decoder: [DecoderStep] = []

    init(path: String) throws {
        self.path = path
        let file = try MappedFile(path: path)
        guard file.count <= Self.sizeLimit else {
            throw UserError(.unsupported, at: path, "larger than \(Self.sizeLimit >> 20) MB")
        }
        // The result takes less than that.
        try Memory.require(4 * file.count, for: path)
        // A copy, as the file may be truncated while it is read.
        let data = file.withBytes { Data($0) }
        guard Paths.name(of: path) != TiktokenFile.name else {
            let file = try TiktokenFile(data, path: path)
            (vocabulary, merges, addedTokens) = (file.vocabulary, file.merges, TiktokenFile.addedTokens)
            (preTokenizers, isByteLevel) = try file.preTokenizer.preTokenizers()
            decoder = try file.decoder.decoder()
            return
        }
        do {
            try data.withUnsafeBytes { bytes in
                try JSONScanner.scan(bytes, limits: .file) { try read(&$0) }
            }
        } catch let fault as JSONFault {
            throw malformed("\(fault)")
        }
    }

    private mutating func read(_ scanner: inout JSONScanner) throws {
        let (parts, large) = try Self.members(&scanner, large: ["model"])
        let end = scanner.position
        func part(_ name: String) -> TokenizerConfigReader {
            TokenizerConfigReader(value: parts[name] ?? .null, key: name, path: path)
        }
        let known = [
            "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
            "post_processor", "decoder",
        ]
        if let key = parts.names.sorted().first(where: { !known.contains($0) }) {
            throw UserError(.unsupported, at: path, "the key \(key.quotedStart) is not supported")
        }
        let version = part("version")
        if !version.isNull, version.value != .string("1.0") {
            throw version.unsupported("only version \"1.0\" is supported")
        }
        for name in ["truncation", "padding"] where !part(name).isNull {
            throw part(name).unsupported("only null is supported: texts are never cut or filled up here")
        }
        guard let model = large["model"] else { throw malformed("the key \"model\" is missing") }
        for name in ["normalizer", "pre_tokenizer", "decoder"] {
            try part(name).checkSize(limit: TokenizerConfigReader.stepValueLimit)
        }
        try part("post_processor").checkSize(limit: TokenizerConfigReader.templateValueLimit)
        (preTokenizers, isByteLevel) = try part("pre_tokenizer").preTokenizers()
        normalizers = try part("normalizer").normalizers()
        decoder = try part("decoder").decoder()
        try part("normalizer").checkGrowth(normalizers.map(\.growth))
        try part("decoder").checkGrowth(decoder.map(\.growth))
        (prefix, suffix) = try part("post_processor").postProcessor()
        scanner.seek(to: model.lowerBound)
        try readModel(&scanner)
        scanner.seek(to: end)
        try readAddedTokens(part("added_tokens"))
        for id in prefix + suffix where vocabulary.text(of: id) == nil {
            guard addedTokens.contains(where: { $0.id == id }) else {
                throw part("post_processor").malformed("there is no token \(id)")
            }
        }
    }

    /// Reads the members of an object. Of large ones it returns the places alone.
    private static func members(
        _ scanner: inout JSONScanner, large names: Set<String>
    ) throws -> (small: JSONObject, large: [String: Range<Int>]) {
        var (small, large) = (JSONObject(), [String: Range<Int>]())
        try scanner.object { scanner, key in
            let key = String(decoding: key, as: UTF8.self)
            guard small[key] == nil, large[key] == nil else {
                throw scanner.fault("the key \(key.quotedStart) appears twice")
            }
            let start = scanner.position
            try scanner.skip()
            if names.contains(key) {
                large[key] = start..<scanner.position
                return
            }
            guard small.count < keyLimit else { throw scanner.fault("more than \(keyLimit) keys") }
            guard scanner.position - start <= partLimit else {
                throw scanner.fault(
                    "the value of \(key.quotedStart) is larger than \(partLimit >> 20) MB", at: start)
            }
            scanner.seek(to: start)
            small[key] = try scanner.value()
        }
        return (small, large)
    }

    private func malformed(_ message: String) -> UserError {
        UserError(.malformed, at: path, message)
    }

    // MARK: Model

    private mutating func readModel(_ scanner: inout JSONScanner) throws {
        let (parts, large) = try Self.members(&scanner, large: ["vocab", "merges"])
        let model = TokenizerConfigReader(value: .object(parts), key: "model", path: path)
        let type = try model.member("type")
        guard type.isNull && large["merges"] != nil || type.value == .string("BPE") else {
            throw type.unsupported("only \"BPE\" is supported")
        }
        try model.allow(
            "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
            "byte_fallback", "ignore_merges")
        guard let tokens = large["vocab"], let pairs = large["merges"] else {
            throw model.malformed("\"vocab\" or \"merges\" is missing")
        }
        let dropout = try model.member("dropout")
        guard dropout.isNull || dropout.value.number == 0 else {
            throw dropout.unsupported("random dropout is not supported; null is")
        }
        for name in ["continuing_subword_prefix", "end_of_word_suffix"] {
            let affix = try model.member(name)
            guard affix.isNull || affix.value == .string("") else {
                throw affix.unsupported("only null or \"\" is supported")
            }
        }
        ignoresMerges = try model.member("ignore_merges").bool(default: false)
        scanner.seek(to: tokens.lowerBound)
        try readVocabulary(&scanner, byteCount: tokens.count)
        scanner.seek(to: pairs.lowerBound)
        try readMerges(&scanner)
        try checkBytes(model)
    }

    /// Refuses a vocabulary by which characters would become unknown tokens, or bytes' tokens would be merged.
    private func checkBytes(_ model: TokenizerConfigReader) throws {
        let hasFallback = try model.member("byte_fallback").bool(default: false)
        let tokens = Set(BPEModel.byteTokens(vocabulary, isByteLevel: isByteLevel))
        let isComplete = (isByteLevel || hasFallback) && !tokens.contains(-1)
        guard try isComplete || isByteLevel && !hasFallback && model.member("unk_token").isNull else {
            throw model.unsupported("only a vocabulary with a token for each byte is supported")
        }
        if !isByteLevel, merges.contains(where: { tokens.contains($0.left) || tokens.contains($0.right) }) {
            throw model.unsupported("a merge of a byte's token is not supported")
        }
    }

    private mutating func readVocabulary(_ scanner: inout JSONScanner, byteCount: Int) throws {
        // Memory grows with the highest id. Each token takes at least a byte of the file, so this allows gaps, but no
        // small file makes a large table.
        let idLimit = min(byteCount + 65536, Int(Int32.max))
        try scanner.object { scanner, text in
            let place = scanner.position
            let id = try scanner.integer()
            guard 0..<idLimit ~= id else {
                throw scanner.fault(
                    "the id \(id) is negative or far beyond the number of tokens", at: place)
            }
            guard vocabulary.insert(text, id: id) else {
                throw scanner.fault("this token or its id \(id) appears twice in the vocabulary", at: place)
            }
        }
    }

    /// Merges are `"a b"` or `["a", "b"]`; both parts and their concatenation are tokens.
    private mutating func readMerges(_ scanner: inout JSONScanner) throws {
        var pair: [UInt8] = []
        try scanner.array { scanner in
            let place = scanner.position
            pair.removeAll(keepingCapacity: true)
            var cut = 0
            if try scanner.peek() == .array {
                var count = 0
                try scanner.array {
                    pair += try $0.stringBytes()
                    count += 1
                    if count == 1 { cut = pair.count }
                }
                guard count == 2 else { throw scanner.fault("a merge must have two parts", at: place) }
            } else {
                let text = try scanner.stringBytes()
                if merges.isEmpty, text.starts(with: "#version".utf8) { return }
                pair += text
                guard let space = pair.firstIndex(of: 0x20), !pair[(space + 1)...].contains(0x20) else {
                    throw scanner.fault("a merge must be two tokens with one space between", at: place)
                }
                pair.remove(at: space)
                cut = space
            }
            let merge = pair.withUnsafeBufferPointer { pair -> (Int32, Int32, Int32)? in
                guard let left = vocabulary.id(of: UnsafeBufferPointer(rebasing: pair[..<cut])),
                    let right = vocabulary.id(of: UnsafeBufferPointer(rebasing: pair[cut...])),
                    let merged = vocabulary.id(of: pair)
                else { return nil }
                return (left, right, merged)
            }
            guard let merge else {
                let left = String(decoding: pair[..<cut], as: UTF8.self).quotedStart
                let right = String(decoding: pair[cut...], as: UTF8.self).quotedStart
                throw scanner.fault(
                    "the merge of \(left) and \(right): both and what they make must be in the vocabulary",
                    at: place)
            }
            guard cut > 0, cut < pair.count else {
                throw scanner.fault("a merge with an empty part", at: place)
            }
            guard merges.count < Self.mergeLimit else {
                throw scanner.fault("more than \(Self.mergeLimit) merges")
            }
            merges.append((merge.0, merge.1, merge.2))
        }
    }

    // MARK: Added tokens

    private mutating func readAddedTokens(_ list: TokenizerConfigReader) throws {
        guard !list.isNull else { return }
        let entries = try list.elements()
        let idLimit = vocabulary.idLimit + 65536 + entries.count
        var ids: Set<Int32> = []
        var contents: Set<[UInt8]> = []
        for entry in entries {
            try entry.allow("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special")
            let singleWord = try entry.member("single_word")
            if try singleWord.bool(default: false) { throw singleWord.unsupported("only false is supported") }
            let idReader = try entry.member("id")
            let special = try entry.member("special").bool(default: false)
            let token = AddedToken(
                id: Int32(try idReader.integer(in: 0...min(idLimit, Int(Int32.max)))),
                content: try entry.member("content").string(),
                lstrip: try entry.member("lstrip").bool(default: false),
                rstrip: try entry.member("rstrip").bool(default: false),
                normalized: try entry.member("normalized").bool(default: !special),
                special: special)
            guard !token.content.isEmpty else {
                throw entry.malformed("an added token must not be empty")
            }
            guard contents.insert(Array(token.content.utf8)).inserted, ids.insert(token.id).inserted else {
                throw entry.malformed("the added token \(token.content.quotedStart) or its id appears twice")
            }
            if let id = vocabulary.id(of: token.content.utf8), id != token.id {
                throw idReader.malformed(
                    "\(token.content.quotedStart) has the id \(id) in the vocabulary, not \(token.id)")
            }
            addedTokens.append(token)
        }
    }
}
