import Errors
import JSON
import OperatingSystem

/// Lines of a file that rows pick from.
extension Pick {
    private static let sizeLimit = 1 << 30

    /// Reads the lines, or a field of each; as JSON.
    /// - Throws: `SettingProblem` if the file can't be read, or naming a line that lacks the field.
    static func lines(of path: String, field: String?) throws(SettingProblem) -> [String] {
        guard path != "-", Files.kind(of: path) == .regular else {
            throw SettingProblem(
                path == "-" ? "must have a file, but has -" : "has \(path), which is no existing file")
        }
        let format = format(of: path, hasField: field != nil)
        let field = format == .text ? "prompt" : field
        var (lines, size) = ([String](), 0)
        do {
            var reader = InputReader(paths: [path], format: format)
            while let record = try reader.next() {
                do throws(LineError) {
                    let fields = try record.content().fields
                    guard let value = field.map(fields.given) ?? fields else {
                        throw LineError(.badField, "the line has no \(field ?? "")")
                    }
                    lines.append(JSONWriter.text(of: value))
                } catch {
                    let what = error.message.hasSuffix(".") ? error.message.dropLast() : error.message[...]
                    throw SettingProblem(
                        "has a file that can't be picked from: \(path):\(record.number): \(what)")
                }
                size += lines[lines.count - 1].utf8.count
                guard size <= sizeLimit else {
                    throw SettingProblem("has \(path), which is too large (over \(sizeLimit >> 20) MiB)")
                }
            }
        } catch let problem as SettingProblem {
            throw problem
        } catch {
            throw SettingProblem("has a file that can't be read: \(error)")
        }
        if lines.isEmpty { throw SettingProblem("has nothing to pick from: \(path) has no lines") }
        return lines
    }

    /// Without a field, lines are text, unless the file's name is of another format.
    private static func format(of path: String, hasField: Bool) -> InputFormat {
        let format = InputFormat.auto.format(for: path)
        guard format.isJSONLines || format == .text else { return format }
        let name = Packing.stem(ofName: Paths.name(of: path).lowercased())
        let isRecords = [".jsonl", ".ndjson", ".json"].contains(where: name.hasSuffix)
        return hasField || isRecords ? .jsonl : .text
    }
}
