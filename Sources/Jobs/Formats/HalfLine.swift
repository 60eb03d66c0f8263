import Errors
import FoundationShim

/// An incomplete last line of an input, left for the next run.
public struct UnfinishedLine: Sendable, Equatable {
    public var file: String
    public var line: Int
    /// Number of its bytes so far.
    public var bytes: Int
    /// Problem beyond the missing end, if there is one.
    package var what: Message?
}

/// The incomplete end of an input: it was truncated, or is still being written. Only a followed input may end so; the
/// line is then left until it is complete.
extension UserError {
    /// - Parameter line: an incomplete last line of an input that is not followed.
    init(_ line: UnfinishedLine) {
        self.init(halfAt: "\(line.file):\(line.line)", line.what, bytes: line.bytes)
    }

    /// - Parameter what: the problem beyond the missing end.
    fileprivate init(halfAt place: String, _ what: Message?, bytes: Int = 0) {
        if let what {
            self.init(
                .io, at: place,
                "the input is incomplete: \(what) If it was truncated or is still being written, run the same command again once it is "
                    + "complete; if it is wrong, correct it. Finished results are kept.")
            return
        }
        self.init(
            .io, at: place,
            "the last line is incomplete: \(counted(bytes, "byte")) that are no complete JSON object or row. If it was cut or "
                + "is still being written, run the same command again once it is complete. If it is wrong, correct it, or "
                + "end it with a line feed, and it fails alone. --follow waits until it is complete.")
    }
}

extension JobSettings {
    /// Finds an incomplete last line before the work, if the file can be read from its end. In other files reading
    /// finds it.
    /// - Throws: `UserError` of kind `io`.
    func checkEnds() throws {
        guard !awaitsInput else { return }
        for path in input {
            let format = inputFormat.format(for: path)
            if let end = format.lastByte, let last = Self.lastByte(of: path), last != end {
                throw UserError(
                    halfAt: path, "it has no \(String(Unicode.Scalar(end))) at its end.")
            }
            guard format.isJSONLines else { continue }
            guard let line = Self.unterminatedLine(of: path), (try? PromptRecord.parseObject(line)) == nil
            else { continue }
            throw UserError(halfAt: path, nil, bytes: line.count)
        }
    }

    /// Returns the bytes after a file's last line feed, unless they are white space.
    /// - Returns: nil, too, if the file is compressed, can't be read from its end, exceeds a line's limit there, or
    ///   has carriage returns, for which the reader has a message.
    private static func unterminatedLine(of path: String) -> [UInt8]? {
        guard let (file, size) = plainFile(path) else { return nil }
        var count = 1 << 16
        while let bytes = file.wholeBytes(max(0, size - count)..<size) {
            let end = bytes.lastIndex(of: 0x0A)
            guard end != nil || count >= size else {
                if count >= InputReader.defaultLimit { return nil }
                count *= 2
                continue
            }
            var line = Array(bytes[(end.map { $0 + 1 } ?? 0)...])
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
            while let last = line.last, [0x20, 0x09, 0x0D].contains(last) { line.removeLast() }
            return line.isEmpty || line.contains(0x0D) ? nil : line
        }
        return nil
    }

    /// Returns the last byte that isn't white space.
    private static func lastByte(of path: String) -> UInt8? {
        guard let (file, size) = plainFile(path) else { return nil }
        return file.wholeBytes(max(0, size - 1 << 16)..<size)?.last {
            ![0x20, 0x09, 0x0A, 0x0D].contains($0)
        }
    }

    private static func plainFile(_ path: String) -> (File, size: Int)? {
        guard path != "-", let file = try? File.open(path, .read, in: .real),
            let info = try? file.info(), info.kind == .regular,
            let start = file.wholeBytes(0..<min(4, info.size)), Packing(start: start) == nil,
            !ParquetFile.begins(file)
        else { return nil }
        return (file, info.size)
    }
}

extension InputFormat {
    /// - Throws: `UserError` if a file of this format can't be followed.
    func checkGrowth(of path: String) throws(UserError) {
        guard !canGrow else { return }
        throw UserError(
            .usage, at: path,
            "can't be followed: the format \(name) has an end, after which nothing comes. Run without --follow."
        )
    }
}

extension File {
    /// Nil if they can't be read or don't exist.
    fileprivate func wholeBytes(_ range: Range<Int>) -> [UInt8]? {
        (try? bytes(range)).flatMap { $0.count == range.count ? $0 : nil }
    }
}
