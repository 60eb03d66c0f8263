import Foundation

@testable import PhiModel
@testable import PhiText

/// Real tokenizers and golden vectors: Phi-3.5's, which lie packed beside the tests, or all of those in the
/// folder that the environment names.
enum ModelFixtures {
    static let shared: URL? = ProcessInfo.processInfo.environment["PHIBATCH_SHARED"].map {
        URL(fileURLWithPath: $0).appendingPathComponent("fixtures")
    }
    static let hasAll = shared != nil
    static let models = hasAll ? ["phi-3.5-mini", "phi-4-mini", "phi-4", "smollm2"] : ["phi-3.5-mini"]

    struct Unusable: Error {
        let message: String
    }

    private static let unpacked = Result { try unpack() }

    static func folder() throws -> URL { try shared ?? unpacked.get() }

    /// Into a folder that the system clears: it is used until the process ends.
    private static func unpack() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "phibatch-fixtures-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let archive = TestFolder.fixture("phi-3.5-mini.tar.gz")
        let tar = Process()
        tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        tar.arguments = ["tar", "-xzf", archive.path, "-C", folder.path]
        try tar.run()
        tar.waitUntilExit()
        guard tar.terminationStatus == 0 else { throw Unusable(message: "tar can't unpack \(archive.path)") }
        try completeTokenizer(in: folder.appendingPathComponent("phi-3.5-mini"))
        return folder
    }

    /// Puts the vocabulary and its merges into tokenizer.json, which in the archive lacks them: each split of a piece into
    /// two pieces is a merge, in the order of the pieces, and those of runs of spaces come last.
    private static func completeTokenizer(in folder: URL) throws {
        let text = try Data(contentsOf: folder.appendingPathComponent("pieces.txt"))
        let pieces = text.split(separator: 0x0A).map { Array($0) }
        let ids = Dictionary(uniqueKeysWithValues: zip(pieces, pieces.indices))
        func quoted(_ bytes: [UInt8]) -> [UInt8] {
            bytes.flatMap { byte -> [UInt8] in
                switch byte {
                case 0x22, 0x5C: [0x5C, byte]
                case 0x0D: Array("\\r".utf8)
                default: [byte]
                }
            }
        }
        var (vocabulary, merges, runs) = ([UInt8](), [UInt8](), [UInt8]())
        for (id, piece) in pieces.enumerated() {
            vocabulary += "\(id == 0 ? "" : ",")\"".utf8 + quoted(piece) + "\":\(id)".utf8
            let isRun = piece.elementsEqual(String(repeating: "\u{2581}", count: piece.count / 3).utf8)
            let parts = piece.indices.dropFirst().map { (Array(piece[..<$0]), Array(piece[$0...])) }
            let splits = parts.compactMap { left, right in
                ids[left].flatMap { first in ids[right].map { (first, $0, left, right) } }
            }
            for (_, _, left, right) in splits.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
                let merge = ",\"".utf8 + quoted(left) + " ".utf8 + quoted(right) + "\"".utf8
                if isRun { runs += merge } else { merges += merge }
            }
        }
        let file = folder.appendingPathComponent("tokenizer.json")
        let whole = try String(contentsOf: file, encoding: .utf8)
            .replacing("\"VOCABULARY\"", with: "{" + String(decoding: vocabulary, as: UTF8.self) + "}")
            .replacing(
                "\"MERGES\"", with: "[" + String(decoding: (merges + runs).dropFirst(), as: UTF8.self) + "]")
        try Data(whole.utf8).write(to: file)
    }

    static func tokenizer(_ model: String) throws -> Tokenizer {
        try Tokenizer(path: folder().appending(path: "\(model)/tokenizer.json").path)
    }

    static func golden(_ model: String) throws -> [GoldenLine] {
        let file = try folder().appendingPathComponent("golden/public/\(model).tokenizer.jsonl")
        let decoder = JSONDecoder()
        return try Data(contentsOf: file).split(separator: 0x0A).map {
            try decoder.decode(GoldenLine.self, from: Data($0))
        }
    }
}

