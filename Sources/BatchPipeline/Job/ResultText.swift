import Foundations

/// Text for `JobKey.resultValue`: distinct for distinct values, nil included.
enum ResultText {
    static func value<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "-" }

    static func value(_ value: String?) -> String { value.map { list([$0]) } ?? "-" }

    static func bias(_ bias: [Int32: Float]) -> String {
        bias.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    static func list(_ values: [String]) -> String {
        var writer = JSONWriter()
        writer.array { writer in for value in values { writer.string(value) } }
        return writer.text
    }
}
