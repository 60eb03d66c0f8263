import BatchEngine
import JSON

/// A field of the rows that a job makes, and the source of its values.
///
/// A row's value depends only on the job's seed, the field's name and the row's number, not on the number of rows or
/// other fields. It is the same on any machine.
package struct Pick: Sendable, Equatable {
    enum Source: Sendable, Equatable {
        /// One of some values, each as JSON, in proportion to weights, or alike.
        case list([String], weights: [Double]?)
        case range(DecimalRange)
        /// One of a file's lines, each as JSON; or a field of one.
        case file(String, field: String?, lines: [String])
    }

    package let name: String
    let source: Source
    /// The sums of the weights up to each.
    private let sums: [Double]

    /// - Throws: `SettingProblem` if the name is invalid.
    init(_ name: String, _ source: Source, sums: [Double] = []) throws(SettingProblem) {
        if let problem = JobStep.problem(withName: name, taken: Self.ownNames) {
            throw SettingProblem(problem)
        }
        (self.name, self.source, self.sums) = (name, source, sums)
    }

    /// - Parameter weights: relative frequencies; nil for equal ones.
    init(_ name: String, of values: [JSONValue], weights: [Double]? = nil) throws(SettingProblem) {
        if values.isEmpty { throw SettingProblem("has nothing to pick from: its list is empty") }
        var sums: [Double] = []
        if let weights {
            guard weights.count == values.count else {
                throw SettingProblem(
                    "has \(weights.count) weights for \(values.count) values; each value needs one")
            }
            for weight in weights { sums.append((sums.last ?? 0) + weight) }
            guard weights.allSatisfy({ $0 >= 0 }), let sum = sums.last, sum > 0, sum.isFinite else {
                throw SettingProblem(
                    "must have weights of 0 or more, one of them above 0, whose sum is a number")
            }
        }
        try self.init(name, .list(values.map { JSONWriter.text(of: $0) }, weights: weights), sums: sums)
    }

    /// The row's own, and the marks of an earlier step's result.
    private static let ownNames: Set = ["id", "error", "line_hash"]

    /// The key of its random numbers.
    func stream(seed: Int) -> UInt64 { RandomStream.key(seed: seed, id: "pick \(name)", sample: 0) }

    /// Returns a row's value, as JSON.
    /// - Parameter row: its number, from 1.
    func value(ofRow row: Int, stream: UInt64) -> String {
        let bits = RandomStream.bits(stream: stream, position: row)
        switch source {
        case .list(let values, nil), .file(_, _, let values): return values[bits.place(below: values.count)]
        case .list(let values, let weights?):
            // Single roundings of IEEE 754 in a fixed order: the same on any machine, and exact for whole weights with a sum
            // below 2^53. The last value with a weight above 0 is picked if no sum is above.
            let last = weights.lastIndex { $0 > 0 } ?? 0
            let target = Double(bits >> 11) * 0x1p-53 * sums[last]
            return values[(0..<last).partition { sums[$0] > target }]
        case .range(let range): return range.value(bits)
        }
    }

    /// The file that it needs; nil without one.
    package var file: SourceFile? {
        guard case .file(let path, _, _) = source else { return nil }
        return SourceFile(path: path, what: "the file that \(name) is picked from")
    }
}

extension Pick {
    /// As in a job file, with parsed values; a file is replaced by the result of `file`.
    package func shown(_ file: (String) throws -> JSONValue) rethrows -> JSONValue {
        switch source {
        case .list(let values, let weights):
            let list = JSONValue.array(values.map(Self.json))
            guard let weights = weights?.map({ Self.json(JSONWriter.text(of: .plain($0))) }) else {
                return list
            }
            return ["of": list, "weights": .array(weights)]
        case .range(let range):
            return ["from": Self.json(range.text(range.first)), "to": Self.json(range.text(range.last))]
        case .file(let path, let field, _):
            var shown = try file(path)
            if let field { shown["field"] = .string(field) }
            return shown
        }
    }

    private static func json(_ text: String) -> JSONValue {
        (try? JSONValue(parsing: Array(text.utf8), limits: .ownLine)) ?? .null
    }
}

extension UInt64 {
    /// Uniform bits as an index below `count`, to within 2^-64 of each share.
    func place(below count: Int) -> Int { Int(multipliedFullWidth(by: UInt64(count)).high) }
}
