import BatchPipeline
import JSON

/// A piece of the table's rows as JSON, column by column:
///
///     {"id":[…],"line":[…],"sample":[…],"status":[…],"prompt":[…],"completion":[…],"seconds":[…]}
///     {["prompt":[…],]"text":[…],"error":[…],"more":[{…},…]}
///     [[…],…]
///
/// The page reads the first at once, the second when a row of it is seen or searched, and the third, the values of each
/// field that has a column, when rows are sorted or filtered by one.
struct ReportRows {
    private static let headNames = ["id", "line", "sample", "status", "prompt", "completion", "seconds"]

    private let statistics: ReportStatistics
    private let hasPrompts: Bool
    private(set) var count = 0
    private var headColumns: [JSONWriter]
    private var textColumns: [JSONWriter]
    private let fields: [FieldStatistics]
    private var valueColumns: [[JSONValue]]
    /// Bytes of a value's text.
    private static let valueLimit = 100

    init(_ statistics: ReportStatistics, hasPrompts: Bool) {
        self.statistics = statistics
        self.hasPrompts = hasPrompts
        headColumns = Self.headNames.map { _ in JSONWriter() }
        fields = statistics.fields.columns
        (textColumns, valueColumns) = ([], [])
        removeAll()
    }

    private var textNames: [String] { (hasPrompts ? ["prompt"] : []) + ["text", "error", "more"] }

    mutating func removeAll() {
        count = 0
        headColumns = Self.headNames.map { _ in JSONWriter() }
        textColumns = textNames.map { _ in JSONWriter() }
        valueColumns = fields.map { _ in [] }
    }

    var values: [UInt8] { Array(JSONWriter.text(of: .array(valueColumns.map { .array($0) })).utf8) }
    var heads: [UInt8] { Self.object(Self.headNames, headColumns) }
    var texts: [UInt8] { Self.object(textNames, textColumns) }

    private static func object(_ names: [String], _ columns: [JSONWriter]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, column) in zip(names, columns) {
            bytes += (bytes.isEmpty ? "{" : ",").utf8
            JSONBytes.append(name, to: &bytes)
            bytes += ":[".utf8
            bytes += column.bytes
            bytes.append(UInt8(ascii: "]"))
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    mutating func add(_ row: ResultReport.Row) {
        count += 1
        let result = row.result
        for (number, field) in fields.enumerated() {
            valueColumns[number].append(Self.value(result.fields.first(where: field.isOf)?.value ?? .null))
        }
        headColumns[0].string(result.id)
        headColumns[1].optional(result.index.map { $0 + 1 } ?? result.line)
        headColumns[2].int(result.sample)
        headColumns[3].int(statistics.status(of: result))
        headColumns[4].optional(result.promptTokens)
        headColumns[5].optional(result.completionTokens)
        if let timing = result.timing {
            headColumns[6].number((timing.seconds * 1000).rounded() / 1000)
        } else {
            headColumns[6].null()
        }
        var cuts: [(String, Int)] = []
        var place = 0
        func add(_ text: String?, _ name: String) {
            guard let text else { return textColumns[place].null() }
            if text.utf8.count > ReportPrompts.textLimit { cuts.append((name, text.utf8.count)) }
            textColumns[place].string(ReportPrompts.cut(text))
        }
        var missing: String?
        if let prompt = row.prompt {
            switch prompt {
            case .text(let text, let length):
                if length > text.utf8.count { cuts.append(("prompt", length)) }
                textColumns[place].string(text)
            case .changed:
                missing = "The input has another line of this id now."
                textColumns[place].null()
            case .none: textColumns[place].null()
            }
            place += 1
        }
        add(result.text, "text")
        place += 1
        add(result.message, "error")
        place += 1
        writeMore(result, cuts, missing, to: &textColumns[place])
    }

    /// A number or a truth as it is, and of anything else the beginning of its text.
    private static func value(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool, .int, .number: value
        case .string(let text): .string(ReportPrompts.cut(text, to: valueLimit))
        case .array, .object: .string(ReportPrompts.cut(JSONWriter.text(of: value), to: valueLimit))
        }
    }

    private func writeMore(
        _ result: ReportedResult, _ cuts: [(String, Int)], _ missing: String?, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            if let seed = result.seed {
                // A number of a page's script has 53 bits.
                writer.string("seed", String(seed))
            }
            if let timing = result.timing {
                writer.array("timing") { writer in
                    for value in [timing.queued, timing.prefill, timing.decode, timing.tokensPerSecond] {
                        writer.number(value)
                    }
                    timing.ended.map { writer.number($0) } ?? writer.null()
                }
            }
            if !result.facts.isEmpty {
                writer.array("facts") { writer in
                    for fact in result.facts {
                        writer.array { writer in
                            writer.string(fact.name)
                            writer.string(ReportPrompts.cut(fact.value))
                        }
                    }
                }
            }
            if !cuts.isEmpty {
                writer.object("cut") { writer in for (name, length) in cuts { writer.int(name, length) } }
            }
            if let missing { writer.string("no_prompt", missing) }
        }
    }
}

extension JSONWriter {
    mutating func optional(_ value: Int?) {
        if let value { int(value) } else { null() }
    }
}