struct GoldenLine: Decodable {
    var category: String
    var text: String
    var ids: [Int32]
    var idsWithSpecial: [Int32]
    var decoded: String
    var decodedSkipping: String

    enum CodingKeys: String, CodingKey {
        case category, text, decoded
        case ids = "ids_no_special"
        case idsWithSpecial = "ids_with_special"
        case decodedSkipping = "decoded_skip_special"
    }
}

/// Compares by bytes: `==` takes canonically equivalent strings as equal.
func sameBytes(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

/// Writes `json` as a tokenizer.json of its own and loads it.
func makeTokenizer(_ json: String) throws -> Tokenizer {
    try withTokenizerFile(Data(json.utf8)) { try Tokenizer(path: $0.path) }
}

func withTokenizerFile<Result>(_ data: Data, _ body: (URL) throws -> Result) throws -> Result {
    try withTemporaryFolder { folder in
        let file = folder.appendingPathComponent("tokenizer.json")
        try data.write(to: file)
        return try body(file)
    }
}

/// A string as a JSON literal.
func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": result += "\\\(scalar)"
        case "\u{0}"..."\u{1F}":
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}

/// A byte-level tokenizer's JSON: all 256 bytes as ids 0 to 255, then `merges` and what they make.
func byteLevelJSON(
    merges: [(String, String)] = [], preTokenizer: String? = nil, extra: String = "",
    addedTokens: String = "[]", normalizer: String = "null", pairs: Bool = false,
    missingBytes: Set<UInt8> = []
) -> String {
    var vocabulary: [(String, Int)] = []
    for byte in UInt8.min...UInt8.max where !missingBytes.contains(byte) {
        let name = String(decoding: ByteAlphabet.encode(byte), as: UTF8.self)
        vocabulary.append((name, Int(byte)))
    }
    var known: Set<String> = []
    for (a, b) in merges where known.insert(a + b).inserted {
        vocabulary.append((a + b, 255 + known.count))
    }
    let vocab = vocabulary.map { "\(quoted($0.0)):\($0.1)" }.joined(separator: ",")
    let list = merges.map { pairs ? "[\(quoted($0)),\(quoted($1))]" : quoted("\($0) \($1)") }
        .joined(separator: ",")
    let split =
        preTokenizer
        ?? #"{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true}"#
    return """
        {"version":"1.0","truncation":null,"padding":null,"added_tokens":\(addedTokens),
        "normalizer":\(normalizer),"pre_tokenizer":\(split),"post_processor":null,
        "decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true},
        "model":{"type":"BPE","vocab":{\(vocab)},"merges":[\(list)]\(extra)}}
        """
}

/// A SentencePiece-style tokenizer's JSON: `<unk>`, 256 byte tokens, `▁`, `characters`, then `merges`.
func sentencePieceJSON(
    characters: String, merges: [(String, String)] = [], addedTokens: String = "[]",
    preTokenizer: String = "null", decoder: String? = nil, postProcessor: String = "null"
) -> String {
    var tokens = ["<unk>"] + (UInt8.min...UInt8.max).map { ByteFallback.name($0) } + ["▁"]
    tokens += characters.unicodeScalars.map { String($0) }
    var known: Set<String> = []
    for (a, b) in merges where known.insert(a + b).inserted { tokens.append(a + b) }
    let vocab = tokens.enumerated().map { "\(quoted($0.element)):\($0.offset)" }.joined(separator: ",")
    let list = merges.map { quoted("\($0) \($1)") }.joined(separator: ",")
    let decoderJSON =
        decoder
            ?? #"""
            {"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},
            {"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]}
            """#
    return """
        {"version":"1.0","truncation":null,"padding":null,"added_tokens":\(addedTokens),
        "normalizer":{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},
        {"type":"Replace","pattern":{"String":" "},"content":"▁"}]},
        "pre_tokenizer":\(preTokenizer),"post_processor":\(postProcessor),"decoder":\(decoderJSON),
        "model":{"type":"BPE","dropout":null,"unk_token":"<unk>","continuing_subword_prefix":null,
        "end_of_word_suffix":null,"fuse_unk":true,"byte_fallback":true,
        "vocab":{\(vocab)},"merges":[\(list)]}}
        """
}
