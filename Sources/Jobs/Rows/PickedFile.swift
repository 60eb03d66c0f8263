import Errors
import JSON
import OperatingSystem

/// A file of lines to pick from.
struct PickedFile: Sendable, Equatable {
    let path: String
    /// The field of each line to pick; nil for the whole line.
    let field: String?
    let lines: PickedLines

    /// - Parameter reads: whether the file is read; else there are no lines.
    /// - Throws: `SettingProblem` if the file can't be read, or a line lacks the field.
    init(path: String, field: String?, reads: Bool) throws(SettingProblem) {
        (self.path, self.field) = (path, field)
        guard reads else {
            lines = PickedLines()
            return
        }
        guard path != "-", Files.kind(of: path) == .regular else {
            throw SettingProblem(
                path == "-" ? "must have a file, but has -" : "has \(path), which is no existing file")
        }
        lines = try PickedLines(
            path: path, field: field, format: Self.format(of: path, hasField: field != nil))
        if lines.count == 0 { throw SettingProblem("has nothing to pick from: \(path) has no lines") }
    }

    /// Without a field, lines are text, unless the file's name is of another format.
    private static func format(of path: String, hasField: Bool) -> InputFormat {
        let format = InputFormat.auto.format(for: path)
        guard format.isJSONLines || format == .text else { return format }
        let name = Packing.stem(ofName: Paths.name(of: path).lowercased())
        let isRecords = [".jsonl", ".ndjson", ".json"].contains(where: name.hasSuffix)
        return hasField || isRecords ? InputFormat.jsonl : InputFormat.text
    }
}

/// The picked part of each line of a file, as JSON: in memory once for all copies of the settings.
final class PickedLines: Sendable, Equatable {
    private let bytes: [UInt8]
    private let ends: [Int]

    private static let limit = 1 << 30

    init() { (bytes, ends) = ([], []) }

    /// - Throws: `SettingProblem` naming the file, and the line that lacks the field.
    init(path: String, field: String?, format: InputFormat) throws(SettingProblem) {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        // Growth by doubling would need twice the memory; untouched memory costs nothing.
        if let size = (try? POSIXFileSystem().infoIfPresent(path))?.size, size <= Self.limit {
            bytes.reserveCapacity(size + size / 8)
        }
        let field = format == .text ? "prompt" : field
        do {
            var reader = InputReader(paths: [path], format: format)
            while let line = try reader.next() {
                let place = "\(path):\(line.number)"
                do throws(LineError) {
                    bytes += try Self.json(reader.fields(of: line), field)
                } catch {
                    let what = error.message.hasSuffix(".") ? error.message.dropLast() : error.message[...]
                    throw SettingProblem("has a file that can't be picked from: \(place): \(what)")
                }
                guard bytes.count <= Self.limit else {
                    throw SettingProblem("has \(path), which is too large (over \(Self.limit >> 20) MiB)")
                }
                ends.append(bytes.count)
            }
        } catch let problem as SettingProblem {
            throw problem
        } catch {
            throw SettingProblem("has a file that can't be read: \(error)")
        }
        (self.bytes, self.ends) = (bytes, ends)
    }

    private static func json(_ fields: JSONValue, _ field: String?) throws(LineError) -> [UInt8] {
        var writer = JSONWriter()
        guard let field else {
            writer.value(fields)
            return writer.bytes
        }
        guard let value = fields[field], value != .null else {
            throw LineError(.badField, "the line has no \(field)")
        }
        writer.value(value)
        return writer.bytes
    }

    var count: Int { ends.count }

    subscript(place: Int) -> String {
        let start = place > 0 ? ends[place - 1] : 0
        return String(decoding: bytes[start..<ends[place]], as: UTF8.self)
    }

    static func == (a: PickedLines, b: PickedLines) -> Bool {
        a === b || a.ends == b.ends && a.bytes == b.bytes
    }
}
