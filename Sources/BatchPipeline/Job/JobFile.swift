import Foundation
import Foundations
import Yams

/// Reads settings from a job file (YAML, and so JSON too).
enum JobFile {
    /// Job files are written by hand; a larger one is a mistake.
    static let sizeLimit = 1 << 20
    /// Aliases multiply: with this many, no more than some ten thousand values can come of them.
    static let aliasLimit = 24

    /// - Parameter name: how errors name the file.
    static func apply(_ bytes: [UInt8], name: String, folder: String, to job: inout JobSettings) throws {
        let entries = try entries(bytes, name: name, folder: folder)
        for (key, value, line) in entries {
            if key == "prompt_file", entries.contains(where: { $0.key == "prompt" }) {
                throw JobError(
                    .badJob, at: "\(name):\(line)", "prompt and prompt_file are both given; keep one.")
            }
            guard let setting = JobKey.named(key) else {
                throw JobError(
                    .badJob, at: "\(name):\(line)",
                    "unknown key \"\(key.prefix(64))\"."
                        + NearMiss.hint(for: key, among: JobKey.all.map(\.name)))
            }
            do { try setting.member.set(&job, value) } catch {
                throw JobError(.badJob, at: "\(name):\(error.line ?? line)", "\(key) \(error.message).")
            }
        }
    }

    private static func entries(
        _ bytes: [UInt8], name: String, folder: String
    ) throws -> [(key: String, value: SettingValue, line: Int)] {
        guard bytes.count <= sizeLimit else {
            throw JobError(.badJob, at: name, "is too large for a job file (over \(sizeLimit >> 20) MiB).")
        }
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw JobError(.badJob, at: name, "is not UTF-8 text.")
        }
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        try refuseAliasBombs(text, name: name)
        let root: Node
        do {
            // What a plain word means is decided by its setting. Without YAML's own rules, which match each
            // word against seven patterns, a file of many words takes a third of the time.
            let parser = try Parser(yaml: surrogatePairsJoined(text), resolver: .basic)
            guard let node = try parser.singleRoot() else {
                throw JobError(.badJob, at: name, "is empty; a job needs model, input and output.")
            }
            root = node
        } catch let error as YamlError {
            throw JobError(.badJob, at: name, error)
        }
        guard case .mapping(let mapping) = root else {
            throw JobError(
                .badJob, at: "\(name):\(root.mark?.line ?? 1)",
                "must be a mapping of keys to values, like `model: FOLDER`.")
        }
        return try mapping.map { key, value in
            let line = key.mark?.line ?? 1
            guard case .scalar(let scalar) = key else {
                throw JobError(.badJob, at: "\(name):\(line)", "a key must be a plain word, like `model`.")
            }
            var setting = SettingValue(value, folder: folder, depth: 0)
            setting.whole = { () throws(SettingProblem) in try YAMLValues.json(of: value) }
            return (scalar.string, setting, line)
        }
    }

    /// YAML has references (`&name` ... `*name`); nested, they make a small file huge. A job has no need of
    /// many, so their number is bounded before anything is expanded. Looking at the bare text may take
    /// text in a string for an alias, but only where the same name is also marked with `&`.
    private static func refuseAliasBombs(_ text: String, name: String) throws {
        var anchors: Set<[UInt8]> = []
        var aliases: [[UInt8]] = []
        let bytes = Array(text.utf8)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == UInt8(ascii: "&") || byte == UInt8(ascii: "*") else { continue }
            let start = index
            while index < bytes.count, isAnchorByte(bytes[index]) { index += 1 }
            guard index > start else { continue }
            if byte == UInt8(ascii: "&") {
                anchors.insert(Array(bytes[start..<index]))
            } else {
                aliases.append(Array(bytes[start..<index]))
            }
        }
        guard aliases.count(where: anchors.contains) <= aliasLimit else {
            throw JobError(
                .badJob, at: name, "uses more than \(aliasLimit) YAML aliases; write the values out.")
        }
    }

    private static func isAnchorByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            return true
        default: return false
        }
    }

    /// JSON writes characters beyond U+FFFF as two escapes, which YAML doesn't know; makes them one.
    private static func surrogatePairsJoined(_ text: String) -> String {
        guard text.first(where: { !$0.isWhitespace }) == "{", text.contains("\\u") else { return text }
        let pair = /\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/
        return text.replacing(pair) { match in
            guard let high = UInt32(match.1, radix: 16), let low = UInt32(match.2, radix: 16) else {
                return String(match.0)
            }
            let scalar = String(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00), radix: 16)
            return "\\U" + String(repeating: "0", count: 8 - scalar.count) + scalar
        }
    }
}

extension SettingValue {
    /// Three levels are all that settings have (a list of maps), but for those that take any JSON (`json()`); what lies
    /// deeper is not looked at.
    fileprivate init(_ node: Node, folder: String, depth: Int) {
        self.init(content: .mapping([]), folder: folder, line: node.mark?.line)
        switch node {
        case .scalar(let scalar) where scalar.style == .plain || scalar.style == .any:
            content =
                ["", "~", "null", "Null", "NULL"].contains(scalar.string) ? .null : .plain(scalar.string)
        case .scalar(let scalar): content = .quoted(scalar.string)
        case .sequence(let sequence):
            content = .list(
                depth == 0 ? sequence.map { SettingValue($0, folder: folder, depth: 1) } : [])
        case .mapping(let mapping):
            content = .mapping(
                depth <= 1
                    ? mapping.map {
                        (
                            SettingValue($0.key, folder: folder, depth: depth + 1),
                            SettingValue($0.value, folder: folder, depth: depth + 1)
                        )
                    } : [])
        case .alias: break
        }
    }
}

extension JobError {
    fileprivate init(_ kind: Kind, at name: String, _ error: YamlError) {
        switch error {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
            .composer(let context, let problem, let mark, _):
            let detail = context.map { " (\($0.text))" } ?? ""
            self.init(kind, at: "\(name):\(mark.line)", "is not valid YAML: \(problem)\(detail).")
        case .duplicatedKeysInMapping(let duplicates, let context):
            self.init(
                kind, at: "\(name):\(context.mark.line)",
                "the key \(duplicates.first ?? "") is given more than once; keep one.")
        case .reader(let problem, let offset, _, let yaml):
            let line = yaml.unicodeScalars.prefix(offset ?? 0).count { $0 == "\n" } + 1
            self.init(kind, at: "\(name):\(line)", "is not valid YAML: \(problem).")
        default: self.init(kind, at: name, "is not valid YAML.")
        }
    }
}
