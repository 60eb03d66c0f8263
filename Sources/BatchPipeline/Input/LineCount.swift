import Foundation

extension JobSettings {
    /// How many lines of the input a run would take up: all that are not blank.
    /// - Returns: nil if the input is, or includes, stdin or another thing that can be read but once.
    /// - Throws: `JobError` if a file can't be read.
    public func countLines() throws -> Int? {
        for path in input {
            guard path != "-",
                try POSIXFileSystem().infoIfPresent(path).map({ $0.kind == .regular }) ?? true
            else { return nil }
        }
        // No line is looked into, so none needs to be kept: but for its first bytes, to see if it is blank.
        var reader = LineReader(paths: input, lineLimit: 4096)
        var count = 0
        while try reader.next() != nil { count += 1 }
        return count
    }
}
