/// Rotary position embedding (Su et al. 2021): pairs (i, i + dimension / 2) of each head's first dimensions are
/// rotated by position * theta^(-2i / dimension).
package struct Rope: Sendable, Equatable {
    /// Number of each head's first dimensions that are rotated; even.
    package var dimension: Int
    package var theta: Double
    package var scaling: RopeScaling

    /// Embedding without rotation, for models that use no positions.
    static let none = Rope(dimension: 0, theta: 1, scaling: .none)

    /// Factors of the dimensions' periods, nil if all are 1; and a factor of cos and sin.
    typealias Factors = (periods: [Double]?, magnitude: Double)

    /// Factors of all sequences, or of short ones and of long ones.
    var factors: (short: Factors, long: Factors?) {
        switch scaling {
        case .none: ((nil, 1), nil)
        case .slowed(let factors): ((factors, 1), nil)
        case .longrope(let rope):
            ((rope.shortFactors, rope.attentionFactor), (rope.longFactors, rope.longAttentionFactor))
        }
    }

    /// The longest sequence that uses the short factors, in tokens; nil if there is one set.
    var shortLength: Int? {
        guard case .longrope(let rope) = scaling else { return nil }
        return rope.originalContextLength
    }
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
        scaling = try RopeScaling(
            settings, family: family, rotaryDimension: dimension, theta: theta, contextLength: contextLength,
            originalContextLength: original)
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
}
