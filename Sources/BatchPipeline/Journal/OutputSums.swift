import Foundations

/// The sums at the ends of an output's lines. Each is of all lines up to its own, so that not only a line that
/// was edited shows, but also one that was put in, taken out or moved. (Lines taken from the end leave what a
/// shorter job would have written; that they are missing only the input can tell.)
///
/// What lies in `timing` doesn't count, nor do the sums themselves: two runs of a job have the same sums.
struct OutputSums {
    private var sum: UInt64 = 0

    /// Puts the sum into the last line of `bytes`, which is an output line as yet without sum and line feed.
    /// - Parameter record: what the line was made from; the two have the same end.
    mutating func seal(_ bytes: inout [UInt8], from start: Int, like record: RecordLine) {
        bytes.withUnsafeBytes { bytes in
            let line = UnsafeRawBufferPointer(rebasing: bytes[start...])
            let shift = line.count - 1 - record.rest.upperBound
            add(line, timing: record.timing.lowerBound + shift..<record.timing.upperBound + shift)
        }
        bytes.removeLast()
        bytes.append(contentsOf: ",\"sum\":\"".utf8)
        JSONBytes.appendHex(sum, to: &bytes)
        bytes.append(contentsOf: "\"}".utf8)
    }

    /// Whether a line is as it was written, after the one before it. Says nothing about that one: a line that
    /// was changed differs alone.
    mutating func fits(_ record: RecordLine, _ line: UnsafeRawBufferPointer) -> Bool {
        add(UnsafeRawBufferPointer(rebasing: line[...record.rest.upperBound]), timing: record.timing)
        guard let written = record.sum else { return false }
        defer { sum = written }
        return sum == written
    }

    /// - Parameter line: with one byte behind it, which doesn't count.
    private mutating func add(_ line: UnsafeRawBufferPointer, timing: Range<Int>) {
        let head = UnsafeRawBufferPointer(rebasing: line[..<timing.lowerBound])
        let tail = UnsafeRawBufferPointer(rebasing: line[timing.upperBound..<line.count - 1])
        sum = Checksum.crc64(tail, after: Checksum.crc64(head, after: sum))
    }
}
