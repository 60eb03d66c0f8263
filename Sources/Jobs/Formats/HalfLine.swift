import Errors
import FoundationShim

/// Half a line at the end of an input, which is left for the next run.
public struct UnfinishedLine: Sendable, Equatable {
    public var file: String
    public var line: Int
    /// How many bytes of it are there.
    public var bytes: Int
    /// What is wrong with it, where that is more than that it has no end.
    package var what: Message?
}

/// The end of an input that is no whole line: it was cut, or its writer is still at it. Only a followed input may end
/// so; the line is then left until it is whole.
extension JobError {
    /// - Parameter line: half of one, at the end of an input that is not followed.
    init(_ line: UnfinishedLine) {
        let place = "\(line.file):\(line.line)"
        if let what = line.what {
            self.init(halfAt: place, what)
        } else {
            self.init(halfAt: place, bytes: line.bytes)
        }
    }

    fileprivate init(halfAt place: String, _ what: Message) {
        self.init(
            .inputOutput, at: place,
            "the input ends in half: \(what) If it was cut or is still being written, run the same command again once it is "
                + "whole; if it is wrong, mend it. What is done is kept.")
    }

    fileprivate init(halfAt place: String, bytes: Int) {
        self.init(
            .inputOutput, at: place,
            "the input ends in half a line: \(counted(bytes, "byte")) that are no whole JSON object or row. If it was cut or "
                + "is still being written, run the same command again once it is whole. If the line is wrong, mend it, or "
                + "end it with a line feed, and it fails alone. --follow leaves it until it is whole.")
    }
}

extension JobSettings {
    /// Half a line shows itself here before the work, where a file of JSON lines can be read from its end. In others
    /// it does when they are read.
    /// - Throws: `JobError` of kind `inputOutput`.
    func checkEnds() throws {
        guard !awaitsInput else { return }
        for path in input {
            let format = inputFormat.format.format(for: path)
            if let end = format.lastByte, let last = Self.lastByte(of: path), last != end {
                throw JobError(
                    halfAt: path, "it has no \(String(Unicode.Scalar(end))) at its end.")
            }
            guard format.isJSONLines else { continue }
            guard let line = Self.unterminatedLine(of: path), (try? PromptRecord.parseObject(line)) == nil
            else { continue }
            throw JobError(halfAt: path, bytes: line.count)
        }
    }

    /// What a file has after its last line feed, if that is no white space.
    /// - Returns: nil, too, of what is packed, can't be read from its end, is longer than a line may be, or has
    ///   carriage returns in it, which the reader has a message for.
    private static func unterminatedLine(of path: String) -> [UInt8]? {
        guard let (file, size) = plainFile(path) else { return nil }
        var pieces: [ArraySlice<UInt8>] = []
        var start = size
        while start > max(0, size - InputReader.defaultLimit) {
            let count = min(1 << 16, start)
            start -= count
            guard let piece = file.wholeBytes(start..<start + count) else { return nil }
            let end = piece.lastIndex(of: 0x0A)
            pieces.append(piece[(end.map { $0 + 1 } ?? 0)...])
            if end != nil || start == 0 {
                var line = Array(pieces.reversed().joined())
                if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
                while let last = line.last, [0x20, 0x09, 0x0D].contains(last) { line.removeLast() }
                return line.isEmpty || line.contains(0x0D) ? nil : line
            }
        }
        return nil
    }

    /// The last one that is no white space.
    private static func lastByte(of path: String) -> UInt8? {
        guard let (file, size) = plainFile(path) else { return nil }
        return file.wholeBytes(max(0, size - 1 << 16)..<size)?.last {
            ![0x20, 0x09, 0x0A, 0x0D].contains($0)
        }
    }

    private static func plainFile(_ path: String) -> (File, size: Int)? {
        guard path != "-", let file = try? File.open(path, .read, in: POSIXFileSystem()),
            let info = try? file.info(), info.kind == .regular,
            let start = file.wholeBytes(0..<min(4, info.size)), Packing(start: start) == nil,
            !ParquetFile.begins(file)
        else { return nil }
        return (file, info.size)
    }
}

extension InputFormat {
    /// - Throws: `JobError` if a file of this format can't be followed.
    func checkGrowth(of path: String) throws(JobError) {
        guard !canGrow else { return }
        throw JobError(
            .usage, at: path,
            "can't be followed: the format \(name) has an end, after which nothing comes. Run without --follow."
        )
    }
}

extension File {
    /// Nil if they can't be read or are not there.
    fileprivate func wholeBytes(_ range: Range<Int>) -> [UInt8]? {
        (try? bytes(range)).flatMap { $0.count == range.count ? $0 : nil }
    }
}
