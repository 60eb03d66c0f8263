/// The merges of a byte-pair encoding that does what SentencePiece does with a vocabulary and its scores.
///
/// SentencePiece joins the two neighbours whose piece has the highest score. So each way to cut a piece into two
/// others is a merge, and merges stand in the order of their pieces' scores. (Hugging Face's converter does the
/// same; within a piece its order is that of the parts' ids.)
enum SentencePieceMerges {
    /// - Parameters:
    ///   - tokens: by id.
    ///   - scores: by id; those of the same score stay in the order of their ids.
    ///   - isPiece: whether text is made of it: not so the control tokens and those of single bytes.
    static func merges(tokens: [String], scores: [Float], isPiece: (Int) -> Bool) -> [String] {
        // Keys are bytes: strings that are only canonically equivalent are different tokens.
        var ids: [ArraySlice<UInt8>: Int] = [:]
        for id in tokens.indices where isPiece(id) { ids[Array(tokens[id].utf8)[...]] = id }
        let order = tokens.indices.filter(isPiece).sorted { (scores[$1], $0) < (scores[$0], $1) }
        return order.flatMap { id in
            let bytes = Array(tokens[id].utf8)
            return cuts(of: bytes).compactMap { cut -> (left: Int, right: Int)? in
                guard let left = ids[bytes[..<cut]], let right = ids[bytes[cut...]] else { return nil }
                return (left, right)
            }
            .sorted { $0 < $1 }
            .map { "\(tokens[$0.left]) \(tokens[$0.right])" }
        }
    }

    /// Between characters.
    private static func cuts(of bytes: [UInt8]) -> [Int] {
        bytes.indices.dropFirst().filter { bytes[$0] & 0xC0 != 0x80 }
    }
}
