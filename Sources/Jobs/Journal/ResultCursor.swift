import Faults

/// The results of a finished output in its order, each with its bytes.
package final class ResultCursor {
    /// What there is of one result.
    package struct Piece {
        package var recorded: RecordedResult
        /// It alone; where those of a line make one piece, those before it too.
        var results: [RecordedResult]
        /// Content of the result; empty if the output leaves it out; nil if its bytes are missing, or belong to a later
        /// result of the line.
        package var bytes: UnsafeRawBufferPointer?
        /// What is wrong with where it ends.
        var fault: Message?
    }

    package let output: FinishedOutput
    private let format: any ResultFormat
    private var results: [RecordedResult] = []

    package init(_ output: FinishedOutput) { (self.output, format) = (output, output.format) }

    /// - Parameters:
    ///   - number: of the result.
    ///   - isLast: it is the last of its line.
    package func with<R>(_ number: Int, isLast: Bool, _ body: (Piece) throws -> R) throws -> R {
        try output.with(number) { recorded, bytes in
            if !format.isByLine || recorded.key.sample == 0 { results = [] }
            results.append(recorded)
            var piece = Piece(recorded: recorded, results: results)
            let isDue = !format.isByLine || isLast
            if !bytes.isEmpty {
                piece.bytes = format is NativeResults ? bytes : format.content(of: bytes)
                if piece.bytes == nil { piece.fault = "is not set apart from the others as it should be" }
            } else if recorded.isLeftOut(by: format) || isDue && recorded.isApart(in: format) {
                piece.bytes = bytes
            } else if isDue {
                piece.fault = "has no bytes in the output"
            }
            return try body(piece)
        }
    }
}
