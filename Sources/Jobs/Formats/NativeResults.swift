import Faults
import JSON

/// phibatch's own format: one JSON object a line, in UTF-8.
///
///     {"id":"…","index":N[,"sample":S],<members>,"line_hash":"…","run":"…","sum":"<crc64>"}
///
/// The members are those of `ResultCoding`. `line_hash` (the line's content) and `run` (the digest of the
/// fingerprint) make a finished output its own record; `sum` is of all lines so far (`NativeSums`). `sample` is
/// there if a line has several results.
package struct NativeResults: ResultFormat {
    package let name = "jsonl"
    package let recordsResults = false
    package func showing(_ detail: ResultDetail) -> (any ResultFormat)? { detail.lines }

    package init() {}

    package func makeEncoder(for run: ResultRun) -> any ResultEncoder { Encoder(run: run) }

    private struct Encoder: ResultEncoder {
        let run: ResultRun
        private var sums = NativeSums()

        init(run: ResultRun) { self.run = run }

        mutating func append(_ result: GenerationResult, at place: ResultPlace, to output: inout [UInt8]) {
            var writer = JSONWriter()
            var timing = 0..<0
            writer.object { writer in
                writeHead(place, to: &writer)
                timing = ResultCoding.write(result, to: &writer)
                writer.hex("line_hash", place.key.contentHash)
                writer.string("run", place.run ?? run.digest)
            }
            seal(writer.bytes, timing: timing, to: &output)
        }

        /// The members as they stand, perhaps edited: but at another place, and with a sum.
        mutating func append(
            kept bytes: UnsafeRawBufferPointer, at place: ResultPlace, to output: inout [UInt8]
        ) {
            guard let line = NativeLine(NativeLine.withoutLineFeed(bytes)) else {
                preconditionFailure("a kept line is one of this format")
            }
            let writer = JSONWriter.object { writeHead(place, to: &$0) }
            let shift = writer.bytes.count - 1 - line.rest.lowerBound
            seal(
                writer.bytes.dropLast() + UnsafeRawBufferPointer(rebasing: bytes[line.rest])
                    + [UInt8(ascii: "}")],
                timing: line.timing.lowerBound + shift..<line.timing.upperBound + shift, to: &output)
        }

        private func writeHead(_ place: ResultPlace, to writer: inout JSONWriter) {
            writer.string("id", place.key.id)
            writer.int("index", place.index)
            guard run.samples > 1 else { return }
            writer.int("sample", place.key.sample)
        }

        /// Appends a line that has no sum yet, with its sum and a line feed.
        private mutating func seal(_ line: [UInt8], timing: Range<Int>, to output: inout [UInt8]) {
            let sum = line.withUnsafeBytes { sums.add($0, timing: timing, end: line.count - 1) }
            output.append(contentsOf: line.dropLast())
            output.append(contentsOf: ",\"sum\":\"".utf8)
            JSONBytes.appendHex(sum, to: &output)
            output.append(contentsOf: "\"}\n".utf8)
        }
    }
}

/// A line, read again.
extension NativeResults {
    func fault(
        in piece: UnsafeRawBufferPointer, at place: ResultPlace, of run: ResultRun,
        kept: [GenerationResult.KeptValue]?
    ) -> Message? {
        guard let line = NativeLine(piece), let result = NativeLine.result(in: piece) else {
            return "is no result of phibatch"
        }
        let names = result.kept.map(\.name)
        if Set(names).count < names.count { return "has a member twice" }
        if let kept, kept != result.kept { return Self.otherFields }
        if let index = line.recorded.index, index != place.index {
            return "has the index \(index), and should have \(place.index)"
        }
        var encoder = makeEncoder(for: run)
        var again: [UInt8] = []
        var place = place
        place.run = line.recorded.run
        encoder.append(result, at: place, to: &again)
        // What comes after that is its sum, which other lines have a part in.
        let end = line.rest.upperBound
        return Self.difference(UnsafeRawBufferPointer(rebasing: piece[..<end]), again.prefix(end))
    }
}

/// The sums at the ends of a native output's lines. Each is of all lines up to its own, so that not only a line that
/// was edited shows, but also one that was put in, taken out or moved. (Lines taken from the end leave what a
/// shorter job would have written; that they are missing only the input can tell.)
///
/// What lies in `timing` doesn't count, nor do the sums themselves: two runs of a job have the same sums.
struct NativeSums {
    private var sum: UInt64 = 0

    /// - Parameters:
    ///   - timing: what stands between its braces; empty if there is none.
    ///   - end: of `run`.
    /// - Returns: the sum of all lines up to this one.
    mutating func add(_ line: UnsafeRawBufferPointer, timing: Range<Int>, end: Int) -> UInt64 {
        let head = UnsafeRawBufferPointer(rebasing: line[..<timing.lowerBound])
        let tail = UnsafeRawBufferPointer(rebasing: line[timing.upperBound..<end])
        sum = Checksum.crc64(tail, after: Checksum.crc64(head, after: sum))
        return sum
    }

    /// Whether a line is as it was written, after the one before it. Says nothing about that one: a line that
    /// was changed differs alone.
    mutating func fits(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let line = NativeLine(bytes) else { return false }
        let sum = add(bytes, timing: line.timing, end: line.rest.upperBound)
        self.sum = line.sum
        return sum == line.sum
    }
}
