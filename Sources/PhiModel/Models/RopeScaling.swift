import CPhiKernels

/// Scaling of rotary positions beyond the original context.
package enum RopeScaling: Sendable, Equatable {
    case none
    /// Dimension i of a rotation is slowed down by factors[i], in all sequences.
    case slowed([Double])
    case longrope(LongRope)
}

/// LongRoPE as Microsoft defines it: dimension i of a rotation is slowed down by `shortFactors[i]` in
/// sequences of at most `originalContextLength` tokens, by `longFactors[i]` in longer ones.
package struct LongRope: Sendable, Equatable {
    /// Each with `rotaryDimension / 2` entries.
    package var shortFactors: [Double]
    package var longFactors: [Double]
    /// Tokens.
    package var originalContextLength: Int
    /// Factor of cos and sin with the short factors: sqrt(1 + ln(max/original) / ln(original)), or the file's.
    package var attentionFactor: Double
    /// The same with the long factors; the same number unless the file has its own.
    package var longAttentionFactor: Double

    /// Returns Microsoft's factor for a context of `contextLength` tokens; 1 if that is not beyond the original.
    static func standardAttentionFactor(contextLength: Int, originalContextLength: Int) -> Double {
        let growth = Double(contextLength) / Double(originalContextLength)
        return growth <= 1 ? 1 : (1 + phi_log(growth) / phi_log(Double(originalContextLength))).squareRoot()
    }
}

extension RopeScaling {
    /// Keys that transformers 5 moves into `rope_parameters` for every type.
    private static let defaultKeys: Set<String> = [
        "type", "rope_type", "rope_theta", "partial_rotary_factor", "original_max_position_embeddings",
    ]
    private static let longropeKeys = defaultKeys.union(["short_factor", "long_factor", "factor"])
    private static let llama3Keys = defaultKeys.union(["factor", "low_freq_factor", "high_freq_factor"])

    /// - Parameter scaling: `rope_scaling` or `rope_parameters` of config.json.
    init(
        _ scaling: ConfigReader?, family: RopeFamily, rotaryDimension: Int, theta: Double, contextLength: Int,
        originalContextLength: Int?
    ) throws {
        guard let scaling else {
            self = .none
            return
        }
        let (type, key) = try Self.type(of: scaling)
        let known: Set<String>
        switch type {
        case "default": known = Self.defaultKeys
        case "llama3": known = Self.llama3Keys
        case "longrope", "su": known = Self.longropeKeys.union(family.attentionFactorKeys)
        default:
            throw scaling.fault(
                .unsupported, key,
                "is \"\(type)\"; null, \"default\", \"llama3\", \"longrope\" and \"su\" are supported")
        }
        if let unknown = scaling.members.names.filter({ !known.contains($0) }).min() {
            throw scaling.fault(
                .unsupported, unknown, "is not a setting of the type \"\(type)\" that is supported")
        }
        switch type {
        case "default": self = .none
        case "llama3":
            self = .slowed(
                try Self.llama3Factors(
                    scaling, rotaryDimension: rotaryDimension, theta: theta,
                    originalContextLength: originalContextLength))
        default:
            self = .longrope(
                try LongRope(
                    scaling, family: family, rotaryDimension: rotaryDimension, contextLength: contextLength,
                    originalContextLength: originalContextLength))
        }
    }

    /// Returns Llama 3.1's factors (transformers' `_compute_llama3_parameters`): wavelengths, in positions, above
    /// original / low_freq_factor are slowed down by `factor`, those below original / high_freq_factor are not, and
    /// between the two the frequency is interpolated.
    private static func llama3Factors(
        _ scaling: ConfigReader, rotaryDimension: Int, theta: Double, originalContextLength: Int?
    ) throws -> [Double] {
        func number(_ key: String) throws -> Double {
            guard let number = try scaling.optionalNumber(key, 1e-6...1e6) else {
                throw scaling.fault(.malformed, key, "is missing; a number is needed")
            }
            return number
        }
        let (factor, low, high) = (
            try number("factor"), try number("low_freq_factor"), try number("high_freq_factor")
        )
        guard low < high else {
            throw scaling.fault(
                .malformed, "high_freq_factor",
                "is \(high); it must be above low_freq_factor, which is \(low)")
        }
        let original = Double(try self.originalContextLength(scaling, outer: originalContextLength, "llama3"))
        let half = rotaryDimension / 2
        return (0..<half).map { i in
            let wavelength = 2 * Double.pi * phi_exp(phi_log(theta) * Double(i) / Double(half))
            if wavelength > original / low { return factor }
            if wavelength < original / high { return 1 }
            let part = (original / wavelength - low) / (high - low)
            return 1 / ((1 - part) / factor + part)
        }
    }

    /// Returns `original_max_position_embeddings` from the settings or beside them.
    fileprivate static func originalContextLength(
        _ scaling: ConfigReader, outer: Int?, _ type: String
    ) throws -> Int {
        let key = "original_max_position_embeddings"
        let nested = try scaling.optionalInteger(key, 2...Int(Int32.max))
        if let nested, let outer, nested != outer {
            throw scaling.fault(.malformed, key, "is \(nested), but the same key outside it is \(outer)")
        }
        guard let original = nested ?? outer else {
            throw scaling.fault(.malformed, key, "is missing; \(type) needs it here or beside this object")
        }
        guard original >= 2 else {
            throw scaling.fault(.malformed, key, "is \(original); \(type) needs 2 or more")
        }
        return original
    }

    private static func type(of scaling: ConfigReader) throws -> (type: String, key: String) {
        let old = try scaling.optionalString("type")
        let new = try scaling.optionalString("rope_type")
        if let old, let new, old != new {
            throw scaling.fault(.malformed, "rope_type", "is \"\(new)\", but \"type\" is \"\(old)\"")
        }
        if let type = new ?? old { return (type, new == nil ? "type" : "rope_type") }
        guard !scaling.members.isEmpty, scaling.members.names.allSatisfy(defaultKeys.contains) else {
            throw scaling.fault(.malformed, "type", "is missing")
        }
        return ("default", "type")
    }
}

extension LongRope {
    fileprivate init(
        _ scaling: ConfigReader, family: RopeFamily, rotaryDimension: Int, contextLength: Int,
        originalContextLength: Int?
    ) throws {
        let original = try RopeScaling.originalContextLength(
            scaling, outer: originalContextLength, "longrope")
        let growth = Double(contextLength) / Double(original)
        if let factor = try scaling.optionalNumber("factor", 1e-6...1e6), abs(factor - growth) > 1e-6 * growth
        {
            throw scaling.fault(
                .unsupported, "factor",
                "is \(factor); only max_position_embeddings / original_max_position_embeddings (\(growth)) is supported"
            )
        }
        func attentionFactor(_ key: String) throws -> Double {
            if let stated = try scaling.optionalNumber(key, 1e-6...1e6) { return stated }
            guard !family.statesAttentionFactors else {
                throw scaling.fault(.malformed, key, "is missing; a number is needed")
            }
            return Self.standardAttentionFactor(
                contextLength: contextLength, originalContextLength: original)
        }
        let keys = family.attentionFactorKeys
        self.init(
            shortFactors: try scaling.numbers("short_factor", count: rotaryDimension / 2, 1e-6...1e6),
            longFactors: try scaling.numbers("long_factor", count: rotaryDimension / 2, 1e-6...1e6),
            originalContextLength: original,
            attentionFactor: try attentionFactor(keys[0]),
            longAttentionFactor: try attentionFactor(keys[keys.count - 1]))
    }
}
