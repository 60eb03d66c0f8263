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
    mutating func fits(_ line: NativeLine, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let sum = add(bytes, timing: line.timing, end: line.rest.upperBound)
        self.sum = line.sum
        return sum == line.sum
    }
}
