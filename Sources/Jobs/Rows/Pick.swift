import BatchEngine
import JSON

/// A field of the rows that a job makes, and what its values are drawn from.
///
/// A row's value depends on the job's seed, the field's name and the row's number, and so neither on how many rows
/// there are nor on what else is picked. It is the same on any machine.
public struct Pick: Sendable, Equatable {
    enum Source: Sendable, Equatable {
        /// One of some values, each as JSON.
        case list([String], WeightedDraw?)
        case range(DecimalRange)
        case file(PickedFile)
    }

    public let name: String
    let source: Source

    /// - Throws: `SettingProblem` if no row can have a field of that name.
    init(_ name: String, _ source: Source) throws(SettingProblem) {
        if let problem = Self.problem(with: name) { throw SettingProblem(problem) }
        (self.name, self.source) = (name, source)
    }

    /// - Parameter weights: how often each is picked beside the others; nil is all alike.
    init(_ name: String, of values: [JSONValue], weights: [Double]? = nil) throws(SettingProblem) {
        if values.isEmpty { throw SettingProblem("has nothing to pick from: its list is empty") }
        var draw: WeightedDraw?
        if let weights { draw = try WeightedDraw(weights, count: values.count) }
        try self.init(name, .list(values.map { JSONWriter.text(of: $0) }, draw))
    }

    private static func problem(with name: String) -> String? {
        guard name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil else {
            return "is no name of a field: letters, digits and _, no digit first"
        }
        if JobStep.words.contains(name) { return "is a word of the templates' language" }
        return ownNames.contains(name) ? "is a name that lines have for something else" : nil
    }

    /// The row's own, and what makes a line the result of an earlier step.
    private static let ownNames: Set = ["id", "error", "line_hash"]

    /// The random numbers of its rows.
    func stream(seed: Int) -> UInt64 { RandomStream.key(seed: seed, id: "pick \(name)", sample: 0) }

    /// A row's value, as JSON.
    /// - Parameter row: its number, from 1.
    func value(ofRow row: Int, stream: UInt64) -> String {
        let bits = RandomStream.bits(stream: stream, position: row)
        switch source {
        case .list(let values, let draw): return values[draw?.place(bits) ?? bits.place(below: values.count)]
        case .range(let range): return range.value(bits)
        case .file(let file): return file.lines[bits.place(below: file.lines.count)]
        }
    }

    /// The file that it needs; nil without one.
    package var file: SourceFile? {
        guard case .file(let file) = source else { return nil }
        return SourceFile(path: file.path, what: "the file that \(name) is picked from")
    }
}

/// In code. What a job file says is read by `SettingValue.picks`.
extension Pick {
    /// One of some texts.
    /// - Parameter weights: how often each is picked beside the others, as many as texts; nil is all alike.
    /// - Throws: `UserError` if there is no such pick.
    public init(_ name: String, of texts: [String], weights: [Double]? = nil) throws {
        self = try Self.checked(name) { () throws(SettingProblem) in
            try Pick(name, of: texts.map { .string($0) }, weights: weights)
        }
    }

    /// A whole number, both ends included.
    /// - Throws: `UserError` if there is no such pick.
    public init(_ name: String, from first: Int, to last: Int) throws {
        self = try Self.checked(name) { () throws(SettingProblem) in
            try Pick(name, .range(DecimalRange(.int(first), .int(last), decimals: nil)))
        }
    }

    /// A number with so many decimals, both ends included.
    /// - Throws: `UserError` if there is no such pick.
    public init(_ name: String, from first: Double, to last: Double, decimals: Int) throws {
        self = try Self.checked(name) { () throws(SettingProblem) in
            try Pick(name, .range(DecimalRange(.double(first), .double(last), decimals: decimals)))
        }
    }

    /// A line of a file, which is read now.
    /// - Parameter field: which one of the line's, where lines have fields; nil is all the line.
    /// - Throws: `UserError` if there is no such pick, or the file can't be read.
    public init(_ name: String, file: String, field: String? = nil) throws {
        self = try Self.checked(name) { () throws(SettingProblem) in
            try Pick(name, .file(PickedFile(path: file, field: field, reads: true)))
        }
    }

    private static func checked(_ name: String, _ body: () throws(SettingProblem) -> Pick) throws -> Pick {
        do throws(SettingProblem) { return try body() } catch {
            throw UserError(.badJob, "pick \(name) \(error.message).")
        }
    }
}

extension Pick {
    /// As a job file says it, of values as they are parsed; where it has a file, with what `file` says of that.
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

/// One of some places, each as often as its weight says beside the others'.
///
/// Sums and products are single roundings of IEEE 754 in a fixed order, and so the same on any machine. Whole weights
/// of a sum below 2^53 are exact.
struct WeightedDraw: Sendable, Equatable {
    let weights: [Double]
    /// The sums of the weights up to each.
    private let sums: [Double]
    /// The last place that has a weight.
    private let last: Int

    /// - Throws: `SettingProblem` if they are no weights of `count` places.
    init(_ weights: [Double], count: Int) throws(SettingProblem) {
        guard weights.count == count else {
            throw SettingProblem("has \(weights.count) weights for \(count) values; each value needs one")
        }
        guard weights.allSatisfy({ $0 >= 0 }) else {
            throw SettingProblem("has a weight below 0; weights are 0 or more")
        }
        guard let last = weights.lastIndex(where: { $0 > 0 }) else {
            throw SettingProblem("has no weight above 0, so that nothing can be picked")
        }
        var sum = 0.0
        sums = weights.map { weight in
            sum += weight
            return sum
        }
        guard sum.isFinite else { throw SettingProblem("has weights whose sum is too large") }
        (self.weights, self.last) = (weights, last)
    }

    func place(_ bits: UInt64) -> Int {
        let target = Double(bits >> 11) * 0x1p-53 * sums[last]
        // The first whose sum is beyond the target.
        var (low, high) = (0, last)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] > target { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension UInt64 {
    /// Uniform bits as a place of so many, to within 2^-64 of each's share.
    func place(below count: Int) -> Int { Int(multipliedFullWidth(by: UInt64(count)).high) }
}
