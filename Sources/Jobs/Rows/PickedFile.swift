import Errors
import JSON
import OperatingSystem

/// A file of lines to pick from. The picked part of each is in memory as JSON, once for all copies of the settings.
final class PickedFile: Sendable, Equatable {
    let path: String
    /// The field of each line to pick; nil for the whole line.
    let field: String?
    private let bytes: [UInt8]
    private let ends: [Int]

    private static let limit = 1 << 30

    /// - Parameter reads: whether the file is read; else there are no lines.
    /// - Throws: `SettingProblem` if the file can't be read, or naming a line that lacks the field.
    init(path: String, field: String?, reads: Bool) throws(SettingProblem) {
        (self.path, self.field) = (path, field)
        guard reads else {
            (bytes, ends) = ([], [])
            return
        }
        guard path != "-", Files.kind(of: path) == .regular else {
            throw SettingProblem(
                path == "-" ? "must have a file, but has -" : "has \(path), which is no existing file")
        }
        var bytes: [UInt8] = []
        var ends: [Int] = []
        let format = Self.format(of: path, hasField: field != nil)
        let field = format == .text ? "prompt" : field
        do {
            var reader = InputReader(paths: [path], format: format)
            while let line = try reader.next() {
                let place = "\(path):\(line.number)"
                do throws(LineError) {
                    bytes += try Self.json(line.content().fields, field)
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
        if ends.isEmpty { throw SettingProblem("has nothing to pick from: \(path) has no lines") }
        (self.bytes, self.ends) = (bytes, ends)
    }

    /// Without a field, lines are text, unless the file's name is of another format.
    private static func format(of path: String, hasField: Bool) -> InputFormat {
        let format = InputFormat.auto.format(for: path)
        guard format.isJSONLines || format == .text else { return format }
        let name = Packing.stem(ofName: Paths.name(of: path).lowercased())
        let isRecords = [".jsonl", ".ndjson", ".json"].contains(where: name.hasSuffix)
        return hasField || isRecords ? .jsonl : .text
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

    /// Returns a line's picked part.
    func value(_ bits: UInt64) -> String {
        let place = bits.place(below: ends.count)
        let start = place > 0 ? ends[place - 1] : 0
        return String(decoding: bytes[start..<ends[place]], as: UTF8.self)
    }

    static func == (a: PickedFile, b: PickedFile) -> Bool {
        a === b || a.path == b.path && a.field == b.field && a.ends == b.ends && a.bytes == b.bytes
    }
}
