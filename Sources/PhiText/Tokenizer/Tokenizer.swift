import FoundationShim
import JSON
import OperatingSystem
import Regex

/// Tokenizer of a Hugging Face `tokenizer.json` with a BPE model.
///
/// It gives exactly the results of Hugging Face's `tokenizers`, or refuses the file at loading: unsupported parts are
/// never skipped. Time is linear in the text (except for a logarithm in a very long piece), for any text and file.
///
/// All methods may be called from any thread.
package final class Tokenizer: Sendable {
    private let model: BPEModel
    private let normalizers: [Normalizer]
    private let preTokenizers: [PreTokenizer]
    private let prefix: [Int32]
    private let suffix: [Int32]
    private let decoderSteps: [DecoderStep]
    private let addedTokens: [Int32: AddedToken]
    /// By bytes: as strings, canonically equivalent texts would be equal.
    private let addedIDs: [[UInt8]: Int32]
    /// Matchers of tokens in the raw and in the normalized text.
    private let plainMatcher: AddedTokenMatcher
    private let normalizedMatcher: AddedTokenMatcher
    private let reach: TokenReach
    /// For each of `preTokenizers`, whether its result has at least as many tokens as pieces.
    private let keepsPieces: [Bool]
    private let pool = Mutex<[EncodeScratch]>([])

    /// Texts that are control tokens when a template has written them.
    package let controlTokens: ControlTokens

    /// One more than the highest token id; ids in between may be unused.
    package let vocabularySize: Int

    /// Reads a `tokenizer.json`.
    /// - Throws: `UserError`: `missing` if it can't be read, `malformed` if it breaks its format, `unsupported`,
    ///   with the key, for an unsupported part.
    package init(path: String) throws {
        let parts = try TokenizerFile(path: path)
        model = BPEModel(
            vocabulary: parts.vocabulary, merges: parts.merges, isByteLevel: parts.isByteLevel,
            ignoresMerges: parts.ignoresMerges)
        normalizers = parts.normalizers
        preTokenizers = parts.preTokenizers
        prefix = parts.prefix
        suffix = parts.suffix
        decoderSteps = parts.decoder
        addedTokens = Dictionary(uniqueKeysWithValues: parts.addedTokens.map { ($0.id, $0) })
        controlTokens = ControlTokens(parts.addedTokens)
        addedIDs = Dictionary(
            uniqueKeysWithValues: parts.addedTokens.map { (Array($0.content.utf8), $0.id) })
        vocabularySize = max(
            parts.vocabulary.idLimit, (parts.addedTokens.map { Int($0.id) }.max() ?? -1) + 1)
        let plain = parts.addedTokens.filter { !$0.normalized }
        plainMatcher = AddedTokenMatcher(plain, texts: plain.map { Array($0.content.utf8) })
        // A token that normalizes to nothing can't be found.
        let normalized = parts.addedTokens.filter(\.normalized)
            .map { ($0, Self.normalize($0.content, parts.normalizers)) }
            .filter { !$0.1.isEmpty }
        normalizedMatcher = AddedTokenMatcher(normalized.map(\.0), texts: normalized.map(\.1))
        reach = TokenReach(
            model, normalizers: normalizers, preTokenizers: preTokenizers, added: parts.addedTokens,
            addedLength: (plain.map(\.content.utf8.count) + normalized.map(\.1.count)).max() ?? 0)
        let (isComplete, steps) = (model.isComplete, preTokenizers)
        keepsPieces = steps.indices.map { place in
            isComplete && !steps[(place + 1)...].contains(where: \.removes)
        }
    }

    private static func normalize(_ text: String, _ steps: [Normalizer]) -> [UInt8] {
        let buffers = TextBuffers()
        var text = text
        text.withUTF8 { buffers.set($0) }
        for step in steps { step.apply(to: buffers) }
        return Array(buffers.current.all)
    }

    // MARK: Encoding

    /// Returns the ids of a text.
    /// - Parameters:
    ///   - addSpecialTokens: whether to add the special tokens of the file's post-processor.
    ///   - specialTokensAsText: whether the texts of special tokens, like `<|end|>`, stay text; by default they
    ///     become their tokens.
    package func encode(
        _ text: String, addSpecialTokens: Bool, specialTokensAsText: Bool = false
    ) -> [Int32] {
        // No text has so many tokens.
        encode(
            text, addSpecialTokens: addSpecialTokens, specialTokensAsText: specialTokensAsText, atMost: .max)
            ?? []
    }

    /// Returns the ids of a text that continues another: nothing is added before it, such as a leading space.
    /// - Parameter isControl: whether texts of control tokens become those; by default they stay text.
    package func encode(continuing text: String, isControl: Bool = false) -> [Int32] {
        encode(
            text, addSpecialTokens: false, specialTokensAsText: !isControl, isContinuation: true, atMost: .max
        )
            ?? []
    }

    /// Returns the ids of a text; nil if there are more than `limit`. A text that is far too long costs next to nothing.
    /// - Parameters:
    ///   - shield: escaper of control tokens in the text.
    ///   - isContinuation: as in `encode(continuing:)`.
    package func encode(
        _ text: String, addSpecialTokens: Bool, specialTokensAsText: Bool = false,
        shield: ControlTokenEscaper? = nil,
        isContinuation: Bool = false, atMost limit: Int
    ) -> [Int32]? {
        var output = addSpecialTokens ? prefix : []
        var text = text
        let isTooLong = text.withUTF8 { bytes in
            if shield == nil, bytes.count > limit, reach.exceeds(limit, bytes) { return true }
            return pool.lend(most: 64, orMake: EncodeScratch.init) { scratch in
                scratch.begin(limit: limit, shield: shield, isContinuation: isContinuation)
                let sections = plainMatcher.sections(
                    of: bytes, specialAsText: specialTokensAsText,
                    controlAsText: isContinuation && specialTokensAsText)
                for section in sections {
                    if let token = section.token {
                        output.append(token)
                    } else {
                        scratch.text.set(UnsafeBufferPointer(rebasing: bytes[section.start..<section.end]))
                        encodeSection(
                            isStart: section.start == 0, specialTokensAsText, scratch, &output)
                    }
                    if output.count > limit { return true }
                }
                return false
            }
        }
        if addSpecialTokens { output += suffix }
        return isTooLong || output.count > limit ? nil : output
    }

    /// Encodes the text in `scratch.text`.
    private func encodeSection(
        isStart: Bool, _ specialTokensAsText: Bool, _ scratch: EncodeScratch, _ output: inout [Int32]
    ) {
        for step in normalizers where !(scratch.isContinuation && step.isPrefix) {
            step.apply(to: scratch.text)
        }
        let normalized = scratch.text.current.all
        let sections = normalizedMatcher.sections(
            of: normalized, specialAsText: specialTokensAsText,
            controlAsText: scratch.isContinuation && specialTokensAsText)
        if sections.count == 1, sections[0].token == nil {
            return encodePieces(isStart: isStart, scratch, &output)
        }
        let copy = Array(normalized)
        for section in sections {
            if let token = section.token {
                output.append(token)
            } else {
                copy[section.start..<section.end].withUnsafeBufferPointer { scratch.text.set($0) }
                encodePieces(isStart: isStart && section.start == 0, scratch, &output)
            }
            if output.count > scratch.limit { return }
        }
    }

    /// Ends early once there are certainly more than `scratch.limit` tokens.
    private func encodePieces(isStart: Bool, _ scratch: EncodeScratch, _ output: inout [Int32]) {
        scratch.shield?.uncover(scratch.text)
        let left = scratch.limit - output.count
        scratch.pieces.set(PieceList.Piece(start: 0, end: scratch.text.current.count))
        for (step, keepsPieces) in zip(preTokenizers, keepsPieces) {
            guard let step = scratch.isContinuation ? step.withoutPrefix : step else { continue }
            step.apply(to: scratch, isTextStart: isStart, limit: keepsPieces ? left : .max)
        }
        let text = UnsafePointer(scratch.text.current.base)
        for piece in scratch.pieces.pieces {
            model.encode(text, piece.start, piece.end, scratch, into: &output)
            if output.count > scratch.limit { return }
        }
    }

    // MARK: Decoding

    /// Returns the text of ids as one whole, stripped at its start. Ids without tokens are skipped; invalid UTF-8
    /// becomes U+FFFD.
    package func decode(_ ids: [Int32], skipSpecialTokens: Bool) -> String {
        var stream = TokenTextStream(self, decoderSteps, showing: skipSpecialTokens ? [] : nil)
        for id in ids { stream.feed(id) }
        return stream.finish()
    }

    /// Returns a stream that decodes the ids of one completion; see `TokenTextStream`.
    /// - Parameter tokens: special tokens to show as text.
    package func makeTextStream(showing tokens: Set<Int32> = []) -> TokenTextStream {
        TokenTextStream(self, decoderSteps, showing: tokens)
    }

    // MARK: Single tokens

    /// Returns the id of a token by its text in the file (like `▁the`, `Ġthe` or `<|end|>`).
    package func id(of token: String) -> Int32? {
        addedIDs[Array(token.utf8)] ?? model.vocabulary.id(of: token.utf8)
    }

    /// Whether the file marks this token as special, such as `<|end|>`, so that it is no part of a text.
    package func isSpecial(_ id: Int32) -> Bool { addedTokens[id]?.special ?? false }

    /// Whether this token is text, not a control token or an unused id.
    func isText(_ id: Int32) -> Bool {
        if let added = addedTokens[id] { return !ControlTokens.isControl(added) }
        return model.vocabulary.text(of: id) != nil
    }

    /// Whether decoding drops a leading space of a text. Nil if decoding is more than concatenating the tokens' bytes.
    var dropsFirstSpace: Bool? {
        var drops = false
        for step in decoderSteps {
            switch step {
            case .strip(let content, let start, let stop):
                guard content == [0x20], start <= 1, stop == 0, !(drops && start == 1) else { return nil }
                drops = drops || start == 1
            case .metaspace(_, let dropsFirst): drops = drops || dropsFirst
            case .replace, .byteFallback, .fuse, .byteLevel: break
            }
        }
        return drops
    }

    /// Returns the bytes of this token within a text, perhaps part of a character. Empty for an unused id.
    package func bytes(of id: Int32) -> [UInt8] {
        content(of: id).map { TokenTextStream.bytes(of: $0, decoderSteps) } ?? []
    }

    /// Returns the text of this token within a text, with U+FFFD for partial characters.
    package func text(of id: Int32) -> String {
        var repair = UTF8Repair()
        var output: [UInt8] = []
        repair.feed(bytes(of: id), into: &output)
        repair.finish(into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns a token's text in the file.
    func content(of id: Int32) -> ArraySlice<UInt8>? {
        if let added = addedTokens[id] { return Array(added.content.utf8)[...] }
        return model.vocabulary.text(of: id)
    }
}
