import CPhiKernels

/// Rotary position embedding (Su et al. 2021): pairs (i, i + dimension / 2) of each head's first dimensions are
/// rotated by position * theta^(-2i / dimension).
package struct Rope: Sendable, Equatable {
    package struct Factors: Sendable, Equatable {
        /// Numbers by which the dimensions of a rotation are slowed down [dimension / 2]; nil if all are 1.
        var periods: [Double]?
        /// Factor of cos and sin.
        var magnitude = 1.0
    }

    /// Number of each head's first dimensions that are rotated; even, and 0 for models that use no positions.
    package var dimension: Int
    package var theta: Double
    /// Factors of all sequences, or of those up to `shortLength`.
    var factors = Factors()
    /// Factors of longer sequences (LongRoPE as Microsoft defines it); nil if there is one set.
    var longFactors: Factors?
    /// The longest sequence that uses the short factors, in tokens; nil if there is one set.
    package var shortLength: Int?
}

/// Defaults of an architecture's rotary positions.
struct RopeFamily {
    /// Default share of each head that is rotated.
    var fraction = 1.0
    /// Default theta.
    var theta = 10000.0
    /// Whether config.json must state LongRoPE's two factors of cos and sin, short_mscale and long_mscale.
    var statesAttentionFactors = false

    /// The keys of LongRoPE's factors of cos and sin, those of the short set first.
    var attentionFactorKeys: [String] {
        statesAttentionFactors ? ["short_mscale", "long_mscale"] : ["attention_factor"]
    }
}

extension Rope {
    /// - Throws: `UserError` naming the key.
    init(_ config: ConfigReader, family: RopeFamily, headDimension: Int, contextLength: Int) throws {
        let settings = try Self.settings(config)
        let fraction =
            try Self.number("partial_rotary_factor", 1e-3...1, config, settings) ?? family.fraction
        theta = try Self.number("rope_theta", 1...1e12, config, settings) ?? family.theta
        dimension = Int(Double(headDimension) * fraction)
        guard dimension >= 2, dimension % 2 == 0 else {
            throw config.fault(
                .unsupported, "partial_rotary_factor",
                "gives \(dimension) of \(headDimension) dimensions; an even number from 2 on is needed")
        }
        let original = try config.optionalInteger("original_max_position_embeddings", 1...Int(Int32.max))
        if let settings { try scale(settings, family, contextLength: contextLength, outer: original) }
    }

    /// `rope_scaling`, or `rope_parameters` as newer transformers write it.
    private static func settings(_ config: ConfigReader) throws -> ConfigReader? {
        let old = try config.optionalObject("rope_scaling")
        let new = try config.optionalObject("rope_parameters")
        if let old, let new, old.members != new.members {
            throw config.fault(
                .malformed, "rope_parameters", "differs from \"rope_scaling\"; keep one of them")
        }
        return old ?? new
    }

    /// Returns a number that is beside `rope_parameters` in older files and inside it in newer ones.
    private static func number(
        _ key: String, _ range: ClosedRange<Double>, _ config: ConfigReader, _ settings: ConfigReader?
    ) throws -> Double? {
        let outer = try config.optionalNumber(key, range)
        let inner = try settings?.optionalNumber(key, range)
        if let outer, let inner, outer != inner {
            throw config.fault(.malformed, key, "is \(outer), but within the rope settings it is \(inner)")
        }
        return outer ?? inner
    }

    // MARK: Scaling beyond the original context

    /// Keys that transformers 5 moves into `rope_parameters` for every type.
    private static let defaultKeys: Set<String> = [
        "type", "rope_type", "rope_theta", "partial_rotary_factor", "original_max_position_embeddings",
    ]
    private static let longropeKeys = defaultKeys.union(["short_factor", "long_factor", "factor"])
    private static let llama3Keys = defaultKeys.union(["factor", "low_freq_factor", "high_freq_factor"])

    /// - Parameters:
    ///   - scaling: `rope_scaling` or `rope_parameters` of config.json.
    ///   - outer: `original_max_position_embeddings` beside it.
    private mutating func scale(
        _ scaling: ConfigReader, _ family: RopeFamily, contextLength: Int, outer: Int?
    ) throws {
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
        case "default": break
        case "llama3": factors.periods = try llama3Factors(scaling, outer)
        default: try setLongRope(scaling, family, contextLength: contextLength, outer: outer)
        }
    }

    /// Returns Llama 3.1's factors (transformers' `_compute_llama3_parameters`): wavelengths, in positions, above
    /// original / low_freq_factor are slowed down by `factor`, those below original / high_freq_factor are not, and
    /// between the two the frequency is interpolated.
    private func llama3Factors(_ scaling: ConfigReader, _ outer: Int?) throws -> [Double] {
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
        let original = Double(try Self.originalContextLength(scaling, outer, "llama3"))
        let half = dimension / 2
        return (0..<half).map { i in
            let wavelength = 2 * Double.pi * phi_exp(phi_log(theta) * Double(i) / Double(half))
            if wavelength > original / low { return factor }
            if wavelength < original / high { return 1 }
            let part = (original / wavelength - low) / (high - low)
            return 1 / ((1 - part) / factor + part)
        }
    }

    private mutating func setLongRope(
        _ scaling: ConfigReader, _ family: RopeFamily, contextLength: Int, outer: Int?
    ) throws {
        let original = try Self.originalContextLength(scaling, outer, "longrope")
        let growth = Double(contextLength) / Double(original)
        if let factor = try scaling.optionalNumber("factor", 1e-6...1e6), abs(factor - growth) > 1e-6 * growth
        {
            throw scaling.fault(
                .unsupported, "factor",
                "is \(factor); only max_position_embeddings / original_max_position_embeddings (\(growth)) is supported"
            )
        }
        func periods(_ key: String) throws -> [Double] {
            try scaling.numbers(key, count: dimension / 2, 1e-6...1e6)
        }
        func magnitude(_ key: String) throws -> Double {
            if let stated = try scaling.optionalNumber(key, 1e-6...1e6) { return stated }
            guard !family.statesAttentionFactors else {
                throw scaling.fault(.malformed, key, "is missing; a number is needed")
            }
            return Self.magnitude(contextLength: contextLength, originalContextLength: original)
        }
        let keys = family.attentionFactorKeys
        (factors.periods, longFactors) = (try periods("short_factor"), Factors())
        longFactors?.periods = try periods("long_factor")
        factors.magnitude = try magnitude(keys[0])
        longFactors?.magnitude = try magnitude(keys[keys.count - 1])
        shortLength = original
    }

    /// Returns LongRoPE's factor of cos and sin for a context of `contextLength` tokens, sqrt(1 + ln(context/original)
    /// / ln(original)); 1 if that is not beyond the original.
    static func magnitude(contextLength: Int, originalContextLength: Int) -> Double {
        let growth = Double(contextLength) / Double(originalContextLength)
        return growth <= 1 ? 1 : (1 + phi_log(growth) / phi_log(Double(originalContextLength))).squareRoot()
    }

    /// Returns `original_max_position_embeddings` from the settings or beside them.
    private static func originalContextLength(
        _ scaling: ConfigReader, _ outer: Int?, _ type: String
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
