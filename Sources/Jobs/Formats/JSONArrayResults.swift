import Faults
import JSON

/// A JSON array of all results. Its elements are, byte for byte, what lines are of what the job shows of results
/// (`ResultDetail`), one a line.
///
///     [
///     {"id":"…",…},
///     {"id":"…",…}
///     ]
///
/// Without results it is `[]`. The comma of a result stands before it, as nobody knows which is the last.
package struct JSONArrayResults: ResultFormat {
    package let nameEnds = ["json"]

    private let elements: any ResultFormat
    package var inner: (any ResultFormat)? { elements }

    package init() { self.init(of: NativeResults()) }

    private init(of elements: any ResultFormat) { self.elements = elements }

    package var name: String { "json\(elements.name.dropFirst("jsonl".count))" }
    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { Self(of: detail.lines) }

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder {
        Encoder(elements: elements.makeEncoder(for: run))
    }

    private struct Encoder: ResultEncoder {
        var elements: any ResultEncoder
        private var isEmpty = true

        init(elements: any ResultEncoder) { self.elements = elements }

        mutating func begin(_ output: inout [UInt8]) { output.append(UInt8(ascii: "[")) }

        mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
            let (start, wasEmpty) = (output.count, isEmpty)
            separate(&output)
            let before = output.count
            elements.append(result, at: place, to: &output)
            if output.count == before {
                output.removeSubrange(start...)
                isEmpty = wasEmpty
                return
            }
            // Its line feed is the next one's.
            output.removeLast()
        }

        mutating func append(
            kept bytes: UnsafeRawBufferPointer, at place: ResultPlace, to output: inout [UInt8]
        ) {
            separate(&output)
            elements.append(kept: JSONArrayResults.element(in: bytes), at: place, to: &output)
            if output.last == 0x0A { output.removeLast() }
        }

        mutating func end(_ output: inout [UInt8]) {
            output += JSONArrayResults.end(isEmpty: isEmpty)
        }

        private mutating func separate(_ output: inout [UInt8]) {
            if !isEmpty { output.append(UInt8(ascii: ",")) }
            output.append(0x0A)
            isEmpty = false
        }
    }

    private static func end(isEmpty: Bool) -> [UInt8] { Array((isEmpty ? "]\n" : "\n]\n").utf8) }

    /// What is left of a piece without a comma and a line feed before it.
    private static func element(in piece: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let start = piece.prefix(2).elementsEqual([UInt8(ascii: ","), 0x0A]) ? 2 : 1
        return UnsafeRawBufferPointer(rebasing: piece.dropFirst(start))
    }

    /// A line of such an output without the comma at its end; nothing where it is none of a result.
    package static func element(ofLine line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        if line.last == UInt8(ascii: ",") { return UnsafeRawBufferPointer(rebasing: line.dropLast()) }
        let isAround = ["[", "]", "[]"].contains { line.elementsEqual($0.utf8) }
        return isAround ? UnsafeRawBufferPointer(rebasing: line[..<0]) : line
    }
}

/// An array, read again.
extension JSONArrayResults {
    package func content(of piece: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        Self.element(in: piece)
    }

    package func isSetApart(_ piece: UnsafeRawBufferPointer, isFirst: Bool) -> Bool {
        piece.starts(with: isFirst ? [0x0A] : [UInt8(ascii: ","), 0x0A])
    }

    package func fault(inEnd end: UnsafeRawBufferPointer, isEmpty: Bool) -> Message? {
        end.elementsEqual(Self.end(isEmpty: isEmpty)) ? nil : "should be a line feed and ], and is not"
    }
}
