import Faults

/// The results of a finished output in its order, each with its bytes: those of failed lines come from a file of their
/// own where the job has one.
package final class ResultCursor {
    /// What there is of one result.
    package struct Piece {
        package var recorded: RecordedResult
        /// Its content; nil where the bytes stand with a later result of the line, or are missing.
        package var bytes: UnsafeRawBufferPointer?
        /// In the file of failed lines.
        var isApart = false
        /// What is wrong with where it ends.
        var fault: Message?
    }

    package let output: FinishedOutput
    private(set) var errors: ResultPieces?
    private let format: any ResultFormat
    private static let isNotApart: Message = "is not set apart from the others as it should be"

    /// - Parameter errors: the file of failed lines; nil where they are in the output.
    package init(_ output: FinishedOutput, errors: ResultPieces?) {
        (self.output, self.errors, format) = (output, errors, output.format)
    }

    /// - Parameters:
    ///   - number: of the result. Those of failed lines come in ascending order.
    ///   - isLast: it is the last of its line.
    package func with<R>(_ number: Int, isLast: Bool, _ body: (Piece) throws -> R) throws -> R {
        try output.with(number) { recorded, bytes in
            var piece = Piece(recorded: recorded)
            if bytes.isEmpty, recorded.isLeftOut(by: format) {
                piece.bytes = bytes
                return try body(piece)
            }
            guard format is PartOfResults, bytes.isEmpty else {
                piece.bytes = bytes
                guard format is any SelfRecordingFormat else {
                    if bytes.isEmpty {
                        piece.bytes = nil
                        if !format.isByLine || isLast { piece.fault = "has no bytes in the output" }
                    } else if let content = format.content(of: bytes) {
                        piece.bytes = content
                    } else {
                        piece.fault = Self.isNotApart
                    }
                    return try body(piece)
                }
                return try body(piece)
            }
            guard recorded.isFailed else {
                if !format.isByLine || isLast { piece.fault = "has no bytes in the output" }
                return try body(piece)
            }
            guard !format.isByLine || isLast, let errors else { return try body(piece) }
            piece.isApart = true
            let found = try errors.next { bytes, isApart in
                piece.bytes = bytes
                if !isApart { piece.fault = Self.isNotApart }
                return try body(piece)
            }
            if let found { return found }
            piece.fault = "is not in the file of failed lines"
            return try body(piece)
        }
    }
}
