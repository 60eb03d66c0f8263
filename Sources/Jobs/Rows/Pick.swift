import BatchEngine
import JSON

/// A field of the rows that a job makes, and the source of its values.
///
/// A row's value depends only on the job's seed, the field's name and the row's number, not on the number of rows or
/// other fields. It is the same on any machine.
package struct Pick: Sendable, Equatable {
    enum Source: Sendable, Equatable {
        /// One of some values, each as JSON.
        case list([String], WeightedDraw?)
        case range(DecimalRange)
        case file(PickedFile)
    }

    package let name: String
    let source: Source

    /// - Throws: `SettingProblem` if the name is invalid.
    init(_ name: String, _ source: Source) throws(SettingProblem) {
        if let problem = JobStep.problem(withName: name, taken: Self.ownNames) {
            throw SettingProblem(problem)
        }
        (self.name, self.source) = (name, source)
    }

    /// - Parameter weights: relative frequencies; nil for equal ones.
    init(_ name: String, of values: [JSONValue], weights: [Double]? = nil) throws(SettingProblem) {
        if values.isEmpty { throw SettingProblem("has nothing to pick from: its list is empty") }
        var draw: WeightedDraw?
        if let weights { draw = try WeightedDraw(weights, count: values.count) }
        try self.init(name, .list(values.map { JSONWriter.text(of: $0) }, draw))
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
        case .list(let values, let draw): return values[draw?.place(bits) ?? bits.place(below: values.count)]
        case .range(let range): return range.value(bits)
        case .file(let file): return file.value(bits)
        }
    }

    /// The file that it needs; nil without one.
    package var file: SourceFile? {
        guard case .file(let file) = source else { return nil }
        return SourceFile(path: file.path, what: "the file that \(name) is picked from")
    }
}

extension Pick {
    /// As in a job file, with parsed values; a file is replaced by the result of `file`.
    package func shown(_ file: (String) throws -> JSONValue) rethrows -> JSONValue {
        switch source {
        case .list(let values, let draw):
            let list = JSONValue.array(values.map(Self.json))
            guard let draw else { return list }
            let weights = draw.weights.map { Self.json(JSONWriter.text(of: .plain($0))) }
            return ["of": list, "weights": .array(weights)]
        case .range(let range):
            return ["from": Self.json(range.text(range.first)), "to": Self.json(range.text(range.last))]
        case .file(let picked):
            guard case .object(var members) = try file(picked.path) else { return .null }
            members["field"] = picked.field.map { .string($0) }
            return .object(members)
        }
    }

    private static func json(_ text: String) -> JSONValue {
        (try? JSONValue(parsing: Array(text.utf8), limits: .ownLine)) ?? .null
    }
}

/// A random index, in proportion to weights.
///
/// Sums and products are single roundings of IEEE 754 in a fixed order, and so the same on any machine. Whole weights
/// with a sum below 2^53 are exact.
struct WeightedDraw: Sendable, Equatable {
    let weights: [Double]
    /// The sums of the weights up to each.
    private let sums: [Double]
    /// The last index with a weight above 0.
    private let last: Int

    /// - Throws: `SettingProblem` if they are no weights of `count` values.
    init(_ weights: [Double], count: Int) throws(SettingProblem) {
        guard weights.count == count else {
            throw SettingProblem("has \(weights.count) weights for \(count) values; each value needs one")
        }
        var sum = 0.0
        sums = weights.map { weight in
            sum += weight
            return sum
        }
        guard weights.allSatisfy({ $0 >= 0 }), let last = weights.lastIndex(where: { $0 > 0 }), sum.isFinite
        else {
            throw SettingProblem("must have weights of 0 or more, one of them above 0, whose sum is a number")
        }
        (self.weights, self.last) = (weights, last)
    }

    func place(_ bits: UInt64) -> Int {
        let target = Double(bits >> 11) * 0x1p-53 * sums[last]
        return (0..<last).partition { sums[$0] > target }
    }
}

extension UInt64 {
    /// Uniform bits as an index below `count`, to within 2^-64 of each share.
    func place(below count: Int) -> Int { Int(multipliedFullWidth(by: UInt64(count)).high) }
}
