import BatchEngine

@testable import PhiModel

extension ModelEngine {
    /// Logits [vocabularySize] after the last of `tokens`, computed from nothing.
    /// - Throws: as `admit`.
    func logits(_ tokens: [Int32]) throws -> [Float] {
        var row: [Float] = []
        try scored(tokens, logitRows: 1) { piece in
            row = Array(UnsafeBufferPointer(start: piece.logits, count: piece.count))
        }
        return row
    }
}
