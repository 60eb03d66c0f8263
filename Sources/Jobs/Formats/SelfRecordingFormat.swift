/// A format of one line a result, which has all by which a result is known again: then a finished output is its own
/// record of what was done, and nothing lies beside it.
package protocol SelfRecordingFormat: ResultFormat {
    /// What a line of a finished output says, without its line feed; nil if this format writes no such line.
    func result(in line: UnsafeRawBufferPointer) -> RecordedResult?
}

/// Looks at the lines of a finished output one after the other.
package protocol LineCheck {
    /// - Returns: whether it is as it was written.
    mutating func check(_ line: UnsafeRawBufferPointer) -> Bool
}
