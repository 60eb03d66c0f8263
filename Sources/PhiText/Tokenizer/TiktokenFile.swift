import FoundationShim
import JSON

/// cl100k_base.tiktoken, which Phi-3-small has instead of a tokenizer.json: a token a line, as base64 of its bytes,
/// with its rank, which is its id. The splitting pattern and the special tokens are in the model's published code.
struct TiktokenFile {
    static let name = "cl100k_base.tiktoken"

    private(set) var vocabulary = Vocabulary()
    /// All pairs of tokens that form a token, in the order of its rank.
    private(set) var merges: [(left: Int32, right: Int32, merged: Int32)] = []
    let preTokenizer: TokenizerConfigReader
    let decoder: TokenizerConfigReader

    /// Bytes of a token; cl100k's longest are 128 spaces.
    private static let longest = 256

    /// Splitting pattern of OpenAI's cl100k.
    private static let pattern =
        #"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"#
        + #"|\s*[\r\n]+|\s+(?!\S)|\s+"#

    /// Microsoft's tokens, all special; those that the model doesn't use are called dummies.
    static let addedTokens: [AddedToken] = {
        let names = [
            "dummy_id_2", "endoftext", "fim_prefix", "fim_middle", "fim_suffix", "system", "user",
            "assistant",
            "dummy_id_0", "dummy_id_1", "end",
        ]
        let dummies = (3...11).map { "dummy_id_\($0)" } + ["endofprompt"] + (12...86).map { "dummy_id_\($0)" }
        return (names + dummies).enumerated().map { place, name in
            AddedToken(id: Int32(100_256 + place), content: "<|\(name)|>", special: true)
        }
    }()

    /// - Throws: `UserError` of kind `malformed`, naming the line.
    init(_ data: Data, path: String) throws {
        let split: JSONValue = [
            "type": "Split", "pattern": ["Regex": .string(Self.pattern)], "behavior": "Removed",
            "invert": true,
        ]
        let bytes: JSONValue = ["type": "ByteLevel", "add_prefix_space": false, "use_regex": false]
        preTokenizer = TokenizerConfigReader(
            value: ["type": "Sequence", "pretokenizers": .array([split, bytes])], key: "pre_tokenizer",
            path: path)
        decoder = TokenizerConfigReader(value: ["type": "ByteLevel"], key: "decoder", path: path)
        var tokens: [[UInt8]] = []
        for (number, line) in data.split(separator: 0x0A).enumerated() {
            func fault(_ what: String) -> UserError {
                UserError(.malformed, at: path, "line \(number + 1) \(what).")
            }
            let parts = line.split(separator: 0x20)
            guard parts.count == 2, let token = Data(base64Encoded: Data(parts[0])), !token.isEmpty else {
                throw fault("is no token in base64 and its rank")
            }
            // The pairs of a token take the square of its length.
            guard token.count <= Self.longest else {
                throw fault("has a token of \(token.count) bytes; \(Self.longest) are possible")
            }
            guard String(decoding: parts[1], as: UTF8.self) == "\(number)", number < Self.addedTokens[0].id
            else {
                throw fault("has another rank than \(number), or one too much")
            }
            let text = token.flatMap(ByteAlphabet.encode)
            guard text.withUnsafeBufferPointer({ vocabulary.insert($0, id: number) }) else {
                throw fault("has a token that appears twice")
            }
            tokens.append(Array(token))
        }
        for (number, token) in tokens.enumerated() { addMerges(token, Int32(number)) }
    }

    private mutating func addMerges(_ token: [UInt8], _ merged: Int32) {
        for cut in token.indices.dropFirst() {
            guard let left = vocabulary.id(of: token[..<cut].flatMap(ByteAlphabet.encode)),
                let right = vocabulary.id(of: token[cut...].flatMap(ByteAlphabet.encode))
            else { continue }
            merges.append((left, right, merged))
        }
    }
}
